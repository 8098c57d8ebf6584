"Models that are asked: chat templates and servers"
import json, os, shutil, signal, socket, subprocess, sys, threading, time
from pathlib import Path
from urllib.request import urlopen

import pytest

from pronto.cli.command import main
from pronto.lab.modeling.served import PAUSES, RETRIES, TIMEOUT
from test_perplexity import causal, data # noqa: F401 (fixtures)

TEMPLATE = '{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}Answer : '

def asked(data, model, *options, runs='asked'): # noqa: F811
    argv = ['eval', str(data/'qaa'), '--protocol', 'prompting', '-t', 'SM', '--limit', '30', '--quiet']
    return main([*argv, '-m', str(model), '--runs', str(data/runs), *options])

@pytest.mark.slow
def test_ways_of_asking_are_runs_of_their_own(data, causal, capsys): # noqa: F811
    from transformers import AutoTokenizer
    assert asked(data, causal, '--chat') == 1
    assert 'has no chat template; leave --chat out' in capsys.readouterr().err
    tokenizer = AutoTokenizer.from_pretrained(causal)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(causal)
    ways = [], ['--chat']
    for way in ways: assert asked(data, causal, *way) == 0
    records = [json.loads(path.read_text(encoding='utf-8')) for path in (data/'asked').rglob('prompt-s0-*.json')]
    assert len(records) == len(ways)
    assert sorted({*r['hyperparameters']} - {'dev','select','shots'} for r in records if 'chat' in r['hyperparameters']) == [{'chat'}]
    capsys.readouterr()
    assert main(['tables', '--runs', str(data/'asked'), '--question', 'prompting', '-o', str(data/'asked-tables')]) == 0
    assert 'chat' in capsys.readouterr().out

def test_another_chat_template_is_another_run(data, causal): # noqa: F811
    for template in TEMPLATE, TEMPLATE.replace('Answer', 'Reply'):
        (causal/'chat_template.jinja').write_text(template)
        for _ in range(2): assert asked(data, causal, '--chat', runs='templates') == 0
    said = [json.loads(path.read_text(encoding='utf-8')) for path in (data/'templates').rglob('prompt-s0-*.json')]
    assert len({record['model_hash'] for record in said}) == len(said) == 2

def test_a_sweep_hands_the_ways_of_asking_to_its_notebooks(data, causal): # noqa: F811
    from pronto.lab.jobs.sweep import notebook_parameters, plan_all
    way = dict(endpoint='http://127.0.0.1:9/v1', answer_tokens=9, most_requests=7)
    (run,), _ = plan_all([data/'qaa'], ['openai:toy'], ['SM'], 1, 'prompt', protocol='prompting', asking=way)
    assert run.key.hyperparameters['answer_tokens'] == 9 and 'most_requests' not in run.key.hyperparameters
    assert notebook_parameters(run, data/'runs')['asking'] == way and run.trainings[0].recipe.most_requests == 7

def test_prompts_that_are_cut_are_said(data, causal, tmp_path, capsys): # noqa: F811
    from transformers import AutoTokenizer
    short = shutil.copytree(causal, tmp_path/'short')
    tokenizer = AutoTokenizer.from_pretrained(short)
    tokenizer.model_max_length = 24
    tokenizer.save_pretrained(short)
    assert asked(data, short, runs='short') == 0
    said = '22 prompts are longer than the model reads and lost their beginning'
    assert said in capsys.readouterr().out
    assert main(['tables', '--runs', str(data/'short'), '--question', 'prompting', '-o', str(data/'short-tables')]) == 0
    assert said.replace('the model', 'a model') in capsys.readouterr().out

def test_ways_of_asking_belong_to_prompting(data, causal, capsys): # noqa: F811
    assert main(['eval', str(data/'qaa'), '-m', str(causal), '--protocol', 'memory', '--chat', '--runs', str(data/'none')]) == 1
    assert '--chat: does nothing in memory' in capsys.readouterr().err
    assert main(['eval', str(data/'qaa'), '-m', str(causal), '--chat', '--runs', str(data/'none')]) == 1
    assert '--chat: does nothing in in-language' in capsys.readouterr().err
    assert asked(data, causal, '--most-requests', '5') == 1
    assert '--most-requests: is for models on a server' in capsys.readouterr().err

TOO_LONG = dict(short=(400, dict(error=dict(message='the request exceeds the context size'))), # As servers say it
                large=(413, '<html>Request Entity Too Large</html>'),
                few=(422, dict(error='Input validation error: `inputs` must have less than 1024 tokens. Given: 1168')))
SAID = dict(empty=None, unicode='\u2028Ответ: Б \U0001f600', thinks='<think>A or B?</think>\n\nB',
            bold='**Antwort:** **B**', sentence='A man asks B.')

class Server:
    "Answers like a server of the OpenAI interface: all rows with B, apart from some faults"
    def __init__(self, fault=''):
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        outer, self.asked, self.keys, self.settings = self, 0, set(), []
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args): pass
            def do_GET(self): self.reply({'object': 'list', 'data': []})
            def do_POST(self):
                given = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                outer.settings.append({k: v for k,v in given.items() if k not in ('model','messages')})
                outer.asked += 1
                if outer.asked > 5 and fault == 'slow': time.sleep(3)
                if fault == 'limits' and outer.asked in (3, 4, 5, 6): return self.refuse(429, 'wait, sk-secret')
                if fault == 'quota': return self.refuse(429, 'no money', code='insufficient_quota')
                if fault == 'context': return self.refuse(400, 'the maximum context\n length is 7; sk-secret')
                if fault in TOO_LONG and outer.asked % 5 == 0: return self.reply(TOO_LONG[fault][1], TOO_LONG[fault][0])
                if fault == 'field': return self.reply(dict(detail='a field is missing'), 422)
                if fault == 'new' and (odd := {'max_tokens','temperature'} & {*given}):
                    return self.refuse(400, 'not supported in this context', param=min(odd))
                said = dict(role='assistant', content=SAID.get(fault, 'B. Imperative'))
                model = 'toy-2027' if fault == 'changes' and outer.asked > 5 else 'toy-2026'
                ended = 'length' if fault == 'empty' else 'stop'
                self.reply(dict(id='x', object='chat.completion', created=1, model=model, choices=[
                    dict(index=0, finish_reason=ended, message=said)]))
            def refuse(self, status, message, **more):
                self.reply(dict(error=dict(message=message, type='x') | more), status)
            def reply(self, value, status=200):
                outer.keys.add(self.headers['Authorization'])
                body = json.dumps(value).encode()
                half = fault == 'half' and outer.asked > 5
                self.send_response(401 if fault == 'key' else status)
                if status == 429: self.send_header('Retry-After', '0.1')
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body[:len(body)//2] if half else body)
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_port}/v1'
    def __enter__(self): return self
    def __exit__(self, *args): self.server.shutdown(); self.server.server_close()

@pytest.fixture
def served(data, tmp_path, monkeypatch): # noqa: F811
    pytest.importorskip('openai')
    for name,value in dict(PRONTO_DATA=str(tmp_path), OPENAI_API_KEY='sk-secret').items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr('pronto.lab.modeling.served.RETRIES', 0)
    monkeypatch.setattr('pronto.lab.modeling.served.PAUSES', (.1, .1))
    runs = tmp_path/'runs'
    def ask(url, *options):
        argv = ['eval', str(data/'qaa'), '--protocol', 'prompting', '-t', 'SM', '--limit', '8', '--quiet', '--runs', str(runs)]
        return main([*argv, '-m', 'openai:toy', '--endpoint', url, *options])
    return ask, runs

def test_a_server_is_asked_once_for_each_row_and_no_file_holds_the_key(served, tmp_path):
    ask, runs = served
    with Server() as server:
        assert ask(server.url) == 0 and server.keys == {'Bearer sk-secret'}
        first = server.asked
        assert ask(server.url, '--runs', str(tmp_path/'again')) == 0 and server.asked == first # All answers are kept
    record, = (json.loads(p.read_text(encoding='utf-8')) for p in runs.rglob('prompt-*.json'))
    assert record['attempts'][0]['model'] == 'toy-2026' and record['hyperparameters']['endpoint'] == server.url
    assert record['collapsed']
    said = {path: path.read_bytes() for path in tmp_path.rglob('*') if path.is_file()}
    assert len(said) > 3 and not [path for path,text in said.items() if b'sk-secret' in text]

@pytest.mark.parametrize('fault,said', [('key', 'refuses the key; set OPENAI_API_KEY'), ('slow', 'did not answer in 2 s'),
                                        ('half', 'cannot be reached'), ('context', 'status 400 (the maximum context length is 7; KEY)'),
                                        ('quota', 'status 429 (no money); it limits the number of requests'),
                                        ('field', 'status 422 (a field is missing)')])
@pytest.mark.slow
def test_what_goes_wrong_with_a_server_is_a_line_and_loses_nothing(served, tmp_path, monkeypatch, capsys, fault, said):
    ask, runs = served
    if fault == 'slow': monkeypatch.setattr('pronto.lab.modeling.served.TIMEOUT', 2)
    with Server(fault) as server: assert ask(server.url) == 1
    told = capsys.readouterr().err
    assert 'next attempt' not in told # No money is not a lack of time
    error, = (line for line in told.splitlines() if line.startswith('pronto: ')) # Not what the server says
    assert said in error and 'the answers so far are stored' in error and 'sk-secret' not in error
    kept = [line for path in (tmp_path/'answers').glob('*') for line in path.read_text(encoding='utf-8').split('\n') if line]
    assert len(kept) == (5 if fault in ('slow','half') else 0)
    assert not list(runs.rglob('*.json'))

def test_a_dead_server_and_too_many_requests_are_refused(served, capsys):
    ask, _ = served
    assert ask('http://127.0.0.1:9/v1') == 1
    assert 'cannot be reached' in capsys.readouterr().err
    with Server() as server:
        assert ask(server.url, '--most-requests', '10') == 1 and server.asked == 0
        assert 'allow them with --most-requests 40' in capsys.readouterr().err
        assert ask(server.url) == 0 and server.asked == 40 # The bound was of that command only
    assert ask('http://me:secret@127.0.0.1:9/v1') == 1
    error = capsys.readouterr().err
    assert 'is not the address of a server' in error and 'secret' not in error

def records(runs): return [json.loads(p.read_text(encoding='utf-8')) for p in runs.rglob('prompt-*.json')]

def test_a_server_that_limits_requests_is_asked_again(served, capsys):
    "For about 100 seconds, as it says; one that hangs is given up in ten minutes"
    ask, runs = served
    with Server('limits') as server: assert ask(server.url) == 0 and server.asked > 40
    assert 'the server is busy (status 429); next attempt after' in capsys.readouterr().err
    assert sum(PAUSES) == 100 and (1 + RETRIES)*TIMEOUT <= 600
    assert records(runs)[0]['unanswered'] == 0

def test_settings_that_a_server_does_not_know_are_left_out_and_recorded(served):
    ask, runs = served
    with Server('new') as server: assert ask(server.url, '--answer-tokens', '99') == 0
    assert server.settings[-1] == dict(max_completion_tokens=99)
    record, = records(runs)
    assert record['attempts'][0]['max_completion_tokens'] == 99 and 'temperature' not in record['attempts'][0]
    assert record['hyperparameters']['answer_tokens'] == 99

@pytest.mark.slow
@pytest.mark.parametrize('fault,lost', [('empty', 1), ('unicode', 1), ('sentence', 1), ('thinks', 0), ('bold', 0)])
def test_answers_that_cannot_be_read_are_counted(served, tmp_path, capsys, fault, lost):
    ask, runs = served
    with Server(fault) as server:
        for _ in range(2): assert ask(server.url) == 0 # Kept answers are read as new ones
    record, = records(runs)
    said = capsys.readouterr()
    assert record['unanswered'] == lost
    assert ('no readable answer to 100.0% of the rows' in said.out) == bool(lost)
    assert ('collapsed' in said.out) == (not lost)
    assert ('of them cut after 16 tokens (--answer-tokens)' in said.err) == (fault == 'empty')
    assert main(['tables', '--runs', str(runs), '--question', 'prompting', '-o', str(tmp_path/'tables')]) == 0
    assert ('counted as wrong' in capsys.readouterr().out) == bool(lost)

@pytest.mark.parametrize('how', [['probe'], ['eval'], *(['eval', '--protocol', p] for p in ('prompting','perplexity','memory'))])
def test_a_model_on_a_server_is_asked_by_prompts_alone(data, tmp_path, capsys, how): # noqa: F811
    assert main([*how, str(data/'qaa'), '-m', 'openai:toy', '--runs', str(tmp_path)]) == 1
    assert 'ask it with --protocol prompting, and its address as --endpoint' in capsys.readouterr().err

@pytest.mark.parametrize('fault', TOO_LONG)
def test_questions_that_are_too_long_for_a_server_stop_nothing(served, capsys, fault):
    ask, runs = served
    with Server(fault) as server: assert ask(server.url) == 0
    error = capsys.readouterr().err
    assert 'has no room for 8 questions, which count as wrong' in error and 'remove the record of this run' in error
    assert 0 <= records(runs)[0]['unanswered'] < 1

def test_a_server_that_changes_its_model_is_named(served, tmp_path, capsys):
    ask, runs = served
    with Server('changes') as server: assert ask(f'{server.url}/') == 0
    assert 'the answers are of 2 models (toy-2026, toy-2027), as the server changed' in capsys.readouterr().err
    record, = records(runs)
    assert record['attempts'][0]['model'] == 'toy-2026, toy-2027' and record['hyperparameters']['endpoint'] == server.url
    assert main(['tables', '--runs', str(runs), '--question', 'prompting', '-o', str(tmp_path/'tables')]) == 0
    assert 'Answers of several models under one name: openai:toy (toy-2026, toy-2027).' in capsys.readouterr().out

def test_the_forecast_counts_new_requests(served, tmp_path, capsys):
    ask, _ = served
    with Server() as server:
        assert ask(server.url) == 0
        assert 'at most 40 requests' in capsys.readouterr().err
        assert ask(server.url, '--runs', str(tmp_path/'again'), '--most-requests', '8') == 0 # If dev chose another prompt
        assert 'at most 8 requests' in capsys.readouterr().err and server.asked == 40

@pytest.mark.parametrize('place', ['http://127.0.0.1:99999/v1', 'http://127.0.0.1:9/v1#sk-secret', 'http://127.0.0.1:9/v1?key=sk-secret'])
def test_an_address_that_is_none_or_holds_a_key_is_refused(served, capsys, place):
    assert served[0](place) == 1
    said = capsys.readouterr().err
    assert 'is not the address of a server' in said and 'sk-secret' not in said

@pytest.fixture
def real_server(causal, tmp_path): # noqa: F811
    "`transformers serve` with a tiny model, on a free port of the loopback address; a process of its own"
    pytest.importorskip('openai')
    for name in 'fastapi', 'uvicorn': pytest.importorskip(name, reason=f'`transformers serve` needs {name} (extra dev)')
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(causal)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(causal)
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        address = f'http://127.0.0.1:{s.getsockname()[1]}'
    command = [Path(sys.executable).with_name('transformers'), 'serve', causal, '--host', '127.0.0.1', '--port', address.rpartition(':')[2]]
    (tmp_path/'hf'/'hub').mkdir(parents=True) # The server lists the models in it, and fails where it is missing
    about = os.environ | dict(HF_HUB_OFFLINE='1', HF_HOME=str(tmp_path/'hf'), HF_HUB_CACHE=str(tmp_path/'hf'/'hub'))
    with (tmp_path/'server.log').open('w') as log:
        server = subprocess.Popen(list(map(str, [*command, '--device', 'cpu'])), env=about, stdout=log, stderr=log)
    try:
        for _ in range(600):
            try: urlopen(f'{address}/health', timeout=5).close(); break
            except OSError: time.sleep(1)
            assert server.poll() is None, (tmp_path/'server.log').read_text()[-2000:]
        yield f'{address}/v1', server
    finally:
        server.kill()
        server.wait()

@pytest.mark.slow
def test_a_real_server_is_asked_and_its_death_loses_nothing(real_server, causal, served, tmp_path, capsys): # noqa: F811
    (url, server), (_, runs) = real_server, served
    argv = ['eval', str(causal.parent/'qaa'), '--protocol', 'prompting', '-t', 'SM', '--quiet', '-m', f'openai:{causal}', '--endpoint', url]
    assert main([*argv, '--limit', '4', '--runs', str(runs)]) == 0, (tmp_path/'server.log').read_text()[-2000:]
    path, = runs.rglob('prompt-*.json')
    record = json.loads(path.read_text(encoding='utf-8'))
    kept = [json.loads(line) for file in (tmp_path/'answers').glob('*') for line in file.read_text(encoding='utf-8').split('\n') if line]
    assert record['attempts'][0]['date'] and record['hyperparameters']['endpoint'] == url
    assert kept and all(isinstance(row['said'], str) and row['model'] for row in kept)
    server.send_signal(signal.SIGKILL)
    server.wait()
    capsys.readouterr()
    assert main([*argv, '--limit', '5', '--runs', str(runs)]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert 'cannot be reached' in error and 'the answers so far are stored' in error
