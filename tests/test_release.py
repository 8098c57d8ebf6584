"A release: after any interruption it resumes and produces the same bytes"
import csv, json, os, shutil, signal, subprocess, sys, time

import psutil, pytest
from hypothesis import given, settings as example_settings, strategies as some
from pyarrow import parquet

from conftest import ROOT
from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import write_annotations
from pronto.bibles.reading import read_bible
from pronto.bibles.rows import Bible, VerseRow
from pronto.cli.command import main
from pronto.datasets.loading import load_dataset_folder, load_manifest, load_verses, open_dataset
from pronto.datasets.manifest import CITATION
from pronto.datasets.building import TEXT_ALONE, _language, build
from pronto.datasets.finding import find_dataset
from pronto.datasets.manifest import restate_language
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.lab.jobs.fetch import _write_note
from pronto.core.files import InputError, content_hash
from pronto.lab.jobs.release import Release, Settings, build_translation, is_finished, registry_row, release

COPIES = [f'{x}{i}' for x in ('qaa','qab','qac','qad') for i in (1,2)]
LEAST = 300

@pytest.fixture(scope='module')
def corpus(tmp_path_factory):
    "Annotations, and a folder with eight translations in four formats"
    tmp = tmp_path_factory.mktemp('release')
    made = write_corpus(make_corpus(n_verses=700), tmp/'corpus')
    write_annotations(annotate(made/'ontonotes'), tmp/'a.parquet')
    (tmp/'bibles').mkdir()
    for i in (1,2):
        for source in (made/'bibles').iterdir():
            target = tmp/'bibles'/source.name.replace(source.name[:3], f'{source.name[:3]}{i}')
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return tmp

def contents(folder): return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob('*')) if p.is_file()}

@pytest.fixture(scope='module')
def whole(corpus):
    "The bytes that every release must produce"
    done = release(corpus/'a.parquet', corpus/'bibles', corpus/'whole', workers=2, min_verses=LEAST)
    assert done.built == COPIES and not done.failed
    return contents(corpus/'whole')

INTERRUPTED = 'pronto: interrupted; no complete file was lost; run the same command again to resume'

def command(corpus, out, *options):
    argv = ['release', '-a', corpus/'a.parquet', corpus/'bibles', '-o', out, '--min-verses', LEAST, *options]
    code = 'import sys; from pronto.cli import main; sys.exit(main())'
    return subprocess.Popen([sys.executable, '-c', code, *map(str, argv)], env=os.environ | {'PYTHONPATH': str(ROOT)},
                            start_new_session=True, # A process group of its own, as a terminal makes it
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), # Which a shell ignores in the background
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def wait_for(n, out, process=None):
    "Until `n` translations are finished"
    for _ in range(30_000):
        if len(list(out.glob('*/release.json'))) >= n: return
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(.01)
    raise AssertionError(f'{n} translations took more than five minutes')

def resumes(corpus, out, whole):
    "A second start produces the same bytes, and does not touch what was finished"
    before = {p: p.stat().st_mtime_ns for p in out.glob('*/*') if (p.parent/'release.json').exists()}
    finished = {p.parent.name for p in before}
    done = release(corpus/'a.parquet', corpus/'bibles', out, workers=2, min_verses=LEAST)
    assert set(done.finished) == finished and contents(out) == whole
    assert {p: p.stat().st_mtime_ns for p in before} == before

@pytest.mark.slow
def test_a_resumed_release_shows_that_it_checks(corpus, whole, tmp_path, capsys):
    from pronto.cli import main
    shutil.copytree(corpus/'whole', tmp_path/'out')
    argv = ['release', '-a', corpus/'a.parquet', corpus/'bibles', '-o', tmp_path/'out', '--min-verses', LEAST]
    assert main([*map(str, argv)]) == 0
    out, err = capsys.readouterr()
    assert '8 finished before' in out and err.startswith(f'release: check what is in {tmp_path/"out"}')
    assert main([*map(str, argv), '--quiet']) == 0 and not capsys.readouterr().err

@pytest.mark.slow
def test_a_release_loads_as_a_plain_build_does(corpus, whole, tmp_path):
    from pronto.sources.annotation_file import read_annotations
    annotations = read_annotations(corpus/'a.parquet')
    for code,bible in ('qaa1','qaa1.usfx.xml'), ('qab2','qab2'):
        manifest = build(annotations, read_bible(corpus/'bibles'/bible), tmp_path/code, min_verses=LEAST, choices=True)
        dataset = load_dataset_folder(corpus/'whole'/code)
        assert dataset.tasks == load_dataset_folder(tmp_path/code).tasks
        assert dataset.manifest | dict(files=0) == manifest | dict(files=0) # The rows are written in another way
        of_choices = lambda p: p.suffix == '.jsonl' or p.name == 'text.tsv' # They have their text in every layout
        size = lambda folder: sum(p.stat().st_size for p in folder.iterdir() if not of_choices(p))
        assert size(corpus/'whole'/code) < size(tmp_path/code)/2.5

@pytest.mark.slow
def test_only_files_lie_beside_the_translations(corpus, whole):
    files = ['failed.csv', 'metadata.parquet', *COPIES, 'registry.csv']
    assert [p.name for p in sorted((corpus/'whole').iterdir())] == files
    known = parquet.read_table(corpus/'whole'/'metadata.parquet').to_pylist()
    assert [row['code'] for row in known] == COPIES
    manifest = load_manifest(corpus/'whole'/'qac1')
    assert known[COPIES.index('qac1')]['same_sense_test'] == manifest['counts']['same_sense']['test']
    assert all(row['versification'] and row['numbering_renumbered'] >= 0 for row in known)
    rows = list(csv.DictReader((corpus/'whole'/'registry.csv').open(encoding='utf-8')))
    assert [r['code'] for r in rows] == COPIES and all(int(r['verses']) > LEAST and int(r['same_sense']) for r in rows)
    assert [r['script'] for r in rows if r['code'] == 'qac1'] == ['Geor']
    assert {r['code']: r['same_text_as'] for r in rows} == {code: f'{code[:3]}1'*code.endswith('2') for code in COPIES}

@pytest.mark.slow
def test_killed_process(corpus, whole, tmp_path):
    process = command(corpus, tmp_path/'out', '--workers', 2)
    wait_for(2, tmp_path/'out', process)
    process.kill()
    process.communicate()
    assert not (tmp_path/'out'/'registry.csv').exists()
    resumes(corpus, tmp_path/'out', whole)

@pytest.mark.slow
def test_interrupted_by_the_keyboard(corpus, whole, tmp_path):
    for folder in (tmp_path/str(n) for n in range(5)): # On a busy machine a small release may be done before it is interrupted
        process = command(corpus, folder, '--workers', 2, '--quiet')
        wait_for(1, folder, process)
        os.killpg(process.pid, signal.SIGINT)
        out,err = process.communicate(timeout=300)
        if process.returncode: break
    assert (process.returncode, out, err.splitlines()) == (130, '', [INTERRUPTED])
    resumes(corpus, folder, whole)

@pytest.mark.slow
def test_interrupted_while_workers_start(corpus, tmp_path):
    "Not even the processes that are being started print a traceback"
    process = command(corpus, tmp_path/'out', '--workers', 2, '--quiet')
    for _ in range(6000):
        if process.poll() is not None or psutil.Process(process.pid).children(recursive=True): break
        time.sleep(.01)
    assert process.poll() is None, process.communicate()
    os.killpg(process.pid, signal.SIGINT)
    out,err = process.communicate(timeout=300)
    assert (process.returncode, out, err.splitlines()) == (130, '', [INTERRUPTED])

@pytest.mark.slow
def test_killed_worker(corpus, whole, tmp_path):
    "The others go on, and a new one takes its place"
    killed = []
    def kill_after_two(items):
        for i,item in enumerate(items):
            if i == 2:
                workers = [p for p in psutil.Process().children() if 'spawn_main' in ' '.join(p.cmdline())]
                os.kill(workers[0].pid, signal.SIGKILL)
                killed.append(workers[0].pid)
            yield item
    done = release(corpus/'a.parquet', corpus/'bibles', tmp_path/'out', workers=2, min_verses=LEAST, progress=kill_after_two)
    assert killed and done.built == COPIES and contents(tmp_path/'out') == whole

@pytest.mark.slow
def test_killed_scheduler(corpus, whole, tmp_path):
    "One line says so; a new start skips what is finished"
    dask = lambda *argv: subprocess.Popen([sys.executable, '-m', 'dask', *argv], env=os.environ | {'PYTHONPATH': str(ROOT)},
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = tmp_path/'scheduler.json'
    scheduler = dask('scheduler', '--port', '0', '--no-dashboard', '--host', '127.0.0.1', '--scheduler-file', str(address))
    worker = dask('worker', '--scheduler-file', str(address), '--nthreads', '1', '--no-dashboard')
    try:
        while not address.exists(): time.sleep(.05)
        process = command(corpus, tmp_path/'out', '--quiet', '--scheduler', json.loads(address.read_text())['address'])
        wait_for(2, tmp_path/'out', process)
        scheduler.kill()
        out,err = process.communicate(timeout=300)
        assert process.returncode == 1 and out == '' and len(err.splitlines()) == 1 and 'the Dask scheduler is gone' in err, err
    finally:
        for p in scheduler, worker:
            p.kill()
            p.wait()
    resumes(corpus, tmp_path/'out', whole)

# What may be passed on

def osis_with(rights, corpus, tmp_path):
    "A Bible that says so"
    text = (corpus/'bibles'/'qac1.osis.xml').read_text(encoding='utf-8')
    path = tmp_path/'wol.osis.xml'
    path.write_text(text.replace('</title>', f'</title><rights>{rights}</rights>', 1), encoding='utf-8')
    return path

@pytest.fixture
def settings(corpus):
    annotations = corpus/'a.parquet'
    return Settings(str(annotations), content_hash(annotations.read_bytes()), min_verses=LEAST, publishable=True)

def test_a_publishable_release_leaves_out_what_forbids_it(corpus, settings, tmp_path):
    path = osis_with('© 2001 A Society. All rights reserved.', corpus, tmp_path)
    assert build_translation('wol', path, tmp_path/'out', settings) == '© 2001 A Society. All rights reserved.'
    assert not (tmp_path/'out').exists()
    build_translation('wol', path, tmp_path/'out', Settings(settings.annotations, settings.annotations_hash, min_verses=LEAST))
    assert load_dataset_folder(tmp_path/'out'/'wol').manifest['licence'].startswith('©')
    with pytest.raises(InputError, match='may not be passed on .* but is here'): build_translation('wol', path, tmp_path/'out', settings)

def test_and_keeps_the_labels_where_nothing_is_clear(corpus, settings, tmp_path, capsys):
    build_translation('open', osis_with('Public domain', corpus, tmp_path), tmp_path/'out', settings)
    assert (tmp_path/'out'/'open'/'verses.tsv').exists()
    build_translation('wol', path := osis_with('free', corpus, tmp_path), tmp_path/'out', settings)
    assert not (tmp_path/'out'/'wol'/'verses.tsv').exists()
    with pytest.raises(InputError, match='published without its text'): load_dataset_folder(tmp_path/'out'/'wol')
    words = {w for word in read_bible(path).rows for w in word.text.split() if len(w) > 4}
    assert not any(w in t for t in contents(tmp_path/'out'/'wol').values() for w in (x.encode() for x in sorted(words)[:50]))
    assert main(['restore', str(tmp_path/'out'/'wol'), '-b', str(path)]) == 0
    open_one, restored = (load_dataset_folder(tmp_path/'out'/code) for code in ('open','wol'))
    assert open_one.tasks == restored.tasks
    assert main(['restore', str(tmp_path/'out'/'wol'), '-b', str(corpus/'bibles'/'qad1.tsv')]) == 1
    assert 'is not the text that wol was built from' in capsys.readouterr().err
    with pytest.raises(InputError, match='restored with `pronto restore`'): build_translation('wol', path, tmp_path/'out', settings)
    (tmp_path/'out'/'wol'/'verses.tsv').unlink()
    assert is_finished(tmp_path/'out'/'wol', path, settings)

def test_a_publishable_release_from_text_alone_has_no_text_of_unclear_rights(corpus, tmp_path):
    "All of its rows are text, so nothing of it may be passed on without the text"
    alone = Settings('none', '', min_verses=LEAST, publishable=True)
    assert build_translation('wol', osis_with('free', corpus, tmp_path), tmp_path/'out', alone) == 'free'
    assert not (tmp_path/'out').exists()
    assert build_translation('open', osis_with('Public domain', corpus, tmp_path), tmp_path/'out', alone) == ''
    folder = tmp_path/'out'/'open'
    assert (folder/'text.tsv').exists() and not (folder/'verses.tsv').exists() # They would be the same

@pytest.mark.slow
def test_a_publishable_release_says_which_texts_it_withholds(corpus, tmp_path, capsys):
    (tmp_path/'bibles').mkdir()
    for code,rights in ('open','Public domain'), ('wol','free'), ('ours','© All rights reserved'):
        osis_with(rights, corpus, tmp_path).rename(tmp_path/'bibles'/f'{code}.osis.xml')
    argv = ['release', '-a', str(corpus/'a.parquet'), str(tmp_path/'bibles'), '-o', str(tmp_path/'out'), '--publishable',
            '--min-verses', str(LEAST), '--workers', '1']
    for built in '2 built', '2 finished before':
        main(argv)
        out, err = capsys.readouterr()
        assert out == (f'{tmp_path/"out"}: {built}, 1 left out, as their licence does not permit redistribution, '
                       '1 without their text, as it is unclear whether it may be passed on\n')
        assert 'left out ours: © All rights reserved\n' in err and 'labels without the text of wol: free\n' in err
    main([*argv, '--json', '--quiet'])
    assert json.loads(capsys.readouterr().out)['withheld'] == {'wol': 'free'}
    rows = csv.DictReader((tmp_path/'out'/'registry.csv').open(encoding='utf-8'))
    assert {r['code']: r['text'] for r in rows} == {'open': 'in the release', 'wol': 'withheld'}

def test_labels_without_text_say_what_is_owed(corpus, settings, tmp_path):
    build_translation('wol', osis_with('free', corpus, tmp_path), tmp_path/'out', settings)
    manifest = load_manifest(tmp_path/'out'/'wol')
    assert not (tmp_path/'out'/'wol'/'verses.tsv').exists() and manifest['licence'] == 'free'
    assert manifest['citation'] == [CITATION, manifest['source']['attribution']]
    assert manifest['source']['licence'] and manifest['source']['attribution']

def test_what_fetch_noted_counts_where_the_translation_says_nothing(corpus, settings, tmp_path):
    path = tmp_path/'data'/'bibles'/'qaalo.usfx.xml'
    path.parent.mkdir(parents=True)
    shutil.copy(corpus/'bibles'/'qaa1.usfx.xml', path)
    build_translation('qaalo', path, tmp_path/'unknown', settings)
    assert registry_row(tmp_path/'unknown'/'qaalo')['redistribution'] == 'unclear'
    said = lambda licence, may: _write_note(tmp_path/'data', 'ebible-qaalo', [path], licence=licence, may_be_passed_on=may)
    said('© A Society; may not be passed on', False)
    assert build_translation('qaalo', path, tmp_path/'out', settings) == '© A Society; may not be passed on'
    assert not (tmp_path/'out').exists()
    with pytest.raises(InputError, match='may not be passed on'): build_translation('qaalo', path, tmp_path/'unknown', settings)
    said('© A Society; may be passed on', True)
    assert build_translation('qaalo', path, tmp_path/'out', settings) == ''
    row = registry_row(tmp_path/'out'/'qaalo')
    assert (row['licence'], row['redistribution']) == ('© A Society; may be passed on', 'permitted')
    assert (tmp_path/'out'/'qaalo'/'verses.tsv').exists()
    assert is_finished(tmp_path/'out'/'qaalo', path, settings)

@pytest.mark.slow
def test_a_folder_of_an_earlier_release_is_not_published(corpus, settings, tmp_path):
    (tmp_path/'bibles').mkdir()
    path = osis_with('Public domain', corpus, tmp_path).rename(tmp_path/'bibles'/'open.osis.xml')
    for code in 'open', 'gone': build_translation(code, path, tmp_path/'out', settings)
    publish = lambda: release(corpus/'a.parquet', tmp_path/'bibles', tmp_path/'out', publishable=True, min_verses=LEAST)
    with pytest.raises(InputError, match='cannot be published: it also holds gone'): publish()
    shutil.rmtree(tmp_path/'out'/'gone')
    assert publish().finished == ['open']

def test_what_a_folder_remembers_may_be_damaged(corpus, settings, tmp_path):
    "Then it is built again"
    path = osis_with('Public domain', corpus, tmp_path)
    build_translation('wol', path, tmp_path/'out', settings)
    assert is_finished(tmp_path/'out'/'wol', path, settings)
    for text in '[]', '{}', '{"files": {}}', 'null', '{':
        (tmp_path/'out'/'wol'/'release.json').write_text(text)
        assert not is_finished(tmp_path/'out'/'wol', path, settings)
    build_translation('wol', path, tmp_path/'out', settings)
    assert is_finished(tmp_path/'out'/'wol', path, settings)

def test_a_guess_is_marked(corpus, settings, tmp_path):
    "In the manifest, so that nothing else guesses, and in the registry; what a table states is no guess"
    shutil.copy(corpus/'bibles'/'qad1.tsv', tmp_path/'Wolof-NT.tsv')
    guessed, stated = tmp_path/'out'/'guessed', tmp_path/'out'/'stated'
    build_translation('guessed', tmp_path/'Wolof-NT.tsv', tmp_path/'out', settings)
    build_translation('stated', tmp_path/'Wolof-NT.tsv', tmp_path/'out', settings, 'Basque')
    manifest = load_manifest(guessed)
    assert (manifest['language'], manifest['language_from']) == ('wol', 'guessed from the name Wolof-NT')
    assert 'language_from' not in load_manifest(stated)
    rows = [registry_row(folder) for folder in (guessed, stated)]
    assert [(row['language'], row['iso639_3'], row['language_from']) for row in rows] == [
        ('Wolof (guess)', 'wol', 'guessed from the name Wolof-NT'), ('Basque', 'eus', 'stated')]
    assert not is_finished(stated, tmp_path/'Wolof-NT.tsv', settings) # Without the table it would be another
    assert is_finished(stated, tmp_path/'Wolof-NT.tsv', settings, 'Basque')

@pytest.mark.slow
def test_another_language_changes_only_what_a_manifest_says_of_it(corpus, settings, tmp_path):
    "Also those of folds; what was guessed and what spoke against it is gone"
    shutil.copy(corpus/'bibles'/'qad1.tsv', tmp_path/'Wolof-NT.tsv')
    build(TEXT_ALONE, read_bible(tmp_path/'Wolof-NT.tsv'), tmp_path/'wol', splits='folds', path=tmp_path/'Wolof-NT.tsv')
    before, said = contents(tmp_path/'wol'), []
    hashes = load_manifest(tmp_path/'wol')['hashes']
    restate_language(tmp_path/'wol', '')
    assert open_dataset(tmp_path/'wol').folds[3].language == ''
    assert find_dataset(tmp_path/'wol', language='Basque', report=said.append) == tmp_path/'wol' and not said
    after = contents(tmp_path/'wol')
    assert {name for name in after if after[name] != before.get(name)} == {name for name in before if 'manifest.json' in name}
    for dataset in (whole := open_dataset(tmp_path/'wol'), whole.folds[3]):
        manifest = dataset.manifest
        assert manifest['language'] == 'Basque' and not {'language_from','language_doubt'} & manifest.keys()
    assert whole.folds[3].language == 'Basque' and load_manifest(tmp_path/'wol')['hashes'] == hashes
    find_dataset(tmp_path/'wol', language='Basque')
    assert contents(tmp_path/'wol') == after
    find_dataset(tmp_path/'wol', language='xxq9', report=said.append)
    assert said == [f"{tmp_path/'wol'}: declares the language 'xxq9', which is no code or name in ISO 639"]

NAMES = some.sampled_from(['Wolof','Dutch','Nepali Tamang','wolKYG','eng','Greek','','Santa Biblia'])
LANGUAGES = some.sampled_from(['wol','Basque','nl','qaa','no language'])

@example_settings(deadline=None) # The first example loads tables of languages
@given(LANGUAGES, LANGUAGES | some.just(''), NAMES, NAMES, some.sampled_from(['Toki leu','Слово бе']))
def test_a_stated_language_is_never_replaced_by_a_guess(in_file, given_one, title, name, text):
    "Whatever the title, the name of the file and the script say"
    bible = Bible([VerseRow('MRK', 1, '1', text)], language=in_file, title=title, named=(name,))
    about = _language(bible, name, [f'{name or "x"}.xml', name], given_one, f'{name or "x"}.xml')
    assert (about['language'], about['language_from']) == (given_one or in_file, '')

@pytest.mark.slow
def test_a_table_states_the_languages_of_a_release(corpus, tmp_path, capsys):
    bibles = tmp_path/'bibles'
    bibles.mkdir()
    for name in 'one.tsv', 'two.tsv':
        shutil.copy(corpus/'bibles'/'qad1.tsv', bibles/name)
    table = tmp_path/'languages.csv'
    table.write_text('file,language\none.tsv,wol\ngone.xml,fra\n')
    argv = ['release', '-a', str(corpus/'a.parquet'), str(bibles), '-o', str(tmp_path/'out'), '--min-verses', str(LEAST),
            '--workers', '1', '--no-choices', '--languages', str(table)]
    for _ in range(2): # The second time all is there
        assert main(argv) == 0
        assert 'names 1 files that are not in' in capsys.readouterr().err
        rows = list(csv.DictReader((tmp_path/'out'/'registry.csv').open(encoding='utf-8')))
        assert [row['iso639_3'] for row in rows] == ['wol',''] and rows[0]['language_from'] == 'stated'

# What is not a Bible, or not enough of one

@pytest.mark.slow
def test_failures_are_listed_and_the_others_built(corpus, tmp_path, capsys):
    bibles = tmp_path/'bibles'
    shutil.copytree(corpus/'bibles'/'qab1', bibles/'usfm'/'qax')
    shutil.copy(corpus/'bibles'/'qad1.tsv', bibles/'qax.tsv')
    (bibles/'empty.usfm').touch()
    (bibles/'cut.osis.xml').write_bytes((corpus/'bibles'/'qac1.osis.xml').read_bytes()[:5000])
    (bibles/'gone.xml').symlink_to(bibles/'nowhere')
    (bibles/'README.txt').write_text('Bibles')
    argv = ['release', '-a', str(corpus/'a.parquet'), str(bibles), '-o', str(tmp_path/'out'), '--min-verses', str(LEAST), '--workers', '1']
    assert main(argv) == 3
    said = capsys.readouterr()
    assert said.out == f'{tmp_path/"out"}: 2 built, 3 failed\n'
    failures = [line.split(':')[0] for line in said.err.splitlines() if line.startswith('failed')]
    assert failures == ['failed cut','failed empty','failed gone']
    failed = list(csv.DictReader((tmp_path/'out'/'failed.csv').open(encoding='utf-8')))
    assert [f['source'] for f in failed] == ['cut.osis.xml','empty.usfm','gone.xml']
    assert all(f['reason'].startswith(f['source']) for f in failed)
    assert sorted(p.name for p in (tmp_path/'out').iterdir() if p.is_dir()) == ['qax.tsv','usfm-qax']

def test_nothing_at_all_is_an_error(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('pronto.lab.jobs.queue._ANSWER', .2)
    (tmp_path/'bibles').mkdir()
    argv = ['release', '-a', str(corpus/'a.parquet'), str(tmp_path/'bibles'), '-o', str(tmp_path/'out'), '--workers', '1']
    run = lambda *more: main([*argv, *more])
    assert run() == 1 and 'holds no Bible' in capsys.readouterr().err
    (tmp_path/'bibles'/'a.txt').write_text('Dear reader')
    (tmp_path/'out').mkdir()
    (tmp_path/'out'/'registry.csv').write_text('code,language,iso639_3\n')
    (tmp_path/'out'/'failed.csv').write_text('code,source,reason\n')
    (tmp_path/'out'/'metadata.parquet').write_text('My own')
    assert run() == 1 and 'metadata.parquet: was not written by a release' in capsys.readouterr().err
    (tmp_path/'out'/'metadata.parquet').unlink()
    assert run() == 1 and 'none of 1 translations could be built' in capsys.readouterr().err
    assert [p.name for p in (tmp_path/'out').iterdir()] == ['failed.csv']
    assert run('--scheduler', 'tcp://127.0.0.1:9') == 1 and 'no Dask scheduler answers' in capsys.readouterr().err

def test_a_registry_of_someone_else_is_not_overwritten(corpus, tmp_path):
    (tmp_path/'registry.csv').write_text('plant,place\n')
    with pytest.raises(InputError, match='was not written by a release'):
        release(corpus/'a.parquet', corpus/'bibles', tmp_path, workers=1, min_verses=LEAST)
    assert [p.name for p in tmp_path.iterdir()] == ['registry.csv']
    (tmp_path/'registry.csv').rename(tmp_path/'metadata.parquet')
    with pytest.raises(InputError, match='metadata.parquet'):
        release(corpus/'a.parquet', corpus/'bibles', tmp_path, workers=1)
    (tmp_path/'failed.csv').mkdir()
    with pytest.raises(InputError, match='failed.csv: was not written by a release; move it away'):
        release(corpus/'a.parquet', corpus/'bibles', tmp_path, workers=1)

@pytest.mark.slow
def test_what_another_release_replaced_meanwhile_is_not_listed(corpus, tmp_path):
    (tmp_path/'bibles').mkdir()
    for name in 'qac1.osis.xml', 'qad1.tsv': shutil.copy(corpus/'bibles'/name, tmp_path/'bibles')
    def while_another_builds(items):
        yield from items
        (tmp_path/'out'/'qad1'/'release.json').unlink()
    done = release(corpus/'a.parquet', tmp_path/'bibles', tmp_path/'out', workers=1, min_verses=LEAST, progress=while_another_builds)
    assert done.built == ['qac1'] and 'was changed by another process; run the same command again' in done.failed['qad1']
    assert [r['code'] for r in csv.DictReader((tmp_path/'out'/'registry.csv').open(encoding='utf-8'))] == ['qac1']
    assert [*done.schemes.values()] == [['qac1']]

def test_the_rarer_numberings_are_named_with_their_translations(tmp_path):
    schemes = dict(org=['fraLSG'], eng=['copshc','wol','zul'])
    assert Release(tmp_path, schemes=schemes).numbering == 'versification: eng 3; org 1 (fraLSG)'

@pytest.mark.slow
def test_a_translation_that_takes_too_long_is_listed(corpus, tmp_path):
    "With a task that never answers"
    (tmp_path/'bibles').mkdir()
    shutil.copy(corpus/'bibles'/'qad1.tsv', tmp_path/'bibles')
    (tmp_path/'endless.py').write_text('''import time
from pronto import VerseTask
def label(verse): time.sleep(3600)
ENDLESS = VerseTask('endless', 'END', 'When?', label, ('never','later'))
''')
    command = [sys.executable, '-c', 'import sys; from pronto.cli import main; sys.exit(main())', 'release']
    options = ['-a', corpus/'a.parquet', tmp_path/'bibles', '-o', tmp_path/'out', '--min-verses', LEAST,
               '--tasks', tmp_path/'endless.py', '--job-timeout', 1, '--workers', 1]
    done = subprocess.run([*command, *map(str, options)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and 'none of 1 translations' in done.stderr
    failed, = csv.DictReader((tmp_path/'out'/'failed.csv').open(encoding='utf-8'))
    assert failed == dict(code='qad1', source='qad1.tsv', reason='was stopped after 1 seconds')

def test_text_that_was_put_back_is_named_when_published(tmp_path):
    "Text in a translation of this release, or a translation that is not part of it"
    from pronto.lab.jobs.release import _require_publishable
    for code in 'wol', 'old':
        (tmp_path/code).mkdir()
        (tmp_path/code/'release.json').write_text('{"inputs": "", "script": "", "redistribution": "", "files": {}}')
        (tmp_path/code/'verses.tsv').write_text('text')
    done = Release(tmp_path, failed={'wol': 'is text that was restored'}, others=['old','wol'])
    said = 'wol holds text that was restored .*; remove its verses file .*wol/verses.tsv.* into a copy'
    with pytest.raises(InputError, match=said): _require_publishable(done)
    done.others = ['old']
    with pytest.raises(InputError, match='it also holds old, which is not part'): _require_publishable(done)

@pytest.mark.slow
def test_no_cell_of_the_registry_is_a_formula(corpus, settings, tmp_path):
    "And `pronto report` reads it back as it was"
    from pronto.core.tables import spreadsheet_value
    (tmp_path/'bibles').mkdir()
    osis_with('=HYPERLINK("http://x.org"), public domain', corpus, tmp_path).rename(tmp_path/'bibles'/'wol.osis.xml')
    release(corpus/'a.parquet', tmp_path/'bibles', tmp_path/'out', workers=1, min_verses=LEAST)
    row, = csv.DictReader((tmp_path/'out'/'registry.csv').open(encoding='utf-8'))
    assert row['licence'].startswith("'=HYPERLINK(") and spreadsheet_value(row['licence']).startswith('=HYPERLINK(')

@pytest.mark.slow
def test_a_file_that_contradicts_its_language_is_doubted_everywhere(corpus, tmp_path, capsys):
    "It declares Swati and names Swahili: said by convert, build, the manifest, release and the registry"
    rows = read_bible(corpus/'bibles'/next(f for f in os.listdir(corpus/'bibles') if f.startswith('qaa1'))).rows
    verses = ''.join(f'<seg type="verse" id="b.{r.book}.{r.chapter}.{r.label}">{r.text}</seg>' for r in rows)
    says = '<language id="ss" iso639="ssw">Swahili</language>'
    (tmp_path/'bibles').mkdir()
    (path := tmp_path/'bibles'/'other.xml').write_text(f'<cesDoc>{says}<text>{verses}</text></cesDoc>')
    doubt, annotations = 'declares ssw (Swati) but names Swahili', ['-a', str(corpus/'a.parquet'), '--min-verses', str(LEAST)]
    assert main(['convert', str(path), '--report']) == 0 and doubt in capsys.readouterr().out
    assert main(['build', *annotations, '-b', str(path), '-o', str(tmp_path/'set')]) == 0
    assert doubt in capsys.readouterr().out and load_manifest(tmp_path/'set')['language_doubt'] == doubt
    assert main(['build', *annotations, '-b', str(path), '-o', str(tmp_path/'told'), '--language', 'swh']) == 0
    assert doubt not in capsys.readouterr().out and 'language_doubt' not in load_manifest(tmp_path/'told')
    assert main(['build', *annotations, '-b', str(path), '-o', str(tmp_path/'slip'), '--language', 'xxq9']) == 0
    assert "'xxq9', which is no code or name in ISO 639" in capsys.readouterr().out
    assert main(['release', *annotations, str(path.parent), '-o', str(tmp_path/'out'), '--workers', '1']) == 0
    assert f'other: the file {doubt}' in capsys.readouterr().err
    assert next(csv.DictReader((tmp_path/'out'/'registry.csv').open()))['language_doubt'] == doubt

def test_a_release_without_text_comes_back_as_it_was(corpus, whole, tmp_path, capsys):
    labels, again, copy = str(tmp_path/'labels'), tmp_path/'again', corpus/'whole'/'qab1'
    assert main(['export', 'standoff', str(corpus/'whole'), '-o', labels]) == 0
    text = next(text for text in load_verses(open_dataset(copy)).values() if len(text) > 20)
    assert not any(text.encode() in data for data in contents(tmp_path/'labels').values())
    bible = next((corpus/'bibles').glob('qab1*'))
    assert main(['restore', f'{labels}/qab1', '-b', str(bible), '-o', str(again)]) == 0
    built = {name: data for name,data in contents(copy).items() if name != 'release.json'}
    assert contents(again) == built
    other = next((corpus/'bibles').glob('qac1*'))
    assert main(['restore', f'{labels}/qab1', '-b', str(other), '-o', str(again)]) == 1
    assert 'is not the text that qab1 was built from' in capsys.readouterr().err
    assert contents(again) == built
    (tmp_path/'empty').mkdir()
    wrong = [('nowhere', 'nowhere: does not exist'), ('empty', 'empty: is not a dataset folder; name one that'),
             ('labels', 'labels: is a release; name a translation in it, e.g. '), ('again', 'holds its text; use it')]
    for name,said in wrong:
        assert main(['restore', str(tmp_path/name), '-b', str(bible), '-o', str(tmp_path/'no')]) == 1
        assert said in capsys.readouterr().err and not (tmp_path/'no').exists()
    assert main(['restore', str(tmp_path/'empty'), '-b', str(bible)]) == 1 and not any((tmp_path/'empty').iterdir())
