"""What do cards say of models whose reading is known?

    python benchmarks/cards.py run LANGUAGE=BIBLE... -m MINILM -o OUT
    python benchmarks/cards.py tables OUT -o paper_tables/choices

Each Bible is asked twice, as Mark in ten folds and as a New Testament, as `pronto card` asks. The models: an
English sentence encoder, and a small causal model of the language, which has read the train verses of the New
Testament without Mark, of which no verse is asked in either. What is in OUT is not made again."""
import argparse
from dataclasses import replace
from pathlib import Path
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
ASKED = 'Asked to tell a sentence from one with words exchanged or replaced, it' # Of each sentence
MODELS = 'MiniLM', 'student'

def one(value): return decimal(value, 1)

def interval(low, high): return f'{one(low)} to {one(high)}'

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
    for named in args.bibles:
        language, path = named.split('=', 1)
        bible = read_bible(path)
        own = student(training_verses(bible), args.output/'students'/language)
        for text,books in TEXTS.items():
            built = build(bible, books, f'{language}-{text}', args.output, language)
            asked = ['eval', built, *TASKS, '--runs', args.output/'runs', '--quiet']
            succeed(*asked, '--protocol', QUICK, '-m', f'MiniLM={args.model}')
            succeed(*asked, '--protocol', 'likelihood', '-m', f'student={own}')
            print(language, text, flush=True)

COLUMNS = [Column('language', 'language'), Column('text', 'text'), Column('model', 'model'),
           Column('number', 'number', one), Column('low high', '95 %', interval),
           Column('ngrams', 'n-grams', one), *map(Column, 'read read_low read_high read_all verdict'.split()),
           Column('said', 'what the card says')]

def tables(args):
    from pronto.reporting.language_score import language_scores, plain_finding
    from pronto.runs.store import read_runs
    records, rows = read_runs(args.runs/'runs'), []
    for dataset in dict.fromkeys(run.dataset for run in records):
        text = dataset.rsplit('-', 1)[1]
        scores = language_scores([run for run in records if run.dataset == dataset])
        for k,row in enumerate(scores.to_dict('records')):
            said = ' '.join(plain_finding(scores.iloc[[k]])).replace('**', '').replace(ASKED, 'It')
            rows.append(row | dict(text=TITLES[text], said=said))
    languages = [*dict.fromkeys(row['language'] for row in rows)]
    rows.sort(key=lambda row: (MODELS.index(row['model']), languages.index(row['language']), row['text']))
    notes = ['Mark in ten folds, and New Testaments. MiniLM is an English sentence encoder; the student of a '
             'language is a causal model of two layers that has read the train verses of the New Testament '
             'without Mark. Intervals are over chapters.']
    table = table_of('cards', 'What cards say', COLUMNS, rows, notes)
    table.write(args.output)
    print(table.markdown())

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.add_argument('bibles', nargs='+')
    runs.add_argument('-m', '--model', type=Path, required=True, help='an English sentence encoder')
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
