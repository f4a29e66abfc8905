"""Tiny causal language models in folders as Hugging Face's library writes them: weights in shards, chat template."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, trainers

from tests.models.byte_level import TEXTS

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
END = "<|im_end|>"
SPECIALS = ["<|im_start|>", END, "<|pad|>"]
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SMALL = {
    **{"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2},
    **{"num_hidden_layers": 2, "head_dim": 4, "max_position_embeddings": 1500, "sliding_window": None},
}


def write_causal(
    folder: Path,
    family: str = "llama",
    *,
    texts: Iterable[str] = TEXTS,
    pieces: int = 330,
    seed: int = 0,
    spare: int = 3,
    **more: Any,
) -> Any:
    """Write a folder with random weights, and return the library's model."""
    import transformers

    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator((f" {text}" for text in texts), trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token="<|pad|>", chat_template=TEMPLATE
    )
    fast.save_pretrained(folder)
    rows = tokenizer.get_vocab_size() + spare  # as published: more rows than pieces
    # Words apart enough that choices differ from step to step.
    shape = {**SMALL, "vocab_size": rows, "initializer_range": 0.3, "pad_token_id": None, "bos_token_id": None, **more}
    config = transformers.AutoConfig.for_model(family, **shape, eos_token_id=tokenizer.token_to_id(END))
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.save_pretrained(folder, max_shard_size="8KB")
    return model


def change(file: Path, **fields: Any) -> None:
    """Change fields of a JSON object in a file; None takes one away."""
    stated = {**json.loads(file.read_text()), **fields}
    file.write_text(json.dumps({name: value for name, value in stated.items() if value is not None}))
