"What a server may do to us: redirects, echoes of the key, and what is no answer at all"
import json, re, socket, threading

import pytest

from pronto.core.files import InputError
from test_labels import main, place # noqa: F401 (a fixture)

served = pytest.importorskip('pronto.lab.modeling.served')
KEY = 'sk-secret-123'

def answer(said='B', **fields):
    "What a server of the OpenAI interface says"
    message = dict(index=0, finish_reason='stop', message=dict(role='assistant', content=said))
    return json.dumps(dict(id='x', object='chat.completion', created=1, model='m', choices=[message]) | fields)

def http(body='', status='200 OK', **headers):
    body = body.encode() if isinstance(body, str) else body
    about = {'Content-Type': 'application/json', 'Content-Length': len(body), 'Connection': 'close'} | headers
    return '\r\n'.join([f'HTTP/1.1 {status}', *(f'{k}: {v}' for k,v in about.items()), '', '']).encode() + body

class Bare:
    "A server on the loopback address that sends bytes as they are"
    def __init__(self, post, get=http('{"object": "list", "data": []}')):
        self.said, self.asked = dict(GET=get, POST=post), []
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.socket.getsockname()[1]}/v1'
        threading.Thread(target=self.listen, daemon=True).start()
    def __enter__(self): return self
    def __exit__(self, *args): self.socket.close()
    def listen(self):
        while True:
            try: connection,_ = self.socket.accept()
            except OSError: return
            threading.Thread(target=self.reply, args=(connection,), daemon=True).start()
    def reply(self, connection):
        with connection:
            try:
                head, _, body = connection.recv(1 << 16).partition(b'\r\n\r\n')
                n = re.search(rb'content-length: (\d+)', head, re.IGNORECASE)
                while n and len(body) < int(n[1]): body += connection.recv(1 << 16)
                self.asked.append(head.decode())
                said = self.said[head.split()[0].decode()]
                said(connection) if callable(said) else connection.sendall(said)
            except OSError: pass # The client has gone

@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    pytest.importorskip('openai')
    for name,value in dict(RETRIES=0, PAUSES=()).items(): monkeypatch.setattr(served, name, value)
    for name,value in dict(OPENAI_API_KEY=KEY, PRONTO_DATA=str(tmp_path)).items(): monkeypatch.setenv(name, value)

def ask(url, n=1, name='openai:toy'):
    one = served.ServedModel(name, url)
    values,_ = one.compare([one.text([f'Question {i}\nAnswer:']) for i in range(n)], 3)
    return one, values

@pytest.mark.parametrize('status', ['302 Found', '307 Temporary Redirect'])
@pytest.mark.parametrize('who', ['GET', 'POST'])
def test_a_redirect_is_not_followed(who, status):
    with Bare(http(answer('A'))) as other, Bare(http(answer())) as server:
        server.said[who] = http(status=status, Location=f'{other.url}/chat/completions?key={KEY}')
        if who == 'GET': ask(server.url) # Not all servers list their models
        else:
            with pytest.raises(InputError, match=f'answers with status {status[:3]}') as e: ask(server.url)
            assert KEY not in str(e.value)
        assert not other.asked

@pytest.mark.parametrize('post,said', [
    (http('{"a":'), 'gives a reply that is no answer'), (http('['*50_000), 'gives a reply that is no answer'),
    (http('[]'), 'gives a reply that is no answer'), (http(answer(choices=[])), 'gives a reply that is no answer'),
    (http(answer(choices=None)), 'gives a reply that is no answer'), (b'no HTTP\r\n\r\n', 'cannot be reached')])
def test_what_is_no_answer_is_a_line(post, said, tmp_path):
    with Bare(post) as server, pytest.raises(InputError, match=said): ask(server.url)
    assert not [*(tmp_path/'answers').glob('*')]

@pytest.mark.parametrize('get', [http('{"a":'), http('<html>', **{'Content-Type': 'text/html'}), http('[]'), http('['*50_000),
                                 http(b'\xff\xfe'), http('null')])
def test_a_list_of_models_that_cannot_be_read_is_a_line(get):
    with Bare(http(answer()), get) as server, pytest.raises(InputError, match='has a list of models .* cannot be read'):
        ask(server.url)

def test_a_key_that_a_server_repeats_is_not_stored(tmp_path, capsys):
    said = f'your key is {KEY}!'
    with Bare(http(answer(said, model=said))) as server:
        one, _ = ask(server.url)
        one.remark('toy', 16)
        server.said['POST'] = http(json.dumps(dict(error=dict(message=said, type='x'))), '418 Teapot')
        with pytest.raises(InputError, match='KEY') as e: ask(server.url, 2)
    kept, = (tmp_path/'answers').glob('*')
    for text in kept.read_text(), json.dumps(one.who()), str(e.value), *capsys.readouterr():
        assert KEY not in text
    assert e.value.__cause__ is None and e.value.__suppress_context__ # A traceback would show what the server said

def test_answers_stay_usable_whatever_the_name_of_the_model(tmp_path, capsys):
    for model in 'm\ud800', 'm\n\x1b[2J', 'm'*10_000, None, '', {}:
        with Bare(http(answer('B\ud800', model=model))) as server:
            one, values = ask(server.url)
            said = json.dumps(one.who(), ensure_ascii=False).encode() # As a record is written
            assert values.tolist() == [[-1, 0, -1]] and len(said) < 300 and one.who()['model'].isprintable()
    one.remark('toy', 16)
    assert 'the server does not say which model answered' in capsys.readouterr().err
    file, = [p for p in (tmp_path/'answers').glob('*') if p == one.file]
    row = json.loads(file.read_text().strip()) | dict(model='m\ud800') # As an older version kept it
    file.write_text(json.dumps(row))
    with Bare(b'') as server: assert [x['model'] for x in served._read_answers(file).values()] == ['m?']

@pytest.mark.parametrize('key', ['sk-ü', 'sk\n1', 'sk\u200b1'])
def test_a_key_that_no_request_can_carry_is_a_line(key, monkeypatch):
    monkeypatch.setenv('OPENAI_API_KEY', key)
    with Bare(http(answer())) as server, pytest.raises(InputError, match='OPENAI_API_KEY: has characters'): ask(server.url)

@pytest.fixture(scope='module')
def built(place, tmp_path_factory): # noqa: F811
    "A dataset of labels of one's own"
    folder = tmp_path_factory.mktemp('built')/'qad'
    argv = 'build', '-a', place/'mine.parquet', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', folder, '--min-verses', 100
    assert main(*argv) == 0
    return folder

@pytest.mark.parametrize('options,said', [(['openai:', 'http://127.0.0.1:9/v1'], '-m: openai: names no model'),
    (['openai:a\nb', 'http://127.0.0.1:9/v1'], '-m: openai:a\\nb names no model'),
    *((['openai:toy', url], '--endpoint: is not the address of a server') for url in (
        'http://127.0.0.1:9/v1\n', 'http://127.0.0.1\n:9/v1', 'http://ü.de/v1', 'http://a..b/v1', f'http://{"a"*80}/v1',
        'http://me:secret@127.0.0.1:9/v1'))])
def test_names_and_addresses_that_cannot_be_are_a_line_before_anything_is_written(built, tmp_path, options, said, capsys):
    capsys.readouterr()
    for how in 'eval', 'sweep':
        assert main(how, built, '--protocol', 'prompting', '--runs', tmp_path/'runs', '-m', options[0],
                       '--endpoint', options[1]) == 1
        error = capsys.readouterr().err.strip().splitlines()[-1]
        assert said in error and 'secret' not in error
    assert not (tmp_path/'runs').exists()

def test_a_task_with_more_labels_than_letters_is_refused_everywhere(place, tmp_path, capsys): # noqa: F811
    verses = [line.split('\t')[0] for line in (place/'mine.tsv').read_text().splitlines()[1:]]
    rows = [f'{ref}\tlabel{i % 27:02}\t{("train", "dev", "test")[i//27 % 3]}\tCC0' for i,ref in enumerate(verses)]
    (tmp_path/'many.tsv').write_text('\n'.join(['ref\tmany\tsplit\tlicence', *rows]) + '\n')
    assert main('annotate', tmp_path/'many.tsv', '-o', tmp_path/'many.parquet') == 0
    assert main('build', '-a', tmp_path/'many.parquet', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', tmp_path/'qad',
                '--min-verses', 100, '--splits', 'published', '--no-choices') == 0
    asked = 'eval', tmp_path/'qad', '--protocol', 'prompting', '--runs', tmp_path/'runs'
    (tmp_path/'m').mkdir()
    for name in 'config.json', 'model.safetensors': (tmp_path/'m'/name).write_text('{}')
    capsys.readouterr()
    with Bare(http(answer())) as server:
        for how in ([*asked, '-m', tmp_path/'m'], [*asked, '-m', 'openai:toy', '--endpoint', server.url],
                    [*asked, '-m', 'openai:toy', '--endpoint', server.url, '--recipe', 'prompt-0'],
                    ['export', 'lm-eval', tmp_path/'qad', '-o', tmp_path/'lm']):
            capsys.readouterr()
            assert main(*how) == 1
            assert 'has 27 labels, and there are only 26 letters' in capsys.readouterr().err
        assert not server.asked and not (tmp_path/'lm').exists()
