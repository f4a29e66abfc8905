"""The candidate paragraphs of each article: documents split into paragraphs, each kept or refused with a reason."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import PARAGRAPHS
from tasks.engine.grouping import join_by_article
from tasks.extraction.settings import HTML_ENGINES
from tasks.paragraphs.filter import MAX_CHARACTERS, ParagraphReason, drop_reason
from tasks.paragraphs.mirrors import LeadNgrams
from tasks.paragraphs.quality import find_junk
from tasks.paragraphs.settings import OF_ARTICLE, CloneSettings, ParagraphSettings
from tasks.rights.conditions import COLUMNS, for_training, parse_conditions, refusal
from tasks.rights.text_columns import mask_personal
from tasks.text.language import article_language, in_other_language
from tasks.text.ngrams import TargetNgrams, WordRule, rule_for, split_words

LEAST_WORDS = 20  # of a part of the lead: headings and one-line quotations stay free


class LeadClones:
    """Paragraphs that were copied from the lead for which they should be a source.

    The rule of Liu & Lapata 2019, sec. 4 reads a paragraph against the whole lead, so it sees a page that copied the
    lead into one paragraph, and nothing else. Mirrors break lines where the article does: each of their paragraphs
    holds one paragraph of the lead, and none holds 0.8 of it. The paper means to drop "copies of some parts", so the
    same rule is applied to each paragraph of the lead as well. A paragraph most of which occurs in the lead is kept: in
    real articles with long leads it is mostly a quotation, where the lead copied the page."""

    def __init__(
        self, lead: str, settings: CloneSettings, rule: WordRule = "rouge", least_words: int = LEAST_WORDS
    ) -> None:
        rule = rule_for(lead, rule)
        words = split_words(lead, rule)
        self.settings = settings
        self.rule = rule  # how texts are cut into words; paragraphs given to the methods must be cut by the same rule
        self._words = TargetNgrams(words, 1)
        self._bigrams = TargetNgrams(words, 2)
        parts = [split_words(part, rule) for part in lead.splitlines()]
        self._parts = [TargetNgrams(part, 2) for part in parts if len(part) >= least_words]
        self._smallest_part = min((part.total for part in self._parts), default=0)

    def reason(self, paragraph: Sequence[str]) -> str | None:
        """Return why a paragraph, given as words, is refused, or None: clone | clone_of_part."""
        matched = self._bigrams.matched(paragraph)
        if not matched:
            return None
        settings = self.settings
        if settings.recall is not None and matched / self._bigrams.total > settings.recall:
            return ParagraphReason.CLONE
        # No part can share more bigrams with the paragraph than the whole lead does: most paragraphs end here.
        if (
            settings.part_recall is not None
            and self._parts
            and matched / self._smallest_part > settings.part_recall
            and any(part.recall(paragraph) > settings.part_recall for part in self._parts)
        ):
            return ParagraphReason.CLONE_OF_PART
        return None

    def is_clone(self, document: Iterable[Sequence[str]]) -> bool:
        """Return whether a document, given as the words of its paragraphs, repeats the lead; False if not asked."""
        threshold = self.settings.document
        return threshold is not None and self._words.recall(list(chain.from_iterable(document))) > threshold


# Limits of one document, so that none makes millions of rows. The largest of 1,500 real cited pages, a book of
# 650 pages, has 1.8 million characters, and the one of most lines, a table, 6,222 paragraphs.
MOST_PARAGRAPHS = 20_000
MOST_CHARACTERS = 5_000_000
REST = ParagraphReason.REST_OF_DOCUMENT  # the reason of the one row that stands for all paragraphs beyond


def build_paragraphs(
    articles: pa.Table,
    documents: pa.Table,
    settings: ParagraphSettings,
    *,
    words: WordRule = "rouge",
    given: pa.Table | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield PARAGRAPHS rows of each kept article, kept and refused, sorted by article and number.

    An article's documents come citations first, then search results, each by rank; its paragraphs are numbered in that
    order, refused ones included. A paragraph has the first reason that holds: that of its page (page_licence,
    page_reserved, page_language, page_quality, page_personal_data, then page_not_for_training); the filter's own;
    host_boilerplate; language; junk; clone_document, clone, clone_of_part
    (`LeadClones`); mirror (`LeadNgrams`); duplicate; over_limit. What a document has beyond `MOST_PARAGRAPHS` or
    `MOST_CHARACTERS` is one more row, rest_of_document, whose text counts it.

    Articles are sorted by article_id, documents in any order. `given` are GIVEN rows in the order of the source's
    partitions; of several articles with one title only the first one's are used, as in `merge_articles`. Raises
    ValueError: articles are not sorted."""
    kept = articles.filter(pc.is_null(articles["drop_reason"]))
    if given is not None:
        documents = pa.concat_tables([_of_first_articles(given), documents])
    kept = kept.select(["article_id", "lead", "split"])
    for article, rows, document_rows in join_by_article(kept, _in_order(documents)):
        lead, split = (rows[name][0].as_py() for name in ("lead", "split"))
        candidates = _Candidates(article, lead or "", split, settings, words)
        for row in document_rows["row"].to_pylist():
            candidates.add(documents, row)
        candidates.limit()
        yield pa.RecordBatch.from_pydict(candidates.columns, schema=PARAGRAPHS.schema)


class _Candidates:
    def __init__(self, article: str, lead: str, split: str, settings: ParagraphSettings, rule: WordRule) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in PARAGRAPHS.schema.names}
        self._article = article
        self._settings = settings
        self._conditions = parse_conditions(settings.pages.keep)
        if settings.pages.obey_training and split == "train":
            self._conditions.append(for_training())
        self._clones = LeadClones(lead, settings.clones, rule)
        self._lead = LeadNgrams(lead)
        asked = settings.filter.language
        self._language = article_language(lead) if asked == OF_ARTICLE else asked
        self._seen: set[str] = set()

    def add(self, documents: pa.Table, row: int) -> None:
        """Add every paragraph of the document in a row of the table."""
        texts, rest = _within_bounds(documents["paragraphs"][row].values)
        repeats: list[bool] = (documents["boilerplate"][row].as_py() or [])[: len(texts)] or [False] * len(texts)
        if self._settings.pages.mask_personal:
            texts = [mask_personal(text) for text in texts]
        columns, first = self.columns, len(self.columns["text"])
        rows = len(texts) + bool(rest)
        columns["article_id"] += [self._article] * rows
        columns["paragraph_id"] += range(first, first + rows)
        columns["url"] += [documents["url"][row].as_py()] * rows
        columns["provenance"] += [documents["provenance"][row].as_py()] * rows
        columns["position"] += range(rows)
        numbers = documents["page_numbers"][row].as_py() or [None] * len(texts)
        columns["page"] += [*numbers[: len(texts)], None][:rows]
        columns["text"] += [*texts, rest] if rest else texts
        engine = documents["engine"][row].as_py()
        reason = None
        if self._conditions:
            reason = refusal({name: documents[name][row].as_py() for name in COLUMNS}, self._conditions)
        language = documents["language"][row].as_py()
        columns["drop_reason"] += [reason] * len(texts) if reason else self._reasons(texts, repeats, language, engine)
        columns["drop_reason"] += [REST] if rest else []

    def limit(self) -> None:
        """Refuse the candidates beyond the limit: those with the most candidates before them in their document."""
        if self._settings.max_paragraphs is None:
            return
        reasons, depths, depth = self.columns["drop_reason"], [], 0
        for row, (reason, position) in enumerate(zip(reasons, self.columns["position"], strict=True)):
            if position == 0:
                depth = 0
            if reason is None:
                depths.append((depth, row))
                depth += 1
        for _, row in sorted(depths)[self._settings.max_paragraphs :]:
            reasons[row] = ParagraphReason.OVER_LIMIT

    def _reasons(
        self, texts: list[str], repeats: list[bool], language: str | None, engine: str | None
    ) -> Iterator[str | None]:
        settings, rule = self._settings, self._clones.rule
        # The filter and the search for clones read the same words; of texts that are too long it reads none.
        words = [split_words(text, rule) if len(text) <= MAX_CHARACTERS else [] for text in texts]
        reasons = [
            drop_reason(text, settings.filter, split if rule == "rouge" else None)
            for text, split in zip(texts, words, strict=True)
        ]
        reasons = _refused_too(reasons, repeats, ParagraphReason.HOST_BOILERPLATE)
        # Not asked of plain text, nor, where it is that of the article, of the source's own documents
        asked = engine != "plain" if engine is not None else settings.filter.language != OF_ARTICLE
        if self._language is not None and asked:
            other = in_other_language(texts, [reason is not None for reason in reasons], self._language)
            reasons = _refused_too(reasons, other, ParagraphReason.LANGUAGE)
            language = self._language
        if settings.quality is not None and engine in HTML_ENGINES:
            junk = find_junk(texts, [reason is not None for reason in reasons], settings.quality, language)
            reasons = _refused_too(reasons, junk, ParagraphReason.JUNK)
        kept = [
            [] if reason is not None else split or split_words(text, rule)
            for text, split, reason in zip(texts, words, reasons, strict=True)
        ]
        copy = self._clones.is_clone(kept)
        mirror = settings.clones.mirror if engine is not None else None
        mirrored = [False] * len(texts) if mirror is None else self._lead.mirrored(texts, mirror)
        for text, paragraph, reason, repeats_lead in zip(texts, kept, reasons, mirrored, strict=True):
            yield (
                reason
                or (ParagraphReason.CLONE_DOCUMENT if copy else self._clones.reason(paragraph))
                or (ParagraphReason.MIRROR if repeats_lead else None)
                or self._repeated(text)
            )

    def _repeated(self, text: str) -> str | None:
        """Return "duplicate" for a text that the article has already, apart from white space and case; else remember
        it."""
        # A text without other white space than single spaces is its own key; no other white space is printable.
        single = text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]
        key = (text if single else " ".join(text.split())).casefold()
        if key in self._seen:
            return ParagraphReason.DUPLICATE
        self._seen.add(key)
        return None


def _refused_too(reasons: Iterable[str | None], refused: Iterable[bool], reason: str) -> list[str | None]:
    """Return the reasons, with another one for rows that are refused and have none yet."""
    return [former or (reason if no else None) for former, no in zip(reasons, refused, strict=True)]


def _within_bounds(paragraphs: pa.Array | None) -> tuple[list[str], str]:
    """Return the paragraphs within the limits, and the text of the row for the rest, which stays in Arrow's memory."""
    if paragraphs is None:
        return [], ""
    lengths = np.cumsum(pc.utf8_length(paragraphs).to_numpy(zero_copy_only=False))
    taken = min(int(np.searchsorted(lengths, MOST_CHARACTERS, side="right")), MOST_PARAGRAPHS)
    texts: list[str] = paragraphs[:taken].to_pylist()
    if taken == len(paragraphs):
        return texts, ""
    characters = lengths[-1] - (lengths[taken - 1] if taken else 0)
    more = len(paragraphs) - taken
    return texts, f"[{more:,} more paragraph{'' if more == 1 else 's'} of {characters:,} characters]"


def _of_first_articles(given: pa.Table) -> pa.Table:
    """Return the documents of the first article of each id; a second one begins with rank 0 again."""
    seen: set[str] = set()
    firsts: list[bool] = []
    for id_, rank in zip(given["article_id"].to_pylist(), given["rank"].to_pylist(), strict=True):
        firsts.append(firsts[-1] if rank and firsts else id_ not in seen)
        seen.add(id_)
    return given if all(firsts) else given.filter(pa.array(firsts))


def _in_order(documents: pa.Table) -> pa.Table:
    """Return article_id and row of each usable document, by article, provenance and rank, without copying texts."""
    keys = documents.select(["article_id", "provenance", "rank", "url", "reason"])
    keys = keys.append_column("row", pa.array(range(documents.num_rows), pa.int64()))
    keys = keys.filter(pc.is_null(keys["reason"]))
    order = [(key, "ascending") for key in ("article_id", "provenance", "rank", "url")]
    return keys.sort_by(order).select(["article_id", "row"])
