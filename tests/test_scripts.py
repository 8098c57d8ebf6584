"Text in other scripts than ours: its direction, its language, its letters in figures"
import re, shutil

import pytest

from pronto.cli.command import main

HEBREW = str.maketrans('abcdefghijklmnopqrstuvwxyz', 'אבגדהוזחטיכלמנסעפצקרשתםןףץ')

def translation(corpus, folder, letters):
    "The embedded corpus, and a translation in other letters"
    from pronto.bibles.reading import read_bible
    shutil.copytree(corpus, folder)
    rows = read_bible(folder/'bibles'/'qaa.usfx.xml').rows
    lines = ['book\tchapter\tverse\ttext', *(f'{r.book}\t{r.chapter}\t{r.label}\t{r.text.lower().translate(letters)}' for r in rows)]
    (folder/'other.tsv').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return folder/'other.tsv'

@pytest.mark.slow
def test_a_card_shows_verses_in_their_direction_and_language(embedded_corpus, model, tmp_path, monkeypatch):
    monkeypatch.setenv('PRONTO_DATA', str(tmp_path/'data'))
    bible, page = translation(embedded_corpus, tmp_path/'corpus', HEBREW), tmp_path/'card.html'
    assert main(['card', str(bible), '-m', str(model), '-a', str(tmp_path/'corpus'/'ontonotes'), '-o', str(page), '--language', 'heb']) == 0
    text = page.read_text(encoding='utf-8').split('What the tasks ask')[1]
    around = re.findall('<([^<>]*)>[^<>]*[א-ת]', re.sub(' data-column="[^"]*"', '', text))
    assert len(around) > 5 and {*around} == {'td align="left" dir="auto" lang="he"', 'bdi lang="he"'}

def test_letters_that_the_usual_font_lacks_are_drawn_in_an_installed_one_or_a_line_says_which(tmp_path, monkeypatch, capsys):
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from matplotlib import font_manager
    from matplotlib.figure import Figure
    from pronto.core import files, pictures
    def forget(): # As a new process
        for known in pictures._family, files.warn_once: known.cache_clear()
    def drawn(): # Fonts that are used
        figure = Figure(figsize=(2, 1))
        figure.text(.1, .4, 'ሰላም')
        pictures.save_picture(figure, tmp_path/'a.png')
        return figure.texts[0].get_fontfamily()
    monkeypatch.setattr(font_manager, 'findSystemFonts', lambda: [])
    forget()
    assert drawn() == drawn() == ['sans-serif']
    said = 'figures have boxes for Ethiopic, which no installed font has; install Noto Sans Ethiopic'
    assert capsys.readouterr().err.splitlines() == [said]
    pen = TTGlyphPen(None)
    for draw,point in (pen.moveTo, (0, 0)), (pen.lineTo, (500, 0)), (pen.lineTo, (0, 500)): draw(point)
    pen.closePath()
    font, names = FontBuilder(1000, isTTF=True), ['.notdef', 'one']
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(c): 'one' for c in 'ሰላም'})
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable(dict(familyName='Invented Ethiopic', styleName='Regular'))
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path/'own.ttf')
    monkeypatch.setattr(font_manager, 'findSystemFonts', lambda: [str(tmp_path/'own.ttf')])
    forget()
    assert drawn() == ['sans-serif', 'Invented Ethiopic'] and capsys.readouterr().err == ''
    forget()

def test_labels_of_an_imported_table_are_read_in_one_form(tmp_path):
    from pronto.lab.suites.importing import read_own
    rows = [f'text {i}\t{label}' for i,label in enumerate(['opinião', 'opinia\u0303o', 'fato'])]
    (tmp_path/'train.tsv').write_text('\n'.join(rows) + '\n', encoding='utf-8')
    found = read_own(tmp_path, language='por')
    assert found.tasks['own'].labels == ('fato','opinião')
    assert [row.label for row in found.tables['por']['own']['train']] == ['opinião','opinião','fato']
