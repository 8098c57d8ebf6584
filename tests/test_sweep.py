"A sweep: workers die and join, runs fail, and recorded runs are not repeated"
import json, os, re, shutil, signal, subprocess, sys, time
from collections import Counter
from pathlib import Path

import nbformat, pytest

from conftest import ROOT
from pronto.runs.planning import plan
from pronto.cli.command import main
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.core.files import InputError
from pronto.runs.store import read_runs

STAND_IN = '''
import os, sys
from pronto.runs.planning import plan
sys.path.append('TESTS')
from conftest import run_results
from pronto.runs.store import write_record
job, = plan(bible, [models], [tasks], 1, recipe, epochs or None, limit or None, first_seed)
with open(os.path.join(runs, 'begun.log'), 'a') as f: f.write(f'{first_seed} {os.getppid()}\\n')
if first_seed == 1: raise ValueError('seed 1 is unlucky')
write_record(job.key, runs, run_results(), [dict(ref='MRK 1:1', label='0', predicted='0')])
'''.replace('TESTS', str(Path(__file__).parent))

@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    "A small dataset of the embedded corpus"
    from pronto.sources.annotate import annotate
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    tmp = tmp_path_factory.mktemp('sweep')
    made = write_corpus(make_corpus(n_verses=260), tmp/'corpus')
    build(annotate(made/'ontonotes'), read_bible(made/'bibles'/'qad.tsv'), tmp/'release'/'qad', min_verses=100, layout='references')
    return tmp/'release'/'qad'

@pytest.fixture
def stand_in(tmp_path):
    "A notebook with the parameters of eval.ipynb that makes a record without torch, but not for seed 1"
    nb = nbformat.v4.new_notebook()
    parameters = "bible = models = tasks = recipe = runs = ''\nfirst_seed = epochs = limit = 0"
    nb.cells = [nbformat.v4.new_code_cell(parameters, metadata={'tags': ['parameters']}), nbformat.v4.new_code_cell(STAND_IN)]
    nbformat.write(nb, tmp_path/'stand-in.ipynb')
    (tmp_path/'runs').mkdir()
    return tmp_path/'stand-in.ipynb'

def begun(runs): return [line.split() for line in (runs/'begun.log').read_text().splitlines()]

class Name(str):
    "Counts how often names are compared"
    compared = 0
    __hash__ = str.__hash__
    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)
    def record(self, runs): return self
    relative_to, as_posix, key = record, lambda self: self, property(lambda self: self)

def test_a_store_with_all_runs_is_not_searched_for_each(tmp_path, monkeypatch):
    from pronto.lab.jobs import sweep
    names = [Name(f'run {i}') for i in range(300)]
    for name,stand_in in dict(plan_all=lambda *_: (names, []), find_notebook=lambda _: None, is_recorded=lambda *_: True).items():
        monkeypatch.setattr(sweep, name, stand_in)
    Name.compared = 0
    assert sweep.sweep([], [], runs=tmp_path).recorded == names
    assert Name.compared < 10*len(names)

@pytest.mark.slow
def test_a_worker_dies_a_run_fails_and_the_sweep_goes_on(dataset, model, stand_in, tmp_path):
    "The dead worker's run is made again, the failure is tried twice, and a new start makes neither again that is recorded"
    import psutil
    from pronto.lab.jobs.sweep import sweep
    runs, killed = tmp_path/'runs', []
    def kill_once(names):
        for n,name in enumerate(names):
            yield name
            if n: continue # When the first is done
            workers = [p for p in psutil.Process().children() if 'spawn_main' in ' '.join(p.cmdline())]
            killed.append(workers[0].pid)
            os.kill(killed[0], signal.SIGKILL)
    def go(seeds, progress=iter):
        return sweep([dataset.parent], [str(model)], ['SM'], seeds, runs=runs, workers=2, notebook=stand_in, progress=progress)
    done = go(4, kill_once)
    assert killed and len(done.done) == 3 and [j.key.seed for n,j in done.jobs.items() if n in done.failed] == [1]
    tried = Counter(seed for seed,_ in begun(runs))
    assert tried.pop('1') in (2,3) and sum(tried.values()) <= 4
    (name,why), = done.failed.items()
    failed = (runs/name).with_suffix('.failed.ipynb')
    assert why == f'{failed}, cell 3: ValueError: seed 1 is unlucky' and failed.exists()
    assert all((runs/n).with_suffix('.ipynb').exists() for n in done.done) and not list(runs.rglob('*.tmp.ipynb'))
    assert [r.seed for r in read_runs(runs)] == [0,2,3]

    (runs/'begun.log').unlink()
    first = runs/next(n for n in done.done if done.jobs[n].key.seed == 0) # As if killed after its record, before its notebook was in place
    first.with_suffix('.ipynb').rename(first.with_name(f'.{first.stem}.x-1-1-x.tmp.ipynb'))
    again = go(5)
    assert (len(again.recorded), len(again.done), len(again.failed)) == (2, 2, 1)
    assert Counter(seed for seed,_ in begun(runs)) == {'0': 1, '4': 1, '1': 2}
    assert first.with_suffix('.ipynb').exists() and not list(runs.rglob('*.tmp.ipynb'))

@pytest.mark.slow
def test_a_worker_that_joins_late_helps(dataset, model, stand_in, tmp_path):
    from distributed import LocalCluster
    from pronto.lab.jobs.sweep import sweep
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address='127.0.0.1:0', silence_logs=50) as cluster:
        def join(names):
            for name in names:
                yield name
                cluster.scale(2) # When the first is done
                cluster.wait_for_workers(2, timeout=120)
        done = sweep([dataset], [str(model)], [], 1, runs=tmp_path/'runs', scheduler=cluster.scheduler_address,
                     notebook=stand_in, progress=join)
    assert len(done.done) == len(plan(dataset, [str(model)])) >= 4 and len(Counter(worker for _,worker in begun(tmp_path/'runs'))) == 2

@pytest.fixture
def two(dataset, tmp_path, monkeypatch):
    "A release of two translations, and a cache of its own"
    from pronto.sources.annotate import annotate
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    shutil.copytree(dataset, tmp_path/'two'/'qad')
    made, how = dataset.parents[1]/'corpus', dict(min_verses=100, layout='references')
    build(annotate(made/'ontonotes'), read_bible(made/'bibles'/'qaa.usfx.xml'), tmp_path/'two'/'qae', **how)
    return tmp_path/'two'

def test_probes_of_several_datasets_load_the_model_once(two, model, tmp_path, monkeypatch):
    from pronto.lab.jobs.probes import run_dataset
    from pronto.modeling import architectures, encodings
    loaded, load = [], architectures.load_encoder
    def load_once(*args, **how):
        loaded.append(1)
        return load(*args, **how)
    monkeypatch.setattr(architectures, 'load_encoder', load_once)
    encodings.frozen_model.cache_clear()
    jobs = {code: plan(two/code, [str(model)], ['SM','PNS'], protocol='probe') for code in ('qad','qae')}
    for trainings in jobs.values(): run_dataset(trainings, tmp_path/'runs')
    assert len(loaded) == 1 and len(read_runs(tmp_path/'runs')) == 4

@pytest.mark.slow
def test_a_sweep_of_probes_needs_no_notebook_and_resumes_by_dataset(two, model, tmp_path, capsys):
    argv = ['sweep', str(two), '-m', str(model), '-t', 'SM', '--protocol', 'probe', '--workers', '1', '--runs', str(tmp_path/'runs')]
    assert main(argv) == 0
    assert capsys.readouterr().out.endswith('runs: 2 run\n')
    assert len(read_runs(tmp_path/'runs')) == 2 and not list((tmp_path/'runs').rglob('*.ipynb'))
    shutil.rmtree(tmp_path/'runs'/'qae')
    assert main(argv) == 0 and '1 run, 1 recorded before' in capsys.readouterr().out
    assert main([*argv, '--notebook', 'mine.ipynb']) == 1 and 'does nothing where no model is trained' in capsys.readouterr().err

@pytest.fixture(scope='module')
def of_choices(tmp_path_factory):
    "Two small datasets of choices, and a decoder with random weights"
    import zoo
    from pronto.bibles.reading import read_bible
    from pronto.datasets.align import TEXT_ALONE
    from pronto.datasets.building import build
    tmp = tmp_path_factory.mktemp('choices')
    made = write_corpus(make_corpus(n_verses=260), tmp/'corpus')/'bibles'
    for code,file in dict(qad='qad.tsv', qaa='qaa.usfx.xml').items():
        build(TEXT_ALONE, read_bible(made/file), tmp/'two'/code, min_verses=100)
    return tmp/'two', zoo.save_model(tmp/'decoder', 'gpt2')

CLUSTER = 'from distributed.cli.dask_%s import main; main()'

@pytest.fixture
def cluster(tmp_path):
    "A Dask scheduler and a worker that somebody started: plain TCP, each a process of its own"
    def start(what, *arguments):
        command = [sys.executable, '-c', CLUSTER % what, *map(str, arguments), '--no-dashboard']
        env = os.environ | dict(PYTHONPATH=str(ROOT), OMP_NUM_THREADS='1')
        return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = tmp_path/'scheduler.json'
    scheduler = start('scheduler', '--host', '127.0.0.1', '--port', 0, '--scheduler-file', file)
    worker = start('worker', '--scheduler-file', file, '--nthreads', 1, '--local-directory', tmp_path/'dask')
    while not file.exists(): time.sleep(.1)
    yield json.loads(file.read_text())['address'], scheduler
    for process in worker, scheduler:
        process.terminate()
        process.wait(60)

def first_record(process, runs):
    while process.poll() is None and not list(runs.rglob('*-s*.json')): time.sleep(.05)

@pytest.mark.slow
@pytest.mark.parametrize('killed', ['main','scheduler'])
def test_a_sweep_of_likelihoods_that_is_killed_resumes(of_choices, tmp_path, cluster, killed):
    (two, model), (address, scheduler), runs = of_choices, cluster, tmp_path/'runs'
    argv = ['sweep', str(two), '-m', str(model), '-t', 'WO', '-t', 'WC', '-t', 'WX', '--protocol', 'likelihood', '--runs', str(runs)]
    more = ['--scheduler', address] if killed == 'scheduler' else ['--workers', '1']
    command = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())', *argv, *more]
    env = os.environ | dict(PYTHONPATH=str(ROOT), OMP_NUM_THREADS='1')
    swept = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first_record(swept, runs)
    (scheduler if killed == 'scheduler' else swept).kill()
    out, err = swept.communicate(timeout=300)
    assert out == ''
    if killed == 'scheduler':
        assert swept.returncode == 1 and f'pronto: {address}: the Dask scheduler is gone; run the same command again' in err
        assert 'Traceback' not in err
    before = {p: p.read_bytes() for p in runs.rglob('*-s*.json')}
    assert before and main([*argv, '--workers', '1']) == 0
    assert len(read_runs(runs)) == 6 and all(p.read_bytes() == content for p,content in before.items())

@pytest.mark.slow
def test_names_of_any_kind_reach_the_notebook_as_they_are(dataset, model, stand_in, tmp_path):
    "Quotes, braces, line breaks, and what papermill or Python would take for code"
    from pronto.lab.jobs.sweep import NotebookRun, is_recorded, notebook_parameters, run_notebook
    runs = tmp_path/'runs'
    for name in """it's "{bible}" \\ {{x}}\n%cd \x1b[31m""", '"'*3 + ';exit()#' + 'x'*200:
        (tmp_path/name).symlink_to(dataset)
        job = NotebookRun((plan(tmp_path/name, [str(model)], ['SM'])[0],))
        run_notebook(stand_in, job.key.record(runs), notebook_parameters(job, runs))
        assert is_recorded(job, runs)

def test_waiting_for_a_worker_is_reported(monkeypatch):
    from distributed import LocalCluster
    from pronto.lab.jobs.queue import connect, run_jobs
    class Said(Exception): pass
    def say(line): raise Said(line)
    monkeypatch.setattr('pronto.lab.jobs.queue._PATIENCE', 0)
    monkeypatch.setattr('pronto.lab.jobs.queue.to_stderr', say)
    with (LocalCluster(n_workers=0, dashboard_address='127.0.0.1:0', silence_logs=50) as cluster,
          connect(scheduler=cluster.scheduler_address) as client):
        run = lambda **how: list(run_jobs(client, abs, {'one': (-1,)}, **how))
        with pytest.raises(Said, match='waiting for a worker with a GPU; .*: dask worker tcp://.* --resources GPU=1'): run(need={'GPU': 1})
        with pytest.raises(Said, match='waiting for a worker; .*--nthreads 1$'): run()

def test_datasets_that_cannot_be_used_are_left_out(dataset, model, tmp_path):
    "Labels without text, empty splits, and what a killed release left; a missing model is not their fault"
    from pronto.lab.jobs.sweep import plan_all
    for name in 'labels', 'empty', 'whole', 'no-NMC', '.whole.99999.tmp': shutil.copytree(dataset, tmp_path/name)
    (tmp_path/'labels'/'verses.tsv').unlink()
    for path in *(tmp_path/'empty').glob('*_dev.tsv'), tmp_path/'no-NMC'/'nonpronominal_mention_test.tsv': path.write_bytes(b'')
    for name in 'empty','no-NMC': (tmp_path/name/'manifest.json').unlink() # Which says what the tables hold
    jobs, left_out = plan_all([tmp_path], [str(model)])
    tasks = lambda *names: {j.key.task for j in jobs if j.dataset.name in names}
    assert {j.dataset.name for j in jobs} == {'no-NMC','whole'}
    assert tasks('no-NMC') == tasks('whole') - {'nonpronominal_mention'}
    assert [line.partition(': ')[0] for line in left_out] == [str(tmp_path/x) for x in ('empty','labels')]
    assert 'pronto restore' in left_out[1]
    jobs, left_out = plan_all([tmp_path], [str(model)], ['NMC','SM'])
    assert len(jobs) == 3 and left_out[2] == f'{tmp_path/"no-NMC"}: has no examples of NMC in some split'
    with pytest.raises(InputError, match='none can be used; .*no examples of NMC in some split'):
        plan_all([tmp_path/'no-NMC'], [str(model)], ['NMC'])
    with pytest.raises(InputError, match='nothing: '): plan_all([tmp_path], [str(tmp_path/'nothing')])

def test_a_linked_model_keeps_its_name(dataset, model, tmp_path):
    "The plan and the notebook mean the same run; a comma would part the path in two"
    from pronto.lab.jobs.sweep import NotebookRun, notebook_parameters
    for name in 'my-bert', 'my,bert': (tmp_path/name).symlink_to(model)
    trainings = [plan(dataset, [str(tmp_path/name)], ['SM'])[0] for name in ('my-bert','my,bert')]
    planned, comma = (NotebookRun((t,)) for t in trainings)
    run, = plan(dataset, [notebook_parameters(planned, tmp_path)['models']], ['SM'])
    assert run.key == planned.key and run.key.model == 'my-bert'
    with pytest.raises(InputError, match='comma'): notebook_parameters(comma, tmp_path)

@pytest.mark.slow
def test_the_notebook_itself(dataset, model, tmp_path, capsys):
    argv = ['sweep', str(dataset), '-m', str(model), '-t', 'SM', '--epochs', '1', '--limit', '16']
    argv += ['--runs', str(tmp_path/'runs'), '--workers', '1']
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert out == f'{tmp_path/"runs"}: 1 run\n'
    assert all(line.startswith('sweep: ') for line in err.splitlines()) # Said if it takes more than half a minute
    record, = read_runs(tmp_path/'runs')
    kept = json.loads(record.path.with_suffix('.ipynb').read_text(encoding='utf-8'))
    outputs = [o for c in kept['cells'] for o in c.get('outputs', [])]
    assert not [o for o in outputs if o['output_type'] == 'stream' and re.search(r'%\||about .* left|baselines', ''.join(o['text']))]
    assert record.task == 'sentence_mood' and record.counts and any('image/png' in o.get('data', {}) for o in outputs)
    assert main(argv) == 0
    assert capsys.readouterr().out == f'{tmp_path/"runs"}: 1 recorded before\n'

def test_bad_input_is_reported_before_any_work(dataset, model, stand_in, tmp_path, capsys):
    run = lambda *argv: main(['sweep', *map(str, argv), '--runs', str(tmp_path/'new')])
    assert run(tmp_path, '-m', model) == 1 and 'holds no dataset' in capsys.readouterr().err
    assert run(dataset, '-m', model, '--per-gpu', 2) == 1 and '--per-gpu: does nothing without GPUs' in capsys.readouterr().err
    assert run(dataset, '-m', tmp_path/'nothing') == 1 and 'nothing' in capsys.readouterr().err
    assert run(dataset, '-m', model, '--protocol', 'transfer', '--train', dataset) == 1
    assert '--protocol: transfer needs several translations together, which a sweep does not' in capsys.readouterr().err
    assert run(dataset, '-m', model, '-t', 'XYZ') == 1 and 'no task' in capsys.readouterr().err
    assert run(dataset, '-m', model, '--notebook', tmp_path/'no.ipynb') == 1 and 'no such notebook' in capsys.readouterr().err
    (tmp_path/'file').write_text('')
    for command in 'sweep', 'eval', 'probe': # Before workers start, and before a model is trained
        assert main([command, str(dataset), '-m', str(model), '-t', 'SM', '--runs', str(tmp_path/'file')]) == 1
        err = capsys.readouterr().err
        assert f'cannot be written ({tmp_path/"file"} is not a folder)' in err and 'encode' not in err
    assert not (tmp_path/'new').exists()

def test_what_a_dead_worker_left_goes_when_its_run_fails(tmp_path):
    from pronto.lab.jobs.sweep import run_notebook
    notebook, record = tmp_path/'bad.ipynb', tmp_path/'paper-s0.json'
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell('1/0')]), notebook)
    (tmp_path/'.paper-s0.99999.tmp.ipynb').write_text('{}')
    with pytest.raises(InputError, match='ZeroDivisionError'): run_notebook(notebook, record, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ['bad.ipynb', 'paper-s0.failed.ipynb']

def test_a_killed_kernel_leaves_its_notebook(tmp_path):
    from pronto.lab.jobs.sweep import run_notebook
    notebook, record = tmp_path/'bad.ipynb', tmp_path/'paper-s0.json'
    cells = map(nbformat.v4.new_code_cell, ('print("so far")', 'import os; os.kill(os.getpid(), 9)'))
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), notebook)
    with pytest.raises(InputError, match=r'paper-s0\.failed\.ipynb: DeadKernelError'): run_notebook(notebook, record, {})
    assert 'so far' in (tmp_path/'paper-s0.failed.ipynb').read_text(encoding='utf-8')
    assert sorted(p.name for p in tmp_path.iterdir()) == ['bad.ipynb', 'paper-s0.failed.ipynb']
