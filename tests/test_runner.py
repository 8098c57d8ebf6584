"Evaluating: baselines without a model, models found as data are, runs that are recorded before"
import re
from pathlib import Path
import pytest
pytest.importorskip('torch')
from transformers import AutoModelForMaskedLM
from pronto.cli.command import main
from pronto.lab.modeling.pretrain import pretrain
from pronto.modeling.model import Model, local_model
from pronto.runs.planning import plan
from pronto.datasets.finding import find_dataset
from pronto.runs.store import read_runs
from pronto.core.files import InputError

TEXTS = [f'lo {"mi "*(i % 3)}la tu{i % 7}' for i in range(40)]
SMALL = dict(vocab_size=80, layers=1, width=16, heads=2, max_length=32, steps=0, device='cpu')

@pytest.fixture
def checkout(tmp_path, monkeypatch):
    "A checkout with a model in its root, a model in the data folder, a dataset, and a folder of notebooks"
    for name in 'nbs', 'data/models': (tmp_path/name).mkdir(parents=True)
    (tmp_path/'settings.ini').write_text('')
    for folder in tmp_path/'my-bert', tmp_path/'data'/'models'/'your-bert': pretrain(TEXTS, folder, **SMALL)
    dataset = tmp_path/'data'/'datasets'/'qaa'
    dataset.mkdir(parents=True)
    for split in 'train', 'dev', 'test':
        rows = [f'{text}\t{i % 2}\tMRK 1:{i+1}\n' for i,text in enumerate(TEXTS)]
        (dataset/f'proper_noun_subject_{split}.tsv').write_text(''.join(rows))
    monkeypatch.delenv('PRONTO_DATA', raising=False)
    monkeypatch.chdir(tmp_path/'nbs')
    return tmp_path

def test_models_are_found_from_the_folder_of_notebooks(checkout):
    mine, yours = map(Model.find, ('my-bert','your-bert'))
    assert mine.folder.resolve() == checkout/'my-bert' and mine.name == 'my-bert'
    assert yours.folder.resolve() == checkout/'data'/'models'/'your-bert'
    assert [job.key.model for job in plan('../data/datasets/qaa', ['my-bert','your-bert'])] == ['my-bert','your-bert']
    assert local_model('nobody/nothing') is None

def test_a_model_is_looked_for_once_however_many_tasks_it_is_probed_on(checkout, monkeypatch):
    "Its files are read for the hash when it is found, and once more after they were loaded"
    from pronto.modeling import encodings, model
    calls = []
    def counted(name, call): return lambda *given: calls.append(name) or call(*given)
    monkeypatch.setattr(model, '_find_folder', counted('found', model._find_folder))
    for place in model, encodings: monkeypatch.setattr(place, 'model_hash', counted('hashed', place.model_hash))
    for path in (checkout/'data'/'datasets'/'qaa').glob('*.tsv'):
        path.with_name(path.name.replace('proper_noun_subject', 'named_subject')).write_text(path.read_text())
    assert main(['probe', '../data/datasets/qaa', '-m', 'my-bert', '--seeds', '2', '--runs', 'runs']) == 0
    assert calls == ['found', 'hashed', 'hashed']

@pytest.mark.parametrize('how', [['--protocol','probe'], ['--protocol','perplexity'], ['--protocol','prompting']])
def test_a_kind_of_models_that_a_protocol_does_not_suit_is_one_line(checkout, capsys, how):
    Path('some.vec').write_text('1 2\nla .5 1\n')
    assert main(['eval', '../data/datasets/qaa', '-m', 'lstm:some.vec', *how, '--runs', 'runs']) == 1
    assert f'lstm:some.vec: cannot be used with {how[1]}; give a transformer' in capsys.readouterr().err

def test_baselines_then_a_run_then_recorded_before(checkout, capsys):
    assert main(['eval', '../data/datasets/qaa']) == 0
    assert '| PNS | 50.0 | ' in capsys.readouterr().out
    command = ['eval', '../data/datasets/qaa', '-m', 'my-bert', '--epochs', '1', '--limit', '8', '--runs', 'runs']
    said = []
    for _ in range(2):
        assert main(command) == 0
        said.append(capsys.readouterr().out)
    assert 'recorded before' not in said[0] and said[1].strip().endswith('recorded before')
    assert all('; these learn from 40 rows)' in text for text in said) # Not from eight, as the model
    whole = AutoModelForMaskedLM.from_pretrained(Model.find('my-bert').folder)
    assert read_runs('runs')[0].parameters == sum(p.numel() for p in whole.parameters())

def test_a_collapsed_run_hints_at_the_recipe_that_starts_again(checkout, capsys, monkeypatch):
    command = ['eval', '../data/datasets/qaa', '-m', 'my-bert', '--epochs', '2', '--limit', '8', '--seeds', '2', '--runs']
    monkeypatch.setattr('pronto.modeling.train.is_collapsed', lambda *_: True)
    assert main([*command, 'third', '--recipe', 'robust']) == 0 and 'every run collapsed' not in capsys.readouterr().err
    assert main([*command, 'fourth']) == 0 and 'my-bert: every run collapsed; --recipe robust' in capsys.readouterr().err

def test_a_training_that_fails_is_listed_and_the_others_are_made(checkout, capsys):
    "The exit status tells whether all, some or none were made"
    for name in 'bad-bert', 'worse-bert':
        weights = pretrain(TEXTS, checkout/name, **SMALL) and checkout/name/'model.safetensors'
        weights.write_bytes(weights.read_bytes()[:1000])
    command = ['eval', '../data/datasets/qaa', '--epochs', '1', '--limit', '8', '--runs', 'runs', '-m', 'bad-bert']
    assert main([*command, '-m', 'my-bert', '-m', 'worse-bert']) == 3
    out, err = capsys.readouterr()
    assert [r.model for r in read_runs('runs')] == ['my-bert'] and out.startswith('qaa, my-bert, PNS, seed 0: ')
    failed = [line.split(', PNS, seed 0: ')[0] for line in err.splitlines() if line.startswith('failed')]
    assert failed == ['failed qaa, bad-bert', 'failed qaa, worse-bert']
    for models in [], ['-m', 'worse-bert']: assert main([*command, *models]) == 1

@pytest.mark.parametrize('asked', ['yes','no'])
def test_16_bits_can_be_asked_for(checkout, asked):
    command = ['eval', '../data/datasets/qaa', '-m', 'my-bert', '--epochs', '1', '--limit', '8']
    assert main([*command, '--runs', 'runs', '--bf16', asked]) == 0
    [record] = read_runs('runs')
    assert record.hyperparameters.get('bf16', False) == (asked == 'yes')

@pytest.mark.parametrize('name', ['/missing/path', '**', 'n'*300, '', '../..x', 'a\0b'])
def test_odd_names_of_bibles_are_one_line(checkout, name):
    with pytest.raises(InputError) as e: find_dataset(name)
    assert '\n' not in str(e.value) and len(str(e.value)) < 300

def test_a_probe_that_fails_among_others_is_the_one_that_is_named(checkout, capsys, monkeypatch):
    "Several at once: the others are made once each, and shown"
    from pronto.runs import runner
    there, made, train = checkout/'data'/'datasets', [], runner.run_training
    for code in 'qab', 'qac':
        (there/code).mkdir()
        for table in (there/'qaa').glob('*.tsv'): (there/code/table.name).write_text(table.read_text())
    def run(training, *how):
        made.append(training.key.dataset)
        if training.key.dataset == 'qab': raise InputError('qab', 'cannot be probed; leave it out')
        return train(training, *how)
    monkeypatch.setattr(runner, '_threads', lambda: 2)
    monkeypatch.setattr(runner, 'run_training', run)
    folders = [str(there/code) for code in ('qaa','qab','qac')]
    assert main(['eval', *folders, '-m', 'my-bert', '--protocol', 'probe', '--runs', 'runs']) == 3
    said = capsys.readouterr()
    assert 'failed qab, my-bert, PNS, seed 0: qab: cannot be probed' in said.err and 'failed qaa' not in said.err
    assert re.findall(r'^(\w+), my-bert', said.out, re.M) == ['qaa','qac']
    assert made.count('qaa') == 1 and sorted({*made}) == ['qaa','qab','qac']
