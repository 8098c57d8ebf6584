"Treebanks: nothing wrong gets through, nothing right is lost, and verses are put together from their sentences"
import re

import pytest
from hypothesis import given, settings, strategies as st

from pronto.bibles.reading import read_bible
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.lab.bibles.ud import is_conllu, read_conllu, read_treebank, treebank_bible

def row(i, form='x', upos='NOUN', head=0, deprel='root', misc='_'):
    return f'{i}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{misc}'

@st.composite
def sentences(draw):
    "A random tree with multiword words, empty nodes and verses, and what should be read from it"
    n = draw(st.integers(1, 8))
    heads = [0] + [draw(st.integers(1, i)) for i in range(1, n)]
    order = draw(st.permutations(range(1, n+1))) # Node i is at order[i-1]
    head_at = {order[i]: order[h-1] if h else 0 for i,h in enumerate(heads)}
    verses = sorted(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    lines, written, i = [], [], 1
    while i <= n:
        wide = min(draw(st.sampled_from([1, 1, 1, 2, 3])), n-i+1)
        glued = draw(st.booleans())
        misc = 'SpaceAfter=No' if glued else '_'
        if wide > 1: lines.append(f'{i}-{i+wide-1}\tw{i}' + '\t_'*7 + f'\t{misc}')
        for j in range(i, i+wide):
            said = f'Ref=MARK_1.{verses[j-1]}' + ('|SpaceAfter=No' if glued and wide == 1 else '')
            lines.append(row(j, f'w{j}', head=head_at[j], deprel='root' if head_at[j] == 0 else 'dep', misc=said))
            if draw(st.integers(0, 9)) == 0: lines.append(f'{j}.1\te' + '\t_'*8)
        written.append((f'w{i}', not glued, verses[i-1]))
        i += wide
    return lines, head_at, verses, written

@settings(max_examples=60, deadline=None)
@given(sentences())
def test_any_tree_is_read_as_it_is(made):
    lines, head_at, verses, written = made
    s, = read_conllu('\n'.join(lines) + '\n\n', 'x')
    assert [t.head for t in s.tokens] == [head_at[t.id] for t in s.tokens]
    assert [t.ref.verse for t in s.tokens] == verses
    assert [(w.form, w.space, w.ref.verse) for w in s.written] == written

@settings(max_examples=60, deadline=None)
@given(sentences(), st.data())
def test_any_broken_tree_is_refused_with_its_line(made, data):
    lines, *_ = made
    words = [i for i,l in enumerate(lines) if re.match(r'\d+\t', l)]
    i = data.draw(st.sampled_from(words))
    cells = lines[i].split('\t')
    faults = [(0, '99'), (0, '0'), (0, 'a'), (3, '_'), (3, 'NN'), (6, '77'), (6, '_'), (6, '-1'), (6, cells[0]), (None, None)]
    column, bad = data.draw(st.sampled_from(faults))
    if column is None: cells.pop()
    else: cells[column] = bad
    broken = [*lines[:i], '\t'.join(cells), *lines[i+1:]]
    with pytest.raises(InputError, match=r'^x\.conllu, line \d+: ') as e: read_conllu('\n'.join(broken), 'x.conllu')
    if column != 0: assert f'line {i+1}:' in str(e.value)

def test_a_circle_is_refused():
    circle = [row(1), row(2, head=3, deprel='dep'), row(3, head=2, deprel='dep')]
    with pytest.raises(InputError, match='form a cycle'): read_conllu('\n'.join(circle), 'x')

def test_parts_of_speech_are_read_where_heads_are_missing_or_wrong(tmp_path):
    "XTREME has the parts of speech of treebanks that are not parsed; an unknown part of speech is still refused"
    from pronto.lab.suites.xtreme_files import read_treebank_tags
    path = tmp_path/'de_x-ud-test.conllu'
    def tags(*rows):
        path.write_text('\n'.join([*rows, '', '']))
        return [sentence.tags for sentence in read_treebank_tags(path)]
    assert tags(row(1, head='_'), row(2, upos='_', head='_'), row(3, head=99), row(4, head=4)) == [('NOUN','_','NOUN','NOUN')]
    fused = '1-2\tdu' + '\t_'*8
    assert tags(fused, row(1, upos='ADP', head=2), row(2, upos='DET', head=1), row(3)) == [('ADP','NOUN')]
    assert tags(fused, row(1, upos='ADP', head=3), row(2, upos='DET', head=99), row(3)) == [('DET','NOUN')]
    with pytest.raises(InputError, match="line 1: 'NN' is not a tag of UD"): tags(row(1, upos='NN'))

def test_bytes_of_other_systems(tmp_path):
    text = '\r\n'.join(['# sent_id = 1', row(1, 'mélo', misc='ref=LUKE_2.3'), '', ''])
    (tmp_path/'a.conllu').write_bytes(b'\xef\xbb\xbf' + text.encode())
    assert read_treebank(tmp_path/'a.conllu').texts == {Ref('LUK', 2, 3): 'mélo'}
    assert read_bible(tmp_path/'a.conllu').verses == {Ref('LUK', 2, 3): 'mélo'}

def test_parts_of_a_verse_come_together_in_the_order_of_their_numbers(tmp_path):
    for n,name in (2,'train'), (1,'dev'), (3,'test'):
        text = f'# sent_id = {n}\n{row(1, f"w{n}", misc="ref=LUKE_2.3")}\n\n'
        (tmp_path/f'{name}.conllu').write_text(text, encoding='utf-8')
    parts = [tmp_path/f'{name}.conllu' for name in ('train','dev','test')]
    assert read_bible(parts).verses == {Ref('LUK', 2, 3): 'w1 w2 w3'}
    assert read_bible(parts).counts['repeated'] == 0

def test_other_works_and_verses_without_a_chapter(tmp_path):
    places = ['Ref=1.93.1', 'Ref=', 'ref=MARK_Incipit.0', 'ref=HISTORIES_1.1']
    sentences = [*(row(1, misc=place) for place in places), row(1, 'w', misc='LId=2|ref=MARK_1.1|X=y'), row(1)]
    (tmp_path/'a.conllu').write_text('\n\n'.join(sentences), encoding='utf-8')
    treebank = read_treebank(tmp_path/'a.conllu')
    assert list(treebank.texts.items()) == [(Ref('MRK', 1, 1), 'w')] and sum(treebank.skipped.values()) == 5

def test_convert_reads_parts(tmp_path, capsys):
    for n in 1,2:
        text = f'# sent_id = {n}\n{row(1, f"w{n}", misc=f"ref=LUKE_2.{n}")}\n'
        (tmp_path/f'{n}.conllu').write_text(text, encoding='utf-8')
    assert main(['convert', str(tmp_path/'1.conllu'), str(tmp_path/'2.conllu')]) == 0
    assert capsys.readouterr().out == 'LUK\t2\t1\tw1\nLUK\t2\t2\tw2\n'
    (tmp_path/'2.conllu').write_text(row(1, head=5), encoding='utf-8')
    assert main(['convert', str(tmp_path/'1.conllu'), str(tmp_path/'2.conllu')]) == 1
    assert capsys.readouterr().err.count('\n') == 1

OTHERS = ['MAT\t1\t1\tw\n', '\\id MRK\n\\c 1\n', '<usfx/>', 'MAT 1:1 w', '# a comment\nMAT 1:1 w', '1\t2\t3\t4\t5', '']

@pytest.mark.parametrize('text', OTHERS)
def test_other_formats_are_not_conllu(text): assert not is_conllu(text)

# Real treebanks

def parts(testdata, code): return sorted((testdata/'ud').glob(f'{code}_*.conllu'))

@pytest.fixture(scope='module')
def treebanks(testdata): return {code: read_treebank(parts(testdata, code)) for code in ('got','cu','cop')}

def test_real_treebanks_are_read_whole(treebanks, testdata):
    for code,treebank in treebanks.items():
        texts = [f.read_text(encoding='utf-8') for f in parts(testdata, code)]
        n = sum(len(re.findall(r'^# sent_id', text, re.M)) for text in texts)
        assert len(treebank.sentences) + sum(treebank.skipped.values()) == n
    assert {code: len(t.verses) for code,t in treebanks.items()} == {'got': 3532, 'cu': 869, 'cop': 577}
    assert set(treebanks['cu'].skipped) == {'Codex Suprasliensis', 'Psalterium Sinaiticum', 'Kiev Missal'}

def test_written_words_are_the_text(treebanks, testdata):
    "Where a verse is one sentence and a sentence one verse, its text is the treebank's own"
    said = set()
    for f in (testdata/'ud').glob('got_*.conllu'):
        said.update(re.findall(r'^# text = (.*)$', f.read_text(encoding='utf-8'), re.M))
    treebank = treebanks['got']
    whole = [ref for ref,pieces in treebank.verses.items() if len(pieces) == 1 and ref not in treebank.crossing]
    assert len(whole) > 1000 and all(treebank.texts[ref] in said for ref in whole)

def test_coptic_chapters_are_numbered_where_they_fit(treebanks):
    chapters = {ref[:2] for ref in treebanks['cop'].verses}
    assert chapters == {('MRK', c) for c in range(2, 10)} | {('1CO', c) for c in range(1, 8)} | {('RUT', c) for c in range(1, 5)}
    assert treebanks['cop'].skipped['Mark Chapter 1'] == 45 # Some of its sentences are not whole verses
    empty = {ref for ref,why in treebank_bible(treebanks['cop']).excluded.items() if why == 'empty'}
    assert empty >= {Ref('MRK', 7, 16), Ref('MRK', 9, 44), Ref('MRK', 9, 46)} # Not in the critical text: the numbering is right
