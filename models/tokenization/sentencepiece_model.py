"""A SentencePiece model with the special pieces of the released WikiSum vocabulary (Liu & Lapata 2019)."""

import re
import struct
import unicodedata
from collections.abc import Iterable, Sequence

import sentencepiece

from models.tokenization.contract import SENTENCE_BEGIN, SPACE, Specials
from models.value_slots import POOLS, SLOTS

PAD, UNK, BEGIN, END = "<PAD>", "<unk>", "<S>", "</S>"
_CONTROL, _USER_DEFINED = 3, 4  # kinds of pieces: no text is spelt with the first; texts never divide the second
TITLE_MARK, PARAGRAPH_MARK, SENTENCE_MARK = "<T>", "<P>", "<Q>"
_PIECES = {"pad": PAD, "begin": BEGIN, "end": END, "unk": UNK}
_PIECES |= {"title_mark": TITLE_MARK, "paragraph_mark": PARAGRAPH_MARK, "sentence_mark": SENTENCE_MARK}


class SentencePieceTokenizer:
    """Special pieces are looked up by name, so that a vocabulary trained here (ids 0 to 6) and an imported one (where 0
    is `<unk>` and 6 is `<PAD>`) both work. The tokens for begin and end of a summary also enclose sources."""

    def __init__(self, model: bytes) -> None:
        """Read a serialized model. Raises ValueError: it is none of SentencePiece, or lacks a special piece."""
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise ValueError(f"expected a serialized SentencePiece model, got {len(model)} other bytes") from error
        self.kind = "SentencePiece"
        self.size: int = self._processor.get_piece_size()
        ids = {role: self._special(piece) for role, piece in _PIECES.items()}
        begin, end = ids["begin"], ids["end"]
        self.specials = Specials(**ids, source_begin=begin, source_end=end, sentence_begin=self._sentence_begin())
        self.title_mark = ids["title_mark"]
        slots = [[f"{SPACE}{letter}" for letter in pool] for pool in POOLS]
        has_slots = self._processor.id_to_piece(self._processor.piece_to_id(slots[0][0])) == slots[0][0]
        self.slots = [[self._processor.piece_to_id(slot) for slot in pool] for pool in slots] if has_slots else []
        # If a model declares a mark as a user-defined symbol, a page with the mark in its text would forge it.
        self.forgeable = frozenset(mark for mark in self.specials.marks if not self._processor.is_control(mark))

    def encode(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the ids of each text."""
        ids: list[list[int]] = self._processor.encode(list(map(keep_values, texts)), num_threads=1)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        text: str = self._processor.decode(list(ids))
        return text

    def piece(self, id_: int) -> str:
        """Return the piece of an id."""
        piece: str = self._processor.id_to_piece(id_)
        return piece

    def _sentence_begin(self) -> int | None:
        id_: int = self._processor.piece_to_id(SENTENCE_BEGIN)
        added = self._processor.id_to_piece(id_) == SENTENCE_BEGIN and self._processor.is_control(id_)
        return id_ if added else None

    def _special(self, piece: str) -> int:
        """Return the id of a required piece."""
        id_: int = self._processor.piece_to_id(piece)  # an absent piece gets the id of the unknown piece
        if self._processor.id_to_piece(id_) != piece:
            raise ValueError(f"the SentencePiece model has no piece {piece!r}, which marks structure in WikiSum texts")
        return id_


_RAISED = re.compile(r"(?<=[^\W_⁰¹²³⁴⁵⁶⁷⁸⁹])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FRACTION = re.compile(r"(\d?)([¼½¾⅐-⅞])")


def keep_values(text: str) -> str:
    """Return text in which NFKC, the rule of most models for characters, changes no value: "10³⁰" is "10^30" and not
    "1030", and "12½" is "12 1/2" and not "121⁄2"."""
    if text.isascii():
        return text
    text = _RAISED.sub(lambda above: f"^{unicodedata.normalize('NFKC', above[0])}", text)
    return _FRACTION.sub(_fraction, text)


def _fraction(match: re.Match[str]) -> str:
    written = unicodedata.normalize("NFKC", match[2]).replace("⁄", "/")
    return f"{match[1]} {written}" if match[1] else written


def add_sentence_begin(model: bytes) -> bytes:
    """Return a model with one more piece, `[BOS]`, behind its last. Raises ValueError: a piece of text is spelt so."""
    return _with_pieces(model, [SENTENCE_BEGIN], _CONTROL)


def add_slots(model: bytes) -> bytes:
    """Return a model with a piece for each slot behind its last. Raises ValueError: a piece of text is spelt so."""
    return _with_pieces(model, [f"{SPACE}{letter}" for letter in SLOTS], _USER_DEFINED)


def _with_pieces(model: bytes, added: Iterable[str], kind: int) -> bytes:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    for text in added:
        if processor.id_to_piece(processor.piece_to_id(text)) == text:
            raise ValueError(f"expected a SentencePiece model without a piece {text!r} of text: it is a mark")
        # Messages of protocol buffers are joined by joining their bytes: to the repeated field 1, the pieces, this adds
        # one with its text (field 1), score (2) and kind (3).
        spelt = text.encode()
        piece = b"\x0a" + bytes([len(spelt)]) + spelt + b"\x15" + struct.pack("<f", 0.0) + b"\x18" + bytes([kind])
        model += b"\x0a" + bytes([len(piece)]) + piece
    return model
