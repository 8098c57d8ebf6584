"Choices from a text alone: each rule of building, what a choice gives away, datasets, and bad input"
import json, random, shutil
from dataclasses import replace
from collections import Counter
from pathlib import Path

import pytest
import regex

from pronto.bibles.reading import Bible, VerseRow, read_bible
from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.datasets.align import TEXT_ALONE, readable_verses
from pronto.datasets.building import build
from pronto.datasets.choices.cues import choice_cues, shared_right
from pronto.datasets.choices.text import ChoiceText
from pronto.datasets.segmentation import Segmentation
from pronto.datasets.examples import ChoiceRow
from pronto.datasets.loading import open_dataset, verse_texts
from pronto.datasets.manifest import origin_of, summary
from pronto.datasets.splits import SPLITS, split_of
from pronto.datasets.ngrams import resemblance
from pronto.datasets.tasks import NV, WC, WO, WX, ChoiceTask, read_tasks
from pronto.lab.words.forms import WF, WordForms
from pronto.lab.words.word_align import Link
from pronto.lab.words.word_tasks import LinkedVerse
from pronto.lab.quality.sheets import sheet_sizes
from pronto.protocols.parts import Part
from pronto.runs.runner import _to_learn
from pronto.sources.records import Annotations, SentenceAnnotation, Source, SourceWord, VerseAnnotation

CHAPTERS = [(book, n) for book,last in (('MAT', 28), ('MRK', 16), ('LUK', 24), ('JHN', 21)) for n in range(1, last + 1)]
LANGUAGES = 'latin', 'capitals alone', 'no capitals'

def made_up(seed=0, rows=25):
    "Verses of invented words, some frequent and some rare, with commas, names, numbers, and a few verses twice"
    rng = random.Random(seed)
    stems = [''.join(rng.choice('ptkmnsl') + rng.choice('aeiou') for _ in range(rng.randint(1, 3))) for _ in range(300)]
    words = list(dict.fromkeys(stem + rng.choice(('ta', 'ri', 'mo', 'ne')) for stem in stems))
    often = [1/(10 + i) for i in range(len(words))]
    verses = {}
    for book,chapter in CHAPTERS:
        for n in range(1, rows + 1):
            said = rng.choices(words, often, k=rng.randint(6, 18))
            said[rng.randrange(len(said))] += rng.choice((',', ',', '', ' 7', ' Kora'))
            verses[Ref(book, chapter, n)] = ' '.join(said).capitalize() + '.'
    verses[Ref('MAT', 3, 3)] = verses[Ref('MRK', 2, 3)] # A verse that occurs twice
    return verses

def in_script(verses, script):
    if script == 'latin': return verses
    other = str.upper if script == 'capitals alone' else lambda text: text.lower().translate({ord('a') + i: 0x05D0 + i for i in range(26)})
    return {ref: other(text) for ref,text in verses.items()}

@pytest.fixture(scope='module', params=LANGUAGES)
def text(request): return ChoiceText(in_script(made_up(), request.param))

@pytest.fixture(scope='module')
def drawn(text): return {task: task.of_text(text) for task in (WO, WC, WX, NV)}

def rows_of(drawn, *tasks): return [row for task in tasks for part in drawn[task].values() for row in part]

def wrong(row):
    choices = [*row.choices]
    del choices[row.answer]
    return choices

def differing(row):
    "The places where the two choices have other tokens"
    one, other = row.text.split(' '), wrong(row)[0].split(' ')
    assert len(one) == len(other)
    return one, other, [i for i,(a,b) in enumerate(zip(one, other)) if a != b]

def test_there_are_rows_in_each_split(drawn):
    assert all(drawn[task][split] for task in (WO, WC, WX, NV) for split in SPLITS)

def test_a_changed_word_stands_between_two_words(drawn):
    for row in rows_of(drawn, WO, WC, WX):
        one, _, places = differing(row)
        for i in places:
            assert 0 < i < len(one) - 1 and all(Segmentation().is_word(one[k]) for k in (i-1, i, i+1)), row

def test_neighbours_are_exchanged_and_nothing_else(drawn):
    for row in rows_of(drawn, WO):
        one, other, (i,j) = differing(row)
        assert j == i + 1 and (one[i], one[j]) == (other[j], other[i]) and row.changed == 'neighbours'

def test_exchanged_words_stand_apart_and_end_alike_if_they_are_said_to(text, drawn):
    for row in rows_of(drawn, WX):
        one, other, (i,j) = differing(row)
        assert j > i + 1 and (one[i], one[j]) == (other[j], other[i])
        assert {one[i].lower(), one[j].lower()} <= text.content.keys()
        assert (one[i].lower()[-2:] == one[j].lower()[-2:]) == (row.changed == 'words, same ending')

def test_a_replaced_word_is_as_frequent_and_as_long_and_is_replaced_in_turn(text, drawn):
    for split in SPLITS:
        pairs = Counter()
        for row in drawn[WC][split]:
            one, other, (i,) = differing(row)
            a, b = one[i].lower(), other[i].lower()
            pairs[a, b] += 1
            assert max(text.counts[a], text.counts[b]) <= 1.4*min(text.counts[a], text.counts[b])
            assert abs(len(a) - len(b)) <= 2
            assert (a[-2:] == b[-2:]) == (row.changed == 'word, same ending')
        assert all(pairs[b, a] == n for (a,b),n in pairs.items())

def test_about_half_of_the_replaced_words_end_alike(drawn):
    alike = [row.changed == 'word, same ending' for row in rows_of(drawn, WC)]
    assert .4 < sum(alike)/len(alike) <= .51

def test_no_name_is_moved_where_there_are_capitals(drawn):
    moved = [token for row in rows_of(drawn, WO, WC, WX) for one,_,places in [differing(row)] for token in (one[i] for i in places)]
    assert not any(token.istitle() and len(token) > 1 for token in moved)

def test_no_verse_has_digits_or_occurs_twice_and_no_result_is_a_verse(text, drawn):
    known = Counter(text.verses.values())
    for row in rows_of(drawn, WO, WC, WX, NV):
        assert known[row.text] == 1 and not regex.search(r'\p{N}', ''.join(row.choices))
    assert not any(known[choice] for row in rows_of(drawn, WO, WC, WX) for choice in wrong(row))

def test_chapters_stay_in_their_splits_and_parallels_are_left_out(drawn):
    for task,parts in drawn.items():
        for split,rows in parts.items():
            assert {split_of(row.ref) for row in rows} == {split}, task

def test_the_next_verse_is_among_verses_of_other_chapters(text, drawn):
    at = {said: ref for ref,said in text.verses.items()}
    for split in SPLITS:
        for row in drawn[NV][split]:
            context, right, others = at[row.context], at[row.text], [at[choice] for choice in wrong(row)]
            assert row.id == str(context) and right == context._replace(verse=context.verse + 1)
            assert {ref.book for ref in others} == {right.book} and right.chapter not in {ref.chapter for ref in others}
            assert len({*others}) == 3 and all(ref.verse > 1 and split_of(ref) == split for ref in others)

def test_the_next_verse_is_never_beside_a_near_twin():
    verses = made_up(rows=20)
    first = {}
    for ref in verses: # A second chapter of its split and book tells each story again
        told = first.setdefault((ref.book, split_of(ref), ref.verse), ref)
        if told != ref and first.setdefault((ref.book, split_of(ref), 'again'), ref.chapter) == ref.chapter:
            verses[ref] = f'{verses[told][:-1]} tata.'
    rows = [row for split in SPLITS for row in NV.of_text(ChoiceText(verses))[split]]
    assert len(rows) > 50
    assert max(resemblance(choice, row.choices[row.answer]) for row in rows for choice in wrong(row)) < .5

def test_the_rank_of_the_right_verse_says_nothing(drawn):
    rows = rows_of(drawn, NV)
    for key in len, lambda choice: -len(choice):
        assert abs(shared_right([[key(choice) for choice in row.choices] for row in rows], [row.answer for row in rows]) - .25) < .06

def test_the_verse_decides_where_the_right_choice_stands(drawn):
    other = WO.of_text(ChoiceText(made_up(seed=1)))
    places = {row.id: row.answer for part in other.values() for row in part}
    both = [(row.answer, places[row.id]) for row in rows_of(drawn, WO) if row.id in places]
    assert len(both) > 100 and all(a == b for a,b in both) and .4 < sum(a for a,_ in both)/len(both) < .6

def test_translations_share_their_verses(drawn):
    other = {row.id for part in WO.of_text(ChoiceText(made_up(seed=1))).values() for row in part}
    own = {row.id for row in rows_of(drawn, WO)}
    assert len(own & other) > .7*len(own)

def test_the_same_text_gives_the_same_rows(text, drawn):
    assert all(task.of_text(ChoiceText(dict(text.verses))) == drawn[task] for task in (WO, WC, WX, NV))

def test_words_say_nothing_without_their_order(drawn):
    for task in WO, WC, WX:
        found = choice_cues(drawn[task]['train'], drawn[task]['test'])
        assert {found[name] for name in ('length', 'frequency', 'letters', 'ngrams', 'punctuation')} == {.5}, task

def test_a_word_that_gives_itself_away_is_found():
    said = enumerate('bread wine men sheep'.split(), 1)
    rows = [ChoiceRow(f'MRK 1:{n}', '', (f'he saw {word}', f'he saw {word},'), 0, '') for n,word in said]
    found = choice_cues(rows, rows)
    assert found['length'] == found['punctuation'] == 1

def test_marks_belong_to_letters():
    text = ChoiceText({Ref('MAT', 1, n): 'એક બે શબ્દો ત્રણ ચાર પાંચ' for n in (1,)})
    assert [text.tokens[ref][i] for ref in text.verses for i in text.places(ref)] == 'બે શબ્દો ત્રણ ચાર'.split()

def test_units_of_a_text_without_blanks_are_longer_than_a_character(testdata):
    verses = readable_verses(read_bible(testdata/'bibles'/'usfx'/'chi-cuv.usfx.xml'))
    text = ChoiceText({ref: said for ref,said in verses.items() if ref.book in ('MAT','MRK','LUK','ACT')})
    assert all(''.join(text.tokens[ref]) == said for ref,said in text.verses.items())
    rows = WC.of_text(text)['train']
    changed = [text.tokens[ref][i] for ref in text.in_order('word_choice', 'train') for i in text.content_words(ref)]
    assert len(rows) > 200 and sum(len(word) > 1 for word in changed) > len(changed)/2 # Words of one character are words

def test_cherokee_has_no_capitals(testdata):
    verses = readable_verses(read_bible(testdata/'bibles'/'usfx'/'chr-cherokee.usfx.xml'))
    assert len(WC.of_text(ChoiceText(verses))['test']) > 400

NOUNS, VERBS = ('ἄνθρωπος', 'οἶκος', 'ἀστήρ', 'ὁδός'), ('λέγω', 'ἔρχομαι', 'φέρω')

def inflected(rng):
    "Invented verses with their Greek: a subject, a verb that agrees, an object; a few say the number otherwise"
    words, said = [], []
    def noun(case, number):
        i = rng.randrange(len(NOUNS))
        words.append(SourceWord(form=NOUNS[i], lemma=NOUNS[i], pos='NOUN', grammar=f'{case}/{number}'))
        said.append(('manta', 'kosol', 'pirem', 'ludok')[i] + ('se' if number == 'plural' else ''))
    number = rng.choice(('singular', 'plural'))
    noun('nominative', number)
    i = rng.randrange(len(VERBS))
    words.append(SourceWord(form=VERBS[i], lemma=VERBS[i], pos='VERB', grammar=f'3/{number}/present/active/indicative'))
    said.append(('tari', 'venu', 'bomi')[i] + ('nt' if number == 'plural' else ''))
    noun('accusative', rng.choice(('singular', 'plural')))
    return words, said

@pytest.fixture(scope='module')
def linked():
    rng, verses, found = random.Random(0), {}, []
    for book,chapter in CHAPTERS:
        for n in range(1, 26):
            words, said = inflected(rng)
            ref = Ref(book, chapter, n)
            last = str(rng.random())[2:6].translate(LETTERS)
            tokens = [rng.choice('ama eko iru opa'.split()), *said, rng.choice('uli ewe ino ata'.split()), last]
            verses[ref] = ' '.join(tokens)
            found.append(LinkedVerse(ref, tuple(words), tokens, [Link(i, i + 1, .9) for i in range(3)]))
    return ChoiceText(verses), found

def forms_of(text, verses):
    "The rows of all splits"
    return replace(WF, draw=WordForms(verses)).of_text(text)

LETTERS = str.maketrans('0123456789', 'ptkmnslrbd')

def test_a_word_is_put_in_another_form_and_the_other_in_its_turn(linked):
    rows = forms_of(*linked)
    assert min(map(len, rows.values())) > 50
    for part in rows.values():
        pairs = Counter()
        for row in part:
            one, other, (i,) = differing(row)
            pairs[one[i], other[i], row.changed] += 1
            assert {one[i], other[i]} in ({form, form + ('nt' if 'verb' in row.changed else 'se')} for form in (one[i], other[i]))
        assert all(pairs[b, a, changed] == n <= 10 for (a,b,changed),n in pairs.items())
        assert {changed for *_,changed in pairs} == {'number of a noun', 'number of a verb'}
        assert len({row.id for row in part}) == len(part)

def test_a_form_that_is_linked_with_the_same_number_too_is_not_wrong(linked):
    verses = [verse._replace(words=tuple(w._replace(grammar=w.grammar.replace('plural', 'singular')) if w.pos == 'NOUN' else w
                                         for w in verse.words)) if verse.ref.verse == 1 else verse for verse in linked[1]]
    assert not any(row.changed == 'number of a noun' and row.text.split(' ')[i].endswith(('nta', 'sol', 'rem', 'dok'))
                   for row in forms_of(linked[0], verses)['train'] for _,_,(i,) in [differing(row)])

def test_a_verb_without_a_linked_subject_keeps_its_form(linked):
    verses = [verse._replace(links=verse.links[1:]) for verse in linked[1]]
    rows = forms_of(linked[0], verses)
    assert {row.changed for part in rows.values() for row in part} == {'number of a noun'}

def test_without_links_there_are_no_other_forms(linked):
    assert not any(map(len, forms_of(linked[0], []).values()))

@pytest.mark.parametrize('language, has_forms', [('spa', True), ('arb', False)])
@pytest.mark.slow
def test_a_dataset_has_forms_where_words_are_linked_and_the_language_has_no_clitics(linked, language, has_forms, tmp_path):
    pytest.importorskip('thot', reason='needs the extra align')
    said = {verse.ref: VerseAnnotation(verse.ref, (), False, words=verse.words) for verse in linked[1]}
    made = build(Annotations(Source('toy', tasks=[]), said), bible_of(linked[0].verses), tmp_path/'xxx', choices=True, language=language)
    assert ('word_form' in made['counts']) == has_forms
    assert has_forms or 'there is no word_form, since words of Semitic languages have clitics' in summary(made)

def bible_of(verses): return Bible([VerseRow(r.book, r.chapter, str(r.verse), said) for r,said in verses.items()], language='xxx')

@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp('choices')/'xxx'
    build(TEXT_ALONE, bible_of(made_up()), out)
    return out

def test_a_dataset_of_the_text_alone_is_loaded_as_it_was_built(folder):
    dataset = open_dataset(folder).load()
    assert [*dataset.tasks] == ['word_order', 'word_choice', 'word_exchange', 'next_verse']
    assert {stem: {s: len(rows) for s,rows in parts.items()} for stem,parts in dataset.tasks.items()} == dataset.manifest['counts']
    changed = dataset.manifest['choices']['word_choice']
    assert {s: sum(n.values()) for s,n in changed.items()} == dataset.manifest['counts']['word_choice']
    assert dataset.manifest['predictors']['word_order']['chance'] == .5
    assert (folder/'text.tsv').read_text(encoding='utf-8').count('\n') == len(made_up())

def labelled(refs):
    "Annotations with the mood of a sentence alone"
    said = [SentenceAnnotation(mood, None, (), ()) for mood in ('imperative','declarative','declarative')]
    here = {ref: VerseAnnotation(ref, (said[ref.verse % 3],), False) for ref in refs}
    return Annotations(Source('made up', hash='0', tasks=['sentence_mood']), here)

def test_choices_beside_other_tasks_leave_their_tables_and_hash_as_they_are(tmp_path):
    verses = made_up(rows=10)
    annotations = labelled(verses)
    for name,choices in ('without', False), ('with', True):
        build(annotations, bible_of(verses), tmp_path/name, choices=choices, code='xxx', min_verses=100)
    without, beside = (open_dataset(tmp_path/name) for name in ('without','with'))
    assert beside.hash == without.hash == beside.hash_of('sentence_mood') != beside.hash_of('word_order')
    assert without.manifest['files'].items() <= beside.manifest['files'].items()
    assert without.manifest['hashes'].items() <= beside.manifest['hashes'].items()

@pytest.fixture(scope='module')
def annotated(tmp_path_factory):
    "A table of labels, and the Bible that it is about"
    place, verses = tmp_path_factory.mktemp('annotated'), made_up(rows=10)
    labels = ''.join(f'{ref}\t{"ab"[ref.verse % 2]}\n' for ref in verses)
    (place/'odd.tsv').write_text('ref\todd\n' + labels, encoding='utf-8')
    bible = ''.join(f'{r.book}\t{r.chapter}\t{r.verse}\t{said}\n' for r,said in verses.items())
    (place/'bible.tsv').write_text(bible, encoding='utf-8')
    return place

@pytest.mark.slow
def test_the_command_makes_choices_beside_labels_unless_they_are_left_out(annotated, tmp_path, pronto):
    def build(name, *more):
        given = '-a', annotated/'odd.tsv', '-b', annotated/'bible.tsv', '-o', tmp_path/name
        assert pronto('build', *given, '--min-verses', 100, *more)[0] == 0
        return {*open_dataset(tmp_path/name).manifest['counts']}
    choices = {'word_order', 'word_choice', 'word_exchange', 'next_verse'}
    assert build('both') == {'odd'} | choices
    assert build('labels', '--no-choices') == {'odd'}
    assert build('choices', '--tasks', 'choices') == choices - {'next_verse'}
    assert build('random', '--splits', 'random') == {'odd'} | choices
    def contents(name): return (tmp_path/name/'odd_folds.tsv').read_bytes()
    assert contents('both') == contents('labels')

def test_choices_that_cannot_be_made_beside_labels_are_left_out_with_a_reason(tmp_path):
    verses = made_up(rows=10)
    about = dict(choices=True, min_verses=100)
    short = build(labelled(verses), bible_of(dict.fromkeys(verses, 'Tata. Kori.')), tmp_path/'short', **about)
    hidden = build(labelled(verses), bible_of(verses), tmp_path/'hidden', layout='labels', **about)
    assert [*short['counts']] == [*hidden['counts']] == ['sentence_mood']
    why = f'no words of the text could be exchanged: it has only {len(verses)} verses'
    assert f'Caution: there are no choices, since {why}' in summary(short)
    assert 'Caution: there are no choices, since the text is left out' in summary(hidden)

def test_choices_are_divided_by_chapter_and_come_from_the_text_whatever_stands_beside_them(tmp_path):
    verses = made_up(rows=10)
    made = build(labelled(verses), bible_of(verses), tmp_path/'x', choices=True, min_verses=100, splits='random')
    assert origin_of(made, 'sentence_mood') == dict(splits='random', rules='paper', source='made up')
    assert origin_of(made, 'word_order') == dict(splits='parallel', rules='paper', source='the text alone')
    assert 'Choices are divided by chapter, not by these splits' in summary(made)

def test_what_reads_verses_or_asks_people_is_the_same_with_choices_and_without(tmp_path):
    verses = made_up(rows=10)
    annotations = labelled(ref for ref in verses if ref.verse < 5)
    texts = []
    for name,choices in ('without', False), ('with', True):
        build(annotations, bible_of(verses), tmp_path/name, choices=choices, min_verses=100)
        dataset = open_dataset(tmp_path/name).load()
        texts.append((verse_texts([dataset], 'test'), sheet_sizes(dataset)))
    assert texts[0] == texts[1] and len(texts[0][0]) > 10

@pytest.mark.slow
def test_baselines_of_choices_have_a_table_of_their_own(annotated, tmp_path, pronto):
    given = '-a', annotated/'odd.tsv', '-b', annotated/'bible.tsv', '-o', tmp_path/'xxx'
    assert pronto('build', *given, '--min-verses', 100)[0] == 0
    tables = pronto('eval', tmp_path/'xxx', '-t', 'odd', '-t', 'WO', '--limit', 20)[1].split('\n\n')
    assert ['| odd' in tables[0], '| WO' in tables[0]] == [True, False]
    assert ['| odd' in tables[1], '| WO' in tables[1]] == [False, True]

def test_the_hash_of_a_choice_is_that_of_its_own_rows(folder, tmp_path):
    copied = tmp_path/'xxx'
    shutil.copytree(folder, copied)
    before = {stem: open_dataset(copied).hash_of(stem) for stem in ('word_order','word_choice')}
    table = copied/'word_order_test.jsonl'
    table.write_text('', encoding='utf-8')
    after = {stem: open_dataset(copied).hash_of(stem) for stem in before}
    assert after['word_order'] != before['word_order'] and after['word_choice'] == before['word_choice']

def test_an_open_dataset_is_not_read_again_for_the_next_task(folder, monkeypatch):
    dataset, read, as_bytes = open_dataset(folder), [], Path.read_bytes
    monkeypatch.setattr(Path, 'read_bytes', lambda path: read.append(path.name) or as_bytes(path))
    for task in WO, WC, WX:
        dataset.hash_of(task.stem)
        assert len(_to_learn((Part(dataset, 'train'),), task)) > 300
        assert bool(read) == (task is WO)
        read.clear()

@pytest.mark.slow
def test_folds_test_each_row_once(tmp_path):
    build(TEXT_ALONE, bible_of(made_up(rows=10)), tmp_path/'xxx', splits='folds', min_verses=100)
    whole = open_dataset(tmp_path/'xxx')
    ids = [row.id for fold in whole.folds for row in fold.load(['word_order']).tasks['word_order']['test']]
    assert len(ids) == len({*ids}) == whole.manifest['counts']['word_order']['test'] > 300
    assert sum(whole.manifest['choices']['word_order']['test'].values()) == len(ids)

@pytest.mark.parametrize('what, line', [
    ('has two identical choices', dict(choices=['he went', 'he went'])),
    ('has the answer 2, but its choices are 0 to 1', dict(answer=2)),
    ('has the answer -1, but its choices are 0 to 1', dict(answer=-1)),
    ('has 1 choices; a row needs two or more', dict(choices=['he went'])),
    ('has an empty choice', dict(choices=['he went', ' '])),
    ('answer: Input should be a valid integer', dict(answer='0')),
    ('choices: Input should be a valid array', dict(choices='he went'))])
def test_a_damaged_row_is_one_line_with_its_place(what, line, tmp_path):
    fine = dict(id='MRK 1:1', context='', choices=['he went', 'went he'], answer=0, changed='neighbours')
    path = tmp_path/'word_order_test.jsonl'
    path.write_text(json.dumps(fine) + '\n' + json.dumps(fine | line) + '\n', encoding='utf-8')
    with pytest.raises(InputError) as e: WO.read_table(path)
    assert str(e.value).startswith(f'{path}, line 2: {what}')

def test_a_line_that_is_no_json_is_named(tmp_path):
    path = tmp_path/'word_order_test.jsonl'
    path.write_text('{"id": "MRK 1:1",\n', encoding='utf-8')
    with pytest.raises(InputError, match='line 1: row: Invalid JSON'): WO.read_table(path)

@pytest.mark.parametrize('verses, said', [
    ({ref: said for ref,said in made_up().items() if ref.chapter == 1}, 'has only 100 verses with text, fewer than 500'),
    (dict.fromkeys(made_up(), 'Tata. Kori.'), 'has no words that could be exchanged'),
    ({ref: f'Tata, {ref}, kori.' for ref in made_up()}, 'has no words that could be exchanged')])
def test_a_text_that_is_too_small_or_has_no_words_is_one_line(verses, said, tmp_path):
    with pytest.raises(InputError, match=said): build(TEXT_ALONE, bible_of(verses), tmp_path/'xxx', path='a.tsv')
    assert not (tmp_path/'xxx').exists()

MINE = """
from pronto import ChoiceTask
from pronto.datasets.examples import ChoiceRow

def backwards(text, split):
    "The words of a verse in the opposite order"
    verses = ((ref, text.verses[ref], text.tokens[ref]) for ref in text.in_order('backwards', split))
    return [ChoiceRow(str(ref), '', (said, ' '.join(reversed(tokens))), 0, 'all words') for ref,said,tokens in verses]

mine = ChoiceTask('backwards', 'BW', 'Which sentence is not said backwards?', backwards)
"""

def test_a_choice_of_your_own_is_built_beside_the_others(tmp_path, pronto):
    (tmp_path/'mine.py').write_text(MINE)
    table = ''.join(f'{r.book}\t{r.chapter}\t{r.verse}\t{said}\n' for r,said in made_up().items())
    (tmp_path/'a.tsv').write_text(table, encoding='utf-8')
    status, out, _ = pronto('build', '-b', tmp_path/'a.tsv', '-o', tmp_path/'xxx', '--tasks', tmp_path/'mine.py', '--splits', 'parallel')
    assert status == 0 and '| backwards |' in out and '| word_order |' in out
    dataset = open_dataset(tmp_path/'xxx', tasks=read_tasks(tmp_path/'mine.py'))
    assert dataset.load(['backwards']).tasks['backwards']['test'][0].changed == 'all words'

def test_a_function_that_gives_a_row_with_identical_choices_is_named():
    same = ChoiceTask('same', 'S', '', lambda text, split: [ChoiceRow('MRK 1:1', '', ('a', 'a'), 0, '')])
    with pytest.raises(InputError, match='same, MRK 1:1: its function gives a row that has two identical choices'):
        same.of_text(ChoiceText(made_up(rows=3)))

def test_options_about_annotations_need_some(tmp_path, pronto):
    status, _, said = pronto('build', '-a', 'none', '-b', 'a.tsv', '-o', tmp_path/'xxx', '--words', '--rules', 'paper')
    assert (status, said) == (1, ['pronto: --rules, --words: does nothing without annotations; name some with -a, or leave it out'])

@pytest.mark.slow
@pytest.mark.parametrize('joint, said', [('\n\n', ''), ('\n', 'is a text of single lines, without paragraphs')])
def test_a_plain_text_of_paragraphs_is_enough(joint, said, tmp_path, pronto):
    path = tmp_path/'my.txt'
    path.write_text(joint.join(made_up(rows=10).values()), encoding='utf-8')
    status, out, error = pronto('build', '-b', path, '-o', tmp_path/'xxx')
    assert status == (1 if said else 0) and said in ''.join(error)
    if not said:
        rows = open_dataset(tmp_path/'xxx').folds[0].load(['next_verse']).tasks['next_verse']['train']
        assert len(rows) > 50 and {row.ref.book for row in rows} == {'TXT'}

def test_tables_of_choices_are_exported_as_they_are(folder, tmp_path, pronto):
    assert pronto('export', 'tsv', folder, '-o', tmp_path/'out')[0] == 0
    table = 'word_order_test.jsonl'
    assert (tmp_path/'out'/table).read_bytes() == (folder/table).read_bytes()
    assert 'pronto_next_verse' in pronto('export', 'lm-eval', folder, '-o', tmp_path/'asked')[1]
