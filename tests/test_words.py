"Words of a source and of its translations: annotations with words, links, names and parts of speech"
import json, os, random
from pathlib import Path

import pytest

from conftest import ROOT
from pronto.bibles.reading import read_bible
from pronto.bibles.rows import Bible, VerseRow
from pronto.cli import main
from pronto.core.files import InputError
from pronto.core.refs import Ref, parse_ref
from pronto.sources.records import Annotations, Source, SourceWord, VerseAnnotation

NAMES = {'Παῦλος': 'Pol', 'Πέτρος': 'Petelo', 'Μάρκος': 'Marko', 'Λουκᾶς': 'Luka'}
VERBS = {'ἔρχομαι': 'ayiza', 'ὁράω': 'amona', 'καλέω': 'abenga'}

def word(lemma):
    is_name = lemma in NAMES
    return SourceWord('n1', lemma, lemma, 'PROPN' if is_name else 'VERB', f'person:{lemma}' if is_name else '', '')

@pytest.fixture
def pronto(capsys):
    "Run the command: exit status, output, and the lines of the error stream"
    def run(*argv):
        capsys.readouterr()
        status = main(list(map(str, argv)))
        said = capsys.readouterr()
        return status or 0, said.out, said.err.splitlines()
    return run

@pytest.fixture(scope='module')
def annotated():
    "Invented verses of the New Testament, each with a subject, a verb and an object"
    draw, verses = random.Random(0), {}
    for ref in (Ref(b, c, v) for b in ('MAT','MRK','ROM') for c in range(1, 13) for v in range(1, 18)):
        subject, object = draw.sample(list(NAMES), 2)
        lemmas = subject, draw.choice(list(VERBS)), object
        verses[ref] = VerseAnnotation(ref, (), False, words=tuple(map(word, lemmas)))
    return Annotations(Source(name='toy', tasks=[]), verses)

def translated(annotations, spoil=()):
    said = NAMES | VERBS
    texts = {ref: ' '.join(said[w.lemma] for w in v.words) + '!' for ref,v in annotations.verses.items()} | dict(spoil)
    return Bible([VerseRow(r.book, r.chapter, str(r.verse), text) for r,text in texts.items()])

@pytest.fixture
def dataset(annotated, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    build(annotated, translated(annotated, {Ref('MAT', 1, 1): '...'}), tmp_path/'toy', splits='parallel')
    return tmp_path/'toy'

@pytest.fixture
def toy_words_and_verses(annotated, tmp_path):
    "A dataset with tasks on verses and on words"
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    both = with_people(annotated)
    build(both, translated(both), tmp_path/'both', splits='parallel')
    return tmp_path/'both'

def with_people(annotated):
    from pronto.sources.records import EntityMention
    def about(ref): return tuple(EntityMention(f'person:P{i}', 'person', 'name', i + 1) for i in range(ref.verse % 3))
    verses = {ref: v._replace(entities=about(ref)) for ref,v in annotated.verses.items()}
    return Annotations(Source(name='toy', tasks=['people_named']), verses)

# Annotations

def test_a_source_without_words_has_none_to_keep(pronto, tmp_path):
    (tmp_path/'mine.tsv').write_text('ref\tmood\nMRK 1:1\tglad\nMRK 1:2\tsad\n')
    status, _, said = pronto('annotate', tmp_path/'mine.tsv', '-o', tmp_path/'mine.parquet', '--words')
    assert status == 1 and said[-1] == f'pronto: {tmp_path/"mine.tsv"}: has no words to keep; leave --words out'
    assert not (tmp_path/'mine.parquet').exists()

def test_annotations_with_words_are_read_as_they_were_written(annotated, tmp_path):
    from pronto.sources.annotation_file import read_annotations, write_annotations
    write_annotations(annotated, tmp_path/'a.parquet')
    assert read_annotations(tmp_path/'a.parquet').verses == annotated.verses

@pytest.mark.slow
def test_words_of_ontonotes_stay_in_memory(pronto, skeleton, tmp_path):
    status,_,err = pronto('annotate', skeleton, '-o', tmp_path/'a.parquet', '--words')
    assert status == 1 and 'may not keep its words in a file' in err[-1] and not (tmp_path/'a.parquet').exists()

def test_a_greek_text_goes_with_the_words_of_acai(pronto, testdata, tmp_path):
    greek = testdata/'macula-greek'
    for source,more in (testdata/'macula-greek', ['--words']), (testdata/'acai', []):
        status,_,err = pronto('annotate', source, '-o', tmp_path/'a.parquet', '--greek', greek, *more)
        assert status == 1 and err[-1].startswith('pronto: --greek: names the Greek text for ACAI')

@pytest.mark.slow
def test_without_the_option_no_word_of_macula_is_kept(testdata, tmp_path):
    from pronto.sources.annotate import annotate
    plain, words = (annotate(testdata/'macula-greek', words=w) for w in (False, True))
    assert not any(v.words for v in plain.verses.values()) and plain.source.hash != words.source.hash
    kinds = {w.entity.partition(':')[0] for v in words.verses.values() for w in v.words}
    assert kinds == {'', 'person', 'place', 'group', 'deity'}

@pytest.mark.slow
def test_acai_names_the_words_of_a_greek_text(testdata):
    from pronto.sources.annotate import annotate
    with_words = annotate(testdata/'acai', words=True, greek=testdata/'macula-greek')
    first = with_words.verses[Ref('2CO', 1, 1)].words
    assert 'person:Paul' in {w.entity for w in first}
    n_named = sum(bool(w.entity) for v in with_words.verses.values() for w in v.words if w.pos == 'PROPN')
    n_names = sum(w.pos == 'PROPN' for v in with_words.verses.values() for w in v.words)
    assert n_named > .99*n_names > 500

# Words that come with the package

@pytest.fixture(scope='module')
def table(tmp_path_factory):
    "The folder of the table that the wheel has, where it is installed or named"
    from importlib.metadata import PackageNotFoundError
    from make_words import wheel
    try: folder = Path(os.environ.get('PRONTO_WORD_TABLE') or wheel())
    except PackageNotFoundError: pytest.skip('bible-alignments is not installed')
    return folder

def test_the_words_of_the_package_are_what_the_table_says(table, tmp_path):
    from make_words import write_words
    from pronto.sources.annotation_file import read_annotations
    write_words(table, tmp_path/'made.parquet')
    made = read_annotations(tmp_path/'made.parquet')
    there = read_annotations(ROOT/'pronto'/'facts'/'greek_words.parquet')
    assert made.verses == there.verses and made.source == there.source

def test_the_words_of_the_package_are_those_of_all_books_without_greek_text():
    from pronto.core.refs import NT_BOOKS
    from pronto.sources.annotation_file import read_annotations
    found = read_annotations(ROOT/'pronto'/'facts'/'greek_words.parquet')
    words = [w for v in found.verses.values() for w in v.words]
    assert {ref.book for ref in found.verses} == {*NT_BOOKS} and len(words) > 137_000
    assert all(w.lemma[0].isdigit() and w.lemma.isascii() and not w.form for w in words)
    assert found.source.licence == 'CC BY 4.0'

@pytest.mark.slow
def test_the_words_of_the_package_are_those_of_macula(testdata):
    from pronto.sources.annotate import annotate
    from pronto.sources.open_annotations import open_words
    macula, ours = annotate(testdata/'macula-greek', words=True).verses, open_words().verses
    pairs = [(a, b) for ref,v in macula.items() if v.words for a,b in zip(v.words, ours[ref].words, strict=True)]
    same = sum((a.lemma, a.pos, a.grammar) == (b.lemma, b.pos, b.grammar) for a,b in pairs)
    assert len(pairs) > 30_000 and same > .98*len(pairs)

@pytest.mark.slow
def test_tasks_on_words_are_built_with_nothing_fetched(testdata, pronto, monkeypatch, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path))
    few = [ref for ref in read_bible(testdata/'bibles'/'ces'/'Wolof-NT.xml').rows if ref.book == 'MRK']
    (tmp_path/'mark.tsv').write_text(''.join(f'MRK\t{r.chapter}\t{r.label}\t{r.text}\n' for r in few))
    status,_,err = pronto('build', '-b', tmp_path/'mark.tsv', '-o', tmp_path/'mark', '--words', '--no-choices', '--language', 'wol')
    assert status == 0, err
    manifest = json.loads((tmp_path/'mark'/'manifest.json').read_text())
    assert manifest['word_tasks']['linked']['verses'] > 600 and manifest['counts']['names']['train'] > 300
    assert 'words: Bible Word Alignments' in manifest['source']['attribution']

# Datasets

def rows_of(folder, stem): return [json.loads(line) for s in ('train','dev','test') for line in (folder/f'{stem}_{s}.jsonl').open()]

def test_names_and_parts_of_speech_are_projected(annotated, dataset):
    rows = rows_of(dataset, 'names')
    right = {NAMES[lemma] for lemma in NAMES}
    tags = [(token in right, tag) for row in rows for token,tag in zip(row['tokens'], row['tags'])]
    assert sum((tag == 'B-PER') == is_name for is_name,tag in tags) > .98*len(tags) > 900
    assert {tag for row in rows_of(dataset, 'upos') for tag in row['tags']} - {'_'} == {'PROPN','VERB'}
    manifest = json.loads((dataset/'manifest.json').read_text())
    assert manifest['word_tasks']['linked']['verses'] == 611 and manifest['word_tasks']['left_out'] == {} # One has no text
    assert manifest['words'] == 'blanks' and manifest['word_tasks']['aligner'].startswith('eflomal')
    assert manifest['counts']['names']['train'] == len((dataset/'names_train.jsonl').read_text().splitlines())

def test_the_same_seed_gives_the_same_bytes(annotated, dataset, tmp_path):
    from pronto.datasets.building import build
    build(annotated, translated(annotated, {Ref('MAT', 1, 1): '...'}), tmp_path/'again'/'toy', splits='parallel')
    for path in dataset.iterdir(): assert path.read_bytes() == (tmp_path/'again'/'toy'/path.name).read_bytes()

def test_splits_are_those_of_all_tasks(dataset):
    from pronto.datasets.splits import split_of
    from pronto.core.refs import parse_ref
    for s in 'train', 'dev', 'test':
        rows = [json.loads(line) for line in (dataset/f'names_{s}.jsonl').open()]
        assert rows and {split_of(parse_ref(row['id'])) for row in rows} == {s}

def test_tasks_on_words_are_evaluated_like_others(dataset, pronto, tmp_path):
    status, out, _ = pronto('eval', dataset, '-t', 'names', '--runs', tmp_path/'runs')
    assert status == 0 and '| names, F1 |' in out

def test_a_damaged_table_of_words_is_one_line(dataset, pronto, tmp_path):
    path = dataset/'names_test.jsonl'
    path.write_text(path.read_text().replace('B-PER', 'B-LOC', 1))
    status,_,err = pronto('eval', dataset, '-t', 'names', '--runs', tmp_path/'runs')
    assert status == 1 and 'is not the file that the manifest describes' in err[-1]

def test_a_dataset_on_words_may_be_built_again_over_itself(annotated, dataset):
    from pronto.datasets.building import build
    build(annotated, translated(annotated, {Ref('MAT', 1, 1): '...'}), dataset, splits='parallel')
    assert (dataset/'links.tsv').is_file()

def test_without_text_there_are_no_tasks_on_words(annotated, tmp_path):
    from pronto.datasets.building import build
    with pytest.MonkeyPatch.context() as m:
        m.setitem(__import__('sys').modules, 'thot.alignment', None) # Nothing is aligned
        manifest = build(annotated, translated(annotated), tmp_path/'toy', splits='parallel', layout='labels')
    assert 'the text is left out' in manifest['word_tasks']['warning'] and not list((tmp_path/'toy').glob('*.jsonl'))

def test_a_set_of_tasks_leaves_those_on_words_out_and_says_so(annotated, tmp_path):
    from pronto.datasets.building import build
    from pronto.datasets.manifest import summary
    from pronto.datasets.tasks import read_tasks
    both = with_people(annotated)
    manifest = build(both, translated(both), tmp_path/'both', splits='parallel', tasks=read_tasks('core'))
    assert 'names' not in manifest['counts'] and not list((tmp_path/'both').glob('*.jsonl'))
    assert 'Caution: there are no tasks on words, since the chosen set of tasks has none' in summary(manifest)

def test_without_sil_thot_the_extra_is_named(annotated, tmp_path, monkeypatch):
    from pronto.datasets.building import build
    monkeypatch.setitem(__import__('sys').modules, 'thot.alignment', None)
    with pytest.raises(InputError, match=r"thot.alignment: is not installed.*\[align\]"):
        build(annotated, translated(annotated), tmp_path/'toy', splits='parallel')

def test_a_verse_of_ten_thousand_words_is_left_out_and_counted(annotated, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    long = translated(annotated, {Ref('MAT', 2, 2): 'a '*10_000})
    manifest = build(annotated, long, tmp_path/'toy', splits='parallel')
    assert manifest['word_tasks']['left_out'] == {'more than 1,000 words': 1}
    from pronto.datasets.manifest import summary
    assert 'suffice in 611 (names), 611 (upos); not linked: 1 with more than 1,000 words' in summary(manifest)

def test_a_script_without_blanks_is_cut_by_a_dictionary(annotated, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    chinese = dict(zip([*NAMES, *VERBS], '保彼马路来见叫'))
    texts = {ref: ''.join(chinese[w.lemma] for w in v.words)*5 + '。' for ref,v in annotated.verses.items()}
    bible = Bible([VerseRow(r.book, r.chapter, str(r.verse), text) for r,text in texts.items()])
    manifest = build(annotated, bible, tmp_path/'a', splits='parallel')
    assert manifest['words'] == 'dictionary' == manifest['word_tasks']['segmentation']['kind'] and 'upos' in manifest['counts']

# Verses that a translation joins, and a release that is killed

def test_verses_that_are_joined_have_no_tags_and_the_others_their_own(annotated, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    rows, kept, joined = iter(translated(annotated).rows), {}, []
    for row in rows:
        if row.label not in ('1','6','11'): kept[f'{row.book} {row.chapter}:{row.label}'] = row
        else:
            after = next(rows)
            joined.append(row._replace(label=f'{row.label}-{after.label}', text=f'{row.text} {after.text}'))
    build(annotated, Bible([*kept.values(), *joined]), tmp_path/'toy', splits='parallel', min_verses=300)
    tables = (tmp_path/'toy').glob('*_*.jsonl')
    found = [json.loads(line) for path in tables for line in path.open()]
    assert len(found) > 1.5*len(kept) and {row['id'] for row in found} < {*kept} # Without twin verses
    for row in (row for row in found if {*row['tags']} & {'O','B-PER'}):
        words = kept[row['id']].text.replace('!', '').split()
        assert row['tokens'] == words and [t != 'O' for t in row['tags']] == [w in NAMES.values() for w in words], row

@pytest.mark.slow
def test_a_release_with_words_goes_on_after_a_kill_and_knows_its_aligner(annotated, tmp_path, monkeypatch):
    pytest.importorskip('thot', reason='needs the extra align')
    from test_release import command, contents, wait_for
    from pronto.lab.jobs.release import release
    from pronto.sources.annotation_file import write_annotations
    write_annotations(annotated, tmp_path/'a.parquet')
    (tmp_path/'bibles').mkdir()
    for i in range(6):
        rows = translated(annotated, {Ref('MAT', 1, i + 1): '...'}).rows
        text = ''.join(f'{r.book}\t{r.chapter}\t{r.label}\t{r.text}\n' for r in rows)
        (tmp_path/'bibles'/f'qa{"abcdef"[i]}.tsv').write_text(text)
    make = lambda name: release(tmp_path/'a.parquet', tmp_path/'bibles', tmp_path/name, workers=1, min_verses=300)
    assert len(make('whole').built) == 6
    process = command(tmp_path, tmp_path/'out', '--workers', 2)
    wait_for(2, tmp_path/'out', process)
    process.kill()
    process.communicate()
    done = make('out')
    assert len(done.finished) >= 2 and contents(tmp_path/'out') == contents(tmp_path/'whole')
    monkeypatch.setattr('pronto.lab.jobs.release.aligner_name', lambda: 'another aligner')
    again = make('out')
    assert len(again.built) == 6 and not again.finished

# Small words, which stand for the ending of a word

@pytest.mark.parametrize('told', [True, False], ids=['by endings','by chance'])
def test_small_words_are_linked_if_endings_tell_them(told):
    from pronto.lab.words.word_align import Link, _owners, _with_small_words
    draw, small = random.Random(1), dict(ou='of', oi='to', us='the')
    ends = [draw.choice(list(small)) for _ in range(400)]
    before = [small[end] if told else draw.choice(list(small.values())) for end in ends]
    targets = [[word, f'noun{draw.randint(0, 30)}'] for word in before]
    owners = _owners(targets, [[end] for end in ends], [[Link(0, 1, .9)] for _ in ends])
    assert owners == (dict.fromkeys(small.values(), 1) if told else {})
    links = _with_small_words(targets[0], [Link(0, 1, .9)], owners)
    assert links == ([Link(0, 0, .09), Link(0, 1, .9)] if told else [Link(0, 1, .9)])

def test_a_build_links_words_as_quality_align_measures_it(annotated):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.align import align
    from pronto.lab.words.word_tasks import link_verses, name_tags
    texts = {ref: f'o {row.text}' if row.text[:3] in ('Pol','Mar') else f'e {row.text}'
             for ref,row in zip(annotated.verses, translated(annotated).rows)}
    bible = Bible([VerseRow(r.book, r.chapter, str(r.verse), text) for r,text in texts.items()])
    linked = link_verses(align(annotated, bible).verses).verses
    weak = [link for verse in linked for link in verse.links if link.target == 0]
    assert len(weak) > 100 and all(link.source == 0 and link.weight <= .1 for link in weak)
    assert {name_tags(verse)[0] for verse in linked if name_tags(verse)} == {'O'} # No tag passes through them

# Other commands

def test_exports_hold_the_tasks_on_words(annotated, toy_words_and_verses, pronto, tmp_path):
    dataset, out = toy_words_and_verses, lambda kind: tmp_path/kind/'both'
    tables = {p.name: p.read_bytes() for p in dataset.glob('*_*.jsonl')}
    def same(folder): return {p.name: p.read_bytes() for p in folder.glob('*_*.jsonl')} == tables
    for kind in 'hf', 'tsv', 'standoff':
        assert pronto('export', kind, dataset, '-o', out(kind))[::2] == (0, [])
    assert same(out('tsv')) and pronto('eval', out('tsv'), '-t', 'names', '--runs', tmp_path/'r')[0] == 0
    lines = (out('hf')/'names'/'train.jsonl').read_text(encoding='utf-8').splitlines()
    rows = [{k: v for k,v in json.loads(line).items() if k not in ('translation','language')} for line in lines]
    assert rows == list(map(json.loads, tables['names_train.jsonl'].decode().splitlines()))
    quality = json.loads((dataset/'manifest.json').read_text())['word_tasks']['quality']
    assert 'F1 of links of names is 0.' in quality and quality in (out('hf')/'README.md').read_text()
    assert 'names/train.jsonl' in (out('hf')/'README.md').read_text()
    bare = (out('standoff')/'both'/'names_test.jsonl').read_text()
    assert '"tokens": []' in bare and 'Pol' not in bare
    rows = translated(annotated).rows
    text = ''.join(f'{r.book}\t{r.chapter}\t{r.label}\t{r.text}\n' for r in rows)
    (tmp_path/'bible.tsv').write_text(text)
    status,_,err = pronto('restore', out('standoff')/'both', '-b', tmp_path/'bible.tsv', '-o', tmp_path/'restored')
    assert status == 0 and same(tmp_path/'restored'), err
    (out('tsv')/'names_train.jsonl').write_text('{}\n')
    status,_,err = pronto('export', 'tsv', out('tsv'), '-o', tmp_path/'again')
    assert status == 1 and 'names_train.jsonl: is not the file that the manifest describes' in err[-1]

def test_the_harness_gets_no_tasks_on_words_and_says_so(toy_words_and_verses, pronto, tmp_path):
    status,_,err = pronto('export', 'lm-eval', toy_words_and_verses, '-o', tmp_path/'lm')
    assert status == 0 and err == ['both: left out names, upos: the harness asks for a label, not for tags']
    assert not [p for p in (tmp_path/'lm').rglob('*') if 'names' in p.name]

def test_prompts_take_the_tasks_on_verses(toy_words_and_verses, pronto, model, tmp_path):
    from pronto.runs.planning import plan
    assert {t.key.task for t in plan(toy_words_and_verses, [model], protocol='prompting')} == {'people_named'}
    status,_,err = pronto('eval', toy_words_and_verses, '-m', model, '--protocol', 'prompting', '-t', 'names', '--runs', tmp_path/'runs')
    assert status == 1 and 'names: cannot be answered with prompts' in err[-1]

def test_word_vectors_are_not_asked_about_single_words(toy_words_and_verses, pronto, tmp_path):
    "It says which models can be; a line about a tokenizer said nothing to who gave none"
    (tmp_path/'some.vec').write_text('1 2\nla .5 1\n')
    model = f'lstm:{tmp_path/"some.vec"}'
    status,_,err = pronto('eval', toy_words_and_verses, '-m', model, '-t', 'upos', '--runs', tmp_path/'runs')
    assert status == 1 and len(err) == 1 and 'asks for one to each part; give a transformer, e.g. bert' in err[0]

def test_a_model_that_cannot_encode_words_is_probed_on_other_tasks(toy_words_and_verses, pronto, model, tmp_path, monkeypatch):
    from pronto.core.files import InputError
    from pronto.lab.words import word_probes
    def fails(model, *args): raise InputError(model, 'cannot encode words (a reason); choose another model')
    monkeypatch.setattr(word_probes, '_encoder', fails)
    status, out, err = pronto('probe', toy_words_and_verses, '-m', model, '--runs', tmp_path/'runs')
    header, _, row = ([cell.strip() for cell in line.split('|')[1:-1]] for line in out.splitlines())
    scores = dict(zip(header, row))
    assert status == 3 and 'upos: ' in err[-1] and 'tiny: cannot encode words (a reason)' in err[-1]
    assert scores['upos'] == '–' and '.' in scores['PN']

def test_words_are_probed_and_their_scores_shown(toy_words_and_verses, pronto, model, tmp_path):
    status, out, _ = pronto('probe', toy_words_and_verses, '-m', model, '--limit', '100', '--runs', tmp_path/'runs')
    assert status == 0 and '| names | upos |' in out
    [record] = [json.loads(p.read_text()) for p in (tmp_path/'runs').rglob('names/*.json')]
    assert {*record['baselines']} >= {'majority','lookup','cues','ngram'} and len(record['dev']) == 2 # Layers
    assert record['counts']['train'] == 100 and 0 < record['accuracy'] <= 1
    before = pronto('eval', toy_words_and_verses, '-m', model, '--protocol', 'probe', '--limit', '100', '--runs', tmp_path/'runs')
    assert before[0] == 0 and before[1].count('recorded before') == 3
    status, out, _ = pronto('tables', '--runs', tmp_path/'runs', '--protocol', 'probe', '-o', tmp_path/'tables')
    assert status == 0 and 'names' in out
    assert pronto('report', '--runs', tmp_path/'runs', '-o', tmp_path/'r.html')[0] == 0

def test_scripts_and_stores_know_the_tasks_on_words_without_a_command(toy_words_and_verses, dataset, model, tmp_path, monkeypatch):
    "From the manifest, and from what a store keeps of it"
    from pronto.datasets.loading import dataset_folders, load_dataset_folder
    from pronto.runs.planning import plan
    from pronto.runs.runner import run_all
    from pronto.runs.store import read_runs
    assert dataset_folders(dataset.parent) == [toy_words_and_verses, dataset] # One has no tables but those of words
    assert [*load_dataset_folder(dataset).tasks] == ['names','upos']
    trainings = plan(toy_words_and_verses, [str(model)], protocol='probe', recipe='probe', limit=60)
    assert [t.key.task for t in trainings] == ['people_named','names','upos']
    run_all(trainings, tmp_path/'runs')
    found = {r.task: r.definition for r in read_runs(tmp_path/'runs')}
    assert found.keys() == {'people_named','names','upos'} and found['names'].metric == 'f1'

def test_a_damaged_description_of_a_task_is_one_line(toy_words_and_verses, model, pronto, tmp_path):
    runs = tmp_path/'runs'
    assert pronto('probe', toy_words_and_verses, '-m', model, '-t', 'names', '--limit', '60', '--runs', runs)[0] == 0
    (runs/'tasks'/'names.json').write_text('{"kind": "tagging", "labels": 3}')
    status,_,err = pronto('tables', '--runs', runs)
    assert status == 1 and err == [f"pronto: {runs/'tasks'/'names.json'}: describes a task that cannot be: 'names'; import it again"]

def test_a_summary_says_how_good_labels_of_words_are(dataset):
    from pronto.datasets.loading import load_manifest
    from pronto.datasets.manifest import summary
    manifest = load_manifest(dataset)
    assert 'the share of parts of speech that are right is' in summary(manifest)
    assert 'none of its own family is measured' in summary(manifest) and 'free translation' not in summary(manifest)
    assert 'links suffice' in summary(manifest) and 'not linked' not in summary(manifest)
    assert 'parts of speech' not in summary({k: v for k,v in manifest.items() if k != 'word_tasks'})
    manifest['word_tasks']['kept']['upos']['verses'] = 252
    assert '252 (upos) (few for upos: a free translation' in summary(manifest)

@pytest.mark.parametrize('language,said', [('fra', '(Romance)'), ('wol', 'none of its own family is measured')])
def test_the_card_quotes_figures_of_the_nearest_language(language, said):
    from pronto.lab.words.word_align import alignment_quality_note
    assert said in alignment_quality_note(language)

def test_words_that_are_not_asked_about_are_neither_trained_on_nor_scored(annotated, pronto, model, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.datasets.building import build
    from pronto.runs.store import predictions_of, read_runs
    def then(ref): return SourceWord('n1', 'δέ', 'δέ', 'ADV')
    verses = {ref: v._replace(words=(*v.words, then(ref))) for ref,v in annotated.verses.items()}
    said = NAMES | VERBS | {'δέ': 'na'}
    rows = [VerseRow(r.book, r.chapter, str(r.verse), ' '.join(said[w.lemma] for w in v.words)) for r,v in verses.items()]
    build(Annotations(annotated.source, verses), Bible(rows), tmp_path/'toy', splits='parallel')
    tagged = rows_of(tmp_path/'toy', 'upos')
    assert {tag for row in tagged for token,tag in zip(row['tokens'], row['tags']) if token == 'na'} == {'_'}
    manifest = json.loads((tmp_path/'toy'/'manifest.json').read_text())
    kept = manifest['word_tasks']['kept']['upos']
    assert '_' not in manifest['label_shares']['upos'] and kept['asked'] < kept['tokens']
    for command in ['probe', tmp_path/'toy'], ['eval', tmp_path/'toy', '--epochs', 1]:
        assert pronto(*command, '-m', model, '-t', 'upos', '--limit', 60, '--runs', tmp_path/'runs')[0] == 0
    runs = read_runs(tmp_path/'runs')
    assert len(runs) == 2
    for run in runs: assert 'na' not in {*predictions_of(run).token}

# Mentions of OntoNotes, whose words stay in memory

@pytest.mark.slow
def test_mentions_of_ontonotes_are_projected(pronto, tmp_path):
    "Into an invented language whose words for each phrase are known"
    pytest.importorskip('thot', reason='needs the extra align')
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.demo.grammar import phrases
    from pronto.demo.invented_languages import invented_languages
    corpus, brelish = make_corpus(n_verses=700), invented_languages()['qaa']
    folder, out = write_corpus(corpus, tmp_path/'corpus'), tmp_path/'qaa'
    [bible] = (folder/'bibles').glob('qaa*')
    assert pronto('build', '-a', folder/'ontonotes', '-b', bible, '-o', out, '--splits', 'parallel', '--words')[0] == 0
    rows = [json.loads(line) for s in ('train','dev','test') for line in (out/f'mentions_{s}.jsonl').open()]
    truth, right, found, wanted = corpus.meanings('qaa'), 0, 0, 0
    for row in rows:
        said = [p for meaning,*_ in truth[parse_ref(row['id'])] for p in phrases(meaning)]
        nouns_of = lambda some: {(brelish.noun(p) + 'en'*p.plural).lower() for p in some if p.form not in ('pronoun','wh')}
        nouns, again = nouns_of(said), nouns_of(q for p in said if p.chain is not None or p.apposed for q in phrases(p))
        tagged = {w.lower() for w,tag in zip(row['tokens'], row['tags']) if tag != 'O'} & nouns
        right, found, wanted = right + len(tagged & again), found + len(tagged), wanted + len(again & nouns)
    assert len(rows) > 300 and right > .95*found and right > .95*wanted
    assert not list(out.glob('names*')) and json.loads((out/'manifest.json').read_text())['word_tasks']['kept']['upos']

def test_a_file_without_words_gives_no_tasks_on_words(annotated, pronto, tmp_path):
    from pronto.sources.annotation_file import write_annotations
    verses = {ref: v._replace(words=()) for ref,v in annotated.verses.items()}
    write_annotations(Annotations(annotated.source, verses), tmp_path/'a.parquet')
    (tmp_path/'b.tsv').write_text('MRK\t1\t1\tlo\n')
    status,_,err = pronto('build', '-a', tmp_path/'a.parquet', '-b', tmp_path/'b.tsv', '-o', tmp_path/'x', '--words')
    assert status == 1 and 'a.parquet: has no words; make it again' in err[-1]
