"""The files that describe a tokenizer in a Hugging Face folder: tokenizer.json, or older ones, vocab.json and
merges.txt.
"""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from models.json_file import read_object

TOKENIZER, VOCABULARY, MERGES = "tokenizer.json", "vocab.json", "merges.txt"
_ADDED, _CONFIG = "added_tokens.json", "tokenizer_config.json"


def described_tokenizer(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the tokenizer of a folder as tokenizer.json describes it, and the file that is to blame for its faults.

    Without a tokenizer.json it is made from vocab.json and merges.txt, the byte-level BPE of GPT-2, RoBERTa and BART,
    with the same ids as transformers gives; pieces that added_tokens.json or tokenizer_config.json add are added.
    Raises ValueError: neither is there, a file is no JSON object, the pieces and merges do not belong together, or an
    added piece cannot have the id that it is given.
    """
    file = folder / TOKENIZER
    if file.is_file():
        return file, read_object(file)
    pieces, merges = folder / VOCABULARY, folder / MERGES
    if not (pieces.is_file() and merges.is_file()):
        raise ValueError(
            f"{folder}: expected a {TOKENIZER} in it, the file of a fast tokenizer, or {VOCABULARY} and {MERGES}, "
            f"found {_found(folder)}"
        )
    read_object(pieces)  # a fault of it is named as in other files
    try:
        tokenizer = Tokenizer(models.BPE.from_file(str(pieces), str(merges)))
    except Exception as error:
        raise ValueError(f"{merges}: expected merges of pieces of {VOCABULARY}, but {error}") from error
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    for id_, piece in sorted(_added(folder).items()):
        tokenizer.add_special_tokens([piece])
        if tokenizer.token_to_id(piece) != id_:
            raise ValueError(
                f"{folder}: its files give the added piece {piece!r} the id {id_}, but behind {VOCABULARY} it gets "
                f"{tokenizer.token_to_id(piece)}"
            )
    described: dict[str, Any] = json.loads(tokenizer.to_str())
    return pieces, described


def _added(folder: Path) -> dict[int, str]:
    """Return id -> piece of the pieces that are added to those of vocab.json, as either file lists them."""
    added: dict[int, str] = {}
    if (folder / _ADDED).is_file():
        added |= {id_: piece for piece, id_ in read_object(folder / _ADDED).items()}
    if (folder / _CONFIG).is_file():
        listed = read_object(folder / _CONFIG).get("added_tokens_decoder", {})
        added |= {int(id_): piece["content"] for id_, piece in listed.items()}
    return added


def _found(folder: Path) -> str:
    names = [name for name in (VOCABULARY, MERGES) if (folder / name).is_file()]
    return f"only {names[0]}" if names else "none of them"
