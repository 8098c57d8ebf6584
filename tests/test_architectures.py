"What a model says of a text does not depend on the texts beside it, whatever its architecture; tokens of any kind are counted right"
import shutil
import numpy as np
import pytest
torch = pytest.importorskip('torch')
import zoo
from pronto.core.files import InputError
from pronto.modeling import encodings
from pronto.modeling.architectures import load_classifier, load_tokenizer, quiet
from pronto.modeling.encodings import FrozenModel
from pronto.modeling.memory import complete, halves
from pronto.modeling.perplexity import load_reader, read_tokens
from pronto.modeling.train import collate

torch.set_num_threads(1)
TEXTS = list(zoo.texts())

@pytest.fixture(scope='module')
def models(tmp_path_factory):
    "The folder of each model, made when it is asked for"
    folder, made = tmp_path_factory.mktemp('zoo'), {}
    def find(name, side='right'):
        if name not in made:
            with quiet(): made[name] = zoo.save_model(folder/name, name)
        zoo.tokenizer_of(name, side).save_pretrained(made[name])
        return made[name]
    return find

def ways(read): # `read`: a function of texts and a batch size, which gives one array for each text
    "What was said of all texts together; beside others, in another order or alone it is the same"
    together = read(TEXTS, 16)
    backwards = read(TEXTS[::-1], 16)[::-1]
    for other in backwards, read(TEXTS, 1), read(TEXTS, 3):
        for one,two in zip(together, other, strict=True): yield one, two

def same(one, two, rtol=1e-4): np.testing.assert_allclose(one, two, rtol=rtol, atol=1e-4*max(1, np.abs(one).max()))

CANNOT = {'nystromformer'} # Reads only texts whose length is a multiple of its landmarks

@pytest.mark.parametrize('name', zoo.ALL.keys() - CANNOT)
def test_vectors_do_not_depend_on_the_texts_beside(models, name, monkeypatch):
    "They are kept with 16 bits, so they may differ in the last of these"
    def read(texts, size, side='right'):
        monkeypatch.setattr(encodings, '_TOKENS', (size*48, 0))
        found, _ = FrozenModel(str(models(name, side)), device='cpu').encode(texts)
        return list(found.swapaxes(0, 1).astype(np.float32))
    for one,two in ways(read): same(one, two, 2e-3)
    for one,two in zip(read(TEXTS, 16), read(TEXTS, 16, 'left'), strict=True): same(one, two, 2e-3)

@pytest.mark.parametrize('name', zoo.ALL.keys() - CANNOT)
def test_logits_do_not_depend_on_the_texts_beside(models, name):
    with quiet():
        tokenizer = load_tokenizer(models(name, 'left'))
        net = load_classifier(models(name, 'left'), tokenizer, ('0','1'))[0].eval()
    def read(texts, size):
        rows = [dict(input_ids=tokenizer(text)['input_ids']) for text in texts]
        with torch.inference_mode():
            said = [net(**collate(rows[i:i+size], tokenizer))['logits'] for i in range(0, len(rows), size)]
        return list(torch.cat(said).numpy())
    for one,two in ways(read): same(one, two)

LIKELIHOOD = zoo.ALL.keys() - CANNOT - {'canine','funnel','xlnet'} - zoo.PAIRS.keys()

@pytest.mark.parametrize('name', LIKELIHOOD)
def test_likelihoods_do_not_depend_on_the_texts_beside(models, name):
    reader = load_reader(models(name, 'left'), 'cpu')
    def read(texts, size):
        found = read_tokens(reader, dict(enumerate(texts)), size)
        return [found[i][1] for i in range(len(texts))]
    for one,two in ways(read): same(one, two)
    parts = [halves(text) for text in TEXTS if ' ' in text]
    assert complete(reader, parts, 16) == complete(reader, parts, 1)
