"Damage small files in every way that a seed gives, and see what a reader makes of them"
import json, random, re, shutil
from collections import Counter
from pathlib import Path

from conftest import TooSlow, time_limit

HOSTILE = [x if isinstance(x, bytes) else x.encode('utf-8', 'surrogatepass') for x in (
    '', '\0', '"', "'", '\t', '\n', '\r', ',', '|', '=', '-1', '0', '1²', '٣', '½', 'NaN', 'Infinity', '1e999',
    'null', 'true', '[]', '{}', '9'*5000, '9'*20, '-' + '9'*30, 'a'*140_000, '\ud800', '\ufeff', '\ufdd0', '\u202e',
    '𐀀', ':'*20_000, '['*3000, '{"a":'*3000, '('*3000, '<a>'*3000, '</a>', '<!ENTITY x "y">', '&x;', '<![CDATA[',
    '<?xml version="1.0" encoding="undefined"?>', '\n'*20_000, '\\+nd x '*1000, '\\v 1 ', '\\c 9', '\\id XYZ',
    '\\f + ', '***', '<range>', 'MRK 1:1', '../../x', '/dev/zero', '=1+1', b'\xff\xfe', b'\xef\xbb\xbf', b'\xc3')]
VALUES = [None, True, -1, 0, 1e308, float('nan'), 10**30, '', 'x', '\0', '../x',
          [], [[]], [None], {}, {'a': None}, ['x']*3, {'x': ['y']}]

# How bytes are damaged; each takes a random generator and bytes

def truncate(rng, data): return data[:rng.randrange(len(data) + 1)]
def cut_out(rng, data):
    a = rng.randrange(len(data) + 1)
    return data[:a] + data[a + rng.choice([1, 2, 10, 100, 1000]):]
def flip(rng, data):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if changed: changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)
def insert(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(HOSTILE) + data[at:]
def repeat(rng, data):
    a, n = rng.randrange(len(data) + 1), rng.choice([1, 10, 100])
    return data[:a] + data[a:a+n]*rng.choice([2, 50]) + data[a+n:]
def up_to_tabs(data):
    "Where up to 99 bytes before a tab in its line begin, and where they end; a pattern would try them from each byte of a long line"
    end = 0
    for tab in re.finditer(b'\t', data):
        at = tab.start()
        begin = max(end, at - 99, data.rfind(b'\n', end, at) + 1)
        end = tab.end()
        yield begin, end
def matches(pattern, end):
    "Where a pattern is found whose matches have this last byte: there is none after it"
    return lambda data: (m.span() for m in re.compile(pattern).finditer(data, 0, data.rfind(end) + 1))
TOKENS = [matches(rb'\d+', b''), matches(rb'[\w-]+', b''), matches(rb'"[^"\n]{0,99}"', b'"'), up_to_tabs, matches(rb'[^\n]*\n', b'\n')]
def replace_token(rng, data):
    "Put something hostile in the place of a number or a word"
    found = list(rng.choice(TOKENS)(data))
    if not found: return insert(rng, data)
    begin, end = rng.choice(found)
    return data[:begin] + rng.choice(HOSTILE) + data[end:]
def drop_line(rng, data):
    lines = data.split(b'\n')
    lines.pop(rng.randrange(len(lines)))
    return b'\n'.join(lines)
def swap_lines(rng, data):
    lines = data.split(b'\n')
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b'\n'.join(lines)
EMPTY = [b'', b'\n', b'\xef\xbb\xbf', b'\xff\xfe', b'PK\5\6' + b'\0'*18, b'PAR1', b'null', b'[]', b'{}', b'1'*5000]
def empty(rng, data): return rng.choice(EMPTY)

def change_json(rng, data):
    "Another value, key or type somewhere in JSON"
    try: whole = json.loads(data)
    except ValueError: return flip(rng, data)
    at, inside = whole, []
    while isinstance(at, (dict, list)) and at:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        inside.append((at, key))
        at = at[key]
    if not inside: return json.dumps(rng.choice(VALUES)).encode()
    holder, key = rng.choice(inside)
    if rng.random() < .2 and isinstance(holder, dict): del holder[key]
    else: holder[key] = rng.choice(VALUES)
    return json.dumps(whole).encode()

def change_parquet(rng, data):
    "Other columns, types, nulls or metadata in a Parquet file"
    import pyarrow as pa, pyarrow.parquet as pq
    table = pq.read_table(pa.BufferReader(data))
    i = rng.randrange(table.num_columns)
    names = table.column_names
    name, kept = names[i], table.schema.metadata or {}
    how = rng.randrange(6)
    if how == 0: table = table.drop([name])
    if how == 1: table = table.rename_columns([rng.choice(['x', names[0]]) if n == name else n for n in names])
    if how == 2: table = table.set_column(i, name, pa.nulls(table.num_rows, table.schema.field(i).type))
    if how == 3: table = table.set_column(i, name, pa.array([rng.choice(['x', None])]*table.num_rows))
    if how == 4: table = table.set_column(i, name, pa.array([rng.choice([-1, 2**40])]*table.num_rows))
    if how == 5: kept = {k: change_json(rng, v) if rng.random() < .7 else rng.choice(HOSTILE) for k,v in kept.items()}
    out = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(kept), out)
    return out.getvalue().to_pybytes()

DAMAGES = [truncate, cut_out, flip, insert, insert, repeat, replace_token, replace_token, replace_token, drop_line, swap_lines, empty]

def damage(rng, path, data):
    "Some bytes in the place of `data`"
    special = {'.json': change_json, '.parquet': change_parquet}.get(path.suffix)
    how = special if special and rng.random() < .5 else rng.choice(DAMAGES)
    for _ in range(rng.choice([1, 1, 1, 2])): data, how = how(rng, data), rng.choice(DAMAGES)
    return data

# What a reader makes of it

def put(path, data):
    "Write a file anew: writing over one waits for the disk"
    path.unlink(missing_ok=True)
    path.write_bytes(data)

def attack(read, folder, name, accepted, n=None, seconds=None, seed=0, limit=20, right=None):
    """Damage one file of `folder` after the other, `n` times or for some seconds, and read `folder/name`.

    Returns how often what came of it, and the failures: neither a result nor an exception of `accepted`,
    or more than `limit` seconds, or a result of which `right`, if given, is false"""
    import time
    rng, found, failures = random.Random(f'{seed} {name}'), Counter(), []
    paths = sorted(p for p in Path(folder).rglob('*') if p.is_file())
    until = time.monotonic() + (seconds or 10**9)
    while sum(found.values()) < (n or 10**9) and time.monotonic() < until:
        path = rng.choice(paths)
        whole = path.read_bytes()
        put(path, damage(rng, path, whole))
        try:
            with time_limit(limit): result = read(Path(folder)/name)
            found['result'] += 1
            if right and not right(result): failures.append((path.name, 'the result is wrong', path.read_bytes()))
        except accepted as e:
            found['refused'] += 1
            if '\n' in str(e):
                failures.append((path.name, f'{str(e)!r} is more than one line', path.read_bytes()))
        except (Exception, TooSlow) as e:
            found['failed'] += 1
            failures.append((path.name, repr(e)[:300], path.read_bytes()))
        finally: put(path, whole)
    return found, failures

def keep(failures, folder):
    "Write the files of failures where a person can look at them"
    shutil.rmtree(folder, ignore_errors=True)
    for i,(name,_,data) in enumerate(failures):
        folder.mkdir(parents=True, exist_ok=True)
        (folder/f'{i}-{name}').write_bytes(data)
