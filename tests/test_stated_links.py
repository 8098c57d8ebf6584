"Links of words that a Bible states by numbers of Strong's dictionary, in all formats that have them"
import json, re, sys

import pytest

from conftest import ROOT
from pronto.bibles.reading import read_bible
from pronto.bibles.rows import Bible, LinkedWord, VerseRow
from pronto.bibles.usfm import read_usfm
from pronto.bibles.versification import to_english
from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.lab.words.stated_links import (NOT_GREEK, LINKED, UNNUMBERED, UNSURE, NumberedPhrase, greek_numbers, link_phrases, phrases_of,
                                          strong_numbers, uses_inflected)
from pronto.datasets.segmentation import Segmentation
from pronto.lab.quality.gold_alignments import GoldVerse, read_gold
from pronto.sources.records import SourceWord
from test_words import annotated, pronto, translated # noqa: F401

# Formats

BODIES = {
    'a.usfm': '\\id MRK\n\\c 1\n\\p\n\\v 1 \\w lo|strong="G976"\\w* \\w Tom|lemma="x" strong="G2381"\\w*\\f + \\ft no\\f*, us.',
    'a.usx': '<usx version="3.0"><book code="MRK" style="id"/><chapter number="1" style="c"/><para style="p"><verse number="1" '
             'style="v"/><char style="w" strong="G976">lo</char> <char style="w" strong="G2381">Tom</char>'
             '<note style="f" caller="+"><char style="ft">no</char></note>, us.</para></usx>',
    'a.usj': json.dumps(dict(type='USJ', version='3.1', content=[
        dict(type='book', marker='id', code='MRK'), dict(type='chapter', marker='c', number='1'),
        dict(type='para', marker='p', content=[
            dict(type='verse', marker='v', number='1'), dict(type='char', marker='w', content=['lo'], strong='G976'), ' ',
            dict(type='char', marker='w', content=['Tom'], strong='G2381'), ', us.'])])),
    'a.osis.xml': '<osis><osisText><div type="book" osisID="Mark"><chapter osisID="Mark.1"><verse osisID="Mark.1.1">'
                  '<w lemma="strong:G976">lo</w> <w lemma="strong:G2381">Tom</w><note>no</note>, us.</verse>'
                  '</chapter></div></osisText></osis>',
    'a.zefania.xml': '<XMLBIBLE><BIBLEBOOK bnumber="41"><CHAPTER cnumber="1"><VERS vnumber="1"><gr str="976">lo</gr> '
                     '<gr str="2381">Tom</gr><NOTE>no</NOTE>, us.</VERS></CHAPTER></BIBLEBOOK></XMLBIBLE>',
    'a.usfx': '<usfx><book id="MRK"><c id="1"/><p><v id="1"/><w s="G976">lo</w> <w s="G2381">Tom</w><f>no</f>, us.<ve/></p></book></usfx>'}

@pytest.mark.parametrize('name', BODIES)
def test_each_format_keeps_the_numbers_of_its_words_if_asked(tmp_path, name):
    (tmp_path/name).write_text(BODIES[name], encoding='utf-8')
    bible, plain = read_bible(tmp_path/name, words=True), read_bible(tmp_path/name)
    assert bible == plain and plain.words == {} and bible.verses == {Ref('MRK', 1, 1): 'lo Tom, us.'}
    (words,) = bible.linked.values()
    assert [(w.start, w.end, strong_numbers(w.attributes)) for w in words] == [(0, 2, (976,)), (3, 6, (2381,))]

def test_a_sword_module_keeps_the_numbers_of_its_words_if_asked(tmp_path):
    from small_bibles import sword
    for name,data in sword().items():
        (tmp_path/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/name).write_bytes(data)
    bible = read_bible(tmp_path, words=True)
    assert read_bible(tmp_path).words == {} and bible.linked.keys() == bible.verses.keys()
    for ref,(word,) in bible.linked.items():
        assert bible.verses[ref][word.start:word.end] == 'Anam' and strong_numbers(word.attributes) == (1,)

def test_words_follow_their_verse_to_english_numbers():
    row = VerseRow('JOL', 3, '1', 'lo Tom')
    bible = Bible([row, VerseRow('JOL', 4, '1', 'us')], words={row: (LinkedWord(0, 2, {'strong': 'H1'}),)})
    assert list(to_english(bible, 'org').linked) == [Ref('JOL', 2, 28)]

def test_words_of_a_verse_in_parts_are_not_linked():
    usfm = '\\id MRK\n\\c 1\n\\p\n\\v 1a \\w lo|strong="G1"\\w*\n\\v 1b us\n\\v 2-3 \\w lo|strong="G1"\\w*'
    bible = read_usfm(usfm, words=True)
    assert len(bible.words) == 2 and bible.linked == {}

# Numbers

@pytest.mark.parametrize('attributes,numbers', [
    (dict(strong='G4198'), (4198,)), (dict(strong='G4198,G3588'), (4198, 3588)), (dict(strong='G1510a'), (1510,)),
    (dict(strong='G09760'), (976,)), (dict(str='976 3588'), (976, 3588)), (dict(lemma='Strong:G0976'), (976,)),
    (dict(strong='H7225'), ()), (dict(lemma='strong:H07225'), ()), (dict(lemma='976'), ()), (dict(strong='G0'), ()),
    (dict(strong='G5719'), ()), (dict(strong=''), ()), (dict(lemma='strong:G3588 lemma.TR:ο', morph='robinson:G1'), (3588,))])
def test_numbers_are_read_as_formats_write_them(attributes, numbers): assert strong_numbers(attributes) == numbers

def test_a_bible_is_asked_whether_it_numbers_forms():
    of = SourceWord(form='ὑμῶν', lemma='σύ')
    assert greek_numbers(of, True) == {5216} and greek_numbers(of, False) == {4771, 5216, 5210}
    def numbered(*numbers): return [NumberedPhrase((n,), (0,), False) for n in numbers]
    assert uses_inflected(numbered(5216, 2258, 4771)) and not uses_inflected(numbered(4771, 4771, 5216))
    assert greek_numbers(SourceWord(form='Ἀρχὴ', lemma='Αρχη'), True) == {746} # Without its accents
    assert greek_numbers(SourceWord(form='x'), True) == set()

# Rules

def stated(greek, usfm):
    (row,) = (bible := read_usfm(f'\\id MRK\n\\c 1\n\\p\n\\v 1 {usfm}', words=True)).rows
    tokens = Segmentation().words(row.text)
    words = [SourceWord(form=w, lemma=w) for w in greek.split()]
    return link_phrases(words, len(tokens), phrases_of(row.text, tokens, bible.words.get(row, ())), False)

def w(text, *numbers): return f'\\w {text}|strong="{",".join(f"G{n}" for n in numbers)}"\\w*'

LIGHT, BOOK = 5457, 976
RULES = {
    'once': ('βίβλος φῶς', f'{w("lum", LIGHT)} {w("lib", BOOK)}', {(1, 0), (0, 1)}, [LINKED]*2),
    'twice on both sides': ('φῶς φῶς', f'{w("lum", LIGHT)}, {w("lum", LIGHT)}', {(0, 0), (1, 1)}, [LINKED]*2),
    'twice in the Greek, once here': ('φῶς φῶς', w('lum', LIGHT), set(), [UNSURE]),
    'once in the Greek, twice here': ('φῶς', f'{w("lum", LIGHT)}, {w("lum", LIGHT)}', {(0, 0), (0, 1)}, [LINKED]*2),
    'twice in the Greek, three apart': ('φῶς φῶς', ', '.join([w('lum', LIGHT)]*3), set(), [UNSURE]*3),
    'twice in the Greek, two side by side': ('φῶς φῶς', f'{w("la", LIGHT)} {w("lum", LIGHT)}, {w("lum", LIGHT)}',
                                             {(0, 0), (0, 1), (1, 2)}, [LINKED]*3),
    'not in the verse': ('βίβλος', w('lum', LIGHT), set(), [NOT_GREEK]),
    'two numbers': ('βίβλος φῶς', w('lumlib', LIGHT, BOOK), {(0, 0), (1, 0)}, [LINKED]),
    'one of two numbers': ('φῶς', w('lumlib', LIGHT, BOOK), {(0, 0)}, [LINKED]),
    'a phrase': ('φῶς', w('de la lum', LIGHT), {(0, 0), (0, 1), (0, 2)}, [LINKED]*3),
    'a part of a word': ('φῶς', f"{w('lum', LIGHT)}'us nu", {(0, 0)}, [LINKED, UNNUMBERED]),
    'words outside': ('φῶς', f'eno {w("lum", LIGHT)} us', {(0, 1)}, [UNNUMBERED, LINKED, UNNUMBERED]),
    'no Greek': ('', w('lum', LIGHT), set(), [NOT_GREEK]), 'no word': ('φῶς', w('...', LIGHT) + ' us', set(), [UNNUMBERED])}

@pytest.mark.parametrize('rule', RULES)
def test_number_and_order_say_which_word(rule):
    greek, usfm, links, status = RULES[rule]
    assert stated(greek, usfm) == (links, status)

# Datasets

NUMBERS = {'Παῦλος': 3972, 'Πέτρος': 4074, 'Μάρκος': 3138, 'Λουκᾶς': 3065, 'ἔρχομαι': 2064, 'ὁράω': 3708, 'καλέω': 2564}

CHAPTER = [Ref('MAT', 1, v) for v in range(1, 18)] # 3 % of all verses

def with_numbers(annotations, without=()):
    "A translation that says the number of each word, but for the verses in `without`"
    bible = translated(annotations)
    for row in bible.rows:
        ref = Ref(row.book, row.chapter, int(row.label))
        if ref in without: continue
        found = zip(annotations.verses[ref].words, row.text.strip('!').split())
        places = [(word, row.text.index(token), len(token)) for word,token in found]
        bible.words[row] = tuple(LinkedWord(at, at + n, {'strong': f'G{NUMBERS[word.lemma]}'}) for word,at,n in places)
    return bible

def test_numbers_take_the_place_of_the_aligner_which_need_not_be_installed(annotated, monkeypatch, tmp_path): # noqa: F811
    from pronto.datasets.building import build
    from pronto.datasets.manifest import summary
    monkeypatch.setitem(sys.modules, 'thot.alignment', None)
    monkeypatch.setitem(sys.modules, 'thot', None)
    manifest = build(annotated, with_numbers(annotated), tmp_path/'toy', splits='parallel')
    about, n = manifest['word_tasks'], len(annotated.verses)
    assert about['aligner'] == '' and about['links'] == {'stated in the text': n, 'aligned': 0}
    assert about['stated_words'] == {LINKED: 3*n} and about['kept']['names']['verses'] == n
    assert 'are stated in the text' in about['quality'] and 'automatic word alignment' not in about['quality']
    assert f'Links of words are in {n} verses stated in the text; of the words of the former: {3*n:,} linked' in summary(manifest)
    first = (tmp_path/'toy'/'links.tsv').read_text().splitlines()[0]
    assert re.fullmatch(r'MAT 1:1\t0-0:\d+ 1-1:\d+ 2-2:\d+', first)
    less = build(annotated, with_numbers(annotated, [Ref('MAT', 1, 1)]), tmp_path/'less', splits='parallel')['word_tasks']
    assert less['links'] == {'stated in the text': n - 1, 'aligned': 0}
    assert less['left_out'] == {'no numbers at their words': 1}
    with pytest.raises(InputError, match=r'thot.*\[align\]'):
        build(annotated, with_numbers(annotated, CHAPTER), tmp_path/'other', splits='parallel')

def test_verses_without_numbers_are_aligned(annotated, tmp_path): # noqa: F811
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    manifest = build(annotated, with_numbers(annotated, CHAPTER), tmp_path/'toy', splits='parallel')
    n = len(annotated.verses)
    assert manifest['word_tasks']['links'] == {'stated in the text': n - 17, 'aligned': 17}
    assert manifest['word_tasks']['aligner'].startswith('eflomal')
    assert 'automatic word alignment' in manifest['word_tasks']['quality']

def test_build_reads_the_numbers_of_a_file(annotated, pronto, tmp_path): # noqa: F811
    from pronto.sources.annotation_file import write_annotations
    write_annotations(annotated, tmp_path/'a.parquet')
    lines = []
    for ref,verse in annotated.verses.items():
        if ref.chapter == 1 and ref.verse == 1: lines.append(f'\\id {ref.book}')
        if ref.verse == 1: lines.append(f'\\c {ref.chapter}\n\\p')
        said = ' '.join(f'\\w {x.lemma[::-1]}|strong="G{NUMBERS[x.lemma]}"\\w*' for x in verse.words)
        lines.append(f'\\v {ref.verse} {said}!')
    books = re.split(r'(?=\\id )', '\n'.join(lines))[1:]
    (tmp_path/'toki').mkdir()
    for book in books: (tmp_path/'toki'/f'{book[4:7]}.usfm').write_text(book, encoding='utf-8')
    status, _, err = pronto('build', '-a', tmp_path/'a.parquet', '-b', tmp_path/'toki', '-o', tmp_path/'toy', '--words',
                            '--min-verses', 100)
    assert status == 0, err
    manifest = json.loads((tmp_path/'toy'/'manifest.json').read_text())
    assert manifest['word_tasks']['links'] == {'stated in the text': len(annotated.verses), 'aligned': 0}

def test_words_that_are_not_judged_are_no_error_of_the_aligner():
    from pronto.lab.quality.alignment_scores import agreement_counts, link_counts
    greek = [SourceWord(form='βίβλος'), SourceWord(form='φῶς')]
    verse = GoldVerse((Ref('MRK', 1, 1),), greek, ['The','book','shines'], {(0, 1)}, set(), frozenset({0}))
    counts = link_counts(verse, {(0, 0), (0, 1), (1, 2)})
    assert [counts[kind,'all'] for kind in ('found','right','sure','hit')] == [2, 1, 1, 1]
    hand = GoldVerse((Ref('MRK', 1, 1),), greek, ['Book','that','shines'], {(0, 0), (1, 2)}, set())
    assert agreement_counts(verse, {(1, 1)}, hand) == dict(judged=1, agreement=1, of_aligner=0)

def test_a_bible_with_numbers_is_a_gold_alignment(tmp_path):
    (tmp_path/'toki.usfm').write_text(BODIES['a.usfm'], encoding='utf-8')
    greek = {Ref('MRK', 1, 1): [SourceWord(form=x, lemma=x) for x in ('βίβλος','Θωμᾶς')]}
    gold = read_gold(tmp_path/'toki.usfm', greek)
    assert gold.stated and gold.verses == [((Ref('MRK', 1, 1),), greek[Ref('MRK', 1, 1)], ['lo','Tom','us'], {(0, 0), (1, 1)},
                                           set(), {2})]
    assert '66.7% linked, 33.3% without number' in gold.notes[0]
    with pytest.raises(InputError, match='needs the Greek text; name it with --greek'): read_gold(tmp_path/'toki.usfm', {})

def test_the_card_says_what_the_table_of_alignments_says():
    from pronto.core.files import fact_table
    from pronto.core.tables import csv_rows
    from pronto.lab.words.word_align import stated_quality_note
    table = csv_rows((ROOT/'paper_tables'/'alignments.csv').read_text(encoding='utf-8'))
    measured = {(r['kind'], r['alignment'], r['measure']): float(r['value']) for r in table}
    facts = {(r['kind'], r['alignment'], r['measure']): float(r['value']) for r in fact_table('alignments')}
    assert facts == pytest.approx(measured, abs=.0006) # Rounded
    shares = [value for (kind,_,measure),value in facts.items() if measure in ('agreement','of_aligner')]
    assert shares and all(f'{share:.1%}' in stated_quality_note() for share in shares)
