"""Does a card tell a model that has read the tested verses from one that has not?

    python benchmarks/twins.py run LANGUAGE=BIBLE[=OTHER]... -o OUT
    python benchmarks/twins.py tables OUT -o paper_tables/choices

OTHER is another translation into the language; an English one comes along. Two small causal models read the
train verses of a New Testament without Mark. The first reads Mark as well, ten times, the second as many of
the train verses ten times more. Both get a card of Mark, in ten folds; what it says for programs is kept."""
import argparse, contextlib, io, json, os, random
from pathlib import Path
from cards import TEXTS, add_command, build, interval, one, student, succeed, training_verses
from pronto.bibles.reading import read_bible
from pronto.cli.command import main as pronto
from pronto.core.tables import Column, percent, table_of
from pronto.datasets.align import readable_verses
from pronto.datasets.choices.reading_curve import NGRAM_KINDS, SCORED, ngram_credits
from pronto.reporting.evaluating import load_dataset

EPOCHS, COPIES = 5, 2 # So that a verse is read ten times more
NAMES = dict(reader='read ten times', twin='not read')

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
    dataset = load_dataset(folder)
    texts = tuple(dict.fromkeys(dataset.all_verses.values()))
    tests = [dataset.tasks[stem]['test'] for stem in SCORED if stem in dataset.tasks]
    credits = [[ngram_credits(texts, test, *kind, (100, 0)).mean() for test in tests]
               for kind in NGRAM_KINDS.values()]
    return max(100*(2*sum(of_kind)/len(of_kind) - 1) for of_kind in credits)

def twins(language, bible, output):
    "Two models that have read as much, of which the first knows the tested verses"
    read = training_verses(bible)
    tested = [text for ref,text in readable_verses(bible).items() if ref.book in TEXTS['mark']]
    more = dict(reader=tested, twin=random.Random(0).sample(read, len(tested)))
    return {name: student([*read, *COPIES*verses], output/'students'/f'{language}-{name}', epochs=EPOCHS)
            for name,verses in more.items()}

def run(args):
    os.environ['PRONTO_DATA'] = str(args.output/'data')
    (args.output/'cards').mkdir(parents=True, exist_ok=True)
    for named in args.bibles:
        language, path, *others = named.split('=')
        bible, beside = read_bible(path), args.output/'data'/'datasets'/f'{language}-other'
        if others and not beside.is_dir():
            succeed('build', '-a', 'none', '-b', *others, '-o', beside, '--language', language)
        models = twins(language, bible, args.output)
        built = build(bible, TEXTS['mark'], f'{language}-mark', args.output, language)
        card = printed('card', built, '-o', args.output/'cards'/f'{language}.html',
                       *(word for name,folder in models.items() for word in ('-m', f'{name}={folder}')))
        (args.output/'cards'/f'{language}.json').write_text(json.dumps(card | dict(tested=of_ngrams(built))))

def both(share, of_ngrams): return f'{percent(share)} / {percent(of_ngrams)}'

COLUMNS = [Column('language', 'language'), Column('model', 'Mark was', NAMES.get),
           Column('number', 'number', one), Column('low high', '95 %', interval),
           Column('ngrams', 'n-grams', one), Column('tested', 'n-grams that have read it', one),
           Column('exact ngram_exact', 'completes', both), Column('known ngram_known', 'prefers it', both),
           Column('has_read_text', 'the card says that it was read', {True: 'yes', False: 'no'}.get)]

def tables(args):
    rows = []
    for file in sorted((args.runs/'cards').glob('*.json')):
        card = json.loads(file.read_text())
        about = dict(language=card['language'], tested=card['tested'])
        rows += [about | model | model['memory'] for model in card['models']]
    notes = ['Causal models of two layers that have read the train verses of a New Testament without Mark; '
             'the first of a pair has read Mark, too, ten times, the second as many of the other verses ten '
             'times more. Number: on a card of Mark, with a 95 % interval over chapters. Completes: verses '
             'whose second half follows word for word from the first. Prefers it: verses whose wording is '
             'less surprising than that of another translation. After the slash: n-grams that have read the '
             'rest of Mark.']
    table = table_of('twins', 'Is a model told that has read the tested verses?', COLUMNS, rows, notes)
    table.write(args.output)
    print(table.markdown())

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    add_command(commands, run, 'bibles', nargs='+')
    add_command(commands, tables, 'runs', type=Path)
    args = parser.parse_args()
    args.run(args)

if __name__ == '__main__':
    main()
