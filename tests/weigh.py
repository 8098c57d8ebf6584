"""How heavy the package is: `python tests/weigh.py [FOLDER]` prints a table for any package

Blank lines, comments, docstrings and nbdev's markers are not code. Nodes are those of Python's syntax tree."""
import ast, sys
from pathlib import Path
from statistics import mean

LAB = 'lab', 'demo' # Folders beside the core
GENERATED = '_modidx.py'

def docstring_lines(tree):
    "The numbers of the lines that docstrings stand on"
    found = set()
    for node in ast.walk(tree):
        body = getattr(node, 'body', None)
        if not isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or not body:
            continue
        first = body[0]
        is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_text and isinstance(first.value.value, str):
            found.update(range(first.lineno, first.end_lineno + 1))
    return found

def code_lines(text, tree):
    "The lines of a module that are code"
    left_out = docstring_lines(tree)
    listed = [n for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], 'id', '') == '__all__']
    for node in listed: # nbdev writes it
        left_out.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return [line for i,line in lines if line.strip() and not line.lstrip().startswith('#') and i not in left_out]

def public_names(tree):
    "Functions and classes of a module without an underscore"
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith('_')]

def weigh(paths):
    "The weights of some modules together"
    lines, functions, names, nodes, lambdas = [], [], [], 0, 0
    for path in paths:
        text = path.read_text(encoding='utf-8')
        tree = ast.parse(text)
        code = code_lines(text, tree)
        lines += code
        names += public_names(tree)
        for node in ast.walk(tree):
            nodes += 1
            lambdas += isinstance(node, ast.Lambda)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.append(node.end_lineno - node.lineno + 1)
    if not lines:
        return {}
    return {'files': len(paths), 'code lines': len(lines), 'nodes': nodes, 'public names': len(names),
            'nodes a line': round(nodes/len(lines), 1), 'mean line': round(mean(map(len, lines)), 1),
            'functions, mean': round(mean(functions), 1) if functions else 0,
            'lambdas per 1,000 lines': round(1000*lambdas/len(lines), 1),
            'lines over 110': sum(len(line) > 110 for line in lines)}

def weights(folder):
    "The weights of the core, of the lab and the demo, and of all modules of a package"
    paths = [p for p in sorted(Path(folder).rglob('*.py')) if p.name != GENERATED]
    beside = [p for p in paths if p.relative_to(folder).parts[0] in LAB]
    core = [p for p in paths if p not in beside]
    return {'core': weigh(core), 'lab and demo': weigh(beside), 'all': weigh(paths)}

def main(folder):
    found = {name: row for name,row in weights(folder).items() if row}
    columns = list(found['all'])
    print('| | ' + ' | '.join(columns) + ' |')
    print('|---|' + '--:|'*len(columns))
    for name,row in found.items():
        print(f'| {name} | ' + ' | '.join(f'{row[column]:,}' for column in columns) + ' |')

if __name__ == '__main__':
    here = Path(__file__).parents[1]
    main(sys.argv[1] if len(sys.argv) > 1 else here/'pronto')
