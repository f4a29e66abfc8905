"""The subword vocabulary of a corpus, read from its table."""

import pyarrow as pa

from models.vocabulary import Vocabulary


def read_vocabulary(vocabulary: pa.Table | Vocabulary, *, sentences: bool = False) -> Vocabulary:
    """Return the vocabulary in a VOCABULARY table, or the given one; `sentences` adds a piece that begins one."""
    words = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary["model"][0].as_py())
    return words.with_sentence_begin() if sentences else words
