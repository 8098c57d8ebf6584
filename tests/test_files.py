"Files and folders are written completely or not at all, through links, with the permissions they had"
import os, stat, threading

import pytest

from pronto.core.files import InputError, read_json, reading, replace_folder, require_place, write_aside

def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path/'secret.txt'
    path.write_text('old')
    path.chmod(0o600)
    with write_aside(path) as f:
        f.write_text('new')
        assert stat.S_IMODE(f.stat().st_mode) == 0o600 # Nobody else may read it meanwhile
    assert path.read_text() == 'new' and stat.S_IMODE(path.stat().st_mode) == 0o600

def test_links_are_followed(tmp_path):
    (tmp_path/'there').mkdir()
    (tmp_path/'link.txt').symlink_to('there/a.txt')
    for text in 'new', 'newer': # At first the link points to nothing
        with write_aside(tmp_path/'link.txt') as f: f.write_text(text)
        assert (tmp_path/'link.txt').is_symlink() and (tmp_path/'there'/'a.txt').read_text() == text
    (tmp_path/'link').symlink_to('there/set')
    for text in 'new', 'newer':
        with replace_folder(tmp_path/'link', lambda folder: None) as d: (d/'a.txt').write_text(text)
        assert (tmp_path/'link').is_symlink() and (tmp_path/'there'/'set'/'a.txt').read_text() == text
    assert sorted(p.name for p in tmp_path.rglob('*')) == ['a.txt','a.txt','link','link.txt','set','there']

@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='no /dev/full here')
def test_devices_are_written_to():
    with write_aside('/dev/null') as f: f.write_text('x')
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode)
    with pytest.raises(InputError, match='/dev/full: cannot be written'), write_aside('/dev/full') as f: f.write_text('x')

def test_a_pipe_is_written_to_and_not_read(tmp_path):
    os.mkfifo(tmp_path/'pipe')
    with pytest.raises(InputError, match='is a pipe'): read_json(tmp_path/'pipe')
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path/'pipe').read_text()), daemon=True)
    reader.start()
    with write_aside(tmp_path/'pipe') as f: f.write_text('x')
    reader.join(10)
    assert got == ['x'] and [p.name for p in tmp_path.iterdir()] == ['pipe']

def test_what_appears_meanwhile_is_not_lost(tmp_path):
    ours = lambda folder: 'it holds a sheet' if (folder/'sheet').exists() else None
    with replace_folder(tmp_path/'set', ours) as d: (d/'a').write_text('1')
    with pytest.raises(InputError, match='because it holds a sheet'), replace_folder(tmp_path/'set', ours):
        (tmp_path/'set'/'sheet').write_text('mine')
    assert sorted(p.name for p in (tmp_path/'set').iterdir()) == ['a','sheet'] and len(list(tmp_path.iterdir())) == 1

def test_an_error_is_one_printable_line(tmp_path):
    with pytest.raises(InputError) as e, reading('a\x1b[31m\nb\udcff'): raise ValueError('first\nsecond')
    assert str(e.value) == r'a\x1b[31m\nb\udcff: cannot be read (first second); mend or replace the file'

def test_a_place_is_checked_without_writing(tmp_path):
    (tmp_path/'file').write_text('x')
    for place in tmp_path/'new', tmp_path/'a'/'b', tmp_path/'file', '/dev/null': require_place(place)
    require_place(tmp_path/'new', lambda folder: 'never asked')
    with pytest.raises(InputError, match='name the file to write'): require_place(tmp_path)
    with pytest.raises(InputError, match='because it holds a sheet'): require_place(tmp_path, lambda folder: 'it holds a sheet')
    for place in tmp_path/'file'/'a', tmp_path/('x'*300)/'a':
        with pytest.raises(InputError, match='cannot be written'): require_place(place)
    assert [p.name for p in tmp_path.iterdir()] == ['file']

def test_a_mistake_in_the_code_is_not_said_to_be_a_bad_file(tmp_path, monkeypatch, capsys):
    from pronto.bibles import reading as bibles
    from pronto.cli.command import main
    (tmp_path/'b.tsv').write_text('MRK\t1\t1\tlo la\n')
    broken = bibles.Reader('broken', lambda file: True, lambda file: {}['verses'])
    monkeypatch.setattr(bibles, 'READERS', [broken])
    assert main(['convert', str(tmp_path/'b.tsv'), '-o', str(tmp_path/'c.tsv')]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("pronto: KeyError: 'verses' (") and f'while reading {tmp_path/"b.tsv"}' in last

def test_an_error_comes_whole_from_another_process():
    import pickle
    error = InputError('a.tsv', 'is cut', 'line 7')
    same = pickle.loads(pickle.dumps(error))
    assert str(same) == str(error) == 'a.tsv, line 7: is cut' and (same.path, same.what, same.place) == ('a.tsv', 'is cut', 'line 7')

def test_what_a_writer_elsewhere_left_is_old_also_where_the_clock_was_set_back(tmp_path, monkeypatch):
    from pronto.core import files
    left = tmp_path/'.made.elsewhere-1-1-x.tmp'
    left.mkdir()
    assert files._left(tmp_path/'made', 'tmp') == [] # Of today, so its writer may be at work
    now = files.time.time()
    for days in -2, 2:
        monkeypatch.setattr(files.time, 'time', lambda at=now + days*files._DAY: at)
        assert files._left(tmp_path/'made', 'tmp') == [left]
