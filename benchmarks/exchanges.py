"""Is word order asked better by exchanging words two apart? `python benchmarks/exchanges.py BIBLE...`

Prints for each New Testament, of exchanged neighbours and of exchanged words with one between them, how many
verses of test have such words and how many exchanges n-grams of the train verses do not tell, in percent."""
import sys
from pronto.bibles.reading import read_bible
from pronto.core.refs import NT_BOOKS
from pronto.datasets.align import readable_verses
from pronto.datasets.choices.reading_curve import best_kind, ngram_credits
from pronto.datasets.choices.text import ChoiceText, drawn
from pronto.datasets.choices.words import MOST_ROWS, choice_row
from pronto.datasets.splits import split_of

def exchanged(text, ref, gap):
    "A row with two words of a verse exchanged, where all between them may be changed; `None` without any"
    tokens, places = text.tokens[ref], {*text.places(ref)}
    pairs = [(i, i + gap) for i in sorted(places) if places.issuperset(range(i, i + gap + 1))
             and tokens[i].lower() != tokens[i + gap].lower()]
    if not pairs:
        return None
    i, j = pairs[drawn('word_order place', ref) % len(pairs)]
    wrong = text.changed(ref, {i: tokens[j], j: tokens[i]})
    return choice_row('word_order', ref, text.verses[ref], [wrong], '') if wrong else None

def main(paths):
    for path in paths:
        verses = {ref: text for ref,text in readable_verses(read_bible(path)).items() if ref.book in NT_BOOKS}
        text, train = ChoiceText(verses), [verse for ref,verse in verses.items() if split_of(ref) == 'train']
        texts = tuple(dict.fromkeys(train))
        for gap in 1, 2:
            rows = {split: [exchanged(text, ref, gap) for ref in text.in_order('word_order', split)]
                    for split in ('dev', 'test')}
            dev, test = ([*filter(None, of_split)] for of_split in rows.values())
            right = ngram_credits(texts, test[:MOST_ROWS], *best_kind(texts, dev), (100, 0)).mean()
            print(f'{path}: {gap} apart: {len(test):,} verses, {100 - 100*right:.1f} % not told', flush=True)

if __name__ == '__main__':
    main(sys.argv[1:])
