"""Measure the time and memory that annotating MACULA Greek takes on one core, and print a Markdown table

    python benchmarks/macula.py

As in build.py, each measurement runs in a fresh process, starts after the imports, and is repeated five
times. The table shows medians.
"""
import importlib

from build import DATA, REPEATS, file_mb, in_fresh_process, import_all, medians, one_core, peak_mb, timed

FOLDER = DATA/'macula-greek'

def measure():
    "CPU and wall seconds of annotating, CPU seconds of reading, peak MB at the end and after the imports"
    from pronto.sources.annotate import annotate
    from pronto.sources.macula import lowfat_files, read_lowfat
    one_core()
    import_all()
    importlib.import_module('networkx') # The package imports it at first use
    imports = peak_mb()
    _, seconds = timed(lambda: annotate(FOLDER))
    peak = peak_mb()
    _, (reading, _) = timed(lambda: [read_lowfat(f) for f in lowfat_files(FOLDER)])
    return *seconds, reading, peak, imports

def main():
    if not FOLDER.is_dir():
        raise SystemExit(f'{FOLDER} does not exist; '
                         'set PRONTO_TESTDATA to the folder that holds macula-greek')
    measured = [in_fresh_process(measure) for _ in range(REPEATS)]
    cpu, wall, reading, peak, imports = medians(measured)
    files = sorted(FOLDER.glob('*.xml'))
    print(f'## Annotate {len(files)} books of MACULA Greek ({file_mb(files):.0f} MB)\n')
    print('|  | CPU s | of it reading | wall s | peak MB | imports alone MB |')
    print('|---|--:|--:|--:|--:|--:|')
    print(f'| `annotate` | {cpu:.2f} | {reading:.2f} | {wall:.2f} | {peak:.0f} | {imports:.0f} |')

if __name__ == '__main__': main()
