"Exports to other tools, read by their own clients without a network"
import json, os, shutil, subprocess, sys
from pathlib import Path

import pytest
import yaml
pytest.importorskip('datasets')
import pyarrow as pa
from pyarrow import parquet
from conftest import ROOT, join_folds
from pronto.cli.command import main
from pronto.datasets.examples import VerseExample
from pronto.datasets.loading import Dataset, load_dataset_folder
from pronto.datasets.manifest import CITATION, NOT_STATED
from pronto.demo.corpus import build_demo
from pronto.lab.interop.hf import export_hf, export_tsv, provenance
from pronto.core.files import InputError
from pronto.lab.interop.lm_eval import export_lm_eval

def contents(folder): return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob('*')) if p.is_file()}

def outside(tmp_path, *command):
    "Run a program without a network, from another folder, with its own cache"
    env = os.environ | dict(HF_HUB_OFFLINE='1', HF_HOME=str(tmp_path/'hf-home'), HF_DATASETS_CACHE=str(tmp_path/'cache'),
                            PYTHONPATH=str(ROOT), CUDA_VISIBLE_DEVICES='')
    (tmp_path/'elsewhere').mkdir(exist_ok=True)
    done = subprocess.run(command, env=env, cwd=tmp_path/'elsewhere', capture_output=True, text=True, encoding='utf-8')
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout

@pytest.fixture(scope='module')
def demo(tmp_path_factory):
    "Datasets of the embedded corpus, one of whose splits is empty"
    folder = tmp_path_factory.mktemp('demo')
    build_demo(folder, n_verses=300)
    return folder/'datasets'

# HuggingFace

LOAD = '''
import json, sys, datasets
folder, = sys.argv[1:]
def load(stem, **more): return datasets.load_dataset(folder, stem, filters=[('translation', '==', 'qac')], **more)
mood, pairs = load('sentence_mood'), load('same_sense', split='test')
print(json.dumps(dict(
    splits=list(mood), mood=[mood[s]['label'] for s in mood], text=mood['test']['text'], ref=mood['test']['ref'],
    pairs=[pairs[c] for c in ('sense','text1','text2','label','ref1','ref2')],
    all=len(datasets.load_dataset(folder, 'sentence_mood', split='test')),
    numbers=mood['test'].class_encode_column('label').features['label'].names,
    configs=datasets.get_dataset_config_names(folder),
    metadata=datasets.load_dataset(folder, 'metadata')['train'].num_rows), default=list))
'''

@pytest.mark.slow
def test_datasets_gives_the_rows(demo, tmp_path):
    "Of one translation among several; a table of a release is there, too"
    release = tmp_path/'release'
    shutil.copytree(demo, release)
    parquet.write_table(pa.table(dict(code=['qaa','qac'])), release/'metadata.parquet')
    assert main(['export', 'hf', str(release), '-o', str(tmp_path/'hf')]) == 0
    loaded = json.loads(outside(tmp_path, sys.executable, '-c', LOAD, str(tmp_path/'hf')))
    tasks = load_dataset_folder(demo/'qac').tasks
    mood, pairs = tasks['sentence_mood'], tasks['same_sense']
    assert loaded['splits'] == ['train','validation','test'] and loaded['metadata'] == 2
    assert loaded['mood'] == [[r.label for r in mood[s]] for s in ('train','dev','test')]
    assert (loaded['text'], loaded['ref']) == ([r.text for r in mood['test']], [str(r.ref) for r in mood['test']])
    columns = ('sense','text1','text2','label','ref1','ref2')
    assert loaded['pairs'] == [[str(getattr(r, c)) for r in pairs['test']] for c in columns]
    assert loaded['all'] == sum(len(load_dataset_folder(demo/c).tasks['sentence_mood']['test']) for c in ('qaa','qab','qac','qad'))
    assert sorted(loaded['configs']) == sorted([*tasks, 'metadata'])
    assert set(loaded['numbers']) == {r.label for r in mood['test']}

def test_a_card_names_the_counts_that_are_there(demo, toy_acai_dataset, tmp_path):
    names = 'nonpronominal_mention', 'people_named'
    for folder,there,other in (demo/'qaa', *names), (toy_acai_dataset, *names[::-1]):
        export_hf([folder], tmp_path/there)
        text = (tmp_path/there/'README.md').read_text(encoding='utf-8')
        assert f'for `{there}` the label is the count itself' in text and other not in text

def test_a_published_folder_comes_back_as_it_was(demo, tmp_path):
    "No manifest, no references, labels and tasks of somebody else's"
    old = tmp_path/'old'
    mood, mine, senses = 'lo la\tdeclarative\n', 'lo\tb\nla\ta\n', 'go.01\tlo\tla\tsame\n'
    tables = {'sentence_mood': mood, 'my_own': mine, 'same_sense': senses}
    old.mkdir()
    for stem,text in tables.items():
        for s in 'train','dev','test': (old/f'{stem}_{s}.tsv').write_text(text if s != 'dev' else '')
    export_hf([old], tmp_path/'hf')
    assert (tmp_path/'hf'/'my_own'/'test.parquet').is_file()
    export_tsv([old], tmp_path/'back')
    back = contents(tmp_path/'back')
    for name in 'README.md', 'export.json': assert CITATION in back.pop(name).decode()
    assert back == contents(old)
    export_lm_eval([old], tmp_path/'lm')
    assert (tmp_path/'lm'/'pronto_my_own.yaml').is_file()

# EleutherAI's harness; the notebook checks its files without it

@pytest.fixture(scope='module')
def tiny(tmp_path_factory):
    "A tiny random GPT-2 that reads bytes"
    torch = pytest.importorskip('torch')
    import transformers as hf
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    folder = tmp_path_factory.mktemp('gpt')
    letters = ['<end>', *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens = Tokenizer(models.BPE({letter: i for i,letter in enumerate(letters)}, []))
    tokens.pre_tokenizer, tokens.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=tokens, eos_token='<end>', bos_token='<end>', pad_token='<end>')
    torch.manual_seed(0)
    config = hf.GPT2Config(vocab_size=257, n_embd=16, n_layer=1, n_head=2, n_positions=4096, bos_token_id=0, eos_token_id=0)
    hf.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

HARNESS = '''
import json, sys, lm_eval.tasks
from functools import partial
from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import TaskManager
folder, *commands = map(json.loads, sys.argv[1:])
for sys.argv[1:] in commands:
    cli_evaluate()
    lm_eval.tasks.TaskManager = partial(TaskManager, include_defaults=False) # To read its own tasks takes seconds: once is enough
loaded = TaskManager(include_path=folder, include_defaults=False).load(['pronto','pronto_fewshot'])
print(json.dumps([loaded['group_map'], {name: len(task.test_docs()) for name,task in loaded['tasks'].items()}]))
'''

@pytest.fixture(scope='module')
def harness(demo, tiny, once):
    "What it makes of our exports, all in one process, which imports it once: of two languages, and of a model without special tokens"
    pytest.importorskip('lm_eval')
    def ask(folder):
        export_lm_eval([demo/'qaa', demo/'qac'], folder/'written')
        (folder/'written').rename(folder/'moved')
        shutil.copytree(tiny, folder/'model')
        config = folder/'model'/'tokenizer_config.json'
        known = json.loads(config.read_text(encoding='utf-8'))
        config.write_text(json.dumps({k: v for k,v in known.items() if k not in ('bos_token','eos_token')}), encoding='utf-8')
        (folder/'model'/'special_tokens_map.json').unlink(missing_ok=True)
        export_lm_eval([demo/'qaa'], folder/'lm')
        def command(tasks, path, model, limit, out, *more):
            return json.dumps(['--tasks', tasks, '--include_path', str(path), '--model', 'hf', '--model_args', f'pretrained={model}',
                               '--limit', limit, '--device', 'cpu', '--output_path', str(folder/out), *more])
        both = command('pronto,pronto_sentence_mood_fewshot', folder/'moved', tiny, '6', 'out',
                       '--metadata', '{"language": "qaa"}', '--log_samples')
        bare = command('pronto_sentence_mood', folder/'lm', f'{folder/"model"},prefix_token_id=0', '4', 'bare')
        said = outside(folder, sys.executable, '-c', HARNESS, json.dumps(str(folder/'moved')), both, bare)
        (folder/'groups.json').write_text(said.splitlines()[-1])
    return once('harness', ask)

def results_of(out): return json.loads(next(out.rglob('results_*.json')).read_text(encoding='utf-8'))

@pytest.mark.slow
def test_the_harness_asks_our_questions(demo, harness):
    "From another folder than it was written to: groups, accuracy, the right answers, balanced examples in the prompt"
    results = results_of(harness/'out')
    data = load_dataset_folder(demo/'qaa').tasks
    assert set(results['group_subtasks']['pronto']) == {f'pronto_{stem}' for stem in data}
    scores = [results['results'][f'pronto_{stem}']['acc,none'] for stem in data]
    assert results['results']['pronto']['acc,none'] == pytest.approx(sum(scores)/5)
    def samples(task):
        path = next((harness/'out').rglob(f'samples_{task}_2*.jsonl'))
        return sorted(map(json.loads, path.open(encoding='utf-8')), key=lambda s: s['doc_id'])
    capped = [str(min(int(r.label), 3)) for r in data['nonpronominal_mention']['test'][:6]]
    assert ['0123'[int(s['target'])] for s in samples('pronto_nonpronominal_mention')] == capped
    plain, shown = (samples(f'pronto_sentence_mood{x}') for x in ('','_fewshot'))
    row = data['sentence_mood']['test'][0]
    asked = ('What is the mood of the first sentence of this verse?\n'
             f'Verse: {row.text}\nA. Declarative\nB. Imperative\nC. Interrogative\nAnswer:')
    first = plain[0]['arguments']
    assert first['gen_args_0']['arg_0'] == asked and first['gen_args_1']['arg_1'] == ' B'
    *examples, last = shown[0]['arguments']['gen_args_0']['arg_0'].split('\n\n')
    assert last == asked and sorted(e[-1] for e in examples) == ['A','B','C']
    moods = ('declarative','imperative','interrogative')
    known = {r.text: 'ABC'[moods.index(r.label)] for r in data['sentence_mood']['train']}
    assert all(known[e.split('\n')[1].removeprefix('Verse: ')] == e[-1] for e in examples)

@pytest.mark.slow
def test_a_model_without_begin_and_end_of_text_is_asked_too(harness):
    "With the option that the exported card names"
    tokenizer = pytest.importorskip('transformers').AutoTokenizer.from_pretrained(harness/'model')
    assert tokenizer.bos_token_id is None and tokenizer.eos_token_id is None
    assert 'prefix_token_id=0' in (harness/'lm'/'README.md').read_text(encoding='utf-8')
    assert 0 <= results_of(harness/'bare')['results']['pronto_sentence_mood']['acc,none'] <= 1

@pytest.mark.slow
def test_the_harness_loads_the_groups_of_all(demo, harness):
    groups,tasks = json.loads((harness/'groups.json').read_text())
    stems = load_dataset_folder(demo/'qaa').tasks
    sizes = {stem: sum(len(load_dataset_folder(demo/code).tasks[stem]['test']) for code in ('qaa','qac')) for stem in stems}
    assert groups == {f'pronto{x}': [f'pronto_{stem}{x}' for stem in stems] for x in ('','_fewshot')}
    assert tasks == {f'pronto_{stem}{x}': n for stem,n in sizes.items() for x in ('','_fewshot')}

def test_files_of_tasks_do_not_grow_with_the_languages(demo, tmp_path):
    for name,codes in ('one', ['qaa']), ('two', ['qaa','qac']): export_lm_eval([demo/c for c in codes], tmp_path/name)
    yamls = lambda name: {p.relative_to(tmp_path/name): p.read_text() for p in (tmp_path/name).rglob('*.yaml')}
    n_tasks = len(json.loads((demo/'qaa'/'manifest.json').read_text())['counts'])
    assert yamls('one') == yamls('two') and len(yamls('one')) == 2*(1 + n_tasks)

def test_a_task_with_more_labels_than_letters_is_left_out_of_the_harness_by_name(tmp_path, capsys):
    for stem,labels in dict(plenty=[f'c{i:02}' for i in range(27)], few=['a','b']).items():
        rows = ''.join(f'lo {label}\t{label}\n' for label in labels)
        for split in 'train','dev','test': (tmp_path/f'{stem}_{split}.tsv').write_text(rows)
    assert export_lm_eval([tmp_path], tmp_path/'lm') == ['pronto', 'pronto_fewshot', 'pronto_few', 'pronto_few_fewshot']
    assert f'left out {tmp_path}, plenty: has 27 labels' in capsys.readouterr().err
    assert 'plenty' not in (tmp_path/'lm'/'README.md').read_text(encoding='utf-8')

def test_a_template_serves_tasks_with_the_same_labels(tmp_path):
    for code,labels in dict(one='ab', two='ac').items():
        (tmp_path/code).mkdir()
        rows = ''.join(f'lo {label}\t{label}\n' for label in labels)
        for s in 'train','dev','test': (tmp_path/code/f'my_own_{s}.tsv').write_text(rows)
    with pytest.raises(InputError, match='other labels of my_own .a, c. than the datasets before it; export it by itself'):
        export_lm_eval([tmp_path/'one', tmp_path/'two'], tmp_path/'lm')
    assert not (tmp_path/'lm').exists()

# What is owed

def missing(about): return [k for k,v in about.items() if not v or isinstance(v, dict) and missing(v)]

def test_every_dataset_says_what_is_owed(demo):
    for folder in demo.iterdir():
        manifest = json.loads((folder/'manifest.json').read_text(encoding='utf-8'))
        assert manifest['licence'] == 'Apache-2.0' and manifest['citation'] == [CITATION, manifest['source']['attribution']]
        assert missing(provenance(load_dataset_folder(folder))) == []

@pytest.mark.parametrize('format', ['tsv','hf','lm-eval'])
@pytest.mark.parametrize('codes', [['qaa'], ['qaa','qad']], ids=len)
def test_every_export_says_what_is_owed(demo, tmp_path, format, codes):
    assert main(['export', format, *(str(demo/c) for c in codes), '-o', str(tmp_path/'out')]) == 0
    if format == 'tsv' and len(codes) == 1:
        assert contents(tmp_path/'out') == contents(demo/'qaa')
        return
    card, about = ((tmp_path/'out'/name).read_text(encoding='utf-8') for name in ('README.md','export.json'))
    about = json.loads(about)
    assert CITATION in card and '@inproceedings{gessler-2024-pronto' in card
    assert 'Answer each test row by itself' in card
    assert set(about['datasets']) == set(codes) and all(missing(d) == [] for d in about['datasets'].values())
    for d in about['datasets'].values():
        assert d['licence'] in card and d['source']['attribution'] in card and d['source']['licence'] in card

def test_a_release_is_exported_whole(demo, tmp_path, capsys):
    assert main(['export', 'tsv', str(demo), '-o', str(tmp_path/'out')]) == 0
    assert all(contents(tmp_path/'out'/c) == contents(demo/c) for c in ('qaa','qab','qac','qad'))
    assert capsys.readouterr().out == f'{tmp_path/"out"}: 4 datasets (qaa, qab, qac, qad)\n'

def test_a_licence_that_nobody_states_is_said_to_be_so(tmp_path):
    about = provenance(Dataset(tmp_path, {'x': dict(train=[VerseExample('lo', '1', None)], dev=[], test=[])}))
    assert about['licence'] == NOT_STATED and missing(about) == []

def test_nothing_asks_for_code_to_be_trusted(demo, tmp_path):
    "Neither in what we write nor in what we are"
    for write,name in (export_hf,'hf'), (export_lm_eval,'lm'): write([demo/'qaa'], tmp_path/name)
    for f in [*tmp_path.rglob('*'), *(ROOT/'pronto').rglob('*.py')]:
        if not f.is_file() or f.suffix == '.parquet': continue
        text = f.read_text(encoding='utf-8').replace('trust_remote_code=False', '')
        assert 'trust_remote_code' not in text, f
    assert [f.name for f in tmp_path.rglob('*') if f.suffix in ('.pkl','.pickle','.pt','.bin')] == []

# Bad input

def error(capsys, *argv):
    assert main(['export', *map(str, argv)]) == 1
    text = capsys.readouterr().err
    assert text.count('\n') == 1
    return text

def test_bad_input_is_one_line(demo, tmp_path, capsys):
    (tmp_path/'mine').mkdir()
    (tmp_path/'mine'/'README.md').write_text('my own')
    for format in 'tsv','hf','lm-eval':
        assert 'is not a dataset folder' in error(capsys, format, tmp_path/'none', '-o', tmp_path/'out')
        assert 'has the name qaa, as another' in error(capsys, format, demo/'qaa', f'{demo}/../datasets/qaa', '-o', tmp_path/'out')
        assert 'is not replaced, because' in error(capsys, format, demo/'qaa', '-o', tmp_path/'mine')
    assert (tmp_path/'mine'/'README.md').read_text() == 'my own' and not (tmp_path/'out').exists()

def test_the_unlabelled_test_rows_of_same_sense_give_their_labels_away(demo):
    "Which is why cards say that rows are answered one by one"
    rows = load_dataset_folder(demo/'qaa').tasks['same_sense']['test']
    first = {(row.sense, row.ref1) for row in rows}
    assert rows and all(((row.sense, row.ref2) in first) == (row.label == 'same') for row in rows)

@pytest.mark.parametrize('format', ['tsv','hf','lm-eval','standoff'])
def test_every_export_says_that_rows_are_answered_one_by_one(demo, tmp_path, format):
    assert main(['export', format, str(demo/'qaa'), str(demo/'qab'), '-o', str(tmp_path/'out')]) == 0
    said = ' '.join((tmp_path/'out'/'README.md').read_text(encoding='utf-8').split())
    assert 'Answer each test row by itself' in said and 'in `same_sense`, a verse 2 that has' in said

def test_folds_are_refused_in_one_line(demo, tmp_path, capsys):
    folds = tmp_path/'folds'
    for k in range(2): shutil.copytree(demo/'qaa', folds/f'fold{k}')
    join_folds(folds, code='qaa')
    for format in 'tsv', 'hf', 'lm-eval':
        assert 'is in 2 folds of a cross-validation; build it' in error(capsys, format, folds, '-o', tmp_path/'out')

def test_damaged_datasets_are_named(demo, tmp_path, capsys):
    shutil.copytree(demo/'qab', tmp_path/'qab')
    with (tmp_path/'qab'/'sentence_mood_test.tsv').open('a', encoding='utf-8') as f: f.write('lo\tsubjunctive\tMRK 1:1\n')
    said = error(capsys, 'hf', tmp_path/'qab', '-o', tmp_path/'out')
    assert 'sentence_mood_test.tsv: is not the file that the manifest describes' in said
    (tmp_path/'qab'/'manifest.json').write_text('{"source": "OntoNotes"}')
    for format in 'tsv','hf','lm-eval':
        said = error(capsys, format, tmp_path/'qab', '-o', tmp_path/'out')
        assert "qab/manifest.json: has another type of 'source' than a manifest has" in said
    (tmp_path/'qab'/'manifest.json').write_text('[1]')
    assert 'is not a manifest' in error(capsys, 'hf', tmp_path/'qab', '-o', tmp_path/'out')

def test_tasks_of_one_name_with_other_columns_are_refused(tmp_path):
    for code,row in dict(one='lo la\ta\n', two='go.01\tlo\tla\ta\n').items():
        (tmp_path/code).mkdir()
        for s in 'train','dev','test': (tmp_path/code/f'my_own_{s}.tsv').write_text(row)
    with pytest.raises(InputError, match='has other columns of my_own than the datasets before it'):
        export_hf([tmp_path/'one', tmp_path/'two'], tmp_path/'out')
    assert not (tmp_path/'out').exists()

def test_a_folder_with_other_files_is_not_replaced(demo, tmp_path, capsys):
    for format in 'tsv','hf','lm-eval':
        out = tmp_path/format
        for again in range(2): assert main(['export', format, str(demo/'qaa'), str(demo/'qac'), '-o', str(out)]) == 0
        mine = out/('sentence_mood' if format == 'hf' else 'qaa')/'thesis.txt'
        mine.write_text('mine')
        assert 'thesis.txt' in error(capsys, format, demo/'qaa', demo/'qac', '-o', out)
        assert mine.read_text() == 'mine'

def test_a_task_of_the_users_is_exported(demo, tmp_path):
    "In all formats, with the labels that its tables have"
    shutil.copytree(demo/'qaa', tmp_path/'mine')
    rows = 'lo la\tyes\tMRK 1:1\nla lo\tno\tMRK 1:2\n'
    for s in 'train','dev','test': (tmp_path/'mine'/f'my_own_{s}.tsv').write_text(rows)
    (tmp_path/'mine'/'manifest.json').unlink()
    before = contents(tmp_path/'mine')
    export_hf([tmp_path/'mine'], tmp_path/'hf')
    assert parquet.read_table(tmp_path/'hf'/'my_own'/'test.parquet')['label'].to_pylist() == ['yes','no']
    export_tsv([tmp_path/'mine'], tmp_path/'back')
    after = contents(tmp_path/'back')
    assert {name: after[name] for name in before} == before
    export_lm_eval([tmp_path/'mine'], tmp_path/'lm')
    assert 'B. yes' in (tmp_path/'lm'/'pronto_my_own.yaml').read_text()

def test_an_export_is_a_benchmark_of_the_hub(demo, tmp_path):
    export_hf([demo], tmp_path/'hf')
    tasks = yaml.safe_load((tmp_path/'hf'/'eval.yaml').read_text(encoding='utf-8'))['tasks']
    configs = {c['config_name'] for c in yaml.safe_load((tmp_path/'hf'/'README.md').read_text(encoding='utf-8').split('---')[1])['configs']}
    assert tasks and {task['config'] for task in tasks} <= configs and len({task['id'] for task in tasks}) == len(tasks)

def test_a_card_says_what_markup_is_damaged():
    from pronto.lab.interop.hf import _damaged
    said = '7 notes are not closed, first in line 812'
    assert _damaged([dict(code='qaa', faults=[said]), dict(code='qab')]) == ['## Damaged markup', '', f'- `qaa`: {said}', '']
    assert _damaged([dict(code='qab')]) == []

def test_the_card_of_acai_names_its_tasks_and_licence(toy_acai_dataset, tmp_path):
    from pronto.lab.interop.hf import export_hf
    export_hf([toy_acai_dataset], tmp_path/'hf')
    card = (tmp_path/'hf'/'README.md').read_text(encoding='utf-8')
    assert '`people_named` (PN)' in card and '`sentence_mood` (SM)' not in card
    assert 'Licence: CC BY-SA 4.0' in card and 'ACAI Biblical Entity Data' in card
    assert 'pass them on under the same licence (CC BY-SA 4.0)' in card
