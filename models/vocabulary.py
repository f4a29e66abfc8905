"""The subword vocabulary that titles, paragraphs and summaries share (Liu & Lapata 2019, sec. 4): a SentencePiece
model.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece

PAD, UNK, BEGIN, END = "<PAD>", "<unk>", "<S>", "</S>"
TITLE_MARK, PARAGRAPH_MARK, SENTENCE_MARK = "<T>", "<P>", "<Q>"


class Vocabulary:
    """Turns text into token ids and back.

    The special pieces have the names of the released WikiSum vocabulary and are looked up by name, so that a vocabulary
    trained here (ids 0 to 6) and an imported one (where 0 is `<unk>` and 6 is `<PAD>`) both work.

    Attributes:
        model: the serialized SentencePiece model.
        size: number of pieces V; ids run from 0 to V - 1.
        pad, unk, begin, end: ids of padding, the unknown piece, and begin and end of a summary.
        title_mark, paragraph_mark, sentence_mark: ids of the pieces that end a title, a paragraph and a sentence in
            flat inputs.
    """

    def __init__(self, model: bytes) -> None:
        """Read a serialized SentencePiece model.

        Raises:
            ValueError: the bytes are not a SentencePiece model, or it lacks a special piece.
        """
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise ValueError(f"expected a serialized SentencePiece model, got {len(model)} other bytes") from error
        self.model = model
        self.size: int = self._processor.get_piece_size()
        self.pad = self._special(PAD)
        self.unk = self._special(UNK)
        self.begin = self._special(BEGIN)
        self.end = self._special(END)
        self.title_mark = self._special(TITLE_MARK)
        self.paragraph_mark = self._special(PARAGRAPH_MARK)
        self.sentence_mark = self._special(SENTENCE_MARK)
        marks = {self.pad, self.begin, self.end, self.title_mark, self.paragraph_mark, self.sentence_mark}
        self._marks = frozenset(marks)
        # If a model declares a mark as a user-defined symbol, a page with the mark in its text would forge it.
        self._forgeable = frozenset(mark for mark in marks if not self._processor.is_control(mark))

    @classmethod
    def from_file(cls, path: str | Path) -> "Vocabulary":
        """Read a model file, as a checkpoint directory holds it; raises OSError, else as the class does."""
        return cls(Path(path).read_bytes())

    @property
    def digest(self) -> str:
        """SHA-256 of the serialized model, hex."""
        return hashlib.sha256(self.model).hexdigest()

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[bytes]]:
        return Vocabulary, (self.model,)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, never special tokens, even if the text contains their names."""
        return self._without_forged(self._processor.encode(text))

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the token ids of each text, as `encode` does."""
        batch = self._processor.encode(list(texts), num_threads=1)
        return [self._without_forged(ids) for ids in batch] if self._forgeable else batch

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids; padding and marks are left out.

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        self._check(ids)
        text: str = self._processor.decode([int(id_) for id_ in ids if id_ not in self._marks])
        return text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the piece of each token id; a word's first piece begins with U+2581.

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        self._check(ids)
        return [self._processor.id_to_piece(int(id_)) for id_ in ids]

    def _special(self, piece: str) -> int:
        """Return the id of a required piece."""
        id_: int = self._processor.piece_to_id(piece)  # an absent piece gets the id of the unknown piece
        if self._processor.id_to_piece(id_) != piece:
            raise ValueError(f"the SentencePiece model has no piece {piece!r}, which marks structure in WikiSum texts")
        return id_

    def _check(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            if not 0 <= id_ < self.size:
                raise ValueError(f"token id {id_} is not in the vocabulary of {self.size} pieces")

    def _without_forged(self, ids: list[int]) -> list[int]:
        if not self._forgeable:
            return ids
        return [id_ for id_ in ids if id_ not in self._forgeable]
