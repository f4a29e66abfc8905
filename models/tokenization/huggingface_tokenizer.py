"""The tokenizer of a Hugging Face model, such as BART's byte-level BPE: read from its folder, kept as one document.

The document has two fields: `tokenizer`, the folder's tokenizer.json without truncation and padding (or what it would
be, where a folder has the older vocab.json and merges.txt), and `specials`, the id of each role. So a vocabulary is
bytes, as a SentencePiece model is, and a checkpoint needs no second file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from models.json_file import MORE, read_object
from models.tokenization.contract import SENTENCE_BEGIN, SPACE, Specials

CONFIG = "config.json"
TOKENIZER, VOCABULARY, MERGES = "tokenizer.json", "vocab.json", "merges.txt"
_ADDED, _SETTINGS = "added_tokens.json", "tokenizer_config.json"
# Where a folder names its special pieces; the first that names one counts.
_NAMES = ("special_tokens_map.json", _SETTINGS)
_WITHIN = "##"  # begins a WordPiece that is not a word's first


class HuggingFaceTokenizer:
    """A byte-level BPE, BERT's WordPiece, or a BPE or Unigram model that writes spaces as U+2581."""

    def __init__(self, document: bytes) -> None:
        """Read what `document_of` writes. Raises ValueError: it is not such a document, or of another tokenizer."""
        try:
            record = json.loads(document)
            self.specials = Specials(**record["specials"])
            self._tokenizer = _opened(record["tokenizer"])
            model = record["tokenizer"]["model"]["type"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"expected a tokenizer as tokenizer.json describes it, but {error}") from error
        # Ids of each pool of `models.value_slots`, one after another; none = it has no slots.
        self.slots: list[list[int]] = []
        self._bytes = "ByteLevel" in _types(record["tokenizer"])
        self._wordpiece = _is_wordpiece(record["tokenizer"])
        self.kind = f"byte-level {model}" if self._bytes else str(model)
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        colon = self._tokenizer.token_to_id(":")
        self.title_mark: int = self.encode([":"])[0][-1] if colon is None else colon
        # Added pieces are not looked for in texts (`_opened`), but a model may spell a mark by its own rules.
        self.forgeable = self.specials.marks

    def encode(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the ids of each text, in which any white space is a single space, as in SentencePiece's rule. A
        byte-level text gets a space before it, as SentencePiece does it: otherwise a word would have other pieces at
        the beginning of a summary than within its sources, and could not be copied."""
        # One after another: the library's own threads would outlive a fork and serve one shard among many.
        return [self._tokenizer.encode(self._spaced(text), add_special_tokens=False).ids for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=False).removeprefix(" ")

    def piece(self, id_: int) -> str:
        """Return the piece of an id."""
        piece = self._tokenizer.id_to_token(id_)
        if piece is None:  # ids may have holes
            return ""
        if self._wordpiece and id_ not in self.specials.marks:
            return piece.removeprefix(_WITHIN) if piece.startswith(_WITHIN) else SPACE + piece
        if not self._bytes or any(character not in _BYTE_OF for character in piece):
            return piece  # an added piece is written as it is
        # Bytes of an incomplete character arrive as lone surrogates.
        text = bytes(_BYTE_OF[character] for character in piece).decode("utf-8", "surrogateescape")
        return "".join(f"<0x{ord(c) - 0xDC00:02X}>" if "\udc80" <= c <= "\udcff" else c for c in text).replace(
            " ", SPACE
        )

    def _spaced(self, text: str) -> str:
        words = " ".join(text.split())
        return f" {words}" if self._bytes and words else words


def read_tokenizer(folder: Path) -> bytes:
    """Return the document of a folder's tokenizer.

    Pieces are found by the names that the folder gives them (special_tokens_map.json, tokenizer_config.json), else by
    BART's, or of WordPiece by BERT's. The decoder starts from `decoder_start_token_id` of config.json, else from the
    begin piece; where both are given and differ, as in BART, targets continue with the begin piece. Raises ValueError:
    the folder has neither tokenizer.json nor vocab.json and merges.txt, a file is not a JSON object, the tokenizer is
    of an unknown kind, or a piece is missing or has another id in config.json. A causal model's pieces may have other
    ids in config.json, which is about plain text and not about a dialogue."""
    file, described = described_tokenizer(folder)
    config = read_object(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    roles = _roles(described)
    names = _names_in(folder, roles)
    try:
        tokenizer = _opened(described)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    ids = {role: tokenizer.token_to_id(names[role]) for role in roles}
    if is_causal(config):
        return document_of(described, _causal_specials(file, described, names["eos"], ids))
    for role in ("pad", "eos"):
        if ids[role] is None:
            raise ValueError(f"{file}: expected a piece {names[role]!r} ({role}), which the folder's files name")
    for role in ("pad", "bos", "eos"):
        configured = config.get(f"{role}_token_id")
        if configured is not None and configured != ids[role]:
            raise ValueError(
                f"{folder / CONFIG}: {role}_token_id is {configured}, expected {ids[role]}, the id of {names[role]!r} "
                f"in {file.name}: tokenizer and model do not belong together"
            )
    return document_of(described, _specials(ids, config.get("decoder_start_token_id")))


def is_causal(config: Mapping[str, Any]) -> bool:
    """Whether a config.json is that of a causal language model."""
    return any(str(name).endswith("ForCausalLM") for name in config.get("architectures") or ())


def document_of(described: Mapping[str, Any], specials: Specials) -> bytes:
    """Return the document of a tokenizer, given the object in its tokenizer.json and the ids of its special pieces."""
    kept = {**described, "truncation": None, "padding": None}
    document = {"tokenizer": kept, "specials": {k: v for k, v in asdict(specials).items() if v is not None}}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def add_sentence_begin(document: bytes) -> bytes:
    """Return a document in which `[BOS]` begins a sentence: an added piece behind the last one, or the one that the
    tokenizer has by this name. Of WordPiece it is `[CLS]`, before which `[SEP]` ends the sentence before."""
    record = json.loads(document)
    if _is_wordpiece(record["tokenizer"]):
        own = Specials(**record["specials"])
        own = replace(own, sentence_begin=own.source_begin, sentence_end=own.source_end)
        return document_of(record["tokenizer"], own)
    tokenizer = _opened(record["tokenizer"])
    tokenizer.add_special_tokens([SENTENCE_BEGIN])
    specials = replace(Specials(**record["specials"]), sentence_begin=tokenizer.token_to_id(SENTENCE_BEGIN))
    return document_of(json.loads(tokenizer.to_str()), specials)


def is_document(model: bytes) -> bool:
    """Whether the bytes of a vocabulary are a document and not a SentencePiece model."""
    return model[:1] == b"{"


def tokenizer_files(document: bytes) -> dict[str, bytes]:
    """Return the files, by name, that a folder has for this tokenizer; `read_tokenizer` then returns the document."""
    record = json.loads(document)
    tokenizer, ids = _opened(record["tokenizer"]), record["specials"]
    roles = _roles(record["tokenizer"])
    own = {"pad": "pad", "unk": "unk", "bos": "source_begin", "eos": "end", "mask": "mask"}
    names = {roles[role][0]: tokenizer.id_to_token(ids[name]) for role, name in own.items() if name in ids}
    settings = {**names, "tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    written = {TOKENIZER: record["tokenizer"], _NAMES[0]: names, _NAMES[1]: settings}
    return {name: json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n" for name, value in written.items()}


def _specials(ids: Mapping[str, int | None], start: int | None) -> Specials:
    pad, end = ids["pad"], ids["eos"]
    assert pad is not None and end is not None
    bos = ids["bos"]
    begin = start if start is not None else bos if bos is not None else end
    rest = {"mask": ids["mask"], "separator": ids["separator"]}
    return Specials(pad, begin, end, ids["unk"], bos, end, bos if begin != bos else None, **rest)


def _causal_specials(file: Path, described: Mapping[str, Any], eos: str, ids: Mapping[str, int | None]) -> Specials:
    """Return the specials of a causal model: its request has the marks of the chat template, and the end token stands
    for what its answer begins after. Many have no padding, or pad with the end: then it is a special piece that no
    answer has, the unknown one or the last that was added."""
    end = ids["eos"]
    if end is None:
        raise ValueError(f"{file}: expected a piece {eos!r} (eos), which the folder's files name")
    added = [piece["id"] for piece in described.get("added_tokens") or () if piece.get("special")]
    others = [id_ for id_ in (ids["pad"], ids["unk"], *reversed(added)) if id_ not in (None, end, ids["bos"])]
    if not others:
        raise ValueError(f"{file}: expected a special piece besides {eos!r} for padding, found none")
    pad = others[0]
    assert pad is not None
    return Specials(pad=pad, begin=end, end=end, unk=None if ids["unk"] == pad else ids["unk"])


def _names_in(folder: Path, roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the name of each role's piece."""
    given: dict[str, Any] = {}
    for name in reversed(_NAMES):
        if (folder / name).is_file():
            given |= read_object(folder / name)
    names = {}
    for role, (field, usual) in roles.items():
        value = given.get(field)
        value = value.get("content") if isinstance(value, dict) else value
        names[role] = value if isinstance(value, str) else usual
    return names


def _opened(described: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer that an object of tokenizer.json describes; it takes no text for a special piece."""
    try:
        tokenizer = Tokenizer.from_str(json.dumps(described))
    except Exception as error:
        raise ValueError(f"the library tokenizers cannot read it: {error}") from error
    kinds = _types(described)
    if not kinds & {"ByteLevel", "Metaspace", "WordPiece"}:
        raise ValueError(
            f"expected a byte-level tokenizer, WordPiece, or one that writes spaces as {SPACE} (ByteLevel, WordPiece, "
            f"Metaspace), found {', '.join(sorted(kinds)) or 'none of them'}"
        )
    tokenizer.encode_special_tokens = True
    return tokenizer


def _is_wordpiece(described: Mapping[str, Any]) -> bool:
    return "WordPiece" in _types(described)


def _roles(described: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Return the field and the usual name of each role's piece in the files of such a tokenizer's folder."""
    roles: Mapping[str, Sequence[str]] = MORE["roles"]["wordpiece" if _is_wordpiece(described) else "bart"]
    return roles


def _types(described: Mapping[str, Any]) -> set[str]:
    """Return the types of what comes before and after the model: pre-tokenizers and decoders, nested ones included."""
    results: set[str] = set()
    waiting = [described.get("pre_tokenizer"), described.get("decoder")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            results.add(str(part.get("type")))
            waiting += [*part.get("pretokenizers", []), *part.get("decoders", [])]
    return results - {"Sequence"}


# Character -> byte of byte-level BPE: printable bytes stand for themselves, others for U+0100 and on.
_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = (byte for byte in range(256) if byte not in _PRINTABLE)
_BYTE_OF = {chr(b): b for b in _PRINTABLE} | {chr(0x100 + n): b for n, b in enumerate(_OTHERS)}


def described_tokenizer(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the tokenizer of a folder as tokenizer.json describes it, and the file that is to blame for its faults.
    Without a tokenizer.json it is made from vocab.json and merges.txt, the byte-level BPE of GPT-2, RoBERTa and BART,
    with the same ids as transformers gives; pieces that added_tokens.json or tokenizer_config.json add are added.
    Raises ValueError: neither is there, a file is not a JSON object, the pieces and merges do not belong together, or
    an added piece cannot have its id."""
    file = folder / TOKENIZER
    if file.is_file():
        return file, read_object(file)
    pieces, merges = folder / VOCABULARY, folder / MERGES
    if not (pieces.is_file() and merges.is_file()):
        result = next((f"only {file.name}" for file in (pieces, merges) if file.is_file()), "none of them")
        raise ValueError(
            f"{folder}: expected a {TOKENIZER} in it, the file of a fast tokenizer, or {VOCABULARY} and {MERGES}, "
            f"found {result}"
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
    if (folder / _SETTINGS).is_file():
        listed = read_object(folder / _SETTINGS).get("added_tokens_decoder", {})
        added |= {int(id_): piece["content"] for id_, piece in listed.items()}
    return added
