"""A small invented Bible in every format that is read: `FORMATS` has a function for each that gives the files, name to bytes

The words of a verse name its place, so that a test sees where a text went: `tokiMRK2x3` is in Mark 2:3.
"""
import io, json, sqlite3, zipfile, zlib
from contextlib import closing
from struct import pack

from pronto.bibles.rows import find_book
from pronto.core.refs import BOOKS

PLACES = [(book, c, v) for book in ('MAT','MRK') for c in (1, 2) for v in (1, 2, 3)]
NUMBER = {b: i for i,b in enumerate(BOOKS, 1)}
OSIS = {'MAT': 'Matt', 'MRK': 'Mark'}

def word(place): return f'toki{place[0]}{place[1]}x{place[2]}'
def text(place): return f'Anam {word(place)}, leu.'

TEXTS = {place: text(place) for place in PLACES}

def nested(verse, chapter, book):
    "Texts of books that hold chapters that hold verses"
    return [book(b, [chapter(b, c, [verse(b, c, v) for v in (1, 2, 3)]) for c in (1, 2)]) for b in ('MAT','MRK')]

def xml(root, verse, chapter, book, head=''):
    join = '\n'.join
    body = join(nested(verse, lambda b,c,vs: chapter(b, c, '\n' + join(vs) + '\n'), lambda b,cs: book(b, '\n' + join(cs) + '\n')))
    return f'<?xml version="1.0" encoding="utf-8"?>\n<{root}>{head}\n{body}\n</{root.split()[0]}>\n'.encode()

def zefania():
    head = '<INFORMATION><title>Anam leu</title><language>QAA</language><rights>Public Domain</rights></INFORMATION>'
    return {'a.xml': xml('XMLBIBLE', lambda b,c,v: f'<VERS vnumber="{v}">{text((b,c,v))}<NOTE>sona</NOTE></VERS>',
                         lambda b,c,vs: f'<CHAPTER cnumber="{c}">{vs}</CHAPTER>',
                         lambda b,cs: f'<BIBLEBOOK bnumber="{NUMBER[b]}">{cs}</BIBLEBOOK>', head)}

def opensong():
    return {'a.xml': xml('bible name="Anam leu"', lambda b,c,v: f'<v n="{v}">{text((b,c,v))}</v>',
                         lambda b,c,vs: f'<c n="{c}">{vs}</c>', lambda b,cs: f'<b n="{BOOKS[b]}">{cs}</b>')}

def beblia():
    return {'a.xml': xml('bible translation="Anam leu" status="Public Domain"',
                         lambda b,c,v: f'<verse number="{v}">{text((b,c,v))}</verse>',
                         lambda b,c,vs: f'<chapter number="{c}">{vs}</chapter>', lambda b,cs: f'<book number="{NUMBER[b]}">{cs}</book>')}

def vpl_xml():
    return {'a.xml': xml('verseFile', lambda b,c,v: f'<v b="{b}" c="{c}" v="{v}">{text((b,c,v))}</v>', lambda b,c,vs: vs, lambda b,cs: cs)}

def osis():
    def verse(b, c, v):
        words = f'<w lemma="strong:G1">Anam</w> {word((b,c,v))},<note>sona</note>leu.'
        return f'<verse osisID="{OSIS[b]}.{c}.{v}">{words}</verse>'
    return {'a.xml': xml('osis', verse, lambda b,c,vs: f'<chapter osisID="{OSIS[b]}.{c}">{vs}</chapter>',
                         lambda b,cs: f'<div type="book" osisID="{OSIS[b]}">{cs}</div>')}

def usfx():
    verse = lambda b,c,v: f'<v id="{v}"/>{text((b,c,v))}<f>sona</f><ve/>'
    return {'a.xml': xml('usfx', verse, lambda b,c,vs: f'<c id="{c}"/><p>{vs}</p>', lambda b,cs: f'<book id="{b}">{cs}</book>',
                         '<languageCode>qaa</languageCode>')}

def usx_book(b):
    def verse(c, v):
        words = f'{text((b,c,v))}<note style="f">sona</note>'
        return f'<verse number="{v}" style="v" sid="{b} {c}:{v}"/>{words}<verse eid="{b} {c}:{v}"/>'
    def chapter(c):
        verses = '\n'.join(verse(c, v) for v in (1, 2, 3))
        return f'<chapter number="{c}" style="c"/>\n<para style="p">\n{verses}\n</para>'
    return f'<usx version="3.0">\n<book code="{b}" style="id"/>\n{chapter(1)}\n{chapter(2)}\n</usx>\n'

def usx(): return {f'{b}.usx': usx_book(b).encode() for b in OSIS}

def dbl():
    content = ''.join(f'<content src="release/USX_1/{b}.usx" role="{b}"/>' for b in OSIS)
    about = f'''<DBLMetadata version="2.3"><identification><name>Anam leu</name></identification><language><iso>qaa</iso></language>
<copyright><statement>Public Domain</statement></copyright>
<publications><publication default="true"><structure>{content}</structure></publication></publications></DBLMetadata>'''
    return {'metadata.xml': about.encode()} | {f'release/USX_1/{b}.usx': usx_book(b).encode() for b in OSIS}

def usj_book(b):
    verse = lambda c,v: [dict(type='verse', marker='v', number=str(v), sid=f'{b} {c}:{v}'), text((b,c,v))]
    content = [dict(type='book', marker='id', code=b)]
    for c in 1, 2:
        content.append(dict(type='chapter', marker='c', number=str(c), sid=f'{b} {c}'))
        content.append(dict(type='para', marker='p', content=[x for v in (1, 2, 3) for x in verse(c, v)]))
    return json.dumps(dict(type='USJ', version='3.1', content=content), indent=1)

def usj(): return {f'{b}.json': usj_book(b).encode() for b in OSIS}

def ces():
    return {'a.xml': xml('cesDoc', lambda b,c,v: f'<seg id="b.{b}.{c}.{v}" type="verse">{text((b,c,v))}</seg>',
                         lambda b,c,vs: f'<div id="b.{b}.{c}">{vs}</div>', lambda b,cs: f'<div id="b.{b}">{cs}</div>')}

def usfm_book(b):
    lines = [f'\\id {b}', f'\\h {BOOKS[b]}']
    for c in 1, 2: lines += [f'\\c {c}', '\\p', *(f'\\v {v} {text((b,c,v))}\\f + \\ft sona\\f*' for v in (1, 2, 3))]
    return '\n'.join(lines) + '\n'

def usfm(): return {f'{NUMBER[b]}{b}.usfm': usfm_book(b).encode() for b in OSIS}

def burrito():
    about = {'format': 'scripture burrito', 'meta': {'version': '1.0.0'}, 'languages': [{'tag': 'qaa', 'name': {'en': 'Anam'}}],
             'identification': {'name': {'en': 'Anam leu'}}, 'copyright': {'shortStatements': [{'statement': 'Public Domain'}]},
             'ingredients': {f'ingredients/{b}.usfm': {'scope': {b: []}} for b in OSIS}}
    books = {f'ingredients/{b}.usfm': usfm_book(b).encode() for b in OSIS}
    return {'metadata.json': json.dumps(about, indent=1).encode()} | books

def paratext():
    about = '<LanguageIsoCode>qaa:::</LanguageIsoCode><FullName>Anam leu</FullName><Versification>4</Versification>'
    return {'Settings.xml': f'<ScriptureText>{about}</ScriptureText>'.encode()} | usfm()

def corpus():
    head = ['# language_name:        Anam', '# closest ISO 639-3:    qaa', '# title:                Anam leu',
            '# copyright_short:      Public Domain']
    lines = [f'{NUMBER[b]:02}{c:03}{v:03}\tAnam {word((b,c,v))} , leu .' for b,c,v in PLACES]
    return {'qaa-x-bible.txt': '\n'.join(head + lines).encode() + b'\n'}

def lines(form): return '\n'.join(form(*place, TEXTS[place]) for place in PLACES).encode() + b'\n'

def as_json(value): return {'a.json': json.dumps(value, indent=1).encode()}

def json_nested():
    books = nested(lambda b,c,v: dict(verse=v, text=text((b,c,v))), lambda b,c,vs: dict(chapter=c, verses=vs),
                   lambda b,cs: dict(name=BOOKS[b], chapters=cs))
    return as_json(dict(translation='Anam leu', lang='qaa', license='Public Domain', books=books))

def json_arrays():
    return as_json(nested(lambda b,c,v: text((b,c,v)), lambda b,c,vs: vs, lambda b,cs: dict(abbrev=b, chapters=cs)))

def json_records(): return as_json([dict(book=BOOKS[b], chapter=c, verse=v, text=t) for (b,c,v),t in TEXTS.items()])

def json_named():
    found = {}
    for (b,c,v),t in TEXTS.items(): found.setdefault(BOOKS[b], {}).setdefault(str(c), {})[str(v)] = t
    return as_json(found)

def json_lines():
    return {'a.jsonl': lines(lambda b,c,v,t: json.dumps(dict(book=b, chapter=c, verse=v, text=t)))}

def database(*statements):
    "The bytes of a small database"
    with closing(sqlite3.connect(':memory:')) as db:
        for statement,*rows in statements: db.executemany(statement, rows) if rows else db.execute(statement)
        db.commit()
        return db.serialize()

def mybible():
    number = {'MAT': 470, 'MRK': 480}
    return {'a.SQLite3': database(
        ('CREATE TABLE info (name TEXT, value TEXT)',), ('INSERT INTO info VALUES (?, ?)', ('language','qaa'), ('description','Anam leu')),
        ('CREATE TABLE verses (book_number NUMERIC, chapter NUMERIC, verse NUMERIC, text TEXT)',),
        ('INSERT INTO verses VALUES (?, ?, ?, ?)', *((number[b], c, v, f'{t}<f>[1]</f>') for (b,c,v),t in TEXTS.items())))}

def mysword():
    return {'a.bbl.mybible': database(
        ('CREATE TABLE Details (Description TEXT, Language TEXT)',), ('INSERT INTO Details VALUES (?, ?)', ('Anam leu','qaa')),
        ('CREATE TABLE Bible (Book INT, Chapter INT, Verse INT, Scripture TEXT)',),
        ('INSERT INTO Bible VALUES (?, ?, ?, ?)', *((NUMBER[b], c, v, f'{t}<RF>sona<Rf>') for (b,c,v),t in TEXTS.items())))}

def esword():
    return {'a.bblx': mysword()['a.bbl.mybible'].replace(b'<RF>sona<Rf>', b'\\cf0\\par    ')}

CONF = dict(DataPath='./modules/texts/small/', Encoding='UTF-8', SourceType='OSIS', Lang='qaa', Description='Anam leu',
            Versification='KJV', DistributionLicense='Public Domain')

def conf(**values): return ('[Small]\n' + ''.join(f'{k}={v}\n' for k,v in (CONF | values).items())).encode()

def entries():
    "The verses in the order of an index, with an empty text for what is not in it"
    from pronto.lab.bibles.sword import _slots
    slots = _slots('kjv', 'nt')
    found = [TEXTS.get((find_book(s.book), s.chapter, s.verse), '') if s else '' for s in slots]
    return found[:max(i for i,t in enumerate(found) if t) + 1]

def sword():
    data, index = b'', b''
    for entry in entries():
        said = entry.replace('Anam', '<w lemma="strong:G1">Anam</w>').replace(', ', ',<note>sona</note>').encode()
        data, index = data + said, index + pack('<IH', len(data), len(said))
    return {'mods.d/small.conf': conf(ModDrv='RawText'), 'modules/texts/small/nt': data, 'modules/texts/small/nt.vss': index}

def sword_packed():
    data, index = b'', b''
    for entry in entries():
        index += pack('<IIH', 0, len(data), len(entry.encode()))
        data += entry.encode()
    packed, there = zlib.compress(data), 'modules/texts/small/nt'
    return {'mods.d/small.conf': conf(ModDrv='zText', BlockType='BOOK', CompressType='ZIP'), f'{there}.bzv': index,
            f'{there}.bzs': pack('<III', 0, len(packed), len(data)), f'{there}.bzz': packed}

def zipped():
    with io.BytesIO() as f:
        with zipfile.ZipFile(f, 'w', zipfile.ZIP_DEFLATED) as z:
            for name,data in burrito().items(): z.writestr(f'leu/{name}', data)
        return {'a.zip': f.getvalue()}

FORMATS = dict(
    usfx=usfx, osis=osis, zefania=zefania, beblia=beblia, opensong=opensong, vpl_xml=vpl_xml, ces=ces, usfm=usfm, usx=usx, usj=usj, dbl=dbl,
    json_nested=json_nested, json_arrays=json_arrays, json_records=json_records, json_named=json_named, json_lines=json_lines,
    corpus=corpus, mybible=mybible, mysword=mysword, esword=esword, sword=sword, sword_packed=sword_packed,
    paratext=paratext, burrito=burrito, zipped_burrito=zipped,
    lines=lambda: {'a.txt': lines(lambda b,c,v,t: f'{b} {c}:{v} {t}')},
    tsv=lambda: {'a.tsv': lines(lambda b,c,v,t: f'{b}\t{c}\t{v}\t{t}')},
    csv=lambda: {'a.csv': lines(lambda b,c,v,t: f'{b},{c},{v},"{t}"')},
    vref=lambda: {'a.txt': lines(lambda b,c,v,t: t), 'vref.txt': lines(lambda b,c,v,t: f'{b} {c}:{v}')})
# Those that say something about themselves, and whether they name a licence
WITH_LANGUAGE = 'usfx zefania dbl json_nested corpus mybible mysword esword sword sword_packed paratext burrito zipped_burrito'.split()
WITH_LICENCE = 'zefania beblia dbl json_nested corpus sword sword_packed burrito zipped_burrito'.split()

def write(name, folder, files=None):
    "Write a small Bible; returns what to read: its file, or the folder"
    files = FORMATS[name]() if files is None else files
    for file,data in files.items():
        (folder/file).parent.mkdir(parents=True, exist_ok=True)
        (folder/file).write_bytes(data)
    return folder/next(iter(files)) if len(files) == 1 or name == 'vref' else folder
