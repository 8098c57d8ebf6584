"""Time the probe of many translations part by part, and extrapolate to 859

    python benchmarks/probe.py RELEASE_OR_DATASET... -m MODEL [--renamed 100] [--workers 2] [--minutes 40]
                               [--total 859]

Every real translation is probed on all its tasks in a fresh data folder, as `pronto probe` does it, records
and baselines included. Then copies of them under new names are probed: their texts are the same, so encodings
and baselines come from the cache, and only heads, reading and records are measured. The real translations get
two thirds of the time and the copies one third; what does not fit in is left out, and the table says how many
were measured. Each worker is a process with one thread that probes its share of the translations and then
copies of these. Times are processor seconds per translation, without the first one of each worker, which also
pays for importing and for loading the model. The extrapolation adds up the parts.
"""
import argparse, os, shutil, tempfile, time
from collections import Counter
from pathlib import Path

PARTS = 'encoding', 'heads', 'baselines', 'reading, scoring, records'


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('dataset', nargs='+')
    parser.add_argument('-m', '--model', required=True)
    parser.add_argument('--renamed', type=int, default=100)
    parser.add_argument('--workers', type=int, default=1)
    parser.add_argument('--minutes', type=float, default=40)
    parser.add_argument('--total', type=int, default=859)
    parser.add_argument('--limit', type=int)
    return parser.parse_args()

class Stopwatch:
    "Adds up the processor seconds of functions, without those of measured functions inside them"
    def __init__(self): self.seconds, self.inside = Counter(), [0.]

    def watch(self, module, name, part):
        function = getattr(module, name)
        def timed(*args, **kwargs):
            began = time.process_time()
            self.inside.append(0.)
            try: return function(*args, **kwargs)
            finally:
                spent = time.process_time() - began
                self.seconds[part] += spent - self.inside.pop()
                self.inside[-1] += spent
        setattr(module, name, timed)

def renamed(folder, place, i):
    "A copy of a dataset under another code"
    import json
    to = Path(place)/f'q{i:03}'
    shutil.copytree(folder, to)
    manifest = to/'manifest.json'
    if manifest.is_file():
        found = json.loads(manifest.read_text(encoding='utf-8')) | dict(code=to.name)
        manifest.write_text(json.dumps(found), encoding='utf-8')
    return to

def measure(folders, probe, until):
    "The seconds of each part for each translation, as many as the time allows"
    found = []
    for folder in folders:
        if time.time() > until: break
        found.append(probe(folder))
    return found

def prober(model, data, limit):
    "A function that probes a translation and gives the seconds of each part"
    from pronto.modeling import probing
    from pronto.datasets import baselines
    from pronto.runs import runner
    from pronto.runs.planning import plan
    watch = Stopwatch()
    watch.watch(probing, '_encode', 'encoding')
    watch.watch(probing, 'probe', 'heads')
    watch.watch(baselines, 'predict_baselines', 'baselines')
    def probe(folder):
        watch.seconds.clear()
        began = time.process_time()
        runner.run_all(plan(folder, [model], limit=limit, protocol='probe'), Path(data)/'runs')
        rest = time.process_time() - began - watch.seconds.total()
        runner._loaded.cache_clear() # A release has too many translations to keep
        return watch.seconds | Counter({PARTS[-1]: rest})
    return probe

def measure_share(real, numbers, model, data, limit, real_until, until):
    "One worker's share: the seconds of its real translations, and those of copies of them"
    import torch
    torch.set_num_threads(1)
    probe = prober(model, data, limit)
    found = measure(real, probe, real_until)
    copies = (renamed(real[i%len(found)], data, i) for i in numbers if found)
    return found, measure(copies, probe, until)

def shares(folders, args, model, data):
    "The arguments of `measure_share` for each worker"
    began, n = time.time(), min(args.workers, len(folders))
    for i in range(n):
        until = began + args.minutes*40, began + args.minutes*60
        yield folders[i::n], range(i, args.renamed, n), model, data, args.limit, *until

def report(real, copies, total):
    "Print the table: seconds of each part, and the extrapolation"
    mean = lambda found, part: sum(x[part] for x in found)/max(1, len(found))
    print(f'| part | CPU s, {len(real)} real translations | {len(copies)} renamed copies '
          f'| hours for {total}, extrapolated |\n|---|--:|--:|--:|')
    for part in PARTS:
        value = mean(real, part)
        print(f'| {part} | {value:.1f} | {mean(copies, part):.1f} | {value*total/3600:.1f} |')
    each = [sum(mean(found, part) for part in PARTS) for found in (real, copies)]
    print(f'| all | {each[0]:.1f} | {each[1]:.1f} | {each[0]*total/3600:.1f} |')

def main():
    args = read_arguments()
    from pronto.datasets.loading import dataset_folders
    from pronto.runs.runner import in_processes
    model = os.path.abspath(args.model) if os.path.isdir(args.model) else args.model
    folders = [os.path.abspath(f) for d in args.dataset for f in dataset_folders(d)]
    with tempfile.TemporaryDirectory() as data:
        os.environ['PRONTO_DATA'] = data
        calls, began = list(shares(folders, args, model, data)), time.monotonic()
        if len(calls) > 1: found = list(in_processes(measure_share, calls, len(calls)))
        else: found = [measure_share(*call) for call in calls]
        minutes = (time.monotonic() - began)/60
    real = [x for mine,_ in found for x in (mine[1:] or mine)]
    print(f'{Path(model).name}, {len(calls)} workers with one thread each, {minutes:.1f} minutes\n')
    report(real, [x for _,copies in found for x in copies], args.total)

if __name__ == '__main__': main()
