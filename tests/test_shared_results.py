"Results that others can add: the schema of Every Eval Ever, and what the check refuses"
import json, shutil
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec

import jsonschema
import pytest

from conftest import predictions, run_results, scored
from pronto.cli.command import main
from pronto.runs.store import RunKey, read_runs, write_record
from pronto.runs.predictions import table_file

def fields(required, **known): # Others may follow
    return dict(type='object', required=required.split(), properties=known)

# What version 0.3.0 of Every Eval Ever requires of the fields that we write
TEXT, NUMBER, TEXTS = dict(type='string'), dict(type='number'), dict(type='object', additionalProperties=dict(type='string'))
ENDS = fields('lower upper', lower=NUMBER, upper=NUMBER)
SCORE = fields('score', score=NUMBER, details=TEXTS,
               uncertainty=fields('', confidence_interval=ENDS, num_samples=dict(type='integer')))
METRIC = fields('lower_is_better', lower_is_better=dict(type='boolean'), min_score=NUMBER, max_score=NUMBER,
                score_type=dict(enum=['binary','continuous','levels']))
SOURCE = fields('source_type source_organization_name evaluator_relationship', source_organization_name=TEXT,
                source_type=dict(enum=['documentation','evaluation_run']), additional_details=TEXTS,
                evaluator_relationship=dict(enum=['first_party','third_party','collaborative','other']))
RESULT = fields('evaluation_name source_data metric_config score_details', evaluation_name=TEXT, metric_config=METRIC,
                source_data=fields('dataset_name source_type', additional_details=TEXTS), score_details=SCORE)
SCHEMA = fields('schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results',
                schema_version=dict(const='0.3.0'), evaluation_id=TEXT, retrieved_timestamp=TEXT, source_metadata=SOURCE,
                model_info=fields('name id', name=TEXT, id=TEXT, additional_details=TEXTS),
                eval_library=fields('name version', name=TEXT, version=TEXT),
                evaluation_results=dict(type='array', items=RESULT)) | dict(additionalProperties=False)

def is_valid(made):
    "By what we state here and, where its package is installed (Python 3.12 or later), by the schema itself"
    jsonschema.validate(made, SCHEMA)
    if find_spec('every_eval_ever'):
        text = (files('every_eval_ever')/'schemas'/'eval.schema.json').read_text(encoding='utf-8')
        jsonschema.validate(made, json.loads(text))

def test_the_schema_is_that_of_the_version_that_we_write():
    from pronto.lab.interop.shared_results import SCHEMA as version
    assert SCHEMA['properties']['schema_version']['const'] == version

@pytest.fixture
def shared(tmp_path):
    "The records of two people in one folder"
    for who,model in ('one','org/small'),('two','my-model'):
        key = RunKey('wol', model, '0123456789abcdef', 'proper_noun_subject', 'a hash')
        write_record(key, tmp_path/who, scored(predictions(.75), versions=dict(pronto='0.2.0')), predictions(.75))
        assert main(['export', 'results', str(tmp_path/who), '-o', str(tmp_path/'shared'), '--organisation', who]) == 0
    return tmp_path/'shared'

def again(shared): return main(['export', 'results', str(shared), '-o', str(shared)])

def test_records_of_two_people_are_valid_and_read_as_one_store(shared, capsys):
    results = sorted((shared/'results').rglob('*.json'))
    assert [p.parts[-3] for p in results] == ['my-model','org__small']
    for path in results: is_valid(json.loads(path.read_text(encoding='utf-8')))
    before = {p: p.read_bytes() for p in shared.rglob('*') if p.is_file()}
    capsys.readouterr()
    assert again(shared) == 0 and '0 records added, 2 in all' in capsys.readouterr().out
    assert before == {p: p.read_bytes() for p in shared.rglob('*') if p.is_file()}
    assert len(read_runs(shared)) == 2
    assert main(['report', '--runs', str(shared), '-o', str(shared/'report.html'), '--quiet']) == 0
    assert main(['tables', '--runs', str(shared), '-o', str(shared/'tables'), '--quiet']) == 0
    assert '| my-model |' in capsys.readouterr().out

def test_a_store_is_not_exported_into_itself(shared, tmp_path, capsys):
    assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'one')]) == 1
    assert 'is inside the run store' in capsys.readouterr().err and not (tmp_path/'one'/'runs').exists()

def test_readings_are_shared_too(tmp_path):
    from pronto.runs.schema import EMPTY
    for protocol,found in dict(perplexity=dict(bits_per_character=2.5), memory=dict(memory=dict(exact=.1, chrf=20., min_k=3.))).items():
        key = RunKey('wol', 'my-model', 'abc', protocol, 'a hash', protocol=protocol)
        about = run_results() | EMPTY | dict(accuracy=None, intervals={}, counts=dict(dev=3, test=4)) | found
        write_record(key, tmp_path/'one', about, predictions(.75))
    assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'shared')]) == 0
    made = [json.loads(p.read_text(encoding='utf-8')) for p in sorted((tmp_path/'shared'/'results').rglob('*.json'))]
    for record in made: is_valid(record)
    scores = {r['metric_config']['metric_id']: r['score_details']['score'] for record in made for r in record['evaluation_results']}
    assert scores == dict(bits_per_character=2.5, exact=.1, chrf=20.)

def test_a_model_on_a_server_is_named_without_its_interface(tmp_path):
    key = RunKey('wol', 'openai:org/name', 'abc', 'proper_noun_subject', 'a hash', hyperparameters=dict(endpoint='http://x/v1'))
    about = scored(predictions(.75), attempts=[dict(seed=0, model='name-2026', date='2026-11-24')])
    write_record(key, tmp_path/'one', about, predictions(.75))
    assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'shared')]) == 0
    path, = (tmp_path/'shared'/'results'/'org__name').rglob('*.json')
    made = json.loads(path.read_text(encoding='utf-8'))
    is_valid(made)
    assert made['model_info']['id'] == 'org/name'
    assert made['model_info']['additional_details']['served_model'] == 'name-2026'

def test_a_damaged_record_adds_nothing(shared, tmp_path, capsys):
    key = RunKey('wol', 'third', 'abc', 'proper_noun_subject', 'a hash')
    for one in key, replace(key, seed=1): path = write_record(one, tmp_path/'three', scored(predictions(.75)), predictions(.75))
    table_file(path).write_bytes(b'damaged')
    before = sorted(p for p in shared.rglob('*') if p.is_file())
    assert main(['export', 'results', str(tmp_path/'three'), '-o', str(shared)]) == 1
    assert str(table_file(path)) in capsys.readouterr().err
    assert sorted(p for p in shared.rglob('*') if p.is_file()) == before

def test_nothing_outside_a_store_is_exported_and_nothing_written_into_it(tmp_path, capsys):
    key = RunKey('wol', 'my-model', 'abc', 'proper_noun_subject', 'a hash')
    write_record(key, tmp_path/'one', scored(predictions(.75)), predictions(.75))
    before = sorted((tmp_path/'one').rglob('*'))
    assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'one'/'inside')]) == 1
    assert 'is inside the run store' in capsys.readouterr().err and sorted((tmp_path/'one').rglob('*')) == before
    (tmp_path/'secret.json').write_text(json.dumps(dict(kind='verse', name='X', metric='mcc', labels=['a','b'])))
    (tmp_path/'one'/'tasks').mkdir()
    (tmp_path/'one'/'tasks'/'x.json').symlink_to(tmp_path/'secret.json')
    assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'shared')]) == 1
    assert 'is a link to' in capsys.readouterr().err and not (tmp_path/'shared').exists()

def test_one_run_has_one_interval_whoever_asks(tmp_path):
    "The record, the export and the tables"
    from pronto.reporting.scores import read_answers
    key = RunKey('wol', 'my-model', 'abc', 'proper_noun_subject', 'a hash')
    write_record(key, tmp_path/'one', scored(predictions(.75)), predictions(.75))
    def intervals():
        assert main(['export', 'results', str(tmp_path/'one'), '-o', str(tmp_path/'shared')]) == 0
        run, = read_runs(tmp_path/'one')
        result, = (tmp_path/'shared'/'results').rglob('*.json')
        results = json.loads(result.read_text())['evaluation_results']
        score, = (r['score_details'] for r in results if r['metric_config']['metric_id'] == 'accuracy')
        shown = score['uncertainty']['confidence_interval']
        shutil.rmtree(tmp_path/'shared')
        return read_answers([run]).scores['accuracy'].interval, [shown['lower'], shown['upper']], run
    shown, exported, run = intervals()
    assert shown == exported and not run.intervals
