"""How many New Testaments a minute one machine encodes, and how many it scores by likelihood

    python benchmarks/speed.py DATASET [--seconds 20] [--small]
    python benchmarks/speed.py DATASET -m MODEL...          # do 16 and 32 bits choose the same?

Models have random weights, since speed does not depend on them: encoders of the shape of MiniLM (6 layers of
384 dimensions) and of BERT-base (12 of 768), and a causal model of the shape of Qwen2 0.5B (24 of 896). Each
reads the verses of DATASET (from `pronto build -b BIBLE`) with a vocabulary learned from them, by what
`--protocol probe` and `--protocol likelihood` call. A New Testament has 7,957 verses; choices are the four
tasks that are made from the text alone. `--small` is to see on a CPU that it runs.
"""
import argparse, json, platform, tempfile, time
from pathlib import Path
import torch
from transformers import BertConfig, BertModel, Qwen2Config, Qwen2ForCausalLM
from pronto.datasets.examples import answer_of, credit
from pronto.datasets.loading import load_dataset_folder, load_verses
from pronto.modeling.architectures import quiet
from pronto.modeling.encodings import FrozenModel
from pronto.modeling.likelihood import choice_values, load_chooser, log_likelihoods
from pronto.lab.modeling.pretrain import learn_vocabulary

VERSES = 7957 # Of a New Testament
SHAPES = {'encoder of 6 layers': (6, 384, 12), 'encoder of 12 layers': (12, 768, 12),
          'causal model of 0.5 B': (24, 896, 14)} # Layers, width, heads

def make_model(folder, name, texts, small):
    "A model with random weights"
    layers, width, heads = (1, 16, 2) if small else SHAPES[name]
    causal = name.startswith('causal')
    inputs = ('input_ids', 'attention_mask') if causal else ('input_ids', 'token_type_ids', 'attention_mask')
    tokenizer = learn_vocabulary(texts, 8000, 512, inputs)
    sizes = dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
                 pad_token_id=tokenizer.pad_token_id)
    with quiet():
        if causal:
            net = Qwen2ForCausalLM(Qwen2Config(
                vocab_size=8000 if small else 151_936, num_key_value_heads=2, tie_word_embeddings=True,
                intermediate_size=4*width if small else 4864, max_position_embeddings=512, **sizes))
        else:
            net = BertModel(BertConfig(vocab_size=30_522, intermediate_size=4*width, **sizes))
        for part in tokenizer, net:
            part.save_pretrained(folder)
    return sum(p.numel() for p in net.parameters())

def seconds_of(read, some, seconds):
    "How long it takes to read some texts, and how many were read, after some to warm up"
    read(some[:256])
    began, n = time.perf_counter(), 0
    while n == 0 or time.perf_counter() - began < seconds:
        read(some)
        n += len(some)
    return time.perf_counter() - began, n

def measure(name, texts, dataset, args):
    with tempfile.TemporaryDirectory() as folder:
        parameters = make_model(folder, name, texts, args.small)
        found = dict(model=name, parameters=parameters, verses=len(texts))
        if name.startswith('causal'):
            reader = load_chooser(folder)
            read = lambda some: log_likelihoods(reader, [[('', text)] for text in some])
            precision = str(reader.net.dtype).removeprefix('torch.')
            began = time.perf_counter()
            n_rows = 0
            for parts in dataset.tasks.values():
                n_rows += len(parts['test'])
                choice_values(reader, parts['test'])
            found |= dict(choice_rows=n_rows, choice_seconds=round(time.perf_counter() - began, 2))
        else:
            frozen = FrozenModel(folder)
            read, precision = frozen.encode, 'float32'
        took, n = seconds_of(read, texts, args.seconds)
    speed = n/took
    return found | dict(precision=precision, verses_per_second=round(speed, 1),
                        testaments_per_minute=round(60*speed/VERSES, 2))

def same_choices(model, dataset):
    "How often a causal model chooses otherwise with 16 than with 32 bits, and how often each is right"
    found = {}
    for kind in (torch.bfloat16, torch.float32):
        reader = load_chooser(model) # Anew, since it remembers what it has read
        reader.net.to(kind)
        for stem,parts in dataset.tasks.items():
            found.setdefault(stem, []).append(list(map(answer_of, choice_values(reader, parts['test']).sums)))
    for stem,(half,whole) in found.items():
        rows = dataset.tasks[stem]['test']
        right = [sum(credit(row.label, answer) for row,answer in zip(rows, some)) for some in (half, whole)]
        yield dict(model=Path(model).name, task=stem, rows=len(rows),
                   differ=sum(map(str.__ne__, half, whole)), right_bfloat16=right[0], right_float32=right[1],
                   ties_bfloat16=sum('=' in answer for answer in half))

if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('dataset', type=Path)
    parser.add_argument('--seconds', type=float, default=20, help='for each model')
    parser.add_argument('--small', action='store_true')
    parser.add_argument('-m', '--model', nargs='+', default=[])
    args = parser.parse_args()
    dataset = load_dataset_folder(args.dataset)
    texts = list(dict.fromkeys(load_verses(dataset, 'text.tsv').values()))
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else f'CPU {platform.processor()}'
    for model in args.model:
        for line in same_choices(model, dataset):
            print(json.dumps(dict(device=where) | line), flush=True)
    for name in SHAPES if not args.model else ():
        print(json.dumps(dict(device=where) | measure(name, texts, dataset, args)), flush=True)
