"Tables 1-3: what was run stands in its place, what was not is a dash, and the published figures are the paper's"
import csv, io, json, os, re, subprocess, sys
from dataclasses import asdict

import pytest
from conftest import ROOT
from pronto.core.files import fact_table
from pronto.runs.store import KEYS, RunKey, write_record
from pronto.reporting.tables import COLUMNS, make_tables, read_layout

def store(folder, bible, model, task, accuracy, seed=0, said=[dict(label='x', predicted='x')], model_hash='m', **more):
    run = RunKey(bible, model, model_hash, task, 'd', seed=seed, **{k: more.pop(k) for k in ('limit','recipe','hyperparameters') if k in more})
    known = dict(accuracy=accuracy, intervals=dict(accuracy=[accuracy-.03, accuracy+.02]), baselines=dict(majority=.5, lookup=.5, ngram=.6), collapsed=False, splits='parallel') | more
    write_record(run, folder, {k: None for k in KEYS if k != 'predictions' and k not in asdict(run)} | known, said)

@pytest.fixture
def runs(tmp_path):
    for seed,accuracy in enumerate((.9,.7,.8)): store(tmp_path/'runs', 'engerv', 'google-bert/bert-base-cased', 'same_sense', accuracy, seed)
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
        name,*cells = [c.strip() for c in line.strip('|').split('|')]
        if name.startswith('**'): block = name.strip('*')
        found[block, name.strip('*')] = cells
    return found

def test_every_run_stands_in_its_place(runs, tmp_path):
    made = make_tables(runs, tmp_path/'out')
    assert list(made) == ['Table 1','Table 2','Table 3','Others']
    english, low, others = (rows_of(made[t]) for t in ('Table 1','Table 3','Others'))
    assert english['ERV','BERT'][9:12] == ['80.00','97.75','−17.75']
    assert english['ERV','BERT'][0] == '–' and english['WBT','BERT'][9] == '–'
    assert english['ERV','ERV'][9:11] == ['50.00','50.43']
    assert low['WOL','μBERT-MX'][6:8] == ['95.00*','90.36'] and '\n\\* trained on at most so many examples: 50.' in made['Table 3']
    assert low['WOL','XLM-R'][12] == '50.00†' and low['WOL','XLM-R'][9] == '–'
    assert others['qaa','tiny'] == ['–','–','88.00','–','–']

def test_models_that_are_not_clearly_worse_are_marked(tmp_path):
    "Of the runs in the middle, where all have answered the same verses"
    def verses(wrong): return [dict(ref=f'MRK {1+i//10}:{1+i%10}', label='1', predicted=str(int(i >= wrong))) for i in range(60)]
    for model,wrong in ('a/bert', 6), ('b/bert', 8), ('poor', 30): store(tmp_path/'runs', 'qaa', model, 'proper_noun_subject', 1 - wrong/60, said=verses(wrong))
    store(tmp_path/'runs', 'qaa', 'poor', 'proper_noun_subject', 1., 1, said=verses(0))
    for model in 'a/bert', 'poor': store(tmp_path/'runs', 'qaa', model, 'sentence_mood', .9)
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Others']
    assert {name: cells[1:3] for (_,name),cells in rows_of(made).items() if 'bert' in name or name == 'poor'} == {'a/bert': ['90.00‡','90.00'], 'b/bert': ['86.67‡','–'], 'poor': ['50.00','90.00']}
    assert '‡ the best model' in made and r'90.00$^{\ddagger}$' in (tmp_path/'out'/'others.tex').read_text()

def test_old_weights_and_short_trials_fill_no_cell(tmp_path):
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .9, hyperparameters=dict(epochs=20), model_hash='old')
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .8, hyperparameters=dict(epochs=20), model_hash='new', seed=1)
    store(tmp_path/'runs', 'qaa', 'tiny', 'sentence_mood', .3, hyperparameters=dict(epochs=1), model_hash='new')
    for path,age in zip(sorted((tmp_path/'runs').rglob('*.json'), key=lambda p: json.loads(p.read_text())['accuracy']), (1,2,3)): os.utime(path, (1e9-age, 1e9-age))
    made = make_tables(tmp_path/'runs', tmp_path/'out')['Others']
    assert rows_of(made)['qaa','tiny'][2] == '80.00' and 'epochs: 20;' in made and 'seeds: 1 (median)' in made

def test_nothing_is_zero_where_nothing_was_run(tmp_path):
    made = make_tables(tmp_path/'none', tmp_path/'out')
    for table,text in made.items():
        for cells in rows_of(text).values(): assert cells[::3] == ['–']*5 and cells[2::3] == ['–']*5
        file = f'table{table[-1]}'
        for line in csv.DictReader((tmp_path/'out'/f'{file}.csv').open(encoding='utf-8')): assert line['ours'] == line['difference'] == '' and line['published']

def test_published_figures_are_all_there(tmp_path):
    "As many as the paper prints, each beside its cell"
    make_tables(tmp_path/'none', tmp_path/'out')
    printed = {(r['table'], r['bible'], r['system'], r['task']): float(r['published']) for i in '123' for r in csv.DictReader((tmp_path/'out'/f'table{i}.csv').open(encoding='utf-8'))}
    facts = {(r['table'], r['bible'], r['system'], r['task']): float(r['value']) for r in fact_table('published') if r['table'] in ('Table 1','Table 2','Table 3')}
    assert printed == facts and len(facts) == 5*52

def test_committed_copy_of_the_published_figures(tmp_path):
    make_tables(tmp_path/'none', tmp_path/'out')
    assert (tmp_path/'out'/'published.csv').read_bytes() == (ROOT/'paper_tables'/'published.csv').read_bytes()

def test_models_are_named_once():
    rows = [(r['bible'], r['model']) for r in read_layout()]
    assert len(rows) == len(set(rows)) and all(all(r.values()) for r in read_layout())
    assert len({(r['bible'], r['hub']) for r in read_layout()}) == len(rows)

def test_formats_agree(runs, tmp_path):
    make_tables(runs, tmp_path/'out')
    for table in 'table1','table3','others':
        md, tex, lines = ((tmp_path/'out'/f'{table}.{x}').read_text(encoding='utf-8') for x in ('md','tex','csv'))
        ours = {f"{float(r['ours']):.2f}" for r in csv.DictReader(io.StringIO(lines)) if r['ours']}
        assert all(o in md and o in tex for o in ours) and ours
        assert tex.count(r'\begin') == tex.count(r'\end') and not re.search('[–−μ†]', tex)

def test_a_row_more_is_a_language_more(runs, tmp_path):
    rows = [*read_layout(), dict(zip(COLUMNS, ('Table 3','qaa','QAA','','Made up','Tiny','me/tiny')))]
    (tmp_path/'mine.tsv').write_text('\n'.join('\t'.join(r) for r in [COLUMNS, *(r.values() for r in rows)]) + '\n', encoding='utf-8')
    made = make_tables(runs, tmp_path/'out', tmp_path/'mine.tsv')
    assert 'Others' not in made and rows_of(made['Table 3'])['QAA','Tiny'][6] == '88.00'

def test_the_same_bytes_again(runs, tmp_path):
    for out in 'ab': make_tables(runs, tmp_path/out)
    for f in (tmp_path/'a').iterdir(): assert f.read_bytes() == (tmp_path/'b'/f.name).read_bytes(), f.name

def papermill(runs, out, *more):
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    command = [sys.executable, '-m', 'papermill', 'tables.ipynb', str(out), '-p', 'runs', str(runs), '-p', 'out', str(out.parent/'tables'), *more]
    return subprocess.run(command, cwd=ROOT/'nbs', env=env, capture_output=True, text=True)

def test_notebook_runs(runs, tmp_path):
    assert papermill(runs, tmp_path/'run.ipynb').returncode == 0
    assert '80.00' in (tmp_path/'tables'/'table1.md').read_text(encoding='utf-8') and '80.00' in (tmp_path/'run.ipynb').read_text(encoding='utf-8')

def test_notebook_refuses_a_misspelt_parameter(runs, tmp_path):
    done = papermill(runs, tmp_path/'run.ipynb', '-p', 'recipes', 'robust')
    assert done.returncode == 1 and 'no parameter recipes; choose from runs, out' in done.stderr
