"A damaged dataset folder is refused in one line, with the file and the place; release v0.1 is loaded as it is"
import json, random, shutil

import pytest

from pronto.bibles.reading import read_bible
from pronto.core.files import InputError
from pronto.datasets.building import build
from pronto.datasets.loading import load_dataset_folder, load_manifest
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.sources.annotate import annotate

LAYOUTS = 'plain', 'references'

def truncated(data, rng): return data[:rng.randrange(1, len(data))]
def flipped(data, rng):
    i = rng.randrange(len(data))
    return data[:i] + bytes([data[i] ^ 1 << rng.randrange(8)]) + data[i+1:]
def shortened(data, rng):
    lines = data.split(b'\n')
    del lines[rng.randrange(len(lines) - 1)]
    return b'\n'.join(lines)
def lengthened(data, rng): return data + data.split(b'\n')[0] + b'\n'
def relabelled(data, rng):
    lines = data.split(b'\n')
    i = rng.randrange(len(lines) - 1)
    cells = lines[i].split(b'\t')
    cells[{2:0, 3:1, 6:3}[len(cells)]] = rng.choice([b'-1', b'maybe', b'', b'01'])
    return b'\n'.join([*lines[:i], b'\t'.join(cells), *lines[i+1:]])

DAMAGE = truncated, flipped, shortened, lengthened, relabelled

@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    "Layout to a small dataset folder"
    tmp = tmp_path_factory.mktemp('damaged')
    write_corpus(make_corpus(n_verses=260), tmp/'corpus')
    annotations, bible = annotate(tmp/'corpus'/'ontonotes'), read_bible(tmp/'corpus'/'bibles'/'qad.tsv')
    for layout in LAYOUTS: build(annotations, bible, tmp/layout, min_verses=100, layout=layout)
    return {layout: tmp/layout for layout in LAYOUTS}

def tables(folder): return sorted(f for f in folder.glob('*.tsv') if f.name != 'alignment.tsv' and f.stat().st_size > 2)

def accepted(folder, damage, rng):
    "The tables that are loaded although they are damaged"
    found = []
    for file in tables(folder):
        whole = file.read_bytes()
        damaged = damage(whole, rng)
        file.write_bytes(damaged)
        try: load_dataset_folder(folder); found += [(file.name, damaged)] if damaged != whole else []
        except InputError as e: assert '\n' not in str(e)
        finally: file.write_bytes(whole)
    return found

@pytest.mark.parametrize('damage', DAMAGE, ids=lambda d: d.__name__)
@pytest.mark.parametrize('layout', LAYOUTS)
def test_no_damaged_table_is_loaded(folders, layout, damage):
    assert accepted(folders[layout], damage, random.Random(0)) == []

@pytest.mark.parametrize('damage', [truncated, shortened, lengthened, relabelled], ids=lambda d: d.__name__)
def test_counts_and_labels_are_checked_where_the_manifest_has_no_hashes(folders, tmp_path, damage):
    shutil.copytree(folders['plain'], tmp_path/'d')
    manifest = load_manifest(tmp_path/'d')
    del manifest['files']
    (tmp_path/'d'/'manifest.json').write_text(json.dumps(manifest))
    assert accepted(tmp_path/'d', damage, random.Random(1)) == []

def test_a_row_that_is_cut_off_is_refused_without_a_manifest_too(folders, tmp_path):
    shutil.copytree(folders['plain'], tmp_path/'d')
    for name in 'manifest.json', 'alignment.tsv': (tmp_path/'d'/name).unlink()
    assert load_dataset_folder(tmp_path/'d').tasks == load_dataset_folder(folders['plain']).tasks
    def without_last_cells(data, rng): return data.removesuffix(b'\n').rpartition(b'\t')[0].rpartition(b'\t')[0]
    assert accepted(tmp_path/'d', without_last_cells, None) == []
    assert accepted(tmp_path/'d', relabelled, random.Random(2)) == []

MANIFESTS = ['[1]', '"x"', '{', '['*100_000, '{"a":'*100_000, '{"counts": []}', '{"counts": {"same_sense": 1}}',
             '{"code": 7}', '{"files": {"a": 1}}', '{"hashes": "x"}', '{"source": 1}', '{"predictors": {"x": {"y": "z"}}}',
             '\x00', '']

@pytest.mark.parametrize('text', MANIFESTS, ids=lambda text: text[:30].encode('unicode_escape').decode() or 'empty')
def test_a_damaged_manifest_is_one_line(folders, tmp_path, text):
    shutil.copytree(folders['plain'], tmp_path/'d')
    (tmp_path/'d'/'manifest.json').write_text(text)
    with pytest.raises(InputError, match='manifest.json') as e: load_dataset_folder(tmp_path/'d')
    assert '\n' not in str(e.value)

def test_a_missing_table_is_named(folders, tmp_path):
    shutil.copytree(folders['plain'], tmp_path/'d')
    for f in (tmp_path/'d').glob('same_sense_*'): f.unlink()
    with pytest.raises(InputError, match='same_sense_train.tsv: is missing'): load_dataset_folder(tmp_path/'d')
