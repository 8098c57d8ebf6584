"""Processor seconds of `pronto card`, cold and with everything kept

    python benchmarks/card.py BIBLE MODEL [MODEL ...]

The data folder is new. The first card builds the dataset, and encodes the text and the English New Testament.
The second one finds all of it. The third has other runs, so that heads are made again."""
import os, resource, subprocess, sys, tempfile, time
from pathlib import Path

def seconds(argv:list[str], data:str)->tuple[float,float]: # Of the processor, and by the clock
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = os.environ | dict(PRONTO_DATA=data)
    subprocess.run(['pronto', *argv], env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began

def main(bible:str, *models:str):
    with tempfile.TemporaryDirectory() as folder:
        argv = ['card', bible, '-o', str(Path(folder)/'card.html')]
        for model in models: argv += ['-m', model]
        for name,more in ('cold', []), ('kept', []), ('encodings kept', ['--runs', f'{folder}/other']):
            of_processor, by_clock = seconds([*argv, *more], f'{folder}/data')
            print(f'{name}: {of_processor:.1f} CPU s, {by_clock:.1f} s', flush=True)

if __name__ == '__main__': main(*sys.argv[1:])
