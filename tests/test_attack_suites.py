"""Commands on other benchmarks, given damaged files, end in a result or a line; results equal those of a reference"""
import json, shutil
from typing import Callable, NamedTuple

import pytest

from attack import attack, keep
from conftest import run_results
from pronto.cli import main
from pronto.core.files import InputError

class Refused(InputError): "The command ended with a line and status 1"

def command(capsys, *args):
    "What a command prints; raises `Refused` with what it says"
    status = main(list(map(str, args)))
    told = capsys.readouterr()
    if status == 0: return told.out
    assert status == 1 and told.err.count('\n') >= 1 and 'Traceback' not in told.err, told.err
    raise Refused('', told.err.splitlines()[-1])

def lines_of(path):
    text = path.read_bytes().decode('utf-8-sig').replace('\r\n', '\n').replace('\r', '\n')
    return text.removesuffix('\n').split('\n')

def rows_of(path): return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines() if line] if path.is_file() else []

# XTREME: Tatoeba's order of queries, and each question with its answers

def raw_xtreme(folder):
    from test_suites import squad
    (folder/'in'/'tatoeba').mkdir(parents=True)
    (folder/'in'/'xquad').mkdir()
    for side,text in ('deu','Es regnet.\nKim kam.\nEs schneit.\n'), ('eng','Then it rained.\nKim came.\nAh, snow.\n'):
        (folder/'in'/'tatoeba'/f'tatoeba.deu-eng.{side}').write_text(text)
    (folder/'in'/'xquad'/'xquad.de.json').write_text(squad(('Bonn', 3), ('Kim', 9), ('Köln', 22)))
    return 'in'

def import_xtreme(path, out, capsys):
    command(capsys, 'import', 'xtreme', path, '-o', out)
    foreign, english = (path/'tatoeba'/f'tatoeba.deu-eng.{side}' for side in ('deu','eng'))
    made = rows_of(out/'de'/'tatoeba_test.jsonl')
    if made:
        pairs = sorted((line.strip(), i) for i,line in enumerate(lines_of(english)))
        pairs.sort(key=lambda pair: pair[0])
        assert [(row['text'], row['matches']) for row in made] == [(text, [str(i)]) for text,i in pairs]
        pool = [row['text'] for row in rows_of(out/'de'/'tatoeba_test.pool.jsonl')]
        assert pool == [line.strip() for line in lines_of(foreign)]
        labels = (out/'labels'/'tatoeba'/'test-de.tsv').read_text().split()
        assert labels == [str(i) for _,i in pairs]
    asked = {}
    for article in json.loads((path/'xquad'/'xquad.de.json').read_bytes().decode('utf-8-sig'))['data']:
        for part in article['paragraphs']:
            for qa in part['qas']: asked[qa['id']] = (qa['question'], part['context'], [a['text'] for a in qa['answers'] if a['text']])
    made = [*rows_of(out/'de'/'xquad_test.jsonl'), *rows_of(out/'de'/'xquad_test.unlabelled.jsonl')]
    assert {row['id']: (row['question'], row['context'], [a['text'] for a in row['answers']]) for row in made} == asked
    for row in made:
        for a in row['answers']: assert a['start'] is None or row['context'][a['start']:].startswith(a['text'])

# MELA: its rows, by another reader of CSV

def mela_folder(folder):
    table = 'Chapter,sentence,label\n' + ''.join(f'{i},"Kim, who ""left"" {i}.",{i % 2}\n' for i in range(6))
    for code,splits in dict(en=('train','dev','test'), isl=('dev',)).items():
        (folder/'in'/'v1.0'/code).mkdir(parents=True)
        for split in splits: (folder/'in'/'v1.0'/code/f'{split}.csv').write_text(table)
    return 'in'

def import_mela(path, out, capsys):
    import pandas
    command(capsys, 'import', 'mela', path, '-o', out)
    for code,language in ('en','en'), ('isl','is'):
        for table in sorted((path/'v1.0'/code).glob('*.csv')):
            read = pandas.read_csv(table, dtype=str, keep_default_na=False, skip_blank_lines=True)
            kept = [(' '.join(s.split()), label) for s,label in zip(read['sentence'], read['label']) if s.strip()]
            made = [line.split('\t') for line in (out/language/f'mela_{table.stem}.tsv').read_text().split('\n')[:-1]]
            assert [(' '.join(s.split()), label) for s,label in made] == kept

# A translation: each text is that of the table, under its own key

def translated(folder):
    from test_attack import dataset
    dataset(folder)
    (folder/'in').mkdir()
    (folder/'toy').rename(folder/'in'/'toy')
    where = {}
    for table in (folder/'in'/'toy').glob('*_*.tsv'):
        for cells in (line.split('\t') for line in table.read_text().splitlines()):
            where |= {cells[2]: cells[0]} if len(cells) == 3 else {cells[4]: cells[1], cells[5]: cells[2]}
    (folder/'in'/'t.tsv').write_text(''.join(f'{ref}\t{text.replace("la", "le")}\n' for ref,text in where.items()))
    return 'in'

def import_translation(path, out, capsys):
    command(capsys, 'import', 'translation', path/'toy', path/'t.tsv', '-o', out, '--language', 'fra')
    rows = [(row[0], ' '.join(row[1].split())) for line in lines_of(path/'t.tsv') if len(row := line.split('\t')) == 2]
    said = {key: text for key,text in rows if text}
    assert {pair for pair in rows if pair[1]} == {*said.items()} # No key has two translations
    for table in sorted(out.glob('*_*.tsv')):
        for line in table.read_text().split('\n')[:-1]:
            *_, a, b, c = line.split('\t')
            is_pair = table.name.startswith('same_')
            where = {b: line.split('\t')[1], c: line.split('\t')[2]} if is_pair else {c: a}
            assert all(said[ref] == text for ref,text in where.items())

# A submission: accuracy counted one by one

def submitted(folder):
    from test_suites import submission
    submission(folder/'in', ('xnli','tatoeba','mlqa'))
    return 'in'

def score(path, out, capsys):
    command(capsys, 'xtreme', 'score', '--predictions', path/'predictions', '--labels', path/'labels', '-o', out/'s.json')
    found = json.loads((out/'s.json').read_text())
    for task in 'xnli', 'tatoeba':
        for language,value in found.get(task, {}).get('accuracy', {}).items():
            name = f'{task}/test-{language}.tsv'
            true, said = ([line.strip() for line in open(path/side/name, encoding='utf-8-sig')] for side in ('labels','predictions'))
            assert value == pytest.approx(100*sum(a == b for a,b in zip(true, said))/len(true)) and len(true) == len(said)
        if (of_task := found.get(task, {})) and 'avg_accuracy' in of_task:
            assert of_task['avg_accuracy'] == pytest.approx(sum(of_task['accuracy'].values())/len(of_task['accuracy']))

# What is predicted stands in the order of the test set

def predictable(folder):
    raw_xtreme(folder)
    main(['import', 'xtreme', str(folder/'in'), '-o', str(folder/'out')])
    shutil.rmtree(folder/'in')
    shutil.rmtree(folder/'out'/'labels')
    return 'out'

def predict(path, out, capsys, model):
    command(capsys, 'xtreme', 'predict', path, '-m', model, '-t', 'tatoeba', '-o', out, '--runs', out/'runs')
    said, pool = (out/'tatoeba'/'test-de.tsv').read_text().split(), rows_of(path/'de'/'tatoeba_test.pool.jsonl')
    assert len(said) == len(rows_of(path/'de'/'tatoeba_test.jsonl')) and {*said} <= {row['id'] for row in pool}

# Human and machine-translated test sets: the accuracies of the records

def compared(folder):
    from pronto.runs.store import RunKey, write_record
    (folder/'in'/'mt').mkdir(parents=True)
    (folder/'in'/'mt'/'manifest.json').write_text('{"code": "de-mt", "human": "de", "chrf": 50.0}')
    for code,accuracy in ('de', .75), ('de-mt', .5):
        run = RunKey(code, 'tiny', 'm', 'sentence_mood', 'd', protocol='transfer', hyperparameters=dict(epochs=3),
                     trained_on=[dict(code='en', dataset_hash='d')])
        rows = [dict(ref=f'MRK 1:{v}', label='declarative', predicted='imperative') for v in (1,2,3)]
        write_record(run, folder/'in'/'runs', run_results(accuracy=accuracy), rows)
    return 'in'

def mt_tables(path, out, capsys):
    told = command(capsys, 'mt', 'tables', path/'mt', '--runs', path/'runs', '-o', out)
    about = json.loads((path/'mt'/'manifest.json').read_text())
    by_code = {}
    for p in (path/'runs').glob('*/*/*/*.json'):
        record = json.loads(p.read_text())
        by_code[record['dataset']] = f'{100*record["accuracy"]:.1f}'
    row = next(line for line in told.splitlines() if line.startswith('| tiny'))
    assert f'| {by_code[about["human"]]} | {by_code[about["code"]]} |' in row and f'| {about["chrf"]:.1f} |' in row

class Attacked(NamedTuple):
    name:str
    make:Callable
    read:Callable

ATTACKED = [Attacked('import xtreme', raw_xtreme, import_xtreme), Attacked('import mela', mela_folder, import_mela),
            Attacked('import translation', translated, import_translation), Attacked('xtreme score', submitted, score),
            Attacked('xtreme predict', predictable, predict), Attacked('mt tables', compared, mt_tables)]

@pytest.fixture(scope='module')
def model(tmp_path_factory):
    from test_models import toy_bert
    return toy_bert(tmp_path_factory.mktemp('models')/'toy')

def tried(it, folder, capsys, more, **how):
    (folder/'good').mkdir()
    name, out = it.make(folder/'good'), folder/'made'
    def read(path):
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(exist_ok=True)
        it.read(path, out, capsys, *more)
    read(folder/'good'/name)
    found, failures = attack(read, folder/'good', name, accepted=Refused, **how)
    keep(failures, folder/'failed')
    shown = '\n'.join(f'{file}: {what}' for file,what,_ in failures[:5])
    assert not failures, f'{it.name}: {len(failures)} of {sum(found.values())} failed; {folder/"failed"}\n{shown}'
    return found

@pytest.mark.parametrize('it', ATTACKED, ids=lambda it: it.name)
def test_commands_on_other_benchmarks_given_damaged_files(it, tmp_path, capsys, model):
    more = [model] if it.name == 'xtreme predict' else []
    found = tried(it, tmp_path, capsys, more, n=15)
    assert found['result'] and found['refused']

@pytest.mark.slow
@pytest.mark.parametrize('it', ATTACKED, ids=lambda it: it.name)
def test_commands_on_other_benchmarks_given_many_damaged_files(it, tmp_path, capsys, model):
    more = [model] if it.name == 'xtreme predict' else []
    assert sum(tried(it, tmp_path, capsys, more, n=300, seed=1).values()) == 300
