import os

__version__ = "0.2.0"

# Torch's threads wait for each other by spinning. Beside other work that takes most of the time of both, so that
# they give up sooner, unless the user has said otherwise; it is read when torch is loaded.
if 'OMP_WAIT_POLICY' not in os.environ:
    os.environ.setdefault('GOMP_SPINCOUNT', '10000')

_TASKS = 'VerseTask', 'PairTask', 'ChoiceTask' # For files that define some
_FROM_PYTHON = 'evaluate', 'load_dataset', 'models', 'tables'
__all__ = ['ChoiceTask', 'LanguageCallback', 'PairTask', 'VerseTask', 'build', 'evaluate', 'load_dataset', 'models',
           'read_bible', 'tables']

def __getattr__(name):
    "A public name of the package; `import pronto` alone loads nothing else"
    if name in _TASKS:
        from pronto.datasets import tasks as home
    elif name in _FROM_PYTHON:
        from pronto.reporting import evaluating as home
    elif name == 'build':
        from pronto.reporting.evaluating import build_dataset
        return build_dataset
    elif name == 'LanguageCallback':
        from pronto.reporting import watching as home
    elif name == 'read_bible':
        from pronto.bibles import reading as home
    else:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(home, name)

def __dir__():
    return sorted({*globals(), *__all__})
