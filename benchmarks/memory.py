"""Are verses that a model has read told apart from those that it has not?

    python benchmarks/memory.py DATASET_DIR OTHER_WORDING_DIR [--folder DIR]   # paper_tables/memory.*

Both are translations into one language, built with parallel splits. Tiny models read, as running text, the
first verses of every second chapter of train; those of the chapters between are held out. Models stay in
--folder, where one that is there is not trained again.
"""
import argparse, tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from pronto.core.tables import Table, decimal
from pronto.demo.tiny_causal import pretrain_causal
from pronto.datasets.loading import load_dataset_folder
from pronto.lab.modeling.memory import Ngrams, answers_about, complete
from pronto.lab.modeling.perplexity import load_reader, read_tokens
from pronto.lab.modeling.pretrain import pretrain
from pronto.lab.modeling.retrieval import verse_texts

VERSES = 2 # The first of each chapter
PASSES = dict(decoder=(4, 16, 64), encoder=(16, 64))
FIGURES = dict(exact='completed exactly', chrf='chrF', min_k='Min-K %', known='this wording', order='order')
DRAWS = 1000

def halves(folder, other):
    "The verses that are read and those that are held out, and all of them in the other wording"
    verses, others = (verse_texts([load_dataset_folder(d)], 'train') for d in (folder, other))
    both = {ref: text for ref,text in verses.items() if ref in others and ref.verse <= VERSES}
    chapters = list(dict.fromkeys(ref.chapter_name for ref in both))
    parts = [{ref: t for ref,t in both.items() if chapters.index(ref.chapter_name)%2 == k} for k in (0, 1)]
    return *parts, {ref: others[ref] for ref in both}

def running(verses):
    "Each verse with the next, so that a model sees their order"
    return [f'{verses[a]} {verses[b]}' for a,b in pairwise(verses) if a.chapter_name == b.chapter_name]

def trained(kind, texts, passes, out):
    if kind == 'decoder': return pretrain_causal(texts, out, passes*len(texts)//16)
    if not (out/'config.json').exists(): pretrain(texts, out, epochs=passes, batch_size=16, vocab_size=2000)
    return out

def asked(model, verses, others):
    "What a model knows about each verse"
    if isinstance(model, Ngrams): return answers_about(model.read, model.finish, verses, others)
    reader = load_reader(model)
    read = lambda texts: {name: nats for name,(_,nats) in read_tokens(reader, texts).items()}
    return answers_about(read, lambda texts: complete(reader, texts), verses, others)

def area(found, read, name):
    "The area under the ROC with its 95 % interval, from chapters drawn anew"
    rows = [(ref.chapter_name, ref in read, values[name]) for ref,values in found.items()
            if values[name] is not None]
    chapters, is_read, value = map(np.array, zip(*rows))
    value = -value if name == 'min_k' else value
    places, draw = [np.flatnonzero(chapters == c) for c in np.unique(chapters)], np.random.default_rng(0)
    drawn = []
    for _ in range(DRAWS):
        some = np.concatenate([places[i] for i in draw.integers(len(places), size=len(places))])
        drawn.append(roc_auc_score(is_read[some], value[some]))
    return float(roc_auc_score(is_read, value)), *map(float, np.quantile(drawn, (.025, .975)))

def share(found, verses, name):
    known = [found[ref][name] for ref in verses if found[ref][name] is not None]
    return 100*sum(known)/len(known)

def row(about, model, read, held, others):
    found = asked(model, read | held, others)
    shares = {f'{name}_{part}': share(found, verses, name) for name in ('exact','known')
              for part,verses in (('read', read), ('held', held))}
    areas = {}
    for name in FIGURES:
        areas[name], areas[f'{name}_low'], areas[f'{name}_high'] = area(found, read, name)
    return about | areas | shares

def measure(folder, other, place):
    read, held, others = halves(folder, other)
    other_read = {ref: others[ref] for ref in read}
    plan = [(kind, 'this wording', read, n) for kind,passes in PASSES.items() for n in passes]
    plan += [(kind, 'the other wording', other_read, max(passes)) for kind,passes in PASSES.items()]
    rows = []
    for kind,what,verses,passes in plan:
        model = trained(kind, running(verses), passes, place/f'{kind}-{what.split()[1]}-{passes}')
        rows.append(row(dict(model=kind, read=what, passes=passes), model, read, held, others))
        print(rows[-1], flush=True)
    about = dict(model='character n-grams', read='this wording', passes=1)
    rows.append(row(about, Ngrams(running(read)), read, held, others))
    return rows, len(read), len(held)

def table(rows, n_read, n_held, names):
    cell = lambda r, name: '{} [{}, {}]'.format(*(decimal(r[name + end], 3) for end in ('','_low','_high')))
    both = lambda r, name: ' / '.join(decimal(r[f'{name}_{part}'], 1) for part in ('read','held'))
    shown = [[r['model'], r['read'], r['passes'], *(cell(r, name) for name in FIGURES), both(r, 'exact'),
              both(r, 'known')] for r in rows]
    header = ['model','read','passes', *FIGURES.values(), 'completed, %: read / held out',
              'this wording preferred, %: read / held out']
    note = (f'Area under the ROC: how often a verse that was read is above one that was not, by what '
            f'`--protocol memory` asks; .5 is chance. 95 % intervals over chapters. {n_read:,} verses of '
            f'{names[0]} were read and {n_held:,} held out; the other wording is {names[1]}. The models are '
            'tiny and read nothing else; larger ones were not tried.')
    return Table('memory', 'Are verses that a model has read told apart?', [(header, shown)], [note], rows,
                 decimals=4)

if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('dataset', type=Path)
    parser.add_argument('other', type=Path)
    parser.add_argument('--folder', type=Path, default=Path(tempfile.gettempdir())/'memory')
    args = parser.parse_args()
    rows, n_read, n_held = measure(args.dataset, args.other, args.folder)
    found = table(rows, n_read, n_held, [args.dataset.name, args.other.name])
    found.write('paper_tables')
    print(found.markdown())
