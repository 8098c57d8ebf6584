"OntoNotes Normal Form: the same as the peer `onf_parser` but for its known slips, and never a traceback"
import re
from itertools import takewhile

import pytest
from hypothesis import given, settings, strategies as st
from onf_parser import parse_file, parse_file_string

from pronto.core.files import InputError
from pronto.sources.onf import Document, parse_onf, read_onf

def joined(triples): return ':'.join('_'.join(map(str, t)) for t in triples)

def our_prop(prop):
    "A frame with the peer's slips: after an unlabelled line all is lost; of several arguments of one label the last stays"
    return prop.sense, {a.label: (a.token, a.height, a.text) for a in takewhile(lambda a: a.label, prop.args)}

def our_leaf(i, leaf):
    "A leaf with the peer's slip: the last annotation of a kind stays"
    c,n = (x[-1] if x else None for x in (leaf.corefs, leaf.names))
    prop = our_prop(leaf.props[-1]) if leaf.props else None
    coref = c and (c.type, c.chain, c.start, c.end-1, c.text)
    name = n and (n.type, n.start, n.end-1, n.text)
    return i, leaf.token, prop, coref, name, leaf.senses[-1] if leaf.senses else None

def our_sentence(s):
    "A sentence with the peer's slip: its last leaf is lost"
    speaker = s.speaker and (s.speaker.name, joined(s.speaker.start), joined(s.speaker.stop))
    leaves = [our_leaf(i, leaf) for i,leaf in enumerate(s.leaves[:-1])]
    return s.plain, s.treebanked, speaker, s.tree_string.strip(), leaves

def our_section(section):
    chains = [(c.id, c.type, [(m.sentence, m.start, m.end-1, m.text) for m in c.mentions]) for c in section.chains]
    return [our_sentence(s) for s in section.sentences], chains

def peer_prop(prop):
    arguments = {label: (a[0].token_id, a[0].height, ' '.join(a[0].tokens)) for label,a in prop.args.items()}
    return prop.label, arguments

def peer_leaf(leaf):
    c,n = leaf.coref,leaf.name
    coref = c and (c.type, c.chain_id, *c.token_id_range, ' '.join(c.tokens))
    name = n and (n.type, *n.token_id_range, ' '.join(n.tokens))
    prop, sense = leaf.prop and peer_prop(leaf.prop), leaf.sense and leaf.sense.label
    return leaf.token_id, leaf.token, prop, coref, name, sense

def peer_sentence(s):
    about, leaves = s.speaker_information, [peer_leaf(leaf) for leaf in s.leaves]
    speaker = about and (about.name, about.start_time, about.stop_time)
    return s.plain_sentence.string, s.treebanked_sentence.string, speaker, s.tree.tree_string.strip(), leaves

def peer_section(section):
    def mention(m): return m.sentence_id, *m.token_id_range, ' '.join(m.tokens)
    chains = [(c.id, c.type, [mention(m) for m in c.mentions]) for c in section.chains]
    return [peer_sentence(s) for s in section.sentences], chains

def test_toy_differs_from_the_peer_by_its_slips_alone(toy_onf):
    ours,peer = parse_onf(toy_onf).sections, [s for s in parse_file_string(toy_onf) if s.sentences]
    assert [our_section(s) for s in ours] == [peer_section(s) for s in peer]

def test_toy_is_read_whole(toy_onf):
    "Whatever the peer loses, we keep"
    first,go,wait = parse_onf(toy_onf).sentences
    assert [len(s.leaves) for s in (first, go, wait)] == [14, 5, 5]
    corefs = [(c.type, c.chain, c.start, c.end) for c in first.leaves[0].corefs]
    assert corefs == [('IDENT','3',0,3), ('APPOS HEAD','4-1',0,1)]
    arguments = [(a.label, a.start, a.end) for a in first.leaves[3].props[0].args]
    assert arguments == [('v',3,4), ('ARG0',0,3), ('ARG2',4,9), ('',9,13), ('ARGM-TMP',9,13)]
    assert [a.label for a in first.leaves[11].props[0].args] == ['v','ARG0','ARG1','ARG1','LINK-PRO']
    assert go.leaves[-1].corefs[0].text == 'her'
    assert go.speaker.start + go.speaker.stop == ((1,2,0), (1,3,2))

def test_line_ends_do_not_matter(toy_onf):
    ours = parse_onf(toy_onf)
    for text in toy_onf.replace('\n', '\r\n'), toy_onf.rstrip('\n'): assert parse_onf(text) == ours

def mentions_agree(section):
    "Do leaves and chains list the same mentions?"
    at_leaves = {(c.chain, i, c.start, c.end) for i,s in enumerate(section.sentences) for leaf in s.leaves for c in leaf.corefs}
    return at_leaves == {(c.id, m.sentence, m.start, m.end) for c in section.chains for m in c.mentions}

@pytest.mark.slow
def test_skeleton_differs_from_the_peer_by_its_slips_alone(chapters):
    "On all sentences; and the slips do occur, so that says something"
    assert len(chapters) == 260
    sentences = unlabelled = 0
    for path in chapters:
        ours,peer = read_onf(path), [s for s in parse_file(str(path)) if s.sentences]
        assert len(ours.sections) == len(peer), path.name
        for a,b in zip(ours.sections, peer):
            assert our_section(a) == peer_section(b), path.name
            assert mentions_agree(a), path.name
        sentences += len(ours.sentences)
        unlabelled += sum(a.label == '' for s in ours.sentences for leaf in s.leaves for p in leaf.props for a in p.args)
    assert sentences == 17555 and unlabelled > 0

def is_document_or_says_why(path):
    try: assert isinstance(read_onf(path), Document)
    except InputError as e: assert re.match(rf'{re.escape(str(path))}, (line|byte) \d+: \S.*\Z', str(e)), e

@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_cut_file_is_a_document_or_one_clear_line(tmp_path_factory, toy_onf, data):
    whole,path = toy_onf.encode(),tmp_path_factory.getbasetemp()/'cut.onf'
    path.write_bytes(whole[:data.draw(st.integers(0, len(whole)))])
    is_document_or_says_why(path)

@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_file_that_lost_lines_is_a_document_or_one_clear_line(tmp_path_factory, toy_onf, data):
    lines,path = toy_onf.splitlines(keepends=True),tmp_path_factory.getbasetemp()/'lost.onf'
    for _ in range(data.draw(st.integers(1, 3))): del lines[data.draw(st.integers(0, len(lines)-1))]
    path.write_text(''.join(lines), encoding='utf-8')
    is_document_or_says_why(path)

@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_file_with_a_wrong_character_is_a_document_or_one_clear_line(tmp_path_factory, toy_onf, data):
    at,path = data.draw(st.integers(0, len(toy_onf)-1)),tmp_path_factory.getbasetemp()/'wrong.onf'
    path.write_text(toy_onf[:at] + data.draw(st.sampled_from('():*-9x \n_.é')) + toy_onf[at+1:], encoding='utf-8')
    is_document_or_says_why(path)

def test_a_cut_before_the_last_chain_is_noticed(tmp_path, toy_onf):
    "Wherever a line ends, in either section; a file that ends with its first section is whole"
    lines = toy_onf.splitlines(keepends=True)
    at = lambda start: [i for i,line in enumerate(lines) if line.startswith(start)]
    for i in [*range(at('    Chain ')[-1]), *range(at('Plain sentence:')[-1]+1, at('====')[-1])]:
        (tmp_path/'cut.onf').write_text(''.join(lines[:i+1]), encoding='utf-8')
        with pytest.raises(InputError, match='cut.onf, line'): read_onf(tmp_path/'cut.onf')

NINES = '9'*5000

@pytest.mark.parametrize('old,new', [
    ('    0   Anna', f'    {NINES}   Anna'), ('-> 0:2', f'-> {NINES}:2'), ('-> 0:2', f'-> 0:{NINES}'), ('3      0-2', f'3      0-{NINES}'),
    ('0.0-2', f'{NINES}.0-2'), ('0.0-2', f'0.0-{NINES}'), ('start time: 1_1_0', f'start time: {NINES}_1_0'),
    ('start time: 1_1_0', 'start time: 1_²_0'), ('start time: 1_1_0', f'start time: 1_{"9"*4000}_0'), ('(TOP', '(TOP '*400),
])
def test_hostile_numbers_and_trees_are_one_line(tmp_path, toy_onf, old, new):
    assert old in toy_onf
    path = tmp_path/'hostile.onf'
    path.write_text(toy_onf.replace(old, new), encoding='utf-8')
    with pytest.raises(InputError, match=r'hostile.onf, line \d+: .{1,200}\Z'): read_onf(path)

def test_a_sense_with_a_tab_is_refused(toy_onf):
    "It would become two columns of a dataset"
    with pytest.raises(InputError, match='is not the sense of a frame'): parse_onf(toy_onf.replace('tell.02', 'tell\t.02'))
