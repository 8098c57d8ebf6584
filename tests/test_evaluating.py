"From Python: one call for a folder, a name or a loaded model, the same numbers as the commands give, and a callback"
import json, os, re, shutil, subprocess, sys

import numpy as np
import pytest

import zoo
from pronto.bibles.reading import Bible, VerseRow
from pronto.core.files import InputError
from pronto.datasets.align import TEXT_ALONE
from pronto.datasets.building import build
from test_choices import made_up

torch = pytest.importorskip('torch')

@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    "Choices from an invented text"
    folder = tmp_path_factory.mktemp('evaluating')/'qaa'
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in made_up().items()]
    build(TEXT_ALONE, Bible(rows), folder, report=str)
    return folder

@pytest.fixture(scope='module')
def model(tmp_path_factory): return zoo.save_model(tmp_path_factory.mktemp('model')/'gpt2', 'gpt2')

HOW = dict(protocol='likelihood', limit=40, show=False, report=str)

@pytest.fixture
def asked(dataset, tmp_path):
    import pronto
    return lambda *args, **more: pronto.evaluate(dataset, *args, **HOW | dict(runs=tmp_path/'runs') | more)

def loaded(model, **how):
    from transformers import AutoModelForCausalLM, AutoTokenizer
    return AutoModelForCausalLM.from_pretrained(model, **how), AutoTokenizer.from_pretrained(model)

@pytest.mark.slow
def test_a_dataset_in_folds_has_each_tested_row_once(dataset, tmp_path):
    import pronto
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in made_up().items()]
    build(TEXT_ALONE, Bible(rows), tmp_path/'qaa', splits='folds', report=str)
    loaded = pronto.load_dataset(tmp_path/'qaa')
    assert loaded.tasks.keys() == pronto.load_dataset(dataset).tasks.keys() and len(loaded.folds) == 10
    one = loaded.folds[3].load().tasks['word_order']
    tested = [row.id for row in loaded.tasks['word_order']['test']]
    assert len(set(tested)) == len(tested) and set(tested) >= {row.id for part in one.values() for row in part}
    assert repr(loaded).startswith('Dataset(qaa: ')

def test_a_loaded_model_answers_as_its_folder_does(asked, model):
    here = asked(*loaded(model))
    there = asked(str(model))
    assert [r.accuracy for r in here.runs] == [r.accuracy for r in there.runs] and len(here.runs) == 4
    assert [r.model for r in here.runs] == ['gpt2']*4
    assert here.scores.number.tolist() == there.scores.number.tolist() != []

def test_a_model_in_half_precision_is_asked_too(asked, model):
    net, tokenizer = loaded(model, dtype=torch.float16)
    assert len(asked(net, tokenizer, tasks=['WO']).runs) == 1
    assert net.dtype == torch.float16

def test_a_model_whose_tokenizer_cannot_pad_is_asked_too(asked, model):
    net, tokenizer = loaded(model)
    tokenizer.pad_token = net.config.pad_token_id = None
    assert [r.accuracy for r in asked(net, tokenizer, tasks='WO').runs] == [r.accuracy for r in asked(str(model), tasks='WO').runs]

@pytest.mark.slow
@pytest.mark.parametrize('kind', ['bert', 'gpt2'])
def test_whoever_asks_gets_the_same_number(kind, dataset, tmp_path, monkeypatch, capsys):
    "The page and Python, of a model that predicts the next word and of one that does not; a callback that asks all rows, too"
    import pronto
    from pronto.cli.command import main
    from pronto.modeling.encodings import encodings_cache
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    folder = zoo.save_model(tmp_path/kind, kind)
    assert main(['card', str(dataset), '-m', str(folder), '-o', str(tmp_path/'card.html'), '--json']) == 0
    [on_page] = json.loads(capsys.readouterr().out)['models']
    if kind == 'bert': # What a card recorded is found by the name of what it did
        assert main(['tables', '--protocol', 'probe', '-o', str(tmp_path/'tables')]) == 0 and '| bert' in capsys.readouterr().out
    result = pronto.evaluate(dataset, str(folder), show=False, report=str, runs=tmp_path/'runs')
    shown = result.scores[['model','number','low','high']].to_json(orient='records')
    assert json.loads(shown) == [{name: on_page[name] for name in ('model','number','low','high')}]
    assert {run.protocol for run in result.runs} == {'likelihood' if kind == 'gpt2' else 'quick-probe'}
    callback = pronto.LanguageCallback(dataset, tokenizer=None, limit=None)
    seen = callback.numbers(str(folder))
    low = on_page['read_all'] if on_page['read_low'] is None else on_page['read_low'] # JSON has nothing infinite
    assert [seen[f'eval_qaa_{name}'] for name in ('language','read_low')] == [on_page['number'], round(low, 1)]
    assert not any(held['verses'] for held in encodings_cache().sizes()) # Of a model that is still trained

def test_a_probe_of_a_model_that_predicts_the_next_word_names_what_asks_it_otherwise(dataset, model, tmp_path, monkeypatch, capsys):
    from pronto.cli.command import main
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path))
    assert main(['probe', str(dataset), '-m', str(model), '-t', 'WO', '--limit', '40']) == 0
    assert f'gpt2 predicts the next word: `pronto card {dataset} -m {model}` asks it' in capsys.readouterr().err

def test_an_unknown_task_is_a_line_with_similar_names(asked, model):
    with pytest.raises(InputError) as e: asked(str(model), tasks=['WO', 'wordorder'])
    assert str(e.value) == "task: there is no task 'wordorder'; did you mean word_order, word_choice?"

def test_verses_to_read_are_those_of_a_sample(dataset, tmp_path):
    "Of one test set, of which a quick probe is asked some rows"
    import pronto
    from types import MappingProxyType
    from unittest.mock import patch
    from pronto.reporting.card import answers_to
    few = MappingProxyType(dict(train=60, dev=20, test=15))
    bert = zoo.save_model(tmp_path/'bert', 'bert')
    with patch('pronto.protocols.protocol.SAMPLED', few):
        (run,) = pronto.evaluate(dataset, str(bert), tasks='WO', protocol='quick-probe', show=False, report=str, runs=tmp_path/'runs').runs
        answers = answers_to(run, str(dataset))
    assert run.counts == dict(train=60, dev=20, test=15) and len(answers) == 15
    assert run.hyperparameters['sampled'] == '60+20+15' # Another sample is another run
    rows = {str(row.ref): row.choices for row in pronto.load_dataset(dataset).tasks['word_order']['test']}
    for answer in answers: # The words that change places are in brackets
        begin, first, second, end = re.fullmatch(r'(.*)\[(.*) / (.*)\](.*)', answer['text']).groups()
        assert (f'{begin}{first}{end}', f'{begin}{second}{end}') == rows[answer['where']]
        assert len(first.split()) == 2 and first.split()[::-1] == second.split()

def test_a_result_is_typed_shown_and_kept(asked, model, tmp_path):
    from pronto.runs.store import read_runs
    result = asked(str(model))
    from pronto.reporting.language_score import plain_finding
    (finding,) = plain_finding(result.scores)
    assert finding.startswith('**This text is too short to say whether gpt2 reads qaa.** Asked to tell a sentence from one with words '
                              'exchanged or replaced, it knows as much as counting over ')
    frame = result.to_frame()
    assert list(frame.task) == [r.task for r in result.runs] and frame.accuracy.between(0, 1).all()
    assert frame.accuracy_majority.between(0, 1).all() and frame.mae.dtype == float and frame.mae.isna().all()
    assert result.finding.startswith('qaa: gpt2: ') and 'of 100' in repr(result)
    shown = result._repr_html_()
    assert '<p>qaa: gpt2: ' in shown and '<table>' in shown
    kept = read_runs(result.save(tmp_path/'kept'))
    assert sorted(r.accuracy for r in kept) == sorted(r.accuracy for r in result.runs)

@pytest.mark.parametrize('given, says', [
    (lambda model: dict(model={}), 'model: is a dict; give a folder, a name, or a loaded model'),
    (lambda model: dict(model=loaded(model)[0]), 'model: is loaded, and comes without its tokenizer; give that as tokenizer='),
    (lambda model: dict(model=loaded(model)[1]), 'model: is a'),
    (lambda model: dict(model=loaded(model)[0].to('meta'), tokenizer='gpt2'), 'model: has no weights yet (device meta)'),
    (lambda model: dict(model=loaded(model)[0], tokenizer='gpt2'), 'tokenizer: is a str; give the loaded tokenizer'),
    (lambda model: dict(model=[]), 'model: is an empty list; give a folder, a name, or a loaded model'),
    (lambda model: dict(model='no-such-model'), 'no-such-model: is neither a model folder nor in the local cache')])
def test_what_is_no_model_is_one_line_before_anything_is_built(given, says, model, tmp_path):
    import pronto
    with pytest.raises(InputError) as e: pronto.evaluate(tmp_path/'no Bible either', **given(model), report=str)
    assert str(e.value).startswith(says) and '\n' not in str(e.value)

@pytest.mark.parametrize('given, says', [
    (dict(tasks=None), 'tasks: is None; give a name'), (dict(tasks=5), 'tasks: is 5; give'), (dict(tasks=[5]), 'tasks: is a list; give'),
    (dict(tasks=np.array(['WO'])), 'tasks: is a ndarray; give'), (dict(limit=2.5), 'limit: is 2.5; give a whole number above 0'),
    (dict(limit='40'), "limit: is '40'; give"), (dict(limit=True), 'limit: is True; give'), (dict(limit=float('nan')), 'limit: is nan'),
    (dict(limit=0), 'limit: is 0; give'), (dict(seeds=None), 'seeds: is None; give a whole number'), (dict(seeds=1.), 'seeds: is 1.0'),
    (dict(protocol=5), 'protocol: is 5; give the name'), (dict(runs=5), 'runs: is 5; give a folder'), (dict(runs=b'x'), 'runs: is a bytes'),
    (dict(progress=None), 'progress: is None; give a function'), (dict(ahead='tqdm'), "ahead: is 'tqdm'; give a function"),
    (dict(report=None), 'report: is None; give a function'), (dict(language=5), 'language: is 5; give a name or a code'),
    (dict(annotations=5), 'annotations: is 5; give a file')])
def test_an_argument_of_the_wrong_type_is_one_line_that_names_it(given, says, asked, model):
    with pytest.raises(InputError) as e: asked(str(model), **given)
    assert str(e.value).startswith(says) and '\n' not in str(e.value)

def test_other_functions_name_such_arguments_too(dataset, tmp_path):
    import pronto
    for function,given,name in ((pronto.tables, dict(runs=5), 'runs'), (pronto.tables, dict(metric=5), 'metric'),
                                (pronto.load_dataset, dict(folder=None), 'folder'), (pronto.build, dict(bible=dataset, splits=5), 'splits'),
                                (pronto.LanguageCallback, dict(bible=dataset, tokenizer=None, limit='all'), 'limit')):
        with pytest.raises(InputError, match=f'^{name}: is '): function(**given)

def test_integers_of_numpy_are_integers(asked, model):
    (run,) = asked(str(model), tasks='WO', limit=np.int64(10), seeds=np.int32(1)).runs
    assert run.limit == 10 and type(run.limit) is int

def test_a_trainer_logs_the_number_of_the_language(dataset, model, tmp_path):
    import pronto
    from transformers import Trainer, TrainingArguments
    net, tokenizer = loaded(model)
    rows = [dict(input_ids=tokenizer(text)['input_ids'][:16]) for text in zoo.texts(8)]
    def collate(some):
        n = min(len(row['input_ids']) for row in some)
        ids = torch.tensor([row['input_ids'][:n] for row in some])
        return dict(input_ids=ids, labels=ids)
    how = dict(output_dir=str(tmp_path/'out'), max_steps=2, eval_strategy='steps', eval_steps=1, report_to=[], save_strategy='no')
    callback = pronto.LanguageCallback(dataset, tokenizer, limit=20)
    trainer = Trainer(net, TrainingArguments(**how, use_cpu=True), train_dataset=rows, eval_dataset=rows, data_collator=collate,
                      callbacks=[callback])
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if 'eval_qaa_language' in entry]
    assert [entry['step'] for entry in logged] == [1, 2] and all(entry['eval_qaa_ngrams'] > -100 for entry in logged)
    assert all('eval_loss' in entry for entry in logged) # As a metric of this evaluation, not by itself
    assert trainer.evaluate()['eval_qaa_language'] == callback.numbers(net)['eval_qaa_language']

@pytest.mark.parametrize('before', [True, False])
def test_loggers_and_early_stopping_get_the_number_in_any_order(before, dataset, model, tmp_path, monkeypatch, caplog):
    "A number that only falls ends the training after the second evaluation"
    import pronto
    from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments
    logged = []
    class Logger(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **kwargs): logged.append(dict(logs))
    net, tokenizer = loaded(model)
    ids = torch.tensor([tokenizer(zoo.texts(2)[1])['input_ids'][:3]]*2)
    callback, falling = pronto.LanguageCallback(dataset, tokenizer, report=str), iter([3., 2., 1., 0., -1.])
    monkeypatch.setattr(callback, 'numbers', lambda model: callback.named(next(falling), 0., 9., 50., 9.))
    others = [Logger(), EarlyStoppingCallback(1)]
    how = dict(output_dir=str(tmp_path), max_steps=5, eval_strategy='steps', eval_steps=1, report_to=[], save_strategy='no', use_cpu=True,
               metric_for_best_model='qaa_language', greater_is_better=True)
    trainer = Trainer(net, TrainingArguments(**how), train_dataset=[{}]*2, eval_dataset=[{}]*2,
                      data_collator=lambda rows: dict(input_ids=ids, labels=ids),
                      callbacks=[callback, *others] if before else [*others, callback])
    trainer.train()
    assert trainer.state.global_step == 2 and [x['eval_qaa_language'] for x in logged if 'eval_loss' in x] == [3., 2.]
    assert not any('qaa' in name for x in logged if 'eval_loss' not in x for name in x)
    assert trainer.evaluate(metric_key_prefix='later')['eval_qaa_language'] == 1.

def test_everything_that_the_package_offers_is_there_and_importing_it_loads_nothing_else():
    import pronto
    assert all(callable(getattr(pronto, name)) for name in pronto.__all__) and {*pronto.__all__} <= {*dir(pronto)}
    code = "import sys, pronto; print([m for m in ('torch', 'numpy', 'pronto.core') if m in sys.modules])"
    env = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True, check=True).stdout == '[]\n'

def test_models_on_other_tasks_have_a_scale_of_their_own(asked, model):
    from pronto.reporting.language_score import by_rows, language_scores
    one, other = asked(str(model)).runs, asked(f'other={model}', tasks=['WO']).runs
    assert len(by_rows(language_scores([*one, *other]))) == 2 and len(by_rows(language_scores(one))) == 1

@pytest.mark.parametrize('kind', ['bert', 'gpt2'])
def test_random_numbers_of_a_training_stay_as_they_were(kind, asked, tmp_path):
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
    folder = zoo.save_model(tmp_path/kind, kind)
    net = (AutoModelForMaskedLM if kind == 'bert' else AutoModelForCausalLM).from_pretrained(folder).train()
    import random
    import numpy as np
    def state(): return random.getstate(), np.random.get_state()[1].tolist(), torch.random.get_rng_state().tolist()
    before = state()
    asked(net, AutoTokenizer.from_pretrained(folder), tasks='WO', protocol='')
    assert before == state() and net.training

def test_loaded_models_of_one_name_are_numbered(asked, model):
    net, tokenizer = loaded(model)
    assert [run.model for run in asked([net, str(model), net], tokenizer, tasks='WO').runs] == ['gpt2-2', 'gpt2', 'gpt2-3']

def test_a_dataset_that_is_loaded_is_taken_and_a_bible_refused(asked, dataset, model, tmp_path):
    import pronto
    how = HOW | dict(tasks='WO', runs=tmp_path/'runs')
    assert len(pronto.evaluate(pronto.load_dataset(dataset), str(model), **how).runs) == 1
    with pytest.raises(InputError, match='bible: is a Bible; give the file of a Bible, a dataset, or its folder'):
        pronto.evaluate(Bible([]), str(model), **how)

def test_no_name_of_a_task_means_all(asked, model): assert len(asked(model, tasks='').runs) > 3

def test_similar_names_of_bibles_are_named(model, tmp_path, monkeypatch):
    import pronto
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    (tmp_path/'data'/'bibles').mkdir(parents=True)
    (tmp_path/'data'/'bibles'/'wolof.tsv').touch()
    with pytest.raises(InputError, match='did you mean wolof[?] Otherwise put one at'): pronto.evaluate('wollof', str(model))
    (tmp_path/'wolof.usfm').touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match='is not there; did you mean wolof.usfm, wolof[?]'): pronto.evaluate('wolof.usf', str(model))

def test_errors_about_a_loaded_model_do_not_name_a_temporary_folder(asked, dataset, model):
    net, tokenizer = loaded(model)
    words = {word for file in dataset.glob('word_order_*.jsonl') for word in file.read_text().replace('"', ' ').split() if word.isalpha()}
    tokenizer.add_tokens(sorted(words))
    with pytest.raises(InputError, match='^gpt2: its tokenizer has token'): asked(net, tokenizer, tasks='WO')

def test_a_number_that_cannot_be_had_does_not_end_a_training(dataset, model):
    import pronto
    from transformers import TrainerState
    said = []
    callback = pronto.LanguageCallback(dataset, zoo.tokenizer_of('gpt2'), limit=20, report=said.append)
    state = TrainerState(global_step=7, epoch=.5, log_history=[dict(step=7)])
    logs, metrics = dict(eval_runtime=1.), {}
    def evaluated(net):
        callback.on_log(None, state, None, model=net, logs=logs)
        callback.on_evaluate(None, state, None, model=net, metrics=metrics)
    evaluated(loaded(model)[0].to('meta'))
    assert said == ['qaa, step 7: the model was not asked: model: has no weights yet (device meta); load them, or give its folder']
    assert metrics['eval_qaa_language'] != metrics['eval_qaa_language'] and len(logs) == 8 # NaN: a metric to choose by is there
    evaluated(loaded(model)[0])
    assert said[1].startswith('qaa, step 7: ')
    for part in ' as much as counting over ', ' of 100', ', n-grams ': assert part in said[1], part
    assert state.log_history == [metrics | dict(step=7)] and logs == metrics | dict(eval_runtime=1.) and len(metrics) == 7
    net = loaded(model)[0]
    def refused(): raise ValueError('Cannot merge layers of another base')
    net.merge_and_unload = refused # As peft does with some
    evaluated(net)
    assert said[2] == 'qaa, step 7: the model was not asked: Cannot merge layers of another base'

def test_several_sets_of_evaluation_ask_once_a_step(dataset, model, tmp_path, monkeypatch):
    "And a training whose number cannot be had goes on, though the number chooses the best weights"
    import pronto
    from transformers import Trainer, TrainingArguments
    net, tokenizer = loaded(model)
    ids = torch.tensor([tokenizer(zoo.texts(2)[1])['input_ids'][:3]]*2)
    callback, asked = pronto.LanguageCallback(dataset, tokenizer, report=str), []
    def numbers(model):
        asked.append(model)
        if len(asked) == 2: raise InputError('model', 'cannot be asked')
        return callback.named(len(asked), 0., 9., 50., 9.)
    monkeypatch.setattr(callback, 'numbers', numbers)
    how = dict(output_dir=str(tmp_path), max_steps=3, eval_strategy='steps', eval_steps=1, report_to=[], save_strategy='no', use_cpu=True,
               metric_for_best_model='qaa_language', greater_is_better=True)
    trainer = Trainer(net, TrainingArguments(**how), train_dataset=[{}]*2, eval_dataset=dict(a=[{}]*2, b=[{}]*2),
                      data_collator=lambda rows: dict(input_ids=ids, labels=ids), callbacks=[callback])
    trainer.train()
    assert len(asked) == 3 and trainer.state.global_step == 3
    trainer.evaluate()
    assert len(asked) == 5 # Outside of a training nobody knows whether the weights are the same
    def interrupted(model):
        if trainer.state.global_step == 2: raise KeyboardInterrupt
        return numbers(model)
    monkeypatch.setattr(callback, 'numbers', interrupted)
    with pytest.raises(KeyboardInterrupt): trainer.train()
    monkeypatch.setattr(callback, 'numbers', numbers)
    n = len(asked)
    trainer.evaluate()
    trainer.evaluate()
    assert len(asked) == n + 4 # After an interrupted training each is asked, too

def test_a_loaded_model_is_the_folder_that_it_came_from(asked, model):
    net, tokenizer = loaded(model)
    by_folder, by_model = asked(str(model), tasks='WO').runs[0], asked(net, tokenizer, tasks='WO').runs[0]
    assert (by_folder.model, by_folder.model_hash) == (by_model.model, by_model.model_hash)
    tokenizer(['lo la mi'], truncation=True, max_length=2, padding='max_length') # Which it keeps, and writes
    net.config.use_cache = False
    assert asked(net, tokenizer, tasks='WO').runs[0].model_hash == by_model.model_hash
    tokenizer.model_max_length //= 2
    assert asked(net, tokenizer, tasks='WO').runs[0].model_hash != by_model.model_hash
    net, tokenizer = loaded(model)
    with torch.no_grad(): next(net.parameters()).add_(.1)
    assert asked(net, tokenizer, tasks='WO').runs[0].model_hash != by_model.model_hash

def test_a_folder_may_have_tensors_that_are_computed_anew(asked, model, tmp_path):
    "As those of models that older versions of transformers wrote"
    from safetensors.torch import load_file, save_file
    old = shutil.copytree(model, tmp_path/'old')
    tensors = load_file(old/'model.safetensors') | {'position_ids': torch.arange(9)}
    save_file(tensors, old/'model.safetensors', metadata=dict(format='pt'))
    by_folder, by_model = asked(str(old), tasks='WO').runs[0], asked(*loaded(old), tasks='WO').runs[0]
    assert by_folder.model_hash == by_model.model_hash

@pytest.mark.filterwarnings('ignore::DeprecationWarning', 'ignore::UserWarning')
def test_adapters_are_merged_in_a_copy_and_quantised_models_are_one_line(asked, model):
    net, tokenizer = loaded(model)
    class Adapted(type(net)): # As a model of peft
        def merge_and_unload(self):
            next(self.parameters()).data.add_(.1)
            self.merged = True
            return self
    before, net.__class__ = next(net.parameters()).clone(), Adapted
    assert asked(net, tokenizer, tasks='WO').runs and torch.equal(next(net.parameters()), before)
    net, _ = loaded(model)
    net.lm_head = torch.nn.Linear(4, 4)
    quantised = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear}, dtype=torch.qint8)
    with pytest.raises(InputError, match='quantised in memory'): asked(quantised, tokenizer, tasks='WO')

@pytest.mark.slow
def test_a_task_without_rows_in_some_folds_is_asked_in_the_others(tmp_path):
    "As of one gospel: a quick probe learns from the test rows of other folds"
    import pronto
    from pronto.runs.planning import tested_folds
    has_gaps = lambda ref: ref.chapter <= 9
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in made_up().items()
            if ref.book in ('MRK','LUK') and (ref.verse % 2 or not has_gaps(ref))]
    build(TEXT_ALONE, Bible(rows), tmp_path/'qaa', splits='folds', report=str)
    found = pronto.load_dataset(tmp_path/'qaa')
    tested = tested_folds(found, found.known['next_verse'])
    assert 0 < len(tested) < 9
    bert = zoo.save_model(tmp_path/'bert', 'bert')
    (run,) = pronto.evaluate(found, str(bert), tasks='NV', limit=20, show=False, report=str, runs=tmp_path/'runs').runs
    assert run.protocol == 'quick-probe' and len(run.paths) == len(tested)

def test_no_number_is_minus_nothing():
    from pronto.reporting.language_score import scale_text
    assert scale_text(-.3).splitlines()[1].endswith('| 0')

@pytest.mark.slow
def test_choices_are_encoded_together_whatever_else_is_asked(dataset, tmp_path, monkeypatch):
    "What is encoded in one batch changes the last digit of encodings, and so may change a number"
    import pronto
    from pronto.modeling.encodings import FrozenModel
    bert, asked_for, encode = zoo.save_model(tmp_path/'bert', 'bert'), [], FrozenModel.encode
    def recorded(self, texts, **how):
        asked_for[-1].append(list(texts))
        return encode(self, texts, **how)
    monkeypatch.setattr(FrozenModel, 'encode', recorded)
    for n,tasks in enumerate(([], ['WX','WC','WO'], ['WO','WC','WX'])):
        monkeypatch.setenv('PRONTO_DATA', str(tmp_path/f'data{n}'))
        asked_for.append([])
        pronto.evaluate(dataset, str(bert), tasks=tasks, show=False, report=str)
    assert asked_for[0][:len(asked_for[1])] == asked_for[1] == asked_for[2]

def test_a_known_model_that_is_not_there_is_not_taken_for_a_slip(tmp_path):
    import pronto
    with pytest.raises(InputError, match='bert-base-cased: .*; check the path, or fetch it with `hf download bert-base-cased`'):
        pronto.evaluate(tmp_path, 'bert-base-cased')
