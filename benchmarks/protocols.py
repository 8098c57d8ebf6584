"""Run every protocol on real translations and record what each costs

    python benchmarks/protocols.py BIBLES_DIR ANNOTATIONS TEACHER -o OUT [--stage NAME]... [--model DIR]...

BIBLES_DIR holds the translations of `BIBLES`, ANNOTATIONS is what `pronto annotate` wrote, and TEACHER is
an English sentence encoder of the BERT family. The stages, in order:
  build          datasets with parallel splits, and with random ones; what a look-up, the order of verses
                 and the nearest verse score on them (OUT/tables/shortcuts.csv)
  models         students of the teacher, by `distillation.py`, on verses of train only: one
                 without training, one after a fifth of a pass, one after 1.5 passes; and random weights
  probe ... mixes   the runs, through the `pronto` command
  tables         the tables of all protocols; `benchmarks/power.py` says what can be told apart, and
                 `benchmarks/findings.py` makes sentences of them
OUT/seconds.tsv says what each command took.
Commands that were done before are quick to repeat, because their runs are recorded.
"""
import argparse, json, random, subprocess, time
from pathlib import Path

# Code, language, verses that students learn from (all of train if empty), and path below BIBLES_DIR
BIBLES = """
engoeb      eng    all  osis/eng-us-oeb.osis.xml
fralsg      fra    all  usfm/fraLSG
grcbyz      grc    all  csv/byz
copboh      cop    all  ces/Coptic-NT.xml
sycpes      syc    all  ces/Syriac-NT.xml
chrnt       chr    all  usfx/chr-cherokee.usfx.xml
gujnt       guj    all  ces/Gujarati-NT.xml
ukrnt       ukr    all  ces/Ukranian-NT.xml
cmncuv      cmn    all  usfx/chi-cuv.usfx.xml
jpn1965     jpn    all  beblia/Japanese1965Bible.xml
ojint       oji    all  ces/Ojibwa-NT.xml
swhnt       swh    all  ces/Swahili-NT.xml
eusnt       eus    all  ces/Basque-NT.xml
indtsi      ind    all  usfm/id_tsi
lavnt       lav    450  osis/lav-latvian.osis.xml
ewent       ewe    450  ces/Ewe-NT.xml
zulnt       zul    60   ces/Zulu-NT.xml
quent       que    60   ces/Quichua-NT.xml
wolnt       wol    0    ces/Wolof-NT.xml
qucnt       quc    0    ces/K'iche'-NT.xml
engweb      eng    all  usfm/eng-web
engylt      eng    0    zefania/eng-ylt.zefania.xml
engwebster  eng    0    vpl/engwebster_nt_vpl.txt
engt4t      eng    0    usfm/eng_t4t
"""
FEW = 'engoeb fralsg ukrnt cmncuv swhnt gujnt'.split() # Where all models are compared
REST = 'grcbyz chrnt sycpes jpn1965 lavnt zulnt wolnt'.split()
FURTHER = 'ewent quent qucnt engylt engwebster engt4t'.split() # For tiers, and for the spread in English
SEEDED = 'engoeb swhnt'.split() # Where the student is trained with three seeds
TUNED = '--recipe tiny --epochs 3 --bf16 yes --limit 500'.split()

def bibles(): # Code, language, verses, path
    return [tuple(line.split(maxsplit=3)) for line in BIBLES.strip().splitlines()]

def build_commands(args):
    for splits,folder in ('parallel', args.data), ('random', args.out/'random'):
        for code,language,_,path in bibles():
            yield ['build', '-a', args.annotations, '-b', str(args.bibles/path), '-o', str(folder/code),
                   '--code', code, '--splits', splits, '--language', language]

def write_shortcuts(args):
    "What simple predictors score on the pairs, by kind of splits"
    from pronto.core.tables import csv_text
    rows, folders = [], (args.data, args.out/'random')
    for path in (p for folder in folders for p in sorted(folder.glob('*/manifest.json'))):
        made = json.loads(path.read_text(encoding='utf-8'))
        if made['code'] not in FEW + REST + ['engweb']: continue
        for task,stem in ('SS','same_sense'), ('SAC','same_arg_count'):
            found = {name: made['predictors'][stem][name] for name in ('lookup','order','nearest')}
            rows.append(dict(code=made['code'], splits=made['splits'], task=task) | found)
    write_table(args, 'shortcuts.csv', csv_text(rows))

def write_table(args, name, text):
    (args.out/'tables').mkdir(exist_ok=True)
    (args.out/'tables'/name).write_text(text, encoding='utf-8')

def training_verses(folder):
    "The verses of each translation that students learn from; the first is English"
    from pronto.core.refs import NT_BOOKS
    from distillation import verses_by_ref
    rng, found = random.Random(0), {}
    for code,_,most,path in bibles():
        if most == '0': continue
        verses = {r: text for r,text in verses_by_ref(folder/path).items() if r.book in NT_BOOKS}
        refs = sorted(verses) if most == 'all' else sorted(rng.sample(sorted(verses), int(most)))
        found[code] = {r: verses[r] for r in refs}
    return found

def write_shares(verses, out):
    "The share of each language in the students' training data, as the question `tiers` reads it"
    languages = {code: language for code,language,*_ in bibles()}
    letters = {}
    for code,found in verses.items():
        letters[languages[code]] = letters.get(languages[code], 0) + sum(map(len, found.values()))
    names = 'student', 'student-fifth', 'student-start'
    rows = [f'{m}\t{x}\t{100*letters.get(x, 0)/sum(letters.values()):.4f}\n'
            for m in names for x in sorted({*languages.values()})]
    out.write_text('model\tlanguage\tshare\n' + ''.join(rows))

def make_models(args):
    from distillation import distil
    from pronto.modeling.pretrain import pretrain
    verses = training_verses(args.bibles)
    write_shares(verses, args.out/'shares.tsv')
    for name,epochs in ('student-start', 0), ('student-fifth', .2), ('student', 1.5):
        if (args.models/name).exists(): continue
        began = time.monotonic()
        distil(args.teacher, list(verses.values()), args.models/name, epochs=epochs, bf16=args.bf16,
               progress=name)
        note_seconds(args, 'models', time.monotonic() - began, name)
    texts = [text for found in verses.values() for text in found.values()]
    if not (args.models/'random').exists():
        pretrain(texts, args.models/'random', steps=0, vocab_size=16000, layers=3, width=384, heads=12)

def named(flag, values): return [x for v in values for x in (flag, str(v))]

class Commands:
    "The commands of each stage"
    def __init__(self, args): self.args = args

    def data(self, codes): return [str(self.args.data/code) for code in codes]

    def evaluate(self, protocol, models, targets, tasks, *options, sources=()):
        yield ['eval', *self.data(targets), '--protocol', protocol, *named('-m', models),
               *named('-t', tasks), *named('--train', self.data(sources)), '--runs', str(self.args.runs),
               *options]

    def probe(self):
        "On all rows; and all models on the rows that they are fine-tuned on"
        yield from self.evaluate('probe', [self.args.student], [*FEW, *REST, 'engweb', *FURTHER],
                                 ['PNS','SM','NMC','SS'])
        yield from self.evaluate('probe', self.args.compared, FEW, ['PNS','NMC'], '--limit', '500')

    def transfer_probe(self):
        everything = [*FEW, *REST, 'engweb']
        yield from self.evaluate('transfer-probe', [self.args.student], everything, ['PNS','SS'],
                                 sources=everything)

    def retrieval(self):
        for model,targets in (self.args.student, [*FEW, *REST, 'engweb']), (self.args.teacher, FEW):
            yield from self.evaluate('retrieval', [model], targets, [], sources=['engoeb'])

    def in_language(self):
        yield from self.evaluate('in-language', self.args.compared, FEW, ['PNS'], *TUNED)
        yield from self.evaluate('in-language', [self.args.student], REST, ['PNS'], *TUNED)

    def seeds(self):
        "How much scores differ between trainings of the same model"
        yield from self.evaluate('in-language', [self.args.student], SEEDED, ['PNS','SM','NMC','SS'], *TUNED,
                                 '--seeds', '3')

    def transfer(self):
        yield from self.evaluate('transfer', [self.args.student], [*FEW, *REST], ['PNS'], *TUNED,
                                 sources=['engoeb'])

    def few_shot(self):
        yield from self.evaluate('few-shot', [self.args.student], ['fralsg','ukrnt','swhnt'], ['PNS'],
                                 *TUNED, '--sizes', '50,100', '--draws', '2', sources=['engoeb'])

    def mixes(self):
        yield from self.evaluate('mixes', [self.args.student], ['engoeb','fralsg','ukrnt'], ['PNS'], *TUNED)

    def tables(self):
        write = 'tables', '--runs', str(self.args.runs), '-o', str(self.args.out/'tables')
        for protocol in 'transfer', 'transfer-probe', 'few-shot', 'mixes':
            yield [*write, '--protocol', protocol]
        yield [*write, '--protocol', 'probe', '--tiers', str(self.args.out/'shares.tsv')]
        yield [*write, '--protocol', 'probe', '--items']
        yield [*write, '--protocol', 'transfer-probe', '--typology']

def write_ranks(args):
    "Does the probe rank models as fine-tuning does? One seed of each, as some models have no more"
    from pronto.core.pictures import save_picture
    from pronto.core.tables import csv_text
    from pronto.reporting.questions.probe import rank_agreement, plot_ranks, rank_table
    from pronto.runs.store import read_runs
    found = rank_agreement([r for r in read_runs(args.runs) if r.seed == 0])
    write_table(args, 'ranks.md', rank_table(found).markdown() + '\n')
    save_picture(plot_ranks(found), args.out/'tables'/'ranks.png', bbox_inches='tight')
    rows = [dict(task=a.task, recipes=a.recipes, limit=a.limit, model=model, bible=bible,
                 probe=round(float(a.scores[0,i,j]), 4), tuned=round(float(a.scores[1,i,j]), 4))
            for a in found for i,model in enumerate(a.models) for j,bible in enumerate(a.bibles)]
    write_table(args, 'ranks.csv', csv_text(rows))

STAGES = ('build models probe transfer-probe retrieval in-language seeds transfer few-shot mixes '
          'tables').split()

def note_seconds(args, stage, seconds, what):
    with open(args.out/'seconds.tsv', 'a', encoding='utf-8') as f:
        f.write(f'{stage}\t{seconds:.0f}\t{what}\n')

def run(args, stage, command):
    "One command of `pronto`, with its output in a log"
    began = time.monotonic()
    with open(args.out/f'{stage}.log', 'a', encoding='utf-8') as log:
        done = subprocess.run(['pronto', *map(str, command)], stdout=log, stderr=log)
    about = ' '.join(Path(x).name for x in map(str, command))
    note_seconds(args, stage, time.monotonic() - began, about if done.returncode == 0 else f'FAILED {about}')

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('bibles', type=Path), add('annotations', type=Path), add('teacher', type=Path)
    add('-o', '--out', type=Path, required=True)
    add('--stage', action='append', choices=STAGES)
    add('--model', action='append', type=Path, default=[], help='a further model to compare')
    add('--bf16', action='store_true', help='distil with 16-bit arithmetic')
    args = parser.parse_args()
    args.data, args.models, args.runs = (args.out/x for x in ('datasets','models','runs'))
    args.models.mkdir(parents=True, exist_ok=True)
    args.student = args.models/'student'
    students = [args.models/name for name in ('student-start','student-fifth','student')]
    args.compared = [*students, args.teacher, args.models/'random', *args.model]
    for stage in args.stage or STAGES:
        if stage == 'models': make_models(args)
        elif stage == 'build':
            for command in build_commands(args): run(args, stage, command)
            write_shortcuts(args)
        else: [run(args, stage, c) for c in getattr(Commands(args), stage.replace('-', '_'))()]
        if stage == 'tables': write_ranks(args)

if __name__ == '__main__': main()
