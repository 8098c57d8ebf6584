"Retrieval on the command line, and the static models as models like others"
import json, os, re
from pathlib import Path
import pytest
from conftest import join_folds
from pronto.cli import main
from pronto.core.files import InputError
from pronto.lab.modeling.static_kind import STATIC
from pronto.lab.modeling.static_models import read_vectors
from pronto.modeling.model import Model, model_files, other_files
from pronto.modeling.recipes import find_recipe
from pronto.datasets.tasks import SM
from pronto.runs.store import predictions_of, read_record, read_runs

@pytest.fixture
def translations(tmp_path, monkeypatch):
    "Two small datasets whose second translation spells each word backwards"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    words, labels = 'so ne ra tu ki la'.split(), SM.labels
    for code,write in ('qaa', str), ('qab', lambda w: w[::-1]):
        folder = tmp_path/code
        folder.mkdir()
        (folder/'manifest.json').write_text(json.dumps(dict(code=code, splits='parallel')))
        for start,split in enumerate(('train','dev','test')):
            rows = [(' '.join(write(words[(i*k + start) % 6]) for k in range(1, 6)), labels[i % 3], f'MAT {1 + start}:{1 + i}')
                    for i in range(24)]
            (folder/f'sentence_mood_{split}.tsv').write_text(''.join('\t'.join(row) + '\n' for row in rows))
    return tmp_path/'qaa', tmp_path/'qab'

def toy_bert(folder):
    from transformers import BertConfig, BertModel, set_seed
    from pronto.lab.modeling.pretrain import learn_vocabulary
    learn_vocabulary(['so ne ra tu ki la', 'os en ar ut ik al'], 100, 32).save_pretrained(folder)
    set_seed(0)
    BertModel(BertConfig(vocab_size=100, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8,
                         max_position_embeddings=32)).save_pretrained(folder)
    return str(folder)

def test_retrieval_is_recorded_once(translations, tmp_path, capsys):
    foreign, english = map(str, translations)
    call = ['eval', foreign, '--protocol', 'retrieval', '--train', english, '-m', toy_bert(tmp_path/'toy'), '--runs', str(tmp_path/'runs')]
    assert main(call) == 0
    table = capsys.readouterr().out
    record, = (tmp_path/'runs'/'qaa'/'toy'/'retrieval').glob('*.json')
    made = record.stat().st_mtime_ns
    assert main(call) == 0 and record.stat().st_mtime_ns == made and capsys.readouterr().out == table
    found = json.loads(record.read_text())
    assert [(s['query'], s['database']) for s in found['scores'] if s['setting'] == 'xtreme'] == [('qab', 'qaa')]
    margin = next(s for s in found['scores'] if s['setting'] == 'margin')
    assert found['counts'] == dict(test=24) and found['accuracy'] == margin['accuracy'] and 'toy' in table
    assert found['unchecked'] and 'without a manifest, so that nothing tells whether they are whole: qaa' in table
    assert '| first token |' in table and f'{table}\n'.count('toy') == 2 and len(predictions_of(read_record(record))) == 24
    assert main(['tables', '--protocol', 'retrieval', '--runs', str(tmp_path/'runs'), '-o', str(tmp_path/'tables')]) == 0
    assert capsys.readouterr().out == table and table.startswith((tmp_path/'tables'/'retrieval.md').read_text())
    assert {p.suffix for p in (tmp_path/'tables').iterdir()} == {'.md','.tex','.csv','.png'}

def test_retrieval_searches_the_test_verses_of_all_folds(translations, tmp_path):
    "And not those of the first; a translation that is not in folds gives the verses it tests"
    split_at = lambda k, n: dict(zip(('train','dev','test'), [(k + 2) % n, (k + 1) % n, k]))
    for whole in translations:
        folder, tables = tmp_path/'folds'/whole.name, [(whole/f'sentence_mood_{s}.tsv').read_text() for s in ('train','dev','test')]
        for k in range(3):
            (folder/f'fold{k}').mkdir(parents=True)
            for split,i in split_at(k, 3).items(): (folder/f'fold{k}'/f'sentence_mood_{split}.tsv').write_text(tables[i])
        join_folds(folder, code=whole.name)
    model = toy_bert(tmp_path/'toy')
    def n_verses(foreign, english):
        "And the runs of each call apart"
        runs = tmp_path/f'runs-{len(list(tmp_path.glob("runs-*")))}'
        assert main(['eval', str(foreign), '--protocol', 'retrieval', '--train', str(english), '-m', model, '--runs', str(runs)]) == 0
        return [r.counts['test'] for r in read_runs(runs)]
    assert n_verses(tmp_path/'folds'/'qaa', tmp_path/'folds'/'qab') == [72] and n_verses(tmp_path/'folds'/'qaa', translations[1]) == [24]
    table = tmp_path/'folds'/'qab'/'sentence_mood_folds.tsv'
    untested = [line[:2] + line[2].replace('x', '-') + line[3:] for line in table.read_text().splitlines()]
    table.write_text(''.join(f'{line}\n' for line in [*untested, '--x\tso ne\tdeclarative\tMAT 9:9'])) # In one of both
    assert n_verses(tmp_path/'folds'/'qaa', tmp_path/'folds'/'qab') == [48]

def test_retrieval_says_what_is_missing(translations, capsys):
    assert main(['eval', str(translations[0]), '--protocol', 'retrieval', '-m', 'x']) == 1
    assert '--train: the protocol retrieval needs translations' in capsys.readouterr().err
    assert main(['sweep', str(translations[0]), '--protocol', 'retrieval', '--train', str(translations[1]), '-m', 'x']) == 1
    assert '--protocol: retrieval trains nothing, so a sweep is not needed' in capsys.readouterr().err

def vectors(folder):
    file = folder/'some.vec'
    file.write_text('3 2\nso 0 1\nos 1 0\nne 1 1\n')
    return file

def test_a_machine_translation_of_test_sets_needs_vectors_of_a_file(translations, tmp_path, capsys):
    "A machine translates test sets alone; the other models run all the same"
    human, source = translations
    made = tmp_path/'mt'/'qaa-mt'
    made.mkdir(parents=True)
    about = dict(code='qaa-mt', splits='parallel')
    (made/'manifest.json').write_text(json.dumps(about))
    for split in 'train','dev': (made/f'sentence_mood_{split}.tsv').write_text('')
    test = (human/'sentence_mood_test.tsv').read_text()
    (made/'sentence_mood_test.tsv').write_text(test.replace('so', 'sone'))
    call = ['eval', str(made), '--protocol', 'transfer', '--train', str(source), '-t', 'SM', '--epochs', '1']
    call += ['--runs', str(tmp_path/'runs')]
    assert main([*call, '-m', 'lstm']) == 1
    assert 'lstm: needs word vectors of its languages; name a file, e.g. -m lstm:vectors.vec' in capsys.readouterr().err
    assert main([*call, '-m', f'mlp:{vectors(tmp_path)}', '--epochs', '2']) == 0

def test_an_lstm_is_a_model_like_others(translations, tmp_path, capsys):
    foreign, english = map(str, translations)
    runs, file = str(tmp_path/'runs'), vectors(tmp_path)
    call = ['eval', foreign, '-m', f'lstm:{file}', '-m', f'words=mlp:{file}', '-t', 'SM', '--epochs', '1', '--runs', runs]
    assert main(call) == 0
    records = [json.loads(p.read_text()) for p in (tmp_path/'runs').glob('qaa/*/*/*.json')]
    assert {r['model'] for r in records} == {f'lstm:{file}', 'words'} and len({r['model_hash'] for r in records}) == 2
    assert {(r['recipe'], r['hyperparameters']['learning_rate'], r['hyperparameters']['hidden']) for r in records} == {('paper', 4e-4, 300)}
    capsys.readouterr()
    assert main(call) == 0 and capsys.readouterr().out.count('recorded before') == 2
    assert main([*call[:2], '--protocol', 'transfer', '--train', english, *call[2:]]) == 0
    assert STATIC.settings(find_recipe('paper', epochs=3), SM)['epochs'] == 3

def test_a_broken_vector_file_is_one_line(translations, tmp_path, capsys):
    file = tmp_path/'broken.vec'
    file.write_text('2 2\nso 1 0\nne 0\n')
    assert main(['eval', str(translations[0]), '-m', f'lstm:{file}', '-t', 'SM', '--runs', str(tmp_path/'runs')]) == 1
    assert 'broken.vec, line 3: has 1 numbers instead of 2' in capsys.readouterr().err
    with pytest.raises(InputError): read_vectors(file, {'so'})

def test_prompting_needs_a_causal_model(translations, tmp_path, capsys):
    model = toy_bert(tmp_path/'toy')
    assert main(['eval', str(translations[0]), '--protocol', 'prompting', '-m', model, '-t', 'SM', '--runs', str(tmp_path/'runs')]) == 1
    assert 'does not predict the next token; choose a causal model' in capsys.readouterr().err

def test_files_that_a_tokenizer_of_transformers_reads_are_in_the_hash(tmp_path):
    import transformers
    sources = Path(transformers.__file__).parent
    texts = [p.read_text(encoding='utf-8') for p in [*sources.glob('token*.py'), *sources.glob('models/*/token*.py')]]
    named = {name for text in texts for name in re.findall(r'"\w+_file": "([\w.-]+)"', text)}
    assert {'vocab.txt', 'bpe.codes', 'prophetnet.tokenizer', 'spm_char.model'} < named
    for name in named: (tmp_path/name).write_text(name)
    assert [p.name for p in model_files(tmp_path)] == sorted(named) and other_files(tmp_path) == []

def test_a_pipe_among_the_chat_templates_is_refused(tmp_path):
    for name in 'config.json', 'model.safetensors': (tmp_path/name).write_text('{}')
    (tmp_path/'additional_chat_templates').mkdir()
    os.mkfifo(tmp_path/'additional_chat_templates'/'x.jinja')
    with pytest.raises(InputError, match='x.jinja'): Model.find(tmp_path)

def test_doctor_lists_what_is_not_in_the_hash_of_a_model(tmp_path, capsys):
    for name in 'config.json', 'model.safetensors', 'chat_template.jinja', 'model.onnx': (tmp_path/name).write_text('{}')
    main(['doctor', '--model', str(tmp_path), '--json'])
    found = {f['topic']: f['what'] for f in json.loads(capsys.readouterr().out)['findings']}
    assert 'over chat_template.jinja, config.json, model.safetensors' in found['model']
    assert found['not in its hash'] == 'model.onnx; PrOnto reads none of these'
    assert main(['doctor', '--model', str(tmp_path/'none')]) == 1
    assert 'is neither a model folder' in capsys.readouterr().out
