"""Fine-tuning as the paper writes it beside ours, on the same data and from the same model: prints a Markdown table

    python benchmarks/train.py DATASET_DIR MODEL [--task SM] [--limit 1200] [--epochs 1] [--rounds 3] [--threads 1]

(a) is what one writes from section 5.2 with the classes of transformers alone: batches of 16 in random order, each padded to its longest by the
tokenizer's collator, fp32. (b) is `pronto.modeling.train.fine_tune_dataset` with `recipe="robust"`, without restarts, and the same number of epochs. Both train, score dev after every
epoch and answer test. They take turns, and medians of the rounds are printed. What is loading and tokenising counts for both.
"""
import argparse, statistics, tempfile, time

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments, set_seed
from pronto.datasets.loading import load_dataset_folder
from pronto.modeling.recipes import find_recipe
from pronto.runs.store import chapters_of
from pronto.core.stats import score
from pronto.datasets.tasks import find_task
from pronto.modeling.architectures import quiet
from pronto.modeling.train import fine_tune_dataset, task_rows


def as_written(dataset, model, task, limit, epochs, seed):
    "Section 5.2 of the paper: the answers on test"
    parts = task_rows(dataset, task, limit)
    tokenizer = AutoTokenizer.from_pretrained(model)
    set_seed(seed)
    net = AutoModelForSequenceClassification.from_pretrained(model, num_labels=len(task.labels))
    rows = {s: [tokenizer(r.text, truncation=True) | {'labels': task.labels.index(task.training_label(r.label))} for r in part] for s,part in parts.items()}
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, learning_rate=2e-5, per_device_train_batch_size=16, weight_decay=0.01, num_train_epochs=epochs, eval_strategy='epoch', save_strategy='no',
                                      logging_strategy='no', report_to='none', disable_tqdm=True, seed=seed, use_cpu=not torch.cuda.is_available(), label_names=['labels'])
        trainer = Trainer(net, arguments, DataCollatorWithPadding(tokenizer), [dict(r) for r in rows['train']], [dict(r) for r in rows['dev']])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return [task.labels[i] for i in trainer.predict([dict(r) for r in rows['test']]).predictions.argmax(-1)]

def ours(dataset, model, task, limit, epochs, seed):
    recipe = find_recipe('robust', restarts=0)
    return fine_tune_dataset(dataset, model, task, recipe, seed=seed, epochs=epochs, limit=limit).predictions

def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    add = parser.add_argument
    add('dataset'); add('model'); add('--task', default='SM', help='a task of single verses')
    for name,default in ('limit',1200), ('epochs',1), ('rounds',3), ('threads',1): add(f'--{name}', type=int, default=default)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    dataset, task = load_dataset_folder(args.dataset), find_task(args.task)
    parts = task_rows(dataset, task, args.limit)
    n = len(parts['train'])*args.epochs
    gold = [task.training_label(r.label) for r in parts['test']]
    seconds, accuracy = {as_written: [], ours: []}, {}
    with quiet():
        for seed in range(args.rounds):
            for how in seconds:
                start = time.perf_counter()
                answers = how(dataset, args.model, task, args.limit, args.epochs, seed)
                seconds[how].append(time.perf_counter() - start)
                value, interval = score(task.labels, gold, answers, chapters_of(parts['test']))
                accuracy.setdefault(how, (value['accuracy'], interval['accuracy']))
    ratio = statistics.median(a/b for a,b in zip(*seconds.values()))
    print(f'{task.abbr}, {len(parts["train"])} verses of train, {args.epochs} epochs, {args.threads} threads, {args.rounds} rounds\n')
    print('|  | sequences/s | accuracy | 95 % interval |\n|---|--:|--:|--:|')
    for how,name in (as_written, '(a) as the paper writes it'), (ours, '(b) ours'):
        value, (low,high) = accuracy[how]
        print(f'| {name} | {n/statistics.median(seconds[how]):.1f} | {value:.3f} | {low:.3f} to {high:.3f} |')
    print(f'\n(b) is {ratio:.2f} times as fast as (a) (median of the rounds).')

if __name__ == '__main__': main()
