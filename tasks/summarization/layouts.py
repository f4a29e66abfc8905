"""How much of an example a summarizer reads, by its settings."""

from models.registry import fields_of
from models.training.layout import Layout
from models.vocabulary import Vocabulary
from tasks.summarization.settings import SummarizerSettings


def layout_of(settings: SummarizerSettings, vocabulary: Vocabulary) -> Layout:
    """Return the layout of examples for a summarizer. Tokens that the summarizer would cut off itself are already left
    out here, so that they take no space in a batch."""
    # Architectures pre-trained with marks around a source say whether one is before each paragraph.
    fields = fields_of(settings.preset, settings.overrides)
    begins_each = fields.get("document_begin")
    limits = (settings.max_source_tokens, fields.get("source_tokens"))
    specials = vocabulary.specials
    return Layout(
        pad=vocabulary.pad,
        title_mark=vocabulary.title_mark,
        source_begin=None if begins_each is None else specials.source_begin,
        source_end=None if begins_each is None else specials.source_end,
        begins_each=bool(begins_each),
        separator=specials.separator if begins_each and "separator" in fields else None,
        shared_limit=settings.truncation == "each",
        max_paragraphs=settings.max_paragraphs,
        max_paragraph_tokens=settings.max_paragraph_tokens,
        max_source_tokens=min((limit for limit in limits if limit is not None), default=None),
        max_target_tokens=settings.max_target_tokens,
        graph=settings.graph != "none",
    )
