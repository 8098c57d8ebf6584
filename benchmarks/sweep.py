"""How long a sweep takes with one worker and with several, and what it survives: prints a Markdown table

    python benchmarks/sweep.py DATASET_DIR... -m MODEL... [--task NMC]... [--workers N]... [--limit 200] [--epochs 2]

Every run executes eval.ipynb in a process of its own. In the last row a worker is killed when a third of the runs are recorded, and the whole sweep when two thirds are; it is then
started again. All in a folder of its own, deleted in the end.
"""
import argparse, os, signal, subprocess, sys, tempfile, time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, '-W', 'ignore', '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())', 'sweep']
ENV = os.environ | {'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'}

def start(arguments, runs, workers):
    return subprocess.Popen([*COMMAND, *arguments, '--runs', runs, '--workers', str(workers)], env=ENV, stdout=subprocess.PIPE, text=True, start_new_session=True)

def finish(process):
    said = process.communicate()[0].strip()
    assert process.returncode == 0, said
    return said.splitlines()[-1]

def records(runs): return {p: p.read_bytes() for p in Path(runs).rglob('*-s*.json')}

def wait_for(n, runs, process):
    while len(records(runs)) < n and process.poll() is None: time.sleep(.2)
    assert process.poll() is None, 'the sweep ended too early'

def killed(arguments, runs, workers, n):
    process = start(arguments, runs, workers)
    wait_for(n/3, runs, process)
    spawned = [p for p in psutil.Process(process.pid).children() if 'spawn_main' in ' '.join(p.cmdline())]
    spawned[0].kill()
    wait_for(2*n/3, runs, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = records(runs)
    said = finish(start(arguments, runs, workers))
    assert before.items() <= records(runs).items(), 'a record was lost or made again'
    return said

def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    add = parser.add_argument
    add('dataset', nargs='+')
    add('-m', '--model', action='append', required=True)
    add('--task', action='append')
    add('--workers', type=int, action='append')
    for name,default in ('limit',200), ('epochs',2): add(f'--{name}', type=int, default=default)
    args = parser.parse_args()
    arguments = [*args.dataset, '--recipe', 'tiny', '--limit', str(args.limit), '--epochs', str(args.epochs)]
    for flag,values in ('-m', args.model), ('-t', args.task or []): arguments += [x for v in values for x in (flag, v)]
    print('| workers | runs | wall s | |\n|--:|--:|--:|---|', flush=True)
    counts = args.workers or [1, 2]
    for w in counts:
        with tempfile.TemporaryDirectory() as runs:
            begun = time.perf_counter()
            said = finish(start(arguments, runs, w))
            n = len(records(runs))
            print(f'| {w} | {n} | {time.perf_counter()-begun:.0f} | {said} |', flush=True)
    with tempfile.TemporaryDirectory() as runs:
        begun = time.perf_counter()
        said = killed(arguments, runs, counts[-1], n)
        print(f'| {counts[-1]} | {n} | {time.perf_counter()-begun:.0f} | a worker killed, then the sweep; started again: {said} |')

if __name__ == '__main__': main()
