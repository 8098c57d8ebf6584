"The notebook that compares two annotated sources: it runs, names languages, and says in one line what is missing"
import shutil

import nbformat
import pytest
from conftest import cell_outputs, run_notebook, shown_as

def run(data, out, **parameters):
    "Run the notebook with this data folder"
    return run_notebook('sources.ipynb', out, parameters, PRONTO_DATA=str(data))

def shown(notebook):
    "The texts that a reader sees"
    return '\n'.join(shown_as(notebook, 'text/markdown'))

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

@pytest.mark.slow
def test_the_notebook_runs_with_its_default_parameters(data, tmp_path):
    notebook = run(data, tmp_path/'run.ipynb')
    assert {f.name for f in (data/'tables').iterdir()} == {f'sources.{ending}' for ending in ('md','tex','csv','png')}
    table, text = (data/'tables'/'sources.md').read_text(encoding='utf-8'), shown(notebook)
    assert 'Gothic (PROIEL) PNS' in table and 'got_proiel' not in table + text
    assert 'Agreement is highest on' in text and 'Gothic (PROIEL), PNS' in text
    assert 'ACAI: a name in a subject' in table and 'of the verses said to have a proper subject' in text
    assert shown_as(notebook, 'image/png')

@pytest.mark.slow
def test_missing_data_are_named_before_what_is_shown_instead(tmp_path):
    notebook = run(tmp_path, tmp_path/'run.ipynb')
    assert not [o for o in cell_outputs(notebook) if o.output_type == 'error']
    first = shown(notebook).strip().splitlines()[0]
    assert str(tmp_path/'ontonotes') in first and first.endswith('not there, so these are two invented sources.')

@pytest.mark.slow
def test_a_folder_that_is_named_must_be_there(tmp_path):
    from papermill import PapermillExecutionError
    said = f'{tmp_path/"nowhere"}: does not exist; name a folder of OntoNotes'
    with pytest.raises(PapermillExecutionError, match=said): run(tmp_path, tmp_path/'run.ipynb', ontonotes=tmp_path/'nowhere')
    error, = (o for o in cell_outputs(nbformat.read(tmp_path/'run.ipynb', as_version=4)) if o.output_type == 'error')
    assert len('\n'.join(error.traceback).strip().splitlines()) <= 1
