"Frozen models: the cache under kill -9 and two writers, what heads learn, one command for many translations"
import io, multiprocessing, os, shutil, signal, sqlite3, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from threading import current_thread
import numpy as np
import pytest
torch = pytest.importorskip('torch')
from conftest import in_fork, in_terminal
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.datasets.examples import PairExample
from pronto.datasets.manifest import manifest_bytes
from pronto.datasets.tasks import SS
from pronto.modeling.encodings import Cache, FrozenModel, _read, encode_once, verse_hash
from pronto.lab.modeling.pretrain import pretrain
from pronto.modeling.probing import Choice, probe_pairs
from pronto.runs import runner
from pronto.runs.store import predictions_of, read_runs

class Toy(FrozenModel):
    "Encodes a text as its length"
    key = 'toy'
    def __init__(self): self.model, self.random = 'toy', None
    def encode(self, texts):
        return np.array([[[len(t), 1] for t in texts]]*2, np.float16), np.ones((len(texts), 3), int)

def test_what_is_encoded_is_kept_when_work_is_broken_off(tmp_path, monkeypatch):
    from pronto.modeling import encodings
    class Broken(Toy):
        def encode(self, texts):
            if 'x'*7 in texts: raise KeyboardInterrupt
            return super().encode(texts)
    monkeypatch.setattr(encodings, '_PIECE', (4, 4))
    with pytest.raises(KeyboardInterrupt): encode_once(Broken(), ['x'*i for i in range(10)], Cache(tmp_path))
    assert Cache(tmp_path).sizes()[0]['verses'] == 4

def test_a_text_as_long_as_the_model_reads_is_not_padded_beyond(release):
    "Lengths are rounded up to multiples of eight"
    frozen = FrozenModel(str(release/'my-bert'), device='cpu')
    frozen._load()
    frozen._limit = frozen._net.config.max_position_embeddings = 13
    frozen._net.embeddings.position_ids = frozen._net.embeddings.position_ids[:,:13]
    frozen._net.embeddings.token_type_ids = frozen._net.embeddings.token_type_ids[:,:13]
    assert frozen.encode(['lo '*40])[0].shape[1] == 1

def encode_some(folder, first): return encode_once(Toy(), ['x'*i for i in range(first, first + 20)], Cache(folder)).layer(0)

def test_two_writers_at_once(tmp_path):
    with ProcessPoolExecutor(4) as pool:
        found = list(pool.map(encode_some, [tmp_path]*12, [3*i for i in range(12)]))
    assert [x[:,0].tolist() for x in found] == [list(range(3*i, 3*i + 20)) for i in range(12)]
    assert Cache(tmp_path).sizes()[0]['verses'] == 33 + 20

def encoded(folder, texts): # By a fresh cache object; is compared with what `Toy` says of the texts
    found = encode_once(Toy(), texts, Cache(folder))
    assert found.layer(0).tolist() == [[len(t), 1] for t in texts] and found.tokens.tolist() == [[1, 1, 1]]*len(texts)

def statement(sql):
    def change(folder):
        with sqlite3.connect(folder/'encodings.sqlite') as db: db.execute(sql)
    return change
def replaced(make):
    def change(folder):
        (folder/'encodings.sqlite').unlink()
        make(folder/'encodings.sqlite')
    return change

OTHER = 'update verses set {0} = (select {0} from verses order by verse limit 1)'.format

@pytest.mark.parametrize('sql', [OTHER('states'), OTHER('checksum'), 'update verses set tokens = 5', "update verses set cut = 'x'",
                                 'update verses set layers = 1', 'update verses set states = substr(states, 1, 4)'])
def test_a_damaged_verse_is_noticed(tmp_path, capsys, sql):
    "Once: what is damaged is forgotten with a line, encoded again and kept"
    texts, cache = ['x'*i for i in range(20)], tmp_path/'cache'
    encoded(cache, texts)
    statement(sql)(cache)
    encoded(cache, [*texts, 'y'*50])
    err = capsys.readouterr().err
    assert err.count('\n') == 1 and err.startswith(f'{cache}: ') and 'encodings are damaged' in err
    encoded(cache, texts)
    assert not capsys.readouterr().err and Cache(cache).sizes()[0]['verses'] == 21

USELESS = dict(
    pipe=replaced(os.mkfifo), device=replaced(lambda path: path.symlink_to('/dev/zero')), folder=replaced(Path.mkdir),
    text=replaced(lambda path: path.write_text('no database')), null=statement('update verses set states = null'),
    truncated=lambda folder: os.truncate(folder/'encodings.sqlite', 50_000), no_column=statement('alter table verses drop column cut'),
    no_folder=lambda folder: shutil.rmtree(folder) or folder.write_text('a file'))

@pytest.mark.parametrize('damage', USELESS)
def test_without_a_usable_cache_encoding_goes_on(tmp_path, capsys, damage):
    texts, cache = ['x'*i for i in range(20)], tmp_path/'cache'
    encoded(cache, texts)
    USELESS[damage](cache)
    encoded(cache, texts)
    err = capsys.readouterr().err
    assert err.count('\n') == 1 and err.startswith(str(cache)) and 'continues without the cache' in err

def encode_for_ever(folder, i):
    while True: encode_some(folder, i := i + 3)

@pytest.mark.slow
def test_writers_that_are_killed_beside_others(tmp_path):
    "Whenever they are killed, all encodings are right and nothing of theirs is left"
    for n in range(8):
        victims = [multiprocessing.Process(target=encode_for_ever, args=(tmp_path, 1000*n + 100*i)) for i in range(3)]
        for process in victims: process.start()
        for i in range(5): assert encode_some(tmp_path, n + i)[:,0].tolist() == list(range(n + i, n + i + 20))
        for process in victims:
            process.kill()
            process.join()
    encoded(tmp_path, ['the last'])
    assert [p.name for p in tmp_path.iterdir()] == ['encodings.sqlite']

def test_the_bound_keeps_what_was_used_last(tmp_path):
    cache, toy = Cache(tmp_path), Toy()
    for text in 'a', 'bb', 'ccc': encode_once(toy, [text], cache)
    encode_once(toy, ['a'], cache)
    size = cache.sizes()[0]['bytes']
    cache.set_bound(2*size//3)
    with cache.transaction() as db: left = db.execute('select count(*) from verses').fetchone()[0]
    assert left == 2 and cache.sizes()[0]['bytes'] == 2*size//3

def test_a_cache_behind_a_link_is_emptied_and_what_cannot_be_is_told(tmp_path):
    (real := tmp_path/'real').mkdir()
    (tmp_path/'cache').symlink_to(real)
    encoded(tmp_path/'cache', ['a', 'b'])
    (real/'mine.txt').touch()
    Cache(tmp_path/'cache').clear()
    assert Cache(tmp_path/'cache').sizes() == [] and (real/'mine.txt').exists()
    replaced(lambda path: path.symlink_to(tmp_path))(real)
    with pytest.raises(InputError, match='link.*remove it yourself'): Cache(real).clear()
    assert tmp_path.exists()

def test_the_cache_of_an_earlier_version_is_removed_once(tmp_path, capsys):
    (tmp_path/'key').mkdir()
    for name in 'index.sqlite', 'index.sqlite-journal', 'key/1.npy', 'key/.2.npy.host-1-1-abcdef01.tmp', 'key/mine.txt':
        (tmp_path/name).touch()
    for _ in range(2): encoded(tmp_path, ['a'])
    err = capsys.readouterr().err
    assert err.count('\n') == 1 and f'{tmp_path}: removed 4 files of the cache of an earlier version' in err
    assert sorted(p.name for p in tmp_path.rglob('*.*')) == ['encodings.sqlite', 'mine.txt']

def test_who_reads_does_not_wait_for_a_writer(tmp_path):
    "Nor for others that read, as long as nothing is written"
    encoded(tmp_path, ['a'])
    with Cache(tmp_path).transaction(): assert _read(Cache(tmp_path), 'another model', [verse_hash('a')]) == {}

def test_no_text_at_all_is_encoded(tmp_path):
    found = encode_once(Toy(), [], Cache(tmp_path))
    assert found.numbers([]).tolist() == [] and found.tokens.shape == (0, 3)

def test_room_is_given_back(tmp_path):
    encoded(tmp_path, [str(i) for i in range(5000)])
    size = (tmp_path/'encodings.sqlite').stat().st_size
    Cache(tmp_path).set_bound(1)
    assert (tmp_path/'encodings.sqlite').stat().st_size < size/2

def encode_on_a_small_disk(folder, texts, width):
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    encode = Toy.encode
    Toy.encode = lambda self, texts, *args: (np.repeat(encode(self, texts)[0], width, 2), encode(self, texts)[1])
    found = encode_once(Toy(), texts, Cache(folder))
    assert found.layer(0)[:,0].tolist() == list(map(len, texts)) and found.shape == (2, len(texts), 2*width)

@pytest.mark.slow
@pytest.mark.parametrize('texts,width', [(5000, 1), (20, 5000)])
def test_a_disk_that_is_really_full(tmp_path, texts, width):
    "The file may not grow beyond 200 kB: encodings are used, said not to be kept, and leave nothing"
    encoded(tmp_path, ['a', 'b'])
    said = in_fork(lambda: encode_on_a_small_disk(tmp_path, [str(i) for i in range(texts)], width))
    assert 'not cached' in said and said.count('\n') == 1, said
    encoded(tmp_path, ['a', 'b'])

class Senses:
    "Encodings of 300 verses that show which of six senses they use, under much noise"
    def __init__(self):
        draw = np.random.default_rng(0)
        self.uses = draw.random((300, 6)) < .3
        self.values = self.uses @ draw.normal(size=(6, 32)) + draw.normal(size=(300, 32))
        self.rows, self.shape = {f'verse {i}': i for i in range(300)}, (2, 300, 32)
    def numbers(self, texts): return np.array([self.rows[t] for t in texts])
    def layer(self, i): return (self.values*i).astype(np.float32) # Layer 0 shows nothing

def test_pairs_are_told_by_sense_and_verse():
    "Which no head can do that sees one of them only; pairs of train are not recognised by their own verse"
    verses, draw = Senses(), np.random.default_rng(1)
    def pairs(n, among):
        for _ in range(n):
            s = int(draw.integers(6))
            first = int(draw.choice([i for i in among if verses.uses[i,s]]))
            second = int(draw.choice(among))
            label = SS.labels[int(verses.uses[second,s])]
            yield PairExample(f's{s}', f'verse {first}', f'verse {second}', label)
    parts = dict(train=range(240), dev=range(240, 270), test=range(270, 300))
    rows = {s: list(pairs(1500 if s == 'train' else 400, list(among))) for s,among in parts.items()}
    gold = {s: torch.tensor([SS.labels.index(r.label) for r in part]) for s,part in rows.items()}
    choice = Choice(SS, 'mcc', gold)
    probe_pairs(choice, verses, rows, 'all', [f's{i}' for i in range(6)])
    answers = torch.tensor([SS.labels.index(answer) for answer in choice.answers['test']])
    assert (answers == gold['test']).float().mean() > .85
    assert choice.dev[0]['mcc'] < .2 < choice.dev[1]['mcc'] # Layers 0 and 1
    assert abs(choice.dev[1]['train_loss'] - choice.dev[1]['loss']) < .15

@pytest.fixture
def release(tmp_path, monkeypatch):
    "Two translations and one that is damaged"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    texts = [f'lo {"mi "*(i % 3)}la tu{i % 7}' for i in range(40)]
    small = dict(vocab_size=80, layers=1, width=16, heads=2, max_length=32, steps=0, device='cpu')
    pretrain(texts, tmp_path/'my-bert', **small)
    for code in 'qaa', 'qab', 'qac':
        (tmp_path/'release'/code).mkdir(parents=True)
        for split in 'train', 'dev', 'test':
            rows = [f'{code} {text}\t{int("mi" in text)}\tMRK 1:{i+1}\n' for i,text in enumerate(texts)]
            (tmp_path/'release'/code/f'proper_noun_subject_{split}.tsv').write_text(''.join(rows))
        (tmp_path/'release'/code/'manifest.json').write_bytes(manifest_bytes(dict(code=code)))
    (tmp_path/'release'/'qac'/'proper_noun_subject_dev.tsv').write_text('damaged')
    return tmp_path

def change_weights(folder, change):
    from safetensors.torch import load_file, save_file
    weights = load_file(folder/'model.safetensors')
    save_file({k: change(v) for k,v in weights.items()}, folder/'model.safetensors', metadata=dict(format='pt'))

def test_models_of_one_name_and_changed_weights_have_encodings_of_their_own(release):
    "Whether a folder is another one or was changed in place"
    from pronto.modeling.encodings import frozen_model
    from pronto.modeling.model import Model, model_hash
    texts, cache, one = ['lo mi', 'la tu'], Cache(release/'cache'), release/'my-bert'
    first = encode_once(FrozenModel(one), texts, cache).layer(1)
    other = Path(shutil.copytree(one, release/'other'/'my-bert'))
    change_weights(other, lambda x: x*1.5)
    frozen = frozen_model(Model.find(one), model_hash(one)) # Not loaded yet
    for folder in other, one:
        assert np.array_equal(encode_once(FrozenModel(folder), texts, cache).layer(1), first) == (folder == one)
    assert [size['verses'] for size in cache.sizes()] == [2, 2]
    change_weights(one, lambda x: x*2)
    with pytest.raises(InputError, match='was changed while it was loaded'): encode_once(frozen, ['tu'], cache)
    assert not np.array_equal(encode_once(FrozenModel(one), texts, cache).layer(1), first)

def test_weights_that_are_not_numbers_are_named(release, capsys):
    change_weights(release/'my-bert', lambda x: x*np.nan if x.dim() > 1 else x)
    assert main(['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert')]) == 1
    assert 'my-bert: cannot encode text (its numbers are not finite' in capsys.readouterr().err
    assert Cache(release/'data'/'cache'/'encodings').sizes() == []

def test_what_never_ends_is_refused_or_replaced(release, capsys):
    "A pipe in a model folder or as a file of tasks or protocols; kept baselines that have become pipes are made again"
    from pronto.datasets import baselines
    command = ['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert')]
    assert main(command) == 0
    kept, = baselines.kept_baselines().glob('*')
    kept.unlink()
    os.mkfifo(kept)
    shutil.rmtree(release/'data'/'runs')
    assert main(command) == 0 and kept.is_file()
    os.mkfifo(release/'pipe.py')
    os.mkfifo(release/'my-bert'/'pipe.json')
    for more in ['--tasks', str(release/'pipe.py')], []:
        capsys.readouterr()
        assert main([*command, *more]) == 1
        assert 'is a pipe, a socket or a device' in capsys.readouterr().err

def test_probe_command(release, capsys, monkeypatch):
    "A row for each translation, a line for the damaged one, the model loaded once, nothing done twice"
    from pronto.modeling import architectures
    loaded, load = [], architectures.load_encoder
    monkeypatch.setattr(architectures, 'load_encoder', lambda *a, **k: loaded.append(a) or load(*a, **k))
    command = ['probe', str(release/'release'), '-m', str(release/'my-bert')]
    assert main(command) == 3
    out, err = capsys.readouterr()
    assert [line.split('|')[1].strip() for line in out.splitlines()[2:]] == ['qaa', 'qab', 'mean of 2']
    assert out.splitlines()[0] == '| translation | model | PNS |' # The tasks that occur
    assert 'left out' in err and 'proper_noun_subject_dev.tsv' in err and len(loaded) == 1
    assert main(command) == 3 and len(loaded) == 1
    assert capsys.readouterr().out == out
    assert main(['cache']) == 0 and 'my-bert: 42 verses' in capsys.readouterr().out
    assert main(['cache', '--clear', '--bound', '1']) == 0
    assert capsys.readouterr().out.strip().endswith('0.0 MB of at most 1 GB')

def test_another_run_store_keeps_encodings_and_baselines(release, capsys, monkeypatch):
    "Both are in the data folder, for every model, protocol and store"
    from pronto.datasets import baselines
    command = ['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert')]
    assert main(command) == 0
    first = capsys.readouterr().out
    def again(*args): raise AssertionError('computed again')
    monkeypatch.setattr(baselines, 'predict_baselines', again)
    monkeypatch.setattr(FrozenModel, 'encode', again)
    assert main([*command, '--runs', str(release/'other')]) == 0 and capsys.readouterr().out == first
    assert main(['cache', '--clear']) == 0 and not baselines.kept_baselines().exists()

def store(folder): # Record to its scores, and the tables of predictions
    runs = read_runs(folder)
    return [predictions_of(run).to_dict('records') for run in runs], [(r.task, r.accuracy, r.baselines, r.dev, r.used) for r in runs]

def test_threads_find_the_same(release, monkeypatch):
    "Tasks side by side; the verses are encoded once, the tables loaded once"
    for split in 'train', 'dev', 'test': # Another task of the same verses
        table = release/'release'/'qaa'/f'proper_noun_subject_{split}.tsv'
        table.with_name(f'nonpronominal_mention_{split}.tsv').write_text(table.read_text())
    encoded, encode, beside, answer = [], FrozenModel.encode, [], runner._answer_baselines
    monkeypatch.setattr(FrozenModel, 'encode', lambda self, texts, *a: encoded.extend(texts) or encode(self, texts, *a))
    monkeypatch.setattr(runner, '_answer_baselines', lambda *a: beside.append(current_thread()) or answer(*a))
    runner._loaded.cache_clear()
    monkeypatch.setattr(runner, '_threads', lambda: 3)
    command = ['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert'), '--runs']
    assert main([*command, str(release/'three')]) == 0
    assert len(encoded) == len(set(encoded)) == 21 and runner._loaded.cache_info().misses == 2
    assert len(beside) == 2 and current_thread() not in beside
    monkeypatch.setattr(runner, '_threads', lambda: 1)
    assert main([*command, str(release/'one')]) == 0
    assert store(release/'three') == store(release/'one') and len(store(release/'one')[1]) == 2

def test_a_fault_in_a_thread_is_one_line(release, capsys, monkeypatch):
    "The fault is one of the baselines; what was finished before is kept"
    def fail(training, runs): raise InputError('table', 'is damaged')
    monkeypatch.setattr(runner, '_answer_baselines', fail)
    monkeypatch.setattr(runner, '_threads', lambda: 2)
    assert main(['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert')]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == 'pronto: datasets: none can be used; the first: table: is damaged'

@pytest.mark.slow
@pytest.mark.parametrize('width', [80, 120])
def test_a_terminal_shows_models_beside_baselines(release, width):
    "In columns that fit, with the best baseline, the commonest label, and a sentence"
    model, qaa = str(release/'my-bert'), release/'release'/'qaa'
    probed = in_terminal(width, 'probe', qaa, '-m', model)
    several = in_terminal(width, 'probe', release/'release', '-m', model)
    baselines = in_terminal(width, 'eval', qaa)
    for lines in probed, several, baselines:
        assert max(map(len, lines)) <= width and not any('|' in line for line in lines)
    assert 'commonest' in ' '.join(probed) and 'what it means' in ' '.join(probed)
    rows = [line for line in several if line.startswith((' translation',' qaa',' qab',' mean'))]
    assert len(rows) == 4 and len({line.index('my-bert') for line in rows[1:]}) == 1
    assert 'majority' in ' '.join(baselines)

def test_a_dataset_in_folds_has_columns(tmp_path):
    "Its tables are those of all folds"
    from pronto.lab.jobs.probes import find_probed
    (tmp_path/'sentence_mood_folds.tsv').touch()
    (tmp_path/'manifest.json').write_text('{"splits": "folds", "folds": 1}')
    assert [task.stem for task in find_probed([tmp_path])[1]] == ['sentence_mood']

def test_probe_shows_its_steps(release, capsys, monkeypatch):
    "The probe of one translation writes lines in a log, a bar on a terminal, with --quiet nothing"
    command = ['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert')]
    assert main(command) == 0
    said = [line.partition('qaa, my-bert, PNS, seed 0: ') for line in capsys.readouterr().err.splitlines()]
    steps = [step for _,label,step in said if label]
    assert steps == ['encode 21 verses', 'heads', 'baselines']
    assert main([*command, '--runs', str(release/'quiet'), '--quiet']) == 0 and not capsys.readouterr().err
    class Terminal(io.StringIO):
        isatty = lambda self: True
    monkeypatch.setattr('sys.stderr', Terminal())
    assert main([*command, '--runs', str(release/'shown')]) == 0
    assert all(step in sys.stderr.getvalue() for step in steps)

def test_a_probe_opens_a_dataset_once(release, monkeypatch):
    "It is verified and hashed there, and then handed down"
    from pronto.datasets import loading
    calls = []
    def counted(name):
        function = getattr(loading, name)
        def call(*args):
            calls.append(name)
            return function(*args)
        monkeypatch.setattr(loading, name, call)
    names = ['load_manifest','_verify','_contents_hash']
    for name in names: counted(name)
    assert main(['probe', str(release/'release'/'qaa'), '-m', str(release/'my-bert'), '--runs', str(release/'counted')]) == 0
    assert calls == names

@pytest.mark.slow
def test_several_processes_find_the_same(release, capsys):
    command = ['probe', str(release/'release'), '-m', str(release/'my-bert')]
    assert main([*command, '--runs', str(release/'two'), '--workers', '2']) == 3
    found = capsys.readouterr()
    assert main([*command, '--runs', str(release/'one')]) == 3
    assert capsys.readouterr().out == found.out and 'proper_noun_subject_dev.tsv' in found.err

def test_bad_input_of_probe_is_one_line(release, capsys):
    for argv,said in ((['probe', str(release), '-m', str(release/'my-bert')], 'holds no dataset'),
                      (['probe', str(release/'release'), '-m', str(release)], 'is not a model folder'),
                      (['probe', str(release/'release'), '-m', str(release/'my-bert'), '-t', 'XX'], "no task 'XX'")):
        assert main(argv) == 1
        err = capsys.readouterr().err
        assert said in err and err.count('\n') == 1

def test_a_pair_of_train_loses_as_many_verses_whatever_its_label(tmp_path):
    "So the vector of the sense does not give the label of train away: positive and negative of a verse have the same"
    import torch
    from pronto.datasets.building import build
    from pronto.datasets.loading import load_dataset_folder
    from pronto.datasets.tasks import SS
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.bibles.reading import read_bible
    from pronto.modeling.encodings import Encodings
    from pronto.modeling.probing import find_uses, sense_sums, sense_vectors
    from pronto.sources.annotate import annotate
    write_corpus(make_corpus(n_verses=260), tmp_path/'corpus')
    build(annotate(tmp_path/'corpus'/'ontonotes'), read_bible(tmp_path/'corpus'/'bibles'/'qad.tsv'), tmp_path/'d', min_verses=100)
    rows = load_dataset_folder(tmp_path/'d', ['same_sense']).tasks['same_sense']
    texts = {t: i for i,t in enumerate(dict.fromkeys(t for part in rows.values() for r in part for t in r.texts))}
    verses = Encodings(texts, None, None)
    uses = find_uses(SS, rows['train'], sorted({r.sense for part in rows.values() for r in part}), verses)
    c = torch.randn(len(texts), 8, generator=torch.Generator().manual_seed(0))
    vectors, seen = sense_vectors(c, *sense_sums(c, uses), uses.numbers(rows['train'], verses)), {}
    for row,vector in zip(rows['train'], vectors): seen.setdefault((row.sense, row.text1), []).append(vector)
    assert len(seen) > 100 and all(torch.allclose(v[0], other, atol=1e-5) for v in seen.values() for other in v[1:2])
    assert not uses.numbers(rows['test'], verses).known.any()
