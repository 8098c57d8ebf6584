"""The study of choices: models of known order, and rows that are drawn again"""
import sys
from pathlib import Path
import pytest
from pronto.core.refs import Ref
from pronto.datasets.choices import text, words

@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]/'benchmarks'))
    import choices
    yield choices
    sys.modules.pop('choices')

def test_order_counts_pairs_of_one_kind_of_models(study):
    chains = [['a 0', 'a 1', 'a 2'], ['b 0', 'b 1']]
    assert study.orders({'a 0': 50, 'a 1': 60, 'a 2': 60, 'b 0': 50}, chains) == (2, 3) # A tie is neither; b is not whole
    assert study.tau_of([{'b 0': 1, 'b 1': 2}, {'b 0': 2, 'b 1': 1}, {}], chains) == 0 and study.tau_of([{}], chains) is None
    assert study.spread([{'b 0': 1}, {'b 0': 3}], ['b 0', 'b 1']) == pytest.approx(2**.5)

def test_other_draws_change_other_places(study, monkeypatch):
    for module in (text, words): monkeypatch.setattr(module, 'drawn', text.drawn)
    verses = {Ref('MRK', 1, v): f'and so the old man of town {"abcdefghij"[v]}x went home again today' for v in range(1, 9)}
    def rows():
        made = text.ChoiceText(verses)
        return [row.choices for row in words.word_order(made, made.splits[Ref('MRK', 1, 1)])]
    first = rows()
    study.draw_again(2, text.drawn)
    assert rows() != first and len(rows()) == len(first) > 5
