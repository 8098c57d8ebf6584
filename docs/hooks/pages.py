"What MkDocs calls: pages made from the notebooks, the command and the files of the repository"
import ast, json, posixpath, re, sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2])) # The package of this checkout

from mkdocs.structure.files import File

from commands import command_pages
from links import PAGES, PICTURES, ROOT, areas, page_of, repository
from links import references, repository_page, settings, with_links
from notebooks import convert
from results import chart, languages_page, report_page

# Notebooks

def runs_anywhere(path):
    "Does a notebook run without texts of one's own?"
    return 'executed' not in path

def buttons(path):
    "Where a notebook can be run, how to `install` what Colab lacks, and where its source is"
    if not repository(): return ''
    where = repository().removeprefix('https://github.com/')
    links = [f'[Source]({repository()}/blob/main/{path})']
    if runs_anywhere(path):
        links.append(f'[Open in Colab](https://colab.research.google.com/github/{where}/blob/main/{path})')
        links.append(f'[Open in Binder](https://mybinder.org/v2/gh/{where}/main?labpath={path})')
        package = f'"pronto[train,release] @ git+{repository()}"'
        links.append(f'In Colab, first run `%pip install {package}`')
    return '<div class="buttons" markdown data-search-exclude>\n' + '\n'.join(links) + '\n</div>\n'

def notebook_page(path, shown=None):
    "The page of a notebook; `shown` is an executed copy of it, if it has no outputs itself"
    page = page_of(path)
    text, pictures = convert(ROOT/(shown or path), article=page.startswith('studies'))
    heading, _, rest = text.partition('\n')
    if shown: rest = f'\n*As executed in `{shown}`.*\n{rest}'
    text = f'{heading}\n\n{buttons(path)}\n{rest}'
    if page.startswith('api'): text = f'---\nsearch: {{boost: 0.5}}\n---\n\n{text}' # Guides first
    drawn = re.sub(r'^```mermaid\n%% (\w+)\n.*?^```$', r'<!-- \1 -->', text, flags=re.M | re.S)
    return with_links(drawn, shown or path, page), pictures

def has_outputs(path):
    cells = json.loads((ROOT/path).read_text(encoding='utf-8'))['cells']
    return any(c.get('outputs') for c in cells)

def executed_of(name):
    "An executed copy of a notebook at the top, e.g. `eval-qab.ipynb` of `eval`"
    found = sorted((ROOT/'nbs'/'executed').glob(f'{name}-*.ipynb'))
    return found[0].relative_to(ROOT).as_posix() if found else None

def notebooks(folder, which='*.ipynb'):
    found = sorted((ROOT/'nbs'/folder).glob(which))
    return [p.relative_to(ROOT).as_posix() for p in found]

# All pages

def made_pages():
    "Address to text; to bytes for pictures"
    made = {}
    def add(path, shown=None):
        page = page_of(path)
        made[page], pictures = notebook_page(path, shown)
        made.update({posixpath.join(posixpath.dirname(page), name): data for name,data in pictures.items()})
        return page
    articles = [add(p, None if has_outputs(p) else executed_of(Path(p).stem)) for p in notebooks('')]
    made['studies/index.md'] = studies_index(made, articles, [add(p) for p in notebooks('executed')])
    for area in areas():
        modules = [add(p) for p in notebooks(area, '**/*.ipynb')]
        modules.sort(key=posixpath.dirname)
        made[f'api/{area}/index.md'] = area_index(area, made, modules)
    made['api/index.md'] = code_index()
    tables = [p.relative_to(ROOT).as_posix() for p in sorted((ROOT/'paper_tables').glob('*.md'))]
    for path in dict.fromkeys([*PAGES, *tables]):
        if path != 'README.md': made[page_of(path)] = repository_page(path)
    SHARED['<!-- number -->'] = number_and_card()
    made['report.html'] = report_page(ROOT/'paper_tables'/'demo_runs.zip')
    made['languages.html'] = languages_page(ROOT/'paper_tables'/'world')
    made |= command_pages(written_pages())
    made['commands/tables.md'] += questions_list()
    for page,text in written_pages().items(): # Which notes their pictures
        with_links(text, f"docs/{page}", page)
    return made | {where: (ROOT/path).read_bytes() for path,where in PICTURES.items()}

def written_pages():
    docs = ROOT/'docs'
    files = sorted(docs.rglob('*.md'))
    return {p.relative_to(docs).as_posix(): p.read_text(encoding='utf-8') for p in files}

def found_in(text, pattern):
    found = re.search(pattern, text, re.M)
    return found[1] if found else ''

def entries(pages, made, folder):
    "Lines of an index: the title of each page, with a link, and what it is about"
    lines = []
    for page in pages:
        title, about = found_in(made[page], r'^# +(.+)$'), found_in(made[page], r'^> +(.+)$')
        link = f'[{title}]({posixpath.relpath(page, folder)})'
        lines.append(f'{link}\n:   {about}' if about else f'- {link}')
    return '\n\n'.join(lines) + '\n'

def studies_index(made, articles, executed):
    about = ('Each study is a notebook: it opens with what it found, and can be run again with '
             '[papermill](https://papermill.readthedocs.io) on other Bibles and models.')
    others = f'## On other data\n\n{entries(executed, made, "studies")}'
    return f'# Studies\n\n{about}\n\n{entries(articles, made, "studies")}\n{others}'

def area_index(area, made, modules):
    "The pages of an area, those of each folder in it under a heading"
    folder, about = f'api/{area}', areas()[area]
    parts = [f'# {area}\n\n{about[:1].upper()}{about[1:]}.\n']
    for place,pages in groupby(modules, posixpath.dirname):
        if place != folder: parts.append(f'## {posixpath.basename(place)}\n')
        parts.append(entries(pages, made, folder))
    return '\n'.join(parts)

def code_index():
    about = ('The package has the folders of `nbs/`, whose notebooks are its source: each explains one idea, '
             'shows it working and tests it. A page shows a notebook, with what each function takes and '
             'returns. An area imports only from those above it.')
    lines = [f'[{area}]({area}/index.md)\n:   {holds}' for area,holds in areas().items()]
    return f'# Code\n\n{about}\n\n' + '\n\n'.join(lines) + '\n'

def questions_list():
    "The questions of `pronto tables --question`, each with the page of its module"
    from pronto.core.offers import offers
    lines = []
    for name,entry in offers('questions').items():
        if not entry.module.startswith('pronto.'): continue # Of another package
        path = entry.module.removeprefix('pronto.').replace('.', '/')
        about = ast.get_docstring(ast.parse((ROOT/'pronto'/f'{path}.py').read_text(encoding='utf-8')))
        lines.append(f'[`{name}`](../{page_of(f"nbs/{path}.ipynb")})\n:   {about}')
    return '\n## Questions\n\n' + '\n\n'.join(lines) + '\n'

def number_and_card():
    "The README's picture of a card and what its number means, for the landing page"
    text = (ROOT/'README.md').read_text(encoding='utf-8')
    shown = re.search(r'^!\[.*?(?=^## Where to start)', text, re.M | re.S)[0]
    return with_links(shown, 'README.md', 'index.md')

# What MkDocs calls

MADE = {}
SHARED = {} # What a written page takes from elsewhere, by the comment in its place

TITLES = {'executed': 'On other data'} # Of folders, where the navigation does not show their name

def listed(folder):
    "The generated pages of a folder for the navigation: its index, its other pages, and the folders in it"
    pages = [p for p in MADE if p.endswith('.md') and p.startswith(f'{folder}/')]
    own = [p for p in pages if posixpath.dirname(p) == folder]
    own.sort(key=lambda p: (not p.endswith('/index.md'), p))
    folders = {p.removeprefix(f'{folder}/').split('/')[0] for p in pages if p not in own}
    return [*own, *({TITLES.get(name, name): listed(f'{folder}/{name}')} for name in sorted(folders))]

def on_config(config):
    "Make all pages; put them where the navigation names their folder"
    MADE.update(made_pages())
    generated = {folder: listed(folder) for folder in ('studies','commands','tables')}
    generated['api'] = ['api/index.md', *({area: listed(f'api/{area}')} for area in areas())]
    for part in config.nav:
        for name,pages in part.items():
            if isinstance(pages, str) and pages in generated: part[name] = generated[pages]
    social = dict(icon='fontawesome/brands/github', link=repository(), name='Repository')
    config.extra['social'] = [social] if repository() else []
    config.copyright = f'Version {settings()["version"]}. Apache-2.0.'

def on_files(files, config):
    for page,content in MADE.items(): files.append(File.generated(config, page, content=content))
    return files

def on_page_markdown(text, page, config, files):
    if page.file.generated_by is None: # Written, in docs/
        text = with_links(text, f'docs/{page.file.src_uri}', page.file.src_uri)
    for comment,shared in SHARED.items(): text = text.replace(comment, shared)
    return text.replace('<!-- references -->', references())

def on_page_content(html, page, config, files):
    "Put pictures where a page wants them; tables of outputs get a box to scroll in"
    for drawn in (ROOT/'docs'/'assets').glob('*.svg'):
        html = html.replace(f'<!-- {drawn.stem} -->', drawn.read_text(encoding='utf-8'))
    if '<!-- chart -->' in html: html = html.replace('<!-- chart -->', chart(ROOT/'paper_tables'))
    box = r'<div class="output-table" tabindex="0">\g<0></div>'
    return re.sub(r'<table (?:border|id="T_).*?</table>', box, html, flags=re.S)
