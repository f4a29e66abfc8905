"""Summaries a second of beam search, against the released ways: article by article, the memory repeated for every
hypothesis (HT), or every prefix decoded again for each token (PHT).
"""

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.beam_search import articles_of, one_by_one, rerun, rows_of, shared, tiled
from benchmarks.gpu.machine import clock, finish
from benchmarks.gpu.workload import BenchmarkedSystem
from models.contract import SourceBatch, Summarizer
from models.search.settings import SearchSettings

Search = Callable[[Summarizer, SourceBatch, SearchSettings], list[list[int]]]


def compare(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return summaries a second of both ways, and the share of articles for which both find the same summary.

    In float32; all summaries are of one length, so that both ways do the same number of steps.
    """
    scale = system.scale
    model = system.model().eval().to(device)
    paragraphs, tokens = scale.max_paragraphs, scale.max_paragraph_tokens * 2 // 3
    settings = SearchSettings(min_length=scale.decoded_tokens, max_length=scale.decoded_tokens)
    found: dict[str, Any] = {}
    summaries: dict[str, list[list[int]]] = {}
    for way, search, articles in (
        ("ours", shared, scale.decoded),
        ("released", RELEASED[system.name], scale.decoded_plain),
    ):
        # The same articles: those of a shorter batch are the first of a longer one.
        source = rows_of(articles_of(scale.decoded, paragraphs, tokens, system.pieces), slice(articles)).to(device)
        search(model, rows_of(source, slice(1)), SearchSettings(min_length=3, max_length=3))
        finish(device)
        started = clock(device)
        summaries[way] = search(model, source, settings)
        finish(device)
        found[way] = articles / (clock(device) - started)
    same = [ours == released for ours, released in zip(summaries["ours"], summaries["released"], strict=False)]
    return {**found, "same": sum(same) / len(same)}


def _tiled_one_by_one(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    return [summary for article in one_by_one(source) for summary in tiled(model, article, settings)]


RELEASED: dict[str, Search] = {"HT": _tiled_one_by_one, "PHT": rerun}
