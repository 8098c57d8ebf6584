import os

__version__ = "0.2.0"

# Torch's threads wait for each other by spinning. Beside other work that takes most of the time of both, so that
# they give up sooner, unless the user has said otherwise; it is read when torch is loaded.
if 'OMP_WAIT_POLICY' not in os.environ:
    os.environ.setdefault('GOMP_SPINCOUNT', '10000')

_TASK_CLASSES = 'VerseTask', 'PairTask', 'ChoiceTask'

def __getattr__(name):
    "The classes of tasks, for files that define some; `import pronto` alone loads nothing else"
    if name not in _TASK_CLASSES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from pronto.datasets import tasks
    return getattr(tasks, name)
