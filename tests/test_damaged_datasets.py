"A damaged dataset folder is refused in one line, with the file and the place; release v0.1 is loaded as it is"
import json, random, shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from pronto.bibles.reading import read_bible
from pronto.cli.output import set_output
from pronto.core.files import InputError, content_hash
from pronto.datasets.building import build
from pronto.datasets.loading import load_dataset_folder, load_manifest, load_verses, open_dataset
from pronto.datasets.tasks import BUILT_IN
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.modeling.model import file_hash
from pronto.runs.store import RunKey, read_record, store_run
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
    "Layout to a small dataset folder, and what they were built from"
    tmp = tmp_path_factory.mktemp('damaged')
    write_corpus(make_corpus(n_verses=260), tmp/'corpus')
    annotations, bible = annotate(tmp/'corpus'/'ontonotes'), read_bible(tmp/'corpus'/'bibles'/'qad.tsv')
    for layout in LAYOUTS: build(annotations, bible, tmp/layout, min_verses=100, layout=layout)
    return {layout: tmp/layout for layout in LAYOUTS} | dict(inputs=(annotations, bible))

@pytest.mark.parametrize('line', ['MRK 1:1', 'no reference\tla mi'])
def test_a_line_of_verses_has_a_reference_and_a_text(tmp_path, line):
    "Also where no manifest has the hash of the file"
    (tmp_path/'verses.tsv').write_text(f'MRK 1:2\tlo la\n{line}\n')
    dataset = SimpleNamespace(file=lambda name: tmp_path/name, manifest={})
    with pytest.raises(InputError, match='verses.tsv, line 2: is not a reference, a tab and a text'): load_verses(dataset)

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
    edit_manifest(tmp_path/'d', lambda m: [m.pop(key) for key in ('files','version','manifest_hash')])
    load_dataset_folder(tmp_path/'d')
    assert accepted(tmp_path/'d', damage, random.Random(1)) == []

def test_a_row_that_is_cut_off_is_refused_without_a_manifest_too(folders, tmp_path):
    shutil.copytree(folders['plain'], tmp_path/'d')
    for name in 'manifest.json', 'alignment.tsv': (tmp_path/'d'/name).unlink()
    assert load_dataset_folder(tmp_path/'d').tasks == load_dataset_folder(folders['plain']).tasks
    def without_last_cells(data, rng): return data.removesuffix(b'\n').rpartition(b'\t')[0].rpartition(b'\t')[0]
    assert accepted(tmp_path/'d', without_last_cells, None) == []
    assert accepted(tmp_path/'d', relabelled, random.Random(2)) == []

# What tables share

def edit_manifest(folder, change):
    manifest = json.loads((folder/'manifest.json').read_text())
    change(manifest)
    (folder/'manifest.json').write_text(json.dumps(manifest))

def halve(file):
    lines = file.read_bytes().split(b'\n')
    file.write_bytes(b'\n'.join(lines[:len(lines)//2]) + b'\n')

def hash_of(folder): return open_dataset(folder).hash

def seen_by(folder):
    "What a dataset says of itself to those who load it, and to those who look whether a run is recorded"
    return load_dataset_folder(folder).manifest, hash_of(folder)

FIELDS = dict(splits='random', licence='CC0', code='other', language='xx', predictors={}, label_shares={}, title='x', version='9')

@pytest.mark.parametrize('key', FIELDS)
@pytest.mark.parametrize('look', [load_dataset_folder, hash_of])
def test_a_manifest_that_was_edited_is_refused(folders, tmp_path, key, look):
    shutil.copytree(folders['plain'], tmp_path/'d')
    edit_manifest(tmp_path/'d', lambda m: m.update({key: FIELDS[key]}))
    with pytest.raises(InputError, match='manifest.json: was changed or damaged since it was written'): look(tmp_path/'d')

@pytest.mark.parametrize('key', ['files','counts','splits'])
@pytest.mark.parametrize('old', [False,True], ids=['new','without its own hash'])
def test_a_manifest_without_what_build_writes_is_refused(folders, tmp_path, key, old):
    shutil.copytree(folders['plain'], tmp_path/'d')
    edit_manifest(tmp_path/'d', lambda m: [m.pop(k) for k in [key, *(['manifest_hash'] if old else [])]])
    for look in load_dataset_folder, hash_of:
        with pytest.raises(InputError, match=f"lacks '{key}'" if old else 'was changed or damaged'): look(tmp_path/'d')

@pytest.mark.parametrize('how', [halve, Path.unlink, Path.touch], ids=['half','gone','whole'])
@pytest.mark.parametrize('layout', LAYOUTS)
def test_the_table_of_verses_is_checked_before_any_run(folders, tmp_path, layout, how):
    shutil.copytree(folders[layout], tmp_path/'d')
    how(tmp_path/'d'/'alignment.tsv')
    for look in load_dataset_folder, hash_of:
        if how is Path.touch: look(tmp_path/'d'); continue
        with pytest.raises(InputError, match='alignment.tsv'): look(tmp_path/'d')

def test_a_fold_shares_the_table_of_verses_with_the_others(folders, tmp_path):
    build(*folders['inputs'], tmp_path/'d', splits='folds', min_verses=100)
    def look():
        fold = open_dataset(tmp_path/'d').folds[3].load()
        return fold.manifest, fold.tasks, fold.hash
    before = look()
    halve(tmp_path/'d'/'alignment.tsv')
    with pytest.raises(InputError, match='d/alignment.tsv: is not the file'): look()
    build(*folders['inputs'], tmp_path/'d', splits='folds', min_verses=100)
    assert look() == before

def test_a_damaged_table_of_all_folds_is_refused(folders, tmp_path):
    build(*folders['inputs'], tmp_path/'d', splits='folds', min_verses=100)
    table = sorted((tmp_path/'d').glob('*_folds.tsv'))[0]
    whole = table.read_bytes()
    halve(table)
    look = lambda: open_dataset(tmp_path/'d').folds[3].load()
    with pytest.raises(InputError, match=f'{table.name}: is not the file that the manifest describes'): look()
    edit_manifest(tmp_path/'d', lambda m: [m.pop(key) for key in ('files','version','manifest_hash')])
    table.write_bytes(whole.replace(b't', b'?', 1))
    with pytest.raises(InputError, match='does not say what it is in each of 10 folds'): look()

def test_a_dataset_of_an_earlier_version_is_used_and_its_runs_are_found(folders, tmp_path, capsys):
    "Its manifest has no hash of its own; the tables have the hash that records know"
    shutil.copytree(folders['plain'], tmp_path/'d')
    edit_manifest(tmp_path/'d', lambda m: m.pop('manifest_hash'))
    assert seen_by(tmp_path/'d') == seen_by(folders['plain']) and not capsys.readouterr().err
    names = sorted(p.name for p in (tmp_path/'d').glob('*_*.tsv'))
    known = content_hash(*(f'{name} {file_hash(tmp_path/"d"/name)}'.encode() for name in names), size=16)
    assert hash_of(tmp_path/'d') == known

def test_without_a_manifest_a_line_warns_each_time(folders, tmp_path, capsys):
    shutil.copytree(folders['plain'], tmp_path/'d')
    (tmp_path/'d'/'manifest.json').unlink()
    halve(tmp_path/'d'/'sentence_mood_test.tsv')
    for _ in range(2):
        set_output() # As each command begins
        assert seen_by(tmp_path/'d')[0] == {}
        assert capsys.readouterr().err == (f'{tmp_path/"d"}: has no manifest, so nothing shows whether its tables are whole; '
                                           'build the dataset again or get a fresh copy\n')

def test_a_record_says_that_its_dataset_has_no_manifest(folders, tmp_path):
    key = RunKey('d', 'tiny', 'm', 'sentence_mood', 'x', hyperparameters={})
    rows = load_dataset_folder(folders['plain'], ['sentence_mood']).tasks['sentence_mood']
    answers = [row.label for row in rows['test']]
    trained = SimpleNamespace(task=BUILT_IN['sentence_mood'], rows=rows, answers=dict(test=answers), dev=[], collapsed=False, truncated={},
                              counts={}, seconds=0., device='cpu', versions={}, hyperparameters={})
    for about in {}, load_manifest(folders['plain']):
        found = read_record(store_run(key, tmp_path/str(len(about)), trained, about=about))
        assert found.unchecked == (not about)

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
