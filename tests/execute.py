"""Executes again the notebooks of `nbs/executed/`, each with the parameters that it shows, by today's code: `make notebooks`

With names, only those, e.g. `python tests/execute.py eval-demo`. One whose data are not at hand is named, and left as it is."""
import json, os, re, sys, tempfile
from pathlib import Path

import nbformat, papermill

ROOT = Path(__file__).parents[1]
EXECUTED = ROOT/'nbs'/'executed'

def cells(path): return json.loads(path.read_text(encoding='utf-8'))['cells']

def source_of(path):
    "The notebook that was executed, e.g. `eval.ipynb` for `eval-demo.ipynb`"
    return ROOT/'nbs'/f'{path.stem.split("-")[0]}.ipynb'

def parameters_of(path):
    "The values in the cell that papermill added, by name"
    known = {cell['id'] for cell in cells(source_of(path))}
    added = [''.join(cell['source']) for cell in cells(path) if cell['id'] not in known]
    values = {}
    for text in added: exec(text, {}, values)
    return values

def missing(parameters):
    "Files that are not at hand, as paths from `nbs/`"
    texts = ','.join(str(value) for value in parameters.values()).split(',')
    return [text for text in texts if text.startswith('../') and not (ROOT/'nbs'/text).exists()]

def execute(path):
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= dict(PRONTO_DATA=folder, PYTHONPATH=str(ROOT))
        out = Path(folder)/path.name
        made = papermill.execute_notebook(str(source_of(path)), str(out), parameters_of(path), cwd=str(ROOT/'nbs'),
                                          progress_bar=False, kernel_name='python3', language='python')
        for cell in made.cells:
            if 'outputs' in cell: # Without lines of progress, which a slow machine prints
                cell['outputs'] = [o for o in cell['outputs'] if not re.fullmatch(r'([^\n]* left[^\n]*\n)+', o.get('text', ''))]
            if 'injected-parameters' in cell.metadata.get('tags', []): cell['id'] = 'injected' # Not another one each time
        shown = nbformat.writes(made).replace(folder, 'data') # As commands name the folder that a person has
        path.write_text(f'{shown}\n', encoding='utf-8')

for path in sorted(EXECUTED.glob('*.ipynb')):
    if sys.argv[1:] and path.stem not in sys.argv[1:]: continue
    if lacking := missing(parameters_of(path)): print(f'{path.name}: left as it is; there is no {", ".join(lacking)}')
    else:
        execute(path)
        print(f'{path.name}: executed')
