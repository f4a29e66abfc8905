"""The subword vocabulary of a corpus, read from its table."""

import pyarrow as pa

from models.tokenization.contract import TextForm
from models.vocabulary import Vocabulary


def read_vocabulary(vocabulary: pa.Table | Vocabulary, form: TextForm = "plain") -> Vocabulary:
    """Return the vocabulary in a VOCABULARY table, or the given one, with the pieces that a form of text needs."""
    words = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary["model"][0].as_py())
    return words.in_form(form)
