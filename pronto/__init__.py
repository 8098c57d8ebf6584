__version__ = "0.2.0"

def __getattr__(name):
    "`VerseTask`, `PairTask` and `ChoiceTask` for files that define tasks; `import pronto` alone loads nothing else"
    if name not in ('VerseTask','PairTask','ChoiceTask'): raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from pronto.datasets import tasks
    return getattr(tasks, name)
