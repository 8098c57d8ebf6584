"Scores without labels: bits per character, tokens, and what is refused"
import json, math

import pytest

from pronto.cli.command import main
from pronto.runs.store import predictions_of, read_runs

@pytest.fixture(scope='module')
def data(tmp_path_factory):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.building import build
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.sources.annotate import annotate
    tmp = tmp_path_factory.mktemp('perplexity')
    made = write_corpus(make_corpus(n_verses=260), tmp/'corpus')
    for code in 'qaa', 'qad':
        bible = next((made/'bibles').glob(f'{code}*'))
        build(annotate(made/'ontonotes'), read_bible(bible), tmp/code, min_verses=100, splits='parallel')
    return tmp

@pytest.fixture(scope='module')
def causal(data):
    "A tiny GPT-2 that was trained on the first language"
    pytest.importorskip('torch')
    from pronto.demo.tiny_causal import pretrain_causal
    from pronto.datasets.loading import load_dataset_folder
    from pronto.lab.modeling.retrieval import verse_texts
    return pretrain_causal(list(verse_texts([load_dataset_folder(data/'qaa')], 'train').values()), data/'causal', 40)

def read(data, model, *options, code='qaa'):
    runs = data/f'runs-{model.name}-{code}{len(options)}'
    assert main(['eval', str(data/code), '--protocol', 'perplexity', '-m', str(model), '--runs', str(runs), *options]) == 0
    path, = runs.glob('*/*/*/*.json')
    return json.loads(path.read_text(encoding='utf-8')), runs

def test_a_causal_model_reads_its_language_better_than_another(data, causal, capsys):
    own, runs = read(data, causal, '--train', str(data/'qad'))
    said = capsys.readouterr().out
    low, high = own['intervals']['bits_per_character']
    assert own['accuracy'] is None and 0 < low < own['bits_per_character'] < high and own['fertility'] > 0
    assert f'{own["bits_per_character"]:.3f}' in said
    columns = predictions_of(read_runs(runs)[0])
    bits, characters = sum(map(float, columns['bits'])), sum(map(int, columns['characters']))
    assert own['bits_per_character'] == pytest.approx(bits/characters, abs=1e-3)
    other, _ = read(data, causal, code='qad')
    assert other['unknown']['test'] > .2 > own['unknown']['test']
    assert main(['tables', '--runs', str(runs), '-o', str(data/'tables')]) == 0 # What there is
    assert (data/'tables'/'perplexity.png').is_file() and 'unknown' in (data/'tables'/'perplexity.md').read_text(encoding='utf-8')

def test_bits_are_those_of_the_model_itself(data, causal):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from pronto.lab.modeling.perplexity import load_reader, read_verses
    from pronto.datasets.loading import load_dataset_folder
    from pronto.lab.modeling.retrieval import verse_texts
    verses = dict(list(verse_texts([load_dataset_folder(data/'qaa')], 'test').items())[:5])
    found, _ = read_verses(load_reader(causal), verses)
    net, tokenizer = AutoModelForCausalLM.from_pretrained(causal), AutoTokenizer.from_pretrained(causal)
    for reading in found:
        ids = tokenizer(verses[reading.ref], return_tensors='pt')['input_ids']
        with torch.no_grad(): loss = net(ids, labels=ids).loss.item() # Mean over all but the first
        nats = loss*(ids.shape[1] - 1) + math.log(len(tokenizer))
        assert reading.bits == pytest.approx(nats/math.log(2), rel=1e-4)

def test_a_masked_model_predicts_each_token_once(data, tmp_path):
    pytest.importorskip('torch')
    import numpy as np
    from pronto.lab.modeling.perplexity import load_reader, read_verses
    from pronto.datasets.loading import load_dataset_folder
    from pronto.lab.modeling.retrieval import verse_texts
    texts = verse_texts([load_dataset_folder(data/'qaa')], 'train')
    file = tmp_path/'texts.txt'
    file.write_text('\n'.join(texts.values()), encoding='utf-8')
    assert main(['pretrain', str(file), '-o', str(tmp_path/'bert'), '--steps', '5', '--quiet']) == 0
    reader, (ref, text) = load_reader(tmp_path/'bert'), next(iter(texts.items()))
    (found,), long = read_verses(reader, {ref: text})
    ids = reader.tokenizer(text)['input_ids']
    special = reader.tokenizer.get_special_tokens_mask(ids, already_has_special_tokens=True)
    apart = [reader.hidden_nats([ids], [[i for i,s in enumerate(special) if not s][k::7]]).sum() for k in range(7)]
    assert long == 0 and found.bits == pytest.approx(float(np.sum(apart))/math.log(2), rel=1e-5)
    assert found.tokens == special.count(0)

def test_what_cannot_predict_is_refused_in_a_line(data, model, capsys):
    argv = ['eval', str(data/'qaa'), '--protocol', 'perplexity', '--runs', str(data/'none'), '-m']
    assert main([*argv, str(model)]) == 1
    assert 'cannot predict masked tokens (its weights lack' in capsys.readouterr().err
    assert main([*argv, str(model), '-t', 'SM']) == 1
    assert 'does nothing in perplexity' in capsys.readouterr().err

def told_apart(model, read, held_out, kind):
    "The area under the ROC of a figure of `answers_about`"
    from sklearn.metrics import roc_auc_score
    from pronto.lab.modeling.memory import answers_about, complete
    from pronto.lab.modeling.perplexity import load_reader, read_tokens
    reader = load_reader(model)
    nats = lambda texts: {name: values for name,(_,values) in read_tokens(reader, texts).items()}
    found = answers_about(nats, lambda texts: complete(reader, texts), read | held_out, {})
    sign = -1 if kind == 'min_k' else 1
    return roc_auc_score([ref in read for ref in found], [sign*answers[kind] for answers in found.values()])

@pytest.fixture(scope='module')
def half(data):
    from pronto.datasets.loading import load_dataset_folder
    from pronto.lab.modeling.retrieval import verse_texts
    verses = verse_texts([load_dataset_folder(data/'qaa')], 'train')
    chapters = list(dict.fromkeys(ref.chapter_name for ref in verses))
    read = {ref: text for ref,text in verses.items() if chapters.index(ref.chapter_name) % 2}
    held_out = {ref: text for ref,text in verses.items() if ref not in read}
    return tuple(dict(list(some.items())[:40]) for some in (read, held_out))

@pytest.mark.slow
def test_half_a_bible_that_a_decoder_read_is_told_apart(data, half):
    from pronto.demo.tiny_causal import pretrain_causal
    model = pretrain_causal(list(half[0].values()), data/'half', 150)
    assert told_apart(model, *half, 'min_k') > .95
    assert told_apart(model, *half, 'chrf') > .8

@pytest.mark.slow
def test_half_a_bible_that_an_encoder_read_is_told_apart(data, half, tmp_path):
    from pronto.lab.modeling.pretrain import pretrain
    pretrain(list(half[0].values()), tmp_path/'bert', steps=250, vocab_size=500, layers=2, width=64, heads=2)
    assert told_apart(tmp_path/'bert', *half, 'min_k') > .8

def test_memory_is_recorded_beside_that_of_ngrams(data, causal, capsys):
    runs = data/'memory'
    argv = ['eval', str(data/'qaa'), '--protocol', 'memory', '-m', str(causal), '--runs', str(runs), '--quiet']
    assert main(argv) == 0
    said = capsys.readouterr().out
    path, = runs.glob('*/*/memory/*.json')
    record = json.loads(path.read_text(encoding='utf-8'))
    assert {'exact','chrf','min_k','order','ngram_exact','ngram_order'} <= record['memory'].keys() and 'chrF' in said
    assert 'known' not in record['memory'] and record['accuracy'] is None and record['intervals']['chrf']
    assert main([*argv, '--train', str(data/'qad')]) == 1
    assert 'is not in the language of' in capsys.readouterr().err
    assert main(['tables', '--runs', str(runs), '-o', str(data/'memory-tables')]) == 0
    assert (data/'memory-tables'/'memory.csv').is_file() and (data/'memory-tables'/'memory.png').is_file()
    capsys.readouterr()
    assert main(['report', '--runs', str(runs), '-o', str(data/'report.html')]) == 0
    assert 'report.html: 1 runs' in capsys.readouterr().out # Without labels too
