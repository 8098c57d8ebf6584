"MACULA Greek: read whole, annotated as the rules for Greek say, and used like any other source; the words of the toys are invented"
import re

import pytest

from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import read_annotations, write_annotations
from pronto.cli.command import main
from pronto.datasets.loading import load_dataset_folder
from pronto.datasets.building import build
from pronto.core.files import InputError
from pronto.sources.macula_rules import annotate_book, greek_mood, greek_proper_subject
from pronto.sources.macula import lowfat_files, parse_lowfat, read_lowfat, walk
from pronto.core.refs import Ref
from pronto.datasets.splits import split_of
from pronto.datasets.tasks import count_mentions

KINDS = dict(n='noun', N='noun', v='verb', pr='pron', c='conj', d='det', a='adj', ad='adv', pt='ptcl', num='num')

def word(at, number, lemma, role='', kind='n', after=' ', **more):
    "One word; a kind `N` is a proper noun; ids are verse and number"
    book,place = at.split(' ')
    id = f'n{place.replace(":", "v")}w{number}'
    names = {'ref': f'{at}!{number}', 'xml:id': id, 'lemma': lemma, 'role': role, 'class': KINDS[kind], 'after': after} | more
    if kind == 'N': names['type'] = 'proper'
    return '<w ' + ' '.join(f'{k}="{v}"' for k,v in names.items() if v) + f'>{lemma}</w>'

def group(*parts, kind='cl', role='', rule='', **more):
    names = {'class': kind, 'role': role, 'rule': rule} | more
    return '<wg ' + ' '.join(f'{k}="{v}"' for k,v in names.items() if v) + f'>{"".join(parts)}</wg>'

def book(*sentences, code='3JN'):
    inside = '\n'.join(f'<sentence>{s}</sentence>' for s in sentences)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<book lang="el" id="{code}">\n{inside}\n</book>'

def verse(*sentences, at='3JN 1:1'):
    "The annotation of the one verse"
    return annotate_book(parse_lowfat(book(*sentences)))[Ref('3JN',1,int(at.split(':')[1]))]

A = '3JN 1:1'
TREMBLE = {'mood': 'indicative', 'person': 'third', 'ln': '15.230', 'frame': 'A0:n1v1w1'}
def runs(number=2, mood='indicative', after='.', **more):
    return word(A, number, 'τρεμω', 'v', 'v', after, **TREMBLE | {'mood': mood} | more)
def nosa(number=1, role='s'): return word(A, number, 'Νωσα', role, 'N')
def man(number=1, role='s', **more): return word(A, number, 'μανος', role, **more)
def particle(number, lemma, kind='c'): return word(A, number, lemma, '', kind)

# Tasks

def sentence(text): return parse_lowfat(book(text)).sentences[0]

NOSA_TREMBLES, THE_MAN_TREMBLES = group(nosa(), runs()), group(man(), runs(), rule='S-V')
AND_NOSA_TREMBLES = group(particle(3,'κα'), group(nosa(4), runs(5)), kind='')
WHO_WROTE_TO_NOSA = group(word(A,2,'γραφω','v','v',mood='participle'), nosa(3,'o'), clauseType='nominalized')

@pytest.mark.parametrize('why,tree,expected', [
    ('a name', NOSA_TREMBLES, True),
    ('a name below the head', group(group(word(A,1,'δομος'), nosa(2,''), kind='np', role='s'), runs(3)), True),
    ('a name in the object', group(man(), runs(), nosa(3,'o')), False),
    ('left out', group(runs(1)), False),
    ('left out of a command, with an address', group(group(nosa(1,'aux'), kind='', rule='Np2CL'), runs(2, 'imperative')), False),
    ('two', group(nosa(), runs(), man(3)), None),
    ('none and no finite verb', group(word(A,1,'καλος','p','a')), None),
    ('none and a participle', group(runs(1, 'participle')), None),
    ('behind a conjunction', group(particle(2,'δα'), group(nosa(), runs(3)), kind='', rule='Conj-CL'), True),
    ('the first of two clauses', group(THE_MAN_TREMBLES, AND_NOSA_TREMBLES, rule='CLaCL'), False),
    ('a clause in the subject',
     group(group(particle(1,'ὁ','d'), WHO_WROTE_TO_NOSA, kind='', rule='DetCL', role='s'), runs(4)), True),
    ('in an adverbial clause only', group(group(nosa(), runs(), role='adv'), runs(3)), False),
    ('nothing but an address', group(nosa(1,'aux')), None),
])
def test_the_subject(why, tree, expected): assert greek_proper_subject(sentence(tree)) is expected

def verb(mood, person='third', number=2, after='.'):
    return word(A, number, 'τρεμω', 'v', 'v', after, mood=mood, person=person)
def clause(*parts): return group(*parts)
def not_(number, lemma): return word(A, number, lemma, 'adv', 'ad')
def who(number, lemma='τίς', type='interrogative'): return word(A, number, lemma, 's', 'pr', type=type)
MARK_IN_THE_WORD = '<w ref="3JN 1:1!2" class="verb" role="v" mood="indicative" lemma="τρεμω">τρεμω;</w>'
D, Q, C = 'declarative', 'interrogative', 'imperative'

@pytest.mark.parametrize('why,tree,expected', [
    ('a statement', clause(verb('indicative')), D),
    ('a wish', clause(verb('optative')), D),
    ('a command', clause(verb('imperative', 'second')), C),
    ('a command in the third person', clause(verb('imperative')), C),
    ('an exhortation', clause(verb('subjunctive', 'first')), C),
    ('a prohibition', clause(not_(1,'μή'), verb('subjunctive', 'second')), C),
    ('a denial', clause(not_(1,'οὐ'), not_(3,'μή'), verb('subjunctive', 'first', 4)), D),
    ('a subjunctive in the third person', clause(verb('subjunctive')), D),
    ('a purpose', group(particle(1,'ἵνα'), clause(verb('subjunctive', 'first')), kind='', rule='sub-CL'), D),
    ('a question by its mark', clause(verb('indicative', after=';')), Q),
    ('the Greek question mark', clause(verb('indicative', after='\u037e')), Q),
    ('a question mark in the word', group(man(), MARK_IN_THE_WORD), Q),
    ('a question word', clause(who(1), verb('indicative', after='·')), Q),
    ('an indefinite word', clause(who(1, 'τις', 'indefinite'), verb('indicative')), D),
    ('a question within', clause(verb('indicative', number=1), group(who(2), verb('indicative', number=3), role='o')), D),
    ('a quoted question', clause(verb('indicative', number=1, after='·'), group(verb('indicative', 'second', 2, ';'), role='o')), D),
    ('two questions, then a statement',
     group(clause(verb('indicative', after=';')), clause(verb('imperative', number=3)), kind='', rule='ClCl'), Q),
    ('a command after a vocative', group(group(man(1,'aux'), kind='', rule='Np2CL'), clause(verb('imperative', 'second'))), C),
    ('no copula', clause(word(A,1,'μακρος','p','a'), man(2, after='.')), D),
    ('from someone to someone', clause(nosa(), man(2,'io', after='.')), None),
    ('a participle for a verb', clause(verb('participle')), D),
    ('an address', clause(man(1,'aux')), None),
    ('a question without clause', group(word(A,1,'δια','adv','pr',after=';')), Q),
])
def test_the_mood(why, tree, expected): assert greek_mood(sentence(tree)) == expected

def links(*words):
    "The words of one verse; verbs are in the indicative unless they say otherwise"
    def one(number, lemma, kind, more):
        mood = {'mood': 'indicative'} if kind == 'v' else {}
        return word(A, number, lemma, '', kind, **mood | more)
    return group(*(one(i, *w) for i,w in enumerate(words, 1)))

FIRST, SUBJECT_FIRST = {'referent': 'n1v1w1'}, {'subjref': 'n1v1w1'}
NOSA, HIM = ('Νωσα','N',{}), ('αὐτος','pr',FIRST)

@pytest.mark.parametrize('why,words,expected', [
    ('named once', [NOSA], 0),
    ('named twice, but not linked', [NOSA, NOSA], 0),
    ('a pronoun', [NOSA, HIM], 1),
    ('a silent subject', [('μανος','n',{}), ('τρεμω','v',SUBJECT_FIRST)], 1),
    ('what points to nothing here', [('αὐτος','pr',{'referent':'n9v9w9'}), ('τρεμω','v',{'subjref':'n9v9w9'})], 0),
    ('two nouns in a chain', [NOSA, ('μανος','n',FIRST)], 2),
    ('a possessive', [('μανος','n',{}), ('ἐμος','a',FIRST)], 1),
    ('an adjective that is pointed to', [('ἀγαπος','a',{}), ('συ','pr',FIRST)], 1),
    ('a numeral', [('δυω','num',{}), HIM], 1),
    ('a participle', [('γραφω','v',{'mood':'participle'}), HIM], 1),
    ('an event', [('τρεμω','v',{}), ('τουτο','pr',FIRST)], 0),
    ('an infinitive', [('τρεμω','v',{'mood':'infinitive'}), ('τουτο','pr',FIRST)], 0),
    ('a pronoun that is pointed to', [('τις','pr',{}), ('τρεμω','v',SUBJECT_FIRST)], 0),
    ('an article', [('ὁ','d',{'referent':'n1v1w2'}), ('μανος','n',{})], 1),
    ('a plural', [NOSA, ('Τιρων','N',{}), ('ἡμεις','pr',{'referent':'n1v1w1 n1v1w2'})], 2),
    ('itself', [('μανος','n',FIRST)], 1),
])
def test_mentions(why, words, expected): assert count_mentions(verse(links(*words))) == str(expected)

def test_a_chain_runs_over_verses_and_sentences():
    he, trembles = word('3JN 1:2',1,'αὐτος','s','pr',referent='n1v1w1'), word('3JN 1:2',2,'τρεμω','v','v',mood='indicative')
    first, second = NOSA_TREMBLES, group(he, trembles)
    verses = annotate_book(parse_lowfat(book(first, second)))
    assert [count_mentions(v) for v in verses.values()] == ['1','0'] and not any(v.crosses for v in verses.values())
    one,two = (v.sentences[0].mentions[0] for v in verses.values())
    assert one.chain == two.chain and (one.tokens, one.pronominal) == (('Νωσα',), False) and two.pronominal

@pytest.mark.parametrize('attributes,expected', [
    (dict(frame='A0:n1 A1:n2', ln='24.52'), [('ἀκουω.24.52', 2)]),
    (dict(frame='A0:n1;n2;n3', ln='24.52'), [('ἀκουω.24.52', 1)]),
    (dict(frame='A1:n1 A1:n2', ln='24.52'), [('ἀκουω.24.52', 2)]),
    (dict(frame='A0:n00000000000', ln='24.52'), [('ἀκουω.24.52', 1)]),
    (dict(frame='A0:n1', ln='24.52 31.56'), [('ἀκουω.24.52+31.56', 1)]),
    (dict(frame='A0:n1'), [('ἀκουω', 1)]),
    (dict(ln='24.52'), []),
    ({'frame':'A0:n1', 'ln':'24.52', 'class':'ptcl'}, []),
    (dict(frame='A0:n1', ln='33.1', lemma='δουλω (II)'), [('δουλω_(II).33.1', 1)]),
])
def test_predicates(attributes, expected):
    attributes = {'lemma': 'ἀκουω', 'mood': 'indicative'} | attributes
    annotated = verse(group(word(A, 1, role='v', kind='v', **attributes)))
    assert [tuple(p) for p in annotated.sentences[0].predicates] == expected

def test_a_sentence_over_two_verses_crosses_both():
    def trembles(at): return word(at, 1, 'τρεμω', 'v', 'v', mood='indicative')
    before, over, after = group(man(), runs()), group(nosa(3), trembles('3JN 1:2')), group(trembles('3JN 1:3'))
    verses = annotate_book(parse_lowfat(book(before, over, after)))
    assert {r.verse: (len(v.sentences), v.crosses) for r,v in verses.items()} == {1: (2,True), 2: (1,True), 3: (1,False)}

# Files

def test_words_come_in_the_order_of_the_text_and_of_the_tree():
    s = sentence(group(particle(2,'δα'), group(nosa(), runs(3)), kind='', rule='Conj-CL'))
    assert [w.number for w in s.words] == [1,2,3] and [w.number for w,_ in walk(s.tree)] == [2,1,3]

def test_a_namespace_and_a_byte_order_mark_change_nothing(tmp_path):
    text = book(NOSA_TREMBLES)
    (tmp_path/'a.xml').write_text('\ufeff' + text.replace('<book ', '<book xmlns="http://example.org" '), encoding='utf-8')
    assert read_lowfat(tmp_path/'a.xml').sentences == parse_lowfat(text).sentences

@pytest.fixture
def folder(tmp_path):
    "Two small books"
    def clause_of(code, v):
        at, frame = f'{code} 1:{v}', 'A0:n1' + ' A1:n2'*(v % 2)
        return group(word(at,1,'Νωσα','s','N'), word(at,2,'τρεμω','v','v','.',mood='indicative',ln=f'15.{v % 3}',frame=frame))
    (tmp_path/'greek').mkdir()
    for i,code in ((24,'2JN'), (25,'3JN')):
        text = book(*(clause_of(code, v) for v in range(1, 14)), code=code)
        (tmp_path/'greek'/f'{i}-x.xml').write_text(text, encoding='utf-8')
    return tmp_path/'greek'

def run(capsys, *argv):
    try: status = main(list(map(str, argv)))
    except SystemExit as e: status = e.code
    said = capsys.readouterr()
    return status, said.out, said.err.splitlines()

DAMAGES = {
    'cut': (lambda t: t[:len(t)//2], 'malformed XML'),
    'empty': (lambda t: '<book><sentence><w ref="3JN 1:1!1"/>', 'malformed XML'),
    'a bad place': (lambda t: t.replace('3JN 1:5!1', '3JN 5!1'), "line 7: a word has the reference '3JN 5!1'"),
    'a bad book': (lambda t: t.replace('"3JN 1:9!2', '"XYZ 1:9!2'), "line 11: a word has the reference 'XYZ 1:9!2'"),
    'an entity': (lambda t: t.replace('<book', '<!DOCTYPE book [<!ENTITY x "y">]><book'), 'declares XML entities'),
    'the other book again': (lambda t: t.replace('3JN', '2JN'), 'contains 2JN 1:1, and so does'),
    'another edition': (lambda t: t.replace('<w ', '<w mandarin="" '), 'is of the edition SBLGNT'),
}

@pytest.mark.parametrize('damage', DAMAGES)
def test_a_bad_book_is_one_line(folder, capsys, tmp_path, damage):
    do,says = DAMAGES[damage]
    path = folder/'25-x.xml'
    path.write_text(do(path.read_text(encoding='utf-8')), encoding='utf-8')
    status,out,err = run(capsys, 'annotate', folder, '-o', tmp_path/'a.parquet')
    assert status == 1 and out == '' and len(err) == 1 and '25-x.xml' in err[0] and says in err[0], err
    assert not (tmp_path/'a.parquet').exists()

def test_a_bad_book_is_left_out_where_asked(folder, capsys, tmp_path):
    bad = folder/'25-x.xml'
    bad.write_text(bad.read_text(encoding='utf-8').replace('3JN 1:5!1', '5'), encoding='utf-8')
    status,out,_ = run(capsys, 'annotate', folder, '-o', tmp_path/'a.parquet', '--skip-bad')
    assert status == 3 and 'left out 25-x.xml' in out and '13 verses' in out
    (folder/'24-x.xml').unlink()
    status,out,err = run(capsys, 'annotate', folder, '-o', tmp_path/'b.parquet', '--skip-bad')
    assert status == 1 and len(err) == 1 and 'can be read' in err[0]

def test_the_published_slips_are_refused(folder, capsys, tmp_path):
    status,out,err = run(capsys, 'annotate', folder, '-o', tmp_path/'a.parquet', '--rules', 'v0.1')
    assert status == 1 and out == '' and len(err) == 1 and 'is MACULA Greek' in err[0] and 'leave --rules out' in err[0]
    assert run(capsys, 'annotate', folder, '-o', tmp_path/'a.parquet', '--rules', 'paper')[0] == 0

def test_a_bible_is_not_an_annotated_source(tmp_path):
    (tmp_path/'x.xml').write_text('<usfx><book id="MRK"><c id="1"/><v id="1"/>Lo la.<ve/></book></usfx>', encoding='utf-8')
    with pytest.raises(InputError, match='contains no annotated source'): annotate(tmp_path)

def test_files_of_other_kinds_are_passed_over(folder):
    (folder/'all.xml').write_text('<sblgnt/>')
    (folder/'notes.xml').write_bytes(b'\xff\xfe\x00')
    (folder/'nodes').mkdir()
    (folder/'nodes'/'24.xml').write_text('<Sentences><Sentence><Node/></Sentence></Sentences>')
    assert [f.name for f in lowfat_files(folder)] == ['24-x.xml', '25-x.xml']
    assert annotate(folder).source.files == 2

def test_annotations_remember_their_source_and_no_words(folder, tmp_path):
    import pyarrow.parquet as pq
    made = annotate(folder)
    write_annotations(made, tmp_path/'a.parquet')
    again = read_annotations(tmp_path/'a.parquet')
    assert again.source == made.source and list(again.verses) == list(made.verses)
    assert (again.source.name, again.source.licence, again.source.rules) == ('MACULA Greek', 'CC BY 4.0', 'paper')
    assert 'Biblica' in again.source.attribution
    table = pq.read_table(tmp_path/'a.parquet')
    assert 'Νωσα' not in str(table.to_pylist()) and 'τρεμω.15.1' in str(table.to_pylist())

def test_the_same_books_in_another_order_are_the_same(folder, tmp_path):
    other = tmp_path/'other'
    other.mkdir()
    for f in folder.iterdir():
        name = '1.xml' if f.name.startswith('25') else '2.xml'
        (other/name).write_bytes(f.read_bytes())
    one, two = annotate(folder).verses, annotate(other).verses
    assert two == one and list(two) == list(one)

def test_greek_senses_survive(folder, tmp_path):
    "From the annotations through the tables to the tokens of a model"
    from pronto.bibles.reading import read_bible
    rows = ''.join(f'{code}\t1\t{v}\tlo la {code} {v}\n' for code in ('2JN','3JN') for v in range(1, 14))
    (tmp_path/'lo.tsv').write_text(rows, encoding='utf-8')
    manifest = build(annotate(folder), read_bible(tmp_path/'lo.tsv'), tmp_path/'d', min_verses=1, splits='random')
    source = manifest['source']
    assert source['licence'] == 'CC BY 4.0' and source['name'] == 'MACULA Greek' and 'books' in source['edition']
    pairs = [r for part in load_dataset_folder(tmp_path/'d').tasks['same_sense'].values() for r in part]
    assert {r.sense for r in pairs} == {'τρεμω.15.0', 'τρεμω.15.1', 'τρεμω.15.2'}

@pytest.mark.parametrize('text,says', [
    (group(runs()).replace('ref="3JN 1:1!2"', f'ref="3JN 1:1!{"9"*5000}"'), 'which is not like'),
    ('<wg>'*400 + runs() + '</wg>'*400, 'more than 300 groups'),
    (group(*(word(A, i, 'x') for i in range(1001)), kind='np'), 'more than 1,000 words'), # Each word would get the whole phrase
])
def test_hostile_books_are_one_short_line(tmp_path, text, says):
    (tmp_path/'25-x.xml').write_text(book(text), encoding='utf-8')
    with pytest.raises(InputError, match=rf'25-x.xml, line \d+: .*{says}') as e: read_lowfat(tmp_path/'25-x.xml')
    assert len(str(e.value)) < 400

def test_an_empty_subject_is_read():
    assert verse(group('<wg role="s"/>', word(A, 1, 'μανος'))).sentences[0].mood is None

def test_a_frame_of_many_letters_is_read_in_linear_time():
    "Looking for a colon from every letter takes minutes"
    assert verse(group(runs(frame='a'*300_000))).sentences[0].predicates == ()

def test_a_head_of_many_words_is_looked_at_in_linear_time(tmp_path):
    (tmp_path/'x.xml').write_text('<sentence>' + '<w '*300_000)
    assert lowfat_files(tmp_path) == []

# Real data

@pytest.fixture(scope='module')
def macula(testdata): return annotate(testdata/'macula-greek')

def test_the_books_at_hand(macula):
    assert macula.source.edition == 'SBLGNT, lowfat syntax trees, 19 of 27 books'
    assert (len(macula.verses), sum(not v.crosses for v in macula.verses.values())) == (1896, 939)
    assert macula.source.unusable == {'2CO 13:12': 'fused', '2CO 13:13': 'fused'} and Ref('2CO',13,14) in macula.verses
    uses = [p for v in macula.verses.values() if not v.crosses for s in v.sentences for p in s.predicates]
    assert all(re.fullmatch(r'[^\W\d]+(\.\d+\.\d+[a-z]?(\+\d+\.\d+[a-z]?)*)', p.sense) and p.n_args > 0 for p in uses)

@pytest.mark.slow
def test_every_whole_new_testament_builds(macula, testdata, tmp_path):
    from pronto.bibles.reading import read_bible
    names = ('usfx/chr-cherokee.usfx.xml', 'vpl/engwebster_nt_vpl.txt', 'osis/lav-latvian.osis.xml', 'ces/Coptic-NT.xml')
    for name in names:
        out = tmp_path/name.replace('/','-')
        m = build(macula, read_bible(testdata/'bibles'/name), out)
        assert m['verses']['aligned'] > 930 and m['source']['name'] == 'MACULA Greek'
        assert m['task_names'] == {'nonpronominal_mention': 'NMC (MACULA)'}
        assert min(m['counts']['same_sense'].values()) > 150
        assert m['checks']['shared_verses'] == m['checks']['contradictory_pairs'] == 0
        part = load_dataset_folder(out).tasks['nonpronominal_mention']
        assert all(split_of(r.ref) == split for split,rows in part.items() for r in rows)
