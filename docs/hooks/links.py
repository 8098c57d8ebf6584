"Which page of the site shows which file of the repository"
import configparser, posixpath, re
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = {'CHANGELOG.md': 'changelog.md', 'CONTRIBUTING.md': 'contributing.md',
         'CODE_OF_CONDUCT.md': 'conduct.md', 'README.md': 'index.md',
         'paper_tables/README.md': 'tables/index.md', 'paper_tables/real/README.md': 'tables/real.md',
         'paper_tables/breadth/README.md': 'tables/breadth.md',
         'paper_tables/real/suites.md': 'tables/suites.md',
         'benchmarks/README.md': 'benchmarks.md',
         'benchmarks/HISTORY.md': 'benchmarks-before.md'}
PICTURES = {} # Those of the repository that a page shows: path to address

def settings():
    found = configparser.ConfigParser()
    found.read(ROOT/'settings.ini', encoding='utf-8')
    return found['DEFAULT']

def repository(): return settings().get('repository', '') # Its address; nothing links to it if empty

def areas():
    "The areas in their order, and what each holds, as CONTRIBUTING.md says"
    text = (ROOT/'CONTRIBUTING.md').read_text(encoding='utf-8')
    return dict(re.findall(r'^\| \[`(\w+)`\]\(nbs/\w+\) \| (.*?) \|$', text, re.M))

def page_of(path):
    "The page that shows a file of the repository, or None"
    if path in PAGES: return PAGES[path]
    first, *rest = path.split('/')
    stem = Path(path).stem
    if first == 'docs': return '/'.join(rest)
    if first == 'paper_tables' and path.endswith('.md') and len(rest) == 1: return f'tables/{stem}.md'
    if first != 'nbs' or not rest: return None
    if not path.endswith('.ipynb'): return f'api/{rest[0]}/index.md' if rest[0] in areas() else None
    if len(rest) == 1: return f'studies/{stem}.md'
    if rest[0] == 'executed': return f'studies/executed/{stem}.md'
    return f'api/{"/".join(rest[:-1])}/{stem}.md'

def address(path):
    "Where the site shows a file of the repository: a page, a picture, or the file there, if that is known"
    if Path(path).suffix in ('.png', '.svg') and not path.startswith('docs/'):
        PICTURES[path] = f'pictures/{path.replace("/", "-")}' # Pictures of two folders may share a name
        return PICTURES[path]
    return page_of(path) or (f'{repository()}/blob/main/{path}' if repository() else '')

def with_links(text, source, page):
    "The text of a file of the repository, with its relative links turned into those of the site"
    def replaced(match):
        target, _, anchor = match[2].partition('#')
        if not target or re.match(r'[a-z]+:', target): return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if not (ROOT/path).exists(): return match[0] # Which fails the build
        found = address(path)
        if not found: return match[1].strip('[(]') # Without a link
        if '://' not in found: found = posixpath.relpath(found, posixpath.dirname(page) or '.')
        return f'{match[1]}{found}{"#" + anchor if anchor else ""}{match[3]}'
    linked = re.sub(r'(\[[^\[\]]*\]\()([^)\s]+)(\))', replaced, text)
    return re.sub(r'(<img src=")([^"]+)(")', replaced, linked)

def reference(work):
    "A work of CITATION.cff as a line"
    names = [a.get('name') or ' '.join(filter(None, [a.get('given-names'), a.get('family-names')]))
             for a in work['authors']]
    year = f' {work["year"]}.' if 'year' in work else ''
    return f'{work["scope"]}\n:   {", ".join(names)}.{year} [{work["title"]}]({work["url"]}).'

@cache
def references():
    "What one owes to others, as CITATION.cff has it"
    works = yaml.safe_load((ROOT/'CITATION.cff').read_text(encoding='utf-8'))['references']
    return '\n\n'.join(map(reference, works))

def repository_page(path): return with_links((ROOT/path).read_text(encoding='utf-8'), path, page_of(path))
