"Damaged USFM: markers cut, doubled, not closed, glued to words, moved to other lines"
import random, re

_MARKER = re.compile(r'\\\+?[a-z]+\d*(?:-[se])?\*?[ \n]?|\\\*')

def _cut(usfm, m, rng): return usfm[:m.start()] + usfm[m.end():]

def _double(usfm, m, rng): return usfm[:m.end()] + m[0] + usfm[m.end():]

def _glue(usfm, m, rng):
    "Without the blank after the marker, or before it"
    if m[0][-1] in ' \n': return usfm[:m.end()-1] + usfm[m.end():]
    return usfm[:m.start()].rstrip() + usfm[m.start():]

def _unclose(usfm, m, rng):
    "Without the next end of a note or style"
    end = re.compile(r'\\\+?[a-z]+\d*\*').search(usfm, m.start())
    return _cut(usfm, end or m, rng)

def _move(usfm, m, rng):
    "To another place, up to some lines away"
    rest = _cut(usfm, m, rng)
    at = min(max(m.start() + rng.randrange(-300, 300), 20), len(rest))
    return rest[:at] + m[0] + rest[at:]

def _swap_lines(usfm, m, rng):
    lines = usfm.split('\n')
    n = usfm.count('\n', 0, m.start())
    if 0 < n < len(lines)-1: lines[n], lines[n+1] = lines[n+1], lines[n]
    return '\n'.join(lines)

MUTATIONS = [_cut, _double, _glue, _unclose, _move, _swap_lines]

def mutated(usfm:str, rng:random.Random)->tuple[str,str]: # Name of the mutation, and the text
    "The text with one marker damaged; the first line stays"
    markers = [m for m in _MARKER.finditer(usfm) if m.start() > usfm.find('\n')]
    mutation = rng.choice(MUTATIONS)
    return mutation.__name__.strip('_'), mutation(usfm, rng.choice(markers), rng)

def chapters(usfm:str)->list[str]:
    "Each chapter as a book of its own"
    first, *rest = re.split(r'(?=\\c \d)', usfm)
    head = re.match(r'\s*\\id .*\n', first)
    return [head[0] + chapter for chapter in rest] if head else []
