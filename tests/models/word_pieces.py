"""A tiny WordPiece tokenizer with BERT's special pieces, and a BERT of random weights, in folders of Hugging Face's
layout."""

import json
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP, MASK = range(5)
TEXTS = ["the river rises in the hills", "the film was shot by the river in 1999", "The River Aral: a river of hills."]
TINY: dict[str, Any] = {
    **{"model_size": 16, "feed_forward_size": 32, "heads": 2, "decoder_layers": 1, "extraction_layers": 1},
    **{"encoder_feed_forward_size": 24, "encoder_heads": 2, "encoder_layers": 2},
    **{"source_positions": 64, "source_tokens": 64, "attention_dropout": 0.0},
}


def write_tokenizer(folder: Path, texts: list[str] = TEXTS, pieces: int = 120) -> Path:
    """Write a tokenizer.json learned from texts, as BERT's uncased folders have one."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=pieces, special_tokens=SPECIALS, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_bert(folder: Path, positions: int = 64, kind: str = "BertForMaskedLM", **stated: Any) -> Any:
    """Write tokenizer and random weights of the sizes of TINY, and return the library's model."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    write_tokenizer(folder)
    words = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    torch.manual_seed(5)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    config = transformers.BertConfig(
        vocab_size=len(words), max_position_embeddings=positions, initializer_range=0.5, **{**sizes, **stated}
    )
    model = getattr(transformers, kind)(config).eval()
    model.save_pretrained(folder)
    return model
