"ACAI: read whole, annotated with entities, and used like any other source; the records of the toys are invented"
import json, re

import pytest

from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.core.refs import NT_BOOKS, parse_ref
from pronto.sources.acai import FOLDERS
from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import read_annotations, write_annotations
from pronto.sources.records import EntityMention

PREFIX = dict(people='person', places='place', deities='deity', groups='group', fauna='fauna', flora='flora',
              realia='realia', keyterms='keyterm')

def record(id, main='', names=(), subjects=(), pronouns=(), speech=(), **more):
    "One JSON record; words are Greek or Hebrew identifiers"
    def by_edition(words):
        found = {}
        for w in words: found.setdefault('SBLGNT' if w[0] == 'n' else 'wlc', []).append([w])
        return found
    speeches = {'speeches': {'SBLGNT': [dict(quote_type='Normal', words=list(speech))]}} if speech else {}
    return {'id': id, 'primary_id': main or id, 'explicit_instances': by_edition(names),
            'pronominal_referents': by_edition(pronouns), 'subject_referents': by_edition(subjects)} | speeches | more

@pytest.fixture
def toy_acai(tmp_path):
    "A folder with a record of each kind, and a second name of the person"
    folder = tmp_path/'acai'
    for name,prefix in PREFIX.items():
        (folder/name/'json').mkdir(parents=True)
        word = f'n4300100{len(name)}003'
        (folder/name/'json'/'Toy.json').write_text(json.dumps(record(f'{prefix}:Toy', names=[word])))
    simon = record('person:Simon', 'person:Toy', names=['n43001042009', 'o290030010021'], pronouns=['n43001042004'],
                   speech=['n43001041002', 'n43001041003', 'n43001042001'])
    (folder/'people'/'json'/'Simon.json').write_text(json.dumps(simon))
    return folder

def change(folder, old, new, name='people/json/Simon.json'):
    path = folder/name
    path.write_text(path.read_text().replace(old, new))

def test_the_names_of_an_entity_are_one(toy_acai):
    verses = annotate(toy_acai).verses
    assert [(e.entity, e.role, e.word) for e in verses[parse_ref('JHN 1:42')].entities] \
        == [('person:Toy', 'pronoun', 4), ('person:Toy', 'name', 9)]
    spoken = verses[parse_ref('JHN 1:41')].speeches + verses[parse_ref('JHN 1:42')].speeches
    assert [(s.speaker, s.n_words) for s in spoken] == [('person:Toy', 2), ('person:Toy', 1)]

def test_hebrew_numbers_become_english(toy_acai):
    verses = annotate(toy_acai).verses
    assert verses[parse_ref('JOL 2:28')].entities == (EntityMention('person:Toy', 'person', 'name', 2),)
    assert parse_ref('PSA 51:20') not in verses and parse_ref('MAL 4:6') in verses

def test_the_file_gives_back_entities(toy_acai, tmp_path):
    annotations = annotate(toy_acai)
    write_annotations(annotations, tmp_path/'acai.parquet')
    again = read_annotations(tmp_path/'acai.parquet')
    assert (again.verses, again.source) == (annotations.verses, annotations.source)

def test_files_without_entities_stay_as_they_were(toy_folder, tmp_path):
    import pyarrow.parquet as pq
    write_annotations(annotate(toy_folder), tmp_path/'a.parquet')
    assert 'entities' not in pq.read_schema(tmp_path/'a.parquet').names
    assert read_annotations(tmp_path/'a.parquet').verses

@pytest.mark.parametrize('old,new,says', [
    ('n43001042009', 'n43001099009', "people/json/Simon.json: cannot be read ('n43001099009' is not the identifier of a word)"),
    ('n43001042009', 'n430010420', 'is not the identifier of a word'),
    ('o290030010021', 'o290050010021', 'is not the identifier of a word'), # Joel has four chapters
    ('"primary_id": "person:Toy"', '"primary_id": "Toy"', "its primary_id 'Toy' is not like person:Abel"),
    ('}', '', 'Simon.json: cannot be read'),
    ('"id"', '"name"', "it lacks 'id'"),
    ('"quote_type"', '"type"', "it lacks 'quote_type'"),
    ('[["o290030010021"]]', '[[]]', 'its explicit_instances have [] instead of a list of words'),
    ('[["o290030010021"]]', 'null', 'its explicit_instances are not lists by edition'),
    ('{"id"', '{"referred_to_as": "person:Abel", "id"', 'its referred_to_as is not a list of identifiers'),
    ('"primary_id": "person:Toy"', '"primary_id": "person:\\ud800"', 'holds half a character'),
])
def test_what_would_give_wrong_labels_is_refused(toy_acai, old, new, says):
    change(toy_acai, old, new)
    with pytest.raises(InputError) as e: annotate(toy_acai)
    assert says in str(e.value) and 'pronto fetch acai' in str(e.value)
    assert list(annotate(toy_acai, skip_bad=True).source.skipped) == ['Simon.json']

def test_what_does_no_harm_is_counted(toy_acai, tmp_path, capsys):
    change(toy_acai, '"wlc"', '"BHP"')
    change(toy_acai, '{"id"', '{"referred_to_as": ["person:Nobody", "person:Toy"], "id"')
    assert main(['annotate', str(toy_acai), '-o', str(tmp_path/'a.parquet')]) == 0
    out = capsys.readouterr().out
    assert 'left out 1 instances in the unknown edition BHP' in out
    assert 'left out 1 references to entities that ACAI does not describe' in out
    assert re.match(r'Annotations of 31,0\d\d verses from ACAI', out)

def test_a_part_of_acai_is_refused(toy_acai):
    for f in (toy_acai/'groups'/'json').iterdir(): f.unlink()
    with pytest.raises(InputError, match='contains a part of ACAI only; it lacks groups/json'): annotate(toy_acai)
    assert len(FOLDERS) == 8

def test_the_real_thing(acai):
    named = {'person','place','deity','group'}
    counts = [sum(e.kind in named and e.role == 'name' for e in v.entities) for v in acai.verses.values()]
    assert len(acai.verses) == 31_060 and sum(counts) == 49_882
    assert acai.source.passed_over == {'references to entities that ACAI does not describe': 2}

def _labelled(acai, kinds:set, entities:dict, verses:dict)->tuple[float,float]:
    "Of the verses with the English name of an entity of some kinds, the share in which such an entity is annotated"
    others = {'bear','fly','swallow','crow','saw','must','date'} # Mean something else most of the time
    names = {entities[e.entity] for v in acai.verses.values() for e in v.entities if e.kind in kinds and e.entity in entities}
    def plural(w): return f'{w[:-1]}ies' if w[-1] == 'y' and w[-2] not in 'aeiou' else f'{w}es' if w[-1] in 'sx' or w[-2:] in ('ch','sh') \
        else f'{w[:-1]}ves' if w[-1] == 'f' else f'{w}s'
    words = {x for w in names - others if w.isalpha() and w.isascii() for x in (w, plural(w))}
    having = [ref for ref,text in verses.items() if words & {*re.findall('[a-z]+', text.lower())}]
    shares = []
    for refs in having, [ref for ref in having if ref.book in NT_BOOKS]:
        shares.append(sum(any(e.kind in kinds and e.role == 'name' for e in acai.verses[r].entities) for r in refs)/len(refs))
    return tuple(shares)

def test_animals_and_plants_are_annotated_completely_and_artefacts_are_not(acai, web, testdata):
    "So the task asks for animals and plants only"
    from pronto.bibles.reading import read_bible
    from pronto.bibles.versification import choose_versification, to_english
    bible = read_bible(web)
    found = to_english(bible, choose_versification(bible)).verses
    verses = {ref: text for ref,text in found.items() if ref in acai.verses}
    files = (f for kind in ('fauna','flora','realia') for f in (testdata/'acai'/kind/'json').glob('*.json'))
    records = (json.loads(f.read_text(encoding='utf-8')) for f in files)
    entities = {'_'.join(r['id'].split()): r['localizations'].get('eng', {}).get('preferred_label', '').lower() for r in records}
    share, in_nt = _labelled(acai, {'animal','plant'}, entities, verses)
    assert (round(share, 2), round(in_nt, 2)) == (.92, .97)
    assert round(_labelled(acai, {'artefact'}, entities, verses)[0], 2) == .71

# Datasets

TASKS = ['people_named', 'named_subject', 'animal_plant', 'same_key_term', 'same_thing']

@pytest.fixture(scope='session')
def web(testdata): return testdata/'bibles'/'whole'/'eng-web'

def test_a_book_of_the_old_testament_is_enough(acai, web, tmp_path):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    from pronto.datasets.loading import load_alignment, load_dataset_folder, open_dataset
    from pronto.datasets.splits import split_of
    bible = read_bible([web/f'{name}eng-web.usfm' for name in ('30-JOL','09-RUT','50-SUS')])
    manifest = build(acai, bible, tmp_path/'web', min_verses=100)
    assert list(manifest['counts']) == TASKS and manifest['source']['licence'] == 'CC BY-SA 4.0'
    assert manifest['numbering']['counts']['deuterocanonical'] == 64 and 'SUS' not in str(manifest['verses'])
    assert manifest['verses']['aligned'] == 73 + 85
    rows = load_dataset_folder(tmp_path/'web').tasks['people_named']
    boaz = next(r for part in rows.values() for r in part if str(r.ref) == 'RUT 4:21')
    assert boaz.label == '3' and all(split_of(r.ref) == s for s,part in rows.items() for r in part)
    assert {a.ref.book for a in load_alignment(open_dataset(tmp_path/'web'))} >= {'RUT','JOL','GEN'}

def test_books_without_annotations_are_refused(acai, web, tmp_path):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    with pytest.raises(InputError, match='has no verse of the books that are annotated'):
        build(acai, read_bible(web/'50-SUSeng-web.usfm'), tmp_path/'x', path='SUS')

def test_quotations_give_nothing_away():
    from pronto.core.refs import NT_BOOKS
    from pronto.datasets.splits import parallels
    from pronto.datasets.splits import split_of
    old = {r for r in parallels() if r.book not in NT_BOOKS}
    for fold in None, 3:
        held_out = {r for r in parallels() if split_of(r, fold) in ('dev','test')}
        assert not any(split_of(r, fold) == 'train' and parallels()[r] & held_out for r in old)
        train = {r for r in parallels() if split_of(r, fold) == 'train'}
        assert not any(parallels()[r] & train for r in old & held_out)

@pytest.mark.slow
@pytest.mark.parametrize('name,aligned', [('whole/fraLSG', 31_000), ('usfx/chi-cuv.usfx.xml', 31_055)])
def test_a_whole_bible(acai, testdata, tmp_path, name, aligned):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    manifest = build(acai, read_bible(testdata/'bibles'/name), tmp_path/'x')
    assert manifest['verses']['aligned'] >= aligned and manifest['checks']['shared_verses'] == 0
    assert all(min(n.values()) > 1000 for n in manifest['counts'].values())
    for stem in 'same_key_term', 'same_thing': assert manifest['predictors'][stem]['lookup'] == .5

@pytest.mark.slow
def test_a_folder_is_annotated_once_for_all_bibles(toy_acai, tmp_path, monkeypatch, pronto):
    "Until a file changes; `pronto cache --clear` forgets it, and a folder that cannot be written does no harm"
    from pronto.sources.annotate import annotate_once, kept_annotations
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    n_read = []
    def read():
        return annotate_once(toy_acai, lambda files: n_read.append(len(files)) or files)
    assert read().verses == read().verses == annotate(toy_acai).verses and len(n_read) == 1
    change(toy_acai, 'n43001042009', 'n43001042008')
    assert read().verses == annotate(toy_acai).verses and len(n_read) == 2
    assert pronto('cache', '--clear')[0] == 0 and not kept_annotations().exists()
    kept_annotations().parent.mkdir(exist_ok=True)
    kept_annotations().write_text('') # Where the folder would be
    assert read().verses == annotate(toy_acai).verses and len(n_read) == 3
