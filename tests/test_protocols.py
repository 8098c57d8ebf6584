"Protocols: what is trained, what is recorded, and what never mixes"
import json, os, subprocess, sys
from types import SimpleNamespace

import pytest
from conftest import ROOT, join_folds
import pronto
from pronto.core.files import InputError
from pronto.cli.command import main
from pronto.runs.planning import plan
from pronto.runs.schema import Run
from pronto.runs.store import predictions_of, read_runs

CHAPTERS = dict(train=range(1, 5), dev=range(5, 7), test=range(7, 10))
SPLITS = 'train', 'dev', 'test'

def verse_rows(code, chapters, skip=()):
    return [f'{code} {"peter" if v % 2 else "he"} said {v % 5}\t{v % 2}\tMRK {c}:{v}\n'
            for c in chapters for v in range(1, 16) if (c, v) not in skip]


def write_dataset(folder, code, chapters=CHAPTERS, skip=(), **manifest):
    folder.mkdir(parents=True)
    for split in SPLITS:
        rows = verse_rows(code, chapters[split], skip)
        (folder/f'proper_noun_subject_{split}.tsv').write_text(''.join(rows))
    about = dict(code=code, rules='paper', splits='parallel', language=code, source=dict(name='OntoNotes'))
    (folder/'manifest.json').write_text(json.dumps(about | manifest))
    return folder

@pytest.fixture
def place(tmp_path, monkeypatch):
    "A release of three translations, and a model folder that nothing can load"
    for code in 'qaa', 'qab', 'qac': write_dataset(tmp_path/'release'/code, code)
    (tmp_path/'tiny').mkdir()
    (tmp_path/'tiny'/'config.json').write_text('{"model_type": "bert"}')
    (tmp_path/'tiny'/'model.safetensors').write_text('')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    return tmp_path

@pytest.fixture
def trained(monkeypatch):
    "Trainings in place of torch: each call is noted, and answers with the most frequent label of train"
    calls = []
    def train(model, task, rows, settings, *, seed, senses, device, progress, **stage):
        calls.append(dict(rows=rows, seed=seed, stage=stage))
        labels = [row.label for row in rows['train']]
        tests = {name: part for name,part in rows.items() if name not in ('train','dev')}
        answers = {name: [max(set(labels), key=labels.count)]*len(part) for name,part in tests.items()}
        epochs = [dict(epoch=1, loss=.5, accuracy=.5, constant=True)]
        counts = {name: len(part) for name,part in rows.items()}
        return SimpleNamespace(
            task=task, rows=rows, answers=answers, predictions=answers.get('test'), hyperparameters={}, dev=epochs,
            best_epoch=1, collapsed=False, truncated=dict.fromkeys(rows, 0), unknown=dict.fromkeys(rows, 0.),
            counts=counts, seconds=1., device='cpu', attempts=[], versions=dict(pronto=pronto.__version__),
            weights=dict(call=len(calls)))
    monkeypatch.setattr('pronto.modeling.train.fine_tune', train)
    return calls

def run(place, *options, runs='runs'):
    return main(['eval', *map(str, options), '-m', str(place/'tiny'), '--runs', str(place/runs)])

TRANSFER = '--protocol', 'transfer', '--train'

def test_one_training_many_test_sets(place, trained, capsys):
    "Trained once, tested on all: a record of the training and one of predictions for each test set"
    assert run(place, place/'release', *TRANSFER, 'qaa') == 0
    assert len(trained) == 1 and len(trained[0]['rows']) == 2 + 3
    records = read_runs(place/'runs')
    assert [(r.dataset, r.protocol, r.train) for r in records] == [(c, 'transfer', ['qaa']) for c in ('qaa','qab','qac')]
    assert len({r.training for r in records}) == 1
    assert all(len(predictions_of(r)) == 45 == r.counts['test'] for r in records)
    assert run(place, place/'release', *TRANSFER, place/'release'/'qaa') == 0 and len(trained) == 1
    assert capsys.readouterr().out.count('recorded before') == 3

def test_only_missing_test_sets_are_made_again(place, trained, monkeypatch):
    "A process that dies between two test sets leaves those before whole; a new target needs no old one"
    from pronto.runs import runner
    store, stored = runner.store_run, []
    def dies(key, *args, **kwargs):
        if len(stored) == 1: raise KeyboardInterrupt
        stored.append(key)
        return store(key, *args, **kwargs)
    monkeypatch.setattr(runner, 'store_run', dies)
    with pytest.raises(KeyboardInterrupt):
        list(runner.run_each(plan(place/'release', [str(place/'tiny')], protocol='transfer', train=['qaa']), place/'runs'))
    monkeypatch.setattr(runner, 'store_run', store)
    before = {r.path: r.path.stat().st_mtime_ns for r in read_runs(place/'runs', report=pytest.fail)}
    assert len(before) == 1
    assert run(place, place/'release', *TRANSFER, 'qaa') == 0
    assert [len(call['rows']) for call in trained] == [5, 4]
    assert len(read_runs(place/'runs')) == 3 and {p: p.stat().st_mtime_ns for p in before} == before
    write_dataset(place/'release'/'qad', 'qad')
    assert run(place, place/'release', *TRANSFER, 'qaa') == 0
    assert [len(call['rows']) for call in trained] == [5, 4, 3] and len({r.training for r in read_runs(place/'runs')}) == 1

@pytest.mark.slow
def test_protocols_do_not_mix(place, trained):
    "The same translation, model, task and seed: five kinds of runs, no record in common"
    release, kinds = place/'release', {}
    for name,options in dict(in_language=(), transfer=(*TRANSFER, 'qaa'), other=(*TRANSFER, 'qab'),
                             few=('--protocol', 'few-shot', '--sizes', '20', '--draws', '2'),
                             mixes=('--protocol', 'mixes')).items():
        before = len(read_runs(place/'runs'))
        assert run(place, release, *options) == 0
        kinds[name] = len(read_runs(place/'runs')) - before
    assert kinds == dict(in_language=3, transfer=3, other=3, few=3*3, mixes=3 + 2*(3 + 3))
    from pronto.reporting.accuracy_tables import choose
    from pronto.reporting.questions.question import ask_runs
    def tables(name): # Written, and as Markdown
        reply = ask_runs(name, read_runs(place/'runs'))
        reply.write(place/'tables')
        return [table.markdown() for table in reply.tables]
    transfer, gaps, _ = tables('transfer')
    assert '| qaa ' in transfer and '| qab ' in transfer and gaps.count('| PNS | tiny |') == 6
    curves, = tables('few-shot')
    assert '| 20 ' in curves and curves.count('| PNS | tiny |') == 3
    mixed, differences = tables('mixes')
    assert mixed.count('| PNS | tiny |') == 4 and differences.count('| PNS | tiny |') == 4
    assert {p.name for p in (place/'tables').glob('*.png')} == {'transfer.png','few-shot.png','mixes.png'}
    assert {r.protocol for seeds in choose(read_runs(place/'runs')).runs for r in seeds} == {'in-language'}

def test_tiers_from_the_command_line(place, trained, capsys):
    release, runs, out = place/'release', str(place/'runs'), place/'tables'
    for protocol in (), (*TRANSFER, 'qaa'): assert run(place, release, *protocol) == 0
    own = place/'tiers.tsv'
    own.write_text('model\tlanguage\tshare\ntiny\tqaa\t2\ntiny\tqab\t0\ntiny\tqac\t0.5\n')
    def tables(*options):
        code = main(['tables', '--runs', runs, '-o', str(out), *map(str, options)])
        return code, capsys.readouterr()
    code, said = tables('--question', 'tiers', '--beside', own)
    assert code == 0 and '| tiny | PNS | in-language |  | 53.3 (1) | 53.3 (1) |' in said.out and 'Recipe: paper' in said.out
    _, said = tables('--question', 'tiers', '--beside', own, '--protocol', 'transfer')
    assert '| tiny | PNS | transfer | qaa | – | 53.3 (1) |' in said.out
    assert {p.name for p in out.iterdir()} >= {'tiers.md','tiers.png'}
    code, said = tables('--question', 'tiers')
    assert code == 1 and 'no tier is known for the models that ran (tiny)' in said.err and len(said.err.splitlines()) == 1
    own.write_text('model\tlanguage\tshare\ntiny\txyzzy\t2\n')
    assert "line 2: 'xyzzy' is not a code of a language" in tables('--question', 'tiers', '--beside', own)[1].err

def test_tables_of_protocols_say_how_their_runs_were_made(place, trained, capsys):
    for protocol in (), (*TRANSFER, 'qaa'): assert run(place, place/'release', *protocol, '--limit', '40') == 0
    capsys.readouterr()
    assert main(['tables', '--runs', str(place/'runs'), '-o', str(place/'out'), '--protocol', 'transfer']) == 0
    matrix, gaps, _ = capsys.readouterr().out.split('**Transfer')[1:]
    assert '| qaa | 55.0† | 55.0† | 55.0† |' in matrix and 'limit: 40' in matrix and '† learned nothing' in matrix
    assert 'With fewer than three seeds nothing is marked' in matrix and 'No language has two translations here' in gaps
    one = main(['tables', '--runs', str(place/'runs'), '-o', str(place/'out'), '--protocol', 'transfer', '--metric', 'mae'])
    assert one == 1 and 'PNS has no mean absolute error; choose from accuracy' in capsys.readouterr().err

def test_the_store_is_read_once(place, trained, monkeypatch):
    assert run(place, place/'release') == 0
    from pronto.runs import store
    calls, read = [], store.read_runs
    monkeypatch.setattr(store, 'read_runs', lambda *args, **kwargs: calls.append(1) or read(*args, **kwargs))
    assert main(['tables', '--runs', str(place/'runs'), '-o', str(place/'out')]) == 0 and len(calls) == 1

def test_keys_hold_everything_that_was_learned_from(place, trained):
    release, models = place/'release', [str(place/'tiny')]
    def digits(**how): return {(k.dataset, k.hash8) for t in plan(release, models, **how) for k in t.keys}
    ways = [dict(), dict(protocol='probe'), dict(protocol='transfer', train=['qaa']), dict(protocol='transfer', train=['qab']),
            dict(protocol='few-shot', sizes=(20,), draws=2), dict(protocol='few-shot', sizes=(20,), draws=2, train=['qaa']),
            dict(protocol='mixes')]
    found = [digits(**how) for how in ways]
    for i,one in enumerate(found):
        for other in found[i+1:]: assert one.isdisjoint(other) or one < other # The curves without the source
    (release/'qaa'/'proper_noun_subject_train.tsv').write_text(''.join(verse_rows('qaa', range(1, 4))))
    changed = [digits(**how) for how in ways]
    assert {code for code,_ in found[0] - changed[0]} == {'qaa'} # In-language, only that translation
    assert found[2].isdisjoint(changed[2]) # Whatever was trained on it
    assert {code for code,_ in found[3] - changed[3]} == {'qaa'} # Trained on another: the test set only
    assert found[6].isdisjoint(changed[6])

def test_folds_are_pooled(place, trained, capsys):
    "One record per fold; one result, scored together, when all are there; one chapter lacks a verse, so they differ"
    folded = place/'folded'/'qad'
    for k in range(5):
        chapters = [1 + (k + i) % 5 for i in range(5)]
        parts = dict(test=chapters[:1], dev=chapters[1:2], train=chapters[2:])
        write_dataset(folded/f'fold{k}', 'qad', parts, skip=[(1, 2)])
    join_folds(folded, code='qad')
    assert run(place, folded) == 0 and len(trained) == 5
    assert 'all folds: qad, tiny, PNS, seed 0: accuracy' in capsys.readouterr().out
    pooled, = read_runs(place/'runs')
    assert (pooled.fold, pooled.folds, len(pooled.paths), pooled.counts['test']) == (None, 5, 5, 74)
    table = predictions_of(pooled).to_dict('records')
    assert len({row['ref'] for row in table}) == 74 # Every verse is tested once
    assert pooled.accuracy == round(sum(row['label'] == row['predicted'] for row in table)/74, 4)
    assert set(pooled.baseline_scores) == set(pooled.baselines)
    assert run(place, folded) == 0 and len(trained) == 5
    pooled.paths[2].unlink()
    said = []
    assert read_runs(place/'runs', said.append) == []
    assert 'without fold 2; run the command on the folder that holds all 5 folds, not on one of them' in said[0]
    assert run(place, folded) == 0 and len(trained) == 6 and len(read_runs(place/'runs')) == 1
    assert main(['eval', str(folded)]) == 0 and capsys.readouterr().out.splitlines()[-2].startswith('| PNS | ')

def test_few_shot_after_a_source(place, trained):
    "The source is trained once, all samples start from its weights, and a smaller sample is a part of a larger one"
    from pronto.runs.runner import run_all
    trainings = plan(place/'release'/'qab', [str(place/'tiny')], protocol='few-shot', train=[place/'release'/'qaa'],
                     sizes=(10, 20), draws=2)
    records = run_all(trainings, place/'runs')
    assert len(trained) == len(records) == 5 + 1 + 5
    source, *after = trained[5:]
    assert source['stage'] == dict(keep_weights=True)
    assert all(call['stage'] == dict(start=dict(call=6)) for call in after)
    refs = {r.condition: {row.ref for row in call['rows']['train']} for r,call in zip(records, trained)}
    assert refs['10 examples, draw 0'] < refs['20 examples, draw 0'] < refs['all examples']
    assert refs['10 examples, draw 0'] == refs['10 examples, draw 0, after qaa'] != refs['10 examples, draw 1']
    assert records[5].condition == 'no examples, after qaa' and records[5].train == ['qaa']
    assert records[6].train == ['qaa','qab']
    records[6].path.unlink() # Its source is recorded, so only its weights are made again
    run_all(trainings, place/'runs')
    assert [len(call['rows']) for call in trained[11:]] in ([3], [2, 3])

def test_bad_input_is_one_line_before_any_training(place, trained, capsys):
    release = place/'release'
    write_dataset(place/'macula'/'qax', 'qax', source=dict(name='MACULA Greek'))
    write_dataset(place/'shuffled'/'qay', 'qay', splits='random')
    write_dataset(place/'labels'/'qaz', 'qaz', label_shares=dict(proper_noun_subject=dict(yes=1.)))
    write_dataset(place/'elsewhere'/'qaw', 'qaw', dict(train=[11], dev=[12], test=[13]))
    wrong = [((release, '--protocol', 'transfer'), '--train: the protocol transfer needs translations'),
             ((release, '--protocol', 'transfre'), "--protocol: there is no protocol 'transfre'; did you mean transfer"),
             ((release, *TRANSFER, 'nobody'), 'nobody: is neither a dataset folder nor the code'),
             ((release, *TRANSFER, place/'macula'/'qax'), 'has source OntoNotes, but qax has MACULA Greek'),
             ((release, *TRANSFER, place/'shuffled'/'qay'), 'has splits parallel, but qay has random'),
             ((release, *TRANSFER, place/'labels'/'qaz'), 'has other labels of PNS than qaz'),
             ((release, '--train', 'qaa'), '--train: the protocol in-language trains on'),
             ((release, place/'elsewhere'/'qaw', '--protocol', 'mixes'), 'shares too few rows of PNS'),
             ((release/'qaa', '--protocol', 'mixes'), 'mixes need two or more'),
             ((release, '--protocol', 'few-shot', '--sizes', 'ten'), '--sizes: ten is not a list of numbers'),
             ((release, '--protocol', 'probe', '--recipe', 'tiny'), '--recipe: tiny is no recipe for probe'),
             ((release, '--protocol', 'prompting', '--epochs', '3'), '--epochs: does nothing in prompting'),
             ((release, '-t', 'SAC', '-t', 'SM'), 'has no examples of SAC in some split'),
             ((release, '--sizes', '10'), '--sizes, --draws: belong to few-shot, not to in-language'),
             ((release, '--protocol', 'retrieval', '--train', 'qaa', '--limit', '9'), '--limit: does nothing in retrieval')]
    for options,said in wrong:
        assert run(place, *options) == 1
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1 and said in lines[0], lines
    assert not trained and not (place/'runs').exists()
    assert main(['eval', str(release), '--protocol', 'mixes']) == 1 and 'needs a model' in capsys.readouterr().err

def test_datasets_without_a_task_are_left_out(place, trained, capsys):
    "A line about each; the others are run"
    for split in SPLITS: (place/'release'/'qab'/f'proper_noun_subject_{split}.tsv').rename(place/f'{split}.tsv')
    for split in SPLITS: (place/'release'/'qab'/f'sentence_mood_{split}.tsv').write_text('text\tdeclarative\tMRK 1:1\n')
    assert run(place, place/'release', '-t', 'PNS') == 3 and len(trained) == 2
    assert 'qab: has no examples of PNS in some split' in capsys.readouterr().err

def test_translations_that_cannot_be_read_are_left_out(place, trained, capsys):
    "A damaged table, a manifest cut off, no text: a line about each, with and without a model; the others are scored"
    release = place/'release'
    write_dataset(release/'qad', 'qad', files={'proper_noun_subject_train.tsv': 'another'})
    write_dataset(release/'qae', 'qae')
    for split in SPLITS: (release/'qae'/f'proper_noun_subject_{split}.tsv').write_text('\t1\tMRK 1:1\n')
    (release/'qab'/'manifest.json').write_text('{"code": ')
    def left(err): return [line for line in err.splitlines() if line.startswith('left out')]
    for n,command in enumerate(([release, '-t', 'PNS'], [release], [release, '-t', 'PNS', *TRANSFER, 'qaa'])):
        assert run(place, *command, runs=f'runs{n}') == 3
        told = left(capsys.readouterr().err)
        assert len(told) == 3 and {r.dataset for r in read_runs(place/f'runs{n}')} == {'qaa','qac'}
        assert all(any(why in line for line in told) for why in ('qad/proper_noun_subject_train.tsv: is not the file',
                                                                 'qae/verses.tsv: is missing', 'qab/manifest.json'))
    assert main(['eval', str(release), '-t', 'PNS']) == 3
    out, err = capsys.readouterr()
    assert [line[:6] for line in out.splitlines()[::4]] == ['| qaa ', '| qac '] and len(left(err)) == 3
    for code in 'qaa', 'qac': (release/code/'manifest.json').write_text('{"code": ')
    assert main(['eval', str(release), '-t', 'PNS']) == 1 and run(place, release, '-t', 'PNS', runs='none') == 1
    assert not (place/'none').exists()

def test_one_answer_to_everything_is_not_learning(place):
    from pronto.runs.runner import FinishedRun
    record = Run(dataset='qaa', model='m', task='sentence_mood', accuracy=.5, collapsed=True)
    said = {p: str(FinishedRun(None, record.but(protocol=p), False)) for p in ('in-language','probe','prompting')}
    assert all('collapsed: one answer to everything' in text for text in said.values())

PROTOCOLS_FILE = """from pronto.protocols.parts import Part, Selection
from pronto.protocols.protocol import Protocol

def tuned_on_target(setup):
    for source in setup.sources:
        for target in setup.targets:
            yield Selection((Part(source, 'train'),), (Part(target, 'dev'),), (Part(target, 'test'),))

tuned = Protocol('tuned-transfer', tuned_on_target, 'Tuned on the target', sources='needed')
"""

def test_a_protocol_of_the_users_end_to_end(place, trained, capsys, monkeypatch):
    "From the command line: runs of its own, and a table of its own; a sweep does not divide it"
    from pronto.lab.jobs.sweep import plan_all
    from pronto.protocols import protocol
    monkeypatch.setattr(protocol, 'PROTOCOLS', dict(protocol.PROTOCOLS))
    mine = place/'my_protocols.py'
    mine.write_text(PROTOCOLS_FILE)
    how = '--protocols', mine, '--protocol', 'tuned-transfer', '--train', 'qaa'
    assert run(place, place/'release', *how) == 0 and len(trained) == 3
    assert {r.protocol for r in read_runs(place/'runs')} == {'tuned-transfer'}
    capsys.readouterr()
    assert main(['tables', '--runs', str(place/'runs'), '-o', str(place/'out'), '--protocol', 'tuned-transfer']) == 0
    said = capsys.readouterr().out
    assert 'trained on qaa' in said and 'Protocol: tuned-transfer.' in said
    with pytest.raises(InputError, match='tuned-transfer needs several translations together'):
        plan_all([place/'release'], [str(place/'tiny')], ['PNS'], 1, protocol='tuned-transfer', train=['qaa'])
    mine.write_text(PROTOCOLS_FILE.replace('setup.sources', 'setup.origins'))
    assert run(place, place/'release', *how) == 1
    assert 'my_protocols.py, line 5: fails with AttributeError' in capsys.readouterr().err

def test_what_is_missing_is_known_without_torch(place, trained):
    assert run(place, place/'release', *TRANSFER, 'qaa') == 0
    code = f'''if True:
        import sys
        from pronto.runs.planning import plan
        from pronto.runs.store import is_done
        planned = plan({str(place/'release')!r}, [{str(place/'tiny')!r}], protocol='transfer', train=['qaa','qab'])
        print([[is_done(key, {str(place/'runs')!r}) for key in t.keys] for t in planned],
              {{'torch','sklearn','transformers'}} & set(sys.modules))'''
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True)
    assert done.stdout == '[[True, True, True], [False, False, False]] set()\n', done.stderr

def test_labels_on_which_all_sentences_agree(place, trained, monkeypatch):
    "The rows are marked"
    from pronto.core.refs import Ref
    from pronto.datasets.loading import Dataset
    clear = {Ref('MRK', c, v) for c in CHAPTERS['test'] for v in (1, 2, 4)}
    monkeypatch.setattr(Dataset, 'unambiguous', dict(proper_noun_subject=clear), raising=False)
    assert run(place, place/'release'/'qaa') == 0
    record, = read_runs(place/'runs')
    marked = [row for row in predictions_of(record).to_dict('records') if row['unambiguous'] == '1']
    assert len(marked) == 9
    assert record.source == 'OntoNotes' and set(record.baseline_scores['ngram']) >= {'accuracy','mcc','macro_f1'}

@pytest.mark.slow
def test_with_a_real_model(tmp_path, monkeypatch):
    "Transfer and few-shot with a tiny BERT: the pair task transfers, and weights of the source are used"
    pytest.importorskip('torch')
    from pronto.lab.modeling.pretrain import pretrain
    from pronto.runs.runner import run_all
    for code in 'qaa', 'qab':
        folder = write_dataset(tmp_path/code, code)
        for split in SPLITS:
            texts = [row.strip().split('\t')[::2] for row in verse_rows(code, CHAPTERS[split])]
            first = dict(reversed(pair) for pair in texts)
            pairs = [(sense, ref, ref.replace(':', ':1') if i % 2 else ref) for sense in ('say.01', f'{code}.01')
                     for i,(_,ref) in enumerate(texts)]
            rows = [f'{sense}\t{first[a]}\t{first.get(b, first[a])}\t{("different","same")[i % 2]}\t{a}\t{b}\n'
                    for i,(sense,a,b) in enumerate(pairs)]
            (folder/f'same_sense_{split}.tsv').write_text(''.join(rows))
    texts = [row.split('\t')[0] for code in ('qaa','qab') for row in verse_rows(code, range(1, 5))]
    sizes = dict(vocab_size=80, layers=1, width=16, heads=2, max_length=64, steps=0, device='cpu')
    pretrain(texts, tmp_path/'tiny', **sizes)
    planned = plan([tmp_path/'qab'], [str(tmp_path/'tiny')], ['SS'], epochs=1, protocol='few-shot',
                   train=[tmp_path/'qaa'], sizes=(20,), draws=1)
    records = run_all(planned, tmp_path/'runs', device='cpu')
    assert [r.condition.split(',')[0] for r in records] == ['20 examples', 'all examples', 'no examples', '20 examples', 'all examples']
    alone, after = records[0], records[3]
    assert alone.dev != after.dev and after.first['trained_on'][0]['code'] == 'qaa'

def test_a_sweep_and_its_notebooks_plan_the_same(place):
    "Whatever a notebook gets as parameters, it makes the records that the sweep waits for"
    from pronto.lab.jobs.sweep import notebook_parameters, plan_all
    from pronto.datasets.finding import find_datasets
    runs, left_out = plan_all([place/'release'], [str(place/'tiny')], ['PNS'], 2)
    assert len(runs) == 3*2 and not left_out
    for run in runs:
        given = notebook_parameters(run, place/'runs')
        assert given['bf16'] == 'no'
        planned = plan(find_datasets(given['bible']), [given['models']], [given['tasks']], 1, given['recipe'], None, None,
                       given['first_seed'])
        assert [key for t in planned for key in t.keys] == run.keys
    keys = [key.hash8 for run in runs for key in run.keys]
    whole = plan(place/'release', [str(place/'tiny')], ['PNS'], 2)
    assert set(keys) == {key.hash8 for t in whole for key in t.keys}

@pytest.mark.slow
def test_a_quick_probe_encodes_each_string_of_folds_once_and_learns_from_no_parallel_of_a_tested_verse(tmp_path):
    from pronto.bibles.reading import Bible, VerseRow
    from pronto.datasets.align import TEXT_ALONE
    from pronto.datasets.building import build
    from pronto.datasets.examples import row_texts
    from pronto.datasets.loading import open_dataset
    from pronto.datasets.splits import parallel_to
    from pronto.runs.runner import part_rows
    from test_choices import made_up
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in made_up().items()]
    build(TEXT_ALONE, Bible(rows), tmp_path/'qaa', splits='folds', report=str)
    dataset = open_dataset(tmp_path/'qaa')
    task, tested, learned = dataset.folds[0].known['word_choice'], [], []
    for training in plan([tmp_path/'qaa'], [zoo_model(tmp_path)], ['WC'], protocol='quick-probe'):
        chosen = training.selection
        train, dev, test = (part_rows(parts, task) for parts in (chosen.train, chosen.dev, chosen.tests))
        held = {ref for row in dev + test for ref in row.refs}
        used = {ref for row in train for ref in row.refs}
        assert used and not used & held and not used & parallel_to(held)
        assert chosen.train[0].texts and not {*chosen.train[0].texts} & {row.text for row in test} # For n-grams
        tested += test
        learned += train
    strings = {text for row in tested for text in row_texts(row)}
    assert {text for row in learned for text in row_texts(row)} <= strings and len(tested) == len({row.ref for row in tested})
    rows = [row for fold in dataset.folds for row in fold.load(['word_choice']).tasks['word_choice']['train']]
    of_folds = {text for row in rows for text in row_texts(row)}
    assert len(of_folds) > 1.4*len(strings)

def zoo_model(tmp_path):
    import zoo
    return zoo.save_model(tmp_path/'bert', 'bert')
