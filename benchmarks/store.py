"""Time tables, report, questions and listing over stores of many runs

    python benchmarks/store.py [RUNS]... [--seeds 3] [--only tables,indexed,...] [--folder DIR] [--keep]

The English New Testament is built with the annotations of OntoNotes, and baselines answer its five tasks. A
store has three models on as many languages as RUNS (1,000, 4,000 and 13,000 by default) needs: each model
gives the answers of a baseline, some of them changed at random; each language lacks some verses, and all but
the first twenty are copies of these. Prints CPU seconds and the peak memory of each command in a process of
its own, and the bytes of the store.
"""
import argparse, os, random, shutil, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', ROOT.parent/'shared'/'data'))
COMMAND = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
MODELS = dict(cues=.05, nearest=.1, ngram=.02) # What answers for a model, and how many of its answers change
HYPERPARAMETERS = dict(learning_rate=2e-5, epochs=10)
DIFFERENT = 20 # Languages with answers of their own; others are copies of them

def build(folder):
    "The dataset of a New Testament"
    run = [*COMMAND, 'annotate', DATA/'ontonotes-skeleton', '-o', folder/'annotations.parquet']
    subprocess.run(run, check=True, capture_output=True)
    bible = DATA/'bibles'/'usfm'/'eng-web'
    run = [*COMMAND, 'build', '-a', folder/'annotations.parquet', '-b', bible, '-o', folder/'eng']
    subprocess.run(run, check=True, capture_output=True)
    return folder/'eng'

def real_runs(dataset):
    "For each task its record without scores, its rows and what baselines answer"
    from pronto.datasets.loading import load_dataset_folder
    from pronto.runs.baselines import predict_once
    loaded = load_dataset_folder(dataset)
    found = {}
    for stem in 'nonpronominal_mention proper_noun_subject sentence_mood same_sense same_arg_count'.split():
        task, parts = loaded.known[stem], loaded.tasks[stem]
        train, test = list(parts['train']), list(parts['test'])
        found[stem] = task, train, test, predict_once(task, train, test)
    return found

def languages(n):
    "Codes of languages that are known"
    from pronto.core.files import fact_table
    codes = [code for row in fact_table('languages') for code in row['codes'].split()[-1:]]
    codes = [code for code in dict.fromkeys(codes) if len(code) == 3]
    return codes[:n] + [f'q{i:04}' for i in range(n - len(codes))]

def noisy(answers, labels, share, rng):
    "The same answers, some of them at random"
    answers = list(answers)
    for i in rng.sample(range(len(answers)), int(share*len(answers))): answers[i] = rng.choice(labels)
    return answers

def noisy_runs(code, kept, real, seeds):
    "The key, the results and the rows of each run on a language"
    from pronto.core.files import content_hash
    from pronto.runs.store import RunKey
    rng = random.Random(code)
    verses = sorted({row.get('ref') or row['ref1'] for _,table in kept.values() for row in table})
    lacking = set(rng.sample(verses, rng.randrange(20)))
    hard = rng.random()/4
    for stem,(results,table) in kept.items():
        task = real[stem][0]
        there = [row for row in table if not lacking & {row.get(k) for k in ('ref','ref1','ref2')}]
        for model,share in MODELS.items():
            for seed in range(seeds):
                said = noisy([row[model] for row in there], task.labels, share + hard, rng)
                rows = [row | dict(predicted=answer) for row,answer in zip(there, said)]
                digests = [content_hash(name.encode())[:16] for name in (model, code)]
                key = RunKey(code, f'maker/{model}-model', digests[0], stem, digests[1], seed=seed,
                             hyperparameters=HYPERPARAMETERS)
                accuracy = sum(row['label'] == row['predicted'] for row in rows)/len(rows)
                yield key, results | dict(accuracy=round(accuracy, 4)), rows

def copy_languages(store, codes, first):
    "The runs of the first languages under other codes"
    from dataclasses import replace
    from pronto.core.files import content_hash
    from pronto.runs.predictions import OWN_FILE
    from pronto.runs.store import key_of, read_runs
    runs = {run.path: run for run in read_runs(store)}
    for i,code in enumerate(codes):
        of = first[i % len(first)]
        (store/code).mkdir()
        for rows in (store/of).glob('*.parquet'): shutil.copy(rows, store/code/rows.name)
        for path,run in runs.items():
            if run.dataset != of: continue
            key = replace(key_of(run), bible=code, dataset_hash=content_hash(code.encode())[:16])
            target = key.record(store)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text().replace(f'"{run.dataset}"', f'"{code}"')
            target.write_text(text.replace(run.dataset_hash, key.dataset_hash))
            shutil.copy(path.with_suffix(OWN_FILE), target.with_suffix(OWN_FILE))

def make_store(store, real, codes, seeds):
    "Write the records of all languages, tasks, models and seeds; after the first languages copies of these"
    from pronto.runs.store import score_run, write_record
    kept = {}
    for stem,(task,train,test,baselines) in real.items():
        results, table = score_run(task, dict(train=train, test=test), baselines['ngram'], baselines)
        about = dict(dev=[], truncated={}, collapsed=False, seconds=60., device='cpu', versions={},
                     counts=dict(train=len(train), test=len(test)), splits='parallel', rules='paper',
                     source='OntoNotes')
        kept[stem] = results | about, table
    first = codes[:DIFFERENT]
    for code in first:
        for key,results,rows in noisy_runs(code, kept, real, seeds): write_record(key, store, results, rows)
    copy_languages(store, codes[DIFFERENT:], first)

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

def commands(store, folder):
    tables = ['tables', '--runs', store, '-o', folder/'tables']
    indexed = [*tables, '--recipe', 'paper'] # The same runs, but tables that are not kept yet
    found = dict(tables=tables, indexed=indexed, again=tables, listing=['runs', '--runs', store],
                 report=['report', '--runs', store, '-o', folder/'report.html'])
    found |= {name: [*tables, '--question', name]
              for name in 'items power errors resources subset consistency tiers typology probe'.split()}
    return found

def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument('runs', nargs='*', type=int, default=[1000, 4000, 13000])
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--only', default='')
    parser.add_argument('--folder')
    parser.add_argument('--keep', action='store_true', help='leave stores, and use those that are there')
    args = parser.parse_args()
    folder = Path(args.folder or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    os.environ['PRONTO_DATA'] = str(folder/'data')
    sys.path.insert(0, str(ROOT))
    dataset = folder/'eng' if (folder/'eng').is_dir() else build(folder)
    real = None
    print('| runs | command | CPU s | wall s | peak MB |\n|--:|---|--:|--:|--:|', flush=True)
    for n in args.runs:
        store = folder/f'runs-{n}-{args.seeds}'
        if not store.is_dir():
            real = real or real_runs(dataset)
            began = time.process_time()
            make_store(store, real, languages(round(n/15/args.seeds)), args.seeds)
            print(f'| {n:,} | written | {time.process_time() - began:.1f} | | |', flush=True)
        size, files = bytes_in(store)
        print(f'| {n:,} | {size/1e6:.1f} MB in {files:,} files | | | |', flush=True)
        for name,command in commands(store, folder).items():
            if args.only and name not in args.only.split(','): continue
            cpu, wall, peak = measure(command, folder)
            print(f'| {n:,} | {name} | {cpu:.1f} | {wall:.1f} | {peak:.0f} |', flush=True)
        if not args.keep: shutil.rmtree(store)

if __name__ == '__main__': main()
