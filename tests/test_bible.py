"Bibles: one fixture for each oddity, bad input, and the real Bibles where they are at hand"
import os, subprocess, sys, zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import conftest
from conftest import time_limit
from pronto.bibles.reading import Bible, VerseRow, read_bible, write_tsv
from pronto.core.files import InputError
from pronto.core.refs import NT_BOOKS, Ref, parse_ref
from pronto.bibles.versification import choose_versification, to_english
from pronto.bibles.rows import clean_label, clean_text

HERE = Path(__file__).parent/'bibles'
DATA = conftest.DATA/'bibles'
real = pytest.mark.skipif(not DATA.is_dir(), reason='no real Bibles at hand')

# Fixture -> its rows as `chapter:label text`, with the book where it is not Mark
ROWS = {
    'range.usfm': ['1:1 Anam.', '1:2-3 Toki leu.', '1:4,5 Nami.'],
    'letters.usfm': ['1:1 Anam.', '1:2-4a Toki.', '1:4b-5 Leu.'],
    'footnote-only.usfm': ['1:1 Anam.', '1:2 '],
    'empty-verse.usfm': ['1:1 ', '1:2 Toki.'],
    'missing-verse.usfm': ['1:1 Anam.', '1:3 Toki.'],
    'repeated-verse.usfm': ['1:1 Anam.', '1:2 Toki.', '1:1 Leu.'],
    'poetry-inside-verse.usfm': ['1:1 Anam toki leu nami', '1:2 Sona.'],
    'wrapped-lines.usfm': ['1:1 Anam toki leu.'],
    'note-instead-of-space.usfm': ['1:1 Anam toki: Leu, nami.', '1:2 Sona pali.'],
    'note-in-unspaced-script.usfm': ['1:1 地是空虛。'],
    'nested-marker-in-note.usfm': ['1:1 Anam nami.'],
    'unclosed-note.usfm': ['1:1 Anam', '1:2 Toki.'],
    'word-attributes.usfm': ['1:1 Anam toki, leu.'],
    'alignment-milestones.usfm': ['1:1 Anam, toki.', '1:2 Leu.'],
    'unknown-heading-level.usfm': ['1:1 Anam.', '1:2 Toki.'],
    'centred-paragraph.usfm': ['1:1 Anam TOKI LEU'],
    'chapter-label.usfm': ['1:1 Anam.', '2:1 Toki.'],
    'table.usfm': ['1:1 Anam toki leu nami sona'],
    'introduction.usfm': ['1:1 Anam.'],
    'headings.usfm': ['PSA 3:1 Anam toki. Leu', 'PSA 3:2 Nami'],
    'crlf.usfm': ['1:1 Anam toki.', '1:2 Leu.'],
    'byte-order-mark.usfm': ['1:1 Anam.'],
    'nul-character.usfm': ['1:1 Anam toki.', '1:2 Leu.'],
    'asterisk.usfm': ['1:1 Anam* toki-toki* leu.'],
    'joiner-and-blanks.usfm': ['1:1 क्\u200dष anam toki'],
    'other-digits.usfm': ['1:1 Anam.', '1:2-3 Toki.'],
    'chapters-out-of-order.usfm': ['1:1 Anam.', '2:1 Toki.'],
    'no-bcv.usfx.xml': ['1:1 Anam toki.', '1:2 Leu.'],
    'bcv-and-notes.usfx.xml': ['1:1 Anam toki, leu.', '1:2-3 Nami.'],
    'milestones-over-poetry.osis.xml': ['1:1 Anam toki, leu nami.', '1:2 Sona.'],
    'containers.osis.xml': ['1:1 Anam toki.', '1:2-3 Leu.'],
    'note-only.osis.xml': ['1:1 ', '1:2 Toki.'],
    'style-and-note.zefania.xml': ['1:1 Anam toki, leu.}'],
    'own-codes.ces.xml': ['1:1 Anam "toki".', 'JHN 1:1 Leu.', 'PHP 1:1 Nami.', 'JAS 1:1 Sona.', '1JN 1:1 Pali.'],
    'doubled-book-number.ces.xml': ['MAT 11:1 Sona.', '1TI 1:1 Anam.', '1TI 2:1 Toki.', '1TI 6:1 Leu.', '3JN 1:1 Nami.'],
    'doubled-chapter-number.ces.xml': ['JHN 9:1 Anam.', 'JHN 9:2 Toki.', 'JHN 9:3 Leu.'],
    'inner-number.ces.xml': ['1:1 Anam 2 toki.', '1:3 Leu.'],
    'digits-as-letters.ces.xml': ['1:1 Ti7imaaro 7abba.'],
    'spreadsheet-date.ces.xml': ['1:1 Anam.', '1:2 46310'],
    'merged-placeholder.beblia.xml': ['1:1-3 Anam toki.', '1:4 Leu.'],
    'empty-verse.beblia.xml': ['1:1 Anam.', '1:2 '],
    'words-and-sigla.tei.xml': ['1:1 Anam toki, (leu) nami.', '1:2 Sona'],
    'verse-over-paragraphs.usx.xml': ['1:1 Anam, toki leu.', '1:2-3 Sona pali wile.', '1:4 Moku ala'],
    'style-in-style.usj.json': ['1:1 Anam, toki leu.', '1:2-3 Nami'],
    'verse-lines.txt': ['1:1 Anam, toki.', '1JN 1:2-3 Leu.'],
    'quoted.csv': ['1:1 Anam, "toki".', '1:2 Leu.'],
    'quoted.tsv': ['1:1 Anam, "toki".', '1:2 Leu.'],
    'plain.tsv': ['1:1 "Anam" toki, leu', '1:2-3 Nami'],
    'vref/art.txt': ['1:1-2 Anam toki.', '1:3 Leu.'],
    'vref': ['1:1-2 Anam toki.', '1:3 Leu.'],
    'csv-per-book': ['1:1 Anam, toki.'],
    'names-out-of-order': ['1:1 Anam.', 'JHN 1:1 Toki.'],
}

def shown(bible): return [f'{"" if r.book=="MRK" else r.book+" "}{r.chapter}:{r.label} {r.text}' for r in bible.rows]

@pytest.mark.parametrize('name', ROWS)
def test_rows(name): assert shown(read_bible(HERE/name)) == ROWS[name]

@pytest.mark.parametrize('name', ROWS)
def test_tsv_gives_the_bible_back(name, tmp_path):
    bible = read_bible(HERE/name)
    write_tsv(bible, tmp_path/'x.tsv')
    assert read_bible(tmp_path/'x.tsv') == bible

@pytest.mark.parametrize('name,excluded,missing', [
    ('range.usfm', {'MRK 1:2':'merged', 'MRK 1:3':'merged', 'MRK 1:4':'merged', 'MRK 1:5':'merged'}, []),
    ('letters.usfm', {'MRK 1:2':'merged', 'MRK 1:3':'merged', 'MRK 1:4':'part', 'MRK 1:5':'merged'}, []),
    ('footnote-only.usfm', {'MRK 1:2':'empty'}, []),
    ('empty-verse.usfm', {'MRK 1:1':'empty'}, []),
    ('missing-verse.usfm', {}, ['MRK 1:2']),
    ('repeated-verse.usfm', {'MRK 1:1':'repeated'}, []),
    ('spreadsheet-date.ces.xml', {'MRK 1:2':'empty'}, []),
    ('inner-number.ces.xml', {}, ['MRK 1:2']),
    ('copied-chapter.ces.xml', {f'MRK {c}:{v}':'repeated' for c in (1,2) for v in (1,2,3)}, []),
    ('merged-placeholder.beblia.xml', {f'MRK 1:{v}':'merged' for v in (1,2,3)}, []),
])
def test_what_is_left_out(name, excluded, missing):
    bible = read_bible(HERE/name)
    assert {str(r):why for r,why in bible.excluded.items()} == excluded
    assert [str(r) for r in bible.missing] == missing
    assert not bible.verses.keys() & bible.excluded.keys()

def test_unknown_books_are_counted():
    assert read_bible(HERE/'unknown-book.usfm').skipped == {'XYZ': 2}
    assert read_bible(HERE/'csv-per-book').skipped == {'ACT24.csv (no Bible)': 1, 'PA.csv (no Bible)': 1}

def test_no_new_testament(): assert {r.book for r in read_bible(HERE/'no-new-testament.usfm').verses}.isdisjoint(NT_BOOKS)

@pytest.mark.parametrize('name,said', [
    ('empty.txt', 'empty.txt: is empty'),
    ('binary.bin', 'binary.bin: is a binary file'),
    ('prose.txt', 'prose.txt: is not a Bible in a format that PrOnto reads'),
    ('latin-1.txt', 'latin-1.txt, line 2: is not UTF-8 text'),
    ('malformed.xml', 'malformed.xml, line 3: malformed XML'),
    ('entity-bomb.xml', 'entity-bomb.xml, line 2: declares XML entities'),
    ('external-entity.xml', 'external-entity.xml, line 2: declares XML entities'),
    ('three-columns.tsv', 'three-columns.tsv, line 2: 3 columns instead of 4'),
    ('nothing-readable', 'nothing-readable: holds no Bible in a format'),
    ('two-bibles', 'a.txt and b.txt both hold MRK 1'),
    ('nowhere', 'nowhere: cannot be read'),
])
def test_bad_input(name, said):
    with pytest.raises(InputError) as e: read_bible(HERE/name)
    assert said in str(e.value) and '\n' not in str(e.value)

@pytest.mark.parametrize('encoding', ['utf-16', 'utf-8-sig'])
@pytest.mark.parametrize('name', ['range.usfm', 'containers.osis.xml', 'plain.tsv', 'verse-lines.txt'])
def test_encodings(name, encoding, tmp_path):
    (tmp_path/'x').write_text((HERE/name).read_text(encoding='utf-8'), encoding=encoding)
    assert read_bible(tmp_path/'x') == read_bible(HERE/name)

def test_zip_of_books(tmp_path):
    with zipfile.ZipFile(tmp_path/'x.zip', 'w') as z:
        for p in sorted((HERE/'names-out-of-order').iterdir()): z.write(p, f'../nested/{p.name}')
    assert read_bible(tmp_path/'x.zip') == read_bible(HERE/'names-out-of-order')
    assert [p.name for p in tmp_path.iterdir()] == ['x.zip']

def test_zip_bomb(tmp_path, monkeypatch):
    "What all members unpack to is bounded, not only each"
    monkeypatch.setattr('pronto.bibles.opening.LARGEST_ZIP', 2**20, raising=False)
    with zipfile.ZipFile(tmp_path/'x.zip', 'w', zipfile.ZIP_DEFLATED) as z:
        for name in 'abc': z.writestr(f'{name}.usfm', b'\0'*2**19)
    with pytest.raises(InputError, match='x.zip: unpacks to more than'): read_bible(tmp_path/'x.zip')

def test_large_files_are_not_bibles(tmp_path, monkeypatch):
    (tmp_path/'a.txt').write_text('MRK 1:1 Anam')
    (tmp_path/'film.mp4').write_bytes(b'x'*2**12)
    monkeypatch.setattr('pronto.bibles.opening.LARGEST', 2**10)
    assert shown(read_bible(tmp_path)) == ['1:1 Anam']
    with pytest.raises(InputError, match='larger than any Bible'): read_bible(tmp_path/'film.mp4')

@pytest.mark.parametrize('kind', [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_broken_zip(tmp_path, kind):
    with zipfile.ZipFile(tmp_path/'x.zip', 'w', kind) as z: z.writestr('a.txt', 'MRK 1:1 Anam\n'*50)
    data, refused = (tmp_path/'x.zip').read_bytes(), 0
    for at in range(35, len(data)-80): # In the stream; the directory at the end is whole
        (tmp_path/'x.zip').write_bytes(data[:at] + bytes([data[at]^0x55]) + data[at+1:])
        try: assert len(read_bible(tmp_path/'x.zip').rows) == 50 # LZMA ends with bytes that mean nothing
        except InputError as e: refused += 'get a complete copy' in str(e)
    assert refused > 10

def test_names_in_a_zip_that_are_not_utf_8(tmp_path):
    with zipfile.ZipFile(tmp_path/'x.zip', 'w') as z: z.writestr('ä.txt', 'MRK 1:1 Anam')
    data = (tmp_path/'x.zip').read_bytes()
    (tmp_path/'x.zip').write_bytes(data.replace('ä'.encode(), b'\xff\xfe'))
    with pytest.raises(InputError, match='x.zip'): read_bible(tmp_path/'x.zip')

MANY = '1'*5000
@pytest.mark.parametrize('text', [
    f'<usfx><book id="MRK"><c id="{MANY}"/><v id="1"/>Anam</book></usfx>',
    '<usfx><book id="MRK"><c id="1²"/><v id="1"/>Anam</book></usfx>',
    f'<usfx><book id="MRK"><c id="1"/><v id="{MANY}"/>Anam</book></usfx>',
    f'\\id MRK\n\\c {MANY}\n\\v 1 Anam',
    f'MRK 1:{MANY} Anam',
    f'<osis><osisText><verse osisID="Mark.1.{MANY} Mark.1.2">Anam</verse></osisText></osis>',
    'MRK 1²:1 Anam\n'.replace('²', MANY),
    f'<cesDoc><seg id="b.1CO.1{MANY}.1" type="verse">Anam</seg></cesDoc>',
])
def test_impossible_numbers_are_counted(text, tmp_path):
    (tmp_path/'x').write_text(text, encoding='utf-8')
    assert sum(read_bible(tmp_path/'x').skipped.values()) == 1

CHAPTER = '<CHAPTER cnumber="1">'*200 + '<VERS vnumber="1">a</VERS>'*100 + '</CHAPTER>'*200

@pytest.mark.parametrize('text', [
    '\n'*1_000_000 + '\\id MRK\n\\c 1\n\\v 1 Anam',
    f'\\id MRK\n\\c 1\n\\v {":"*200_000} Anam',
    f'<osis><osisText><verse osisID="{":"*200_000}">Anam</verse></osisText></osis>',
    '\\id MRK\n\\c 1\n\\v 1 ' + '\\+nd x '*4000,
    'MRK\t1\t1\tAnam\n' + 'MRK\t1\t3\t***\n'*30_000,
    '<XMLBIBLE>' + '<BIBLEBOOK bnumber="1">'*200 + CHAPTER + '</BIBLEBOOK>'*200 + '</XMLBIBLE>'])
def test_readers_take_linear_time(text, tmp_path):
    "Each of these took from half a minute to hours; the alarm is far beyond what they take"
    (tmp_path/'x').write_text(text, encoding='utf-8')
    with time_limit(20):
        try: read_bible(tmp_path/'x')
        except InputError: pass

@pytest.mark.parametrize('name', ['undefined', 'punycode', 'unicode_escape', 'rot13'])
def test_encodings_that_are_not_for_text(name, tmp_path):
    (tmp_path/'x.xml').write_text(f'<?xml version="1.0" encoding="{name}"?><usfx/>')
    with pytest.raises(InputError, match='x.xml: declares an'): read_bible(tmp_path/'x.xml')

@pytest.mark.parametrize('sep', '\t,')
def test_long_fields(sep, tmp_path):
    (tmp_path/'x').write_text(f'MRK{sep}1{sep}1{sep}' + 'a'*140_000)
    assert read_bible(tmp_path/'x').rows == [VerseRow('MRK', 1, '1', 'a'*140_000)]

def test_a_quote_that_is_not_closed_swallows_no_verses(tmp_path):
    lines = [f'MRK,1,{i},"Anam {i}, toki"' for i in range(1, 51)]
    lines[9] = 'MRK,1,10,"Anam'
    lines[34] = 'MRK,1,35,leu"'
    (tmp_path/'x.csv').write_text('\n'.join(lines))
    with pytest.raises(InputError, match='x.csv, line 10: '): read_bible(tmp_path/'x.csv')
    plain = [f'MRK,1,{i},Anam' for i in range(1, 51)]
    plain[9], plain[34] = 'MRK,1,10,"Anam', 'MRK,1,35,"'
    (tmp_path/'x.csv').write_text('\n'.join(plain))
    with pytest.raises(InputError, match='line 10: opens a quote and does not close it'): read_bible(tmp_path/'x.csv')

def test_a_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path/'pipe')
    with time_limit(20), pytest.raises(InputError, match='is a pipe, a socket or a device'): read_bible(tmp_path/'pipe')
    with pytest.raises(InputError, match='/dev/zero: is a pipe, a socket or a device'): read_bible('/dev/zero')

def test_standard_input_is_read(tmp_path):
    code = 'from pronto.bibles.reading import read_bible; print(*read_bible("/dev/stdin").rows)'
    done = subprocess.run([sys.executable, '-c', code], input='MRK 1:1 Anam', capture_output=True, text=True, check=True)
    assert "text='Anam'" in done.stdout

@pytest.mark.parametrize('path', ['x'*300, 'a\0b', '/nowhere/at/all'])
def test_impossible_paths(path):
    with pytest.raises(InputError, match='cannot be read'): read_bible(path)

def test_a_file_is_opened_once(tmp_path, monkeypatch):
    "Also the parts of a treebank"
    word = '1\tAnam\t_\tX\t_\t_\t0\troot\t_\tref=MARK_1.{}\n\n'
    for n in 1,2: (tmp_path/f'{n}.conllu').write_text(word.format(n))
    opened = []
    sys.addaudithook(lambda event, args: opened.append(args[0]) if event == 'open' and str(args[0]).endswith('.conllu') else None)
    assert len(read_bible([tmp_path/'1.conllu', tmp_path/'2.conllu']).rows) == 2
    assert len(opened) == 2

def test_parts_are_joined():
    parts = [HERE/'names-out-of-order'/n for n in ('73-JHN.usfm', '91-a.sfm')]
    assert read_bible(parts) == read_bible(HERE/'names-out-of-order')

_labels = st.from_regex(r'[1-9][0-9]?[a-c]?(,[1-9][0-9]?)?', fullmatch=True)
_texts = st.text(st.characters(exclude_categories=['Cs'])).map(clean_text)
_rows = st.builds(VerseRow, st.sampled_from(NT_BOOKS), st.integers(1, 28), _labels, _texts)

@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(_rows, min_size=1))
def test_any_table_gives_the_bible_back(tmp_path_factory, rows):
    path,bible = tmp_path_factory.mktemp('tsv')/'x.tsv',Bible(rows)
    write_tsv(bible, path)
    assert read_bible(path) == bible
    assert not bible.verses.keys() & bible.excluded.keys()

@given(st.text())
def test_clean_twice_is_clean_once(text):
    assert clean_text(clean_text(text)) == clean_text(text)
    assert clean_label(clean_label(text)) == clean_label(text)

@pytest.mark.parametrize('written,read,changed', [
    ('tama\u00adzi\u0301\u0263t', 'tamaz\u00ed\u0263t', {'soft hyphens left out': 1, 'verses composed to NFC': 1}),
    ('\u200fab\u061cc \u202e(d)\u202c', 'abc (d)', {'marks of direction left out': 4}),
    ('a\u2011b\u00a0: c\u202fd', 'a-b : c d', {'non-breaking hyphens read as hyphens': 1, 'non-breaking blanks read as blanks': 2}),
    ('a\u200b\u200bb \u200bc\u200b', 'a\u200bb c', {'zero-width spaces beside blanks left out': 3}),
    ('\u1201\u1361\u1208 \u0f56\u0f7c\u0f51\u0f0b\u0f61\u0f72\u0f42', '\u1201\u1361\u1208 \u0f56\u0f7c\u0f51\u0f0b\u0f61\u0f72\u0f42', {})])
def test_a_text_is_made_normal_and_what_changed_is_counted(tmp_path, written, read, changed):
    (tmp_path/'a.txt').write_text(f'MRK 1:1 {written}')
    bible = read_bible(tmp_path/'a.txt')
    assert [*bible.verses.values()] == [read] and bible.changed == changed

def test_linked_words_keep_their_places_when_a_text_is_composed(tmp_path):
    text = '\\w ne\u0323\u0301|strong="G1"\\w* \u200f(\\w ma\u00adzi\u0301|strong="G2"\\w*) a\u2011\\w b|strong="G3"\\w*'
    (tmp_path/'a.usfm').write_text('\\id MRK\n\\c 1\n\\v 1 ' + text)
    bible = read_bible(tmp_path/'a.usfm', words=True)
    [said], [words] = bible.verses.values(), bible.linked.values()
    assert [said[word.start:word.end] for word in words] == ['n\u1eb9\u0301', 'maz\u00ed', 'b']

# Counts of the real Bibles: whole verses, merged, part, repeated, empty, missing, skipped; and the scheme
REAL = {
    'beblia/AramaicBible.xml': (7913,0,0,0,12,0,0,'eng'),
    'beblia/Japanese1965Bible.xml': (7921,37,0,0,0,0,0,'eng'),
    'ces/Basque-NT.xml': (7952,0,0,0,0,0,0,'org'),
    'ces/Cherokee-NT.xml': (7957,0,0,0,0,0,0,'eng'),
    'ces/Coptic-NT.xml': (7950,0,0,0,7,0,0,'org'),
    'ces/Ewe-NT.xml': (7943,0,0,0,0,13,0,'eng'),
    'ces/Gujarati-NT.xml': (7807,0,0,0,0,126,0,'eng'),
    "ces/K'iche'-NT.xml": (7509,0,0,0,1,16,0,'org'),
    'ces/Ojibwa-NT.xml': (7943,0,0,0,0,12,0,'eng'),
    'ces/Quichua-NT.xml': (7937,0,0,0,0,19,0,'eng'),
    'ces/Swahili-NT.xml': (7853,0,0,0,0,0,0,'eng'),
    'ces/Syriac-NT.xml': (7954,0,0,0,0,2,0,'eng'),
    'ces/Tachelhit-NT.xml': (7932,0,0,0,0,26,0,'eng'),
    'ces/Ukranian-NT.xml': (7955,0,0,0,0,0,0,'eng'),
    'ces/Wolaytta-NT.xml': (7770,0,0,0,0,181,0,'eng'),
    'ces/Wolof-NT.xml': (7920,0,0,0,0,39,0,'eng'),
    'ces/Zulu-NT.xml': (7859,0,0,116,0,0,0,'eng'),
    'csv/byz': (7953,0,0,0,0,4,2,'eng'),
    'osis/eng-us-oeb.osis.xml': (11703,0,0,0,19,0,0,'eng'),
    'osis/lav-latvian.osis.xml': (7899,0,0,0,0,5,0,'vul'),
    'osis/swa-swahili.osis.xml': (7809,0,0,0,6,0,0,'eng'),
    'tei': (1009,0,0,0,0,5,0,'eng'),
    'usfm/amo_reg': (7952,2,0,2,1,2,0,'eng'),
    'usfm/en_ult': (111,0,0,0,0,0,0,'eng'),
    'usfm/eng-web': (7953,0,0,0,5,0,0,'eng'),
    'usfm/eng_t4t': (983,24,0,0,0,0,0,'eng'),
    'usfm/fraLSG': (7959,0,0,0,0,0,0,'org'),
    'usfm/grcsbl': (7927,0,0,0,0,26,0,'org'),
    'usfm/hin_irv': (1476,0,0,0,0,0,0,'eng'),
    'usfm/id_tsi': (7542,414,1,0,0,0,0,'eng'),
    'usfm/tam_irv': (479,0,0,0,0,0,0,'eng'),
    'usfx/chi-cuv.usfx.xml': (31100,0,0,0,0,0,0,'eng'),
    'usfx/chr-cherokee.usfx.xml': (7957,0,0,0,0,0,0,'eng'),
    'vpl/engwebster_nt_vpl.txt': (7957,0,0,0,0,0,0,'eng'),
    'zefania/eng-ylt.zefania.xml': (7957,0,0,0,0,0,0,'eng'),
}

@real
@pytest.mark.parametrize('name', REAL)
@pytest.mark.slow
def test_real_bible(name, tmp_path):
    bible = read_bible(DATA/name)
    scheme = choose_versification(bible)
    assert (*bible.counts.values(), scheme) == REAL[name]
    write_tsv(bible, tmp_path/'x.tsv')
    assert read_bible(tmp_path/'x.tsv') == bible
    english = to_english(bible, scheme)
    assert not english.verses.keys() & english.excluded.keys()
    assert set(english.verses.values()) <= set(bible.verses.values())

@pytest.fixture(scope='module')
def segond():
    "A whole Bible with numbers of its own, as it is and under English numbers"
    bible = read_bible(DATA/'whole'/'fraLSG')
    return bible, to_english(bible, choose_versification(bible))

@real
@pytest.mark.parametrize('ref,own,words', [
    ('JOL 2:28', 'JOL 2:28', 'je répandrai mon esprit'), ('MAL 4:5', 'MAL 4:5', 'Élie'), ('PSA 51:1', 'PSA 51:3', 'Aie pitié'),
    ('JOB 39:1', 'JOB 39:4', 'chèvres sauvages'), ('JOB 41:34', 'JOB 41:25', 'regarde avec dédain'), ('ECC 12:1', 'ECC 12:3', 'souviens'),
    ('1SA 21:1', '1SA 21:1', 'Nob'),
])
def test_segonds_own_numbers(segond, ref, own, words):
    _,english = segond
    assert words in english.verses[parse_ref(ref)]
    assert english.own.get(parse_ref(ref), ref) == own

@real
def test_segonds_split_verses_are_left_out(segond):
    bible,english = segond
    assert parse_ref('MRK 9:50') in bible.verses and parse_ref('MRK 10:52') in bible.verses # Halves
    assert [english.excluded[parse_ref(r)] for r in ('MRK 9:50','MRK 10:52')] == ['part','part']
    assert english.verses[parse_ref('MRK 10:50')].startswith('L’aveugle jeta son manteau')
    assert len(english.dropped) == 67 and english.dropped[0] == 'PSA 3:1' # Titles

@real
def test_verses_after_two_in_one_keep_their_place():
    bible = read_bible(DATA/'ces'/'Basque-NT.xml')
    english = to_english(bible, choose_versification(bible))
    assert english.verses[parse_ref('ROM 3:31')].startswith('Leguea bada ez deus')
    assert english.excluded[parse_ref('ROM 3:23')] == 'part' and parse_ref('ROM 3:24') in english.excluded

@real
def test_a_chapter_may_begin_elsewhere():
    bible = read_bible(DATA/'usfx'/'chi-cuv.usfx.xml')
    english = to_english(bible, 'eng')
    assert english.own[parse_ref('1CH 22:1')] == '1CH 21:31' and english.own[parse_ref('1CH 22:19')] == '1CH 22:18'

@pytest.fixture
def project(tmp_path):
    "A Paratext project of one chapter with a verse more than in English Bibles"
    verses = ''.join(f'\\v {i} Toki {i}.\n' for i in range(1, 43))
    (tmp_path/'42MRKX.SFM').write_text('\\id MRK\n\\c 4\n\\p\n' + verses)
    (tmp_path/'Settings.xml').write_text(
        '<?xml version="1.0"?><ScriptureText><Versification>4</Versification><LanguageIsoCode>qab:::</LanguageIsoCode>'
        '<Language>Lo</Language><FullName>The Lo</FullName><Copyright>© Nami</Copyright></ScriptureText>')
    (tmp_path/'custom.vrs').write_text('# Changes\nMRK 4:42\nMRK 4:42 = MRK 4:41\n')
    return tmp_path

def test_a_paratext_project_speaks_for_itself(project):
    bible = read_bible(project)
    assert (bible.language, bible.named, bible.title, bible.licence) == ('qab', ('Lo',), 'The Lo', '© Nami')
    assert bible.stated.scheme == choose_versification(bible) == 'eng' and len(bible.rows) == 42
    english = to_english(bible, 'eng')
    assert english.excluded == {parse_ref('MRK 4:41'): 'part'} and len(english.verses) == 40

@pytest.mark.parametrize('number,scheme', [('1','org'), ('3','vul'), ('6','rso'), ('0',''), ('x','')])
def test_the_versification_of_a_project(project, number, scheme):
    (project/'custom.vrs').unlink()
    settings = project/'Settings.xml'
    settings.write_text(settings.read_text().replace('>4<', f'>{number}<'))
    assert read_bible(project).stated.scheme == scheme

@pytest.mark.parametrize('name,text', [('custom.vrs', 'MRK four = 5\n'), ('Settings.xml', '<ScriptureText><Versification>'),
                                       ('Settings.xml', '<!DOCTYPE x [<!ENTITY a "b">]><ScriptureText>&a;</ScriptureText>')])
def test_damaged_settings_are_one_line(project, name, text):
    (project/name).write_text(text)
    with pytest.raises(InputError) as e: read_bible(project)
    assert name in str(e.value) and '\n' not in str(e.value)

def test_the_report_of_convert(project, capsys):
    from pronto.cli.command import main
    assert main(['convert', str(project), '--report']) == 0
    out = capsys.readouterr().out
    assert 'versification: eng, as Settings.xml says (fits 0 of 1 distinctive chapters; next: ' in out
    assert 'split: 1 (MRK 4:41)' in out and 'merged: 0' in out
    assert main(['convert', str(project), '--report', '--versification', 'rsc']) == 0
    assert 'versification: rsc, as --versification says' in capsys.readouterr().out

def test_a_scheme_that_fits_a_little_better_says_why_it_is_not_chosen():
    "English is kept unless another scheme fits two chapters more; a stated scheme is kept in any case"
    from pronto.bibles.versification import SCHEMES, Evidence
    points = dict.fromkeys(SCHEMES, 0) | dict(eng=4, org=5)
    assert str(Evidence('eng', points, 7)) == ('eng (fits 4 of 7 distinctive chapters; org fits 5, but eng is kept '
                                               'unless another fits 2 more)')
    assert str(Evidence('eng', points, 7, 'Settings.xml')).endswith('(fits 4 of 7 distinctive chapters; next: org, 5)')
    assert str(Evidence('eng', points | dict(org=4), 7)) == 'eng (fits 4 of 7 distinctive chapters; next: org, 4)'

@real
def test_every_real_bible_is_listed():
    folders = ('beblia','ces','osis','usfm','usfx','vpl','zefania')
    found = {p.relative_to(DATA).as_posix() for d in folders for p in (DATA/d).iterdir()}
    assert found | {'tei','csv/byz'} == set(REAL)

def letters(text): return ''.join(c for c in text if c.isalpha())

@real
@pytest.mark.parametrize('one,other,share', [
    ('usfm/grcsbl', 'tei', .99),
    ('usfx/chr-cherokee.usfx.xml', 'ces/Cherokee-NT.xml', .6), # The two editions write a letter differently
    ('osis/swa-swahili.osis.xml', 'ces/Swahili-NT.xml', .95),
])
def test_two_formats_of_one_translation_agree(one, other, share):
    a,b = read_bible(DATA/one).verses,read_bible(DATA/other).verses
    both = a.keys() & b.keys()
    def plain(text): return letters(text.replace('᾽','').replace('ʼ',''))
    same = sum(plain(a[r]) == plain(b[r]) for r in both)
    assert same >= share*len(both)

@real
@pytest.mark.parametrize('name,ref,begins', [
    ('ces/Quichua-NT.xml', 'JHN 9:1', 'Jesús'), ('ces/Ojibwa-NT.xml', '3JN 1:1', 'ᓃᓐ'),
    ('usfm/fraLSG', 'MRK 9:51', 'Ayez'), ('tei', '3JN 1:15', 'Εἰρήνη'),
])
def test_real_verse(name, ref, begins): assert read_bible(DATA/name).verses[parse_ref(ref)].startswith(begins)

@real
def test_doxology_moves_to_the_end_of_romans():
    web = read_bible(DATA/'usfm'/'eng-web')
    assert to_english(web, 'eng').verses[Ref('ROM',16,27)] == web.verses[Ref('ROM',14,26)]

def test_a_file_that_is_cut_off_in_a_letter_says_so(tmp_path):
    (tmp_path/'a.tsv').write_bytes('MRK\t1\t1\tAmé'.encode()[:-1])
    with pytest.raises(InputError, match='line 1: is cut off in the middle of a letter; get a complete copy'):
        read_bible([tmp_path/'a.tsv'])

def test_two_bibles_are_not_parts_of_one(tmp_path):
    for name,text in ('nt', 'MAT\t1\t1\ttoki leu'), ('ot', 'GEN\t1\t1\tleu toki'), ('other', 'GEN\t2\t1\tao\nGEN\t1\t1\tleu'):
        (tmp_path/f'{name}.tsv').write_text(text + '\n')
    assert len(read_bible([tmp_path/'nt.tsv', tmp_path/'ot.tsv']).rows) == 2
    with pytest.raises(InputError, match=r'other.tsv: holds GEN 1:1, as .*ot.tsv does; name the parts of one Bible only'):
        read_bible([tmp_path/'nt.tsv', tmp_path/'ot.tsv', tmp_path/'other.tsv'])
    with pytest.raises(InputError, match='and each once'): read_bible([tmp_path/'nt.tsv']*2)

@real
@pytest.mark.slow
def test_real_bibles_contradict_themselves_only_where_they_do():
    "One of the translations at hand declares another language than it names"
    from pronto.bibles.languages import language_doubt
    files = [p for kind in ('ces','osis','usfx','zefania','beblia','vpl') for p in sorted((DATA/kind).iterdir())]
    doubts = {p.name: doubt for p in files if (doubt := language_doubt(read_bible(p), p.name))}
    assert doubts == {'Swahili-NT.xml': 'declares ssw (Swati) but names Swahili and is called Swahili-NT.xml'}

@pytest.mark.parametrize('name,text', [
    ('plain.txt', 'Mark\n1:1 The beginning\n\n1:2 As it is written\n'),
    ('mark.txt', '1.1 The beginning\n1.2 As it is written\n'),
    ('cells.txt', 'Mark|1:1|The beginning\nMark|1:2|As it is written\n'),
    ('pipes.txt', 'Mar|1|1|The beginning\nMar|1|2|As it is written\n'),
    ('tabs.tsv', 'MRK\t1:1\tThe beginning\nMRK\t1:2\tAs it is written\n')])
def test_plain_texts_of_verses_are_read(tmp_path, name, text):
    (tmp_path/name).write_text(text)
    assert list(read_bible([tmp_path/name]).verses.values()) == ['The beginning', 'As it is written']

@pytest.mark.parametrize('data,what', [
    (b'%PDF-1.7\n', 'a PDF'), (b'PK\3\4 word/document.xml', 'a document of Word'), (b'{\\rtf1 Mark}', 'in RTF')])
def test_documents_are_named_with_what_to_do(tmp_path, data, what):
    (tmp_path/'mark').write_bytes(data)
    with pytest.raises(InputError, match=f'{what}; save it as plain text'): read_bible([tmp_path/'mark'])

@pytest.mark.parametrize('code,name,family', [
    ('tgl', 'Tagalog', 'Austronesian'), ('tl', 'Tagalog', 'Austronesian'), ('fil', 'Filipino', 'Austronesian'),
    ('prs', 'Dari', 'Indo-European'), ('cls', 'Classical Sanskrit', 'Indo-European'), ('kru', 'Kurukh', 'Dravidian'),
    ('kok', 'Konkani', 'Indo-European'), ('akl', 'Aklanon', 'Austronesian'), ('ahr', 'Ahirani', 'Indo-European'),
    ('unx', 'Munda', 'Austroasiatic'), ('eus', 'Basque', 'isolate'), ('aav', None, 'Austroasiatic'),
    ('epo', 'Esperanto', ''), ('tlh', 'Klingon', '')])
def test_a_language_has_its_own_name_and_no_family_that_is_none(code, name, family):
    "Glottolog's headings for languages that it does not classify are no families, and a dialect is no isolate"
    from pronto.bibles.languages import family_of, find_language
    assert family_of(code) == family
    if name: assert find_language(code)[:3] == (name, 'tgl' if code == 'tl' else code, family)

@pytest.mark.parametrize('attributes,title,licence', [
    ('language="Bundeli 2018" status="© A Mission"', 'Bundeli 2018', '© A Mission'),
    ('name="Igbo 1988" info="No Data" status="No Data"', 'Igbo 1988', ''),
    ('bible="Tamasheq 2003" translation="© 2003, Translators"', 'Tamasheq 2003', '© 2003, Translators'),
    ('translation="Tafel" info="Public Domain 1911"', 'Tafel', 'Public Domain 1911'),
    ('translation="Makonde" Copyright="© 2020 Translators"', 'Makonde', '© 2020 Translators'),
    ('translation="Slavonic" status="In the old letters" version="Public Domain"', 'Slavonic', 'Public Domain'),
    ('translation="Greek" version="Nestle"', 'Greek', ''),
    ('translation="Romani" info="© A Society" status="https://www.bible.com/"', 'Romani', '© A Society')])
def test_a_header_of_beblia_is_read_whole(tmp_path, attributes, title, licence):
    link = 'link="https://www.bible.com/bible/1144/JUD.1.TAQ"'
    verse = '<book number="41"><chapter number="1"><verse number="1">Anam toki</verse></chapter></book>'
    (tmp_path/'x.xml').write_text(f'<bible {attributes} {link}>{verse}</bible>', encoding='utf-8')
    bible = read_bible(tmp_path/'x.xml')
    assert (bible.title, bible.licence, bible.named) == (title, licence, ('TAQ',))

@pytest.mark.slow
@pytest.mark.filterwarnings('ignore') # Of codes that were replaced
def test_tables_of_languages_say_what_their_library_says():
    from make_languages import FACTS, groups_of, tables
    from qq import Database
    from pronto.bibles.languages import coordinates_of, lineage_of
    from pronto.core.files import fact_table
    database = Database.load()
    for name,text in tables(database).items(): assert (FACTS/f'{name}.tsv').read_text(encoding='utf-8') == text
    codes = [code for row in fact_table('languages') for code in row['codes'].split()]
    assert len(codes) > 8000
    for code in codes:
        languoid = database.guess(code)
        groups = tuple(reversed(groups_of(languoid)))
        if groups: assert lineage_of(code) == groups
        if languoid.latitude is not None: assert coordinates_of(code) == (round(languoid.latitude, 2), round(languoid.longitude, 2))
