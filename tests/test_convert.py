"What `pronto convert` writes is what it read, in every format; and how two Bibles differ"
import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as some

from conftest import ROOT # noqa: F401
from pronto.lab.bibles.differences import compare_bibles
from pronto.bibles.reading import read_bible
from pronto.bibles.rows import Bible, VerseRow, clean_label, clean_text
from pronto.lab.bibles.writing import WRITERS, write_bible
from small_bibles import FORMATS, write

@pytest.mark.parametrize('ending', WRITERS)
@pytest.mark.parametrize('name', FORMATS)
def test_what_is_written_is_read_again(name, ending, tmp_path):
    (tmp_path/'in').mkdir()
    bible = read_bible(write(name, tmp_path/'in'))
    write_bible(bible, tmp_path/'out'/f'x.{ending}')
    assert read_bible(tmp_path/'out'/f'x.{ending}') == bible

LABELS = '1', '2', '3-5', '6a', '6b', '7,9', '10-12', '13', '14', '14', '15-16a'
SIGNS = 'abcאל́ि漢"\'\\|~/<>&{}[]*+#=,.:;-–0 9'

def verses(texts):
    "A chapter with every kind of number"
    return Bible([VerseRow('MRK', 1, clean_label(label), clean_text(text)) for label,text in zip(LABELS, texts)])

@pytest.mark.parametrize('ending', WRITERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=some.lists(some.text(SIGNS, min_size=1, max_size=12), min_size=1, max_size=len(LABELS)))
def test_any_text_under_any_number_is_read_again(ending, tmp_path, texts):
    bible = verses([f'a{text}' for text in texts])
    file = tmp_path/ending/f'x.{ending}'
    (file.parent/'vref.txt').unlink(missing_ok=True)
    write_bible(bible, file)
    assert read_bible(file) == bible

def test_a_verse_without_text_stays_or_is_named(tmp_path, capsys):
    bible = Bible([VerseRow('MRK', 1, '1', ''), VerseRow('MRK', 1, '2', 'Leu.')])
    for ending in 'tsv', 'usfm', 'usj', 'jsonl':
        write_bible(bible, tmp_path/ending/f'x.{ending}')
        assert read_bible(tmp_path/ending/f'x.{ending}') == bible
    write_bible(bible, tmp_path/'x.vref')
    assert capsys.readouterr().err == f'{tmp_path/"x.vref"}: left out verses without text: MRK 1:1\n'

def test_a_list_of_references_is_followed_and_never_replaced(pronto, tmp_path):
    (tmp_path/'vref.txt').write_text('GEN 1:1\nMRK 1:1\nMRK 1:2\n')
    (tmp_path/'x.tsv').write_text('MRK\t1\t1-2\tAnam.\n')
    assert pronto('convert', tmp_path/'x.tsv', '-o', tmp_path/'y.vref')[0] == 0
    assert (tmp_path/'y.vref').read_text() == '\nAnam.\n<range>\n'
    (tmp_path/'x.tsv').write_text('MRK\t1\t3\tLeu.\n')
    status, _, said = pronto('convert', tmp_path/'x.tsv', '-o', tmp_path/'y.vref')
    assert status == 1 and 'y.vref, MRK 1:3: has no line of its own in vref.txt' in said[0]
    assert (tmp_path/'y.vref').read_text() == '\nAnam.\n<range>\n'
    assert pronto('convert', tmp_path/'x.tsv', '-o', tmp_path/'vref.txt')[0] == 1 # Of no known ending
    assert (tmp_path/'vref.txt').read_text().startswith('GEN')

def test_two_bibles_are_compared(pronto, tmp_path):
    (tmp_path/'a.tsv').write_text('MRK\t1\t1\tAnam ran.\nMRK\t1\t2-3\tLeu.\n')
    (tmp_path/'b.usfm').write_text('\\id MRK\n\\c 1\n\\p\n\\v 1 Anam went.\n\\v 2 Leu.\n\\v 4 So.\n')
    files = tmp_path/'a.tsv', tmp_path/'b.usfm'
    for argv in (*files, '--compare'), (files[0], '--compare', files[1]):
        status, out, _ = pronto('convert', *argv)
        lines = out.splitlines()
        assert status == 0 and lines[0] == 'identical verses: 0; other words: 1; other verse numbers: 2; only in the second: 1'
        assert lines[1] == '  MRK 1:1 (other words): ran. → went.'
    status, out, _ = pronto('convert', *files, '--json', '--compare', '-o', tmp_path/'x.csv')
    assert [d['place'] for d in json.loads(out)['differences']] == ['MRK 1:1','MRK 1:2','MRK 1:2-3','MRK 1:4']
    assert len((tmp_path/'x.csv').read_text().splitlines()) == 5
    assert pronto('convert', files[0], '--compare')[2] == ['pronto: --compare: compares two Bibles, and 1 are named; name two']

def test_what_is_not_read_is_named(pronto, tmp_path):
    (tmp_path/'a.tsv').write_text('MRK\t1\t1\tAnam.\n' + ''.join(f'Leu {i}\t1\t1\tSona.\n' for i in range(7)))
    said = 'not read: Leu 0 (1), Leu 1 (1), Leu 2 (1), Leu 3 (1), Leu 4 (1) and 2 more'
    assert said in pronto('convert', tmp_path/'a.tsv', '-o', tmp_path/'b.tsv')[2]
    assert said in pronto('convert', tmp_path/'a.tsv', '--report')[1].splitlines()

def test_a_bible_is_the_same_as_itself():
    bible = verses(['Anam']*len(LABELS))
    assert compare_bibles(bible, bible) == (len({*LABELS}), [])
