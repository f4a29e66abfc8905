"""The stage `compared`: the paragraphs again, some of them refused by what they share with others."""

from collections import defaultdict
from collections.abc import Container
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from storage.tables import with_values
from tasks.engine.reasons import Reason
from tasks.near_duplicates.settings import AcrossSettings

COMPARED = "compared"  # the stage that refuses near-duplicates and leaks; a build that refuses none does not have it


def compared_paragraphs(stages: Container[str]) -> str:
    """Return the stage of a build whose paragraphs were labelled and ranked, given the names of its stages."""
    return COMPARED if COMPARED in stages else "paragraphs"


class AcrossReason(Reason):
    """Why a paragraph is refused for what it shares with others."""

    LEAK = "leak", "of a training article, and it contains what a validation or test article has as its lead or source"
    NEAR_DUPLICATE = (
        "near_duplicate",
        "nearly equal to an earlier paragraph, or in a document nearly equal to an earlier one",
    )


# By setting: the columns of OVERLAPS of which one must hold.
_LEAKS = {"off": (), "counted": (), "leads": ("lead",), "pages": ("lead", "in_held_out")}
_DUPLICATES = {"off": (), "counted": (), "article": ("in_article",), "corpus": ("in_article", "in_other")}


def refuse_overlaps(paragraphs: pa.Table, overlaps: pa.Table, settings: AcrossSettings) -> pa.Table:
    """Refuse what the settings do not allow as `leak` or `near_duplicate`, all of a document; old reasons stay."""
    reasons = paragraphs["drop_reason"].to_pylist()
    numbers = {id_: int(id_, 16) for id_ in pc.unique(paragraphs["article_id"]).to_pylist()}
    articles = [numbers[id_] for id_ in paragraphs["article_id"].to_pylist()]
    ids, urls = paragraphs["paragraph_id"].to_pylist(), paragraphs["url"].to_pylist()
    places = {key: row for row, key in enumerate(zip(articles, ids, strict=True))}
    documents: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(articles, urls, strict=True)):
        documents[key].append(row)
    for reason, columns in (
        (AcrossReason.LEAK, _LEAKS[settings.leakage]),
        (AcrossReason.NEAR_DUPLICATE, _DUPLICATES[settings.near_duplicates]),
    ):
        chosen = reduce(pc.or_, (overlaps[column] for column in columns), pa.scalar(False))
        some = overlaps.filter(chosen) if columns else overlaps.slice(0, 0)
        for result in some.select(["article", "paragraph_id", "whole"]).to_pylist():
            place = places[result["article"], result["paragraph_id"]]
            for row in documents[articles[place], urls[place]] if result["whole"] else (place,):
                reasons[row] = reasons[row] or reason
    return with_values(paragraphs, "drop_reason", reasons)
