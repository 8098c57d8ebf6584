"One page for each command, made from the parser"
import argparse, re

from pronto.cli.command import make_parser

def parts_of(parser):
    "The parsers below a parser, by name"
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return {name: below for group in groups for name,below in group.choices.items()}

def subcommands(parser, name):
    "All commands below a parser, by name; parts that are no commands by themselves are on one page"
    parts = parts_of(parser)
    if not any(part.get_default('run') or parts_of(part) for part in parts.values()): yield name, parser
    else:
        for part,below in parts.items(): yield from subcommands(below, f'{name} {part}')

def option_name(action, formatter):
    "e.g. `-o, --output DIR`"
    if not action.option_strings: return f'`{formatter._metavar_formatter(action, action.dest)(1)[0]}`'
    value = '' if action.nargs == 0 or action.choices else formatter._format_args(action, action.dest.upper())
    names = ', '.join(action.option_strings)
    return f'`{names} {value}`' if value else f'`{names}`'

def options_list(parser):
    "Arguments and options, with what they mean"
    formatter, entries = parser._get_formatter(), []
    for action in parser._actions:
        if isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)): continue
        if action.help == argparse.SUPPRESS: continue
        meaning = re.sub(r'\s+', ' ', formatter._expand_help(action)) if action.help else ''
        choices = ', '.join(f'`{c}`' for c in action.choices or ())
        said = [meaning.replace('<', '&lt;').replace('*', r'\*'), choices and f'One of {choices}.']
        required = ' *(required)*' if action.required and action.option_strings else ''
        entries.append(f'{option_name(action, formatter)}{required}\n:   ' + ' '.join(filter(None, said)))
    return '\n\n'.join(entries)

def usage(parser): return re.sub(r'^usage: ', '', parser.format_usage()).strip()

def section(parser):
    "Usage and options of a parser, and those of its parts"
    parts = [f'```text\n{usage(parser)}\n```', options_list(parser)]
    for group in parser._actions:
        if not isinstance(group, argparse._SubParsersAction): continue
        about = {choice.dest: choice.help for choice in group._choices_actions}
        for name,below in group.choices.items():
            parts += [f'## `{name}`', about.get(name) or '', section(below)]
    return '\n\n'.join(p for p in parts if p)

def examples_of(name, pages):
    "Commands that start with a name, in the fenced blocks of pages: the line and the page it is from"
    found = {}
    for page,text in pages.items():
        for block in re.findall(r'^```sh\n(.*?)^```', text, re.M | re.S):
            for line in re.sub(r'\\\n\s*', '', block).splitlines():
                command = line.split(' # ')[0].split('  #')[0].strip()
                if re.match(rf'{re.escape(name)}(?= |$)', command): found.setdefault(command, page)
    return found

def command_pages(
    pages # Text of the pages with examples, by address
): # Text of each page by address, and the titles in order
    "All pages of commands, and a list of them"
    made, lines = {}, []
    for name,parser in subcommands(make_parser(), 'pronto'):
        address = 'commands/' + '-'.join(name.split()[1:]) + '.md'
        about = (parser.description or '').strip()
        text = f'# {name}\n\n{about}.\n\n{section(parser)}\n'
        examples = examples_of(name, pages)
        shown = '\n'.join(dict.fromkeys([*parser.examples, *examples]))
        text += f'\n## Examples\n\n```sh\n{shown}\n```\n' if shown else ''
        links = ', '.join(f'[{title(pages[p])}](../{p})' for p in dict.fromkeys(examples.values()))
        text += f'\nFrom: {links}\n' if links else ''
        made[address] = text
        lines.append(f'[`{name}`]({address.split("/")[1]})\n:   {about}')
    intro = ('# Commands\n\n`pronto COMMAND --help-all` prints what these pages say, and `--help` what most '
             'people need of it.\n\n')
    return {'commands/index.md': intro + '\n\n'.join(lines) + '\n', **made}

def title(text): return re.search(r'^# (.+)$', text, re.M)[1]
