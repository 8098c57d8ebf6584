"""Does a card tell a model that has read the tested verses from one that has not?

    python benchmarks/twins.py run LANGUAGE=BIBLE=OTHER... -o OUT
    python benchmarks/twins.py tables OUT -o paper_tables/choices

OTHER is another translation into the language. Each Bible is asked as Mark in ten folds and as a New
Testament. For each of both, two small causal models read the train verses of the New Testament without Mark.
The first reads the tested verses as well, ten times each, the second as many of the train verses ten times
more. Both get a card; what it says for programs is kept in OUT."""
import argparse, contextlib, io, json, os, random
from pathlib import Path
import pandas as pd
from cards import TEXTS, TITLES, build, one, student, succeed, training_verses
from pronto.bibles.reading import read_bible
from pronto.cli.command import main as pronto
from pronto.core.tables import Column, percent, table_of
from pronto.datasets.align import readable_verses
from pronto.datasets.choices.reading_curve import NGRAM_KINDS, SCORED, ngram_credits
from pronto.datasets.loading import load_dataset_folder
from pronto.datasets.splits import split_of

EPOCHS, COPIES = 5, 2 # So that a verse is read ten times more
NAMES = dict(reader='has read the tested verses', twin='has not')

def printed(*words):
    "What a command prints for programs"
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = pronto([*map(str, words), '--json'])
    if status:
        raise SystemExit(f'failed: {" ".join(map(str, words))}')
    return json.loads(text.getvalue().splitlines()[-1])

def of_ngrams(folder):
    "The number of the best n-grams that have read the tested verses, too"
    dataset = load_dataset_folder(folder)
    texts = tuple(dict.fromkeys(dataset.all_verses.values()))
    tests = [dataset.tasks[stem]['test'] for stem in SCORED if stem in dataset.tasks]
    credits = [[ngram_credits(texts, test, *kind, (100, 0)).mean() for test in tests]
               for kind in NGRAM_KINDS.values()]
    return max(100*(2*sum(of_kind)/len(of_kind) - 1) for of_kind in credits)

def is_tested(ref, text):
    return ref.book == 'MRK' if text == 'mark' else ref.book in TEXTS['nt'] and split_of(ref) != 'train'

def run(args):
    os.environ['PRONTO_DATA'] = str(args.output/'data')
    (args.output/'cards').mkdir(parents=True, exist_ok=True)
    for named in args.bibles:
        language, path, other = named.split('=')
        bible, beside = read_bible(path), args.output/'data'/'datasets'/f'{language}-other'
        if not beside.is_dir():
            succeed('build', '-a', 'none', '-b', other, '-o', beside, '--language', language)
        for text,books in TEXTS.items():
            name = f'{language}-{text}'
            file = args.output/'cards'/f'{name}.json'
            if file.exists():
                continue
            read = training_verses(bible)
            tested = [verse for ref,verse in readable_verses(bible).items() if is_tested(ref, text)]
            more = dict(reader=tested, twin=random.Random(0).sample(read, min(len(tested), len(read))))
            models = {which: student([*read, *COPIES*verses], args.output/'students'/f'{name}-{which}',
                                     epochs=EPOCHS) for which,verses in more.items()}
            built = build(bible, books, name, args.output, language)
            said = printed('card', built, '-o', args.output/'cards'/f'{name}.html',
                           *(word for which,folder in models.items() for word in ('-m', f'{which}={folder}')))
            file.write_text(json.dumps(said | dict(text=text, tested=of_ngrams(built))))
            print(name, flush=True)

def cells(ends, figure): # e.g. `12 % (9 to 15), n-grams 0 %`
    low, high = (percent(end) for end in ends['intervals'][figure])
    return f'{percent(ends[figure])} ({low} to {high}); {percent(ends[f"ngram_{figure}"])}'

COLUMNS = [Column('language', 'language'), Column('text', 'text'), Column('model', 'tested verses'),
           Column('number', 'number', one), Column('interval', '95 %'), Column('ngrams', 'n-grams', one),
           Column('tested', 'n-grams with the tested verses', one), Column('exact', 'completes'),
           Column('known', 'prefers this wording'), Column('says', 'the card says that it')]

def tables(args):
    rows, records = [], []
    for file in sorted((args.runs/'cards').glob('*.json')):
        said = json.loads(file.read_text())
        about = dict(language=said['language'], text=TITLES[said['text']])
        for model in sorted(said['models'], key=lambda model: [*NAMES].index(model['model'])):
            figures = dict(model=NAMES[model['model']], tested=said['tested'],
                           **{name: model[name] for name in ('number', 'low', 'high', 'ngrams')})
            memory, has_read = model['memory'], model['has_read_text']
            known = {name: memory[name] for name in ('exact', 'ngram_exact', 'known', 'ngram_known')}
            records.append(about | figures | known | dict(has_read_text=has_read))
            says = 'has very probably read this text' if has_read else 'shows nothing of that'
            rows.append(about | figures | dict(
                interval=f'{one(model["low"])} to {one(model["high"])}', says=says,
                exact=cells(memory, 'exact'), known=cells(memory, 'known')))
    notes = ['Causal models of two layers that have read the train verses of a New Testament without Mark; '
             'in each pair the first has read the tested verses, too, ten times each, the second as many of '
             'the others ten times more. Completes: verses of which the second half follows word for word '
             'from the first; prefers: this wording to that of another translation; with 95 % intervals over '
             'chapters, and after the semicolon what n-grams do that have read the train verses.']
    table = table_of('twins', 'Are models told apart that have read the tested verses?', COLUMNS, rows, notes)
    pd.DataFrame(records).round(3).to_csv(args.output/'twins.csv', index=False)
    table.write(args.output)
    print(table.markdown())

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.add_argument('bibles', nargs='+')
    runs.set_defaults(run=run)
    made = commands.add_parser('tables')
    made.add_argument('runs', type=Path)
    made.set_defaults(run=tables)
    for command in (runs, made):
        command.add_argument('-o', '--output', type=Path, required=True)
    args = parser.parse_args()
    args.run(args)

if __name__ == '__main__':
    main()
