"""What a word is, in any orthography: small texts of the kinds that real translations are, and one property for all"""
import unicodedata
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from pronto.bibles.rows import Bible, VerseRow, clean_text
from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.datasets.align import TEXT_ALONE
from pronto.datasets.building import build
from pronto.datasets.choices.cues import choice_cues
from pronto.datasets.choices.cues import CHOICE_BASELINES
from pronto.datasets.choices.text import ChoiceText
from pronto.datasets.choices.words import word_choice, word_exchange, word_order
from pronto.datasets.manifest import summary
from pronto.datasets.segmentation import learn_segmentation
from pronto.datasets.splits import split_of
from pronto.datasets.tasks import WO

REFS = [ref for chapter in range(1, 17) for verse in range(1, 41) if split_of(ref := Ref('MRK', chapter, verse), None) == 'test']
SYLLABLES = 'ka lo mi tu re sa ne po wi da'.split()

def verses(word=''.join, end='.', divider=' ', n=9, seed=1):
    "Verses of invented words, of which a few are frequent; `word` joins the syllables of each"
    rng = Random(seed)
    lexicon = [word(rng.choices(SYLLABLES, k=3 if i > 20 else 1)) for i in range(400)]
    lexicon = list(dict.fromkeys(lexicon))
    weights = [1/(i + 3) for i in range(len(lexicon))]
    return {ref: divider.join(rng.choices(lexicon, weights, k=n)) + end for ref in REFS}

def rows_of(said):
    text = ChoiceText({ref: clean_text(verse) for ref,verse in said.items()})
    return [row for task in (word_order, word_choice, word_exchange) for row in task(text, 'test')]

@pytest.fixture(scope='module')
def n_plain(): return len(rows_of(verses()))

@pytest.mark.parametrize('name,word,end,divider', [
    ('digits as letters', lambda s: '7' + ''.join(s), '.', ' '), ('digits for tone', lambda s: '2'.join(s) + '²', '.', ' '),
    ('a glottal stop at the end', lambda s: ''.join(s) + "'", '.', ' '),
    ('a glottal stop as a quotation mark', lambda s: '‘' + ''.join(s), '.', ' '),
    ('marks of tone', lambda s: "'" + ''.join(s) + ':', '.', ' '), ('non-breaking hyphens', '\u2011'.join, '.', ' '),
    ('a Bengali end', ''.join, '৷', ' '), ('zero-width spaces', ''.join, '.', '\u200b'), ('Ethiopic wordspaces', ''.join, '።', ' ፡ '),
    ('tshegs', ''.join, '།', '་'), ('soft hyphens', '\u00ad'.join, '.', ' '), ('direction marks', ''.join, '\u200f.', ' \u200f')])
def test_as_many_rows_as_with_plain_words(n_plain, name, word, end, divider):
    assert len(rows_of(verses(word, end, divider))) >= .9*n_plain > 80

DIVIDERS = ' ', '\u200b', '\u00a0', ' \u200b', '\u202f', '፡', ' ፡ '
FORMS = 'NFC', 'NFD', 'NFKC', 'NFKD'
ACCENTED = dict(zip('aeiou', 'áéíóú'))

@settings(max_examples=12, deadline=None)
@given(st.sampled_from(FORMS), st.lists(st.sampled_from(DIVIDERS), min_size=1, max_size=4), st.integers(0, 3))
def test_any_normal_form_and_any_separator_give_the_same_rows(form, dividers, seed):
    def accented(parts): return ''.join(ACCENTED.get(c, c) for c in ''.join(parts))
    plain = verses(accented, seed=seed)
    rng = Random(seed)
    written = {ref: unicodedata.normalize(form, ''.join(rng.choice(dividers) if c == ' ' else c for c in said))
               for ref,said in plain.items()}
    def unified(row):
        words = [' '.join(choice.replace('\u200b', ' ').replace('፡', ' ').split()) for choice in row.choices]
        return row.ref, words, row.answer, row.changed
    assert list(map(unified, rows_of(written))) == list(map(unified, rows_of(plain)))

def test_letters_within_a_word_are_never_exchanged():
    "With zero-width spaces between words, in a script that has no blanks"
    khmer = 'ពួក សិស្ស សួរ ដេញ ដោល គ្នា ពី ការ ដែល ពេល ព្រះ ជ្រាប មាន បន្ទូល ទៅ គេ ហេតុ អ្វី អ្នក'.split()
    rng = Random(0)
    said = {ref: '\u200b'.join(rng.choices(khmer, k=8)) + '។' for ref in REFS}
    rows = rows_of(said)
    assert len(rows) > 30
    for row in rows:
        for choice in row.choices: assert {*choice.rstrip('។').split('\u200b')} <= {*khmer}

@pytest.mark.parametrize('text,kind', [
    ('起初神创造天地。地是空虚混沌，渊面黑暗，神的灵运行在水面上。', 'dictionary'),
    ('はじめに神は天と地とを創造された。', 'dictionary'),
    ('ในปฐมกาลพระเจ้าทรงเนรมิตสร้างฟ้าและแผ่นดิน', 'dictionary'),
    ('ꀊꂱꌺꆏꁱꂷꊨ', 'characters'), ('ꦲꦤꦕꦫꦏꦢꦠꦱꦮꦭ', 'syllables')])
def test_a_script_without_blanks_is_cut_into_pieces_that_are_the_text(text, kind):
    learned = learn_segmentation([text]*5)
    assert learned.kind == kind and ''.join(learned.pieces(text)) == text and len(learned.words(text)) > 3

def test_chinese_blanks_around_names_divide_nothing_and_give_no_name_away():
    said = ('亞伯蘭 就照著 耶和華 的吩咐 去了；羅得 也和他 同去。 亞伯蘭 出 哈蘭 的時候年七十五歲。'
            '我必叫你成為大國。我必賜福給你，叫你的名為大；你也要叫別人得福。')
    text = ChoiceText({Ref('GEN', 12, n): said + '。'*n for n in range(1, 9)})
    assert text.segmentation.kind == 'dictionary'
    tokens = text.tokens[Ref('GEN', 12, 1)]
    assert '耶和華' not in [tokens[i] for i in text.places(Ref('GEN', 12, 1))]

def test_surface_features_and_ngrams_cut_words_as_choices_do():
    rows = rows_of(verses(lambda s: ''.join(s) + "'"))[:60]
    assert choice_cues(rows[:30], rows[30:])['punctuation'] == .5 # No word looks like one with a quotation mark
    chinese = ['起初神创造天地', '地是空虚混沌', '渊面黑暗']
    assert CHOICE_BASELINES['word_2'](None, chinese*3, rows[:2])
    assert learn_segmentation(chinese).tokens('起初神创造天地') == ['起初', '神', '创造', '天地']

def test_verses_that_all_stand_twice_are_said_to(tmp_path):
    said = verses()
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), f'{n} {text}') for ref,text in said.items() for n in ('one', 'two')]
    with pytest.raises(InputError, match=f'has only 0 verses with text, and {len(said)} repeated, fewer than 1'):
        build(TEXT_ALONE, Bible(rows), tmp_path/'x', min_verses=1)

def test_the_manifest_says_what_divides_words_and_which_tasks_have_few_rows(tmp_path):
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text) for ref,text in verses(divider='\u200b').items()]
    made = build(TEXT_ALONE, Bible(rows), tmp_path/'x', min_verses=1)
    assert made['words'] == 'blanks'
    n = made['counts']['word_order']['test']
    assert f"word_order: a score is over {n} rows only, since it has only {len(rows):,} verses" in summary(made)

@pytest.mark.parametrize('texts,reason', [
    (dict.fromkeys(REFS, 'kalo misa tule repo.'), f'{len(REFS):,} occur more than once'),
    ({ref: f'7 {text}' for ref,text in verses().items()}, f'{len(REFS):,} have numbers in digits'),
    ({ref: text.title() for ref,text in verses().items()}, f'{len(REFS):,} have fewer than two rarer words between words')])
def test_why_a_text_has_few_choices_is_true(texts, reason):
    assert ChoiceText(texts).limits.startswith(f'it has only {len(REFS):,} verses, of which {reason}')

@pytest.mark.parametrize('said,after', [
    ([f"vado all' {word} di un po' e quest' {word} all' un po' quest' ora" for word in 'casa mare sole'.split()]*5, "'"),
    ([f"disse '{word} e vado' al {word} di casa e '{word} mare' vado via e mare vado mare" for word in 'casa mare sole'.split()]*5, ''),
    (["dess' ist Brot und kam und 'er kam' und das Brot' und 'und der' und er"]*9, '')])
def test_an_apostrophe_belongs_to_words_that_hardly_occur_without_it(said, after):
    assert learn_segmentation(said).after == after

def test_brackets_of_words_that_a_translation_adds_are_no_letters():
    learned = learn_segmentation([f'⌞declares⌟ he ⌞{word}⌟ to them' for word in 'one two three four five'.split()]*5)
    assert (learned.before, learned.after) == ('', '')

def test_a_release_and_a_score_say_that_rows_are_few(tmp_path):
    from types import SimpleNamespace
    from pronto.lab.jobs.release import Release
    from pronto.reporting.cells import few_rows_notes
    done = Release(tmp_path, few_rows=dict(WX={'cni': '273, since of its 7,767 verses 4,000 have numbers in digits'}))
    assert done.few_rows_lines == ['1 translation has fewer than 300 test rows in WX: cni: 273, since of its 7,767 verses '
                                   '4,000 have numbers in digits']
    def run(n):
        return SimpleNamespace(is_scored=True, counts=dict(test=n), dataset_name='khm', definition=WO, task='word_order', source='')
    assert few_rows_notes([run(19), run(19)]) == ['Scores over fewer than 100 rows, which say little: WO on khm (19).']
    assert few_rows_notes([run(100)]) == []
