"""Does equivalent reading find how much was read? `python benchmarks/equivalent.py BIBLE... -o FOLDER`

N-grams that have read a share of the train verses, in a draw that no curve holds, stand in for models: how
much they have read is known. Each Bible is asked in three sizes, as far as it has them: Mark in ten folds,
the New Testament, and the whole Bible. `recovered.csv` has a row for each model, `recovery.md` counts."""
import argparse, re
from pathlib import Path
import numpy as np
import pandas as pd
from pronto.bibles.reading import read_bible
from pronto.core.refs import NT_BOOKS
from pronto.core.tables import Column, percent, table_of
from pronto.datasets.align import readable_verses
from pronto.datasets.choices.reading_curve import DRAWS, SHARES, best_kind, curve_credits, n_read
from pronto.datasets.choices.reading_curve import ngram_credits, reading_curve
from pronto.datasets.choices.text import ChoiceText
from pronto.datasets.splits import N_FOLDS, split_of
from pronto.datasets.tasks import WC, WO, WX
from pronto.reporting.equivalent import VERDICTS, equivalent_reading

ASKED = 250 # Rows of a task, as on a card
READ = .5, 1.5, 4, 8, 15, 30, 70 # Percent of the train verses that a model has read
DRAW = 11
SIZES = {'gospel': lambda ref: ref.book == 'MRK', 'New Testament': lambda ref: ref.book in NT_BOOKS,
         'Bible': lambda ref: True}
LEAST = dict(gospel=500, Bible=20_000) | {'New Testament': 6500} # Verses

def rows_of(verses, fold, most):
    "The credits of the curve and of models on the rows of one fold, with their tasks and chapters"
    text = ChoiceText(verses, fold)
    train = [said for ref,said in verses.items() if split_of(ref, fold) == 'train']
    curve, models, tasks, chapters = [], [], [], []
    for task in WO, WC, WX:
        parts = task.of_text(text)
        test = [*parts['test']][:most]
        n_draws = 1 if fold is not None else DRAWS
        curve.append(curve_credits(reading_curve(train, [*parts['dev']], test, n_draws)))
        points = [(share, DRAW) for share in READ]
        texts = tuple(dict.fromkeys(train))
        models.append(ngram_credits(texts, test, *best_kind(texts, [*parts['dev']]), *points))
        tasks += [task.stem]*len(test)
        chapters += [row.ref.chapter_name for row in test]
    return len(train), np.concatenate(curve, -1), np.hstack(models), tasks, chapters

def recovered(path, size):
    "A record for each model of one text"
    bible = read_bible(path)
    verses = {ref: said for ref,said in readable_verses(bible).items() if SIZES[size](ref)}
    if len(verses) < LEAST[size] or size == 'Bible' and not any(ref.book not in NT_BOOKS for ref in verses):
        return []
    folds = range(N_FOLDS) if size == 'gospel' else [None]
    parts = [rows_of(verses, fold, ASKED//len(folds) + 1 if size == 'gospel' else ASKED) for fold in folds]
    n_train, curves, models, tasks, chapters = zip(*parts)
    n = np.mean(n_train)
    about = sum(tasks, []), sum(chapters, [])
    at = np.array([n_read(n, share) for share in SHARES])
    records, name = [], re.sub('(Bible|-NT|_nt_vpl)$', '', Path(path).name.split('.')[0])
    for share,credits in zip(READ, np.hstack(models)):
        reading = equivalent_reading(credits, np.concatenate(curves, -1), at, *about)
        records.append(dict(text=name, size=size, share=share, verses=n_read(n, share),
                            read=reading.read, low=reading.low, high=reading.high, read_all=reading.read_all,
                            verdict=reading.verdict))
    return records

def bound(verses): # What should be said of a model that has read so many verses
    return VERDICTS[0] if verses < 100 else VERDICTS[1] if verses <= 1000 else VERDICTS[2]

def counted(size, rows):
    "How many models of one size of text are recovered"
    within = (rows.low <= rows.verses) & (rows.verses <= rows.high)
    finite = rows[np.isfinite(rows.read)]
    is_wrong = (rows.verdict != '') & (rows.verdict != rows.verses.map(bound))
    return dict(size=size, texts=rows.text.nunique(), models=len(rows), within=within.mean(),
                error=(np.log2(finite.read.clip(1)/finite.verses)).abs().median(),
                decided=(rows.verdict != '').mean(), wrong=is_wrong.mean())

def factor(log2): return f'× {2**log2:.2f}'

COLUMNS = [Column('size', 'text'), Column('texts', 'texts'), Column('models', 'models'),
           Column('within', 'in the interval', percent), Column('error', 'median error', factor),
           Column('decided', 'decided', percent), Column('wrong', 'wrongly', percent)]

def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('bibles', nargs='+')
    parser.add_argument('-o', '--output', type=Path, required=True)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    file, records = args.output/'recovered.csv', []
    for path in args.bibles:
        for size in SIZES:
            found = recovered(path, size)
            records += found
            print(path, size, len(found), flush=True)
        pd.DataFrame(records).round(1).to_csv(file, index=False)
    frame = pd.DataFrame(records)
    rows = [counted(size, rows) for size,rows in frame.groupby('size', sort=False)]
    notes = [f'Models are n-grams that have read {", ".join(map(str, READ))} % of the train verses, '
             f'in a draw that no curve holds; {ASKED} rows a task. Intervals are of 95 %, over chapters '
             'and draws of the text.']
    table = table_of('recovery', 'Recovered reading', COLUMNS, rows, notes)
    table.write(args.output)

if __name__ == '__main__':
    main()
