"The notebook that compares two annotated sources: it runs, names languages, and says in one line what is missing"
import os, shutil, subprocess, sys
from pathlib import Path

import nbformat
import pytest

NBS = Path(__file__).parents[1]/'nbs'

def papermill(data, out, **parameters):
    "Run the notebook with this data folder; the process and the notebook that was written"
    options = [x for name,value in parameters.items() for x in ('-p', name, str(value))]
    command = [sys.executable, '-m', 'papermill', 'sources.ipynb', str(out), *options]
    environment = {**os.environ, 'PRONTO_DATA': str(data), 'PYTHONPATH': str(NBS.parent)}
    done = subprocess.run(command, cwd=NBS, env=environment, capture_output=True, text=True)
    return done, nbformat.read(out, as_version=4)

def outputs(notebook): return [o for c in notebook.cells if c.cell_type == 'code' for o in c.outputs]

def shown(notebook):
    "The texts that a reader sees"
    return '\n'.join(o.data.get('text/markdown', '') for o in outputs(notebook) if 'data' in o)

@pytest.fixture
def data(testdata, tmp_path):
    "Two letters in two annotated sources, and a part of a Gothic and of a Hindi treebank"
    folder = tmp_path/'data'
    for number in '47','48': # 2 Corinthians and Galatians
        shutil.copytree(testdata/'ontonotes-skeleton'/'english'/'annotations'/'pt'/'nt'/number, folder/'ontonotes'/number)
    (folder/'macula-greek').mkdir()
    (folder/'acai').symlink_to(testdata/'acai')
    (folder/'ud').mkdir()
    for name in '08-2corinthians.xml','09-galatians.xml': shutil.copy(testdata/'macula-greek'/name, folder/'macula-greek')
    for name in 'got_proiel-ud-train.conllu','hi_pud-ud-test.conllu': shutil.copy(testdata/'ud'/name, folder/'ud')
    return folder

def test_the_notebook_runs_with_its_default_parameters(data, tmp_path):
    done, notebook = papermill(data, tmp_path/'run.ipynb')
    assert done.returncode == 0, done.stderr[-2000:]
    assert {f.name for f in (data/'tables').iterdir()} == {f'sources.{ending}' for ending in ('md','tex','csv','png')}
    table, text = (data/'tables'/'sources.md').read_text(encoding='utf-8'), shown(notebook)
    assert 'Gothic (PROIEL) PNS' in table and 'got_proiel' not in table + text
    assert 'Agreement is highest on' in text and 'Gothic (PROIEL), PNS' in text
    assert 'ACAI: a name in a subject' in table and 'of the verses said to have a proper subject' in text
    assert any('image/png' in o.get('data', {}) for o in outputs(notebook))

def test_missing_data_are_named_before_what_is_shown_instead(tmp_path):
    done, notebook = papermill(tmp_path, tmp_path/'run.ipynb')
    assert done.returncode == 0 and not [o for o in outputs(notebook) if o.output_type == 'error']
    first = shown(notebook).strip().splitlines()[0]
    assert str(tmp_path/'ontonotes') in first and first.endswith('not there, so these are two invented sources.')

def test_a_folder_that_is_named_must_be_there(tmp_path):
    done, notebook = papermill(tmp_path, tmp_path/'run.ipynb', ontonotes=tmp_path/'nowhere')
    assert done.returncode == 1 and f'{tmp_path/"nowhere"}: is not a folder; name the folder of an annotated source' in done.stderr
    error, = (o for o in outputs(notebook) if o.output_type == 'error')
    assert len('\n'.join(error.traceback).strip().splitlines()) <= 1
