"""A pretrained model is one that can be fine-tuned, reads no verse of dev or test, and is the same in every process"""
import json, os, signal, subprocess, sys
from pathlib import Path
import pytest
pytest.importorskip('torch')
from conftest import in_fork
from pronto.datasets.examples import VerseExample
from pronto.datasets.loading import Dataset
from pronto.cli.command import main
from pronto.core.files import InputError
from pronto.lab.modeling.pretrain import pretrain, read_texts
from pronto.modeling.model import model_hash
from pronto.modeling.recipes import find_recipe
from pronto.datasets.splits import split_of
from pronto.core.refs import Ref
from pronto.datasets.tasks import PNS
from pronto.modeling.train import fine_tune_dataset

SMALL = dict(vocab_size=80, layers=1, width=16, heads=2, max_length=32, steps=2, device='cpu')
TEXTS = [f'lo {"mi "*(i % 3)}la tu{i % 7}' for i in range(40)]

def test_fine_tune_a_pretrained_model(tmp_path):
    pretrain(TEXTS, tmp_path/'m', **SMALL)
    rows = [VerseExample(t, str(i % 2), None) for i,t in enumerate(TEXTS)]
    data = Dataset(Path('toy'), {PNS.stem: dict(train=rows, dev=rows, test=rows)})
    run = fine_tune_dataset(data, tmp_path/'m', PNS, find_recipe('paper', epochs=1), device='cpu')
    assert run.unknown['train'] == 0

@pytest.mark.slow
def test_same_in_another_process(tmp_path):
    "Whatever the hash seed"
    code = f'import sys; from pronto.lab.modeling.pretrain import pretrain; pretrain({TEXTS!r}, sys.argv[1], **{SMALL!r})'
    other = os.environ | {'PYTHONHASHSEED': '1' if hash('lo') % 2 else '2'} # Hardly that of this process
    subprocess.run([sys.executable, '-c', code, str(tmp_path/'1')], check=True, env=other)
    pretrain(TEXTS, tmp_path/'2', **SMALL)
    assert model_hash(tmp_path/'1') == model_hash(tmp_path/'2')

def test_little_text_is_warned_of(tmp_path, capsys):
    (tmp_path/'nine.txt').write_text('lo la mi tu ko pe si na wa\n')
    sizes = ['--vocab', '80', '--layers', '1', '--width', '16', '--heads', '2', '--steps', '1', '--quiet']
    assert main(['pretrain', str(tmp_path/'nine.txt'), '-o', str(tmp_path/'m'), *sizes]) == 0
    assert 'nine.txt: only 26 characters of text' in capsys.readouterr().err

def test_no_verse_of_dev_or_test(tmp_path):
    refs = [Ref('LUK', c, v) for c in range(1, 25) for v in (1, 2)]
    (tmp_path/'luke.tsv').write_text(''.join(f'LUK\t{r.chapter}\t{r.verse}\tlo {r.chapter} mi {r.verse}\n' for r in refs))
    assert read_texts([tmp_path/'luke.tsv']) == [f'lo {r.chapter} mi {r.verse}' for r in refs if split_of(r) == 'train']

def test_interrupted_leaves_what_was_there(tmp_path, monkeypatch):
    pretrain(TEXTS, tmp_path/'m', **SMALL)
    before = model_hash(tmp_path/'m')
    def interrupt(*args, **kwargs): raise KeyboardInterrupt
    monkeypatch.setattr('pronto.lab.modeling.pretrain.MaskedTrainer.train', interrupt)
    with pytest.raises(KeyboardInterrupt): pretrain(TEXTS, tmp_path/'m', **SMALL | {'seed': 1})
    assert model_hash(tmp_path/'m') == before and [p.name for p in tmp_path.iterdir()] == ['m']

def test_bad_input(tmp_path):
    with pytest.raises(InputError, match='none.txt'): read_texts([tmp_path/'none.txt'])
    (tmp_path/'data.bin').write_bytes(b'\x00\x01lo')
    with pytest.raises(InputError, match='data.bin'): read_texts([tmp_path/'data.bin'])

def pretrain_in_little_room(out):
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for room in 100, 1000, 10000:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        try: pretrain(TEXTS, out, **SMALL)
        except ValueError as e: print(type(e).__name__, e)

@pytest.mark.slow
def test_full_disk_is_one_line(tmp_path):
    "For no file at all, for the configuration only, and for all but the weights"
    done = in_fork(lambda: pretrain_in_little_room(tmp_path/'m'))
    lines = done.splitlines()
    assert len(lines) == 3, done
    assert all(line.startswith('InputError') for line in lines), done
    assert all('m: cannot be written' in line and 'File too large' in line for line in lines), done
    assert not list(tmp_path.iterdir())

def test_a_downloaded_model_is_not_replaced(tmp_path):
    "It has a `config.json` too, but no manifest of ours; nor is a model replaced that holds another file"
    downloaded = tmp_path/'mbert'
    downloaded.mkdir()
    for name in 'config.json', 'model.safetensors': (downloaded/name).write_text('{}')
    with pytest.raises(InputError, match='no manifest that PrOnto wrote'): pretrain(TEXTS, downloaded, **SMALL)
    assert [p.name for p in sorted(downloaded.iterdir())] == ['config.json','model.safetensors']
    for _ in range(2): pretrain(TEXTS, tmp_path/'m', **SMALL | dict(steps=0))
    (tmp_path/'m'/'notes.md').write_text('mine')
    with pytest.raises(InputError, match='notes.md in it was not written'): pretrain(TEXTS, tmp_path/'m', **SMALL | dict(steps=0))

def test_a_changed_or_downloaded_model_is_not_replaced(tmp_path):
    pretrain(TEXTS, tmp_path/'m', **SMALL | {'steps': 0})
    pretrain(TEXTS, tmp_path/'m', **SMALL | {'steps': 0}) # Ours
    weights = (tmp_path/'m'/'model.safetensors')
    weights.write_bytes(weights.read_bytes()[:-4] + b'abcd')
    before = model_hash(tmp_path/'m')
    with pytest.raises(InputError, match='its weights were changed'): pretrain(TEXTS, tmp_path/'m', **SMALL | {'steps': 0})
    (tmp_path/'m'/'manifest.json').unlink()
    with pytest.raises(InputError, match='is not replaced'): pretrain(TEXTS, tmp_path/'m', **SMALL | {'steps': 0})
    assert model_hash(tmp_path/'m') == before

def test_a_model_that_is_replaced_is_named_first(tmp_path, capsys):
    "It may have taken hours"
    (tmp_path/'text.txt').write_text('\n'.join(TEXTS), encoding='utf-8')
    out = tmp_path/'m'
    command = ['pretrain', str(tmp_path/'text.txt'), '-o', str(out), '--vocab', '60', '--layers', '1', '--width', '16', '--heads', '2']
    for expected in False, True:
        assert main([*command, '--steps', '1']) == 0
        assert (f'{out}: the model that is there will be replaced' in capsys.readouterr().err) == expected

@pytest.mark.parametrize('kind', ['masked', 'causal'])
def test_checkpoints_are_whole_models_and_change_nothing(tmp_path, kind, capsys):
    "Each has the weights of its time and says so; a place that holds something else is refused before the training"
    from pronto.modeling.likelihood import load_chooser, log_likelihoods
    made = pretrain(TEXTS, tmp_path/'m', kind=kind, checkpoints=(0, .5, 1), **SMALL | dict(steps=4))
    pretrain(TEXTS, tmp_path/'alone', kind=kind, **SMALL | dict(steps=4))
    names = 'm-0', 'm-50', 'm'
    said = [json.loads((tmp_path/name/'manifest.json').read_text()) for name in names]
    assert [one['trained'] for one in said] == [0, .5, 1] and said[-1] == made and {one['kind'] for one in said} == {kind}
    hashes = [model_hash(tmp_path/name) for name in names]
    assert len({*hashes}) == 3 and hashes[-1] == model_hash(tmp_path/'alone')
    found = [log_likelihoods(load_chooser(tmp_path/name, 'cpu'), [[('', 'lo mi la')]], 'every').sums for name in names]
    assert all(value < 0 for ((value,),) in found)
    (tmp_path/'text.txt').write_text('\n'.join(TEXTS), encoding='utf-8')
    (tmp_path/'m-50'/'notes.md').write_text('mine')
    command = ['pretrain', str(tmp_path/'text.txt'), '-o', str(tmp_path/'m'), '--kind', kind, '--steps', '2', '--checkpoints']
    for shares, said in ('.5', 'm-50: is not replaced'), ('half', '--checkpoints: half is not a list of numbers'), ('2', 'from 0 to 1'):
        assert main([*command, shares]) == 1
        assert said in capsys.readouterr().err
    assert model_hash(tmp_path/'m') == hashes[-1]
