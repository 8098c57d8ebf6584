"""Measure the time and memory of a whole release, check that it survives kills, and print Markdown tables

    python benchmarks/release.py [SIZE]... [--workers N]... [--folder DIR] [--acai]

The translations are real ones in all formats and those of the embedded corpus, copied under new names until
there are enough. All files go to a temporary folder; the default sizes need 12 GB. With --acai whole
Bibles are built from ACAI, and the process is not killed; a hundred need 3 GB.
"""
import argparse, hashlib, itertools, os, re, shutil, signal, subprocess, sys, tempfile, threading, time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', ROOT.parent/'shared'/'data'))
SKELETON = DATA/'ontonotes-skeleton'
COMMAND = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
ENV = os.environ | {'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
FRAGMENTS = ('en_ult', 'tam_irv') # A few epistles each, not enough for a dataset
NT_VERSES = 7959 # Size of the embedded corpus, that of the New Testament

def link(source, target):
    "Link a file where possible, since links take no room; otherwise copy it"
    same_device = os.stat(source).st_dev == os.stat(Path(target).parent).st_dev
    if same_device: os.link(source, target)
    else: shutil.copy(source, target)

def make_bibles(n, sources, folder):
    "Fill a folder with `n` translations, taking the sources in turn"
    for i,source in zip(range(n), itertools.cycle(sources)):
        target = folder/f'{i:04}_{source.name}'
        if source.is_dir(): shutil.copytree(source, target, copy_function=link)
        else: link(source, target)
    return folder

def find_sources(folder):
    "The real translations that are large enough, and those of the embedded corpus"
    from pronto.lab.jobs.release import find_bibles
    from pronto.demo.corpus import make_corpus, write_corpus
    real = [p for p in find_bibles(DATA/'bibles') if p.name not in FRAGMENTS]
    corpus = write_corpus(make_corpus(n_verses=NT_VERSES), folder/'made')
    return real + find_bibles(corpus/'bibles')

WHOLE = 'whole/eng-web', 'whole/fraLSG', 'usfx/chi-cuv.usfx.xml' # The real translations of the whole Bible

def make_annotations(folder, source):
    "Annotate the source and write the annotation file"
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import write_annotations
    path = folder/'annotations.parquet'
    write_annotations(annotate(source), path)
    return path

def files_below(folder):
    return sorted(p for p in folder.rglob('*') if p.is_file())

def tree_hash(folder):
    "A hash of the names and contents of all files below a folder"
    h = hashlib.blake2b()
    for p in files_below(folder):
        h.update(p.relative_to(folder).as_posix().encode() + b'\0')
        h.update(hashlib.blake2b(p.read_bytes()).digest())
    return h.hexdigest()


class Watch:
    """Measures the CPU seconds and the peak resident memory of a process and its descendants

    A page that several processes share counts once for each of them.
    """
    def __init__(self, pid):
        self.cpu, self.peak, self.stop = {}, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, args=(psutil.Process(pid),))
        self.thread.start()

    def watch(self, process):
        while not self.stop.wait(.5):
            try: family = [process, *process.children(recursive=True)]
            except psutil.Error: continue
            self.peak = max(self.peak, sum(map(self.measure, family)))

    def measure(self, process):
        "Note the CPU seconds of a process; return its resident bytes, 0 if it has ended"
        try:
            resident = process.memory_info().rss
            self.cpu[process.pid] = sum(process.cpu_times()[:2])
            return resident
        except psutil.Error: return 0

    def __enter__(self): return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

def start(annotations, bibles, out, workers):
    "Start a release in a process of its own"
    command = [*COMMAND, 'release', '-a', annotations, bibles, '-o', out, '--workers', str(workers)]
    return subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, text=True)

def finish(process):
    "Wait for a release; return what it prints"
    output = process.communicate()[0].strip()
    assert process.returncode == 0, output
    return output

def wait_for(n, out, process):
    "Wait until a release has finished `n` translations"
    finished = lambda: len(list(out.glob('*/release.json')))
    while finished() < n and process.poll() is None: time.sleep(.2)
    assert process.poll() is None, 'the release ended too early'

def kill_worker(process):
    "Kill one worker of a release"
    children = psutil.Process(process.pid).children()
    servers = [p for p in children if 'forkserver' in ' '.join(p.cmdline())]
    workers = [p for server in servers for p in server.children()]
    os.kill(workers[0].pid, signal.SIGKILL)

def run(annotations, bibles, out, workers):
    "Make a release: wall seconds, CPU seconds, peak MB"
    begun = time.perf_counter()
    process = start(annotations, bibles, out, workers)
    with Watch(process.pid) as watch: finish(process)
    return time.perf_counter()-begun, sum(watch.cpu.values()), watch.peak/1e6

def run_again(annotations, bibles, out, n, expected):
    "Start a finished release again and check that its hash stays `expected`; return the wall seconds"
    begun = time.perf_counter()
    command = [*COMMAND, 'release', '-a', annotations, bibles, '-o', out]
    output = subprocess.run(command, env=ENV, check=True, capture_output=True, text=True).stdout
    seconds = time.perf_counter()-begun
    assert f'{n:,} finished before' in output, output
    assert tree_hash(out) == expected, 'a finished release has changed'
    return seconds

def run_with_kills(annotations, bibles, out, workers, n):
    """Make a release in spite of two kills: wall seconds of all starts, and the output of the last

    The process is killed after a third, a worker of the next process after two thirds.
    """
    begun = time.perf_counter()
    process = start(annotations, bibles, out, workers)
    wait_for(n/3, out, process)
    process.kill()
    process.communicate()
    process = start(annotations, bibles, out, workers)
    wait_for(2*n/3, out, process)
    kill_worker(process)
    output = finish(process)
    return time.perf_counter()-begun, output


def show_speed(annotations, sources, sizes, workers, folder):
    "Measure releases of all sizes; return the hash of the largest"
    print('| translations | workers | wall s | CPU s | CPU s each | peak MB | GB written |')
    print('|--:|--:|--:|--:|--:|--:|--:|', flush=True)
    out = folder/'out'
    for n,w in itertools.product(sizes, workers):
        bibles = make_bibles(n, sources, Path(tempfile.mkdtemp(dir=folder)))
        wall, cpu, peak = run(annotations, bibles, out, w)
        gb = sum(p.stat().st_size for p in files_below(out))/1e9
        print(f'| {n:,} | {w} | {wall:.0f} | {cpu:.0f} | {cpu/n:.2f} | {peak:.0f} | {gb:.2f} |', flush=True)
        found = tree_hash(out)
        skipped = run_again(annotations, bibles, out, n, found)
        shutil.rmtree(out)
        shutil.rmtree(bibles)
    print(f'\nStarted again, {n:,} finished translations are skipped in {skipped:.0f} s.\n', flush=True)
    return found

def show_kills(annotations, sources, n, workers, folder, expected):
    "Make a release in spite of two kills and compare it with the `expected` hash"
    bibles = make_bibles(n, sources, Path(tempfile.mkdtemp(dir=folder)))
    out = folder/'out'
    wall, output = run_with_kills(annotations, bibles, out, workers, n)
    same = 'the same bytes' if tree_hash(out) == expected else '**other bytes**'
    counts = re.sub('.*: ', '', output)
    print(f'{n:,} translations, {workers} workers, the process killed after a third '
          f'and a worker after two thirds: {wall:.0f} s, {same} ({counts}).')

def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('sizes', nargs='*', type=int, default=[100, 1051])
    parser.add_argument('--workers', type=int, action='append')
    parser.add_argument('--folder', help='where to work (default: the folder for temporary files)')
    parser.add_argument('--acai', action='store_true', help='whole Bibles, annotated by ACAI')
    args = parser.parse_args()
    if not SKELETON.is_dir():
        sys.exit(f'{SKELETON} does not exist; '
                 'set PRONTO_TESTDATA to the folder that holds ontonotes-skeleton and bibles')
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder, workers = Path(name), args.workers or [1, 2]
        annotations = make_annotations(folder, DATA/'acai' if args.acai else SKELETON)
        sources = [DATA/'bibles'/name for name in WHOLE] if args.acai else find_sources(folder)
        expected = show_speed(annotations, sources, args.sizes, workers, folder)
        if not args.acai: show_kills(annotations, sources, args.sizes[-1], workers[-1], folder, expected)

if __name__ == '__main__': main()
