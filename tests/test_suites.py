"Other benchmarks: XTREME's evaluation, readers of its files and of MELA's, kinds of examples"
import json, re, shutil, zipfile

import pytest

from pronto.cli import main
from pronto.core.files import InputError
from pronto.runs.schema import Run
from pronto.runs.store import read_runs
from pronto.lab.suites.predicting import languages_of, part_to_predict
from pronto.lab.suites.scoring import XTREME, score_submission
from pronto.lab.suites.xtreme_files import read_xtreme

# XTREME's evaluation

SAME = dict(accuracy='1\n0\n', span_f1='B-PER\nO\n\nO\nB-LOC\n', bitext_f1='a-1\ten-1\na-2\ten-2\n')

def label_file(task):
    if task.group != 'qa': return SAME[task.metric]
    asked = [dict(id=f'q{i}', question='?', answers=[dict(text='Bonn', answer_start=0)]) for i in (1,2)]
    return json.dumps(dict(version='1.1', data=[dict(paragraphs=[dict(context='Bonn.', qas=asked)])]))

def submission(folder, tasks=XTREME, leave_out=()):
    "Labels, and predictions that are half right"
    for name in tasks:
        task = XTREME[name]
        half = dict(accuracy='1\n1\n', span_f1='B-PER\nO\n\nO\nO\n', bitext_f1='a-1\ten-1\na-2\ten-9\n').get(task.metric)
        for side,text in ('labels', label_file(task)), ('predictions', half or '{"q1": "Bonn", "q2": "Rhine"}'):
            (folder/side/name).mkdir(parents=True)
            for language in task.languages:
                if (name, language) in leave_out and side == 'predictions': continue
                (folder/side/name/f'test-{language}.{task.ending}').write_text(text, encoding='utf-8')
    return folder/'predictions', folder/'labels'

def test_a_whole_submission(tmp_path):
    found = score_submission(*submission(tmp_path))
    figures = {name: scores.averages['metric'] for name,scores in found.tasks.items()}
    assert figures == pytest.approx(dict.fromkeys(XTREME, 50.) | dict.fromkeys(('udpos','panx'), 2/3*100))
    assert found.groups.keys() == {'all_task','classification','tagging','qa','retrieval'}
    assert found.groups['all_task'] == pytest.approx(sum(figures.values())/9)

def test_averages_only_where_complete(tmp_path, capsys):
    predictions, labels = submission(tmp_path, ('xnli','pawsx','tatoeba'), leave_out=[('xnli','sw'), ('xnli','ur')])
    assert main(['xtreme','score','--predictions',str(predictions),'--labels',str(labels),'-o',str(tmp_path/'s.json')]) == 0
    told = capsys.readouterr()
    record = json.loads((tmp_path/'s.json').read_text())
    assert 'avg_metric' not in record['xnli'] and record['xnli']['missing'].keys() == {'sw','ur'}
    assert record['pawsx']['avg_metric'] == 50 and record.keys() == {'xnli','pawsx','tatoeba'}
    assert 'xnli: skipped, no predictions in sw, ur; so it has no average' in told.err
    assert 'udpos: not scored' in told.err and '| pawsx | 7 of 7 | accuracy | 50.00 |' in told.out

def test_test_sets_as_downloaded_have_no_labels_to_score(tmp_path):
    predictions, labels = submission(tmp_path, ('xquad',))
    for path in (labels/'xquad').iterdir(): path.write_text(path.read_text().replace('"Bonn"', '""'))
    assert set(score_submission(predictions, labels).tasks['xquad'].missing.values()) == {'no answers in the labels'}

@pytest.mark.parametrize('name, text, said', [
    ('xnli/test-de.tsv', '1\n', 'has 1 examples, but the labels have 2; predict the whole test set'),
    ('xnli/test-deu.tsv', '1\n', 'is of the same language as test-de.tsv'),
    ('panx/test-de.tsv', 'O\n\nO\nO\n', 'sentence 1 has 1 tags, but the labels have 2'),
    ('mlqa/test-de.json', '["Bonn"]', 'is not an object from question to answer'),
    ('mlqa/test-de.json', '{"q1": ["Bonn"]}', 'is not an object from question to answer')])
def test_damaged_predictions(tmp_path, name, text, said):
    predictions, labels = submission(tmp_path, ('xnli','panx','mlqa'))
    (predictions/name).write_text(text)
    with pytest.raises(InputError, match=said) as e: score_submission(predictions, labels)
    assert name in str(e.value)

def test_tags_without_hyphens_are_spans_of_their_whole_name(tmp_path):
    "As the version of seqeval has it whose figures XTREME publishes"
    for side,tags in ('labels','CCONJ\nSCONJ\nVERB\n'), ('predictions','CCONJ\nVERB\nVERB\n'):
        (tmp_path/side/'udpos').mkdir(parents=True)
        (tmp_path/side/'udpos'/'test-de.tsv').write_text(tags)
    found = score_submission(tmp_path/'predictions', tmp_path/'labels')
    assert found.tasks['udpos'].scores['f1']['de'] == pytest.approx(40)

# XTREME's files

def squad(*answers, context='In Bonn, Kim said: "Köln".'):
    "Questions q0, q1, ... with one answer each: its text and its place"
    asked = [dict(id=f'q{i}', question='Wo?', answers=[dict(text=text, answer_start=at)]) for i,(text,at) in enumerate(answers)]
    return json.dumps(dict(version='1.1', data=[dict(title='t', paragraphs=[dict(context=context, qas=asked)])]), ensure_ascii=False)

def download(folder):
    "All nine tasks as XTREME's script leaves them, with what is hard to read in them"
    tagged = 'Er\t{}\n\u2028x\u3000\t{}\n\nKim\t{}\n'
    bucc = {f'de-en.{split}.{side}': f'{side}-1\tEs "regnet.\n{side}-2\tx\n' for split in ('dev','test') for side in ('de','en')}
    files = {
        'xnli/train-en.tsv': '"He said ""no""."\tHe did.\tcontradictory\r\nA "b" c\td\tneutral\r\n',
        'xnli/dev-de.tsv': 'a\tb\tentailment\r\n', 'xnli/test-de.tsv': '"Er ""kam""."\tb\r\n\u2028c\td\r\n',
        'pawsx/train-en.tsv': 'a\tb\t1\r\nb\ta\t0\r\n', 'pawsx/dev-ja.tsv': 'a\tb\t0\r\n', 'pawsx/test-ja.tsv': 'a\tb\r\n',
        'udpos/train-en.tsv': tagged.format('PRON','X','PROPN'), 'udpos/dev-tl.tsv': tagged.format('PRON','X','PROPN'),
        'udpos/test-tl.tsv': 'Er\nkam\n\nKim\n', 'panx/dev-de.tsv': tagged.format('O','B-LOC','I-PER'),
        'panx/test-de.tsv': 'Er\n\u3000\n\nKim\n', 'panx/train-en.tsv': tagged.format('O','O','B-PER'),
        'squad/train-v1.1.json': squad(('Bonn', 3), ('Köln', 4), ('Rom', 0)), 'squad/dev-v1.1.json': squad(('Bonn', 3)),
        'xquad/xquad.de.json': squad(('', 0), ('', 0)), 'mlqa/MLQA_V1/dev/dev-context-de-question-de.json': squad(('Bonn', 3)),
        'mlqa/MLQA_V1/test/test-context-de-question-de.json': squad(('', 0)),
        'mlqa/MLQA_V1/test/test-context-de-question-en.json': squad(('', 0)),
        'tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.en.train.json': squad(('Bonn', 3), ('Kim', 9)),
        'tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.sw.dev.json': squad(('', 0)),
        'tatoeba/de-en.de': 'Kim kam.\nEs regnet.\n', 'tatoeba/de-en.en': 'It rains.\nKim came.\n',
        'bucc2018/de-en.dev.gold': 'de-2\ten-1\n'}
    for name,text in (files | {f'bucc2018/{name}': text for name,text in bucc.items()}).items():
        (folder/'download'/name).parent.mkdir(parents=True, exist_ok=True)
        (folder/'download'/name).write_text(text, encoding='utf-8', newline='')
    return 'download'

def rows_of(folder, stem, split):
    "The rows of an imported table, with or without labels"
    from pronto.protocols.parts import Part
    from pronto.runs.runner import part_rows
    language = languages_of(folder, stem)[folder.name]
    part = part_to_predict(language, stem) if split == 'test' else Part(language, split)
    return part_rows((part,), language.known[stem]) if part else []

@pytest.fixture
def imported(tmp_path, capsys):
    "The folder that the import writes, and what it says"
    assert main(['import','xtreme',str(tmp_path/download(tmp_path)),'-o',str(tmp_path/'out')]) == 0
    return tmp_path/'out', capsys.readouterr()

def test_all_nine_tasks_are_imported(imported):
    out, told = imported
    rows = dict(line.strip('| ').split(' | ', 1) for line in told.out.splitlines()[2:])
    assert rows == dict(
        bucc2018='mining | 1 | 0 | 2 | 2 | 1', mlqa='questions | 2 | 3 | 1 | 1 | 1', panx='tagging | 2 | 2 | 2 | 2 | 1',
        pawsx='pair | 2 | 2 | 1 | 1 | 1', tatoeba='retrieval | 1 | 0 | 0 | 2 | 1', tydiqa='questions | 2 | 2 | 0 | 1 | 1',
        udpos='tagging | 2 | 2 | 2 | 2 | 1', xnli='pair | 2 | 2 | 1 | 2 | 1', xquad='questions | 2 | 3 | 1 | 2 | 1')
    assert 'xnli: no files for ar, bg' in told.err and 'xquad, en, train: 1 answers moved' in told.err
    assert 'xquad, en, train: 1 answers not in the context' in told.err
    assert {p.name for p in out.iterdir()} == {'en','de','ja','tl','sw','import.json'}

def test_what_is_hard_to_read_in_the_files_of_xtreme(imported):
    out = imported[0]
    rows = lambda language, stem, split: rows_of(out/language, stem, split)
    assert rows('en', 'xnli', 'train')[0][:3] == ('He said "no".', 'He did.', 'contradiction')
    assert rows('en', 'xnli', 'train')[1].text1 == 'A "b" c'
    assert rows('de', 'xnli', 'test')[0][:3] == ('Er "kam".', 'b', '') and len(rows('de', 'xnli', 'test')) == 2
    assert rows('tl', 'udpos', 'dev')[0].tokens == ('Er', '\u2028x\u3000') and rows('tl', 'udpos', 'test')[0].tags is None
    assert [a.start for q in rows('en', 'mlqa', 'train') for a in q.answers] == [3, 20, None]
    assert rows('de', 'xquad', 'test')[0].answers == ()
    assert rows('de', 'bucc2018', 'dev')[1].matches == ('en-1',) and rows('de', 'bucc2018', 'test')[1].matches is None
    assert rows('de', 'tatoeba', 'test')[0].matches is None and len(rows('de', 'tatoeba', 'test')[0].pool) == 2

def test_what_others_saved_is_not_replaced_by_an_import(imported, capsys):
    out = imported[0]
    again = ['import','xtreme',str(out.parent/'download'),'-o',str(out)]
    assert main(again) == 0
    (out/'de'/'notes.txt').write_text('mine')
    assert main(again) == 1 and 'notes.txt in it was not written by PrOnto' in capsys.readouterr().err

@pytest.mark.parametrize('name, text, said', [
    ('xnli/dev-de.tsv', 'a\tb\tyes\n', "line 1: 'yes' is not one of the labels"), ('xnli/dev-de.tsv', 'a\n', 'line 1: has 1 columns'),
    ('xnli/dev-de.tsv', 'a\tb\tneutral\na\tb\n', 'line 2: has no label where other lines have one'),
    ('panx/dev-de.tsv', 'a\tB-MISC\n', "line 1: 'B-MISC' is not one of the tags"), ('udpos/dev-tl.tsv', 'a b c\tX\ty\n', 'line 1'),
    ('xquad/xquad.de.json', '{"data": [{}]}', "it lacks 'paragraphs'"), ('tatoeba/de-en.en', 'x\n', 'has 2 lines, but de-en.en has 1'),
    ('bucc2018/de-en.dev.gold', 'de-2\ten-9\n', "line 1: 'de-2.ten-9' has an id that is in neither text")])
def test_damaged_files_of_xtreme(tmp_path, name, text, said):
    (tmp_path/download(tmp_path)/name).write_text(text)
    with pytest.raises(InputError, match=said): read_xtreme(tmp_path/'download')

def test_tatoeba_is_read_in_the_order_of_the_labels(testdata):
    "The first labels that XTREME's example of a submission has"
    found = read_xtreme(testdata/'xtreme').tables
    first = lambda language: [q.matches[0] for q in found[language]['tatoeba']['test'][:4]]
    assert first('de') == ['367','258','374','529'] and first('af') == ['308','441','713','233']
    assert {lg: len(t['xquad']['test']) for lg,t in found.items() if 'xquad' in t} == dict.fromkeys(('ar','de','en','hi'), 1190)

def test_the_labels_of_an_import_score_a_submission(tmp_path, capsys):
    "Where raw files have them: all right is 100, half of it wrong 50; a test set without labels has no file"
    asked = ('q1', 'Bonn', 3), ('q2', 'Kim', 9)
    rows = [dict(id=id, question='?', answers=[dict(text=text, answer_start=at)]) for id,text,at in asked]
    files = {'xquad/xquad.de.json': json.dumps(dict(data=[dict(paragraphs=[dict(context='In Bonn, Kim.', qas=rows)])])),
             'tatoeba/tatoeba.deu-eng.deu': 'Es regnet.\nKim kam.\n', 'tatoeba/tatoeba.deu-eng.eng': 'Then it rained.\nKim came.\n',
             'panx/test-de.tsv': 'Er\tO\nKim\tB-PER\n\nKöln\tB-LOC\n', 'xnli/test-de.tsv': 'a\tb\n'}
    for name,text in files.items():
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/name).write_text(text)
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 0
    assert 'true labels, for `pronto xtreme score`: panx (1), tatoeba (1), xquad (1)' in capsys.readouterr().err
    wholly = {'xquad/test-de.json': '{"q1": "Bonn", "q2": "Kim"}', 'tatoeba/test-de.tsv': '1\n0\n',
              'panx/test-de.tsv': 'O\nB-PER\n\nB-LOC\n'}
    halves = {'xquad/test-de.json': '{"q1": "Bonn", "q2": "Ulm"}', 'tatoeba/test-de.tsv': '1\n1\n',
              'panx/test-de.tsv': 'O\nB-PER\n\nO\n'}
    for submitted,expected in (wholly, 100), (halves, 50):
        for name,text in submitted.items():
            (tmp_path/'s'/name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path/'s'/name).write_text(text)
        found = score_submission(tmp_path/'s', tmp_path/'out'/'labels').tasks
        assert found['tatoeba'].scores['accuracy']['de'] == found['xquad'].scores['exact_match']['de'] == expected
        assert found['panx'].scores['f1']['de'] == pytest.approx(expected if expected == 100 else 200/3)
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 0 # Labels do not hinder a replacement
    assert not (tmp_path/'out'/'labels'/'xnli').exists()

# MELA and tables of one's own

def mela_zip(folder, encrypted=False):
    "Two languages, one without training data; `encrypted` only sets the flag that says so"
    table = 'Chapter,sentence,label\n1,"Kim, who ""left"".",1\n1,"*Left\nKim",0\n1,,1\n'
    with zipfile.ZipFile(folder/'m.zip', 'w') as z:
        for code,splits in dict(en=('train','dev','test'), isl=('dev',)).items():
            for split in splits: z.writestr(f'data/v1.0/{code}/{split}.csv', table)
        z.writestr('__MACOSX/data/v1.0/en/._dev.csv', 'x')
    if encrypted:
        data = (folder/'m.zip').read_bytes()
        for head,at in (b'PK\3\4', 6), (b'PK\1\2', 8):
            data = b''.join(p if i == 0 else head + p[:at-4] + b'\1' + p[at-3:] for i,p in enumerate(data.split(head)))
        (folder/'m.zip').write_bytes(data)
    return 'm.zip'

def test_mela(tmp_path, capsys):
    assert main(['import','mela',str(tmp_path/mela_zip(tmp_path)),'-o',str(tmp_path/'out')]) == 0
    told = capsys.readouterr()
    assert '| mela | sentence | 2 | 2 | 4 | 2 | 0 |' in told.out
    assert 'v1.0/en/dev: 1 empty sentences left out' in told.err and 'no training data in is' in told.err
    assert rows_of(tmp_path/'out'/'en', 'mela', 'dev') == [('Kim, who "left".', '1', None), ('*Left Kim', '0', None)]
    assert json.loads((tmp_path/'out'/'en'/'manifest.json').read_text())['label_shares'] == {'mela': {'0': .5, '1': .5}}

def test_the_password_of_mela_is_asked_for(tmp_path, capsys):
    path = str(tmp_path/mela_zip(tmp_path, encrypted=True))
    assert main(['import','mela',path,'-o',str(tmp_path/'out')]) == 1
    assert 'has a password; give it with --password' in capsys.readouterr().err
    assert main(['import','mela',path,'-o',str(tmp_path/'out'),'--password','x']) == 1
    assert 'has another password' in capsys.readouterr().err and not (tmp_path/'out').exists()

def test_tables_of_ones_own(tmp_path, capsys):
    for name,text in ('de/train.tsv','Es regnet.\tweather\n'), ('de/test.tsv','Kim kam.\n'), ('got/test.tsv','x\tpeople\n'):
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/name).write_text(text)
    command = ['import','tsv',str(tmp_path/'in'),'-o',str(tmp_path/'out'),'--task','topic','--labels']
    assert main([*command, 'weather, people']) == 0
    assert '| topic | sentence | 2 | 1 | 0 | 2 | 1 |' in capsys.readouterr().out
    for labels,said in ('weather', 'name two or more labels'), ('a,b', "train.tsv, line 1: 'weather' is not one of the labels a, b"):
        assert main([*command, labels]) == 1 and said in capsys.readouterr().err

@pytest.mark.parametrize('files, said', [
    (('en/test', 'eng/test'), 'has two folders of the language en: en and eng'),
    (('a_train', 'b_train', 'test'), 'has several tables of train: a_train.tsv, b_train.tsv'),
    (('latest', 'contest'), 'has no tables named train.tsv')])
def test_no_table_of_ones_own_takes_the_place_of_another(tmp_path, capsys, files, said):
    for name in files:
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/f'{name}.tsv').write_text('x\ta\ny\tb\n')
    assert main(['import','tsv',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 1
    assert said in capsys.readouterr().err and not (tmp_path/'out').exists()

def test_headers_and_rows_that_train_has_are_told(tmp_path, capsys):
    for split in 'train','test': (tmp_path/f'{split}.tsv').write_text('sentence\ttopic\nx\ta\ny\tb\nz\ta\nz\tb\n')
    assert main(['import','tsv',str(tmp_path),'-o',str(tmp_path/'out')]) == 0
    told = capsys.readouterr().err
    assert '5 of 5 rows of test are rows of train, too' in told

@pytest.mark.parametrize('name', ['../../x', '/x/y', 'a\nb', '..', '.x', '-x', 'x/y', 'x\\y', 'x'*200])
def test_names_that_lead_elsewhere_are_refused(tmp_path, capsys, name):
    "A language, the code of a dataset, a task in a manifest that somebody else wrote"
    (tmp_path/'in').mkdir()
    (tmp_path/'in'/'test.tsv').write_text('x\ta\ny\tb\n')
    command = ['import','tsv',str(tmp_path/'in'/'test.tsv'),'-o',str(tmp_path/'a'/'b'/'out')]
    refused = lambda *args: main(list(args)) == 1 and capsys.readouterr().err.count('\n') == 1
    assert refused(*command, f'--language={name}') and not (tmp_path/'a').exists()
    assert refused('import','translation','nothing','t.tsv','-o',str(tmp_path/'mt'),'--language','de',f'--code={name}')
    assert main(command) == 0
    path = tmp_path/'a'/'b'/'out'/'und'/'manifest.json'
    manifest = json.loads(path.read_text())
    manifest['tasks'] = {name: manifest['tasks']['own']}
    path.write_text(json.dumps(manifest))
    capsys.readouterr()
    assert refused('eval',str(path.parent),'--runs',str(tmp_path/'a'/'runs'),'-m','x')
    assert refused('xtreme','predict',str(path.parents[1]),'-m','x','-o',str(tmp_path/'a'/'made'))
    assert sorted(p.name for p in tmp_path.iterdir()) == ['a','in'] and [p.name for p in (tmp_path/'a').iterdir()] == ['b']

def test_half_a_character_in_json_gives_a_line(tmp_path, capsys):
    (tmp_path/'test.json').write_text(squad(('Bonn', 3)).replace('Wo?', r'Wo\ud83d?'))
    assert main(['import','tsv',str(tmp_path/'test.json'),'--kind','questions','-o',str(tmp_path/'out')]) == 1
    assert 'test.json: holds half a character' in capsys.readouterr().err

def test_imported_sentences_are_a_dataset_like_others(tmp_path, capsys):
    "The manifest describes their tasks; baselines answer, and pairs have no sense"
    from pronto.datasets.loading import load_dataset_folder
    rows = ''.join(f'Kim {word} {i}.\tIt {word}.\t{label}\n' for word,label in (('came','yes'), ('left','no')) for i in range(4))
    for split in 'train','dev','test':
        (tmp_path/'en').mkdir(exist_ok=True)
        (tmp_path/'en'/f'{split}.tsv').write_text(rows)
    command = ['import','tsv',str(tmp_path/'en'),'-o',str(tmp_path/'out'),'--task','nli','--kind','pair','--labels','yes,no']
    assert main(command) == 0
    data = tmp_path/'out'/'en'
    assert main(['eval',str(data),'-t','nli']) == 0
    assert '| nli | 50.0 | 100.0 |' in capsys.readouterr().out
    assert load_dataset_folder(data).tasks['nli']['test'][0].refs == (None, None)
    assert main(['import','tsv',str(tmp_path/'en'),'-o',str(tmp_path/'x'),'--task','My task','--labels','yes,no']) == 1
    assert 'must be lower-case letters' in capsys.readouterr().err

# Heads and predictions

@pytest.fixture(scope='module')
def tiny_bert(tmp_path_factory):
    "A BERT with random weights that reads letters"
    from string import ascii_lowercase
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed
    folder = tmp_path_factory.mktemp('models')/'letters'
    special = dict(pad_token='[PAD]', unk_token='[UNK]', cls_token='[CLS]', sep_token='[SEP]')
    tokens = [*special.values(), *ascii_lowercase, *(f'##{c}' for c in ascii_lowercase)]
    tokenizer = Tokenizer(models.WordPiece({token: i for i,token in enumerate(tokens)}, unk_token='[UNK]'))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(('[SEP]', 3), ('[CLS]', 2))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special).save_pretrained(folder)
    set_seed(0)
    BertModel(BertConfig(vocab_size=len(tokens), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                         intermediate_size=16, max_position_embeddings=64)).save_pretrained(folder)
    return folder

@pytest.mark.slow
def test_a_model_predicts_all_nine_tasks_in_the_format_of_a_submission(tmp_path, tiny_bert, capsys):
    source, out = tmp_path/download(tmp_path), tmp_path/'out'
    for name in 'xnli','pawsx','udpos','panx': # Ten rows or more give every tenth for dev
        path, between = source/name/'train-en.tsv', b'\n' if name in ('udpos','panx') else b''
        path.write_bytes((path.read_bytes() + between)*6)
    for path in source/'squad'/'train-v1.1.json', *source.glob('tydiqa/*/tydiqa.goldp.en.train.json'):
        path.write_text(squad(*[('Bonn', 3)]*12))
    assert main(['import','xtreme',str(source),'-o',str(out)]) == 0
    sub = out.parent/'submission'
    command = ['xtreme','predict',str(out),'-m',str(tiny_bert),'-o',str(sub),'--recipe','xtreme-tiny','--epochs','1',
               '--runs',str(out.parent/'runs')]
    assert main(command) == 0
    told = capsys.readouterr()
    assert sorted(p.relative_to(sub).as_posix() for p in sub.glob('*/test-*')) == [
        'bucc2018/test-de.tsv', 'mlqa/test-de.json', 'panx/test-de.tsv', 'pawsx/test-ja.tsv', 'tatoeba/test-de.tsv',
        'tydiqa/test-sw.json', 'udpos/test-tl.tsv', 'xnli/test-de.tsv', 'xquad/test-de.json']
    tags = (sub/'udpos'/'test-tl.tsv').read_text().split('\n\n')
    assert [len(sentence.split()) for sentence in tags] == [2,1]
    assert json.loads((sub/'xquad'/'test-de.json').read_text()).keys() == {'q0','q1'}
    assert len((sub/'xnli'/'test-de.tsv').read_text().splitlines()) == 2
    pairs = (sub/'bucc2018'/'test-de.tsv').read_text().splitlines()
    assert pairs and all(re.fullmatch(r'de-\d\ten-\d', pair) for pair in pairs)
    run = next(r for r in read_runs(out.parent/'runs'/'submissions') if r.task == 'tydiqa')
    assert run.train == ['en'] and run.counts == dict(train=10, dev=2, test=1) and run.hyperparameters['epochs'] == 1
    assert run.accuracy is None and run.f1 is None and read_runs(out.parent/'runs') == [] # No table meets them
    files = {p: p.read_bytes() for p in sub.glob('*/*')}
    shutil.rmtree(sub) # Written again from the run store
    assert main(command) == 0 and capsys.readouterr().err.count('recorded before') == 9
    assert files == {p: p.read_bytes() for p in sub.glob('*/*')}
    assert main([*command, '--train', 'xx', '-t', 'xnli']) == 1
    assert 'has no xnli in xx to train on' in capsys.readouterr().err and 'xnli: 1 languages' in told.err

def test_a_submission_of_a_model_that_learned_from_translations(tmp_path, tiny_bert, capsys):
    "Translate-train: a machine's training rows of a language, XTREME's own test set"
    def pairs(name, code, sizes):
        for split,n in sizes.items():
            path = tmp_path/name/'xnli'/f'{split}-{code}.tsv'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(''.join(f'{code} {i}\tkim\t{("neutral", "entailment")[i % 2]}\n' for i in range(n)))
    pairs('in', 'en', dict(train=12, dev=4, test=4))
    pairs('in', 'de', dict(test=6))
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 0
    texts, german = tmp_path/'t.tsv', tmp_path/'made'/'de'
    assert main(['export','texts',str(tmp_path/'out'/'en'),'-o',str(texts),'--splits','train,dev']) == 0
    texts.write_text(''.join(line.replace('\ten ', '\tde ') + '\n' for line in texts.read_text().splitlines()))
    german.parent.mkdir()
    assert main(['import','translation',str(tmp_path/'out'/'en'),str(texts),'-o',str(german),'--language','de']) == 0
    command = ['xtreme','predict',str(tmp_path/'out'),'-m',str(tiny_bert),'-o',str(tmp_path/'s'),'--recipe','xtreme-tiny',
               '--epochs','1','--runs',str(tmp_path/'runs'),'-t','xnli','--translated',str(german.parent)]
    assert main([*command,'--train','same']) == 0
    [run] = read_runs(tmp_path/'runs'/'submissions')
    assert (run.train, run.dataset, run.counts) == (['de'], 'de', dict(train=12, dev=4, test=6))
    assert len((tmp_path/'s'/'xnli'/'test-de.tsv').read_text().splitlines()) == 6
    capsys.readouterr()
    assert main(command) == 1 and 'made: has no xnli in en to train on' in capsys.readouterr().err

def test_what_an_import_lacks_is_named_with_its_folder(tmp_path, tiny_bert, capsys):
    "The file of XTREME that trains, and the language that has no such task"
    for name,text in {'xquad/xquad.en.json': squad(('Bonn', 3)), 'tatoeba/tatoeba.deu-eng.deu': 'Kim kam.\n',
                      'tatoeba/tatoeba.deu-eng.eng': 'Kim came.\n'}.items():
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/name).write_text(text)
    out = str(tmp_path/'out')
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',out]) == 0
    assert main(['xtreme','predict',out,'-t','xquad','-m',str(tiny_bert),'-o',str(tmp_path/'s')]) == 1
    assert 'has no training data of xquad in en; XTREME has them in squad/train-v1.1.json' in capsys.readouterr().err
    assert main(['eval',f'{out}/en','-t','tatoeba','-m',str(tiny_bert),'--runs',str(tmp_path/'runs')]) == 1
    assert f'{out}/en: has no task tatoeba, but xquad' in capsys.readouterr().err

def test_scores_of_predictions_are_those_of_the_evaluation(tmp_path):
    "Raw files have labels: the scores of their runs are what `xtreme score` gives"
    from pronto.runs.folds import score_rows
    from pronto.lab.suites.kinds import AnswerSpan, Question, Tagged
    from pronto.lab.suites.kinds import submission_text
    from pronto.lab.suites.tasks import QuestionTask, TaggingTask
    tags = ['B-LOC','B-PER','I-PER','O']
    rows = [Tagged(str(i), ('x',)*(i + 2), tuple(tags[j % 4] for j in range(i, 2*i + 2))) for i in range(9)]
    by_row = [[tags[(j*j + i) % 4] for j in range(i + 2)] for i in range(9)]
    said = sum(by_row, [])
    asked = [Question(f'q{i}', '?', 'in Bonn am Rhein', (AnswerSpan('Bonn am Rhein', 3),), 'de') for i in range(5)]
    answers = [' '.join(['in','Bonn','am','Rhein'][:i + 1]) for i in range(4)] + ['']
    qas = [dict(id=q.id, question='?', answers=[dict(text='Bonn am Rhein', answer_start=3)]) for q in asked]
    gold = dict(panx=submission_text('tagging', rows, [row.tags for row in rows]),
                mlqa=json.dumps(dict(data=[dict(paragraphs=[dict(context='', qas=qas)])])))
    for task,ending,true,predicted in ('panx','tsv',gold['panx'],submission_text('tagging', rows, by_row)), \
                                      ('mlqa','json',gold['mlqa'],submission_text('questions', asked, [[a] for a in answers])):
        for side,text in ('labels', true), ('predictions', predicted):
            (tmp_path/side/task).mkdir(parents=True)
            (tmp_path/side/task/f'test-de.{ending}').write_text(text)
    scored = score_submission(tmp_path/'predictions', tmp_path/'labels').tasks
    ours = score_rows(TaggingTask('panx', 'NER', '', labels=tuple(tags)), rows, said)
    assert 100*ours['f1'] == pytest.approx(scored['panx'].scores['f1']['de'], abs=.01)
    ours = score_rows(QuestionTask('mlqa', 'MLQA', '', rule='mlqa'), asked, answers)
    for name,metric in ('f1','f1'), ('accuracy','exact_match'):
        assert 100*ours[name] == pytest.approx(scored['mlqa'].scores[metric]['de'], abs=.01)

def test_published_figures_stand_beside_a_submission(tmp_path, capsys):
    predictions, labels = submission(tmp_path)
    assert main(['xtreme','score','--predictions',str(predictions),'--labels',str(labels),'--published']) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if 'mBERT' in line or 'this submission' in line]
    assert lines[0].startswith('| mBERT (published) | 59.6 | 65.4 | 81.9 | 70.3 | 62.2 | 64.5 / 49.4 |')
    assert lines[1].startswith('| this submission | 53.7 | 50.0 | 50.0 | 66.7 | 66.7 | 50.0 / 50.0 |')

# Translations

def test_a_translated_test_set_is_a_dataset_beside_the_human_one(tmp_path, capsys):
    from test_attack import dataset
    from pronto.datasets.loading import load_dataset_folder
    dataset(tmp_path)
    toy = load_dataset_folder(tmp_path/'toy')
    where = dict(verse for parts in toy.tasks.values() for rows in parts.values() for row in rows
                 for verse in zip(map(str, row.refs), row.texts))
    (tmp_path/'t.tsv').write_text(''.join(f'{ref}\t{text.replace("la", "le")}\n' for ref,text in where.items()))
    command = ['import','translation',str(tmp_path/'toy'),str(tmp_path/'t.tsv'),'-o',str(tmp_path/'toy-mt'),'--language','fra']
    assert main([*command, '--human', str(tmp_path/'toy')]) == 0
    told = capsys.readouterr().out
    assert 'chrF++' in told and ', BLEU ' in told
    made = load_dataset_folder(tmp_path/'toy-mt')
    assert made.manifest['code'] == 'toy-mt' and made.manifest['translated_from'] == 'toy'
    for stem,parts in toy.tasks.items():
        for split,rows in parts.items():
            found = [(row.label, row.refs) for row in made.tasks[stem][split]]
            assert found == [(row.label, row.refs) for row in rows]
    assert all('la' not in text for parts in made.tasks.values() for rows in parts.values() for row in rows for text in row.texts)
    (tmp_path/'t.tsv').write_text('MRK 1:1 le\n')
    assert main(command) == 1 and 't.tsv, line 1: is not a key, a tab and a translation' in capsys.readouterr().err

def test_a_dataset_with_choices_is_translated_without_them(embedded_corpus, tmp_path, capsys):
    "A verse with a changed word has no translation; nothing is said of choices that are not there"
    from pronto.datasets.loading import load_dataset_folder
    built, texts, made = (str(tmp_path/name) for name in ('qaa', 't.tsv', 'mt'))
    assert main(['annotate', str(embedded_corpus/'ontonotes'), '-o', str(tmp_path/'a.parquet')]) == 0
    bible = str(embedded_corpus/'bibles'/'qaa.usfx.xml')
    assert main(['build', '-a', str(tmp_path/'a.parquet'), '-b', bible, '-o', built]) == 0
    assert 'word_order' in load_dataset_folder(built).tasks
    capsys.readouterr()
    for command in ['export', 'texts', built, '-o', texts], ['import', 'translation', built, texts, '-o', made, '--language', 'fra']:
        assert main(command) == 0
        [line] = [line for line in capsys.readouterr().err.splitlines() if ': left out, as ' in line]
        assert 'word_order' in line and 'sentence_mood' not in line and line.endswith('with `pronto build -a none -b TRANSLATION`')
    found = load_dataset_folder(made)
    assert found.tasks['sentence_mood']['test'] and 'word_order' not in found.tasks
    assert not {'choices', 'predictors'} & found.manifest.keys() and 'word_order' not in found.manifest['counts']

def test_a_dataset_of_choices_alone_has_nothing_to_translate(embedded_corpus, tmp_path, capsys):
    "One line says what to do instead"
    built, out = str(tmp_path/'qaa'), str(tmp_path/'out')
    assert main(['build', '-a', 'none', '-b', str(embedded_corpus/'bibles'/'qaa.usfx.xml'), '-o', built]) == 0
    (tmp_path/'t.tsv').write_text('MAT 1:1\tx\n')
    capsys.readouterr()
    for command in ['export','texts',built,'-o',out], ['import','translation',built,str(tmp_path/'t.tsv'),'-o',out,'--language','it']:
        assert main(command) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert 'a wrong choice is no sentence' in line and line.endswith('with `pronto build -a none -b TRANSLATION`')

def _xcopa(path, *rows): # Premise, two choices, and what is sought; the first is right
    columns = 'premise','choice1','choice2','question'
    lines = [json.dumps(dict(zip(columns, row), label=0, idx=i, changed=False)) for i,row in enumerate(rows)]
    path.write_text('\n'.join(lines) + '\n')

def test_imported_choices_are_translated_with_their_contexts(tmp_path, capsys):
    "XCOPA and XStoryCloze: each string by itself; what joins them is that of the language; choices that became alike are left out"
    from pronto.datasets.loading import load_dataset_folder
    data = tmp_path/'in'
    data.mkdir()
    _xcopa(data/'test.en.jsonl', ('Kim  fell.','It was icy.','Kim slept.','cause'), ('It rained.','It was wet.','It was dry.','effect'))
    _xcopa(data/'test.it.jsonl', ('Kim cadde.',"C'era ghiaccio.",'Kim dormì.','cause'), ('Piovve.','Era umido.','Era secco.','effect'))
    (data/'spring2016.val.en.tsv.split_20_80_eval.tsv').write_text('id\ta\tb\tc\td\te\tf\tn\n7\tA.\tB.\tC.\tD.\tE.\tF.\t2\n')
    off, made, texts = (str(tmp_path/name) for name in ('off','mt','t.tsv'))
    assert main(['import','choices',str(data),'-o',off]) == 0
    assert main(['export','texts',f'{off}/en','-o',texts]) == 0
    keys = [line.split('\t')[0] for line in (tmp_path/'t.tsv').read_text().splitlines()]
    assert sorted(keys) == sorted(['A. B. C. D.','E.','F.','Kim fell.','It was icy.','Kim slept.','It rained.','It was wet.','It was dry.'])
    italian = {'Kim fell.': 'Kim cadde.', 'It was wet.': 'Bagnato.', 'It was dry.': 'Bagnato.'}
    (tmp_path/'t.tsv').write_text(''.join(f'{key}\t{italian.get(key, "it " + key)}\n' for key in keys))
    capsys.readouterr()
    command = ['import','translation',f'{off}/en',texts,'-o',made,'--language','Italian','--human',f'{off}/it']
    assert main(command) == 0
    told = capsys.readouterr().out
    assert 'xcopa: train 0 of 0, dev 0 of 0, test 1 of 2' in told and 'over 3 texts' in told
    dataset = load_dataset_folder(made)
    [row], [story] = (dataset.tasks[stem]['test'] for stem in ('xcopa','xstorycloze'))
    assert row[:4] == ('0', 'Kim cadde.', ('it It was icy.','it Kim slept.'), 0) and row.before == 'Kim cadde perché'
    assert story[:4] == ('7', 'it A. B. C. D.', ('it E.','it F.'), 1)
    assert {stem: task['counts']['test'] for stem,task in dataset.manifest['tasks'].items()} == dict(xcopa=1, xstorycloze=1)

def test_imported_choices_are_exported_as_lines(tmp_path):
    "As text they would be a list in a cell"
    (tmp_path/'in').mkdir()
    _xcopa(tmp_path/'in'/'test.en.jsonl', ('Kim fell.','It was icy.','Kim slept.','cause'))
    assert main(['import','choices',str(tmp_path/'in'),'-o',str(tmp_path/'off')]) == 0
    for format in 'tsv','hf': assert main(['export',format,str(tmp_path/'off'/'en'),'-o',str(tmp_path/format)]) == 0
    table = (tmp_path/'tsv'/'xcopa_test.jsonl').read_bytes()
    assert table == (tmp_path/'off'/'en'/'xcopa_test.jsonl').read_bytes() and not [*(tmp_path/'tsv').glob('*.tsv')]
    assert json.loads((tmp_path/'hf'/'xcopa'/'test.jsonl').read_text())['choices'] == ['It was icy.','Kim slept.']

def test_texts_of_a_test_set_for_a_translator(tmp_path, capsys):
    for split in 'train','test':
        (tmp_path/'en').mkdir(exist_ok=True)
        (tmp_path/'en'/f'{split}.tsv').write_text('Kim came.\tyes\nKim left.\tno\nKim came.\tno\n')
    assert main(['import','tsv',str(tmp_path/'en'),'-o',str(tmp_path/'out'),'--labels','yes,no']) == 0
    assert main(['export','texts',str(tmp_path/'out'/'en'),'-o',str(tmp_path/'t.tsv')]) == 0
    assert (tmp_path/'t.tsv').read_text() == 'Kim came.\tKim came.\nKim left.\tKim left.\n'
    (tmp_path/'t.tsv').write_text('Kim came.\tKim kam.\n')
    command = ['import','translation',str(tmp_path/'out'/'en'),str(tmp_path/'t.tsv'),'-o',str(tmp_path/'de'),'--language','de']
    assert main(command) == 0
    assert 'own: train 2 of 3, dev 0 of 0, test 2 of 3' in capsys.readouterr().out

def test_translations_are_compared_row_by_row_not_where_they_are_equal(tmp_path, capsys):
    "Of texts without references those that both have are the same by nature: they would score 100"
    for code,words in ('en', 'Kim came. Kim left.'), ('de', 'Kim kam. Kim ging.'):
        (tmp_path/code).mkdir()
        first, second = words.replace('. ', '.|').split('|')
        (tmp_path/code/'test.tsv').write_text(f'{first}\tyes\n{second}\tno\nKim\tno\n')
        command = ['import','tsv',str(tmp_path/code),'-o',str(tmp_path/f'out-{code}'),'--labels','yes,no']
        assert main(command) == 0
    (tmp_path/'t.tsv').write_text('Kim came.\tKim kommt.\nKim left.\tKim ging.\nKim\tKim\n')
    capsys.readouterr()
    assert main(['import','translation',str(tmp_path/'out-en'/'en'),str(tmp_path/'t.tsv'),'-o',str(tmp_path/'mt'),
                 '--language','de','--human',str(tmp_path/'out-de'/'de')]) == 0
    told = capsys.readouterr().out
    assert 'over 3 texts' in told and 'chrF++ 100.0' not in told

def test_examples_are_those_of_dev_where_there_is_no_train(tmp_path):
    "As in version 1.1 of MELA"
    from pronto.datasets.loading import open_datasets
    from pronto.protocols.protocol import Setup, find_protocol
    for version,splits in ('v1.0', ('train','dev','test')), ('v1.1', ('dev','test')):
        for split in splits:
            (tmp_path/version/'is').mkdir(parents=True, exist_ok=True)
            (tmp_path/version/'is'/f'{split}.csv').write_text('sentence,label\nKim,1\nKim Kim,0\n')
        out = str(tmp_path/f'out-{version}')
        assert main(['import','mela',str(tmp_path),'--release',version,'-o',out]) == 0
        [data] = open_datasets([out])
        [selection] = find_protocol('prompting').select(Setup(data.known['mela'], [data]))
        assert selection.train[0].split == splits[0] and selection.tests[0].split == 'test'

def test_all_training_sets_of_mela_at_once_have_a_row_of_table_3(tmp_path, tiny_bert, capsys):
    "As XLM-R of the paper was trained"
    for code in 'is', 'de':
        (tmp_path/'v1.0'/code).mkdir(parents=True)
        for split,n in dict(train=4, dev=2, test=6).items():
            rows = ''.join(f'kim {"sang" if i % 2 else "x"} {code} {i},{i % 2}\n' for i in range(n))
            (tmp_path/'v1.0'/code/f'{split}.csv').write_text('sentence,label\n' + rows)
    out, runs = str(tmp_path/'out'), str(tmp_path/'runs')
    every = tmp_path/'all'/'mul'
    for more in [out], [str(every.parent), '--combined']:
        assert main(['import','mela',str(tmp_path/'v1.0'),'-o',*more]) == 0
    assert [len(rows_of(every, 'mela', split)) for split in ('train','dev')] == [8,4]
    assert [p.name for p in every.parent.iterdir() if p.is_dir()] == ['mul'] and not (tmp_path/'out'/'mul').exists()
    assert main(['eval',f'{out}/is',f'{out}/de','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs,
                 '--protocol','transfer','--train',str(every)]) == 0
    assert read_runs(runs)[0].counts['train'] == 8
    capsys.readouterr()
    assert main(['mela','tables','--runs',runs,'-o',str(tmp_path/'t')]) == 0
    assert '| letters, from mul, tiny, 1 epoch, no limit, 1 seed (ours) |' in capsys.readouterr().out

def test_sentences_to_search_are_left_out_of_a_translation(tmp_path, capsys):
    "A language with Tatoeba beside XNLI"
    files = {'xnli/test-de.tsv': 'Kim kam.\tKim\tneutral\n', 'tatoeba/tatoeba.deu-eng.deu': 'Es regnet.\n',
             'tatoeba/tatoeba.deu-eng.eng': 'It rains.\n'}
    for name,text in files.items():
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/name).write_text(text)
    german, texts = str(tmp_path/'out'/'de'), tmp_path/'t.tsv'
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 0
    assert main(['export','texts',german,'-o',str(texts)]) == 0 and texts.read_text() == 'Kim kam.\tKim kam.\nKim\tKim\n'
    assert main(['import','translation',german,str(texts),'-o',str(tmp_path/'en'),'--language','en']) == 0
    assert 'xnli: train 0 of 0, dev 0 of 0, test 1 of 1' in capsys.readouterr().out

def test_table_4_of_mela_has_averages():
    from pronto.lab.suites.published import mela_table4
    text = mela_table4({}).markdown()
    assert '| en | – (71.66) |' in text and '– (33.57) |' in text
    assert '| avg. high-resource | – (51.70) |' in text and '| avg. w.o. in-lang. | – (31.60) |' in text

def test_in_language_few_shot_and_mixed_training(tmp_path, tiny_bert, capsys):
    "Each language by itself, with some of its rows; or two together, with several seeds"
    line = lambda code, i: f'{code}{"ab"[i % 2]*3}\tNOUN\nsang\tVERB\n\n'
    for code,n in ('de', 12), ('fr', 10), ('hi', 0):
        (tmp_path/'in'/code).mkdir(parents=True)
        for split,size in ('train', n), ('test', 2):
            if size: (tmp_path/'in'/code/f'{split}.tsv').write_text(''.join(line(code, i) for i in range(size)))
    out = tmp_path/'out'
    own = ['import','tsv',str(tmp_path/'in'),'-o',str(out),'--kind','tagging','--labels','NOUN,VERB']
    assert main(own) == 0
    command = ['xtreme','predict',str(out),'-m',str(tiny_bert),'--recipe','xtreme-tiny','--epochs','1','--runs',str(tmp_path/'runs'),'-o']
    assert main([*command, str(tmp_path/'same'), '--train','same','--examples','4']) == 0
    runs = read_runs(tmp_path/'runs'/'submissions')
    assert [(r.train, r.dataset) for r in runs] == [(['de'],'de'), (['fr'],'fr')]
    assert [r.counts for r in runs] == [dict(train=4, dev=2, test=2), dict(train=4, dev=1, test=2)]
    assert main([*command, str(tmp_path/'mix'), '--train','de+fr','--seeds','2']) == 0
    mixed = [r for r in read_runs(tmp_path/'runs'/'submissions') if len(r.train) > 1]
    assert {r.counts['train'] for r in mixed} == {18} and {r.seed for r in mixed} == {0,1} # Of each as many as of the smaller
    assert {r.dataset for r in mixed} == {'de','fr','hi'} and '95 % or range' in capsys.readouterr().out
    assert sorted(p.name for p in (tmp_path/'mix'/'s0'/'own').iterdir()) == ['test-de.tsv','test-fr.tsv','test-hi.tsv']

def test_the_recipe_of_mela_counts_updates(tiny_bert):
    "So many updates whatever the size of train, dev scored twenty times, and a cosine that does not reach zero"
    from dataclasses import replace
    from pronto.modeling.recipes import RECIPES
    from pronto.modeling.train import fine_tune
    from pronto.lab.suites.kinds import SingleSentence
    from pronto.lab.suites.tasks import SentenceTask
    task = SentenceTask('mela', 'MELA', '', labels=('0','1'))
    rows = {part: [SingleSentence(f'kim {"sang" if i % 2 else "x"}', str(i % 2)) for i in range(9)] for part in ('train','dev','test')}
    settings = replace(RECIPES['mela'], steps=40, batch_size=2).settings(task)
    run = fine_tune(tiny_bert, task, rows, settings, device='cpu')
    assert len(run.dev) == 20 and run.hyperparameters['steps'] == 40 and run.hyperparameters['epochs'] is None

@pytest.mark.slow
def test_imported_sentences_transfer_from_one_language_to_another(tmp_path, tiny_bert, capsys):
    for code in 'en', 'de':
        (tmp_path/'in'/code).mkdir(parents=True)
        for split,n in ('train', 30), ('dev', 10), ('test', 12):
            rows = ''.join(f'{code} {"sang" if i % 2 else "x"} {i}\t{i % 2}\n' for i in range(n))
            (tmp_path/'in'/code/f'{split}.tsv').write_text(rows)
    out, runs = tmp_path/'out', str(tmp_path/'runs')
    assert main(['import','tsv',str(tmp_path/'in'),'-o',str(out),'--task','acc']) == 0
    command = ['eval',str(out/'en'),str(out/'de'),'-t','acc','-m',str(tiny_bert),'--protocol','transfer',
               '--train',str(out/'en'),'--recipe','tiny','--epochs','1','--runs',runs]
    assert main(command) == 0 and 'de, letters, acc, seed 0, from en' in capsys.readouterr().out
    show = ['tables','--runs',runs,'--protocol','transfer','--recipe','tiny','-o',str(tmp_path/'tables')]
    assert main(show) == 0 and '| trained on | de | en |' in capsys.readouterr().out

# The kinds of examples through the protocols, the store and the tables

@pytest.fixture
def treebanks(tmp_path):
    "Tagged sentences in two languages, one of them without training data; questions; and sentences with translations"
    tags = lambda n: ''.join(f'kim\tNOUN\n{"sang" if i % 3 else "ran"}\tVERB\nthe\tDET\n\n' for i in range(n))
    for code,sizes in dict(de=dict(train=12, dev=4, test=6), fr=dict(test=5)).items():
        (tmp_path/'tags'/code).mkdir(parents=True)
        for split,n in sizes.items(): (tmp_path/'tags'/code/f'{split}.tsv').write_text(tags(n))
    return tmp_path/'tags'

@pytest.mark.slow
def test_tagging_transfers_to_a_language_without_training_data(tmp_path, treebanks, tiny_bert, capsys):
    "Records, paired tests, errors, tables and report as for verses; no file of tasks has to be named"
    from pronto.reporting.card import verse_table
    from pronto.runs.store import predictions_of, read_runs
    out, runs = str(tmp_path/'out'), str(tmp_path/'runs')
    assert main(['import','tsv',str(treebanks),'-o',out,'--kind','tagging','--task','pos']) == 0
    command = ['eval',out,'-t','pos','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs,'--seeds','2']
    assert main([*command,'--protocol','transfer','--train','de']) == 0
    assert main(command) == 3 and 'fr: has no examples of pos' in capsys.readouterr().err
    records = {(r.dataset, r.protocol, r.seed): r for r in read_runs(runs)}
    assert records.keys() == {(*key, seed) for key in (('de','transfer'), ('fr','transfer'), ('de','in-language')) for seed in (0,1)}
    record = records['fr','transfer',0]
    assert record.baselines.keys() == {'majority','lookup','cues','ngram'} and record.baselines['lookup'] == 1
    rows = predictions_of(record).to_dict('records')
    assert len(rows) == 15 and rows[4]['token'] == 'sang' and rows[4]['ref'].endswith(':2') and 0 <= record.f1 <= 1
    assert all('[' in row[2] for row in verse_table(record, [tmp_path/'out'/'fr']).rows)
    capsys.readouterr()
    for more in [], ['--protocol','transfer']:
        assert main(['tables','--runs',runs,'--recipe','tiny','-o',str(tmp_path/'t'),*more]) == 0
    assert '| de | fr |' in capsys.readouterr().out
    assert main(['report','--runs',runs,'-o',str(tmp_path/'r.html')]) == 0

def views_of_a_notebook(runs, dataset):
    "What eval.ipynb draws and prints of one run"
    from pronto.reporting.card import verse_table
    from pronto.lab.reporting.notebook_views import plot_curves
    from pronto.runs.store import read_runs
    records = [r for r in read_runs(runs) if r.dataset == 'de']
    plot_curves(records)
    assert verse_table(records[0], [dataset]).rows

def articles(codes, n=10):
    "An article for each number, with a question whose answer is a name"
    about = lambda code, i: dict(context=f'{code} n{i} was in Bonn', qas=[
        dict(id=f'q{i}', question=f'where was n{i}', answers=[dict(text='Bonn', answer_start=len(f'{code} n{i} was in '))])])
    return {code: json.dumps(dict(data=[dict(paragraphs=[about(code, i)]) for i in range(n)])) for code in codes}

def test_questions_are_divided_by_article_and_answered(tmp_path, tiny_bert, capsys):
    (tmp_path/'in'/'xquad').mkdir(parents=True)
    for code,text in articles(('de','es')).items(): (tmp_path/'in'/'xquad'/f'xquad.{code}.json').write_text(text)
    out, runs = tmp_path/'out', str(tmp_path/'runs')
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(out),'--divide']) == 0
    ids = lambda code, split: [row.id for row in rows_of(out/code, 'xquad', split)]
    assert [len(ids('de', split)) for split in ('train','dev','test')] == [6,1,3] and ids('de','test') == ids('es','test')
    assert json.loads((out/'de'/'manifest.json').read_text())['splits'] == 'divided'
    command = ['eval',str(out),'-t','xquad','-m',str(tiny_bert),'--runs',runs,'--epochs','1','--recipe','xtreme-scripts']
    assert main([*command,'--protocol','transfer','--train','de']) == 0
    said = capsys.readouterr().out
    assert 'es, letters, XQuAD, seed 0, from de: F1' in said and 'accuracy' in said
    record = json.loads(next((tmp_path/'runs'/'es').rglob('*.json')).read_text())
    assert record['mcc'] is None and record['hyperparameters']['learning_rate'] == 3e-5 and record['counts']['train'] == 6
    views_of_a_notebook(runs, out/'de')
    show = ['tables','--runs',runs,'-o',str(tmp_path/'t')]
    assert main([*show,'--protocol','transfer']) == 0 # By F1, the metric of the task
    assert main([*show,'--protocol','transfer','--metric','mcc']) == 1 and 'XQuAD has no MCC' in capsys.readouterr().err
    assert main(['xtreme','tables','--runs',runs,'-o',str(tmp_path/'t')]) == 0
    assert '| letters, xtreme-scripts, from de | XQuAD | f1 | 2 of 11 |' in capsys.readouterr().out
    assert {'xtreme1.md','xtreme1_shared.md'} <= {p.name for p in (tmp_path/'t').iterdir()}

def test_retrieval_is_recorded_in_both_settings(tmp_path, tiny_bert, capsys):
    (tmp_path/'in'/'tatoeba').mkdir(parents=True)
    for side in 'deu','eng':
        lines = ''.join(f'{word} {i}\n' for i in range(4) for word in ('kim','sang'))
        (tmp_path/'in'/'tatoeba'/f'tatoeba.deu-eng.{side}').write_text(lines)
    out, runs = str(tmp_path/'out'), tmp_path/'runs'
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',out]) == 0
    ways = {'paper': 'margin, layer best of the other half', 'xtreme-scripts': 'cosine, layer of XTREME'}
    for recipe,way in ways.items():
        assert main(['eval',f'{out}/de','-m',str(tiny_bert),'--runs',str(runs),'--recipe',recipe]) == 0
        assert f'de, letters, Tatoeba, seed 0, {way}: accuracy' in capsys.readouterr().out
    assert main(['xtreme','tables','--runs',str(runs),'-o',str(tmp_path/'t')]) == 0
    told = capsys.readouterr().out
    assert all(told.count(f'Tatoeba, letters, {recipe}: {way}') == 2 for recipe,way in ways.items())
    views_of_a_notebook(runs, f'{out}/de')
    settings = [json.loads(p.read_text())['hyperparameters'] for p in sorted((runs/'de').rglob('*.json'))]
    assert [s['similarity'] for s in settings] == ['margin','cosine']
    assert main(['tables','--runs',str(runs),'-o',str(tmp_path/'t')]) == 0 and 'Tatoeba' in capsys.readouterr().out
    for protocol,said in ('retrieval', 'run Tatoeba and BUCC without --protocol'), ('probe', 'does not suit Tatoeba'):
        assert main(['eval',f'{out}/de','-m',str(tiny_bert),'--runs',str(runs),'--protocol',protocol]) == 1
        assert said in capsys.readouterr().err

def test_what_cannot_be_trained_or_scored_is_said_in_one_line(tmp_path, treebanks, tiny_bert, capsys):
    for path in (treebanks/'fr').iterdir(): path.write_text('kim\n\n') # Without tags
    out = str(tmp_path/'out')
    assert main(['import','tsv',str(treebanks),'-o',out,'--kind','tagging','--task','pos']) == 0
    command = ['eval','-t','pos','-m',str(tiny_bert),'--runs',str(tmp_path/'runs')]
    assert main([*command, f'{out}/fr','--protocol','transfer','--train',f'{out}/de']) == 1
    assert 'fr: has no labels of pos; predict it with `pronto xtreme predict`' in capsys.readouterr().err
    assert main([*command, f'{out}/de','--protocol','prompting']) == 1
    assert 'pos: cannot be answered with prompts' in capsys.readouterr().err
    assert main([*command, f'{out}/de','--recipe','mela']) == 1 and 'counts updates' in capsys.readouterr().err

def test_rows_without_labels_are_not_trained_on():
    "As if the first tag were theirs; a question of a test set may have no answer"
    from pathlib import Path
    from pronto.datasets.loading import Dataset
    from pronto.modeling.outcome import task_rows
    from pronto.lab.suites.kinds import AnswerSpan, Question, Tagged
    from pronto.lab.suites.tasks import QuestionTask, TaggingTask
    tagging = TaggingTask('pos', 'POS', '?', ('N','V')), Tagged('1', ('a','b'), ('N','V')), Tagged('2', ('a',), None)
    asking = QuestionTask('qa', 'QA', '?'), Question('1', 'Who?', 'Kim', (AnswerSpan('Kim', 0),)), Question('2', 'Who?', 'Kim', ())
    def check(task, right, wrong, split):
        task_rows(Dataset(Path('x'), {task.stem: dict.fromkeys(('train','dev','test'), [right]) | {split: [right, wrong]}}), task)
    for kind,split in (tagging, 'train'), (tagging, 'dev'), (tagging, 'test'), (asking, 'train'), (asking, 'dev'):
        with pytest.raises(InputError, match=rf'_{split}\.\w+, line 2: has no labels to train or score on'): check(*kind, split)
    check(*asking, 'test')

def test_the_tables_of_mela_by_command(tmp_path, tiny_bert, capsys):
    "Seeds by the rule of the paper, in the rows beside the published figures"
    (tmp_path/'in'/'is').mkdir(parents=True)
    for split in 'train','dev','test':
        rows = ''.join(f'kim {"sang" if i % 2 else "x"} {i}\t{i % 2}\n' for i in range(6))
        (tmp_path/'in'/'is'/f'{split}.tsv').write_text(rows)
    out, runs = str(tmp_path/'out'), str(tmp_path/'runs')
    assert main(['import','tsv',str(tmp_path/'in'),'-o',out,'--task','mela']) == 0
    assert main(['eval',f'{out}/is','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs]) == 0
    command = ['mela','tables','--runs',runs,'-o',str(tmp_path/'t')]
    (tmp_path/'none').mkdir()
    assert main([*command, '--runs', str(tmp_path/'none')]) == 0
    assert f'{tmp_path/"none"}: has no runs of the task mela' in capsys.readouterr().err
    assert main(command) == 0
    told = capsys.readouterr().out
    assert '| letters, tiny, 1 epoch, no limit, 1 seed (ours) |' in told and '| letters, tiny, 1 epoch, no limit, 1 seed: train' in told
    assert main(['eval',f'{out}/is','-m',str(tiny_bert),'--recipe','tiny','--epochs','2','--limit','4','--seeds','2','--runs',runs]) == 0
    assert main(command) == 0
    told = capsys.readouterr().out # Runs of another length and limit have a row of their own
    assert '| letters, tiny, 2 epochs, limit 4, 2 seeds (ours) |' in told and '| letters, tiny, 1 epoch, no limit, 1 seed (ours) |' in told
    assert {p.name for p in (tmp_path/'t').iterdir()} == {f'mela{i}.{ending}' for i in (3,4) for ending in ('md','tex','csv')}

@pytest.mark.slow
def test_a_transfer_of_mela_notes_dev_of_the_tested_languages(tmp_path, tiny_bert, capsys):
    "Keys and results stay as they were; other tasks and protocols note nothing; without dev scores a cell is marked"
    for code in 'is', 'de', 'fr':
        (tmp_path/'in'/code).mkdir(parents=True)
        for split,n in ('train', 6), ('dev', 6), ('test', 8):
            if (code, split) == ('fr','dev'): continue
            rows = ''.join(f'{code} {"sang" if (i + (code == "de")) % 2 else "x"} {i}\t{i % 2}\n' for i in range(n))
            (tmp_path/'in'/code/f'{split}.tsv').write_text(rows)
    settings = ['-m',str(tiny_bert),'--recipe','tiny','--epochs','3','--seeds','2']
    def transferred(task, protocol='transfer'):
        out, runs = str(tmp_path/f'out-{task}'), tmp_path/f'runs-{task}-{protocol}'
        assert main(['import','tsv',str(tmp_path/'in'),'-o',out,'--task',task]) == 0
        tested = out if protocol == 'transfer' else f'{out}/de'
        command = ['eval',tested,'--train',f'{out}/is',*settings,'--runs',str(runs),'--protocol',protocol]
        assert main(command) == 0
        assert main(command) == 0 and capsys.readouterr().out.count('recorded before') == len(read_runs(runs))
        return read_runs(runs)
    runs, plain = transferred('mela'), transferred('acc')
    assert not any(r.tested_dev for r in [*plain, *transferred('mela', 'few-shot')])
    assert [(r.dev, r.best_epoch, r.mcc, r.truncated, r.counts) for r in runs] == \
           [(r.dev, r.best_epoch, r.mcc, r.truncated, r.counts) for r in plain]
    assert [(r.dataset, len(r.tested_dev)) for r in runs] == [('de',3), ('de',3), ('fr',0), ('fr',0), ('is',0), ('is',0)]
    assert all('tested_dev' not in json.loads(r.path.read_text()) for r in runs if not r.tested_dev)
    store = str(tmp_path/'runs-mela-transfer')
    def row_of_is():
        assert main(['mela','tables','--runs',store,'-o',str(tmp_path/'t')]) == 0
        lines = (tmp_path/'t'/'mela4.md').read_text().splitlines()
        languages = next(line for line in lines if 'train \\ test' in line or 'train \\\\ test' in line)
        row = next(line for line in lines if line.startswith('| is |'))
        return dict(zip(*([cell.strip() for cell in line.split('|')] for line in (languages, row))))
    best = 100*max(sum(mcc)/2 for mcc in zip(*([d['mcc'] for d in r.tested_dev] for r in runs[:2])))
    cells = row_of_is()
    assert cells['de'].startswith(f'{best:.2f} (') and '* (' in cells['fr'] and '* (' not in cells['is']
    old = {k: v for k,v in json.loads(runs[0].path.read_text()).items() if k != 'tested_dev'} # As recorded before
    runs[0].path.write_text(json.dumps(old))
    assert '* (' in row_of_is()['de']

def test_what_a_newcomer_does_with_imports_is_said(tmp_path, capsys):
    "Training data without labels are refused, a second import says what it replaces, empty folders are named"
    (tmp_path/'train.tsv').write_text('Es regnet.\tEs giesst.\n')
    command = ['import','tsv',str(tmp_path),'-o',str(tmp_path/'out'),'--kind','pair']
    assert main(command) == 1 and 'train.tsv: has no labels, so nothing can be trained on it' in capsys.readouterr().err
    (tmp_path/'train.tsv').write_text('Es regnet.\tEs giesst.\t1\nEs regnet.\tKim kam.\t0\n')
    assert main(command) == 0 and 'replaced' not in capsys.readouterr().err
    assert main(command) == 0 and 'out: replaced the import that was there, of own' in capsys.readouterr().err
    (tmp_path/'empty').mkdir()
    assert main(['xtreme','score','--predictions',str(tmp_path/'empty'),'--labels',str(tmp_path/'empty')]) == 1
    assert 'empty: has no folder of a task, such as xnli' in capsys.readouterr().err

@pytest.mark.slow
def test_a_sweep_knows_the_tasks_of_an_import(tmp_path, treebanks, tiny_bert, capsys):
    "Its notebooks read them from the manifest"
    out, runs = tmp_path/'out', str(tmp_path/'runs')
    assert main(['import','tsv',str(treebanks),'-o',str(out),'--kind','tagging','--task','pos']) == 0
    command = ['sweep',f'{out}/de','-t','pos','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs]
    assert main(command) == 0 and '1 run' in capsys.readouterr().out
    assert json.loads((tmp_path/'runs'/'tasks'/'pos.json').read_text())['kind'] == 'tagging'

def test_bitexts_are_mined_as_the_published_code_does(monkeypatch):
    "Equal sentences are one candidate, and have no pair, since nothing says which of them is meant"
    import numpy as np
    from pronto.lab.suites import searching
    from pronto.lab.suites.kinds import Query
    place = {'a': 0, 'b': 1, 'c': 2, 'A': 0, 'B': 1, 'C': 2}
    vectors = np.eye(3) + .1
    monkeypatch.setattr(searching, 'sentence_vectors', lambda model, texts, device: vectors[[place[t] for t in texts]])
    rows = [Query(f'de-{i}', text, ()) for i,text in enumerate('abac')]
    pool = [Query(f'en-{i}', text, ()) for i,text in enumerate('ABCC')]
    assert [pair[1:] for pair in searching.mined_pairs('', rows, pool)] == [('de-1', 'en-1')]
    pool = [Query(f'en-{i}', text, ()) for i,text in enumerate('CBA')]
    assert {pair[1:] for pair in searching.mined_pairs('', rows, pool)} == {('de-1', 'en-1'), ('de-3', 'en-0')}

def test_answers_of_mlqa_are_judged_by_the_rules_of_their_language(tmp_path):
    "Articles of German do not count in MLQA, but they do by the rule of SQuAD"
    from pronto.lab.suites.kinds import AnswerSpan, Described, Question, write_rows
    from pronto.lab.suites.tasks import suite_task
    (tmp_path/'manifest.json').write_text('{"code": "de"}')
    write_rows([Question('q', 'Wo?', 'in der Stadt', (AnswerSpan('der Stadt', 3),))], tmp_path/'mlqa_test.jsonl')
    values = {}
    for metric in 'mlqa','squad':
        task = suite_task('mlqa', Described('questions', metric, 'MLQA'))
        true = task.true_labels(task.read_table(tmp_path/'mlqa_test.jsonl'))
        values[metric] = task.item_values('accuracy', true, ['Stadt'], [0]).tolist()
    assert values == dict(mlqa=[1], squad=[0])

def _in_two_languages(folder):
    for code in 'en','de':
        (folder/code).mkdir(parents=True)
        for split,n in ('train', 12), ('dev', 4), ('test', 6):
            rows = ''.join(f'{code} {"sang" if i % 2 else "x"} {i} {split}\t{i % 2}\n' for i in range(n))
            (folder/code/f'{split}.tsv').write_text(rows)

def test_machine_translated_test_sets_beside_human_ones(tmp_path, tiny_bert, capsys):
    "The import keeps which human dataset they belong to, and chrF++; scores of the same training are compared"
    _in_two_languages(tmp_path/'in')
    out, made, runs = str(tmp_path/'out'), str(tmp_path/'de-mt'), str(tmp_path/'runs')
    assert main(['import','tsv',str(tmp_path/'in'),'-o',out,'--task','acc']) == 0
    assert main(['export','texts',f'{out}/en','-o',str(tmp_path/'t.tsv')]) == 0
    table = (tmp_path/'t.tsv').read_text()
    (tmp_path/'t.tsv').write_text(''.join(line.replace('\ten', '\tde') + '\n' for line in table.splitlines()))
    command = ['import','translation',f'{out}/en',str(tmp_path/'t.tsv'),'-o',made,'--language','de']
    (tmp_path/'runs').mkdir()
    assert main(command) == 0 and main(['mt','tables',made,'--runs',runs]) == 1
    assert 'is not a folder that `pronto import translation --human` wrote' in capsys.readouterr().err
    assert main([*command,'--human',f'{out}/de']) == 0
    about = json.loads((tmp_path/'de-mt'/'manifest.json').read_text())
    assert about['human'] == 'de' and about['chrf'] == pytest.approx(100)
    assert main(['mt','tables',made,'--runs',runs]) == 1 and 'has no model that ran on' in capsys.readouterr().err
    run = ['eval',f'{out}/de',made,'-t','acc','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs]
    assert main([*run,'--protocol','transfer','--train',f'{out}/en']) == 0
    assert main(['mt','tables',made,'--runs',runs,'-o',str(tmp_path/'t')]) == 0
    told = capsys.readouterr().out
    assert '| letters | acc | de |' in told and 'Correlations need three languages' in told

def test_training_on_translated_text(tmp_path, tiny_bert, capsys):
    "XTREME's translate-train: the texts of train are translated too, and are a source of transfer to what people wrote"
    _in_two_languages(tmp_path/'in')
    out, made, runs, table = (str(tmp_path/name) for name in ('out','de-mt','runs','t.tsv'))
    assert main(['import','tsv',str(tmp_path/'in'),'-o',out,'--task','acc']) == 0
    assert main(['export','texts',f'{out}/en','-o',table,'--splits','train,deb']) == 1
    assert "--splits: there is no part 'deb'; choose from train, dev, test" in capsys.readouterr().err
    assert main(['export','tsv',f'{out}/en','-o',table,'--splits','train']) == 1
    assert main(['export','texts',f'{out}/en','-o',table,'--splits','train,dev,test']) == 0
    lines = (tmp_path/'t.tsv').read_text().splitlines()
    assert len(lines) == 22 # Of all three parts
    (tmp_path/'t.tsv').write_text(''.join(line.replace('\ten', '\tde') + '\n' for line in lines))
    assert main(['import','translation',f'{out}/en',table,'-o',made,'--language','de','--human',f'{out}/de']) == 0
    run = ['eval',f'{out}/de','-t','acc','-m',str(tiny_bert),'--recipe','tiny','--epochs','1','--runs',runs]
    assert main([*run,'--protocol','transfer','--train',made,'--train',f'{out}/en']) == 0
    trained = {tuple(r.train) for r in read_runs(runs)}
    assert trained == {('de-mt',), ('en',)}
    assert main([*run,'--protocol','in-language']) == 0
    capsys.readouterr()
    assert main(['tables','--protocol','transfer','--runs',runs]) == 0
    said = capsys.readouterr().out
    assert '| de-mt |' in said and '| en |' in said and '| in-language |' in said

def test_tables_of_translations_and_of_xtreme_say_which_folder_is_wrong(tmp_path, capsys):
    nope, here = str(tmp_path/'nope'), str(tmp_path)
    refused = lambda *command: capsys.readouterr().err if main([*command]) == 1 else ''
    wrote = 'is not a folder that `pronto import translation --human` wrote; name one'
    for folder in nope, here: assert f'{folder}: {wrote}' in refused('mt','tables',folder,'--runs',here)
    for command in ['mt','tables',here], ['xtreme','tables']:
        assert 'nope: is not a folder; name the folder of the runs' in refused(*command, '--runs', nope)

def _records(monkeypatch, module, *records):
    same = dict(task='sentence_mood', model='m', protocol='transfer', train=['en'], dataset_hash='d', accuracy=.5)
    filled = [Run(**same | record) for record in records]
    monkeypatch.setattr(f'pronto.lab.suites.{module}.read_runs', lambda *_: filled)

def test_runs_with_a_limit_are_compared_with_runs_of_the_same_limit(tmp_path, monkeypatch):
    "Names say the limit where there are several; differences are those of the printed scores; tasks have their abbreviation"
    from pronto.lab.suites.mt_tables import make_translation_tables
    (tmp_path/'manifest.json').write_text('{"code": "de-mt", "human": "de", "chrf": 50}')
    two = lambda human, machine, **about: [dict(dataset='de', accuracy=human) | about,
                                           dict(dataset='de-mt', accuracy=machine) | about]
    limited = two(.7454, .7406, limit=50)
    _records(monkeypatch, 'mt_tables', *limited)
    made = make_translation_tables([tmp_path], 'runs', tmp_path/'out')[0].markdown()
    assert '| m | SM | de | 74.5 | 74.1 | 0.4 | 50.0 |' in made
    assert 'Runs with --limit 50: scores over at most so many examples' in made
    _records(monkeypatch, 'mt_tables', *limited, *two(.9, .8))
    both = make_translation_tables([tmp_path], 'runs')[0].markdown()
    assert '| m | SM | de | 90.0 | 80.0 | 10.0 | 50.0 |' in both and '| m (limit 50) | SM | de | 74.5 |' in both
    _records(monkeypatch, 'mt_tables', dict(dataset='de', limit=50), dict(dataset='de-mt', limit=9))
    with pytest.raises(InputError, match='and the same --limit, if any'):
        make_translation_tables([tmp_path], 'runs')

def test_runs_with_a_limit_are_counted_that_the_tables_of_xtreme_leave_out(monkeypatch):
    from pronto.lab.suites.results import make_xtreme_tables
    tatoeba, lines = dict(task='tatoeba', dataset='de', protocol='in-language'), []
    _records(monkeypatch, 'results', tatoeba | dict(limit=50), tatoeba | dict(limit=9))
    with pytest.raises(InputError, match=r'only with a limit \(2\), which are left out'): make_xtreme_tables('runs')
    _records(monkeypatch, 'results', tatoeba, tatoeba | dict(limit=9))
    make_xtreme_tables('runs', report=lines.append)
    assert lines == ['runs of tasks of XTREME with a limit, which are left out: 1']

def test_what_cannot_be_translated(tmp_path, treebanks, capsys):
    "Tags belong to words, so their sentences cannot be replaced"
    assert main(['import','tsv',str(treebanks),'-o',str(tmp_path/'out'),'--kind','tagging','--task','pos']) == 0
    assert main(['export','texts',str(tmp_path/'out'/'de'),'-o',str(tmp_path/'t.tsv')]) == 1
    assert 'has no task with texts to translate: labels of words, or answers at a place in a text, are lost' in capsys.readouterr().err

def test_what_an_import_of_ones_own_tables_says(tmp_path, capsys):
    "Labels that not all languages have, empty tables, and answers that are not in their context"
    for name,text in ('de/train.tsv', 'a\tx\nb\ty\n'), ('de/test.tsv', 'a\tz\n'), ('fr/test.tsv', 'a\ty\n'), ('fr/dev.tsv', ''):
        (tmp_path/'in'/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/'in'/name).write_text(text)
    assert main(['import','tsv',str(tmp_path/'in'),'-o',str(tmp_path/'out')]) == 0
    told = capsys.readouterr().err
    assert 'dev.tsv: has no rows' in told
    (tmp_path/'asked').mkdir()
    (tmp_path/'asked'/'test.json').write_text(squad(('Bonn', 3), ('Rom', 0)))
    assert main(['import','tsv',str(tmp_path/'asked'),'-o',str(tmp_path/'q'),'--kind','questions']) == 0
    assert 'test.json: 1 answers not in the context' in capsys.readouterr().err

# Choices of benchmarks, and XNLI with two labels

COLUMNS = '\t'.join(['InputStoryid', *(f'InputSentence{i}' for i in range(1, 5)), 'RandomFifthSentenceQuiz1',
                    'RandomFifthSentenceQuiz2', 'AnswerRightEnding']) + '\n'
PREMISE = '{"premise": "a", "choice1": "b", "choice2": "b", "question": "cause", "label": 0, "idx": 0}\n'
STORIES = 'spring2016.val.es.tsv.split_20_80_eval.tsv'

def put_choices(folder, n=4):
    "XCOPA in Italian, without train, and XStoryCloze in Spanish, without dev; in the layout of their repositories"
    (folder/'data'/'it').mkdir(parents=True)
    for split in 'val', 'test':
        lines = [dict(premise=f'Kim {i} cadde.', choice1=f'Kim {i} dormì.', choice2="C'era ghiaccio.",
                      question=('cause','effect')[i % 2], label=i % 2, idx=i, changed=False) for i in range(n)]
        (folder/'data'/'it'/f'{split}.it.jsonl').write_text(''.join(json.dumps(line) + '\n' for line in lines))
    rows = [[f'id-{i}', 'Kim salió.', 'Llovía.', 'Volvió.', f'Comió {i}.', 'Durmió.', '"Dijo ""sí"""', str(i % 2 + 1)] for i in range(n)]
    for split in 'train', 'eval':
        (folder/STORIES.replace('eval', split)).write_text(COLUMNS + ''.join('\t'.join(row) + '\n' for row in rows))
    return folder

def test_choices_of_benchmarks_are_imported(tmp_path, capsys):
    from pronto.datasets.loading import load_dataset_folder
    out = tmp_path/'out'
    assert main(['import','choices',str(put_choices(tmp_path/'in')),'-o',str(out)]) == 0
    said = capsys.readouterr().out
    assert '| xcopa | choice | 1 | 0 | 4 | 4 | 0 |' in said and '| xstorycloze | choice | 1 | 4 | 0 | 4 | 0 |' in said
    premise, story = (load_dataset_folder(out/code).tasks[stem]['test'][1] for code,stem in (('it','xcopa'), ('es','xstorycloze')))
    assert (premise.before, premise.sense, premise.context, premise.answer) == ('Kim 1 cadde quindi', 'effect', 'Kim 1 cadde.', 1)
    assert (story.id, story.context, story.text) == ('id-1', 'Kim salió. Llovía. Volvió. Comió 1.', 'Dijo "sí"')
    assert main(['eval', str(out/'es'), '-t', 'xstorycloze']) == 0
    assert '| XStoryCloze | 50.0 |' in capsys.readouterr().out

@pytest.mark.parametrize('name, text, problem', [
    ('data/it/test.it.jsonl', '{"premise": "a"}\n', 'test.it.jsonl, line 1: choice1: '),
    ('data/it/test.it.jsonl', '[]\n', 'test.it.jsonl, line 1: 0: Field required'),
    ('data/it/test.it.jsonl', PREMISE, 'test.it.jsonl, line 1: has two identical choices'),
    ('data-gmt/test.it.jsonl', '', 'is there twice'),
    (STORIES, COLUMNS + 'x\ta\tb\tc\td\te\tf\t0\n', 'eval.tsv, line 2: is not an id, four sentences'),
    (STORIES, COLUMNS + 'x\ta\tb\tc\td\te\te\t1\n', 'eval.tsv, line 2: has two identical choices')])
def test_damaged_tables_of_choices(tmp_path, capsys, name, text, problem):
    folder = put_choices(tmp_path/'in')
    (folder/name).parent.mkdir(exist_ok=True)
    (folder/name).write_text(text)
    assert main(['import','choices',str(folder),'-o',str(tmp_path/'out')]) == 1
    said = capsys.readouterr().err
    assert problem in said and said.count('\n') == 1 and not (tmp_path/'out').exists()

def test_xnli_with_two_labels_is_a_task_beside_that_with_three(tmp_path, capsys):
    (tmp_path/'in'/'xnli').mkdir(parents=True)
    rows = ''.join(f'a {i}\tb\t{label}\n' for i,label in enumerate(('entailment','neutral','contradiction')))
    (tmp_path/'in'/'xnli'/'test-de.tsv').write_text(rows)
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'out'),'--binary']) == 0
    labels = [row.label for row in rows_of(tmp_path/'out'/'de', 'binary_nli', 'test')]
    assert labels == ['entailment','not_entailment','not_entailment'] and (tmp_path/'out'/'labels'/'xnli').exists()
    assert [row.label for row in rows_of(tmp_path/'out'/'de', 'xnli', 'test')] == ['entailment','neutral','contradiction']
    assert main(['import','choices',str(tmp_path/'in'),'-o',str(tmp_path/'x')]) == 1
    assert 'holds no table of XCOPA or XStoryCloze' in capsys.readouterr().err

def test_choices_are_asked_by_likelihood_and_in_words(tmp_path, capsys, monkeypatch):
    "Sets of test alone, too; the answer to XNLI is a word, the same for a server"
    pytest.importorskip('torch')
    from pronto.demo.tiny_causal import pretrain_causal
    from pronto.lab.modeling.served import _place_of
    model = pretrain_causal(['Kim cadde yes no . Kim dormì perché quindi ghiaccio'], tmp_path/'gpt', 2)
    folder, data, runs = put_choices(tmp_path/'in', 20), tmp_path/'out', str(tmp_path/'runs')
    (folder/'data'/'it'/'val.it.jsonl').unlink()
    assert main(['import','choices',str(folder),'-o',str(data)]) == 0
    for protocol in ['likelihood'], ['prompting','--recipe','prompt-0']:
        command = ['eval',str(data/'it'),str(data/'es'),'-m',str(model),'--runs',runs,'--quiet','--protocol',*protocol]
        assert main(command) == 0, capsys.readouterr().err
    assert {(r.task, r.protocol, r.counts['test']) for r in read_runs(runs)} == {
        (task, protocol, 20) for task in ('xcopa','xstorycloze') for protocol in ('likelihood','prompting')}
    capsys.readouterr()
    assert main(['tables','--runs',runs,'--question','prompting']) == 0 and '| XCOPA | gpt | it | 0 |' in capsys.readouterr().out
    (tmp_path/'in'/'xnli').mkdir()
    (tmp_path/'in'/'xnli'/'test-it.tsv').write_text('Kim cadde\tKim\tentailment\nKim\tghiaccio\tneutral\n')
    assert main(['import','xtreme',str(tmp_path/'in'),'-o',str(tmp_path/'nli'),'--binary']) == 0
    command = ['eval',str(tmp_path/'nli'/'it'),'-t','binary_nli','-m',str(model),'--runs',runs,'--protocol',*protocol]
    assert main(command) == 0, capsys.readouterr().err
    said = [_place_of(text, '[]', 2, ('yes','no')) for text in ('Yes.', '<think>no</think>\n**no**', 'I think so', 'None', None)]
    assert said == [0, 1, None, None, None]
