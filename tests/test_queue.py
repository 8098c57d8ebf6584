"Many jobs at once: nobody else can send any, and none runs for ever"
import os, re, subprocess, sys

import psutil, pytest

from conftest import ROOT
from pronto.core.files import InputError
from pronto.jobs.queue import Certificates, connect, run_jobs

def listening(process):
    "Addresses on which a process and all its descendants accept connections"
    processes = [process, *process.children(recursive=True)]
    sockets = [s for p in processes for s in p.net_connections('inet') if s.status == psutil.CONN_LISTEN]
    return {s.laddr.ip for s in sockets}

def test_everything_local_listens_on_loopback_only():
    with connect(workers=2) as client:
        client.wait_for_workers(2)
        assert listening(psutil.Process()) == {'127.0.0.1'}

@pytest.mark.slow
def test_a_job_that_keeps_the_interpreter_busy_is_stopped():
    "A regular expression that never ends holds Python's lock, so that its worker answers nobody"
    with connect(workers=1) as client:
        outcome, = run_jobs(client, re.match, {'endless': ('(a+)+$', 'a'*40 + 'b')}, limit=1)
        assert outcome.error == 'was stopped after 1 seconds'
        assert [o.result for o in run_jobs(client, abs, {'one': (-1,)})] == [1]

def test_too_few_open_files_are_reported():
    code = 'from pronto.jobs.queue import connect\nwith connect(workers=2): pass'
    done = subprocess.run(['sh', '-c', 'ulimit -n 40; exec "$0" -c "$1"', sys.executable, code],
                          env=os.environ | {'PYTHONPATH': str(ROOT)}, capture_output=True, text=True, timeout=60)
    last = done.stderr.splitlines()[-1]
    assert 'ulimit -n: 40 open files are allowed, but 2 workers need 112' in last, done.stderr

def test_a_machine_on_which_no_worker_starts_is_an_error(monkeypatch):
    monkeypatch.setattr('pronto.jobs.queue._PATIENCE_HERE', 0)
    monkeypatch.setattr('pronto.jobs.queue._workers', lambda *asked: {})
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
        for other,said in ((address, 'needs certificates'), (address.replace('tls','tcp'), 'no Dask scheduler answers')):
            with pytest.raises(InputError, match=said), connect(scheduler=other): pass
    (tmp_path/'bad.pem').write_text('nothing')
    bad = certificates._replace(key=str(tmp_path/'bad.pem'))
    with pytest.raises(InputError, match='is not a usable certificate'), connect(scheduler=address, certificates=bad): pass
