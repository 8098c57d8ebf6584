"""How good are word alignments?

    python benchmarks/alignments.py links DATA   # paper_tables/alignments.*, pronto/facts/alignments.tsv
    python benchmarks/alignments.py taggers DATA [-m MODEL] # paper_tables/taggers.*

DATA holds alignments/, ud/ (UD_Romanian-Nonstandard among others), bibles/ and acai/; links of the BSB are
in the wheel bible-alignments. Bibles whose words have Strong's numbers are those of the Debian packages
sword-text-sparv, sword-text-web and sword-text-kjv.
"""
import argparse
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pronto.core.tables import Table, csv_text, decimal
from pronto.datasets.loading import sample
from pronto.datasets.splits import split_of
from pronto.lab.words.word_align import Link, align_words, plain_word
from pronto.lab.words.word_tasks import NAMES, POS, UNASKED, LinkedVerse, name_tags, pos_tags
from pronto.lab.quality.alignment_scores import alignment_scores, alignment_table
from pronto.lab.quality.gold_alignments import read_gold, read_greek
from pronto.sources.annotate import annotate
from pronto.lab.words.heads import fit_task
from pronto.lab.suites.kinds import Described, Tagged
from pronto.lab.suites.tasks import suite_task

NUMBERED = 'spaRV1909eb', 'engWEB2015eb', 'engKJV2006eb' # Modules in SWORD
SWORD = Path('/usr/share/sword/mods.d')
TREEBANKS = 'ro_nonstandard', 'la_proiel', 'got_proiel', 'cu_proiel', 'cop_scriptorium'

def bsb():
    "The links of the BSB, where the wheel that has them is installed (pip install --no-deps)"
    try:
        wheel = distribution('bible-alignments')
    except PackageNotFoundError:
        return []
    return [Path(wheel.locate_file('data/eng/alignments/BSB/SBLGNT-BSB-manual.json'))]

def links(data):
    "The table of the quality of alignments, and its figures for the cards of datasets"
    banks = [f for name in TREEBANKS for f in sorted((data/'ud').glob(f'{name}-*.conllu'))]
    bibles = [SWORD/f'{name}.conf' for name in NUMBERED]
    by_hand = [data/'alignments'/'ult', data/'alignments'/'helfi', *bsb()]
    table = alignment_table(*alignment_scores([*by_hand, *banks, *bibles]))
    table.write('paper_tables')
    columns = 'kind', 'alignment', 'measure', 'value', 'low', 'high'
    rows = [{c: round(r[c], 3) if isinstance(r[c], float) else r[c] for c in columns} for r in table.data]
    Path('pronto/facts/alignments.tsv').write_text(csv_text(rows, columns, '\t'), encoding='utf-8')
    return table

def gold_links(verses):
    "Links made by people; of the words that stand for one, that linked with others least carries its tag"
    linked, total = Counter(), Counter()
    for gold,words in verses:
        pairs = [(words[i].lemma, plain_word(gold.target[j], 5)) for i,j in gold.sure | gold.possible]
        linked.update(pairs)
        total.update(stem for _,stem in pairs)
    for gold,words in verses:
        stem = lambda j: plain_word(gold.target[j], 5)
        share = lambda i, j: linked[words[i].lemma, stem(j)]/total[stem(j)]
        pairs = sorted(gold.sure | gold.possible)
        best = dict(sorted(pairs, key=lambda pair: (share(*pair), -pair[1])))
        sure = lambda i, j: .5 if words[i].pos == 'DET' else .6 + .3*share(i, j)
        yield [Link(i, j, sure(i, j) if best[i] == j else .05) for i,j in pairs]

def finnish(data):
    "The verses of Finnish with the links of the aligner, and with those made by people"
    greek = data/'alignments'/'helfi'/'greek'
    words = annotate(data/'acai', words=True, greek=greek).verses
    gold = read_gold(data/'alignments'/'helfi', read_greek(greek)).verses
    verses = [(v, words[v.refs[0]].words) for v in gold if v.target and v.refs[0] in words]
    verses = [(v, found) for v,found in verses if len(found) == len(v.source)]
    lemmas, tokens = [[w.lemma for w in found] for _,found in verses], [v.target for v,_ in verses]
    made = lambda links: [LinkedVerse(v.refs[0], found, v.target, some)
                          for (v,found),some in zip(verses, links)]
    return made(align_words(lemmas, tokens)), made(gold_links(verses))

def tagged(task, verses, tags):
    "Split to rows"
    parts = {s: [] for s in ('train','dev','test')}
    for v,found in zip(verses, tags):
        if found and (s := split_of(v.ref)) in parts:
            parts[s].append(Tagged(str(v.ref), tuple(v.tokens), tuple(found)))
    return parts

SETTINGS = dict(name='taggers', learning_rate=3e-4, batch_size=16, weight_decay=.01, epochs=4, warmup=.1,
                select='accuracy', max_length=128, stride=8, grouped=True)

def answers(task, rows, test, model):
    "What a tagger answers to the test set, by its name"
    for name in 'lookup', 'ngram': yield name, task.baselines[name](task, rows['train'], test)
    if not model: return
    few = dict(train=sample(rows['train'], 1500), dev=sample(rows['dev'], 200), test=test)
    for seed in 0, 1:
        yield 'model', fit_task(model, task, few, SETTINGS, seed=seed, device='cpu').predictions

def taggers(data, model=None):
    "Taggers that learn from projected labels and from labels through gold links, tested on the latter"
    automatic, gold = finnish(data)
    found, records = {}, []
    makers = {NAMES: lambda verses: [name_tags(v) for v in verses], POS: pos_tags}
    for about,make in makers.items():
        task = suite_task(about.stem, Described(**about.described()))
        labels = {'automatic': make(automatic), 'gold': make(gold)}
        both = [(a, b) for a,b in zip(*labels.values()) if a and b]
        asked = [(x, y) for a,b in both for x,y in zip(a, b) if {x, y} != {UNASKED}]
        same = sum(x == y for x,y in asked)/len(asked)
        rows = {name: tagged(task, gold, tags) for name,tags in labels.items()}
        test = rows['gold']['test']
        true, sentences = task.true_labels(test), [i for i,row in enumerate(test) for _ in task.asked(row)]
        for name,parts in rows.items():
            for tagger,said in answers(task, parts, test, model):
                value = task.item_values(task.metric, true, said, sentences).mean()
                print(task.stem, name, tagger, f'{value:.4f}', flush=True)
                found.setdefault((task.stem, tagger), {}).setdefault(name, []).append(value)
        for tagger in 'lookup', 'ngram', 'model':
            if values := found.get((task.stem, tagger)):
                means = {name: sum(some)/len(some) for name,some in values.items()}
                records.append(dict(task=task.stem, tagger=tagger, same_labels=round(same, 4))
                               | {k: round(v, 4) for k,v in means.items()}
                               | dict(difference=round(means['gold'] - means['automatic'], 4)))
    header = ['Task', 'Tagger', 'Labels alike', 'Learns from automatic links', 'From gold links',
              'Difference']
    shown = [[r['task'], r['tagger'], *(decimal(100*r[k], 1) for k in
              ('same_labels','automatic','gold','difference'))] for r in records]
    note = ('Finnish. F1 of spans for names, accuracy for parts of speech, in percent, on the test verses '
            'with the labels that come through gold links. Taggers: the usual tag of each word; for new '
            'words that of their n-grams')
    note += '; an encoder that learns from 1,500 verses, mean of two seeds.' if model else '.'
    title = 'Taggers trained on labels through automatic and through gold links'
    table = Table('taggers', title, [(header, shown)], [note], records)
    table.write('paper_tables')
    return table

if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['links','taggers'])
    parser.add_argument('data', type=Path)
    parser.add_argument('-m', '--model', help='an encoder that is fine-tuned on 1,500 verses')
    args = parser.parse_args()
    more = [args.model] if args.what == 'taggers' else []
    print(globals()[args.what](args.data, *more).markdown())
