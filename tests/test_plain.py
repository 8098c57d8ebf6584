"What works on columns gives what a plain implementation gives, also for ties, empty texts and missing verses"
import random
from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

from pronto.core.refs import Ref
from pronto.datasets.pairs import (SEVERAL, _alternate, _by_sense, _match, _place, _same_count, make_uses,
                                   parallel_count_pairs, parallel_sense_pairs)
from pronto.datasets.ngrams import NearestText, near_duplicates

def world(seed):
    "Uses of 300 verses, the uses of a split, and which verses a translation has"
    rng = random.Random(seed)
    senses = [f's{k}' for k in range(rng.choice((2, 8, 40)))]
    rows = [(Ref('MRK', 1, v), sense, rng.choice((1, 2, 2, 3, SEVERAL))) for v in range(300)
            for sense in sorted({rng.choice(senses) for _ in range(rng.randrange(6))})]
    uses, share = make_uses(rows), rng.choice((1, .95, .5, .1))
    among = np.array([u for u in range(len(uses)) if rng.random() < .8], int)
    return uses, among, np.array([rng.random() < share for _ in uses.refs])

def balanced(rings, ring, fits, here):
    "A positive and a negative for each use that takes part, with dictionaries"
    matched = dict(zip(ring, _match(ring, ring[1:] + ring[:1], fits)))
    while True:
        left = [[u for u in one if u in here] for one in rings]
        positives = {u: g for one in left if len(one) > 1 for u,g in zip(one, one[1:] + one[:1])}
        chosen = {u: g for u,g in matched.items() if u in positives and g in positives}
        requests = [u for u in matched if u in positives and u not in chosen]
        supplies = [u for u in matched if u in positives and u not in chosen.values()]
        given = zip(requests, _match(requests, supplies, fits))
        negatives = chosen | {u: g for u,g in given if g >= 0}
        if negatives.keys() == positives.keys(): return {u: (positives[u], negatives[u]) for u in positives}
        here = negatives.keys()

def plain_sense_pairs(uses, among, here):
    often = Counter(uses.sense[among].tolist())
    among = np.array([u for u in among.tolist() if often[uses.sense[u]] > 1], int)
    fits = lambda u,g: uses.sense[u] not in uses.senses_of[uses.verse[g]]
    ring = among[np.argsort(_place(uses, among, 'negative'))].tolist()
    return balanced(_by_sense(uses, among, 'positive'), ring, fits, here)

def plain_count_pairs(uses, among, here):
    found, n_args = {}, uses.n_args.tolist()
    for group in _by_sense(uses, among, 'count'):
        rings = _same_count(group, n_args)
        found |= balanced(rings, _alternate(rings), lambda u,g: n_args[u] != n_args[g], here)
    return found

@pytest.mark.parametrize('quick,plain', [(parallel_sense_pairs, plain_sense_pairs),
                                         (parallel_count_pairs, plain_count_pairs)])
def test_pairs_are_drawn_as_with_dictionaries(quick, plain):
    drawn = 0
    for seed in range(12):
        uses, among, present = world(seed)
        partners = plain(uses, among, {u for u in among.tolist() if present[uses.verse[u]]})
        ref = lambda u: uses.refs[uses.verse[u]]
        expected = [(uses.senses[uses.sense[u]], ref(u), ref(g), label) for u in sorted(partners)
                    for g,label in zip(partners[u], ('same','different'))]
        pairs = list(quick(uses, among, present))
        assert [(e.sense, e.ref1, e.ref2, e.label) for e in pairs] == expected
        drawn += len(pairs)
    assert drawn > 1000

def texts_of(seed, n=40):
    "Short texts of few words, with duplicates, empty ones and some shorter than an n-gram"
    rng = random.Random(seed)
    words = 'and the sea boat boats he they went Went told seed'.split()
    found = [' '.join(rng.choice(words) for _ in range(rng.randrange(5))) for _ in range(n)]
    return found + ['', 'a', found[0]]

def grams(text, n): return [text[i:i+n] for i in range(len(text)-n+1)]

def similarities(texts, asked, known):
    "A list for each text that is asked about"
    counts = {t: Counter(grams(f' {t.lower()} ', 4)) for t in {*texts}}
    having = Counter(g for c in counts.values() for g in c)
    def weigh(c):
        weights = {g: (1 + log(n)) * (1 + log((1 + len(counts))/(1 + having[g]))) for g,n in c.items()}
        length = sqrt(sum(w*w for w in weights.values()))
        return {g: w/length for g,w in weights.items()}
    vectors = {t: weigh(c) for t,c in counts.items()}
    def similarity(a, b): return sum(w*vectors[b].get(g, 0) for g,w in vectors[a].items())
    return [[similarity(a, b) for b in known] for a in asked]

@pytest.mark.parametrize('seed', range(5))
def test_the_nearest_text_is_the_most_similar_one(seed):
    texts = texts_of(seed)
    asked, known, fewer = texts[:15] + ['', 'a'], texts[10:], texts[20:23]
    find = NearestText(texts)
    assert find([], known) == []
    for given,some in (asked, known), (asked[:3], fewer):
        for text,place,row in zip(given, find(given, some), similarities(texts, given, some)):
            if text in some: assert place == some.index(text)
            else: assert row[place] == pytest.approx(max(row), abs=1e-6)

def test_of_texts_that_are_equally_similar_the_last_one_is_nearest():
    known = ['sun and rain', 'sea and rain', 'sun and rain']
    assert NearestText([*known, 'wind', 'rain'])(['wind','rain'], known) == [0, 0]
    assert NearestText([*known[:2], 'wind'])(['wind'], known[:2]) == [1]

@pytest.mark.parametrize('seed', range(5))
def test_near_duplicates_share_half_of_their_8_grams(seed):
    rng, words = random.Random(seed), [f'{a}{b}' for a in 'lorem' for b in 'ipsumdolor']
    texts = [' '.join(rng.choice(words) for _ in range(40)) for _ in range(40)]
    change = lambda text: ' '.join(w if rng.random() > .1 else rng.choice(words) for w in text.split())
    train = {Ref('MRK', 1, v): text for v,text in enumerate([*texts, '', 'short'], 1)}
    others = [*map(change, texts[:20]), texts[30], '', 'short', 'brief']
    test = {Ref('LUK', 1, v): text for v,text in enumerate(others, 1)}
    def share(a, b):
        x, y = {*grams(a, 8)}, {*grams(b, 8)}
        return 1 if a == b else len(x & y)/len(x | y) if x | y else 0
    best = {r: max(round(share(t, text), 4) for text in train.values()) for r,t in test.items()}
    assert near_duplicates(train, test) == {r: s for r,s in best.items() if s >= .5}
    assert 3 < len(near_duplicates(train, test)) < len(test)
