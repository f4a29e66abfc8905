"""The examples stage: input and target of summarizers, as token ids."""

from dataclasses import replace
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from models.search.value_pieces import value_pieces
from models.sentences import split_sentences
from models.tokenization.contract import TextForm
from models.training.layout import ExampleTable, Layout
from models.value_slots import NO_SLOTS, ValueSlots, fill
from models.vocabulary import Vocabulary
from storage.schemas import EXAMPLES
from tasks.engine.grouping import join_by_article
from tasks.summarization.layouts import layout_of
from tasks.summarization.settings import ExampleSettings, SummarizerSettings
from tasks.summarization.targets import supported_sentences
from tasks.text.vocabulary import read_vocabulary

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
    is the one of rank i, an empty list if it has no token, so that ranks and graph nodes still match; one that is cut
    ends with a whole word, and not with a number that might go on. With `supported_by` an article of the training or
    validation split without a supported sentence has no row. Raises ValueError: a table is not sorted."""
    vocabulary = read_vocabulary(vocabulary, form)
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
        encoded = _encoded(list(map(slots.cut, texts)), vocabulary)
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
    """Return the texts that a summarizer reads of paragraphs, without what a cut left unfinished."""
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


def _encoded(texts: list[str], vocabulary: Vocabulary) -> list[list[int]]:
    """Return the ids of paragraphs, with a mark before each sentence if the vocabulary has one."""
    if vocabulary.sentence_begin is None:
        return vocabulary.encode_batch(texts)
    return vocabulary.encode_paragraphs(map(split_sentences, texts))


def slots_of(examples: pa.Table) -> list[dict[str, str]]:
    """Return what each slot stands for in each row of examples."""
    return [{pair["slot"]: pair["text"] for pair in pairs or ()} for pairs in examples.column("slots").to_pylist()]
