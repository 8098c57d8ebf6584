"Studies: a plan is checked before anything runs, its commands are made once, and what fails is listed"
import shutil, subprocess
from pathlib import Path
import pytest
from conftest import run_forked
from pronto.core.files import InputError
from pronto.lab.studies.study import Workplace, _input_hash, all_steps, find_plan, quick, read_plan, run_steps, study
from pronto.lab.studies.study_page import study_page, write_study_page

PLAN = '''
[sources]
ontonotes = "ontonotes"
[bibles]
qaa = { path = "bibles/qaa.usfx.xml", language = "qaa", read = "all" }
qab = { path = "bibles/qab", language = "qab", read = 100 }
[options]
few = ["--limit", "40"]
[[datasets]]
name = "demo"
source = "ontonotes"
options = ["--min-verses", "100"]
[models]
none    = { share = 0 }
student = { share = 1 }
[training]
student = ["--epochs", "1"]
[[runs]]
name = "probe"
protocol = "probe"
on = "demo"
models = ["none", "student"]
tasks = ["PNS"]
options = "few"
[tables]
questions = ["order", "transfer"]
'''

def plan_of(tmp_path, text=PLAN):
    path = tmp_path/'plan.toml'
    path.write_text(text, encoding='utf-8')
    return read_plan(path)

@pytest.mark.parametrize('old,new,told', [
    ('models = ["none"', 'models = ["nobody"', "probe: there is no model 'nobody'; choose from none, student, teacher"),
    ('source = "ontonotes"', 'source = "onto"', "demo: there is no source 'onto'"),
    ('on = "demo"', 'on = "dem"', "probe: there is no set of datasets 'dem'"),
    ('options = "few"', 'options = "many"', "probe: there is no set of options 'many'"),
    ('models = ["none"', 'bibles = ["qax"]\nmodels = ["none"', "probe: there is no translation 'qax'"),
    ('models = ["none"', 'bibles = "some"\nmodels = ["none"', "probe: there is no group 'some'; choose from all"),
    ('[[runs]]', '[[run]]', 'runs: Field required'),
    ('[tables]', '[table]', 'table: Extra inputs are not permitted'),
    ('read = 100', 'reads = 100', 'bibles qab reads: Extra inputs are not permitted'),
    ('language = "qab", ', '', 'bibles qab language: Field required'),
    ('qab = {', '"../qab" = {', "'../qab' cannot be the name of a file or folder"),
    ('[tables]', '[[runs]]\nname = "probe"\nprotocol = "probe"\non = "demo"\n[tables]',
     "2 of them are named 'probe'; give each its own name"),
    ('share = 0 }', 'share = 0, kind = "gpt" }', "models none kind: Input should be 'student', 'masked' or 'causal'"),
    ('"ontonotes"\n[bibles]', '{ path = "ontonotes", words = true }\n[bibles]',
     'sources ontonotes words: Extra inputs are not permitted'),
    ('protocol = "probe"', 'protocol = probe', 'give a plan in TOML'),
])
def test_a_wrong_plan_is_one_line(tmp_path, old, new, told):
    with pytest.raises(InputError) as e: plan_of(tmp_path, PLAN.replace(old, new, 1))
    assert told in str(e.value) and '\n' not in str(e.value)

@pytest.mark.parametrize('name', ['real', 'breadth'])
def test_the_plans_of_real_translations_are_whole(testdata, tmp_path, name):
    plan = read_plan(find_plan(name))
    missing = [b.path for b in plan.bibles.values() if not (testdata/b.path).exists()]
    assert not missing and all((testdata/source.path).exists() for source in plan.sources.values())
    place = Workplace(testdata, tmp_path, 'teacher', 2)
    stages = all_steps(plan, place)
    names = [f'{step.stage} {step.name}' for steps in stages for step in steps]
    assert len(names) == len({*names}) and len(stages) == 4 and len(stages[3]) > len(plan.runs)
    few = run_steps(*quick(plan, place))
    assert few and len(few) <= len(stages[3])
    limited = {step.name for step in few if '60' in step.command}
    assert limited and not {'perplexity','memory','retrieval'} & limited # Which train on nothing

def test_a_plan_asks_texts_without_labels_and_says_what_a_model_reads(tmp_path):
    text = PLAN.replace('= "ontonotes"', '= ""', 1).replace('[options]', '[groups]\none = ["qab"]\n[options]')
    text = text.replace('student = { share = 1 }', 'student = { share = 1, reads = "one", verses = 9 }')
    place = Workplace(tmp_path, tmp_path/'out', 'teacher')
    annotate, build, models, _ = all_steps(plan_of(tmp_path, text), place)
    assert not annotate and all(step.command[:3] == ['build', '-a', 'none'] for step in build)
    none, student = ([path.rpartition('=')[2] for path in step.command[:2]] for step in models)
    assert (none, student) == (['all','100'], ['0','9'])
    with pytest.raises(InputError, match="student: there is no group 'one'"):
        plan_of(tmp_path, text.replace('one = ["qab"]', ''))

def test_a_plan_is_like_another(tmp_path):
    base = tmp_path/'base.toml'
    base.write_text(PLAN, encoding='utf-8')
    plan = plan_of(tmp_path, f'like = "{base}"\n[options]\nfew = ["--limit", "7"]\n')
    assert plan.options == {'few': ['--limit','7']} and list(plan.bibles) == ['qaa','qab'] and plan.tables.questions
    base.write_text('like = "real"\n' + PLAN, encoding='utf-8')
    with pytest.raises(InputError, match='like: Extra inputs'): plan_of(tmp_path, f'like = "{base}"\n') # A third one
    with pytest.raises(InputError, match='reel is no study here|reel: is no study here'): find_plan('reel')

@pytest.mark.slow
def test_a_study_is_made_once_and_lists_what_failed(tmp_path, monkeypatch):
    pytest.importorskip('torch')
    monkeypatch.setattr(subprocess, 'run', run_forked)
    from pronto.demo.corpus import make_corpus, write_corpus
    from pronto.lab.modeling.pretrain import pretrain
    corpus = make_corpus(n_verses=600)
    write_corpus(corpus, tmp_path/'data')
    sizes = dict(vocab_size=400, layers=6, width=16, heads=2, max_length=128)
    pretrain([*corpus.english_text.values()][:200], tmp_path/'teacher', steps=0, device='cpu', **sizes)
    plan, place = plan_of(tmp_path), Workplace(tmp_path/'data', tmp_path/'out', str(tmp_path/'teacher'), 2)
    made = study(plan, place)
    assert not made.failed
    left, = write_study_page(made)
    assert left.startswith('no answer to transfer')
    page = (place.out/'tables'/'README.md').read_text(encoding='utf-8')
    assert '- probe, 40 rows, ' in page and '## What it cost' in page and str(tmp_path) not in page
    assert 'no answer to transfer: runs: has no runs' in page.split('## Missing')[1]
    assert (place.out/'tables'/'order.csv').is_file() and (place.out/'tables'/'order.png').is_file()
    read = (place.out/'tables'/'read.csv').read_text().splitlines()
    assert [line.split(',')[0] for line in read[1:]] == ['none', 'none', 'student', 'student'] # In two languages
    assert study_page(plan, place.out/'tables') == page

    again = study(plan, place)
    assert {name.split()[0] for name in again.run_now} == {'runs'} # The rest is there
    (place.data/'bibles'/'qab'/'README.txt').write_text('one file more') # A translation that changed, and a larger share
    text = PLAN.replace('none    = { share = 0 }', 'none    = { share = 0.5 }').replace('read = 100', 'read = 0')
    _input_hash.cache_clear()
    less = study(plan_of(tmp_path, text), place)
    assert not less.failed and {n for n in less.run_now if 'runs' not in n} == {'build demo qab', 'models none', 'models student'}
    shutil.rmtree(place.out/'models'/'student')
    Path(place.data/'bibles'/'qab'/'mine.txt').touch()
    broken = study(plan, place._replace(teacher=str(tmp_path/'nowhere')))
    assert any(line.startswith('models student:') and 'nowhere' in line for line in broken.failed), broken.failed
