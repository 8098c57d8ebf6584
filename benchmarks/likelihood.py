"""Compare choosing by likelihood with EleutherAI's harness on the same rows and model

    python benchmarks/likelihood.py DATASET_DIR [-m MODEL] [--rows 250] [--rounds 3]

The dataset has choices. Without a model there is a GPT-2 of MiniLM's width (6 layers of 384) with random
weights and a vocabulary of 8,000 from the dataset's text.
(a) is `loglikelihood` of the harness, which gets
the context and each text of the rows of a task and, where there is a context, each text alone; batches of 16,
as many as ours. (b) is `pronto.modeling.likelihood.choice_values`. They take turns; the table has medians of
processor seconds of one thread, their ratio, and the largest difference between the numbers.
"""
import argparse, statistics, tempfile, time
from pathlib import Path

import numpy as np
import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from transformers import GPT2Config, GPT2LMHeadModel, set_seed
from pronto.datasets.loading import load_verses, open_dataset, sample
from pronto.datasets.tasks import ChoiceTask
from pronto.modeling.likelihood import choice_values, load_chooser
from pronto.lab.modeling.pretrain import learn_vocabulary


def new_model(dataset, folder):
    "A GPT-2 with random weights"
    texts = list(load_verses(dataset, 'text.tsv').values())
    tokenizer = learn_vocabulary(texts, 8000, 512, ('input_ids', 'attention_mask'))
    tokenizer.bos_token = tokenizer.cls_token
    tokenizer.backend_tokenizer.post_processor = None # The harness would split texts after it
    set_seed(0)
    sizes = dict(n_positions=512, n_embd=384, n_layer=6, n_head=12)
    net = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), bos_token_id=tokenizer.cls_token_id, **sizes))
    for part in tokenizer, net:
        part.save_pretrained(folder)
    return folder

def theirs(model, rows):
    "The logarithms of each choice of each row by the harness, after a context less those without it"
    def values(pairs):
        asked = [Instance('loglikelihood', {}, pair, i) for i,pair in enumerate(pairs)]
        return [value for value,_ in model.loglikelihood(asked, disable_tqdm=True)]
    joint = [(row.context, f' {text}' if row.context else text) for row in rows for text in row.choices]
    found = np.array(values(joint))
    if rows[0].context:
        found -= values([('', text) for _,text in joint])
    return found

def timed(function, *args):
    began = time.process_time()
    found = function(*args)
    return found, time.process_time() - began

def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('dataset')
    parser.add_argument('-m', '--model')
    parser.add_argument('--rows', type=int, default=250)
    parser.add_argument('--rounds', type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dataset = open_dataset(args.dataset).load()
    with tempfile.TemporaryDirectory() as folder:
        model = args.model or str(new_model(dataset, Path(folder)/'gpt'))
        reader = load_chooser(model, 'cpu')
        harness = HFLM(pretrained=model, batch_size=16, device='cpu')
    print('| task | rows | the harness | PrOnto | ratio | largest difference |\n|---|--:|--:|--:|--:|--:|')
    tasks = {stem: sample(parts['test'], args.rows) for stem,parts in dataset.tasks.items()
             if isinstance(dataset.known[stem], ChoiceTask)}
    seconds = {stem: np.zeros((args.rounds, 2)) for stem in tasks}
    far = {}
    for i in range(args.rounds):
        reader.known.clear() # It is kept from task to task only
        for stem,rows in tasks.items():
            expected, seconds[stem][i,0] = timed(theirs, harness, rows)
            found, seconds[stem][i,1] = timed(choice_values, reader, rows)
            far[stem] = np.abs(np.concatenate(found.sums) - expected).max()
    for stem,rows in tasks.items():
        print_row(stem, len(rows), seconds[stem], f'{far[stem]:.0e}')
    print_row('all', '', sum(seconds.values()), '')

def print_row(name, n, seconds, far):
    a, b = (statistics.median(column) for column in seconds.T)
    print(f'| {name} | {n} | {a:.1f} | {b:.1f} | {b/a:.2f} | {far} |')

if __name__ == '__main__':
    main()
