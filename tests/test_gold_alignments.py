"Gold alignments of both formats, and what automatic alignments are measured with"
from random import Random

import pytest

from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.core.tables import csv_rows
from pronto.datasets.segmentation import Segmentation
from pronto.lab.quality.alignment_scores import alignment_scores, alignment_table, composed, link_counts
from pronto.lab.quality.gold_alignments import GoldAlignment, parse_aligned_usfm, read_gold, read_greek
from pronto.sources.records import SourceWord

GREEK = '''\
mk001:001	1	ἀρχή/746/0743	NOM.FEM.SG	Ἀρχὴ	arkhē
mk001:001	2	ὁ/3588/3455	ART.GEN.MASC.SG	τοῦ	tū
mk001:001	3a	Δαυίδ/1138/1159	PR	(Δαυεὶδ	daueid
mk001:001	3b	-/-/-	-	.	.
mk001:002	1	λέγω/3004/2909	PRES.ACT.IND.3sg	λέγει	legei
'''
FINNISH = '''\
mk001:001	mk001:001	mk001:001	VERSE	Mk␣1:1␣
mk001:001	1	@	-	Alku␣
mk001:001	1	(@)	-	oli␣
mk001:001	(2) 3a	@	-	Daavidin
mk001:001	2	%case	GEN	-
mk001:001	3b	.	-	.␣
mk001:001	(2)	-	UNTRANSLATED	-
mk001:002	mk001:002	mk001:002	VERSE	Mk␣1:2␣
mk001:002	1	@	-	Sanoo
'''

def milestone(content, inside, n=1, of=1, lemma='', morph='Gr,N'):
    attributes = f'x-lemma="{lemma or content}" x-morph="{morph}" x-occurrence="{n}" x-occurrences="{of}" x-content="{content}"'
    return f'\\zaln-s |{attributes}\\*{inside}\\zaln-e\\*'

ALIGNED = '\n'.join([
    '\\id MRK EN_TOY en_Toki_ltr', '\\c 1', '\\s1 A heading', '\\p',
    '\\v 1 ' + milestone('Ἀρχὴ', '\\w Beginning\\w*', lemma='ἀρχή') + ' {\\w here\\w*} '
    + milestone('τοῦ', milestone('Δαυεὶδ', '\\w of\\w*\n\\w David\\w*', lemma='Δαυείδ'), lemma='ὁ', morph='Gr,EA')
    + '\\f + \\ft A \\w note\\w*.\\f*,',
    '\\v 2-3 ' + milestone('λέγει', '\\w says\\w*', lemma='λέγω', morph='Gr,V')
    + ' \\w so\\w* ' + milestone('λέγει', '\\w again\\w*', lemma='λέγω', morph='Gr,V')])

@pytest.fixture
def folders(tmp_path):
    for name,text in (('helfi/greek/41-mk-Mark.txt', GREEK), ('helfi/finnish/41-mk.txt', FINNISH), ('toy/42-MRK.usfm', ALIGNED)):
        (tmp_path/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/name).write_text(text, encoding='utf-8')
    return tmp_path

def test_helfi(folders):
    first, second = read_gold(folders/'helfi').verses
    assert [(w.form, w.lemma, w.pos) for w in first.source] == [
        ('Ἀρχὴ', 'ἀρχή', 'NOUN'), ('τοῦ', 'ὁ', 'DET'), ('Δαυεὶδ', 'Δαυίδ', 'PROPN')]
    assert first.target == ['Alku', 'oli', 'Daavidin']
    assert (first.sure, first.possible) == ({(0,0), (2,2)}, {(0,1), (1,2)}) # What is in parentheses is only possible
    assert second.sure == {(0,0)}
    assert read_gold(folders/'helfi'/'finnish'/'41-mk.txt').verses == read_gold(folders/'helfi'/'finnish').verses == [first, second]

def test_milestones_with_the_greek_text(folders):
    gold = read_gold(folders/'toy', read_greek(folders/'helfi'/'greek'))
    first, second = gold.verses
    assert gold.name == 'Toki'
    assert first.target == ['Beginning', 'here', 'of', 'David'] # Neither the heading nor the note
    assert first.sure == {(0,0), (1,2), (1,3), (2,2), (2,3)}
    assert second.refs == (Ref('MRK', 1, 2), Ref('MRK', 1, 3)) # A bridge
    assert second.sure == {(0,0), (0,2)} # The same milestone twice is the same word

def test_milestones_without_a_greek_text(folders):
    gold = read_gold(folders/'toy'/'42-MRK.usfm')
    assert [(w.form, w.pos) for w in gold.verses[0].source] == [('Ἀρχὴ', 'NOUN'), ('τοῦ', 'DET'), ('Δαυεὶδ', 'PROPN')]
    assert 'too high' in gold.notes[0]

def test_in_a_bridge_occurrences_are_counted_in_the_verse_that_is_named(tmp_path):
    greek = {Ref('MRK', 1, n): [SourceWord(form=w) for w in ('λέγει', word)] for n,word in ((2, 'Παῦλος'), (3, 'Πέτρος'))}
    inside = lambda verse, word: milestone('λέγει', f'\\w {word}\\w*').replace('\\*', f' x-ref="1:{verse}"\\*', 1)
    (tmp_path/'42-MRK.usfm').write_text('\\id MRK\n\\c 1\n\\v 2-3 ' + inside(3, 'later') + inside(2, 'before'), encoding='utf-8')
    [verse] = read_gold(tmp_path, greek).verses
    assert (verse.target, verse.sure) == (['later','before'], {(2,0), (0,1)})

@pytest.mark.parametrize('said,name', [('hi_हिन्दी, हिंदी_ltr', 'हिन्दी, हिंदी'), ('ar_العربية_rtl', 'العربية'),
                                       ('es-419_Español⋅Latin⋅America_ltr', 'Español Latin America')])
def test_the_language_is_the_one_that_the_file_names(folders, said, name):
    (folders/'toy'/'42-MRK.usfm').write_text(ALIGNED.replace('en_Toki_ltr', said), encoding='utf-8')
    assert read_gold(folders/'toy').name == name

def test_tables_of_another_language_are_read_too(folders):
    (folders/'helfi'/'finnish').rename(folders/'helfi'/'swedish')
    assert [read_gold(folders/'helfi'/name).name for name in ('', 'swedish', 'swedish/41-mk.txt')] == ['Swedish']*3

def test_milestones_in_text_files_are_no_tables(folders):
    (folders/'toy'/'42-MRK.usfm').rename(folders/'toy'/'42-MRK.txt')
    (folders/'toy'/'.git').mkdir()
    (folders/'toy'/'.git'/'index').write_bytes(b'\xff\xfe\\id')
    assert read_gold(folders/'toy').name == 'Toki'

def test_what_nobody_has_aligned_yet_is_left_out_and_said(folders, capsys):
    pytest.importorskip('thot')
    (folders/'toy'/'43-LUK.usfm').write_text('\\id LUK\n\\c 1\n\\v 1 \\w Toki\\w*', encoding='utf-8')
    (folders/'toy'/'42-MRK.usfm').write_text(ALIGNED + '\n\\v 4 \\w pona\\w*', encoding='utf-8')
    greek = folders/'helfi'/'greek'/'41-mk-Mark.txt'
    greek.write_text(GREEK + GREEK.splitlines()[-1].replace(':002', ':004'), encoding='utf-8')
    assert main(['quality', 'align', str(folders/'toy'), '--greek', str(greek.parent)]) == 0
    said = capsys.readouterr().out
    assert 'Greek → Toki: Left out, as they have no milestones: 43-LUK.usfm.' in said
    assert 'Greek → Toki: 1 verses without a link were left out.' in said and '| Greek → Toki | 2 |' in said

def test_two_alignments_in_one_language_have_names_of_their_own(folders):
    pytest.importorskip('thot')
    (folders/'other').mkdir()
    (folders/'other'/'42-MRK.usfm').write_text(ALIGNED, encoding='utf-8')
    names = [s.name for s in alignment_scores([folders/'toy', folders/'other'])[0]]
    assert names == ['Greek → Toki (toy)', 'Greek → Toki (other)', 'Toki (toy) → Toki (other)']

def test_composed_links_go_through_the_greek(folders):
    finnish = read_gold(folders/'helfi')
    english = read_gold(folders/'toy', read_greek(folders/'helfi'/'greek'))
    verse, = composed(english, finnish).verses # The bridge has no counterpart
    assert verse.sure == {(0,0), (2,2), (3,2)} and (0,1) in verse.possible
    assert [w.is_name for w in verse.source] == [False, False, True, True]
    with pytest.raises(InputError, match='no verse in common'): composed(english, GoldAlignment('x', []))

def test_found_links_are_counted(folders):
    first = read_gold(folders/'helfi').verses[0]
    columns = [(kind, group) for group in ('all','names') for kind in ('found','right','sure','hit')]
    def counted(links): return [link_counts(first, links)[column] for column in columns]
    assert counted(first.sure) == [2, 2, 2, 2, 1, 1, 1, 1]
    assert counted({(0,1), (0,2), (2,0)}) == [3, 1, 2, 0, 1, 0, 1, 0]

@pytest.mark.parametrize('old,new,why', [
    ('\\w Beginning\\w*\\zaln-e\\*', '\\w Beginning\\w*', r'line 7: the milestone of Ἀρχὴ is not closed before .*v 2-3'),
    ('\\w says\\w*', '\\w says\\w*\\zaln-e\\*', r'line 7: .*zaln-e closes no milestone'),
    ('x-content="λέγει"\\*\\w again', 'x-content="λέγει"\\w again', 'line 7: the milestone .* is not complete'),
    ('x-content="λέγει"\\*\\w again', '\\*\\w again', 'line 7: a milestone without x-content'),
    ('x-occurrence="1"', 'x-occurrence="0"', "line 5: a milestone of Ἀρχὴ with occurrence '0'"),
    ('x-occurrence="1"', 'x-occurrence="one"', "line 5: .*'one'"),
    ('\\v 1 ', '\\v one ', "line 5: verse 'one' without"),
    ('\\id MRK', '\\id ???', "line 5: verse '1' without")])
def test_a_broken_milestone_is_one_line(folders, capsys, old, new, why):
    file = folders/'toy'/'42-MRK.usfm'
    file.write_text(ALIGNED.replace(old, new), encoding='utf-8')
    with pytest.raises(InputError, match='42-MRK.usfm, ' + why): read_gold(folders/'toy')
    assert main(['quality', 'align', str(folders/'toy')]) == 1
    said = capsys.readouterr()
    assert said.out == '' and said.err.count('\n') == 1 and '42-MRK.usfm' in said.err

@pytest.mark.parametrize('name,old,new,why', [
    ('finnish/41-mk.txt', '(2) 3a', '(2) drei', "line 4: 'drei' is not the number"),
    ('finnish/41-mk.txt', 'mk001:002	1', 'mk1.2	1', 'line 9: has no verse'),
    ('greek/41-mk-Mark.txt', 'NOM.FEM.SG	Ἀρχὴ	arkhē', '', 'line 1: is not a word with its verse')])
def test_a_broken_table_is_one_line(folders, name, old, new, why):
    file = folders/'helfi'/name
    file.write_text(file.read_text(encoding='utf-8').replace(old, new), encoding='utf-8')
    with pytest.raises(InputError, match=why): read_gold(folders/'helfi')

def test_what_is_no_gold_alignment_is_refused(folders):
    (folders/'empty').mkdir()
    (folders/'plain.usfm').write_text('\\id MRK\n\\c 1\n\\v 1 Toki', encoding='utf-8')
    for name in 'empty', 'plain.usfm':
        with pytest.raises(InputError, match='holds no word alignment'): read_gold(folders/name)
    with pytest.raises(InputError, match='does not exist'): read_gold(folders/'nowhere')
    (folders/'helfi'/'greek'/'41-mk-Mark.txt').unlink()
    with pytest.raises(InputError, match='holds no Greek table'): read_gold(folders/'helfi')

def test_open_milestones_end_with_the_book():
    with pytest.raises(InputError, match='before the end'): parse_aligned_usfm(ALIGNED.removesuffix('\\zaln-e\\*'), 'x')

@pytest.fixture(scope='module')
def scores(testdata):
    pytest.importorskip('thot')
    gold = testdata/'alignments'
    return alignment_scores([gold/'helfi'/'finnish'/'50-pp.txt', gold/'ult'/'51-PHP.usfm'])

@pytest.mark.slow
def test_a_real_book(scores):
    "One book is little to learn from; the whole New Testament is measured in `paper_tables/alignments.md`"
    finnish, english, both = scores[0]
    assert [s.name for s in scores[0]] == ['Greek → Finnish', 'Greek → English', 'Finnish → English']
    assert finnish.verses == english.verses == both.verses == 104
    assert finnish.value['names_f1'] > .8 and finnish.value['f1'] > .6 and english.value['f1'] > .5
    low, high = finnish.interval['f1']
    assert low < finnish.value['f1'] < high
    assert 'F1 of names' in alignment_table(*scores).markdown()

@pytest.mark.slow
def test_a_treebank(testdata):
    pytest.importorskip('thot')
    greek = testdata/'alignments'/'helfi'/'greek'
    (score,) = alignment_scores([testdata/'ud'/'got_proiel-ud-test.conllu'], greek)[1]
    assert score.value['asked'] > .2 and score.value['right'] > .85
    with pytest.raises(InputError, match='needs the Greek text'): alignment_scores([testdata/'ud'/'got_proiel-ud-test.conllu'])
    with pytest.raises(InputError, match='no parts of speech'):
        alignment_scores([testdata/'ud'/'got_proiel-ud-test.conllu'], testdata/'greek'/'nestle1904.tsv')

# Drafts

@pytest.fixture
def planted(tmp_path):
    "A draft of invented words, its source, and the verses with an error"
    rng = Random(3)
    syllables = lambda n: ''.join(rng.choice('ptklmns') + rng.choice('aeiou') for _ in range(n))
    lexicon = {syllables(3): syllables(3) for _ in range(60)} | {name: f'{name}ak' for name in ('Dor','Tamel','Sona')}
    verses = [(f'MRK\t{1 + i//40}\t{1 + i%40}', ['ni', *rng.sample(list(lexicon), rng.randint(7, 14))]) for i in range(320)]
    lexicon['ni'] = 'ra'
    texts = [' '.join(lexicon[w] for w in words) for _,words in verses]
    named = next(i for i,text in enumerate(texts) if 'Dorak' in text and 'Tamelak' not in text)
    texts[named] = texts[named].replace('Dorak', 'Tamelak')
    texts[150] = texts[150][:len(texts[150])//4]
    texts[60], texts[200] = texts[200], texts[60]
    (tmp_path/'source.tsv').write_text(''.join(f"{v}\t{' '.join(words)}\n" for v,words in verses), encoding='utf-8')
    (tmp_path/'draft.tsv').write_text(''.join(f'{v}\t{text}\n' for (v,_),text in zip(verses, texts)), encoding='utf-8')
    name = lambda i: 'MRK {1}:{2}'.format(*verses[i][0].split('\t'))
    return tmp_path, {name(named): 'name missing', name(150): 'too short', name(60): 'perhaps exchanged', name(200): 'perhaps exchanged'}

@pytest.mark.slow
def test_planted_errors_come_first(planted, capsys):
    pytest.importorskip('thot')
    folder, errors = planted
    args = ['quality', 'draft', str(folder/'draft.tsv'), '--against', str(folder/'source.tsv'), '--most', '10']
    assert main([*args, '-o', str(folder/'out')]) == 0
    rows = csv_rows((folder/'out'/'draft.csv').read_text(encoding='utf-8'))
    assert len(rows) == 10
    assert {r['verse']: r['reason'] for r in rows[:4]} == errors

def test_a_draft_needs_verses(planted, capsys):
    folder, _ = planted
    (folder/'short.tsv').write_text('MRK\t1\t1\tra', encoding='utf-8')
    assert main(['quality', 'draft', str(folder/'short.tsv'), '--against', str(folder/'source.tsv')]) == 1
    assert capsys.readouterr().err == f'pronto: {folder}/short.tsv: has 1 verses of the source, of which 200 are needed; ' \
                                      'name more of the draft, or another source\n'

@pytest.mark.slow
def test_blank_missing_and_repeated_verses_of_a_draft_come_first(planted, capsys):
    pytest.importorskip('thot')
    folder, _ = planted
    lines = (folder/'draft.tsv').read_text(encoding='utf-8').splitlines()
    at = lambda verse: next(i for i,line in enumerate(lines) if line.startswith(f'{verse}\t'))
    lines[at('MRK\t2\t5')] = 'MRK\t2\t5\t'
    lines[at('MRK\t3\t7')] = 'MRK\t3\t7\t…?'
    lines.append('MRK\t4\t9\tra')
    lines[at('MRK\t6\t2')] = 'MRK\t6\t2-3\tra lo'
    for gone in 'MRK\t5\t1', 'MRK\t6\t3': del lines[at(gone)]
    (folder/'draft.tsv').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    args = ['quality', 'draft', str(folder/'draft.tsv'), '--against', str(folder/'source.tsv'), '--most', '2', '-o', str(folder/'out')]
    assert main(args) == 0
    rows = csv_rows((folder/'out'/'draft.csv').read_text(encoding='utf-8'))
    first = [('MRK 2:5', 'blank'), ('MRK 3:7', 'blank'), ('MRK 4:9', 'repeated'), ('MRK 5:1', 'blank')]
    assert [(r['verse'], r['reason']) for r in rows[:4]] == first and len(rows) == 6
    said = capsys.readouterr().out
    assert '314 verses were judged' in said # Of 320
    assert 'Not judged: 3 of the source are blank or missing; 1 stand more than once; 2 are printed together with others' in said

def test_a_verse_of_a_million_characters_is_refused_at_once(planted, monkeypatch, capsys):
    folder, _ = planted
    words = Segmentation.words
    def words_of_usual_texts(self, text):
        assert len(text) < 10_000, 'would take minutes'
        return words(self, text)
    monkeypatch.setattr(Segmentation, 'words', words_of_usual_texts)
    with open(folder/'draft.tsv', 'a', encoding='utf-8') as f: f.write('MRK\t9\t1\t' + 'ra'*500_000 + '\n')
    assert main(['quality', 'draft', str(folder/'draft.tsv'), '--against', str(folder/'source.tsv')]) == 1
    assert 'draft.tsv, MRK 9:1: has 1,000,000 characters; divide the verse' in capsys.readouterr().err

def test_no_verse_is_counted_twice(folders):
    (folders/'toy'/'copy.usfm').write_text(ALIGNED, encoding='utf-8')
    with pytest.raises(InputError, match='copy.usfm: holds MRK 1:1, as .*42-MRK.usfm does'): read_gold(folders/'toy')
    with pytest.raises(InputError, match='line .*: verse MRK 1:2-3 occurs twice'): parse_aligned_usfm(f'{ALIGNED}\n\\v 2-3 \\w x\\w*', 'x')
    assert len(parse_aligned_usfm(f'{ALIGNED}\n\\v 4a \\w x\\w*\n\\v 4b \\w y\\w*', 'x')) == 3

def test_a_verse_too_long_to_align_is_named_with_its_file(folders):
    long = ALIGNED + ' \\w so\\w*'*1001
    (folders/'toy'/'42-MRK.usfm').write_text(long, encoding='utf-8')
    with pytest.raises(InputError, match=r'toy, MRK 1:2: has 1,00\d words, of which 1,000 can be aligned'):
        alignment_scores([folders/'toy'])
