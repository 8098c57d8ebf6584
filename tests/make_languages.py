"""Make `pronto/facts/languages.tsv` and `language_groups.tsv` from Glottolog, as qwanqwa has it

    python tests/make_languages.py
"""
import string, warnings
from itertools import product
from pathlib import Path

FACTS = Path(__file__).resolve().parents[1]/'pronto'/'facts'
SOURCE = '# From Glottolog (glottolog.org, CC BY 4.0), by qwanqwa (github.com/WPoelman/qwanqwa)'


def codes_of(database):
    "Every code of two or three letters that is known, by the language that it stands for"
    found = {}
    for n in 2, 3:
        for code in map(''.join, product(string.ascii_lowercase, repeat=n)):
            try:
                languoid = database.guess(code)
            except KeyError:
                continue
            found.setdefault(languoid.id, (languoid, []))[1].append(code)
    return found.values()


def place_of(languoid):
    "Latitude and longitude, empty if they are not known"
    if languoid.latitude is None or languoid.longitude is None:
        return '', ''
    return str(round(languoid.latitude, 2)), str(round(languoid.longitude, 2))


def group_of(languoid):
    "The smallest group that a language is in"
    if languoid.family_tree:
        return languoid.family_tree[0].name
    return 'isolate' if languoid.glottocode else ''


def text_of(header, rows):
    return '\n'.join([SOURCE, '\t'.join(header), *map('\t'.join, rows), ''])


def tables(database):
    "Name to text of the two tables, from a `Database` of qwanqwa"
    with warnings.catch_warnings():
        warnings.simplefilter('ignore') # Of codes that were replaced
        languages = codes_of(database)
    rows, parents, places = [], {}, set()
    for languoid, codes in languages:
        scripts = ' '.join(s.iso_15924 for s in languoid.canonical_scripts)
        place = place_of(languoid)
        rows.append((' '.join(codes), languoid.bcp_47 or '', group_of(languoid), scripts, *place))
        places.add(place)
        groups = [group.name for group in languoid.family_tree or ()]
        parents |= dict(zip(groups, [*groups[1:], '']))
    others = {place_of(languoid) for languoid in database.all_languages} - places
    rows += [('', '', '', '', *place) for place in sorted(others)]
    return dict(languages=text_of('codes bcp_47 group scripts latitude longitude'.split(), rows),
                language_groups=text_of(('name', 'within'), sorted(parents.items())))


if __name__ == '__main__':
    from qq import Database
    for name, text in tables(Database.load()).items():
        (FACTS/f'{name}.tsv').write_text(text, encoding='utf-8')
