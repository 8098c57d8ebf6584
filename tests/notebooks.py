"Tests the notebooks as `nbdev_test` does, whose options it has, in forks of a process that has imported what many of them need"
import gc, os, sys, tempfile
os.environ.setdefault('OMP_NUM_THREADS', '1') # Before anything imports NumPy; see `conftest.py`

import nbdev.test
import pronto.lab.modeling.pretrain, pronto.modeling.probing, pronto.modeling.train, pronto.lab.reporting.notebook_views # noqa: F401
from execnb.shell import CaptureShell

DATA = os.environ.get('PRONTO_DATA')

def shell(*args):
    "Runs a notebook; trainings in it look for garbage, but not among what was there before"
    gc.collect()
    gc.freeze()
    notebook = CaptureShell(*args)
    notebook.data = tempfile.TemporaryDirectory() # Two notebooks at once, or an earlier one, share no data folder; it goes with the shell
    os.environ['PRONTO_DATA'] = DATA or notebook.data.name
    return notebook

nbdev.test.CaptureShell = shell
# Three seconds or more each, and left out without the flag `slow`, as are cells that begin with it
SLOW = 'draft_source evaluating gospels parsers pretrain queue quickstart release standoff walkthrough'.split()
left_out = SLOW
if any('slow' in argument.split() for argument in sys.argv): # With all tests, of which one runs those that need data at hand
    import conftest, test_data_cells
    left_out = [path.stem for path in test_data_cells.NOTEBOOKS] if conftest.DATA.is_dir() else []
if '--path' not in sys.argv and left_out:
    sys.argv += ['--skip_file_re', rf'^([_.]|({"|".join(left_out)})\.ipynb$)'] # The first as usual
nbdev.test.nbdev_test()
