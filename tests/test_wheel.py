"Installed as a user installs it: with each extra alone, in a fresh environment, the wheel runs what the README says it can"
import json, os, re, shutil, subprocess, sys, zipfile
from functools import partial
from pathlib import Path

import pytest

from conftest import ROOT
from test_project import PYPROJECT
from test_served import Bare, answer, http

UV = Path(sys.executable).with_name('uv')

def run(argv, cwd, **environment):
    "A command without what this environment sets: exit status, standard output, standard error"
    env = {k: v for k,v in os.environ.items() if not k.startswith(('PRONTO','HF','PYTHONPATH'))} | environment
    done = subprocess.run(list(map(str, argv)), cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr

@pytest.fixture(scope='session')
def wheel(once):
    def make(folder):
        for name in 'pyproject.toml', 'README.md', 'LICENSE': shutil.copy(ROOT/name, folder/name)
        shutil.copytree(ROOT/'pronto', folder/'pronto', ignore=shutil.ignore_patterns('__pycache__'))
        (folder/'nbs').mkdir()
        shutil.copy(ROOT/'nbs'/'eval.ipynb', folder/'nbs')
        build = [sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation', '.', '-w', 'dist']
        assert run(build, folder)[0] == 0
    made, = (once('wheel', make)/'dist').glob('*.whl')
    return made

@pytest.fixture
def installed(wheel, tmp_path):
    "Install the wheel with an extra, in versions of the lock; a function that runs what was installed, in an empty home"
    if not UV.exists(): pytest.skip('no uv, which installs an environment in seconds')
    (tmp_path/'home').mkdir()
    def install(extra):
        place = dict(UV_FIND_LINKS=os.environ.get('PIP_FIND_LINKS', ''), UV_DEFAULT_INDEX=os.environ.get('PIP_INDEX_URL', ''))
        assert run([UV, 'venv', '-q', '--python', sys.executable, tmp_path/'venv'], tmp_path)[0] == 0
        what = f'pronto{extra and f"[{extra}]"} @ {wheel.as_uri()}'
        command = [UV, 'pip', 'install', '-q', '--python', tmp_path/'venv'/'bin'/'python', what, '-c', ROOT/'requirements.lock']
        for how in ['--offline'], []: # What was installed once is at hand
            status,_,err = run([*command, *how], tmp_path, **place)
            if status == 0: break
        else: pytest.skip(f'no packages can be installed here: {err.strip()[-200:]}')
        def command(name, *argv):
            home = dict(HOME=str(tmp_path/'home'), PATH=f'{tmp_path/"venv"/"bin"}:{os.environ["PATH"]}', MPLBACKEND='agg')
            return run([tmp_path/'venv'/'bin'/name, *argv], tmp_path/'home', **home)
        return command
    return install

def ends_well(done):
    status, out, err = done
    assert status == 0, err
    return out

@pytest.fixture(scope='session')
def corpus(once):
    "The invented corpus, with datasets"
    from pronto.demo.steps import run_demo
    return once('installed-corpus', lambda folder: run_demo(folder/'demo', n_verses=600, datasets_only=True, show=lambda text: None))/'demo'


def test_each_package_is_in_one_extra():
    "So that a message can name it"
    project = PYPROJECT['project']
    groups = project['optional-dependencies'] | dict(base=project['dependencies'])
    names = [re.match(r'[\w.-]+', line)[0] for name,lines in groups.items() if name not in ('docs','dev') for line in lines]
    assert len(names) > 30 and sorted(names) == sorted({*names})

@pytest.mark.slow
def test_the_base_installation(installed, corpus, tmp_path):
    "Datasets, baselines, cards, tables, reports and sheets, whatever says the language; what needs more names the extra"
    pronto = partial(installed(''), 'pronto')
    bible, built = corpus/'corpus'/'bibles'/'qad.tsv', corpus/'datasets'/'qab'
    assert json.loads(ends_well(pronto('doctor', '--json')))['ok'] and 'pronto demo' in ends_well(pronto())
    verses = bible.read_text(encoding='utf-8').splitlines(keepends=True)
    (tmp_path/'home'/'kab.tsv').write_text(''.join(verses[:300]), encoding='utf-8')
    for options in ['-o', 'd', '--language', 'eng'], ['-o', 'wol']:
        ends_well(pronto('build', '-a', 'none', '--min-verses', 100, '-b', 'kab.tsv', *options))
    assert json.loads((tmp_path/'home'/'d'/'manifest.json').read_text())['language'] == 'eng'
    ends_well(pronto('card', 'kab.tsv', '--min-verses', '100'))
    assert '| SS |' in ends_well(pronto('eval', built))
    ends_well(pronto('export', 'tsv', built, '-o', 'tsv'))
    ends_well(pronto('export', 'hf', built, '-o', 'hf'))
    ends_well(pronto('quality', 'sheet', built, '-o', 's.csv', '--size', 5))
    zipfile.ZipFile(ROOT/'paper_tables'/'demo_runs.zip').extractall(tmp_path/'home')
    assert '# Own translations: Task accuracy' in ends_well(pronto('tables', '--runs', 'runs'))
    ends_well(pronto('report', '--runs', 'runs', '-o', 'report.html'))
    for name in 'config.json', 'model.safetensors':
        (tmp_path/'home'/'model').mkdir(exist_ok=True)
        (tmp_path/'home'/'model'/name).write_text('{}')
    served = '-m', 'openai:x', '--endpoint', 'http://127.0.0.1:9/v1', '--protocol', 'prompting', '-t', 'SM'
    lacks = dict(train=[('demo',), ('card', 'pythonbible:web'), ('eval', built, '-m', 'model', '-t', 'SM')],
                 release=[('sweep', built, '-m', 'model', '-t', 'SM')], http=[('eval', built, *served)],
                 align=[('build', '-b', corpus/'corpus'/'bibles'/'qab', '-o', 'words', '--words')])
    for extra,argv in ((extra, argv) for extra,commands in lacks.items() for argv in commands):
        status, _, err = pronto(*argv)
        assert status == 1 and f"is not installed; in the folder of PrOnto: pip install '.[{extra}]'" in err, err
        assert 'Traceback' not in err

@pytest.mark.slow
def test_the_extra_train(installed):
    "The demo, with little training, and the README's first example, on a few rows of its dataset"
    script = '''from pronto.demo.gospels import run_gospels
run_gospels('demo', steps=5)
import pronto
result = pronto.evaluate('demo/datasets/gospels', model='demo/models/old-testament', tasks=['WO', 'WC', 'WX'], limit=20)
result.table(); result.to_frame(); result.save('runs')
print(result.scores)'''
    assert 'old-testament' in ends_well(installed('train')('python', '-c', script))

@pytest.mark.slow
def test_the_extra_release(installed, corpus):
    pronto = partial(installed('release'), 'pronto')
    ends_well(pronto('release', corpus/'corpus'/'bibles', '-o', 'release', '-a', 'none', '--min-verses', 300, '--workers', 1))
    ends_well(pronto('export', 'hf', corpus/'datasets'/'qab', '-o', 'hf'))

@pytest.mark.slow
def test_the_extra_align(installed, corpus):
    pronto = partial(installed('align'), 'pronto')
    ends_well(pronto('build', '-b', corpus/'corpus'/'bibles'/'qab', '-o', 'words', '--words', '--min-verses', 300))

@pytest.mark.slow
def test_the_extra_http(installed, corpus):
    pronto = partial(installed('http'), 'pronto')
    with Bare(http(answer('A'))) as server:
        served = '-m', 'openai:toy', '--endpoint', server.url, '--protocol', 'prompting', '-t', 'SM', '--limit', 4
        assert 'qab, openai:toy, SM, seed 0: accuracy' in ends_well(pronto('eval', corpus/'datasets'/'qab', *served))

@pytest.mark.slow
def test_the_extra_parse(installed):
    "Without a model of Stanza, the message says how to get one"
    call = 'from pronto.lab.quality.parsers import stanza_pipeline; stanza_pipeline("hi")'
    err = installed('parse')('python', '-c', call)[2]
    assert 'has no model that can be loaded' in err, err
