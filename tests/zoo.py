"Small random models of many architectures of transformers, each with a tokenizer of a few words"
import functools

WORDS = 'lo la mi nu ra so ti ke pe wo'.split()
_SPECIAL = dict(pad_token='[PAD]', unk_token='[UNK]', cls_token='[CLS]', sep_token='[SEP]', mask_token='[MASK]')
_N = 40 # Words, or letters, with special tokens
_ENDS = dict(pad_token_id=0, bos_token_id=2, eos_token_id=3)
_USUAL = dict(vocab_size=_N, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
              max_position_embeddings=96, pad_token_id=0)
_NARROW = _USUAL | dict(embedding_size=16)
_DECODER = _USUAL | _ENDS
_LLAMA = _DECODER | dict(num_key_value_heads=1, head_dim=8)
_EXPERTS = _LLAMA | dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
_GPT = dict(vocab_size=_N, n_embd=16, n_layer=2, n_head=2, n_positions=96) | _ENDS
_SSM = dict(vocab_size=_N, hidden_size=16, state_size=4, num_hidden_layers=2) | _ENDS
_PAIR = dict(vocab_size=_N, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
             encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=96, decoder_start_token_id=3, forced_eos_token_id=3) | _ENDS
_T5 = dict(vocab_size=_N, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, pad_token_id=0, eos_token_id=3, decoder_start_token_id=0)
_XLM = dict(vocab_size=_N, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=96, pad_index=0, unk_index=1, bos_index=2,
            eos_index=3, mask_index=4, pad_token_id=0)
_DEBERTA = _USUAL | dict(relative_attention=True, pos_att_type=['c2p','p2c'])

ENCODERS = { # Model type to its configuration
    'bert': _USUAL, 'roberta': _USUAL, 'xlm-roberta': _USUAL, 'camembert': _USUAL, 'ernie': _USUAL, 'mpnet': _USUAL, 'ibert': _USUAL,
    'megatron-bert': _USUAL, 'roberta-prelayernorm': _USUAL, 'fnet': _USUAL, 'electra': _NARROW, 'squeezebert': _NARROW,
    'albert': _USUAL | dict(embedding_size=8),
    'rembert': _USUAL | dict(input_embedding_size=16, output_embedding_size=16),
    'mobilebert': _NARROW | dict(intra_bottleneck_size=16, true_hidden_size=16),
    'convbert': _NARROW | dict(head_ratio=1, conv_kernel_size=3),
    'nystromformer': _USUAL | dict(num_landmarks=4, segment_means_seq_len=16),
    'longformer': _USUAL | dict(attention_window=[4, 4]),
    'big_bird': _USUAL | dict(block_size=4, num_random_blocks=1),
    'xmod': _USUAL | dict(languages=['en_XX'], default_language='en_XX'),
    'esm': _USUAL | dict(mask_token_id=4, emb_layer_norm_before=False),
    'deberta': _DEBERTA, 'deberta-v2': _DEBERTA, 'xlm': _XLM, 'flaubert': _XLM,
    'distilbert': dict(vocab_size=_N, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=96, pad_token_id=0),
    'modernbert': _DECODER | dict(local_attention=8, global_attn_every_n_layers=2, cls_token_id=2, sep_token_id=3),
    'eurobert': _LLAMA | dict(mask_token_id=4),
    'funnel': dict(vocab_size=_N, block_sizes=[1, 1], num_decoder_layers=1, d_model=16, n_head=2, d_head=8, d_inner=32, pad_token_id=0),
    'canine': dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, max_position_embeddings=128,
                   num_hash_functions=4, num_hash_buckets=256),
    'xlnet': dict(vocab_size=_N, d_model=16, n_layer=2, n_head=2, d_inner=32) | _ENDS}

DECODERS = {
    'gpt2': _GPT, 'openai-gpt': _GPT, 'gptj': _GPT | dict(rotary_dim=4), 'gpt_neox': _DECODER, 'phi': _DECODER, 'falcon': _DECODER,
    'gpt_neo': dict(vocab_size=_N, hidden_size=16, num_layers=2, num_heads=2, attention_types=[[['global','local'], 1]], window_size=8,
                    max_position_embeddings=96) | _ENDS,
    'opt': _DECODER | dict(ffn_dim=32, word_embed_proj_dim=16),
    'bloom': dict(vocab_size=_N, hidden_size=16, n_layer=2, n_head=2) | _ENDS,
    'xglm': dict(vocab_size=_N, d_model=16, num_layers=2, attention_heads=2, ffn_dim=32, max_position_embeddings=96) | _ENDS,
    'llama': _LLAMA, 'qwen2': _LLAMA, 'qwen3': _LLAMA, 'gemma': _LLAMA, 'cohere': _LLAMA, 'olmo2': _LLAMA, 'stablelm': _LLAMA,
    'granite': _LLAMA, 'mistral': _LLAMA | dict(sliding_window=8), 'gemma2': _LLAMA | dict(sliding_window=8),
    'gemma3_text': _LLAMA | dict(sliding_window=8), 'mixtral': _LLAMA | dict(num_local_experts=4, num_experts_per_tok=2),
    'qwen2_moe': _EXPERTS | dict(shared_expert_intermediate_size=16), 'qwen3_moe': _EXPERTS,
    'mamba': _SSM, 'falcon_mamba': _SSM, 'mamba2': _SSM | dict(num_heads=4, head_dim=8, n_groups=1, chunk_size=8),
    'rwkv': dict(vocab_size=_N, hidden_size=16, num_hidden_layers=2, context_length=96) | _ENDS}

PAIRS = { # Of an encoder and a decoder
    't5': _T5, 'mt5': _T5, 'umt5': _T5, 'byt5': _T5 | dict(vocab_size=384, eos_token_id=1), 'longt5': _T5 | dict(local_radius=4),
    'switch_transformers': _T5 | dict(num_experts=2, expert_capacity=4, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1),
    'bart': _PAIR, 'mbart': _PAIR, 'pegasus': _PAIR, 'marian': _PAIR | dict(decoder_vocab_size=_N), 'm2m_100': _PAIR, 'blenderbot': _PAIR,
    'led': _PAIR | dict(attention_window=4, max_encoder_position_embeddings=96, max_decoder_position_embeddings=96),
    'bigbird_pegasus': _PAIR | dict(block_size=4, num_random_blocks=1)}
ALL = ENCODERS | DECODERS | PAIRS

def tokenizer_of(name:str, side:str='right'):
    "A tokenizer as models of this kind have it"
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    if name == 'byt5': return hf.ByT5Tokenizer(padding_side=side)
    if name == 'canine': return hf.CanineTokenizer(padding_side=side)
    if name == 'qwen2': # Whatever the folder says, it is read with this class
        letters = [*_SPECIAL.values(), '\u0120', *sorted({*''.join(WORDS)})]
        special = dict(pad_token='[PAD]', unk_token='[UNK]', bos_token='[CLS]', eos_token='[SEP]')
        return hf.Qwen2Tokenizer(vocab={x: i for i,x in enumerate(letters)}, merges=[], padding_side=side, **special)
    places = {w: i for i,w in enumerate([*_SPECIAL.values(), *WORDS])}
    found = Tokenizer(models.WordLevel(places, '[UNK]'))
    found.pre_tokenizer = pre_tokenizers.Whitespace()
    special = dict(_SPECIAL)
    if name in ENCODERS:
        ends = [('[CLS]', 2), ('[SEP]', 3)]
        found.post_processor = processors.TemplateProcessing('[CLS] $A [SEP]', '[CLS] $A [SEP] $B:1 [SEP]:1', ends)
    else: special = dict(pad_token='[PAD]', unk_token='[UNK]', bos_token='[CLS]', eos_token='[SEP]')
    if name in ('bart','mbart'): special['mask_token'] = '[MASK]'
    if name in PAIRS: found.post_processor = processors.TemplateProcessing('$A [SEP]', '$A [SEP] $B [SEP]', [('[SEP]', 3)])
    return hf.PreTrainedTokenizerFast(tokenizer_object=found, padding_side=side, model_max_length=90, **special)

def _family(config):
    "The class with the largest head there is"
    import transformers as hf
    from transformers.models.auto import modeling_auto as auto
    for mapping,family in ((auto.MODEL_FOR_MASKED_LM_MAPPING, hf.AutoModelForMaskedLM),
                           (auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, hf.AutoModelForSeq2SeqLM),
                           (auto.MODEL_FOR_CAUSAL_LM_MAPPING, hf.AutoModelForCausalLM)):
        if type(config) in mapping: return family
    return hf.AutoModel

def save_model(folder, name:str, side:str='right'):
    "Write a model and its tokenizer; weights are larger than usual, so that what they read matters"
    import torch, transformers as hf
    config = hf.AutoConfig.for_model('t5' if name == 'byt5' else name, **ALL[name])
    torch.manual_seed(0)
    net = _family(config).from_config(config)
    with torch.no_grad():
        for p in net.parameters():
            if p.dim() > 1: p.mul_(4)
    net.save_pretrained(folder)
    tokenizer_of(name, side).save_pretrained(folder)
    return folder

@functools.lru_cache(maxsize=None)
def texts(n:int=9)->tuple[str,...]:
    "Texts of one to 25 words"
    return tuple(' '.join(WORDS[(i*k + k*k) % len(WORDS)] for k in range(1, 2 + (7*i) % 25)) for i in range(n))
