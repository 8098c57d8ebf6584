"Downloads: from a server that serves well, and from one that does not"
import hashlib, http.server, io, json, ssl, threading, zipfile

import pytest

from pronto.cli.command import main
from pronto.lab.jobs import fetch
from pronto.lab.jobs.fetch import MACULA, EBIBLE, download, fetch_ebible, fetch_labels, fetch_macula
from pronto.core.files import InputError

class Server(http.server.ThreadingHTTPServer):
    "Serves `files`; `faults` names what goes wrong with a path, as often as it says"
    daemon_threads = True
    def __init__(self):
        self.files, self.faults, self.asked = {}, {}, []
        super().__init__(('127.0.0.1', 0), Handler)
        self.address = f'http://127.0.0.1:{self.server_port}'
    def fault(self, path):
        what, times = self.faults.get(path, ('', 0))
        if times: self.faults[path] = what, times-1
        return what if times else ''

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        data, fault = self.server.files.get(self.path), self.server.fault(self.path)
        self.server.asked.append(self.path)
        if data is None or fault == 'gone': return self.send_error(404)
        if fault in ('403','429','500'): return self.send_error(int(fault))
        if fault == 'page': data = b'\n<html lang="en"><body>Log in</body></html>'
        self.send_response(200)
        length = dict(short=len(data)-7).get(fault, len(data))
        if fault != 'no length': self.send_header('Content-Length', str(length))
        self.end_headers()
        self.wfile.write(data[:len(data)//2] if fault == 'cut' else data)

@pytest.fixture
def server():
    s = Server()
    threading.Thread(target=s.serve_forever, kwargs=dict(poll_interval=.02), daemon=True).start()
    yield s
    s.shutdown(); s.server_close()

@pytest.fixture
def data(tmp_path, monkeypatch):
    "The data folder"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    monkeypatch.delenv('PRONTO_OFFLINE', raising=False)
    for proxy in 'http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY': monkeypatch.delenv(proxy, raising=False)
    return tmp_path/'data'

TEXT = b'lo la li ' * 30_000

# One file

def sha(path): return None if path.read_bytes() == TEXT else 'has the wrong checksum'

@pytest.mark.parametrize('fault', ['', 'no length'])
def test_a_file_arrives(server, data, fault):
    server.files['/a'] = TEXT
    server.faults['/a'] = fault, 1
    assert download(server.address + '/a', data/'a', sha).read_bytes() == TEXT
    assert server.asked == ['/a'] and [p.name for p in data.iterdir()] == ['a']

@pytest.mark.parametrize('fault,says', [
    ('page','is a web page'), ('gone','is not there (404)'), ('403','is refused (403'), ('429','is refused (429'), ('500','status 500'),
    ('short','has the wrong checksum'), ('cut','was cut off')])
def test_a_bad_answer_is_one_line_and_leaves_what_was_there(server, data, fault, says):
    server.files['/a'], server.faults['/a'] = TEXT, (fault, 9)
    data.mkdir()
    (data/'a').write_bytes(b'from before')
    with pytest.raises(InputError) as e: download(server.address + '/a', data/'a', sha)
    assert says in str(e.value) and str(e.value).startswith(server.address) and '\n' not in str(e.value)
    assert (data/'a').read_bytes() == b'from before'

@pytest.mark.parametrize('url', ['http://127.0.0.1:9/a', 'nonsense', 'http://', 'ftp://127.0.0.1/a', 'file:///etc/hosts'])
def test_an_address_that_is_none(data, url):
    with pytest.raises(InputError, match='cannot be reached'): download(url, data/'a')

def test_a_place_that_cannot_be_written(server, data):
    server.files['/a'] = TEXT
    data.write_bytes(b'a file')
    with pytest.raises(InputError, match='cannot be written'): download(server.address + '/a', data/'bibles'/'a')

# MACULA

BOOKS = {f'/raw/{name}': f'''<book id="{code}"><sentence><wg class="cl" rule="S-V">
  <w ref="{code} 1:1!1" role="s" class="noun" type="proper" xml:id="n1" lemma="Νωσα" mandarin="">Νωσα</w>
  <w ref="{code} 1:1!2" role="v" class="verb" mood="indicative" person="third" xml:id="n2" lemma="τρεξω" ln="15.230"
     frame="A0:n1" after=".">τρεξει</w>
</wg></sentence></book>'''.encode() for name,code in (('24-2john.xml','2JN'), ('25-3john.xml','3JN'))}

def listed(server, files):
    "What GitHub says of them"
    sha = lambda text: hashlib.sha1(b'blob %d\0' % len(text) + text).hexdigest()
    return [dict(name=path[5:], sha=sha(text), download_url=server.address + path) for path,text in files.items()]

@pytest.fixture
def github(server):
    server.files |= BOOKS
    others = [dict(name=n, sha='0', download_url=f'{server.address}/raw/{n}', type='file')
              for n in ('sblgntlowfat.xml', 'README.md', '../01-evil.xml')]
    server.files['/list/SBLGNT/lowfat'] = json.dumps(listed(server, BOOKS) + others).encode()
    return f'{server.address}/list'

def run(capsys, *argv):
    try: status = main(list(map(str, argv)))
    except SystemExit as e: status = e.code
    said = capsys.readouterr()
    return status, said.out, said.err.splitlines()

def test_macula_is_fetched_and_annotated(github, data, capsys, tmp_path):
    status,out,err = run(capsys, 'fetch', 'macula', '--from', github + '/')
    assert status == 0 and err == []
    assert 'CC BY 4.0' in out and 'Biblica' in out and f'pronto annotate {data}/macula-greek' in out
    assert sorted(p.name for p in (data/'macula-greek').iterdir()) == ['24-2john.xml', '25-3john.xml']
    status,out,_ = run(capsys, 'annotate', data/'macula-greek', '-o', data/'annotations.parquet')
    assert status == 0 and '2 verses' in out

def acai_archive(left_out=''):
    "An archive as GitHub packs it, with one entity of each kind"
    from pronto.sources.acai import FOLDERS
    prefixes = dict(zip(FOLDERS, 'person place deity group fauna flora realia keyterm'.split()))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, 'w', zipfile.ZIP_DEFLATED) as z:
        z.comment = b'0123456789'*4
        for name in FOLDERS:
            entity = dict(id=f'{prefixes[name]}:X', primary_id=f'{prefixes[name]}:X', explicit_instances={'SBLGNT': [['n43001001003']]})
            if name != left_out: z.writestr(f'ACAI-main/{name}/json/X.json', json.dumps(entity))
        z.writestr('ACAI-main/people/md/X.md', 'x')
    return packed.getvalue()

def test_acai_is_fetched_and_annotated(server, data, capsys):
    server.files['/refs/heads/main'] = acai_archive()
    status,out,err = run(capsys, 'fetch', 'acai', '--from', server.address + '/')
    assert status == 0, err
    assert 'ACAI: 8 entities' in out and 'licence: CC BY-SA 4.0; cite: ACAI Biblical Entity Data' in out
    assert json.loads((data/'fetched'/'acai.json').read_text())['commit'] == '0123456789'*4
    status,out,_ = run(capsys, 'annotate', data/'acai', '-o', data/'annotations.parquet')
    assert status == 0 and 'from ACAI' in out
    asked = len(server.asked)
    assert run(capsys, 'fetch', 'acai', '--from', server.address)[0] == 0 and len(server.asked) == asked

@pytest.mark.parametrize('fault,says', [('page', 'is a web page'), ('cut', 'was cut off'), ('gone', 'is not there (404)'),
                                        ('incomplete', 'is not ACAI; it holds no file groups/json'), ('damaged', 'zip archive')])
def test_acai_served_badly_is_one_line(server, data, capsys, fault, says):
    whole = acai_archive()
    served = dict(incomplete=acai_archive('groups'), damaged=whole[:-60]).get(fault, whole)
    server.files['/refs/heads/main'] = served
    server.faults['/refs/heads/main'] = fault, 9
    status,out,err = run(capsys, 'fetch', 'acai', '--from', server.address)
    assert status == 1 and len(err) == 1 and says in err[0] and not (data/'acai').exists()

def test_macula_is_fetched_once(github, data, server):
    fetch_macula(base=github)
    asked = len(server.asked)
    place,note = fetch_macula(base=github, offline=True)
    assert len(server.asked) == asked and set(note['sha256']) == {'macula-greek/24-2john.xml', 'macula-greek/25-3john.xml'}
    (place/'25-3john.xml').unlink()
    fetch_macula(base=github)
    assert server.asked[asked:] == ['/list/SBLGNT/lowfat', '/raw/25-3john.xml']

@pytest.mark.parametrize('path,fault,says', [
    ('/raw/25-3john.xml','short','has not the checksum'), ('/raw/25-3john.xml','page','web page'),
    ('/raw/25-3john.xml','gone','404'), ('/raw/25-3john.xml','cut','cut off'),
    ('/list/SBLGNT/lowfat','page','web page'), ('/list/SBLGNT/lowfat','gone','404'),
    ('/list/SBLGNT/lowfat','cut','cut off'), ('/list/SBLGNT/lowfat','403','too many requests')])
def test_macula_served_badly_is_one_line(github, data, server, capsys, path, fault, says):
    server.faults[path] = fault, 9
    status,out,err = run(capsys, 'fetch', 'macula', '--from', github)
    assert status == 1 and out == '' and len(err) == 1 and says in err[0] and server.address in err[0]
    assert not (data/'macula-greek'/'25-3john.xml').exists()
    server.faults.clear()
    assert run(capsys, 'fetch', 'macula', '--from', github)[0] == 0

@pytest.mark.parametrize('text', [b'{"message": "no"}', b'[]', b'[1]', b'not JSON', b'[{"name": "01-matthew.xml"}]', b'['*100_000,
                                  b'[{"name": "01-a.xml", "download_url": "file:///etc/hosts", "sha": "1"}]'])
def test_what_is_not_a_list(github, data, server, text):
    server.files['/list/SBLGNT/lowfat'] = text
    with pytest.raises(InputError, match='check the address|lists no book'): fetch_macula(base=github)

def test_offline_is_refused_in_one_line(data, capsys, monkeypatch):
    for argv,env in ((['--offline'], '0'), ([], '1')):
        monkeypatch.setenv('PRONTO_OFFLINE', env)
        for source in (['macula'], ['ebible', 'qaalo']):
            status,out,err = run(capsys, 'fetch', *source, *argv)
            assert status == 1 and out == '' and len(err) == 1 and '--offline or PRONTO_OFFLINE forbids' in err[0] and str(data) in err[0]

def test_the_addresses_are_those_of_the_projects():
    assert MACULA.startswith('https://api.github.com/repos/Clear-Bible/macula-greek') and EBIBLE == 'https://ebible.org/Scriptures'

# eBible

VERSES = ''.join(f'<v id="{v}"/>Lo la {v}.<ve/>' for v in range(1, 9))
USFX = f'<usfx><languageCode>qaa</languageCode><book id="MRK"><c id="1"/>{VERSES}</book></usfx>'
TABLE = '\ufefflanguageCode,translationId,languageName,languageNameInEnglish,title,Redistributable,Copyright,downloadable\n' \
        'qaa,qaalo,Lo,Lo,"The Lo, in ""Lo""",True,public domain,True\n' \
        'qaa,qaano,Lo,Lo,No,False,"© 2001 Nobody, Nowhere",False\nqaa,qaami,Lo,Lo,Mi,False,© Mi,True\n'

def zipped(files, **kwargs):
    with zipfile.ZipFile(b := io.BytesIO(), 'w', zipfile.ZIP_DEFLATED) as z:
        for name,text in files.items(): z.writestr(name, text, **kwargs)
    return b.getvalue()

@pytest.fixture
def ebible(server):
    archive = zipped({'copr.htm': '<html/>', 'qaalo_usfx.xml': USFX, '../../evil': 'x', '/evil': 'x'})
    server.files |= {'/translations.csv': TABLE.encode(), '/qaalo_usfx.zip': archive}
    return server.address

def test_a_translation_is_fetched_and_read(ebible, data, capsys):
    from pronto.bibles.reading import read_bible
    status,out,err = run(capsys, 'fetch', 'ebible', 'qaalo', '--from', ebible)
    assert (status, err) == (0, [])
    assert 'The Lo, in "Lo" (Lo, qaa)' in out and 'licence: public domain; may be passed on' in out
    assert "--licence 'public domain; may be passed on'" in out
    assert len(read_bible(data/'bibles'/'qaalo.usfx.xml').verses) == 8
    files = sorted(p.relative_to(data.parent).as_posix() for p in data.parent.rglob('*') if p.is_file())
    assert files == ['data/bibles/qaalo.usfx.xml', 'data/fetched/ebible-qaalo.json']

def test_a_licence_that_forbids_is_said(ebible, data, server):
    server.files['/qaami_usfx.zip'] = zipped({'qaami_usfx.xml': USFX})
    assert fetch_ebible('qaami', ebible)[1]['licence'] == '© Mi; may not be passed on'
    with pytest.raises(InputError, match='may not be downloaded'): fetch_ebible('qaano', ebible)

@pytest.mark.parametrize('code', ['', '..', '../x', 'a/b', 'a b', '-x', 'a.b', 'a\nb'])
def test_an_id_that_is_none(ebible, data, code):
    with pytest.raises(InputError, match='is not an id of a translation'): fetch_ebible(code, ebible)

def bomb():
    "An archive whose text is larger than it claims"
    whole = bytearray(zipped({'qaalo_usfx.xml': 'x'*100_000}))
    at = whole.index(b'PK\x01\x02')
    whole[at+24:at+28] = (50).to_bytes(4, 'little')
    return bytes(whole)

def damaged():
    whole = bytearray(zipped({'qaalo_usfx.xml': USFX}))
    whole[60] ^= 0xff
    return bytes(whole)

def encrypted():
    whole = bytearray(zipped({'qaalo_usfx.xml': USFX}))
    whole[whole.index(b'PK\x01\x02')+8] |= 1
    return bytes(whole)

@pytest.mark.parametrize('archive,says', [
    (lambda: zipped({'qaalo.txt': 'x'}), 'holds no text in USFX'), (lambda: b'PK\x03\x04 not a zip', 'not a complete zip'),
    (lambda: b'', 'not a complete zip'),
    (lambda: zipped({'qaalo_usfx.xml': USFX})[:-30], 'not a complete zip'), (lambda: b'<!doctype html><p>moved', 'web page'),
    (bomb, 'damaged file'), (damaged, 'damaged file'), (encrypted, 'is encrypted')])
def test_an_archive_that_is_not_what_it_should_be(ebible, data, server, capsys, archive, says):
    server.files['/qaalo_usfx.zip'] = archive()
    status,out,err = run(capsys, 'fetch', 'ebible', 'qaalo', '--from', ebible)
    assert status == 1 and out == '' and len(err) == 1 and says in err[0], err
    assert [p for p in data.rglob('*') if p.is_file() and p.stat().st_size] == []

def test_a_table_that_is_none(ebible, data, server):
    server.files['/translations.csv'] = b'a,b\n1,2\n'
    with pytest.raises(InputError, match='is not a table of translations'): fetch_ebible('qaalo', ebible)

def test_wrong_usage_ends_with_2(capsys, data):
    for argv in (['fetch'], ['fetch','nothing'], ['fetch','ebible'], ['fetch','macula','--edition','King James']):
        assert run(capsys, *argv)[0] == 2

def test_the_shared_books_arrive_as_they_are(testdata, server, data):
    "The real files, through the server, into annotations"
    from pronto.sources.annotate import annotate
    files = sorted((testdata/'macula-greek').glob('2[4-6]-*.xml'))
    server.files = {f'/raw/{f.name}': f.read_bytes() for f in files}
    server.files['/SBLGNT/lowfat'] = json.dumps(listed(server, server.files)).encode()
    place,_ = fetch_macula(base=server.address)
    assert [f.read_bytes() for f in sorted(place.iterdir())] == [f.read_bytes() for f in files]
    assert annotate(place).source.edition.startswith('SBLGNT')

# An encrypted connection stays one

@pytest.fixture
def secure(self_signed, server, monkeypatch):
    "A server with a certificate that we trust, which redirects everything to the plain one"
    class Redirect(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args): pass
        def do_GET(self):
            self.send_response(302)
            self.send_header('Location', server.address + self.path)
            self.end_headers()
    cert, key = self_signed
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    monkeypatch.setenv('REQUESTS_CA_BUNDLE', cert)
    s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Redirect)
    s.socket = context.wrap_socket(s.socket, server_side=True)
    threading.Thread(target=s.serve_forever, kwargs=dict(poll_interval=.02), daemon=True).start()
    yield f'https://127.0.0.1:{s.server_port}'
    s.shutdown(); s.server_close()

def test_a_redirection_to_an_unencrypted_address_is_refused(secure, ebible, server, data, capsys):
    status,out,err = run(capsys, 'fetch', 'ebible', 'qaalo', '--from', secure)
    assert status == 1 and out == '' and len(err) == 1 and 'redirects to an unencrypted address' in err[0]
    assert server.asked == [] # Not even a request went out

def test_an_encrypted_list_of_unencrypted_files_is_refused(data, monkeypatch):
    text = json.dumps([dict(name='01-a.xml', download_url='http://127.0.0.1/a', sha='1')])
    monkeypatch.setattr('pronto.lab.jobs.fetch._text', lambda url, offline, path: text)
    with pytest.raises(InputError, match='lists no book'): fetch_macula(base='https://127.0.0.1')

def test_a_text_that_differs_from_the_last_is_reported(ebible, server, data, capsys):
    fetched = lambda: run(capsys, 'fetch', 'ebible', 'qaalo', '--from', ebible)
    assert fetched()[2] == []
    path = data/'bibles'/'qaalo.usfx.xml'
    server.files['/qaalo_usfx.zip'] = zipped({'qaalo_usfx.xml': USFX.replace('Lo la', 'Another')})
    path.write_text('edited by hand')
    status,_,err = fetched()
    assert status == 1 and 'was changed since it was fetched' in err[0] and path.read_text() == 'edited by hand'
    path.unlink()
    status,_,err = fetched()
    assert status == 0 and err == [f'{path}: eBible.org has changed this text since it was last fetched']

# Labels of verses

TOPICS = {'eng_train.tsv': '62003016\tFaith\tlo la', 'eng_dev.tsv': '43013001\tGrace\tli', 'eng_test.tsv': '58003017\tFaith\tlo'}

@pytest.fixture
def topics(server, data, monkeypatch):
    "A server with three small files of the form of Taxi1500, whose checksums are the pinned ones"
    shas = {}
    for name,text in TOPICS.items():
        blob = text.encode()
        server.files[f'/{name}'], shas[name] = blob, hashlib.sha1(f'blob {len(blob)}\0'.encode() + blob).hexdigest() # As git does
    monkeypatch.setitem(fetch._LABEL_FILES, 'taxi1500', shas)

def test_topics_become_a_table_of_labels_without_texts(topics, server, data, tmp_path, capsys):
    from pronto.sources.annotate import annotate
    assert main(['fetch', 'taxi1500', '--from', server.address]) == 0
    assert f'next: pronto annotate {data}/taxi1500/labels.tsv -o' in capsys.readouterr().out
    table = (data/'taxi1500'/'labels.tsv').read_text()
    assert table == 'ref\ttopic\tsplit\nJHN 13:1\tGrace\tdev\nHEB 3:17\tFaith\ttest\n1JN 3:16\tFaith\ttrain\n'
    assert sorted(p.name for p in data.rglob('*.*')) == ['labels.tsv','source.json','taxi1500.json']
    source = annotate(data/'taxi1500').source
    assert (source.name, source.licence, source.labels) == ('Taxi1500', 'Apache-2.0', dict(topic=['Faith','Grace']))
    asked = len(server.asked)
    assert main(['fetch', 'taxi1500', '--offline']) == 0 and len(server.asked) == asked # It is there
    (data/'taxi1500'/'labels.tsv').write_text(table + 'MAT 1:1\tGrace\ttrain\n')
    assert main(['fetch', 'taxi1500', '--from', server.address]) == 1 # What somebody changed is kept
    assert 'was changed since it was fetched' in capsys.readouterr().err

def test_topics_with_another_checksum_are_refused(topics, server, data, capsys):
    server.files['/eng_dev.tsv'] = b'43013001\tSin\tli'
    assert main(['fetch', 'taxi1500', '--from', server.address]) == 1
    assert 'has not the checksum' in capsys.readouterr().err and not (data/'taxi1500').exists()

def test_the_real_speakers_have_the_pinned_checksum(server, data, testdata):
    server.files['/CharacterVerse.txt'] = (testdata/'verse_labels'/'CharacterVerse.txt').read_bytes()
    place, note = fetch_labels('speakers', server.address)
    rows = [line.split('\t') for line in place.read_text().splitlines()]
    assert rows[0] == ['ref','speech','speaker'] and note['licence'] == 'MIT' and len(rows) == 21_795
    assert ['JHN 11:35', 'no', 'narrator'] in rows and ['JHN 11:25', 'yes', 'Jesus'] in rows and ['GEN 1:3', 'yes', 'God'] in rows
