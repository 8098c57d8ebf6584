"Models that are asked: chat templates, words instead of letters, options in all rotations, and servers"
import json, math

from pronto.cli.command import main
from test_perplexity import causal, data # noqa: F401 (fixtures)

TEMPLATE = '{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}Answer : '

def asked(data, model, *options, runs='asked'): # noqa: F811
    argv = ['eval', str(data/'qaa'), '--protocol', 'prompting', '-t', 'SM', '--limit', '30', '--quiet']
    return main([*argv, '-m', str(model), '--runs', str(data/runs), *options])

def test_ways_of_asking_are_runs_of_their_own(data, causal, capsys): # noqa: F811
    from transformers import AutoTokenizer
    assert asked(data, causal, '--chat') == 1
    assert 'has no chat template; leave --chat out' in capsys.readouterr().err
    tokenizer = AutoTokenizer.from_pretrained(causal)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(causal)
    ways = [], ['--chat'], ['--permuted', '--calibrated'], ['--answers', 'pmi']
    for way in ways: assert asked(data, causal, *way) == 0
    records = [json.loads(path.read_text(encoding='utf-8')) for path in (data/'asked').rglob('prompt-s0-*.json')]
    assert len(records) == len(ways) and all(0 <= r['brier'] <= 2 for r in records)
    assert sorted({*r['hyperparameters']} - {'dev','select','shots'} for r in records if 'chat' in r['hyperparameters']) == [{'chat'}]
    permuted, = (r for r in records if 'permuted' in r['hyperparameters'])
    assert 0 <= permuted['follows_letter'] <= 1
    table = next((data/'asked').rglob('*.predictions.tsv')).read_text(encoding='utf-8').splitlines()
    first = dict(zip(table[0].split('\t'), table[1].split('\t')))
    assert math.isclose(sum(float(v) for k,v in first.items() if k.startswith('p(')), 1, abs_tol=1e-3)
    capsys.readouterr()
    assert main(['tables', '--runs', str(data/'asked'), '--question', 'prompting', '-o', str(data/'asked-tables')]) == 0
    said = capsys.readouterr().out
    assert 'permuted, calibrated' in said and 'pmi' in said and 'Brier' in said

def test_ways_of_asking_belong_to_prompting(data, causal, capsys): # noqa: F811
    assert main(['eval', str(data/'qaa'), '-m', str(causal), '--chat', '--runs', str(data/'none')]) == 1
    assert '--chat: does nothing in in-language' in capsys.readouterr().err
    assert asked(data, causal, '--permuted', '--answers', 'cloze') == 1
    assert 'is for answers by letters' in capsys.readouterr().err
