"What a server may do to us: redirects, answers without end, echoes of the key, and what is no answer at all"
import gzip, json, math, re, socket, threading, time
from base64 import b64encode

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

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

def drips(connection):
    "A byte now and then"
    connection.sendall(http()[:-2].replace(b'Length: 0', b'Length: 9999'))
    for _ in range(200): connection.sendall(b'X: y\r\n'); time.sleep(.05)

def endless(connection):
    connection.sendall(http().replace(b'Content-Length: 0\r\n', b''))
    for _ in range(1000): connection.sendall(b' '*(1 << 16))

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
    for name,value in dict(RETRIES=0, PAUSES=(), ANSWER_SECONDS=1).items(): monkeypatch.setattr(served, name, value)
    for name,value in dict(OPENAI_API_KEY=KEY, PRONTO_DATA=str(tmp_path)).items(): monkeypatch.setenv(name, value)

def ask(url, n=1, name='openai:toy'):
    one = served.ServedModel(name, url)
    values,_ = one.compare([one.text([f'Question {i}\nAnswer:']) for i in range(n)], 3)
    return one, values

@pytest.mark.parametrize('status', ['302 Found', '307 Temporary Redirect'])
@pytest.mark.parametrize('who', ['GET', 'POST'])
def test_a_redirect_to_another_server_is_not_followed(who, status):
    with Bare(http(answer('A'))) as other, Bare(http(answer())) as server:
        server.said[who] = http(status=status, Location=f'{other.url}/chat/completions?key={KEY}')
        with pytest.raises(InputError, match='redirects to another server') as e: ask(server.url)
        assert f'({other.url.removesuffix("v1")}); if it is yours' in str(e.value) and KEY not in str(e.value)
        assert not other.asked

def test_a_redirect_within_a_server_is_followed():
    with Bare(http(answer())) as server:
        def moved(connection):
            server.said['POST'] = http(answer())
            connection.sendall(http(status='307 Temporary Redirect', Location='/v1/elsewhere'))
        server.said['POST'] = moved
        assert ask(server.url)[1].tolist() == [[-1, 0, -1]] and 'POST /v1/elsewhere' in server.asked[-1]
        server.said['POST'] = http(status='307 Temporary Redirect', Location='/v1/elsewhere')
        with pytest.raises(InputError, match='redirects in circles'): ask(server.url, 2)

PACKED = {'Content-Encoding': 'gzip'}

@pytest.mark.parametrize('post,said', [
    (drips, 'did not end its answer in 1 s'), (endless, 'answers with more than 67,584 bytes'),
    (http(answer('B' + ' '*70_000)), 'answers with more than 67,584 bytes'),
    (http(gzip.compress(b' '*10**8), **PACKED), 'sends compressed answers'),
    (http(gzip.compress(b' '*10**8), '502 Bad Gateway', **PACKED), 'answers with status 502;'),
    (http('{"a":'), 'gives what is not an answer'), (http('['*50_000), 'gives what is not an answer'),
    (http('[]'), 'gives what is not an answer'), (http(answer(choices=[])), 'gives what is not an answer'),
    (http(answer(choices=None)), 'gives what is not an answer'), (b'no HTTP\r\n\r\n', 'cannot be reached')])
def test_what_is_no_answer_is_a_line(post, said, tmp_path):
    with Bare(post) as server, pytest.raises(InputError, match=said): ask(server.url)
    assert not [*(tmp_path/'answers').glob('*')]

@pytest.mark.parametrize('get', [http('{"a":'), http('<html>', **{'Content-Type': 'text/html'}), http('[]'), http('['*50_000),
                                 http(b'\xff\xfe'), http('null')])
def test_a_list_of_models_that_cannot_be_read_is_a_line(get):
    with Bare(http(answer()), get) as server, pytest.raises(InputError, match='has a list of models .* cannot be read'):
        ask(server.url)

def test_a_key_that_a_server_repeats_is_not_stored(tmp_path, capsys):
    other = b64encode(f'Bearer {KEY}!'.encode()).decode()
    said = f'{KEY} {other} {b64encode(KEY.encode()).decode()}'
    with Bare(http(answer(said, model=said))) as server:
        one, _ = ask(server.url)
        one.remark('toy', 16)
        server.said['POST'] = http(json.dumps(dict(error=dict(message=said, type='x'))), '418 Teapot')
        with pytest.raises(InputError, match='KEY') as e: ask(server.url, 2)
    kept, = (tmp_path/'answers').glob('*')
    for text in kept.read_text(), json.dumps(one.who()), str(e.value), *capsys.readouterr():
        assert KEY not in text and b64encode(KEY.encode()).decode()[:14] not in text and other[10:24] not in text
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

# Probabilities of a text

class Echo(Bare):
    "A server that repeats a text with the probabilities of its tokens, which are words with the blank before them"
    def __init__(self, silent=False, status='200 OK', change=None):
        self.texts, self.change = [], change
        def post(connection): pass
        super().__init__(post)
        self.silent, self.status = silent, status
    @staticmethod
    def value(token): return -.1 - sum(map(ord, token))%7
    def reply(self, connection):
        with connection:
            head, _, body = connection.recv(1 << 16).partition(b'\r\n\r\n')
            if head.startswith(b'GET'): return connection.sendall(self.said['GET'])
            n = int(re.search(rb'content-length: (\d+)', head, re.IGNORECASE)[1])
            while len(body) < n: body += connection.recv(1 << 16)
            given = json.loads(body)
            self.texts.append(given['prompt'])
            assert given['echo'] is True and given['logprobs'] == 1 and given['max_tokens'] == 1
            tokens = [*re.findall(r' ?[^ ]+', given['prompt']), ' more']
            places = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
            said = dict(tokens=tokens, text_offset=places, token_logprobs=[None, *map(self.value, tokens[1:])])
            text = ''.join(tokens)
            if self.change: self.change(said)
            choice = dict(index=0, finish_reason='length', text=' more' if self.silent else text, logprobs=None if self.silent else said)
            reply = dict(id='x', object='text_completion', created=1, model='m', choices=[choice])
            connection.sendall(http(json.dumps(reply), self.status))

def test_a_server_that_repeats_a_text_says_how_probable_a_choice_is_after_its_context():
    with Echo() as server:
        model = served.EchoingModel('openai:toy', server.url)
        values, n = model.sums([('', 'lo la mi'), ('lo la', 'mi re so')])
        assert values == pytest.approx([sum(map(Echo.value, (' la', ' mi'))), sum(map(Echo.value, (' mi', ' re', ' so')))])
        assert n == 5 and sorted(server.texts) == ['lo la mi', 'lo la mi re so']
        assert model.sums([('', 'lo la mi')])[0] == values[:1] and len(server.texts) == 2 # Kept

def in_bytes(said): said['text_offset'] = [len(''.join(said['tokens'][:i]).encode()) for i in range(len(said['tokens']))]
def none_of_first(said): del said['tokens'][0], said['text_offset'][0], said['token_logprobs'][0]
def with_value(value): return lambda said: said['token_logprobs'].__setitem__(2, value)
def of_another_text(said): said['tokens'][1] = said['tokens'][1][:-1] + 'x'
def backwards(said): said['text_offset'][1:3] = said['text_offset'][2:0:-1]

@pytest.mark.parametrize('change,says', [
    *((with_value(value), 'not the logarithm of a probability') for value in (
        float('nan'), float('-inf'), float('inf'), 5, 1e-9, True, False, None, '-1')),
    (lambda said: said.update(token_logprobs=[None]*len(said['tokens'])), 'None is not the logarithm'),
    (in_bytes, 'does the server count bytes'), (backwards, 'do not increase|is not at its offset'),
    (of_another_text, "the token ' lÜx' is not at its offset"), (none_of_first, 'no token ends where the text ends'),
    (lambda said: said['token_logprobs'].pop(), '3 values, 4 offsets, 4 tokens'),
    (lambda said: said['text_offset'].pop(), '4 values, 3 offsets, 4 tokens'),
    (lambda said: said.update(text_offset=[0]*len(said['tokens'])), 'no token ends where'),
    (lambda said: said.update(token_logprobs='-1 -1'), 'not the logarithm|values, 4 offsets'),
    (lambda said: said.update(text_offset=[None]*4), 'gives what is not an answer')])
def test_probabilities_that_cannot_be_right_are_refused_and_not_kept(change, says, tmp_path):
    with Echo(change=change) as server:
        model = served.EchoingModel('openai:toy', server.url)
        with pytest.raises(InputError, match=says) as e: model.sums([('', 'lé lÜa mi')])
        assert '\n' not in str(e.value) and not model.kept and not model.file.exists()

VALUE = st.one_of(st.none(), st.booleans(), st.integers(-9, 2), st.floats(), st.text(max_size=2))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text('aé 道🙂', min_size=2, max_size=9), name=st.sampled_from(['tokens','text_offset','token_logprobs']),
       where=st.integers(0, 9), value=VALUE, is_gone=st.booleans())
def test_what_a_server_says_of_a_text_is_finite_and_of_that_text_or_refused(text, name, where, value, is_gone):
    tokens = [*re.findall(' ?[^ ]+| ', text), ' more']
    begin = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
    said = dict(tokens=tokens, text_offset=begin, token_logprobs=[None, *[-1.5]*(len(tokens) - 1)])
    column = said[name] = list(said[name])
    column[where % len(column):where % len(column) + 1] = [] if is_gone else [value]
    try: found = json.loads(served._of_echo(dict(choices=[dict(text=''.join(tokens), logprobs=said)]), text))
    except served._ODD: return
    assert all(math.isfinite(x) and x <= 0 for _,x in found) and len(found) >= len(tokens) - 2
    assert [at for at,_ in found] == sorted(at for at,_ in found) and all(0 <= at < len(text) for at,_ in found)

def bos(said):
    said['tokens'].insert(0, '<s>')
    said['token_logprobs'] = [None, -1.5, *said['token_logprobs'][1:]]
    said['text_offset'] = [0, *(3 + at for at in said['text_offset'])]
def in_parts(said): # The letter `é` is two tokens, of which neither is a letter
    said.update(tokens=['l', '\ufffd', '\ufffd', *said['tokens'][1:]], text_offset=[0, 1, 1, *said['text_offset'][1:]],
                token_logprobs=[None, -1, -1, *said['token_logprobs'][1:]])

@pytest.mark.parametrize('change,more', [(lambda said: said.update(text_offset=None), 0), (lambda said: said.update(tokens=None), 0),
    (lambda said: said.update(text_offset=[7 + at for at in said['text_offset']]), 0), (bos, -1.5), (in_parts, -2)])
def test_servers_count_characters_in_several_ways(change, more):
    with Echo(change=change) as server:
        values, _ = served.EchoingModel('openai:toy', server.url).sums([('', 'lé lÜa mi'), ('lé', 'lÜa mi')])
    own = sum(map(Echo.value, (' lÜa', ' mi')))
    assert values == pytest.approx([own + more, own])

@pytest.mark.parametrize('how', [dict(silent=True), dict(status='400 Bad Request')])
def test_a_server_that_repeats_nothing_is_a_line(how):
    with Echo(**how) as server:
        with pytest.raises(InputError) as e: served.EchoingModel('openai:toy', server.url).sums([('', 'lo la mi')])
        assert 'does not say how probable the tokens of a text are' in str(e.value) and '--protocol prompting' in str(e.value)

def test_a_model_on_a_server_chooses_by_likelihood(tmp_path, capsys):
    from pronto.bibles.reading import Bible, VerseRow
    from pronto.cli.command import main
    from pronto.datasets.align import TEXT_ALONE
    from pronto.datasets.building import build
    from pronto.runs.store import read_runs
    from test_choices import made_up
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in made_up().items()]
    build(TEXT_ALONE, Bible(rows), tmp_path/'qaa', report=str)
    argv = ['eval', str(tmp_path/'qaa'), '-m', 'openai:toy', '--protocol', 'likelihood', '-t', 'WO', '-t', 'NV', '--limit', '20',
            '--runs', str(tmp_path/'runs')]
    assert main(argv) == 1 and 'ask it with --protocol prompting or likelihood' in capsys.readouterr().err
    with Echo() as server:
        assert main([*argv, '--endpoint', server.url, '--chat']) == 1 and '--chat: does nothing' in capsys.readouterr().err
        assert main([*argv, '--endpoint', server.url, '--most-requests', '3']) == 1 and '--most-requests' in capsys.readouterr().err
        assert not server.texts
        assert main([*argv, '--endpoint', server.url]) == 0
        n = len(server.texts)
        assert main([*argv, '--endpoint', server.url]) == 0 and len(server.texts) == n
    runs = {r.task: r for r in read_runs(tmp_path/'runs')}
    assert {*runs} == {'word_order','next_verse'} and runs['word_order'].accuracy == .5 # The same words, in any order
    assert runs['word_order'].likelihood['model'] == 'm' and runs['word_order'].hyperparameters['endpoint'] == server.url
