"""The stage `twins`: what meets in a bucket is nearly equal."""

import numpy as np
import pyarrow as pa

from storage.schemas import TWINS

_KEYS = ("article", "paragraph_id", "whole")
_FLAGS = ("in_article", "in_other", "in_held_out")


def match_sketches(sketches: pa.Table) -> pa.Table:
    """Return every paragraph and document that shares a bucket with an earlier one.

    Held-out articles come before training articles, then the order is by article and paragraph: it depends neither on
    the number of shards nor on the order of rows. What is nearly equal to an earlier one counts even if that one does
    itself, so a chain of near-duplicates keeps its first alone.

    Args:
        sketches: SKETCHES rows of the shard's buckets, in any order.

    Returns:
        TWINS rows, sorted by article shard, one for each paragraph or document.
    """
    columns = {name: sketches[name].to_numpy() for name in sketches.schema.names}
    order = np.lexsort((columns["paragraph_id"], columns["article"], ~columns["held_out"], columns["bucket"]))
    columns = {name: values[order] for name, values in columns.items()}
    bucket, article, held = columns["bucket"], columns["article"], columns["held_out"]
    starts = _starts(bucket)
    places = np.flatnonzero(starts)
    first = np.repeat(places, np.diff(places, append=len(bucket)))
    later = ~starts
    previous = np.roll(article, 1)
    found = {
        "in_article": later & (previous == article),
        "in_other": article != article[first],
        "in_held_out": held[first] & ~held,
    }
    rows = {name: values[later] for name, values in (columns | found).items() if name in TWINS.schema.names}
    rows |= {"of_article": article[first][later], "of_paragraph": columns["paragraph_id"][first][later]}
    twins = merge_twins(pa.table([rows[name] for name in TWINS.schema.names], schema=TWINS.schema))
    return twins.sort_by([("article_shard", "ascending")])


def merge_twins(twins: pa.Table) -> pa.Table:
    """Return one row for each paragraph or document: true where any of its rows is, with the first one it is equal to.

    The rows are sorted by article, paragraph and `whole`.
    """
    columns = {name: twins[name].to_numpy() for name in twins.schema.names}
    order = np.lexsort([columns[name] for name in ("of_paragraph", "of_article", *reversed(_KEYS))])
    columns = {name: values[order] for name, values in columns.items()}
    starts = np.zeros(len(order), bool)
    for name in _KEYS:
        starts |= _starts(columns[name])
    places = np.flatnonzero(starts)
    merged = {name: values[places] for name, values in columns.items()}
    if len(places):
        merged |= {name: np.logical_or.reduceat(columns[name], places) for name in _FLAGS}
    return pa.table([merged[name] for name in twins.schema.names], schema=twins.schema)


def _starts(sorted_values: np.ndarray) -> np.ndarray:
    """Return for each value whether it differs from the one before it."""
    starts = np.ones(len(sorted_values), bool)
    starts[1:] = sorted_values[1:] != sorted_values[:-1]
    return starts
