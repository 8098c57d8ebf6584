"Tables 1-3: every run fills its cell, what was not run is a dash, and the published figures are the paper's"
import base64, csv, io, json, re, shutil

import pandas as pd
import pytest
from conftest import ROOT, predictions, run_notebook, run_results, shown_as
from pronto.runs.store import RunKey, read_runs, write_record
from pronto.core.files import InputError, data_dir, fact_table
from pronto.core.tables import Table, read_table, terminal_text
from pronto.reporting.questions.question import Options, ask_runs
from pronto.reporting.rendering import BASELINE_NAMES, NOT_RUN, Accuracies, accuracy_table
from pronto.reporting.accuracy_tables import SPLITS_SHOWN, left_out, write_published

def make_tables(runs, out=None, layout=(), recipe='paper', splits=SPLITS_SHOWN, metric='accuracy', **options):
    "Write the tables; the marks and rows are the same by any metric"
    known = Options(recipe, splits, metric=metric, store=str(runs), layout=layout)._replace(**options)
    reply = ask_runs('accuracy', read_runs(runs), known)
    reply.write(out)
    write_published(out or data_dir()/'tables')
    return {table.name: table.markdown() for table in reply.tables}

def make_summary(runs, out, metric=''): return make_tables(runs, out, metric=metric).get('Summary', '')


def store(folder, bible, model, task, accuracy, seed=0, said=None, majority=.5, model_hash='m', **more):
    of_key = {k: more.pop(k) for k in ('limit','recipe','hyperparameters','protocol','dataset_hash','trained_on') if k in more}
    run = RunKey(bible, model, model_hash, task, **dict(dataset_hash='d') | of_key, seed=seed)
    results = run_results(accuracy=accuracy, splits='parallel') | more
    write_record(run, folder, results, said or predictions(accuracy, majority=majority))

@pytest.fixture
def runs(tmp_path):
    bert = 'google-bert/bert-base-cased'
    for seed,accuracy in enumerate((.9,.7,.8)): store(tmp_path/'runs', 'engerv', bert, 'same_sense', accuracy, seed)
    store(tmp_path/'runs', 'wolKYG', 'lgessler/microbert-wolof-mx', 'sentence_mood', .95, limit=50)
    store(tmp_path/'runs', 'wolKYG', 'xlm-roberta-base', 'same_arg_count', .5, collapsed=True)
    store(tmp_path/'runs', 'wolKYG', 'xlm-roberta-base', 'same_sense', .61, recipe='robust')
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .88)
    return tmp_path/'runs'

def rows_of(markdown):
    "Rows of a printed table by translation and name"
    found, block = {}, None
    for line in markdown.splitlines():
        if not line.startswith('| ') or line.startswith('| Model'): continue
        name,*cells = [re.sub(' <small>.*', '', c.strip()) for c in line.strip('|').split('|')]
        if name.startswith('**'): block = name.strip('*')
        found[block, name.strip('*')] = cells
    return found

@pytest.mark.slow
def test_every_run_fills_its_cell(runs, tmp_path):
    made = make_tables(runs, tmp_path/'out', published=True)
    assert list(made) == ['Own translations','Table 1','Table 2','Table 3']
    own, english, low = (rows_of(made[t]) for t in ('Own translations','Table 1','Table 3'))
    assert english['ERV','BERT'][9:12] == ['80.00','97.75','−17.75'] and '80.00 <small>0.60</small>' in made['Table 1']
    assert english['ERV','BERT'][0] == '–' and english['WBT','BERT'][9] == '–'
    assert english['ERV','ERV'][9:11] == ['50.00','50.43']
    assert low['WOL','μBERT-MX'][6:8] == ['95.00*','90.36']
    assert '\n\\* trained and tested on a part of the data, with at most this many examples of each split: 50; ' in made['Table 3']
    assert 'Δ is then to figures of the paper on other rows' in made['Table 3']
    assert low['WOL','XLM-R'][12] == '50.00†' and low['WOL','XLM-R'][9] == '–'
    assert own['qaa','tiny'] == ['–','–','88.00','–','–']

def test_marks_follow_tests_over_seeds(tmp_path):
    "The best and those not clearly worse; nothing where a model has fewer than three seeds; § below the baseline"
    models = {'a/bert': (.9, .92, .88), 'b/bert': (.88, .9, .9), 'poor': (.5, .52, .48)}
    for model,scores in models.items():
        for seed,accuracy in enumerate(scores): store(tmp_path/'runs', 'qaa', model, 'proper_noun_subject', accuracy, seed)
    for model in 'a/bert', 'poor':
        for seed in 0, 1: store(tmp_path/'runs', 'qaa', model, 'sentence_mood', .9, seed)
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Own translations']
    expected = {'a/bert': ['90.00‡','90.00'], 'b/bert': ['89.33‡','–'], 'poor': ['50.00§','90.00']}
    assert {name: cells[1:3] for (_,name),cells in rows_of(made).items() if name in models} == expected
    assert '‡ the best model' in made and 'Some models were run with two seeds' in made and '§ not significantly above' in made
    assert r'90.00$^{\ddagger}$' in (tmp_path/'out'/'owntranslations.tex').read_text()

def test_one_lucky_seed_is_no_better_model(tmp_path):
    "By one run each they differ clearly; over three seeds, whose luck differs as much, they do not"
    for model,scores in dict(lucky=(.9, .6, .62), other=(.62, .89, .6)).items():
        for seed,accuracy in enumerate(scores): store(tmp_path/'runs', 'qaa', model, 'sentence_mood', accuracy, seed)
    make_tables(tmp_path/'runs', tmp_path/'out')
    lines = csv.DictReader((tmp_path/'out'/'owntranslations.csv').open(encoding='utf-8'))
    cells = {r['system']: r for r in lines if r['task'] == 'SM'}
    assert [cells[m]['among_best'] for m in ('lucky','other')] == ['True','True']
    assert float(cells['lucky']['ours']) == pytest.approx(70.67) and float(cells['lucky']['from_seeds']) > .5
    assert float(cells['lucky']['high']) - float(cells['lucky']['low']) > 30

def test_a_metric_is_chosen(runs, tmp_path):
    "What is large, marked and tested; beside it what is small; accuracies of the paper only beside accuracies"
    made = make_tables(runs, tmp_path/'out', metric='mcc')
    assert '| 0.60 <small>80.00</small> |' in made['Table 1'] and 'publ.' not in made['Table 1']
    assert 'Task MCC' in made['Table 1'] and "Matthews' correlation coefficient" in made['Table 1']
    assert r'0.60 {\scriptsize 80.00}' in (tmp_path/'out'/'table1.tex').read_text()
    with pytest.raises(InputError, match='SS has no F1; choose from accuracy'): make_tables(runs, tmp_path, metric='f1')

def test_a_task_has_its_own_metric(tmp_path):
    "Nine of ten verses are declarative: below the majority label in accuracy, a model may still know more than it"
    for task in 'sentence_mood','proper_noun_subject': store(tmp_path/'runs', 'copshc', 'bert-base-multilingual-cased', task, .8)
    make_tables(tmp_path/'runs', tmp_path/'out', metric='')
    made = (tmp_path/'out'/'table3.md').read_text(encoding='utf-8')
    assert '| SM (MCC) | publ. | Δ |' in made and '0.60 <small>80.00</small>' in made
    lines = csv.DictReader((tmp_path/'out'/'table3.csv').open(encoding='utf-8'))
    [line] = [r for r in lines if (r['system'], r['task']) == ('mBERT','SM')]
    assert (line['metric'], line['ours'], line['accuracy']) == ('mcc','0.6','80.0')
    assert float(line['difference']) == pytest.approx(80 - float(line['published']))

def test_cells_say_what_a_score_must_be_read_with(tmp_path):
    "The probe was kept in one of two seeds, and four of five tokens are unknown; the report and other tables say so, too"
    from pronto.reporting.cells import setting_note
    from pronto.lab.reporting.report import make_report
    from pronto.runs.store import read_runs
    dev = [dict(epoch=0, loss=.4), dict(epoch=1, loss=.5)]
    for seed in 0, 1:
        store(tmp_path/'runs', 'chr', 'minilm', 'sentence_mood', .8, seed, recipe='robust', dev=dev, best_epoch=1 + seed,
              unknown=dict(train=.8, test=.81))
    made = make_tables(tmp_path/'runs', tmp_path/'out', recipe='robust')['Own translations']
    assert '<small>0.60, probe 50 %, unknown 81 %</small>' in made and 'Unknown: the share' in made and 'Probe: the share' in made
    note = setting_note(read_runs(tmp_path/'runs'))
    assert 'kept: 1 of 2.' in note and 'a model does not know: minilm on chr 81 %.' in note
    assert note.endswith('Scores over fewer than 100 rows, which say little: SM on chr (1).')
    [row] = make_report(read_runs(tmp_path/'runs')).rows
    assert row['setting'].endswith('probe kept in 50 % of the seeds, 81 % of the tokens unknown')

def test_tables_of_the_labels_of_one_source(tmp_path, capsys):
    from pronto.cli.command import main
    for code,source in ('first', 'OntoNotes'), ('second', 'MACULA Greek'):
        store(tmp_path/'runs', code, 'a', 'sentence_mood', .6, source=source)
    ask = lambda *options: main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out'), *options])
    assert ask('--source', 'macula') == 0
    said = capsys.readouterr()
    assert '**second**' in said.out and '**first**' not in said.out and '--protocol and --source' in said.err
    assert ask('--source', 'acai') == 1
    assert "--source: no run has labels of 'acai'; choose from MACULA Greek, OntoNotes" in capsys.readouterr().err

def test_what_models_know_and_how_they_predict_has_tables_of_its_own(tmp_path, capsys):
    "Readings are runs of their own; models are told by their files, not by their names"
    from pronto.cli.command import main
    from pronto.runs.schema import EMPTY
    def read(model, protocol, rows, **found):
        key = RunKey('wol', model, f'hash of {model}', protocol, 'wol-hash', protocol=protocol)
        write_record(key, tmp_path/'runs', run_results() | EMPTY | dict(accuracy=None, predicts='causal') | found, rows)
    ask = lambda *options: main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out'), *options])
    for i,model in enumerate('abcd'):
        store(tmp_path/'runs', 'wol', model, 'sentence_mood', .6 + .1*i, model_hash=f'hash of {model}')
        if i: store(tmp_path/'runs', 'wol', 'a', 'sentence_mood', .9, seed=i, model_hash='another hash')
    for i,model in enumerate('abcd'):
        verses = [dict(ref=row['ref'], bits=1.) for row in predictions(.6)]
        rates = dict(bits_per_verse=90. - i, tokens_per_verse=40., tokens_per_character=.3, fertility=1., pieces=0.)
        read(model, 'perplexity', verses, bits_per_character=2. - .1*i, **rates)
        rows = [dict(ref=row['ref'], exact=float(model == 'd' and place < 20)) for place,row in enumerate(predictions(.6))]
        read(model, 'memory', rows, memory=dict(exact=.2*(model == 'd'), ngram_exact=.01))
    assert ask('--protocol', 'perplexity') == 0
    out = capsys.readouterr().out
    assert '| d | causal | 1.700 |' in out and 'Recipe: paper; ' in out
    assert ask('--question', 'memory') == 0
    out = capsys.readouterr().out
    assert 'd on wol: completes 20.0 %' in out and 'Recipe: paper; ' in out

def test_unambiguous_rows_are_scored_beside_all(tmp_path):
    rows = [r | dict(unambiguous=int(r['label'] == r['predicted'])) for r in predictions(.8)]
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8, said=rows)
    make_tables(tmp_path/'runs', tmp_path/'out')
    [line] = [r for r in csv.DictReader((tmp_path/'out'/'owntranslations.csv').open()) if (r['system'], r['task']) == ('tiny','SM')]
    assert [line[k] for k in ('ours','items','unambiguous','unambiguous_items')] == ['80.0','100','100.0','80']

def test_rules_and_sources_share_no_block(tmp_path):
    for task,model in ('sentence_mood','a'), ('proper_noun_subject','a'), ('sentence_mood','b'):
        store(tmp_path/'runs', 'qaa', model, task, .8, dataset_hash='one', rules='paper', source='OntoNotes')
    store(tmp_path/'runs', 'qaa', 'a', 'nonpronominal_mention', .6, dataset_hash='two', rules='paper', source='MACULA Greek')
    make_tables(tmp_path/'runs', tmp_path/'out')
    lines = [r for r in csv.DictReader((tmp_path/'out'/'owntranslations.csv').open()) if r['ours'] and r['seeds']]
    found = {(r['test_set'][:10], r['source'], r['system'], r['task']) for r in lines}
    first, second = sorted({t for t,*_ in found}, key=lambda t: ('test set 1','test set 2').index(t))
    by_source = {source: {(system, task) for _,s,system,task in found if s == source} for source in ('OntoNotes','MACULA Greek')}
    assert by_source == {'OntoNotes': {('a','SM'), ('a','PNS'), ('b','SM')}, 'MACULA Greek': {('a','NMC (MACULA)')}} and first != second

def test_old_weights_and_short_trials_have_rows_of_their_own(tmp_path):
    short, usual = (dict(hyperparameters=dict(epochs=n)) for n in (1, 20))
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .9, **usual, model_hash='old')
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8, **usual, model_hash='new', seed=1)
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .3, **short, model_hash='new')
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Own translations']
    found = {name: cells[2] for (_,name),cells in rows_of(made).items() if 'tiny' in name}
    assert found == {'tiny (old)': '90.00', 'tiny (new)': '80.00', 'tiny (new, 1 epoch)': '30.00'} # One seed is not tested
    assert 'Every model was run with one seed' in made

@pytest.mark.slow
def test_nothing_is_zero_where_nothing_was_run(tmp_path):
    made = make_tables(tmp_path/'none', tmp_path/'out', published=True)
    for table,text in made.items():
        for cells in rows_of(text).values(): assert cells[::3] == ['–']*5 and cells[2::3] == ['–']*5
        file = f'table{table[-1]}'
        for line in csv.DictReader((tmp_path/'out'/f'{file}.csv').open(encoding='utf-8')):
            assert line['ours'] == line['difference'] == '' and line['published']

@pytest.mark.slow
def test_published_figures_are_all_there(tmp_path):
    "As many as the paper prints, each beside its cell"
    make_tables(tmp_path/'none', tmp_path/'out', published=True)
    where = lambda r: tuple(r[k] for k in ('table','bible','system','task'))
    lines = [r for i in '123' for r in csv.DictReader((tmp_path/'out'/f'table{i}.csv').open(encoding='utf-8'))]
    printed = {where(r): float(r['published']) for r in lines}
    facts = {where(r): float(r['value']) for r in fact_table('published') if r['table'] in ('Table 1','Table 2','Table 3')}
    assert printed == facts and len(facts) == 5*52

@pytest.mark.slow
def test_committed_copy_of_the_published_figures(tmp_path):
    make_tables(tmp_path/'none', tmp_path/'out', published=True)
    assert (tmp_path/'out'/'published.csv').read_bytes() == (ROOT/'paper_tables'/'published.csv').read_bytes()

def test_models_are_named_once():
    rows = [(r['bible'], r['model']) for r in fact_table('paper_models')]
    assert len(rows) == len(set(rows)) and all(all(r.values()) for r in fact_table('paper_models'))
    assert len({(r['bible'], r['hub']) for r in fact_table('paper_models')}) == len(rows)

def test_formats_agree(runs, tmp_path):
    make_tables(runs, tmp_path/'out')
    for table in 'table1','table3','owntranslations':
        md, tex, lines = ((tmp_path/'out'/f'{table}.{x}').read_text(encoding='utf-8') for x in ('md','tex','csv'))
        ours = {f"{float(r['ours']):.2f}" for r in csv.DictReader(io.StringIO(lines)) if r['ours']}
        assert all(o in md and o in tex for o in ours) and ours
        assert tex.count(r'\begin') == tex.count(r'\end') and not re.search('[–−μ†]', tex)

def test_a_row_more_is_a_language_more(runs, tmp_path):
    rows = [*fact_table('paper_models'), dict(zip(fact_table('paper_models')[0], ('Table 3','qaa','QAA','','Made up','Tiny','me/tiny')))]
    made = make_tables(runs, tmp_path/'out', rows)
    assert 'Own translations' not in made and rows_of(made['Table 3'])['QAA','Tiny'][6] == '88.00'

@pytest.mark.slow
def test_the_same_bytes_again(runs, tmp_path):
    for out in 'ab': make_tables(runs, tmp_path/out)
    for f in (tmp_path/'a').iterdir(): assert f.read_bytes() == (tmp_path/'b'/f.name).read_bytes(), f.name

# Own runs first, and nothing of the paper that nobody asked for

@pytest.mark.slow
def test_own_translations_come_first_and_empty_blocks_on_request(runs, tmp_path):
    made = make_tables(runs, tmp_path/'out')
    assert list(made) == ['Own translations','Table 1','Table 3']
    assert {block for block,_ in rows_of(made['Table 1'])} == {'ERV'}
    assert not (tmp_path/'out'/'table2.md').exists()
    assert {block for block,_ in rows_of(make_tables(runs, tmp_path/'all', published=True)['Table 1'])} == {'ERV','WBT'}

def test_tables_go_to_the_data_folder(runs, tmp_path, monkeypatch):
    "The committed tables are overwritten by nobody who does not name them"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    make_tables(runs)
    assert (tmp_path/'data'/'tables'/'table1.md').is_file() and not (tmp_path/'paper_tables').exists()

def test_a_place_for_tables_is_tried_before_runs_are_read(runs, tmp_path, monkeypatch, pronto):
    (tmp_path/'file').touch()
    monkeypatch.setattr('pronto.runs.store.read_runs', lambda *_: pytest.fail('runs were read'))
    code, _, err = pronto('tables', '--runs', runs, '-o', tmp_path/'file')
    assert code == 1 and any("file is not a folder" in line for line in err)

def test_languages_have_names(tmp_path):
    store(tmp_path/'runs', 'wolof', 'tiny', 'sentence_mood', .8, language='wol')
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8, language='Brelish')
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Own translations']
    assert {block for block,_ in rows_of(made)} == {'Wolof (wolof)','Brelish (qaa)'} and '\n- Wolof (wolof)\n' in made

@pytest.mark.parametrize('table', ['1','2','3'])
def test_committed_tables_are_in_this_format(table):
    "Read back from their CSV, they are printed as they are committed"
    file = ROOT/'paper_tables'/f'table{table}'
    keys = {name: key for key,name in BASELINE_NAMES.items()}
    cells = [NOT_RUN | cell | dict(block=cell['bible'], row=cell['system'], reference=keys.get(cell['system'], ''))
             for cell in read_table(file.with_suffix('.csv')).data]
    table = accuracy_table(Accuracies(f'Table {table}', pd.DataFrame(cells, dtype=object)))
    for ending,text in dict(md=table.markdown() + "\n", tex=table.latex(), csv=table.csv()).items():
        assert text == file.with_suffix(f'.{ending}').read_text(encoding='utf-8')

@pytest.mark.slow
def test_committed_tables_are_those_of_today(tmp_path):
    "Otherwise: make tables"
    import committed_tables
    committed_tables.make(tmp_path/'out')
    made = [path for path in sorted((tmp_path/'out').iterdir()) if path.suffix != '.png'] # Its bytes depend on versions
    assert [path.name for path in made] == ['published.csv', *(f'table{i}.{x}' for i in range(1, 6) for x in ('csv','md','tex'))]
    assert [path.name for path in made if path.read_bytes() != (ROOT/'paper_tables'/path.name).read_bytes()] == []

def test_nothing_has_no_sign():
    "In what is committed, as `decimal` prints it"
    places = [p for folder in ('paper_tables','docs','nbs') for p in (ROOT/folder).rglob('*') if p.suffix in ('.md','.tex','.ipynb')]
    signed = re.compile(r'(?:−|\$-\$)0\.0+(?!\d)')
    assert len(places) > 300 and [p.name for p in places if signed.search(p.read_text(encoding='utf-8'))] == []

# One block, one test set

def test_a_block_has_one_test_set(tmp_path):
    "Runs with other limits have their own baselines and say their limit in their row"
    for limit,majority in (60,.4), (200,.45), (300,.5):
        store(tmp_path/'runs', 'qaa', f'm{limit}', 'sentence_mood', .9, limit=limit, majority=majority, language='Brelish')
    rows = rows_of(make_tables(tmp_path/'runs', tmp_path/'out')['Own translations'])
    blocks = {block: {name: cells[2] for (b,name),cells in rows.items() if b == block} for block,_ in rows}
    assert len(blocks) == 3
    for i,(limit,majority) in enumerate(((300,'50.00'), (200,'45.00'), (60,'40.00')), 1):
        label = f'Brelish (qaa), test set {i}, limit {limit}'
        assert blocks[label] == {label: majority, f'm{limit}, limit {limit}': '90.00'}
    lines = list(csv.DictReader((tmp_path/'out'/'owntranslations.csv').open(encoding='utf-8')))
    assert {(r['test_set'], r['limit']) for r in lines if r['ours']} == {('test set 1','300'), ('test set 2','200'), ('test set 3','60')}

def test_runs_with_a_limit_have_a_table_of_their_own(tmp_path):
    "Beside runs on all examples, whose table would otherwise have a further block for each trial"
    for model,limit in ('whole',None), ('trial',50), ('other',60):
        store(tmp_path/'runs', 'qaa', model, 'sentence_mood', .9, limit=limit)
    made = make_tables(tmp_path/'runs', tmp_path/'out')
    assert list(made) == ['Own translations', 'Own translations, with a limit']
    own, limited = map(rows_of, made.values())
    assert [name for _,name in own] == ['qaa','whole'] and 'test set' not in made['Own translations']
    assert ('qaa, test set 2, limit 50', 'trial, limit 50') in limited

def test_protocols_are_kept_apart(tmp_path):
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8)
    for protocol in 'transfer','few-shot': store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .4, protocol=protocol)
    tables = lambda **wanted: rows_of(make_tables(tmp_path/'runs', tmp_path/'out', **wanted)['Own translations'])
    assert tables()['qaa','tiny'][2] == '80.00' and tables(protocol='transfer')['qaa','tiny'][2] == '40.00'
    for source in 'engweb','fralsg':
        store(tmp_path/'runs', 'qab', 'tiny', 'sentence_mood', .8 if source == 'engweb' else .7, protocol='transfer',
              trained_on=[dict(code=source)], train=[source])
    made = tables(protocol='transfer')
    found = {block: cells[2] for (block,name),cells in made.items() if name == 'tiny' and block.startswith('qab')}
    assert {(block.partition('trained on ')[2], score) for block,score in found.items()} == {('engweb','80.00'), ('fralsg','70.00')}
    shutil.rmtree(tmp_path/'runs'/'qab')
    other = left_out(read_runs(tmp_path/'runs')).split(', ')
    assert sorted(other) == [f'1 paper on parallel splits ({protocol})' for protocol in ('few-shot','transfer')]

def test_models_of_other_protocols_have_no_row(tmp_path):
    "A row of dashes would say that they are still to be run"
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8)
    store(tmp_path/'runs', 'qaa', 'other', 'sentence_mood', .8, protocol='probe')
    store(tmp_path/'runs', 'qab', 'other', 'sentence_mood', .8, recipe='robust')
    rows = rows_of(make_tables(tmp_path/'runs', tmp_path/'out')['Own translations'])
    assert {name for _,name in rows} & {'tiny','other'} == {'tiny'} and {block for block,_ in rows} == {'qaa'}

def test_an_absolute_error_belongs_to_counts(tmp_path):
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8)
    with pytest.raises(InputError, match='SM has no mean absolute error; choose from accuracy'):
        make_tables(tmp_path/'runs', tmp_path/'out', metric='mae')
    store(tmp_path/'own', 'qaa', 'tiny', 'my_own_task', .8) # Of which nothing says that it counts
    with pytest.raises(InputError, match='my_own_task has no mean absolute error; choose from accuracy, macro_f1, mcc$'):
        make_tables(tmp_path/'own', tmp_path/'out', metric='mae')
    store(tmp_path/'own', 'qab', 'tiny', 'nonpronominal_mention', .8)
    assert {bible for bible,_ in rows_of(make_tables(tmp_path/'own', tmp_path/'out', metric='mae')['Own translations'])} == {'qab'}

def test_a_source_with_other_tasks_has_a_table_of_its_own(tmp_path, capsys):
    "And a summary of its own; nothing of one source is a column of another"
    from pronto.cli.command import main
    for bible in 'qaa','qab':
        for model in 'a','b':
            store(tmp_path/'runs', bible, model, 'sentence_mood', .8, dataset_hash=f'o{bible}', source='OntoNotes')
            store(tmp_path/'runs', bible, model, 'people_named', .7, dataset_hash=f'a{bible}', source='ACAI')
    assert main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out')]) == 0
    said = capsys.readouterr().out
    tasks = {name: {r['task'] for r in csv.DictReader((tmp_path/'out'/f'{name}.csv').open())}
             for name in ('owntranslations','owntranslations-acai')}
    assert 'SM' in tasks['owntranslations'] and tasks['owntranslations-acai'] == {'PN'}
    assert '# Own translations, ACAI:' in said and '# Summary, ACAI:' in said and '# Summary, OntoNotes:' in said

def test_a_task_of_the_users_is_a_column(tmp_path):
    store(tmp_path/'runs', 'qaa', 'tiny', 'my_own_task', .8)
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Own translations']
    assert '| SAC | my_own_task |' in made and rows_of(made)['qaa','tiny'] == ['–']*5 + ['80.00']

def test_the_first_fault_is_named_with_what_mends_it(runs, tmp_path, capsys):
    from pronto.cli.command import main
    def said(*options):
        assert main(['tables', '--runs', str(runs), *options]) == 1
        return capsys.readouterr().err
    assert "there is no protocol 'nosuch'; choose from in-language" in said('--protocol', 'nosuch')
    assert 'choose with --recipe, --splits' in said('--recipe', 'none')
    for record in list(runs.glob('*/*/*/*')): record.unlink()
    store(runs, 'qaa', 'tiny', 'sentence_mood', .9, recipe='probe', protocol='probe')
    assert 'choose with --recipe, --splits' in said('--protocol', 'in-language')
    assert main(['tables', '--runs', str(runs), '-o', str(tmp_path/'out')]) == 0 # What there is
    assert 'Protocol: probe' in capsys.readouterr().out
    wrong_metric = 'SM has no mean absolute error; choose from'
    store(runs, 'qaa', 'tiny', 'sentence_mood', .9, protocol='mixes')
    store(runs, 'qaa', 'tiny', 'nonpronominal_mention', .9, protocol='probe')
    assert wrong_metric in said('--protocol', 'mixes', '--metric', 'mae')

def test_translations_can_be_left_out(runs, tmp_path, capsys):
    from pronto.cli.command import main
    out = str(tmp_path/'out')
    assert main(['tables', '--runs', str(runs), '-o', out, '--without', 'engerv, wolKYG']) == 0
    assert {bible for bible,_ in rows_of(capsys.readouterr().out)} == {'qaa'}
    assert main(['tables', '--runs', str(runs), '-o', out, '--without', 'engerv,nosuch,other']) == 1
    said = capsys.readouterr()
    assert said.out == '' and '--without: there are no runs on nosuch, other; choose from engerv, qaa, wolKYG' in said.err
    assert main(['tables', '--runs', str(runs), '-o', out, '--without', 'engerv,qaa,wolKYG']) == 1
    assert '--without: all runs use engerv' in capsys.readouterr().err

def test_a_translation_is_left_out_as_source_too(tmp_path, capsys):
    from pronto.cli.command import main
    runs = tmp_path/'runs'
    for source in 'qaa','qab':
        trained_on = [dict(code=source, dataset_hash='d')]
        for target in 'qaa','qab':
            store(runs, target, 'tiny', 'sentence_mood', .8, protocol='transfer', trained_on=trained_on)
    command = ['tables', '--protocol', 'transfer', '--runs', str(runs), '-o', str(tmp_path/'out'), '--json']
    assert main(command) == 0 and 'qab' in capsys.readouterr().out
    assert main([*command, '--without', 'qab']) == 0
    said = capsys.readouterr().out
    assert 'qaa' in said and 'qab' not in said

def test_hints_name_the_store(runs, tmp_path, capsys):
    from pronto.cli.command import main
    empty = tmp_path/'no runs'
    empty.mkdir()
    def said(command, folder, *options):
        assert main([command, '--runs', str(folder), '-o', str(tmp_path/'out'), *options]) == 1
        found = capsys.readouterr()
        assert found.out == '' and not (tmp_path/'out').exists()
        line, = found.err.splitlines()
        return line
    assert 'choose with --recipe, --splits' in said('tables', runs, '--recipe', 'none')
    eval_there = f'pronto eval --protocol transfer --runs {runs}`'
    assert eval_there in said('tables', runs, '--protocol', 'transfer')
    make_some = f"has no runs; make some: pronto eval DATASET_DIR -m MODEL --runs '{empty}'"
    assert make_some in said('report', empty)
    retrieval = said('tables', empty, '--protocol', 'retrieval')
    assert retrieval.endswith(f"make some: pronto eval DATASET_DIR -m MODEL --protocol retrieval --runs '{empty}'")

# Over tasks and translations

def test_the_summary_is_written_beside_the_tables_and_printed(tmp_path, capsys):
    def run(bible, model, task, accuracy):
        for seed in range(3): store(tmp_path/'runs', bible, model, task, accuracy + seed/100, seed)
    for bible in 'qaa','qab':
        for task in 'sentence_mood','proper_noun_subject':
            run(bible, 'good', task, .9 if bible == 'qaa' else .88)
            run(bible, 'twin', task, .88 if bible == 'qaa' else .9)
            run(bible, 'poor', task, .6)
    from pronto.cli.command import main
    assert main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out')]) == 0
    assert '# Summary: accuracy over tasks and translations' in capsys.readouterr().out
    assert {f.suffix for f in (tmp_path/'out').glob('summary.*')} == {'.md','.tex','.csv','.png'}
    lines = list(csv.DictReader((tmp_path/'out'/'summary.csv').open(encoding='utf-8')))
    overall = {r['model']: r for r in lines if r['over'] == 'all'}
    assert [overall[m]['test_sets'] for m in ('good','majority')] == ['4','4'] and float(overall['poor']['rank']) == 3
    assert float(overall['poor']['mean']) < float(overall['good']['mean'])

def test_the_summary_leaves_out_runs_with_a_limit(tmp_path, capsys):
    "Where others have all examples; it would otherwise test all translations on the rows of a trial"
    for bible,limit in ('qaa',None), ('qab',None), ('qac',50):
        for task in 'sentence_mood','proper_noun_subject': store(tmp_path/'runs', bible, 'm', task, .9, limit=limit)
    made = make_summary(tmp_path/'runs', tmp_path/'out')
    assert '| m | 4 |' in made and re.search(r'Left out: \d of m on qac \(.*, limit 50\)', made)
    assert not capsys.readouterr().err
    for path in (tmp_path/'runs').glob('qa[ab]/**/*.json'): path.unlink()
    assert '| m | 2 |' in make_summary(tmp_path/'runs', tmp_path/'out')

@pytest.mark.slow
def test_a_task_has_its_own_metric_in_tables_and_summary(tmp_path):
    for bible in 'qaa','qab':
        for task in 'sentence_mood','proper_noun_subject':
            for seed in range(3): store(tmp_path/'runs', bible, 'm', task, .8, seed=seed)
    assert 'SM (MCC)' in make_tables(tmp_path/'runs', tmp_path/'out', metric='')['Own translations']
    made = make_summary(tmp_path/'runs', tmp_path/'out')
    assert '# Summary: accuracy over' in made and 'percent; SM: MCC)' in made
    assert re.search(r'\| \*\*SM \(MCC\)\*\* \| m \| 2 \| 0.60 \|', made), made
    lines = list(csv.DictReader((tmp_path/'out'/'summary.csv').open(encoding='utf-8')))
    assert {(r['scope'] == 'SM', r['metric']) for r in lines} == {(True, 'mcc'), (False, 'accuracy')}
    assert '**SM**' in make_summary(tmp_path/'runs', tmp_path/'out', metric='accuracy')

# Bad input

def test_names_cannot_add_markup(tmp_path):
    evil = '<script>alert(1)</script>|[x](javascript:alert(1))'
    store(tmp_path/'runs', evil, evil, 'sentence_mood', .8, language=evil)
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Own translations']
    assert '<script' not in made and '[x](javascript' not in made.replace('\\[', '').replace('\\]', '')
    [row] = [line for line in made.splitlines() if line.startswith('| **')]
    assert len(re.findall(r'(?<!\\)\|', row)) == 7

def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path, capsys):
    "And numbers stay numbers, and programs get the name itself"
    from pronto.cli.command import main
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .9, language='=1+1')
    assert main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out'), '--json']) == 0
    read = json.loads(capsys.readouterr().out)['tables']['owntranslations']
    written = list(csv.DictReader((tmp_path/'out'/'owntranslations.csv').open(encoding='utf-8')))
    assert {row['language'] for row in read} == {'=1+1'} and {row['language'] for row in written} == {"'=1+1"}
    assert {row['ours'] for row in read} == {row['ours'] for row in written}

def test_a_store_without_runs_or_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(InputError, match='has no runs'): make_tables(tmp_path, tmp_path/'out')
    (tmp_path/'file').write_text('')
    with pytest.raises(InputError, match='file: is not a folder'): make_tables(tmp_path/'file', tmp_path/'out', published=True)
    assert not (tmp_path/'out').exists()

# The notebook

@pytest.mark.slow
def test_notebook_runs(runs, tmp_path):
    ran = run_notebook('tables.ipynb', tmp_path/'run.ipynb', dict(runs=runs, out=tmp_path/'tables'))
    assert '80.00' in (tmp_path/'tables'/'table1.md').read_text(encoding='utf-8')
    assert any('80.00' in text for text in shown_as(ran, 'text/markdown'))
    pictures = [*map(base64.b64decode, shown_as(ran, 'image/png'))]
    assert pictures == [(tmp_path/'tables'/f'{t}.png').read_bytes() for t in ('owntranslations','table1','table3')]

@pytest.mark.slow
def test_notebook_refuses_a_misspelt_parameter(runs, tmp_path):
    from papermill import PapermillExecutionError
    said = 'recipes: is not a parameter of this notebook; choose from runs, out'
    with pytest.raises(PapermillExecutionError, match=said):
        run_notebook('tables.ipynb', tmp_path/'run.ipynb', dict(runs=runs, out=tmp_path/'tables', recipes='robust'))

def test_a_narrow_terminal_loses_no_letter():
    "Columns are folded, never cut off"
    cells = ['nonpronominal mention (NMC)', 'qab-pretrained', '54.3 [47.8, 60.8]', '63.0 (what letters alone give)', '39.3',
             'Clearly below what letters alone give (by MCC).']
    header = ['task', 'model', 'score [95 %]', 'best without a model', 'commonest label', 'what it means']
    markdown = Table('card', 'Scores', [(header, [cells])], align='llrlrl').markdown()
    letters = lambda width: sorted(terminal_text(markdown, width).translate(dict.fromkeys(map(ord, '─ \n'))))
    assert {width for width in range(50, 160) if letters(width) != letters(400)} == set()
    assert all(max(map(len, terminal_text(markdown, width).split('\n'))) <= width for width in range(50, 160))
