"Notebooks that people run show, cell by cell, what is said here: a picture, a table, a sentence"
import base64, json, re

import pytest

from conftest import ROOT, cell_outputs, run_notebook

# In the order of the cells that show something
SHOWS = {name: [cell.split(':') for cell in cells.split()] for name,cells in {
    'arguments': '''ta20top2:sentence ac07:sentence ac12:sentence ac17:sentence ac20:table ac25:sentence ta22:picture ta05:table
        ta07:table ta09:sentence ta11:sentence''',
    'choices': '''chf03:sentence chf03p:picture chf05:sentence chf09:sentence chf12:table chf14:sentence chf16:table chf17g:sentence
        chf17i:table chf17m:table chf17k:table chf17b:table chf17c:picture chf17e:table''',
    'edges': 'edg02:sentence,picture edg11:sentence edg13:table edg15:sentence edg18:sentence edg20:table',
    'eval': '''evt0top2:sentence evc00001:table evt00003:picture evc00003:sentence evc00005:table evc00007:table evc00009:sentence
        38514147:table b94929a1:picture''',
    'fewshot': 'fe07top2:sentence fe11:picture fe13:table fe14:sentence',
    'gold': '''gdt0top2:sentence a0a96acf:sentence 5b6c31c8:picture gdt00003:sentence 375a0645:table 93766079:table df50e975:picture
        d1adaf5c:table 918038f9:table 20cc1b04:sentence,table a046ca3c:sentence,table''',
    'hindi': '''hit0top2:sentence 663a49d0:sentence e8f315a0:picture hit00003:sentence 494e6a5e:table 9f5d4c94:table
        80f42ec5:table e336040e:picture 3f7ab004:sentence''',
    'leak': '''lkt0top2:sentence c172981a:sentence 1251d8f7:sentence lkt00003:picture lkt00004:sentence 555a987b:table afeba6b8:table
        6c8b3c49:table''',
    'mela': 'ml11top2:sentence ml11d:picture ml11t:table ml08c:table ml10c:table',
    'mixes': 'mi07top2:sentence mi09:picture mi11:table mi15:sentence',
    'more_text': 'mt0top2:sentence mt08:sentence mt12:table',
    'noise': '''nzt0top2:sentence a35e036c:sentence 5b0cc19f:sentence nzt00003:picture b355a423:table 118e419e:table ce70302c:sentence
        61d20f7e:table a9f3c840:sentence''',
    'probe': 'pb07top2:sentence pb09:picture pb11:table pb13:table',
    'prompting': 'pp07top2:sentence pp09:picture pp11:table',
    'quickstart': '''qs000003:sentence,picture qs000005:sentence qs000007:sentence qs000011:table qs000013:table
        qs00014c:table''',
    'retrieval': 'nbr0top2:sentence nbr00012:picture nbr00007:table',
    'sources': '''srt0top2:sentence 1696a760:sentence 826aa724:sentence bf1c63ac:sentence 81a54db0:sentence 0c658f40:sentence
        ad630d9a:sentence 837de113:sentence cd6565bc:table 7a542abd:table 5e7ad0c3:sentence 3d82a627:picture srt00004:sentence
        4ffcb9fe:table f92a5d5f:table,sentence sj02:sentence 8a34cb6a:sentence''',
    'tables': 'tbt0top2:sentence tbt00003:picture tbt00006:table 07f199bd:sentence tbn2:table tbn3:picture',
    'tasks_quality': '''tqt0top2:sentence tq07:sentence tq11:sentence tq15:sentence tq18:table tq19:sentence tq34:table tq27:sentence
        tt09:picture tqt00004:sentence tt05:table tt08:table tt11:table tt12:sentence tt13:table tt14:picture''',
    'tiers': 'tn07top2:sentence tn09:picture tn11:table',
    'transfer': 'tr07top2:sentence tr09:picture tr11:table tr16:sentence',
    'walkthrough': '''13146ad7:sentence 842eb9eb:sentence 99377bcd:sentence 2531270d:sentence a9ad3a41:sentence 05562b04:sentence
        1f2e1939:sentence 12a3ca28:sentence aa216330:sentence 73bf170d:sentence 44a00d9a:sentence 045083db:picture walkown2:sentence
        b47c34fc:sentence walkten2:sentence''',
    'words': 'ww14:sentence ww06:sentence ww08:sentence ww17:picture ww12:table',
    'world': '''wld00002:sentence wld00004:table wld00006:sentence,table wld00008:table wld00009:picture wld00012:table
        wld00015:table wld00018:table wld00021:table wld00024:table wld00027:table wld00035:sentence,table wld00030:table''',
    'xtreme': 'xn05top2:sentence xn07draw:picture xn08mat:table xn06c:table'}.items()}

def kind(output):
    data = output.get('data', {})
    if output['output_type'] == 'error': return 'error'
    if 'image/png' in data: return 'picture'
    text = ''.join(data.get('text/markdown') or data.get('text/html') or data.get('text/plain') or output.get('text', ''))
    return 'table' if re.search(r'\|:?-+|<table', text) else 'sentence'

def shown_by(cells):
    "The cells that show something, and its kinds; notes on models and lines of progress, which a slow machine prints, are nothing"
    is_progress = re.compile(r'([^\n]* (left|does not know most tokens)[^\n]*\n)+')
    code = [(cell['id'], [o for o in cell['outputs'] if not is_progress.fullmatch(''.join(o.get('text', '')))])
            for cell in cells if cell['cell_type'] == 'code']
    return [[name, ','.join(dict.fromkeys(map(kind, outputs)))] for name,outputs in code if outputs]

def committed():
    "The notebook of each name with outputs: itself, or executed on the demo"
    for name in SHOWS:
        for path in ROOT/'nbs'/f'{name}.ipynb', ROOT/'nbs'/'executed'/f'{name}-demo.ipynb':
            cells = json.loads(path.read_text(encoding='utf-8'))['cells'] if path.exists() else []
            if shown_by(cells): yield pytest.param(name, cells, id=name)

@pytest.mark.parametrize('name, cells', list(committed()))
def test_what_is_committed_shows_it(name, cells): assert shown_by(cells) == SHOWS[name]

def test_the_picture_of_readme_is_that_of_the_study():
    cells = json.loads((ROOT/'nbs'/'world.ipynb').read_text(encoding='utf-8'))['cells']
    picture, = (o['data']['image/png'] for cell in cells for o in cell.get('outputs', ()) if 'image/png' in o.get('data', {}))
    assert base64.b64decode(picture) == (ROOT/'docs'/'world.png').read_bytes()

TRAINS = dict(n_verses=400, steps=1, limit=60)
SMALL = dict(transfer=TRAINS | dict(epochs=1), fewshot=TRAINS | dict(epochs=30, sizes='20', draws=1), mixes=TRAINS | dict(epochs=1),
             probe=TRAINS | dict(epochs=1, n_models=3), tiers=TRAINS | dict(n_models=2),
             prompting=TRAINS | dict(limit=12), retrieval=dict(n_verses=400, steps=1), eval=dict(epochs=1, limit=60), tables={})

@pytest.mark.slow
@pytest.mark.parametrize('name', SMALL)
def test_what_is_executed_shows_it(name, tmp_path):
    "With small parameters; first the finding. No block of warnings, nothing twice"
    ran = run_notebook(f'{name}.ipynb', tmp_path/'out.ipynb', SMALL[name], tmp_path, PRONTO_DATA=str(tmp_path/'data'))
    assert shown_by(ran.cells) == SHOWS[name]
    shown = [o['data'] for o in cell_outputs(ran) if 'data' in o]
    assert '**Finding' in shown[0]['text/markdown'] and 'not answer this question' not in shown[0]['text/markdown'] or name == 'eval'
    assert not [o.text for o in cell_outputs(ran) if o.get('name') == 'stderr'] and len({str(x) for x in shown}) == len(shown)
