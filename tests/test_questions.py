"What is asked of the predictions of runs: small stores whose answers are known"
import json

import pytest
from conftest import run_results
from pronto.core.files import InputError
from pronto.reporting.questions.question import Options, ask_runs
from pronto.runs.store import RunKey, read_runs, write_record

def store(folder, bible, said, model='bert', task='proper_noun_subject', seed=0, **more):
    "A run with these rows of predictions"
    of_key = {k: more.pop(k) for k in ('recipe','protocol','trained_on','hyperparameters','limit') if k in more}
    key = RunKey(bible, model, f'{model}-1', task, **dict(dataset_hash=bible) | of_key, seed=seed)
    accuracy = sum(row['label'] == row['predicted'] for row in said)/max(len(said), 1)
    write_record(key, folder, run_results(accuracy=accuracy, splits='parallel') | more, said)

def ask(name, folder, **options):
    return ask_runs(name, read_runs(folder, report=pytest.fail), Options(store=str(folder), **options))

def source(code): return [dict(code=code, dataset_hash=code, split='train')]

def verses(wrong, n=100):
    "One answer for each verse, wrong where it is said"
    return [dict(ref=f'MRK {1 + i//10}:{1 + i%10}', label='1', predicted='0' if i in wrong else '1') for i in range(n)]

def numbers(row, names): return [float(row[name]) for name in names.split()]

# Errors across languages

def test_the_same_rows_are_right_or_not(tmp_path):
    store(tmp_path, 'eng', verses(range(20)), language='eng')
    store(tmp_path, 'fra', verses(range(10)), language='fra')
    store(tmp_path, 'wol', verses(range(20, 40)), language='wol')
    reply = ask('errors', tmp_path)
    fra, wol = reply.tables[0].records
    assert (fra['base'], fra['rows']) == ('eng', '100') and numbers(fra, 'if_right if_wrong same') == [100, 50, 90]
    assert numbers(wol, 'if_right if_wrong same chance') == [75, 100, 60, 68]
    assert 'right in eng 87.5 % are right elsewhere, of those that are wrong 75.0 %' in reply.sentences[0]

def test_seeds_count_in_shares_and_other_rows_do_not_count(tmp_path):
    for seed,wrong in enumerate((range(0), range(100))): store(tmp_path, 'eng', verses(wrong), seed=seed, language='eng')
    store(tmp_path, 'fra', verses(range(50))[:60] + [dict(ref='LUK 1:1', label='1', predicted='0')], language='fra')
    [row] = ask('errors', tmp_path).tables[0].records
    assert row['rows'] == '60' and row['in_base'] == '50.0' and row['if_right'] == row['if_wrong']

def test_the_base_of_transfer_is_its_source(tmp_path):
    for code in 'fra','wol','eng':
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('fra'), language=code)
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('wol'), language=code)
    found = ask('errors', tmp_path, protocol='transfer').tables[0].records
    assert sorted((r['base'], r['translation']) for r in found) == [(a, b) for a in ('fra','wol') for b in ('eng','fra','wol') if a != b]

def test_questions_are_known_by_their_ids_and_tokens_are_not_compared(tmp_path):
    from pronto.datasets.tasks import TASKS
    from pronto.suites.kinds import Described
    from pronto.suites.tasks import know_tasks
    before = dict(TASKS)
    know_tasks(dict(xquad=Described('questions', 'squad', 'XQuAD'), panx=Described('tagging', 'span_f1', 'PANX', ('O','B-PER'))))
    try:
        for code in 'en','es':
            asked = [dict(ref=f'{code}-text{i//5}:q{i}', label=json.dumps([f'{code}{i}']), predicted=f'{code}{i}') for i in range(20)]
            store(tmp_path, code, asked, task='xquad', f1=1.)
            store(tmp_path, code, [dict(ref='a:1', token='x', label='O', predicted='O')], task='panx', f1=1.)
        reply = ask('errors', tmp_path)
    finally: TASKS.clear(); TASKS.update(before)
    [row] = reply.tables[0].records
    assert (row['task'], row['base'], row['rows'], row['right']) == ('XQuAD', 'en', '20', '100.0')
    assert 'No other translation has their rows: 1 of bert on en (PANX); 1 of bert on es (PANX)' in reply.markdown()

def test_one_language_is_not_two(tmp_path):
    store(tmp_path, 'eng', verses(range(20)))
    with pytest.raises(InputError, match='no model with answers to the same rows in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', [row | dict(ref=row['ref'].replace('MRK', 'LUK')) for row in verses([])])
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', verses([]), model='other')
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)
