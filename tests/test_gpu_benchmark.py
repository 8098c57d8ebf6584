"The benchmark for a GPU, on a CPU: several models trained as one are those trained alone; the dry run"
import copy, importlib.util
import pytest
torch = pytest.importorskip('torch')
from conftest import ROOT
from pronto.modeling.architectures import load_classifier, load_tokenizer, quiet
from pronto.modeling.encoding import pack
from pronto.lab.modeling.pretrain import pretrain
from pronto.modeling.train import collate
from pronto.datasets.examples import VerseExample
from pronto.datasets.loading import load_dataset_folder
from pronto.demo.corpus import make_corpus, write_corpus

@pytest.fixture
def gpu():
    spec = importlib.util.spec_from_file_location('gpu_benchmark', ROOT/'benchmarks'/'gpu.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

TEXTS = [f'{"abcdef"[i%6]} went to house {i}' for i in range(80)]

@pytest.fixture
def model(tmp_path):
    pretrain(TEXTS, tmp_path/'my-bert', layers=1, width=16, steps=0, window=0, dropout=0.)
    return tmp_path/'my-bert'

@pytest.mark.parametrize('less', [False, True])
def test_models_trained_as_one_are_those_trained_alone(gpu, model, less):
    gpu.RATE['lr'] = .01
    tokenizer = load_tokenizer(model)
    nets = [load_classifier(model, tokenizer, ('0','1'), seed=seed)[0].train() for seed in (0, 1)]
    for net in nets: net.set_attn_implementation('eager')
    alone = [copy.deepcopy(net) for net in nets]
    rows = [VerseExample(text, '01'[i%2]) for i,text in enumerate(TEXTS[:32])]
    inputs = [x | {'labels': i%2} for i,x in enumerate(pack(rows, tokenizer, 60).inputs)]
    batches = [collate(inputs[i:i+16], tokenizer, 8) for i in (0, 16)]
    logits = lambda net: gpu.logits_with(net.eval(), batches[0], False).detach()
    if less:
        for net in nets: gpu.compute_less(net, batches)
    step, params = gpu.stacked_stepper(nets)
    for batch in batches: step(batch)
    for i,net in enumerate(alone):
        before, own = logits(net), gpu.stepper(net, bf16=False, fused=False, device='cpu')
        for batch in batches: own(batch)
        if less: gpu.compute_less(net, batches)
        joint = copy.deepcopy(net)
        joint.load_state_dict({name: p[i].detach() for name,p in params.items()}, strict=False)
        assert torch.allclose(logits(joint), logits(net), atol=1e-4)
        assert (logits(net) - before).abs().max() > .01

def test_outputs_that_differ_stop_the_benchmark(gpu, model):
    tokenizer = load_tokenizer(model)
    nets = [load_classifier(model, tokenizer, ('0','1'), seed=seed)[0] for seed in (0, 0, 1)]
    batch = collate([x | {'labels': 0} for x in pack([VerseExample(TEXTS[0], '0')], tokenizer, 60).inputs], tokenizer)
    gpu.same_outputs(nets[0], nets[1], batch, 0.)
    gpu.same_outputs(nets[0], nets[1], batch, .1) # With 16 bits
    with torch.no_grad(): nets[2].classifier.bias += 1
    with pytest.raises(ValueError, match='outputs differ'): gpu.same_outputs(nets[0], nets[2], batch, .1)

def test_a_way_that_fails_costs_only_itself(gpu, model, monkeypatch, capsys):
    "Such as a compiler that is not there, or outputs that are not the plain ones"
    monkeypatch.setitem(gpu.TOLERANCE, 'by length', -1.)
    def broken(*args, **kwargs): raise RuntimeError('no compiler\nhere')
    monkeypatch.setattr(torch, 'compile', broken)
    from pronto.datasets.tasks import PNS
    rows = [VerseExample(text, '01'[i%2]) for i,text in enumerate(TEXTS)]
    with quiet(): speeds = gpu.measure_training(model, PNS, rows, 'cpu', 0, True)
    err = capsys.readouterr().err.splitlines()
    assert [*speeds] == ['plain','bf16','less work'] and len(err) == 5
    assert 'PNS, by length: left out (ValueError: outputs differ' in err[2] and '(RuntimeError: no compiler)' in err[4]

PLAN = """
[sources]
ontonotes = "ontonotes"
[bibles]
qaa = { path = "bibles/qaa.usfx.xml", language = "qaa" }
[[datasets]]
name = "demo"
source = "ontonotes"
options = ["--min-verses", "100"]
[models]
mine = "MODEL"
[[runs]]
name = "fine-tuning"
protocol = "in-language"
on = "demo"
models = ["mine"]
tasks = ["PNS"]
options = ["--recipe", "tiny", "--epochs", "2", "--limit", "40", "--seeds", "3"]
[[runs]]
name = "probe"
protocol = "probe"
on = "demo"
models = ["mine"]
"""

@pytest.mark.slow
def test_dry_run_of_a_plan(gpu, model, tmp_path, capsys):
    data, plan, out = (tmp_path/name for name in ('data','plan.toml','study'))
    write_corpus(make_corpus(n_verses=600), data)
    plan.write_text(PLAN.replace('MODEL', str(model)), encoding='utf-8')
    gpu.main([str(plan), '--data', str(data), '-m', str(model), '-o', str(out), '--dry-run', '--seeds', '2'])
    said = capsys.readouterr().out
    assert 'no figures to quote; my-bert' in said and 'hours for the 240 examples of' in said # 40 rows, 2 epochs, 3 seeds
    verses = {text for parts in load_dataset_folder(out/'datasets'/'demo'/'qaa').tasks.values()
              for rows in parts.values() for row in rows for text in row.texts}
    assert f'the {len(verses):,} verses of' in said # Those that the probe encodes
    expected = '| plain |', '| less work |', '| compiled |', 'times as fast', '2 seeds as one', 'Encoding:'
    assert [name for name in expected if name not in said] == []
