"""A byte-level BPE as BART has it (Lewis et al. 2020), estimated on a corpus of one's own."""

import json
from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.tokenization.contract import Specials
from models.tokenization.huggingface_tokenizer import document_of

_FIRST, _MASK = ("<s>", "<pad>", "</s>", "<unk>"), "<mask>"  # ids 0 to 3, and the last one, as in BART


def estimate_byte_level(lines: Iterable[str], pieces: int) -> bytes:
    """Return the document of a tokenizer (`models.tokenization.huggingface_tokenizer`); the same lines give the same.

    It has so many pieces, special ones and the 256 bytes included; fewer where the texts have fewer.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces - 1,
        special_tokens=list(_FIRST),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # With a space before each text, as the vocabulary encodes it.
    tokenizer.train_from_iterator((f" {line}" for line in lines), trainer)
    tokenizer.add_special_tokens([_MASK])
    begin, pad, end, unk = range(len(_FIRST))
    specials = Specials(
        pad=pad,
        begin=end,
        end=end,
        unk=unk,
        source_begin=begin,
        source_end=end,
        target_begin=begin,
        mask=tokenizer.token_to_id(_MASK),
    )
    return document_of(json.loads(tokenizer.to_str()), specials)
