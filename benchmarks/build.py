"""How long annotating and building take, and how much memory: prints Markdown tables

Every measurement is made in a fresh process on one core, after the imports, and repeated five times; medians are printed.
"""
import os, resource, statistics, string, subprocess, sys, tempfile, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

REPEATS = 5
DATA = Path(os.environ.get('PRONTO_TESTDATA', Path(__file__).resolve().parents[2]/'shared'/'data'))
SKELETON = DATA/'ontonotes-skeleton'
BIBLES = {'USFX': 'usfx/chr-cherokee.usfx.xml', 'OSIS': 'osis/eng-us-oeb.osis.xml', 'CES': 'ces/Wolof-NT.xml',
          'lines': 'vpl/engwebster_nt_vpl.txt', 'USFM': 'usfm/eng-web'}
PARTS = ('annotations', 'Bible', 'build')
GROWTH = (1, 2, 4)
OFFSET = 30 # No book of the New Testament has more chapters


def in_fresh_process(function, *args):
    "What `function` returns in a process of its own"
    with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool: return pool.submit(function, *args).result()

def one_core():
    "Keep this process and those it starts to one core and one thread"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')

def timed(function, *args):
    "What `function` returns, its CPU seconds and its wall seconds"
    cpu, wall = time.process_time(), time.perf_counter()
    result = function(*args)
    return result, (time.process_time()-cpu, time.perf_counter()-wall)

def peak_mb(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def medians(rows):
    "The median of each column"
    return [statistics.median(column) for column in zip(*rows)]

def import_all():
    "Import what is otherwise imported at first use"
    import lxml.etree, pyarrow.dataset, pyarrow.parquet, pronto.datasets.building
    from pronto.bibles.usfm import _machine
    from machine.scripture.verse_ref import Versification
    _machine()


def measure_annotate(rules, parquet):
    "Annotate the whole source: CPU and wall seconds, peak memory in MB after the imports and after the work"
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import write_annotations
    import_all()
    imports = peak_mb()
    annotations, seconds = timed(lambda: annotate(SKELETON, rules=rules))
    peak = peak_mb()
    write_annotations(annotations, parquet)
    return *seconds, imports, peak

def measure_onf_parser():
    "The same of onf_parser's bare parse"
    from onf_parser import parse_files
    imports = peak_mb()
    _, seconds = timed(parse_files, str(SKELETON))
    return *seconds, imports, peak_mb()

def build_once(parquet, bible, out):
    "CPU and wall seconds of the three parts"
    from pronto.sources.annotation_file import read_annotations
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    annotations, first = timed(read_annotations, parquet)
    verses, second = timed(read_bible, bible)
    manifest, third = timed(build, annotations, verses, out)
    return first, second, third

def measure_build(parquet, bible, out, times=1):
    "The same whole translation one or several times in a process, and its peak memory in MB after the imports and at the end"
    import_all()
    imports = peak_mb()
    return [build_once(parquet, bible, out) for _ in range(times)], imports, peak_mb()


def caesar(text, k):
    "Other words of the same lengths, so that a copied chapter is no duplicate"
    lower = string.ascii_lowercase
    rotated = lower[k:] + lower[:k]
    return text.translate(str.maketrans(lower + lower.upper(), rotated + rotated.upper()))

def enlarge(times, parquet, bible, folder):
    "Copy every chapter to further numbers on both sides: annotations and a table of verses `times` as large, and the number of verses"
    from pronto.sources.annotation_file import read_annotations, write_annotations
    from pronto.sources.records import Annotations
    from pronto.bibles.reading import Bible, read_bible, write_tsv
    small, rows = read_annotations(parquet), read_bible(bible).rows
    verses = {}
    for k in range(times):
        for ref, verse in small.verses.items():
            moved = ref._replace(chapter=ref.chapter + k*OFFSET)
            verses[moved] = verse._replace(ref=moved)
    moved = [r._replace(chapter=r.chapter + k*OFFSET, text=caesar(r.text, k)) for k in range(times) for r in rows]
    larger, table = folder/f'{times}.parquet', folder/f'{times}.tsv'
    write_annotations(Annotations(small.source, dict(sorted(verses.items()))), larger)
    write_tsv(Bible(moved), table)
    return larger, table, len(verses)


def table(header, rows):
    "A Markdown table; numbers stand right"
    print('| ' + ' | '.join(header) + ' |\n|---' + '|--:'*(len(header)-1) + '|')
    for row in rows: print('| ' + ' | '.join(row) + ' |')
    print(flush=True)

def show_annotate(parquet):
    "Annotating against the bare parse of onf_parser, in turn"
    found = {'`annotate`, rules paper': [], '`annotate`, rules v0.1': [], "onf_parser's `parse_files`": []}
    ours, v01, theirs = found.values()
    for _ in range(REPEATS):
        ours.append(in_fresh_process(measure_annotate, 'paper', parquet))
        theirs.append(in_fresh_process(measure_onf_parser))
        v01.append(in_fresh_process(measure_annotate, 'v0.1', parquet.with_name('v0.1.parquet')))
    files = list(SKELETON.rglob('*.onf'))
    print(f'## Annotate {len(files)} chapters ({sum(f.stat().st_size for f in files)/1e6:.0f} MB)\n')
    ratio = lambda runs, column: f'{statistics.median(a[column]/b[column] for a,b in zip(runs, theirs)):.2f}'
    table(['', 'CPU s', 'ratio', 'wall s', 'ratio', 'peak MB', 'imports alone MB'],
          [[name, f'{cpu:.2f}', ratio(runs, 0), f'{wall:.2f}', ratio(runs, 1), f'{peak:.0f}', f'{imports:.0f}']
           for name,runs in found.items() for cpu,wall,imports,peak in [medians(runs)]])

def show_build(parquet, folder):
    "Whole translations, with the parts of the work"
    print('## Build one translation from cached annotations\n')
    rows = []
    for format,name in BIBLES.items():
        runs, imports, peak = zip(*[in_fresh_process(measure_build, parquet, DATA/'bibles'/name, folder/'dataset', 2) for _ in range(REPEATS)])
        first, second = zip(*runs)
        total = lambda runs, column: statistics.median(sum(part[column] for part in run) for run in runs)
        parts = [statistics.median(run[i][0] for run in first) for i in range(len(PARTS))]
        rows.append([f'{format}: {name}', f'**{total(first, 0):.2f}**', *(f'{p:.2f}' for p in parts), f'{total(first, 1):.2f}',
                     f'{total(second, 0):.2f}', f'{statistics.median(peak):.0f}', f'{statistics.median(imports):.0f}'])
    table(['Bible', 'CPU s', *PARTS, 'wall s', 'second: CPU s', 'peak MB', 'imports alone MB'], rows)

def show_growth(parquet, folder):
    "Time per verse as the input grows"
    print('## Growth\n')
    rows = []
    for times in GROWTH:
        *paths, n = in_fresh_process(enlarge, times, parquet, DATA/'bibles'/BIBLES['lines'], folder)
        runs = [in_fresh_process(measure_build, *paths, folder/'dataset') for _ in range(REPEATS)]
        seconds = statistics.median(sum(cpu for cpu,_ in once) for (once,),*_ in runs)
        peak = statistics.median(peak for *_,peak in runs)
        rows.append([f'{times}x', f'{n:,}', f'{seconds:.2f}', f'{seconds/n*1e6:.0f}', f'{peak:.0f}'])
    table(['input', 'annotated verses', 'CPU s', 'CPU µs per verse', 'peak MB'], rows)

def show_help():
    "How long the command takes to answer"
    print('## `pronto --help`\n')
    command = [sys.executable, '-c', 'from pronto.cli.command import main; main(["--help"])']
    runs = [timed(lambda: subprocess.run(command, check=True, capture_output=True))[1][1] for _ in range(REPEATS)]
    table(['', 'wall s'], [['`pronto --help`', f'{statistics.median(runs):.2f}']])

def main():
    if not SKELETON.is_dir(): sys.exit(f'{SKELETON} does not exist; set PRONTO_TESTDATA to the folder that holds ontonotes-skeleton and bibles')
    one_core()
    with tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder)/'paper.parquet'
        show_annotate(parquet)
        show_build(parquet, Path(folder))
        show_growth(parquet, Path(folder))
        show_help()

if __name__ == '__main__': main()
