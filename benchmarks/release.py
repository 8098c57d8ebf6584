"""How long a whole release takes, and what it survives: prints Markdown tables

    python benchmarks/release.py [SIZE]... [--workers N]... [--folder DIR]

The translations are real ones in all formats and those of the embedded generator, copied under new names until there are enough.
Everything is made in a folder of its own, 12 GB for the whole size, and deleted in the end.
"""
import argparse, hashlib, itertools, os, re, shutil, signal, subprocess, sys, tempfile, threading, time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', ROOT.parent/'shared'/'data'))
COMMAND = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
ENV = os.environ | {'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}

def make_bibles(n, sources, folder):
    "Copies of the sources in turn; files are linked, which takes no room"
    link = lambda a, b: os.link(a, b) if os.stat(a).st_dev == os.stat(folder).st_dev else shutil.copy(a, b)
    for i,source in zip(range(n), itertools.cycle(sources)):
        target = folder/f'{i:04}_{source.name}'
        shutil.copytree(source, target, copy_function=link) if source.is_dir() else link(source, target)
    return folder

def find_sources(folder):
    "Real translations that are whole enough, and four made up"
    from pronto.jobs.find_bibles import find_translations
    from pronto.demo.corpus import make_corpus, write_corpus
    fragments = 'en_ult', 'tam_irv'
    made = write_corpus(make_corpus(n_verses=7959), folder/'made')/'bibles'
    return [p for p in find_translations(DATA/'bibles') if p.name not in fragments] + find_translations(made)

def tree_hash(folder):
    h = hashlib.blake2b()
    for p in sorted(p for p in folder.rglob('*') if p.is_file()):
        h.update(p.relative_to(folder).as_posix().encode() + b'\0' + hashlib.blake2b(p.read_bytes()).digest())
    return h.hexdigest()


class Watch:
    "Processor seconds and most resident memory of a process and all it starts, each page counted in every process that has it"
    def __init__(self, pid):
        self.cpu, self.peak, self.stop = {}, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, args=(psutil.Process(pid),))
        self.thread.start()
    def watch(self, process):
        while not self.stop.wait(.5):
            now = 0
            try: family = [process, *process.children(recursive=True)]
            except psutil.Error: continue
            for p in family:
                try:
                    now += p.memory_info().rss
                    self.cpu[p.pid] = sum(p.cpu_times()[:2])
                except psutil.Error: pass
            self.peak = max(self.peak, now)
    def __enter__(self): return self
    def __exit__(self, *_): self.stop.set(); self.thread.join()

def start(annotations, bibles, out, workers):
    return subprocess.Popen([*COMMAND, 'release', '-a', annotations, bibles, '-o', out, '--workers', str(workers)], env=ENV, stdout=subprocess.PIPE, text=True)

def n_finished(out): return len(list(out.glob('*/release.json')))

def run(annotations, bibles, out, workers):
    "Wall and CPU seconds, peak MB, what was said"
    begun = time.perf_counter()
    process = start(annotations, bibles, out, workers)
    with Watch(process.pid) as watch: said = process.communicate()[0]
    assert process.returncode == 0, said
    return time.perf_counter()-begun, sum(watch.cpu.values()), watch.peak/1e6, said.strip()

def killed(annotations, bibles, out, workers, n):
    "The process is killed after a third, a worker of the next one after two thirds: wall seconds of all together"
    begun = time.perf_counter()
    process = start(annotations, bibles, out, workers)
    while n_finished(out) < n/3: time.sleep(.2)
    process.kill()
    process.communicate()
    process = start(annotations, bibles, out, workers)
    while n_finished(out) < 2*n/3: time.sleep(.2)
    workers = [p for p in psutil.Process(process.pid).children() if 'spawn_main' in ' '.join(p.cmdline())]
    os.kill(workers[0].pid, signal.SIGKILL)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    return time.perf_counter()-begun, said.strip()


def show_speed(annotations, sources, sizes, workers, folder):
    "Returns the hash of the largest release"
    print('| translations | workers | wall s | CPU s | CPU s each | peak MB | GB written |\n|--:|--:|--:|--:|--:|--:|--:|', flush=True)
    for n in sizes:
        for w in workers:
            bibles = make_bibles(n, sources, Path(tempfile.mkdtemp(dir=folder)))
            out = folder/'out'
            wall, cpu, peak, said = run(annotations, bibles, out, w)
            size = sum(p.stat().st_size for p in out.rglob('*') if p.is_file())
            print(f'| {n:,} | {w} | {wall:.0f} | {cpu:.0f} | {cpu/n:.2f} | {peak:.0f} | {size/1e9:.2f} |', flush=True)
            found = tree_hash(out)
            begun = time.perf_counter()
            again = subprocess.run([*COMMAND, 'release', '-a', annotations, bibles, '-o', out], env=ENV, check=True, capture_output=True, text=True).stdout
            assert f'{n:,} finished before' in again and found == tree_hash(out), again
            skipped = time.perf_counter()-begun
            shutil.rmtree(out)
            shutil.rmtree(bibles)
    print(f'\nStarted again, {n:,} finished translations are skipped in {skipped:.0f} s.\n', flush=True)
    return found

def show_kills(annotations, sources, n, workers, folder, expected):
    bibles = make_bibles(n, sources, Path(tempfile.mkdtemp(dir=folder)))
    wall, said = killed(annotations, bibles, folder/'out', workers, n)
    same = 'the same bytes' if tree_hash(folder/'out') == expected else '**other bytes**'
    print(f'{n:,} translations, {workers} workers, the process killed after a third and a worker after two thirds: {wall:.0f} s, {same} '
          f'({re.sub(".*: ", "", said)}).')

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('sizes', nargs='*', type=int, default=[100, 1051])
    parser.add_argument('--workers', type=int, action='append')
    parser.add_argument('--folder', help='where to work (default: the folder for temporary files)')
    args = parser.parse_args()
    if not (DATA/'ontonotes-skeleton').is_dir(): sys.exit(f'{DATA} does not exist; set PRONTO_TESTDATA to the folder that holds ontonotes-skeleton and bibles')
    sys.path.insert(0, str(ROOT))
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import write_annotations
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        folder = Path(folder)
        annotations = folder/'annotations.parquet'
        write_annotations(annotate(DATA/'ontonotes-skeleton'), annotations)
        sources, workers = find_sources(folder), args.workers or [1, 2]
        expected = show_speed(annotations, sources, args.sizes, workers, folder)
        show_kills(annotations, sources, args.sizes[-1], workers[-1], folder, expected)

if __name__ == '__main__': main()
