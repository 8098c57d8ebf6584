"A table of one's own labels: an annotated source like any other, from the file to the report"
import json
import re
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pronto.cli.command import main as command
from pronto.core.files import InputError
from pronto.core.refs import parse_ref
from pronto.datasets.loading import load_dataset_folder, load_manifest
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.runs.store import predictions_of, read_runs
from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import read_annotations, write_annotations
from test_own_tasks import model # noqa: F401

def main(*args): return command([str(a) for a in args])

@pytest.fixture(scope='module')
def place(tmp_path_factory):
    "A Bible, and a table with two tasks over its verses"
    from pronto.bibles.reading import read_bible
    tmp = tmp_path_factory.mktemp('labels')
    write_corpus(make_corpus(n_verses=600), tmp/'corpus')
    rows = ['ref\tlong\tinitial\tsplit\tlicence']
    for i,(ref,text) in enumerate(read_bible(tmp/'corpus'/'bibles'/'qad.tsv').verses.items()):
        split = {8: 'dev', 9: 'test'}.get(i % 10, 'train')
        rows.append(f'{ref}\t{"yes" if len(text) > 30 else "no"}\t{"-" if i % 7 == 0 else "abc"[len(text) % 3]}\t{split}\tCC0')
    (tmp/'mine.tsv').write_text('\n'.join(rows) + '\n')
    assert main('annotate', tmp/'mine.tsv', '-o', tmp/'mine.parquet') == 0
    return tmp

@pytest.fixture
def built(place, tmp_path):
    def build(splits, *more):
        out = tmp_path/f'qad-{splits}'
        assert main('build', '-a', place/'mine.parquet', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', out, '--min-verses', 100,
                    '--splits', splits, '--no-choices', *more) == 0
        return out
    return build

def test_the_file_gives_the_labels_back(place, tmp_path):
    annotations = annotate(place/'mine.tsv')
    write_annotations(annotations, tmp_path/'a.parquet')
    again = read_annotations(tmp_path/'a.parquet')
    assert (again.verses, again.source) == (annotations.verses, annotations.source)
    assert again.source.labels == dict(initial=['a','b','c'], long=['no','yes'])
    assert (again.source.name, again.source.licence) == ('mine', 'CC0')

def test_sources_without_labels_are_written_as_before(place, tmp_path):
    import pyarrow.parquet as pq
    annotations = annotate(place/'corpus'/'ontonotes')
    annotations.verses = {ref: v._replace(labels=()) for ref,v in annotations.verses.items()}
    write_annotations(annotations, tmp_path/'a.parquet')
    schema = pq.read_schema(tmp_path/'a.parquet')
    assert schema.names == ['book','chapter','verse','crosses','sentences']
    assert 'labels' not in json.loads(schema.metadata[b'pronto.source'])

@pytest.mark.parametrize('splits', ['parallel','published'])
def test_every_bible_gets_the_tasks_with_our_splits_or_those_of_the_table(built, splits):
    dataset = load_dataset_folder(built(splits))
    assert list(dataset.tasks) == ['initial','long'] and dataset.manifest['labels']['long'] == ['no','yes']
    assert 'labels' not in dataset.manifest['source'] # Once is enough
    sizes = [len(rows) for rows in dataset.tasks['long'].values()]
    assert splits != 'published' or .78 < sizes[0]/sum(sizes) < .82
    assert all(row.label == ('yes' if len(row.text) > 30 else 'no') for part in dataset.tasks['long'].values() for row in part)

def test_folds_are_the_default_where_a_test_split_would_be_small(built):
    assert load_manifest(built('auto'))['folds'] == 10

def test_splits_that_a_source_does_not_have_are_refused(place, tmp_path, capsys):
    assert main('build', '-a', place/'corpus'/'ontonotes', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', tmp_path/'x',
                '--min-verses', 100, '--splits', 'published') == 1
    assert 'does not say what belongs to train' in capsys.readouterr().err

def test_trained_probed_tabled_reported_and_exported(built, model, tmp_path, capsys): # noqa: F811
    folder, runs = built('parallel'), ['--runs', tmp_path/'runs']
    assert main('eval', folder, '-m', model, '-t', 'long', '-t', 'initial', '--epochs', 1, '--limit', 40, *runs) == 0
    assert main('probe', folder, '-m', model, '-t', 'initial', *runs) == 0
    ran = {(r.task, r.protocol) for r in read_runs(tmp_path/'runs')}
    assert ran == {('long','in-language'), ('initial','in-language'), ('initial','probe')}
    capsys.readouterr()
    assert main('tables', *runs, '-o', tmp_path/'tables') == 0
    out = capsys.readouterr().out
    header = next(line for line in out.splitlines() if line.startswith('| Model'))
    assert [c for c in header.split() if c in ('NMC','SM','long','initial')] == ['initial','long'] and 'macro F1' in out
    assert main('report', *runs, '-o', tmp_path/'report.html') == 0
    for what in 'hf', 'lm-eval': assert main('export', what, folder, '-o', tmp_path/what) == 0
    assert 'Which initial fits the verse?' in (tmp_path/'lm-eval'/'pronto_initial.yaml').read_text()

def test_baselines_are_scored_by_the_metric_of_the_task(built, capsys):
    folder = built('parallel')
    assert 'Accuracy of surface cues alone' in capsys.readouterr().out
    assert main('eval', folder, '-t', 'long') == 0
    said = capsys.readouterr().out
    head, _, row = said.strip().splitlines()
    assert head.split(' | ')[1] == 'majority' and row.startswith('| long, macro F1 | ') and float(row.split(' | ')[1]) < 50

def test_a_published_split_is_no_task(testdata):
    annotations = annotate(testdata/'verse_labels'/'taxi1500.tsv')
    assert [*annotations.source.labels] == ['label']
    assert {v.split for v in annotations.verses.values()} == {'train','dev','test'}

@pytest.mark.slow
def test_folds_are_run(built, model, tmp_path): # noqa: F811
    assert main('eval', built('folds'), '-m', model, '-t', 'long', '--epochs', 1, '--limit', 20, '--runs', tmp_path/'runs') == 0
    [pooled] = read_runs(tmp_path/'runs')
    assert pooled.folds and len({*predictions_of(pooled).ref}) == 200

def test_a_task_that_is_empty_in_a_fold_is_left_out_with_a_line(place, tmp_path, capsys):
    "Its labels are all in the chapters of one fold"
    from pronto.datasets.splits import chapter_fold
    rows = (place/'mine.tsv').read_text().splitlines()
    some = [row if chapter_fold(row.split(':')[0]) == 4 else re.sub(r'\t[abc-]\t', '\t-\t', row) for row in rows[1:]]
    (tmp_path/'some.tsv').write_text('\n'.join([rows[0], *some]) + '\n')
    folder = tmp_path/'qad'
    assert main('annotate', tmp_path/'some.tsv', '-o', tmp_path/'some.parquet') == 0
    assert main('build', '-a', tmp_path/'some.parquet', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', folder,
                '--min-verses', 100, '--splits', 'folds', '--no-choices') == 0
    capsys.readouterr()
    assert main('eval', folder) == 0
    said = capsys.readouterr()
    assert '| long, macro F1 | ' in said.out and 'initial' not in said.out
    assert f'{folder}: left out, as a split is empty: initial' in said.err
    assert main('eval', folder, '-t', 'initial') == 1
    assert ': has no examples of initial in some split' in capsys.readouterr().err

def test_a_task_is_tested_in_the_folds_that_have_rows_of_it(place, model, tmp_path, capsys): # noqa: F811
    "Folds 1 to 3 have no test rows; fold 0, which would be tuned on the next one, is tuned on rows of train"
    from pronto.datasets.splits import chapter_fold
    head, *rows = (place/'mine.tsv').read_text().splitlines()
    is_empty = [chapter_fold(row.split(':')[0]) in (1, 2, 3) for row in rows]
    some = [re.sub(r'\t[abc-]\t', '\t-\t', row) if empty else row for row,empty in zip(rows, is_empty)]
    (tmp_path/'some.tsv').write_text('\n'.join([head, *some]) + '\n')
    folder, bible = tmp_path/'qad', place/'corpus'/'bibles'/'qad.tsv'
    assert main('build', '-a', tmp_path/'some.tsv', '-b', bible, '-o', folder, '--min-verses', 100, '--splits', 'folds',
                '--no-choices') == 0
    capsys.readouterr()
    assert main('eval', folder, '-m', model, '-t', 'initial', '--epochs', 1, '--limit', 20, '--runs', tmp_path/'runs') == 0
    assert f'{folder}: initial is tested in 7 of its folds; in others a split is empty' in capsys.readouterr().err
    [pooled] = read_runs(tmp_path/'runs')
    tested = {chapter_fold(row['ref'].split(':')[0]) for row in predictions_of(pooled).to_dict('records')}
    assert pooled.folds == 7 and tested == {0, 4, 5, 6, 7, 8, 9}
    assert main('eval', folder, '-t', 'initial') == 0

def test_another_process_knows_the_task_from_the_dataset(built, model, tmp_path): # noqa: F811
    from pronto.runs.planning import plan
    from pronto.runs.runner import run_training
    folder = built('parallel')
    training = plan(folder, [str(model)], ['long'], epochs=1, limit=20)[0]
    assert run_training(training, tmp_path/'runs')[0][0].exists()

def test_a_release_has_them(place, tmp_path):
    from pronto.core.files import content_hash
    from pronto.lab.jobs.release import Settings, build_translation, registry_row
    file = place/'mine.parquet'
    settings = Settings(annotations=str(file), annotations_hash=content_hash(file.read_bytes()), min_verses=100)
    assert build_translation('qad', place/'corpus'/'bibles'/'qad.tsv', tmp_path, settings) == ''
    assert registry_row(tmp_path/'qad')['long_shares'].startswith('no ')

def test_a_name_has_one_set_of_labels_in_a_store_as_in_a_command(built, model, place, tmp_path, capsys): # noqa: F811
    "Other labels are refused before anything is trained, one command after the other and in one"
    assert main('eval', built('parallel'), '-m', model, '-t', 'long', '--epochs', 1, '--limit', 20, '--runs', tmp_path/'runs') == 0
    table = (place/'mine.tsv').read_text().replace('\tyes\t', '\tsi\t').replace('\tno\t', '\tnon\t')
    (tmp_path/'mine.tsv').write_text(table)
    bible, other = place/'corpus'/'bibles'/'qad.tsv', tmp_path/'other'
    assert main('build', '-a', tmp_path/'mine.tsv', '-b', bible, '-o', other, '--min-verses', 100, '--splits', 'parallel') == 0
    again = 'eval', other, '-m', model, '-t', 'long', '--epochs', 1, '--limit', 20, '--runs'
    capsys.readouterr()
    assert main(*again, tmp_path/'runs') == 1
    said, = capsys.readouterr().err.splitlines()
    assert 'tasks/long.json: long has other labels in this store (no, yes) than now (non, si); rename the column' in said
    assert len(read_runs(tmp_path/'runs')) == 1 and main(*again, tmp_path/'others') == 0
    assert main('eval', tmp_path/'qad-parallel', *again[1:], tmp_path/'both') == 1
    assert 'are not those of' in capsys.readouterr().err

def test_names_that_are_taken_and_damaged_manifests_are_one_line(place, built, tmp_path, capsys):
    (tmp_path/'a.tsv').write_text('ref\tsentence_mood\nMAT 1:1\ta\nMAT 1:2\tb\n')
    assert main('annotate', tmp_path/'a.tsv', '-o', tmp_path/'a.parquet') == 1
    assert 'a.tsv, column sentence_mood: there is already a task' in capsys.readouterr().err
    for stem in 'names','upos','mentions':
        (tmp_path/'a.tsv').write_text(f'ref\t{stem}\nMAT 1:1\ta\nMAT 1:2\tb\n')
        assert main('annotate', tmp_path/'a.tsv', '-o', tmp_path/'a.parquet') == 1
        assert f'a.tsv, column {stem}: there is already a task' in capsys.readouterr().err
    folder = built('parallel')
    manifest = json.loads((folder/'manifest.json').read_text())
    for labels in dict(long='yes'), dict(long=[1, 2]), {'../long': ['a','b']}, ['long']:
        (folder/'manifest.json').write_text(json.dumps({k: v for k,v in manifest.items() if k != 'manifest_hash'} | dict(labels=labels)))
        assert main('eval', folder) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1

def test_numbers_as_labels_are_the_only_classes_of_exports(place, tmp_path):
    "Stars begin with 1; 0 and 50 are two labels, not 51 counts"
    from datasets import load_dataset
    rows = (place/'mine.tsv').read_text().splitlines()[1:]
    own = [f'{row.split(chr(9))[0]}\t{1 + i % 5}\t{i % 2*50}' for i,row in enumerate(rows)]
    (tmp_path/'rated.tsv').write_text('\n'.join(['ref\tstars\tshare', *own]) + '\n')
    assert main('build', '-a', tmp_path/'rated.tsv', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', tmp_path/'qad', '--min-verses', 100,
                '--splits', 'random') == 0
    for what in 'hf', 'lm-eval': assert main('export', what, tmp_path/'qad', '-o', tmp_path/what) == 0
    names = lambda stem: sorted(set(load_dataset(str(tmp_path/'hf'), stem, split='test')['label']))
    assert (names('stars'), names('share')) == (['1','2','3','4','5'], ['0','50'])
    asked = (tmp_path/'lm-eval'/'pronto_stars.yaml').read_text()
    assert re.findall(r'\b([A-Z])\. (\w+)', asked) == [*zip('ABCDE', '12345')]
    first = json.loads((tmp_path/'lm-eval'/'qad'/'stars_test.jsonl').read_text().splitlines()[0])
    row = load_dataset_folder(tmp_path/'qad').tasks['stars']['test'][0]
    assert '12345'[first['label']] == row.label

def test_one_word_in_two_forms_is_one_label_and_slips_are_named_once(place, tmp_path, capsys):
    rows = (place/'mine.tsv').read_text().splitlines()[1:41]
    labels = ['opinião', 'opinia\u0303o', 'Good', 'good']
    own = [f'{row.split(chr(9))[0]}\t{"rare" if i == 7 else labels[i % 4]}' for i,row in enumerate(rows)]
    (tmp_path/'said.tsv').write_text('\n'.join(['ref\ttone', *own]) + '\n', encoding='utf-8')
    assert main('annotate', tmp_path/'said.tsv', '-o', tmp_path/'said.parquet') == 0
    assert read_annotations(tmp_path/'said.parquet').source.labels == dict(tone=['Good','good','opinião','rare'])
    assert capsys.readouterr().err.splitlines() == [
        f'{tmp_path}/said.tsv, column tone: labels that look alike are different classes: Good and good',
        f'{tmp_path}/said.tsv, column tone: labels of fewer than 5 verses: rare (1)']

# Tables as people keep them

TABLE = [['Verse','Topic','Note'], ['Jn 3:8','much wind','who, knows?'], ['MRK 4:37-38','storm',''], ['Mark 4:39','storm','']]

def write_table(path, rows=TABLE, mark=',', encoding='utf-8-sig'):
    "A table as a spreadsheet program writes it, by the ending of its name"
    import csv
    if path.suffix == '.xlsx':
        from openpyxl import Workbook
        book = Workbook(write_only=True) # Half as long
        sheet = book.create_sheet()
        for row in rows: sheet.append(row)
        book.save(path)
        return path
    with path.open('w', encoding=encoding, newline='') as f: csv.writer(f, delimiter=mark).writerows(rows)
    return path

@pytest.mark.parametrize('name,how', [('a.csv', {}), ('a.csv', dict(mark=';')), ('A.CSV', dict(mark='\t', encoding='utf-16')),
                                      ('a.txt', dict(mark='\t', encoding='utf-16-le')), ('a.xlsx', {})])
def test_a_table_is_read_as_a_spreadsheet_wrote_it(tmp_path, capsys, name, how):
    path = write_table(tmp_path/name, **how)
    assert main('annotate', path, '-o', tmp_path/'a.parquet') == 0
    found = read_annotations(tmp_path/'a.parquet')
    assert {str(ref): [label.label for label in v.labels] for ref,v in found.verses.items()} == {
        'MRK 4:37': ['storm'], 'MRK 4:38': ['storm'], 'MRK 4:39': ['storm'], 'JHN 3:8': ['much_wind']}
    assert f'{path}: left out, as notes for people: Note' in capsys.readouterr().err

def test_every_bad_row_is_named_with_its_line(tmp_path, capsys):
    rows = [TABLE[0], *([f'MRK {i}', 'storm', ''] for i in range(25)), *TABLE[1:]]
    assert main('annotate', write_table(tmp_path/'a.csv', rows), '-o', tmp_path/'a.parquet') == 1
    *named, last = [line for line in capsys.readouterr().err.splitlines() if 'left out' not in line]
    assert [re.search(r'line (\d+): Not a verse', line)[1] for line in named] == [str(i) for i in range(2, 22)]
    assert last.endswith('25 rows are wrong; correct them (the first 20 are named above)')

BAD = {
    'a comma in a reference': ('a.csv', b'ref,topic\nMRK 4:37,38,storm\n', 'line 2: 3 columns, but the header has 2; a cell with such'),
    'a long label': ('a.csv', b'ref,topic\nMRK 4:37,' + b'x'*10_000 + b'\n', "line 2: topic has a label of 10,000 characters, 'xxxxx"),
    'another encoding': ('a.csv', 'ref,topic\nMRK 4:37,é\n'.encode('latin-1'), 'is not UTF-8 text; save the table as CSV in UTF-8'),
    'an old spreadsheet': ('a.xls', b'\xd0\xcf\x11\xe0', 'is a spreadsheet that cannot be read; save the table as CSV'),
    'no spreadsheet': ('a.xlsx', b'ref,topic', 'cannot be read (File is not a zip file); save the table as CSV'),
    'a split by another name': ('a.csv',
                                b'ref,topic,set\nMRK 4:37,a,train\nMRK 4:38,b,dev\n',
                                'column set: looks like a division into train, dev and test'),
    'an open quote': ('a.csv', b'ref,topic\n"MRK 4:37,a\nMRK 4:38,b\n', 'line 2: 1 columns, but the header has 2; a quote is opened and'),
    'nothing': ('a.csv', b'\n\n', 'is empty; write a header')}

@pytest.mark.parametrize('name,data,says', BAD.values(), ids=BAD)
def test_a_bad_table_is_one_line(tmp_path, capsys, name, data, says):
    (tmp_path/name).write_bytes(data)
    assert main('annotate', tmp_path/name, '-o', tmp_path/'a.parquet') == 1
    [line] = capsys.readouterr().err.splitlines()
    assert str(tmp_path/name) in line and says in line

def test_of_two_sheets_the_first_is_read_and_a_formula_needs_a_value(tmp_path, capsys):
    from openpyxl import load_workbook
    path = write_table(tmp_path/'a.xlsx')
    book = load_workbook(path)
    book.create_sheet('old')
    book.save(path)
    assert main('annotate', path, '-o', tmp_path/'a.parquet') == 0
    assert 'has 2 sheets, of which the first (Sheet) is read' in capsys.readouterr().err
    book.worksheets[0].sheet_state = 'hidden'
    book.worksheets[1].append(['ref','mood'])
    book.worksheets[1].append(['MRK 4:37','calm'])
    book.worksheets[1].append(['MRK 4:38','wild'])
    book.save(path)
    assert annotate(path).source.labels == dict(mood=['calm','wild'])
    assert 'of which the first that is not hidden (old) is read' in capsys.readouterr().err
    book.worksheets[0].sheet_state = 'visible'
    book.worksheets[0]['B3'] = '=B2'
    book.save(path)
    assert main('annotate', path, '-o', tmp_path/'a.parquet') == 1
    assert 'cell B3: is a formula whose value is not in the file' in capsys.readouterr().err

# Numbers are values, however they are written

VERSES = [f'MRK 4:{i}' for i in range(1, 42)]
RATED = [[verse, str(3*i)] for i,verse in enumerate(VERSES[:12])]

@pytest.mark.parametrize('text,value', {
    '−5': '-5', '1 200': '1200', '1\u202f200': '1200', "1'200": '1200', '1E-05': '1e-05', '2,5': '2.5', '1.234.567,5': '1234567.5',
    '1.3333333333333333': '1.333333333', '٣٫٥': '3.5', '１２': '12', '+7': '7', '5.0': '5'}.items())
def test_a_number_is_its_value(tmp_path, text, value):
    verses = annotate(write_table(tmp_path/'a.csv', [['ref','rating'], *RATED, [VERSES[20], text]], mark=';')).verses
    assert [label.label for label in verses[parse_ref(VERSES[20])].labels] == [value]
    assert [label.label for label in verses[parse_ref(VERSES[1])].labels] == ['3']

def test_points_and_commas_are_those_of_the_table(tmp_path):
    rows = [['ref','rating'], ['MRK 4:1','1.000'], ['MRK 4:2','900,5']]
    assert annotate(write_table(tmp_path/'a.csv', rows, mark=';')).source.labels == dict(rating=['900.5','1000'])
    sheet = write_table(tmp_path/'a.xlsx', [*rows, ['MRK 4:3', 1.234]]) # Stored as a number
    assert annotate(sheet).source.labels == dict(rating=['1.234','1000'])
    with pytest.raises(InputError, match="column rating: line 2: '1.000' may be 1 or 1000"):
        annotate(write_table(tmp_path/'b.csv', [*rows[:2], ['MRK 4:2','900']], mark=';'))

@pytest.mark.parametrize('mark', ['NA','N/A','n/a','nan','#N/A','#DIV/0!','#NV',''])
def test_a_missing_number_is_counted(tmp_path, capsys, mark):
    table = write_table(tmp_path/'a.csv', [['ref','rating'], *RATED, [VERSES[20], mark]])
    found = annotate(table)
    assert found.source.kinds == dict(rating='number') and not found.verses[parse_ref(VERSES[20])].labels
    assert f'cells without a label: {f"1 with {mark}" if mark else "1 empty"}' in capsys.readouterr().err

def test_what_is_no_number_among_numbers_is_named_with_its_place(tmp_path):
    rows = [['ref','rating'], *RATED, [VERSES[20],'high'], [VERSES[21],'3?']]
    with pytest.raises(InputError, match=r"column rating: has 12 numbers, and 'high' \(line 14\), '3\?' \(line 15\), which"):
        annotate(write_table(tmp_path/'a.csv', rows))
    rows[0] = ['ref','rating (class)']
    assert '3?' in annotate(write_table(tmp_path/'a.csv', rows)).source.labels['rating']

def test_ratings_of_several_people_are_averaged_equal_ones_too(tmp_path, capsys):
    rows = [['ref','rating'], *([VERSES[0], x] for x in (80, 80, 20)), [VERSES[1], 10]]
    assert annotate(write_table(tmp_path/'a.csv', rows)).source.labels == dict(rating=['10','60'])
    likert = [['ref','rating'], *([verse, (i*k)%5 + 1] for k in (1, 2, 3) for i,verse in enumerate(VERSES))]
    assert annotate(write_table(tmp_path/'b.csv', likert)).source.kinds == dict(rating='number')
    assert 'verses with several numbers, whose mean counts: 41' in capsys.readouterr().err
    one = [['ref','rating'], *([verse, i%5 + 1] for i,verse in enumerate(VERSES))]
    assert annotate(write_table(tmp_path/'c.csv', one)).source.kinds == {}
    assert '41 cells are numbers that count as names of classes' in capsys.readouterr().err

def test_a_spreadsheet_has_errors_dates_and_merged_cells(tmp_path, capsys):
    from datetime import date, time
    from openpyxl import load_workbook
    path = write_table(tmp_path/'a.xlsx', [['ref','mood','date'], *([verse, 'ab'[i//4 % 2], date(2024, 3, 2)] for i,verse in
                                                                    enumerate(VERSES[:28]))])
    book = load_workbook(path)
    for row in range(2, 30, 4): book.active.merge_cells(f'B{row}:B{row + 3}')
    book.save(path)
    assert sum(bool(v.labels) for v in annotate(path).verses.values()) == 28
    assert '28 cells are merged' in capsys.readouterr().err
    for odd,says in (date(2024, 3, 2), '2024-03-02'), (time(3, 16), '03:16'):
        with pytest.raises(InputError, match=re.escape(f'row 3: mood is a date or a time ({says}')):
            annotate(write_table(tmp_path/'b.xlsx', [['ref','mood'], ['MRK 4:1','a'], ['MRK 4:2',odd]]))

@pytest.mark.slow
def test_every_row_of_a_spreadsheet_is_read(tmp_path):
    rows = [['ref','rater','mood'], *([VERSES[i % 41], i, 'ab'[i % 41 % 2]] for i in range(100_010))]
    from pronto.lab.sources import label_cells
    tables = []
    def read(path): return tables.append(label_cells.read_table_cells(path)) or tables[-1]
    with patch('pronto.lab.sources.labels.read_table_cells', read): # Which takes seconds, so once
        assert annotate(write_table(tmp_path/'a.xlsx', rows)).source.labels['rater'] != ''
    assert [len(table.rows) for table in tables] == [100_011]

def test_separators_and_quotes_are_those_of_spreadsheets(tmp_path):
    labels = dict(mood=['"Peace"','calm'])
    (tmp_path/'a.csv').write_text('sep=;\r\nref;mood\r\nMRK 4:1;"""Peace"""\r\n"MRK 4:2";calm\r\n')
    (tmp_path/'a.tsv').write_text('ref\tmood\n"MRK 4:1"\t"""Peace"""\n"MRK 4:2"\t"calm"\n')
    assert [annotate(tmp_path/name).source.labels for name in ('a.csv','a.tsv')] == [labels, labels]

cell = st.one_of(st.integers(-10**6, 10**6), st.floats(-1e6, 1e6, allow_nan=False), st.booleans(), st.none(),
                 st.sampled_from(['calm','much wind','Sin; Faith','NA','n/a','-','−5','1 200','2,5','1.234,5','50%','x"y','a\tb','é']))

def labels_or_error(path):
    "What a table gives: its labels, or what is said of the column"
    try:
        found = annotate(path)
    except InputError as e:
        return e.what
    return found.source.labels, found.source.kinds, {ref: v.labels for ref,v in found.verses.items()}

@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(cell, min_size=2, max_size=12), st.sampled_from(['rating','rating (number)','rating (class)','rating (several)']))
def test_the_same_table_in_each_format_gives_the_same_labels(tmp_path, cells, title):
    import pandas as pd
    rows = [['ref',title], *([verse, value] for verse,value in zip(VERSES, cells))]
    frame = pd.DataFrame(rows[1:], columns=rows[0], dtype=object)
    frame.to_csv(tmp_path/'pandas.csv', index=False)
    frame.to_csv(tmp_path/'pandas.tsv', index=False, sep='\t')
    frame.to_excel(tmp_path/'pandas.xlsx', index=False)
    files = [write_table(tmp_path/'a.csv', rows), write_table(tmp_path/'b.csv', rows, mark=';'),
             write_table(tmp_path/'c.tsv', rows, mark='\t'), write_table(tmp_path/'d.xlsx', rows),
             *(tmp_path/f'pandas.{ending}' for ending in ('csv','tsv','xlsx'))]
    found = [re.sub(r'\b(line|row)\b', 'line', str(labels_or_error(path))) for path in files]
    settled = [text for text in found if ' may be ' not in text] # A point may be either where nothing tells
    assert len({*settled}) <= 1, dict(zip(files, found))

@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.floats(-1e9, 1e9, allow_nan=False).map(repr), st.sampled_from(['NA','high','','-','1e999','5 %']),
                          st.from_regex(r'[+−-]?[1-9][0-9]{0,2}([ .,][0-9]{3}){0,2}([.,][0-9]{1,2})?', fullmatch=True)),
                min_size=2, max_size=12))
def test_every_number_in_a_table_is_a_number_or_is_named(tmp_path, capsys, cells):
    "Each cell is a finite number of its value, counted as missing, or named in the error"
    from pronto.lab.sources.label_cells import number_readings
    path = write_table(tmp_path/'a.csv', [['ref','rating (number)'], *zip(VERSES, cells)], mark=';')
    found = labels_or_error(path)
    if isinstance(found, str):
        said = found + capsys.readouterr().err
        assert any(repr(' '.join(text.split())) in said for text in cells) or 'different numbers' in found, said
        return
    for verse,text in zip(VERSES, cells):
        labels = [label.label for label in found[2][parse_ref(verse)]]
        values = number_readings(' '.join(text.split())).values()
        assert not labels and text in ('NA','','-') or any(float(labels[0]) == pytest.approx(value) for value in values)

# Several labels in a verse, and numbers

@pytest.fixture(scope='module')
def kinds(tmp_path_factory):
    "A table of topics and ratings over an invented Bible, and the dataset"
    from pronto.bibles.reading import read_bible
    tmp = tmp_path_factory.mktemp('kinds')
    write_corpus(make_corpus(n_verses=400), tmp/'corpus')
    bible = tmp/'corpus'/'bibles'/'qaa.usfx.xml'
    rows = [['Verse','Topic','Rating']]
    for ref,text in read_bible(bible).verses.items():
        topics = [name for name,sign in dict(Sea='m', Sky='w', Land='d').items() if sign in text[:12].lower()]
        rows.append([str(ref), ';'.join(topics), str(len(text))])
    assert main('annotate', write_table(tmp/'mine.csv', rows, mark=';'), '-o', tmp/'mine.parquet') == 0
    assert main('build', '-a', tmp/'mine.parquet', '-b', bible, '-o', tmp/'qaa', '--min-verses', 50, '--splits', 'parallel',
                '--no-choices') == 0
    return tmp

def test_what_a_column_was_taken_for_is_said(kinds, capsys):
    assert main('annotate', kinds/'mine.csv', '-o', kinds/'again.parquet') == 0
    said = capsys.readouterr().err
    assert 'column rating: a task of numbers, from' in said and 'column topic: a task of several labels, which' in said
    source = read_annotations(kinds/'again.parquet').source
    assert source.kinds == dict(topic='several', rating='number') and source.labels['topic'] == ['Land','Sea','Sky']

def test_several_labels_and_numbers_have_baselines_of_their_own(kinds, capsys):
    assert main('eval', kinds/'qaa') == 0
    head, _, *rows = capsys.readouterr().out.strip().splitlines()
    cells = lambda row: row.strip('| ').split(' | ')
    scores = {cells(row)[0]: dict(zip(cells(head)[1:], cells(row)[1:])) for row in rows}
    assert float(scores["rating, Spearman's ρ"]['length']) > .99 and scores["rating, Spearman's ρ"]['majority'] == '0.00'
    assert float(scores['topic, macro F1']['majority']) > 40 and float(scores['topic, macro F1']['n-grams, balanced']) > 50

@pytest.mark.slow
def test_several_labels_and_numbers_are_trained_probed_and_reported(kinds, model, tmp_path, capsys, monkeypatch): # noqa: F811
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data')) # Where the card builds its dataset
    folder, runs = kinds/'qaa', ['--runs', tmp_path/'runs']
    assert main('eval', folder, '-m', model, '--epochs', 1, '--limit', 40, *runs) == 0
    assert main('probe', folder, '-m', model, *runs) == 0
    found = {(r.task, r.protocol): r for r in read_runs(tmp_path/'runs')}
    assert set(found) == {(t, p) for t in ('topic','rating') for p in ('in-language','probe')}
    rating, topic = found['rating','probe'], found['topic','probe']
    assert rating.accuracy is None and rating.spearman > .5 and rating.mae < 30
    assert rating.hyperparameters['select'] == 'spearman' and topic.hyperparameters['select'] == 'macro_f1'
    assert 0 <= topic.accuracy <= topic.micro_f1 <= 1
    low, high = map(float, load_manifest(folder)['labels']['rating'])
    assert all(low <= float(row['predicted']) <= high for row in predictions_of(rating).to_dict('records'))
    capsys.readouterr()
    for metric in '', 'macro_f1', 'mae', 'spearman', 'micro_f1':
        assert main('tables', *runs, '-o', tmp_path/'tables', *(['--metric', metric] if metric else [])) == 0
    assert 'Spearman' in capsys.readouterr().out
    assert main('report', *runs, '-o', tmp_path/'report.html') == 0
    from zoo import save_model
    bert = save_model(tmp_path/'bert', 'bert')
    assert main('card', kinds/'corpus'/'bibles'/'qaa.usfx.xml', '-a', kinds/'mine.parquet', '-m', bert, '-o', tmp_path/'card.html',
                '--min-verses', 50, *runs) == 0
    assert 'Spearman' in (tmp_path/'card.html').read_text()

def test_neither_numbers_nor_several_labels_are_prompted(kinds, tmp_path, capsys):
    from pronto.demo.tiny_causal import pretrain_causal
    gpt = pretrain_causal(['the land is by the sea', 'the sky is over the sea'], tmp_path/'gpt2', 5)
    asked = 'eval', kinds/'qaa', '-m', gpt, '--protocol', 'prompting', '--recipe', 'prompt-0', '--runs', tmp_path/'runs'
    for task,kind in dict(rating='is a number', topic='has several labels').items():
        assert main(*asked, '-t', task) == 1
        assert f'{task}: {kind}, for which models are not prompted; probe or fine-tune one' in capsys.readouterr().err

def test_exports_say_which_labels_they_cannot_ask_for(kinds, tmp_path, capsys):
    from pyarrow.parquet import read_table
    assert main('export', 'hf', kinds/'qaa', '-o', tmp_path/'hf') == 0
    for stem,parts in load_dataset_folder(kinds/'qaa').tasks.items():
        labels = read_table(tmp_path/'hf'/stem/'test.parquet')['label'].to_pylist()
        assert labels == [row.label for row in parts['test']]
    assert main('export', 'lm-eval', kinds/'qaa', '-o', tmp_path/'lm-eval') == 1
    said = capsys.readouterr().err
    assert 'topic: has several labels in a row, or numbers, and the harness asks for one of a few' in said
    assert 'no task to ask about' in said

def test_shares_of_numbers_are_of_ranges(kinds):
    from pronto.datasets.manifest import summary
    least, greatest = map(float, read_annotations(kinds/'mine.parquet').source.labels['rating'])
    first = f'{least:.6g}–{least + (greatest - least)/4:.6g} '
    row, = (line for line in summary(load_manifest(kinds/'qaa')).splitlines() if line.startswith('| rating'))
    assert f'| {first}' in row

@pytest.mark.parametrize('rows,says', {
    'a slip': (['MRK 4:1,calm'] + [f'MRK 4:{i},{"calm" if i % 2 else "storm"}' for i in range(1, 40)] + ['MRK 4:3,storm'],
               'column sky: MRK 4:3 is calm in line 5 and storm in line 42; give it one label, or both as calm;storm'),
    'a word among numbers': (['MRK 4:1,3', 'MRK 4:2,high'],
                              "column sky: has 1 numbers, and 'high' (line 3), which is neither a number nor missing; correct it"),
    'one number': (['MRK 4:1,3', 'MRK 4:2,3'], 'column sky: has 1 different numbers; a task needs two or more')}.values())
def test_a_column_of_another_kind_is_one_line(tmp_path, capsys, rows, says):
    head = 'ref,sky' if 'calm' in says else 'ref,sky (number)'
    (tmp_path/'a.csv').write_text('\n'.join([head, *rows]))
    assert main('annotate', tmp_path/'a.csv', '-o', tmp_path/'a.parquet') == 1
    [line] = capsys.readouterr().err.splitlines()
    assert says in line

# Labels of words

def words_table(kinds):
    "Some words of each verse: the second if it has a capital, the last; one row is about a word that is not there"
    from pronto.bibles.reading import read_bible
    from pronto.datasets.segmentation import Segmentation
    rows = [['Verse','Word','Place','Tag','Note']]
    for ref,text in read_bible(kinds/'corpus'/'bibles'/'qaa.usfx.xml').verses.items():
        words = Segmentation().words(text)
        if len(words) < 3: rows.append([str(ref), '-', '', '-', ''])
        else:
            rows.append([str(ref), words[1], '', 'NAME' if words[1][0].isupper() else 'WORD', ''])
            rows.append([str(ref), '', str(len(words)), 'LAST', ''])
    return [*rows[:1], [rows[1][0], 'nowhere', '', 'NAME', 'a slip'], *rows[1:]]

def test_tags_of_words_are_built_probed_and_tabled(kinds, model, tmp_path, capsys): # noqa: F811
    table, bible = write_table(tmp_path/'tags.csv', words_table(kinds)), kinds/'corpus'/'bibles'/'qaa.usfx.xml'
    assert main('annotate', table, '-o', tmp_path/'tags.parquet') == 0
    assert 'column tag: a task on words, of which' in capsys.readouterr().err
    again = read_annotations(tmp_path/'tags.parquet')
    assert again.verses == annotate(table).verses and again.source.tags == dict(tag=['O','LAST','NAME','WORD'])
    assert main('build', '-a', tmp_path/'tags.parquet', '-b', bible, '-o', tmp_path/'qaa', '--min-verses', 50, '--splits', 'parallel',
                '--no-choices') == 0
    first = next(iter(again.verses))
    assert f'not found: {first} nowhere' in capsys.readouterr().out
    rows = load_dataset_folder(tmp_path/'qaa').tasks['tag']['test']
    assert all(row.tags[-1] == 'LAST' for row in rows if len(row.tokens) > 2)
    runs = ['--runs', tmp_path/'runs']
    assert main('eval', tmp_path/'qaa', '-m', model, '--epochs', 1, '--limit', 20, *runs) == 0
    assert main('probe', tmp_path/'qaa', '-m', model, *runs) == 0
    assert {(r.task, r.protocol) for r in read_runs(tmp_path/'runs')} == {('tag','in-language'), ('tag','probe')}
    assert main('tables', *runs, '-o', tmp_path/'tables') == 0
    assert 'macro F1' in capsys.readouterr().out

def test_spans_become_bio_and_a_table_of_another_translation_is_refused(kinds, tmp_path, capsys):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.segmentation import Segmentation
    bible = kinds/'corpus'/'bibles'/'qaa.usfx.xml'
    rows = [[str(ref), ' '.join(Segmentation().words(text)[:2]), 'BEGIN'] for ref,text in read_bible(bible).verses.items()]
    table = write_table(tmp_path/'spans.tsv', [['ref','token','part'], *rows], mark='\t', encoding='utf-8')
    build = 'build', '-a', table, '-o', tmp_path/'qaa', '--min-verses', 50, '--splits', 'parallel', '--no-choices', '-b'
    assert main(*build, bible) == 0
    manifest = load_manifest(tmp_path/'qaa')['word_tasks']
    assert manifest['tasks']['part']['labels'] == ['O','B-BEGIN','I-BEGIN'] and manifest['tasks']['part']['metric'] == 'span_f1'
    rows = load_dataset_folder(tmp_path/'qaa').tasks['part']['train']
    assert all(row.tags[:2] == ('B-BEGIN','I-BEGIN') for row in rows if len(row.tags) > 1)
    capsys.readouterr()
    assert main(*build[:3], '-o', tmp_path/'other', *build[5:], kinds/'corpus'/'bibles'/'qab') == 1
    said = capsys.readouterr().err
    assert 'spans, part: ' in said and 'tagged words are not in this text, e.g. ' in said and 'Traceback' not in said

def scored(folder, kind, labels):
    "A store with one run on a task `rating` whose labels are of a kind"
    from conftest import run_results
    from pronto.runs.store import RunKey, write_record
    rows = [dict(ref=f'MRK {1 + i//10}:{1 + i%10}', label=str(1 + i%3), predicted=str(1 + i*i%3), majority='1') for i in range(60)]
    write_record(RunKey('qad', 'bert', 'b', 'rating', 'd'), folder, run_results(splits='parallel', baselines=dict(majority=.3)), rows)
    (folder/'tasks').mkdir()
    (folder/'tasks'/'rating.json').write_text(json.dumps(dict(kind=kind, name='rating', metric='', labels=labels)))
    return read_runs(folder, report=pytest.fail)

def test_another_store_does_not_change_what_a_label_is(tmp_path):
    "One name of a column, once with classes and once with numbers, in one process"
    from pronto.datasets.tasks import BUILT_IN, NumberTask
    from pronto.reporting.card import score_card
    before = dict(BUILT_IN)
    classes = scored(tmp_path/'a', 'verse', ['1','2','3'])
    first = score_card(classes).markdown()
    numbers = scored(tmp_path/'b', 'number', ['1','3'])
    second = score_card(numbers).markdown()
    assert 'macro F1' in first and "Spearman's" in second
    assert (score_card(classes).markdown(), score_card(numbers).markdown()) == (first, second)
    assert [isinstance(runs[0].definition, NumberTask) for runs in (classes, numbers)] == [False, True]
    both = score_card([*classes, *numbers]).markdown() # Two tasks, though they have one name
    assert 'macro F1' in both and "Spearman's" in both
    assert dict(BUILT_IN) == before

def test_two_datasets_may_have_different_labels_for_one_name(place, tmp_path):
    for name,labels in (('a', ['1','2','3']), ('b', ['one','two'])):
        lines = (place/'mine.tsv').read_text().splitlines()[1:]
        rows = [f'{line.split(chr(9))[0]}\t{labels[i % len(labels)]}' for i,line in enumerate(lines)]
        (tmp_path/f'{name}.tsv').write_text('\n'.join(['ref\trating (class)', *rows]) + '\n')
        assert main('build', '-a', tmp_path/f'{name}.tsv', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', tmp_path/name,
                    '--min-verses', 100, '--splits', 'parallel', '--no-choices') == 0
    one, other = (load_dataset_folder(tmp_path/name) for name in 'ab')
    assert (one.known['rating'].labels, other.known['rating'].labels) == (('1','2','3'), ('one','two'))

def test_no_module_keeps_tasks_that_reading_adds(place, tmp_path):
    "Only what is imported defines tasks: the values of modules are the same before and after datasets and stores are read"
    from pronto.datasets import tasks
    def state(): return {name: len(value) for name,value in vars(tasks).items() if isinstance(value, (dict, list, tasks.Tasks))}
    before = state()
    (tmp_path/'own.py').write_text("from pronto import VerseTask\nx = VerseTask('own_one', 'OO', '', lambda v: '0', ('0','1'))")
    assert 'own_one' in tasks.read_tasks(tmp_path/'own.py') and 'own_one' not in tasks.BUILT_IN
    scored(tmp_path/'runs', 'number', ['1','3'])
    assert main('tables', '--runs', tmp_path/'runs', '--tasks', tmp_path/'own.py', '-o', tmp_path/'tables') == 0
    assert state() == before
    with pytest.raises(TypeError): tasks.BUILT_IN['x'] = tasks.SM

def test_a_word_that_occurs_twice_and_is_tagged_once_is_named(kinds, tmp_path, capsys):
    from pronto.bibles.reading import read_bible
    from pronto.datasets.segmentation import Segmentation
    bible, rows, twice = kinds/'corpus'/'bibles'/'qaa.usfx.xml', [['ref','word','tag']], []
    for ref,text in read_bible(bible).verses.items():
        words = [word.casefold() for word in Segmentation().words(text)]
        repeated = [word for word in words if words.count(word) > 1]
        rows.append([str(ref), (repeated or words or ['-'])[0], 'X' if words else ''])
        twice += [f'{ref} {repeated[0]}'] if repeated else []
    table = write_table(tmp_path/'tags.csv', rows)
    assert main('build', '-a', table, '-b', bible, '-o', tmp_path/'qaa', '--min-verses', 50, '--splits', 'parallel', '--no-choices') == 0
    given = load_manifest(tmp_path/'qaa')['word_tasks']['given']['tag']
    assert given['n_several'] == len(twice) > 0 and given['several'] == twice[:200]
    assert f'{len(twice)} occur more often in their verse than they are tagged, of which the first was taken' in capsys.readouterr().out

def test_tags_that_differ_in_case_alone_are_said(tmp_path, capsys):
    table = write_table(tmp_path/'tags.csv', [['ref','word','tag'], ['MRK 4:1','he','PER'], ['MRK 4:2','he','per']])
    annotate(table)
    assert 'column tag: labels that look alike are different classes: PER and per' in capsys.readouterr().err

def test_a_class_that_train_lacks_is_said_in_build_manifest_and_table(place, model, tmp_path, capsys): # noqa: F811
    head, *rows = (place/'mine.tsv').read_text().splitlines()
    rare = [re.sub(r'\t[abc-]\t', '\tz\t', row) if row.split('\t')[3] == 'test' and row.split('\t')[2] == 'a' else row for row in rows]
    (tmp_path/'mine.tsv').write_text('\n'.join([head, *rare]) + '\n')
    folder = tmp_path/'qad'
    assert main('build', '-a', tmp_path/'mine.tsv', '-b', place/'corpus'/'bibles'/'qad.tsv', '-o', folder, '--min-verses', 100,
                '--splits', 'published', '--no-choices') == 0
    says = 'initial: labels that test has and train lacks cannot be learned, and no macro F1 can exceed 66.7: z'
    assert f'Caution: {says}' in capsys.readouterr().out and load_manifest(folder)['warnings'] == [says]
    assert main('eval', folder, '-m', model, '-t', 'initial', '--epochs', 1, '--limit', 20, '--runs', tmp_path/'runs') == 0
    [run] = read_runs(tmp_path/'runs')
    assert run.untrained == ['z']
    capsys.readouterr()
    assert main('tables', '--runs', tmp_path/'runs', '-o', tmp_path/'tables') == 0
    assert 'Labels of the test set that train lacks, so that no trained model can give them: qad, initial: z.' in capsys.readouterr().out

@pytest.mark.parametrize('text,refs', [
    ('Php. 1:1', ['PHP 1:1']), ('Psa. 1:1', ['PSA 1:1']), ('1 Jn. 1:1', ['1JN 1:1']), ('Jude 3', ['JUD 1:3']),
    ('3 John 4-5', ['3JN 1:4', '3JN 1:5']),
    ('John 3：16', ['JHN 3:16']), ('1. Samuel 1:1', ['1SA 1:1']), ('Phlm. 3', ['PHM 1:3'])])
def test_references_as_people_write_them(text, refs):
    from pronto.lab.sources.labels import _verses
    assert list(map(str, _verses(text))) == refs
