"""What damaged sources are read as: where a reader accepts a damaged file, another way of reading finds the same

Damaged USFM is compared with other readers in `test_usfm.py`."""
import json, resource, time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from attack import attack
from pronto.bibles.reading import read_bible
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.core.refs import BOOKS

HERE = Path(__file__).parent

# ACAI

def acai_words(record):
    "Role and first word of each reference, read another way: identifiers of equal length are in order as text"
    roles = dict(explicit_instances='name', pronominal_referents='pronoun', subject_referents='subject')
    by_edition = ((role, (record.get(field) or {}).get(edition, [])) for field,role in roles.items() for edition in ('wlc','SBLGNT'))
    return sorted((role, min(word[1:12] for word in words)) for role,entries in by_edition for words in entries)

def read_acai_twice(path):
    from pronto.sources.acai import read_acai
    found, books = read_acai(path), list(BOOKS)
    record = json.loads(path.read_bytes().decode('utf-8-sig'))
    number = lambda p: f'{books.index(p.ref.book) + 1:02}{p.ref.chapter:03}{p.ref.verse:03}{p.word:03}'
    assert sorted((role, number(place)) for role,place in found.references) == acai_words(record)
    assert (found.id, found.main) == tuple('_'.join(record[k].split()) for k in ('id','primary_id'))
    assert sum(s.n_words for s in found.speeches) == sum(
        len(s['words']) for edition,of in (record.get('speeches') or {}).items() if edition in ('wlc','SBLGNT') for s in of)

# Paratext projects

SETTINGS = '''<ScriptureText><FullName>Toki</FullName><LanguageIsoCode>tok::</LanguageIsoCode>
<Copyright>CC0</Copyright><Versification>4</Versification></ScriptureText>'''

def project(folder):
    (folder/'p').mkdir()
    (folder/'p'/'41MRK.usfm').write_text('\\id MRK\n\\c 1\n\\p\n\\v 1 lo la\n\\v 2 mi ta\n\\c 2\n\\p\n\\v 1 so\n')
    (folder/'p'/'Settings.xml').write_text(SETTINGS)
    (folder/'p'/'custom.vrs').write_text('# changes\nMRK 1:2 2:1\nMRK 1:2 = MRK 1:1\n')

def read_project(folder):
    "Settings change what is said about the text and never the text"
    from pronto.bibles.versification import to_english, weigh_versifications
    found, alone = read_bible(folder), read_bible(folder/'41MRK.usfm')
    assert (found.rows, found.skipped) == (alone.rows, alone.skipped)
    root = ET.fromstring((folder/'Settings.xml').read_bytes())
    if root.tag == 'ScriptureText':
        says = lambda tag: (root.findtext(tag) or '').strip()
        stated = says('LanguageIsoCode').partition(':')[0], says('FullName'), says('Copyright')
        assert (found.language, found.title, found.licence) == stated
    else: assert (found.language, found.stated.scheme) == ('', '')
    to_english(found, weigh_versifications(found, 'auto').scheme)

def acai(folder):
    from test_attack import ACAI
    (folder/'Simon.json').write_text(ACAI)

@pytest.mark.parametrize('make, read, name', [(acai, read_acai_twice, 'Simon.json'), (project, read_project, 'p')], ids=['ACAI','Paratext'])
@pytest.mark.parametrize('n', [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_accepted_is_what_another_reader_finds(make, read, name, n, tmp_path):
    make(tmp_path)
    read(tmp_path/name)
    found, failures = attack(read, tmp_path, name, accepted=InputError, n=n)
    assert not failures, f'{len(failures)} of {n}: {failures[:3]}'
    assert found['result'] and found['refused']

# A Bible of a million verses

@pytest.mark.slow
def test_a_bible_of_a_million_verses(tmp_path, capsys):
    "It is read, numbered and counted in less than a minute of processor time and 3 GB"
    places = ((b, c, v) for b in list(BOOKS)[:66] for c in range(1, 151) for v in range(1, 177))
    rows = (f'{b}\t{c}\t{v}\tlo la mi {i}\n' for i,(b,c,v) in zip(range(10**6), places))
    (tmp_path/'b.tsv').write_text(''.join(rows))
    began = time.process_time()
    assert main(['convert', str(tmp_path/'b.tsv'), '-o', str(tmp_path/'t.tsv')]) == 0
    assert (tmp_path/'t.tsv').read_bytes() == (tmp_path/'b.tsv').read_bytes()
    assert capsys.readouterr().err == 'TSV: 1,000,000 verses\n'
    assert time.process_time() - began < 60 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3e6
