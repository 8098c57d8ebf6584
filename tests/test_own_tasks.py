"Tasks of a user's file, one of each kind: built, loaded, trained, tabled, reported, swept, released and exported"
import json, subprocess, sys

import pytest

from pronto.cli.command import main
from pronto.datasets import tasks as registry
from pronto.datasets.loading import load_dataset_folder
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.datasets.baselines import predict_baselines
from pronto.runs.store import read_runs
from pronto.sources.annotation_file import read_annotations, write_annotations

MY_TASKS = '''
from pronto import PairTask, VerseTask
from pronto.datasets.pairs import SENSE_PAIRS

def holds_question(verse):
    return str(int('interrogative' in [s.mood for s in verse.sentences]))

def by_initial(predicate): return predicate._replace(sense=predicate.sense[0])

question = VerseTask('question', 'Q', 'Does the verse hold a question?', holds_question, ('0','1'), epochs=2)
initial = PairTask('same_initial', 'SI', 'Does verse 2 use a verb with this initial?', SENSE_PAIRS, ('no','yes'), use=by_initial)
'''
OWN = {'question','same_initial'}

@pytest.fixture(scope='module')
def place(tmp_path_factory):
    "A corpus, the user's file, and a dataset with its tasks"
    tmp = tmp_path_factory.mktemp('own')
    write_corpus(make_corpus(n_verses=260), tmp/'corpus')
    (tmp/'my_tasks.py').write_text(MY_TASKS)
    assert main(['annotate', str(tmp/'corpus'/'ontonotes'), '-o', str(tmp/'annotations.parquet')]) == 0
    assert main(['build', '-a', str(tmp/'annotations.parquet'), '-b', str(tmp/'corpus'/'bibles'/'qad.tsv'), '-o', str(tmp/'qad'),
                 '--min-verses', '100', '--tasks', str(tmp/'my_tasks.py')]) == 0
    return tmp

@pytest.fixture(scope='module')
def model(tmp_path_factory):
    "A tiny BERT that knows three words"
    torch, hf = pytest.importorskip('torch'), pytest.importorskip('transformers')
    from tokenizers import Tokenizer, models, pre_tokenizers
    folder = tmp_path_factory.mktemp('models')/'tiny'
    words = '[PAD] [UNK] [CLS] [SEP] lo la mi'.split()
    tokenizer = Tokenizer(models.WordLevel({w:i for i,w in enumerate(words)}, '[UNK]'))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    names = dict(unk_token='[UNK]', pad_token='[PAD]', cls_token='[CLS]', sep_token='[SEP]')
    hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=60)
    torch.manual_seed(0)
    hf.AutoModel.from_config(hf.BertConfig(vocab_size=len(words), **sizes)).save_pretrained(folder)
    return folder

def own_tasks(place): return registry.read_tasks(place/'my_tasks.py')

def test_they_are_built_beside_the_others_and_loaded(place):
    known = own_tasks(place)
    dataset = load_dataset_folder(place/'qad', tasks=known)
    there = {*dataset.manifest['source']['tasks'], *OWN, *registry.TASK_SETS['choices'], 'next_verse'}
    assert list(dataset.tasks) == [stem for stem in known if stem in there]
    for t in map(known.get, OWN):
        rows = [r for part in dataset.tasks[t.stem].values() for r in part]
        assert {type(r) for r in rows} == {t.example} and {r.label for r in rows} == {*t.labels}
    assert {r.sense for r in dataset.tasks['same_initial']['train']} <= set('abcdefghijklmnopqrstuvwxyz')
    predictors = dataset.manifest['predictors']
    of_pairs, of_verses = predictors['same_sense'].keys(), predictors['question'].keys()
    assert predictors['same_initial'].keys() == of_pairs > of_verses

@pytest.mark.parametrize('splits', ['parallel','random'])
def test_more_arguments_is_built_from_one_line(place, tmp_path, splits):
    "Two uses with different counts: the label is the sign of the difference, and the order of verses tells nothing"
    (tmp_path/'more.py').write_text('from pronto.datasets.tasks import MA')
    assert main(['build', '-a', str(place/'annotations.parquet'), '-b', str(place/'corpus'/'bibles'/'qad.tsv'),
                 '-o', str(tmp_path/'qad'), '--min-verses', '100', '--splits', splits,
                 '--tasks', str(tmp_path/'more.py')]) == 0
    dataset, uses = load_dataset_folder(tmp_path/'qad'), {}
    for verse in read_annotations(place/'annotations.parquet').verses.values():
        for sentence in verse.sentences:
            for sense,n in sentence.predicates: uses.setdefault((str(verse.ref), sense), set()).add(n)
    rows = [r for part in dataset.tasks['more_arguments'].values() for r in part]
    assert len(rows) > 40
    for r in rows:
        (first,), (second,) = (uses[str(ref), r.sense] for ref in r.refs)
        assert r.label == ('more' if first > second else 'fewer') and first != second
    assert .4 < sum(r.label == 'more' for r in rows)/len(rows) < .6

def test_who_lacks_the_file_can_still_load_and_export_the_dataset(place, tmp_path):
    assert load_dataset_folder(place/'qad').tasks.keys() > OWN
    assert main(['export', 'hf', str(place/'qad'), '-o', str(tmp_path/'hf')]) == 0

def test_baselines_answer_with_their_labels(place):
    dataset = load_dataset_folder(place/'qad', tasks=own_tasks(place))
    for stem in OWN:
        task, parts = dataset.known[stem], dataset.tasks[stem]
        for answers in predict_baselines(task, parts['train'], parts['test']).values():
            assert len(answers) == len(parts['test']) and {*answers} <= {*task.labels}

def test_they_are_trained_tabled_reported_and_exported(place, model, tmp_path, capsys):
    tasks, runs = ['--tasks', str(place/'my_tasks.py')], ['--runs', str(tmp_path/'runs')]
    assert main(['eval', str(place/'qad'), '-m', str(model), '-t', 'Q', '-t', 'si', '--epochs', '1', '--limit', '40', *tasks, *runs]) == 0
    assert {r.task for r in read_runs(tmp_path/'runs')} == OWN
    capsys.readouterr()
    assert main(['tables', *runs, *tasks, '-o', str(tmp_path/'tables')]) == 0
    header = next(line for line in capsys.readouterr().out.splitlines() if line.startswith('| Model'))
    assert [c for c in header.split() if c in ('SAC','Q','SI')] == ['SAC','Q','SI']
    assert main(['report', *runs, *tasks, '-o', str(tmp_path/'report.html')]) == 0
    assert '"SI"' in (tmp_path/'report.html').read_text(encoding='utf-8')
    assert main(['export', 'hf', str(place/'qad'), '-o', str(tmp_path/'hf'), *tasks]) == 0
    assert main(['export', 'lm-eval', str(place/'qad'), '-o', str(tmp_path/'lm'), *tasks]) == 0
    prompt = (tmp_path/'lm'/'pronto_same_initial.yaml').read_text(encoding='utf-8')
    assert 'Does verse 2 use a verb with this initial?' in prompt and '{{text2}}' in prompt

def test_other_processes_are_told_where_the_file_is(place, model, tmp_path):
    from pronto.lab.jobs.sweep import NotebookRun, notebook_parameters
    from pronto.runs.planning import plan
    trainings = [plan(place/'qad', [str(model)], [task], known=own_tasks(place))[0] for task in ('SI','SS')]
    own, known = (NotebookRun((t,), (t.dataset.path,)) for t in trainings)
    assert notebook_parameters(own, tmp_path)['tasks_file'] == str((place/'my_tasks.py').resolve())
    assert 'tasks_file' not in notebook_parameters(known, tmp_path)

def test_a_training_takes_its_task_along_to_another_process(place, model):
    "Which has not run the file"
    from operator import attrgetter
    from pronto.core.processes import in_processes
    from pronto.runs.planning import plan
    training, = plan(place/'qad', [str(model)], ['Q'], known=own_tasks(place))
    found = in_processes(attrgetter('task.file', 'task.labels'), [(training,)], 2)
    assert list(found) == [(str((place/'my_tasks.py').resolve()), ('0','1'))]

def test_a_release_has_them_and_is_made_again_when_the_file_changes(place, tmp_path):
    from pronto.core.files import content_hash
    from pronto.lab.jobs.release import Settings, build_translation, is_finished
    bible, file = place/'corpus'/'bibles'/'qad.tsv', place/'annotations.parquet'
    common = dict(annotations=str(file), annotations_hash=content_hash(file.read_bytes()), min_verses=100)
    settings = Settings(**common, task_files={str(place/'my_tasks.py'): 'one'})
    assert build_translation('qad', bible, tmp_path, settings) == ''
    assert json.loads((tmp_path/'qad'/'manifest.json').read_text())['counts'].keys() > OWN
    assert is_finished(tmp_path/'qad', bible, settings)
    assert not is_finished(tmp_path/'qad', bible, Settings(**common, task_files={str(place/'my_tasks.py'): 'two'}))
    assert build_translation('qad', bible, tmp_path, Settings(**common)) == '' # By the same worker, which has read the file
    assert not json.loads((tmp_path/'qad'/'manifest.json').read_text())['counts'].keys() & OWN

@pytest.mark.slow
def test_a_sweep_runs_them(place, model, tmp_path):
    assert main(['sweep', str(place/'qad'), '-m', str(model), '-t', 'Q', '-t', 'SI', '--epochs', '1', '--limit', '40',
                 '--tasks', str(place/'my_tasks.py'), '--runs', str(tmp_path/'runs'), '--workers', '1']) == 0
    assert {r.task for r in read_runs(tmp_path/'runs')} == OWN

def test_a_label_that_is_not_the_tasks_is_one_line(place, tmp_path, capsys):
    (tmp_path/'bad.py').write_text(MY_TASKS.replace("return str(int(", "return (int("))
    capsys.readouterr()
    assert main(['build', '-a', str(place/'annotations.parquet'), '-b', str(place/'corpus'/'bibles'/'qad.tsv'), '-o', str(tmp_path/'x'),
                 '--min-verses', '100', '--tasks', str(tmp_path/'bad.py')]) == 1
    line, = capsys.readouterr().err.splitlines()
    assert 'question, ' in line and "which is not one of its labels ('0', '1')" in line

def test_a_damaged_file_is_one_line(tmp_path, capsys):
    (tmp_path/'bad.py').write_text('import pronto\npronto.nothing')
    assert main(['tables', '--tasks', str(tmp_path/'bad.py')]) == 1
    line, = capsys.readouterr().err.splitlines()
    assert 'bad.py, line 2: fails with AttributeError' in line

def test_import_pronto_alone_loads_nothing_heavy():
    code = 'import sys, pronto; print(sorted({m.split(".")[0] for m in sys.modules} & {"numpy","torch","pandas"}))'
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout.strip() == '[]'
    with pytest.raises(AttributeError): __import__('pronto').Nothing

def test_a_set_chooses_tasks_in_every_command(place, model, tmp_path, capsys):
    "A dataset of the set `core`, and commands about a set on a dataset with other tasks"
    bible = str(place/'corpus'/'bibles'/'qad.tsv')
    build = ['build', '-a', str(place/'annotations.parquet'), '-b', bible, '-o', str(tmp_path/'qad'), '--min-verses', '100']
    assert main([*build, '--tasks', 'core']) == 0
    assert 'has no labels for NS, SKT, STH; other sources have them' in capsys.readouterr().err
    core = json.loads((tmp_path/'qad'/'manifest.json').read_text())['counts']
    assert {*core} == {'same_sense','more_arguments','same_predicate','main_tense','subject_form','verb_kind'}
    assert main(['build', *build[1:-4], '-o', str(tmp_path/'five'), *build[-2:]]) == 0 # The set was for one command
    all_of_source = read_annotations(place/'annotations.parquet').source.tasks
    choices = {*registry.TASK_SETS['choices'], 'next_verse'}
    assert {*json.loads((tmp_path/'five'/'manifest.json').read_text())['counts']} == {*all_of_source, *choices}
    capsys.readouterr()
    assert main(['probe', str(place/'qad'), '-m', str(model), '--tasks', 'paper', '--runs', str(tmp_path/'runs')]) == 0
    assert {r.task for r in read_runs(tmp_path/'runs')} <= {*registry.TASK_SETS['paper']}
    capsys.readouterr()
    assert main(['eval', str(tmp_path/'five'), '--tasks', 'core']) == 0 # Baselines
    shown = capsys.readouterr().out
    assert '| SS | ' in shown and '| SM | ' not in shown
    assert main(['build', *build[1:], '--tasks', 'cores']) == 1
    assert 'or a set: paper, core' in capsys.readouterr().err

def test_a_file_of_readers_or_sources_that_is_not_there_is_named(tmp_path, capsys):
    (tmp_path/'x.txt').write_text('MRK 1:1 The beginning\n', encoding='utf-8')
    for argv in ['convert', 'x.txt', '--readers', 'none.py'], ['annotate', '.', '-o', 'a.parquet', '--sources', 'none.py']:
        assert main([str(tmp_path/a) if a.endswith('.txt') else a for a in argv]) == 1
        line, = capsys.readouterr().err.splitlines()
        assert 'none.py: is not there; name a file of Python' in line and 'fails with' not in line

def test_a_reader_or_a_source_has_a_name_of_its_own(tmp_path, capsys):
    "So that no record is taken for one of PrOnto's own reading"
    from pronto.bibles.reading import READERS
    from pronto.sources.annotate import SOURCES
    known = [*READERS], [*SOURCES]
    for name in 'USFM', 'JSON': # Of the core, and of those that the lab offers
        (tmp_path/f'{name}.py').write_text(f'from pronto.bibles.reading import Reader\nMINE = Reader("{name}", bool, str)\n')
    source = 'from dataclasses import replace\nfrom pronto.sources.annotate import SOURCES\nMINE = replace(SOURCES[1], if_empty="mine")\n'
    (tmp_path/'source.py').write_text(source)
    for name,argv in {'USFM': ['convert', 'x.txt', '--readers', str(tmp_path/'USFM.py')],
                      'JSON': ['convert', 'x.txt', '--readers', str(tmp_path/'JSON.py')],
                      'MACULA Greek': ['annotate', '.', '-o', 'a.parquet', '--sources', str(tmp_path/'source.py')]}.items():
        assert main(argv) == 1 and f'{name} is a name of PrOnto; choose another' in capsys.readouterr().err
    assert (READERS, SOURCES) == known

def test_build_says_which_tasks_are_newer_than_the_annotations(place, tmp_path, capsys):
    earlier = read_annotations(place/'annotations.parquet')
    earlier.source.name = 'OntoNotes' # The corpus has a name of its own
    earlier.source.tasks.remove('sentence_mood')
    write_annotations(earlier, tmp_path/'earlier.parquet')
    build = ['build', '-b', str(place/'corpus'/'bibles'/'qad.tsv'), '-o', str(tmp_path/'qad'), '--min-verses', '100', '-a']
    assert main([*build, str(tmp_path/'earlier.parquet')]) == 0
    said = capsys.readouterr().err
    assert f'{tmp_path/"earlier.parquet"}: has no labels for sentence_mood, which OntoNotes has since it was made; make it again' in said
    assert main([*build, str(place/'annotations.parquet'), '--replace']) == 0
    assert 'has no labels' not in capsys.readouterr().err
