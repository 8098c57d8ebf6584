__version__ = "0.2.0"

_TASK_CLASSES = 'VerseTask', 'PairTask', 'ChoiceTask'

def __getattr__(name):
    "The classes of tasks, for files that define some; `import pronto` alone loads nothing else"
    if name not in _TASK_CLASSES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from pronto.datasets import tasks
    return getattr(tasks, name)
