"Cells that need real data (`#| data`) run where the data is"
import json, os, subprocess, sys
from pathlib import Path

import pytest

from conftest import ROOT

def needs_data(path):
    cells = json.loads(path.read_text(encoding='utf-8'))['cells']
    return any(line.strip() == '#| data' for c in cells for line in ''.join(c['source']).splitlines()[:5])

NOTEBOOKS = [p for p in sorted((ROOT/'nbs').rglob('*.ipynb')) if needs_data(p)]

@pytest.mark.slow
def test_cells_that_need_data(testdata, tmp_path):
    "With a data folder that links to the data at hand; of all such notebooks in one process, so `notebooks.py` leaves them to this test"
    links = {'ontonotes': 'ontonotes-skeleton', 'macula-greek': 'macula-greek', 'bibles': 'bibles'}
    for name,source in links.items(): (tmp_path/name).symlink_to(testdata/source)
    nbdev_test = Path(sys.executable).with_name('nbdev_test') # Of this environment, which need not be on the PATH
    names = '|'.join(path.stem for path in NOTEBOOKS)
    argv = [nbdev_test, '--flags', 'data', '--n_workers', '0', '--do_print', '--file_re', rf'^({names})\.ipynb$']
    done = subprocess.run(argv, cwd=ROOT, text=True, capture_output=True,
                          env=os.environ | {'PRONTO_DATA': str(tmp_path), 'PYTHONPATH': str(ROOT)})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.count('- Completed') == len(NOTEBOOKS)

def test_there_are_such_cells(): assert len(NOTEBOOKS) >= 3
