"The wheel: what is built from a clone runs elsewhere, with the packages of the base installation only"
import json, os, shutil, subprocess, sys

import pytest

from conftest import ROOT

# Raises for every package that only an extra installs, as in an environment without it
BLOCK = '''import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {}: raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Block())'''
EXTRAS = {'accelerate','dask','datasets','distributed','fontTools','gensim','huggingface_hub','langcodes','matplotlib','mteb',
          'pandas','papermill','sacrebleu','safetensors','stanza','statsmodels','tokenizers','torch','transformers'}

@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    "A folder with the installed wheel"
    there = tmp_path_factory.mktemp('wheel')
    for name in 'pyproject.toml', 'README.md', 'LICENSE': shutil.copy(ROOT/name, there/name)
    shutil.copytree(ROOT/'pronto', there/'pronto', ignore=shutil.ignore_patterns('__pycache__'))
    (there/'nbs').mkdir()
    shutil.copy(ROOT/'nbs'/'eval.ipynb', there/'nbs')
    pip = [sys.executable, '-m', 'pip', '-q', '--disable-pip-version-check']
    subprocess.run([*pip, 'wheel', '--no-deps', '--no-build-isolation', '.', '-w', 'dist'], cwd=there, check=True, capture_output=True)
    wheel, = (there/'dist').glob('*.whl')
    subprocess.run([*pip, 'install', '--no-deps', '--target', there/'site', wheel], check=True, capture_output=True)
    (there/'site'/'sitecustomize.py').write_text(BLOCK.format(EXTRAS))
    return there/'site'

@pytest.fixture
def pronto(installed, tmp_path):
    "Run the installed command in an empty home and another folder: exit status and output"
    home = tmp_path/'home'
    home.mkdir()
    env = {k: v for k,v in os.environ.items() if not k.startswith(('PRONTO','HF'))}
    env |= dict(HOME=str(home), PYTHONPATH=str(installed), PYTHONDONTWRITEBYTECODE='1')
    def run(*argv):
        command = [sys.executable, installed/'bin'/'pronto', *map(str, argv)]
        done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr
    return run

FACTS = {'acai.parquet', 'greek_words.parquet', 'macula_greek.parquet'}

@pytest.mark.slow
def test_the_wheel_runs_without_the_extras(pronto, installed, tmp_path):
    status,out,err = pronto('doctor', '--json')
    assert status == 0 and json.loads(out)['ok'], err
    assert 'pronto demo' in pronto()[1]
    status,out,err = pronto('demo')
    assert (status, out) == (1, '') and err.endswith('or without models: pronto demo --datasets-only\n')
    status,out,err = pronto('demo', '--datasets-only', '--verses', 600)
    assert status == 0 and 'One verse in all languages' in out, err
    demo = tmp_path/'home'/'demo'
    assert pronto('convert', demo/'corpus'/'bibles'/'qab', '-o', 'qab.tsv', '--report')[0] == 0
    assert pronto('annotate', demo/'corpus'/'ontonotes', '-o', 'a.parquet')[0] == 0
    assert pronto('build', '-a', 'a.parquet', '-b', demo/'corpus'/'bibles'/'qad.tsv', '-o', 'd', '--min-verses', 300)[0] == 0
    assert pronto('export', 'tsv', 'd', '-o', 'tsv')[0] == 0
    assert pronto('quality', 'sheet', 'd', '-o', 's.csv', '--size', 5)[0] == 0
    status,out,err = pronto('eval', 'd', '-m', 'x')
    assert (status, out) == (1, '') and "pip install '.[train]'" in err and 'Traceback' not in err
    assert (installed/'pronto'/'templates'/'report.html').is_file() and list((installed/'pronto'/'facts').glob('*.tsv'))
    assert {p.name for p in (installed/'pronto'/'facts').glob('*.parquet')} == FACTS
