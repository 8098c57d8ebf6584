"What each verse says: release v0.1 as published, slip for slip, and the paper's rules where they are easily got wrong"
import re

import pytest
from onf_parser import parse_file, parse_file_string

from pronto.core.files import InputError
from pronto.sources.annotate import SOURCES, SourceType, annotate
from pronto.sources.annotation_file import read_annotations, write_annotations
from pronto.sources.records import SentenceAnnotation, Source, VerseAnnotation
from pronto.sources.ontonotes_rules import MOOD_OF_LABEL, annotate_onf, mentions, mood, predicates, proper_subject
from pronto.sources.ontonotes_rules import V01
from pronto.sources.onf import parse_onf, tree_nodes
from pronto.core.refs import Ref, book_code
from pronto.datasets.tasks import count_mentions, first_subject

# Release v0.1, said again from the list of slips in other words, over what `onf_parser` gives (which makes the first slips by itself)

PRONOUNS = tuple('i me my mine myself we our ours ourselves thou thy thine thyself you your yours yourself yourselves he him his himself '
                 'she her hers herself it its itself they them their theirs themself themselves'.split())

def pronominal(coref):
    words = [t for t in coref.tokens if '*' not in t]
    return len(words) == 1 and words[0].lower().startswith(PRONOUNS)

def subject_label(tree):
    "A single scan over the brackets"
    path,found,collecting,n = [],[],False,0
    for label,word in re.findall(r'\(\s*([^\s()]+)|([^\s()]+)|\)', tree):
        if label:
            path.append(label)
            if 'NP-SBJ' in label and sum(x.split('-')[0].startswith('S') for x in path) <= 1: collecting = True
        elif word:
            if collecting: found.append((n, path[-1]))
            n += 1
        elif 'NP-SBJ' in path.pop(): collecting = False
    gap = any(b-a > 1 for (a,_),(b,_) in zip(found, found[1:]))
    return None if gap or not found else '1' if {'NNP','NNPS'} & {tag for _,tag in found} else '0'

def mood_label(tree):
    return MOOD_OF_LABEL.get(re.search(r'\(\s*[^\s()]+\s*\(\s*([^\s()]+)', tree)[1])

def uses(sentence):
    for leaf in sentence.leaves:
        if leaf.prop: yield leaf.prop.label, sum(a != 'v' and 'LINK-' not in a for a in leaf.prop.args)

def places(sentence):
    s = sentence.speaker_information
    return [tuple(map(int, t.split('_')[:2])) for t in f'{s.start_time}:{s.stop_time}'.split(':')]

def published(sections):
    "Verse to: crosses, NMC, PNS, SM, senses with their counts"
    sentences = {}
    for s in (s for section in sections for s in section.sentences if s.speaker_information):
        for place in dict.fromkeys(places(s)): sentences.setdefault(Ref(book_code(s.speaker_information.name), *place), []).append(s)
    return {ref: (any(verse != ref.verse for s in ss for _,verse in places(s)),
                  str(sum(not pronominal(leaf.coref) for s in ss for leaf in s.leaves if leaf.coref)),
                  subject_label(ss[0].tree.tree_string), mood_label(ss[0].tree.tree_string), {u for s in ss for u in uses(s)})
            for ref,ss in sentences.items()}

def ours(verses):
    "The same of our annotations"
    def senses(v): return {tuple(p) for s in v.sentences for p in s.predicates}
    return {v.ref: (v.crosses, count_mentions(v), first_subject(v), v.sentences[0].mood, senses(v)) for v in verses}

def test_v01_is_the_published_release_verse_by_verse(annotations, chapters):
    theirs,here = {}, ours(annotations['v0.1'].verses.values())
    for path in chapters: # No verse of the skeleton is in two files
        found = published(parse_file(str(path)))
        assert not theirs.keys() & found.keys()
        theirs |= found
    assert len(theirs) == 7934
    assert {r: (theirs.get(r), here.get(r)) for r in theirs.keys() | here.keys() if theirs.get(r) != here.get(r)} == {}

def test_v01_makes_every_slip_on_the_toy(toy_onf):
    here = ours(annotate_onf([parse_onf(toy_onf)], V01).values())
    assert here == published(parse_file_string(toy_onf))
    first,go = here[Ref('MRK',1,1)],here[Ref('MRK',1,2)]
    assert first == (False, '5', '1', 'declarative', {('tell.02', 2), ('leave.01', 2)})
    assert go == (True, '0', '0', 'imperative', {('go.01', 0), ('see.01', 1)})

def test_the_two_rule_sets_differ(annotations):
    "In labels, not in verses"
    def labels(v): return count_mentions(v), first_subject(v), v.sentences[0].mood
    paper,v01 = ({r: labels(v) for r,v in annotations[rules].verses.items()} for rules in ('paper','v0.1'))
    assert paper.keys() == v01.keys()
    shares = [sum(paper[r][k] != v01[r][k] for r in paper)/len(paper) for k in range(3)]
    assert shares[0] > .2 and shares[1] > .05 and 0 < shares[2] < .01 # Trees that begin with a quotation mark

def test_annotations_hold_no_words(toy_folder, tmp_path):
    "The words of the source, invented ones here, are nowhere in the file"
    import pyarrow.parquet as pq
    write_annotations(annotate(toy_folder), tmp_path/'a.parquet')
    table = pq.read_table(tmp_path/'a.parquet')
    text = str(table.to_pylist()) + str(table.schema.metadata)
    assert 'leave.01' in text and not [w for w in ('Anna','Tarn','Zoë','hills') if w in text]

# Files that are damaged or hostile

DEEP = '['*100_000

@pytest.mark.parametrize('text', [
    DEEP, '{"name": 5}', '{"name": null}', '{"licence": ["CC0"]}', '{"attribution": {}}', '{"unusable": []}',
    '{"unusable": {"MRK 1:1": 5}}', '{"unusable": {"nowhere": "fused"}}', '{"unusable": {"MRK 1:%s": "fused"}}' % ('9'*5000),
    '{"unusable": {"%s": "fused"}}' % ('_'*9999), '{"name": %s}' % ('9'*5000), r'{"name": "\ud800"}', b'\xff\xfe',
])
def test_an_odd_source_json_is_one_line(toy_folder, text):
    (toy_folder/'source.json').write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=r'source.json(, byte \d+)?: [^\n]{1,300}\Z'): annotate(toy_folder)

@pytest.fixture
def table(toy_folder, tmp_path):
    "The table of a good annotation file"
    import pyarrow.parquet as pq
    write_annotations(annotate(toy_folder), tmp_path/'good.parquet')
    return pq.read_table(tmp_path/'good.parquet')

def read_back(table, path):
    import pyarrow.parquet as pq
    pq.write_table(table, path)
    return read_annotations(path)

@pytest.mark.parametrize('header', [
    b'', b'{', DEEP.encode(), b'null', b'[]', b'{"name": 5}', b'{"unusable": 5}', b'{"unusable": {"x": "fused"}}',
    b'{"files": "many"}', b'{"of_the_future": 1}', b'\xff', b'{"arguments": "some"}',
])
def test_a_damaged_header_is_one_line(table, tmp_path, header):
    damaged = table.replace_schema_metadata({b'pronto.source': header})
    with pytest.raises(InputError, match=r'a.parquet(, byte \d+)?: [^\n]{1,300}\Z'): read_back(damaged, tmp_path/'a.parquet')

def test_other_columns_types_and_rows_are_one_line(table, tmp_path):
    import pyarrow as pa
    def typed(t): return table.set_column(1, 'chapter', table['chapter'].cast(t))
    columns = [table.drop(['crosses']), table.append_column('more', table['verse'])]
    rows = [table.slice(0, 0), pa.concat_tables([table, table])]
    types = [typed(pa.string()), typed(pa.float64()), typed(pa.int64())]
    words = table.set_column(4, 'sentences', pa.array(['x']*len(table)))
    others = [*columns, *rows, *types, words, table.replace_schema_metadata({})]
    for other in others:
        with pytest.raises(InputError, match=r'a.parquet: [^\n]{1,300}\Z'): read_back(other, tmp_path/'a.parquet')

def test_a_small_file_of_very_many_verses_is_refused(table, tmp_path):
    import pyarrow as pa
    many = pa.concat_tables([table]*(50_000//len(table) + 1))
    with pytest.raises(InputError, match='are not annotations of a Bible'): read_back(many, tmp_path/'a.parquet')

def test_a_cut_annotation_file_is_one_line(toy_folder, tmp_path):
    write_annotations(annotate(toy_folder), tmp_path/'a.parquet')
    whole = (tmp_path/'a.parquet').read_bytes()
    for n in range(0, len(whole), 97):
        (tmp_path/'a.parquet').write_bytes(whole[:n])
        with pytest.raises(InputError, match=r'a.parquet: [^\n]{1,300}\Z'): read_annotations(tmp_path/'a.parquet')

def test_shuffled_verses_are_put_in_order(table, tmp_path):
    "Datasets are drawn from the verses in canonical order"
    import numpy as np
    shuffled = read_back(table.take(np.arange(len(table))[::-1]), tmp_path/'a.parquet')
    assert list(shuffled.verses) == list(read_back(table, tmp_path/'b.parquet').verses)

# The list of sources

def test_a_new_source_is_its_reader_its_rules_and_one_entry(tmp_path, monkeypatch):
    "Lines of a text file: a reference and a mood"
    from pronto.core.refs import parse_ref
    def annotate_lines(documents, wanted):
        found = (line.split('\t') for text in documents for line in text.splitlines())
        said = {parse_ref(ref): SentenceAnnotation(mood, None, (), ()) for ref,mood in found}
        return {r: VerseAnnotation(r, (s,), False) for r,s in said.items()}, dict(edition='1')
    about = Source(name='Moods', licence='CC0', tasks=['sentence_mood'])
    toy = SourceType(source=about, files_are='moods (.moods)', files=lambda folder: sorted(folder.glob('*.moods')),
                     read=lambda path: path.read_text(), annotate=annotate_lines, if_empty='write some')
    monkeypatch.setattr('pronto.sources.annotate.SOURCES', [*SOURCES, toy])
    (tmp_path/'a.moods').write_text('MRK 1:1\tdeclarative\nMRK 1:2\timperative\n')
    made = annotate(tmp_path)
    write_annotations(made, tmp_path/'a.parquet')
    again = read_annotations(tmp_path/'a.parquet')
    assert again.verses == made.verses and again.source == made.source
    assert (again.source.name, again.source.edition, again.source.tasks) == ('Moods', '1', ['sentence_mood'])

def test_core_arguments_are_the_numbered_ones(toy_folder, tmp_path):
    def uses_of(x): return [tuple(p) for v in annotate(toy_folder, arguments=x).verses.values() for s in v.sentences for p in s.predicates]
    counts = {x: uses_of(x) for x in ('all','core')}
    assert ('tell.02', 3) in counts['all'] and ('tell.02', 2) in counts['core'] # `ARGM-TMP` is left out
    write_annotations(annotate(toy_folder, arguments='core'), tmp_path/'a.parquet')
    core = read_annotations(tmp_path/'a.parquet').source
    assert core.arguments == 'core' and core.hash != annotate(toy_folder).source.hash
    with pytest.raises(InputError, match='leave --arguments out'): annotate(toy_folder, rules='v0.1', arguments='core')

# The paper's rules

def sentence(tree, leaves=''):
    "The first sentence of a file made of a tree and lines under its leaves"
    tokens = tree_nodes(tree).tokens
    lines = '\n'.join(f'    {i:<4}{t}{leaves if i == 0 else ""}' for i,t in enumerate(tokens))
    ids = dict.fromkeys(re.findall(r'IDENT +(\S+)', leaves))
    chains = ''.join(f'    Chain {c} (IDENT)\n               0.0-0        x\n\n' for c in ids)
    head = f'Tree:\n-----\n    {tree}\n\nLeaves:\n-------\n{lines}\n\n{"="*120}\n'
    return parse_onf(f'{head}Coreference chains for section 0:\n---\n\n{chains}').sentences[0]

def under(*lines): return ''.join(f'\n           {line}' for line in lines)

@pytest.mark.parametrize('token,tag,pronoun', [
    ('us','PRP',True), ('those','DT',True), ('thee','NN',True), ('Ye','NN',True), ('there','EX',True),
    ('whose','WP$',True), ('who','WP',True), ('HIS','NN',True), ('Israel','NNP',False), ('Herod','NNP',False),
    ('Thomas','NNP',False), ('Item','NN',False), ('two','CD',False),
])
def test_what_a_lone_pronoun_is(token, tag, pronoun):
    m, = mentions(sentence(f'(TOP (S (NP-SBJ ({tag} {token})) (VP (VBD sat))))', under(f'coref: IDENT 1 0-0 {token}')))
    assert m.pronominal == pronoun

def test_a_pronoun_with_other_words_is_not_a_lone_pronoun():
    m, = mentions(sentence('(TOP (S (NP-SBJ (PRP you) (DT all)) (VP (VBD sat))))', under('coref: IDENT 1 0-1 you all')))
    assert not m.pronominal

def test_a_silent_token_does_not_count_as_a_word_or_a_mention():
    coref = under('coref: IDENT 1 0-1 *PRO*-1 he', 'coref: IDENT 2 0-0 *PRO*-1')
    s = sentence('(TOP (S (NP-SBJ (-NONE- *PRO*-1) (PRP he)) (VP (VBD sat))))', coref)
    assert [(m.chain, m.tokens, m.pronominal) for m in mentions(s)] == [('1', ('he',), True)]

def test_the_last_leaf_counts():
    verses = annotate_onf([parse_onf(LAST)])
    assert count_mentions(verses[Ref('MRK',1,1)]) == '1'
    assert count_mentions(annotate_onf([parse_onf(LAST)], V01)[Ref('MRK',1,1)]) == '0'

LAST = f'''Speaker information:
--------------------
    name: Mark
    start time: 1_1_0
    stop time: 1_1_1

Tree:
-----
    (TOP (NP (NNP Tarn) (NN hill)))

Leaves:
-------
    0   Tarn
    1   hill
           coref: IDENT        1      1-1     hill

{"="*120}
Coreference chains for section 0:
---------------------------------

    Chain 1 (IDENT)
               0.1-1        hill
'''

@pytest.mark.parametrize('label,expected', [
    ('S','declarative'), ('S-CLF','declarative'), ('S-IMP','imperative'), ('S-IMP-2','imperative'),
    ('SQ','interrogative'), ('SBARQ','interrogative'), ('SQ-CLF','interrogative'),
    ('SINV',None), ('FRAG',None), ('INTJ',None), ('SBAR-PRP',None), ('NP-VOC',None), ('S-NOM',None),
])
def test_mood_is_the_topmost_label(label, expected):
    tree = f'(TOP ({label} (NP-SBJ (PRP he)) (VP (VBD sat) (SQ (VBD sat)))))'
    assert mood(tree_nodes(tree)) == expected

TARN_SAT, HE_RAN = '(S (NP-SBJ (NNP Tarn)) (VP (VBD sat)))', '(S (NP-SBJ (PRP he)) (VP (VBD ran)))'
SHE_SLEPT = '(S (NP-SBJ (PRP she)) (VP (VBD slept)))'
WHO_TARN_KNEW = '(SBAR (WHNP (WP who)) (S (NP-SBJ (NNP Tarn)) (VP (VBD knew))))'

@pytest.mark.parametrize('why,tree,expected', [
    ('a plural proper noun', '(TOP (S (NP-SBJ (NNPS Tarns)) (VP (VBD sat))))', True),
    ('a proper noun in a relative clause of the subject',
     f'(TOP (S (NP-SBJ (NP (NN man)) {WHO_TARN_KNEW}) (VP (VBD sat))))', True),
    ('a proper object', '(TOP (S (NP-SBJ (PRP he)) (VP (VBD saw) (NP (NNP Tarn)))))', False),
    ('a nested subject alone does not count', f'(TOP (S (SBAR (IN that) {TARN_SAT}) (VP (VBZ helps))))', None),
    ('an index changes nothing', '(TOP (S (NP-SBJ-12 (NNP Tarn)) (VP (VBD sat))))', True),
    ('a second function tag changes nothing', '(TOP (S (NP-SBJ-PRD (NNP Tarn)) (VP (VBD sat))))', True),
    ('a trace holds no proper noun', '(TOP (SBARQ (WHNP-1 (WP Who)) (SQ (NP-SBJ (-NONE- *T*-1)) (VP (VBD sat)))))', False),
    ('inversion', '(TOP (SINV (ADVP (RB there)) (VP (VBD sat)) (NP-SBJ (NNP Tarn))))', True),
    ('the first of three coordinated clauses', f'(TOP (S {TARN_SAT} (, ,) {HE_RAN} (CC and) {SHE_SLEPT}))', True),
    ('coordination inside coordination', f'(TOP (S (S {TARN_SAT} (CC and) {HE_RAN}) (CC but) {SHE_SLEPT}))', True),
    ('two subjects', '(TOP (S (NP-SBJ (NNP Tarn)) (NP-SBJ (NNP Anna)) (VP (VBD sat))))', None),
    ('not every label that begins like one is a subject', '(TOP (S (NP-SBJX (NNP Tarn)) (VP (VBD sat))))', None),
])
def test_the_subject_of_the_main_clause(why, tree, expected): assert proper_subject(tree_nodes(tree)) is expected

def test_arguments_of_one_label_are_several_and_unlabelled_lines_are_none():
    lines = ['prop: wait.01', ' v          * -> 0:0,   wait', ' ARG0       * -> 1:0,   x', '              -> 2:0,   x',
             ' ARG0       * -> 2:0,   x', ' ARGM-LOC   * -> 2:0,   x', ' LINK-SLC   * -> 1:0,   x']
    s = sentence('(TOP (S (VBD wait) (NN x) (NN x)))', under(*lines))
    assert [tuple(p) for p in predicates(s)] == [('wait.01', 3)]

def test_a_sentence_over_a_chapter_crosses_both_verses():
    text = LAST.replace('start time: 1_1_0', 'start time: 1_45_3').replace('stop time: 1_1_1', 'stop time: 1_45_9:2_1_4')
    verses = annotate_onf([parse_onf(text)])
    assert {r: v.crosses for r,v in verses.items()} == {Ref('MRK',1,45): True, Ref('MRK',2,1): True}
