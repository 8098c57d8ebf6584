"""Does a choice whose texts nobody has read say less about memory?

    python benchmarks/fresh.py BIBLE OTHER_TRANSLATION   # nbs/datasets/choices/words.ipynb has the figures

In a fresh row another content word of both choices is replaced alike by one as frequent, so that neither is
the verse. N-gram models read all but a part of the train verses of BIBLE and, as much again: that part (other
text), the tested verses in OTHER_TRANSLATION, or the tested verses themselves. Rows are those of test with
fresh forms of both kinds. Texts must have blanks between words.
"""
import argparse
from itertools import chain

from pronto.bibles.reading import read_bible
from pronto.bibles.versification import to_english, weigh_versifications
from pronto.core.tables import markdown_table
from pronto.datasets.align import readable_verses
from pronto.datasets.choices.cues import shared_right
from pronto.datasets.choices.reading_curve import KneserNey
from pronto.datasets.choices.text import ChoiceText, drawn
from pronto.datasets.choices.words import Partners
from pronto.datasets.tasks import WC, WO, WX

MODELS = {'3 words': (str.split, 3), '7 letters': (str, 7)}
READ = 'other text', 'another translation', 'the verses'

def verses_of(path):
    bible = read_bible(path)
    return readable_verses(to_english(bible, weigh_versifications(bible, 'auto').scheme))

def freshened(text, partners, row, is_near):
    "The choices of a row with another word replaced in both; `None` if no word can be"
    choices = [choice.split(' ') for choice in row.choices]
    changed = [i for i,both in enumerate(zip(*choices)) if len({*both}) > 1]
    for place in text.places(row.ref):
        far = min(abs(place - i) for i in changed)
        word = choices[0][place]
        if (far != 1 if is_near else far < 3) or not partners.has(word.lower()):
            continue
        found = (partners.of(word.lower(), alike, drawn('fresh', row.ref)) for alike in (True, False))
        new = next(chain.from_iterable(found), None)
        if new:
            return [' '.join([*own[:place], new, *own[place+1:]]) for own in choices]

def rows_of(text, task):
    "Each test row with its choices as they are, with a neighbour of the change replaced, with a word apart"
    partners = Partners(text)
    for row in task.of_text(text)['test']:
        near, apart = (freshened(text, partners, row, is_near) for is_near in (True, False))
        if near and apart:
            yield row, dict(verbatim=row.choices, near=near, apart=apart)

def readings(text, other):
    "What each model reads"
    train = [said for ref,said in text.verses.items() if text.splits.get(ref) == 'train']
    tested = {ref: said for ref,said in text.verses.items() if text.splits.get(ref) == 'test'}
    n, kept, more = sum(map(len, tested.values())), [], []
    for said in train[::7] + [said for i,said in enumerate(train) if i % 7]:
        enough = sum(map(len, more)) >= n
        (kept if enough else more).append(said)
    there = [other[ref] for ref in tested if ref in other]
    return dict(zip(READ, (kept + more, kept + there, kept + list(tested.values()))))

def score(model, cut, found, form):
    "How often a model is right, in percent"
    values = [-model.nats([cut(choice) for choice in forms[form]]) for _,forms in found]
    return 100*shared_right(values, [row.answer for row,_ in found])

def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    for name in 'bible', 'other': parser.add_argument(name)
    args = parser.parse_args()
    text, other = ChoiceText(verses_of(args.bible)), verses_of(args.other)
    read, rows = readings(text, other), {task: list(rows_of(text, task)) for task in (WO, WC, WX)}
    table = []
    for name,(cut, order) in MODELS.items():
        models = {what: KneserNey([cut(said) for said in said_all], order) for what,said_all in read.items()}
        for task,found in rows.items():
            for form in 'verbatim', 'near', 'apart':
                own = [score(models[what], cut, found, form) for what in READ]
                more = [f'{x - own[0]:+.1f}' for x in own[1:]]
                table.append([name, task.abbr, len(found), form, *(f'{x:.1f}' for x in own), *more])
    header = ['n-grams', 'task', 'rows', 'choices', *READ, 'translation adds', 'verses add']
    print(markdown_table(header, table, 'llll' + 'r'*5))

if __name__ == '__main__': main()
