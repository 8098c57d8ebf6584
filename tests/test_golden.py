"""What must not change by itself: built tables and keys of runs. `python tests/test_golden.py` writes `golden.json` anew"""
import json, tempfile
from pathlib import Path
from unittest.mock import patch

import pytest

from conftest import DATA, ROOT
from pronto.bibles.reading import read_bible
from pronto.datasets.building import build
from pronto.datasets.splits import FOLDS
from pronto.datasets.loading import open_dataset
from pronto.datasets.manifest import table_hash
from pronto.datasets.splits import SPLITS
from pronto.demo.corpus import build_demo
from pronto.runs.planning import plan
from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import read_annotations

FILE = ROOT/'tests'/'golden.json'
PROTOCOLS = {'in-language': {}, 'probe': {}, 'prompting': {}, 'transfer': dict(train=['qaa']),
             'few-shot': dict(train=['qaa'], sizes=(10, 50)), 'mixes': {}, 'retrieval': dict(train=['qaa'])}
REAL = 'ces/Wolof-NT.xml', 'usfm/eng-web', 'usfx/chr-cherokee.usfx.xml', 'osis/swa-swahili.osis.xml', 'zefania/eng-ylt.zefania.xml'

def files_of(folder):
    "Each table of a dataset, with the hash that its manifest has of it; of all its folds, as if each had its own tables"
    dataset = open_dataset(folder)
    found = {name: digest for name,digest in dataset.manifest['files'].items() if not Path(name).stem.endswith(f'_{FOLDS}')}
    for fold in dataset.folds if dataset.is_in_folds else ():
        for stem,split in ((stem, split) for stem in fold.stems for split in SPLITS):
            lines = ''.join(f'{line}\n' for line in fold.lines(stem, split))
            found[f'fold{fold.fold}/{stem}_{split}{fold.table_file(stem, split).suffix}'] = table_hash([lines.encode()])
    return found

def invented(folder):
    "The datasets of the invented languages, with each kind of splits, in a folder"
    build_demo(folder, n_verses=900)
    annotations = read_annotations(folder/'annotations.parquet')
    bible = read_bible(next((folder/'corpus'/'bibles').glob('qab*')))
    for splits in 'folds', 'random':
        build(annotations, bible, folder/'datasets'/f'qab-{splits}', splits=splits, min_verses=1)
    return {d.name: files_of(d) for d in sorted((folder/'datasets').iterdir())}

def keys(folder):
    "The names of the records that each protocol would write"
    model = folder/'tiny'
    model.mkdir(exist_ok=True)
    (model/'config.json').write_text('{"model_type": "bert"}')
    (model/'model.safetensors').write_bytes(b'weights')
    targets = [folder/'datasets'/code for code in ('qab','qac')]
    found = {}
    with patch('pronto.modeling.model.model_hash', lambda _: 'a model'), patch('pronto.runs.planning.has_bf16', lambda: False):
        for protocol,more in PROTOCOLS.items():
            more = more | dict(train=[str(folder/'datasets'/code) for code in more.get('train', ())])
            trainings = plan(targets, [str(model)], seeds=2, protocol=protocol, **more)
            found[protocol] = [key.record('').as_posix() for training in trainings for key in training.keys]
    return found

def real(folder, annotations):
    "The datasets of real translations with real constituents"
    found = {}
    for name in REAL:
        out = folder/Path(name).name
        build(annotations, read_bible(DATA/'bibles'/name), out, splits='parallel')
        found[name] = files_of(out)
    return found

@pytest.fixture(scope='module')
def golden(): return json.loads(FILE.read_text(encoding='utf-8'))

@pytest.fixture(scope='module')
def folder(tmp_path_factory): return tmp_path_factory.mktemp('golden')

@pytest.fixture(scope='module')
def datasets(folder): return invented(folder)

def test_the_same_tables_are_built(datasets, golden):
    assert datasets == golden['invented']

def test_a_run_has_the_same_key(datasets, folder, golden):
    assert keys(folder) == golden['keys']

@pytest.mark.slow
def test_the_same_tables_are_built_from_real_translations(annotations, folder, golden):
    assert real(folder, annotations['paper']) == golden['real']

if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as name:
        made = dict(invented=invented(Path(name)), keys=keys(Path(name)), real=real(Path(name), annotate(DATA/'ontonotes-skeleton')))
    made['questions'] = json.loads(FILE.read_text(encoding='utf-8'))['questions'] # See `test_sentences.py`
    FILE.write_text(json.dumps(made, indent=1) + '\n', encoding='utf-8')
