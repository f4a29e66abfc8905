"""What tokenizers of both libraries have: roles of special pieces, and forms of text."""

from dataclasses import dataclass
from typing import Literal, get_args

SPACE = "\u2581"  # begins a word's first piece, as SentencePiece writes it
SENTENCE_BEGIN = "[BOS]"  # Akiyama et al. 2021, sec. 3.1
# How a summarizer reads text: as it is, with a mark before each sentence (Akiyama et al. 2021), or values as slots.
TextForm = Literal["plain", "sentences", "slots"]
FORMS: tuple[TextForm, ...] = get_args(TextForm)


@dataclass(frozen=True)
class Specials:
    """The ids of special pieces by their role; None for a role that a tokenizer has not. Roles may share an id."""

    pad: int  # padding
    begin: int  # what the decoder starts from
    end: int  # the end of a summary
    unk: int | None = None  # text that no piece spells
    source_begin: int | None = None  # around a source, for architectures that were trained with them
    source_end: int | None = None
    target_begin: int | None = None  # what follows `begin` in a target (BART's `<s>`)
    title_mark: int | None = None  # these three end a title, a paragraph and a sentence in flat inputs
    paragraph_mark: int | None = None
    sentence_mark: int | None = None
    mask: int | None = None  # what stands for hidden text in denoising (Lewis et al. 2020)
    separator: int | None = None  # is between documents (PRIMERA's `<doc-sep>`)
    # begins each sentence of a source, for heads that see sentences (Akiyama et al. 2021); a piece that is added for
    # them (`Vocabulary.in_form`), or BERT's `[CLS]`
    sentence_begin: int | None = None
    sentence_end: int | None = None  # is before that piece, and so ends the sentence before (BERT's `[SEP]`)

    @property
    def marks(self) -> frozenset[int]:
        """The ids that spell no text; the unknown piece, which stands for some, is not among them."""
        ids: dict[str, int | None] = vars(self)
        return frozenset(id_ for role, id_ in ids.items() if role != "unk" and id_ is not None)
