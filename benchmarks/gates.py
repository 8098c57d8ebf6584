"""Which tasks tell models apart? Four gates, over several translations.

    python benchmarks/gates.py DATASET_DIR... -m MODEL... -o RECORDS.jsonl   # paper_tables/gates.*

DATASET_DIRs are built with all tasks that are judged (`pronto build --tasks`). MODELs are in the order of
their pretraining: random weights first. They are frozen and probed; the last one also with parts of train.
What RECORDS holds is not measured again. `-t names upos` judges the tasks on words: paper_tables/word_gates.*
"""
import argparse, json
from pathlib import Path
from random import Random

import numpy as np

from pronto.core.tables import Table, decimal
from pronto.datasets.loading import fold_folders, load_dataset_folder
from pronto.modeling.probing import probe
from pronto.modeling.recipes import find_recipe
from pronto.datasets.baselines import baselines_of

SHARES, DRAWS, MOST = (.02, .1, .33), 2, dict(train=6000, dev=1200, test=2400) # Rows
WORD_SHARES, WORD_MOST = (.1, .33), dict(train=1000, dev=100, test=400) # A row has some twenty words
SIMPLE = 'majority', 'cues', 'ngram', 'ngram_balanced'

def sample(rows, n, seed=0): return Random(seed).sample(rows, n) if len(rows) > n else rows

def answers(dataset, task, models):
    "Who answers a test set after which share of train, and the answers"
    most, shares = (WORD_MOST, WORD_SHARES) if task.has_items else (MOST, SHARES)
    parts = {s: sample(list(dataset.tasks[task.stem][s]), n) for s,n in most.items()}
    heads = 'both' if task.has_sense else 'layer'
    asked = task.trainer('frozen') if task.has_items else probe
    settings = find_recipe('probe').settings(task) | dict(select='mcc', heads=heads)
    for name,predict in baselines_of(task).items():
        if name in SIMPLE: yield parts, name, 1., 0, predict(task, parts['train'], parts['test'])
    plan = [(model, 1., 0) for model in models]
    plan += [(models[-1], share, draw) for share in shares for draw in range(DRAWS)]
    for model,share,draw in plan:
        rows = parts | dict(train=sample(parts['train'], int(share*len(parts['train'])), draw))
        yield parts, Path(model).name, share, draw, asked(model, task, rows, settings).answers['test']

def rightness(task, rows, given):
    "How right each answer is, which the metric is the mean of, and the chapter of each"
    true, items = task.true_labels(rows), rows
    if task.has_items:
        items = [row for row in rows for _ in range(task.n_items(row))]
        values = task.item_values(task.metric, true, given, [row.id for row in items])
        right = [round(float(x), 4) for x in values]
    else: right = [int(a == b) for a,b in zip(given, true)]
    return dict(right=right, chapters=[row.refs[0].chapter_name for row in items])

def measure(folders, models, path, only=()):
    "A record for each dataset, task, model, share of train and draw of it"
    found = [json.loads(line) for line in path.open()] if path.exists() else []
    done = {(r['dataset'], r['task']) for r in found}
    for folder in folders:
        folds = [load_dataset_folder(f) for f in fold_folders(folder) or [folder]]
        for task in (folds[0].known[stem] for stem in folds[0].tasks):
            if (folder.name, task.abbr) in done or only and task.stem not in only: continue
            asked = {} # By who answers: each chapter is tested in one of the folds
            source = folds[0].manifest['source']['name']
            for fold in folds:
                if not all(fold.tasks[task.stem].values()): continue # It has no rows in a split
                for parts,who,share,draw,given in answers(fold, task, models):
                    here = rightness(task, parts['test'], given)
                    kept = asked.setdefault((who, share, draw), dict(right=[], chapters=[], rows=[]))
                    kept['rows'].append(len(parts['train']))
                    for k,values in here.items(): kept[k] += values
            new = [dict(dataset=folder.name, source=source, task=task.abbr, who=who, share=share, draw=draw,
                        **kept) for (who,share,draw),kept in asked.items()]
            with path.open('a') as f: f.writelines(json.dumps(r) + '\n' for r in new)
            found += new
    return found

class Scores:
    "The records of one task"
    def __init__(self, records, models):
        self.found = {(r['dataset'], r['who'], r['share'], r['draw']): r for r in records}
        self.datasets, self.models = list(dict.fromkeys(r['dataset'] for r in records)), models

    def of(self, dataset, who, share=1.): # Percent, by draw
        asked = dataset, who, share
        return [100*np.mean(r['right']) for key,r in self.found.items() if key[:3] == asked]

    def mean(self, who, share=1.): return np.mean([self.of(d, who, share) for d in self.datasets])

    def simple(self, dataset):
        "The best of what reads no language"
        return max((w for w in SIMPLE if self.of(dataset, w)), key=lambda w: self.of(dataset, w))

    def gain(self, less, draws=2000):
        "How far the last model is above `less`: by dataset, mean, and its interval over chapters"
        full = lambda d, who: self.found[d, who, 1., 0]
        pairs = [(full(d, self.models[-1]), full(d, less(d))) for d in self.datasets]
        chapters = {c: i for i,c in enumerate(sorted({c for r,_ in pairs for c in r['chapters']}))}
        sums, sizes = np.zeros((2, len(pairs), len(chapters)))
        for i,(more,few) in enumerate(pairs):
            here = [chapters[c] for c in more['chapters']]
            np.add.at(sums[i], here, np.array(more['right']) - np.array(few['right']))
            np.add.at(sizes[i], here, 1)
        drawn = np.random.default_rng(0).multinomial(len(chapters), [1/len(chapters)]*len(chapters), draws).T
        means = 100*((sums @ drawn)/(sizes @ drawn)).mean(0)
        by_dataset = 100*sums.sum(1)/sizes.sum(1)
        return by_dataset, by_dataset.mean(), np.percentile(means, [2.5, 97.5])

def signed(x, low, high):
    "A difference and its interval"
    x, low, high = (decimal(value, 1, '+') for value in (x, low, high))
    return f'{x} [{low}, {high}]'

def judge(scores):
    "The row of a task, and whether it passes each gate"
    from scipy.stats import spearmanr
    last, datasets = scores.models[-1], scores.datasets
    above, gain, (low, high) = scores.gain(scores.simple)
    rises, more, (at_least, at_most) = scores.gain(lambda d: scores.models[0])
    shares = sorted({share for _,who,share,_ in scores.found if who == last})
    by_share = [scores.mean(last, s) for s in shares]
    with_rows = spearmanr(shares, by_share).statistic
    noise = np.mean([np.std(scores.of(d, last, s), ddof=1) for d in datasets for s in shares[:-1]])
    ranks = [[scores.of(d, m)[0] for m in scores.models] for d in datasets]
    order = np.mean([np.sign(b - a) for row in ranks for i,a in enumerate(row) for b in row[i+1:]])
    gates = dict(above=gain > 0 and (above > 0).mean() > .5,
                 pretraining=at_least > 0 and (rises > 0).mean() > .5,
                 rows=with_rows >= .5, steady=np.mean(by_share)/noise >= 20, order=order >= .5)
    simple = np.mean([scores.of(d, scores.simple(d))[0] for d in datasets])
    means = scores.mean('cues'), simple, *map(scores.mean, scores.models)
    cells = [*(decimal(x, 1) for x in means),
             signed(gain, low, high), f'{(above > 0).sum()}/{len(datasets)}',
             signed(more, at_least, at_most), decimal(with_rows, 1), decimal(noise, 1), decimal(order, 2),
             ', '.join(name for name,passed in gates.items() if not passed) or 'all passed']
    return cells, gates

_READ = """\
Accuracy in percent, means over {}; frozen models, probed on {:,} to {:,} rows{}. Best without a model: \
of majority label, cues, and character n-grams, also balanced ones, in each dataset. Above it: how \
far the last model is above that, with a 95 % interval over chapters; in: in how many datasets it \
is. By pretraining: how far the last model is above the first. Rows: Spearman's correlation of its \
score with the number of rows. Noise: standard deviation over draws of rows. Order: Kendall's τ-a of \
the models' order and that of their pretraining."""
_OF_WORDS = """\
Rows are verses; the score of names is the F1 of their spans. N-grams give a word that train has its \
usual tag, and another one that of its letters."""
_PASSES = """\
A task passes if the last model is above on average and in most datasets, if pretraining raises the \
score (the interval is above 0) and in most datasets, if the correlation with rows is .5 or more, \
the score 20 times the noise or more, and the order .5 or more."""

def table(records, models, names):
    "The table of the gates"
    header = ['Task', 'Cues', 'Best without a model', *names, 'Above it', 'In', 'By pretraining', 'Rows',
              'Noise', 'Order', 'Fails']
    rows = []
    for task in dict.fromkeys(r['task'] for r in records):
        cells, gates = judge(Scores([r for r in records if r['task'] == task], models))
        rows.append((-sum(gates.values()), [task, *cells]))
    where = {}
    for r in records: where.setdefault(r['task'], {})[r['dataset']] = True
    datasets = '; '.join(f'{", ".join(there)} ({task})' for task,there in where.items())
    if len({*map(tuple, where.values())}) == 1: datasets = ', '.join(where[records[0]['task']])
    ordered = [row for _,row in sorted(rows, key=lambda r: r[0])]
    on_words = any(r['task'] in ('names','upos') for r in records)
    n_rows = [n for r in records if r['share'] == 1 for n in r['rows']]
    folds = ' of each fold' if any(len(r['rows']) > 1 for r in records) else ''
    notes = [_READ.format(datasets, min(n_rows), max(n_rows), folds), *[_OF_WORDS]*on_words, _PASSES]
    tested = {task: min(len(r['rows']) for r in records if r['task'] == task) for task in where}
    most = max(tested.values())
    few = [f'{task} on {n} of {most}' for task,n in tested.items() if n < most]
    if few: notes.append(f'Folds in which a split has no rows are left out; tested: {", ".join(few)}.')
    name, which = ('word_gates', 'tasks on words') if on_words else ('gates', 'tasks')
    source = records[0]['source']
    labels = '' if source == 'OntoNotes' else f' with the labels of {source}'
    if labels: name = f'{source.split()[0].lower()}_{name}'
    return Table(name, f'Which {which} tell models apart{labels}?', [(header, ordered)], notes)

if __name__ == '__main__':
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument('datasets', nargs='+', type=Path)
    parser.add_argument('-m', '--models', nargs='+', required=True)
    parser.add_argument('-o', '--output', type=Path, required=True)
    parser.add_argument('-t', '--tasks', nargs='+', default=(), help='stems; all if not given')
    parser.add_argument('--names', nargs='+', help='of the models in the table')
    args = parser.parse_args()
    models = [Path(m).name for m in args.models]
    made = table(measure(args.datasets, args.models, args.output, args.tasks), models, args.names or models)
    made.write('paper_tables')
    print(made.markdown())
