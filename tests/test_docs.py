"The site: it builds, its links lead somewhere, nothing is fetched, and the commands of the tutorials run"
import html.parser, json, os, re, shlex, shutil, subprocess, sys
from contextlib import chdir
from functools import partialmethod
from importlib import import_module
from unittest.mock import patch
from urllib.parse import unquote, urldefrag

import pytest

from conftest import DATA, ROOT, predictions, run_results

DOCS = ROOT/'docs'
CONTRIBUTING = (ROOT/'CONTRIBUTING.md').read_text(encoding='utf-8')
GUIDES = [DOCS/'quickstart.md', *sorted((DOCS/'tutorials').glob('*.md'))]
GUIDES.remove(DOCS/'tutorials'/'draft.md') # Which `test_drafts.py` runs, with a draft that has slips
PAGES = [*sorted(DOCS.rglob('*.md')), ROOT/'README.md', ROOT/'CONTRIBUTING.md']

def commands(path):
    "The commands of a page's shell blocks, as lists of words"
    blocks = re.findall(r'^ *```sh\n(.*?)^ *```', path.read_text(encoding='utf-8'), re.M | re.S)
    lines = [line for block in blocks for line in re.sub(r'\\\n\s*', '', block).splitlines()]
    for line in lines:
        if words := shlex.split(line, comments=True): yield words

@pytest.mark.parametrize('page', PAGES, ids=lambda p: p.stem)
def test_commands_of_the_pages_exist(page):
    from pronto.cli.command import make_parser
    for words in commands(page):
        if words[0] != 'pronto' or len(words) < 2: continue
        _, unknown = make_parser().parse_known_args(words[1:]) # Exits if an option is wrong
        assert not unknown, words

def test_the_index_of_the_tables_names_all_of_them():
    text = (ROOT/'paper_tables'/'README.md').read_text(encoding='utf-8')
    files = {p.name for p in (ROOT/'paper_tables').iterdir() if p.suffix in ('.md','.png')} - {'README.md'}
    assert {name for name in files if name not in text} == set()

def rows_of_papers():
    lines = (ROOT/'paper_tables'/'papers.tsv').read_text(encoding='utf-8').splitlines()
    header, *rows = [line.split('\t') for line in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]

def test_the_page_of_the_papers_has_their_rows():
    "Numbered, with the commands of the table, lines of their output, what was published and what differs; none failed"
    rows, text = rows_of_papers(), (DOCS/'papers.md').read_text(encoding='utf-8')
    assert [row['n'] for row in rows] == [str(n) for n in range(1, len(rows) + 1)] and len(rows) > 60
    sections = re.split(r'^### ', text, flags=re.M)[1:]
    for row,section in zip(rows, sections, strict=True):
        assert section.startswith(f'{row["n"]}. {row["row"]}\n')
        assert f'**Published:** {row["published"]}\n' in section and f'**What differs:** {row["differs"]}\n' in section
        assert row['published'] and row['differs']
        shown = re.findall(r'^```(\w+)\n(.+?)\n```$', section, re.M | re.S)
        assert [kind for kind,_ in shown] == (['sh','text'] if row['commands'] else []), row['n']
        if shown: assert shown[0][1] == row['commands'].replace(' && ', '\n')
        if row['picture']: assert f'](papers-{row["n"]}.png)' in section and (DOCS/f'papers-{row["n"]}.png').is_file()
    assert f'{len(rows)} rows of four papers' in text and '; 0 failed; ' in text

@pytest.mark.slow
def test_the_notebook_of_the_papers_runs_their_commands(tmp_path):
    "Some of the rows: a build, XTREME's files and MELA's"
    from conftest import run_notebook
    rows = [row['n'] for row in rows_of_papers() if row['commands'].startswith(('pronto import xtreme download -o xtreme',
                                                                             'pronto import mela MELA -o mela'))]
    page = tmp_path/'page.md'
    given = dict(out=str(tmp_path/'work'), page=str(page), only=','.join(rows))
    run_notebook('papers.ipynb', tmp_path/'out.ipynb', given, tmp_path, PRONTO_DATA=str(tmp_path/'data'))
    text = page.read_text(encoding='utf-8')
    assert f'{len(rows)} are answered by commands that ran; 0 failed' in text and '| xnli | pair | 4 | 60 | 120 | 160 | 0 |' in text

def test_a_page_lists_all_tasks():
    from pronto.datasets.tasks import BUILT_IN, TASK_SETS
    text = (ROOT/'docs'/'tasks.md').read_text(encoding='utf-8')
    for task in BUILT_IN.values(): assert f'| `{task.stem}` | {task.abbr} |' in text, task.stem
    for name in 'paper', 'core':
        rows = [line for line in text.splitlines() if line.startswith('| `') and re.search(rf'\b{name}\b', line.split('|')[5])]
        assert len(rows) == len(TASK_SETS[name])

@pytest.mark.parametrize('page', PAGES, ids=lambda p: p.stem)
def test_links_of_a_page_lead_to_files_of_the_repository(page):
    "So that they work where the repository is read, and the site turns them into its own"
    text = page.read_text(encoding='utf-8')
    links = [urldefrag(link)[0] for link in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'^```.*?^```', '', text, flags=re.M | re.S))]
    made = 'report.html', 'languages.html' # By the site
    assert [link for link in links if not re.match('[a-z]+:', link) and link not in made and not (page.parent/link).exists()] == []

def test_pages_count_the_tasks_that_there_are():
    from pronto.datasets.tasks import BUILT_IN, TASK_SETS, ChoiceTask
    from pronto.sources.annotate import SOURCES
    choices = sum(isinstance(task, ChoiceTask) for task in BUILT_IN.values())
    acai, = (s.source for s in SOURCES if s.source.name == 'ACAI')
    labels, usual = len(BUILT_IN) - choices, len(TASK_SETS['paper']) + len(acai.tasks) + choices
    claims = {'CHANGELOG.md': f'({labels} tasks)', 'docs/index.md': {15: 'fifteen tasks with labels'}[labels],
              'docs/tasks.md': f'has {usual} tasks: the paper\'s five, ACAI\'s five, and four of choices'}
    assert (choices, len(acai.tasks)) == (4, 5)
    for page,claim in claims.items(): assert claim in (ROOT/page).read_text(encoding='utf-8'), page

def test_pages_count_sources_formats_and_protocols_that_there_are():
    from pronto.bibles.reading import formats_table
    from pronto.core.offers import offers
    from pronto.protocols.protocol import PROTOCOLS
    from pronto.sources.annotate import SOURCES
    concepts = (DOCS/'concepts.md').read_text(encoding='utf-8')
    rows = concepts.split('| protocol | question |', 1)[1].split('\n\n', 1)[0].splitlines()[2:]
    named = [name for row in rows for name in row.split('|')[1].strip().split(', ')]
    assert sorted(named) == sorted([*PROTOCOLS, *offers('protocols')])
    listed = concepts.split('Three sources are supported: ')[1].split('. ')[0]
    assert len(SOURCES) == 3 and all(kind.source.name.split()[0] in listed for kind in SOURCES)
    assert len(formats_table().splitlines()) - 2 > 20 and 'in more than twenty formats' in (ROOT/'CHANGELOG.md').read_text(encoding='utf-8')

def test_the_readme_is_one_page():
    text = (ROOT/'README.md').read_text(encoding='utf-8')
    assert len(text.splitlines()) <= 130 and len(text.split()) <= 1000

def test_the_statuses_of_verses_are_explained():
    from pronto.datasets.align import STATUSES
    text = (ROOT/'docs'/'concepts.md').read_text(encoding='utf-8')
    assert [f'| `{status}` | {what} |' in text for status,what in STATUSES.items()] == [True]*len(STATUSES)

def test_pictures_of_pages_are_those_of_the_notebooks():
    "A diagram names its picture in `docs/assets`, which has the same boxes"
    texts = [json.loads(p.read_text(encoding='utf-8'))['cells'] for p in (ROOT/'nbs').rglob('*.ipynb')]
    prose = '\n'.join(''.join(c['source']) for cells in texts for c in cells if c['cell_type'] == 'markdown')
    drawn = re.findall(r'^```mermaid\n(.*?)^```$', prose, re.M | re.S)
    named = {re.match(r'%% (\w+)\n', text)[1]: text for text in drawn}
    assert named.keys() == {p.stem for p in (DOCS/'assets').glob('*.svg')}
    boxes = re.findall(r'"(\w+)<br/>', named['types'])
    picture = (DOCS/'assets'/'types.svg').read_text(encoding='utf-8')
    assert len(boxes) == 10 and boxes == re.findall(r'<text x="\d+" y="\d+">(\w+)<', picture)
    defined = dict(re.findall(r'^\| `(\w+)` \| .* \| `([\w.]+)` \|$', (DOCS/'concepts.md').read_text(encoding='utf-8'), re.M))
    assert defined.keys() == {*boxes}
    assert all(isinstance(getattr(import_module(f'pronto.{module}'), name), type) for name,module in defined.items())

def test_the_address_of_the_repository_is_one_setting():
    "What people click leads to no repository that does not exist"
    shown = [*PAGES, *(ROOT/'nbs').glob('*.ipynb')]
    assert [p.name for p in shown if 'github.com/pronto/' in p.read_text(encoding='utf-8')] == []
    assert 'repository =' in (ROOT/'settings.ini').read_text(encoding='utf-8')

# The recipes of CONTRIBUTING.md

@pytest.fixture
def recipes(monkeypatch):
    "What the recipes define; what they add to the package's lists is removed again"
    from pronto.bibles import reading
    from pronto.protocols import protocol
    from pronto.sources import annotate
    monkeypatch.setattr(reading, 'READERS', [*reading.READERS])
    monkeypatch.setattr(annotate, 'SOURCES', [*annotate.SOURCES])
    monkeypatch.setattr(protocol, 'PROTOCOLS', {**protocol.PROTOCOLS})
    text, found = (ROOT/'CONTRIBUTING.md').read_text(encoding='utf-8'), {}
    for block in re.findall(r'^```python\n(.*?)^```', text, re.M | re.S): exec(block, found)
    return found

def test_formats_and_sources_of_ones_own_are_named_on_the_command_line(recipes, tmp_path, capsys):
    from pronto.bibles.reading import READERS
    from pronto.cli import main
    from pronto.sources.annotate import SOURCES
    READERS.pop(0), SOURCES.pop() # What the recipes added
    text = (ROOT/'CONTRIBUTING.md').read_text(encoding='utf-8')
    blocks = re.findall(r'^```python\n(.*?)^```', text, re.M | re.S)
    for name,word in ('reader', 'READERS.'), ('source', 'SOURCES.'):
        (tmp_path/f'{name}.py').write_text(next(b for b in blocks if word in b))
    (tmp_path/'mark.piped').write_text('MRK.1.1|The beginning\nMRK.1.2|As it is written\n')
    (tmp_path/'mark.moods.tsv').write_text('MRK 1:1\tdeclarative\nMRK 1:2\tinterrogative\n')
    reader, source, out = (str(tmp_path/name) for name in ('reader.py', 'source.py', 'a.parquet'))
    assert main(['convert', str(tmp_path/'mark.piped'), '--readers', reader]) == 0
    assert main(['annotate', str(tmp_path), '-o', out, '--sources', source]) == 0
    assert 'The beginning' in (said := capsys.readouterr().out) and 'Moods' in said
    assert main(['convert', str(tmp_path/'mark.piped'), '--readers', source]) == 1
    assert 'defines no Reader' in capsys.readouterr().err

def test_the_recipes_work(recipes, tmp_path):
    from pronto.bibles.reading import read_bible
    from pronto.core.refs import parse_ref
    from pronto.protocols.protocol import find_protocol
    from pronto.sources.annotate import annotate
    from pronto.sources.records import VerseAnnotation
    (tmp_path/'mark.txt').write_text('MRK.1.1|The beginning\nMRK.1.2|As it is written\n')
    (tmp_path/'mark.moods.tsv').write_text('MRK 1:1\tdeclarative\nMRK 1:2\tinterrogative\n')
    first = parse_ref('MRK 1:1')
    assert recipes['MANY'].label(VerseAnnotation(first, (), crosses=False)) == 'no'
    assert read_bible(tmp_path/'mark.txt').verses[first] == 'The beginning'
    found = annotate(tmp_path)
    assert found.source.name == 'Moods' and found.verses[first].sentences[0].mood == 'declarative'
    assert find_protocol('tuned-transfer').sources == 'needed'
    assert recipes['find_language']('wol').name == 'Wolof'

def recipe(name):
    "The block of CONTRIBUTING.md that is the file of this name"
    blocks = re.findall(r'^```\w+\n(.*?)^```', CONTRIBUTING, re.M | re.S)
    return next(block for block in blocks if block.startswith(f'# {name}\n'))

def write_three_runs(folder):
    from pronto.runs.store import RunKey, write_record
    for bible,accuracy in dict(wol=.7, fra=.9, spa=.8).items():
        key = RunKey(dataset=bible, model='bert', model_hash='m', task='proper_noun_subject', dataset_hash=bible)
        write_record(key, folder, run_results(accuracy=accuracy, language=bible), predictions(accuracy))

def ask_own(tmp_path, capsys, change=('', '')):
    "What `pronto tables --question` says of the recipe, with a change in it"
    from pronto.cli.command import main
    write_three_runs(tmp_path/'runs')
    (tmp_path/'by_family.py').write_text(recipe('by_family.py').replace(*change), encoding='utf-8')
    status = main(['tables', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'out'), '--question', str(tmp_path/'by_family.py')])
    return status, capsys.readouterr()

def test_a_question_of_ones_own(tmp_path, capsys):
    status, said = ask_own(tmp_path, capsys)
    assert status == 0 and '| Indo-European | 2 | 85.0 |' in said.out and '| Atlantic-Congo | 1 | 70.0 |' in said.out
    assert said.out.startswith('**Finding:** Indo-European has the highest mean accuracy, 85.0.') and 'Recipe: paper; ' in said.out
    assert {p.name for p in (tmp_path/'out').iterdir()} == {f'families.{e}' for e in ('md','tex','csv','png')}

@pytest.mark.parametrize('change, what', [
    (('return figure', 'return 1/0'), 'line 31: fails with ZeroDivisionError'),
    (('return [table_of(', 'return 5, [table_of('), 'tables does not give a list of `Table`s'),
    (('[Family(name, some) for', '[(name, some) for'), 'read does not give a list of what the tables show, each with its `runs`'),
    (('return figure', 'return axes'), 'plot does not give a figure'),
    (('    return [f\'{best', '    return (f\'{best'), 'is not valid Python'),
    (('FAMILIES = ', 'FAMILIES = OTHER, '), "NameError"), (('FAMILIES = RunQuestion(', 'FAMILIES = ('), 'defines 0 questions')])
def test_a_wrong_question_is_one_line(tmp_path, capsys, change, what):
    status, said = ask_own(tmp_path, capsys, change)
    assert status == 1 and what in said.err and 'by_family.py' in said.err and len(said.err.splitlines()) == 1

def installed(package, target):
    "Where Python finds a package that pip installed, as `PYTHONPATH`"
    pip = [sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-build-isolation', '--disable-pip-version-check']
    subprocess.run([*pip, '--target', str(target), str(package)], check=True, capture_output=True)
    return os.pathsep.join([str(target), str(ROOT)])

@pytest.mark.slow
def test_a_package_of_somebody_else_offers_a_question(tmp_path):
    write_three_runs(tmp_path/'runs')
    package = tmp_path/'package'
    package.mkdir()
    for name in 'pyproject.toml', 'by_family.py': (package/name).write_text(recipe(name), encoding='utf-8')
    env = os.environ | dict(PYTHONPATH=installed(package, tmp_path/'target'))
    start = 'import sys; from pronto.cli import main; sys.exit(main())'
    ask = [sys.executable, '-c', start, 'tables', '--runs', 'runs', '-o', 'out', '--question']
    done = [subprocess.run([*ask, name], cwd=tmp_path, env=env, capture_output=True, text=True) for name in ('families', 'family')]
    assert done[0].returncode == 0 and '| Indo-European | 2 | 85.0 |' in done[0].stdout, done[0].stderr
    assert (tmp_path/'out'/'families.csv').is_file()
    assert done[1].returncode == 1 and ', families, or name a file of Python' in done[1].stderr # Among the choices

@pytest.mark.slow
def test_a_package_of_somebody_else_offers_a_kind_of_model(tmp_path):
    "With the lines of CONTRIBUTING in place of those for a question; recorded runs have tables without it, too"
    from pronto.demo.corpus import build_demo
    build_demo(tmp_path/'demo', n_verses=400)
    package = tmp_path/'package'
    package.mkdir()
    (package/'svm_kind.py').write_text(recipe('svm_kind.py'), encoding='utf-8')
    lines, = re.findall(r'^```toml\n(\[project.entry-points."pronto.models"\]\n.*?)^```', CONTRIBUTING, re.M | re.S)
    named = recipe('pyproject.toml').replace('"by_family"', '"svm_kind"')
    question = re.search(r'\[project.entry-points.*?\n\n', named, re.S)[0]
    (package/'pyproject.toml').write_text(named.replace(question, f'{lines}\n'), encoding='utf-8')
    env = os.environ | dict(PYTHONPATH=installed(package, tmp_path/'target'))
    start = 'import sys; from pronto.cli import main\nfor line in sys.argv[1:]: print("status", main(line.split()), flush=True)'
    def run(*commands, **more):
        "What each of some commands prints, in a new process for all of them, and their errors"
        done = subprocess.run([sys.executable, '-c', start, *commands], cwd=tmp_path, capture_output=True, text=True, **more)
        return re.split(r'^status (?=\d$)', done.stdout, flags=re.M), done.stderr
    evaluate, tables = 'eval demo/datasets/qaa -m svm -t SM --runs runs', 'tables --runs runs -o tables'
    (tried, again, _, shown, _), said = run(evaluate, evaluate, 'probe demo/datasets/qaa -m svm --runs runs', tables, env=env)
    assert 'qaa, svm, SM, seed 0: accuracy ' in tried and again.startswith('0\n') and 'recorded before' in again, said
    assert 'svm: cannot be used with probe' in said
    for text in shown, run(tables)[0][0]: assert '| svm |' in text

def test_the_recipe_of_an_interval_gives_one(recipes):
    low, high = recipes['MEAN'].interval
    assert low < recipes['MEAN'].value == round(13/18, 4) < high
    assert recipes['VALUES'] == dict(recall=.6) and recipes['INTERVALS']['recall'][0] < .6 < recipes['INTERVALS']['recall'][1]

def test_recipes_name_what_is_there():
    "`NAME` of or in a notebook"
    named = re.findall(r'`(\w+)` (?:of|in|there, in) \[`(nbs/[\w/]+\.ipynb)`\]', CONTRIBUTING)
    assert len(named) > 5
    assert [(name, path) for name,path in named if name not in (ROOT/path).read_text(encoding='utf-8')] == []

# The site

class Links(html.parser.HTMLParser):
    "What a page links to, what it loads, and its anchors"
    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.ids = set(), set(), set()
        self.feed(text)
    def handle_starttag(self, tag, attrs):
        given = {k: v or '' for k,v in attrs}
        self.ids |= {given[k] for k in ('id','name') if k in given}
        if tag == 'a' and 'href' in given: self.links.add(given['href'])
        if tag in ('img','script','iframe','source'): self.loaded.add(given.get('src', ''))
        if tag == 'link' and given.get('rel') != 'canonical': self.loaded.add(given.get('href', ''))

@pytest.fixture(scope='session')
def site(once):
    pytest.importorskip('material')
    def build(folder):
        done = subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--strict', '-q', '-d', folder], cwd=ROOT,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return once('site', build)

@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere_and_nothing_is_fetched(site):
    pages = {p: Links(p.read_text(encoding='utf-8')) for p in site.rglob('*.html') if p.name != '404.html'}
    assert len(pages) > 150
    broken = []
    for page,found in pages.items():
        assert [x for x in found.loaded if re.match(r'(https?:)?//', x)] == [], page
        for link in found.links | found.loaded:
            if not link or re.match(r'[a-z]+:', link): continue
            place, anchor = urldefrag(unquote(link))
            target = (page.parent/place).resolve() if place else page
            if target.is_dir(): target /= 'index.html'
            known = pages[target].ids if target in pages else ()
            if not target.exists() or anchor and known and not anchor.startswith('__') and anchor not in known:
                broken.append((page.relative_to(site).as_posix(), link))
    assert broken == []

@pytest.mark.slow
def test_the_site_has_a_page_for_each_command_and_notebook(site):
    from pronto.cli.command import make_parser
    text = (site/'commands'/'index.html').read_text(encoding='utf-8')
    assert re.findall(r'{([\w,]+)}|COMMAND', make_parser().format_usage())
    for name in 'build', 'eval', 'quality-sheet', 'import-tsv', 'xtreme-score': assert f'{name}.html' in text
    for notebook in (ROOT/'nbs').rglob('*.ipynb'):
        if '.ipynb_checkpoints' in notebook.parts: continue
        place = notebook.relative_to(ROOT/'nbs').with_suffix('.html')
        is_study = place.parts[0] == 'executed' or len(place.parts) == 1
        assert (site/('studies' if is_study else 'api')/place).is_file(), notebook

@pytest.mark.slow
def test_the_search_works_without_a_server(site):
    "In a browser, on a page opened from a file, without network and with the keyboard alone"
    sync = pytest.importorskip('playwright.sync_api')
    browser = next(filter(None, map(shutil.which, ('chromium','chromium-browser','google-chrome'))), None)
    if not browser: pytest.skip('no Chromium')
    with sync.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=browser, args=['--no-sandbox'])
        page = chromium.new_context(offline=True, viewport=dict(width=390, height=844)).new_page()
        asked = []
        page.on('request', lambda r: asked.append(r.url) if r.url.startswith('http') else None)
        page.goto((site/'index.html').as_uri())
        page.keyboard.press('f')
        page.keyboard.type('versification', delay=20)
        page.wait_for_selector('.md-search-result__item a')
        first = page.locator('.md-search-result__item a').first.get_attribute('href')
        assert first.startswith('file:') and not asked
        assert page.evaluate('document.documentElement.scrollWidth') <= 390
        chromium.close()

# The tutorials

def embed(folder):
    "Stand-ins for what the tutorials have: a source, Bibles, models and a parse, all from the embedded corpus"
    from pronto.cli.command import main
    from pronto.demo.gold_parses import ud_corpus
    from pronto.demo.invented_languages import invented_languages
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.datasets.loading import open_dataset
    from pronto.reporting.card_page import english_beside
    corpus = make_corpus(n_verses=1000)
    write_corpus(corpus, folder/'made')
    (folder/'made'/'ontonotes').rename(folder/'ontonotes-release-5.0')
    (folder/'data'/'bibles').mkdir(parents=True)
    bible = folder/'made'/'bibles'/'qaa.usfx.xml'
    for name in 'wolof.usfx.xml', 'copshc.usfx.xml', 'data/bibles/wolKYG.usfx.xml': shutil.copy(bible, folder/name)
    (folder/'bibles').mkdir()
    shutil.copy(bible, folder/'bibles'/'wol.usfx.xml')
    shutil.copytree(folder/'made'/'bibles'/'qab', folder/'bibles'/'engweb')
    main(['convert', 'wolof.usfx.xml', '-o', 'wolof.tsv'])
    verses = (folder/'wolof.tsv').read_text(encoding='utf-8').splitlines()
    (folder/'wolof.txt').write_text('\n'.join(v.split('\t')[-1] for v in verses), encoding='utf-8')
    small = '--steps 1 --layers 1 --width 32 --heads 2'.split()
    (folder/'sentence-transformers').mkdir()
    names = 'bert-base-multilingual-cased', 'my-wolof-bert', 'sentence-transformers/all-MiniLM-L6-v2'
    assert main(['pretrain', 'wolof.txt', '-o', 'my-decoder', '--kind', 'causal', *small]) == 0
    for seed,name in enumerate(names):
        assert main(['pretrain', 'wolof.txt', '-o', name, '--seed', str(seed), *small]) == 0
    verses = {f'{book} {chapter}:{verse}': text for book,chapter,verse,text in (v.split('\t') for v in verses) if verse.isdigit()}
    rows = (f'{ref}\t{"yes" if "?" in text else "no"}\n' for ref,text in verses.items())
    (folder/'labels.tsv').write_text('ref\tasks\n' + ''.join(rows), encoding='utf-8') # The tutorial makes it with awk
    topics = lambda text: ';'.join(name for name,sign in dict(Fear='f', Sea='s', Peace='p').items() if sign in text[:20])
    rated = (f'{ref};"{topics(text)}";{len(text)};\n' for ref,text in verses.items())
    (folder/'topics.csv').write_text('Verse;Topic;Rating;Comment\n' + ''.join(rated), encoding='utf-8')
    named = (f'{ref},{word},{"NAME" if word[0].isupper() else "LONG"}\n' for ref,text in list(verses.items())
             for word in text.strip('.?!').split()[1:3] if word.isalpha())
    (folder/'people.csv').write_text('Verse,Word,Tag\n' + ''.join(named), encoding='utf-8')
    (folder/'nbs').symlink_to(ROOT/'nbs')
    frames = folder/'ontonotes-release-5.0'/'metadata'/'frames'
    frames.mkdir(parents=True)
    (frames/'cry.xml').write_text('<frameset><roleset id="cry.02" name="shout"/></frameset>')
    source, dataset = 'data/annotations.parquet', 'data/datasets/wol'
    assert main(['annotate', 'ontonotes-release-5.0', '-o', source]) == 0
    assert main(['build', '-a', source, '-b', 'wolof.usfx.xml', '-o', dataset]) == 0
    english_beside(open_dataset(dataset), print) # Which most cards need, the same for each
    parse = ud_corpus(corpus.meanings('qaa'), invented_languages()['qaa'])
    (folder/'wolof.conllu').write_text(parse, encoding='utf-8')
    if (DATA/'acai').is_dir(): (folder/'data'/'acai').symlink_to(DATA/'acai')

@pytest.fixture(scope='session')
def embedded(once):
    "The folder with them"
    def fill(folder):
        with chdir(folder): embed(folder)
    return once('embedded', fill)

def fill(sheet, names):
    "Copies of a sheet in which everything is right"
    import csv
    with open(sheet, encoding='utf-8', newline='') as f: rows = list(csv.DictReader(f))
    for row in rows:
        lacks = row['task'] == 'same_sense' and row['label'] == 'different'
        row |= dict(verse1_has_sense='yes', verse2_has_sense='no' if lacks else 'yes', label_correct='yes')
    for name in names:
        with open(name, 'w', encoding='utf-8', newline='') as f:
            table = csv.DictWriter(f, list(rows[0]))
            table.writeheader()
            table.writerows(rows)

SMALLER = {('pretrain',): '--steps 2 --layers 1 --width 32 --heads 2', ('eval','-m'): '--limit 24 --epochs 1 --seeds 1',
           ('sweep',): '--limit 24 --epochs 1 --workers 1', ('release',): '--workers 1', ('demo',): '--verses 1000'}

def smaller(words):
    "A command with less to do"
    for keys,options in SMALLER.items():
        if words[1] == keys[0] and all(k in words for k in keys):
            if not {'retrieval', 'likelihood', 'memory'} & {*words}: return [*words, *options.split()]
    return words

def papermill(argv):
    "The command, whose kernel is a fork of a process that has imported PyTorch"
    from papermill.cli import papermill
    from papermill.engines import PapermillEngines
    from kernels import ForkedKernels
    in_fork = partialmethod(PapermillEngines.execute_notebook_with_engine, kernel_manager_class=ForkedKernels)
    with patch.object(PapermillEngines, 'execute_notebook_with_engine', in_fork): papermill(argv, standalone_mode=False)

@pytest.mark.slow
@pytest.mark.parametrize('guide', [ROOT/'README.md', *GUIDES], ids=lambda p: p.stem)
def test_the_commands_of_a_tutorial_run(guide, embedded, tmp_path, monkeypatch, capfd):
    from pronto.cli.command import main
    monkeypatch.chdir(tmp_path)
    for name in 'HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy': monkeypatch.setenv(name, 'http://127.0.0.1:9') # No network
    shutil.copytree(embedded, tmp_path, symlinks=True, dirs_exist_ok=True)
    for words in commands(guide):
        if words[0] == 'papermill': papermill([*words[1:], *'-p limit 24 -p epochs 1 -p seeds 1'.split()])
        if words[0] != 'pronto' or words[1] == 'fetch' or words[1:3] == ['demo','--all']: continue # See `test_demo.py`
        words = ['wolof.usfx.xml' if word == 'pythonbible:web' else word for word in words] # A whole Bible takes long
        if not (tmp_path/'data'/'acai').exists() and 'acai' in ' '.join(words): continue
        status = main(smaller(words)[1:])
        assert status == 0, (words, capfd.readouterr().err)
        if words[1:3] == ['quality','sheet']: fill('wol.csv', ['wol-anna.csv','wol-binta.csv'])
    if guide.name == 'README.md':
        code, _ = re.findall(r'^```python\n(.*?)^```', guide.read_text(encoding='utf-8'), re.M | re.S) # The callback needs a trainer
        exec(code.replace('pythonbible:web', 'wolof.usfx.xml'), {})
        assert len([*(tmp_path/'runs').rglob('*.json')]) == 3 # A run for each of its tasks
