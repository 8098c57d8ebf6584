"""Every architecture family through training or refused in one line, and bad input"""
import json, re
from pathlib import Path
import numpy as np
import pytest
torch = pytest.importorskip('torch')
import transformers as hf
from conftest import ROOT
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from pronto.core.files import InputError
from pronto.datasets.examples import PairExample, VerseExample
from pronto.datasets.loading import Dataset
from pronto.datasets.tasks import PNS, SAC, SS
from pronto.modeling.architectures import FIRST_PRIVATE, load_classifier, load_tokenizer, quiet, token_limit, token_table
from pronto.modeling.encoding import pack
from pronto.modeling.encodings import FrozenModel
from pronto.modeling.recipes import find_recipe
from pronto.modeling.train import collate, fine_tune, fine_tune_dataset

pytestmark = pytest.mark.usefixtures('less_of_unicode')
WORDS = 'lo la mi tu go se'.split()
SENSES = 'go.01', 'see.01'
PAIRS = [PairExample(SENSES[i % 2], ' '.join(WORDS[i % 3:][:3]), ' '.join(WORDS[i % 4:][:2]), ('different','same')[i // 2 % 2], None, None)
         for i in range(32)]
VERSES = [VerseExample(' '.join(WORDS[i % 3:][:3]), '01'[i // 2 % 2], None) for i in range(32)]
TABLES = {PNS.stem: VERSES, SS.stem: PAIRS, SAC.stem: PAIRS}
DATA = Dataset(Path('toy'), {stem: dict(train=rows, dev=rows[:8], test=rows[8:16]) for stem,rows in TABLES.items()})
ONCE = find_recipe('paper', epochs=1)

def fast(specials:list, unk:str, single:str, pair:str, **names):
    "A fast tokenizer that knows WORDS, with a template"
    t = Tokenizer(models.WordLevel({w:i for i,w in enumerate(specials + WORDS)}, unk))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    numbers = [(s, i) for i,s in enumerate(specials)]
    if pair: t.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=numbers)
    return hf.PreTrainedTokenizerFast(tokenizer_object=t, unk_token=unk, **names)

def bert_like(**names):
    known = dict(pad_token='[PAD]', cls_token='[CLS]', sep_token='[SEP]')
    return fast(['[PAD]','[UNK]','[CLS]','[SEP]'], '[UNK]', '[CLS] $A [SEP]', '[CLS] $A [SEP] $B:1 [SEP]:1', **known, **names)

def roberta_like():
    names = dict(pad_token='<pad>', cls_token='<s>', sep_token='</s>', bos_token='<s>', eos_token='</s>')
    return fast(['<s>','<pad>','</s>','<unk>'], '<unk>', '<s> $A </s>', '<s> $A </s> </s> $B </s>', **names)

def t5_like():
    return fast(['<pad>','</s>','<unk>'], '<unk>', '$A </s>', '$A </s> $B </s>', pad_token='<pad>', eos_token='</s>')

def gpt_like(): return fast(['<end>'], '<end>', None, None, eos_token='<end>', bos_token='<end>')

def llama_like(): return fast(['<unk>','<s>','</s>'], '<unk>', '<s> $A', '<s> $A $B', bos_token='<s>', eos_token='</s>')

def config(name:str, **fields): return lambda n: getattr(hf, f'{name}Config')(**dict(vocab_size=n) | fields)

SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=60)
ROBERTA = SIZES | dict(type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
DEBERTA = SIZES | dict(relative_attention=True, position_biased_input=False, pos_att_type=['p2c','c2p'], type_vocab_size=0)
MODERN = SIZES | dict(pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3)
DISTIL = dict(dim=16, n_layers=1, n_heads=2, hidden_dim=32, max_position_embeddings=60)
GPT = dict(n_embd=16, n_layer=1, n_head=2, n_positions=60, bos_token_id=0, eos_token_id=0)
LLAMA = SIZES | dict(num_key_value_heads=1, bos_token_id=1, eos_token_id=2)
T5 = dict(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
BART = dict(d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
            decoder_ffn_dim=32, max_position_embeddings=60, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
CANINE = SIZES | dict(max_position_embeddings=256, num_hash_buckets=64, num_hash_functions=2, local_transformer_stride=16, vocab_size=None)

BERT_PAIR, BERT_TYPES = '[CLS] lo la [SEP] mi tu [SEP]'.split(), [0]*4 + [1]*3 + [1]
ROBERTA_PAIR, T5_PAIR = '<s> lo la </s> </s> mi tu </s>'.split(), 'lo la </s> mi tu </s>'.split()
BYTE_PAIR = [*'lo la', '</s>', *'mi tu', '</s>']
CANINE_PAIR = ['\ue000', *'lo la', '\ue001', *'mi tu', '\ue001']

KINDS = { # Name: configuration, tokenizer, class, a pair as it must be packed, its token types
    'bert': (config('Bert', **SIZES), bert_like, hf.AutoModel, BERT_PAIR, BERT_TYPES),
    'bert with rows to spare': (lambda n: hf.BertConfig(vocab_size=n+6, **SIZES), bert_like, hf.AutoModel, BERT_PAIR, BERT_TYPES),
    'distilbert': (config('DistilBert', **DISTIL), bert_like, hf.AutoModel, BERT_PAIR, None),
    'electra': (config('Electra', embedding_size=8, **SIZES), bert_like, hf.AutoModel, BERT_PAIR, BERT_TYPES),
    'albert': (config('Albert', embedding_size=8, **SIZES), bert_like, hf.AutoModel, BERT_PAIR, BERT_TYPES),
    'deberta-v2': (config('DebertaV2', **DEBERTA), bert_like, hf.AutoModel, BERT_PAIR, None),
    'modernbert': (config('ModernBert', **MODERN), bert_like, hf.AutoModel, BERT_PAIR, None),
    'xlnet': (config('XLNet', d_model=16, n_layer=1, n_head=2, d_inner=32), bert_like, hf.AutoModel, BERT_PAIR, None),
    'xlm': (config('XLM', emb_dim=16, n_layers=1, n_heads=2, max_position_embeddings=60, pad_index=0, unk_index=1), bert_like,
            hf.AutoModel, BERT_PAIR, None),
    'roberta': (config('Roberta', **ROBERTA), roberta_like, hf.AutoModel, ROBERTA_PAIR, None),
    'xlm-roberta': (config('XLMRoberta', **ROBERTA), roberta_like, hf.AutoModel, ROBERTA_PAIR, None),
    'camembert': (config('Camembert', **ROBERTA), roberta_like, hf.AutoModel, ROBERTA_PAIR, None),
    'slow tokenizer': (config('Roberta', **ROBERTA | dict(pad_token_id=0)), hf.ByT5Tokenizer, hf.AutoModel, BYTE_PAIR, None),
    'gpt2': (config('GPT2', **GPT), gpt_like, hf.AutoModel, 'lo la <end> mi tu'.split(), None),
    'llama': (config('Llama', **LLAMA), llama_like, hf.AutoModel, '<s> lo la </s> mi tu'.split(), None),
    'mistral': (config('Mistral', **LLAMA), llama_like, hf.AutoModel, '<s> lo la </s> mi tu'.split(), None),
    'mamba': (config('Mamba', hidden_size=16, num_hidden_layers=1, state_size=4), gpt_like, hf.AutoModel, 'lo la <end> mi tu'.split(),
              None),
    't5': (config('T5', **T5), t5_like, hf.T5ForConditionalGeneration, T5_PAIR, None),
    'mt5': (config('MT5', **T5), t5_like, hf.MT5ForConditionalGeneration, T5_PAIR, None),
    'mt5 encoder alone': (config('MT5', **T5), t5_like, hf.MT5EncoderModel, T5_PAIR, None),
    'umt5': (config('UMT5', **T5), t5_like, hf.UMT5ForConditionalGeneration, T5_PAIR, None),
    'byt5': (config('T5', **T5), hf.ByT5Tokenizer, hf.T5ForConditionalGeneration, BYTE_PAIR, None),
    'bart': (config('Bart', **BART), roberta_like, hf.AutoModel, ROBERTA_PAIR, None),
    'mbart': (config('MBart', **BART), roberta_like, hf.MBartForConditionalGeneration, ROBERTA_PAIR, None),
    'm2m-100': (config('M2M100', **BART), roberta_like, hf.M2M100ForConditionalGeneration, ROBERTA_PAIR, None),
    'marian': (config('Marian', **BART), roberta_like, hf.MarianMTModel, ROBERTA_PAIR, None),
    'canine': (lambda n: hf.CanineConfig(**{k: v for k,v in CANINE.items() if v}), hf.CanineTokenizer, hf.AutoModel, CANINE_PAIR, [0]*14),
}
FAST = ('bert', 'bert with rows to spare', 'deberta-v2', 'roberta', 'slow tokenizer', 'gpt2', 'llama', 'mt5 encoder alone', 'byt5',
        'canine', 'mamba')
REFUSED = { # Name: configuration, tokenizer, what the line says
    'clip': (lambda n: hf.CLIPTextConfig(vocab_size=n, **SIZES), bert_like, 'transformers has no text classifier'),
    'reformer': (config('Reformer', num_buckets=8), bert_like, 'of the architecture reformer, cannot be fine-tuned'),
}

def kinds(names): return [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in names]

def write_model(folder, config, tokenizer, cls):
    "Write a tiny random model"
    tokenizer = tokenizer()
    torch.manual_seed(0)
    with quiet():
        settings = config(len(tokenizer))
        net = cls.from_config(settings) if cls is hf.AutoModel else cls(settings)
        net.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder

@pytest.fixture(scope='session')
def made(tmp_path_factory):
    "The folder of a tiny random model of a kind, made once; not to be changed"
    folders = {}
    def made(kind):
        if kind not in folders: folders[kind] = write_model(tmp_path_factory.mktemp('model'), *KINDS[kind][:3])
        return folders[kind]
    return made

@pytest.fixture
def make(tmp_path):
    "A folder of the test's own"
    def make(kind):
        folder = tmp_path/f'own {kind}'
        folder.mkdir()
        return write_model(folder, *KINDS[kind][:3])
    return make

@pytest.mark.parametrize('kind', kinds(KINDS))
def test_every_architecture(made, kind):
    "Ids, mask and types of a pair; a new row for every sense; equal scores with and without padding; verses and pairs are learned from"
    folder, (*_, tokens, types) = made(kind), KINDS[kind]
    with quiet():
        tokenizer = load_tokenizer(folder)
        net, first = load_classifier(folder, tokenizer, SS.labels, n_senses=len(SENSES))
    table = token_table(net)
    if kind == 'canine': assert table is None and first == FIRST_PRIVATE
    else:
        rows = token_table(load_classifier(folder, tokenizer, SS.labels)[0])
        assert first == max(len(rows), len(tokenizer)) and len(table) == first + len(SENSES)
        assert not torch.equal(table[first], table[first+1])

    pair = PairExample('see.01', 'lo la', 'mi tu', 'same', None, None)
    senses = {s: first+i for i,s in enumerate(SENSES)}
    packed = pack([pair], tokenizer, token_limit(net, tokenizer), senses, getattr(net.config, 'type_vocab_size', 0)).inputs
    expected = {'input_ids': tokenizer.convert_tokens_to_ids(tokens) + [first+1]}
    assert packed == [expected | ({'token_type_ids': types} if types else {})]
    shorter = {k: v[-5:] for k,v in packed[0].items()}
    batch = collate([x | {'labels': 0} for x in (packed[0], shorter)], tokenizer)
    theirs = hf.DataCollatorWithPadding(tokenizer)([packed[0], shorter])
    assert all(torch.equal(batch[k], theirs[k]) for k in theirs)
    assert batch['attention_mask'].sum(1).tolist() == [len(packed[0]['input_ids']), 5]
    logits = net.eval()(**batch).logits
    alone = net(**{k: torch.tensor([v]) for k,v in shorter.items()}, attention_mask=torch.ones(1, 5, dtype=int)).logits
    assert torch.allclose(logits[1], alone[0], atol=1e-5)

    for task in 'PNS', 'SS':
        run = fine_tune_dataset(DATA, folder, task, ONCE, device='cpu')
        assert len(run.predictions) == 8 and run.hyperparameters['batch_size'] == 16 and len(run.dev) == 1
        assert run.truncated == dict(train=0, dev=0, test=0) and run.unknown['train'] == 0

@pytest.mark.parametrize('kind', REFUSED)
def test_what_cannot_be_trained_is_refused_in_one_line(tmp_path, kind):
    config, tokenizer, contains = REFUSED[kind]
    write_model(tmp_path, config, tokenizer, hf.AutoModel)
    with pytest.raises(InputError, match=contains) as e: fine_tune_dataset(DATA, tmp_path, 'SS', ONCE, device='cpu')
    assert '\n' not in str(e.value)

def test_recipes_that_place_senses_need_a_table(made):
    with pytest.raises(InputError, match='use the recipe paper or robust'):
        fine_tune_dataset(DATA, made('canine'), 'SS', find_recipe('tiny', epochs=1), device='cpu')

def test_tokens_that_the_model_does_not_have(make):
    "A tokenizer whose ids exceed the embeddings"
    folder = make('bert')
    tokens = json.loads((folder/'tokenizer.json').read_text())
    tokens['model']['vocab']['lo'] = 10**6
    (folder/'tokenizer.json').write_text(json.dumps(tokens))
    with pytest.raises(InputError, match='its tokenizer'): fine_tune_dataset(DATA, folder, 'PNS', ONCE, device='cpu')

@pytest.mark.slow
def test_same_seed_same_run(made):
    "A run repeats exactly, another seed does not"
    folder, recipe = made('bert'), find_recipe('robust', epochs=2, learning_rate=1e-3, probe=False)
    runs = [fine_tune_dataset(DATA, folder, 'SAC', recipe, seed=s, device='cpu') for s in (1, 1, 2)]
    assert runs[0].dev == runs[1].dev != runs[2].dev
    assert runs[0].predictions == runs[1].predictions

def test_collapse_is_recorded_and_training_starts_again(made, monkeypatch):
    "A constant predictor: the robust recipe starts once more, the paper's only records it"
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', _constant(hf.BertForSequenceClassification.forward))
    robust = fine_tune_dataset(DATA, made('bert'), 'SS', find_recipe('robust', epochs=1, probe=False), seed=3, device='cpu')
    assert robust.collapsed and [a['seed'] for a in robust.attempts] == [3, 1003]
    assert robust.attempts[1]['learning_rate'] == robust.attempts[0]['learning_rate']/2
    paper = fine_tune_dataset(DATA, made('bert'), 'SS', ONCE, seed=3, device='cpu')
    assert paper.collapsed and len(paper.attempts) == 1

def _constant(forward):
    def wrapped(self, *args, **kwargs):
        out = forward(self, *args, **kwargs)
        return type(out)(loss=out.loss, logits=out.logits*0 + torch.tensor([1., 0.]))
    return wrapped

def test_batches_without_training_are_small_on_a_cpu(tmp_path, monkeypatch):
    "Larger ones leave the cache of the processor, which takes longer"
    from pronto.modeling import encodings, train
    settings = find_recipe('paper').settings(PNS) | dict(accumulation=1, bf16=False)
    arguments = train.training_arguments(settings, str(tmp_path), seed=0, device='cpu')
    assert arguments.per_device_eval_batch_size == settings['batch_size']
    sizes, frozen = [], object.__new__(FrozenModel)
    net = torch.nn.Sequential()
    net.get_input_embeddings = lambda: torch.nn.Embedding(2, 4)
    vars(frozen).update(device='cpu', pooling='mean of all tokens', model='none', _net=net, _tokenizer=None, _limit=99)
    monkeypatch.setattr(encodings, '_tokenize', lambda *_: ([[1]*30]*200, [[0]*30]*200, np.zeros((200, 3), int)))
    pool = lambda net, tokenizer, ids, *_: sizes.append(sum(map(len, ids))) or np.zeros((2, len(ids), 4), np.float16)
    monkeypatch.setattr(encodings, '_pool', pool)
    frozen.encode(['lo']*200)
    assert sum(sizes) == 6000 and max(sizes) <= 512

def test_out_of_memory_halves_the_batch(made, monkeypatch):
    "Smaller batches, as many examples per update, and the record says so"
    forward = hf.BertForSequenceClassification.forward
    def greedy(self, input_ids, **kwargs):
        if self.training and len(input_ids) > 4: raise torch.OutOfMemoryError('CUDA out of memory')
        return forward(self, input_ids=input_ids, **kwargs)
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', greedy)
    used = fine_tune_dataset(DATA, made('bert'), 'SS', ONCE, device='cpu').hyperparameters
    assert (used['batch_size'], used['accumulation']) == (4, 4)

@pytest.mark.slow
def test_out_of_memory_in_scoring(made, monkeypatch):
    "Batches of dev shrink with those of train; what does not fit at all is reported in one line"
    forward = hf.BertForSequenceClassification.forward
    def greedy(self, input_ids, **kwargs):
        if not self.training and len(input_ids) > most: raise torch.OutOfMemoryError('CUDA out of memory')
        return forward(self, input_ids=input_ids, **kwargs)
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', greedy)
    most, two = 1, find_recipe('paper', epochs=1, batch_size=2)
    assert fine_tune_dataset(DATA, made('bert'), 'SS', two, device='cpu').hyperparameters['batch_size'] == 1
    most = 0
    with pytest.raises(InputError, match='is too large for the available memory'):
        fine_tune_dataset(DATA, made('bert'), 'SS', two, device='cpu')

def test_other_errors_are_not_taken_for_it(made, monkeypatch):
    def broken(self, **kwargs): raise RuntimeError('shapes differ')
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', broken)
    with pytest.raises(InputError, match=r'cannot be fine-tuned on this task \(RuntimeError: shapes differ\)'):
        fine_tune_dataset(DATA, made('bert'), 'SS', 'paper', device='cpu')

def test_long_pairs_keep_the_sense(made):
    long = [PairExample('go.01', 'lo la '*40, 'mi '*10, 'same' if i % 2 else 'different', None, None) for i in range(8)]
    data = Dataset(Path('toy'), {'same_sense': dict(train=long, dev=PAIRS[:8], test=long[:2])})
    for kind in 'bert', 'roberta', 'gpt2':
        run = fine_tune_dataset(data, made(kind), 'SS', ONCE, device='cpu')
        assert run.truncated == dict(train=8, dev=0, test=2), kind

def test_nothing_is_left_behind(made, tmp_path, monkeypatch):
    "Neither in the folder where one works nor among temporary files, even when interrupted"
    folder = made('bert')
    monkeypatch.chdir(tmp_path); monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    def interrupt(self, *args, **kwargs): raise KeyboardInterrupt
    fine_tune_dataset(DATA, folder, 'SS', ONCE, device='cpu')
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', interrupt)
    with pytest.raises(KeyboardInterrupt): fine_tune_dataset(DATA, folder, 'SS', 'paper', device='cpu')
    assert list(tmp_path.iterdir()) == []

def test_bad_models(make, tmp_path):
    "One line each"
    def refused(folder, contains):
        with pytest.raises(InputError, match=contains) as e: fine_tune_dataset(DATA, folder, 'SS', 'paper', device='cpu')
        assert '\n' not in str(e.value)
    refused(tmp_path/'none', 'is neither a model folder nor in the local cache')
    refused(tmp_path, 'is not a model folder')
    folder = make('bert')
    weights = (folder/'model.safetensors').read_bytes()
    (folder/'model.safetensors').unlink()
    refused(folder, 'has no weights')
    (folder/'model.safetensors').write_bytes(weights[:100])
    refused(folder, 'cannot be loaded as a classifier')
    (folder/'model.safetensors').write_bytes(weights)
    config = json.loads((folder/'config.json').read_text())
    (folder/'config.json').write_text(json.dumps(config | {'model_type': 'nonesuch'}))
    refused(folder, 'its config.json cannot be read')
    (folder/'config.json').write_text(json.dumps(config))
    for name in 'tokenizer.json', 'tokenizer_config.json': (folder/name).unlink()
    refused(folder, 'has no vocabulary')
    other = make('gpt2')
    (other/'config.json').write_text((folder/'config.json').read_text())
    refused(other, 'its config.json does not describe its weights')

def test_unknown_script_warns(made, capsys):
    rows = [VerseExample('нет слов', str(i % 2), None) for i in range(8)]
    data = Dataset(Path('toy'), {PNS.stem: dict(train=rows, dev=rows, test=rows)})
    run = fine_tune_dataset(data, made('bert'), 'PNS', ONCE, device='cpu')
    assert 'its tokenizer does not know most tokens of train' in capsys.readouterr().err
    assert run.unknown['train'] == 1.0

class Evil:
    def __init__(self, mark): self.mark = mark
    def __reduce__(self): return open, (str(self.mark), 'w')

def test_no_code_of_a_model_folder_runs(make, tmp_path):
    "Neither a pickle among the weights nor a module that config.json names; honest .bin files load"
    from safetensors.torch import load_file
    folder, mark = make('bert'), tmp_path/'executed'
    weights = load_file(folder/'model.safetensors')
    (folder/'model.safetensors').unlink()
    torch.save(weights | {'evil': Evil(mark)}, folder/'pytorch_model.bin')
    with pytest.raises(InputError, match='more than tensors') as e: fine_tune_dataset(DATA, folder, 'PNS', ONCE, device='cpu')
    assert '\n' not in str(e.value) and not mark.exists()
    torch.save(weights, folder/'pytorch_model.bin')
    config = json.loads((folder/'config.json').read_text()) | {'auto_map': {'AutoModelForSequenceClassification': 'evil.Evil'}}
    (folder/'config.json').write_text(json.dumps(config))
    (folder/'evil.py').write_text(f'open({str(mark)!r}, "w")')
    assert fine_tune_dataset(DATA, folder, 'PNS', ONCE, device='cpu').predictions and not mark.exists()

def test_one_module_loads_all_models():
    "So that none is loaded with less care"
    loads = re.compile(r'(?<!Embedding)\.from_pretrained\(|torch\.load\(|trust_remote_code')
    found = [p.name for p in (ROOT/'pronto').rglob('*.py') if loads.search(p.read_text(encoding='utf-8'))]
    assert found == ['architectures.py']

@pytest.mark.parametrize('name,change', [
    ('config.json', dict(hidden_size=-1)), ('config.json', dict(num_attention_heads=0)), ('config.json', dict(model_type=['bert'])),
    ('config.json', dict(quantization_config=5)), ('tokenizer_config.json', dict(padding_side='up')),
    ('tokenizer.json', dict(model=None)), ('tokenizer.json', dict(added_tokens='x'))])
def test_odd_files_of_a_model_are_one_line(make, name, change):
    folder = make('bert')
    (folder/name).write_text(json.dumps(json.loads((folder/name).read_text()) | change))
    with pytest.raises(InputError) as e: fine_tune_dataset(DATA, folder, 'SS', ONCE, device='cpu')
    assert '\n' not in str(e.value)

def test_one_training_many_test_sets(made):
    "Each test set is answered with the same weights; the names are free"
    rows = dict(train=VERSES, dev=VERSES[:8], qaa=VERSES[8:16], qab=VERSES[8:9])
    run = fine_tune(made('bert'), PNS, rows, ONCE.settings(PNS), device='cpu')
    assert {name: len(labels) for name,labels in run.answers.items()} == dict(qaa=8, qab=1)
    assert 'train_loss' in run.dev[0]
    assert run.answers['qab'] == run.answers['qaa'][:1] and run.counts['qab'] == 1 and run.truncated['qaa'] == 0

def test_the_dev_set_of_a_tested_language_is_scored_at_each_checkpoint_as_dev_is(made):
    rows = {'train': VERSES, 'dev': VERSES[:8], 'qaa': VERSES[8:16], 'dev of qaa': VERSES[:8]}
    run = fine_tune(made('bert'), PNS, rows, find_recipe('paper', epochs=2).settings(PNS), device='cpu')
    assert list(run.answers) == ['qaa'] and [epoch['epoch'] for epoch in run.tested_dev['qaa']] == [1, 2]
    assert [epoch['loss'] for epoch in run.tested_dev['qaa']] == pytest.approx([epoch['loss'] for epoch in run.dev], abs=1e-5)

def test_robust_is_at_least_the_probe(made, tmp_path, monkeypatch):
    "Where fine-tuning collapses, the answers are those of the probe"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path))
    rows = [VerseExample(' '.join([WORDS[i % 2], 'go', *WORDS[i % 3:][:2]]), '01'[i % 2]) for i in range(32)]
    data = Dataset(Path('toy'), {PNS.stem: dict(train=rows, dev=rows[:8], test=rows[8:16])})
    forward = hf.BertForSequenceClassification.forward
    monkeypatch.setattr(hf.BertForSequenceClassification, 'forward', _constant(forward))
    run = fine_tune_dataset(data, made('bert'), 'PNS', find_recipe('robust', epochs=1), device='cpu')
    assert run.predictions == [row.label for row in rows[8:16]]
    assert run.dev[run.best_epoch-1]['epoch'] == 0 and not run.collapsed and len(run.attempts) == 2
    assert list((tmp_path/'cache').rglob('encodings.sqlite'))

@pytest.mark.parametrize('kind', kinds(KINDS))
def test_every_architecture_encodes(made, kind):
    "Encodings do not depend on the other verses of a batch, nor on special tokens; random weights differ"
    texts = ['lo la mi', 'lo', 'la mi tu go se lo la mi tu', 'lo la mi']
    frozen = FrozenModel(made(kind), device='cpu')
    together, counts = frozen.encode(texts)
    alone = np.concatenate([frozen.encode([text])[0] for text in texts], 1)
    assert together.ndim == 3 and together.shape[1] == 4 and len(together) >= 2
    same = slice(None) if kind != 'canine' else slice(0, 1) # Whose upper layers pool windows, padding included
    assert np.allclose(together[same].astype(float), alone[same], atol=5e-3)
    assert np.array_equal(together[:,0], together[:,3]) and counts[0,0] == counts[3,0] > 0
    assert not np.allclose(FrozenModel(made(kind), random=1, device='cpu').encode(texts)[0], together, atol=1e-2)
