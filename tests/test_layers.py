"Layers that take less time compute what those of transformers compute: outputs, gradients, whole trainings"
import os, subprocess, sys
from copy import deepcopy
import pytest
torch = pytest.importorskip('torch')
import transformers as hf
from pronto.datasets.tasks import SS
from pronto.modeling import architectures, layers, train
from pronto.modeling.architectures import load_classifier, load_tokenizer, quiet
from pronto.modeling.layers import OneDnnLinear, keep_used_tokens, read_first_token, use_onednn
from pronto.modeling.recipes import find_recipe
from test_train import DATA, KINDS, WORDS, kinds, made # noqa: F401 (a fixture)

SIZES = dict(vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
             max_position_embeddings=40, pad_token_id=1, hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
DISTIL = dict(vocab_size=30, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=40, pad_token_id=1,
              dropout=0., attention_dropout=0., seq_classif_dropout=0.)
FAMILIES = 'Bert Roberta XLMRoberta Camembert Electra Ernie Data2VecText DistilBert'.split()

def classifier(family, **fields):
    sizes = DISTIL if family == 'DistilBert' else SIZES
    torch.manual_seed(0)
    config = getattr(hf, f'{family}Config')(**sizes | fields)
    return getattr(hf, f'{family}ForSequenceClassification')(config)

def batch_of(side):
    "Three texts of different lengths, padded on one side"
    rows = [[2, *range(5, 5+n), 3] for n in (7, 3, 1)]
    pad = lambda row, value: row + [value]*(9-len(row)) if side == 'right' else [value]*(9-len(row)) + row
    mask = [pad([1]*len(row), 0) for row in rows]
    return dict(input_ids=torch.tensor([pad(row, 1) for row in rows]), attention_mask=torch.tensor(mask),
                labels=torch.tensor([0, 1, 1]))

def outputs_and_gradients(net, batch):
    net.zero_grad()
    out = net(**batch)
    out.loss.backward()
    return out.logits.detach(), {name: p.grad for name,p in net.named_parameters()}

def assert_same(net, other, batch):
    (logits, gradients), (theirs, expected) = (outputs_and_gradients(x, batch) for x in (net, other))
    assert torch.allclose(logits, theirs, atol=1e-6) and gradients.keys() == expected.keys()
    for name,gradient in gradients.items():
        if expected[name] is None: assert gradient is None
        else: assert torch.allclose(gradient, expected[name], atol=1e-6), name

@pytest.mark.parametrize('family', FAMILIES)
@pytest.mark.parametrize('attention', ['sdpa', 'eager'])
def test_the_last_block_for_the_first_token(family, attention):
    "Logits and all gradients, with padding on both sides and without; names of weights; half the work in the last block"
    net = classifier(family, attn_implementation=attention)
    quick = deepcopy(net)
    assert read_first_token(quick) and not read_first_token(quick)
    assert list(quick.state_dict()) == list(net.state_dict())
    for side in 'right', 'left': assert_same(quick, net, batch_of(side))
    whole = {k: v[:1] for k,v in batch_of('right').items()}
    assert_same(quick, net, whole)
    del whole['attention_mask']
    assert_same(quick, net, whole)
    assert quick.base_model(whole['input_ids']).last_hidden_state.shape == (1, 1, 16)

def test_models_that_read_more_than_the_first_token_stay_as_they_are(made): # noqa: F811
    refused = [classifier('Bert', **fields) for fields in (
        dict(is_decoder=True), dict(output_hidden_states=True), dict(output_attentions=True))]
    refused.append(hf.BertForTokenClassification(hf.BertConfig(**SIZES)))
    checkpointed = classifier('Roberta')
    checkpointed.activation_checkpointing_enable()
    for net in (*refused, checkpointed): assert not read_first_token(net)
    for kind in 'gpt2', 'deberta-v2', 'mt5 encoder alone':
        with quiet(): assert not read_first_token(load_classifier(made(kind), load_tokenizer(made(kind)), SS.labels)[0])

@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason='no oneDNN')
def test_products_with_onednn(monkeypatch):
    "Wherever it runs: outputs and gradients; small layers and other processors are left alone"
    net = classifier('Bert', hidden_size=128, intermediate_size=256)
    quick, other = deepcopy(net), deepcopy(net)
    monkeypatch.setattr(layers, '_onednn_is_faster', lambda: True)
    assert use_onednn(quick) == 4 and use_onednn(quick) == 0 # Of 128 x 256; those of 128 x 128 are small
    for side in 'right', 'left': assert_same(quick, net, batch_of(side))
    with torch.autocast('cpu', torch.bfloat16): assert torch.equal(*(x(**batch_of('left')).logits for x in (quick, net)))
    monkeypatch.setattr(layers, '_onednn_is_faster', lambda: False)
    assert use_onednn(other) == 0 and not any(isinstance(m, OneDnnLinear) for m in other.modules())

@pytest.mark.parametrize('kind', kinds(kind for kind in KINDS if kind != 'canine'))
def test_only_the_tokens_that_occur(made, kind): # noqa: F811
    "The same logits from a smaller table, in every architecture that has one; other tokens are an error"
    folder, net = made(kind), None
    with quiet(): tokenizer, (net,_) = load_tokenizer(folder), load_classifier(folder, load_tokenizer(folder), SS.labels)
    ids = tokenizer(['lo la mi', 'lo'])['input_ids']
    batch = train.collate([dict(input_ids=x, labels=0) for x in ids if x], tokenizer)
    logits = net.eval()(**batch).logits
    kept = keep_used_tokens(net, {i for x in ids for i in x})
    assert torch.allclose(net(**batch).logits, logits, atol=1e-6)
    if kind in ('bart','mbart','m2m-100','marian'): return # They scale embeddings
    assert len(kept) == len(net.get_input_embeddings().weight)
    other = max(set(tokenizer(' '.join(WORDS))['input_ids']) - set(kept))
    with pytest.raises(IndexError): net(input_ids=torch.tensor([[other]*3]), attention_mask=torch.ones(1, 3).long())

@pytest.mark.parametrize('recipe', ['paper', 'tiny'])
def test_a_training_is_the_same_with_fewer_tokens(made, monkeypatch, recipe): # noqa: F811
    "Clipping, decay, and the learning rate of new tokens do not depend on tokens that never occur"
    recipe, runs = find_recipe(recipe, epochs=2, learning_rate=1e-2), []
    for keep in keep_used_tokens, lambda *_: None:
        monkeypatch.setattr(train, 'keep_used_tokens', keep)
        runs.append(train.fine_tune_dataset(DATA, made('bert with rows to spare'), 'SS', recipe, device='cpu'))
    for ours,theirs in zip(*(run.dev for run in runs)):
        assert ours.keys() == theirs.keys() and all(ours[k] == pytest.approx(theirs[k], abs=1e-4) for k in ours)
    assert runs[0].predictions == runs[1].predictions

def test_weights_that_are_kept_are_whole(made): # noqa: F811
    "And another training can begin with them"
    settings, rows = find_recipe('paper', epochs=1).settings(SS), DATA.tasks[SS.stem]
    run = train.fine_tune(made('bert'), SS, rows, settings, device='cpu', keep_weights=True)
    assert len(run.weights['bert.embeddings.word_embeddings.weight']) == 12
    again = train.fine_tune(made('bert'), SS, rows, settings, device='cpu', start=run.weights)
    assert again.weights is None and len(again.predictions) == 8

def test_the_probe_and_fine_tuning_use_them(made, monkeypatch): # noqa: F811
    changed = []
    note = lambda net, *_: changed.append(type(net).__name__)
    monkeypatch.setattr(architectures, 'use_onednn', note)
    monkeypatch.setattr(layers, 'use_onednn', note)
    tokenizer = load_tokenizer(made('bert'))
    architectures.load_encoder(made('bert'), tokenizer)
    train.fine_tune_dataset(DATA, made('bert'), 'PNS', find_recipe('paper', epochs=1), device='cpu')
    assert changed == ['BertModel', 'BertForSequenceClassification']

@pytest.mark.parametrize('given, found', [({}, '10000'), ({'GOMP_SPINCOUNT': '7'}, '7'), ({'OMP_WAIT_POLICY': 'active'}, 'None')])
def test_threads_that_wait_give_up_soon_unless_the_user_says_otherwise(given, found):
    env = {k: v for k,v in os.environ.items() if k not in ('GOMP_SPINCOUNT','OMP_WAIT_POLICY')} | given
    code = "import pronto, os; print(os.environ.get('GOMP_SPINCOUNT'))"
    assert subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True, check=True).stdout == f'{found}\n'
