"""The stage `twin_words`, and the check of every pair that met in a bucket: are their sets of words really alike?"""

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import OVERLAPS, TWIN_WORDS
from tasks.across.sketches import distinct
from tasks.engine.grouping import by_article
from tasks.text.ngrams import WordRule, split_words

# Jaccard similarity of sets of words: .83 where a tenth of a real paragraph's words are changed, .68 where a fifth are.
LEAST_SIMILARITY = 0.75

Key = tuple[int, int, bool]
"""Article, paragraph, and whether the document that begins with it is meant."""


def attach_words(paragraphs: pa.Table, twins: pa.Table, *, words: WordRule) -> pa.Table:
    """Return TWIN_WORDS rows, by the shard of the later one: TWINS once each, with the words of the earlier one."""
    twins = distinct(twins)
    keys = _keys(twins, "of_article", "of_paragraph")
    found = _word_sets(paragraphs, set(keys), words)
    texts = {key: " ".join(sorted(of)) for key, of in found.items()}
    named = twins.append_column("words", pa.array([texts[key] for key in keys], pa.large_string()))
    return named.select(TWIN_WORDS.schema.names).sort_by([("article_shard", "ascending")])


def near_duplicates(paragraphs: pa.Table, twin_words: pa.Table, words: WordRule) -> pa.Table:
    """Return an OVERLAPS row for each pair whose words are alike, without leads."""
    keys = _keys(twin_words, "article", "paragraph_id")
    own = _word_sets(paragraphs, set(keys), words)
    texts = twin_words["words"].to_pylist()
    alike = np.fromiter((_similar(own[key], of.split()) for key, of in zip(keys, texts, strict=True)), bool, len(keys))
    rows = twin_words.filter(pa.array(alike))
    in_article = pc.equal(rows["article"], rows["of_article"])
    rows = rows.append_column("in_article", in_article).append_column("in_other", pc.invert(in_article))
    rows = rows.append_column("lead", pa.array(np.zeros(rows.num_rows, bool)))
    return rows.select(OVERLAPS.schema.names).cast(OVERLAPS.schema)


def _similar(own: set[str], other: list[str]) -> bool:
    common = len(own.intersection(other))
    return common >= LEAST_SIMILARITY * (len(own) + len(other) - common)


def _keys(pairs: pa.Table, article: str, paragraph: str) -> list[Key]:
    return list(zip(*(pairs[name].to_pylist() for name in (article, paragraph, "whole")), strict=True))


def _word_sets(paragraphs: pa.Table, keys: set[Key], rule: WordRule) -> dict[Key, set[str]]:
    """Return the different words of the paragraphs and documents with these keys."""
    articles = {article for article, *_ in keys}
    kept = paragraphs.filter(pc.is_null(paragraphs["drop_reason"])).select(
        ["article_id", "paragraph_id", "url", "text"]
    )
    found: dict[Key, set[str]] = {}
    for name, own in by_article(kept):
        if (article := int(name, 16)) in articles:
            for first, id_, text in _by_document(own):
                paragraph, document = (article, id_, False), (article, first, True)
                if paragraph in keys or document in keys:
                    words = set(split_words(text, rule))
                    if paragraph in keys:
                        found[paragraph] = words
                    if document in keys:
                        found[document] = found.get(document, set()) | words
    return found


def _by_document(own: pa.Table) -> Iterator[tuple[int, int, str]]:
    """Yield for each paragraph of an article the id of the first of its document, its own id, and its text."""
    columns = (own[name].to_pylist() for name in ("url", "paragraph_id", "text"))
    for _, group in groupby(zip(*columns, strict=True), key=lambda row: row[0]):
        first = None
        for _, id_, text in group:
            first = id_ if first is None else first
            yield first, id_, text
