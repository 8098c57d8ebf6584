"""Compare fine-tuning as the paper describes it with PrOnto's, and print a Markdown table

    python benchmarks/train.py DATASET_DIR MODEL [--task SM] [--limit 1200] [--epochs 1] [--rounds 3]
                               [--threads 1]

(a) follows section 5.2 of the paper with the classes of transformers alone: batches of 16 in random order,
each padded to its longest text by the collator, fp32.
(b) is `pronto.modeling.train.fine_tune_dataset` with the recipe `robust`, without probe and restarts, fp32.
(c) is (b) with bfloat16, on a GPU or where /proc/cpuinfo has amx_bf16 or avx512_bf16.
All use the same data, model, seed and epochs, score dev after every epoch, and predict test. They take
turns, and the table shows the median speed of the rounds and the accuracy of the first. The times include
loading and tokenising; with one thread and no GPU they are processor seconds, which other work disturbs less.
"""
import argparse, statistics, tempfile, time
from functools import partial
from pathlib import Path

import torch
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          PrinterCallback, Trainer, TrainingArguments, set_seed)
from pronto.core.seeds import score_runs
from pronto.datasets.loading import load_dataset_folder
from pronto.datasets.tasks import BUILT_IN
from pronto.modeling.architectures import quiet
from pronto.modeling.recipes import find_recipe, has_bf16
from pronto.modeling.train import fine_tune_dataset, task_rows
from pronto.runs.folds import chapters_of


def tokenized(rows, task, tokenizer):
    "The inputs of a model, with label numbers"
    labels = [task.labels.index(task.training_label(row.label)) for row in rows]
    inputs = [tokenizer(row.text, truncation=True) for row in rows]
    return [dict(x, labels=label) for x,label in zip(inputs, labels)]

def paper_arguments(folder, epochs, seed):
    "The settings of section 5.2"
    return TrainingArguments(
        folder, learning_rate=2e-5, per_device_train_batch_size=16, weight_decay=0.01,
        num_train_epochs=epochs, seed=seed, eval_strategy='epoch', save_strategy='no', logging_strategy='no',
        report_to='none', disable_tqdm=True, use_cpu=not torch.cuda.is_available(), label_names=['labels'])

def as_written(dataset, model, task, limit, epochs, seed):
    "Train as section 5.2 of the paper describes; return the predictions for test"
    parts = task_rows(dataset, task, limit)
    tokenizer = AutoTokenizer.from_pretrained(model)
    set_seed(seed)
    net = AutoModelForSequenceClassification.from_pretrained(model, num_labels=len(task.labels))
    rows = {split: tokenized(part, task, tokenizer) for split,part in parts.items()}
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            net, paper_arguments(folder, epochs, seed), DataCollatorWithPadding(tokenizer),
            train_dataset=rows['train'], eval_dataset=rows['dev'])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        predicted = trainer.predict(rows['test']).predictions.argmax(-1)
    return [task.labels[i] for i in predicted]

def ours(dataset, model, task, limit, epochs, seed, bf16=False):
    "Train with the recipe `robust`; return the predictions for test"
    recipe = find_recipe('robust', restarts=0, probe=False, bf16=bf16)
    run = fine_tune_dataset(dataset, model, task, recipe, seed=seed, epochs=epochs, limit=limit)
    return run.predictions

def multiplies_16_bits():
    "Does the machine multiply bfloat16 fast?"
    if has_bf16(): return True
    flags = Path('/proc/cpuinfo')
    return flags.is_file() and any(name in flags.read_text() for name in ('amx_bf16','avx512_bf16'))

WAYS = {'(a) as the paper writes it': as_written, '(b) ours': ours,
        '(c) ours, bf16': partial(ours, bf16=True)}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('dataset')
    parser.add_argument('model')
    parser.add_argument('--task', default='SM', help='a task of single verses')
    parser.add_argument('--limit', type=int, default=1200)
    parser.add_argument('--epochs', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--threads', type=int, default=1)
    return parser.parse_args()

def measure(dataset, task, test, args, ways):
    "The seconds of each round, and the accuracy in the first round with its interval"
    gold = [task.training_label(row.label) for row in test]
    seconds, accuracy = {name: [] for name in ways}, {}
    alone = args.threads == 1 and not torch.cuda.is_available()
    clock = time.process_time if alone else time.perf_counter
    for seed in range(args.rounds):
        for name,train in ways.items():
            begun = clock()
            predicted = train(dataset, args.model, task, args.limit, args.epochs, seed)
            seconds[name].append(clock() - begun)
            if seed: continue
            found = score_runs(task.labels, gold, [predicted], chapters_of(task, test))
            accuracy[name] = found['accuracy'].value, found['accuracy'].interval
    return seconds, accuracy

def main():
    args = read_arguments()
    torch.set_num_threads(args.threads)
    dataset, task = load_dataset_folder(args.dataset), BUILT_IN.find(args.task)
    parts = task_rows(dataset, task, args.limit)
    n = len(parts['train'])
    ways = WAYS if multiplies_16_bits() else dict(list(WAYS.items())[:2])
    with quiet(): seconds, accuracy = measure(dataset, task, parts['test'], args, ways)
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else f'{args.threads} threads'
    print(f'{task.abbr}, {n} verses of train, {args.epochs} epochs, {where}, {args.rounds} rounds\n')
    print('|  | sequences/s | times as fast | accuracy | 95 % interval |\n|---|--:|--:|--:|--:|')
    first = next(iter(ways))
    for name in ways:
        value, (low,high) = accuracy[name]
        speed = n*args.epochs/statistics.median(seconds[name])
        ratio = statistics.median(a/b for a,b in zip(seconds[first], seconds[name]))
        print(f'| {name} | {speed:.1f} | {ratio:.2f} | {value:.3f} | {low:.3f} to {high:.3f} |')

if __name__ == '__main__': main()
