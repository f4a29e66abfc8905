"""How much of an example a summarizer reads, by its settings."""

from typing import Any

from models.causal_folder import FAMILIES, folder_fields
from models.presets import find_preset
from models.registry import fields_of
from models.training.layout import Layout
from models.vocabulary import Vocabulary
from tasks.summarization.settings import SummarizerSettings


def layout_of(settings: SummarizerSettings, vocabulary: Vocabulary) -> Layout:
    """Return the layout of examples for a summarizer. Tokens that the summarizer would cut off itself are already left
    out here, so that they take no space in a batch."""
    # Architectures pre-trained with marks around a source say whether one is before each paragraph.
    fields = {**fields_of(settings.preset, settings.overrides), **causal_fields(settings, vocabulary)}
    begins_each = fields.get("document_begin")
    limits = (settings.max_source_tokens, fields.get("source_tokens"))
    specials = vocabulary.specials
    return Layout(
        pad=vocabulary.pad,
        title_mark=None if "before_title" in fields else vocabulary.title_mark,
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


def causal_fields(settings: SummarizerSettings, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the fields of the configuration that a causal model's folder decides; none for other summarizers. Raises
    ValueError: the folder has no such model, or one of another family than the preset."""
    if settings.pretrained is None or find_preset(settings.preset).architecture != "causal":
        return {}
    lengths = {"paragraph": settings.max_paragraph_tokens, "summary": settings.max_target_tokens}
    found = folder_fields(settings.pretrained, vocabulary, **lengths)
    if (preset := FAMILIES[found["family"]]) != settings.preset:
        raise ValueError(
            f"summarizer.pretrained is {settings.pretrained!r}, of model_type {found['family']!r}: expected "
            f"summarizer.preset {preset!r}, got {settings.preset!r}"
        )
    limit = min(settings.overrides.get("source_tokens", found["source_tokens"]), found["source_tokens"])
    found |= {**settings.overrides, "source_tokens": limit}
    return found if found["lora_rank"] else {**found, "folder": None}
