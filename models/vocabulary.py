"""The subword vocabulary that titles, paragraphs and summaries share (Liu & Lapata 2019, sec. 4): a SentencePiece
model, or the tokenizer of a Hugging Face model."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from models.tokenization import huggingface_tokenizer, sentencepiece_model
from models.tokenization.contract import TextForm
from models.tokenization.huggingface_tokenizer import HuggingFaceTokenizer, is_document
from models.tokenization.sentencepiece_model import SentencePieceTokenizer


class Vocabulary:
    """Turns text into token ids, 0 to V - 1, and back; equal to another vocabulary of the same bytes."""

    def __init__(self, model: bytes) -> None:
        """Read a serialized model. Raises ValueError: the bytes are neither a SentencePiece model nor the document of a
        tokenizer, or a special piece is missing."""
        kind = HuggingFaceTokenizer if is_document(model) else SentencePieceTokenizer
        self._tokenizer: HuggingFaceTokenizer | SentencePieceTokenizer = kind(model)
        self.model = model
        self.kind = self._tokenizer.kind  # in words
        self.size = self._tokenizer.size  # V
        self.specials = self._tokenizer.specials
        # Ids of special pieces; None = no such piece.
        self.pad, self.begin, self.end = self.specials.pad, self.specials.begin, self.specials.end
        self.unk = self.specials.unk  # None if any text can be spelt
        self.paragraph_mark, self.sentence_mark = self.specials.paragraph_mark, self.specials.sentence_mark
        self.sentence_begin = self.specials.sentence_begin
        # `<T>`, or where no piece was made for it a colon, which is how a language model has seen titles.
        self.title_mark = self._tokenizer.title_mark
        # Ids of each pool of slots; if there are any, values are to be given slots before a text is encoded.
        self.slots = self._tokenizer.slots
        self._marks = self.specials.marks

    @classmethod
    def from_file(cls, path: str | Path) -> "Vocabulary":
        """Read a model file, as a checkpoint directory holds it; raises OSError, else as the class does."""
        return cls(Path(path).read_bytes())

    @classmethod
    def of(cls, given: "pa.Table | Vocabulary", form: TextForm = "plain") -> "Vocabulary":
        """Return the vocabulary of a VOCABULARY table, or the given one, with the pieces that a form of text needs."""
        own = given if isinstance(given, Vocabulary) else cls(given["model"][0].as_py())
        return own.in_form(form)

    @property
    def digest(self) -> str:
        """SHA-256 of the serialized model, hex."""
        return hashlib.sha256(self.model).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[bytes]]:
        return Vocabulary, (self.model,)

    @property
    def target_start(self) -> tuple[int, ...]:
        """The ids that every target begins with: `begin`, and in BART's vocabulary `<s>` after it."""
        follows = self.specials.target_begin
        return (self.begin,) if follows is None else (self.begin, follows)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, never special tokens, even if the text contains their names."""
        return self.encode_batch([text])[0]

    def has_word(self, word: str) -> bool:
        """Whether a word is one piece."""
        return len(self.encode(word)) == 1

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Return the token ids of each text, as `encode` does."""
        batch, forgeable = self._tokenizer.encode(texts), self._tokenizer.forgeable
        return [[id_ for id_ in ids if id_ not in forgeable] for ids in batch] if forgeable else batch

    def encode_paragraphs(self, paragraphs: Iterable[Sequence[str]]) -> list[list[int]]:
        """Return the token ids of each paragraph, given as its sentences: `sentence_begin` is before each of those that
        have any token, and `sentence_end` before that, if the vocabulary has them."""
        mark = [id_ for id_ in (self.specials.sentence_end, self.sentence_begin) if id_ is not None]
        return [[id_ for ids in self.encode_batch(p) if ids for id_ in (*mark, *ids)] for p in paragraphs]

    def in_form(self, form: TextForm) -> "Vocabulary":
        """Return this vocabulary with the pieces that a form of text needs behind its last, which no text is spelt with
        (`sentence_begin`: `[BOS]`, or of WordPiece its own `[CLS]`); other ids are as before. Raises ValueError: a
        piece of text is spelt as one of them, or the vocabulary cannot have slots."""
        if form == "slots" and not self.slots:
            if is_document(self.model):
                raise ValueError(f"slots for values need a SentencePiece vocabulary, got one of {self.kind}")
            return Vocabulary(sentencepiece_model.add_slots(self.model))
        if form == "sentences" and self.sentence_begin is None:
            kind = huggingface_tokenizer if is_document(self.model) else sentencepiece_model
            return Vocabulary(kind.add_sentence_begin(self.model))
        return self

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids, padding and marks left out. Raises ValueError: an id is unknown."""
        self._check(ids)
        return self._tokenizer.decode([int(id_) for id_ in ids if id_ not in self._marks])

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the piece of each id; a word's first begins with U+2581. Raises ValueError: an id is unknown."""
        self._check(ids)
        return [self._tokenizer.piece(int(id_)) for id_ in ids]

    def _check(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            if not 0 <= id_ < self.size:
                raise ValueError(f"token id {id_} is not in the vocabulary of {self.size} pieces")
