"""How long annotating MACULA Greek takes on one core, and how much memory: prints a Markdown table

As in build.py every measurement is made in a fresh process, after the imports, and repeated five times; medians are printed.
"""
from build import DATA, REPEATS, in_fresh_process, import_all, medians, one_core, peak_mb, timed

FOLDER = DATA/'macula-greek'

def measure():
    "CPU and wall seconds of annotating all books, and of reading them alone; peak memory in MB after the imports and after the work"
    from pronto.sources.annotate import annotate
    from pronto.sources.macula import lowfat_files, read_lowfat
    one_core()
    import_all()
    imports = peak_mb()
    _,seconds = timed(lambda: annotate(FOLDER))
    peak = peak_mb()
    _,reading = timed(lambda: [read_lowfat(f) for f in lowfat_files(FOLDER)])
    return *seconds, reading[0], peak, imports

def main():
    if not FOLDER.is_dir(): raise SystemExit(f'{FOLDER} is missing: set PRONTO_TESTDATA to the folder that holds macula-greek')
    cpu, wall, reading, peak, imports = medians([in_fresh_process(measure) for _ in range(REPEATS)])
    files = sorted(FOLDER.glob('*.xml'))
    print(f'## Annotate {len(files)} books of MACULA Greek ({sum(f.stat().st_size for f in files)/1e6:.0f} MB)\n')
    print('|  | CPU s | of it reading | wall s | peak MB | imports alone MB |\n|---|--:|--:|--:|--:|--:|')
    print(f'| `annotate` | {cpu:.2f} | {reading:.2f} | {wall:.2f} | {peak:.0f} | {imports:.0f} |')

if __name__ == '__main__': main()
