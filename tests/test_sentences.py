"""Every number in a sentence is computed again from the files of its tables, by code that makes no sentences

`AGAIN` has a function for each question: from the rows of its files to what its sentences must say, a list of numbers for
each of them, in their order. They are asked of the committed studies, of the runs of the demo, and of small stores.
"""
import csv, inspect, json, os, re, zipfile
from collections import Counter, defaultdict
from statistics import mean, median

import matplotlib.pyplot as plt
import pytest

from conftest import ROOT
from pronto.core.files import content_hash
from pronto.core.tables import csv_rows, read_table
from pronto.lab.questions.mixes import CONDITIONS
from pronto.core.offers import offers
from pronto.reporting.questions.question import Options, ask_runs, find_question
from pronto.runs.schema import Run
from pronto.runs.store import read_runs
from test_questions import LANGUAGES, over_languages, source, store, tagged, tasks, verses, words  # noqa: F401

TABLES = ROOT/'paper_tables'

# What is read: files, and numbers

def files_of(folder, stems): return {s: list(csv.DictReader((folder/f'{s}.csv').open(encoding='utf-8'))) for s in stems}

def value(text): return float(text.lstrip("'").replace('−', '-').replace(',', '').strip('+% '))

def by(rows, *columns):
    groups = defaultdict(list)
    for row in rows: groups[tuple(row[c] for c in columns)].append(row)
    return groups

_CONSTANT = re.compile(r'95 %|80 % of cases|75 % or more')
_NUMBER = re.compile(r'(?<![\w.−+-])[−+-]?\d[\d,]*(?:\.\d+)?(?!\w)')

def numbers_in(text, names):
    "The numbers of a sentence that belong to no name"
    for name in sorted(filter(None, names), key=len, reverse=True): text = text.replace(name, 'NAME')
    return _NUMBER.findall(_CONSTANT.sub('', text))

def is_of(text, number):
    "Is it this number, rounded once?"
    return abs(value(text) - number) <= .5*10**-len(text.partition('.')[2]) + 1e-9

def assert_says(sentence, numbers, names):
    left = list(numbers)
    for text in numbers_in(sentence, names):
        same = next((x for x in left if is_of(text, x)), None)
        assert same is not None, f'{text} is none of {left}: {sentence}'
        left.remove(same)
    assert not left, f'not said: {left}: {sentence}'

# What each question must say. Keys of the files are without the metric at the end of their names

def of_cells(t):
    cells = [r for rows in t.values() for r in rows if r.get('seeds') and r.get('ours')]
    compared = [own for own in by(cells, *'bible task protocol rules source limit splits'.split()).values() if len(own) > 1]
    wins, lost = Counter(), 0
    for own in compared:
        fair = [r for r in own if float(r['over_baseline'] or 0) >= 0 and r['collapsed'] in ('', '0')]
        score = {r['system']: float(r['ours'])*(-1 if r['metric'] == 'mae' else 1) for r in fair}
        wins.update(name for name,x in score.items() if x == max(score.values()))
        lost += not fair
    most = [max(wins.values())] if wins else []
    above = sum(r['above_baseline'] == 'True' for r in cells)
    counted = [above]*bool(above) # Else it says "none"
    scores = [len(cells), len({r['bible'] for r in cells}), len({r['task'] for r in cells}), *counted]
    return [[*most, len(compared), lost]]*bool(compared) + [scores]

def of_errors(t):
    groups = by(t['errors'], 'same_language', 'task', 'model', 'protocol', 'base')
    found = []
    for same in 'False', 'True':
        for key,rows in groups.items():
            columns = [[float(r[c]) for r in rows if r[c]] for c in ('if_right','if_wrong','same','chance')]
            if key[0] == same and all(columns): found.append([*map(mean, columns), *[len(rows)]*(len(rows) > 1)])
    return found

def of_transfer(t):
    means = next(rows for stem,rows in t.items() if stem.endswith('-summary'))
    gaps = next(rows for stem,rows in t.items() if stem.endswith('-gaps'))
    found = []
    for r in means:
        own = [g for g in gaps if g['source'] == r['source'] != g['target'] and g['task'] == r['task'] and g['in_language']]
        flat = sum(int(g['collapsed']) for g in own)
        assert len(own) == int(r['targets']) and flat == int(r['collapsed'])
        ends = [float(r[end]) for end in ('gap_low','gap_high') if r[end]]
        if r['gap']: found.append([float(r['gap']), *ends, int(r['rows']), len(own), *[flat]*(0 < flat < len(own))])
    return found

def of_resources(t):
    if 'resources' not in t: return [[]]
    for r in t['resources']:
        ends = [float(r[x]) for x in ('low','high') if r['low']]
        side = (ends[0] > 0) - (ends[1] < 0) if ends and float(r['p']) <= .05 else 0
        assert bool(ends) == (int(r['languages']) > 4 and bool(r['pearson'])) and int(r['direction'] or 0) == side
    return [[float(r['pearson']), int(r['languages'])] for r in t['resources'] if r['pearson']]

def of_tiers(t):
    found = []
    for rows in by(t['tiers'], 'task', 'model', 'protocol', 'source').values():
        tier = {r['tier']: r for r in rows}
        parts = [tier[x] for x in ('high','mid','low') if x in tier]
        if not {'seen','unseen'} <= tier.keys(): continue
        n = sum(int(r['languages']) for r in parts)
        assert abs(sum(float(r['mean'])*int(r['languages']) for r in parts)/n - float(tier['seen']['mean'])) < .011
        found.append([x for r in (tier['seen'], tier['unseen']) for x in (float(r['mean']), int(r['languages']))])
    return found

def of_subset(t):
    groups = by(t['subset'], 'task', 'model', 'protocol', 'source').values()
    return [[float(r[c]) for c in ('chosen','languages','of_chosen','of_all','random')] for own in groups for r in own[1:] or own]

def of_consistency(t):
    found = []
    for (*_, rows, _, _),some in by(t['consistency'], 'protocol', 'recipe', 'rows', 'kind', 'source').items():
        apart, taus = ([mean(x) for own in by(some, 'task').values() if (x := [float(r[c]) for r in own if r[c]])]
                       for c in ('mean','tau'))
        found.append([*{min(apart): 0, max(apart): 0}, *taus] if len(apart) > 1 else [*apart, *taus])
        if rows != 'all': found[-1].append(int(rows))
    return found

def of_order(t):
    rows, found = t['order'], []
    judged = [r for r in rows if r['read'] == 'True' and r['low']]
    chosen = {(r['protocol'], r['limit']) for r in judged if float(r['low']) > 0 and float(r['pairs']) >= .75}
    if judged: found.append([int(limit) for _,limit in chosen if limit])
    for (_, limit, _),some in by(rows, 'protocol', 'limit', 'read').items():
        n = {int(r['translations']) for r in some}
        one = [*map(int, filter(None, [limit])), *sorted({min(n), max(n)})]
        for r in some: one += [float(r['tau']), *(float(r[x]) for x in ('low','high') if r[x]), 100*float(r['pairs'])]
        found.append(one)
    return found

def of_ranks(t):
    return [[*(int(r[c]) for c in ('limit','models','translations') if r[c]), *(float(r[c]) for c in ('tau','low','high') if r[c])]
            for r in t['ranks']]

def of_seen(t):
    found = []
    for rows in by([r for s in ('seen-tags','seen-names') for r in t.get(s, ())], 'task', 'model', 'protocol').values():
        for crossed in False, True:
            own = [r for r in rows if (r['trained'] != r['tested']) is crossed and int(r['n'])]
            share = {(r['kind'].removeprefix('trigrams, '), r['trained'], r['tested']): 100*int(r['right'])/int(r['n']) for r in own}
            pairs = [p for k,*p in share if k == 'seen' and ('unseen', *p) in share]
            if pairs: found.append([mean(share[kind, *p] for p in pairs) for kind in ('seen','unseen')])
    return found

def of_mixes(t):
    found = [[int(r['targets']), *(float(r[f'minus_in{end}']) for end in ('', '_low', '_high') if r[f'minus_in{end}'])]
             for r in t['mixes-differences']]
    flat = sum(int(r['collapsed']) for r in t['mixes'])
    return found + [[flat, len(t['mixes'])]]*bool(flat)

def of_curves(t):
    "The number where the lines between two sizes cross, as far as the scores of the file say it"
    texts = dict.fromkeys((r['task'], r['model'], r['target'], r['equal to zero-shot']) for r in t['few-shot'])
    found = []
    for task,model,target,text in texts:
        for part in filter(None, text.split('; ')):
            start, _, said = part.partition(': ')
            score = {(r['after'], r['size']): float(r['score']) for r in t['few-shot']
                     if (r['task'], r['model'], r['target']) == (task, model, target)}
            alone = {int(r['examples']): float(r['score']) for r in t['few-shot']
                     if (r['task'], r['model'], r['target'], r['after']) == (task, model, target, '')}
            n, below = re.match(r'(?:above |below )?([\d,]+)', said), [m for m,x in alone.items() if x < score[start, '0']]
            assert not below or value(n[1]) >= min(below), text # Not before the curve is above
            found.append([value(x) for x in re.findall(r'[\d,]+', said)])
    return found

def of_prompting(t):
    return [[*(float(r[c]) for c in ('score','low','high') if r[c]), *[int(r['examples'])]*(r['examples'] != '0')] for r in t['prompting']]

def of_retrieval(t):
    found = [[*(100*mean(float(r[c]) for r in rows) for c in ('xtreme','margin')), len(rows)]
             for rows in by(t['retrieval'], 'model').values()]
    for rows in by(t.get('representations', ()), 'model').values():
        share = {r['representation']: 100*float(r['found']) for r in rows}
        layers = [share[f'layer {i}'] for i in range(len(share)) if f'layer {i}' in share]
        found.append([layers.index(max(layers)), 0, len(layers) - 1, max(layers), share['first token']])
    return found

def of_perplexity(t):
    found = []
    for rows in by([r for r in t['perplexity'] if float(r['unknown']) < .2], 'dataset', 'predicts').values():
        bits = {r['model']: float(r['bits_per_character']) for r in rows}
        if len(bits) > 1: found.append(sorted(bits.values())[:2])
    return found

def of_memory(t):
    above = lambda r: r['known_low'] and float(r['known_low']) > float(r['ngram_known'])
    return [[100*float(r['exact'])] if r['exact'] else [] for r in t['memory'] if r['exact'] or above(r)]

def of_languages(t):
    numbers = [sorted(float(r['number']) for r in rows) for rows in by(t['languages'], 'model', 'protocol').values()]
    return [[median(n), len(n), n[0], n[-1], 100] for n in numbers]

AGAIN = {'accuracy': of_cells, 'errors': of_errors, 'resources': of_resources,
         'tiers': of_tiers, 'subset': of_subset, 'consistency': of_consistency, 'order': of_order, 'probe': of_ranks,
         'seen': of_seen, 'mixes': of_mixes, 'few-shot': of_curves, 'prompting': of_prompting,
         'retrieval': of_retrieval, 'perplexity': of_perplexity, 'memory': of_memory, 'languages': of_languages,
         **dict.fromkeys(('transfer','transfer-probe','transfer-prompting'), of_transfer)}

def check(name, folder, stems, sentences, metric=''):
    "Are all numbers of the sentences, and no others, those of the files? True if there is a sentence"
    files = {stem.removesuffix(f'-{metric}'): rows for stem,rows in files_of(folder, stems).items()}
    rows = [r for some in files.values() for r in some]
    expected, names = AGAIN[name](files), {r.get(c) for r in rows for c in ('model','recipes','mix','base')}
    assert len(expected) == len(sentences), (expected, sentences)
    for sentence,numbers in zip(sentences, expected): assert_says(sentence, numbers, names)
    return bool(sentences)

def test_every_question_is_checked():
    assert AGAIN.keys() == offers('questions').keys()

@pytest.mark.parametrize('study, name', [(study, name) for study in ('real','breadth') for name in
                                         dict.fromkeys(r['question'] for r in csv_rows((TABLES/study/'answers.csv').read_text()))])
def test_the_studies_say_what_their_tables_say(study, name):
    answers = [r for r in csv_rows((TABLES/study/'answers.csv').read_text(encoding='utf-8')) if r['question'] == name]
    for metric,some in by(answers, 'metric').items():
        stems = [r['table'] for r in some]
        tables = [read_table(TABLES/study/f'{stem}.csv') for stem in stems]
        check(name, TABLES/study, stems, find_question(name).sentences(tables, metric[0]))

# Figures of one row, in its sentence and in its table

_PRINTED = {'resources': 'resources', 'order': 'order', 'probe': 'ranks', 'prompting': 'prompting',
            'transfer': 'transfer-summary', 'transfer-probe': 'transfer-probe-summary', 'subset': 'subset', 'tiers': 'tiers'}

@pytest.mark.parametrize('study, name', [(s, n) for s in ('real','breadth') for n,stem in _PRINTED.items()
                                         if (TABLES/s/f'{stem}.md').exists()])
def test_a_sentence_and_a_table_show_a_figure_alike(study, name):
    "Rounded once: each figure with decimals stands in the table, too"
    stem = _PRINTED[name]
    text = (TABLES/study/f'{stem}.md').read_text(encoding='utf-8')
    cells = {x for line in text.splitlines() if line.startswith('|') for x in re.findall(r'[\d.]+', line)}
    table = read_table(TABLES/study/f'{stem}.csv')
    said = {x for line in find_question(name).sentences([table], 'accuracy') for x in re.findall(r'\d+\.\d+', line)}
    assert said and said <= cells

# Stores whose runs are at hand

GOLDEN = ROOT/'tests'/'golden.json'

def check_golden(place, reply):
    "Are the cells of its tables as they were? With `PRONTO_GOLDEN=write` they become what is expected"
    text = json.dumps([table.rows for table in reply.tables])
    known, digest = json.loads(GOLDEN.read_text(encoding='utf-8')), content_hash(text.encode(), size=8)
    if os.environ.get('PRONTO_GOLDEN') == 'write':
        known['questions'][place] = digest
        GOLDEN.write_text(json.dumps(known, indent=1) + '\n', encoding='utf-8')
    assert known['questions'][place] == digest, f'{place} changed; if it should: PRONTO_GOLDEN=write pytest {__file__}'

def asked(name, records, out, **options):
    "Ask, write the tables, and check what is said with their files and with what is printed"
    options = {k: str(v) for k,v in options.items()}
    reply = ask_runs(name, records, Options(**options))
    reply.write(out)
    plt.close('all')
    check_golden(f'{inspect.stack()[1].function.removeprefix("test_")}: {name}', reply)
    for metric,tables in reply.by_metric.items():
        lines = reply.question.sentences(tables, metric)
        assert check(name, out, [t.stem for t in tables if t.rows], lines, metric)
    return reply

@pytest.fixture(scope='module')
def demo(tmp_path_factory):
    "The runs of the demo: three models of three languages on five tasks"
    folder = tmp_path_factory.mktemp('demo')
    with zipfile.ZipFile(TABLES/'demo_runs.zip') as z: z.extractall(folder)
    return read_runs(folder/'runs')

@pytest.mark.slow
@pytest.mark.parametrize('name', ['accuracy', 'errors', 'resources'])
def test_the_demo_says_what_its_files_say(demo, tmp_path, name): asked(name, demo, tmp_path)

@pytest.mark.slow
def test_languages_say_what_their_files_say(tmp_path):
    "The size of a Wikipedia, tiers, a selection, other rows and other test sets"
    six = LANGUAGES | dict(deu=65, wol=55)
    for model in 'xlm-roberta-base', 'bert': over_languages(tmp_path/'runs', six, model=model, protocol='probe')
    store(tmp_path/'runs', 'eng2', verses(range(40)), language='eng', model='bert', protocol='probe')
    facts = tmp_path/'facts.tsv'
    facts.write_text('model\tlanguage\tshare\n' + ''.join(f'bert\t{x}\t{n}\n' for n,x in enumerate(six)))
    for name,more in (('resources', {}), ('tiers', dict(file=facts)), ('subset', dict(file='eng,swh')), ('errors', {}),
                      ('consistency', {})):
        asked(name, read_runs(tmp_path/'runs'), tmp_path/name, protocol='probe', **more)

@pytest.mark.slow
def test_trainings_say_what_their_files_say(tmp_path):
    "Transfer by three protocols, few-shot, mixes, probes beside fine-tuning, and a known order"
    runs, tuned = tmp_path/'runs', dict(hyperparameters=dict(learning_rate=1.))
    def rows(n): return [r | dict(ngram='1') for r in verses({i*7 % 100 for i in range(n)})]
    for seed in range(3):
        for code,n in dict(eng=10, fra=20, wol=30).items():
            for protocol,more in (('transfer', tuned), ('transfer-probe', {}), ('transfer-prompting', {})):
                own = dict(transfer='in-language').get(protocol, protocol.removeprefix('transfer-'))
                for model,less in dict(none=20, some=8, all=0, bert=4).items():
                    store(runs, code, rows(n + less + seed), seed=seed, protocol=own, mcc=1 - (n + less)/100, language=code,
                          model=model, **more)
                store(runs, code, rows(n + 5*seed), seed=seed, protocol=protocol, trained_on=source('eng'), language=code, **more)
            for size in 50, 100:
                store(runs, code, rows(n + 500//size + seed), seed=seed, protocol='few-shot', counts=dict(train=size, test=100),
                      trained_on=[source(code)[0] | dict(size=size, draw=1)], condition=f'{size} examples, draw 1', **tuned)
            store(runs, code, rows(n + 8 + seed), seed=seed, protocol='few-shot', trained_on=source('eng'),
                  counts=dict(train=100, test=100), **tuned)
            for condition,less in dict(zip(CONDITIONS, (5, 0, 2, 3, 1))).items():
                store(runs, code, rows(n + less*seed), seed=seed, protocol='mixes', condition=condition,
                      trained_on=[source('eng')[0] | dict(size=50 + less)], **tuned)
    read = tmp_path/'read.csv'
    read.write_text('model,language,share,verses\n' + ''.join(f'{m},{x},{n},{n}\n' for m,n in (('none', 0), ('some', 10), ('all', 20))
                                                             for x in ('eng','fra','wol')))
    for name in 'transfer', 'transfer-probe', 'transfer-prompting', 'few-shot', 'mixes', 'probe', 'order', 'prompting':
        reply = asked(name, read_runs(runs), tmp_path/name, **(dict(file=read) if name == 'order' else {}))
        if name == 'few-shot': assert '| 84.0 | 81.0 |' in reply.markdown() # 100 of the examples, and all 100

def test_searches_and_readings_say_what_their_files_say(tmp_path):
    def search(model, foreign, share):
        found = [dict(setting=s, layer=1, query=q, accuracy=round(share + n/50, 4), interval=[share/2, min(1, 2*share)])
                 for s,queries in dict(xtreme=['eng'], margin=[foreign, 'eng'], csls=[foreign, 'eng']).items()
                 for n,q in enumerate(queries)]
        kinds = dict(layers=[share/3, share, share/2], thirds=[share]*3, first=[share/4])
        return Run(model=model, dataset=foreign, train=['eng'], protocol='retrieval', task='retrieval', recipe='search',
                   trained_on=[dict(code='eng')], counts=dict(test=730), mexa=[share/2]*3, mexa_100=[share]*3, scores=found,
                   representations=kinds)
    asked('retrieval', [search(m, x, s) for m,x,s in (('a', 'wol', .1234), ('a', 'fra', .3456), ('b', 'wol', .2222))], tmp_path/'r')
    def reading(model, bits, against='', protocol='perplexity', **more):
        about = dict(bits_per_character=bits, bits_per_verse=90*bits, tokens_per_verse=40., tokens_per_character=.3, pieces=0.)
        return Run(model=model, dataset='wol', protocol=protocol, task=protocol, recipe=protocol, predicts='causal', accuracy=None,
                   counts=dict(test=700), train=[against]*bool(against), intervals=dict(bits_per_character=[bits - .1, bits + .1]),
                   **about | more)
    asked('perplexity', [reading('a', 1.23456), reading('a', 1.23456, 'eng'), reading('b', 1.3)], tmp_path/'p') # Once for each model
    knows = dict(exact=.1234, ngram_exact=.01, chrf=20., ngram_chrf=9.), dict(known=.7, ngram_known=.5)
    ends = dict(exact=[.1, .2]), dict(known=[.6, .8])
    runs = [reading(m, 1., 'eng', 'memory').but(memory=known, intervals=of) for m,known,of in zip('ab', knows, ends)]
    reply = asked('memory', runs, tmp_path/'m')
    assert 'completes' not in reply.sentences[1] # It was not asked to

def test_taggers_say_what_their_files_say(tmp_path, tasks): # noqa: F811
    "In one language, and from two others, which count for themselves"
    trained = {x: [dict(code=x, split='train', dataset_hash=tagged(tmp_path/'data', x, 'names', [(f'Simon {x}', 'B-PER I-PER')]))]
               for x in ('eng','fra')}
    for x,own in trained.items():
        for code,said in dict(swh='B-PER I-PER', luo='B-PER O').items():
            store(tmp_path/'runs', code, words((f'Simon {x}', 'B-PER I-PER', said), ('Yohana', 'B-PER', 'B-PER')), task='names', f1=.5,
                  protocol='transfer', trained_on=own)
    reply = asked('seen', read_runs(tmp_path/'runs'), tmp_path/'t', file=tmp_path/'data', protocol='')
    assert 'luo from eng, luo from fra' in reply.sentences[0]
