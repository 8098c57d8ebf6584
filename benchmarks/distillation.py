"""Train a small multilingual encoder on parallel verses, with an English model as its teacher

A masked language model needs far more text than a Bible before its encodings of different languages
agree. Knowledge distillation (Reimers and Gurevych 2020, *Making Monolingual Sentence Embeddings
Multilingual using Knowledge Distillation*) needs less: the teacher encodes an English verse, and the
student learns to give the same vector for the verse in every language.

Our student also starts with what the teacher knows. It takes over some blocks of the teacher. Its token
embeddings are those of the English tokens that a token is aligned with (IBM model 1; Brown et al. 1993,
*The Mathematics of Statistical Machine Translation*), so that it reads a verse as if it were translated
word by word.

Only verses that belong to train in every dataset are used.
`plan_models.py` makes the models of a plan of `pronto study` in this way.
"""
import json, random
from dataclasses import asdict, dataclass, replace
import numpy as np, torch
from scipy.sparse import csr_matrix
from transformers import AutoModel, get_linear_schedule_with_warmup, set_seed
from pronto.bibles.reading import read_bible
from pronto.bibles.versification import choose_versification, to_english
from pronto.core.files import InputError, content_hash, replace_folder
from pronto.core.progress import progress as show_progress
from pronto.core.refs import NT_BOOKS, Ref
from pronto.datasets.splits import split_of
from pronto.modeling.architectures import load_tokenizer, one_line_errors, quiet
from pronto.modeling.encodings import FrozenModel
from pronto.modeling.layers import use_onednn
from pronto.modeling.encoding import padded
from pronto.lab.modeling.pretrain import foreign_in_model, learn_vocabulary, save_model, weights_hash
from pronto.modeling.model import Model
from pronto.modeling.outcome import versions

def verses_by_ref(
    path # A Bible in any format
)->dict[Ref,str]: # By English verse numbers
    "The verses of a Bible that are neither in dev nor in test"
    bible = read_bible(path)
    verses = to_english(bible, choose_versification(bible)).verses
    found = {ref: ' '.join(text.split()) for ref,text in verses.items()
             if ref.book in NT_BOOKS and split_of(ref) == 'train'}
    return {ref: text for ref,text in found.items() if text}

def verses_to_read(
    bibles:dict[str,int|None] # Path to how many verses; `None` for all
)->list[dict[Ref,str]]: # One for each Bible, in random order; a share of them is the first ones
    "The verses of train that models may read; every share contains the smaller ones"
    found = []
    for path,n in bibles.items():
        verses = verses_by_ref(path) if n != 0 else {}
        refs = random.Random(0).sample(sorted(verses), len(verses))
        found.append({ref: verses[ref] for ref in refs[:n]})
    return found

def share_of(verses:list[dict[Ref,str]], share:float)->list[dict[Ref,str]]:
    return [dict(list(one.items())[:round(share*len(one))]) for one in verses]

def _token_pairs(texts:list[list[int]], others:list[list[int]])->tuple: # Three arrays
    "All pairs of a token and one of the parallel verse, with the number of the token in the corpus"
    pairs = [np.array(np.meshgrid([*{*a}], [*{*b}])).reshape(2, -1) for a,b in zip(texts, others)]
    token, other = np.concatenate(pairs, 1).astype(np.int64)
    verse = np.repeat(np.arange(len(pairs)), [p.shape[1] for p in pairs])
    _, place = np.unique(verse*(token.max(initial=0) + 1) + token, return_inverse=True)
    return place, token, other

def translation_table(
    texts:list[list[int]], # Token ids of verses
    others:list[list[int]], # Token ids of the same verses in English
    shape:tuple[int,int], # Sizes of the two vocabularies
    rounds:int=5 # Of expectation maximisation
)->csr_matrix: # (tokens, English tokens); a row adds up to one, or is empty
    "The English tokens that each token is aligned with"
    if not texts: return csr_matrix(shape, dtype=np.float32)
    place, token, other = _token_pairs(texts, others)
    pairs, number = np.unique(token*shape[1] + other, return_inverse=True)
    token, other = np.divmod(pairs, shape[1])
    weight = np.ones(len(pairs))
    for _ in range(rounds):
        share = weight[number]
        share /= np.bincount(place, share)[place]
        count = np.bincount(number, share)
        weight = count/np.bincount(other, count)[other] # The probability of `token` given `other`
    return csr_matrix((count/np.bincount(token, count)[token], (token, other)), shape)

@dataclass(frozen=True)
class Distillation:
    "How a student is made and trained"
    vocab_size:int = 16000 # Of the WordPiece vocabulary, at most
    blocks:tuple = (1, 3, 5) # Of the teacher, counted from 0, that the student takes over
    rounds:int = 5 # Of the alignment of tokens
    epochs:float = 1.5 # Passes over the verses; no training if 0
    learning_rate:float = 2e-4 # Of the blocks; token embeddings learn five times as fast
    batch_size:int = 64
    max_length:int = 128 # Tokens that the student reads
    bf16:bool = False # Is most of the arithmetic done with 16 bits? Faster where the processor has it
    seed:int = 0

def _spread(vectors:np.ndarray, known:np.ndarray)->np.ndarray:
    centre = known.mean(0)
    apart = vectors - centre
    distance = np.linalg.norm(apart, axis=1, keepdims=True)
    usual = np.linalg.norm(known - centre, axis=1).mean()
    return centre + apart*(usual/distance.clip(1e-3)).clip(1, 4)

def translated_embeddings(
    table:csr_matrix, # As `translation_table` gives it
    known:np.ndarray # (English tokens, width)
)->np.ndarray: # (tokens, width); spread by chance as `known` is for tokens without a translation
    "Embeddings of tokens from those of the English tokens that they are aligned with"
    sharp = table.power(2)
    total = np.asarray(sharp.sum(1))
    translated = _spread(sharp @ known/total.clip(1e-9), known)
    by_chance = np.random.default_rng(0).normal(known.mean(0), known.std(0), translated.shape)
    return np.where(total > 0, translated, by_chance).astype(np.float32)

def _shortened(teacher, blocks:tuple):
    "The teacher with some of its blocks only"
    with one_line_errors(teacher, 'cannot be taught from', 'give an encoder of the BERT family'):
        folder = Model.find(teacher).folder
        net = AutoModel.from_pretrained(folder, dtype=torch.float32, local_files_only=True,
                                        trust_remote_code=False, weights_only=True)
        layers = net.encoder.layer
    if not blocks or max(blocks) >= len(layers):
        raise InputError(teacher, f'has {len(layers)} blocks; choose from 0 to {len(layers) - 1}')
    net.encoder.layer = torch.nn.ModuleList(layers[i] for i in blocks)
    net.config.num_hidden_layers = len(blocks)
    return net

def _ids(tokenizer, texts:list[str])->list[list[int]]:
    if not texts: return []
    return tokenizer(texts, add_special_tokens=False, verbose=False)['input_ids']

_SPECIAL = 'pad_token_id', 'unk_token_id', 'cls_token_id', 'sep_token_id', 'mask_token_id'

def _new_student(teacher, vocabulary:list[str], texts:list[str], english:list[str], settings:Distillation
                )->tuple:
    "A tokenizer, and the teacher's blocks over embeddings of its tokens"
    net, theirs = _shortened(teacher, settings.blocks), load_tokenizer(teacher)
    tokenizer = learn_vocabulary(vocabulary, settings.vocab_size, settings.max_length)
    known = net.get_input_embeddings().weight.detach().numpy().copy()
    table = translation_table(_ids(tokenizer, texts), _ids(theirs, english), (len(tokenizer), len(known)),
                              settings.rounds)
    vectors = translated_embeddings(table, known)
    for name in _SPECIAL:
        if (token := getattr(theirs, name)) is not None: vectors[getattr(tokenizer, name)] = known[token]
    net.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad(): net.get_input_embeddings().weight.copy_(torch.from_numpy(vectors))
    net.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, net

def _batches(lengths:np.ndarray, settings:Distillation)->list[np.ndarray]: # Of numbers of verses
    "Verses of similar length together, in random order, for all passes"
    size, rng, found = settings.batch_size, np.random.default_rng(settings.seed), []
    n = -(-len(lengths)//size)
    while len(found) < settings.epochs*n:
        pools = np.array_split(rng.permutation(len(lengths)), -(-n//50))
        order = np.concatenate([pool[np.argsort(lengths[pool], kind='stable')] for pool in pools])
        batches = [order[i:i + size] for i in range(0, len(order), size)]
        found += [batches[i] for i in rng.permutation(n)]
    return found[:round(settings.epochs*n)]

def _mean_state(net, batch:dict)->torch.Tensor: # (texts, width)
    "The mean of the last states, without those of the first and the last token, which are special"
    states = net(**batch).last_hidden_state.float()
    read = batch['attention_mask']
    inner = torch.nn.functional.pad(read[:,2:], (1, 1)).unsqueeze(2)
    return (states*inner).sum(1)/inner.sum(1).clamp(1)

def _optimizer(net, settings:Distillation):
    table = net.get_input_embeddings().weight
    others = [p for p in net.parameters() if p is not table]
    groups = [dict(params=others), dict(params=[table], lr=5*settings.learning_rate)]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, weight_decay=0.01, fused=True)

def _train(net, tokenizer, rows:list[dict], vectors:torch.Tensor, settings:Distillation, *, device:str,
           progress:str)->float: # The mean loss of the last hundred batches
    batches = _batches(np.array([len(r['input_ids']) for r in rows]), settings)
    optimizer, losses = _optimizer(net, settings), []
    schedule = get_linear_schedule_with_warmup(optimizer, len(batches)//20, len(batches))
    variance = (vectors - vectors.mean(0)).square().sum(1).mean()
    use_onednn(net)
    net.set_attn_implementation('eager') # Its backward pass is twice as fast on a CPU
    for numbers in (show_progress(progress) if progress else iter)(batches):
        batch = padded([rows[i] for i in numbers], tokenizer, device=device)
        with torch.autocast(device, torch.bfloat16, enabled=settings.bf16): found = _mean_state(net, batch)
        wanted = vectors[[rows[i]['verse'] for i in numbers]]
        loss = (found - wanted).square().sum(1).mean()/variance
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return round(float(np.mean(losses[-100:])), 4)

def _teach(teacher, net, tokenizer, texts:list[str], english:list[str], settings, **how)->float:
    verses = list(dict.fromkeys(english))
    number = {text: i for i,text in enumerate(verses)}
    values, _ = FrozenModel(teacher, device=how['device']).encode(verses)
    vectors = torch.from_numpy(values[-1].astype(np.float32)).to(how['device'])
    ids = tokenizer(texts, truncation=True, max_length=tokenizer.model_max_length)['input_ids']
    rows = [dict(input_ids=x, verse=number[text]) for x,text in zip(ids, english)]
    return _train(net.to(how['device']).eval(), tokenizer, rows, vectors, settings, **how)

def distil(
    teacher, # A model folder, or a name in the local cache
    verses:list[dict[Ref,str]], # As `verses_to_read` gives them; the teacher reads those of the first
    out, # The folder to write
    share:float=1, # Of the verses, that the student reads; it learns its vocabulary from all
    settings:Distillation=Distillation(), # noqa: B008 (it is frozen)
    *,
    device:str=None, # `cpu` or `cuda`; a GPU if there is one
    progress:str='', # What a progress display calls the training; no display if empty
    **changes # Fields of `Distillation`, e.g. `epochs=1`
)->dict: # The manifest
    "Make and train a student and write its folder; raises `InputError` for a teacher that cannot be used"
    settings, first = replace(settings, **changes), verses[0]
    device = device or ('cuda' if torch.cuda.is_available() else 'cpu')
    read = share_of(verses, share)
    pairs = [(text, first[ref]) for one in read for ref,text in one.items() if ref in first]
    texts, english = (list(x) for x in (zip(*pairs) if pairs else ([], [])))
    everything = [text for one in verses for text in one.values()]
    set_seed(settings.seed)
    with quiet(), replace_folder(out, foreign_in_model) as folder:
        tokenizer, net = _new_student(teacher, everything, texts, english, settings)
        loss = None
        if texts and settings.epochs:
            loss = _teach(teacher, net, tokenizer, texts, english, settings, device=device, progress=progress)
        save_model(tokenizer, net, folder, out)
        manifest = dict(teacher_hash=Model.find(teacher).hash, share=share, texts=len(texts),
                        texts_hash=content_hash(*(t.encode() for t in texts), size=16),
                        vocabulary=len(tokenizer), parameters=net.num_parameters(), **asdict(settings),
                        loss=loss, versions=versions(), weights_hash=weights_hash(folder))
        (folder/'manifest.json').write_text(json.dumps(manifest, indent=1) + '\n')
    return manifest
