"""Models of a few thousand random numbers in Hugging Face's layout, as people bring them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "river", "is", "long", "short", "mill", "."]
LABELS = ("contradiction", "neutral", "ENTAILMENT")
LONGEST = 24  # tokens


def save_model(
    folder: Path,
    kind: str = "BertForSequenceClassification",
    labels: tuple[str, ...] = LABELS,
    words: Sequence[str] = WORDS,
    longest: int = LONGEST,
) -> Path:
    """Save a BERT of two layers with its tokenizer of these words, and return the folder."""
    import tokenizers
    import transformers

    transformers.utils.logging.disable_progress_bar()
    vocabulary = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]")
    )
    vocabulary.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vocabulary.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names: dict[str, Any] = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    names["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=vocabulary, model_max_length=longest, **names
    ).save_pretrained(folder)
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=longest,
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    getattr(transformers, kind)(config).save_pretrained(folder)
    return folder
