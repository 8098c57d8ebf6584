"One store with everything that its owner may have tried: each run is in a table of its own kind, or named as left out"
import json, re, shutil
from functools import partial

import pytest
from conftest import predictions, run_results
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.lab.questions.probe import rank_agreement
from pronto.core.offers import offers
from pronto.reporting.questions.question import Options, ask_runs
from pronto.reporting.accuracy_tables import choose, runs_in
from pronto.lab.reporting.report import make_report
from pronto.runs.schema import retrieval_fields
from pronto.runs.store import RunKey, read_runs, write_record

EPOCHS = dict(sentence_mood=20, nonpronominal_mention=10, proper_noun_subject=10, same_sense=10, mela=5, pawsx=5)

def store(folder, accuracy, seeds=3, bible='wol', model='bert', task='sentence_mood', **more):
    "Runs that differ in their seed; more of `RunKey` or of the results"
    inputs = dict(dataset=bible, model=model, model_hash='m1', task=task, dataset_hash=f'{bible}-1')
    inputs |= dict(hyperparameters=dict(epochs=EPOCHS[task]))
    inputs |= {k: more.pop(k) for k in list(more) if k in RunKey.__dataclass_fields__}
    about = dict(splits='parallel', rules='paper', source='OntoNotes', language=bible) | more
    for seed in range(seeds):
        said = predictions(min(1., accuracy + .01*seed))
        results = run_results(accuracy=accuracy, counts=dict(train=80, test=100)) | about
        write_record(RunKey(**inputs | dict(seed=seed)), folder, results, said)

def store_search(folder, accuracy, bible='wol', model='bert', **more):
    "A retrieval, in one direction"
    key = RunKey(bible, model, 'm1', 'retrieval', f'{bible}-1', recipe='retrieval', protocol='retrieval', **more)
    scores = [dict(setting=s, layer=1, query='', database='', accuracy=accuracy, interval=None)
              for s in ('xtreme', *['margin']*2, *['csls']*2)]
    said = [dict(ref=f'MAT 1:{i}', label='right', predicted='right' if i < 100*accuracy else 'wrong') for i in range(100)]
    results = retrieval_fields(scores, 100, mexa=[.1], mexa_100=[.2], seconds=1., device='cpu', versions={}, splits='parallel')
    write_record(key, folder, results, said)

def part(code, digest, **more): return dict(code=code, dataset_hash=digest, split='train') | more

@pytest.fixture(scope='module')
def mixed(tmp_path_factory):
    runs = tmp_path_factory.mktemp('mixed')/'runs'
    store(runs, .80)
    store(runs, .60, seeds=1, hyperparameters=dict(epochs=1)) # A trial
    store(runs, .62, model='other', hyperparameters=dict(epochs=1))
    store(runs, .64, limit=30)
    store(runs, .66, recipe='robust')
    store(runs, .68, model_hash='m2') # The folder was trained further
    store(runs, .70, dataset_hash='edited') # The translation was corrected
    store(runs, .72, splits='random', dataset_hash='wol-r')
    store(runs, .74, rules='v0.1', dataset_hash='wol-v')
    store(runs, .76, source='MACULA Greek', dataset_hash='wol-m')
    for i,model in enumerate(('bert','other','third')): store(runs, .7 + .03*i, bible='fra', model=model)
    for i,model in enumerate(('bert','other','third')):
        for bible in 'wol','fra':
            frozen = dict(bible=bible, model=model, protocol='probe', hyperparameters={})
            store(runs, .5 + .1*i, seeds=1, recipe='probe', **frozen)
            store(runs, .7 - .1*i, seeds=1, recipe='probe-random', **frozen)
    store(runs, .5, protocol='relay', condition='share 1 of 2')
    for digest in 'eng-1','eng-2': # The source was corrected
        for epochs in 20, 1:
            store(runs, .55, protocol='transfer', trained_on=[part('eng', digest)], tuned_on=[part('eng', digest)],
                  hyperparameters=dict(epochs=epochs), seeds=1 if epochs == 1 else 3)
    for size in 50, 100:
        for limit in None, 90:
            store(runs, .6, protocol='few-shot', limit=limit, trained_on=[part('wol', 'wol-1', size=size, draw=0)],
                  condition=f'{size} examples, draw 1')
    for condition in 'in', 'all, different verses':
        for recipe in 'paper','tiny':
            store(runs, .6, protocol='mixes', recipe=recipe, trained_on=[part('wol', 'wol-1', of=condition)], condition=condition)
    for digest in 'eng-1','eng-2':
        store_search(runs, .4, trained_on=[dict(code='eng', dataset_hash=digest)])
    for k in range(2):
        store(runs, .9, bible='luo', splits='folds', fold=k, folds=2, pool='p', dataset_hash=f'luo-{k}')
        store(runs, .8, bible='luo', splits='folds', fold=k, folds=2, pool='q', dataset_hash=f'new-{k}')
    return runs

def tables(runs, out, capsys, *options):
    "What the command prints, without its marks, and what it says beside"
    assert main(['tables', '--runs', str(runs), '-o', str(out), *options]) == 0
    said = capsys.readouterr()
    return re.sub(r'[*†‡§]', '', said.out), said.err

def rows_of(text): return {line.split('|')[1].strip() for line in text.splitlines() if line.startswith('|')}

@pytest.mark.slow
def test_the_tables_show_every_run_of_their_recipe(mixed, tmp_path, capsys):
    out, err = tables(mixed, tmp_path, capsys)
    names = rows_of(out)
    assert {'bert (m1)','bert (m1, 1 epoch)','bert (m2)','other','third'} <= names
    assert 'other (1 epoch)' in names and 'Own translations, with a limit' in out and 'this many examples of each split: 30' in out
    for block in '(wol (wol-))', '(wol (edit))', 'v0.1', 'MACULA', '(luo (': assert any(block in name for name in names), block
    assert '3 robust on parallel splits' in err and '3 paper on random splits' in err and '3 paper on parallel splits (relay)' in err
    out, err = tables(mixed, tmp_path, capsys, '--recipe', '', '--splits', '')
    assert 'bert (m1, robust)' in rows_of(out) and 'random' in out and 'robust' not in err

@pytest.mark.slow
@pytest.mark.parametrize('protocol', ['transfer','few-shot','mixes','probe','relay','retrieval'])
def test_protocols_show_every_run(mixed, tmp_path, capsys, protocol):
    out, err = tables(mixed, tmp_path, capsys, '--protocol', protocol)
    expected = dict(transfer=('eng (eng-1)','eng (eng-2)','bert (m1, 1 epoch)'), probe=('bert (probe-random)',),
                    mixes=('bert (m1, tiny)',), relay=('bert',),
                    retrieval=('| bert | wol | eng (eng-1) |','| bert | wol | eng (eng-2) |'))
    expected |= {'few-shot': ('bert (m1, limit 90)','| 50 | 100 |')}
    for name in expected[protocol]: assert name.replace('m1, ', '') in out.replace('m1, ', ''), name
    assert protocol not in err.replace('--protocol', '')

def test_tiers_name_what_they_leave_out(mixed, tmp_path, capsys):
    (tmp_path/'tiers.tsv').write_text('model\tlanguage\tshare\nbert\tfra\t2\nbert\twol\t0\n')
    out, err = tables(mixed, tmp_path, capsys, '--question', 'tiers', '--beside', str(tmp_path/'tiers.tsv'))
    assert '| bert (m1, 1 epoch) |' in out and '| bert (m1) |' in out and '| bert (m2) |' in out
    assert 'there are others of probe' in err and '6 of bert (m1) on wol (SM' in out and '(few-shot)' in out and '(relay)' in out

@pytest.mark.slow
def test_datasets_without_a_manifest_are_named(mixed, tmp_path, capsys):
    copy = tmp_path/'runs'
    shutil.copytree(mixed, copy)
    for path in copy.rglob('*.json'):
        record = json.loads(path.read_text())
        if record['dataset'] in ('wol','luo'): path.write_text(json.dumps(record | dict(unchecked=True)))
    (tmp_path/'tiers.tsv').write_text('model\tlanguage\tshare\nbert\tfra\t2\nbert\twol\t0\n')
    for options in (), ('--question', 'tiers', '--beside', str(tmp_path/'tiers.tsv')), ('--protocol', 'few-shot'), ('--protocol', 'probe'):
        out, _ = tables(copy, tmp_path, capsys, *options)
        assert 'Datasets without a manifest, so that nothing tells whether they are whole: wol' in out, options
    report = make_report(read_runs(copy))
    assert {row['bible'][:3] for row in report.rows if 'no manifest' in row['setting']} == {'wol','luo'}

@pytest.mark.parametrize('options', [('--question', 'tiers'), ()])
def test_tables_without_a_fitting_run_say_what_there_is(mixed, tmp_path, capsys, options):
    assert main(['tables', '--runs', str(mixed), '-o', str(tmp_path), *options, '--recipe', 'mela']) == 1
    said = capsys.readouterr().err
    assert 'has no such runs, but' in said and f'{mixed}' in said and len(said.splitlines()) == 1

def test_an_unknown_protocol_is_refused(mixed, tmp_path, capsys):
    assert main(['tables', '--runs', str(mixed), '--protocol', 'relais']) == 1
    assert "there is no protocol 'relais'" in capsys.readouterr().err

def test_runs_of_a_protocol_that_is_gone_are_shown(tmp_path, capsys):
    store(tmp_path/'runs', .8)
    store(tmp_path/'runs', .6, protocol='together', hyperparameters=dict(epochs=20, together=['sentence_mood']))
    for protocol,score in (('together', '61.00'), ('in-language', '81.00')):
        out,_ = tables(tmp_path/'runs', tmp_path/'out', capsys, '--metric', 'accuracy', '--protocol', protocol)
        assert f'| {score}' in next(line for line in out.splitlines() if line.startswith('| bert |'))
    report = make_report(read_runs(tmp_path/'runs', report=pytest.fail))
    assert {row['protocol'] for row in report.rows} == {'in-language','together'}

def test_the_report_has_every_run(mixed):
    records = read_runs(mixed, report=pytest.fail)
    report = make_report(records)
    assert sum(row['seeds'] for row in report.rows) == len(records)
    what = 'bible task protocol source splits rules limited model variant'.split()
    cells = [tuple(row[k] for k in what) for row in report.rows]
    assert len(cells) == len(set(cells)) # No two rows look the same
    assert {row['model'] for row in report.rows} == {'bert','other','third'}

def test_every_question_answers_or_says_why_not(mixed, tmp_path):
    "In all formats; what it needs is said in one line"
    runs = shutil.copytree(mixed, tmp_path/'runs')
    store(runs, .55, seeds=1, protocol='prompting', recipe='prompt', hyperparameters=dict(shots=4))
    records, silent = read_runs(runs, report=pytest.fail), {}
    for name in offers('questions'):
        try: reply = ask_runs(name, records, Options(splits='parallel'))
        except InputError as e: silent[name] = str(e); continue
        for table in reply.tables:
            for text in table.markdown(), table.latex(), table.html(), table.terminal(80): assert table.rows or text
            assert table.csv().count('\n') > (1 if table.rows else 0)
        assert all(isinstance(line, str) for line in reply.sentences)
    needs = dict(tiers='no tier is known', order='what models have read', seen='no runs that tag words',
                 resources='three languages or more', subset='three languages or more')
    for name in 'transfer-probe','transfer-prompting','perplexity','memory','languages': needs[name] = f'no runs of {name}'
    assert silent.keys() == needs.keys() and not any('\n' in line for line in silent.values()), silent
    for name,said in needs.items(): assert said in silent[name]

def test_runs_in_tables_are_those_of_their_records(mixed):
    "What tells them apart is in their names alone"
    records = read_runs(mixed, report=pytest.fail)
    fields = lambda r: (r.dataset, r.model, r.train)
    known = {r.path: fields(r) for r in records}
    shown = runs_in(choose(records))
    assert shown and all(fields(r) == known[r.path] for r in shown)
    assert {'bert (m1)','bert (m2)','bert (m1, 1 epoch)'} <= {r.model_name for r in shown}
    assert {'wol (wol-)','wol (edit)'} <= {r.dataset_name for r in shown}

def test_a_model_without_a_hash_is_the_same_under_any_name(tmp_path):
    "A trial of one epoch has another name, and completes as many verses"
    for epochs in 20, 1: store(tmp_path/'runs', .8, model_hash=None, hyperparameters=dict(epochs=epochs))
    named = runs_in(choose(read_runs(tmp_path/'runs')))
    assert {r.model_name for r in named} == {'bert','bert (1 epoch)'} and len({(r.dataset, r.model_hash) for r in named}) == 1

def test_labels_of_other_sources_are_not_compared(mixed):
    "Neither row by row, nor as seeds of the model that a transfer is compared with"
    asked = partial(ask_runs, records=read_runs(mixed), options=Options(splits='parallel'))
    assert {row['translation'] for row in asked('errors').tables[0].texts} == {'fra','wol (edit)'}
    transfers = [found for some in asked('transfer').found.values() for found in some]
    frames = [found.frame[(found.frame.source == 'in-language') & (found.frame.bible == 'wol')] for found in transfers]
    assert {len(runs) for frame in frames for runs in frame.runs} <= {3}

def test_ranks_do_not_average_random_weights_into_the_probe(mixed):
    taus = {a['recipes']: a['tau'] for a in rank_agreement([r for r in read_runs(mixed) if r.dataset == 'fra'], 'accuracy')}
    assert taus == {'probe / paper': 1, 'probe-random / paper': -1}

def test_the_summary_names_the_runs_of_other_test_sets(mixed, tmp_path, capsys):
    out, _ = tables(mixed, tmp_path, capsys)
    summaries = out[out.index('# Summary'):]
    assert 'Of each translation the first test set is here' in summaries and '3 of bert (m1) on wol' in summaries

def test_prompting_shows_every_run(mixed, tmp_path, capsys):
    runs = shutil.copytree(mixed, tmp_path/'runs')
    for shots in 0, 4: store(runs, .55, seeds=1, protocol='prompting', recipe='prompt', hyperparameters=dict(shots=shots))
    rows = rows_of(tables(runs, tmp_path, capsys, '--protocol', 'prompting')[0])
    assert {'bert','bert (shots 4)'} <= rows or {'bert (no shots)','bert (shots 4)'} <= rows, rows

def test_scores_on_machine_translations_do_not_mix_runs(mixed, tmp_path, capsys):
    "Other epochs, weights, sources, splits and versions of the human translation have rows of their own"
    runs = shutil.copytree(mixed, tmp_path/'runs')
    source = lambda digest='eng-1': dict(trained_on=[part('eng', digest)], tuned_on=[part('eng', digest)])
    kinds = [source(), source('eng-2'), source() | dict(hyperparameters=dict(epochs=1), seeds=1), source() | dict(model_hash='m2')]
    for i,kind in enumerate(kinds): store(runs, .3 + .05*i, bible='wol-mt', language='wol', protocol='transfer', **kind)
    store(runs, .9, bible='wol-mt', language='wol', protocol='transfer', splits='random', dataset_hash='mt-r', **source())
    store(runs, .8, protocol='transfer', model_hash='m2', **source())
    store(runs, .7, protocol='transfer', splits='random', dataset_hash='wol-r', **source())
    store(runs, .65, protocol='transfer', dataset_hash='edited', **source())
    folder = tmp_path/'wol-mt'
    folder.mkdir()
    (folder/'manifest.json').write_text(json.dumps(dict(code='wol-mt', human='wol', chrf=50.)))
    assert main(['mt', 'tables', str(folder), '--runs', str(runs), '-o', str(tmp_path/'out')]) == 0
    out = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split('|')[1:6]] for line in out.splitlines() if line.startswith('| bert')]
    found = sorted((human, machine) for _,_,_,human,machine in rows)
    assert 'bert (m1) (trained on eng (eng-1), random splits)' in out
    assert found == [('55.0','30.0'), ('55.0','35.0'), ('55.0','40.0'), ('65.0','30.0'), ('70.0','90.0'), ('80.0','45.0')], out

@pytest.mark.parametrize('suite', ['mela','xtreme'])
def test_tables_of_benchmarks_tell_runs_apart(tmp_path, capsys, suite):
    task = dict(mela='mela', xtreme='pawsx')[suite]
    dev = [dict(epoch=1, accuracy=.5, mcc=.1, macro_f1=.5)]
    run = partial(store, tmp_path/'runs', bible='de', task=task, seeds=1, language='de', dev=dev)
    run(.8, hyperparameters=dict(epochs=5))
    run(.6, hyperparameters=dict(epochs=5), model_hash='m2')
    run(.7, hyperparameters=dict(epochs=5), dataset_hash='edited')
    run(.5, hyperparameters=dict(epochs=1))
    run(.5, hyperparameters=dict(epochs=5), protocol='few-shot')
    assert main([suite, 'tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out')]) == 0
    out = capsys.readouterr().out
    for name in 'm1, de-1', 'm2', 'edit', '1 epoch': assert name.partition(',')[0] in out, (name, out)
    assert 'Left out: 1 of bert' in out and 'few-shot' in out

def test_a_probe_and_fine_tuning_are_compared_on_one_kind_of_dataset(tmp_path):
    "Other rules, limits and epochs are not averaged into a score; what is left out is named"
    runs = tmp_path/'runs'
    for i,model in enumerate(('bert','other','third')):
        run = partial(store, runs, bible='fra', model=model)
        for rules,digest,tuned in ('paper', 'fra-1', .5 + .1*i), ('v0.1', 'fra-v', .7 - .1*i):
            kind = dict(rules=rules, dataset_hash=digest)
            run(.5 + .1*i, seeds=1, protocol='probe', recipe='probe', hyperparameters={}, **kind)
            run(tuned, **kind)
        run(.9 - .3*i, seeds=2, hyperparameters=dict(epochs=1))
        run(.9 - .3*i, seeds=1, limit=30)
    reply = ask_runs('probe', read_runs(runs), Options(splits='parallel', metric='accuracy'))
    (ranked,), = reply.found.values()
    assert {a['recipes']: a['tau'] for a in ranked['agreements']} == {'probe / paper (paper)': 1, 'probe / paper (v0.1)': -1}
    ranks, sides = reply.tables
    assert {row['model'] for row in sides.texts} >= {'bert (paper)','bert (v0.1)','bert (limit 30, paper)'}
    assert all('2 of bert (1 epoch) on fra' in table.notes[0] for table in (ranks, sides))

def test_counts_of_another_source_are_another_task(tmp_path):
    "Two translations on which a model counts mentions of other sources say nothing about their spread"
    from pronto.reporting.cells import spreads
    run = partial(store, tmp_path/'runs', model='bert', task='nonpronominal_mention', hyperparameters={}, seeds=1)
    run(.8, bible='engA', language='eng', dataset_hash='a')
    run(.5, bible='engB', language='eng', dataset_hash='b', source='MACULA Greek')
    assert spreads(read_runs(tmp_path/'runs')).empty

def test_folds_of_a_task_on_words_have_one_f1():
    "Over all folds; not that of the first"
    from pronto.runs.folds import pool
    from pronto.runs.predictions import coded, test_rows
    from pronto.runs.schema import Run
    from pronto.lab.suites.tasks import TaggingTask
    tagging = TaggingTask('panx', 'PANX', 'Which words are names?', labels=('B-PER','I-PER','O'), metric='f1')
    runs = []
    for k,said in enumerate((['B-PER','O'], ['O','O'])):
        columns = dict(ref=[f'MRK {k + 1}_1:{i}' for i in range(2)], label=['B-PER','O'], parallel='00', majority='OO')
        answers = test_rows({name: coded(texts) for name,texts in columns.items()}), coded(said)
        runs.append(Run(task='panx', defined=tagging, fold=k, folds=2, f1=1. - k, predictions=f'p{k}', answers=answers))
    assert pool(runs).f1 == pytest.approx(2/3, abs=1e-3)
