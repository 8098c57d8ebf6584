"`pronto card`: a page on a Bible and a model, from nothing but the two"
import base64, json, re, shlex, shutil
from pathlib import Path

import pytest

from conftest import ROOT
from pronto.cli.command import main

@pytest.fixture
def corpus(embedded_corpus, tmp_path, monkeypatch):
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    return shutil.copytree(embedded_corpus, tmp_path/'corpus')

@pytest.mark.slow
def test_a_page_from_a_bible_and_a_model(corpus, model, tmp_path, capsys, monkeypatch):
    bible, page = corpus/'bibles'/'qad.tsv', tmp_path/'card.html'
    argv = ['card', str(bible), '-m', f'tiny={model}', '-a', str(corpus/'ontonotes'), '-o', str(page), '--language', 'Wolof', '--all-tasks']
    assert main(argv) == 0
    text = page.read_text(encoding='utf-8')
    said = capsys.readouterr().out
    assert said.startswith('Does tiny read Wolof?\n') and said.endswith(f'{page}: open it in a browser\n')
    assert re.search(r'guessing \|o +\| 0\n.*counting words', said) and 'tiny on English |' in said
    for part in ('What to do next', 'Each task', 'This text', 'What the tasks ask', 'Verses to read', 'commonest label',
                 'in Wolof', 'Judged by length, capitals and punctuation alone: ', 'sentence mood (SM)', 'xlm-roberta-base',
                 'pronto pretrain'):
        assert part in text, part
    assert 'best score without a model' in text.split('<summary>Each task')[1].split('</details>')[0]
    asked = text.split('What the tasks ask')[1]
    assert re.search(r'name as the subject \(PNS\).*?>(yes|no)<', asked, re.S) # Not 1 or 0
    png = base64.b64decode(re.search('base64,([^"]+)', text)[1])
    assert int.from_bytes(png[16:20], 'big') <= 358 # Pixels: a telephone shows it as it is
    assert 'Traceback' not in text and 'papermill' not in text
    assert [a for a in re.findall(r'(?:src|href)="([^"]*)"', text) if not a.startswith(('data:', '#'))] == []
    assert main([]) == 0 # The next commands work
    suggested = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip().startswith('pronto ')]
    assert suggested[0] == 'pronto tables' and 'pronto report -o report.html' in suggested
    monkeypatch.chdir(tmp_path)
    for command in suggested[:2]: assert main(shlex.split(command)[1:]) == 0, command
    assert (tmp_path/'data'/'datasets'/'qad'/'manifest.json').is_file()

@pytest.mark.slow
def test_without_a_model_it_says_what_one_has_to_beat(corpus, tmp_path, capsys):
    bible, page = corpus/'bibles'/'qad.tsv', tmp_path/'card.html'
    assert main(['card', str(bible), '-o', str(page), '--language', 'Wolof', '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['models'] == [] and isinstance(found['ngrams'], float) and found['path'] == str(page)
    text = page.read_text(encoding='utf-8')
    assert 'No model was asked yet' in text and 'What each task gives without a model' in text
    assert f'pronto pretrain {bible} -o my-model' in text and 'microbert-wolof-m' in text
    from pronto.datasets.finding import find_dataset
    folder = find_dataset('qad')
    assert main(['card', str(folder), '-o', str(page), '--language', 'Ewe']) == 0 # Which is built already
    assert capsys.readouterr().out.startswith('Ewe: ') and 'Ewe' in page.read_text(encoding='utf-8')
    from pronto.datasets.loading import load_manifest
    assert load_manifest(folder)['language'] == 'Ewe'

@pytest.mark.slow
def test_two_models_are_compared(corpus, model, tmp_path, capsys, monkeypatch):
    "Also as numbers for programs; what is kept is shown again without loading a tokenizer, which takes seconds"
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-m', f'one={model}', '-m', f'two={model}', '-o', str(tmp_path/'card.html')]
    assert main([*argv, '--json']) == 0
    said = capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr('pronto.modeling.architectures.load_tokenizer', None)
        assert main([*argv, '--json']) == 0 and capsys.readouterr().out == said
    one, two = json.loads(said)['models']
    assert one['number'] == two['number'] and isinstance(one['english'], float) and one['verdict'] == 'too little text to say'
    text = (tmp_path/'card.html').read_text(encoding='utf-8')
    assert 'sentence mood' not in text.split('<summary>Each task')[1].split('</details>')[0] # Asked with --all-tasks
    assert 'Which model reads' in text and 'There is no clear difference between one and two on' in text and 'Compare two' not in text

@pytest.mark.slow
def test_a_model_that_predicts_the_next_word_is_asked_which_sentence_it_finds_more_probable(corpus, tmp_path, capsys):
    import zoo
    model = zoo.save_model(tmp_path/'decoder', 'gpt2')
    (tmp_path/'data'/'datasets'/'broken').mkdir(parents=True)
    for name in 'manifest.json', 'sentence_mood_train.tsv': # Another translation is looked for here
        (tmp_path/'data'/'datasets'/'broken'/name).write_text('{')
    capsys.readouterr()
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-m', str(model), '-o', str(tmp_path/'card.html'), '--language', 'Wolof']
    assert main([*argv, '--json']) == 0
    (found,) = json.loads(capsys.readouterr().out)['models']
    assert found['has_read_text'] is found['above_readers'] is False
    assert found['memory']['exact'] == 0 <= found['memory']['ngram_exact'] and 'chrf' in found['memory']['intervals']
    assert main(argv) == 0
    said = capsys.readouterr()
    assert 'Nothing shows that decoder has read this very text: it completes 0 % of its verses word for word' in said.out
    assert 'Asked which of the sentences is more probable: decoder.' in said.out and 'decoder on English |' in said.out
    assert 'broken' in said.err # It is named, and ends nothing
    assert said.err.splitlines()[0] == 'build the tasks' and 'write the page' in said.err

@pytest.mark.slow
def test_a_model_that_cannot_be_asked_what_it_has_read_has_its_number(corpus, tmp_path, capsys, monkeypatch):
    import zoo
    from pronto.core.files import InputError
    def fails(*args): raise InputError('decoder', 'cannot complete text; choose another model')
    monkeypatch.setattr('pronto.reporting.card_page.other_wording', fails)
    model = zoo.save_model(tmp_path/'decoder', 'gpt2')
    page = tmp_path/'card.html'
    assert main(['card', str(corpus/'bibles'/'qad.tsv'), '-m', str(model), '-o', str(page), '--language', 'Wolof']) == 0
    why = 'Whether decoder has read this very text was not asked: decoder: cannot complete text'
    assert why in capsys.readouterr().out and why in page.read_text(encoding='utf-8')

@pytest.mark.slow
def test_another_wording_is_no_part_of_the_same_translation(corpus, tmp_path):
    "A gospel and the Bible that it is from lie side by side in many data folders"
    from dataclasses import replace
    from pronto.bibles.reading import read_bible
    from pronto.datasets.align import TEXT_ALONE
    from pronto.datasets.building import build
    from pronto.datasets.loading import open_dataset
    from pronto.reporting.card_page import other_wording
    bible, folder = read_bible(corpus/'bibles'/'qad.tsv'), tmp_path/'data'/'datasets'
    def built(name, language, rows):
        how = dict(language=language, min_verses=1, checked=False, report=str)
        build(TEXT_ALONE, replace(bible, rows=rows), folder/name, **how)
    half = bible.rows[:len(bible.rows)//2]
    turned = [row._replace(text=row.text[::-1]) for row in bible.rows]
    built('half', 'wol', half)
    built('whole', 'wol', bible.rows)
    built('in-ewe', 'ewe', turned)
    asked = open_dataset(folder/'half')
    assert other_wording(asked, str) is None
    built('turned', 'wol', turned)
    assert other_wording(asked, str) == folder/'turned'

def test_labels_are_added_where_they_are_asked_for_and_stay(corpus, tmp_path):
    "Also where the text changes; a dataset whose Bible is elsewhere says so"
    from pronto.core.files import InputError
    from pronto.datasets.finding import WITHOUT, find_dataset
    from pronto.datasets.loading import load_manifest
    bible = shutil.copy(corpus/'bibles'/'qad.tsv', tmp_path/'mine.tsv')
    def tasks(annotations, lines):
        return {*load_manifest(find_dataset(str(bible), annotations=annotations, report=lines.append))['counts']}
    choices = tasks(WITHOUT, [])
    with pytest.raises(InputError, match='mine: has to be built again, and there is no Bible'): find_dataset('mine', annotations='open')
    labelled = tasks('open', [])
    assert choices < labelled and tasks(WITHOUT, []) == labelled
    bible.write_text(bible.read_text(encoding='utf-8').split('\n', 3)[3], encoding='utf-8')
    lines = []
    assert tasks(WITHOUT, lines) == labelled and any('built again, as the text changed' in line for line in lines)

def test_a_card_that_is_stopped_says_how_to_go_on(corpus, model, tmp_path, capsys, monkeypatch):
    def stop(*args): raise KeyboardInterrupt
    monkeypatch.setattr('pronto.cli.card_command._ask', stop)
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-m', str(model), '-o', str(tmp_path/'card.html')]
    assert main(argv) == 130
    assert capsys.readouterr().err.splitlines()[-1].endswith(f'encodings are cached; resume with: pronto {shlex.join(argv)}')
    assert not (tmp_path/'card.html').exists()

def test_a_new_testament_lacks_no_old_one():
    from pronto.core.refs import NT_BOOKS
    from pronto.reporting.card import about_bible
    facts = dict(code='din', language='din', licence='free', verses=dict(aligned=7947, missing=23150), bible=dict(missing=10))
    said = about_bible(facts, NT_BOOKS)
    assert 'It is the New Testament.' in said and '10 verses of its books are missing' in said and '23,150' not in said
    assert 'What it says of its licence: “free”.' in said

def test_without_annotations_those_of_the_package_are_taken(corpus):
    from pronto.datasets.finding import find_dataset
    from pronto.datasets.loading import load_manifest
    found = load_manifest(find_dataset(str(corpus/'bibles'/'qad.tsv'), report=str))
    assert found['source']['name'].endswith('ACAI') and found['counts']['people_named']['test'] > 0 and 'word_order' in found['choices']

def test_an_unknown_model_is_a_line_before_anything_is_built(corpus, model, tmp_path, capsys):
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-a', str(corpus/'ontonotes'), '-o', str(tmp_path/'card.html')]
    for name in 'no/model', f'{model}y':
        assert main([*argv, '-m', name]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert name in line and ('did you mean' in line) == (name != 'no/model')
    assert not (tmp_path/'card.html').exists() and not (tmp_path/'data').exists()

def test_a_name_that_is_nearly_one_on_the_hub_is_told_and_a_path_is_not_to_be_downloaded(tmp_path, monkeypatch):
    from pronto.core.files import InputError
    from pronto.modeling.model import Model
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    with pytest.raises(InputError, match='did you mean xlm-roberta-base. Fetch that with .hf download xlm-roberta-base.'):
        Model.find('xlm-roberta-bose')
    with pytest.raises(InputError, match='check the path$'): Model.find(str(tmp_path/'nothing'/'here'))

CANNOT_WRITE = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-dac_override,-dac_read_search']

@pytest.mark.parametrize('option', ['-o', '--runs', 'PRONTO_DATA'])
def test_what_cannot_be_written_is_a_line_before_the_work(option, corpus, model, tmp_path):
    "Also for root, who may write everywhere unless that is taken away"
    import os, subprocess, sys
    (tmp_path/'locked').mkdir()
    (tmp_path/'locked').chmod(0o555)
    env = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)} | ({option: str(tmp_path/'locked')} if option.isupper() else {})
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-m', str(model)]
    argv += [option, str(tmp_path/'locked'/'card')] if not option.isupper() else []
    argv += [] if option == '-o' else ['-o', str(tmp_path/'card.html')]
    as_user = CANNOT_WRITE if os.geteuid() == 0 else []
    if as_user and not shutil.which('setpriv'): pytest.skip('root cannot be kept from writing')
    code = 'import sys; from pronto.cli.command import main; sys.exit(main())'
    found = subprocess.run([*as_user, sys.executable, '-c', code, *argv], env=env, capture_output=True, text=True)
    assert found.returncode == 1 and found.stdout == ''
    (line,) = found.stderr.splitlines()
    assert line.startswith(f'pronto: {tmp_path/"locked"}') and 'cannot be written (Permission denied)' in line
    assert not (tmp_path/'data').exists()

@pytest.mark.slow
def test_a_text_of_forty_verses_is_too_little(corpus, model, tmp_path, capsys):
    rows = (corpus/'bibles'/'qad.tsv').read_text(encoding='utf-8').splitlines(keepends=True)
    (tmp_path/'few.tsv').write_text(''.join(rows[:40]), encoding='utf-8')
    argv = ['card', str(tmp_path/'few.tsv'), '-m', str(model), '-o', str(tmp_path/'card.html'), '--min-verses', '10']
    assert main(argv) == 0 and 'This text is too short to say whether tiny reads text in this language. ' in capsys.readouterr().out

def test_a_task_with_rows_in_two_folds_only_is_named(tmp_path):
    "Of the other chapters, verses are too short for it"
    from test_choices import made_up
    from pronto.bibles.rows import Bible, VerseRow
    from pronto.datasets.align import TEXT_ALONE
    from pronto.datasets.building import build
    from pronto.datasets.loading import open_datasets
    from pronto.reporting.card_page import Card, card_text
    rows = [VerseRow(ref.book, ref.chapter, str(ref.verse), text if ref.chapter < 3 else ' '.join(text.split()[:4]))
            for ref,text in made_up().items() if ref.book == 'MRK']
    build(TEXT_ALONE, Bible(rows), tmp_path/'qaa', splits='folds', min_verses=1, report=str)
    dataset, = open_datasets([tmp_path/'qaa'], report=None)
    said = 'Left out of the number, as fewer than 3 of 10 folds of this text have rows to test: WX.'
    assert said in card_text(Card(dataset)).splitlines()

def test_a_text_alone_has_no_labels_that_are_missing():
    from pronto.datasets.align import TEXT_ALONE
    from pronto.reporting.card import about_bible
    facts = dict(code='wol', language='wol', source=dict(name=TEXT_ALONE.source.name), verses=dict(unannotated=648, empty=30))
    said = about_bible(facts)
    assert '648 verses are used as they are. Others are used in some tasks only, or not at all: 30 have no text.' in said
    said = about_bible(facts | dict(source=dict(name='ACAI'), verses=dict(aligned=600, unannotated=48)))
    assert '600 verses are used as they are, with labels projected from ACAI. ' in said and '48 have no annotation.' in said

def test_a_page_is_silent_on_tasks_that_nobody_asked_about():
    from types import SimpleNamespace
    from pronto.reporting.card_page import Card, _facts
    warnings = ['same_arg_count: the dev split is empty', 'fold 2: sentence_mood: labels', 'word_order: few', 'the text is short']
    manifest = dict(counts=dict.fromkeys(['same_arg_count','sentence_mood','word_order'], {}), warnings=warnings)
    def said(**asked): return _facts(Card(SimpleNamespace(manifest=manifest), **asked))['warnings']
    assert said(runs=[SimpleNamespace(task='word_order')]) == said(baselines=dict(word_order={})) == warnings[2:]
    assert said(baselines=dict.fromkeys(manifest['counts'])) == warnings

def test_a_model_is_trained_on_the_text_whatever_names_it(tmp_path, monkeypatch):
    from pronto.reporting.card import next_steps
    monkeypatch.chdir(tmp_path)
    for bible in 'wol', '': # A code of the data folder, or no name of a file
        assert f'pronto pretrain {tmp_path}/wol/text.tsv -o' in next_steps(tmp_path/'wol', [], bible=bible)
    (tmp_path/'wol.usfm').touch()
    assert 'pronto pretrain wol.usfm -o' in next_steps(tmp_path/'wol', [], bible='wol.usfm')

def test_an_adapter_is_to_be_merged_first(corpus, tmp_path, capsys):
    (tmp_path/'lora').mkdir()
    (tmp_path/'lora'/'adapter_config.json').write_text('{}')
    argv = ['card', str(corpus/'bibles'/'qad.tsv'), '-a', str(corpus/'ontonotes'), '-o', str(tmp_path/'card.html')]
    assert main([*argv, '-m', str(tmp_path/'lora')]) == 1
    assert 'is an adapter without its model; merge it first' in capsys.readouterr().err

@pytest.mark.slow
def test_a_short_bible_says_an_option_that_there_is(corpus, model, tmp_path, capsys, monkeypatch):
    rows = (corpus/'bibles'/'qad.tsv').read_text(encoding='utf-8').splitlines(keepends=True)
    (tmp_path/'short.tsv').write_text(''.join(rows[:300]), encoding='utf-8')
    argv = ['card', str(tmp_path/'short.tsv'), '-m', str(model), '-a', str(corpus/'ontonotes'), '-o', str(tmp_path/'card.html')]
    assert main(argv) == 1 and 'or lower --min-verses\n' in capsys.readouterr().err
    monkeypatch.setattr('pronto.cli.card_command._ask', lambda *given: None)
    assert main([*argv, '--min-verses', '100']) == 0

@pytest.mark.slow
def test_a_code_is_built_from_whatever_annotations_the_data_folder_holds(corpus, tmp_path):
    "Under any name, and with the licence that was noted when the text was fetched"
    from pronto.bibles.languages import sha256_of
    from pronto.datasets.loading import load_manifest
    from pronto.datasets.finding import find_dataset
    from pronto.sources.annotate import annotate
    from pronto.sources.annotation_file import write_annotations
    data = tmp_path/'data'
    for folder in data/'bibles', data/'fetched': folder.mkdir(parents=True)
    text = Path(shutil.copy(corpus/'bibles'/'qad.tsv', data/'bibles'/'qad.tsv'))
    (data/'fetched'/'ebible-qad.tsv.json').write_text(json.dumps(dict(licence='free', sha256={'x': sha256_of(text)})))
    assert load_manifest(find_dataset('qad', report=str))['source']['name'].endswith('ACAI')
    shutil.rmtree(data/'datasets')
    for name in 'mine', 'older': write_annotations(annotate(corpus/'ontonotes'), data/f'{name}.parquet')
    said = []
    assert find_dataset('qad', report=said.append) == data/'datasets'/'qad'
    assert said == [f'annotations: {data/"mine.parquet"} (others: {data/"older.parquet"}; choose with -a)']
    assert load_manifest(data/'datasets'/'qad')['licence'] == 'free'
    assert find_dataset(str(text), annotations=data/'mine.parquet') == data/'datasets'/'qad'
    assert load_manifest(find_dataset('qad', report=str, language='Wolof'))['language'] == 'Wolof' # Built again
    wol = Path(shutil.copy(text, data/'bibles'/'wol.tsv'))
    assert find_dataset(wol, report=said.append, language='xxq9') and "'xxq9', which is no code or name in ISO 639" in said[-1]
    assert load_manifest(find_dataset(data/'datasets'/'qad', language='Ewe'))['language'] == 'Ewe'

@pytest.mark.slow
def test_what_pronto_suggests_runs_state_by_state(corpus, model, tmp_path, capsys, monkeypatch):
    "From an annotated source to the report; fine-tuning, downloads and the card of the test above are left out"
    data = tmp_path/'data'
    monkeypatch.setenv('HF_HOME', str(tmp_path/'no-cache')) # Models of this machine are not suggested
    monkeypatch.chdir(tmp_path)
    def follow():
        "Run what is suggested; the commands, without their options"
        capsys.readouterr()
        assert main([]) == 0
        lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines() if line.startswith('  pronto ')]
        chosen = [words[1:] for words in lines if words[1] not in ('card','fetch') and '--seeds' not in words]
        for words in chosen: assert main(words) == 0, (words, capsys.readouterr().err)
        return [words[0] for words in chosen]
    shutil.copytree(corpus/'ontonotes', data/'ontonotes')
    assert follow() == ['annotate']
    (data/'bibles').mkdir()
    shutil.copy(corpus/'bibles'/'qad.tsv', data/'bibles'/'qad.tsv')
    assert follow() == ['build']
    shutil.copytree(model, data/'models'/'tiny')
    assert follow() == ['probe']
    assert follow() == ['tables', 'report']
    assert (tmp_path/'report.html').is_file()

def test_the_numbers_of_other_models_are_those_of_the_study():
    import runpy
    from pronto.reporting.questions.question import find_question
    others_numbers = find_question('languages').of_language
    facts = runpy.run_path(str(ROOT/'benchmarks'/'world.py'))
    assert facts['FACTS'].read_text(encoding='utf-8') == facts['facts']() # If not: python benchmarks/world.py --facts
    assert re.search(r'a causal model \d+ \(\d+ to \d+, has read 5,000 verses\)', others_numbers('wol'))
    mean = r'In the \d+ languages of its family .* have −?\d+ of 100 on average, which is off by \d+ .*'
    assert re.fullmatch(mean, others_numbers('isl'))
