"The picture of the first page and the reports, made from the tables and the runs of the demo"
import csv, tempfile, zipfile
from html import escape
from pathlib import Path
from statistics import mean

from pronto.core.tables import csv_rows
from pronto.lab.reporting.number_rows import read_numbers
from pronto.lab.reporting.report import numbers_report, page, read_registry, write_report

TASKS = 'NMC', 'PNS', 'SM', 'SS', 'SAC'
SYSTEMS = {'majority': '#8a8f98', 'n-grams': '#8a8f98', 'not pretrained': '#4f9bd9',
           'a little of three languages': '#1a7f5a', 'this language only': '#d9741a'}
HOLLOW = 'majority', 'not pretrained'
NAMES = {'majority': 'majority label', 'n-grams': 'character n-grams',
         'not pretrained': 'small BERT, not pretrained',
         'a little of three languages': 'small BERT, a little of three languages',
         'this language only': 'small BERT, this language only'}

def demo_scores(folder):
    "Mean accuracy over the languages of Tables 1-3, by system and task"
    found = {}
    for path in sorted(folder.glob('table[123].csv')):
        with open(path, encoding='utf-8', newline='') as f:
            for row in csv.DictReader(f):
                if row['system'] not in SYSTEMS: continue
                found.setdefault((row['system'], row['task']), []).append(float(row['accuracy']))
    return {key: mean(scores) for key,scores in found.items()}

def dot(x, y, system):
    color = SYSTEMS[system]
    fill = 'none' if system in HOLLOW else color
    return f'<circle cx="{x:.0f}" cy="{y}" r="6" fill="{fill}" stroke="{color}" stroke-width="2.5"/>'

def named(system, i):
    text = f'<text x="30" y="{21 + 24*i}">{escape(NAMES[system])}</text>'
    return dot(14, 16 + 24*i, system) + text

def line(task, y):
    rule = f'<path d="M60 {y}H420" stroke="currentColor" opacity=".25"/>'
    return f'<text x="6" y="{y + 5}">{task}</text>{rule}'

def tick(score, y): return f'<text x="{place(score):.0f}" y="{y}" text-anchor="middle">{score}</text>'

def place(score): return 60 + (score - 30)*360/70

def chart(folder):
    "Dots for models and simple predictors, a line for each task"
    scores, top = demo_scores(folder), 40 + 24*len(SYSTEMS)
    parts = [named(s, i) for i,s in enumerate(SYSTEMS)]
    for i,task in enumerate(TASKS):
        y = top + 44*i
        dots = [dot(place(scores[s, task]), y, s) for s in SYSTEMS if (s, task) in scores]
        parts += [line(task, y), *dots]
    bottom = top + 44*len(TASKS) - 8
    about = 'Accuracy of three small models and two simple predictors on five tasks, mean of three languages'
    start = f'<svg class="chart" viewBox="0 0 440 {bottom + 32}" role="img" aria-label="{about}">'
    unit = f'<text x="240" y="{bottom + 24}" text-anchor="middle">accuracy in percent</text>'
    return '\n'.join([start, *parts, *[tick(n, bottom) for n in (40, 60, 80, 100)], unit, '</svg>'])

def report_page(runs):
    "The report of a zipped run store, as one page"
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(runs).extractall(folder)
        page = Path(folder)/'report.html'
        write_report(Path(folder)/'runs', page)
        return page.read_text(encoding='utf-8')

def languages_page(folder):
    "The report of the study of the world, as one page"
    read = csv_rows((folder/'read.csv').read_text(encoding='utf-8'))
    verses = {(row['model'], row['language']): int(row['verses']) for row in read}
    numbers, registry = read_numbers(folder/'languages.csv'), read_registry(folder/'texts.csv')
    return page(numbers_report(numbers, registry, verses))
