"Dataset folders of real translations: what they promise about verses, pairs, splits and bytes"
import gc, json, os, shutil, subprocess, sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from conftest import DATA, ROOT, killed_at
from pronto.datasets.align import STATUSES
from pronto.sources.ontonotes_rules import annotate_onf
from pronto.sources.records import Annotations, Source
from pronto.bibles.reading import Bible, VerseRow, read_bible, write_tsv
from pronto.datasets.examples import PairExample, VerseExample
from pronto.datasets.loading import load_alignment, load_dataset_folder, load_manifest, open_dataset
from pronto.datasets.building import build
from pronto.datasets.manifest import summary
from pronto.core.files import InputError
from pronto.sources.onf import parse_onf
from pronto.core.refs import Ref
from pronto.datasets.splits import parallel_to
from pronto.datasets.splits import SPLITS, chapter_fold, chapter_split, split_of
from pronto.datasets.tasks import BUILT_IN
from pronto.bibles.versification import to_english

BIBLES = ['usfx/chr-cherokee.usfx.xml', 'osis/eng-us-oeb.osis.xml', 'ces/Wolof-NT.xml', 'vpl/engwebster_nt_vpl.txt', 'usfm/amo_reg']
WHOLE = 'usfx/chr-cherokee.usfx.xml', 'vpl/engwebster_nt_vpl.txt'
PAIR_TASKS = 'same_sense', 'same_arg_count'

@cache
def bible_of(name): return read_bible(DATA/'bibles'/name)

@cache
def english(name): return to_english(bible_of(name), 'eng')

@pytest.fixture(scope='session')
def built(annotations, tmp_path_factory):
    "A function that builds a dataset once and loads it"
    folder = tmp_path_factory.mktemp('datasets')
    @cache
    def build_once(name, rules='paper', splits='parallel'):
        out = folder/f'{Path(name).name}-{rules}-{splits}'
        build(annotations[rules], bible_of(name), out, splits=splits)
        dataset = load_dataset_folder(out)
        gc.freeze() # It stays
        return dataset
    return build_once

def refs(row): return {row.ref} if isinstance(row, VerseExample) else {row.ref1, row.ref2}
def without_texts(dataset, stem):
    return {(s, row.sense, row.ref1, row.ref2, row.label) for s in SPLITS for row in dataset.tasks[stem][s]}

def statuses(dataset):
    "What became of each verse, from `alignment.tsv`"
    return {v.ref: v.status for v in load_alignment(dataset)}
def at_chance(accuracy, n): return abs(accuracy - .5) <= max(.03, 1.96*(.25/n)**.5)

# Verses

@pytest.mark.parametrize('name', BIBLES)
def test_every_verse_has_one_status_and_the_counts_add_up(name, built, annotations):
    dataset,bible,source = built(name), english(name), annotations['paper']
    status = statuses(dataset)
    assert len(status) == len(load_alignment(dataset))
    assert dict(Counter(status.values())) == dataset.manifest['verses'] and set(status.values()) <= set(STATUSES)
    assert dataset.manifest['versification'] == 'eng'
    assert status.keys() == source.verses.keys() | bible.verses.keys() | bible.excluded.keys()
    for ref,s in status.items():
        if s in ('aligned','crosses'): assert ref in bible.verses and ref in source.verses and ref not in source.unusable
        elif s == 'missing': assert ref not in bible.verses and ref not in bible.excluded
        elif s == 'fused': assert source.unusable[ref] == 'fused'
        elif s in ('merged','part','repeated','empty'): assert bible.excluded[ref] == s

@pytest.mark.parametrize('name', BIBLES)
def test_every_row_is_a_verse_of_the_bible_with_its_annotation(name, built, annotations):
    "And `paper` leaves crossing verses out of all five tasks"
    dataset,texts,verses = built(name), english(name).verses, annotations['paper'].verses
    one_line = lambda ref: ' '.join(texts[ref].split())
    def counts(ref, sense): return {p.n_args for s in verses[ref].sentences for p in s.predicates if p.sense == sense}
    for stem,parts in dataset.tasks.items():
        for row in (row for s in SPLITS for row in parts[s]):
            assert not any(verses[r].crosses for r in refs(row))
            if isinstance(row, VerseExample):
                assert row.text == one_line(row.ref) and row.label == BUILT_IN[stem].label(verses[row.ref])
                continue
            assert (row.text1, row.text2) == (one_line(row.ref1), one_line(row.ref2)) and row.ref1 != row.ref2
            one,two = counts(row.ref1, row.sense), counts(row.ref2, row.sense)
            if stem == 'same_sense': assert one and bool(two) == (row.label == 'same')
            else: assert len(one) == len(two) == 1 and (one == two) == (row.label == 'same')

@pytest.mark.parametrize('name', BIBLES)
def test_verse_tasks_have_each_verse_once(name, built, annotations):
    dataset = built(name)
    aligned = {ref for ref,s in statuses(dataset).items() if s == 'aligned'}
    for stem in ('nonpronominal_mention','proper_noun_subject','sentence_mood'):
        rows = [row.ref for s in SPLITS for row in dataset.tasks[stem][s]]
        assert len(rows) == len(set(rows))
        labelled = {r for r in aligned if BUILT_IN[stem].label(annotations['paper'].verses[r]) is not None}
        assert set(rows) == {r for r in labelled if split_of(r)}

def test_alignment_has_a_header_the_own_number_and_the_tasks_whose_label_is_unambiguous(built, annotations):
    "Most verses hold several sentences; where they disagree, the first one's label is hardly the verse's"
    dataset, verses = built(WHOLE[0]), annotations['paper'].verses
    header = (dataset.path/'alignment.tsv').read_text(encoding='utf-8').partition('\n')[0]
    assert header.split('\t') == ['ref','own_ref','status','n_sentences','unambiguous']
    moods = {r: {s.mood for s in v.sentences} - {None} for r,v in verses.items()}
    aligned = {ref for ref,s in statuses(dataset).items() if s == 'aligned'}
    assert dataset.unambiguous['nonpronominal_mention'] == aligned
    one_mood = {r for r in aligned if verses[r].sentences[0].mood and len(moods[r]) == 1}
    assert dataset.unambiguous['sentence_mood'] == one_mood
    for stem,least,most in ('sentence_mood', .8, .95), ('proper_noun_subject', .7, .85):
        rows = [row.ref for part in dataset.tasks[stem].values() for row in part]
        assert least < sum(r in dataset.unambiguous[stem] for r in rows)/len(rows) < most
    assert all((v.own_ref == '') == (v.status == 'missing') for v in load_alignment(dataset))

def test_the_own_number_is_that_of_the_printed_bible(small, tmp_path):
    "A doxology that the English Bible has in another chapter"
    annotations, _ = small
    rows = [VerseRow('ROM', 14, str(v), 'lo la') for v in range(1, 27)] + [VerseRow('MRK', 1, '1', 'lo')]
    build(annotations, Bible(rows), tmp_path/'d', min_verses=1)
    own = {str(v.ref): v.own_ref for v in load_alignment(open_dataset(tmp_path/'d'))}
    assert (own['ROM 16:26'], own['ROM 14:1'], own['MRK 1:1'], own['MRK 1:2']) == ('ROM 14:25','ROM 14:1','MRK 1:1','')

# Folds

@pytest.fixture(scope='session')
def john(annotations, tmp_path_factory):
    "Folds of the gospel of John alone"
    folder = tmp_path_factory.mktemp('folds')/'john'
    only = Bible([r for r in bible_of(WHOLE[1]).rows if r.book == 'JHN'])
    return build(annotations['paper'], only, folder, splits='auto', code='john'), folder

def folds_of(folder): return [fold.load() for fold in open_dataset(folder).folds]

def test_a_gospel_alone_gets_folds_and_the_reason(john):
    from pronto.datasets.manifest import summary
    manifest, folder = john
    assert (manifest['splits'], manifest['folds']) == ('folds', 10)
    assert 'only 1 of its 21 chapters would be in the test split, fewer than 15' in manifest['splits_reason']
    assert manifest['splits_reason'] in summary(manifest)
    assert load_manifest(folder) == manifest

def test_a_whole_testament_keeps_parallel_splits(annotations, tmp_path):
    manifest = build(annotations['paper'], bible_of(WHOLE[0]), tmp_path/'d', splits='auto', layout='references')
    assert manifest['splits'] == 'parallel' and 'splits_reason' not in manifest

def test_each_fold_is_a_dataset_and_each_chapter_is_tested_once(john, annotations):
    manifest, folder = john
    datasets = folds_of(folder)
    assert [(d.manifest['fold'], d.manifest['splits'], d.manifest['code']) for d in datasets] == [
            (k, 'folds', 'john') for k in range(10)]
    for k,dataset in enumerate(datasets):
        verses = {s: {r for parts in dataset.tasks.values() for row in parts[s] for r in refs(row)} for s in SPLITS}
        chapters = {s: {r.chapter_name for r in found} for s,found in verses.items()}
        assert {chapter_fold(c) for c in chapters['test']} == {k} and {chapter_fold(c) for c in chapters['dev']} == {(k+1) % 10}
        assert not chapters['train'] & (chapters['dev'] | chapters['test'])
        assert verses['train'].isdisjoint(parallel_to(verses['dev'] | verses['test']))
        assert all(verse2_is_balanced(stem, dataset) for stem in PAIR_TASKS)
    for stem in 'nonpronominal_mention', 'proper_noun_subject', 'sentence_mood':
        tested = [row.ref for d in datasets for row in d.tasks[stem]['test']]
        labelled = {r for r,s in statuses(datasets[0]).items() if s == 'aligned' and BUILT_IN[stem].label(annotations['paper'].verses[r])}
        assert len(tested) == len(set(tested)) == manifest['counts'][stem]['test'] and set(tested) == labelled
    assert len({r.chapter for r in tested}) == 21

def test_folds_are_the_same_for_every_language(annotations, tmp_path, john):
    rows = [r for r in bible_of(WHOLE[0]).rows if r.book == 'JHN']
    build(annotations['paper'], Bible(rows), tmp_path/'d', splits='folds')
    for one,two in zip(folds_of(tmp_path/'d'), folds_of(john[1]), strict=True):
        mine, theirs = ({r.ref: r.label for r in d.tasks['nonpronominal_mention']['test']} for d in (one, two))
        assert len(mine.items() & theirs.items()) >= .95*len(mine)

def test_a_dataset_in_folds_is_replaced_only_if_all_in_it_is_ours(small, tmp_path):
    build(*small, tmp_path/'d', splits='folds', min_verses=1)
    build(*small, tmp_path/'d', splits='folds', min_verses=1)
    (tmp_path/'d'/'thesis.txt').write_text('a week of work')
    with pytest.raises(InputError, match='thesis.txt in it was not written'): build(*small, tmp_path/'d', min_verses=1)
    assert (tmp_path/'d'/'thesis.txt').exists()

def test_a_table_of_folds_that_is_gone_is_an_error(small, tmp_path):
    build(*small, tmp_path/'d', splits='folds', min_verses=1)
    with pytest.raises(InputError, match='is in 10 folds'): load_dataset_folder(tmp_path/'d')
    (tmp_path/'d'/'sentence_mood_folds.tsv').unlink()
    with pytest.raises(InputError, match='sentence_mood_folds.tsv: is missing'): folds_of(tmp_path/'d')

# Parallel splits

@pytest.mark.parametrize('name', BIBLES)
def test_parallel_a_verse_is_in_one_split_in_all_tasks(name, built):
    dataset = built(name)
    for parts in dataset.tasks.values():
        for s in SPLITS: assert {split_of(r) for row in parts[s] for r in refs(row)} == {s}
    assert dataset.manifest['checks']['shared_verses'] == 0

@pytest.mark.parametrize('name', BIBLES)
@pytest.mark.parametrize('stem', PAIR_TASKS)
def test_parallel_each_sense_and_verse_has_one_positive_and_one_negative(name, stem, built):
    "And no pair, in either order, has two labels"
    rows = [row for s in SPLITS for row in built(name).tasks[stem][s]]
    drawn,labels = {},{}
    for row in rows:
        drawn.setdefault((row.sense, row.ref1), []).append(row.label)
        labels.setdefault((row.sense, *sorted((row.ref1, row.ref2))), set()).add(row.label)
    assert rows and all(sorted(x) == ['different','same'] for x in drawn.values())
    assert all(len(x) == 1 for x in labels.values())

@pytest.mark.parametrize('name', BIBLES)
@pytest.mark.parametrize('stem', PAIR_TASKS)
def test_parallel_what_knows_no_language_guesses(name, stem, built):
    manifest = built(name).manifest
    n,found = manifest['counts'][stem]['test'], manifest['predictors'][stem]
    assert found.keys() >= {'lookup','sense','verse2','book','length','order'}
    assert {k: v for k,v in found.items() if not at_chance(v, n)} == {}

def verse2_is_balanced(stem, dataset):
    "Is each verse as often verse 2 of a \"same\" pair as of a \"different\" one, in each split?"
    asked = {s: Counter((row.label, row.ref2) for row in rows) for s,rows in dataset.tasks[stem].items()}
    return all(n['same', ref] == n['different', ref] for n in asked.values() for _,ref in n)

@pytest.mark.parametrize('name', BIBLES)
@pytest.mark.parametrize('stem', PAIR_TASKS)
def test_parallel_verse_2_tells_nothing(name, stem, built): assert verse2_is_balanced(stem, built(name))

@pytest.mark.parametrize('name', BIBLES)
def test_train_has_no_parallel_of_a_verse_of_dev_or_test(name, built):
    "The same verses are purged for every translation, and dev and test stay whole"
    dataset = built(name)
    verses = {s: {r for parts in dataset.tasks.values() for row in parts[s] for r in refs(row)} for s in SPLITS}
    assert verses['train'].isdisjoint(parallel_to(verses['dev'] | verses['test']))
    aligned = {ref for ref,s in statuses(dataset).items() if s == 'aligned'}
    held_out = {r for r in aligned if chapter_split(r.chapter_name) != 'train'}
    counted = {row.ref for s in ('dev','test') for row in dataset.tasks['nonpronominal_mention'][s]}
    assert counted == held_out
    assert 1000 < dataset.manifest['checks']['purged'] < 1100

def test_the_most_similar_verse_tells_little_after_purging(built):
    "It tells 60 % of same sense when parallels are in train"
    from pronto.datasets.baselines import predict_nearest
    def share_right(name, stem):
        train, test = (built(name).tasks[stem][s] for s in ('train','test'))
        return np.mean([p == r.label for p,r in zip(predict_nearest(BUILT_IN[stem], train, test), test)])
    assert all(.5 < share_right(name, 'same_sense') < .59 for name in BIBLES)
    assert all(at_chance(share_right(name, 'same_arg_count'), 1000) for name in BIBLES)

@pytest.mark.parametrize('stem', PAIR_TASKS)
def test_parallel_two_whole_translations_have_the_same_pairs(stem, built):
    one,two = (without_texts(built(name), stem) for name in WHOLE)
    assert len(one & two) >= .98*max(len(one), len(two))

@pytest.mark.parametrize('book', ['MRK','JHN'])
def test_parallel_a_gospel_alone_is_a_benchmark(book, annotations, tmp_path):
    whole = bible_of(WHOLE[1])
    manifest = build(annotations['paper'], Bible([r for r in whole.rows if r.book == book]), tmp_path/'d', min_verses=300)
    dataset = load_dataset_folder(tmp_path/'d')
    assert all(len(parts[s]) > 0 for parts in dataset.tasks.values() for s in SPLITS)
    verses = {r: {p.sense for s in v.sentences for p in s.predicates} for r,v in annotations['paper'].verses.items()
              if r.book == book and r in whole.verses and not v.crosses and r not in annotations['paper'].unusable}
    using = Counter((split_of(r), sense) for r,senses in verses.items() if split_of(r) for sense in senses)
    possible = sum(n for n in using.values() if n > 1)
    assert sum(row.label == 'same' for s in SPLITS for row in dataset.tasks['same_sense'][s]) >= .9*possible
    for stem in PAIR_TASKS:
        found, n = manifest['predictors'][stem], manifest['counts'][stem]['test']
        assert {k: v for k,v in found.items() if not at_chance(v, n)} == {}
        assert verse2_is_balanced(stem, dataset)

def test_a_gospel_shares_its_splits_with_the_whole(annotations, built, tmp_path):
    whole = bible_of(WHOLE[1])
    build(annotations['paper'], Bible([r for r in whole.rows if r.book == 'LUK']), tmp_path/'d')
    for s in SPLITS:
        luke = {(r.ref, r.label) for r in load_dataset_folder(tmp_path/'d').tasks['nonpronominal_mention'][s]}
        assert luke == {(r.ref, r.label) for r in built(WHOLE[1]).tasks['nonpronominal_mention'][s] if r.ref.book == 'LUK'}

# Random splits

def test_random_splits_leak_and_say_so(built):
    from pronto.datasets.manifest import summary
    manifest = built(WHOLE[0], splits='random').manifest
    assert manifest['predictors']['same_sense']['lookup'] > .95
    assert 'Caution: same_sense' in summary(manifest)
    assert 'Caution' not in summary(built(WHOLE[0]).manifest)

@pytest.mark.slow
@pytest.mark.parametrize('rules', ['paper','v0.1'])
def test_random_pairs_are_balanced_and_cut_80_10_10(rules, built):
    dataset = built(WHOLE[0], rules=rules, splits='random')
    for stem in PAIR_TASKS:
        n = {s: len(dataset.tasks[stem][s]) for s in SPLITS}
        assert abs(n['train']/sum(n.values()) - .8) < .001 and abs(n['dev'] - n['test']) <= 1
    assert .48 <= dataset.manifest['label_shares']['same_sense']['same'] <= .52

def test_v01_keeps_crossing_verses_in_the_pair_tasks_alone(built, annotations):
    dataset,verses = built(WHOLE[0], rules='v0.1', splits='random'), annotations['v0.1'].verses
    def crosses(row): return any(verses[r].crosses for r in refs(row))
    crossing = {stem for stem,parts in dataset.tasks.items() for s in SPLITS for row in parts[s] if crosses(row)}
    assert crossing == set(PAIR_TASKS)

# Folders

def files(folder): return {p.name: p.read_bytes() for p in sorted(Path(folder).iterdir())}

def run_pronto(*argv, hash_seed):
    "Run the command in a process of its own"
    env = os.environ | {'PYTHONHASHSEED': str(hash_seed), 'PYTHONPATH': str(ROOT)}
    code = 'import sys; from pronto.cli.command import main; sys.exit(main())'
    subprocess.run([sys.executable, '-c', code, *map(str, argv)], env=env, check=True, capture_output=True)

@pytest.mark.slow
def test_bytes_depend_on_the_inputs_alone(skeleton, tmp_path):
    "Not on hash seeds, on the order of the file system, or on whether annotations come from a file or a folder"
    chapters = sorted(skeleton.rglob('41/*.onf'))
    for name,order in ('one',chapters), ('two',chapters[::-1]):
        (tmp_path/name).mkdir()
        for f in order: shutil.copy(f, tmp_path/name)
    write_tsv(bible_of(WHOLE[1]), tmp_path/'web.tsv')
    for seed,name in (1,'one'), (2,'two'): run_pronto('annotate', tmp_path/name, '-o', tmp_path/f'{name}.parquet', hash_seed=seed)
    assert (tmp_path/'one.parquet').read_bytes() == (tmp_path/'two.parquet').read_bytes()
    for splits in 'parallel', 'random':
        outs = []
        for seed,source in (3,'one.parquet'), (4,'two'):
            outs.append(tmp_path/str(seed)/splits)
            run_pronto('build', '-a', tmp_path/source, '-b', tmp_path/'web.tsv', '-o', outs[-1], '--splits', splits, hash_seed=seed)
        assert len(files(outs[0])) == 30 and files(outs[0]) == files(outs[1])

@pytest.fixture
def small(toy_onf):
    "Annotations of three verses and a Bible that has them"
    bible = Bible([VerseRow('MRK', 1, str(v), f'lo la mi ta {v}') for v in (1,2,3,4)])
    return Annotations(Source(hash='x'), annotate_onf([parse_onf(toy_onf)])), bible

@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork on this system')
def test_a_build_killed_at_any_moment_loses_nothing(small, tmp_path):
    annotations,bible = small
    longer = Bible([r._replace(text=r.text + ' so') for r in bible.rows])
    build(annotations, bible, tmp_path/'old'/'d', min_verses=1)
    build(annotations, longer, tmp_path/'new'/'d', min_verses=1)
    old,new = files(tmp_path/'old'/'d'), files(tmp_path/'new'/'d')
    seen = set()
    for n in range(100):
        out = tmp_path/str(n)/'d'
        shutil.copytree(tmp_path/'old'/'d', out)
        lived = killed_at(n, out.parent, lambda: build(annotations, longer, out, min_verses=1))
        state = 'none' if not out.exists() else {str(old): 'old', str(new): 'new'}.get(str(files(out)), 'broken')
        seen.add(state)
        assert state != 'broken', f'killed at {n}'
        build(annotations, bible, out, min_verses=1)
        assert files(out) == old and [p.name for p in out.parent.iterdir()] == ['d'], f'after being killed at {n}'
        if lived: break
    assert lived and n > 20 and seen == {'old','none','new'}

def test_a_folder_of_someone_else_is_left_alone(small, tmp_path):
    (tmp_path/'thesis.txt').write_text('chapter one')
    with pytest.raises(InputError, match='is not replaced, because'): build(*small, tmp_path, min_verses=1)
    assert [p.name for p in tmp_path.iterdir()] == ['thesis.txt']

def test_what_was_written_loads_the_same(built):
    dataset = built(WHOLE[0])
    assert list(dataset.tasks) == [stem for stem in BUILT_IN if stem in dataset.manifest['source']['tasks']]
    assert {stem: {s: len(rows) for s,rows in parts.items()} for stem,parts in dataset.tasks.items()} == dataset.manifest['counts']
    assert all(r is not None for parts in dataset.tasks.values() for s in SPLITS for row in parts[s] for r in refs(row))

def test_a_folder_of_release_v01_loads(tmp_path):
    "Its older tables name no verses, and it has no manifest"
    for s in SPLITS:
        (tmp_path/f'nonpronominal_mention_{s}.tsv').write_text('"Lo la\t5\nmi ta"\t0\n', encoding='utf-8')
        (tmp_path/f'same_sense_{s}.tsv').write_text('cry.02\tlo la\tmi\tsame\n', encoding='utf-8')
        (tmp_path/f'same_arg_count_{s}.tsv').write_text('cry.02\tlo\tmi ta\tdifferent\tMatthew 1:2\t1 John 3:4\n', encoding='utf-8')
    dataset = load_dataset_folder(tmp_path)
    assert dataset.manifest == {}
    assert dataset.tasks['nonpronominal_mention']['dev'] == [VerseExample('"Lo la', '5', None), VerseExample('mi ta"', '0', None)]
    assert dataset.tasks['same_sense']['test'] == [PairExample('cry.02', 'lo la', 'mi', 'same', None, None)]
    assert dataset.tasks['same_arg_count']['train'] == [PairExample('cry.02', 'lo', 'mi ta', 'different', Ref('MAT',1,2), Ref('1JN',3,4))]

def test_a_split_left_empty_is_a_warning(small, tmp_path):
    manifest = build(*small, tmp_path/'d', min_verses=1)
    left = [(stem, s) for stem,n in manifest['counts'].items() for s in SPLITS if not n[s]]
    empty = [f'{stem}: the {s} split is empty; the task cannot be evaluated' for stem,s in left]
    assert empty and manifest['warnings'] == empty

def test_tabs_and_line_ends_in_a_verse_are_one_space(small, tmp_path):
    annotations,_ = small
    build(annotations, Bible([VerseRow('MRK', 1, '1', 'lo\tla\r\nmi\u2028ta')]), tmp_path/'d', min_verses=1)
    rows = [row for s in SPLITS for row in load_dataset_folder(tmp_path/'d').tasks['nonpronominal_mention'][s]]
    assert [row.text for row in rows] == ['lo la mi ta']

def test_damaged_markup_is_said_in_the_manifest_and_on_the_card(small, tmp_path):
    from pronto.bibles.rows import Fault
    from pronto.datasets.manifest import cautions
    from pronto.reporting.card import about_bible
    annotations, bible = small
    damaged = Bible(bible.rows, faults={'notes are not closed': Fault(7, 'line 812')})
    build(annotations, damaged, tmp_path/'d', min_verses=1)
    manifest = json.loads((tmp_path/'d'/'manifest.json').read_text())
    said = '7 notes are not closed, first in line 812: taken to end at the next end of a note, paragraph or verse'
    assert manifest['bible']['faults'] == [said] and said in cautions(manifest)
    assert f'Warning: {said}.' in about_bible(manifest)
    build(annotations, bible, tmp_path/'whole', min_verses=1)
    assert 'faults' not in json.loads((tmp_path/'whole'/'manifest.json').read_text())['bible']

@pytest.mark.parametrize('mine', ['sheet.csv','notes/plan.txt','same_sense_train.tsv.bak'])
def test_a_file_of_someone_else_in_a_dataset_is_not_lost(small, tmp_path, mine):
    build(*small, tmp_path/'d', min_verses=1)
    (tmp_path/'d'/mine).parent.mkdir(exist_ok=True)
    (tmp_path/'d'/mine).write_text('a week of work')
    with pytest.raises(InputError, match=f'{mine} in it was not written by PrOnto'): build(*small, tmp_path/'d', min_verses=1)
    assert (tmp_path/'d'/mine).read_text() == 'a week of work'

def test_a_manifest_of_another_program_protects_its_folder(small, tmp_path):
    (tmp_path/'manifest.json').write_text('{"name": "an extension", "version": "1"}')
    with pytest.raises(InputError, match='no manifest that PrOnto wrote'): build(*small, tmp_path, min_verses=1)

# What is in the folder already

def change_words(bible, text_of): return Bible([r._replace(text=text_of(r.text)) for r in bible.rows])

@pytest.fixture(scope='session')
def oeb(annotations, tmp_path_factory):
    "A dataset, and what it was built from"
    out = tmp_path_factory.mktemp('kept')/'d'
    build(annotations['paper'], bible_of(WHOLE[0]), out, code='chr')
    return annotations['paper'], bible_of(WHOLE[0]), out

def test_another_bible_source_rules_or_splits_does_not_take_the_place_of_a_dataset(oeb, annotations, tmp_path):
    source, bible, out = oeb
    mark = Bible([r for r in bible_of(WHOLE[1]).rows if r.book == 'MRK'])
    own_mark = Bible([r for r in bible.rows if r.book == 'MRK'])
    other_source = Annotations(replace(source.source, name='MACULA Greek'), source.verses)
    whole = files(out)
    others = [((source, mark), {}, 'another Bible'), ((source, bible_of(BIBLES[1])), {}, 'another Bible'),
              ((source, own_mark), {}, 'another Bible'), ((other_source, bible), {}, 'the source OntoNotes, not MACULA Greek'),
              ((annotations['v0.1'], bible), {}, 'the rules paper, not v0.1'),
              ((source, bible), dict(splits='random'), 'the splits parallel, not random'),
              ((source, bible), dict(splits='folds'), 'the splits parallel, not folds')]
    for given,options,said in others:
        remedy = 'choose another folder, or replace it with `pronto build --replace`'
        with pytest.raises(InputError, match=f'd: holds a dataset of {said}; {remedy}'):
            build(*given, out, min_verses=100, **options)
        assert files(out) == whole
    shutil.copytree(out, tmp_path/'d')
    assert build(source, mark, tmp_path/'d', min_verses=100, replace=True)['code'] == 'd'

def test_newer_text_or_annotations_of_the_same_bible_are_built_with_a_line(oeb, tmp_path, capsys):
    source, bible, out = oeb
    shutil.copytree(out, tmp_path/'d')
    build(source, bible, tmp_path/'d', code='chr')
    assert files(tmp_path/'d') == files(out) and not capsys.readouterr().err
    spelt = change_words(bible, lambda text: text.replace('ᎠᎴ', 'ᎠᎴᎴ'))
    newer = Annotations(replace(source.source, hash='newer'), source.verses)
    for given,said in ((source, spelt), 'the text'), ((newer, spelt), 'the annotations'), ((source, bible), 'the annotations and the text'):
        build(*given, tmp_path/'d', code='chr')
        assert capsys.readouterr().err == f'{tmp_path/"d"}: built again, as {said} changed\n'
    assert files(tmp_path/'d') == files(out)

# What the manifest says of labels and of the text

def test_label_shares_are_those_of_the_labels_that_are_scored(built):
    "NMC has four labels; the true counts are beside them, and a folder of folds has both as well"
    from pronto.datasets.manifest import summary, training_shares
    dataset = built(WHOLE[0])
    manifest, stem = dataset.manifest, 'nonpronominal_mention'
    for s,rows in dataset.tasks[stem].items():
        shares, true = (Counter(f(r.label) for r in rows) for f in (BUILT_IN[stem].training_label, str))
        rounded = lambda found: {label: round(n/len(rows), 4) for label,n in found.items()}
        assert manifest['label_shares_by_split'][stem][s] == rounded(shares)
        assert manifest['true_label_shares'][stem][s] == rounded(true)
    assert list(manifest['label_shares'][stem]) == ['0','1','2','3'] and .45 < max(manifest['label_shares'][stem].values()) < .5
    assert manifest['true_label_shares'].keys() == {stem}
    assert '3 4' in summary(manifest) and ', 4 ' not in summary(manifest)
    older = manifest['true_label_shares'][stem]['test'] # As earlier versions have it
    assert training_shares(BUILT_IN[stem], older) == pytest.approx(manifest['label_shares_by_split'][stem]['test'], abs=2e-4)

def test_the_shares_of_folds_are_those_of_their_test_sets(john):
    manifest, folder = john
    stem = 'nonpronominal_mention'
    rows = [r.label for fold in folds_of(folder) for r in fold.tasks[stem]['test']]
    true = {label: n/len(rows) for label,n in Counter(rows).items()}
    assert manifest['true_label_shares'][stem]['test'] == pytest.approx(true, abs=2e-3)
    assert list(manifest['label_shares'][stem]) == ['0','1','2','3']

def test_a_summary_names_the_licence_and_whether_the_text_may_be_passed_on(built):
    from pronto.datasets.manifest import summary
    manifest = built(WHOLE[0]).manifest
    said_of = {'not stated': 'is unclear', 'public domain': 'it may be passed on', '© All rights reserved': 'it may not be'}
    for licence,said in said_of.items():
        text = summary(manifest | dict(licence=licence))
        assert f'Licence of the text: {licence}; ' in text and said in text

# The most similar verse, computed in another way

@pytest.mark.parametrize('name', BIBLES[:3])
def test_the_nearest_verse_is_that_of_an_independent_computation(name, built):
    "TF-IDF of character 4-grams by scikit-learn, without hashing; the answers of all test verses are equal"
    from sklearn.feature_extraction.text import TfidfVectorizer
    from pronto.datasets.baselines import predict_nearest
    task = BUILT_IN['nonpronominal_mention']
    train, test = (built(name).tasks[task.stem][s] for s in ('train','test'))
    known, asked = ([f' {r.text.lower()} ' for r in rows] for rows in (train, test))
    tfidf = TfidfVectorizer(analyzer='char', ngram_range=(4,4), sublinear_tf=True, lowercase=False)
    tfidf.fit(dict.fromkeys(known + asked))
    nearest = (tfidf.transform(asked) @ tfidf.transform(known).T).toarray().argmax(1)
    assert predict_nearest(task, train, test) == [task.training_label(train[i].label) for i in nearest]

# How many verses have each status

@pytest.mark.parametrize('name', BIBLES)
def test_statuses_count_each_verse_of_either_text_once(name, built, annotations):
    "A verse that is not annotated is `unannotated`, unless the Bible or the source says why it could not be used anyway"
    source, bible, counts = annotations['paper'], english(name), built(name).manifest['verses']
    assert sum(counts.values()) == len(source.verses.keys() | bible.verses.keys() | bible.excluded.keys())
    beyond = (bible.verses.keys() | bible.excluded.keys()) - source.verses.keys()
    why = {r for r in beyond if (source.unusable.get(r) or bible.excluded.get(r) or 'unannotated') != 'unannotated'}
    assert counts.get('unannotated', 0) == len(beyond - why)
    assert sum(counts.values()) - counts.get('unannotated', 0) == len(source.verses) + len(why)

def test_parallels_that_people_list_are_purged():
    "At least 95 of 100 strong pairs of other chapters; the table is a file of its own that names its licence"
    from pronto.core.files import fact_table
    from pronto.core.refs import NT_BOOKS, parse_ref
    from pronto.datasets.splits import parallels
    from pronto.datasets.splits import split_of
    pairs = [(parse_ref(r['verse']), parse_ref(x)) for r in fact_table('parallels_ubs') for x in r['parallels'].split(', ')]
    assert len(pairs) > 4000 and all(b in parallels()[a] for a,b in pairs)
    new = [(a, b) for a,b in pairs if a.book in NT_BOOKS]
    for fold in None, 3:
        assert not [p for p in new if {split_of(v, fold) for v in p} in ({'train','dev'}, {'train','test'})]
    assert 'CC BY-SA 4.0' in (ROOT/'pronto'/'facts'/'parallels_ubs.tsv').read_text().splitlines()[0]

# The annotations that come with the package

@pytest.fixture(scope='module')
def both():
    from pronto.sources.open_annotations import open_annotations
    return open_annotations()

@pytest.mark.slow
@pytest.mark.parametrize('splits', ['parallel','random'])
def test_two_sources_in_one_dataset_give_the_rows_that_each_gives_alone(both, testdata, tmp_path, splits):
    bible = read_bible(testdata/'bibles'/'osis'/'eng-us-oeb.osis.xml')
    manifest = build(both, bible, tmp_path/'both', splits=splits)
    compared = []
    for part in both.parts:
        build(part, bible, tmp_path/part.source.name, splits=splits)
        for path in (tmp_path/part.source.name).glob('*_*.tsv'):
            assert path.read_bytes() == (tmp_path/'both'/path.name).read_bytes()
            compared.append(path.name)
        for stem in part.source.tasks: assert manifest['task_sources'][stem] == part.source.name
    assert len(compared) == 3*len(manifest['counts'])

@pytest.mark.slow
def test_a_source_without_a_book_of_the_bible_is_left_out_and_said_so(both, testdata, tmp_path):
    manifest = build(both, read_bible(testdata/'bibles'/'tei'/'sblgnt-02-mark.xml'), tmp_path/'mark', splits='folds')
    assert manifest['source']['name'] == 'ACAI' and list(manifest['counts']) == both.parts[1].source.tasks
    assert 'Caution: MACULA Greek annotates no book of it, so there are no tasks from MACULA Greek' in summary(manifest)

@pytest.mark.slow
def test_the_annotations_of_the_package_are_what_their_sources_say(both, testdata, tmp_path):
    import hashlib
    from pronto.core.files import fact_table
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import read_annotations, write_annotations
    facts = ROOT/'pronto'/'facts'
    for row in fact_table('LICENSES'): assert hashlib.sha256((facts/row['file']).read_bytes()).hexdigest() == row['sha256'], row['file']
    of_files = {row['attribution']: row['licence'] for row in fact_table('LICENSES')}
    for part,folder in zip(both.parts, ('macula-greek','acai')):
        write_annotations(annotate(testdata/folder), tmp_path/'made.parquet')
        made = read_annotations(tmp_path/'made.parquet')
        assert made.source == part.source and made.verses == part.verses
        assert of_files[part.source.attribution] == part.source.licence

def test_a_file_and_the_package_give_each_task_by_the_source_that_agrees_better_with_gold(both, tmp_path):
    from pronto.sources.annotation_file import write_annotations
    from pronto.sources.open_annotations import OPEN, annotations_hash, named_annotations
    from pronto.sources.records import SentenceAnnotation, VerseAnnotation
    ref = Ref('MRK', 1, 1)
    own = Annotations(Source('OntoNotes'), {ref: VerseAnnotation(ref, (SentenceAnnotation('declarative', True, (), ()),), False)})
    write_annotations(own, tmp_path/'own.parquet')
    found = named_annotations(f'{tmp_path}/own.parquet+open')
    names = {stem: found.of(stem).source.name for stem in (*own.source.tasks, 'people_named')}
    assert names.pop('proper_noun_subject') == 'MACULA Greek' and names.pop('people_named') == 'ACAI'
    assert {*names.values()} == {'OntoNotes'} and found.source.by_task['proper_noun_subject'] == 'MACULA Greek'
    assert found.source.task_names == {}
    assert len({annotations_hash(place) for place in (OPEN, tmp_path/'own.parquet', f'{tmp_path}/own.parquet+open')}) == 3

@pytest.mark.slow
def test_a_dataset_that_would_come_out_the_same_is_kept(testdata, tmp_path, monkeypatch):
    "Not if the text is another, a table is damaged, or another language is asked for"
    from pronto.datasets import building
    from pronto.datasets.finding import find_dataset
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    rows = [r for r in read_bible(testdata/'bibles'/'ces'/'Wolof-NT.xml').rows if r.book == 'MRK']
    bible, written = tmp_path/'mark.tsv', []
    def write(last): bible.write_text(''.join(f'MRK\t{r.chapter}\t{r.label}\t{r.text}\n' for r in rows[:-1]) + last)
    def found(**how):
        before, folder = len(written), find_dataset(bible, 'folds', report=str, language=how.pop('language', 'wol'), **how)
        return folder, len(written) > before
    as_it_is = building._write_dataset
    monkeypatch.setattr(building, '_write_dataset', lambda *args: written.append(1) or as_it_is(*args))
    write('MRK\t16\t20\tlu jeex\n')
    folder, is_new = found()
    bytes_of = {p: p.read_bytes() for p in folder.rglob('*.tsv')}
    assert is_new and found() == (folder, False) and bytes_of == {p: p.read_bytes() for p in folder.rglob('*.tsv')}
    assert found(replace=True)[1] and found(language='swh')[1] and found()[1] and not found()[1]
    damaged = folder/'people_named_folds.tsv'
    damaged.write_text(damaged.read_text() + 'x')
    assert found()[1] and damaged.read_bytes() == bytes_of[damaged]
    write('MRK\t16\t20\tlu mujj\n')
    assert found()[1] and not found()[1]
