"What is asked of the predictions of runs: small stores whose answers are known"
import json

import numpy as np
import pytest
from conftest import predictions, run_results
from pronto.cli.command import main
from pronto.lab.statistics.correlation import correlate
from pronto.core.files import InputError
from pronto.reporting.questions.question import Options, ask_runs
from pronto.reporting.scores import read_answers
from pronto.runs.store import RunKey, read_runs, write_record

def store(folder, bible, said, model='bert', task='proper_noun_subject', seed=0, **more):
    "A run with these rows of predictions"
    of_key = {k: more.pop(k) for k in ('recipe','protocol','trained_on','hyperparameters','limit','fold','pool') if k in more}
    key = RunKey(bible, model, f'{model}-1', task, **dict(dataset_hash=bible) | of_key, seed=seed)
    accuracy = sum(row['label'] == row['predicted'] for row in said)/max(len(said), 1)
    return write_record(key, folder, run_results(accuracy=accuracy, splits='parallel') | more, said)

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
    fra, wol = reply.tables[0].texts
    assert (fra['base'], fra['rows']) == ('eng', '100') and numbers(fra, 'if_right if_wrong same') == [100, 50, 90]
    assert numbers(wol, 'if_right if_wrong same chance') == [75, 100, 60, 68]
    assert 'right in eng 87.5 % are right in other languages, of those that are wrong 75.0 %' in reply.sentences[0]

def test_seeds_count_in_shares_and_other_rows_do_not_count(tmp_path):
    for seed,wrong in enumerate((range(0), range(100))): store(tmp_path, 'eng', verses(wrong), seed=seed, language='eng')
    store(tmp_path, 'fra', verses(range(50))[:60] + [dict(ref='LUK 1:1', label='1', predicted='0')], language='fra')
    [row] = ask('errors', tmp_path).tables[0].texts
    assert row['rows'] == '60' and row['in_base'] == '50.0' and row['if_right'] == row['if_wrong']

def test_a_picture_of_many_translations_names_none(tmp_path):
    for i in range(42): store(tmp_path, f'q{i:02}', verses(range(i)), language=f'q{i:02}')
    reply = ask('errors', tmp_path)
    axes = reply.plot().axes[0]
    assert len(reply.tables[0].rows) == 41 and not axes.get_yticklabels()

def test_the_base_of_transfer_is_its_source(tmp_path):
    for code in 'fra','wol','eng':
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('fra'), language=code)
        store(tmp_path, code, verses(range(10)), protocol='transfer', trained_on=source('wol'), language=code)
    found = ask('errors', tmp_path, protocol='transfer').tables[0].texts
    assert sorted((r['base'], r['translation']) for r in found) == [(a, b) for a in ('fra','wol') for b in ('eng','fra','wol') if a != b]

@pytest.fixture
def tasks(tmp_path):
    "Tasks of other benchmarks and on words, as a store describes them"
    from pronto.lab.suites.kinds import Described
    tags = 'O','B-PER','I-PER'
    described = dict(xquad=Described('questions', 'squad', 'XQuAD'), names=Described('tagging', 'span_f1', 'names', tags),
                     upos=Described('tagging', 'tag_accuracy', 'upos', ('ADJ','DET','NOUN','VERB')),
                     udpos=Described('tagging', 'span_f1', 'POS', ('ADJ','DET','NOUN','VERB')),
                     xnli=Described('pair', 'accuracy', 'XNLI', tuple('ABC')), pawsx=Described('pair', 'accuracy', 'PAWS-X', tuple('ABC')),
                     mela=Described('sentence', 'mcc', 'MELA', tuple('ABC')))
    for place in tmp_path/'tasks', tmp_path/'runs'/'tasks': # A store may be either folder
        place.mkdir(parents=True)
        for stem,about in described.items(): (place/f'{stem}.json').write_text(json.dumps(about.record()))

def test_questions_are_known_by_their_ids_and_tokens_are_not_compared(tmp_path, tasks):
    for code in 'en','es':
        asked = [dict(ref=f'{code}-text{i//5}:q{i}', label=json.dumps([f'{code}{i}']), predicted=f'{code}{i}') for i in range(20)]
        store(tmp_path, code, asked, task='xquad', f1=1.)
        store(tmp_path, code, [dict(ref='a:1', token='x', label='O', predicted='O')], task='names', f1=1.)
    reply = ask('errors', tmp_path)
    [row] = reply.tables[0].texts
    assert (row['task'], row['base'], row['rows'], row['right']) == ('XQuAD', 'en', '20', '100.0')
    assert 'No other translation has their rows: 1 of bert on en (names); 1 of bert on es (names)' in reply.markdown()

def sentences(folder, task, right, where, labels='ABC', **more):
    "Forty rows of a benchmark without references, in each of three languages, of which so many are right"
    for (code, n),names in zip(right.items(), labels if isinstance(labels, tuple) else [labels]*3):
        gold = [names[i*i % len(names)] for i in range(40)]
        said = [where | dict(label=true, predicted=true if i < n else 'no') for i,true in enumerate(gold)]
        store(folder, code, said, task=task, language=code, **more)

def test_rows_without_references_are_the_same_by_number_where_a_benchmark_is_parallel(tmp_path, tasks):
    sentences(tmp_path, 'xnli', dict(en=18, es=20, sw=10), dict(ref1='', ref2=''))
    sentences(tmp_path, 'mela', dict(en=18, es=20, sw=10), dict(ref=''), mcc=.5)
    reply = ask('errors', tmp_path)
    assert [(r['task'], r['rows'], r['in_base']) for r in reply.tables[0].texts] == [('XNLI', '40', '45.0')]*2
    assert '1 of bert on sw (MELA)' in reply.markdown()
    [summary] = [t for t in ask('accuracy', tmp_path).tables if t.stem == 'summary']
    assert {(r['scope'], r['mean']) for r in summary.texts if r['model'] == 'bert'} >= {('XNLI', '40.0')}
    assert 'on all its own rows' in summary.markdown()

@pytest.mark.parametrize('task, where, labels', [
    ('mela', dict(ref=''), 'ABC'), # Each language has its own sentences, whatever their labels
    ('pawsx', dict(ref1='', ref2=''), ('ABC', 'ACB', 'CBA'))]) # Rows are left out, or a limit draws others
def test_rows_that_nothing_tells_apart_are_not_compared(tmp_path, tasks, task, where, labels):
    sentences(tmp_path, task, dict(en=18, es=20, sw=10), where, labels, mcc=.5)
    with pytest.raises(InputError, match='no model with answers to the same rows') as e: ask('errors', tmp_path)
    assert '\n' not in str(e.value)

def test_one_language_is_not_two(tmp_path):
    store(tmp_path, 'eng', verses(range(20)))
    with pytest.raises(InputError, match='no model with answers to the same rows in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', [row | dict(ref=row['ref'].replace('MRK', 'LUK')) for row in verses([])])
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)
    store(tmp_path, 'fra', verses([]), model='other')
    with pytest.raises(InputError, match='in two translations'): ask('errors', tmp_path)

def test_the_base_is_english_and_its_own_language_stands_apart(tmp_path):
    "Whatever the scores: the English translation of most tasks and models, in all of them"
    for code,wrong in dict(eng=range(30), eng2=range(20), fra=range(10), wol=range(40)).items():
        store(tmp_path, code, verses(wrong), language=code[:3])
    for code,wrong in dict(eng=range(50), fra=range(50)).items(): store(tmp_path, code, verses(wrong), model='other', language=code)
    reply = ask('errors', tmp_path)
    rows = {(r['model'], r['translation']): r for r in reply.tables[0].texts}
    assert {r['base'] for r in rows.values()} == {'eng'} and rows['bert','eng2']['same_language'] == 'True'
    others = [r for r in reply.sentences if 'in other languages' in r]
    assert '92.9 % are right in other languages' in others[0] and '(means of 2 translations)' in others[0] and len(others) == 2
    assert 'in other translations of its language' in reply.sentences[-1] and reply.sentences[-1].endswith('(in eng2).')
    assert '| eng2 (same language) |' in reply.markdown()

# Sequences of tags and names, seen in training and not

def tagged(folder, code, task, train, test=(('a', 'O'),)):
    "A dataset of tagged verses; returns its hash. A verse is a text of words with their tags"
    from pronto.datasets.loading import open_dataset
    (folder/code).mkdir(parents=True, exist_ok=True)
    described = dict(kind='tagging', metric='span_f1' if task == 'names' else 'tag_accuracy', name=task,
                     labels=sorted({tag for _,tags in train for tag in tags.split()} | {'O'}))
    manifest = dict(code=code, word_tasks=dict(tasks={task: described}))
    (folder/code/'manifest.json').write_text(json.dumps(manifest))
    for split,rows in dict(train=train, dev=train, test=test).items():
        lines = [json.dumps(dict(id=f'MRK 1:{i}', tokens=row[0].split(), tags=row[1].split())) for i,row in enumerate(rows, 1)]
        (folder/code/f'{task}_{split}.jsonl').write_text('\n'.join(lines) + '\n')
    return open_dataset(folder/code).hash

def words(*verses):
    "The predictions of a tagger: a text, its tags, and those it gives, of each verse"
    return [dict(ref=f'MRK 1_{i}-abc:{j}', token=token, label=tag, predicted=said) for i,verse in enumerate(verses, 1)
            for j,(token,tag,said) in enumerate(zip(*(part.split() for part in verse)), 1)]

def test_names_and_tags_that_training_has_are_told_from_others(tmp_path, tasks):
    data, runs = tmp_path/'datasets', tmp_path/'runs'
    trained = [dict(code='eng', split='train', dataset_hash=tagged(data, 'eng', 'names', [('to Simon Peter', 'O B-PER I-PER')]))]
    store(runs, 'swh', words(('Simon Peter', 'B-PER I-PER', 'B-PER I-PER'), ('Yohana', 'B-PER', 'O')), task='names', f1=.5,
          protocol='transfer', trained_on=trained)
    for task in 'upos','udpos': # Whatever they are judged by: XTREME judges tags of words by F1
        own = tagged(data/task, 'fra', task, [('a b c d', 'DET ADJ NOUN VERB')])
        key = RunKey('fra', 'bert', 'bert-1', task, own)
        write_record(key, runs, run_results(splits='parallel'), words(('b c d a', 'ADJ NOUN VERB DET', 'ADJ NOUN VERB NOUN')))
    reply = ask('seen', runs, file=str(data), protocol='')
    counts = {(r['tested'], r['kind']): (r['right'], r['n']) for t in reply.tables for r in t.texts}
    assert counts['swh','seen'] == ('1', '1') and counts['swh','unseen'] == ('0', '1') and counts['swh','short'] == ('1', '2')
    of_tags = {(r['task'], r['kind']): (r['right'], r['n']) for t in reply.tables if t.stem == 'seen-tags' for r in t.texts}
    for task in 'upos','POS':
        assert of_tags[task,'trigrams, seen'] == ('1', '1') and of_tags[task,'trigrams, unseen'] == ('0', '1')
    assert 'of names that are in the training data 100.0 % are right, of others 0.0 % (swh from eng)' in ' '.join(reply.sentences)

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
    [row] = reply.tables[0].texts
    assert row['languages'] == '3' and float(row['pearson']) > .5 and 'Without a number of articles: wol, zul.' in reply.markdown()
    families = {r['family']: (r['languages'], round(r['mean'], 1)) for r in reply.tables[1].data}
    assert families == {'Indo-European': (2, 80.), 'Atlantic-Congo': (3, 53.3)}
    assert [(r['script'], r['languages'], r['mean']) for r in reply.tables[2].texts] == [('Latin', '5', '64.0')]
    reply.write(tmp_path/'out')
    assert (tmp_path/'out'/'resources.png').exists()

def test_the_lowest_and_highest_of_families_are_fitted(tmp_path):
    "As in figure 3 of XTREME: a polynomial for each, from five families on"
    for n,lines in (4, 0), (5, 2):
        over_languages(tmp_path/str(n), dict(list(dict(eng=90, swh=80, fin=70, tgl=60, jpn=50).items())[:n]))
        [ax] = ask('resources', tmp_path/str(n)).plot().axes
        assert [line.get_linestyle() for line in ax.lines].count('--') == lines

def test_scores_fall_or_too_few_languages_tell(tmp_path):
    "More articles, lower scores: said from five languages on"
    articles = ['swh', 'tgl', 'fin', 'fra', 'deu', 'eng']
    for n,verdict in (4, 'too few languages to say'), (6, 'scores fall with the number'):
        over_languages(tmp_path/str(n), {code: 90 - 10*i for i,code in enumerate(articles[:n])})
        reply = ask('resources', tmp_path/str(n))
        row, text = reply.tables[0].texts[0], reply.sentences[0]
        assert float(row['pearson']) < -.7 and verdict in text and bool(row['low']) == (n > 4), text

@pytest.mark.slow
def test_chance_is_rarely_taken_for_a_correlation():
    "Scores that are tied to nothing rise, or fall, in 2.5 % of draws (and three standard errors), whatever their distribution"
    rng, n_draws = np.random.default_rng(0), 500
    for n,of in (3, rng.normal), (4, rng.normal), (5, rng.exponential), (6, rng.exponential), (12, rng.normal):
        found = [correlate(np.exp(2*rng.normal(size=n)), of(size=n), 400).direction for _ in range(n_draws)]
        assert all(found.count(side) <= (n_draws*.045 if n > 4 else 0) for side in (-1, 1)), n

def test_two_languages_or_one_model_in_each_have_no_line(tmp_path):
    for code,model in dict(eng='a', fra='b', swh='c').items(): store(tmp_path, code, verses([]), model=model, language=code)
    for name in 'resources','subset':
        with pytest.raises(InputError, match='three languages or more'): ask(name, tmp_path)

def test_a_selection_is_compared_with_all_languages_by_tier(tmp_path):
    over_languages(tmp_path, model='xlm-roberta-base')
    over_languages(tmp_path, dict(luo=10, ewe=10), model='xlm-roberta-base')
    parts = {r['tier']: r for r in ask('subset', tmp_path, file='eng,swh').tables[0].texts}
    assert (parts['all']['chosen'], parts['all']['languages']) == ('2', '7')
    assert numbers(parts['all'], 'of_chosen of_all') == pytest.approx([80, 50])
    assert float(parts['high']['difference']) == pytest.approx(5) and 'unseen' not in parts
    assert ask('subset', tmp_path).tables[0].texts[0]['chosen'] == '3' # Of XTREME
    for chosen in 'deu', ','.join([*LANGUAGES, 'luo', 'ewe']):
        with pytest.raises(InputError, match='no language of the selection, or no other'): ask('subset', tmp_path, file=chosen)

# Test sets of one language

def test_test_sets_of_one_language_are_compared_in_the_way_that_they_differ(tmp_path):
    both = lambda code, small, large, **more: [store(tmp_path, code, verses(range(100 - right)), model=model, language='eng', **more)
                                               for model,right in dict(small=small, large=large).items()]
    both('one', 70, 80); both('two', 72, 81); both('three', 75, 74, splits='folds') # noqa: E702
    both('four', 50, 90, source='MACULA Greek')
    store(tmp_path, 'fra', verses([]), model='small', language='fra')
    reply = ask('consistency', tmp_path)
    rows = {(r['kind'], r['source']): r for r in reply.tables[0].texts}
    assert numbers(rows['translations','OntoNotes'], 'test_sets models mean largest tau') == [2, 2, 1.5, 2, 1]
    assert numbers(rows['parts','OntoNotes'], 'test_sets tau') == [3, -1] # Other splits
    assert numbers(rows['sources',''], 'test_sets tau') == pytest.approx([4, 1/3]) and len(rows) == 3
    assert 'the order of models is kept by PNS (1.00)' in reply.sentences[0]
    assert 'On no other test set of their language: 1 of small on fra (PNS).' in reply.markdown()
    assert 'differ by up to 2.0 points (eng, 2 translations, PNS, small)' in reply.markdown() # Of one source and part
    reply.write(tmp_path/'out')
    assert (tmp_path/'out'/'consistency.png').exists()
    both('one', 10, 20, recipe='robust'); both('two', 20, 10, recipe='robust') # noqa: E702
    recipes = [(r['recipe'], r['tau']) for r in ask('consistency', tmp_path).tables[0].texts if r['kind'] == 'translations']
    assert recipes == [('paper', '1.0'), ('robust', '-1.0')] # Never mixed

def test_a_name_with_brackets_is_not_one_that_was_set_apart(tmp_path):
    for model in 'bert (v1)', 'bert (v2)':
        for code in 'eng', 'eng2': store(tmp_path, code, verses(range(20)), model=model, language='eng')
    [row] = ask('consistency', tmp_path).tables[0].data
    assert row['models'] == 2

# One answer to everything

def test_a_target_with_one_answer_shows_no_gap(tmp_path):
    "It is marked, counted and said, in the gaps, in their means and in the note"
    for seed in range(3):
        for code in 'eng','fra','wol':
            store(tmp_path, code, verses(range(10)), seed=seed, protocol='probe')
            flat = [row | dict(predicted='1', label='01'[i % 2]) for i,row in enumerate(verses([]))]
            store(tmp_path, code, flat if code == 'wol' else verses(range(20)), seed=seed, protocol='transfer-probe',
                  trained_on=source('eng'), collapsed=code == 'wol')
    reply = ask('transfer-probe', tmp_path)
    matrix, gaps, means = (t.texts for t in reply.tables)
    assert {r['target']: r['collapsed'] for r in gaps} == dict(eng='0', fra='0', wol='1') and means[0]['collapsed'] == '1'
    assert 'on 1 of them a model gives one answer to everything' in reply.sentences[0]

def test_a_stored_run_with_one_answer_is_collapsed(tmp_path):
    "In every protocol, for each test set by itself, whatever its loss was"
    from pronto.datasets.examples import VerseExample
    from pronto.datasets.tasks import PNS
    from pronto.modeling.outcome import Trained
    from pronto.runs.store import store_run
    rows = [VerseExample(f'Text {i}', str(i % 2), f'MRK 1:{i + 1}') for i in range(10)]
    answers = {'test': ['1']*10, 'test 1': ['0','1']*5}
    trained = Trained(PNS, 0, {}, dict(train=rows, dev=rows, **dict.fromkeys(answers, rows)), answers,
                      [], 1, False, [], {}, {}, 1., 'cpu', {})
    for name,flat in (('test', True), ('test 1', False)):
        path = store_run(RunKey(name, 'm', 'h', 'proper_noun_subject', name, protocol='probe'), tmp_path, trained, test=name)
        assert json.loads(path.read_text())['collapsed'] is flat
    [fold] = [json.loads(store_run(RunKey('folds', 'm', 'h', 'proper_noun_subject', 'f', fold=0), tmp_path, trained).read_text())]
    assert not fold['collapsed'] # It has few rows, so all folds are judged together

def test_folds_have_collapsed_if_all_their_answers_are_one(tmp_path):
    "One answer to the few rows of one fold is usual"
    for code,says in dict(eng='01', fra='11').items():
        for k in range(2):
            rows = [row | dict(predicted=says[k], label='01'[i % 2]) for i,row in enumerate(verses([], 6))]
            store(tmp_path, code, rows, fold=k, folds=2, pool='all')
    assert {r.dataset: r.collapsed for r in read_runs(tmp_path)} == dict(eng=False, fra=True)

def test_tables_mark_what_records_call_collapsed(tmp_path):
    "The training of one fold learned nothing, although all folds together give two answers"
    for k in range(2): store(tmp_path, 'eng', verses(range(3), 6), fold=k, folds=2, pool='all', collapsed=k == 0)
    [run] = read_runs(tmp_path)
    assert run.collapsed and read_answers([run]).collapsed

def test_a_limited_training_set_is_not_all_of_it(tmp_path):
    for limit,train,name in (None, 80, 'all'), (50, 50, '50'), (100, 80, 'all'):
        runs = tmp_path/str(limit)
        store(runs, 'eng', verses(range(20)), protocol='few-shot', trained_on=source('eng'), limit=limit,
              counts=dict(train=train, test=100))
        [row] = ask('few-shot', runs).tables[0].texts
        assert (row['examples'], row['size']) == (str(train), name)

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

@pytest.mark.parametrize('name', ['errors','resources','subset','tiers'])
def test_a_question_reads_the_protocol_with_most_results(tmp_path, capsys, name):
    "One run of another protocol does not stand for a store of probes"
    for i,bible in enumerate(('engweb','wolKYG','fralsg','deuluo','swhulb')):
        key = RunKey(bible, 'bert-base-multilingual-cased', 'm', 'proper_noun_subject', 'd', recipe='probe', protocol='probe')
        write_record(key, tmp_path, run_results(splits='parallel', language=bible[:3]), predictions(.6 + i/20))
    write_record(RunKey('engweb', 'bert-base-multilingual-cased', 'm', 'proper_noun_subject', 'd'), tmp_path,
                 run_results(splits='parallel', language='eng'), predictions(.7))
    assert main(['tables', '--runs', str(tmp_path), '--question', name, '-o', str(tmp_path/'tables')]) == 0
    assert 'These are the runs of probe; there are others of in-language (--protocol).' in capsys.readouterr().err
