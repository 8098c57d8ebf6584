"""How good are word alignments, and does `pronto quality draft` find errors that are planted in real Bibles?

    python benchmarks/alignments.py links DATA   # paper_tables/alignments.*, pronto/facts/alignments.tsv
    python benchmarks/alignments.py drafts DATA  # paper_tables/drafts.*

DATA holds alignments/, ud/ and bibles/. In three Bibles a hundred verses are spoilt, and the hundred that
come first are counted: in 34 a name is replaced by another one, in 34 between 30 and 60 % of the text are cut
off, and 16 pairs of verses are exchanged. Where a name stands is known from the alignment of the whole text.
"""
import argparse, time
from collections import Counter
from pathlib import Path
from random import Random

from pronto.bibles.reading import read_bible
from pronto.bibles.versification import choose_versification, to_english
from pronto.core.tables import Table, csv_text
from pronto.datasets.word_align import plain_word
from pronto.quality.alignment_scores import alignment_scores, alignment_table
from pronto.quality.drafts import make_draft, unusual_verses
from pronto.quality.gold_alignments import read_greek

TREEBANKS = 'got_proiel', 'la_proiel', 'cu_proiel', 'cop_scriptorium'
BIBLES = {'French (Segond)': 'usfm/fraLSG', 'Wolof': 'ces/Wolof-NT.xml', 'Swahili': 'ces/Swahili-NT.xml'}
KINDS = {'name': 'name missing', 'cut': 'too short', 'exchanged': 'perhaps exchanged'}

def links(data):
    "The table of the quality of alignments, and its figures for the cards of datasets"
    banks = [f for name in TREEBANKS for f in sorted((data/'ud').glob(f'{name}-*.conllu'))]
    table = alignment_table(*alignment_scores([data/'alignments'/'ult', data/'alignments'/'helfi', *banks]))
    table.write('paper_tables')
    columns = 'kind', 'alignment', 'measure', 'value', 'low', 'high'
    rows = [{c: round(r[c], 3) if isinstance(r[c], float) else r[c] for c in columns} for r in table.data]
    Path('pronto/facts/alignments.tsv').write_text(csv_text(rows, columns, '\t'), encoding='utf-8')
    return table

def names_in_verses(draft):
    "For each verse with a name that is found: the name and the word that stands for it"
    for n,ref in enumerate(draft.refs):
        found = ((w.lemma, word) for w in draft.source[n] if w.is_name for word in draft.words[n]
                 if plain_word(word, 5) in draft.renderings.get(w.lemma, ()))
        if first := next(found, None): yield ref, *first

def plant(draft, texts, seed=0):
    "The texts with a hundred errors, and their kinds"
    rng, texts, planted = Random(seed), dict(texts), {}
    order = list(draft.refs)
    rng.shuffle(order)
    named = {ref: (lemma, word) for ref,lemma,word in names_in_verses(draft)}
    pool = [(ref, *named[ref]) for ref in order if ref in named]
    for ref,lemma,word in pool[:34]:
        others = [other for _,_,other in pool if plain_word(other, 5) not in draft.renderings[lemma]]
        texts[ref] = texts[ref].replace(word, rng.choice(others), 1)
        planted[ref] = 'name'
    long = [ref for ref,words in zip(draft.refs, draft.words) if len(words) >= 8]
    free = [ref for ref in order if ref in set(long) - planted.keys()]
    for ref in free[:34]:
        texts[ref] = texts[ref][:len(texts[ref])*rng.randint(40, 70)//100]
        planted[ref] = 'cut'
    for one,other in zip(free[34:66:2], free[35:66:2]):
        texts[one], texts[other] = texts[other], texts[one]
        planted[one] = planted[other] = 'exchanged'
    return texts, planted

def drafts(data):
    "How many of the first hundred verses have an error"
    greek, rows, records = read_greek(data/'alignments'/'helfi'/'greek'), [], []
    for name,place in BIBLES.items():
        bible = read_bible(data/'bibles'/place)
        texts = to_english(bible, choose_versification(bible)).verses
        began = time.process_time()
        texts, planted = plant(make_draft(texts, greek), texts)
        middle = time.process_time()
        first = [x for x in unusual_verses(make_draft(texts, greek))[:100] if x.ref in planted]
        print(f'{name}: {middle - began:.0f} s to plant, {time.process_time() - middle:.0f} s to find')
        hits, total = Counter(planted[x.ref] for x in first), Counter(planted.values())
        right = sum(KINDS[planted[x.ref]] == x.kind for x in first)
        rows.append([name, len(first), *(f'{hits[k]} of {total[k]}' for k in KINDS), right])
        of_kind = {k: hits[k] for k in KINDS}
        records.append(dict(bible=name, first_hundred=len(first), right_reason=right) | of_kind)
    header = ['Bible', 'Of the first 100', 'Names replaced', 'Verses cut', 'Verses exchanged', 'Right reason']
    note = ('A hundred verses of each New Testament were spoilt, and all were judged beside the Greek. '
            'What else comes first is unusual too: a free translation, or a verse divided in another place.')
    title = 'Planted errors among the hundred most unusual verses'
    table = Table('drafts', title, [(header, rows)], [note], records)
    table.write('paper_tables')
    return table

if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['links','drafts'])
    parser.add_argument('data', type=Path)
    args = parser.parse_args()
    print(globals()[args.what](args.data).markdown())
