"""Choose a New Testament for each of some 200 languages, and write the plan of `pronto study world`

    python benchmarks/world.py FILES LANGUAGES.tsv -o TEXTS --plan paper_tables/world/plan.toml

FILES is a folder of translations in any format; LANGUAGES.tsv has `file`, `language`, `script`, `rights` and
`doubt` of each. Of a language the one that may be passed on goes first, then the longest; where there is a
second one, it is asked as well. TEXTS gets a table of the New Testament of each. The plan says which model
reads which languages, drawn by family: many languages that no model reads have a relative that it reads.
`texts.csv` beside the plan says how long the verses of each text are, which letters it has, and whether a
second text is nearly the first.

    python benchmarks/world.py --facts

writes what `pronto card` needs of the tables of the study to pronto/facts/language_numbers.tsv.
"""
import argparse, random, sys, unicodedata
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
import pandas as pd
from pronto.bibles.languages import family_of
from pronto.bibles.reading import read_bible, write_tsv
from pronto.core.files import InputError
from pronto.core.progress import progress
from pronto.core.refs import NT_BOOKS
from pronto.lab.jobs.release import nearly_same, verse_sample

LEAST = 6500 # Verses of a New Testament of 7,957
READ = {8: 5000, 16: 2500, 32: 1250} # Languages to verses of each that a model reads, in one pass
TOKENS = 40_000 # Of which the share of types is taken; a New Testament has more in any language with blanks
LETTERS = 60 # The most frequent ones
SEVERAL = 30 # Languages of which a second translation is asked as well
ENGLISH = 'eng', 'hwc', 'jam' # It, and creoles of it
RIGHTS = 'permitted', 'unclear', 'not'

RUNS = """
[training]
causal = ["--steps", "1250", "--vocab", "4000"]
masked = ["--steps", "1250", "--vocab", "4000"]

[[datasets]]
name = "world"
source = "text"

[[runs]] # Models of known reading
name = "causal"
protocol = "likelihood"
on = "world"
models = ["causal8", "causal16", "causal32"]
tasks = ["WO", "WC", "WX"]
options = ["--limit", "100"]

[[runs]] # Pseudo-likelihood costs a pass for each token
name = "masked"
protocol = "probe"
on = "world"
bibles = "probed"
models = ["masked16"]
tasks = ["WO", "WC", "WX"]
options = ["--limit", "150"]

[[runs]]
name = "random weights"
protocol = "probe"
on = "world"
bibles = "asked"
models = ["masked16"]
tasks = ["WO", "WC", "WX"]
options = ["--limit", "150", "--recipe", "probe-random"]

[[runs]] # A sentence encoder of English
name = "encoder"
protocol = "probe"
on = "world"
bibles = "asked"
models = ["teacher"]
tasks = ["WO", "WC", "WX"]
options = ["--limit", "150"]

[tables]
questions = ["languages"]

[quick]
bibles = ["eng", "swh", "wol"]
options = ["--limit", "40"]

[quick.training]
causal = ["--steps", "30"]
masked = ["--steps", "30"]"""

def new_testament(path):
    "The New Testament of a file"
    bible = read_bible(path)
    return replace(bible, rows=[row for row in bible.rows if row.book in NT_BOOKS])

def facts_of(bible)->dict:
    "What a comparison of languages needs to know of a text"
    verses = [row.text for row in bible.rows if row.text]
    words = [word for verse in verses for word in verse.split()]
    letters = Counter(c for verse in verses for c in verse.lower() if c.isalpha() or unicodedata.combining(c))
    return dict(verses=len(verses), words=round(len(words)/len(verses), 2),
                characters=round(sum(map(len, verses))/len(verses), 1),
                types=round(len({*words[:TOKENS]})/min(len(words), TOKENS), 3),
                letters=''.join(sorted(c for c,_ in letters.most_common(LETTERS))))

def texts(args, table):
    "Write the chosen translations; a row for each"
    chosen, samples = [], {}
    table['right'] = table.rights.map(RIGHTS.index)
    for language,rows in progress('languages')(list(table.groupby('language'))):
        bibles = []
        for row in rows.itertuples():
            try:
                bible = new_testament(args.files/row.file)
            except (InputError, FileNotFoundError) as e:
                print(f'left out: {e}')
                continue
            if (n := len({row[:3] for row in bible.rows if row.text})) >= LEAST:
                bibles.append((row.right, -n, row, bible))
        bibles.sort(key=lambda entry: entry[:2])
        for code,(*_,row,bible) in zip((language, f'{language}-2'), bibles):
            path = args.output/f'{code}.tsv'
            path.parent.mkdir(parents=True, exist_ok=True)
            write_tsv(bible, path)
            samples[code] = verse_sample(bible.rows)
            chosen.append(dict(code=code, language=language, script=row.script, rights=row.rights,
                               file=row.file) | facts_of(bible))
    same = nearly_same(samples)
    for row in chosen:
        row['nearly_same_as'] = same.get(row['code'], '')
    return pd.DataFrame(chosen)

def by_family(languages:list[str])->list[str]:
    "Languages in an order in which families take turns, the larger ones as often as they are larger"
    draw, families = random.Random(0), defaultdict(list)
    for language in languages:
        families[family_of(language) or language].append(language)
    places = {}
    for members in families.values():
        first = draw.random()
        for i,language in enumerate(draw.sample(members, len(members))):
            places[language] = (i + first)/len(members)
    return sorted(languages, key=places.get)

def plan_text(chosen)->str: # TOML
    "The plan"
    first = chosen.drop_duplicates('language')
    order = by_family(list(first.language))
    second = chosen[chosen.duplicated('language')]
    several = [language for language in order if language in {*second.language}][:SEVERAL]
    second = second[second.language.isin(several)]
    chosen = pd.concat([first, second]).sort_values('code')
    asked = sorted({*order[::8], *ENGLISH})
    codes = dict(zip(first.language, first.code))
    def listed(codes): return '[' + ', '.join(f'"{code}"' for code in codes) + ']'
    lines = [f'# What `pronto study world` runs: {len(first)} languages. Made by benchmarks/world.py',
             '', '[sources]', 'text = ""', '', '[bibles]']
    for row in chosen.itertuples():
        entry = f'{{ path = "{row.code}.tsv", language = "{row.language}" }}'
        lines.append(f'{row.code} = {entry} # {row.file}, {row.rights}')
    lines += ['', '[groups]', f'first = {listed(first.code)}', f'second = {listed(second.code)}']
    lines += [f'asked = {listed(codes[language] for language in asked)}',
              f'probed = {listed(codes[language] for language in sorted({*asked, *order[:16]}))}']
    lines += [f'read{n} = {listed(codes[language] for language in order[:n])}' for n in READ]
    lines += ['', '[models]']
    reads = [('causal', n) for n in READ] + [('masked', 16)]
    lines += [f'{kind}{n} = {{ share = 1, kind = "{kind}", reads = "read{n}", verses = {READ[n]} }}'
              for kind,n in reads]
    lines.append(RUNS)
    return '\n'.join(lines) + '\n'

WORLD = Path(__file__).resolve().parents[1]/'paper_tables'/'world'
FACTS = WORLD.parents[1]/'pronto'/'facts'/'language_numbers.tsv'

def facts(folder=WORLD)->str: # TSV
    "The number of each model in one text of each language; verses_read is empty where nobody counted"
    def table(name):
        return pd.read_csv(folder/f'{name}.csv', keep_default_na=False, dtype=str)
    numbers, read = table('languages').drop(columns='language'), table('read').drop(columns='share')
    numbers['model'] = numbers.model.str.removesuffix(' (weights own)')
    kept = numbers[~numbers.dataset.str.endswith('-2') & ~numbers.model.str.contains('random')]
    read = read.rename(columns=dict(language='iso639_3', verses='verses_read'))
    rows = kept.merge(read, 'left', ['model','iso639_3'])
    rows = rows.rename(columns=dict(iso639_3='language')).sort_values(['language','model'])
    columns = 'language model verses_read number low high'.split()
    return rows[columns].fillna('').to_csv(sep='\t', index=False, lineterminator='\n')

def main():
    if sys.argv[1:] == ['--facts']:
        FACTS.write_text(facts(), encoding='utf-8')
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('files', type=Path)
    add('languages', type=Path)
    add('-o', '--output', type=Path, required=True)
    add('--plan', type=Path, required=True)
    args = parser.parse_args()
    table = pd.read_csv(args.languages, sep='\t', dtype=str, keep_default_na=False)
    chosen = texts(args, table[table.doubt == ''])
    args.plan.parent.mkdir(parents=True, exist_ok=True)
    chosen.to_csv(args.plan.parent/'texts.csv', index=False)
    args.plan.write_text(plan_text(chosen), encoding='utf-8')

if __name__ == '__main__':
    main()
