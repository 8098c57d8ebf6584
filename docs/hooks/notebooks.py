"A notebook as a page of the site: prose, examples with their outputs, and the documented code it exports"
import ast, re
from functools import cache
from pathlib import Path
from textwrap import dedent

import nbformat
from nbconvert import MarkdownExporter

DEFINITIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
EXPORTED = {'export', 'exporti', 'exports'}

def directives(source):
    "The nbdev directives of a cell, e.g. `{'export'}`"
    return set(re.findall(r'^#\| *(\w+)', source, re.M))

def without_directives(source): return re.sub(r'^#\|.*\n?', '', source, flags=re.M).strip('\n')

# What a function or a class takes and returns: its definition as written, with comments, without bodies

def function_header(node, lines):
    "The lines up to the body, which may begin in the same line"
    first = node.body[0]
    header = lines[node.lineno - 1:first.lineno]
    if not lines[first.lineno - 1][:first.col_offset].strip(): return header[:-1]
    return [*header[:-1], header[-1][:first.col_offset].rstrip()]

def class_outline(node, lines):
    "Fields and public methods"
    kept = function_header(node, lines)
    for part in node.body:
        if isinstance(part, (ast.AnnAssign, ast.Assign)): kept += lines[part.lineno - 1:part.end_lineno]
        if not isinstance(part, DEFINITIONS): continue
        if part.name.startswith('_') and part.name != '__init__': continue
        first = min([part.lineno, *(d.lineno for d in part.decorator_list)])
        kept += lines[first - 1:part.lineno - 1] + function_header(part, lines)
        if doc := ast.get_docstring(part): kept.append(' '*(part.col_offset + 4) + f'"{doc}"')
    return kept

def described(node, lines):
    "A definition as Markdown, its docstring first"
    outline = (class_outline if isinstance(node, ast.ClassDef) else function_header)(node, lines)
    code = dedent('\n'.join(outline))
    return f'{ast.get_docstring(node) or ""}\n\n```python\n{code}\n```\n'

def folded(code, title):
    "Code that a click unfolds; the search leaves it out"
    start = f'<details class="source" markdown="1" data-search-exclude>\n<summary>{title}</summary>'
    return f'{start}\n\n```python\n{code}\n```\n\n</details>\n'

def exported(code, heading):
    "An exported cell as Markdown: its public functions and classes, and the source to unfold"
    tree, lines, parts = ast.parse(code), code.splitlines(), []
    if all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in tree.body): return ''
    for node in tree.body:
        if not isinstance(node, DEFINITIONS) or node.name.startswith('_'): continue
        if node.name != heading: parts.append(f'### `{node.name}`\n')
        parts.append(described(node, lines))
    return '\n'.join([*parts, folded(code, 'Source')])

# The whole notebook

def rich_outputs(cell):
    "What a cell printed or drew, without progress bars and style sheets"
    for output in cell.get('outputs', []):
        if output.get('name') == 'stderr': continue
        data = output.get('data', {})
        page, text = data.get('text/html'), data.get('text/markdown')
        if page: data['text/html'] = re.sub(r'<style.*?</style>\s*', '', page, flags=re.S)
        if text: data['text/markdown'] = re.sub(r'^# (.*)$', r'**\1**', text, flags=re.M) # One title a page
        yield output

def shown_code(cell, heading, article):
    "A code cell as Markdown"
    code = without_directives(cell.source)
    if directives(cell.source) & EXPORTED: return exported(code, heading)
    if article and 'parameters' not in cell.metadata.get('tags', []): return folded(code, 'Code')
    return f'```python\n{code}\n```'

def shown_prose(text):
    "A text cell without what nbdev alone reads"
    text = re.sub(r'^(<!--\n)?- skip_exec: true\n?(-->\n?)?', '', text, flags=re.M)
    return re.sub(r'^(#+ .*?) -$', r'\1', text, flags=re.M)

def with_joined_code(cells):
    "Code that follows code without outputs belongs to it"
    joined = []
    for cell in cells:
        last = joined[-1] if joined else None
        plain = last and last.cell_type == cell.cell_type == 'code' and not list(rich_outputs(last))
        if not plain or 'parameters' in last.metadata.get('tags', []): joined.append(cell)
        else: joined[-1] = nbformat.from_dict({**cell, 'source': f'{last.source}\n\n{cell.source}'})
    return joined

def finding_first(cells):
    "The cells with what a study found come before how it is measured and the code that computes it"
    starts = [i for i,c in enumerate(cells) if c.cell_type == 'markdown' and c.source.startswith('## ')]
    told = [i for start,end in zip(starts, [*starts[1:], len(cells)]) for i in range(start, end)
            if cells[start].source.startswith(('## What was found', '## In a picture'))]
    if not told: return cells
    first = [i for i in range(starts[0]) if cells[i].cell_type == 'markdown'] + told
    return [cells[i] for i in [*first, *(i for i in range(len(cells)) if i not in first)]]

def new_cell(kind, **fields):
    "A cell as `nbformat.v4` makes it, which checks each against a schema: a tenth of the time of the site"
    return nbformat.from_dict(dict(cell_type=kind, metadata={}, **fields))

def visible_cells(notebook, article):
    "Cells as a reader wants them: code becomes Markdown, outputs remain"
    heading = ''
    for cell in finding_first(with_joined_code(notebook.cells)) if article else notebook.cells:
        if cell.cell_type == 'markdown':
            text = shown_prose(cell.source)
            if text.strip() == '## Export': continue
            heading = ([heading] + re.findall(r'^#+ +(.*?)$', text, re.M))[-1].strip('`')
            yield new_cell('markdown', source=text)
        elif not directives(cell.source) & {'hide', 'default_exp'}:
            code = new_cell('markdown', source=shown_code(cell, heading, article))
            outputs = new_cell('code', source='', execution_count=None, outputs=list(rich_outputs(cell)))
            yield from (outputs, code) if article else (code, outputs) # An article is read for its results

@cache
def exporter(): # Its templates are compiled once
    "With the one step before the template that changes something here: each step checks the whole notebook"
    extract = 'nbconvert.preprocessors.ExtractOutputPreprocessor'
    return MarkdownExporter(exclude_input=True, default_preprocessors=[extract])

def convert(
    path, # Of the notebook
    article=False # Fold all code but the parameters?
): # The Markdown, and pictures by name
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = list(visible_cells(notebook, article))
    resources = dict(unique_key=Path(path).stem, output_files_dir='.')
    text, resources = exporter().from_notebook_node(notebook, resources)
    return text, {Path(name).name: data for name,data in resources['outputs'].items()}
