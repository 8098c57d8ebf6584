"What is asked of the predictions of runs: small stores whose answers are known"
import json

import pytest
from conftest import run_results
from pronto.core.files import InputError
from pronto.reporting.questions.question import Options, ask_runs
from pronto.runs.store import RunKey, read_runs, write_record

def store(folder, bible, said, model='bert', task='proper_noun_subject', seed=0, **more):
    "A run with these rows of predictions"
    of_key = {k: more.pop(k) for k in ('recipe','protocol','trained_on','hyperparameters','limit') if k in more}
    key = RunKey(bible, model, f'{model}-1', task, **dict(dataset_hash=bible) | of_key, seed=seed)
    accuracy = sum(row['label'] == row['predicted'] for row in said)/max(len(said), 1)
    write_record(key, folder, run_results(accuracy=accuracy, splits='parallel') | more, said)

def ask(name, folder, **options):
    return ask_runs(name, read_runs(folder, report=pytest.fail), Options(store=str(folder), **options))

def source(code): return [dict(code=code, dataset_hash=code, split='train')]

def verses(wrong, n=100):
    "One answer for each verse, wrong where it is said"
    return [dict(ref=f'MRK {1 + i//10}:{1 + i%10}', label='1', predicted='0' if i in wrong else '1') for i in range(n)]

def numbers(row, names): return [float(row[name]) for name in names.split()]

# Errors across languages

def test_the_same_rows_are_right_or_not(tmp_path):
    store(tmp_path, 'eng', verses(range(20)), language='eng')
    store(tmp_path, 'fra', verses(range(10)), language='fra')
    store(tmp_path, 'wol', verses(range(20, 40)), language='wol')
    reply = ask('errors', tmp_path)
    fra, wol = reply.tables[0].records
    assert (fra['base'], fra['rows']) == ('eng', '100') and numbers(fra, 'if_right if_wrong same') == [100, 50, 90]
    assert numbers(wol, 'if_right if_wrong same chance') == [75, 100, 60, 68]
    assert 'right in eng 87.5 % are right in other languages, of those that are wrong 75.0 %' in reply.sentences[0]

def test_seeds_count_in_shares_and_other_rows_do_not_count(tmp_path):
    for seed,wrong in enumerate((range(0), range(100))): store(tmp_path, 'eng', verses(wrong), seed=seed, language='eng')
    store(tmp_path, 'fra', verses(range(50))[:60] + [dict(ref='LUK 1:1', label='1', predicted='0')], language='fra')
    [row] = ask('errors', tmp_path).tables[0].records
    assert row['rows'] == '60' and row['in_base'] == '50.0' and row['if_right'] == row['if_wrong']

def test_the_base_of_transfer_is_its_source(tmp_path):
    for code in 'fra','wol','eng':
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('fra'), language=code)
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('wol'), language=code)
    found = ask('errors', tmp_path, protocol='transfer').tables[0].records
    assert sorted((r['base'], r['translation']) for r in found) == [(a, b) for a in ('fra','wol') for b in ('eng','fra','wol') if a != b]

@pytest.fixture
def tasks():
    "Tasks of other benchmarks and on words, as a dataset or a store describes them"
    from pronto.datasets.tasks import TASKS
    from pronto.suites.kinds import Described
    from pronto.suites.tasks import know_tasks
    before = dict(TASKS)
    tags = 'O','B-PER','I-PER'
    know_tasks(dict(xquad=Described('questions', 'squad', 'XQuAD'), names=Described('tagging', 'span_f1', 'names', tags),
                    upos=Described('tagging', 'tag_accuracy', 'upos', ('ADJ','DET','NOUN','VERB'))))
    yield
    TASKS.clear()
    TASKS.update(before)

def test_questions_are_known_by_their_ids_and_tokens_are_not_compared(tmp_path, tasks):
    for code in 'en','es':
        asked = [dict(ref=f'{code}-text{i//5}:q{i}', label=json.dumps([f'{code}{i}']), predicted=f'{code}{i}') for i in range(20)]
        store(tmp_path, code, asked, task='xquad', f1=1.)
        store(tmp_path, code, [dict(ref='a:1', token='x', label='O', predicted='O')], task='names', f1=1.)
    reply = ask('errors', tmp_path)
    [row] = reply.tables[0].records
    assert (row['task'], row['base'], row['rows'], row['right']) == ('XQuAD', 'en', '20', '100.0')
    assert 'No other translation has their rows: 1 of bert on en (names); 1 of bert on es (names)' in reply.markdown()

def test_one_language_is_not_two(tmp_path):
    store(tmp_path, 'eng', verses(range(20)))
    with pytest.raises(InputError, match='no model with answers to the same rows in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', [row | dict(ref=row['ref'].replace('MRK', 'LUK')) for row in verses([])])
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', verses([]), model='other')
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)

# Sequences of tags and names, seen in training and not

def tagged(folder, code, task, train, test=(('a', 'O'),)):
    "A dataset of tagged verses; returns its hash. A verse is a text of words with their tags"
    from pronto.runs.store import dataset_hash
    (folder/code).mkdir(parents=True, exist_ok=True)
    for split,rows in dict(train=train, dev=train, test=test).items():
        lines = [json.dumps(dict(id=f'MRK 1:{i}', tokens=row[0].split(), tags=row[1].split())) for i,row in enumerate(rows, 1)]
        (folder/code/f'{task}_{split}.jsonl').write_text('\n'.join(lines) + '\n')
    return dataset_hash(folder/code)

def words(*verses):
    "The predictions of a tagger: a text, its tags, and those it gives, of each verse"
    return [dict(ref=f'MRK 1_{i}-abc:{j}', token=token, label=tag, predicted=said) for i,verse in enumerate(verses, 1)
            for j,(token,tag,said) in enumerate(zip(*(part.split() for part in verse)), 1)]

def test_names_and_tags_that_training_has_are_told_from_others(tmp_path, tasks):
    data, runs = tmp_path/'datasets', tmp_path/'runs'
    trained = [dict(code='eng', split='train', dataset_hash=tagged(data, 'eng', 'names', [('to Simon Peter', 'O B-PER I-PER')]))]
    store(runs, 'swh', words(('Simon Peter', 'B-PER I-PER', 'B-PER I-PER'), ('Yohana', 'B-PER', 'O')), task='names', f1=.5,
          protocol='transfer', trained_on=trained)
    own = tagged(data, 'fra', 'upos', [('a b c d', 'DET ADJ NOUN VERB')])
    key = RunKey('fra', 'bert', 'bert-1', 'upos', own)
    write_record(key, runs, run_results(splits='parallel'), words(('b c d a', 'ADJ NOUN VERB DET', 'ADJ NOUN VERB NOUN')))
    reply = ask('seen', runs, file=str(data), protocol='')
    counts = {(r['tested'], r['kind']): (r['right'], r['n']) for t in reply.tables for r in t.records}
    assert counts['swh','seen'] == ('1', '1') and counts['swh','unseen'] == ('0', '1') and counts['swh','short'] == ('1', '2')
    assert counts['fra','trigrams, seen'] == ('1', '1') and counts['fra','trigrams, unseen'] == ('0', '1')
    assert 'of names that are in the training data 100.0 % are right, of others 0.0 % (swh)' in ' '.join(reply.sentences)

def test_a_dataset_that_was_built_anew_is_not_what_a_run_was_trained_on(tmp_path, tasks):
    data, runs = tmp_path/'datasets', tmp_path/'runs'
    trained = [dict(code='eng', split='train', dataset_hash=tagged(data, 'eng', 'names', [('Peter', 'B-PER')]))]
    for code in 'swh','fra': store(runs, code, words(('Peter', 'B-PER', 'O')), task='names', protocol='transfer', trained_on=trained)
    size = [trained[0] | dict(size=50, draw=1)]
    store(runs, 'luo', words(('Peter', 'B-PER', 'O')), task='names', protocol='few-shot', trained_on=size, condition='50 examples')
    store(runs, 'swh', verses([])) # Not on words
    said = ask('seen', runs, file=str(data), protocol='').tables[0].markdown()
    assert '| fra | 0.0 (1) |' in said and 'luo (names, few-shot)' in said and 'swh (PNS)' in said
    tagged(data, 'eng', 'names', [('Paul', 'B-PER')])
    for place in data, tmp_path/'nowhere':
        with pytest.raises(InputError, match=r'has no dataset, as it was then, that runs were trained on \(eng'):
            ask('seen', runs, file=str(place))
    with pytest.raises(InputError, match='no runs that tag words'):
        ask_runs('seen', [r for r in read_runs(runs) if r.task != 'names'], Options(file=str(data)))

# Languages: the size of their Wikipedia, their families, a selection of them

LANGUAGES = dict(eng=90, fra=80, swh=70, wol=50, zul=40)

def over_languages(folder, languages=LANGUAGES, **more):
    for code,right in languages.items(): store(folder, code, verses(range(right, 100)), language=code, mcc=right/100, **more)

def test_scores_are_set_beside_the_size_of_wikipedia_and_by_family(tmp_path):
    over_languages(tmp_path)
    store(tmp_path, 'eng2', verses(range(70, 100)), language='eng') # Another translation of a language
    reply = ask('resources', tmp_path)
    [row] = reply.tables[0].records
    assert row['languages'] == '3' and float(row['pearson']) > .5 and 'Without a number of articles: wol, zul.' in reply.markdown()
    families = {r['family']: (r['languages'], r['mean']) for r in reply.tables[1].records}
    assert families == {'Indo-European': ('2', '80.0'), 'Atlantic-Congo': ('3', '53.3')}
    reply.write(tmp_path/'out')
    assert (tmp_path/'out'/'resources.png').exists() and (tmp_path/'out'/'resources-families.png').exists()

def test_two_languages_or_one_model_in_each_have_no_line(tmp_path):
    for code,model in dict(eng='a', fra='b', swh='c').items(): store(tmp_path, code, verses([]), model=model, language=code)
    for name in 'resources','subset':
        with pytest.raises(InputError, match='three languages or more'): ask(name, tmp_path)

def test_a_selection_is_compared_with_all_languages_by_tier(tmp_path):
    over_languages(tmp_path, model='xlm-roberta-base')
    over_languages(tmp_path, dict(luo=10, ewe=10), model='xlm-roberta-base')
    parts = {r['tier']: r for r in ask('subset', tmp_path, file='eng,swh').tables[0].records}
    assert (parts['all']['chosen'], parts['all']['languages']) == ('2', '7') and numbers(parts['all'], 'of_chosen of_all') == [80, 50]
    assert parts['high']['difference'] == '5.0' and 'unseen' not in parts
    assert ask('subset', tmp_path).tables[0].records[0]['chosen'] == '3' # Of XTREME
    for chosen in 'deu', ','.join([*LANGUAGES, 'luo', 'ewe']):
        with pytest.raises(InputError, match='have no language of the selection, or no other'): ask('subset', tmp_path, file=chosen)

# Test sets of one language

def test_test_sets_of_one_language_are_compared_in_the_way_that_they_differ(tmp_path):
    both = lambda code, small, large, **more: [store(tmp_path, code, verses(range(100 - right)), model=model, language='eng', **more)
                                               for model,right in dict(small=small, large=large).items()]
    both('one', 70, 80); both('two', 72, 81); both('three', 75, 74, splits='folds') # noqa: E702
    both('four', 50, 90, source='MACULA Greek')
    store(tmp_path, 'fra', verses([]), model='small', language='fra')
    reply = ask('consistency', tmp_path)
    rows = {(r['kind'], r['source']): r for r in reply.tables[0].records}
    assert numbers(rows['translations','OntoNotes'], 'test_sets models mean largest tau') == [2, 2, 1.5, 2, 1]
    assert numbers(rows['parts','OntoNotes'], 'test_sets tau') == [3, -1] # Other splits
    assert numbers(rows['sources',''], 'test_sets tau') == pytest.approx([4, 1/3]) and len(rows) == 3
    assert 'the order of models is kept by PNS (1.00)' in reply.sentences[0]
    assert 'On no other test set of their language: 1 of small on fra (PNS).' in reply.markdown()
    assert 'differ by up to 2.0 points (eng, 2 translations, PNS, small)' in reply.markdown() # Of one source and part
    reply.write(tmp_path/'out')
    assert (tmp_path/'out'/'consistency.png').exists()
    both('one', 10, 20, recipe='robust'); both('two', 20, 10, recipe='robust') # noqa: E702
    recipes = [(r['recipe'], r['tau']) for r in ask('consistency', tmp_path).tables[0].records if r['kind'] == 'translations']
    assert recipes == [('paper', '1.0'), ('robust', '-1.0')] # Never mixed

# What is shown

def test_a_table_without_rows_is_not_shown_beside_others(tmp_path):
    "Alone it is: it says why there is nothing"
    from pronto.core.tables import Table
    from pronto.reporting.questions.question import RunQuestion
    store(tmp_path, 'eng', verses(range(20)))
    empty, full = (Table(stem, stem, [(['x'], rows)]) for stem,rows in (('empty', []), ('full', [['1']])))
    def shown(*tables):
        ask = RunQuestion('toy', lambda records, options: [records], lambda found, metric: tables, None, None, any_protocol=True,
                          own_notes=True)
        said = ask_runs(ask, read_runs(tmp_path), Options(store=str(tmp_path))).markdown()
        return [stem for stem in ('empty','full') if f'**{stem}**' in said]
    assert shown(full, empty) == ['full'] and shown(empty) == ['empty']
