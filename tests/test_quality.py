"Labels against parses and against a linguist: the paper's rules to the letter, confirmed figures, and sheets that survive their way"
import csv, json, os, pickle, re, shutil, sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from conftest import change_manifest, run_notebook, shown_as
from pronto.lab.quality.agreement import against_random, agree, compare_with_parse, compare_labels, measures, ud_mentions, ud_proper_subject
from pronto.sources.annotate import annotate
from pronto.sources.ontonotes_rules import annotate_onf
from pronto.sources.records import Annotations, Source
from pronto.bibles.reading import read_bible
from pronto.core.refs import Ref
from pronto.datasets.examples import VerseExample
from pronto.datasets.loading import Dataset, load_dataset_folder
from pronto.datasets.building import build
from pronto.demo.corpus import make_corpus, write_corpus
from pronto.core.files import InputError
from pronto.core.tables import csv_rows
from pronto.sources.onf import read_onf
from pronto.demo.oracle import fill_sheet
from pronto.lab.quality.parsers import stanza_pipeline, udpipe_pipeline
from pronto.demo.gold_parses import ud_corpus
from pronto.lab.quality.sheets import (SHEET_COLUMNS, check_sheet, count_sheet, draw_sheet, read_glosses, read_sheet,
                                   write_sheet)
from pronto.datasets.tasks import NMC, PNS
from pronto.demo.invented_languages import invented_languages
from pronto.lab.bibles.ud import Token, Treebank, read_treebank

ROOT = Path(__file__).parents[1]

@pytest.fixture(scope='module')
def demo(tmp_path_factory):
    "The embedded corpus with a quarter of its verses spoiled: corpus, dataset folder, parse"
    out = tmp_path_factory.mktemp('quality')
    corpus = make_corpus(n_verses=900, noise=.25)
    write_corpus(corpus, out/'corpus')
    source, bible = out/'corpus'/'ontonotes', out/'corpus'/'bibles'/'qad.tsv'
    build(annotate(source), read_bible(bible), out/'qad', min_verses=100)
    (out/'qad.conllu').write_text(ud_corpus(corpus.meanings('qad'), invented_languages()['qad']), encoding='utf-8')
    return corpus, out/'qad', out/'qad.conllu'

# The rules of A.1

def plainly(path):
    "The labels of appendix A.1, taken straight from the lines of a parse with a reference before each sentence"
    counts, proper = {}, {}
    for block in path.read_text(encoding='utf-8').strip().split('\n\n'):
        ref = re.search(r'^# ref = (.*)$', block, re.M)[1]
        rows = [line.split('\t') for line in block.split('\n') if not line.startswith('#')]
        counts[ref] = counts.get(ref, 0) + sum(r[3] == 'PROPN' or r[3] == 'NOUN' and r[7] != 'compound' for r in rows)
        depth = lambda r: 0 if r[6] == '0' else 1 + depth(rows[int(r[6])-1])
        subjects = sorted((r for r in rows if r[7] == 'nsubj'), key=lambda r: (depth(r), int(r[0])))
        above = lambda r: {r[0]} | (above(rows[int(r[6])-1]) if r[6] != '0' else set())
        if subjects and ref not in proper: proper[ref] = any(r[3] == 'PROPN' and subjects[0][0] in above(r) for r in rows)
    return counts, proper

def test_labels_are_those_of_the_appendix(demo):
    _, folder, path = demo
    counts, proper = plainly(path)
    dataset, treebank = load_dataset_folder(folder), read_treebank(path)
    def count(ref): return str(min(counts[str(ref)], 3))
    def is_proper(ref): return str(int(proper.get(str(ref), False)))
    for task,label in (NMC, count), (PNS, is_proper):
        c = compare_labels(dataset, treebank, task)
        assert set(c.refs) == {row.ref for part in dataset.tasks[task.stem].values() for row in part} and c.unparsed == 0
        assert c.ud == [label(r) for r in c.refs]

def test_a_verse_of_several_sentences_is_one_verse():
    def token(i, upos, head, deprel): return Token(i, 'x', upos, head, deprel, None)
    order = [token(1, 'VERB', 0, 'root'), token(2, 'NOUN', 1, 'obj')]
    statement = [token(1, 'PROPN', 2, 'nsubj'), token(2, 'VERB', 0, 'root')]
    assert ud_mentions([order, statement]) == 2
    assert ud_proper_subject([order, statement]) and not ud_proper_subject([order])

def test_a_verse_that_the_parse_lacks_is_counted_and_left_out(demo):
    _, folder, path = demo
    dataset, treebank = load_dataset_folder(folder), read_treebank(path)
    whole = compare_labels(dataset, treebank)
    gone = set(whole.refs[:7])
    less = compare_labels(dataset, Treebank([s for s in treebank.sentences if s.tokens[0].ref not in gone]))
    assert (len(less), less.unparsed, less.unused) == (len(whole)-7, 7, whole.unused)

# Figures

def test_random_labels_are_what_they_should_be():
    given = list('0123')*300
    mean,spread = against_random(('0','1','2','3'), given, True, repeats=2000)
    assert abs(mean['accuracy'] - 1/4) < .002 and abs(mean['mse'] - 2.5) < .01
    assert abs(spread['accuracy'] - (3/16/1200)**.5) < .001
    mean,_ = against_random(('0','1'), list('0001')*300, False, repeats=2000)
    assert abs(mean['jaccard'] - 1/5) < .002 and abs(mean['jaccard_both'] - 1/3) < .002 and abs(mean['kappa']) < .002

def test_intervals_hold_the_whole_text_in_most_parts_of_it(demo):
    "Halves of the chapters give intervals that overlap"
    _, folder, path = demo
    c = compare_labels(load_dataset_folder(folder), read_treebank(path), PNS)
    chapters = sorted({ref.chapter_name for ref in c.refs})
    def kappa(half):
        rows = agree(c.where(lambda ref: ref.chapter_name in half), repeats=2)
        return next(r for r in rows if (r['pair'], r['metric']) == ('PrOnto, UD','kappa'))
    halves = [kappa(set(chapters[::2])), kappa(set(chapters[1::2]))]
    assert max(h['low'] for h in halves) < min(h['high'] for h in halves)
    assert all(h['low'] < h['value'] < h['high'] for h in halves)

def test_more_noise_less_agreement(demo):
    corpus, folder, path = demo
    clean = make_corpus(n_verses=900)
    true = Path(path).with_name('clean.conllu')
    true.write_text(ud_corpus(clean.meanings('qad'), invented_languages()['qad']), encoding='utf-8')
    dataset = load_dataset_folder(folder)
    kappa = lambda p: float(measures(compare_labels(dataset, read_treebank(p), PNS).confusion, False)['kappa'])
    assert kappa(path) + .1 < kappa(true)

@pytest.mark.slow
def test_gold_agrees_far_better_than_chance(chapters, testdata, tmp_path):
    files = sorted((testdata/'ud').glob('cu_*.conllu'))
    gospels = annotate_onf(read_onf(f) for f in chapters if f.parent.name in ('40','41','42','43'))
    build(Annotations(Source(), gospels), read_bible(files), tmp_path/'cu')
    dataset, treebank = load_dataset_folder(tmp_path/'cu'), read_treebank(files)
    rows = [r for c in compare_with_parse(dataset, treebank) for r in agree(c, repeats=2) if r['pair'] == 'PrOnto, UD']
    found = {(r['task'], r['metric']): r for r in rows}
    assert found['NMC','kappa']['low'] > .08 and found['PNS','kappa']['low'] > .25
    assert found['SM','kappa']['low'] > .4 and found['NMC','quadratic_kappa']['low'] > found['NMC','kappa']['low']
    assert .45 < found['NMC','accuracy']['value'] < .55 and .74 < found['PNS','accuracy']['value'] < .82

# The command

def test_table4_from_the_command_line(demo, pronto, tmp_path):
    _, folder, path = demo
    status,out,err = pronto('quality', 'parse', folder, '-u', path, '-o', tmp_path/'t', '--repeats', 20)
    assert status == 0 and err == [] and out.strip() == (tmp_path/'t'/'table4.md').read_text(encoding='utf-8').strip()
    rows = list(csv.DictReader((tmp_path/'t'/'table4.csv').open(encoding='utf-8')))
    assert rows and {r['published'] for r in rows} == {''} # The language is invented
    assert (tmp_path/'t'/'table4.png').read_bytes()[:4] == b'\x89PNG'

def test_a_parse_of_another_language_is_reported(demo, pronto, tmp_path):
    "A warning beside the table; none for the parse of this text, whatever its parts of words"
    corpus, folder, path = demo
    other = tmp_path/'qaa.conllu'
    other.write_text(ud_corpus(corpus.meanings('qaa'), invented_languages()['qaa']), encoding='utf-8')
    status,out,err = pronto('quality', 'parse', folder, '-u', other, '--repeats', 20)
    assert status == 0 and len(err) == 1 and 'warning: ' in err[0] and 'the parse has other words in ' in err[0]
    assert 'it is of another language or translation' in err[0] and out
    assert pronto('quality', 'parse', folder, '-u', path, '--repeats', 20)[2] == []

def in_language(folder, out, language):
    "A copy of a dataset that says it is in another language"
    shutil.copytree(folder, out)
    change_manifest(out, language=language)
    return out

@pytest.mark.slow
@pytest.mark.parametrize('language, n', [('Hindi', 1), ('hin', 1), ('Tumak', 0), ('', 0)])
def test_published_figures_are_shown_beside_hindi_only(demo, pronto, tmp_path, language, n):
    _, folder, path = demo
    folder = in_language(folder, tmp_path/'d', language)
    _,out,_ = pronto('quality', 'parse', folder, '-u', path, '-o', tmp_path/'t', '--repeats', 2)
    assert ('publ.' in out) == ('0.517' in out) == bool(n)
    rows = list(csv.DictReader((tmp_path/'t'/'table4.csv').open(encoding='utf-8')))
    accuracies = {r['published'] for r in rows if r['metric'] == 'accuracy'}
    assert accuracies == ({'0.517','0.252','0.246','0.81','0.499'} if n else {''})

@pytest.mark.parametrize('change, said', [
    (lambda t: t.replace('\t0\troot', '\t99\troot', 1), r'line \d+: word \d+ has head 99'),
    (lambda t: re.sub(r'^2\t', '5\t', t, count=1, flags=re.M), r"line \d+: word id '5'"),
    (lambda t: re.sub('# ref = .*\n', '', t), 'no word or sentence names its verse'),
    (lambda t: re.sub('# ref = .*', '# ref = GEN 1:1', t), 'has no verse in common with the parse'),
    (lambda t: t.replace('= eng', '= nowhere'), "versification: is 'nowhere'"),
    (lambda t: '', 'CoNLL-U'),
    (lambda t: t[:5000], r'line \d+: ')])
def test_a_bad_parse_is_one_line(demo, pronto, tmp_path, change, said):
    _, folder, path = demo
    (tmp_path/'bad.conllu').write_text(change(path.read_text(encoding='utf-8')), encoding='utf-8')
    status,out,err = pronto('quality', 'parse', folder, '-u', tmp_path/'bad.conllu')
    assert status == 1 and out == '' and len(err) == 1 and re.search(said, err[0]), err

@pytest.mark.slow
def test_the_model_of_stanza_is_never_downloaded(demo, pronto, tmp_path, monkeypatch):
    import socket
    def no_network(*args, **kwargs): raise AssertionError('the network was used')
    monkeypatch.setattr(socket.socket, 'connect', no_network)
    with pytest.raises(InputError, match='has no model that can be loaded; get it with'): stanza_pipeline('hi', tmp_path)
    status,_,err = pronto('quality', 'parse', demo[1], '-u', tmp_path/'hi.conllu', '--stanza', 'no-such-language')
    assert status == 1 and len(err) == 1 and not (tmp_path/'hi.conllu').exists()

def test_without_stanza_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, 'stanza', None)
    with pytest.raises(InputError, match=r"pip install '.\[parse\]'"): stanza_pipeline('hi')

# Sheets

@pytest.fixture
def filled(demo, pronto, tmp_path):
    "A sheet drawn by the command and filled by an oracle annotator"
    corpus, folder, _ = demo
    assert pronto('quality', 'sheet', folder, '-o', tmp_path/'a.csv', '--seed', 3)[0] == 0
    write_sheet(fill_sheet(read_sheet(tmp_path/'a.csv'), corpus.meanings('qad')), tmp_path/'filled.csv')
    return tmp_path/'filled.csv'

def test_from_sheet_to_table(demo, pronto, filled, tmp_path):
    assert len(read_sheet(filled)) == 200
    status,out,err = pronto('quality', 'score', filled, '-d', demo[1], '-o', tmp_path/'t')
    assert status == 0 and err == []
    assert sorted(p.name for p in (tmp_path/'t').iterdir()) == ['table5.csv','table5.md','table5.png','table5.tex']
    at = {(c['task'], c['metric']): c['count'] for c in count_sheet(read_sheet(filled))}
    assert at['SAC','correct'] <= at['SAC','well_formed'] < 50
    assert at['SM','majority'] < at['SM','correct'] < 100
    assert re.search(rf"\| SS \| 50 \| {at['SS','well_formed']} \[\d+–\d+ %\] \| {at['SS','correct']} \[", out)
    assert 'publ.' not in out

def test_the_truth_is_found_again(demo, filled):
    "What the linguist says of the mood is what the corpus knows of each spoiled and unspoiled verse"
    corpus, folder, _ = demo
    spoiled = set(map(str, corpus.noisy_verses('qad')))
    rows = [r for r in read_sheet(filled) if r['task'] == 'sentence_mood']
    assert all(r['label_correct'] == 'yes' for r in rows if r['ref1'] not in spoiled)
    assert any(r['label_correct'] == 'no' for r in rows)
    pairs = [r for r in read_sheet(filled) if r['task'] != 'sentence_mood' and not {r['ref1'], r['ref2']} & spoiled]
    assert pairs and all(r['label_correct'] == 'yes' for r in pairs)

def test_a_sheet_of_another_dataset_is_refused(demo, pronto, filled, tmp_path):
    corpus, folder, _ = demo
    out = tmp_path/'other'
    source, bible = folder.parent/'corpus'/'ontonotes', folder.parent/'corpus'/'bibles'/'qaa.usfx.xml'
    build(annotate(source), read_bible(bible), out, min_verses=100)
    status,_,err = pronto('quality', 'score', filled, '-d', out)
    assert status == 1 and len(err) == 1 and 'was drawn from another dataset' in err[0]
    write_sheet(draw_sheet(load_dataset_folder(out)), tmp_path/'b.csv')
    ours, others = (path.read_text(encoding='utf-8-sig') for path in (filled, tmp_path/'b.csv'))
    mixed = ours + '\n'.join(others.split('\n')[190:])
    (tmp_path/'mixed.csv').write_text(mixed, encoding='utf-8')
    assert pronto('quality', 'score', tmp_path/'mixed.csv')[0] == 1

def test_a_drawn_sheet_is_not_drawn_over(demo, pronto, filled):
    before = filled.read_bytes()
    status,_,err = pronto('quality', 'sheet', demo[1], '-o', filled)
    assert status == 1 and 'may hold answers' in err[0] and filled.read_bytes() == before

def test_two_annotators(pronto, filled, tmp_path):
    rows = read_sheet(filled)
    changed = dict(verse1_has_sense='no', label_correct='')
    other = [r | changed if r['task'] != 'sentence_mood' and i%5 == 0 else r for i,r in enumerate(rows)]
    write_sheet(other[::-1], tmp_path/'other.tsv') # In another order, and between tabs
    status,out,_ = pronto('quality', 'score', filled, tmp_path/'other.tsv')
    assert status == 0
    from sklearn.metrics import cohen_kappa_score
    pairs = [(a['verse1_has_sense'], b['verse1_has_sense']) for a,b in zip(rows, other) if a['task'] == 'same_sense']
    share, kappa = np.mean([a == b for a,b in pairs]), cohen_kappa_score(*zip(*pairs))
    assert f'| SS | verse1 has sense | 50 | {share:.0%} | {kappa:.3f} |' in out
    write_sheet(rows[1:], tmp_path/'short.tsv')
    assert 'is not a copy of the other sheet' in pronto('quality', 'score', filled, tmp_path/'short.tsv')[2][0]

@pytest.mark.parametrize('column, value, said', [
    ('label_correct', '', 'row 2: label_correct is missing'),
    ('label_correct', 'maybe', "row 2: label_correct is 'maybe'; answer yes or no"),
    ('label', 'odd', 'row 2: its item, task, sense'),
    ('right_label', 'odd', 'row 2: '), ('dataset', 'd00', 'row 2: its item')])
def test_rows_that_are_wrong_are_named(pronto, filled, column, value, said):
    rows = read_sheet(filled)
    rows[0] = rows[0] | {column: value}
    write_sheet(rows, filled)
    status,out,err = pronto('quality', 'score', filled)
    assert status == 1 and out == '' and len(err) == 1 and said in err[0], err

@pytest.mark.parametrize('content', [b'', b'\x00\x01\xff', 'item;task\n1;2'.encode(), 'Müßig'.encode('latin-1'), b'"' + b'x'*200_000])
def test_what_is_not_a_sheet(pronto, tmp_path, content):
    (tmp_path/'a.csv').write_bytes(content)
    status,_,err = pronto('quality', 'score', tmp_path/'a.csv')
    assert status == 1 and len(err) == 1 and 'a.csv' in err[0]

def test_a_spreadsheet_may_do_its_worst(pronto, filled, tmp_path):
    "Semicolons, quotes everywhere, capitals, rows sorted by label, columns moved, a column and blank rows added"
    rows = sorted(read_sheet(filled), key=lambda r: r['label'])
    columns, other_words = [*reversed(SHEET_COLUMNS)], {'yes':'TRUE','no':'n'}
    with (tmp_path/'b.csv').open('w', encoding='utf-8-sig', newline='') as f:
        writer = csv.writer(f, delimiter=';', quoting=csv.QUOTE_ALL)
        writer.writerow(n.upper() for n in [*columns, 'mine'])
        for r in rows:
            writer.writerow([other_words.get(r[c], r[c]) for c in columns] + ['?'])
            writer.writerow([])
    assert count_sheet(read_sheet(tmp_path/'b.csv')) == count_sheet(read_sheet(filled))
    assert pronto('quality', 'score', tmp_path/'b.csv')[0] == 0

# The notebooks

@pytest.mark.slow
def test_hindi_runs_on_the_embedded_corpus(tmp_path):
    ran = run_notebook('hindi.ipynb', tmp_path/'run.ipynb', dict(verses=600, repeats=20), PRONTO_DATA=str(tmp_path/'data'))
    assert len(shown_as(ran, 'image/png')) == 2 and not any('<Figure' in t for t in shown_as(ran, 'text/plain'))
    text = '\n'.join(shown_as(ran, 'text/markdown'))
    table = re.search(r'\| PrOnto, UD \| (0\.\d+) .*', text)[1]
    assert re.search(rf'the labels agree in {100*float(table):.0f}', text) and 'publ.' not in text
    assert '64% of the pairs' in text and re.search(r'SAC: \d+ of 50 pairs are well-formed', text)

@pytest.mark.slow
def test_gold_runs_on_any_treebank(demo, tmp_path):
    "Parses of the embedded corpus in two languages, as if they were treebanks"
    corpus, folder, _ = demo
    (tmp_path/'ud').mkdir()
    for code in 'qaa','qab':
        parse = ud_corpus(corpus.meanings(code), invented_languages()[code])
        (tmp_path/'ud'/f'{code}_demo-ud-test.conllu').write_text(parse, encoding='utf-8')
    options = dict(ud=tmp_path/'ud', annotations=folder.parent/'corpus'/'ontonotes', languages='qaa,qab', repeats=20,
                   min_verses=100, tables=tmp_path/'tables')
    ran = run_notebook('gold.ipynb', tmp_path/'run.ipynb', options, PRONTO_DATA=str(tmp_path/'data'))
    assert len(shown_as(ran, 'image/png')) == 2 and not any('<Figure' in t for t in shown_as(ran, 'text/plain'))
    said = '\n'.join(shown_as(ran, 'text/markdown'))
    assert 'above chance in' in said and 'The chain of NMC' in said
    assert sorted(p.name for p in (tmp_path/'tables').iterdir()) == ['gold.csv','gold.md','gold.png','gold.tex']

@pytest.mark.slow
def test_edges_are_probed_in_one_language_and_across(demo, tmp_path):
    "Two encoders without pretraining know the same: no test set tells them apart, and tags are read off in both languages"
    from pronto.lab.modeling.pretrain import pretrain
    corpus, folder, _ = demo
    (tmp_path/'ud').mkdir()
    for code,parts in dict(qaa='train dev test', qab='test').items():
        parses = ud_corpus(corpus.meanings(code), invented_languages()[code]).strip().split('\n\n')
        for i,part in enumerate(parts.split()):
            (tmp_path/'ud'/f'{code}_demo-ud-{part}.conllu').write_text('\n\n'.join(parses[i::3]) + '\n\n', encoding='utf-8')
    texts = [v for code in ('qaa','qab') for v in corpus.old_testament(code, 60)]
    models = [tmp_path/'base', tmp_path/'tuned']
    for model in models: pretrain(texts, model, steps=0, device='cpu', vocab_size=300, layers=1, width=16, heads=2)
    options = dict(treebanks=tmp_path/'ud', ontonotes=folder.parent/'corpus'/'ontonotes', models=','.join(map(str, models)),
                   sentences=60, most=400, out=tmp_path/'tables')
    ran = run_notebook('edges.ipynb', tmp_path/'run.ipynb', options, PRONTO_DATA=str(tmp_path/'data'))
    said = '\n'.join(shown_as(ran, 'text/markdown'))
    rows = csv_rows((tmp_path/'tables'/'edges.csv').read_text(encoding='utf-8'))
    pairs = {(r['task'], r['trained'], r['tested']) for r in rows}
    assert {('parts of speech','qaa','qaa'), ('dependencies','qaa','qab'), ('roles','English','English')} <= pairs
    assert not any(trained == 'qab' for _,trained,_ in pairs) # It has no train
    assert 'in another language: on 0 of 2 test sets' in said and all(float(r['base']) == float(r['tuned']) for r in rows)

# Hostile sheets, frames and models

def mangled(data, seed):
    "A file as damage or malice leaves it: bytes changed, cut, repeated, quotes and separators strewn in"
    hostile = (b'"', b'\t', b',', b';', b'\n', b'\r', b'\0', b'\xff', b'<', b'&x;', b'x'*140_000)
    rng = Random(seed)
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at, n = rng.randrange(len(data) + 1), rng.choice((1, 3, 40, 4000))
        what = rng.choice(('cut', 'repeat', 'insert', 'flip', 'end'))
        if what == 'cut': del data[at:at+n]
        elif what == 'repeat': data[at:at] = data[at:at+n]*3
        elif what == 'insert': data[at:at] = rng.choice(hostile)
        elif what == 'flip': data[at:at+1] = bytes([rng.randrange(256)])
        else: del data[at:]
    return bytes(data)

def read_or_refuse(read, path):
    "One line, or something read"
    try: return read(path)
    except InputError as e: assert len(str(e).splitlines()) == 1 and path.name in str(e)

@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('ending', ['csv', 'tsv'])
def test_damaged_sheets_are_read_or_refused(filled, tmp_path, ending, seed):
    path = tmp_path/f'damaged.{ending}'
    write_sheet(read_sheet(filled), path)
    whole = path.read_bytes()
    for i in range(25):
        path.write_bytes(mangled(whole, f'{seed} {i}'))
        read_or_refuse(lambda p: check_sheet(read_sheet(p), p), path)

def test_a_row_that_swallows_the_others_is_refused(filled, tmp_path):
    "A quote that is never closed would make one cell of all rows after it"
    path = tmp_path/'open.tsv'
    write_sheet(read_sheet(filled), path)
    lines = path.read_text(encoding='utf-8').split('\n')
    cells = lines[50].split('\t')
    cells[SHEET_COLUMNS.index('comment')] = '"unsure'
    path.write_text('\n'.join([*lines[:50], '\t'.join(cells), *lines[51:]]), encoding='utf-8')
    with pytest.raises(InputError, match=r'row 51, line \d+: is not a table'): read_sheet(path)

def test_no_cell_of_a_sheet_is_a_formula(demo, tmp_path):
    dataset = load_dataset_folder(demo[1])
    texts = ['=HYPERLINK("http://x","y")', '-1+1', '+49 is a number', '@SUM(A1)', "'=quoted", '\u2212 minus']
    refs = [Ref('MRK', 1, i) for i in range(1, len(texts)+1)]
    rows = {'sentence_mood': {'train': [VerseExample(t, 'declarative', r) for t,r in zip(texts, refs)]}}
    sheet = draw_sheet(Dataset(dataset.path, rows), {'sentence_mood': len(texts)})
    for name in 'a.csv', 'a.tsv':
        write_sheet(sheet, tmp_path/name)
        delimiter = ',' if name.endswith('csv') else '\t'
        with (tmp_path/name).open(encoding='utf-8-sig', newline='') as f: table = list(csv.reader(f, delimiter=delimiter))
        assert not [c for row in table for c in row if c[:1] in '=+-@' and c]
        assert sorted(r['text1'] for r in read_sheet(tmp_path/name)) == sorted(texts)

def test_a_sheet_in_the_dataset_folder_survives_the_next_build(demo, pronto, filled, tmp_path):
    _, folder, _ = demo
    mine = tmp_path/'qad'
    shutil.copytree(folder, mine)
    shutil.copy(filled, mine/'filled.csv')
    bible = folder.parent/'corpus'/'bibles'/'qad.tsv'
    with pytest.raises(InputError, match='filled.csv'):
        build(annotate(folder.parent/'corpus'/'ontonotes'), read_bible(bible), mine, min_verses=100)
    assert (mine/'filled.csv').read_bytes() == filled.read_bytes() and load_dataset_folder(mine).tasks

@pytest.mark.parametrize('text, said', [
    ('<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><frameset><roleset id="a.01" name="&x;"/></frameset>', 'entities'),
    ('<!DOCTYPE f [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]><frameset>&c;</frameset>', 'entities'),
    ('<frameset>' + '<x>'*100_000, 'x.xml'), ('', 'x.xml'), ('\0\x01', 'x.xml')])
def test_hostile_frames_are_one_line(tmp_path, text, said):
    (tmp_path/'x.xml').write_text(text)
    with pytest.raises(InputError, match=said) as e: read_glosses(tmp_path)
    assert 'root:' not in str(e.value) and len(str(e.value).splitlines()) == 1

def test_damaged_frames_are_read_or_refused(tmp_path):
    path = tmp_path/'x.xml'
    roleset = '<roleset id="kat.01" name="carry"><roles><role n="0" descr="carrier"/></roles></roleset>'
    whole = f'<frameset><predicate lemma="kat">{roleset*20}</predicate></frameset>'.encode()
    for i in range(100):
        path.write_bytes(mangled(whole, i))
        read_or_refuse(lambda p: read_glosses(p.parent), path)

class Evil:
    "What a pickle may hold"
    def __init__(self, path): self.path = path
    def __reduce__(self): return os.mkdir, (str(self.path),)

def test_a_model_of_stanza_that_runs_code_is_refused(tmp_path):
    models = tmp_path/'models'
    (models/'hi'/'tokenize').mkdir(parents=True)
    resources = dict(tokenize=dict(hdtb={}), default_processors=dict(tokenize='hdtb', pos='hdtb', lemma='hdtb', depparse='hdtb'))
    (models/'resources.json').write_text(json.dumps(dict(hi=resources | dict(packages={}))), encoding='utf-8')
    for name in 'tokenize', 'pos', 'lemma', 'depparse':
        (models/'hi'/name).mkdir(exist_ok=True)
        (models/'hi'/name/'hdtb.pt').write_bytes(pickle.dumps(Evil(tmp_path/'owned')))
    with pytest.raises(InputError, match='has no model that can be loaded') as e: stanza_pipeline('hi', models)
    assert len(str(e.value).splitlines()) == 1 and not (tmp_path/'owned').exists()

def test_what_is_not_a_model_of_udpipe_is_refused(tmp_path, pronto, demo):
    header = b'\x12morphodita_parsito'
    for i,data in enumerate((b'', header + bytes(range(256))*40, pickle.dumps(Evil(tmp_path/'owned')))):
        (tmp_path/f'{i}.udpipe').write_bytes(data)
        with pytest.raises(InputError, match='is not a model of UDPipe'): udpipe_pipeline(tmp_path/f'{i}.udpipe')
    assert not (tmp_path/'owned').exists()
    status,_,err = pronto('quality', 'parse', demo[1], '-u', tmp_path/'new.conllu', '--udpipe', tmp_path/'0.udpipe')
    assert status == 1 and len(err) == 1 and not (tmp_path/'new.conllu').exists()

def test_a_sheet_asks_about_the_tasks_of_another_source(tmp_path, pronto, toy_acai_dataset):
    path = tmp_path/'sheet.tsv'
    status,out,_ = pronto('quality', 'sheet', toy_acai_dataset, '-o', path, '--size', '6')
    assert status == 0 and f'pronto quality score {path} -d {toy_acai_dataset}' in out
    sheet = read_sheet(path)
    names = [r for r in sheet if r['task'] == 'people_named']
    assert {r['label'] for r in names} == {'0','1','2'} and len(names) == 6 and {r['task'] for r in sheet} == {
        'people_named', 'animal_plant'}
    answered = [r | dict(label_correct='yes') for r in sheet]
    answered[0] |= dict(label_correct='no', right_label='many')
    with pytest.raises(InputError, match="right_label is 'many'; write 0, 1, 2, 3, or none"): check_sheet(answered, path)
    answered[0] |= dict(right_label='7') # A count above the greatest label of training
    check_sheet(answered, path, toy_acai_dataset)
    counted = {(c['task'], c['metric']): c['count'] for c in count_sheet(answered)}
    assert counted['PN','correct'] == 5 and counted['AP','correct'] == 6

def test_what_a_parse_cannot_label_is_one_line(tmp_path, pronto, toy_acai_dataset):
    parse = tmp_path/'parse.conllu'
    parse.write_text(''.join(f'{i}\t{w}\t{w}\tNOUN\t_\t_\t{i-1}\t{"root" if i == 1 else "dep"}\t_\tRef=RUTH_1.1\n'
                             for i,w in enumerate(('Toki','leu'), 1)) + '\n', encoding='utf-8')
    status,_,err = pronto('quality', 'parse', toy_acai_dataset, '-u', parse)
    assert status == 1 and 'has no task that a syntactic parse can label (NMC, PNS, SM)' in err[0] and len(err) == 1
