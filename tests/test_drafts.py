"What a translator sees: the verses of a draft to look at first, in a terminal, a spreadsheet and a page"
import csv, re, shlex, shutil
from random import Random

import pytest

from conftest import ROOT
from pronto.cli import main
from pronto.lab.quality.unusual_verses import CHECKS, named_checks

TUTORIAL = (ROOT/'docs'/'tutorials'/'draft.md').read_text(encoding='utf-8')

@pytest.fixture(scope='module')
def made_up(tmp_path_factory):
    "A draft in an invented language, the text that it translates, and the verses with a slip"
    pytest.importorskip('thot')
    folder, rng = tmp_path_factory.mktemp('draft'), Random(3)
    def syllables(n): return ''.join(rng.choice('ptklmns') + rng.choice('aeiouö') for _ in range(n))
    lexicon = {syllables(3): syllables(3) for _ in range(60)} | {name: f'{name}ak' for name in ('Dor','Tamel','Sona')}
    refs = [f'MRK {1 + i//40}:{1 + i%40}' for i in range(320)]
    source = {ref: rng.sample(list(lexicon), rng.randint(7, 14)) for ref in refs}
    texts = {ref: ' '.join(lexicon[word] for word in words) + '.' for ref,words in source.items()}
    texts = {ref: text[:1].upper() + text[1:] for ref,text in texts.items()}
    named = next(ref for ref in refs if 'Tamelak' in texts[ref] and int(ref[4]) > 3)
    slips = {'MRK 1:5': ('word twice', lambda text: f'{text} {text.split()[-1]}'.replace('. ', ' ')),
             'MRK 2:5': ('odd marks', lambda text: text.replace(' ', ',, ', 1)),
             'MRK 2:9': ('unequal pair', lambda text: f'({text}'),
             'MRK 3:5': ('another language', lambda text: 'In the beginning was the Word, and the Word was here.'),
             'MRK 3:9': ('no end mark', lambda text: text[:-1]),
             named: ('name misspelt', lambda text: text.replace('Tamelak', 'Tammelak'))}
    texts |= {ref: spoil(texts[ref]) for ref,(_,spoil) in slips.items()}
    texts['MRK 8:9'] = '=1+1 \u202e' + texts['MRK 8:9']
    def row(ref, text): return re.sub('[ :]', '\t', ref) + f'\t{text}\n'
    lines = [row(ref, text) for ref,text in texts.items() if ref != 'MRK 6:6']
    (folder/'my_draft.tsv').write_text(''.join(lines), encoding='utf-8')
    (folder/'my_draft.usfm').write_text('\\id MRK\n' + ''.join(
        ('\\c {}\n'.format(ref[4]) if ref.endswith(':1') else '') + f'\\v {ref.split(":")[1]} {text}\n'
        for ref,text in texts.items() if ref != 'MRK 6:6'), encoding='utf-8')
    rows = [row(ref, ' '.join(words)) for ref,words in source.items()]
    (folder/'a_translation.tsv').write_text(''.join(rows), encoding='utf-8')
    return folder, {ref: kind for ref,(kind,_) in slips.items()}

@pytest.fixture(scope='module')
def checked(made_up):
    folder, slips = made_up
    draft, beside = str(folder/'my_draft.tsv'), str(folder/'a_translation.tsv')
    assert main(['quality','draft', draft, '--against', beside, '-o', str(folder/'checked')]) == 0
    return folder/'checked', slips

def test_verses_without_text_then_sure_slips_come_first(checked):
    folder, slips = checked
    with open(folder/'draft.csv', encoding='utf-8-sig', newline='') as f: rows = list(csv.DictReader(f))
    assert (rows[0]['verse'], rows[0]['reason']) == ('MRK 6:6', 'blank')
    assert {row['verse']: row['reason'] for row in rows[1:] if row['sure'] == 'yes'} == slips
    assert [row['sure'] for row in rows[1:]] == ['yes']*len(slips) + ['no']*(len(rows) - 1 - len(slips))

def test_a_spreadsheet_opens_the_verses(checked):
    from pronto.core.tables import read_table
    folder, _ = checked
    raw = (folder/'draft.csv').read_bytes()
    assert raw.startswith(b'\xef\xbb\xbf') and b'\xc3\xb6' in raw # Else it would take the letters for others
    assert b',=1+1' not in raw
    assert read_table(folder/'draft.csv').data[0]['verse'] == 'MRK 6:6'

def test_marks_that_turn_text_around_reach_no_table(checked):
    tables = [path for path in checked[0].rglob('*') if path.suffix in ('.csv', '.tsv', '.html', '.md', '.json')]
    assert tables and not any('\u202e' in path.read_text(encoding='utf-8') for path in tables)

def test_chapters_and_books_have_scores(checked):
    with open(checked[0]/'draft_parts.csv', encoding='utf-8-sig', newline='') as f: rows = list(csv.DictReader(f))
    assert [row['name'] for row in rows] == ['MRK', *(f'MRK {n}' for n in range(1, 9))]
    assert (rows[0]['judged'], rows[0]['unjudged'], rows[0]['sure']) == ('319', '1', '6')
    assert (rows[2]['sure'], rows[6]['unjudged']) == ('2', '1')

def test_the_page_marks_words_beside_the_source(checked):
    page = (checked[0]/'draft.html').read_text(encoding='utf-8')
    assert re.search(r'<mark>(\w+) \1</mark>', page) and '<mark>Tammelak</mark>' in page
    assert '<mark>Tamel</mark>' in page # In the source
    assert not re.search(r'(src|href)=', page)

@pytest.mark.slow
@pytest.mark.parametrize('width', [1280, 390])
def test_the_page_fits_a_screen(checked, width):
    sync = pytest.importorskip('playwright.sync_api')
    browser = next(filter(None, map(shutil.which, ('chromium','chromium-browser','google-chrome'))), None)
    if not browser: pytest.skip('no Chromium')
    with sync.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=browser, args=['--no-sandbox'])
        page = chromium.new_context(offline=True, viewport=dict(width=width, height=844)).new_page()
        page.goto((checked[0]/'draft.html').as_uri())
        assert page.evaluate('document.documentElement.scrollWidth') <= width
        draft, source = (page.locator('.texts p').nth(n).bounding_box() for n in (0, 1))
        assert (source['y'] == draft['y']) == (width > 640) # Side by side, or below each other
        chromium.close()

def test_checks_are_chosen_by_name(made_up, capsys):
    folder, _ = made_up
    draft = ['quality','draft', str(folder/'my_draft.tsv'), '--against', str(folder/'a_translation.tsv')]
    assert main([*draft, '--checks', 'twice,marks']) == 0
    said = capsys.readouterr().out
    assert 'word twice' in said and 'odd marks' in said and 'unequal pair' not in said and 'too short' not in said
    assert main([*draft, '--checks', 'twise']) == 1
    assert capsys.readouterr().err == f'pronto: --checks: there is no twise; choose from {", ".join(CHECKS)}\n'
    assert [*named_checks('no-twice')] == [*CHECKS][1:]

def test_help_and_tutorial_name_all_checks(capsys):
    with pytest.raises(SystemExit): main(['quality','draft','--help'])
    assert ', '.join(CHECKS) in ' '.join(capsys.readouterr().out.split())
    assert re.findall(r'^\| `(\w+)` \| (.*) \|$', TUTORIAL, re.M) == [(name, check.what) for name,check in CHECKS.items()]

@pytest.mark.slow
def test_the_commands_of_the_tutorial_run(made_up, monkeypatch, capsys):
    "The first one with the Greek words of the package, which say little about an invented language"
    folder, slips = made_up
    monkeypatch.chdir(folder)
    monkeypatch.setenv('PRONTO_DATA', str(folder/'none'))
    lines = [line for block in re.findall(r'^```sh\n(.*?)^```', TUTORIAL, re.M | re.S) for line in block.splitlines()]
    assert len(lines) == 4
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)
        said = capsys.readouterr().out
        assert ('as a dictionary has them' in said) == ('--against' not in line)
    for name in 'draft.html', 'draft.csv', 'draft_parts.csv': assert (folder/'checked'/name).is_file()

@pytest.mark.parametrize('spoil, what', [
    (lambda lines: lines[:40], 'has 40 verses of the source, of which 200 are needed; name more of the draft, or another source'),
    (lambda lines: lines[:160] + ['\t'.join([*cells[:3], cells[3][::-1]]) for line in lines[160:] if (cells := line.split('\t'))],
     'seems to be in two languages: MRK 5 and 3 more chapters are unlike MRK 1; name the books of one language at a time')])
def test_what_cannot_be_judged_is_one_line(made_up, tmp_path, capsys, spoil, what):
    folder, _ = made_up
    lines = (folder/'my_draft.tsv').read_text(encoding='utf-8').splitlines()
    (tmp_path/'bad.tsv').write_text('\n'.join(spoil(lines)), encoding='utf-8')
    assert main(['quality','draft', str(tmp_path/'bad.tsv'), '--against', str(folder/'a_translation.tsv')]) == 1
    said = re.sub(r'MRK \d and 3 more chapters are unlike MRK \d', 'MRK 5 and 3 more chapters are unlike MRK 1', capsys.readouterr().err)
    assert said == f'pronto: {tmp_path}/bad.tsv: {what}\n'

def test_the_help_names_all_checks():
    "It has a list of its own, as it imports nothing heavy"
    from pronto.lab.cli.alignment_commands import _CHECKS
    from pronto.lab.quality.unusual_verses import CHECKS
    assert _CHECKS.split(', ') == list(CHECKS)

def test_annotations_that_no_draft_can_be_checked_against_are_said(tmp_path, monkeypatch, capsys):
    from pronto.lab.cli.alignment_commands import _text_at_hand
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path))
    (tmp_path/'annotations.parquet').write_bytes(b'damaged')
    assert len(_text_at_hand()) > 7000 # The words of the package
    said, = capsys.readouterr().err.splitlines()
    assert said.startswith(f'skipped {tmp_path/"annotations.parquet"}: ')
