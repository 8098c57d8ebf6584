"What the tests share: real data where they are at hand, and a small annotated text of our own"
import gc, os, shutil, signal, subprocess, sys, traceback
os.environ.setdefault('OMP_NUM_THREADS', '1') # Tiny models do not gain by more, and two processes test; before anything imports NumPy
os.environ.pop('PRONTO_DATA', None) # Of whoever runs the tests, which have data folders of their own
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest

gc.set_threshold(100_000, 20, 50) # Reading a source makes millions of objects that stay; see `what_stays_is_no_garbage`

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', ROOT.parent/'shared'/'data'))

# Half a minute or more each; they share nothing with the tests beside them
LONGEST = 'test_the_whole_demo', 'test_cells_that_need_data', 'test_every_link_of_the_site_leads_somewhere_and_nothing_is_fetched'

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    "What needs a whole real source, which takes ten seconds to annotate, or a browser, is slow; no process begins the longest last"
    for item in items:
        if {'annotations','annotation_files','acai','browser'} & {*item.fixturenames}: item.add_marker('slow')
    items.sort(key=lambda item: item.originalname not in LONGEST)

@pytest.fixture(autouse=True)
def no_line_of_progress(monkeypatch):
    "On a busy machine everything takes long enough for one; tests of progress set the time themselves"
    monkeypatch.setattr('pronto.core.progress.FIRST_LINE', 3600)

@pytest.fixture(autouse=True, scope='session')
def with_torch():
    "A process that tests many files needs these anyway; imported first, they stay: see `what_stays_is_no_garbage`"
    if 'PYTEST_XDIST_WORKER' in os.environ and find_spec('torch'):
        import pronto.lab.modeling.pretrain, pronto.modeling.probing, pronto.modeling.train # noqa: F401

@pytest.fixture(autouse=True, scope='session')
def one_parser():
    "Each command would make the parser of all commands anew, for a hundredth of a second; some tests run hundreds"
    from pronto.cli import command
    with patch.object(command, 'make_parser', cache(command.make_parser)): yield

@pytest.fixture(autouse=True, scope='module')
def what_stays_is_no_garbage(with_torch):
    "Each training looks for garbage: not among the modules and the data that other tests have loaded"
    gc.collect()
    gc.freeze()

@pytest.fixture
def less_of_unicode(monkeypatch):
    "Up to its special tokens: the tokenizer of CANINE lists all letters there are, for a second, whenever it is made"
    monkeypatch.setattr('transformers.models.canine.tokenization_canine.UNICODE_VOCAB_SIZE', 0xe010)

@pytest.fixture
def pronto(capsys):
    "Run the command: exit status, output, and the lines of the error stream"
    from pronto.cli.command import main
    def run(*argv):
        capsys.readouterr()
        try: status = main(list(map(str, argv)))
        except SystemExit as e: status = e.code
        said = capsys.readouterr()
        return status, said.out, said.err.splitlines()
    return run

@pytest.fixture(scope='session')
def once(tmp_path_factory):
    "Fill a folder once for all processes that test: `once(name, fill)`"
    from filelock import FileLock
    place = tmp_path_factory.getbasetemp()
    if 'PYTEST_XDIST_WORKER' in os.environ: place = place.parent # They share it
    def filled(name, fill):
        folder = place/f'once-{name}'
        with FileLock(f'{folder}.lock'):
            if not (folder/'filled').exists():
                folder.mkdir(exist_ok=True)
                fill(folder)
                (folder/'filled').touch()
        return folder
    return filled

@pytest.fixture(scope='session')
def embedded_corpus(once):
    "The folder of the embedded corpus with 900 verses, for reading; a test that changes something copies it"
    from pronto.demo.corpus import make_corpus, write_corpus
    return once('embedded-corpus', lambda folder: write_corpus(make_corpus(n_verses=900), folder/'corpus'))/'corpus'

@pytest.fixture(scope='session')
def testdata():
    "The folder of real data"
    if not DATA.is_dir(): pytest.skip('no real data at hand')
    return DATA

@pytest.fixture(scope='session')
def skeleton(testdata): return testdata/'ontonotes-skeleton'

@pytest.fixture(scope='session')
def chapters(skeleton):
    "Its 260 files"
    from pronto.sources.onf import onf_files
    return onf_files(skeleton)

@pytest.fixture(scope='session')
def annotation_files(skeleton, once):
    "Rules to their annotation file"
    from pronto.sources.annotate import RULES, annotate
    from pronto.sources.annotation_file import write_annotations
    from pronto.sources.onf import read_onf
    def write(folder):
        with patch('pronto.sources.ontonotes_rules.read_onf', cache(read_onf)): # Each file is read once
            for rules in RULES: write_annotations(annotate(skeleton, rules=rules), folder/f'{rules}.parquet')
    folder = once('annotations', write)
    return {rules: folder/f'{rules}.parquet' for rules in RULES}

@pytest.fixture(scope='session')
def annotations(annotation_files):
    "Rules to their annotations"
    from pronto.sources.annotation_file import read_annotations
    found = {rules: read_annotations(path) for rules,path in annotation_files.items()}
    gc.freeze() # Nothing of this is ever garbage
    return found

@pytest.fixture(scope='session')
def acai(testdata):
    "The whole Bible annotated with the entities of ACAI"
    from pronto.sources.annotate import annotate
    return annotate(testdata/'acai')

@pytest.fixture
def toy_acai_dataset(tmp_path):
    "A dataset of invented verses of Ruth, with the entities of an invented source"
    from pronto.bibles.reading import Bible, VerseRow
    from pronto.core.refs import Ref
    from pronto.datasets.building import build
    from pronto.sources.annotate import SOURCES
    from pronto.sources.records import Annotations, EntityMention, VerseAnnotation
    acai = next(s.source for s in SOURCES if s.source.name == 'ACAI')
    refs = [Ref('RUT', c, v) for c in range(1, 5) for v in range(1, 18)]
    def about(r): return tuple(EntityMention(f'person:P{i}', 'person', 'name', i + 1) for i in range(r.verse % 3))
    annotations = Annotations(acai, {r: VerseAnnotation(r, (), False, about(r)) for r in refs})
    rows = [VerseRow(r.book, r.chapter, str(r.verse), f'Toki {r.chapter} leu {r.verse}') for r in refs]
    build(annotations, Bible(rows), tmp_path/'toy', min_verses=1)
    return tmp_path/'toy'

@pytest.fixture(scope='session')
def toy_onf():
    "Two sections of invented sentences with everything that is hard to read"
    return (Path(__file__).parent/'ontonotes'/'toy.onf').read_text(encoding='utf-8')

@pytest.fixture
def toy_folder(tmp_path, toy_onf):
    "A folder with three chapters"
    folder = tmp_path/'source'
    folder.mkdir()
    for name,book in ('a.onf','Mark'), ('b.onf','Luke'), ('c.onf','1_John'):
        (folder/name).write_text(toy_onf.replace('name: Mark', f'name: {book}'), encoding='utf-8')
    return folder

def make_certificate(folder):
    "Files of a certificate for this machine that signs itself, and of its key"
    if not shutil.which('openssl'): pytest.skip('no openssl to make certificates with')
    cert, key = str(folder/'cert.pem'), str(folder/'key.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=pronto',
                    '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert], check=True, capture_output=True)
    return cert, key

@pytest.fixture(scope='session')
def self_signed(tmp_path_factory): return make_certificate(tmp_path_factory.mktemp('certificate'))

def _become(command, folder, out, errors, environment):
    "Run a program of ours in this process, which has imported PyTorch"
    import runpy
    from pronto.cli.command import main
    gc.freeze()
    for number,name in (1, out), (2, errors): os.dup2(os.open(name, os.O_WRONLY | os.O_APPEND), number)
    sys.stdout, sys.stderr = (open(number, 'w', closefd=False) for number in (1, 2)) # The server's may be files
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    program, *sys.argv = command
    if Path(program).name == 'pronto': sys.exit(main(sys.argv))
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name='__main__')

def start_forked(command, out, errors, env):
    "A process of `pronto` or a script, without the seconds in which it would import PyTorch; what it prints goes to named files"
    from multiprocessing import get_context
    from kernels import _IMPORTS
    server = get_context('forkserver')
    server.set_forkserver_preload(_IMPORTS)
    process = server.Process(target=_become, args=(command, os.getcwd(), out, errors, env))
    process.start()
    return process

def run_forked(command, stdout, stderr, env):
    "As `subprocess.run`, see `start_forked`"
    process = start_forked(command, stdout.name, stderr.name, env)
    process.join()
    return subprocess.CompletedProcess(command, process.exitcode)

def in_terminal(width, *argv):
    "The lines that a command prints in a terminal of so many columns"
    import pty
    from select import select
    reader, writer = pty.openpty()
    env = os.environ | dict(COLUMNS=str(width), TERM='xterm')
    process, said = start_forked(['pronto', *map(str, argv)], os.ttyname(writer), os.devnull, env), b''
    while process.is_alive() or select([reader], [], [], 0)[0]:
        if select([reader], [], [], .1)[0]: said += os.read(reader, 65536)
    for end in reader, writer: os.close(end)
    assert process.exitcode in (0, 3)
    return said.decode().splitlines()

def run_notebook(name, out, parameters, cwd=ROOT/'nbs', **environment):
    "Run a notebook of `nbs` with papermill, in a fork of a process that has imported PyTorch; returns it as kept in `out`"
    papermill = pytest.importorskip('papermill')
    from kernels import ForkedKernels
    given = {name: value if isinstance(value, int | float | str) else str(value) for name,value in parameters.items()}
    with patch.dict(os.environ, {'PYTHONPATH': str(ROOT), **environment}):
        return papermill.execute_notebook(str(ROOT/'nbs'/name), str(out), given, cwd=str(cwd), progress_bar=False,
                                          kernel_name='python3', language='python', kernel_manager_class=ForkedKernels)

def cell_outputs(notebook): return [o for c in notebook.cells if c.cell_type == 'code' for o in c.outputs]

def shown_as(notebook, kind):
    "What the cells of a notebook show of a kind, e.g. `text/markdown`"
    return [o.data[kind] for o in cell_outputs(notebook) if kind in o.get('data', {})]

def change_manifest(folder, **changes):
    "Write a dataset's manifest again with other values, as if it had been built with them"
    import json
    from pronto.datasets.manifest import manifest_bytes
    found = json.loads((folder/'manifest.json').read_text(encoding='utf-8'))
    (folder/'manifest.json').write_bytes(manifest_bytes(found | changes))

def join_folds(folder, **facts):
    "Make one dataset in folds of dataset folders `fold0`, `fold1`, ..."
    import json
    from pronto.datasets.building import folded_table
    places = sorted(folder.glob('fold?'))
    for table in sorted(places[0].glob('*_train.*')):
        stem = table.stem.removesuffix('_train')
        parts = [{s: [(place/f'{stem}_{s}{table.suffix}').read_bytes()] for s in ('train','dev','test')} for place in places]
        (folder/f'{stem}_folds{table.suffix}').write_bytes(folded_table(parts))
    for place in places: shutil.rmtree(place)
    (folder/'manifest.json').write_text(json.dumps(dict(splits='folds', folds=len(places)) | facts))

class TooSlow(BaseException): "Not an `Exception`, which a reader would report as a fault of the file"

@contextmanager
def time_limit(seconds):
    "Raise `TooSlow` in work that takes so many seconds of processor time, or waits for much longer"
    def stop(*_): raise TooSlow(f'not finished after {seconds} s')
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, 20*seconds)}
    before = {s: signal.signal(s, stop) for s in timers}
    for timer,after in timers.values(): signal.setitimer(timer, after)
    try: yield
    finally:
        for timer,_ in timers.values(): signal.setitimer(timer, 0)
        for s,handler in before.items(): signal.signal(s, handler)

def killed_at(n, folder, work):
    "Do `work` in a process that is killed as it touches `folder` for the `n`th time; true if it lived"
    pid = os.fork()
    if pid == 0:
        left = n
        def hook(event, args):
            nonlocal left
            if event in ('open','os.mkdir','os.rename','os.remove','os.rmdir') and str(folder) in str(args):
                if left == 0: os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
        sys.addaudithook(hook)
        try: work()
        finally: os._exit(0)
    return os.waitpid(pid, 0)[1] == 0

def in_fork(work):
    "What `work` prints in a copy of this process, which it may spoil"
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status, sys.stdout = 1, open(writer, 'w', buffering=1)
        sys.stderr = sys.stdout
        try:
            work()
            status = 0
        except BaseException: traceback.print_exc()
        finally: os._exit(status)
    os.close(writer)
    with open(reader) as f: said = f.read()
    assert os.waitpid(pid, 0)[1] == 0, said
    return said

def predictions(accuracy, n=100, majority=.5):
    "Predictions of an invented run: labels of verses in ten chapters, of which a share is right"
    rows = []
    for i in range(n):
        verse = i//10
        label = '01'[verse % 2]
        wrong = '10'[verse % 2]
        place = 7*i % n # So that the errors are spread over the chapters
        said = lambda share: label if place < round(share*n) else wrong
        rows.append(dict(ref=f'MRK {1 + i%10}:{1 + verse}', label=label, predicted=said(accuracy), majority=said(majority)))
    return rows

def scored(rows, **changes):
    "Whole results of an invented run whose figures are those of its predictions"
    from pronto.datasets.tasks import PNS
    from pronto.runs.folds import score_table
    from pronto.runs.predictions import coded, test_rows
    columns = {name: coded(row[name] for row in rows) for name in rows[0]}
    predicted = columns.pop('predicted')
    found = score_table(PNS, test_rows(columns), predicted)
    return run_results(**found | dict(accuracy_without_parallels=None, counts=dict(test=len(rows))) | changes)

def run_results(**changes):
    "Whole results of an invented run, for `write_record`"
    known = dict(accuracy=.75, accuracy_without_parallels=None, macro_f1=.7, mcc=.5,
                 baselines=dict(majority=.5, lookup=.5, ngram=.6), dev=[], collapsed=False, truncated=dict(test=0), counts=dict(test=1),
                 seconds=1., device='cpu', versions={})
    return known | changes

@pytest.fixture(scope='session')
def model(tmp_path_factory):
    "A tiny BERT that knows three words"
    torch, hf = pytest.importorskip('torch'), pytest.importorskip('transformers')
    from tokenizers import Tokenizer, models, pre_tokenizers
    folder = tmp_path_factory.mktemp('models')/'tiny'
    words = Tokenizer(models.WordLevel({w:i for i,w in enumerate('[PAD] [UNK] [CLS] [SEP] lo la mi'.split())}, '[UNK]'))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = dict(unk_token='[UNK]', pad_token='[PAD]', cls_token='[CLS]', sep_token='[SEP]')
    hf.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=60)
    torch.manual_seed(0)
    hf.AutoModel.from_config(hf.BertConfig(vocab_size=7, **sizes)).save_pretrained(folder)
    return folder
