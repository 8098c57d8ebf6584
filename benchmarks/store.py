"""Time tables, report, questions and listing over stores of many runs

    python benchmarks/store.py [RUNS]... [--of KIND] [--different 20] [--whole] [--only tables,again,...]
                               [--folder DIR] [--keep]

The English New Testament is built with the annotations of OntoNotes, and baselines answer its five tasks;
with `--whole` the whole English Bible with those of ACAI. A store has three models on as many languages as
RUNS (1,000, 4,000 and 13,000 by default) needs: each model gives the answers of a baseline, some of them
changed at random; each language lacks some verses, and all but the first (`--different`) are copies of
these. What is trained on what is that of a KIND: `plain` is training on the language itself, others have
what a question is about beside it. Prints CPU seconds and the peak memory of each command in a process of
its own, and the bytes of the store.
"""
import argparse, os, random, shutil, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', ROOT.parent/'shared'/'data'))
COMMAND = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
MODELS = dict( # The baseline that answers for a model: its name, and how many of its answers change
    cues=('google-bert/bert-base-multilingual-cased', .05), nearest=('FacebookAI/xlm-roberta-base', .1),
    ngram=('maker/ngram-model', .02))
HYPERPARAMETERS = dict(learning_rate=2e-5, epochs=10)
SOURCE = 'eng' # What other languages are trained on
QUESTIONS = { # Kind of store to what is asked
    'plain': 'errors resources subset tiers', 'translations': 'consistency',
    'probe': 'probe', 'transfer': 'transfer', 'few-shot': 'few-shot', 'mixes': 'mixes',
    'perplexity': 'perplexity'}

def build(folder, whole):
    "The dataset of a New Testament, or of a whole Bible"
    source, bible = ('acai', 'whole') if whole else ('ontonotes-skeleton', 'usfm')
    run = [*COMMAND, 'annotate', DATA/source, '-o', folder/'annotations.parquet']
    subprocess.run(run, check=True, capture_output=True)
    bible = DATA/'bibles'/bible/'eng-web'
    run = [*COMMAND, 'build', '-a', folder/'annotations.parquet', '-b', bible, '-o', folder/'eng']
    subprocess.run(run, check=True, capture_output=True)
    return folder/'eng'

def real_runs(dataset):
    "For each task its rows and what baselines answer"
    from pronto.datasets.loading import load_dataset_folder
    from pronto.datasets.tasks import ChoiceTask
    from pronto.datasets.baselines import predict_once
    loaded = load_dataset_folder(dataset)
    found = {}
    for stem,parts in loaded.tasks.items():
        task = loaded.known[stem]
        if isinstance(task, ChoiceTask): continue # Nobody is trained on them
        train, test = list(parts['train']), list(parts['test'])
        found[stem] = task, train, test, predict_once(task, train, test)
    return found

def languages(n):
    "Codes of languages that are known"
    from pronto.core.files import fact_table
    codes = [code for row in fact_table('languages') for code in row['codes'].split()[-1:]]
    codes = [code for code in dict.fromkeys(codes) if len(code) == 3 and code != SOURCE]
    return codes[:n] + [f'q{i:04}' for i in range(n - len(codes))]

def noisy(answers, labels, share, rng):
    "The same answers, some of them at random"
    answers = list(answers)
    for i in rng.sample(range(len(answers)), int(share*len(answers))): answers[i] = rng.choice(labels)
    return answers

def digest(name):
    from pronto.core.files import content_hash
    return content_hash(name.encode())[:16]

def part(code, **sampling):
    return dict(code=code, split='train', **sampling, dataset_hash=digest(code))

def trainings(kind, code):
    "Fields of the key and of the record of each run of one model on one task of a dataset"
    from pronto.lab.protocols.mixing import VERSIONS
    def on(protocol, condition, *parts, **others):
        return dict(protocol=protocol, trained_on=list(parts), **others), dict(condition=condition)
    source, own, few = part(SOURCE), part(code), part(code, size=50, draw=0)
    after = dict(first=dict(trained_on=[source], tuned_on=[source]))
    languages = [part(x) for x in ('deu', 'fra', 'hin')]
    found = [(dict(seed=seed), {}) for seed in range(3 if kind == 'seeds' else 1)]
    if kind == 'probe': found.append((dict(protocol='probe', recipe='probe'), {}))
    if kind == 'transfer': found.append(on('transfer', f'from {SOURCE}', source))
    if kind == 'few-shot':
        found = [on(kind, '50 examples, draw 0', few), on(kind, 'all examples', own),
                 on(kind, f'no examples, after {SOURCE}', source),
                 on(kind, f'50 examples, draw 0, after {SOURCE}', few, **after)]
    if kind == 'mixes':
        found = [on(kind, 'in', own)]
        found += [on(kind, f'all, {version}', own, *languages) for version in VERSIONS]
        found += [on(kind, f'all but in, {version}', *languages) for version in VERSIONS]
    return found

def datasets_of(kind, code): # Codes
    return [code, f'{code}-2'] if kind == 'translations' else [code]

def noisy_runs(code, dataset, kept, real, kind):
    "The key, the results and the rows of each run on a dataset of a language"
    from pronto.runs.store import RunKey
    rng = random.Random(dataset)
    verses = sorted({row.get('ref') or row['ref1'] for _,table in kept.values() for row in table})
    lacking = set(rng.sample(verses, rng.randrange(20)))
    hard = rng.random()/4
    about = dict(language=code, script=rng.choice(['Latn', 'Cyrl', 'Arab', 'Deva']))
    for stem,(results,table) in kept.items():
        task = real[stem][0]
        there = [row for row in table if not lacking & {row.get(k) for k in ('ref','ref1','ref2')}]
        for baseline,(model,share) in MODELS.items():
            for changes,more in trainings(kind, dataset):
                said = noisy([row[baseline] for row in there], task.labels, share + hard, rng)
                rows = [row | dict(predicted=answer) for row,answer in zip(there, said)]
                key = RunKey(dataset, model, digest(model), stem, digest(dataset),
                             **dict(hyperparameters=HYPERPARAMETERS) | changes)
                accuracy = sum(row['label'] == row['predicted'] for row in rows)/len(rows)
                yield key, results | about | dict(accuracy=round(accuracy, 4)) | more, rows

def readings(code, kept):
    "What models make of the verses themselves"
    from pronto.runs.schema import EMPTY
    from pronto.runs.store import RunKey
    rng = random.Random(code)
    refs = sorted({row['ref'] for _,table in kept.values() for row in table if 'ref' in row})
    for model,_ in MODELS.values():
        key = RunKey(code, model, digest(model), 'perplexity', digest(code), recipe='perplexity',
                     protocol='perplexity')
        bits = 100 + 100*rng.random()
        results = EMPTY | dict(
            accuracy=None, language=code, predicts='causal', bits_per_verse=bits, bits_per_character=bits/80,
            tokens_per_verse=40., tokens_per_character=.5, pieces=.1, script='Latn', seconds=60.,
            device='cpu', versions={}, counts=dict(test=len(refs)), splits='parallel', rules='paper',
            intervals=dict(bits_per_character=[bits/80 - .1, bits/80 + .1]))
        yield key, results, [dict(ref=ref, bits=f'{rng.random()*bits:.4f}') for ref in refs]

def copy_languages(store, codes, first, kind):
    "The runs of the first languages under other codes"
    import json
    from pronto.runs.predictions import OWN_FILE
    from pronto.runs.schema import as_run
    from pronto.runs.store import key_of, read_runs
    runs = {run.path: run for run in read_runs(store)}
    by_language = {}
    for path,run in runs.items(): by_language.setdefault(run.language, []).append((path, path.read_text()))
    for i,code in enumerate(codes):
        of = first[i % len(first)]
        names = list(zip(datasets_of(kind, of), datasets_of(kind, code)))
        for old,new in names:
            (store/new).mkdir()
            for rows in (store/old).glob('*.parquet'): shutil.copy(rows, store/new/rows.name)
        for path,text in by_language[of]:
            for old,new in names:
                text = text.replace(f'"{old}"', f'"{new}"').replace(digest(old), digest(new))
            key = key_of(as_run(json.loads(text)))
            if key.training: text = json.dumps(json.loads(text) | dict(training=key.training))
            target = key.record(store)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            shutil.copy(path.with_suffix(OWN_FILE), target.with_suffix(OWN_FILE))

def make_store(store, real, codes, kind, different):
    "Write the records of all languages, tasks and models; after the first languages copies of these"
    from pronto.runs.store import score_run, write_record
    kept = {}
    for stem,(task,train,test,baselines) in real.items():
        results, table = score_run(task, dict(train=train, test=test), baselines['ngram'], baselines)
        about = dict(dev=[], truncated={}, collapsed=False, seconds=60., device='cpu', versions={},
                     counts=dict(train=len(train), test=len(test)), splits='parallel', rules='paper',
                     source='OntoNotes')
        kept[stem] = results | about, table.to_dict('records')
    first = codes[:different]
    if kind == 'transfer':
        for run in noisy_runs(SOURCE, SOURCE, kept, real, 'plain'): write_record(run[0], store, *run[1:])
    for code in first:
        for dataset in datasets_of(kind, code):
            for run in noisy_runs(code, dataset, kept, real, kind): write_record(run[0], store, *run[1:])
        if kind == 'perplexity':
            for run in readings(code, kept): write_record(run[0], store, *run[1:])
    copy_languages(store, codes[different:], first, kind)

def runs_of_a_language(kind, n_tasks):
    n = len(datasets_of(kind, ''))*len(trainings(kind, ''))*n_tasks + (kind == 'perplexity')
    return n*len(MODELS)

def measure(arguments, folder):
    "CPU seconds, wall seconds and peak MB of a command in a process of its own"
    env = os.environ | dict(PYTHONPATH=str(ROOT), PRONTO_DATA=str(folder/'data'))
    began = time.perf_counter()
    with open(folder/'said.txt', 'w') as said:
        process = subprocess.Popen([*COMMAND, *map(str, arguments)], env=env, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
    if status: print((folder/'said.txt').read_text()[-500:])
    return used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss/1024

def bytes_in(folder):
    files = [p for p in folder.rglob('*') if p.is_file()]
    return sum(p.stat().st_size for p in files), len(files)

def commands(store, folder, kind):
    tables = ['tables', '--runs', store, '-o', folder/'tables']
    found = dict(tables=tables, again=tables, # The second time from the one file of the store
                  listing=['runs', '--runs', store],
                 report=['report', '--runs', store, '-o', folder/'report.html'])
    return found | {name: [*tables, '--question', name] for name in QUESTIONS[kind].split()}

def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument('runs', nargs='*', type=int, default=[1000, 4000, 13000])
    parser.add_argument('--of', choices=QUESTIONS, default='plain', metavar='KIND', help=', '.join(QUESTIONS))
    parser.add_argument('--different', type=int, default=20, metavar='N',
                        help='languages with answers of their own; others are copies of them')
    parser.add_argument('--whole', action='store_true', help='whole Bibles instead of New Testaments')
    parser.add_argument('--only', default='', help='the questions of a KIND if not given, all of `plain`')
    parser.add_argument('--folder')
    parser.add_argument('--keep', action='store_true', help='leave stores, and use those that are there')
    args = parser.parse_args()
    folder = Path(args.folder or tempfile.mkdtemp())/('whole' if args.whole else 'nt')
    folder.mkdir(parents=True, exist_ok=True)
    os.environ['PRONTO_DATA'] = str(folder/'data')
    sys.path.insert(0, str(ROOT))
    dataset = folder/'eng' if (folder/'eng').is_dir() else build(folder, args.whole)
    real = real_runs(dataset)
    only = args.only.split(',') if args.only else () if args.of == 'plain' else QUESTIONS[args.of].split()
    of_one = runs_of_a_language(args.of, len(real))
    print('| runs | command | CPU s | wall s | peak MB |\n|--:|---|--:|--:|--:|', flush=True)
    for n in args.runs:
        store = folder/f'runs-{args.of}-{n}-{args.different}'
        if not store.is_dir():
            began = time.process_time()
            make_store(store, real, languages(round(n/of_one)), args.of, args.different)
            print(f'| {n:,} | written | {time.process_time() - began:.1f} | | |', flush=True)
        size, files = bytes_in(store)
        print(f'| {n:,} | {size/1e6:.1f} MB in {files:,} files | | | |', flush=True)
        for name,command in commands(store, folder, args.of).items():
            if only and name not in only: continue
            cpu, wall, peak = measure(command, folder)
            print(f'| {n:,} | {name} | {cpu:.1f} | {wall:.1f} | {peak:.0f} |', flush=True)
        if not args.keep: shutil.rmtree(store)

if __name__ == '__main__': main()
