"""Which intervals contain the true accuracy: those over chapters, or those of a bootstrap over chapters

    python benchmarks/intervals.py [--times 1000]
"""
import argparse
import numpy as np
from pronto.core.seeds import score_seeds
from pronto.core.stats import chapter_cells, student_interval
from pronto.core.tables import markdown_table

SIZES = 11, 17, 18, 20, 26, 31, 38, 50, 69 # Test verses of chapters, as uneven as those of the New Testament

def simulated(rng, n_chapters, pairs, spread):
    "Which items are right, and their chapters; chapters differ in difficulty by `spread` logits"
    sizes, effect = rng.choice(SIZES, n_chapters), rng.normal(0, spread, n_chapters)
    drawn = rng.choice(n_chapters, (60*n_chapters, 2), p=sizes/sizes.sum())
    chapter = drawn if pairs else np.repeat(np.arange(n_chapters), sizes)[:,None]
    ability = 1 + effect[chapter].sum(1)/chapter.shape[1]**.5
    return rng.random(len(chapter)) < 1/(1 + np.exp(-ability)), chapter

def bootstrap(right, chapter, rng, n=1000):
    "Student's interval with the variance over chapters that are drawn with replacement"
    cell, cells, n_chapters, sizes = chapter_cells(chapter)
    if n_chapters < 2: return None
    drawn = rng.multinomial(n_chapters, np.full(n_chapters, 1/n_chapters), n)
    a, b = cells.T
    weights = np.where(a == b, drawn[:,a], drawn[:,a]*drawn[:,b])
    rows = weights @ sizes
    scores = (weights @ np.bincount(cell, right))[rows > 0]/rows[rows > 0]
    variance = scores.var(ddof=1)*n_chapters/(n_chapters - 1)
    return student_interval(right.mean(), variance, n_chapters - 1)

def told(intervals, truth):
    "Coverage and mean width in percent; a test set in which all answers are right has no interval here"
    known = [ends for ends in intervals if ends]
    if not known: return ['–', '–']
    covers = np.mean([low <= truth <= high for low,high in known])
    return [f'{100*covers:.1f}', f'{100*np.mean([high - low for low,high in known]):.1f}']

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--times', type=int, default=1000)
    times, rows = parser.parse_args().times, []
    for pairs in (False, True):
        for spread in (0, .3, .7):
            of_chapters = np.random.default_rng(0).normal(0, spread, 1_000_000)
            truth = (1/(1 + np.exp(-1 - of_chapters))).mean()
            for n_chapters in (1, 3, 10, 40):
                rng = np.random.default_rng(1)
                tests = [simulated(rng, n_chapters, pairs, spread) for _ in range(times)]
                ours = [score_seeds([right], chapter).interval for right,chapter in tests]
                others = [bootstrap(right, chapter, rng) for right,chapter in tests]
                about = 'pairs' if pairs else 'verses', spread, n_chapters
                rows.append([*about, *told(ours, truth), *told(others, truth)])
    header = ['', 'spread', 'chapters', 'ours: covers', 'width', 'bootstrap: covers', 'width']
    print(markdown_table(header, rows, 'lrrrrrr'))

if __name__ == '__main__': main()
