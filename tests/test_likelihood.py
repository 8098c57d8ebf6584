"How probable models find choices: the same alone and in any batch, the same as elsewhere, and refused in a line"
import re, numpy as np
import pytest

import zoo

pytest.importorskip('torch')

def choice(context, *choices, answer=0):
    from pronto.datasets.examples import ChoiceRow
    return ChoiceRow('MRK 1:1', context, choices, answer, 'a test')

def exchanged(text):
    words = text.split()
    return ' '.join([*words[:-2], words[-1], words[-2]]) if len(words) > 2 else f'{text} lo mi'

def some_rows():
    texts = list(dict.fromkeys(zoo.texts(12)))
    pairs = [choice('', text, exchanged(text)) for text in texts if exchanged(text) != text]
    return [*pairs, choice(texts[3], *texts[4:8]), choice(texts[1], *texts[8:11])]

@pytest.fixture
def reader(tmp_path):
    from pronto.modeling.likelihood import load_chooser
    return lambda name: load_chooser(zoo.save_model(tmp_path/name, name), 'cpu')

MODELS = 'bert roberta fnet xlm modernbert gpt2 llama gemma2 cohere bloom mamba t5 marian byt5'.split()

@pytest.mark.parametrize('name', MODELS)
def test_batches_order_and_padding_change_nothing(reader, name):
    from pronto.modeling.likelihood import choice_values
    model, rows = reader(name), some_rows()
    together = choice_values(model, rows).sums
    backwards = choice_values(model, rows[::-1]).sums[::-1]
    alone = [choice_values(model, [row]).sums[0] for row in rows]
    for one, *others in zip(together, backwards, alone):
        for other in others: assert other == pytest.approx(one, abs=1e-3)
    assert len({tuple(values.round(3)) for values in together}) > len(rows)/2 # They do differ

@pytest.mark.parametrize('name', ['gpt2','llama','gemma2','cohere','mamba'])
def test_a_decoder_says_what_a_plain_pass_says(reader, name):
    import torch
    from pronto.modeling.likelihood import choice_values
    model, rows = reader(name), some_rows()
    def plain(text, before=''):
        ids, n = model.tokenizer(text)['input_ids'], len(model.tokenizer(before)['input_ids']) if before else 0
        if not before: ids, n = [model.tokenizer.bos_token_id, *ids], 1
        with torch.no_grad(): said = model.net(torch.tensor([ids])).logits[0].float().log_softmax(-1)
        return sum(float(said[i - 1, ids[i]]) for i in range(n, len(ids)))
    for row, values in zip(rows, choice_values(model, rows).sums):
        whole = [plain(f'{row.context} {x}', row.context) - plain(x) if row.context else plain(x) for x in row.choices]
        assert values == pytest.approx(whole, abs=1e-3)

def test_a_masked_model_is_asked_for_each_token_with_the_rest_of_its_word_hidden(tmp_path):
    "A tokenizer that cuts each word into letters"
    import torch
    from transformers import AutoTokenizer
    from pronto.modeling.likelihood import choice_values, load_chooser
    folder = zoo.save_model(tmp_path/'bert', 'bert')
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    letters = sorted({*''.join(zoo.WORDS)})
    places = {x: i for i,x in enumerate(['[PAD]','[UNK]','[CLS]','[SEP]','[MASK]', *letters, *(f'##{x}' for x in letters)])}
    made = Tokenizer(models.WordPiece(places, unk_token='[UNK]'))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing('[CLS] $A [SEP]', special_tokens=[('[CLS]', 2), ('[SEP]', 3)])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    special = {f'{name}_token': f'[{name.upper()}]' for name in ('pad','unk','cls','sep','mask')}
    type(tokenizer)(tokenizer_object=made, **special).save_pretrained(folder)
    model, rows = load_chooser(folder, 'cpu'), [choice('', 'lo ke mi', 'lo mi ke')]
    ids = model.tokenizer('lo ke mi')['input_ids']
    assert len(ids) == 8
    def said(place, hidden):
        seen = [4 if i in hidden else x for i,x in enumerate(ids)]
        with torch.no_grad(): found = model.net(torch.tensor([seen])).logits[0, place].log_softmax(-1)
        return float(found[ids[place]])
    by_hand = sum(said(i, [i, i + 1]) + said(i + 1, [i + 1]) for i in (1, 3, 5))
    assert choice_values(model, rows, every=True).sums[0][0] == pytest.approx(by_hand, abs=1e-4)
    assert choice_values(model, rows).tokens == choice_values(model, rows, every=True).tokens == 12

def in_letters(folder, kind):
    "A BERT whose tokenizer cuts words into letters and names them, or a text into letters and blanks, as one piece (Gemma's kind)"
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast
    zoo.save_model(folder, 'bert')
    letters = sorted({*''.join(zoo.WORDS)})
    special = ['[PAD]','[UNK]','[CLS]','[SEP]','[MASK]']
    if kind == 'gemma':
        made = Tokenizer(models.BPE({x: i for i,x in enumerate([*special, *letters, '▁'])}, [], unk_token='[UNK]'))
        made.normalizer = normalizers.Replace(' ', '▁')
        made.pre_tokenizer = pre_tokenizers.Split(' ', 'merged_with_previous')
    else:
        pieces = [*special, *letters, *(f'##{x}' for x in letters)]
        made = Tokenizer(models.WordPiece({x: i for i,x in enumerate(pieces)}, unk_token='[UNK]'))
        made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing('[CLS] $A [SEP]', special_tokens=[('[CLS]', 2), ('[SEP]', 3)])
    PreTrainedTokenizerFast(tokenizer_object=made, **{f'{x[1:-1].lower()}_token': x for x in special}).save_pretrained(folder)
    from pronto.modeling.likelihood import load_chooser
    return load_chooser(folder, 'cpu')

def asked_by_hand(model, text, first, last):
    "The letters of one word, each with those after it hidden"
    import torch
    ids = model.tokenizer(text)['input_ids']
    total = 0
    for i in range(first, last):
        seen = [4 if i <= k < last else x for k,x in enumerate(ids)]
        with torch.no_grad(): total += float(model.net(torch.tensor([seen])).logits[0, i].log_softmax(-1)[ids[i]])
    return total

def test_long_and_short_words_are_asked_by_one_rule(tmp_path):
    "Of a word of two letters and one of ten"
    from pronto.modeling.likelihood import choice_values
    model, long = in_letters(tmp_path/'bert', 'words'), 'lalaminuso'
    values = choice_values(model, [choice('', 'ke', long)]).sums[0]
    assert values == pytest.approx([asked_by_hand(model, 'ke', 1, 3), asked_by_hand(model, long, 1, 11)], abs=1e-4)
    without_blanks = 'lalaminuso'*3 # Then the letters of both, one by one
    short = sum(asked_by_hand(model, 'ke', i, i + 1) for i in (1, 2))
    assert choice_values(model, [choice('', 'ke', without_blanks)]).sums[0][0] == pytest.approx(short, abs=1e-4)

def test_a_tokenizer_that_takes_a_text_for_one_word_is_asked_around_the_change_too(tmp_path):
    from pronto.modeling.likelihood import _words, choice_values
    model, texts = in_letters(tmp_path/'bert', 'gemma'), ('lo la mi nu ra so', 'lo la mi nu ra ke')
    assert {*model.tokenizer(texts[0]).word_ids()} == {0, None}
    ids = model.tokenizer(texts[0])['input_ids']
    words = _words(model.tokenizer, texts[0], ids, list(range(1, len(ids) - 1)))
    assert [model.tokenizer.convert_ids_to_tokens([ids[i] for i in word]) for word in words] == [
        ['l','o'], *(['▁', *word] for word in texts[0].split()[1:])]
    assert choice_values(model, [choice('', *texts)]).tokens == 2*6 # The last word and the one before it

def test_a_tokenizer_in_python_marks_words_itself():
    from types import SimpleNamespace
    from pronto.modeling.likelihood import _words
    names = ['▁lo','la','▁','mi','ke']
    slow = SimpleNamespace(convert_ids_to_tokens=lambda ids: [names[i] for i in ids])
    assert _words(slow, 'lola mike', [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]) == [[0, 1], [2, 3, 4]]
    assert _words(slow, 'lamike', [1, 3, 4], [0, 1, 2]) == [[0], [1], [2]] # It has no such marks

def with_positions(tmp_path, monkeypatch, name, n):
    keys = [key for key in ('max_position_embeddings','n_positions') if key in zoo.ALL[name]]
    monkeypatch.setitem(zoo.ALL, name, zoo.ALL[name] | dict.fromkeys(keys, n))
    return zoo.save_model(tmp_path/name, name)

@pytest.mark.slow
@pytest.mark.parametrize('n', [8, 12, 13])
@pytest.mark.parametrize('name', ['gpt2','bert','opt','bart'])
def test_models_read_as_many_tokens_as_they_have_positions(name, n, tmp_path, monkeypatch):
    "Also where padding to a multiple of eight would be too much"
    from pronto.modeling.encodings import FrozenModel
    from pronto.modeling.likelihood import choice_values, load_chooser
    from pronto.lab.modeling.perplexity import load_reader, read_tokens
    folder, words = with_positions(tmp_path, monkeypatch, name, n), zoo.WORDS*2
    model = load_chooser(folder, 'cpu')
    long, short = choice('', *(' '.join(words[i:i+n]) for i in range(2))), choice('', 'lo la mi', 'lo mi la')
    together = choice_values(model, [long, short]).sums
    assert np.isfinite(together).all() and together[1] == pytest.approx(choice_values(model, [short]).sums[0], abs=1e-4)
    states, counts = FrozenModel(folder, device='cpu').encode([' '.join(words[:n+5]), 'lo'])
    assert np.isfinite(states).all() and counts[0,2] == 1
    if name != 'bart':
        assert len(read_tokens(load_reader(folder, 'cpu'), {1: ' '.join(words[:n-2]), 2: 'lo'})) == 2

BAD = float('nan'), float('inf'), float('-inf')

def damaged(folder, name, bad, rare='wo'):
    "A model with the embedding of one token damaged"
    from safetensors.torch import load_file, save_file
    file = zoo.save_model(folder, name)/'model.safetensors'
    weights = load_file(file)
    key = next(key for key in weights if any(part in key for part in ('word_embeddings','wte','shared')))
    weights[key][zoo.WORDS.index(rare) + 5] = bad
    save_file(weights, file, metadata=dict(format='pt'))
    return folder

@pytest.mark.slow
@pytest.mark.parametrize('bad', BAD)
@pytest.mark.parametrize('name', ['bert','gpt2','t5'])
def test_every_value_of_a_model_is_finite_or_the_model_is_refused(name, bad, tmp_path):
    "Whatever it is asked for: choices, verses, encodings, words and letters, and to learn"
    from pronto.core.files import InputError
    from pronto.datasets.tasks import WO
    from pronto.modeling.encodings import FrozenModel
    from pronto.modeling.likelihood import choose_likely
    from pronto.lab.modeling.perplexity import load_reader, read_tokens
    from pronto.lab.modeling.prompting import CausalModel
    from pronto.modeling.recipes import find_recipe
    from pronto.modeling.train import fine_tune
    folder = damaged(tmp_path/name, name, bad)
    texts = ['lo la mi nu','lo wo mi nu','ra so ti','ra wo ti']
    bad_rows = [choice('', a, b) for a in texts for b in texts if a != b]
    good_rows = [choice('', a, b, answer=i) for a in texts[::2] for i,b in enumerate(('lo mi','ra la'))]*2
    settings = find_recipe('tiny', epochs=1).settings(WO)
    asked = [lambda: choose_likely(folder, WO, dict(test=bad_rows), dict(name='likelihood', every=False), device='cpu'),
             lambda: FrozenModel(folder, device='cpu').encode(texts),
             lambda: fine_tune(folder, WO, dict(train=bad_rows, dev=bad_rows, test=bad_rows), settings, device='cpu'),
             lambda: fine_tune(folder, WO, dict(train=good_rows, dev=good_rows, test=bad_rows), settings, device='cpu')]
    if name != 't5': asked.append(lambda: read_tokens(load_reader(folder, 'cpu'), dict(enumerate(texts))))
    if name == 'gpt2':
        causal = CausalModel(folder, 'cpu')
        causal.letters = lambda n: [5, 6]
        asked.append(lambda: causal.compare(texts, 2))
    for ask in asked:
        with pytest.raises(InputError, match='its numbers are not finite, so its weights are damaged') as e: ask()
        assert '\n' not in str(e.value)

def test_a_training_that_diverges_starts_again_with_half_the_rate(tmp_path, monkeypatch):
    from pronto.datasets.tasks import WO
    from pronto.modeling import train
    from pronto.modeling.recipes import find_recipe
    run, rates = train._run, []
    def diverging(attempt):
        rates.append(attempt.settings['learning_rate'])
        if len(rates) < 2: raise FloatingPointError('its numbers are not finite')
        return run(attempt)
    monkeypatch.setattr(train, '_run', diverging)
    rows = [choice('', a, b, answer=i % 2) for i,(a,b) in enumerate(zip(zoo.texts(9)[1:], zoo.texts(9)))]
    settings = find_recipe('tiny', epochs=1).settings(WO) | dict(restarts=1)
    found = train.fine_tune(zoo.save_model(tmp_path/'bert', 'bert'), WO, dict(train=rows, dev=rows, test=rows), settings, device='cpu')
    assert rates[1] == rates[0]/2 and len(found.attempts) == 2 and found.attempts[0]['collapsed']

def test_encoders_are_asked_around_the_change_alone(reader):
    from pronto.modeling.likelihood import choice_values
    model = reader('bert')
    rows = [choice('', 'lo la mi nu ra so ti ke pe wo', 'lo la nu mi ra so ti ke pe wo')]
    assert choice_values(model, rows).tokens == 2*4 # Two words, and one on either side
    assert choice_values(model, rows, every=True).tokens == 2*10

def test_lm_eval_gives_the_same_numbers(reader):
    pytest.importorskip('lm_eval')
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM
    from pronto.modeling.likelihood import log_likelihoods
    model, rows = reader('gpt2'), some_rows()
    theirs = HFLM(pretrained=model.net, tokenizer=model.tokenizer, batch_size=4, device='cpu')
    pairs = [(row.context, text) for row in rows for text in row.choices]
    asked = [Instance('loglikelihood', {}, (before, f' {text}' if before else text), i) for i,(before,text) in enumerate(pairs)]
    expected = [value for value,_ in theirs.loglikelihood(asked, disable_tqdm=True)]
    ours = log_likelihoods(model, [[pair] for pair in pairs]).sums
    assert np.ravel(ours) == pytest.approx(expected, abs=1e-3)

def test_a_text_that_is_too_long_loses_the_beginning_of_its_context(reader):
    from pronto.modeling.likelihood import log_likelihoods
    for name, n_special in ('gpt2', 0), ('bert', 2):
        model = reader(name)
        model.limit = 12 + n_special
        long, cut = (f'{"mi nu "*n}lo la' for n in (20, 4))
        found = log_likelihoods(model, [[(long, 'ra so')], [(cut, 'ra so')]], 'every')
        assert found.cut == 1 and found.sums[0] == pytest.approx(found.sums[1], abs=1e-4)

def test_a_model_without_a_head_for_words_is_refused_in_a_line(tmp_path, less_of_unicode):
    from transformers import AutoModel
    from pronto.core.files import InputError
    from pronto.modeling.likelihood import load_chooser
    folder = zoo.save_model(tmp_path/'bert', 'bert')
    AutoModel.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(InputError, match='--protocol probe'): load_chooser(folder)
    with pytest.raises(InputError, match='--protocol probe'): load_chooser(zoo.save_model(tmp_path/'canine', 'canine'))

def told_by_a_word(n, last, seed=0):
    "Rows of which the right choice has one of two words"
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        words = list(rng.choice(zoo.WORDS[4:], 5))
        texts = [' '.join([*words, word]) for word in (last, zoo.WORDS[3])]
        rows.append(choice('', *texts[::-1 if i%2 else 1], answer=i%2))
    return rows

@pytest.mark.parametrize('name', ['bert','gpt2','t5'])
@pytest.mark.slow
def test_a_model_is_fine_tuned_to_choose_and_starts_another_training(tmp_path, name):
    "By one number for each choice; the second training begins where the first ended"
    from pronto.datasets.tasks import WO
    from pronto.modeling.recipes import find_recipe
    from pronto.modeling.train import fine_tune
    model = zoo.save_model(tmp_path/name, name)
    rows = dict(train=told_by_a_word(96, zoo.WORDS[2]), dev=told_by_a_word(32, zoo.WORDS[2], 1), test=told_by_a_word(32, zoo.WORDS[2], 2))
    settings = find_recipe('tiny', epochs=6, learning_rate=1e-2).settings(WO)
    learned = fine_tune(model, WO, rows, settings, device='cpu', keep_weights=True)
    right = np.mean([row.label == said for row,said in zip(rows['test'], learned.predictions)])
    assert right > .9 and learned.dev[0].keys() >= {'loss','accuracy'} and not learned.collapsed
    still = settings | dict(epochs=1, learning_rate=1e-9)
    again = fine_tune(model, WO, rows, still, device='cpu', start=learned.weights)
    assert again.dev[0]['accuracy'] > .9
    changed = [row._replace(choices=row.choices[::-1], answer=1 - row.answer) for row in rows['test']]
    there = fine_tune(model, WO, rows | dict(test=changed), still, device='cpu', start=learned.weights)
    assert there.predictions == [str(1 - int(x)) for x in again.predictions] # Wherever a choice stands

def test_four_choices_after_a_context_are_fine_tuned_too(tmp_path):
    from pronto.datasets.tasks import NV
    from pronto.modeling.recipes import find_recipe
    from pronto.modeling.train import fine_tune
    texts = list(dict.fromkeys(zoo.texts(12)))
    part = [choice(texts[i % 4], *texts[4:8], answer=i % 4) for i in range(12)]
    found = fine_tune(zoo.save_model(tmp_path/'bert', 'bert'), NV, dict(train=part, dev=part, test=part),
                      find_recipe('paper', epochs=1).settings(NV), device='cpu')
    assert {*found.predictions} <= {'0','1','2','3'} and len(found.predictions) == 12

@pytest.fixture(scope='module')
def chosen(tmp_path_factory):
    "A dataset of choices from a text alone, a tiny decoder of its language, and the records of an evaluation"
    from pronto.cli.command import main
    from pronto.datasets.loading import load_verses, open_dataset
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.demo.tiny_causal import pretrain_causal
    tmp = tmp_path_factory.mktemp('chosen')
    made = write_corpus(make_corpus(n_verses=400), tmp/'corpus')
    bible = next((made/'bibles').glob('qaa*'))
    assert main(['build', '-a', 'none', '-b', str(bible), '-o', str(tmp/'qaa'), '--min-verses', '100']) == 0
    texts = load_verses(open_dataset(tmp/'qaa'), 'text.tsv').values()
    causal = pretrain_causal(list(texts), tmp/'causal', 60)
    argv = ['eval', str(tmp/'qaa'), '-m', str(causal), '--protocol', 'likelihood', '--runs', str(tmp/'runs')]
    assert main([*argv, '--quiet']) == 0
    return tmp, argv

def records_of(folder):
    from pronto.runs.store import read_runs
    return {run.task: run for run in read_runs(folder)}

def test_an_evaluation_by_likelihood_is_recorded_beside_ngrams(chosen, capsys):
    from pronto.cli.command import main
    tmp, argv = chosen
    runs = records_of(tmp/'runs')
    assert {'word_order','word_choice','word_exchange'} <= runs.keys()
    order = runs['word_order']
    assert order.accuracy == order.likelihood['sum'] and order.likelihood['asked'] == 'every token'
    assert order.likelihood['tokens'] > 10*order.counts['test'] and order.dev == [] and order.seed == 0
    assert order.baselines['majority'] == order.baselines['frequency'] == .5 # The same words
    assert order.baselines['word_2'] > .6
    assert main([*argv, '--seeds', '3']) == 0
    said = capsys.readouterr()
    assert said.out.count('recorded before') == len(runs) # Nothing is asked again, whatever the seed
    assert '--seeds: likelihood depends on no seed, so each model has one run' in said.err
    assert main(['tables', '--runs', str(tmp/'runs'), '--protocol', 'likelihood', '-o', str(tmp/'tables')]) == 0

def test_a_number_for_model_and_language_comes_from_records(chosen):
    from pronto.datasets.choices.reading_curve import SCORED
    from pronto.reporting.language_score import language_score
    from pronto.reporting.scores import read_answers
    runs = records_of(chosen[0]/'runs')
    found = language_score([read_answers([runs[stem]]) for stem in runs if stem in SCORED], runs['word_order'].read)
    scored = 'word_order', 'word_choice', 'word_exchange'
    assert runs.keys() & {*SCORED} == {*scored}
    beyond = [2*runs[stem].accuracy - 1 for stem in scored]
    assert found['number'] == pytest.approx(100*np.mean(beyond), abs=.1)
    ngrams = [[runs[stem].baselines[name] for name in ('word_2','word_3','char_5','char_7')] for stem in scored]
    least, most = (100*np.mean([2*pick(of_task) - 1 for of_task in ngrams]) for pick in (min, max)) # One is chosen on dev
    assert least - .1 <= found['ngrams'] <= most + .1
    assert found['read_low'] <= found['read'] <= found['read_high'] and found['read_all'] == runs['word_order'].read['verses'][-1]

def test_a_table_of_languages_has_the_number_and_two_halves(chosen):
    "Every other chapter; each half is scored again from the answers"
    from pronto.reporting.language_score import language_scores
    from pronto.reporting.questions.question import Options, ask_runs
    from pronto.runs.store import read_runs
    runs = read_runs(chosen[0]/'runs')
    row, = ask_runs('languages', runs, Options(store='here')).tables[0].data
    one, = language_scores(runs).to_dict('records')
    assert [row[k] for k in ('number','ngrams','read')] == [one[k] for k in ('number','ngrams','read')]
    chapters = list(dict.fromkeys(chapter for of_task in one['answers'] for chapter in of_task.chapters))
    for name,half in ('odd', chapters[::2]), ('even', chapters[1::2]):
        right = [np.mean([a == b for a,b,c in zip(of_task.true, of_task.predicted[0], of_task.chapters) if c in half])
                 for of_task in one['answers']]
        assert row[name] == pytest.approx(100*np.mean([2*share - 1 for share in right]), abs=.06)

def lines_of(folder, **about):
    from pronto.reporting.language_score import language_scores, score_lines
    from pronto.runs.store import read_runs
    return score_lines(language_scores([run.but(**about) for run in read_runs(folder)]))

def test_numbers_on_other_rows_or_by_another_protocol_are_no_ranking(chosen, tmp_path, capsys):
    "A limit has its own line, which its model's name tells apart; a better model comes first only on the same rows"
    from pronto.cli.command import main
    from pronto.reporting.language_score import language_scores
    from pronto.runs.store import read_runs
    tmp, argv = chosen
    runs = [*argv[:-1], str(tmp_path/'runs'), '--quiet']
    assert main(runs) == 0 and main([*runs, '--limit', '12']) == 0
    assert language_scores(read_runs(tmp_path/'runs')).model.tolist() == ['causal', 'causal (limit 12)']
    assert main(['tables', '--runs', str(tmp_path/'runs'), '--protocol', 'likelihood', '-o', str(tmp_path/'tables')]) == 0
    here = read_runs(tmp/'runs')
    worse = [run.but(model='worse', model_hash='x') for run in read_runs(tmp_path/'runs') if run.limit]
    other = [run.but(protocol='probe', recipe='probe') for run in here]
    assert language_scores([*other, *worse, *here])[['protocol','model']].apply(tuple, axis=1).tolist() == [
        ('likelihood','causal'), ('likelihood','worse (limit 12)'), ('probe','causal')]

@pytest.mark.slow
def test_the_number_comes_first_on_the_page_and_in_the_notebook(chosen, tmp_path):
    import nbformat
    from pronto.cli.command import main
    tmp, argv = chosen
    line, = lines_of(tmp/'runs')
    assert re.search(r'causal: .*; \d+\.\d of 100 .*, n-grams \d+\.\d; 0 is guessing \(WO, WC, WX, by chapter; likelihood\)', line)
    assert main(['report', '--runs', str(tmp/'runs'), '-o', str(tmp_path/'report.html')]) == 0
    page = (tmp_path/'report.html').read_text()
    assert page.index(f'<p>{line}</p>') < page.index('id="about"')
    from pronto.lab.jobs.sweep import execute, find_notebook
    given = dict(bible=argv[1], models=argv[3], protocol='likelihood', runs=str(tmp/'runs'), show=False)
    execute(find_notebook(), tmp_path/'out.ipynb', given, find_notebook())
    outputs = [out for cell in nbformat.read(tmp_path/'out.ipynb', 4).cells for out in cell.get('outputs', ())]
    said = [out.data['text/markdown'].replace('\\', '') for out in outputs if 'text/markdown' in out.get('data', {})]
    assert line in said[0] # Before anything else
    examples = next(text for text in said if 'What the tasks ask' in text)
    assert ' / ' in examples and '| second |' in examples and '| yes |' not in examples

def test_what_is_exported_for_lm_eval_gives_our_numbers(chosen, tmp_path):
    "By the sum and by the mean per character; of next verses, of which the demo has too few, on rows of ours"
    pytest.importorskip('lm_eval')
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager
    from pronto.datasets.tasks import NV, WC, WO, WX
    from pronto.lab.interop.lm_eval import export_lm_eval
    from pronto.modeling.likelihood import choose_likely, load_chooser
    from transformers import AutoModelForCausalLM, AutoTokenizer
    tmp, argv = chosen
    export_lm_eval([argv[1]], tmp_path/'lm')
    tokenizer = AutoTokenizer.from_pretrained(argv[3])
    tokenizer.bos_token = ':' # The harness needs a token before the first
    for part in tokenizer, AutoModelForCausalLM.from_pretrained(argv[3]): part.save_pretrained(tmp_path/'model')
    model, likely = load_chooser(tmp_path/'model', 'cpu'), dict(name='likelihood', every=False)
    def ours(task, part): return choose_likely(tmp_path/'model', task, dict(test=part), likely, device='cpu')
    theirs = HFLM(pretrained=model.net, tokenizer=model.tokenizer, batch_size=8, device='cpu')
    found = simple_evaluate(theirs, tasks=['pronto_choices'], bootstrap_iters=0,
                            task_manager=TaskManager(include_path=str(tmp_path/'lm'), include_defaults=False))['results']
    for task in WO, WC, WX:
        scores, said = found[f'pronto_{task.stem}'], ours(task, task.read_table(tmp/'qaa'/f'{task.stem}_test.jsonl'))
        about = said.asked['test']['likelihood']
        assert scores['acc,none'] == pytest.approx(about['sum'], abs=1e-4)
        assert scores['acc_norm,none'] == pytest.approx(about['per_character'], abs=1e-4)
    rows = NV.read_table(tmp/'qaa'/'next_verse_train.jsonl')
    from lm_eval.api.instance import Instance
    for row,answer in zip(rows[:8], ours(NV, rows[:8]).answers['test']):
        pairs = [(before, f' {text}') for text in row.choices for before in (row.context, '')]
        values = iter(value for value,_ in theirs.loglikelihood([Instance('loglikelihood', {}, pair, i) for i,pair in enumerate(pairs)],
                                                                disable_tqdm=True))
        gains = [given - alone for given,alone in zip(values, values)] # As `acc_mutual_info`
        assert answer == str(np.argmax(gains))

def test_what_cannot_choose_is_refused_in_a_line(chosen, model, capsys):
    from pronto.cli.command import main
    tmp, argv = chosen
    assert main(['eval', argv[1], '-m', str(model), '--protocol', 'likelihood', '--runs', str(tmp/'none')]) == 1
    assert '--protocol probe' in capsys.readouterr().err

@pytest.mark.slow
def test_choices_are_learned_in_another_language_and_from_few_rows(chosen, tmp_path):
    "A number for the language has who learned it: n-grams of another language are no line to beat"
    from pronto.cli.command import main
    tmp, argv = chosen
    bible = next((tmp/'corpus'/'bibles').glob('qab*'))
    assert main(['build', '-a', 'none', '-b', str(bible), '-o', str(tmp_path/'qab'), '--min-verses', '100', '--quiet']) == 0
    how = ['eval', str(tmp_path/'qab'), '-m', argv[3], '--epochs', '1', '--runs', str(tmp_path/'runs'), '--quiet']
    assert main([*how, '-t', 'WO', '-t', 'WX', '--protocol', 'transfer', '--train', argv[1]]) == 0
    assert main([*how, '-t', 'WX', '--protocol', 'few-shot', '--sizes', '20', '--draws', '1']) == 0
    from pronto.reporting.language_score import language_scores
    from pronto.runs.store import read_runs
    found = language_scores(read_runs(tmp_path/'runs'))
    assert found.protocol.tolist() == ['few-shot, 20 examples, draw 0', 'few-shot, all examples'] # N-grams of qab
    assert main(['tables', '--runs', str(tmp_path/'runs'), '--protocol', 'transfer', '-o', str(tmp_path/'tables')]) == 0

def test_choices_are_asked_for_by_letters_in_both_orders(chosen, tmp_path, monkeypatch, capsys):
    "A server that always says B has chosen nothing; a local model is asked in the same way"
    pytest.importorskip('openai')
    from test_decoders import Server
    from pronto.cli.command import main
    for name,value in dict(PRONTO_DATA=str(tmp_path), OPENAI_API_KEY='x').items(): monkeypatch.setenv(name, value)
    how = ['eval', chosen[1][1], '--protocol', 'prompting', '-t', 'WO', '--limit', '8', '--quiet', '--runs', str(tmp_path/'runs')]
    with Server() as server:
        assert main([*how, '-m', 'openai:toy', '--endpoint', server.url]) == 0
    run = records_of(tmp_path/'runs')['word_order']
    assert run.accuracy == .5 and run.follows_letter == 1 and run.baselines['majority'] == .5
    assert main(['tables', '--runs', str(tmp_path/'runs'), '--protocol', 'prompting', '-o', str(tmp_path/'grid')]) == 0
    assert 'one letter 100 %' in (tmp_path/'grid'/'owntranslations.md').read_text()
    assert main([*how, '-m', chosen[1][3]]) == 0

def test_the_command_probes_choices(chosen, model, tmp_path, capsys):
    "And shows a row of scores without a correlation, which choices have not"
    from pronto.cli.command import main
    assert main(['probe', chosen[1][1], '-m', f'bert={model}', '--runs', str(tmp_path/'runs')]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if 'bert' in line and '50.0 %' not in line)
    assert re.search(r'\| \d+\.\d \(100 % unknown\) \|', row) # And no correlation before it

def test_baselines_are_the_same_with_and_without_a_model(chosen):
    from pronto.datasets.loading import open_dataset
    from pronto.runs.runner import score_baselines
    recorded = records_of(chosen[0]/'runs')['word_order'].baselines
    alone = score_baselines(open_dataset(chosen[1][1]), ['WO'])['word_order']
    assert {name: scores['accuracy'] for name,scores in alone.items() if name != 'reading'} == recorded
    assert alone['reading']['accuracy'] in {recorded[name] for name in ('word_2','word_3','char_5','char_7')} # Chosen on dev
