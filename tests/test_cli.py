"The command: bad input is one clear line and exit status 1, and nothing that was whole is lost"
import argparse, ast, hashlib, json, os, re, subprocess, sys
from itertools import product

import pytest

from conftest import ROOT, in_terminal
from pronto import __version__
from pronto.lab.bibles.writing import WRITERS
from pronto.cli.command import main, make_parser

@pytest.fixture
def refuses(pronto):
    "Check that a command fails with one line that says all of `parts`"
    def check(argv, *parts):
        status,out,err = pronto(*argv)
        assert status == 1 and out == '' and len(err) == 1, (status, out, err)
        for part in parts: assert part in err[0], err[0]
    return check

TSV = ''.join(f'MRK\t1\t{v}\tlo la {v}\n' for v in range(1, 5))

@pytest.fixture
def bible(tmp_path):
    (tmp_path/'lo.tsv').write_text(TSV, encoding='utf-8')
    return tmp_path/'lo.tsv'

@pytest.fixture
def annotated(pronto, toy_folder, tmp_path):
    assert pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet')[0] == 0
    return tmp_path/'a.parquet'

# Annotated sources

DAMAGES = { # What is done to the file, and what the line says besides its name
    'cut inside the leaves': (lambda t: t[:t.index('    10  to')], 'leaves, but the tree has 14'),
    'cut inside the tree': (lambda t: t[:t.index('(VP (TO to)')], 'has no leaves'),
    'cut between two sentences': (lambda t: t[:t.index('Plain sentence', 200)], 'no coreference chains'),
    'cut between the last sentence and its chains': (lambda t: t[:t.rindex('='*120)], 'no coreference chains'),
    'empty': (lambda t: '', 'contains no sentence'),
    'unbalanced tree': (lambda t: t.replace('(VB leave)', '(VB leave'), 'tree is not balanced'),
    'a bracket too many': (lambda t: t.replace('(VB leave)', '(VB leave))'), 'outside the tree'),
    'a leaf the tree does not have': (lambda t: t.replace('    10  to', '    10  too'), "leaf 10 'too' does not match the tree"),
    'a leaf left out': (lambda t: t.replace('    10  to\n', ''), "leaf 11 'leave' does not match the tree"),
    'an argument at no token': (lambda t: t.replace('-> 12:1,', '-> 99:1,'), 'argument 99:1 is outside the sentence'),
    'an argument above the tree': (lambda t: t.replace('-> 12:1,', '-> 12:40,'), '12:40 climbs out of the tree'),
    'a mention outside the sentence': (lambda t: t.replace('12-12   Zoë', '12-14   Zoë'), 'tokens 12-14 are outside the sentence'),
    'a mention that ends before it starts': (lambda t: t.replace('4-8     the', '4-3     the'), 'tokens 4-3 are outside the sentence'),
    'a listed mention outside the sentence': (lambda t: t.replace('0.12-12', '0.12-40'), 'tokens 12-40 are outside the sentence'),
    'a listed mention in no sentence': (lambda t: t.replace('0.12-12', '7.12-12'), 'sentence 7'),
    'a bad time': (lambda t: t.replace('1_1_11', '1_1'), "time '1_1' is not chapter_verse_offset"),
    'no stop time': (lambda t: t.replace('    stop time: 1_1_11\n', ''), "without 'stop time'"),
    'no book of the Bible': (lambda t: t.replace('name: Mark', 'name: Zorro'), "no book of the Bible is called 'Zorro'"),
    'something else': (lambda t: 'Dear reader,\n' + t, 'not OntoNotes Normal Form'),
}

@pytest.mark.parametrize('damage', DAMAGES)
def test_a_bad_file_is_named_with_its_line(damage, refuses, toy_folder, toy_onf, tmp_path):
    "And nothing is written"
    spoil,said = DAMAGES[damage]
    assert spoil(toy_onf) != toy_onf
    (toy_folder/'b.onf').write_text(spoil(toy_onf), encoding='utf-8')
    refuses(['annotate', toy_folder, '-o', tmp_path/'a.parquet'], str(toy_folder/'b.onf'), ', line ', said)
    assert not (tmp_path/'a.parquet').exists()

@pytest.mark.parametrize('damage,text', [('a bracket too many','Tree:'), ('a leaf the tree does not have','    10  too'),
                                         ('a bad time','Speaker information:')])
def test_the_line_is_that_of_the_block_or_leaf(damage, text, pronto, toy_folder, toy_onf, tmp_path):
    spoilt = DAMAGES[damage][0](toy_onf)
    (toy_folder/'b.onf').write_text(spoilt, encoding='utf-8')
    said, = pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet')[2]
    line = int(re.search(r'line (\d+)', said)[1])
    assert text in spoilt.splitlines()[line-3:line], said

def test_a_file_that_is_not_text(refuses, toy_folder, tmp_path):
    (toy_folder/'b.onf').write_bytes(b'Plain sentence:\n\xff\xfe')
    refuses(['annotate', toy_folder, '-o', tmp_path/'a.parquet'], 'b.onf, byte 16', 'not UTF-8')

def test_skip_bad_goes_on_counts_and_names(pronto, toy_folder, toy_onf, tmp_path):
    (toy_folder/'b.onf').write_text(toy_onf[:900], encoding='utf-8')
    status,out,err = pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet', '--skip-bad')
    assert status == 3 and err == []
    assert out.count('b.onf') >= 1 and 'a.onf' not in out and 'line' in out
    from pronto.sources.annotation_file import read_annotations
    a = read_annotations(tmp_path/'a.parquet')
    assert a.source.files == 2 and list(a.source.skipped) == ['b.onf']
    assert {r.book for r in a.verses} == {'MRK','1JN'}

def test_skip_bad_leaves_out_a_file_of_no_book(pronto, toy_folder, toy_onf, tmp_path):
    (toy_folder/'b.onf').write_text(toy_onf.replace('name: Mark', 'name: Zorro'), encoding='utf-8')
    status,out,err = pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet', '--skip-bad')
    assert status == 3 and err == [] and "'Zorro'" in out

@pytest.mark.parametrize('text', ['{bad', '{"nme": "Lo"}', '[]'])
def test_a_source_json_that_is_none(text, refuses, toy_folder, tmp_path):
    (toy_folder/'source.json').write_text(text)
    refuses(['annotate', toy_folder, '-o', tmp_path/'a.parquet'], 'source.json')

def test_annotations_without_a_column(refuses, annotated, bible, tmp_path):
    import pyarrow.parquet as pq
    pq.write_table(pq.read_table(annotated).drop_columns(['sentences']), tmp_path/'b.parquet')
    refuses(['build', '-a', tmp_path/'b.parquet', '-b', bible, '-o', tmp_path/'d'], 'b.parquet', 'pronto annotate')

def test_skip_bad_is_remembered_in_the_dataset(pronto, toy_folder, toy_onf, bible, tmp_path):
    (toy_folder/'b.onf').write_text(toy_onf[:900], encoding='utf-8')
    assert pronto('build', '-a', toy_folder, '--skip-bad', '-b', bible, '-o', tmp_path/'d', '--min-verses', 1)[0] == 3
    assert list(json.loads((tmp_path/'d'/'manifest.json').read_text())['source']['skipped']) == ['b.onf']

def test_all_files_bad(refuses, toy_folder, tmp_path):
    for f in toy_folder.iterdir(): f.write_text('x')
    refuses(['annotate', toy_folder, '-o', tmp_path/'a.parquet', '--skip-bad'], str(toy_folder))
    assert not (tmp_path/'a.parquet').exists()

def test_a_bad_file_leaves_the_old_annotations(pronto, annotated, toy_folder):
    before = annotated.read_bytes()
    (toy_folder/'b.onf').write_text('x')
    assert pronto('annotate', toy_folder, '-o', annotated)[0] == 1
    assert annotated.read_bytes() == before

def test_a_folder_without_onf(refuses, tmp_path):
    (tmp_path/'empty').mkdir()
    for command in ['annotate', tmp_path/'empty', '-o', tmp_path/'a.parquet'], ['annotate', tmp_path/'nowhere', '-o', tmp_path/'a.parquet']:
        refuses(command, str(command[1]), 'OntoNotes')

# Bibles

def bible_file(tmp_path, contents, name='bad'):
    (tmp_path/name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return tmp_path/name

USFX = '<usfx><book id="MRK"><c id="1"/><v id="1"/>{}</book></usfx>'

BAD_BIBLES = {
    'empty': ('', 'is empty'),
    'blank': ('\n \n', 'bad: '),
    'binary': (bytes(range(256))*20, 'binary'),
    'malformed XML': ('<usfx>\n<book id="MRK">\n<c id="1"/><v id="1"/>lo</p>\n</usfx>', 'line 3'),
    'XML cut off': ('<usfx>\n<book id="MRK">\n<c id="1"/><v id="1"/>lo', 'line 3'),
    'entity expansion': ('<!DOCTYPE usfx [<!ENTITY a "lo"><!ENTITY b "&a;&a;">]>\n' + USFX.format('&b;'), 'entities'),
    'external entity': ('<!DOCTYPE usfx [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n' + USFX.format('&x;'), 'entities'),
    'parameter entity': ('<!DOCTYPE usfx [<!ENTITY % x SYSTEM "http://localhost:9/x.dtd"> %x;]>\n' + USFX.format('lo'), 'entities'),
    'three columns': ('MRK\t1\t1\tlo\nMRK\t1\tla\n', 'line 2: 3 columns instead of 4'),
    'five columns': ('MRK\t1\t1\tlo\nMRK\t1\t2\tla\tmi\n', 'line 2: 5 columns instead of 4'),
    'a chapter that is not a number': ('MRK\t1\t1\tlo\nMRK\tone\t2\tla\n', 'line 2'),
    'XML of another kind': ('<html><body>lo</body></html>', 'bad'),
}

@pytest.mark.parametrize('kind', BAD_BIBLES)
@pytest.mark.parametrize('command', ['convert','build'])
def test_a_bad_bible_is_named(kind, command, refuses, annotated, tmp_path):
    contents,said = BAD_BIBLES[kind]
    bad,out = bible_file(tmp_path, contents), tmp_path/'out'
    refuses(['convert', bad, '-o', out] if command == 'convert' else ['build', '-a', annotated, '-b', bad, '-o', out], str(bad), said)
    assert not out.exists()

def test_an_external_entity_is_not_fetched(pronto, tmp_path):
    (tmp_path/'secret').write_text('mitalo')
    entity = f'<!DOCTYPE usfx [<!ENTITY x SYSTEM "{(tmp_path/"secret").as_uri()}">]>\n'
    bad = bible_file(tmp_path, entity + USFX.format('&x;'))
    assert 'mitalo' not in str(pronto('convert', bad))

def test_an_unknown_book_is_skipped_and_counted(pronto, tmp_path):
    status,out,err = pronto('convert', bible_file(tmp_path, 'MRK\t1\t1\tlo\nXYZ\t1\t1\tla\nXYZ\t1\t2\tmi\n'))
    assert (status, out) == (0, 'MRK\t1\t1\tlo\n')
    assert any('2 skipped' in line for line in err)

def test_no_new_testament(refuses, annotated, tmp_path):
    bad = bible_file(tmp_path, ''.join(f'GEN\t1\t{v}\tlo\n' for v in range(1, 32)))
    refuses(['build', '-a', annotated, '-b', bad, '-o', tmp_path/'d'], str(bad), 'no verse of the New Testament')

def test_too_few_verses_says_how_many_and_from_which_books(refuses, annotated, bible, tmp_path):
    argv = ['build', '-a', annotated, '-b', bible, '-o', tmp_path/'d']
    refuses(argv, str(bible), 'only 4 verses', 'MRK 4', 'fewer than 500', '--min-verses')
    assert not (tmp_path/'d').exists()

def test_a_missing_or_wrong_annotation_file(refuses, bible, tmp_path):
    for path,says in (tmp_path/'none.parquet', 'pronto annotate'), (bible, 'instead of a header'): # A table may hold labels
        refuses(['build', '-a', path, '-b', bible, '-o', tmp_path/'d'], str(path), says)

# Output

def test_convert_gives_the_same_bible_back(pronto, bible, tmp_path):
    assert pronto('convert', bible, '-o', tmp_path/'again.tsv')[0] == 0
    assert (tmp_path/'again.tsv').read_text(encoding='utf-8') == TSV == pronto('convert', tmp_path/'again.tsv')[1]

def test_convert_writes_the_table_and_reports(pronto, bible, tmp_path):
    status,out,_ = pronto('convert', bible, '--report', '-o', tmp_path/'again.tsv')
    assert status == 0 and out == pronto('convert', bible, '--report')[1] and out.startswith('versification: ')
    assert (tmp_path/'again.tsv').read_text(encoding='utf-8') == TSV

def test_a_fetched_bible_keeps_its_licence(pronto, annotated, bible, tmp_path):
    "What was noted when it was fetched counts where the translation says nothing, unless the file was changed"
    place = tmp_path/'data'/'bibles'/'lo.usfx.xml'
    place.parent.mkdir(parents=True); place.write_bytes(bible.read_bytes())
    note = tmp_path/'data'/'fetched'/'ebible-lo.json'
    note.parent.mkdir()
    sha256 = {'bibles/lo.usfx.xml': hashlib.sha256(place.read_bytes()).hexdigest()}
    note.write_text(json.dumps(dict(licence='public domain', sha256=sha256)))
    licence = lambda: json.loads((tmp_path/'d'/'manifest.json').read_text())['licence']
    build = lambda: pronto('build', '-a', annotated, '-b', place, '-o', tmp_path/'d', '--min-verses', 1)[0]
    assert (build(), licence()) == (0, 'public domain')
    place.write_bytes(place.read_bytes() + b'\n')
    assert (build(), licence()) == (0, 'not stated')

def test_parts_of_a_bible_are_put_together(pronto, annotated, tmp_path):
    parts = [bible_file(tmp_path, f'{book}\t1\t1\tlo\n', book) for book in ('LUK','MRK')]
    about = ['--code', 'lo', '--language', 'Lo', '--licence', 'ours', '--min-verses', 2]
    assert pronto('build', '-a', annotated, '-b', parts[0], '-b', parts[1], '-o', tmp_path/'d', *about)[0] == 0
    manifest = json.loads((tmp_path/'d'/'manifest.json').read_text())
    assert manifest['verses']['aligned'] == 2 and (manifest['code'], manifest['language'], manifest['licence']) == ('lo', 'Lo', 'ours')

def test_output_that_cannot_be_written(refuses, annotated, toy_folder, bible, tmp_path):
    "Below a file there is no folder, whoever asks"
    below = bible/'sub'/'out'
    refuses(['build', '-a', annotated, '-b', bible, '-o', below, '--min-verses', 1], str(below), 'cannot be written')
    refuses(['annotate', toy_folder, '-o', below], str(below), 'cannot be written')
    refuses(['convert', bible, '-o', f'{below}.tsv'], str(below), 'cannot be written')

def test_a_folder_that_is_not_ours_is_not_replaced(refuses, annotated, bible, tmp_path):
    (tmp_path/'thesis').mkdir()
    (tmp_path/'thesis'/'one.txt').write_text('x')
    argv = ['build', '-a', annotated, '-b', bible, '-o', tmp_path/'thesis', '--min-verses', 1]
    refuses(argv, str(tmp_path/'thesis'), 'is not replaced, because')
    refuses(['build', '-a', annotated, '-b', bible, '-o', bible, '--min-verses', 1], str(bible))
    assert (tmp_path/'thesis'/'one.txt').read_text() == 'x' and bible.read_text() == TSV

def test_a_failed_build_leaves_the_old_folder(pronto, annotated, bible, tmp_path):
    command = ['build', '-a', annotated, '-b', bible, '-o', tmp_path/'d']
    assert pronto(*command, '--min-verses', 1)[0] == 0
    before = {p.name: p.read_bytes() for p in (tmp_path/'d').iterdir()}
    assert pronto(*command)[0] == 1
    assert {p.name: p.read_bytes() for p in (tmp_path/'d').iterdir()} == before

@pytest.mark.parametrize('argv', [['nothing'], ['build'], ['annotate', 'x', '-o', 'y', '--rules', 'z'], ['convert']])
def test_wrong_usage_is_status_2(argv, pronto): assert pronto(*argv)[0] == 2

# In a process of its own

def process(*argv, **kwargs):
    env = os.environ | {'PYTHONPATH': str(ROOT)}
    return subprocess.run([sys.executable, *map(str, argv)], env=env, capture_output=True, text=True, **kwargs)

RUN = 'import sys; from pronto.cli import main; sys.exit(main())'

HEAVY = {'lxml','nltk','pyarrow','numpy','torch','pandas','machine','transformers','matplotlib','tqdm','distributed'}

def parsers(parser, so_far=()):
    "Every command, as a tuple of words, and its parser"
    yield so_far, parser
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction): continue
        for name,sub in action.choices.items(): yield from parsers(sub, (*so_far, name))

def commands(parser): return [list(words) for words,_ in parsers(parser)]

def option_names(): # Words of a command to its options
    return {' '.join(words): set(p._option_string_actions) for words,p in parsers(make_parser())}

def test_help_imports_nothing_heavy():
    "All helps are printed by one process, which tells what it imported"
    every = list(commands(make_parser()))
    assert ['quality','sheet'] in every and len(every) > 15
    code = f"""import sys
from pronto.cli import main
for words in {every}:
    try: main([*words, '--help'])
    except SystemExit as e: assert not e.code
print('modules', *sys.modules)"""
    done = process('-c', code)
    *helps, modules = done.stdout.splitlines()
    assert done.returncode == 0 and sum(line.startswith('usage: pronto') for line in helps) == len(every), done.stderr
    assert not HEAVY & set(modules.split())

@pytest.mark.parametrize('about_runs', [False, True])
def test_commands_that_need_no_model_start_small(tmp_path, about_runs):
    "Up to the first error about their input, one process runs them all; those about runs import what holds their frame"
    no = str(tmp_path/'no')
    every = [['build','-a',no,'-b',no,'-o',no], ['convert',no], ['annotate',no,'-o',no], ['release','-a',no,no,'-o',no],
             ['import','tsv',no,'-o',no], ['restore',no,'-b',no], *(['export',k,no,'-o',no] for k in ('tsv','hf','lm-eval')),
             ['quality','score',no], ['quality','sheet',no,'-o',no], ['quality','parse',no,'-u',no,'-o',no]]
    runs = [['tables','--runs',no], ['report','--runs',no,'-o',no], ['eval',no,'-m',no], ['sweep',no,'-m',no],
            ['probe',no,'-m',str(tmp_path)], *([b,'tables','--runs',no] for b in ('xtreme','mela')),
            ['mt','tables',no,'--runs',no], ['xtreme','predict',no,'-m',no,'-o',no],
            ['xtreme','score','--predictions',no,'--labels',no]]
    every = runs if about_runs else every
    code = f"""import sys
from pronto.cli import main
print(*[main(words) for words in {every}])
print('modules', *sys.modules)"""
    done = process('-c', code)
    *_, status, modules = done.stdout.splitlines()
    assert status.split() == ['1']*len(every), done.stderr
    heavy = HEAVY - {'numpy','tqdm'} | {'scipy','filelock','sklearn','huggingface_hub','requests'}
    assert not (heavy - {'pandas','pyarrow'} if about_runs else heavy) & set(modules.split())

def test_a_full_disk_is_one_line(bible):
    "Whether it shows in the middle of the output or at its end"
    if not os.path.exists('/dev/full'): pytest.skip('no device that is always full')
    for verses in 2, 900:
        bible.write_text(''.join(f'MRK\t1\t{v}\t{"lo "*99}\n' for v in range(1, verses)), encoding='utf-8')
        with open('/dev/full', 'w') as full:
            done = subprocess.run([sys.executable, '-c', RUN, 'convert', str(bible)], stdout=full,
                                  stderr=subprocess.PIPE, env=os.environ | {'PYTHONPATH': str(ROOT)}, text=True)
        assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith('pronto: standard output: No space left')
        assert 'Traceback' not in done.stderr and 'Exception' not in done.stderr

def test_no_name_controls_the_terminal(pronto, bible, annotated, tmp_path):
    "Escape sequences in names of files and in arguments are printed escaped"
    red = '\x1b[31mred\x07'
    (tmp_path/red).mkdir()
    fine = tmp_path/red/'lo.tsv'
    fine.write_bytes(bible.read_bytes())
    for argv in (['convert', tmp_path/red/'none'], ['convert', fine, '-o', fine/'x'], ['no such command', red],
                 ['tables', '--runs', tmp_path/red/'x'],
                 ['build', '-a', annotated, '-b', fine, '-o', tmp_path/red/'d', '--min-verses', 1], ['eval', tmp_path/red]):
        _,out,err = pronto(*argv)
        assert not set('\x1b\x07') & set(out + ''.join(err)), argv

def test_an_option_of_another_kind_of_number_is_wrong_usage(pronto):
    status,_,err = pronto('release', '-a', 'a', 'b', '-o', 'c', '--job-timeout', '-1')
    assert status == 2 and err[-1].endswith('argument --job-timeout: -1 is not from 0.0 to 1000000000.0')

def test_certificates_belong_together(refuses, tmp_path):
    refuses(['release', '-a', tmp_path, tmp_path, '-o', tmp_path/'o', '--tls-ca', 'ca.pem'], '--tls-key: belong together')

def test_building_imports_nothing_that_only_training_needs(annotated, bible, tmp_path):
    argv = ['build', '-a', str(annotated), '-b', str(bible), '-o', str(tmp_path/'d'), '--min-verses', '1']
    done = process('-c', f'import sys, pronto.cli.command\n'
                         f'status = pronto.cli.command.main({argv!r})\nprint(*sys.modules)\nsys.exit(status)')
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.splitlines()[-1].split())
    assert not {'torch','transformers','matplotlib','sklearn','joblib','statsmodels','huggingface_hub'} & found

def test_a_process_fails_with_one_line_and_status_1(tmp_path):
    done = process('-c', RUN, 'annotate', tmp_path, '-o', tmp_path/'a.parquet')
    assert done.returncode == 1 and done.stdout == '' and len(done.stderr.splitlines()) == 1 and str(tmp_path) in done.stderr

def test_a_reader_that_stops_early_is_not_an_error(bible):
    "As in `pronto convert lo.tsv | head -1`"
    bible.write_text(''.join(f'MRK\t{c}\t{v}\t{"lo "*99}\n' for c in range(1, 17) for v in range(1, 40)), encoding='utf-8')
    child = subprocess.Popen([sys.executable, '-c', RUN, 'convert', str(bible)], env=os.environ | {'PYTHONPATH': str(ROOT)},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.readline()
    child.stdout.close()
    said = child.stderr.read()
    child.wait()
    child.stderr.close()
    assert 'Traceback' not in said and 'Exception' not in said

def test_output_is_utf8_wherever_it_goes(bible):
    bible.write_text('MRK\t1\t1\tло\n', encoding='utf-8')
    env = os.environ | {'PYTHONPATH': str(ROOT), 'PYTHONIOENCODING': 'ascii'}
    done = subprocess.run([sys.executable, '-c', RUN, 'convert', str(bible)], env=env, capture_output=True)
    assert done.stdout.decode('utf-8') == 'MRK\t1\t1\tло\n', done.stderr

# What comes next

def test_pronto_alone_names_the_next_command(pronto, annotated, bible, tmp_path, monkeypatch):
    "With paths that exist, so that it can be pasted; step by step until there is a dataset"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    monkeypatch.setenv('HF_HUB_CACHE', str(tmp_path/'hub'))
    status,out,err = pronto()
    assert (status, err) == (0, []) and 'pronto demo' in out
    (tmp_path/'data'/'bibles').mkdir(parents=True)
    (tmp_path/'data'/'bibles'/'lo.tsv').write_bytes(bible.read_bytes())
    (tmp_path/'data'/'annotations.parquet').write_bytes(annotated.read_bytes())
    following = re.search(r'^  pronto (build .*)', pronto()[1], re.M)[1].split()
    assert pronto(*following, '--min-verses', 1)[0] == 0
    assert re.search(r'^  hf download (\S+)', pronto()[1], re.M) and 'pronto probe' in pronto()[1]

def _states(found): return {f['topic']: f['state'] for f in found['findings']}

def test_doctor_finds_what_is_out_of_date_and_the_command_that_mends_it(pronto, annotated, toy_folder, bible, tmp_path, monkeypatch):
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    status,out,_ = pronto('doctor', '--json')
    assert status == 0 and json.loads(out)['ok'] and _states(json.loads(out))['models'] == 'note'
    (tmp_path/'data'/'bibles').mkdir(parents=True)
    (tmp_path/'data'/'bibles'/'lo.tsv').write_bytes(bible.read_bytes())
    annotations = tmp_path/'data'/'annotations.parquet'
    annotations.write_bytes(annotated.read_bytes())
    build = ['build', '-b', tmp_path/'data'/'bibles'/'lo.tsv', '-o', tmp_path/'data'/'datasets'/'lo']
    assert pronto(*build, '--min-verses', 1)[0] == 0
    assert pronto('doctor')[0] == 0
    (toy_folder/'c.onf').unlink() # Another source, another hash
    assert pronto('annotate', toy_folder, '-o', annotations)[0] == 0
    status,out,_ = pronto('doctor')
    assert status == 1 and 'built from other annotations' in out and ' '.join(map(str, build)) in out
    manifest = tmp_path/'data'/'datasets'/'lo'/'manifest.json'
    whole = manifest.read_bytes()
    manifest.write_bytes(b'{')
    assert 'lo: its manifest cannot be read' in pronto('doctor')[1]
    manifest.write_bytes(whole)
    annotations.write_bytes(b'PAR1')
    status,out,_ = pronto('doctor', '--json')
    assert status == 1 and _states(json.loads(out))['annotations'] == 'MEND'

def test_doctor_has_nothing_against_an_imported_dataset(pronto, tmp_path, monkeypatch):
    "It has no source; one of an earlier version is named, without a command that would build it from a Bible"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    (tmp_path/'en').mkdir()
    for part in 'train', 'test': (tmp_path/'en'/f'{part}.tsv').write_text('It was good.\tgood\nIt was bad.\tbad\n')
    assert pronto('import', 'tsv', tmp_path/'en', '-o', tmp_path/'data'/'datasets')[0] == 0
    status,out,_ = pronto('doctor')
    assert status == 0 and 'MEND' not in out and 'pronto build' not in out
    manifest = tmp_path/'data'/'datasets'/'en'/'manifest.json'
    manifest.write_text(manifest.read_text().replace(f'"version": "{__version__}"', '"version": "0.1"'))
    status,out,_ = pronto('doctor')
    assert status == 1 and 'en: made by PrOnto 0.1' in out and 'pronto build' not in out

def test_completion_is_a_script_of_the_shell(pronto):
    status,script,_ = pronto('completion', 'bash')
    assert status == 0 and '--versification' in script and 'doctor' in script
    assert subprocess.run(['bash', '-n'], input=script, text=True).returncode == 0

# Quiet, and for scripts

def test_quiet_prints_results_only(pronto, annotated, bible, tmp_path):
    assert pronto('build', '-a', annotated, '-b', bible, '-o', tmp_path/'d', '--min-verses', 1, '--quiet') == (0, '', [])
    assert pronto('convert', bible, '--quiet') == (0, TSV, [])
    assert pronto('convert', tmp_path/'none', '--quiet')[0] == 1

def test_results_as_json(pronto, annotated, toy_folder, bible, tmp_path, monkeypatch):
    "One object per line, whatever else is said goes to the error stream"
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    def said(*argv):
        status,out,_ = pronto(*argv, '--json')
        assert status == 0
        return [json.loads(line) for line in out.splitlines()]
    (made,) = said('build', '-a', annotated, '-b', bible, '-o', tmp_path/'d', '--min-verses', 1)
    assert made['path'] == str(tmp_path/'d') and made['verses']['aligned'] > 0
    (source,) = said('annotate', toy_folder, '-o', tmp_path/'b.parquet')
    assert source['verses'] > 0 and source['rules'] == 'paper'
    (report,) = said('convert', bible, '--report')
    assert 'versification' in str(report) or 'verses' in report
    (held,) = said('cache')
    assert held['bytes'] == 0 and held['models'] == []

def test_every_command_takes_quiet_and_json():
    def parsers(parser):
        below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        yield from [sub for a in below for p in a.choices.values() for sub in parsers(p)] or [parser]
    for parser in parsers(make_parser()):
        assert {'--quiet','--json'} <= {o for a in parser._actions for o in a.option_strings}, parser.prog

def test_a_log_gets_lines_with_a_forecast(pronto, toy_folder, tmp_path, monkeypatch):
    monkeypatch.setattr('pronto.core.progress.FIRST_LINE', 0)
    monkeypatch.setattr('pronto.core.progress.NEXT_LINE', 0)
    status,_,err = pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet')
    assert status == 0 and re.fullmatch(r'annotate: 2 of 3, about \d+ s left', err[1])
    assert pronto('annotate', toy_folder, '-o', tmp_path/'a.parquet', '--quiet') == (0, '', [])

def test_a_misspelt_option_shows_the_usage_of_its_command(capsys):
    for argv,near in (['tables', '--metrc', 'mcc'], '--metric'), (['quality', 'score', 'x', '--datset', 'd'], '--dataset'):
        with pytest.raises(SystemExit): main(argv)
        err = capsys.readouterr().err
        assert err.startswith(f'usage: pronto {" ".join(argv[:-2])[:13].rstrip(" x")}') and f'did you mean {near}?' in err

def test_a_misspelt_command_gets_a_similar_one(capsys):
    for argv,near in (['evl'], 'eval'), (['quality', 'scoer'], 'score'):
        with pytest.raises(SystemExit): main(argv)
        assert f'unknown command: {argv[-1]} (did you mean {near}?)' in capsys.readouterr().err
    with pytest.raises(SystemExit): main(['xyzzy'])
    assert "invalid choice: 'xyzzy' (choose from" in capsys.readouterr().err

@pytest.mark.parametrize('command', [('annotate',), ('report', '--runs'), ('pretrain',)])
def test_outputs_are_checked_before_any_work(refuses, tmp_path, command):
    "The input is absent, so that any work would fail first"
    (tmp_path/'file').write_text('x')
    (tmp_path/'folder').mkdir()
    (tmp_path/'folder'/'mine').write_text('x')
    why = 'is not replaced, because' if 'pretrain' in command else 'is a folder; name the file'
    command = [*command, tmp_path/'absent']
    refuses([*command, '-o', tmp_path/'folder'], f'{tmp_path/"folder"}: {why}')
    refuses([*command, '-o', tmp_path/'file'/'a'/'b'], 'cannot be written', f'{tmp_path/"file"} is not a folder')
    assert sorted(p.name for p in tmp_path.iterdir()) == ['file','folder']

@pytest.mark.slow
@pytest.mark.parametrize('width', [80, 120])
def test_a_terminal_gets_tables_that_fit_it(width, tmp_path):
    "Aligned and wrapped, without pipes, HTML and escapes; a file gets Markdown"
    import zipfile
    zipfile.ZipFile(ROOT/'paper_tables'/'demo_runs.zip').extractall(tmp_path)
    lines = in_terminal(width, 'tables', '--recipe', '', '--runs', tmp_path/'runs', '-o', tmp_path/'tables')
    assert len(lines) > 20 and max(map(len, lines)) <= width
    assert not any(mark in line for line in lines for mark in ('|', '<small>', '\\', '**'))
    text = ' '.join(' '.join(lines).split())
    assert ' Brelish (qaa)' in lines and 'Brelish (qaa) majority ' in text and 'Summary' in text and 'translations: majority' not in text
    best, model = (next(line.split() for line in lines if line.startswith(f' {name}')) for name in ('best baseline','qaa-pretrained'))
    assert float(model[1]) - float(best[2]) == pytest.approx(float(model[2]), abs=.11) and '…' not in text
    assert any('|---' in p.read_text(encoding='utf-8') for p in (tmp_path/'tables').glob('*.md'))

def test_every_seed_is_one_kind_of_option(capsys):
    "Every generator of random numbers takes it; others are wrong usage, before anything is read"
    needed = {'demo': [], 'pretrain': ['x', '-o', 'y'], 'quality parse': ['x', '-u', 'y'], 'quality sheet': ['x', '-o', 'y'],
              'quality align': ['x'], 'quality draft': ['x']}
    seeded = [name for name,options in option_names().items() if '--seed' in options]
    assert sorted(seeded) == sorted(needed)
    for name,seed in product(needed, ('-1', str(2**70))):
        with pytest.raises(SystemExit) as e: main([*name.split(), *needed[name], '--seed', seed])
        assert e.value.code == 2 and f'{seed} is not from 0 to 4294967295' in capsys.readouterr().err

def _texts(path):
    "The strings of a module, f-strings with their parts put together; not those that document"
    tree = ast.parse(path.read_text(encoding='utf-8'))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if id(node) in inside: continue
        if isinstance(node, ast.JoinedStr): yield ''.join(x.value if isinstance(x, ast.Constant) else '{}' for x in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str): yield node.value

def test_options_that_messages_name_exist():
    "Each is an option of some command; in `pronto COMMAND --option` it is one of that command"
    known, others = option_names(), {'--tls', '--nthreads', '--resources', '--log-level', '--matplotlib', '--share'} # Of other programs
    every = set().union(*known.values()) | others
    by_length = sorted((name for name in known if name), key=len, reverse=True)
    for path in sorted((ROOT/'pronto').rglob('*.py')):
        for text in _texts(path):
            wrong = set(re.findall(r'(?<![\w-])--[a-z][\w-]*\w', text)) - every
            assert not wrong, f'{path}: {text!r} names {wrong}'
            for words in re.findall(r'`pronto ([^`]+)`', text):
                name = next((n for n in by_length if f'{words} '.startswith(f'{n} ')), '')
                wrong = set(re.findall(r'(?<![\w-])--?[a-z][\w-]*', words)) - known[name]
                assert not wrong, f'{path}: `pronto {words}` has no {wrong}'

def test_a_full_disk_elsewhere_is_not_standard_output(pronto, monkeypatch, bible):
    def full(*args): raise OSError(28, 'No space left on device')
    monkeypatch.setitem(WRITERS, 'tsv', full)
    status, out, err = pronto('convert', bible, '-o', bible.with_suffix('.made.tsv'))
    assert (status, out) == (1, '') and err[0].startswith('pronto: a file cannot be written: No space left on device; make room')

@pytest.mark.parametrize('code, said', [
    ('1/0', 'left out broken: offers mine as broken, which fails (division by zero)'), ('', 'left out the commands of mine'),
    ("COMMANDS = ['mine']", "left out the commands of mine: module 'broken' has no attribute 'mine_command'"),
    ('COMMANDS = 5', "left out the commands of mine: 'int' object is not iterable"),
    ("COMMANDS = ['mine']\nmine_command = print\ndef mine_options(parser): 1/0", 'left out the commands of mine: division by zero'),
    ('KIND = 5', 'offers another as broken:KIND, which is 5, not a module'), ('KIND = None', 'which is None, not a module'),
    ('import sys; sys.exit()', 'left out broken: offers mine as broken, which fails (SystemExit()); mend or remove the package'),
    ('raise GeneratorExit', 'which fails (GeneratorExit())')])
def test_a_broken_package_of_somebody_else_stops_no_command(tmp_path, code, said):
    about = tmp_path/'broken-1.0.dist-info'
    about.mkdir()
    (about/'METADATA').write_text('Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n')
    (about/'entry_points.txt').write_text('[pronto.commands]\nmine = broken\nanother = broken:KIND\n[pronto.models]\nmine = broken:KIND\n')
    (tmp_path/'broken.py').write_text(code)
    env = os.environ | dict(PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    run = 'import sys; from pronto.cli import main; sys.exit(main(["--help"]))'
    done = subprocess.run([sys.executable, '-c', run], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and said in done.stderr and 'Traceback' not in done.stderr and 'COMMAND' in done.stdout

def test_a_command_ends_without_a_last_look_through_all_objects():
    code = ('import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 0)); '
            'import pronto.cli.command')
    done = subprocess.run([sys.executable, '-c', code], env=os.environ | {'PYTHONPATH': str(ROOT)},
                          capture_output=True, text=True)
    assert done.stdout == 'True\n', done.stderr
