"""Summaries a second of beam search, against the released ways: article by article, the memory repeated for every
hypothesis (HT), or every prefix decoded again for each token (PHT).
"""

import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.beam_search import articles_of, rerun, shared, tiled
from benchmarks.gpu.machine import finish
from benchmarks.gpu.workload import BenchmarkedSystem
from models.contract import SourceBatch, Summarizer
from models.search.settings import SearchSettings

Search = Callable[[Summarizer, SourceBatch, SearchSettings], list[list[int]]]
RELEASED: dict[str, Search] = {"HT": tiled, "PHT": rerun}


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
        ("released", _one_by_one(RELEASED[system.name]), scale.decoded_plain),
    ):
        # The same articles: those of a shorter batch are the first of a longer one.
        source = _first(articles_of(scale.decoded, paragraphs, tokens, system.pieces), articles).to(device)
        search(model, _first(source, 1), SearchSettings(min_length=3, max_length=3))
        finish(device)
        started = time.perf_counter()
        summaries[way] = search(model, source, settings)
        finish(device)
        found[way] = articles / (time.perf_counter() - started)
    same = [ours == released for ours, released in zip(summaries["ours"], summaries["released"], strict=False)]
    return {**found, "same": sum(same) / len(same)}


def _one_by_one(search: Search) -> Search:
    def each(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
        articles = [_rows(source, slice(number, number + 1)) for number in range(len(source.tokens))]
        return [summary for article in articles for summary in search(model, article, settings)]

    return each


def _first(source: SourceBatch, articles: int) -> SourceBatch:
    return _rows(source, slice(0, articles))


def _rows(source: SourceBatch, rows: slice) -> SourceBatch:
    graph = None if source.graph is None else source.graph[rows]
    return SourceBatch(source.tokens[rows], source.ranks[rows], source.title[rows], source.pad, graph)
