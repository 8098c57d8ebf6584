"""Make the findings of paper_tables/earlier/README.md from the tables beside it

    python benchmarks/findings.py [--check]

Everything between `<!-- findings -->` and `<!-- end of findings -->` is written anew: the text below, with
figures from the tables. Where it says in words what the tables no longer show, an assertion fails: then the
text has to be written anew.
"""
import argparse, csv, re, sys
from pathlib import Path
from statistics import mean, stdev

FINDINGS = """\
- **Transfer by probe** ([PNS](transfer-probe-pns-student.md), [SS](transfer-probe-ss-student.md), [mean
  gaps](transfer-probe-summary.md), ![matrix](transfer-probe.png)): between the eleven translations that
  the student has seen in full, the source matters little. On SS a head that is trained on Japanese
  reaches {japanese} % on English, where a head trained on English reaches {english} %; n-grams are near
  chance across languages. The mean gap of a source, over the other ten, is {gaps_ss} points on SS (mean
  {mean_ss}; without {worst_ss} at most {rest_ss}) and {gaps_pns} points on PNS (mean {mean_pns}; without
  {worst_pns} at most {rest_pns}).
- Latvian, Zulu and Wolof, which it has hardly or never seen, neither give nor take: a head that is
  trained on one of them has a mean gap of {weak_ss} points on SS and {weak_pns} on PNS over all targets,
  and heads of the eleven reach {others} % of SS on them, where their own reach {own} %.
- **Transfer by fine-tuning** ([PNS](transfer-pns-student.md), [gaps](transfer-gaps.md),
  ![transfer](transfer.png)): trained on 500 rows of English, the student scores {lost} points less, on
  average over {targets} targets, than trained on 500 rows of the target itself. Each was trained once:
  how far other seeds would move this is not known, so there is no interval and no test.
- **Few-shot** ([table](few-shot.md), ![curves](few-shot.png)): in French, Swahili and Ukrainian {few}
  examples of the target score as zero-shot transfer from English does, with one seed and two draws of
  each sample, so that how exact this is cannot be said. Training on English first is worth {worth_50}
  points with 50 examples (standard error over the three languages {error_50}) and {worth_100} with 100
  ({error_100}): neither is told from nothing.
- **Tiers** ([table](tiers.md), ![tiers](tiers.png)): on SS, languages that the student has seen in full
  score {high_ss} points higher than the six others, and scores go with the logarithm of a language's
  share (Pearson {pearson_ss}); on NMC {high_nmc} points higher ({pearson_nmc}). On PNS only unseen
  languages fall back, by {unseen} points. On SM, where accuracy is near that of the majority label,
  scores fall with the share ({pearson_sm}).
- **Typology** ([table](typology.md), ![gaps](typology.png)): no distance of URIEL+ goes with the transfer
  gaps (Mantel tests, the smallest p is {mantel}). The tables look as if what the student was trained on
  mattered and the kinship of languages did not, but with two or three languages in each of the lower
  tiers nothing here tests that.
- **Four English translations** ([table](translations.md)) differ by up to {spread} points. Differences
  between languages on NMC and SM are hardly larger; on SS and PNS they are.
- **Retrieval** ([table](../retrieval.md)): {found} % in languages seen in full, {latvian} % in Latvian,
  {zulu} % in Zulu, {wolof} % in Wolof.
- **Does the probe rank models as fine-tuning does?** ([table](ranks.md), ![ranks](ranks.png)) Kendall's τ
  over {models} models on PNS with {limit} rows is {tau} on average over {bibles} translations (95 %:
  {tau_ends}); for the means of the models it is {tau_of_means}. Of the fine-tunings {learned} have an MCC
  above zero, none of them of MiniLM or of random weights, which 500 rows do not teach; of the probes
  {told}, which tell these models apart. These runs are of a second distillation with the same settings
  and one seed.
- **What can be told apart?** ([table](power.md)) With other seeds the accuracy of `student`, trained on
  500 rows, has, in points, an sd of {seed_sds}. With three seeds of each of two models, the smallest
  difference that a test finds in 80 % of cases is {told_apart}. On SM and SS its trainings learned
  nothing from 500 rows, so nothing is known of these.
- **Items** ([table](items.md), ![items](items.png)): answers differ far more between verses (sd
  {sd_verses} on the logit scale) than between translations ({sd_models}). {wrong} are answered wrongly in
  every translation ({answers} at most); [suspects](suspects.md) and `items-*.csv` name them. On NMC these
  are verses with few mentions of which the probe says "three or more".
"""

TABLES = Path(__file__).parent.parent/'paper_tables'
EARLIER = TABLES/'earlier'
BEGIN, END = '<!-- findings -->\n', '<!-- end of findings -->\n'
SEEN = dict(chrnt='Cherokee', cmncuv='Chinese', engoeb='English', engweb='English (WEB)', fralsg='French',
            grcbyz='Greek', gujnt='Gujarati', jpn1965='Japanese', swhnt='Swahili', sycpes='Syriac',
            ukrnt='Ukrainian') # In full, by the student
WEAK = dict(latvian='lavnt', zulu='zulnt', wolof='wolnt')

def table_in(text):
    "The rows of the only table of a page in Markdown, by the names of its columns"
    cells = [[c.strip() for c in line.strip('|').split('|')] for line in text.splitlines() if line[:1] == '|']
    return [dict(zip(cells[0], row)) for row in cells[2:]]

def rows_of(path):
    "The rows of a table, by the names of its columns"
    text = path.read_text(encoding='utf-8')
    return list(csv.DictReader(text.splitlines())) if path.suffix == '.csv' else table_in(text)

def read(name): return rows_of(EARLIER/name)

def number(text): return float(text.replace('−', '-').replace(',', '').strip('+%† '))

def points(value, digits=1): # As it is printed: a half is rounded up, with a minus sign, none for zero
    text = f'{abs(value) + 1e-9:.{digits}f}'
    return '−' + text if value < 0 and float(text) else text

def between(values, digits=1): return f'{points(min(values), digits)} to {points(max(values), digits)}'

def small(text): return points(number(text), 2).replace('0.', '.') # Of correlations and the like

def transfer_by_probe():
    rows = read('transfer-probe-gaps.csv')
    on_ss = {(r['source'], r['target']): r for r in rows if r['task'] == 'SS'}
    said = {name: points(float(on_ss[source, 'engoeb']['transfer']))
            for name,source in (('japanese','jpn1965'), ('english','engoeb'))}
    for task in 'SS', 'PNS':
        gap = {(r['source'], r['target']): float(r['gap']) for r in rows if r['task'] == task and r['gap']}
        gaps = {s: mean(gap[s, t] for t in SEEN if t != s) for s in SEEN}
        worst = max(gaps, key=gaps.get)
        rest = max(x for source,x in gaps.items() if source != worst)
        assert rest < 2.5
        new = dict(gaps=between(gaps.values()), mean=points(mean(gaps.values())), worst=SEEN[worst],
                   rest=points(rest))
        said |= {f'{name}_{task.lower()}': text for name,text in new.items()}
    return said

def weak_sources():
    summary, weak = read('transfer-probe-summary.csv'), WEAK.values()
    gaps = {task: [float(r['gap']) for r in summary if r['task'] == task and r['source'] in weak]
            for task in ('SS','PNS')}
    rows = [r for r in read('transfer-probe-gaps.csv') if r['task'] == 'SS' and r['target'] in weak]
    return dict(weak_ss=between(gaps['SS'], 0), weak_pns=between(gaps['PNS'], 0),
                others=between([float(r['transfer']) for r in rows if r['source'] in SEEN], 0),
                own=between([float(r['in_language']) for r in rows], 0))

def transfer():
    summary, = read('transfer-summary.csv')
    assert {r['seeds'] for r in read('transfer-gaps.csv')} == {'1'} and float(summary['gap']) > 0
    return dict(lost=points(float(summary['gap'])), targets=summary['targets'])

def few_shot():
    score = {(r['target'], r['after'], r['size']): float(r['score']) for r in read('few-shot.csv')}
    equal = [row['equal to zero-shot'] for row in read('few-shot.md')]
    sizes = [int(re.search(r': (\d+) \(few seeds\)', x)[1]) for x in equal if x]
    said = dict(few=between(sizes, 0))
    for n in '50', '100':
        gains = [score[t, 'engoeb', n] - score[t, '', n] for t in ('fralsg','swhnt','ukrnt')]
        error = stdev(gains)/len(gains)**.5
        assert abs(mean(gains)) < 2*error
        said |= {f'worth_{n}': points(mean(gains)), f'error_{n}': points(error)}
    return said

def tiers():
    score = {(r['task'], r['tier']): float(r['mean']) for r in read('tiers.csv')}
    higher = {t: [score[t, 'high'] - score[t, tier] for tier in ('mid','low','unseen')] for t in ('SS','NMC')}
    ends = {r['task']: re.findall(r'[−-]?\d\.\d+', r['Pearson']) for r in read('tiers.md')}
    pearson = {f'pearson_{task.lower()}': '{}, 95 %: {} to {}'.format(*map(small, x))
               for task,x in ends.items()}
    assert pearson['pearson_sm'][0] == '−' and abs(score['PNS','high'] - score['PNS','low']) < .5
    return dict(high_ss=between(higher['SS'], 0), high_nmc=between(higher['NMC'], 0),
                unseen=points(score['PNS','seen'] - score['PNS','unseen'])) | pearson

def typology():
    least = min(number(r['p (Mantel)']) for r in read('typology.csv'))
    assert least > .05
    return dict(mantel=small(str(least)))

def listed(texts): return ' and '.join(filter(None, [', '.join(texts[:-1]), texts[-1]]))

def translations():
    spread = {r['task']: number(r['highest']) - number(r['lowest']) for r in read('translations.md')}
    return dict(spread=listed([f'{points(x)} ({t})' for t,x in sorted(spread.items(), key=lambda x: -x[1])]))

def retrieval():
    rows = [r for r in rows_of(TABLES/'retrieval.md') if r['model'] == 'student']
    found = {r['foreign']: number(r['margin →']) for r in rows}
    full = [x for code,x in found.items() if code in SEEN and not code.startswith('eng')]
    return dict(found=between(full, 0)) | {name: points(found[code], 0) for name,code in WEAK.items()}

def ranks():
    row, = read('ranks.md')
    runs = read('ranks.csv')
    assert {r['model'] for r in runs if float(r['tuned']) > 0} == {'student', 'student-fifth'}
    above = lambda side: f"{sum(float(r[side]) > 0 for r in runs)} of {len(runs)}"
    return dict(models=row['models'], limit=row['rows'], bibles=row['translations'],
                tau=small(row['mean τ']),
                tau_ends=re.sub(r'[−-]?\d\.\d+', lambda m: small(m[0]), row['95 %']),
                tau_of_means=small(row['τ of the means']), learned=above('tuned'), told=above('probe'))

def power():
    rows = read('power.csv')
    ends = lambda r, name: f"{points(float(r[name]))} (95 %: " \
                           f"{points(float(r[f'{name}_low']))} to {points(float(r[f'{name}_high']))})"
    each = lambda name: listed([f"{ends(r, name)} on {r['task']}" for r in rows])
    assert not {r['task'] for r in rows} & {'SM','SS'}
    return dict(seed_sds=each('sd'), told_apart=each('seeds_3'))

def items():
    table = {r['task']: r for r in read('items.csv')}
    verses, models = ([float(r[f'sd {x}']) for r in table.values()] for x in ('verses','models'))
    wrong = listed([f"{table[t]['suspects']} of {table[t]['rows']} test verses of {t}"
                    for t in ('PNS','SM','NMC')])
    return dict(sd_verses=between(verses), sd_models=between(models, 2), wrong=wrong,
                answers=max(int(r['models × translations']) for r in table.values()))

FIGURES = [transfer_by_probe, weak_sources, transfer, few_shot, tiers, typology, translations, retrieval,
           ranks, power, items]

def with_findings(page):
    "The page with findings made anew"
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found: raise SystemExit(f'no {BEGIN.strip()} ... {END.strip()} in the page')
    said = {name: text for make in FIGURES for name,text in make().items()}
    return before + BEGIN + FINDINGS.format(**said) + END + after

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help='only say whether the page would change')
    page = EARLIER/'README.md'
    old = page.read_text(encoding='utf-8')
    new = with_findings(old)
    if parser.parse_args().check: sys.exit(f'{page}: not as the tables say' if old != new else 0)
    page.write_text(new, encoding='utf-8')

if __name__ == '__main__': main()
