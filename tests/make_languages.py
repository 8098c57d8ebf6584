"""Make `pronto/facts/languages.tsv` and `language_groups.tsv` from Glottolog, as qwanqwa has it

    python tests/make_languages.py
"""
import string, warnings
from itertools import product
from pathlib import Path

FACTS = Path(__file__).resolve().parents[1]/'pronto'/'facts'
SOURCE = '# From Glottolog (glottolog.org, CC BY 4.0), by qwanqwa (github.com/WPoelman/qwanqwa); names also of CLDR and IANA'


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


# Glottolog also files languages under headings that are no families: nothing says that their members are related
NO_FAMILIES = {'Artificial Language', 'Bookkeeping', 'Mixed Language', 'Pidgin', 'Sign Language',
               'Speech Register', 'Unattested', 'Unclassifiable'}

# Languages of ISO 639-3 that Glottolog counts as dialects of another or retired: the group of that other one
GROUPS = dict(ahr='Khandesic', akl='West Bisayan', kru='Kurux-Malto', mlz='West Bisayan', mqc='Sula-Buru',
              obu='Central Delta', szn='Sula-Buru', unx='Ho-Mundari', xis='Kurux-Malto')


def groups_of(languoid):
    "The groups that a language is in, the smallest first"
    groups = [group.name for group in languoid.family_tree or ()]
    if not groups and languoid.level and languoid.level.name == 'FAMILY':
        groups = [languoid.name]
    return [] if groups and groups[-1] in NO_FAMILIES else groups


def group_of(languoid, codes):
    "The smallest group that a language is in; `isolate`, or empty if it is not known"
    groups = groups_of(languoid) or [GROUPS[code] for code in codes if code in GROUPS]
    if groups:
        return groups[0]
    is_classified = languoid.glottocode and not languoid.family_tree
    is_language = languoid.level and languoid.level.name == 'LANGUAGE'
    return 'isolate' if is_classified and is_language else ''


def names_of_codes():
    "English names of each code: that of Unicode's CLDR, then those of the registry of IANA"
    import langcodes
    from language_data.registry_parser import parse_registry
    names = {}
    for entry in parse_registry():
        code = entry.get('Subtag', '')
        if entry['Type'] == 'language' and '..' not in code and langcodes.get(code).is_valid():
            names[code] = [langcodes.Language.make(code).language_name(), *entry['Description']]
    return names


def text_of(header, rows):
    return '\n'.join([SOURCE, '\t'.join(header), *map('\t'.join, rows), ''])


def tables(database):
    "Name to text of the two tables, from a `Database` of qwanqwa"
    with warnings.catch_warnings():
        warnings.simplefilter('ignore') # Of codes that were replaced
        languages = codes_of(database)
        names_of = names_of_codes()
    rows, parents, places = [], {}, set()
    for languoid, codes in languages:
        scripts = ' '.join(s.iso_15924 for s in languoid.canonical_scripts)
        place = place_of(languoid)
        group = group_of(languoid, codes)
        code = languoid.bcp_47 or codes[-1]
        is_one = languoid.iso_639_3 # And no collection of languages
        names = dict.fromkeys([*names_of.get(code, ()), languoid.name]) if is_one else ()
        rows.append((' '.join(codes), languoid.bcp_47 or '', group, scripts, *place, '; '.join(names)))
        places.add(place)
        groups = groups_of(languoid)
        parents |= dict(zip(groups, [*groups[1:], '']))
    others = {place_of(languoid) for languoid in database.all_languages} - places
    rows += [('', '', '', '', *place, '') for place in sorted(others)]
    return dict(languages=text_of('codes bcp_47 group scripts latitude longitude names'.split(), rows),
                language_groups=text_of(('name', 'within'), sorted(parents.items())))


if __name__ == '__main__':
    from qq import Database
    for name, text in tables(Database.load()).items():
        (FACTS/f'{name}.tsv').write_text(text, encoding='utf-8')
