"Several verse tasks on one encoder: one training, one record for each task, one line for bad input"
import json, shutil
import pytest
torch = pytest.importorskip('torch')
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.jobs.sweep import plan_all
from pronto.modeling import train as training
from pronto.modeling.pretrain import pretrain
from pronto.runs.planning import plan
from pronto.runs.runner import _in_groups
from pronto.runs.store import read_runs

torch.set_num_threads(1)

STEMS = 'nonpronominal_mention', 'proper_noun_subject', 'sentence_mood'
LABELS = ('0','1','2'), ('0','1'), ('declarative','imperative','interrogative')
ASK = ['--together', '--recipe', 'tiny', '--epochs', '2']

@pytest.fixture
def data(tmp_path, monkeypatch):
    "A dataset with the verse tasks and a pair task, and a model"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    folder, texts = tmp_path/'qaa', [f'{"abcdef"[i%6]} went to house {i}' for i in range(64)]
    folder.mkdir()
    for split,(a,b) in dict(train=(0, 40), dev=(40, 52), test=(52, 64)).items():
        for stem,labels in zip(STEMS, LABELS):
            rows = [f'{texts[i]}\t{labels[i%len(labels)]}\n' for i in range(a, b)]
            (folder/f'{stem}_{split}.tsv').write_text(''.join(rows), encoding='utf-8')
        pairs = [f'go.01\t{texts[i]}\t{texts[i+1]}\t{("same","different")[i%2]}\n' for i in range(a, b-1)]
        (folder/f'same_sense_{split}.tsv').write_text(''.join(pairs), encoding='utf-8')
    pretrain(texts, tmp_path/'my-bert', layers=1, width=16, steps=1, window=0)
    return tmp_path

def test_one_training_makes_a_record_for_each_task(data, capsys, monkeypatch):
    trained, train, less, spend_less = [], training.fine_tune_together, [], training.spend_less
    monkeypatch.setattr(training, 'spend_less', lambda *a: less.append(a) or spend_less(*a))
    monkeypatch.setattr(training, 'fine_tune_together', lambda *a, **k: trained.append(a) or train(*a, **k))
    command = ['eval', str(data/'qaa'), '-m', str(data/'my-bert'), *ASK]
    assert main(command) == 0 and len(trained) == 1 and len(less) == 1
    records = read_runs(data/'data'/'runs')
    assert [r.task for r in records] == [*STEMS] and {r.protocol for r in records} == {'together'}
    assert all(r.hyperparameters['together'] == [*STEMS] and len(r.dev) == 2 for r in records)
    assert [len(r.intervals) > 0 and r.counts for r in records] == [dict(train=40, dev=12, test=12)]*3
    answers = [r.path.with_suffix('.predictions.tsv').read_text(encoding='utf-8') for r in records]
    assert main(command) == 0 and len(trained) == 1 # Nothing is trained twice
    shutil.rmtree(records[1].path.parent)
    assert main(command) == 0 # A record that is lost is made again, the same
    again = read_runs(data/'data'/'runs')
    assert [r.path.with_suffix('.predictions.tsv').read_text(encoding='utf-8') for r in again] == answers
    capsys.readouterr()
    assert main(['tables', '--protocol', 'together', '--recipe', 'tiny', '-o', str(data/'tables')]) == 0
    out = capsys.readouterr().out
    assert 'my-bert' in out and 'together' in out

def test_the_tasks_of_one_encoder_stay_in_one_process_and_one_notebook(data):
    trainings = plan(data/'qaa', [str(data/'my-bert')], seeds=2, recipe='tiny', protocol='together')
    assert [(t.key.seed, t.key.task) for t in trainings] == [(seed, stem) for seed in (0, 1) for stem in STEMS]
    assert [len(group) for group in _in_groups(trainings)] == [3, 3]
    assert {json.dumps(t.key.hyperparameters, sort_keys=True) for t in trainings} == {
        json.dumps(trainings[0].key.hyperparameters, sort_keys=True)}
    runs,_ = plan_all([data/'qaa'], [str(data/'my-bert')], (), 2, 'tiny', protocol='together')
    assert [len(run.keys) for run in runs] == [3, 3]

def test_only_verse_tasks_are_trained_together(data, capsys):
    command = ['eval', str(data/'qaa'), '-m', str(data/'my-bert'), *ASK]
    for tasks,said in ((['SS','NMC'], 'SS cannot be trained together'), (['NMC'], 'fewer than two verse tasks')):
        assert main([*command, *(x for task in tasks for x in ('-t', task))]) == 1
        err = capsys.readouterr().err
        assert said in err and err.count('\n') == 1
    (data/'toy.vec').write_text('2 2\nto .1 .2\nhouse .3 .1\n', encoding='utf-8')
    with pytest.raises(InputError, match='one head for one task'):
        plan(data/'qaa', ['lstm:toy.vec'], ['NMC','PNS'], recipe='tiny', protocol='together')

def test_a_release_goes_on_past_a_translation_that_cannot_be_used(data, capsys):
    "One with a single verse task, or with none that has examples in every split"
    for code,stems in dict(one=STEMS[:1], none=()).items():
        shutil.copytree(data/'qaa', data/'release'/code)
        for path in (data/'release'/code).glob('*_dev.tsv'):
            if not path.name.startswith((*stems, 'nothing')): path.write_text('')
    said, model = [], [str(data/'my-bert')]
    with pytest.raises(InputError, match='fewer than two verse tasks'):
        plan(data/'release'/'one', model, recipe='tiny', protocol='together')
    shutil.copytree(data/'qaa', data/'release'/'whole')
    trainings = plan(data/'release', model, recipe='tiny', protocol='together', report=said.append)
    assert {t.key.bible for t in trainings} == {'whole'} and len(trainings) == 3
    assert len(said) == 2 and 'fewer than two verse tasks' in said[1] and 'empty split in every task' in said[0], said
    found = plan(data/'release', model, ['NMC'], recipe='tiny', report=str)
    assert sorted({t.key.bible for t in found}) == ['one','whole']
