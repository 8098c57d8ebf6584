"""Measure the time and memory that annotating and building take, and print Markdown tables

    python benchmarks/build.py
    python benchmarks/build.py --commands [-m MODEL] [--against REF] [--busy 3]

Each measurement runs in a fresh process on one core, starts after the imports, and is repeated five times.
The tables show medians. With --commands, whole commands are timed, with their imports: this checkout and
another (a folder, or a commit of this one) take turns, idle and beside processes that do nothing but count.
Without a model, one of 6 layers of 384 dimensions has random weights, since speed does not depend on them.
"""
import argparse, contextlib, importlib, io, os, resource, statistics, string, subprocess, sys, tarfile
import tempfile, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

REPEATS = 5
HERE = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('PRONTO_TESTDATA', Path(__file__).resolve().parents[2]/'shared'/'data'))
SKELETON = DATA/'ontonotes-skeleton'
BIBLES = {'USFX': 'usfx/chr-cherokee.usfx.xml', 'OSIS': 'osis/eng-us-oeb.osis.xml',
          'CES': 'ces/Wolof-NT.xml', 'lines': 'vpl/engwebster_nt_vpl.txt', 'USFM': 'usfm/eng-web'}
PARTS = ('annotations', 'Bible', 'build')
GROWTH = (1, 2, 4)
OFFSET = 30 # No book of the New Testament has more chapters
IMPORTED_LATE = ('lxml.etree', 'machine.scripture.verse_ref', 'pyarrow.dataset', 'pyarrow.parquet',
                 'pronto.datasets.building')


def in_fresh_process(function, *args):
    "Call `function` in a process of its own and return its result"
    with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:
        return pool.submit(function, *args).result()

def one_core():
    "Keep this process and its children to one core and one thread"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')

def timed(function, *args):
    "Call `function`; return its result and (CPU seconds, wall seconds)"
    cpu, wall = time.process_time(), time.perf_counter()
    result = function(*args)
    return result, (time.process_time()-cpu, time.perf_counter()-wall)

def peak_mb():
    "Peak resident memory of this process so far, in MB"
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def medians(rows):
    "The median of each column"
    return [statistics.median(column) for column in zip(*rows)]

def file_mb(files):
    "The size of files, in MB"
    return sum(f.stat().st_size for f in files)/1e6

def import_all():
    "Import the modules that the package imports at first use"
    from pronto.sources.records import Source
    from pydantic import TypeAdapter
    for module in IMPORTED_LATE: importlib.import_module(module)
    TypeAdapter(Source) # pydantic imports most of its modules when it first makes a schema


def measure_annotate(rules, parquet):
    "Annotate the source: CPU seconds, wall seconds, peak MB after the imports, peak MB after the work"
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import write_annotations
    import_all()
    imports = peak_mb()
    annotations, seconds = timed(lambda: annotate(SKELETON, rules=rules))
    peak = peak_mb()
    write_annotations(annotations, parquet)
    return *seconds, imports, peak

def measure_onf_parser():
    "The same four numbers for onf_parser, which parses and does not annotate"
    from onf_parser import parse_files
    imports = peak_mb()
    _, seconds = timed(parse_files, str(SKELETON))
    return *seconds, imports, peak_mb()

def build_once(parquet, bible, out):
    "(CPU seconds, wall seconds) of each of the `PARTS`"
    from pronto.sources.annotation_file import read_annotations
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    annotations, first = timed(read_annotations, parquet)
    verses, second = timed(read_bible, bible)
    _, third = timed(build, annotations, verses, out)
    return first, second, third

def measure_build(parquet, bible, out, times=1):
    "Build a translation `times` times: seconds of each build, peak MB after the imports, peak MB at the end"
    import_all()
    imports = peak_mb()
    return [build_once(parquet, bible, out) for _ in range(times)], imports, peak_mb()


def caesar(text, k):
    "Shift letters by `k`, so that a copied chapter does not duplicate its original"
    lower = string.ascii_lowercase
    rotated = lower[k:] + lower[:k]
    return text.translate(str.maketrans(lower + lower.upper(), rotated + rotated.upper()))

def enlarge(times, parquet, bible, folder):
    "Copy each chapter to new chapter numbers: annotations, table of verses, number of annotated verses"
    from pronto.sources.annotation_file import read_annotations, write_annotations
    from pronto.sources.records import Annotations
    from pronto.bibles.reading import Bible, read_bible, write_tsv
    small, rows = read_annotations(parquet), read_bible(bible).rows
    verses, copies = {}, []
    for k in range(times):
        for ref, verse in small.verses.items():
            moved = ref._replace(chapter=ref.chapter + k*OFFSET)
            verses[moved] = verse._replace(ref=moved)
        copies += [r._replace(chapter=r.chapter + k*OFFSET, text=caesar(r.text, k)) for r in rows]
    larger, table = folder/f'{times}.parquet', folder/f'{times}.tsv'
    write_annotations(Annotations(small.source, dict(sorted(verses.items()))), larger)
    write_tsv(Bible(copies), table)
    return larger, table, len(verses)


def print_table(header, rows):
    "Print a Markdown table; all columns but the first are aligned right"
    print('| ' + ' | '.join(header) + ' |')
    print('|---' + '|--:'*(len(header)-1) + '|')
    for row in rows: print('| ' + ' | '.join(row) + ' |')
    print(flush=True)

def show_annotate(parquet):
    "Compare annotating with onf_parser's parse; the programs take turns"
    paper, v01, parser = [], [], []
    for _ in range(REPEATS):
        paper.append(in_fresh_process(measure_annotate, 'paper', parquet))
        parser.append(in_fresh_process(measure_onf_parser))
        v01.append(in_fresh_process(measure_annotate, 'v0.1', parquet.with_name('v0.1.parquet')))
    measured = {'`annotate`, rules paper': paper, '`annotate`, rules v0.1': v01,
                "onf_parser's `parse_files`": parser}
    rows = []
    for name, runs in measured.items():
        cpu, wall, imports, peak = medians(runs)
        ratios = [[a/b for a,b in zip(run, other)] for run, other in zip(runs, parser)]
        cpu_ratio, wall_ratio, *_ = medians(ratios)
        rows.append([name, f'{cpu:.2f}', f'{cpu_ratio:.2f}', f'{wall:.2f}', f'{wall_ratio:.2f}',
                     f'{peak:.0f}', f'{imports:.0f}'])
    files = list(SKELETON.rglob('*.onf'))
    print(f'## Annotate {len(files)} chapters ({file_mb(files):.0f} MB)\n')
    print_table(['', 'CPU s', 'ratio', 'wall s', 'ratio', 'peak MB', 'imports alone MB'], rows)

def total(runs, column):
    "The median time of a whole build: 0 for CPU seconds, 1 for wall seconds"
    return statistics.median(sum(part[column] for part in run) for run in runs)

def show_build(parquet, folder):
    "Build whole translations, each twice in a process, and show the parts of the first build"
    print('## Build one translation from cached annotations\n')
    rows = []
    for format, name in BIBLES.items():
        measured = [in_fresh_process(measure_build, parquet, DATA/'bibles'/name, folder/'dataset', 2)
                    for _ in range(REPEATS)]
        builds, imports, peak = zip(*measured)
        first, second = zip(*builds)
        parts = [statistics.median(run[i][0] for run in first) for i in range(len(PARTS))]
        rows.append([
            f'{format}: {name}', f'**{total(first, 0):.2f}**', *(f'{p:.2f}' for p in parts),
            f'{total(first, 1):.2f}', f'{total(second, 0):.2f}',
            f'{statistics.median(peak):.0f}', f'{statistics.median(imports):.0f}'])
    header = ['Bible', 'CPU s', *PARTS, 'wall s', 'second: CPU s', 'peak MB', 'imports alone MB']
    print_table(header, rows)

def show_growth(parquet, folder):
    "Time per verse as the input grows"
    print('## Growth\n')
    rows = []
    for times in GROWTH:
        larger, table, n = in_fresh_process(enlarge, times, parquet, DATA/'bibles'/BIBLES['lines'], folder)
        measured = [in_fresh_process(measure_build, larger, table, folder/'dataset') for _ in range(REPEATS)]
        builds, _, peak = zip(*measured)
        seconds = total([run for run, in builds], 0)
        rows.append([f'{times}x', f'{n:,}', f'{seconds:.2f}', f'{seconds/n*1e6:.0f}',
                     f'{statistics.median(peak):.0f}'])
    print_table(['input', 'annotated verses', 'CPU s', 'CPU µs per verse', 'peak MB'], rows)

def show_help():
    "Time that the command takes to print its help"
    print('## `pronto --help`\n')
    command = [sys.executable, '-c', 'from pronto.cli.command import main; main(["--help"])']
    seconds = []
    for _ in range(REPEATS):
        _, (_, wall) = timed(lambda: subprocess.run(command, check=True, capture_output=True))
        seconds.append(wall)
    print_table(['', 'wall s'], [['`pronto --help`', f'{statistics.median(seconds):.2f}']])

def commands(folder, model):
    "Name to the arguments of what one waits for; what comes first prepares what follows"
    bible, bibles = DATA/'bibles'/BIBLES['USFM'], folder/'bibles'
    bibles.mkdir(parents=True)
    for name in 'USFX', 'CES':
        (bibles/Path(BIBLES[name]).name).symlink_to(DATA/'bibles'/BIBLES[name])
    probe = ['probe', folder/'eng', '-m', f'model={model}', '--runs']
    build = ['build', '-b', bible, '--language', 'eng', '-o']
    acai = ['-a', HERE/'pronto'/'facts'/'acai.parquet'] # Also read by checkouts that come without it
    release = ['release', bibles, '-o', folder/'release', *acai]
    card = ['card', bible, '-m', f'model={model}', '-o', folder/'card.html']
    return {
        '--help': ['--help'], 'build': [*build, folder/'open'], 'build, ACAI': [*build, folder/'eng', *acai],
        'card, cold': card, 'card, cached': card,
        'probe, cold': [*probe, folder/'runs'], 'probe, encodings kept': [*probe, folder/'others'],
        'probe, recorded': [*probe, folder/'runs'],
        'tables of one language': ['tables', '--runs', folder/'runs', '--protocol', 'probe'],
        'release of two': release, 'release again': release}

def checkout_of(given, folder):
    "A checkout: a folder as it is, a commit of this one unpacked; with compiled bytecode, as it is installed"
    place = Path(given)
    if not place.is_dir():
        command = ['git', 'archive', given, 'pronto']
        packed = subprocess.run(command, cwd=HERE, check=True, capture_output=True)
        place = folder/given.replace('/', '-')
        tarfile.open(fileobj=io.BytesIO(packed.stdout)).extractall(place, filter='data')
    compiling = [sys.executable, '-m', 'compileall', '-q', place/'pronto']
    subprocess.run(compiling, env=environment(), check=True)
    return place

def environment(**more):
    "Of a command: it may read and write bytecode"
    return {k: v for k, v in os.environ.items() if k != 'PYTHONDONTWRITEBYTECODE'} | more

def random_model(folder):
    "An encoder of six layers, with a vocabulary of the Bible that is built"
    from pronto.bibles.reading import read_bible
    from speed import make_model
    verses = read_bible(DATA/'bibles'/BIBLES['USFM']).verses
    make_model(folder, 'encoder of 6 layers', list(verses.values()), small=False)
    return folder

@contextlib.contextmanager
def beside(n):
    "Other processes that keep the processor busy"
    others = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(n)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()

def command_seconds(checkout, folder, arguments):
    "(CPU seconds, wall seconds) of a command of a checkout, with a data folder of its own"
    run = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
    env = environment(PYTHONPATH=str(checkout), PRONTO_DATA=str(folder), PRONTO_OFFLINE='1')
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*run, *map(str, arguments)], capture_output=True, env=env, cwd=folder)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(done.stderr.decode()[-300:], file=sys.stderr)
        return float('nan'), float('nan')
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall

def show_commands(against, model, busy):
    "Whole commands of each checkout, idle and beside busy processes, each in a data folder of its own"
    with tempfile.TemporaryDirectory() as folder:
        checkouts = [checkout_of(given, Path(folder)/'checkouts') for given in (*against, HERE)]
        print_commands(checkouts, model or random_model(Path(folder)/'model'), busy, Path(folder))

def print_commands(checkouts, model, busy, folder):
    ways = dict.fromkeys((0, busy))
    header = [f'{c.name}, {f"beside {n}" if n else "idle"}' for n in ways for c in checkouts]
    print('| ' + ' | '.join(['CPU s (wall s)', *header]) + ' |', '|---' + '|--:'*len(header) + '|', sep='\n')
    places = [(n, c, folder/f'{n}-{i}') for n in ways for i, c in enumerate(checkouts)]
    planned = [commands(place, model) for *_, place in places]
    for name in planned[0]:
        cells = []
        for (n, checkout, place), known in zip(places, planned):
            with beside(n):
                cpu, wall = command_seconds(checkout, place, known[name])
            cells.append(f'{cpu:.2f} ({wall:.2f})')
        print('| ' + ' | '.join([name, *cells]) + ' |', flush=True)

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--commands', action='store_true')
    parser.add_argument('--against', default=[], nargs='*', metavar='REF', help='a commit, or a folder')
    parser.add_argument('--busy', type=int, default=0)
    parser.add_argument('-m', '--model')
    args = parser.parse_args()
    if args.commands:
        return show_commands(args.against, args.model, args.busy)
    if not SKELETON.is_dir():
        sys.exit(f'{SKELETON} does not exist; '
                 'set PRONTO_TESTDATA to the folder that holds ontonotes-skeleton and bibles')
    one_core()
    with tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder)/'paper.parquet'
        show_annotate(parquet)
        show_build(parquet, Path(folder))
        show_growth(parquet, Path(folder))
        show_help()

if __name__ == '__main__': main()
