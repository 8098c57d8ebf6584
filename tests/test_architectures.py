"What a model says of a text does not depend on the texts beside it, whatever its architecture; tokens of any kind are counted right"
import json, shutil
from functools import cache
import numpy as np
import pytest
torch = pytest.importorskip('torch')
import zoo
from pronto.core.files import InputError
from pronto.datasets.examples import PairExample, VerseExample
from pronto.datasets.tasks import PNS, SS
from pronto.modeling import encodings
from pronto.modeling.architectures import load_classifier, load_tokenizer, quiet
from pronto.modeling.encoding import pack
from pronto.modeling.encodings import Cache, FrozenModel
from pronto.lab.modeling.memory import complete, halves
from pronto.lab.modeling.perplexity import load_reader, read_tokens, read_verses
from pronto.modeling.probing import probe
from pronto.lab.modeling.prompting import CausalModel
from pronto.modeling.recipes import find_recipe
from pronto.modeling.train import collate, fine_tune

pytestmark = pytest.mark.usefixtures('less_of_unicode')
TEXTS = list(zoo.texts())
CANNOT = {'nystromformer'} # Reads only texts whose length is a multiple of its landmarks
FAST = set('bert deberta-v2 modernbert fnet convbert xlnet gpt2 llama mamba mt5 bart'.split())

def each(names): return [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in names if n not in CANNOT]

@pytest.fixture(scope='module')
def models(tmp_path_factory):
    "The folder of each model, made when it is asked for"
    folder, made = tmp_path_factory.mktemp('zoo'), {}
    def find(name, side='right'):
        if name not in made:
            with quiet(): made[name] = zoo.save_model(folder/name, name)
        zoo.tokenizer_of(name, side).save_pretrained(made[name])
        return made[name]
    return find

def ways(read): # `read`: a function of texts and a batch size, which gives one array for each text
    "What was said of all texts together; beside others, in another order or alone it is the same"
    together = read(TEXTS, 16)
    backwards = read(TEXTS[::-1], 16)[::-1]
    for other in backwards, read(TEXTS, 1), read(TEXTS, 3):
        for one,two in zip(together, other, strict=True): yield one, two

def same(one, two, rtol=1e-4): np.testing.assert_allclose(one, two, rtol=rtol, atol=1e-4*max(1, np.abs(one).max()))

@pytest.mark.parametrize('name', each(zoo.ALL))
def test_vectors_do_not_depend_on_the_texts_beside(models, name, monkeypatch):
    "They are kept with 16 bits, so they may differ in the last of these"
    @cache
    def model(side): return FrozenModel(str(models(name, side)), device='cpu')
    def read(texts, size, side='right'):
        monkeypatch.setattr(encodings, '_TOKENS', (size*48, 0))
        found, _ = model(side).encode(texts)
        return list(found.swapaxes(0, 1).astype(np.float32))
    for one,two in ways(read): same(one, two, 2e-3)
    for one,two in zip(read(TEXTS, 16), read(TEXTS, 16, 'left'), strict=True): same(one, two, 2e-3)

@pytest.mark.parametrize('name', each(zoo.ALL))
def test_logits_do_not_depend_on_the_texts_beside(models, name):
    with quiet():
        tokenizer = load_tokenizer(models(name, 'left'))
        net = load_classifier(models(name, 'left'), tokenizer, ('0','1'))[0].eval()
    def read(texts, size):
        rows = [dict(input_ids=tokenizer(text)['input_ids']) for text in texts]
        with torch.inference_mode():
            said = [net(**collate(rows[i:i+size], tokenizer))['logits'] for i in range(0, len(rows), size)]
        return list(torch.cat(said).numpy())
    for one,two in ways(read): same(one, two)

WITHOUT = {'canine','xlnet', *zoo.PAIRS} - {'bart','mbart'} # They predict neither masked tokens nor the next one

@pytest.mark.parametrize('name', each(n for n in zoo.ALL if n not in WITHOUT))
def test_likelihoods_do_not_depend_on_the_texts_beside(models, name):
    reader = load_reader(models(name, 'left'), 'cpu')
    def read(texts, size):
        found = read_tokens(reader, dict(enumerate(texts)), size)
        return [found[i][1] for i in range(len(texts))]
    for one,two in ways(read): same(one, two)
    parts = [halves(text) for text in TEXTS if ' ' in text]
    assert complete(reader, parts, 16) == complete(reader, parts, 1)

def rows_of(texts, n=12): return [VerseExample(texts[i % len(texts)], '01'[i % 2], f'MRK 1:{i + 1}') for i in range(n)]

def refusal(work): # One line, or an empty one
    with quiet():
        try: work()
        except InputError as e:
            assert '\n' not in str(e)
            return str(e)
    return ''

def protocols(model, texts, cache):
    "What each protocol says of a model: nothing, or why it refuses it"
    task = PNS
    parts = dict(train=rows_of(texts), dev=rows_of(texts[::-1]), test=rows_of(texts))
    def read():
        reader = load_reader(model, 'cpu')
        found, long = read_verses(reader, dict(enumerate(texts)))
        assert len(found) == len(texts) and all(np.isfinite(r.bits) for r in found)
        complete(reader, [halves(text) for text in texts])
    return dict(
        probe=refusal(lambda: probe(model, task, parts, find_recipe('probe').settings(task), device='cpu', cache=cache)),
        train=refusal(lambda: fine_tune(model, task, parts, find_recipe('paper', epochs=1).settings(task), device='cpu')),
        likelihood=refusal(read))

REFUSED = dict( # What is said of it where it is not read
    canine=dict(likelihood='does not predict the next token'), xlnet=dict(likelihood='sees the tokens that it should predict'),
    nystromformer=dict.fromkeys(('probe','train','likelihood'), 'size'))
REFUSED |= {name: dict(likelihood='does not predict the next token') for name in zoo.PAIRS.keys() - {'bart','mbart'}}

@pytest.mark.slow
@pytest.mark.parametrize('name', zoo.ALL)
def test_every_architecture_is_read_or_refused_in_one_line(models, name, tmp_path):
    said = protocols(str(models(name)), TEXTS, Cache(tmp_path))
    known = REFUSED.get(name, {})
    assert {k: known.get(k, '') in v and bool(v) == (k in known) for k,v in said.items()} == dict.fromkeys(said, True), said

def opt_like(folder):
    "A decoder that is told where a text begins by its unknown token"
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    with quiet(): zoo.save_model(folder, 'opt')
    places = {w: i for i,w in enumerate(['</s>', '[PAD]', *zoo.WORDS])}
    made = Tokenizer(models.WordLevel(places, '</s>'))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing('</s> $A', '</s> $A </s> $B', [('</s>', 0)])
    hf.PreTrainedTokenizerFast(tokenizer_object=made, pad_token='[PAD]', **dict.fromkeys(['bos_token','eos_token','unk_token'], '</s>')
                              ).save_pretrained(folder)
    return str(folder)

def test_a_beginning_that_is_the_unknown_token_is_no_word(tmp_path):
    "It is counted neither as a token nor as unknown, and read once; a word that is unknown is both"
    model = opt_like(tmp_path)
    reader = load_reader(model, 'cpu')
    (plain, strange), _ = read_verses(reader, dict(plain='lo la mi', strange='lo xu mi'))
    assert [(r.tokens, r.unknown) for r in (plain, strange)] == [(3, 0), (3, 1)]
    ids = torch.tensor([reader.tokenizer('lo la mi')['input_ids']])
    with torch.inference_mode(): loss = float(reader.net(input_ids=ids, labels=ids).loss)
    assert plain.bits == pytest.approx(3*loss/np.log(2), rel=1e-5)
    _, counts = FrozenModel(model, device='cpu').encode(['lo la mi', 'lo xu mi'])
    assert counts[:,:2].tolist() == [[3, 0], [3, 1]]
    assert pack([VerseExample('lo xu', '0')], reader.tokenizer, 50).unknown == .5

def test_a_tokenizer_larger_than_the_embeddings_is_one_line_everywhere(models, tmp_path):
    import transformers as hf
    folder = shutil.copytree(models('gpt2'), tmp_path/'gpt2')
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f'w{i}' for i in range(60)])
    tokenizer.save_pretrained(folder)
    said = protocols(str(folder), ['lo la mi nu', 'lo w50 mi so'], Cache(tmp_path))
    pairs = [PairExample('go.01', 'lo w50', 'mi', SS.labels[i % 2], None, None) for i in range(8)]
    parts = dict(train=pairs, dev=pairs, test=pairs)
    said['pairs'] = refusal(lambda: fine_tune(str(folder), SS, parts, find_recipe('paper', epochs=1).settings(SS), device='cpu'))
    with quiet(): causal = CausalModel(str(folder), 'cpu')
    causal.letters = lambda n: [5, 6]
    said['prompting'] = refusal(lambda: causal.compare(['lo w50'], 2))
    assert len({*said.values()}) == 1 and 'its tokenizer has token 65, but the model only 40 embeddings' in said['probe'], said
    assert not any(protocols(str(folder), ['lo la mi nu', 'mi so'], Cache(tmp_path)).values()) # No text needs the others

@pytest.mark.parametrize('name', ['gpt2','bert'])
def test_a_padding_token_that_the_model_lacks_changes_nothing(models, tmp_path, name):
    "Many tokenizers were given one without a row in the embeddings"
    import transformers as hf
    folder = shutil.copytree(models(name), tmp_path/name)
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f'w{i}' for i in range(60)])
    tokenizer.add_special_tokens(dict(pad_token='[FILL]'))
    tokenizer.save_pretrained(folder)
    assert tokenizer.pad_token_id == 75 and not any(protocols(str(folder), TEXTS, Cache(tmp_path)).values())
    def read(model): return FrozenModel(str(model), device='cpu').encode(TEXTS)[0]
    np.testing.assert_array_equal(read(folder), read(models(name)))

def test_a_mask_that_the_model_lacks_is_one_line(models, tmp_path):
    import transformers as hf
    folder = shutil.copytree(models('bert'), tmp_path/'bert')
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f'w{i}' for i in range(60)])
    tokenizer.add_special_tokens(dict(mask_token='[HIDE]'))
    tokenizer.save_pretrained(folder)
    why = 'its tokenizer has token 75, but the model only 40 embeddings'
    assert why in refusal(lambda: load_reader(str(folder), 'cpu'))

def test_where_a_text_ends_is_seen_in_pairs_of_decoders(models):
    "Also after the same rows were packed with a sense"
    tokenizer = load_tokenizer(models('gpt2'))
    one, two = (PairExample('go.01', *texts, '0', None, None) for texts in (('lo', 'la mi'), ('lo la', 'mi')))
    for senses in {'go.01': 15}, None: first, second = (pack([row], tokenizer, 50, senses, 0).inputs[0]['input_ids'] for row in (one, two))
    end = tokenizer.eos_token_id
    assert [first, second] == [[5, end, 6, 7], [5, 6, end, 7]]
    assert pack([VerseExample('lo la', '0')], tokenizer, 50, types=0).inputs == [dict(input_ids=[5, 6])]

@pytest.mark.parametrize('name, file', [('mt5','spiece.model'), ('deberta-v2','spm.model')])
def test_a_tokenizer_of_sentencepiece(models, tmp_path, name, file):
    import sentencepiece
    folder = tmp_path/name
    shutil.copytree(models(name), folder, ignore=shutil.ignore_patterns('*token*.json'))
    (tmp_path/'texts').write_text('\n'.join(zoo.texts(60)))
    about = dict(vocab_size=35, hard_vocab_limit=False, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2)
    sentencepiece.SentencePieceTrainer.train(input=str(tmp_path/'texts'), model_prefix=str(tmp_path/'sp'), **about)
    shutil.move(tmp_path/'sp.model', folder/file)
    with quiet(): tokenizer = load_tokenizer(folder)
    assert tokenizer.decode(tokenizer('lo la mi')['input_ids'], skip_special_tokens=True).strip() == 'lo la mi'

def test_a_tokenizer_that_is_more_than_a_file_of_sentencepiece_is_one_line(models, tmp_path):
    folder = shutil.copytree(models('marian'), tmp_path/'marian', ignore=shutil.ignore_patterns('*token*.json'))
    (folder/'source.spm').write_bytes(b'')
    with quiet(), pytest.raises(InputError, match='has source.spm, but its tokenizer cannot be loaded from that; copy all files'):
        load_tokenizer(folder)

def test_numbers_that_name_layers_do_not_count_as_layers(models, tmp_path):
    "A configuration of Qwen3 says 28 of `max_window_layers`, whatever it has"
    folder = models('qwen3')
    config = json.loads((folder/'config.json').read_text())
    assert config['max_window_layers'] > config['num_hidden_layers'] and not refusal(lambda: FrozenModel(str(folder)).encode(['lo']))
    wrong = shutil.copytree(folder, tmp_path/'wrong')
    (wrong/'config.json').write_text(json.dumps(config | dict(num_hidden_layers=10**4, layer_types=None)))
    assert 'describes a far larger model than its' in refusal(lambda: FrozenModel(str(wrong)).encode(['lo']))

@pytest.mark.parametrize('name', each(n for n in zoo.DECODERS if n != 'qwen2')) # Which has no words for tokens
def test_answers_to_prompts_do_not_depend_on_the_prompts_beside(models, name):
    "What prompts share is read once for all of them, so alone another part of a prompt is read first"
    with quiet(): model = CausalModel(models(name, 'left'), 'cpu')
    model.letters = lambda n: [5, 6, 7]
    begun = 'so ti ke pe wo lo la mi nu ra'
    prompts = [f'{begun} {text}' for text in TEXTS]
    together, _ = model.compare(prompts, 3)
    alone = np.concatenate([model.compare([prompt], 3)[0] for prompt in prompts])
    whole = np.concatenate([model.compare([prompt, 'mi'], 3)[0][:1] for prompt in prompts]) # Which share nothing
    for other in alone, whole: same(together, other)

def test_a_text_that_just_fits_counts_as_whole(models):
    "When a model encodes and when it is trained"
    model, texts = str(models('bert')), [' '.join(['lo']*n) for n in (88, 89)] # Beside two special tokens
    _, counts = FrozenModel(model, device='cpu').encode(texts)
    assert counts[:,0].tolist() == [88, 88] and counts[:,2].tolist() == [0, 1]
    assert pack([VerseExample(text, '0') for text in texts], load_tokenizer(model), 90).truncated == 1

def test_letters_after_a_prompt_are_no_less_likely_if_a_tokenizer_marks_the_end(models, tmp_path):
    from tokenizers import processors
    marked = shutil.copytree(models('gpt2'), tmp_path/'gpt2')
    with quiet(): tokenizer = load_tokenizer(marked)
    end = tokenizer.eos_token
    ends = processors.TemplateProcessing(f'$A {end}', special_tokens=[(end, tokenizer.eos_token_id)])
    tokenizer.backend_tokenizer.post_processor = ends
    tokenizer.save_pretrained(marked)
    assert load_tokenizer(marked)('lo')['input_ids'] == [5, tokenizer.eos_token_id]
    def read(folder):
        with quiet(): model = CausalModel(folder, 'cpu')
        model.letters = lambda n: [5, 6]
        return model.compare(['lo la'], 2)
    for one,two in zip(read(models('gpt2')), read(marked), strict=True): np.testing.assert_array_equal(one, two)

@pytest.mark.parametrize('name', ['bert','fnet','convbert','xlnet'])
@pytest.mark.parametrize('kind', ['tagging','questions'])
def test_heads_over_tokens_do_not_depend_on_the_texts_beside(models, name, kind):
    "Neither their logits nor, for tags, the loss"
    from pronto.modeling.architectures import read_apart
    from pronto.lab.words.heads import _collate, _scores, load_head
    with quiet(): tokenizer, net = load_tokenizer(models(name, 'left')), load_head(str(models(name, 'left')), kind, ('0','1')).eval()
    assert read_apart(net, tokenizer) == (name in ('fnet','convbert'))
    def read(texts, size):
        rows = [dict(input_ids=tokenizer(text)['input_ids']) for text in texts]
        return [first for i in range(0, len(rows), size) for first, *_ in _scores(net, tokenizer, rows[i:i+size], 'cpu')]
    for one,two in ways(read): same(one, two)
    if kind == 'questions': return # Whose loss `transformers` takes over all places
    rows = [dict(input_ids=ids, labels=[1]*len(ids)) for ids in (tokenizer(text)['input_ids'] for text in TEXTS)]
    with torch.inference_mode():
        whole, *alone = [float(net(**_collate(some, tokenizer))['loss']) for some in (rows, *([row] for row in rows))]
    assert whole == pytest.approx(np.average(alone, weights=[len(row['labels']) for row in rows]), rel=1e-4)

def test_short_texts_are_trained_on_apart(tmp_path):
    "Though they are filled up, by a token that no text has"
    import transformers as hf
    with quiet(): zoo.save_model(tmp_path, 'fnet')
    config = json.loads((tmp_path/'config.json').read_text())
    (tmp_path/'config.json').write_text(json.dumps(config | dict(pad_token_id=20)))
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.add_special_tokens(dict(pad_token='[FILL]'))
    tokenizer.save_pretrained(tmp_path)
    parts = dict.fromkeys(('train','dev','test'), rows_of(['lo', 'la', 'lo la mi nu']))
    settings = find_recipe('paper', epochs=1).settings(PNS)
    assert len(fine_tune(str(tmp_path), PNS, parts, settings, device='cpu').answers['test']) == 12
