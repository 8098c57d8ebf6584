"""What do cards say of models whose reading is known?

    python benchmarks/cards.py run LANGUAGE=BIBLE... -m MINILM -o OUT
    python benchmarks/cards.py tables OUT -o paper_tables/choices
    python benchmarks/cards.py sentences LANGUAGE=BIBLE... -m MINILM -o OUT --tables paper_tables/choices

Each Bible is asked twice, as Mark in ten folds and as a New Testament. The models: an English sentence
encoder by probe, with its own and with random weights, a small causal model of the language by likelihood
(trained on the train verses of the New Testament without Mark, of which no verse is asked in either), and the
first of these on all other languages. What is in OUT is not made again. `sentences` asks the
encoder alone as a card does, and has what the card says of it."""
import argparse
from dataclasses import replace
from pathlib import Path
import pandas as pd
from pronto.bibles.reading import read_bible, write_tsv
from pronto.cli.command import main as pronto
from pronto.core.refs import NT_BOOKS
from pronto.core.tables import Column, decimal, table_of
from pronto.datasets.align import readable_verses
from pronto.datasets.splits import split_of
from pronto.protocols.protocol import QUICK

TEXTS = {'mark': {'MRK'}, 'nt': set(NT_BOOKS)}
TASKS = ['-t', 'WO', '-t', 'WC', '-t', 'WX']
TRAINING = dict(kind='causal', layers=2, width=128, heads=4, vocab_size=3000, epochs=6, batch_size=32)
TITLES = dict(mark='Mark', nt='NT')
NAMES = {'MiniLM': 'MiniLM', 'MiniLM random': 'MiniLM, random weights', 'student': 'student of the language',
         'first student': 'student of the first language'}

def one(value): return decimal(value, 1)

def interval(low, high): return f'{one(low)} to {one(high)}'

def amount(verses): return 'all' if verses == float('inf') else f'{verses:,.0f}'

def succeed(*words):
    if pronto([*map(str, words)]):
        raise SystemExit(f'failed: {" ".join(map(str, words))}')

def training_verses(bible):
    "The train verses of a New Testament without Mark"
    others = TEXTS['nt'] - TEXTS['mark']
    return [text for ref,text in readable_verses(bible).items()
            if ref.book in others and split_of(ref) == 'train']

def student(texts, folder, **training):
    "A small causal model that has read some verses"
    from pronto.lab.modeling.pretrain import pretrain
    if not (folder/'manifest.json').is_file():
        pretrain(texts, folder, **TRAINING | training)
    return folder

def build(bible, books, name, output, language):
    "The dataset of some books, in the folder `output`"
    file, built = output/'texts'/f'{name}.tsv', output/'built'/name
    if not built.is_dir():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_tsv(replace(bible, rows=[row for row in bible.rows if row.book in books]), file)
        succeed('build', '-a', 'none', '-b', file, '-o', built, '--language', language)
    return built

def run(args):
    first = None
    for named in args.bibles:
        language, path = named.split('=', 1)
        bible = read_bible(path)
        own = student(training_verses(bible), args.output/'students'/language)
        first = first or own
        for text,books in TEXTS.items():
            built = build(bible, books, f'{language}-{text}', args.output, language)
            asked = ['eval', built, *TASKS, '--runs', args.output/'runs', '--quiet']
            students = {'student': own} | ({'first student': first} if first != own else {})
            succeed(*asked, '--protocol', 'likelihood',
                    *(word for name,folder in students.items() for word in ('-m', f'{name}={folder}')))
            asked += ['--protocol', 'probe']
            succeed(*asked, '-m', f'MiniLM={args.model}')
            succeed(*asked, '-m', f'MiniLM random={args.model}', '--recipe', 'probe-random')
            print(language, text, flush=True)

COLUMNS = [Column('language', 'language'), Column('text', 'text'), Column('model', 'model'),
           Column('number', 'number', one), Column('interval', '95 %'), Column('ngrams', 'n-grams', one),
           Column('read', 'verses read', amount), Column('read_interval', '95 %'),
           Column('verdict', 'the model')]

def tables(args):
    from pronto.reporting.language_score import language_scores
    from pronto.runs.store import read_runs
    records, rows = read_runs(args.runs/'runs'), []
    order = [*dict.fromkeys(run.dataset.rsplit('-', 1)[0] for run in records)]
    for dataset in sorted({run.dataset for run in records}):
        language, text = dataset.rsplit('-', 1)
        scores = language_scores([run for run in records if run.dataset == dataset])
        for row in scores.itertuples():
            rows.append(dict(language=row.language, text=TITLES[text], model=NAMES[row.model.split(' (')[0]],
                             number=row.number, low=row.low, high=row.high, ngrams=row.ngrams, read=row.read,
                             read_low=row.read_low, read_high=row.read_high, read_all=row.read_all,
                             verdict=row.verdict, place=(order.index(language), text)))
    models = [*NAMES.values()]
    rows.sort(key=lambda row: (row.pop('place'), models.index(row['model'])))
    shown = [row | dict(interval=f'{one(row["low"])} to {one(row["high"])}',
                        read_interval=f'{amount(row["read_low"])} to {amount(row["read_high"])}',
                        verdict=row['verdict'] or 'undecided') for row in rows]
    notes = ['Mark in ten folds, and New Testaments. The student of a language is a causal model of two '
             'layers that has read the train verses of the New Testament without Mark; MiniLM is an English '
             'sentence encoder, asked by probe. Verses read: over how many an n-gram model must count to '
             'score as high.']
    pd.DataFrame(rows).round(1).to_csv(args.output/'cards.csv', index=False)
    table = table_of('cards', 'What cards say', COLUMNS, shown, notes)
    table.write(args.output)
    print(table.markdown())

ASKED = 'Asked to tell a sentence from one with words exchanged or replaced, it' # Of each sentence
SENTENCES = [Column('language', 'language'), Column('text', 'text'), Column('number', 'number', one),
             Column('low high', '95 %', interval), Column('ngrams', 'n-grams', one),
             *map(Column, 'read read_low read_high read_all verdict'.split()),
             Column('said', 'what the card says')]

def sentences(args):
    from pronto.reporting.language_score import language_scores, plain_finding
    from pronto.runs.store import read_runs
    asked = ['--protocol', QUICK, '-m', f'MiniLM={args.model}', '--runs', args.output/'asked', '--quiet']
    rows = []
    for named in args.bibles:
        language, path = named.split('=', 1)
        for text,books in TEXTS.items():
            name = f'{language}-{text}'
            succeed('eval', build(read_bible(path), books, name, args.output, language), *TASKS, *asked)
            scores = language_scores([run for run in read_runs(args.output/'asked') if run.dataset == name])
            said = ' '.join(plain_finding(scores)).replace('**', '').replace(ASKED, 'It')
            rows += [row | dict(text=TITLES[text], said=said) for row in scores.to_dict('records')]
            print(name, said, flush=True)
    notes = ['MiniLM is an English sentence encoder. Texts are asked as a card asks: Mark in ten folds, and '
             'New Testaments. Intervals are over chapters.']
    table_of('sentences', 'What cards say of MiniLM', SENTENCES, rows, notes).write(args.tables)

def add_command(commands, function, *given, **how): # `given` and `how`: as `add_argument` takes them
    "A command with the name of its function, what it is given, and where it writes"
    command = commands.add_parser(function.__name__)
    command.add_argument(*given, **how)
    command.add_argument('-o', '--output', type=Path, required=True)
    command.set_defaults(run=function)
    return command

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    asked = add_command(commands, run, 'bibles', nargs='+')
    add_command(commands, tables, 'runs', type=Path)
    said = add_command(commands, sentences, 'bibles', nargs='+')
    said.add_argument('--tables', type=Path, required=True)
    for command in (asked, said):
        command.add_argument('-m', '--model', type=Path, required=True, help='an English sentence encoder')
    args = parser.parse_args()
    args.run(args)

if __name__ == '__main__':
    main()
