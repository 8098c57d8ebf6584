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
    def walk(el, shown): # Whether text after it is text of a verse
        tag, style = el.tag, el.get('style') or ''
        if tag == 'chapter':
            found.close()
            found.chapter = el.get('number') or found.chapter
        if tag == 'verse' and el.get('number'):
            found.open(el.get('number'))
            return True
        if tag in ('note','figure','sidebar'): return shown
        if tag in ('para','row','cell'): found.text(' ')
        inside = is_text(style) if tag in ('para','row') else shown and (tag != 'char' or is_text(style))
        if inside: found.text(el.text or '')
        for child in el:
            inside = walk(child, inside)
            if inside: found.text(child.tail or '')
        return shown
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

def installed():
    "The other readers that are installed"
    from importlib.util import find_spec
    names = {sil_machine: 'machine', usfmtc: 'usfmtc', usfm_grammar: 'usfm_grammar'}
    return [peer for peer,name in names.items() if find_spec(name)]

def _without_blanks(text): return text if text is None else ''.join(text.split())

def differences(usfm:str)->list[tuple]: # Chapter and label, our text, that of the others; `None` where there is no such verse
    "The verses on which ours differs from what two other readers agree on, but for blanks"
    read, others = ours(usfm), []
    for peer in installed():
        try: others.append(peer(usfm))
        except Exception: pass # They fail on some damaged files
    found = []
    for place in sorted(read.keys() | {place for other in others for place in other}):
        texts = [_without_blanks(other.get(place)) for other in others]
        agreed = [text for text in texts if texts.count(text) > 1]
        if agreed and agreed[0] != _without_blanks(read.get(place)): found.append((place, read.get(place), agreed[0]))
    return found
