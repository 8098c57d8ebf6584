"""Every kind of model through two steps of a pair task, and bad input"""
import json
from pathlib import Path
import pytest
torch = pytest.importorskip('torch')
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from pronto.datasets.examples import PairExample, VerseExample
from pronto.datasets.loading import Dataset
from pronto.core.files import InputError
from pronto.modeling.encoding import pack
from pronto.modeling.recipes import find_recipe
from pronto.datasets.tasks import PNS, SAC, SS
from pronto.modeling.train import collate, fine_tune, load_model, load_tokenizer, quiet, token_limit

WORDS = 'lo la mi tu go se'.split()
SENSES = 'go.01', 'see.01'
PAIRS = [PairExample(SENSES[i % 2], ' '.join(WORDS[i % 3:][:3]), ' '.join(WORDS[i % 4:][:2]), ('different','same')[i // 2 % 2], None, None) for i in range(32)]
DATA = Dataset(Path('toy'), {t.stem: dict(train=PAIRS, dev=PAIRS[:8], test=PAIRS[8:16]) for t in (SS, SAC)})
SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=60)

def fast(specials:list, unk:str, single:str, pair:str, **names):
    "A fast tokenizer that knows WORDS, with a template"
    t = Tokenizer(models.WordLevel({w:i for i,w in enumerate(specials + WORDS)}, unk))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    if pair: t.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(s, i) for i,s in enumerate(specials)])
    return hf.PreTrainedTokenizerFast(tokenizer_object=t, unk_token=unk, **names)

def bert_like(**names): return fast(['[PAD]','[UNK]','[CLS]','[SEP]'], '[UNK]', '[CLS] $A [SEP]', '[CLS] $A [SEP] $B:1 [SEP]:1', pad_token='[PAD]', cls_token='[CLS]', sep_token='[SEP]', **names)
def roberta_like(): return fast(['<s>','<pad>','</s>','<unk>'], '<unk>', '<s> $A </s>', '<s> $A </s> </s> $B </s>', pad_token='<pad>', cls_token='<s>', sep_token='</s>', bos_token='<s>', eos_token='</s>')
def gpt_like(): return fast(['<end>'], '<end>', None, None, eos_token='<end>', bos_token='<end>')
def llama_like(): return fast(['<unk>','<s>','</s>'], '<unk>', '<s> $A', '<s> $A $B', bos_token='<s>', eos_token='</s>')

ROBERTA = SIZES | dict(type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
BERT_PAIR, BERT_TYPES = '[CLS] lo la [SEP] mi tu [SEP]'.split(), [0]*4 + [1]*3 + [1]
ROBERTA_PAIR = '<s> lo la </s> </s> mi tu </s>'.split()
KINDS = { # Configuration, tokenizer, a pair as it must be packed, its token types
    'bert': (lambda n: hf.BertConfig(vocab_size=n, **SIZES), bert_like, BERT_PAIR, BERT_TYPES),
    'bert with rows to spare': (lambda n: hf.BertConfig(vocab_size=n+6, **SIZES), bert_like, BERT_PAIR, BERT_TYPES),
    'distilbert': (lambda n: hf.DistilBertConfig(vocab_size=n, dim=16, n_layers=1, n_heads=2, hidden_dim=32, max_position_embeddings=60), bert_like, BERT_PAIR, None),
    'electra': (lambda n: hf.ElectraConfig(vocab_size=n, embedding_size=8, **SIZES), bert_like, BERT_PAIR, BERT_TYPES),
    'deberta-v2': (lambda n: hf.DebertaV2Config(vocab_size=n, relative_attention=True, position_biased_input=False, pos_att_type=['p2c','c2p'], type_vocab_size=0, **SIZES), bert_like, BERT_PAIR, None),
    'modernbert': (lambda n: hf.ModernBertConfig(vocab_size=n, pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3, **SIZES), bert_like, BERT_PAIR, None),
    'roberta': (lambda n: hf.RobertaConfig(vocab_size=n, **ROBERTA), roberta_like, ROBERTA_PAIR, None),
    'xlm-roberta': (lambda n: hf.XLMRobertaConfig(vocab_size=n, **ROBERTA), roberta_like, ROBERTA_PAIR, None),
    'camembert': (lambda n: hf.CamembertConfig(vocab_size=n, **ROBERTA), roberta_like, ROBERTA_PAIR, None),
    'slow tokenizer': (lambda n: hf.RobertaConfig(vocab_size=n, **ROBERTA | dict(pad_token_id=0)), hf.ByT5Tokenizer, [*'lo la', '</s>', *'mi tu', '</s>'], None),
    'gpt2': (lambda n: hf.GPT2Config(vocab_size=n, n_embd=16, n_layer=1, n_head=2, n_positions=60, bos_token_id=0, eos_token_id=0), gpt_like, 'lo la <end> mi tu'.split(), None),
    'llama': (lambda n: hf.LlamaConfig(vocab_size=n, bos_token_id=1, eos_token_id=2, **SIZES), llama_like, '<s> lo la </s> mi tu'.split(), None),
}

@pytest.fixture(scope='module')
def make(tmp_path_factory):
    "Write a tiny random model of a kind; its folder"
    def make(kind):
        folder = tmp_path_factory.mktemp('model')
        config, tokenizer, *_ = KINDS[kind]
        tokenizer = tokenizer()
        torch.manual_seed(0)
        with quiet():
            hf.AutoModel.from_config(config(len(tokenizer))).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        return folder
    return make

@pytest.mark.parametrize('kind', KINDS)
def test_every_kind_of_model(make, kind):
    "Ids, mask and types of a pair; a new row for every sense, which learns; two steps"
    folder, (_, _, tokens, types) = make(kind), KINDS[kind]
    with quiet():
        tokenizer = load_tokenizer(folder)
        rows = hf.AutoModel.from_pretrained(folder).get_input_embeddings().num_embeddings
        net, first = load_model(folder, tokenizer, SS.labels, len(SENSES))
    table = net.get_input_embeddings().weight
    assert first >= max(rows, len(tokenizer)) and len(table) == first + len(SENSES)
    assert not torch.equal(table[first], table[first+1])

    pair = PairExample('see.01', 'lo la', 'mi tu', 'same', None, None)
    senses = {s: first+i for i,s in enumerate(SENSES)}
    packed = pack([pair], tokenizer, token_limit(net, tokenizer), senses, getattr(net.config, 'type_vocab_size', 0)).inputs
    assert packed == [{'input_ids': tokenizer.convert_tokens_to_ids(tokens) + [first+1]} | ({'token_type_ids': types} if types else {})]
    shorter = {k: v[-5:] for k,v in packed[0].items()}
    batch = collate([x | {'labels': 0} for x in (packed[0], shorter)], tokenizer)
    theirs = hf.DataCollatorWithPadding(tokenizer)([packed[0], shorter])
    assert all(torch.equal(batch[k], theirs[k]) for k in theirs)
    assert batch['attention_mask'].sum(1).tolist() == [len(packed[0]['input_ids']), 5]
    logits = net.eval()(**batch).logits
    assert torch.allclose(logits[1], net(**{k: torch.tensor([v]) for k,v in shorter.items()}).logits[0], atol=1e-5)

    run = fine_tune(DATA, folder, 'SS', find_recipe('paper', epochs=1), device='cpu')
    assert len(run.predictions) == 8 and run.hyperparameters['batch_size'] == 16 and len(run.dev) == 1
    assert run.truncated == dict(train=0, dev=0, test=0) and run.unknown['train'] == 0

def test_same_seed_same_run(make):
    "A run repeats exactly, another seed does not"
    folder, recipe = make('bert'), find_recipe('robust', epochs=2, learning_rate=1e-3)
    runs = [fine_tune(DATA, folder, 'SAC', recipe, seed=s, device='cpu') for s in (1, 1, 2)]
    assert runs[0].dev == runs[1].dev != runs[2].dev
    assert runs[0].predictions == runs[1].predictions

def test_collapse_is_seen_and_started_anew(make, monkeypatch):
    "A constant predictor: the robust recipe starts it once more, the paper's says so only"
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', _constant(hf.BertForSequenceClassification.forward))
    robust = fine_tune(DATA, make('bert'), 'SS', find_recipe('robust', epochs=1), seed=3, device='cpu')
    assert robust.collapsed and [(a['seed'], a['constant']) for a in robust.attempts] == [(3, True), (1003, True)]
    paper = fine_tune(DATA, make('bert'), 'SS', find_recipe('paper', epochs=1), seed=3, device='cpu')
    assert paper.collapsed and len(paper.attempts) == 1

def _constant(forward):
    def wrapped(self, *args, **kwargs):
        out = forward(self, *args, **kwargs)
        return type(out)(loss=out.loss, logits=out.logits*0 + torch.tensor([1., 0.]))
    return wrapped

def test_out_of_memory_halves_the_batch(make, monkeypatch):
    "Smaller batches, as many examples per update, and the record says so"
    forward = hf.BertForSequenceClassification.forward
    def greedy(self, input_ids, **kwargs):
        if self.training and len(input_ids) > 4: raise torch.OutOfMemoryError('CUDA out of memory')
        return forward(self, input_ids=input_ids, **kwargs)
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', greedy)
    used = fine_tune(DATA, make('bert'), 'SS', find_recipe('paper', epochs=1), device='cpu').hyperparameters
    assert (used['batch_size'], used['accumulation']) == (4, 4)

def test_out_of_memory_in_scoring(make, monkeypatch):
    "Batches of dev shrink with those of train; what does not fit at all is told in one line"
    forward = hf.BertForSequenceClassification.forward
    def greedy(self, input_ids, **kwargs):
        if not self.training and len(input_ids) > most: raise torch.OutOfMemoryError('CUDA out of memory')
        return forward(self, input_ids=input_ids, **kwargs)
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', greedy)
    most = 4
    assert fine_tune(DATA, make('bert'), 'SS', find_recipe('paper', epochs=1), device='cpu').hyperparameters['batch_size'] == 1
    most = 0
    with pytest.raises(InputError, match='is too large for the memory at hand'): fine_tune(DATA, make('bert'), 'SS', find_recipe('paper', epochs=1), device='cpu')

def test_other_errors_are_not_taken_for_it(make, monkeypatch):
    def broken(self, **kwargs): raise RuntimeError('shapes differ')
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', broken)
    with pytest.raises(RuntimeError, match='shapes differ'): fine_tune(DATA, make('bert'), 'SS', 'paper', device='cpu')

def test_long_pairs_keep_the_sense(make):
    long = [PairExample('go.01', 'lo la '*40, 'mi '*10, 'same' if i % 2 else 'different', None, None) for i in range(8)]
    data = Dataset(Path('toy'), {'same_sense': dict(train=long, dev=PAIRS[:8], test=long[:2])})
    for kind in 'bert', 'roberta', 'gpt2':
        run = fine_tune(data, make(kind), 'SS', find_recipe('paper', epochs=1), device='cpu')
        assert run.truncated == dict(train=8, dev=0, test=2), kind

def test_nothing_is_left_behind(make, tmp_path, monkeypatch):
    "Neither in the folder where one works nor among temporary files, even when interrupted"
    folder = make('bert')
    monkeypatch.chdir(tmp_path); monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    def interrupt(self, *args, **kwargs): raise KeyboardInterrupt
    fine_tune(DATA, folder, 'SS', find_recipe('paper', epochs=1), device='cpu')
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', interrupt)
    with pytest.raises(KeyboardInterrupt): fine_tune(DATA, folder, 'SS', 'paper', device='cpu')
    assert list(tmp_path.iterdir()) == []

def test_bad_models(make, tmp_path):
    "One line each"
    def refused(folder, contains):
        with pytest.raises(InputError, match=contains) as e: fine_tune(DATA, folder, 'SS', 'paper', device='cpu')
        assert '\n' not in str(e.value)
    refused(tmp_path/'none', 'is neither a model folder nor in the local cache')
    refused(tmp_path, 'no config.json')
    folder = make('bert')
    weights = (folder/'model.safetensors').read_bytes()
    (folder/'model.safetensors').unlink()
    refused(folder, 'holds no weights')
    (folder/'model.safetensors').write_bytes(weights[:100])
    refused(folder, 'cannot be loaded as a classifier')
    (folder/'model.safetensors').write_bytes(weights)
    config = json.loads((folder/'config.json').read_text())
    (folder/'config.json').write_text(json.dumps(config | {'model_type': 'nonesuch'}))
    refused(folder, 'cannot be loaded')
    (folder/'config.json').write_text(json.dumps(config))
    for name in 'tokenizer.json', 'tokenizer_config.json': (folder/name).unlink()
    refused(folder, 'has no vocabulary')
    other = make('gpt2')
    (other/'config.json').write_text((folder/'config.json').read_text())
    refused(other, 'its config.json does not describe its weights')

def test_unknown_script_warns(make):
    rows = [VerseExample('нет слов', str(i % 2), None) for i in range(8)]
    data = Dataset(Path('toy'), {PNS.stem: dict(train=rows, dev=rows, test=rows)})
    with pytest.warns(UserWarning, match='does not know 100% of the tokens'): run = fine_tune(data, make('bert'), 'PNS', find_recipe('paper', epochs=1), device='cpu')
    assert run.unknown['train'] == 1.0
