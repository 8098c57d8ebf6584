"""Make one of the models of a plan of `pronto study`, from verses of train

    python benchmarks/plan_models.py BIBLE=all BIBLE=450 --share .25 --kind student --teacher MODEL -o FOLDER

A student learns from the teacher, see `distillation.py`. A masked model is a small BERT, and a causal one a
small GPT-2; they learn from the verses alone, and have the heads that perplexity, memory and prompting need.
"""
import argparse, json
from pathlib import Path
from distillation import Distillation, distil, share_of, verses_to_read
from pronto.core.files import write_aside
from pronto.lab.modeling.pretrain import pretrain

def add_verses(path:Path, read:list[dict]): # Of a manifest
    "Say how much of each translation was read"
    made = json.loads(path.read_text())
    made |= dict(verses=[*map(len, read)], letters=[sum(map(len, one.values())) for one in read])
    with write_aside(path) as aside: aside.write_text(json.dumps(made, indent=1) + '\n')

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('bibles', nargs='+', metavar='BIBLE=VERSES', help='a translation, and how many verses may be read')
    add('--share', type=float, required=True), add('--kind', required=True), add('--teacher', required=True)
    add('-o', '--out', type=Path, required=True)
    add('--epochs', type=float, default=Distillation.epochs), add('--bf16', action='store_true')
    add('--steps', type=int, default=3000), add('--vocab', type=int, default=8000)
    args = parser.parse_args()
    given = (bible.rpartition('=') for bible in args.bibles)
    verses = verses_to_read({path: None if n == 'all' else int(n) for path,_,n in given})
    read = share_of(verses, args.share)
    texts, how = [text for one in read for text in one.values()], dict(progress=args.out.name)
    if args.kind == 'student':
        distil(args.teacher, verses, args.out, args.share, epochs=args.epochs, bf16=args.bf16, **how)
    else:
        pretrain(texts, args.out, kind=args.kind, steps=args.steps, vocab_size=args.vocab, **how)
    add_verses(args.out/'manifest.json', read)

if __name__ == '__main__': main()
