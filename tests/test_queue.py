"Many jobs at once: nobody else can send any, and none runs for ever"
import os, re, stat, subprocess, sys, tempfile, time
from pathlib import Path

import psutil, pytest

from conftest import ROOT, make_certificate
from pronto.core.files import InputError, temporary_folder
from pronto.lab.jobs.queue import Certificates, connect, run_jobs

def listening(process):
    "Addresses on which a process and all its descendants accept connections"
    processes = [process, *process.children(recursive=True)]
    sockets = [s for p in processes for s in p.net_connections('inet') if s.status == psutil.CONN_LISTEN]
    return {s.laddr.ip for s in sockets}

def test_everything_local_listens_on_loopback_only():
    with connect(workers=2) as client:
        client.wait_for_workers(2)
        assert listening(psutil.Process()) == {'127.0.0.1'}

def test_temporary_files_of_workers_are_in_a_folder_of_their_own():
    "Also what Dask imports from; nobody else can write there, and it goes with the workers"
    before = list(sys.path)
    with connect(workers=1) as client:
        outcome, = run_jobs(client, _places, {'one': ()})
        folder, path = Path(outcome.result[0]), [Path(p) for p in outcome.result[1] + sys.path if p not in before]
        assert folder != Path(tempfile.gettempdir()) and stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert path and all(p.is_relative_to(folder) for p in path)
    assert not folder.exists() and sys.path == before

def _places(): return tempfile.gettempdir(), sys.path

def _watched():
    import dask
    return os.environ['OMP_NUM_THREADS'], dask.config.get('distributed.worker.profile.enabled')

def test_a_worker_has_one_thread_and_is_not_profiled():
    with connect(workers=1) as client:
        outcome, = run_jobs(client, _watched, {'one': ()})
        assert outcome.result == ('1', False)

SCRIPT = '''from pronto.lab.jobs.queue import connect, run_jobs
import time
with connect(workers=1) as client:
    print([o.result for o in run_jobs(client, %s, {'one': (%s,)})])
'''

def start(tmp_path, *job):
    "A script without a main guard"
    (tmp_path/'script.py').write_text(SCRIPT % job)
    (tmp_path/'tmp').mkdir()
    env = os.environ | {'PYTHONPATH': str(ROOT), 'TMPDIR': str(tmp_path/'tmp')}
    return subprocess.Popen([sys.executable, tmp_path/'script.py'], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def test_a_script_without_a_main_guard_is_not_run_by_workers(tmp_path):
    assert start(tmp_path, 'abs', '-1').communicate(timeout=300) == ('[1]\n', '')

@pytest.mark.slow
@pytest.mark.parametrize('kill', ['kill','terminate'])
def test_a_killed_process_says_nothing_and_the_next_one_tidies_up(tmp_path, kill, monkeypatch):
    script = start(tmp_path, 'time.sleep', '60')
    while not list((tmp_path/'tmp').rglob('worker-*')): time.sleep(.1)
    getattr(script, kill)()
    assert script.communicate(timeout=300) == ('', '') # When the last process has closed the stream
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path/'tmp'))
    with temporary_folder() as folder: assert list(folder.parent.iterdir()) == [folder]

COMPUTES = '''
import sys
from pathlib import Path
from pronto.core.processes import in_processes
def compute(place):
    (Path(place)/'begun').touch()
    while True: pass
if __name__ == '__main__': list(in_processes(compute, [(%r,)]*2, workers=2))
'''

@pytest.mark.parametrize('kill', ['kill','terminate'])
def test_workers_that_compute_end_with_the_process_that_started_them(tmp_path, kill):
    (tmp_path/'computes.py').write_text(COMPUTES % str(tmp_path))
    env = os.environ | {'PYTHONPATH': str(ROOT)}
    parent = subprocess.Popen([sys.executable, tmp_path/'computes.py'], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not (tmp_path/'begun').exists(): time.sleep(.1)
    getattr(parent, kill)()
    parent.communicate(timeout=60) # Returns when the last process has closed the stream

def test_a_command_ends_with_the_command_that_runs_it(tmp_path):
    "As those of a study do"
    code = """import os, subprocess, sys, time
from pronto.core.processes import STARTER
run = [sys.executable, '-c',
       'from pronto.core.processes import end_with_starter; end_with_starter(); import time; print(1, flush=True); time.sleep(90)']
subprocess.Popen(run, env=os.environ | {STARTER: str(os.getpid())})
time.sleep(60)"""
    env = os.environ | {'PYTHONPATH': str(ROOT)}
    study = subprocess.Popen([sys.executable, '-c', code], env=env, stdout=subprocess.PIPE)
    assert study.stdout.readline() == b'1\n'
    study.kill()
    study.communicate(timeout=60)

@pytest.mark.slow
def test_a_job_that_keeps_the_interpreter_busy_is_stopped():
    "A regular expression that never ends holds Python's lock, so that its worker answers nobody"
    with connect(workers=1) as client:
        outcome, = run_jobs(client, re.match, {'endless': ('(a+)+$', 'a'*40 + 'b')}, limit=1)
        assert outcome.error == 'was stopped after 1 seconds'
        assert [o.result for o in run_jobs(client, abs, {'one': (-1,)})] == [1]

def test_a_machine_on_which_no_worker_starts_is_an_error(monkeypatch):
    monkeypatch.setattr('pronto.lab.jobs.queue._PATIENCE_HERE', 0)
    monkeypatch.setattr('pronto.lab.jobs.queue._workers', lambda *asked: {})
    with connect(workers=1) as client, pytest.raises(InputError, match='no worker process started'):
        list(run_jobs(client, abs, {'one': (-1,)}))

@pytest.fixture
def certificates(self_signed): return Certificates(self_signed[0], *self_signed)

def test_a_cluster_with_certificates(certificates, tmp_path):
    "Who has none is not let in"
    from distributed import LocalCluster
    from distributed.security import Security
    security = Security(tls_ca_file=certificates.ca, require_encryption=True,
                        **{f'tls_{who}_{what}': path for who in ('client','worker','scheduler')
                           for what,path in (('cert', certificates.cert), ('key', certificates.key))})
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, security=security, protocol='tls://',
                           host='127.0.0.1', dashboard_address='127.0.0.1:0', silence_logs=50)
    with cluster:
        address = cluster.scheduler_address
        with connect(scheduler=address, certificates=certificates) as client:
            assert [o.result for o in run_jobs(client, abs, {'one': (-1,)})] == [1]
        plain, bare = address.replace('tls','tcp'), address.removeprefix('tls://')
        encrypted = f'is encrypted .TLS.; give {address}$'
        for other,said in (address, 'needs certificates'), (plain, encrypted), (bare, encrypted):
            with pytest.raises(InputError, match=said), connect(scheduler=other): pass
        cert, key = make_certificate(tmp_path)
        foreign = Certificates(cert, cert, key)
        with pytest.raises(InputError, match='does not accept these certificates'), connect(scheduler=address, certificates=foreign): pass
    with connect(workers=1) as client, pytest.raises(InputError, match='is not encrypted .TLS.; give tcp://127'):
        with connect(scheduler=client.scheduler.address.replace('tcp','tls'), certificates=certificates): pass
    (tmp_path/'bad.pem').write_text('nothing')
    bad = certificates._replace(key=str(tmp_path/'bad.pem'))
    with pytest.raises(InputError, match='is not a usable certificate'), connect(scheduler=address, certificates=bad): pass
