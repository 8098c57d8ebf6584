"""How many verses and words has each Bible for the tasks on words, and how long does its alignment take?

    python benchmarks/words.py ANNOTATIONS BIBLES [--folder DIR]   # paper_tables/words.*

ANNOTATIONS is what `pronto annotate --words` wrote. Each Bible is built in a process of its own, with the
tasks on words alone; datasets stay in --folder, where one that is there is not built again.
"""
import argparse, json, resource, statistics, subprocess, sys, tempfile
from pathlib import Path

from pronto.bibles.reading import read_bible
from pronto.core.files import InputError
from pronto.core.tables import Table
from pronto.datasets.building import build
from pronto.datasets.tasks import Tasks
from pronto.lab.jobs.release import find_bibles
from pronto.sources.annotation_file import read_annotations

TRANSLATIONS = 1051 # Of a release

def measure(annotations, bible, out):
    "Build the tasks on words of a Bible and write how long that took beside the dataset"
    annotations, text = read_annotations(annotations), read_bible(bible)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    build(annotations, text, out, tasks=Tasks(), path=bible)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = dict(seconds=round(used.ru_utime - before, 1), megabytes=used.ru_maxrss//1024)
    Path(f'{out}.json').write_text(json.dumps(cost))

def row(name, folder):
    manifest, cost = (json.loads(p.read_text()) for p in (folder/'manifest.json', Path(f'{folder}.json')))
    words = manifest['word_tasks']
    found = dict(bible=name, divided_by=manifest['words'], verses=words['linked']['verses'],
                 words=words['linked']['tokens'])
    for task,kept in words['kept'].items():
        found |= {f'{task}_verses': kept['verses'], f'{task}_words': kept['tokens']}
        found |= {f'{task}_{s}': n for s,n in manifest['counts'][task].items()}
    return found | cost

def table(rows, left_out):
    share = lambda r, task: f'{r[f"{task}_verses"]:,} ({r[f"{task}_verses"]/r["verses"]:.0%})'
    shown = [[r['bible'], r['divided_by'], r['verses'], r['words'], share(r, 'names'), share(r, 'upos'),
              r['upos_words'], r['seconds'], r['megabytes']] for r in rows]
    header = ['Bible', 'Words by', 'Verses', 'Words', 'Names', 'Parts of speech', 'Their words', 'CPU s',
              'MB']
    middle = statistics.median(r['seconds'] for r in rows)
    note = ('Verses that are linked with the Greek, and those of them whose links suffice for a task. '
            'CPU seconds of reading, linking and writing, and the most memory, each in a process of its own: '
            f'the median is {middle:.0f} s, so {TRANSLATIONS:,} translations take '
            f'{middle*TRANSLATIONS/2/3600:.1f} h on two cores.')
    notes = [note, f'Left out, as they have fewer than 500 verses: {", ".join(left_out)}.']
    return Table('words', 'Verses and words of the tasks on words', [(header, shown)], notes, rows)

if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('annotations')
    parser.add_argument('bibles', type=Path)
    parser.add_argument('--folder', type=Path, default=tempfile.gettempdir())
    parser.add_argument('--one', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        try: sys.exit(measure(args.annotations, args.bibles, args.one))
        except InputError as e: sys.exit(f'left out {e}')
    bibles = {p.stem: p for p in reversed(find_bibles(args.bibles))} # Of two with one name the New Testament
    rows, left_out = [], []
    for bible in sorted(bibles.values(), key=lambda p: p.stem.lower()):
        out = args.folder/bible.stem.replace("'", '').replace('.', '-').lower()
        if not Path(f'{out}.json').exists():
            command = [sys.executable, __file__, args.annotations, bible, '--one', out]
            if subprocess.run(command).returncode: left_out.append(bible.stem) # A fragment, which says so
        if bible.stem not in left_out: rows.append(row(bible.stem, out))
    found = table(rows, left_out)
    found.write('paper_tables')
    print(found.markdown())
