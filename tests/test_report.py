"The report: it shows every run, and a browser sorts, filters and saves it without a network"
import csv, io, json, shutil, subprocess, sys, zipfile

from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import pytest
from conftest import ROOT, predictions, run_results
from pronto.cli.command import main
from pronto.lab.reporting.report import make_report, read_registry, write_report
from pronto.core.files import InputError
from pronto.core.tables import csv_text
from pronto.reporting.scores import compare_all, read_answers
from pronto.runs.store import RunKey, read_runs, write_record

EVIL = '</script><script>document.title = "broken"</script><img src=x onerror="document.title=1">'

def store(folder, bible, model, task, accuracy, seed=0, n=100, **more):
    of_key = {k: more.pop(k) for k in ('limit','recipe','protocol') if k in more}
    run = RunKey(bible, model, 'm', task, 'd', seed=seed, hyperparameters=dict(epochs=3), **of_key)
    known = run_results(accuracy=accuracy, splits='parallel', language=bible[:3])
    write_record(run, folder, known | more, predictions(accuracy, n))

@pytest.fixture
def report(tmp_path):
    "A report of two real languages and an invented one"
    runs = tmp_path/'my runs'
    for seed,accuracy in enumerate((.9,.7,.8)): store(runs, 'wolKYG', 'good/model', 'same_sense', accuracy, seed)
    store(runs, 'wolKYG', 'good/model', 'sentence_mood', .75)
    store(runs, 'copshc', 'good/model', 'same_sense', .62)
    store(runs, 'wolKYG', 'poor', 'same_sense', .5, collapsed=True)
    store(runs, 'copshc', EVIL, 'same_sense', .55)
    store(runs, 'qaa', 'poor', 'nonpronominal_mention', .58, limit=50)
    (tmp_path/'registry.csv').write_text('code,language,family,script\nqaa,Lo,Made up,Geor\n', encoding='utf-8')
    assert main(['report', '--runs', str(runs), '-o', str(tmp_path/'report.html'), '--registry', str(tmp_path/'registry.csv')]) == 0
    return tmp_path/'report.html'

def test_rows_of_a_store(report):
    rows = make_report(read_runs(report.parent/'my runs'), report.parent, {'qaa': dict(family='Made up')}).rows
    by = {(r['bible'], r['model'], r['task']): r for r in rows}
    assert len(rows) == len(by) == 6
    best, accuracy = by['wolKYG','good/model','SS'], by['wolKYG','good/model','SS']['metrics']['accuracy']
    assert [accuracy[k] for k in ('score','seed_low','gain','above')] == [.8, .7, .3, True] and best['seeds'] == 3
    assert accuracy['low'] < .7 and .9 < accuracy['high'] < 1 and best['metrics']['mcc']['score'] == pytest.approx(.6, abs=.01)
    assert (best['language'], best['family'], best['script']) == ('Wolof', 'Atlantic-Congo', 'Latn')
    assert by['copshc','good/model','SS']['script'] == 'Copt' and 'mae' not in best['metrics']
    assert by['qaa','poor','NMC']['family'] == 'Made up' and by['qaa','poor','NMC']['script'] == 'not known'
    assert by['qaa','poor','NMC']['metrics']['mae']['score'] == .42
    assert by['wolKYG','poor','SS']['metrics']['accuracy']['above'] is None and accuracy['rank'] is None # One has one seed

def test_models_that_tests_do_not_tell_apart_share_a_rank(tmp_path):
    for model,accuracy in dict(good=.9, twin=.88, poor=.6).items():
        for seed in range(3): store(tmp_path, 'wolKYG', model, 'same_sense', accuracy + seed/100, seed)
    ranks = {r['model']: [r['metrics']['accuracy'][k] for k in ('rank','tied')] for r in make_report(read_runs(tmp_path)).rows}
    assert ranks == dict(good=[1, True], twin=[1, True], poor=[3, False])

@pytest.fixture(scope='module')
def browser():
    "A Chromium of the system"
    playwright = pytest.importorskip('playwright.sync_api')
    found = next((p for name in ('chromium','chromium-browser','google-chrome','google-chrome-stable') if (p := shutil.which(name))), None)
    if not found: pytest.skip('no Chromium on this machine: install one to check the report (on Debian: apt install chromium)')
    with playwright.sync_playwright() as p:
        b = p.chromium.launch(executable_path=found, args=['--no-sandbox'])
        yield b
        b.close()

@pytest.fixture
def page(browser, report):
    "The report in a browser that has no network and reports whatever goes wrong"
    context = browser.new_context(viewport=dict(width=1280, height=800), offline=True)
    page, wrong = context.new_page(), []
    page.on('pageerror', lambda e: wrong.append(str(e)))
    page.on('console', lambda m: wrong.append(m.text) if m.type in ('error','warning') else None)
    page.on('request', lambda r: wrong.append(r.url) if not r.url.startswith((report.as_uri(), 'blob:')) else None)
    page.goto(report.as_uri())
    yield page
    assert wrong == []
    context.close()

def see(page, report, **state):
    "Open a view, as a link to it does"
    page.goto(f'{report.as_uri()}#{urlencode(state)}')
    page.locator('html[data-ready]').wait_for(state='attached')

def column(page, label, table='results'):
    "The texts of a column"
    return page.locator(f'#{table} tbody [data-label="{label}"]').all_inner_texts()

def lines(page, table): return [x.split('\t') for x in page.locator(f'#{table} tbody tr').all_inner_texts()]

def choose(page, **fields):
    for name,value in fields.items(): page.locator(f'.fields [name={name}]').select_option(value)

def test_the_ranking_comes_first(page):
    ranking = lines(page, 'ranking')
    # The mean first, and how far it is above the best baseline; tested where it has three seeds
    assert ranking[0] == ['good/model ↗','1 untested','73.0 3 of 3','+23.0','75.0','71.0','1 of 1']
    assert page.locator('#finding').inner_text() == \
        ('Highest score: good/model 73.0, +23.0 over the best baseline, on 3 of 3 test sets. '
        'Ranks are untested: they are from the scores alone.')
    assert [row[0] for row in ranking[-2:]] == ['majority label','best baseline'] and EVIL in [row[0] for row in ranking]
    assert page.locator('#count').inner_text() == '5 results: 3 models, 2 translations, 2 tasks'
    assert sorted(column(page, 'SS', 'ranking')[:3]) == ['50.0 1 of 2','55.0 1 of 2','71.0'] # Of Wolof and Coptic
    assert page.locator('#map circle').count() == 2 and page.title() == 'Models by tasks – PrOnto report'

def test_a_model_is_ranked_on_the_test_sets_that_it_ran_on(tmp_path, browser):
    "Easy languages do not help: `some` has the best mean, but not on the languages that it shares with others"
    scores = dict(wolKYG=dict(good=.95, some=.9), fralsg=dict(good=.5, poor=.4), engweb=dict(good=.6, poor=.55))
    for bible,models in scores.items():
        for model,accuracy in models.items(): store(tmp_path, bible, model, 'same_sense', accuracy)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html')
    ranks = dict(zip(column(page, 'Model', 'ranking'), column(page, 'Rank', 'ranking')))
    assert ranks == {'some': '2 of 2 untested', 'good': '1 untested', 'poor': '2 of 2 untested', 'majority label': '', 'best baseline': ''}
    assert column(page, 'SS', 'ranking')[:3] == ['90.0 1 of 3','68.3','47.5 2 of 3']
    assert page.locator('#finding').inner_text().startswith('Highest score: good 68.3, +18.3 over the best baseline, on 3 of 3')
    assert 'gradient' in page.locator('#ranking td[data-label=SS]').first.evaluate('e => getComputedStyle(e).backgroundImage')
    page.close()

def test_size_and_page_of_a_model_where_they_are_known(tmp_path, browser):
    store(tmp_path, 'wolKYG', 'google-bert/bert-base-multilingual-cased', 'same_sense', .8, parameters=178_566_653)
    store(tmp_path, 'wolKYG', 'my-bert', 'same_sense', .7, parameters=1_200_000)
    store(tmp_path, 'wolKYG', 'bert-base-cased', 'same_sense', .6)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html')
    assert [x.split() for x in column(page, 'Model', 'ranking')[:3]] == \
        [['google-bert/bert-base-multilingual-cased','179','M','↗'], ['my-bert','1.2','M'], ['bert-base-cased','↗']]
    links = page.eval_on_selector_all('#ranking a[title]', 'links => links.map(a => a.href)')
    assert links == ['https://huggingface.co/google-bert/bert-base-multilingual-cased', 'https://huggingface.co/bert-base-cased']
    page.get_by_role('link', name='my-bert').click()
    page.locator('#model').wait_for()
    assert page.locator('dl').inner_text().split('\n')[:2] == ['Parameters','1.2 M'] # Of the Hub it says nothing
    page.close()

def test_it_sorts_and_filters(page, report):
    see(page, report, view='results')
    assert column(page, 'Accuracy')[:2] == ['80.0','75.0'] and column(page, 'Over baseline')[0] == '+30.0'
    heading = page.get_by_role('columnheader', name='Accuracy').get_by_role('button')
    heading.focus()
    page.keyboard.press('Enter')
    assert [x.split()[0] for x in column(page, 'Accuracy')] == ['80.0','75.0','62.0','55.0','50.0']
    page.keyboard.press('Space') # The heading keeps the focus
    assert [x.split()[0] for x in column(page, 'Accuracy')] == ['50.0','55.0','62.0','75.0','80.0']
    assert page.get_by_role('columnheader', name='Accuracy').get_attribute('aria-sort') == 'ascending'
    assert 'collapsed' in column(page, 'Accuracy')[0] and column(page, 'Over baseline')[0] == '+0.0' # One seed: not tested
    choose(page, family='Atlantic-Congo', task='SS')
    assert set(column(page, 'Language')) == {'Wolof wolKYG'} and column(page, 'Model') == ['poor','good/model']
    page.get_by_role('button', name='Clear filters').click()
    page.locator('#results tbody tr').nth(4).wait_for()
    page.locator('input[name=q]').fill('coptic MODEL')
    page.locator('#results tbody tr').nth(1).wait_for(state='detached')
    assert column(page, 'Model') == ['good/model']

def test_filters_are_in_the_address(page, report, browser):
    see(page, report)
    choose(page, metric='mcc', task='SS', script='Copt')
    assert parse_qs(urlsplit(page.url).fragment) == dict(metric=['mcc'], task=['SS'], script=['Copt'])
    shown = lines(page, 'ranking')
    for address in page.url, page.url.replace('#', '?'):
        other = browser.new_page()
        other.goto(address)
        assert lines(other, 'ranking') == shown and [x[0] for x in shown][0] == 'good/model ↗'
        assert other.locator('#active').inner_text() == ': metric MCC, task SS, script Copt'
        other.get_by_role('link', name='Results', exact=True).click() # Views keep the filters
        other.locator('#results').wait_for()
        assert column(other, 'Language') == ['Coptic copshc']*2
        other.go_back()
        other.locator('#ranking').wait_for()
        assert lines(other, 'ranking') == shown
        other.close()

def test_a_page_saved_with_its_view(page, report, browser, tmp_path):
    see(page, report, view='results', task='SS', sort='results.score')
    with page.expect_download() as download: page.get_by_role('button', name='Save page with this view').click()
    download.value.save_as(tmp_path/'mailed.html')
    other = browser.new_page()
    other.goto((tmp_path/'mailed.html').as_uri())
    assert column(other, 'Accuracy') == column(page, 'Accuracy') and len(column(other, 'Model')) == 4
    assert other.locator('#panel select').count() == page.locator('#panel select').count()
    other.close()

def test_pages_of_models_languages_and_results(page, report):
    page.get_by_role('link', name='good/model').click()
    page.locator('#model').wait_for()
    assert column(page, 'Language', 'model') == ['Wolof wolKYG','Coptic copshc']
    assert column(page, 'SS', 'model') == ['80.0','62.0'] and column(page, 'SM', 'model') == ['75.0','–']
    page.locator('#model').get_by_role('link', name='Wolof').click()
    page.locator('#results').wait_for()
    assert page.locator('dl').inner_text().split('\n')[:4] == ['Translation','wolKYG','Family','Atlantic-Congo']
    assert column(page, 'Task') == ['SS','SM','SS'] and page.evaluate('document.activeElement.id') == 'main'
    page.locator('#results').get_by_role('link', name='80.0').click()
    page.locator('#scores').wait_for()
    assert [x[0] for x in lines(page, 'scores')] == ['Accuracy','Macro F1','MCC']
    assert lines(page, 'tests') == [] # The other model has one seed
    links = page.eval_on_selector_all('#records a', 'links => links.map(a => a.getAttribute("href"))')
    for link in links: assert json.loads((report.parent/unquote(link)).read_text(encoding='utf-8'))['accuracy']
    assert len(links) == 3
    for shown in '#results', '#model':
        page.go_back()
        page.locator(shown).wait_for()
    assert page.locator('h2').first.inner_text() == 'good/model'

def test_two_models_are_compared_by_test(tmp_path, browser):
    for model,accuracy in dict(good=.9, twin=.88, poor=.6).items():
        for bible in 'wolKYG', 'copshc':
            for seed in range(3): store(tmp_path, bible, model, 'same_sense', accuracy + seed/100, seed)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html', view='compare', a='poor', b='good')
    found = read_answers_of(tmp_path, 'wolKYG')
    expected = compare_all({m: found[m] for m in ('poor','good')})[0]
    assert column(page, 'Difference', 'compare') == ['−30.0']*2 and expected['difference'] == -.3
    p = round(expected['p'], 4) # What the page keeps of it
    assert column(page, 'p', 'compare') == ['< 0.001' if p < .001 else f'{p:.3f}']*2
    low, high = (f'{100*x:+.1f}'.replace('-', '−') for x in expected['interval'])
    assert column(page, '95 % interval', 'compare') == [f'{low} to {high}']*2
    assert 'poor on 0, good on 2; no clear difference on 0.' in page.locator('#verdict').inner_text()
    page.get_by_role('button', name='Exchange').click()
    assert column(page, 'Difference', 'compare') == ['+30.0']*2
    page.locator('select#b').select_option('twin')
    assert parse_qs(urlsplit(page.url).fragment)['b'] == ['twin']
    assert 'good on 0, twin on 0; no clear difference on 2' in page.locator('#verdict').inner_text()
    with page.expect_download() as download: page.locator('#compare').get_by_role('button', name='Save as CSV').click()
    saved = list(csv.DictReader(download.value.path().read_text(encoding='utf-8-sig').splitlines()))
    assert [(r['first_model'], r['second_model']) for r in saved] == [('good','twin')]*2
    assert {r['bible'] for r in saved} == {'wolKYG','copshc'} and float(saved[0]['low']) < .02 < float(saved[0]['high'])
    page.get_by_role('link', name='Overview').click()
    page.locator('#ranking').wait_for()
    assert column(page, 'Rank', 'ranking')[2] == '3 untested'
    page.close()

def read_answers_of(folder, bible):
    models = {}
    for r in read_runs(folder):
        if r.dataset == bible: models.setdefault(r.model, []).append(r)
    return {m: read_answers(seeds) for m,seeds in models.items()}

def test_the_report_says_what_the_tables_say(tmp_path, browser):
    "Over translations with other rows: means are those of the rows that all have, and both say so"
    from pronto.lab.reporting.summary import summaries
    sizes, scores = dict(wolKYG=100, fralsg=70), dict(good=(.9, .7), fair=(.8, .78), poor=(.62, .55))
    for bible,n in sizes.items():
        for model,pair in scores.items():
            for seed in range(3): store(tmp_path, bible, model, 'proper_noun_subject', pair[n < 100] + seed/100, seed, n)
    records = read_runs(tmp_path)
    [table], report = summaries(records), make_report(records)
    told = {r['model']: r['mean'] for r in table.data if r['over'] == 'translations'}
    note, = report.notes.values()
    assert note in ' '.join(table.notes) and 'PNS 70 of 100' in note
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html', metric='accuracy')
    shown = dict(zip(column(page, 'Model', 'ranking'), column(page, 'PNS', 'ranking')))
    assert all(shown[model] == f'{told[model]:.1f}' for model in scores) and note in page.locator('#finding').inner_text()
    see(page, tmp_path/'r.html', metric='accuracy', family='Atlantic-Congo')
    assert dict(zip(column(page, 'Model', 'ranking'), column(page, 'PNS', 'ranking')))['good'] == '91.0' # All its rows
    page.close()

def test_a_family_and_a_script_have_ranks_of_their_own(tmp_path, browser):
    "The best model of all is not the best in one family; ranks follow the filter"
    scores = {'wolKYG': (.9, .6), 'hauBSN': (.9, .6), 'fralsg': (.55, .85), 'engweb': (.6, .85), 'rusSYN': (.62, .8)}
    for bible,pair in scores.items():
        for model,accuracy in zip(('east','west'), pair):
            for seed in range(3): store(tmp_path, bible, model, 'same_sense', accuracy + seed/100, seed)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    def ranks(**filters):
        see(page, tmp_path/'r.html', **filters)
        return dict(zip(column(page, 'Model', 'ranking'), column(page, 'Rank', 'ranking')))
    first, second = '1 untested', '2 untested'
    west_first = {'east': second, 'west': first, 'majority label': '', 'best baseline': ''}
    assert ranks(family='Indo-European') == west_first
    assert ranks(family='Indo-European', script='Latn') == west_first
    of_one = ranks(family='Atlantic-Congo') # One test set, so this is tested
    assert (of_one['east'], of_one['west']) == ('1','2')
    page.close()

def test_what_has_most_results_comes_first_and_nothing_above_baselines_is_said(tmp_path, browser, capsys):
    "Three probes and one fine-tuning; guesses have MCC 0 and an empty bar; what cannot be answered has a heading"
    for model,accuracy in dict(a=.5, b=.45, c=.4).items():
        store(tmp_path, 'wolKYG', model, 'sentence_mood', accuracy, protocol='probe', recipe='probe')
    for seed in range(3): store(tmp_path, 'wolKYG', 'tuned', 'sentence_mood', .9, seed)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html')
    assert page.locator('#hidden').inner_text().startswith('Shown: probe') and 'in-language (1)' in page.locator('#hidden').inner_text()
    assert page.locator('#finding').inner_text().startswith('No model is above the best baseline. First: a 0.00, +0.00 over')
    bars = page.eval_on_selector_all('#ranking td[data-label=SM]', 'cells => cells.map(e => getComputedStyle(e).backgroundImage)')
    assert len(bars) == 5 and all(' 0%, ' in bar for bar in bars[:3]), bars
    see(page, tmp_path/'r.html', view='questions')
    section = page.locator('#questions section').inner_text().split('\n')
    assert section[0] == 'probe' and section[-1].startswith('Not answered yet: the store of runs holds no translation with a probe')
    page.close()
    capsys.readouterr()
    assert main(['tables', '--runs', str(tmp_path), '-o', str(tmp_path/'tables')]) == 0
    printed = capsys.readouterr()
    assert '| b |' in printed.out and '| tuned |' not in printed.out
    assert 'another seed' not in printed.out and '‡' in printed.out # Of one run each: no seed matters
    assert 'there are others of in-language (--protocol)' in printed.err

def test_families_branches_and_languages_are_a_tree(tmp_path, browser):
    for i,bible in enumerate(('wolKYG','fralsg','engweb','deuluo')): store(tmp_path, bible, 'a', 'same_sense', .6 + i/10)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page(viewport=dict(width=390, height=800))
    see(page, tmp_path/'r.html', view='families')
    text = lambda what: [' '.join(x.split()) for x in page.locator(what).all_inner_texts()]
    assert text('#tree > li > details > summary') == ['Indo-European 3 80.0+30.0']
    assert text('#tree > .leaf') == ['Wolof wolKYG Atlantic-Congo 60.0+10.0']
    assert text('#tree ul ul .leaf') == ['English engweb 80.0+30.0', 'German deuluo 90.0+40.0']
    page.locator('#tree').get_by_role('link', name='French').click()
    page.locator('#ranking').wait_for()
    see(page, tmp_path/'r.html', view='families')
    page.get_by_role('link', name='Ranks within Indo-European').click()
    page.locator('#ranking').wait_for()
    assert page.locator('#count').inner_text().startswith('3 results') and page.locator('.scale li').count() == 5
    page.close()

def test_a_long_report_shows_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr('pronto.core.progress.FIRST_LINE', 0)
    monkeypatch.setattr('pronto.core.progress.NEXT_LINE', 0)
    for bible in 'wolKYG', 'copshc': store(tmp_path, bible, 'a', 'same_sense', .7)
    command = ['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]
    assert main(command) == 0
    assert 'report: test sets: 50%, about 1 s left' in capsys.readouterr().err
    assert main([*command, '--quiet']) == 0 and capsys.readouterr() == ('', '')

def test_without_room_for_tests(tmp_path, browser):
    for model in 'good', 'poor': store(tmp_path, 'wolKYG', model, 'same_sense', .7)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html'), '--most-tests', '0']) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html', view='compare')
    assert page.locator('#verdict').inner_text().startswith('These results are not tested: a model that was trained with fewer than')
    assert 'Not tested against each other' in page.locator('#count').inner_text()
    page.close()

def test_by_keyboard_alone(page, report):
    see(page, report)
    press = lambda *keys: [page.keyboard.press(key) for key in keys]
    press('Tab')
    assert page.evaluate('document.activeElement.id') == 'skip'
    press('Enter')
    assert page.evaluate('document.activeElement.id') == 'main'
    press('Shift+Tab') # The last control before the results
    assert page.evaluate('document.activeElement.id') == 'keep'
    page.get_by_role('link', name='Compare').focus()
    press('Enter')
    page.locator('#compare').wait_for()
    page.locator('select#b').focus()
    press('p') # As in any list
    assert page.locator('select#b').input_value() == 'poor' and page.evaluate('document.activeElement.id') == 'b'
    seen = set()
    see(page, report, view='results')
    for _ in range(70):
        press('Tab')
        seen.add(page.evaluate('(e => e.dataset.key ?? (e.name || e.textContent))(document.activeElement)'))
    assert {'Overview','q','task','model','gain','good/model','80.0','Save as CSV'} <= seen

def test_another_metric_is_chosen(page, report):
    see(page, report, view='results')
    choose(page, metric='mcc')
    assert column(page, 'MCC')[:2] == ['0.60','0.50']
    see(page, report, view='languages', metric='mcc')
    assert lines(page, 'matrix')[-1][-2:] == ['0.55','0.00 1 of 2']
    see(page, report, data='source not recorded, parallel splits, limited examples', metric='mae', view='results')
    assert column(page, 'Mean absolute error') == ['0.42'] and column(page, 'Language') == ['Lo qaa']
    assert 'limit 50' in column(page, 'Setting')[0]

def test_a_task_is_shown_by_its_own_metric(browser, tmp_path):
    for task in 'sentence_mood','same_sense': store(tmp_path/'runs', 'wolKYG', 'm', task, .8)
    report = tmp_path/'own.html'
    write_report(tmp_path/'runs', report)
    page = browser.new_page()
    for task,metric in ('SM','mcc'), ('SS','accuracy'):
        see(page, report, view='results', task=task)
        assert page.locator('.fields [name=metric]').input_value() == metric
    choose(page, metric='accuracy')
    see(page, report, view='results')
    assert page.locator('.fields [name=metric]').input_value() == 'accuracy'
    page.close()

@pytest.mark.parametrize('width', [320, 390, 1280])
def test_it_fits_the_screen(page, report, width):
    "Nothing but tables in their own frames scrolls sideways, and text is large enough"
    page.set_viewport_size(dict(width=width, height=800))
    for view in 'overview', 'languages', 'families', 'results', 'compare':
        see(page, report, view=view)
        page.wait_for_function('width => document.documentElement.scrollWidth <= width', arg=width)
        cells = "[...document.querySelectorAll('tbody td, #tree .value')]" # In one step, as the page may draw them again
        assert min(page.evaluate(f'() => {cells}.map(cell => parseFloat(getComputedStyle(cell).fontSize))')) >= 12
    see(page, report, view='results')
    assert (page.locator('.wide').first.is_visible()) == (width > 700)

def test_it_is_short_on_a_phone(tmp_path, browser):
    for i in range(45): store(tmp_path, 'wolKYG', f'owner/a long name of a model {i}', 'same_sense', .5 + i/100)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html'), '--most-tests', '0']) == 0
    page = browser.new_page(viewport=dict(width=390, height=800))
    for view in 'overview', 'results':
        see(page, tmp_path/'r.html', view=view)
        assert page.evaluate('document.documentElement.scrollHeight') < 2500
    page.close()

def test_a_long_table_holds_the_rows_in_sight(tmp_path, browser):
    "The others come as one scrolls, sorts, walks with the keyboard, or prints; all are saved"
    for i in range(260): store(tmp_path, 'wolKYG', f'model {i:03}', 'same_sense', .5 + i/1000)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html'), '--most-tests', '0']) == 0
    page = browser.new_page(viewport=dict(width=1280, height=800))
    see(page, tmp_path/'r.html', view='results', sort='results.model')
    page.wait_for_function("document.querySelectorAll('#results .gap').length > 2")
    assert column(page, 'Model')[0] == 'model 000' and 'model 259' not in column(page, 'Model')
    frame = page.locator('#results .scroll')
    height = lambda: frame.evaluate('e => e.scrollHeight')
    before, shown = height(), frame.evaluate('e => e.clientHeight')
    assert shown < 800 and before > 260*25
    frame.evaluate('e => e.scrollTo(0, e.scrollHeight)')
    page.get_by_role('link', name='model 259').wait_for()
    assert 'model 000' not in column(page, 'Model') and height() == pytest.approx(before, rel=.05)
    assert page.locator('#results th').first.bounding_box()['y'] == pytest.approx(frame.bounding_box()['y'], abs=2) # It stays in sight
    page.get_by_role('columnheader', name='Model').get_by_role('button').click()
    assert column(page, 'Model')[0] == 'model 259' and frame.evaluate('e => e.scrollTop') == 0
    page.locator('#results tbody a').nth(40).focus()
    for _ in range(200): page.keyboard.press('Tab')
    page.wait_for_function("document.querySelectorAll('#results .gap').length > 2")
    assert page.evaluate("document.activeElement.closest('#results tbody') !== null")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(column(page, 'Model')) == 260 and page.locator('.gap').count() == 0
    with page.expect_download() as download: page.get_by_role('button', name='Save as CSV').click()
    assert len(download.value.path().read_text(encoding='utf-8-sig').splitlines()) == 261
    page.close()

def one_of_each_family(n):
    "Codes of languages"
    from pronto.bibles.languages import family_of
    from pronto.core.files import fact_table
    codes = [code for row in fact_table('languages') for code in row['codes'].split() if len(code) == 3]
    of_family = {family_of(code): code for code in reversed(codes)}
    return sorted(of_family.values())[:n]

def test_what_is_missing_is_said_and_all_models_are_compared_on_equal_rows(tmp_path, browser):
    bibles = ['fra', 'deu', *one_of_each_family(28)]
    for i,bible in enumerate(bibles):
        for model in 'good', 'poor':
            if (bible, model) != ('deu','poor'): store(tmp_path, bible, model, 'same_sense', .6 + i/100 - (model == 'poor')/10)
    store(tmp_path, 'fra', 'good', 'sentence_mood', .9)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html'), '--most-tests', '0']) == 0
    page = browser.new_page(viewport=dict(width=1280, height=800))
    see(page, tmp_path/'r.html', view='languages', task='SS')
    assert lines(page, 'missing') == [['German deu','Indo-European','poor','SS','1']]
    assert page.locator('#missing #finding').inner_text() == \
        '1 of 60 results (30 translations, 1 task, 2 models) are not there: poor 1.'
    see(page, tmp_path/'r.html', view='compare', metric='accuracy')
    assert page.locator('#together #finding').inner_text() == \
        'On the 29 test sets of 29 translations that all 2 models ran on; left out: 2 test sets that a model lacks.'
    good = [60 + i for i,bible in enumerate(bibles) if bible != 'deu']
    assert [x[:2] for x in lines(page, 'together')] == [['good', f'{sum(good)/29:.1f}'], ['poor', f'{sum(good)/29 - 10:.1f}']]

    see(page, tmp_path/'r.html', view='families', task='SS')
    plotted = page.locator('svg.by-family')
    assert plotted.locator('.dot').count() == 2*25 and 'Indo-European' in plotted.text_content()
    page.locator('[aria-labelledby=h-plots] summary').first.click() # The families with fewest translations
    plotted.nth(1).wait_for()
    page.get_by_role('link', name='Show by script instead').click()
    page.get_by_role('link', name='Show by family instead').wait_for()
    assert page.locator('#tree > li > details > summary .name').first.inner_text().startswith('Latn ')
    page.close()

def test_dark_and_printed(page, report):
    back = 'getComputedStyle(document.body).backgroundColor'
    assert page.evaluate(back) == 'rgb(255, 255, 255)'
    page.emulate_media(color_scheme='dark')
    assert page.evaluate(back) == 'rgb(20, 24, 29)'
    page.emulate_media(media='print', color_scheme='dark')
    assert page.evaluate(back) == 'rgb(255, 255, 255)' and not page.locator('#views').is_visible()
    assert page.locator('#ranking').is_visible() and not page.get_by_text('Save as CSV').first.is_visible()

def test_large_data_is_compressed(tmp_path, report, browser, monkeypatch):
    monkeypatch.setattr('pronto.lab.reporting.report.LARGE', 0)
    write_report(report.parent/'my runs', tmp_path/'large.html')
    assert 'good' not in (tmp_path/'large.html').read_text(encoding='utf-8')
    page = browser.new_page()
    see(page, tmp_path/'large.html')
    assert page.locator('#ranking tbody tr').count() == 5
    page.close()

def test_many_models_are_told_apart(tmp_path, browser):
    for i in range(9):
        for bible in 'wolKYG', 'copshc': store(tmp_path, bible, f'model {i}', 'same_sense', .6 + i/100)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html'), '--most-tests', '0']) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html', view='families')
    looks = page.eval_on_selector_all('.by-family path', "dots => dots.map(d => d.getAttribute('fill') + d.getAttribute('d'))")
    legend = page.eval_on_selector_all('#legend span', "spans => spans.map(s => s.style.color + s.textContent)")
    assert len(set(looks)) == len(set(legend)) == 9 and len(looks) == 18
    page.close()

@pytest.mark.slow
def test_two_thousand_models_on_one_test_set(tmp_path, monkeypatch):
    for i in range(2000): store(tmp_path/'runs', 'wolKYG', f'model {i}', 'same_sense', .5 + .0002*i)
    reports = []
    def kept(*args, **how):
        reports.append(make_report(*args, **how))
        return reports[-1]
    monkeypatch.setattr('pronto.lab.reporting.report.make_report', kept)
    assert write_report(tmp_path/'runs', tmp_path/'r.html') == 2000
    assert (tmp_path/'r.html').stat().st_size < 10**6
    made, = reports
    assert made.untested == 2000*1999//2 and len({row['model'] for row in made.rows}) == 2000

def test_bad_input_is_one_line(tmp_path, capsys):
    (tmp_path/'file').write_text('')
    cases = {
        'is not a folder': ('--runs', str(tmp_path/'none')), 'file: is not a folder': ('--runs', str(tmp_path/'file')),
        'none.csv: ': ('--runs', str(tmp_path), '--registry', str(tmp_path/'none.csv')),
        'is a folder; name the file': ('--runs', str(tmp_path), '-o', str(tmp_path)),
        'has no runs; make some': ('--runs', str(tmp_path), '-o', str(tmp_path/'r.html'))}
    for said,argv in cases.items():
        assert main(['report', *argv]) == 1
        err = capsys.readouterr().err
        assert said in err and err.count('\n') == 1

def test_a_store_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path/'file').write_text('')
    with pytest.raises(InputError, match='file: is not a folder'): write_report(tmp_path/'file', tmp_path/'r.html')
    assert not (tmp_path/'r.html').exists()

def test_a_page_of_no_runs_says_so(tmp_path, browser):
    make_report([]).save(tmp_path/'r.html')
    page = browser.new_page()
    page.goto((tmp_path/'r.html').as_uri())
    assert 'No runs have been recorded yet' in page.locator('#about').inner_text()
    assert not page.locator('#filters').is_visible() and not page.locator('#views').is_visible()
    page.close()

FORMULA = '=HYPERLINK("http://x","y")'

def test_saved_rows_hold_no_formulas(tmp_path, browser):
    "The file that the page saves is the one that `csv_text` writes for a spreadsheet"
    for model,accuracy in (FORMULA, .9), ('-5', .8), ("+a, b", .7), ('plain', .45): store(tmp_path, 'wolKYG', model, 'same_sense', accuracy)
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    context = browser.new_context(offline=True, accept_downloads=True)
    page = context.new_page()
    see(page, tmp_path/'r.html', view='results')
    with page.expect_download() as download: page.get_by_role('button', name='Save as CSV').click()
    saved = download.value.path().read_text(encoding='utf-8-sig')
    rows = make_report(read_runs(tmp_path), tmp_path).rows
    flat = [r | r['metrics']['accuracy'] | dict(metric='accuracy', collapsed='false') for r in rows]
    for r in flat: r.update(above='' if r['above'] is None else str(r['above']).lower()) # One seed is not tested
    order = sorted(flat, key=lambda r: -r['gain'])
    columns = saved.splitlines()[0].split(',')
    assert saved == csv_text(order, columns).replace(',0.0,', ',0,')
    assert [r['model'] for r in csv.DictReader(io.StringIO(saved))] == ["'" + FORMULA, '-5', "'+a, b", 'plain']
    context.close()

def test_protocols_sources_and_test_sets_are_kept_apart(tmp_path, browser):
    whole = dict(source='OntoNotes', rules='paper')
    for task in 'same_sense', 'sentence_mood': store(tmp_path, 'wolKYG', 'a', task, .8, **whole)
    store(tmp_path, 'wolKYG', 'a', 'same_sense', .6, protocol='transfer', **whole)
    store(tmp_path, 'wolKYG', 'b', 'same_sense', .9, limit=50, **whole)
    store(tmp_path, 'wolKYG', 'a', 'people_named', .7, source='ACAI', rules='acai')
    assert main(['report', '--runs', str(tmp_path), '-o', str(tmp_path/'r.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'r.html')
    shown = lambda: [(x[0], x[1]) for x in lines(page, 'ranking')][:-2]
    assert shown() == [('a', '80.0')]
    options = page.locator('select[name=data] option').all_inner_texts()
    assert options[0] == 'OntoNotes, parallel splits' and sorted(options[1:]) == [
        'ACAI, parallel splits, rules acai','OntoNotes, parallel splits, limited examples']
    choose(page, data='ACAI, parallel splits, rules acai')
    assert shown() == [('a', '70.0')] and page.locator('#ranking thead').inner_text().split('\t')[1] == 'PN'
    assert page.locator('#hidden').inner_text().endswith(
        'OntoNotes, parallel splits (2); OntoNotes, parallel splits, limited examples (1); transfer (1).')
    page.locator('#hidden').get_by_role('link', name='transfer').click()
    page.locator('#main').get_by_text('trained on').wait_for()
    assert shown() == [('a trained on wolKYG', '60.0')]
    choose(page, protocol='in-language', data='OntoNotes, parallel splits, limited examples')
    assert shown() == [('b limit 50', '90.0')]
    page.close()

def test_questions_about_the_protocols_that_ran_are_there(tmp_path, browser):
    "A report of retrieval and probes shows their tables, and the question of a file that is named"
    from test_comparing import store_search
    from test_docs import recipe
    for i in range(3): store(tmp_path/'runs', 'wolKYG', f'm{i}', 'same_sense', .6 + .1*i, protocol='probe', recipe='probe')
    store_search(tmp_path/'runs', .4, trained_on=[dict(code='eng', dataset_hash='e')])
    (tmp_path/'by_family.py').write_text(recipe('by_family.py'), encoding='utf-8')
    options = ['--question', str(tmp_path/'by_family.py')]
    assert main(['report', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'r.html'), *options]) == 0
    for width in 1280, 390:
        context = browser.new_context(viewport=dict(width=width, height=800), offline=True)
        page, wrong = context.new_page(), []
        page.on('console', lambda m: wrong.append(m.text) if m.type in ('error','warning') else None)
        see(page, tmp_path/'r.html')
        assert not page.locator('#questions').is_visible()
        page.get_by_role('link', name='Questions').click()
        page.locator('#questions').wait_for()
        assert not page.locator('#main').is_visible() and not page.locator('#filters').is_visible()
        shown = page.locator('#questions').inner_text()
        assert 'Atlantic-Congo' in shown and 'Verses that find their translation' in shown
        assert 'a probe and fine-tuning of three models' in shown
        side = "getComputedStyle(document.querySelector('#questions td[align=right]')).textAlign"
        assert page.evaluate(side) == 'right' and page.locator('#questions section').count() == 3
        page.wait_for_function('width => document.documentElement.scrollWidth <= width', arg=width)
        page.get_by_role('link', name='Overview').click()
        page.locator('#ranking').wait_for()
        assert wrong == []
        context.close()
    assert main(['report', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'r.html'), '--question', 'none']) == 1

@pytest.mark.parametrize('content', [b'\xff\xfe\x00', b'code,language\n"qaa', b'code\n' + b'x'*200_000, b'\x00', b'', b'language\nWolof\n'])
def test_a_bad_registry_is_one_line(tmp_path, content):
    (tmp_path/'r.csv').write_bytes(content)
    try: known = read_registry(tmp_path/'r.csv')
    except InputError as e: assert '\n' not in str(e) and 'r.csv' in str(e)
    else: assert list(known) == ['qaa']

def test_a_registry_with_escaped_cells(tmp_path):
    row = dict(code='qaa', language='=Lo', family='-', script="it's")
    (tmp_path/'r.csv').write_text(csv_text([row]), encoding='utf-8')
    assert read_registry(tmp_path/'r.csv') == {'qaa': row}

BUILD = 'from setuptools.build_meta import build_wheel; import sys; build_wheel(sys.argv[1])'

def test_the_page_is_packaged(tmp_path):
    "In a wheel that is built from the sources"
    for name in 'pyproject.toml','README.md','LICENSE','settings.ini': shutil.copy(ROOT/name, tmp_path)
    shutil.copytree(ROOT/'pronto', tmp_path/'pronto', ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copytree(ROOT/'nbs', tmp_path/'nbs')
    done = subprocess.run([sys.executable, '-c', BUILD, str(tmp_path/'dist')], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next((tmp_path/'dist').glob('*.whl'))) as wheel:
        known = {name: wheel.read(name) for name in wheel.namelist() if name.startswith('pronto/templates/')}
    here = [path for path in (ROOT/'pronto'/'templates').rglob('*') if path.is_file()]
    assert known == {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in here}

def test_a_column_that_is_known_of_no_row_is_left_out(tmp_path, browser):
    "Family and script of languages that are not known; the file that one saves has them"
    for bible in ('qaa','qab'): store(tmp_path/'runs', bible, 'good', 'same_sense', .7)
    assert main(['report', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'report.html')]) == 0
    page = browser.new_page()
    see(page, tmp_path/'report.html', view='languages')
    heads = page.locator('#matrix thead th').all_inner_texts()
    assert [head.strip(' ↑↓\n') for head in heads] == ['Language', 'good']

NUMBERS = '''dataset,language,iso639_3,family,script,protocol,model,rows,number,low,high,ngrams,read,read_low,read_high,read_all,verdict
wolKYG,Wolof,wol,Atlantic-Congo,Latn,likelihood,large,300,51.0,40,60,77.0,640,210,9000,5061,some of it
wolKYG,Wolof,wol,Atlantic-Congo,Latn,likelihood,small,300,-2.5,-9,5,77.0,0,0,3,5061,hardly any of it
wolKYG,Wolof,wol,Atlantic-Congo,Latn,probe,other,450,9.0,1,15,78.5,30,2,90,5061,
hin,Hindi,hin,Indo-European,Deva,likelihood,large,300,20,11,31,70,,,,,
'''

@pytest.mark.parametrize('width', [390, 1280])
def test_a_table_of_numbers_is_a_report(tmp_path, browser, width, capsys):
    "As somebody else may send it; `#code` opens the page of a language"
    (tmp_path/'n.csv').write_text(NUMBERS, encoding='utf-8')
    (tmp_path/'t.csv').write_text('code,verses,rights\nwolKYG,7920,unclear\n', encoding='utf-8')
    given = ['report', '--numbers', str(tmp_path/'n.csv'), '--registry', str(tmp_path/'t.csv'), '-o', str(tmp_path/'r.html')]
    assert main(given) == 0 and capsys.readouterr().out == f'{tmp_path/"r.html"}: {tmp_path/"n.csv"}\n'
    page = browser.new_page(viewport=dict(width=width, height=800))
    wrong = []
    page.on('pageerror', lambda e: wrong.append(str(e)))
    page.goto(f'{(tmp_path/"r.html").as_uri()}#wolKYG')
    page.locator('html[data-ready]').wait_for(state='attached')
    assert page.title() == 'Wolof – PrOnto report'
    facts = page.locator('dl').inner_text()
    for text in '7920', 'unclear', 'pronto card BIBLE -m MODEL --language wol': assert text in facts
    assert column(page, 'Model', 'numbers0') == ['large','small'] and column(page, 'Model', 'numbers1') == ['other']
    assert column(page, 'Number', 'numbers0') == ['51.0','−2.5']
    assert column(page, 'Verses that n-grams need', 'numbers0')[0] == '640 (210 to more than all 5,061): some of it'
    assert 'To beat: 77.0' in page.locator('#numbers0').inner_text() and 'To beat: 78.5' in page.locator('#numbers1').inner_text()
    assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    see(page, tmp_path/'r.html', view='languages', q='indo-aryan')
    assert column(page, 'Language', 'matrix') == ['Hindi hin'] # By a branch of its family
    page.locator('#matrix a').first.click()
    page.locator('#numbers0').get_by_role('link', name='20.0').click()
    assert 'Records' not in page.locator('main').inner_text() and wrong == []
    page.close()

def test_a_bad_table_of_numbers_is_one_line(tmp_path, capsys):
    (tmp_path/'n.csv').write_text('code,verses\nwol,3\n', encoding='utf-8')
    assert main(['report', '--numbers', str(tmp_path/'n.csv'), '-o', str(tmp_path/'r.html')]) == 1
    assert 'is not a table of numbers (no column `dataset`)' in capsys.readouterr().err
