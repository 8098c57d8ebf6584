"Each command's help is a screen, with an example that runs; `--help-all` has the rest"
import argparse, re, shlex, shutil
from pathlib import Path

import pytest

from conftest import ROOT
from pronto.cli.command import main, make_parser
from test_docs import embedded, fill, smaller # noqa: F401
from test_gold_alignments import FINNISH, GREEK
from test_suites import download, mela_zip, put_choices, submission

def parsers(parser):
    "A parser and those below it"
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values(): yield from parsers(below)

EVERY = {p.prog: p for p in parsers(make_parser())}
COMMANDS = {name: p for name,p in EVERY.items() if not p._subparsers}

@pytest.mark.parametrize('name', EVERY)
def test_help_is_a_screen(name, monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    text = EVERY[name].format_help()
    assert len(text.splitlines()) <= 25 and max(map(len, text.splitlines())) <= 95
    assert text.startswith(f'usage: {name} ') and EVERY[name].description

@pytest.mark.parametrize('name', EVERY)
def test_all_options_are_one_option_away(name, capsys):
    with pytest.raises(SystemExit) as ended: make_parser().parse_args([*name.split()[1:], '--help-all'])
    text, parser = capsys.readouterr().out, EVERY[name]
    assert not ended.value.code and f'{name} --help-all' in parser.format_help() or parser._subparsers
    assert [option for option in parser._option_string_actions if option not in text] == []

def test_usual_options_are_options():
    for name,parser in EVERY.items():
        known = {*parser._option_string_actions, *(c for a in parser._actions for c in a.choices or () if parser._subparsers)}
        assert {*parser.usual} <= known, name

def test_the_first_help_names_every_command():
    text = make_parser().format_help()
    commands = re.split('commands|Exit', text, maxsplit=1)[1]
    assert [name for name in EVERY if name.count(' ') == 1 and not re.search(rf'\b{name.split()[1]}\b', commands)] == []

def examples(name): return [shlex.split(re.search('pronto [^"()]*', line)[0]) for line in COMMANDS[name].examples]

@pytest.mark.parametrize('name', COMMANDS)
def test_a_command_has_an_example(name):
    "Its own, perhaps after another one, and the parser knows all of it"
    for words in examples(name):
        _, unknown = make_parser().parse_known_args(words[1:]) # Exits if an option is wrong
        assert not unknown
    assert examples(name)[-1][:len(name.split())] == name.split()

ELSEWHERE = { # They need a server, real texts, or runs of a benchmark
    'demo': 'test_demo', 'study': 'test_study', 'mt tables': 'test_suites', 'xtreme tables': 'test_suites',
    **{f'fetch {name}': 'test_fetch' for name in ('macula','ebible','acai','taxi1500','speakers')}}
IN_ORDER = ('annotate build card eval runs cache convert probe doctor export restore completion release sweep tables report pretrain'
            ).split() + ['quality sheet', 'quality score', 'quality parse', 'quality draft', 'quality align', 'import tsv',
            'import xtreme', 'import mela', 'import choices', 'import translation', 'xtreme predict', 'xtreme score', 'mela tables']

def test_every_example_is_run_somewhere():
    assert sorted(name.removeprefix('pronto ') for name in COMMANDS) == sorted([*IN_ORDER, *ELSEWHERE])
    for file in ELSEWHERE.values(): assert (ROOT/'tests'/f'{file}.py').is_file()

def lay_out(folder):
    "What the examples name beside the files of the tutorials"
    (folder/'reviews').mkdir()
    for part in 'train', 'dev', 'test':
        (folder/'reviews'/f'{part}.tsv').write_text(f'It was good in {part}.\tgood\nIt was bad in {part}.\tbad\n')
    download(folder)
    train = folder/'download'/'xnli'/'train-en.tsv'
    train.write_bytes(train.read_bytes()*6) # Ten rows or more give every tenth for dev
    (folder/mela_zip(folder)).rename(folder/'MELA.zip')
    put_choices(folder/'xcopa')
    for name,text in (('greek/41-mk-Mark.txt', GREEK), ('finnish/41-mk.txt', FINNISH)):
        (folder/'helfi'/name).parent.mkdir(parents=True)
        (folder/'helfi'/name).write_text(text, encoding='utf-8')
    submission(folder/'half-right')

def prepare(words):
    "What a person, or another command, does before a command runs"
    command = ' '.join(words[1:3])
    if command == 'quality score': fill('wol.csv', ['wol-anna.csv','wol-binta.csv'])
    if command == 'import translation': Path('texts.tsv').rename('translated.tsv')
    if command == 'xtreme score':
        for here,there in ('predictions','submission'), ('labels','xtreme/labels'): # In place of what is not labelled
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(f'half-right/{here}', there)

@pytest.mark.slow
def test_the_examples_run(embedded, tmp_path, monkeypatch, capfd): # noqa: F811
    pytest.importorskip('thot')
    shutil.copytree(embedded, tmp_path, symlinks=True, dirs_exist_ok=True)
    lay_out(tmp_path)
    shutil.rmtree(tmp_path/'data'/'datasets'/'wol') # An example builds it
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('PRONTO_DATA', raising=False)
    for words in [words for name in IN_ORDER for words in examples(f'pronto {name}')]:
        prepare(words)
        more = '--recipe xtreme-tiny --epochs 1'.split() if words[1:3] == ['xtreme','predict'] else ()
        assert main([*smaller(words)[1:], *more]) == 0, (words, capfd.readouterr().err)
