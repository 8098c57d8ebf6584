"""Measure the time of a sweep, check that it survives kills, and print a Markdown table

    python benchmarks/sweep.py DATASET_DIR... -m MODEL... [--task NMC]... [--workers N]...
                               [--limit 200] [--epochs 2]

Each run executes eval.ipynb in a process of its own. For the last row, the script kills a worker when a
third of the runs are recorded and the whole sweep when two thirds are, and then starts the sweep again.
All files go to a temporary folder.
"""
import argparse, os, signal, subprocess, sys, tempfile, time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
CALL_MAIN = 'import sys; from pronto.cli.command import main; sys.exit(main())'
COMMAND = [sys.executable, '-W', 'ignore', '-c', CALL_MAIN, 'sweep']
ENV = os.environ | {'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'}

def start(arguments, runs, workers):
    "Start a sweep in a process group of its own"
    command = [*COMMAND, *arguments, '--runs', runs, '--workers', str(workers)]
    return subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, text=True, start_new_session=True)

def finish(process):
    "Wait for a sweep; return the last line that it prints"
    output = process.communicate()[0].strip()
    assert process.returncode == 0, output
    return output.splitlines()[-1]

def records(runs):
    "The path and contents of each record in a run store"
    return {p: p.read_bytes() for p in Path(runs).rglob('*-s*.json')}

def wait_for(n, runs, process):
    "Wait until a sweep has recorded `n` runs"
    while len(records(runs)) < n and process.poll() is None: time.sleep(.2)
    assert process.poll() is None, 'the sweep ended too early'

def kill_worker(process):
    "Kill one worker of a sweep"
    children = psutil.Process(process.pid).children()
    workers = [p for p in children if 'spawn_main' in ' '.join(p.cmdline())]
    workers[0].kill()

def run_with_kills(arguments, runs, workers, n):
    "Sweep `n` runs in spite of two kills; return the last line that the sweep prints"
    process = start(arguments, runs, workers)
    wait_for(n/3, runs, process)
    kill_worker(process)
    wait_for(2*n/3, runs, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = records(runs)
    line = finish(start(arguments, runs, workers))
    assert before.items() <= records(runs).items(), 'a record was lost or changed'
    return line

def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('dataset', nargs='+')
    parser.add_argument('-m', '--model', action='append', required=True)
    parser.add_argument('--task', action='append', default=[])
    parser.add_argument('--workers', type=int, action='append')
    parser.add_argument('--limit', type=int, default=200)
    parser.add_argument('--epochs', type=int, default=2)
    return parser.parse_args()

def sweep_arguments(args):
    "The arguments of `pronto sweep`"
    arguments = [*args.dataset, '--recipe', 'tiny', '--limit', str(args.limit), '--epochs', str(args.epochs)]
    for model in args.model: arguments += ['-m', model]
    for task in args.task: arguments += ['-t', task]
    return arguments

def main():
    args = read_arguments()
    arguments, counts = sweep_arguments(args), args.workers or [1, 2]
    print('| workers | runs | wall s | |\n|--:|--:|--:|---|', flush=True)
    for workers in counts:
        with tempfile.TemporaryDirectory() as runs:
            begun = time.perf_counter()
            line = finish(start(arguments, runs, workers))
            n = len(records(runs))
            print(f'| {workers} | {n} | {time.perf_counter()-begun:.0f} | {line} |', flush=True)
    with tempfile.TemporaryDirectory() as runs:
        begun = time.perf_counter()
        line = run_with_kills(arguments, runs, workers, n)
        print(f'| {workers} | {n} | {time.perf_counter()-begun:.0f} | '
              f'a worker killed, then the sweep; started again: {line} |')

if __name__ == '__main__': main()
