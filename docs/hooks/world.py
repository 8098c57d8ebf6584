"The map and the table of languages, from the tables of the study of the world"
from html import escape

from pronto.bibles.languages import coordinates_of, places_of_languages
from pronto.core.tables import csv_rows, decimal

MODELS = {'causal8': '8 languages', 'causal16': '16', 'causal32': '32', 'masked16': '16, masked'}
NAMES = 'language', 'code', 'family', 'script', 'n-grams'
SEARCH = '''<input id="languages-search" type="search" aria-label="Search"
  placeholder="language, code, family or script">
<script>
document.getElementById('languages-search').addEventListener('input', event => {
  const words = event.target.value.toLowerCase().split(' ')
  for (const row of document.querySelectorAll('#languages tbody tr'))
    row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word))
})
</script>'''

def rows_of(path): return csv_rows(path.read_text(encoding='utf-8'))

def languages(folder):
    "Code to what the study has of a language; `numbers`: model to its number, and whether it has read it"
    read = {(r['model'], r['language']) for r in rows_of(folder/'read.csv') if r['verses'] != '0'}
    found = {}
    for row in rows_of(folder/'languages.csv'):
        code, model = row['dataset'], row['model'].removesuffix(' (weights own)')
        if code.endswith('-2'): continue # A second text of a language
        about = found.setdefault(code, row | dict(numbers={}))
        if model in MODELS: about['numbers'][model] = float(row['number']), (model, code) in read
    return dict(sorted(found.items(), key=lambda item: item[1]['language']))

def dot(place, radius, css, title=''):
    x, y = place[1] + 180, 90 - place[0]
    about = f'<title>{escape(title)}</title>' if title else ''
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{css}">{about}</circle>'

def world_map(found): # As `languages` gives them
    "All languages of the world in grey, those of the study in color, where they are spoken"
    dots = [dot(place, .5, 'any') for place in places_of_languages()]
    for code,about in found.items():
        place = coordinates_of(code)
        if place is None: continue
        css = 'read' if any(is_read for _,is_read in about['numbers'].values()) else 'asked'
        dots.append(dot(place, 1.6, css, about['language']))
    label = 'Where the languages of the study are spoken'
    return f'<svg class="world" viewBox="0 15 360 130" role="img" aria-label="{label}">{"".join(dots)}</svg>'

def language_table(found): # As `languages` gives them
    "A row for each language, with a field to search in them"
    head = ''.join(f'<th>{name}</th>' for name in [*NAMES, *MODELS.values()])
    lines = []
    for code,about in found.items():
        family, ngrams = about['family'] or 'not known', decimal(float(about['ngrams']), 0)
        cells = [about['language'], code, family, about['script'], ngrams]
        texts = [f'<td>{escape(cell)}</td>' for cell in cells]
        for model in MODELS:
            number, is_read = about['numbers'].get(model, (None, False))
            text = '' if number is None else decimal(number, 0)
            texts.append(f'<td><strong>{text}</strong></td>' if is_read else f'<td>{text}</td>')
        lines.append(f'<tr>{"".join(texts)}</tr>')
    table = f'<table id="languages"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return f'{SEARCH}\n<div class="output-table">{table}</div>'
