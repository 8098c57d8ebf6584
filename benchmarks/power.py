"""What can be told apart? From recorded trainings, the smallest difference that a test finds

    python benchmarks/power.py RUNS -o DIR

RUNS is a run store in which a model was trained three times or more on some tasks and translations;
`pronto study real` makes one. Writes DIR/power.md and .csv.
"""
import argparse
from pathlib import Path
from typing import NamedTuple

from scipy.stats import chi2

from pronto.core.seeds import detectable_difference, variance_of
from pronto.core.tables import csv_text, grouped, markdown_table
from pronto.reporting.scores import answer_values, read_answers
from pronto.reporting.tables import task_name
from pronto.runs.store import read_runs

PAGE = """# What can be told apart?

The smallest difference between two fine-tuned models, in points of accuracy, that a test over chapters and
seeds finds in 80 % of cases (two-sided, 5 %), with three, five and ten seeds of each model. Measured on
trainings of `{model}` on {limit} rows in {bibles}, with {seeds} seeds each.

{table}

*Sd between seeds*: of the accuracy, pooled over translations, with a 95 % interval (chi-squared).
*Beyond items*: what is left of it without the part that comes from each training being right about
other items, which more test rows lessen. *Error over chapters*: standard error of the difference from
character n-grams on the same rows. In brackets the difference if the sd between seeds is at either end
of its interval. Test sets have up to 500 rows here; whole ones have some 710 to 730 (NMC, PNS, SM) and
7,700 (SS), and smaller errors over chapters. With one seed no difference is told apart: how much
another training would change is not known.{collapsed} A task without a row was not learned at all.
"""

class Spread(NamedTuple):
    "How far trainings of one model differ on one test set, in points"
    seeds:int
    total:float # Variance between seeds
    items:float # The part of it that comes from items
    error:float # Variance over chapters of the difference from character n-grams
    rows:int

def spread_of(seeds): # `Answers`
    "Variances of accuracy on one test set"
    values, others = (100*answer_values(x) for x in (seeds, seeds.of_baseline('ngram')))
    over_chapters = lambda row: variance_of([row], seeds.chapters).chapters
    left = values - values.mean(0) - values.mean(1, keepdims=True) + values.mean()
    items = sum(map(over_chapters, left))/(len(values) - 1)
    error = over_chapters(values.mean(0) - others.mean(0))
    return Spread(len(values), float(values.mean(1).var(ddof=1)), items, error, len(seeds.true))

def detectable(spreads): # Of one task in several translations
    "The row of a task"
    mean = lambda name: sum(getattr(s, name) for s in spreads)/len(spreads)
    freedom = sum(s.seeds - 1 for s in spreads)
    total, items, error = mean('total'), mean('items'), mean('error')**.5
    least, most = (freedom*total/chi2.ppf(q, freedom) for q in (.975, .025))
    row = dict(translations=len(spreads), trainings=freedom + len(spreads), rows=min(s.rows for s in spreads),
               sd=total**.5, sd_low=least**.5, sd_high=most**.5, beyond_items=max(total - items, 0)**.5,
               error=error)
    for n in 3, 5, 10:
        for end,variance in ('', total), ('_low', least), ('_high', most):
            row[f'seeds_{n}{end}'] = detectable_difference(error, max(variance - items, 0)**.5, n)
    return {k: round(v, 2) if isinstance(v, float) else v for k,v in row.items()}

def measured(args):
    "Task to translation to its spread; and how many trainings of a task learned nothing at all"
    wanted = dict(protocol='in-language', model=args.model, limit=args.limit)
    runs = [r for r in read_runs(args.runs) if all(getattr(r, k) == v for k,v in wanted.items())]
    found, collapsed = {}, {}
    for (task, bible),own in grouped(runs, lambda r: (task_name(r.task), r.bible)).items():
        if flat := sum(r.mcc == 0 for r in own): collapsed[task] = collapsed.get(task, 0) + flat
        if flat < len(own) and len(own) > 2: found.setdefault(task, {})[bible] = spread_of(read_answers(own))
    return found, collapsed

def nothing_learned(collapsed, args):
    "Where all trainings of a task did, it has no row"
    trainings = ', '.join(f'{n} on {task}' for task,n in sorted(collapsed.items()))
    return f' Trainings that learned nothing from {args.limit} rows: {trainings}.' if collapsed else ''

def table_of(rows):
    ends = lambda r, name: f"{r[name]:.1f} ({r[f'{name}_low']:.1f} to {r[f'{name}_high']:.1f})"
    cells = [[r['task'], r['trainings'], r['rows'], ends(r, 'sd'), f"{r['beyond_items']:.1f}",
              f"{r['error']:.1f}", *(ends(r, f'seeds_{n}') for n in (3, 5, 10))] for r in rows]
    header = ['task','trainings','test rows','sd between seeds','beyond items','error over chapters',
              '3 seeds','5 seeds','10 seeds']
    return markdown_table(header, cells, 'lrrrrrrrr')

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('runs', type=Path), add('-o', '--out', type=Path, required=True)
    add('--model', default='student')
    add('--limit', type=int, default=500, help='of rows of train')
    args = parser.parse_args()
    found, collapsed = measured(args)
    rows = [dict(task=task) | detectable([*found[task].values()]) for task in sorted(found)]
    bibles = sorted({bible for own in found.values() for bible in own})
    seeds = sorted({str(s.seeds) for own in found.values() for s in own.values()})
    page = PAGE.format(model=args.model, limit=args.limit, bibles=', '.join(bibles), table=table_of(rows),
                       seeds=' or '.join(seeds), collapsed=nothing_learned(collapsed, args))
    (args.out/'power.csv').write_text(csv_text(rows), encoding='utf-8')
    (args.out/'power.md').write_text(page, encoding='utf-8')

if __name__ == '__main__': main()
