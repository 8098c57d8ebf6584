"Tests the notebooks as `nbdev_test` does, whose options it has, in forks of a process that has imported what many of them need"
import gc, os
os.environ.setdefault('OMP_NUM_THREADS', '1') # Before anything imports NumPy; see `conftest.py`

import pronto.modeling.pretrain, pronto.modeling.probing, pronto.modeling.train, pronto.reporting.notebook_views # noqa: F401
from nbdev.test import nbdev_test

gc.freeze() # Each training looks for garbage
gc.set_threshold(100_000, 20, 50)
nbdev_test()
