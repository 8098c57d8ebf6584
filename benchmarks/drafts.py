"""Does `pronto quality draft` find errors that are planted in published translations?

    python benchmarks/drafts.py DATA   # paper_tables/drafts.* and draft_checks.*

DATA holds bibles/ and alignments/. In each draw 72 verses are spoilt, in ten ways. Words for numbers and
negations are listed here, so that nothing is planted only where the alignment finds it; names are words
with a capital inside verses whose source has a name. Of translations as they were published, all sure
flags were read: those that are no slip are listed here, too.
"""
import argparse
from collections import Counter
from pathlib import Path
from random import Random
from typing import Callable, NamedTuple

import regex

from pronto.bibles.reading import read_bible
from pronto.bibles.versification import choose_versification, to_english
from pronto.core.refs import Ref
from pronto.core.tables import Table
from pronto.lab.words.word_align import plain_word
from pronto.lab.quality.drafts import make_draft
from pronto.lab.quality.gold_alignments import read_greek
from pronto.lab.quality.unusual_verses import CHECKS, unusual_verses

class Language(NamedTuple):
    "A published translation, and what must be known of its language to spoil it"
    name:str
    place:str
    numbers:str = '' # Nothing is planted where there are none
    negations:str = ''
    foreign:str = '' # The translation that verses are left in

LANGUAGES = [
    Language('French (Segond)', 'usfm/fraLSG', 'deux trois quatre cinq six sept huit dix douze',
             'ne n pas point', 'usfm/eng-web'),
    Language('English (WEB)', 'usfm/eng-web', 'two three four five six seven eight ten twelve', 'not',
             'usfm/fraLSG'),
    Language('Ukrainian', 'ces/Ukranian-NT.xml',
             'два двох три трьох чотири пять шість сім десять дванайцять', 'не', 'usfm/eng-web'),
    Language('Indonesian', 'usfm/id_tsi')]
SEEDS = 0, 1
FIRST = 100

# Each kind spoils one text, and gives nothing where it cannot

_WORD = regex.compile(r'\p{L}[\p{L}\p{M}]*')
_PAIRS = regex.compile(r'[“”«»„()\[\]]')

def replaced(text:str, m, new:str)->str: return text[:m.start()] + new + text[m.end():]

def half_omitted(text, rng, facts):
    words = text.split()
    n = len(words)
    if n < 8:
        return None
    gone = rng.randint(4*n//10, 6*n//10)
    begin = rng.randint(0, n - gone)
    return ' '.join(words[:begin] + words[begin + gone:])

def names_of(text, facts)->list: # Matches
    inside = [m for m in _WORD.finditer(text) if text[:m.start()].endswith(' ')]
    return [m for m in inside if m[0] in facts['names'] and len(m[0]) > 3]

def name_exchanged(text, rng, facts):
    found = names_of(text, facts)
    if not found:
        return None
    m = rng.choice(found)
    others = [name for name in facts['common_names'] if plain_word(name, 4) != plain_word(m[0], 4)]
    return replaced(text, m, rng.choice(others))

def name_misspelt(text, rng, facts):
    found = names_of(text, facts)
    if not found:
        return None
    m = rng.choice(found)
    name, at = m[0], rng.randrange(1, len(m[0]) - 1)
    begin, one, two, rest = name[:at], name[at], name[at + 1], name[at + 2:]
    letter = rng.choice('aeiourstln' if name.isascii() else 'аеиорстлн')
    new = rng.choice([begin + two + rest, begin + one*2 + two + rest, begin + two + one + rest,
                      begin + letter + two + rest])
    return None if new == name or new in facts['vocabulary'] else replaced(text, m, new)

def number_exchanged(text, rng, facts):
    found = [m for m in _WORD.finditer(text) if m[0].lower() in facts['numbers']]
    if not found:
        return None
    m = rng.choice(found)
    return replaced(text, m, rng.choice([n for n in facts['numbers'] if n[:2] != m[0].lower()[:2]]))

def negation_left_out(text, rng, facts):
    gone = regex.compile(rf"\b(?:{'|'.join(facts['negations'])})(?:\b['’]?)\s*", regex.I)
    return regex.sub(r'\s+([,.;:])', r'\1', gone.sub('', text)).strip()

def repeated(text, rng, facts):
    n = rng.choice([1, 4, 5, 6])
    words = text.split(' ')
    if len(words) < n + 4:
        return None
    at = rng.randint(1, len(words) - n - 1)
    part = words[at:at + n]
    return ' '.join(words[:at + n] + part + words[at + n:]) if all(map(str.isalpha, part)) else None

def punctuation(text, rng, facts):
    way = rng.choice(['pair','end','twice'])
    if way == 'end':
        return text[:-1] if text[-1:] in '.!?' else None
    found = list((_PAIRS if way == 'pair' else regex.compile('[,.;:]')).finditer(text))
    if not found:
        return None
    m = rng.choice(found)
    return replaced(text, m, '' if way == 'pair' else m[0]*2)

def foreign(text, rng, facts): return facts['foreign']

class Kind(NamedTuple):
    "A kind of error"
    name:str
    n:int # Verses
    spoil:Callable|None # `None` for pairs of verses that are exchanged

KINDS = [Kind('exchanged far', 8, None), Kind('a name exchanged', 6, name_exchanged),
         Kind('neighbours exchanged', 8, None), Kind('half omitted', 8, half_omitted),
         Kind('left in another language', 6, foreign), Kind('a name misspelt', 6, name_misspelt),
         Kind('a number', 8, number_exchanged), Kind('a negation', 8, negation_left_out),
         Kind('a repeated word or phrase', 6, repeated), Kind('punctuation', 8, punctuation)]
RARE = number_exchanged, negation_left_out, name_misspelt # Few verses have it: those left over are used again

def facts_of(language, texts, source)->dict:
    "What is needed to spoil a text: its names, and words of its language"
    found = [(ref, m) for ref,text in texts.items() for m in _WORD.finditer(text)]
    inside = Counter(m[0] for ref,m in found if texts[ref][:m.start()].endswith(' '))
    lower = {word.lower() for word in inside if not word[:1].isupper()}
    named = {ref for ref in texts if any(w.is_name for w in source.get(ref, ()))}
    with_name = Counter(m[0] for ref,m in found if ref in named)
    names = {word: n for word,n in inside.items()
             if word[:1].isupper() and word.lower() not in lower and with_name[word] >= .8*n}
    common = [word for word,_ in Counter(names).most_common(80)]
    return dict(names=names, common_names=common, vocabulary={*inside, *lower},
                numbers=language.numbers.split(), negations=language.negations.split())

def plant(language, texts, source, others, seed)->tuple[dict,dict]: # `others`: the texts of another language
    "The texts with 72 errors, and the kind of each"
    rng, texts, planted = Random(seed), dict(texts), {}
    facts = facts_of(language, texts, source)
    order = [ref for ref in texts if source.get(ref)]
    known = set(order)
    rng.shuffle(order)
    free = iter(order)
    def beside(ref, step): return Ref(ref.book, ref.chapter, ref.verse + step)
    def taken(ref): return ref not in known or any(beside(ref, step) in planted for step in (-1, 0, 1))
    for name,n,spoil in KINDS:
        done = 0
        while done < n:
            one = next(free)
            if taken(one):
                continue
            if spoil is None:
                other = next(free) if name == 'exchanged far' else beside(one, 1)
                if taken(other) or min(len(texts[one]), len(texts[other])) < 40:
                    continue
                texts[one], texts[other] = texts[other], texts[one]
                planted[one] = planted[other] = name
                done += 2
                continue
            new = spoil(texts[one], rng, facts | dict(foreign=others.get(one)))
            if not new or new == texts[one]:
                continue
            texts[one] = new
            planted[one] = name
            done += 1
            if spoil in RARE:
                free = iter(order)
    return texts, planted

def read_texts(path)->dict: # Under English numbers
    bible = read_bible(path)
    return to_english(bible, choose_versification(bible)).verses

# What was found

def count_found(planted:dict, verses:list)->Counter:
    "How many of each kind stand among the first hundred"
    return Counter(planted[x.ref] for x in verses[:FIRST] if x.ref in planted)

def drafts_table(found:dict[tuple,Counter])->Table: # (Language, seed) to `count_found`
    "A row for each kind, and a column for each draw"
    n_planted = sum(kind.n for kind in KINDS)
    rows = [[kind.name, *(f'{counts[kind.name]} of {kind.n}' for counts in found.values())] for kind in KINDS]
    rows.append(['all', *(f'{counts.total()} of {n_planted}' for counts in found.values())])
    header = ['Error', *(f'{name}, draw {seed + 1}' for name,seed in found)]
    records = [dict(language=name, seed=seed, kind=kind.name, planted=kind.n, found=counts[kind.name])
               for (name,seed),counts in found.items() for kind in KINDS]
    note = ('In each draw 72 verses of a published New Testament were spoilt, and all were judged beside the '
            'Greek. The Ukrainian text has many misprints of its own, which come first, too.')
    return Table('drafts', 'Planted errors among the first hundred verses', [(header, rows)], [note], records)

SURE = [kind for check in CHECKS.values() for kind in check.sure]
NO_SLIPS = { # Sure flags in published translations that a reader finds to be right as they are
    'French (Segond)': {'name misspelt': ['ACT 13:21'], 'no end mark': ['ROM 11:33']},
    'Ukrainian': {'words twice': ['LUK 24:53'], 'name misspelt': ['LUK 3:30']},
    'Indonesian': {'no end mark': ['ROM 11:2']}}

def checks_table(published:dict[str,list])->Table: # Language to `unusual_verses` of the text as published
    "How many flags each sure check gives, and how many are no slip"
    records = []
    for name,verses in published.items():
        for kind in SURE:
            refs = {str(x.ref) for x in verses if x.is_sure and any(flag.kind == kind for flag in x.flags)}
            wrong = refs & {*NO_SLIPS.get(name, {}).get(kind, ())}
            records.append(dict(language=name, kind=kind, flags=len(refs), wrong=len(wrong)))
    rows = []
    for kind in SURE:
        own = [r for r in records if r['kind'] == kind]
        rows.append([kind, *(f'{r["wrong"]} of {r["flags"]}' for r in own)])
    note = ('Verses that a sure check flags in translations as they were published, and how many of these '
            'are no slip, by a reader. Most are misprints, others spell a name in two ways; the verses that '
            'are perhaps exchanged, Philippians 1:16 and 17, have the other order in the Greek beside them.')
    header = ['Evidence', *published]
    return Table('draft_checks', 'Wrong flags in published translations', [(header, rows)], [note], records)

def main(data):
    greek = read_greek(data/'alignments'/'helfi'/'greek')
    found, published = {}, {}
    for language in LANGUAGES:
        texts = read_texts(data/'bibles'/language.place)
        published[language.name] = unusual_verses(make_draft(texts, greek))
        if not language.numbers:
            continue
        others = read_texts(data/'bibles'/language.foreign)
        for seed in SEEDS:
            spoilt, planted = plant(language, texts, greek, others, seed)
            found[language.name, seed] = count_found(planted, unusual_verses(make_draft(spoilt, greek)))
            print(language.name, seed, found[language.name, seed].total(), flush=True)
    for table in drafts_table(found), checks_table(published):
        table.write('paper_tables')
        print(table.markdown())

if __name__ == '__main__':
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=how)
    parser.add_argument('data', type=Path)
    main(parser.parse_args().data)
