"The run store: whole or absent, whatever is killed and whatever else writes"
import json, os, subprocess, sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, killed_at, run_results
from pronto.datasets.baselines import predict_baselines, predict_lookup
from pronto.datasets.examples import PairExample
from pronto.datasets.loading import load_dataset_folder
import pronto
from pronto.core.files import InputError
from pronto.runs import store
from pronto.runs.predictions import coded
from pronto.runs.predictions import as_text, read_stored, table_file, write_answers
from pronto.runs.store import RunKey, is_done, predictions_of, read_record, read_runs
from pronto.runs.store import score_run, store_run, write_record
from pronto.core.seeds import score_runs
from pronto.datasets.tasks import SM, SS, BUILT_IN

PATHS = os.pathsep.join([str(ROOT), str(ROOT/'tests')])
RUN = RunKey('qaa', 'maker/tiny', 'm', 'sentence_mood', 'd', hyperparameters=dict(epochs=3))

WRITER = '''
import sys
from dataclasses import replace
from conftest import run_results
from pronto.runs.store import RunKey, write_record
run = RunKey('qaa', 'maker/tiny', 'm', 'sentence_mood', 'd', hyperparameters=dict(epochs=3))
runs, mark, redo = sys.argv[1], sys.argv[2], sys.argv[3] == 'redo'
results = run_results(device=mark)
rows = [dict(ref=f'MRK 1:{i}', label=mark, predicted=mark) for i in range(30000)]
print('ready', flush=True)
for seed in range(10**6 if redo else 20):
    write_record(replace(run, seed=seed), runs, results, rows)
'''

def writer(runs, mark, redo='once'):
    env = dict(os.environ, PYTHONPATH=PATHS)
    return subprocess.Popen([sys.executable, '-c', WRITER, str(runs), mark, redo], env=env, stdout=subprocess.PIPE, text=True)

@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork on this system')
def test_killed_at_any_moment_leaves_whole_or_absent(tmp_path):
    rows, states = [dict(label=str(i), predicted='x') for i in range(100)], set()
    for n in range(50):
        runs, said = tmp_path/str(n), []
        lived = killed_at(n, runs, lambda: write_record(RUN, runs, run_results(accuracy=1.), rows))
        done = is_done(RUN, runs, said.append)
        records = read_runs(runs, report=said.append)
        assert len(records) == done and not said, f'killed at {n}'
        for r in records: assert len(predictions_of(r)) == 100
        folder = RUN.record(runs).parent
        states.add((done, folder.is_dir() and len(list(folder.iterdir())) > 2*done))
        write_record(RUN, runs, run_results(accuracy=1.), rows)
        assert is_done(RUN, runs, said.append) and not said
        assert len(list(folder.iterdir())) == 2, 'what the dead process left is cleared away'
        if lived: break
    assert lived and states >= {(False, False), (False, True), (True, False)}, 'killed before, half-way and after'

@pytest.mark.slow
def test_two_processes_do_no_harm(tmp_path):
    both = [writer(tmp_path, mark) for mark in 'ab']
    assert [p.wait() for p in both] == [0, 0]
    said = []
    records = read_runs(tmp_path, report=said.append)
    assert len(records) == 20 and not said
    assert len(list((tmp_path/'qaa'/'maker--tiny'/'sentence_mood').iterdir())) == 40
    for r in records: assert {*predictions_of(r).label} == {r.device}

def test_record_without_predictions_is_redone(tmp_path):
    path = write_record(RUN, tmp_path, run_results(accuracy=1.), [dict(label='x', predicted='x')])
    said = []
    assert is_done(RUN, tmp_path, said.append) and not said
    write_answers(path, dict(label=coded('y'), predicted=coded('y')))
    assert not is_done(RUN, tmp_path, said.append) and 'does not belong' in said[0]
    write_record(RUN, tmp_path, run_results(accuracy=.5), [dict(label='z', predicted='z')])
    assert read_record(path).accuracy == .5

def test_asking_imports_no_torch(tmp_path):
    code = f'''if True:
        import sys
        from pronto.runs.store import *
        print(is_done(RunKey('b','m','h','t','d'), {str(tmp_path)!r}), read_runs({str(tmp_path)!r}),
              {{'torch','sklearn','transformers'}} & set(sys.modules))'''
    env = dict(os.environ, PYTHONPATH=PATHS)
    assert subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True).stdout == 'False [] set()\n'

def test_unwritable_place_is_one_line(tmp_path):
    (tmp_path/'file').write_text('')
    with pytest.raises(ValueError, match='cannot be written'):
        write_record(RUN, tmp_path/'file', run_results(), [dict(label='x', predicted='x')])

FULL = '''
import resource, signal, sys
from conftest import run_results
from pronto.runs.store import RunKey, write_record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
key = RunKey('qaa', 'maker/tiny', 'm', 'sentence_mood', 'd', hyperparameters=dict(epochs=3))
try: write_record(key, sys.argv[1], run_results(), [dict(label='x'*100, predicted='x')])
except ValueError as e: print(type(e).__name__, e)
'''

@pytest.mark.parametrize('room', [50, 300]) # for neither file, for the predictions only
def test_full_disk_leaves_no_record(tmp_path, room):
    env = dict(os.environ, PYTHONPATH=PATHS)
    done = subprocess.run([sys.executable, '-c', FULL, str(tmp_path), str(room)], env=env, capture_output=True, text=True)
    assert done.stdout.startswith('InputError') and done.stdout.count('\n') == 1 and 'cannot be written' in done.stdout, done
    assert not is_done(RUN, tmp_path, report=pytest.fail) and not list(tmp_path.rglob('*.tmp'))

def interval(labels, true, said, chapters):
    "Of the accuracy of one run"
    return score_runs(labels, true, [said], chapters)['accuracy'].interval

def test_intervals_of_pairs_hold_the_truth():
    "Pairs from chapters, and verses, that differ in difficulty: 95 in a hundred, or a few more"
    rng, hits = np.random.default_rng(0), 0
    for _ in range(150):
        chapter, verse = .05*rng.standard_normal(26), .1*rng.standard_normal((26,28))
        c, v = rng.integers(0, 26, (3000,2)), rng.integers(0, 28, (3000,2))
        right = rng.random(3000) < .7 + chapter[c].sum(1) + verse[c,v].sum(1)
        low,high = interval([0,1], [1]*3000, right.astype(int).tolist(), c)
        hits += low <= .7 <= high
    assert .92 <= hits/150

def test_without_references_each_verse_counts_alone():
    def pair(i): return PairExample('go.01', f'they went {i%7}', f'she goes {i%5}', 'same' if i%2 else 'different', None, None)
    train, test = [pair(i) for i in range(20)], [pair(i) for i in range(20, 40)]
    found,table = score_run(SS, dict(train=train, test=test), ['same']*20, predict_baselines(SS, train, test))
    assert found['accuracy'] == .5 and table['ref1'][0] == ''

def test_with_an_item_a_chapter_an_interval_is_that_of_student():
    "Of a difference, at 95 %"
    from pronto.core.seeds import compare_seeds
    from scipy.stats import ttest_1samp
    first, second = np.random.default_rng(3).random((2, 12))
    chapters = [f'MRK {i}' for i in range(12)]
    ends = ttest_1samp(first - second, 0).confidence_interval(.95)
    assert compare_seeds([first], [second], chapters).interval == pytest.approx(ends, abs=1e-4)

def test_pair_in_one_chapter_counts_once():
    "Pairs inside chapters are verses with another name, and must have the same interval"
    rng = np.random.default_rng(0)
    chapter, right = rng.integers(0, 20, 500), rng.integers(0, 2, 500).tolist()
    assert interval([0,1], [1]*500, right, chapter) == interval([0,1], [1]*500, right, np.stack([chapter, chapter], 1))

def test_order_of_rows_and_of_a_pairs_chapters_does_not_matter():
    rng = np.random.default_rng(0)
    chapters, true, said = rng.integers(0, 20, (500,2)), rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    order = rng.permutation(500)
    one = interval([0,1], true.tolist(), said.tolist(), chapters)
    other = interval([0,1], true[order].tolist(), said[order].tolist(), chapters[order,::-1])
    assert one == other

def test_clustered_answers_widen_the_interval():
    true, together = [1]*400, [int(i//20%4 > 0) for i in range(400)]
    alone = np.random.default_rng(0).permutation(together).tolist()
    width = lambda said: np.diff(interval([0,1], true, said, [i//20 for i in range(400)]))[0]
    assert width(together) > 3*width(alone)

@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    from pronto.sources.annotate import annotate
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    from pronto.demo.corpus import make_corpus, write_corpus
    folder = tmp_path_factory.mktemp('made')
    corpus = write_corpus(make_corpus(n_verses=1200), folder/'corpus', old=50)
    annotations, bible = annotate(corpus/'ontonotes'), read_bible(next((corpus/'bibles').glob('qaa*')))
    return {s: (build(annotations, bible, folder/s, splits=s), load_dataset_folder(folder/s)) for s in ('parallel','random')}

def test_a_predictor_of_the_manifest_that_runs_have_too_has_the_same_accuracy(dataset):
    "Also where labels count equally, since the task is judged by MCC"
    from pronto.runs.runner import score_baselines
    manifest, loaded = dataset['parallel']
    for stem,baselines in score_baselines(loaded, ['SM', 'PNS', 'SS']).items():
        predictors = manifest['predictors'][stem]
        shared = {'majority', 'cues', 'lookup'} & predictors.keys()
        assert {name: predictors[name] for name in shared} == {name: baselines[name]['accuracy'] for name in shared}

@pytest.mark.parametrize('splits', ['parallel','random'])
@pytest.mark.parametrize('stem', ['same_sense','same_arg_count'])
def test_lookup_is_the_one_of_the_manifest(dataset, splits, stem):
    manifest, loaded = dataset[splits]
    train, test = loaded.tasks[stem]['train'], loaded.tasks[stem]['test']
    found = predict_lookup(BUILT_IN[stem], train, test)
    assert round(np.mean([p == r.label for p,r in zip(found, test)]), 4) == manifest['predictors'][stem]['lookup']
    if (splits, stem) == ('random','same_sense'): assert manifest['predictors'][stem]['lookup'] > .8

def test_ngrams_know_words(dataset):
    _,loaded = dataset['parallel']
    for task,least in ((SM, .05), (SS, .2)):
        train, test = loaded.tasks[task.stem]['train'], loaded.tasks[task.stem]['test']
        found,_ = score_run(task, dict(train=train, test=test), [r.label for r in test], predict_baselines(task, train, test))
        assert found['baselines']['ngram'] > found['baselines']['majority'] + least and found['accuracy'] == 1

WHOLE = run_results(dev=[dict(epoch=1, loss=.5, accuracy=.7, constant=False)], best_epoch=1, unknown=dict(test=0.), splits='parallel')
ODD = [('accuracy', float('nan')), ('accuracy', None), ('accuracy', '0.5'), ('accuracy', 75.), ('mcc', float('inf')), ('macro_f1', []),
       ('intervals', None), ('intervals', dict(accuracy=[.7])), ('intervals', dict(accuracy=['a','b'])), ('baselines', None),
       ('baselines', dict(ngram='x')), ('counts', dict(test='x')), ('counts', None), ('collapsed', 'no'), ('limit', 'all'), ('limit', -1),
       ('hyperparameters', []), ('seed', '1'), ('model', None), ('task', 3), ('recipe', {}), ('dataset', ['qaa']), ('model', '\ud800'),
       ('unknown', dict(test=5.)), ('truncated', dict(test=-1)), ('intervals', dict(accuracy=[.8, .7])), ('seconds', -1.),
       ('baseline_scores', dict(ngram=dict(accuracy=5.))), ('dev', [dict(epoch=1, mcc=2.)]), ('memory', dict(ngram_exact=5.)),
       ('task', 'sentence_mood_2'), ('seed', 5), ('dev', 'none'), ('best_epoch', 7), ('versions', None), ('seconds', 'long'),
       ('device', None), ('dataset_hash', 1)]

def stored(folder, **changes):
    "A record with odd values whose predictions fit"
    path = write_record(RUN, folder, WHOLE, [dict(ref='MRK 1:1', label='x', predicted='x')])
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path

@pytest.mark.parametrize('field,value', ODD)
def test_an_odd_record_is_reported_and_left_out(tmp_path, field, value):
    path, said = stored(tmp_path, **{field: value}), []
    with pytest.raises(InputError, match='json'): read_record(path)
    assert read_runs(tmp_path, said.append) == [] and len(said) == 1 and '\n' not in said[0]
    assert not is_done(RUN, tmp_path, said.append)

def test_odd_records_stop_neither_tables_nor_report(tmp_path):
    from pronto.lab.reporting.report import make_report
    from pronto.reporting.accuracy_tables import choose
    whole = write_record(replace(RUN, seed=1), tmp_path, WHOLE, [dict(ref='MRK 1:1', label='x', predicted='x')])
    for i,(field,value) in enumerate(ODD):
        path = write_record(replace(RUN, seed=2+i), tmp_path, WHOLE, [dict(ref='MRK 1:1', label='x', predicted='x')])
        path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    records = read_runs(tmp_path, report=lambda line: None)
    assert [r.path for r in records] == [whole]
    assert len(make_report(records, tmp_path).rows) == 1 and len(choose(records))

def test_damaged_json_is_one_line(tmp_path):
    path = stored(tmp_path)
    for text in '[' * 100_000, '{"seed": ' + '9'*5000 + '}', '\x00', '"', '{"a": ' * 50_000, '[]', 'null', '':
        path.write_text(text)
        said = []
        assert read_runs(tmp_path, said.append) == [] and len(said) == 1 and '\n' not in said[0], text[:20]

def test_a_record_that_vanishes_is_left_out(tmp_path, monkeypatch):
    path, said = stored(tmp_path), []
    read = store.read_json
    def read_and_remove(path, remedy):
        found = read(path, remedy)
        path.unlink()
        return found
    monkeypatch.setattr(store, 'read_json', read_and_remove)
    assert read_runs(tmp_path, said.append) == [] and str(path) in said[0]

def test_an_unreadable_store_is_an_error(tmp_path, monkeypatch):
    (tmp_path/'file').write_text('')
    with pytest.raises(InputError, match='is not a folder'): read_runs(tmp_path/'file')
    stored(tmp_path/'runs')
    def forbid(folder): raise PermissionError(13, 'Permission denied')
    monkeypatch.setattr(os, 'listdir', forbid)
    with pytest.raises(InputError, match='Permission denied'): read_runs(tmp_path/'runs')

def test_predictions_that_do_not_match(tmp_path):
    run = read_record(stored(tmp_path))
    table_file(run.path).unlink()
    table = run.path.with_suffix('.predictions.tsv')
    for text,what in (
        (b'ref\tlabel\nMRK 1:1\tx\n', 'column predicted'),
        (b'ref\tlabel\tpredicted\nMRK 1:1\tx\n', '3 columns'), (b'\xff\xfe', 'predictions')):
        table.write_bytes(text)
        with pytest.raises(InputError, match=what): predictions_of(run)

def test_locks_need_no_unix():
    "`fcntl` exists on Unix only"
    code = 'import sys; sys.modules["fcntl"] = None; import pronto.runs.store'
    env = dict(os.environ, PYTHONPATH=PATHS)
    done = subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

def test_baselines_are_those_of_all_rows(dataset):
    "Whatever the limit, a baseline is trained on all of train, and kept apart by protocol"
    _,loaded = dataset['parallel']
    rows = loaded.tasks['sentence_mood']
    few = {s: rows[s][:20] for s in rows}
    key = RunKey('qaa', 'tiny', 'm', 'sentence_mood', 'd', limit=20)
    trained = SimpleNamespace(task=SM, rows=few, answers=dict(test=['declarative']*20), hyperparameters={}, dev=[], collapsed=True,
                              truncated={}, counts=dict(test=20), seconds=1., device='cpu', versions=dict(pronto=pronto.__version__))
    expected = predict_baselines(SM, rows['train'], few['test'])
    assert expected['ngram'] != predict_baselines(SM, few['train'], few['test'])['ngram']
    runs = loaded.path.parent/'runs'
    for protocol in 'in-language', 'transfer':
        train = rows['train'] if protocol == 'in-language' else few['train']
        path = store_run(replace(key, protocol=protocol), runs, trained, train_rows=train)
        answers = predict_baselines(SM, train, few['test'])
        assert predictions_of(read_record(path)).ngram.tolist() == answers['ngram']

def as_text_store(runs, n=3):
    "A store with predictions as text, as others get them"
    rows = [dict(ref=f'MRK 1:{i}', label=str(i % 2), predicted='1', majority='0') for i in range(8)]
    for seed in range(n):
        path = write_record(replace(RUN, seed=seed), runs, run_results(accuracy=.5), rows)
        text = as_text(read_stored(path).columns)
        table_file(path).unlink()
        path.with_suffix('.predictions.tsv').write_bytes(text)
    return rows

def test_what_models_share_is_stored_once(tmp_path):
    rows = [dict(ref=f'MRK 1:{i}', label='0', predicted='0', majority='0') for i in range(8)]
    for model in 'one', 'two':
        write_record(replace(RUN, model=model), tmp_path, run_results(), [row | dict(predicted=model) for row in rows])
    assert len(list(tmp_path.rglob('*.rows.parquet'))) == 1 and len(list(tmp_path.rglob('*.predictions.parquet'))) == 2
    assert [predictions_of(run).predicted[0] for run in read_runs(tmp_path)] == ['one','two']

def three_models(runs):
    rows = [dict(ref=f'MRK {1 + i % 3}:{i}', label=str(i % 2), predicted='1', majority='0') for i in range(40)]
    return [write_record(replace(RUN, model=model), runs, run_results(), rows) for model in ('one','two','three')]

def test_the_bytes_of_answers_tell_that_they_are_whole(tmp_path):
    path, *_ = three_models(tmp_path)
    for file in table_file(path), next(tmp_path.rglob('*.rows.parquet')):
        whole = file.read_bytes()
        for i in range(0, len(whole), 5):
            file.write_bytes(whole[:i] + bytes([whole[i] ^ 4]) + whole[i + 1:])
            try:
                said = predictions_of(read_record(path)).to_dict('records')
            except InputError:
                continue
            assert said[0]['predicted'] == '1' and len(said) == 40 # Such as the version of the library
        file.write_bytes(whole)

def test_damaged_rows_are_written_again_with_the_next_run(tmp_path):
    path, *_ = three_models(tmp_path)
    rows = next(tmp_path.rglob('*.rows.parquet'))
    rows.write_bytes(rows.read_bytes()[:-9])
    with pytest.raises(InputError, match='rows.parquet'): read_record(path)
    three_models(tmp_path)
    assert len(read_runs(tmp_path, pytest.fail)) == 3

def shown(runs):
    "All that tables are made from: the records and the answers, and what was said of damage"
    said = []
    records = read_runs(runs, said.append)
    return [(r.path, r.model, r.seed, r.accuracy, r.finished, r.answers[0].frame.to_dict(),
             r.answers[1].tolist()) for r in records], said

def other_rows(runs, n):
    "Runs of one model on rows of another test set"
    rows = [dict(ref=f'LUK {1 + i % 3}:{i}', label=str(i % 2), predicted='1', majority='0') for i in range(n)]
    return write_record(replace(RUN, model='one', dataset_hash='other'), runs, run_results(), rows)

def swap_rows(runs):
    one, other = sorted(runs.rglob('*.rows.parquet'))
    one.rename(runs/'aside'), other.rename(one), (runs/'aside').rename(other)

def swap_answers(runs):
    one, other, *_ = sorted(runs.rglob('*.predictions.parquet'))
    one.rename(runs/'aside'), other.rename(one), (runs/'aside').rename(other)

def change_rows_in_place(runs):
    "A byte, and the time of before"
    path, *_ = sorted(runs.rglob('*.rows.parquet'))
    times, whole = path.stat(), path.read_bytes()
    path.write_bytes(whole[:60] + bytes([whole[60] ^ 4]) + whole[61:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

def remove_rows(runs): sorted(runs.rglob('*.rows.parquet'))[0].unlink()
def remove_record(runs): sorted(runs.rglob('*.json'))[0].unlink()
def before_1970(runs): os.utime(sorted(runs.rglob('*.json'))[0], (-1e6, -1e6))
def another_seed(runs): write_record(replace(RUN, seed=7), runs, run_results(), [dict(ref='MRK 1:1', label='1', predicted='0')])

def odd_record(runs):
    path = sorted(runs.rglob('*.json'))[0]
    path.write_text(path.read_text().replace('"seed": 0', '"seed": "0"'))

CHANGES = swap_rows, swap_answers, change_rows_in_place, remove_rows, remove_record, before_1970, another_seed, odd_record

@pytest.mark.parametrize('change', CHANGES)
def test_what_changed_is_read_again(tmp_path, change):
    three_models(tmp_path)
    other_rows(tmp_path, 40)
    before = shown(tmp_path)
    change(tmp_path)
    assert shown(tmp_path) != before

def test_one_run_counts_once_whatever_the_path(tmp_path):
    import shutil
    three_models(tmp_path)
    first, _ = shown(tmp_path)
    for copy in 'qaa-backup', 'a copy': shutil.copytree(tmp_path/'qaa', tmp_path/copy)
    again = shown(tmp_path)
    assert again[0] == first and len(again[1]) == 2 and 'qaa-backup: 3 records left out, as they are copies' in ' '.join(again[1])
    shutil.rmtree(tmp_path/'qaa')
    again, said = shown(tmp_path)
    assert [one[1:] for one in again] == [one[1:] for one in first] and len(said) == 1

def test_a_record_that_changes_is_read_again(tmp_path):
    as_text_store(tmp_path)
    said = []
    first = read_runs(tmp_path, said.append)
    assert [run.answers[1].tolist() for run in first] == [['1']*8]*3
    path = first[0].path
    path.write_text(path.read_text(encoding='utf-8').replace('"accuracy": 0.5', '"accuracy": 5.0'), encoding='utf-8')
    assert len(read_runs(tmp_path, said.append)) == 2 and 'invalid value' in said[0]
    path.unlink()
    assert [run.seed for run in read_runs(tmp_path, pytest.fail)] == [1, 2]

def test_folds_count_together(tmp_path):
    from pronto.reporting.scores import read_answers
    for fold in range(2):
        rows = [dict(ref=f'MRK {fold + 1}:{i}', label=str(i % 2), predicted='1', majority='0') for i in range(8)]
        write_record(replace(RUN, fold=fold, pool='p'), tmp_path, run_results(fold=fold, folds=2), rows)
    pooled, = read_runs(tmp_path)
    assert len(read_answers([pooled]).true) == 16
