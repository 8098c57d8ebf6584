"The small multilingual encoder of the real runs: it learns what a teacher of another language says"
import importlib.util, random
from pathlib import Path

import numpy as np, pytest

from pronto.core.files import InputError
from pronto.core.refs import Ref
from pronto.datasets.splits import split_of
from pronto.lab.modeling.pretrain import pretrain
from pronto.modeling.model import model_hash
from pronto.lab.modeling.retrieval import encode_layers, retrieve

@pytest.fixture(scope='module')
def made():
    spec = importlib.util.spec_from_file_location('distillation', Path(__file__).parents[1]/'benchmarks'/'distillation.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def test_translations_are_learned_from_verses_alone(made):
    table = made.translation_table([[0, 1], [0, 2], [1, 2]], [[3, 4], [3, 5], [4, 5]], (4, 6), rounds=20)
    assert table.argmax(1).A1.tolist()[:3] == [3, 4, 5] and np.allclose(table.sum(1).A1, [1, 1, 1, 0])
    known = np.eye(6, 8, dtype=np.float32)
    embeddings = made.translated_embeddings(table, known)
    assert (embeddings[:3] @ known.T).argmax(1).tolist() == [3, 4, 5]
    assert not np.allclose(embeddings[3], known.mean(0), atol=.01) # By chance, or such tokens would be alike

@pytest.mark.slow
def test_a_student_finds_the_verses_of_another_language(made, tmp_path):
    "The second language has its own words, in the opposite order; recall is of verses that the student has not seen"
    rng = random.Random(0)
    words = [a + b + c for a in 'lmnt' for b in 'aiou' for c in 'lmn']
    foreign = dict(zip(words, rng.sample([a + b + c for a in 'bdgk' for b in 'aiou' for c in 'bdg'], len(words))))
    said = {(c, v): rng.sample(words, 5) for c in range(1, 29) for v in range(1, 41)}
    def write(name, words_of):
        lines = [f'MAT\t{c}\t{v}\t{" ".join(words_of(x))}\n' for (c, v),x in said.items()]
        (tmp_path/name).write_text(''.join(lines))
        return made.verses_by_ref(tmp_path/name)
    english = write('first.tsv', lambda x: x)
    other = write('second.tsv', lambda x: [foreign[w] for w in reversed(x)])
    assert {split_of(ref) for ref in english} == {'train'} and english.keys() == other.keys()
    assert len(english) < len(said)

    teacher = tmp_path/'teacher'
    pretrain(list(english.values()), teacher, epochs=5, device='cpu', vocab_size=200, layers=2, width=32, heads=2, max_length=16)
    texts = [(' '.join(x), ' '.join(foreign[w] for w in reversed(x))) for (c, v),x in said.items()
             if split_of(Ref('MAT', c, v)) in ('dev','test')]
    def recall(model):
        x, y = (encode_layers(model, list(t), device='cpu')[-1] for t in zip(*texts))
        return float((retrieve(y, x) == np.arange(len(x))).mean())
    small = dict(vocab_size=300, blocks=(0, 1), max_length=16, device='cpu')
    made.distil(teacher, [english, other], tmp_path/'raw', epochs=0, **small)
    learned = made.distil(teacher, [english, other], tmp_path/'student', epochs=5, learning_rate=1e-3, **small)
    assert recall(teacher) < .1 < recall(tmp_path/'raw') < recall(tmp_path/'student') and learned['loss'] < .5
    made.distil(teacher, [english, other], tmp_path/'again', epochs=0, **small)
    assert model_hash(tmp_path/'again') == model_hash(tmp_path/'raw')
    with pytest.raises(InputError, match='has 2 blocks; choose from 0 to 1'):
        made.distil(teacher, [english], tmp_path/'raw', epochs=0, **small | dict(blocks=(2,)))
    (tmp_path/'mine').mkdir()
    (tmp_path/'mine'/'letter.txt').write_text('dear')
    with pytest.raises(InputError, match='is not replaced'): made.distil(teacher, [english], tmp_path/'mine', epochs=0, **small)
