"""A tiny byte-level BPE with BART's special pieces, in a folder as Hugging Face's models have it."""

import json
from functools import cache
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

TEXTS = ["the river rises in the hills", "the film was shot by the river in 1999", "The River Aral: a river of hills"]
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
IDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}


@cache
def tokenizer_json() -> str:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    tokenizer.enable_truncation(4)
    return tokenizer.to_str()


def write_folder(folder: Path, **config: object) -> Path:
    """Write tokenizer.json and a config.json with BART's ids and `config`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer_json())
    (folder / "config.json").write_text(json.dumps({**IDS, **config}))
    return folder
