"""Measure training steps and encoding on a GPU, and say how long a plan takes there, in about ten minutes

    python benchmarks/gpu.py real --data DATA -m TEACHER -o STUDY [--seconds 30] [--seeds 4]
    python benchmarks/gpu.py real --data DATA -m TEACHER -o STUDY --dry-run # on a CPU, two steps of each way

It takes what `pronto study` takes and first makes the datasets and models of the plan, as that does.
Each way adds something to the one before: section 5.2 of the paper as written (fp32, batches of 16 in random
order, padded to the longest); bfloat16 and a fused optimiser; batches by length, padded to multiples of
eight; the last block for the first token only and no embeddings of tokens that never occur, as in training
(`pronto.modeling.layers`); compiled steps; attention without padding, if the package flash-attn is there. The
last way trains several seeds of a small model as one (`torch.func.stack_module_state`). A way is timed only
after its outputs agree with the plain ones, which is also tested on a CPU; a way that fails is left out and
reported, and the error stream says how far it is. Hours are extrapolated from the measured steps, for all
that the plan fine-tunes and the verses that its frozen models encode; not for prompting and perplexity.
"""
import argparse, copy, random, sys, time
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path

import torch
from torch.func import functional_call, stack_module_state
from torch.nn.functional import cross_entropy
from pronto.cli.command import make_parser
from pronto.cli.model_commands import planned
from pronto.datasets.loading import sample
from pronto.datasets.tasks import BUILT_IN, read_tasks
from pronto.lab.studies.study import Study, Workplace, data_steps, find_plan, read_plan, run_steps
from pronto.modeling.architectures import load_classifier, load_tokenizer, quiet, token_limit
from pronto.modeling.encoding import pack
from pronto.modeling.encodings import FrozenModel
from pronto.modeling.layers import keep_used_tokens, read_first_token
from pronto.modeling.outcome import senses_of
from pronto.modeling.train import by_length, collate

RATE = dict(lr=2e-5, weight_decay=.01) # Section 5.2
TOLERANCE = {'plain': 0., 'bf16': .1, 'by length': .1, 'less work': .1, 'compiled': .1, 'no padding': .1}


def batches_of(rows, task, net, tokenizer, first, sorted_by_length):
    "Batches of 16, in random order"
    senses = {sense: first+i for i,sense in enumerate(senses_of(rows))} or None
    types = getattr(net.config, 'type_vocab_size', 0)
    inputs = pack(rows, tokenizer, token_limit(net, tokenizer), senses, types).inputs
    labels = [task.labels.index(task.training_label(row.label)) for row in rows]
    inputs = [x | {'labels': y} for x,y in zip(inputs, labels)]
    order = by_length(inputs)
    if not sorted_by_length: random.Random(0).shuffle(order)
    parts = [order[i:i+16] for i in range(0, len(order) - 15, 16)]
    random.Random(1).shuffle(parts)
    return [collate([inputs[i] for i in part], tokenizer, 8 if sorted_by_length else 1) for part in parts]

def on(batch, device): return {k: v.to(device, non_blocking=True) for k,v in batch.items()}

def wait(device):
    if device == 'cuda': torch.cuda.synchronize()

def timed(step, batches, device, seconds, fewest=2):
    "Sequences per second of a step, without its first runs"
    for batch in batches[:fewest]: step(on(batch, device))
    wait(device)
    began, n = time.perf_counter(), 0
    for done,batch in enumerate(cycle(batches), 1):
        step(on(batch, device))
        n += len(batch['labels'])
        if done < fewest: continue
        if done % 10 == 0 or not seconds: wait(device)
        if time.perf_counter() - began >= seconds: break
    wait(device)
    return n/(time.perf_counter() - began)

def logits_with(net, batch, bf16):
    with torch.autocast(batch['input_ids'].device.type, torch.bfloat16, enabled=bf16):
        return net(**{k: v for k,v in batch.items() if k != 'labels'}).logits.float()

def stepper(net, *, bf16, fused, device):
    "A function that makes one update"
    optimizer = torch.optim.AdamW(net.parameters(), **RATE, fused=fused)
    net.train()
    def step(batch):
        cross_entropy(logits_with(net, batch, bf16), batch['labels']).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step

def same_outputs(net, other, batch, tolerance):
    "Raise `ValueError` unless two ways give the same logits"
    net.eval(), other.eval()
    with torch.no_grad():
        found = [logits_with(net, batch, False), logits_with(other, batch, tolerance > 0)]
    distance = float((found[0] - found[1]).abs().max())
    if distance > tolerance + 1e-5:
        raise ValueError(f'outputs differ by {distance:.3g}, more than {tolerance}')

def stacked_stepper(nets):
    "A function that makes one update of several models, each as if it were alone"
    params, buffers = stack_module_state(nets)
    base = copy.deepcopy(nets[0]).to('meta')
    optimizer = torch.optim.AdamW(params.values(), **RATE)
    def loss_of(params, buffers, batch):
        inputs = {k: v for k,v in batch.items() if k != 'labels'}
        return cross_entropy(functional_call(base, (params, buffers), kwargs=inputs).logits, batch['labels'])
    losses = torch.func.vmap(loss_of, in_dims=(0, 0, None), randomness='different')
    def step(batch):
        losses(params, buffers, batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step, params

def ways(dry_run):
    "Name to what is switched on: bf16 and fused, by length, less work, compiled, attention"
    found = {'plain': (False, False, False, False, None), 'bf16': (True, False, False, False, None),
             'by length': (True, True, False, False, None), 'less work': (True, True, True, False, None),
             'compiled': (True, True, True, True, None)}
    if find_spec('flash_attn') and not dry_run:
        found['no padding'] = (True, True, True, False, 'flash_attention_2')
    return found

def compute_less(net, batches):
    "What PrOnto's training leaves out"
    read_first_token(net)
    keep_used_tokens(net, {i for batch in batches for i in batch['input_ids'].unique().tolist()})

def measure_way(model, task, rows, how, tolerance, device, seconds, dry_run):
    "Sequences per second of one way; raises an error if it does not run, or not as the plain one"
    bf16, sorted_by_length, less, compiled, attention = how
    tokenizer, backend = load_tokenizer(model), 'eager' if dry_run else 'inductor'
    loaded = [load_classifier(model, tokenizer, task.labels, n_senses=len(senses_of(rows))) for _ in range(2)]
    plain, net = (net.to(device) for net,_ in loaded)
    if attention: net.set_attn_implementation(attention)
    batches = batches_of(rows, task, net, tokenizer, loaded[0][1], sorted_by_length)
    if less: compute_less(net, batches)
    ran = torch.compile(net, backend=backend, dynamic=True) if compiled else net
    same_outputs(plain, ran, on(batches[0], device), tolerance)
    return timed(stepper(ran, bf16=bf16, fused=bf16, device=device), batches, device, seconds)

def measure_training(model, task, rows, device, seconds, dry_run):
    "Sequences per second of each way that runs; a compiler or a kernel that fails costs only its own way"
    speeds = {}
    for name,how in ways(dry_run).items():
        began = time.perf_counter()
        try: speeds[name] = measure_way(model, task, rows, how, TOLERANCE[name], device, seconds, dry_run)
        except Exception as e:
            if name == 'plain': raise
            said = f'left out ({type(e).__name__}: {str(e).strip().splitlines()[0][:150]})'
        else: said = f'{speeds[name]:.0f} per second'
        took = time.perf_counter() - began
        print(f'{task.abbr}, {name}: {said}; {took:.0f} s', file=sys.stderr, flush=True)
    return speeds

def measure_seeds(model, task, rows, device, seconds, n):
    "Sequences per second of several seeds trained as one, all seeds together"
    tokenizer = load_tokenizer(model)
    loaded = [load_classifier(model, tokenizer, task.labels, seed=seed) for seed in range(n)]
    nets = [net.to(device).train() for net,_ in loaded]
    for net in nets: net.set_attn_implementation('eager')
    batches = batches_of(rows, task, nets[0], tokenizer, loaded[0][1], True)
    for net in nets: compute_less(net, batches)
    return n*timed(stacked_stepper(nets)[0], batches, device, seconds)

def trainings_of(plan, place):
    "All trainings of a plan, by its commands"
    for step in run_steps(plan, place):
        args = make_parser().parse_args(step.command)
        args.tasks = read_tasks(args.tasks or '')
        yield from planned(args, lambda line: print(line, file=sys.stderr))

def examples_of(t):
    "How many examples a training reads, each as often as it is seen"
    settings = t.key.hyperparameters
    if settings.get('steps'): return settings['batch_size']*settings['steps']
    files = [part.dataset.table_file(t.key.task, 'train') for part in t.selection.train]
    rows = sum(file.read_bytes().count(b'\n') for file in files if file.is_file())
    return settings['epochs']*min(rows, t.key.limit or rows)

def work_of(trainings):
    "How many examples are trained on, by whether they are pairs, and how many verses are encoded"
    examples, encoded = {False: 0, True: 0}, {}
    for t in trainings:
        if t.adapt == 'all': examples[t.task.has_sense] += examples_of(t)
        if t.adapt != 'frozen' and t.key.protocol != 'retrieval': continue
        for dataset in t.selection.datasets: # Folds have the same verses
            encoded[t.model, dataset.file('alignment.tsv').parent] = dataset
    sizes = {root: len(texts_of(dataset.load().tasks)) for (_,root),dataset in encoded.items()}
    return examples, sum(sizes[root] for _,root in encoded)

def texts_of(tasks):
    "The verses of a dataset, each once"
    rows = (row for parts in tasks.values() for part in parts.values() for row in part)
    return list(dict.fromkeys(text for row in rows for text in row.texts))

def read_arguments(given=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('plan', help='a name or a file, as `pronto study` takes it')
    parser.add_argument('--data', type=Path, required=True)
    parser.add_argument('-m', '--teacher', required=True)
    parser.add_argument('-o', '--output', type=Path, required=True)
    parser.add_argument('--seconds', type=float, default=30, help='for each way')
    parser.add_argument('--seeds', type=int, default=4)
    parser.add_argument('--dry-run', action='store_true')
    return parser.parse_args(given)

def make_table(args, speeds, examples, seeds):
    "Speeds, and hours for what the plan fine-tunes"
    whole = [kind for kind,n in examples.items() if n]
    hours = lambda name: sum(examples[kind]/speeds[kind][name] for kind in whole)/3600
    lines = [f'| way | verses/s | pairs/s | hours for the {sum(examples.values()):,.0f} examples of '
             f'{args.plan}, extrapolated | times as fast |', '|---|--:|--:|--:|--:|']
    for name in ways(args.dry_run):
        each = [speeds.get(kind, {}).get(name) for kind in (False, True)]
        cells = [f'{speed:.0f}' if speed else '–' for speed in each]
        is_known = whole and all(name in speeds.get(kind, {}) for kind in whole)
        cells += [f'{hours(name):.1f}', f'{hours("plain")/hours(name):.1f}'] if is_known else ['–', '–']
        lines.append(f'| {name} | {" | ".join(cells)} |')
    return '\n'.join([*lines, f'| {args.seeds} seeds as one, fp32 | {seeds:.0f} | – | – | – |'])

def encoding_speed(model, texts, device):
    "Verses per second"
    frozen = FrozenModel(model, device=device)
    frozen.encode(texts[:64])
    began = time.perf_counter()
    frozen.encode(texts)
    return len(texts)/(time.perf_counter() - began)

def main(given=None):
    args = read_arguments(given)
    device = 'cpu' if args.dry_run else 'cuda'
    if not args.dry_run and not torch.cuda.is_available(): raise SystemExit('no GPU here; try --dry-run')
    plan = read_plan(find_plan(args.plan))
    place = Workplace(args.data.absolute(), args.output.absolute(), args.teacher)
    place.out.mkdir(parents=True, exist_ok=True)
    study = Study(plan, place)
    study.run_all(data_steps(plan, place))
    if study.failed: raise SystemExit('\n'.join(study.failed))
    trainings = list(trainings_of(plan, place))
    examples, n_encoded = work_of(trainings)
    tuned = [t for t in trainings if t.adapt == 'all']
    chosen = (tuned or trainings)[0] # Its model and dataset are measured
    seconds, data = 0 if args.dry_run else args.seconds, chosen.dataset.load()
    train = {BUILT_IN.find(stem): parts['train'] for stem,parts in data.tasks.items()}
    if args.dry_run: train = {task: sample(rows, 64) for task,rows in train.items()}
    kinds = {task.has_sense: task for task in train if not task.has_items} # A task of verses and one of pairs
    model, texts = chosen.model.folder, texts_of(data.tasks)
    with quiet():
        speeds = {kind: measure_training(model, task, train[task], device, seconds, args.dry_run)
                  for kind,task in kinds.items()}
        single = kinds.get(False)
        seeds = measure_seeds(model, single, train[single], device, seconds, args.seeds) if single else 0
    where = torch.cuda.get_device_name() if device == 'cuda' else 'dry run on a CPU: no figures to quote'
    print(f'{where}; {Path(model).name}\n\n{make_table(args, speeds, examples, seeds)}\n', flush=True)
    speed = encoding_speed(model, texts[:64] if args.dry_run else texts, device)
    print(f'Encoding: {speed:.0f} verses/s; the {n_encoded:,} verses of {args.plan}, each once for each '
          f'model, in {n_encoded/speed/3600:.2f} hours, extrapolated')

if __name__ == '__main__': main()
