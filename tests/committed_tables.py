"""Makes the committed tables of the demo again, by today's code: `make tables`

Tables 1 to 3 from the runs in `paper_tables/demo_runs.zip`, Tables 4 and 5 from the embedded corpus, and the published figures.
With a folder they go there: `python tests/committed_tables.py DIR`. `paper_tables/README.md` says what makes the others."""
import os, shutil, sys, tempfile, zipfile
from pathlib import Path
from unittest.mock import patch

TABLES = Path(__file__).parents[1]/'paper_tables'

def make(out:Path):
    "Write the tables, as Markdown, LaTeX, CSV and pictures"
    from pronto.demo.corpus import build_demo, make_corpus
    from pronto.demo.gold_parses import demo_table4
    from pronto.demo.oracle import demo_table5
    from pronto.demo.tiny_models import TINY, table_rows
    from pronto.reporting.accuracy_tables import SPLITS_SHOWN, write_published
    from pronto.reporting.questions.question import Options, ask_runs
    from pronto.runs.store import read_runs
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, PRONTO_DATA=folder):
        demo = Path(folder)
        zipfile.ZipFile(TABLES/'demo_runs.zip').extractall(demo)
        options = Options(TINY.name, SPLITS_SHOWN, store=demo/'runs', layout=table_rows())
        ask_runs('accuracy', read_runs(demo/'runs'), options).write(demo/'paper_tables')
        build_demo(demo, n_verses=3500) # As many as the demo has
        corpus = make_corpus(n_verses=3500)
        for table in demo_table4, demo_table5: table(corpus, 'qab', demo)
        write_published(demo/'paper_tables')
        out.mkdir(parents=True, exist_ok=True)
        for made in (demo/'paper_tables').iterdir():
            if (TABLES/made.name).is_file(): shutil.copy(made, out) # Summaries are in the demo alone

if __name__ == '__main__':
    make(Path(sys.argv[1]) if sys.argv[1:] else TABLES)
