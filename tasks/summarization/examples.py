"""The examples stage: input and target of summarizers, as token ids. The target may have only the supported sentences
of a lead.

Training on the others teaches to invent values (Nan et al. 2021). The sentence that defines the subject has most values
and is often among them. Then the next one begins with a pronoun for nobody, and a summarizer would learn this. So the
first learned sentence gets the name of the subject instead."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from models.causal_folder import FAMILIES, folder_fields
from models.presets import find_preset
from models.registry import fields_of
from models.search.source_values import value_pieces
from models.sentences import split_sentences
from models.tokenization.contract import TextForm
from models.training.layout import ExampleTable, Layout
from models.value_slots import NO_SLOTS, ValueSlots, fill
from models.values import ValueIndex
from models.vocabulary import Vocabulary
from storage.schemas import EXAMPLES
from tasks.engine.data_files import read_data
from tasks.engine.grouping import join_by_article
from tasks.evaluation.citations import ValueSupport
from tasks.summarization.settings import ExampleSettings, SummarizerSettings
from tasks.text.content_words import names_subject, subject_of, words_of

# Words with "the" for the subject in English leads, besides those of its definition.
_KINDS = frozenset(read_data("tasks.text", "words.toml")["kinds"])
_PRONOUN = re.compile(r"(?:he|she|they|it(?! (?:is|was) \w+ that\b))(?= )", re.IGNORECASE)
_KIND = re.compile(r"the ([a-z]+)(?= [a-z]+)", re.IGNORECASE)
_NAME = re.compile(r"(?:the )?([^\s,;:()]+(?: [^\s,;:()]+){0,6}?)(?= [a-z])")


def supported_sentences(title: str, lead: str, paragraphs: Sequence[str]) -> list[str]:
    """Return the sentences of a lead whose names, numbers and dates all occur in the title or the paragraphs, the first
    of them with the name of the subject if another word stood for it."""
    context, shown = ValueIndex([title, *paragraphs, lead]), ValueIndex([title, *paragraphs])
    support = ValueSupport(title, context)
    sentences = split_sentences(lead)
    kept = [line for line in sentences if all(value in shown for value in support.values(line))]
    return [name_subject(kept[0], title, sentences[0]), *kept[1:]] if kept else []


def name_subject(sentence: str, title: str, definition: str) -> str:
    """Return a sentence of a lead with the subject's name instead of the words that refer to it at the beginning, or
    after the first comma. These are a pronoun, a part of the name, or "the" and a word for its kind. It is unchanged if
    it names the subject, or if no word there refers to the subject. The definition, the lead's first sentence, says of
    what kind the subject is, and whether its name has "the"."""
    if names_subject(sentence, title):
        return sentence
    name = subject_of(title)
    if definition.casefold().startswith(f"the {name.casefold()}"):
        name = f"the {name}"
    clause, comma, _ = sentence.partition(", ")
    for start in (0, len(clause) + len(comma)) if comma else (0,):
        if length := _stands_for(sentence[start:], name, definition):
            written = name if start else name[:1].upper() + name[1:]
            return f"{sentence[:start]}{written}{sentence[start + length :]}"
    return sentence


def _stands_for(text: str, name: str, definition: str) -> int:
    """Return how many characters at the beginning of a text stand for the subject, 0 for none."""
    if match := _PRONOUN.match(text):
        return match.end()
    if (match := _KIND.match(text)) and (match[1] in _KINDS or match[1] in words_of(definition)):
        return match.end()
    if (match := _NAME.match(text)) and match[1][0].isupper():
        words = words_of(match[1])
        if f" {' '.join(words)} " in f" {' '.join(words_of(name))} ":
            return match.end()
    return 0


TITLE_TOKENS = 64  # kept of a title: hardly one is longer, and a summarizer reads at most its first paragraph of it


def build_examples(
    articles: pa.Table,  # ARTICLES rows of a shard, sorted by article_id
    ranked: pa.Table,  # RANKED rows of the shard, sorted by article_id and rank
    vocabulary: pa.Table | Vocabulary,
    settings: ExampleSettings,
    *,
    form: TextForm = "plain",  # of texts; that of a vocabulary which has its pieces, whatever is asked
    # the summarizer whose reading decides what supports a sentence; None = all that is kept here is read
    read: SummarizerSettings | None = None,
) -> pa.Table:
    """Return the EXAMPLES row of every kept article that has ranked paragraphs with any token. Paragraph i of `source`
    is the one of rank i, an empty list if it has no token, so that ranks and graph nodes still match. A cut paragraph
    ends with a whole word, and not with a number that may be incomplete. With `supported_by` an article of the training
    or validation split without a supported sentence has no row. Raises ValueError: a table is not sorted."""
    vocabulary = Vocabulary.of(vocabulary, form)
    layout = None if read is None else layout_of(read, vocabulary)
    kept = articles.filter(pc.is_null(articles["drop_reason"])).select(["article_id", "split", "title", "lead"])
    used = ranked.select(["article_id", "rank", "text"])
    known = lru_cache(maxsize=None)(vocabulary.has_word)
    batches = []
    for article, rows, best in join_by_article(kept, used):
        if best["rank"].to_pylist() != list(range(len(best))):
            raise ValueError(f"the ranked paragraphs of article {article} are not in order of rank")
        title, lead, split = (rows[name][0].as_py() or "" for name in ("title", "lead", "split"))
        texts = best["text"].to_pylist()
        slots = ValueSlots(title, texts, known) if vocabulary.slots else NO_SLOTS
        cut = list(map(slots.cut, texts))
        marked = vocabulary.sentence_begin is not None  # sentences are, each by a mark before it
        encoded = vocabulary.encode_paragraphs(map(split_sentences, cut)) if marked else vocabulary.encode_batch(cut)
        source = [_cut(ids, settings.paragraph_tokens, vocabulary) for ids in encoded]
        if not any(source):
            continue
        learned = lead
        if settings.supported_by is not None and split != "test":
            shown = _shown(slots.cut(title), source[: settings.supported_by], vocabulary, layout)
            shown = [fill(text, slots.values) for text in shown]
            learned = " ".join(supported_sentences(title, lead, shown))
            if not learned:
                continue
        target = [*vocabulary.target_start, *vocabulary.encode(slots.cut(learned)), vocabulary.end]
        example = {
            "article_id": article,
            "split": split,
            "title": vocabulary.encode(slots.cut(title))[:TITLE_TOKENS],
            "source": source,
            "slots": [{"slot": slot, "text": text} for slot, text in slots.values.items()],
            "target": target[: settings.target_tokens],
            "title_text": title,
            "target_text": lead,
        }
        batches.append(pa.RecordBatch.from_pylist([example], schema=EXAMPLES.schema))
    return pa.Table.from_batches(batches, schema=EXAMPLES.schema).combine_chunks()


def _cut(ids: list[int], most: int, vocabulary: Vocabulary) -> list[int]:
    """Return the ids of a paragraph, at most so many; a word too long to be left out whole stays cut."""
    if len(ids) <= most:
        return ids
    pieces = value_pieces(vocabulary)
    whole = pieces.uncut(ids[:most])
    return whole if any(pieces.is_word[id_] for id_ in whole) else ids[:most]


def _shown(title: str, source: list[list[int]], vocabulary: Vocabulary, layout: Layout | None) -> list[str]:
    """Return the texts that a summarizer reads of paragraphs, without the unfinished rest of a cut."""
    if layout is None:
        return [vocabulary.decode(ids) for ids in source]
    row = {"title": vocabulary.encode(title)[:TITLE_TOKENS], "source": source, "target": [vocabulary.begin] * 2}
    fields = [EXAMPLES.schema.field(name) for name in row]
    table = pa.Table.from_pylist([row], schema=pa.schema(fields))
    pieces = value_pieces(vocabulary)
    paragraphs = ExampleTable(table, replace(layout, graph=False)).example(0).paragraphs
    together = sum(map(len, paragraphs))
    return [
        text
        for paragraph in paragraphs
        for text in pieces.texts(
            pieces.uncut(paragraph.tolist()) if layout.may_be_cut(len(paragraph), together) else paragraph.tolist()
        )
    ]


def slots_of(examples: pa.Table) -> list[dict[str, str]]:
    """Return what each slot stands for in each row of examples."""
    return [{pair["slot"]: pair["text"] for pair in pairs or ()} for pairs in examples.column("slots").to_pylist()]


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
    result = folder_fields(settings.pretrained, vocabulary, **lengths)
    if (preset := FAMILIES[result["family"]]) != settings.preset:
        raise ValueError(
            f"summarizer.pretrained is {settings.pretrained!r}, of model_type {result['family']!r}: expected "
            f"summarizer.preset {preset!r}, got {settings.preset!r}"
        )
    limit = min(settings.overrides.get("source_tokens", result["source_tokens"]), result["source_tokens"])
    result |= {**settings.overrides, "source_tokens": limit}
    return result if result["lora_rank"] else {**result, "folder": None}
