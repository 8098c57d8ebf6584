"Other readers of USFM, to compare ours with: sil-machine, usfmtc and, where it is installed, usfm-grammar"
from functools import cache
from xml.etree import ElementTree

from pronto.bibles.rows import Collector, clean_label, clean_text
from pronto.bibles.usfm import read_usfm

Verses = dict[tuple[int,str],str] # Chapter and label to the text of the first such verse

def collected(raw)->Verses:
    "The verses that a reader found"
    verses = {}
    for _,chapter,label,text in raw:
        chapter, label = clean_label(chapter), clean_label(label)
        if chapter.isdecimal() and label: verses.setdefault((int(chapter), label), clean_text(text))
    return verses

def ours(usfm:str)->Verses:
    verses = {}
    for row in read_usfm(usfm).rows: verses.setdefault((row.chapter, row.label), row.text)
    return verses

@cache
def stylesheet():
    from machine.corpora.usfm_stylesheet import UsfmStylesheet
    return UsfmStylesheet('usfm.sty')

def sil_machine(usfm:str)->Verses:
    from machine.corpora.usfm_parser import UsfmParser
    from machine.corpora.usfm_parser_handler import UsfmParserHandler

    class Handler(UsfmParserHandler):
        def __init__(self): self.found = Collector()
        def chapter(self, state, number, marker, alt, pub):
            self.found.close()
            self.found.chapter = number
        def verse(self, state, number, marker, alt, pub): self.found.open(number)
        def text(self, state, text):
            title = getattr(state.para_tag, 'marker', '') == 'd'
            if state.is_verse_text and not title: self.found.text(text)
        def start_para(self, *args): self.found.text(' ')
        def start_row(self, *args): self.found.text(' ')
        def start_cell(self, *args): self.found.text(' ')

    handler = Handler()
    UsfmParser(usfm, handler, stylesheet()).process_tokens()
    return collected(handler.found.raw())

def of_elements(root)->Verses:
    "The verses of USX, by the kinds of text that the stylesheet of sil-machine has"
    found = Collector()
    def is_text(style):
        tag = stylesheet().get_tag(style)
        return tag.text_type.name in ('VERSE_TEXT','NOT_SPECIFIED') and style != 'd'
    def walk(el, shown):
        tag, style = el.tag, el.get('style') or ''
        if tag == 'chapter':
            found.close()
            if el.get('number'): found.chapter = el.get('number')
        if tag == 'verse' and el.get('number'):
            found.open(el.get('number'))
            return True
        if tag in ('note','figure','sidebar'): return shown
        if tag in ('para','row','cell'): found.text(' ')
        inside = is_text(style) if tag in ('para','row') else shown and (tag != 'char' or is_text(style))
        if inside and el.text: found.text(el.text)
        for child in el:
            inside = walk(child, inside) if child.tag == 'verse' else (walk(child, inside), inside)[1]
            if inside and child.tail: found.text(child.tail)
    walk(root, False)
    return collected(found.raw())

def usfmtc(usfm:str)->Verses:
    import usfmtc
    return of_elements(usfmtc.USX.fromUsfm(usfm).getroot())

def usfm_grammar(usfm:str)->Verses:
    from lxml import etree
    from usfm_grammar import USFMParser
    xml = etree.tostring(USFMParser(usfm).to_usx(ignore_errors=True))
    return of_elements(ElementTree.fromstring(xml))
