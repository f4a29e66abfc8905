"""Summaries a second of beam search, whose hypotheses share keys and values of their article, and the released way."""

from typing import Any

import torch

from benchmarks.gpu.machine import clock, finish
from benchmarks.gpu.workload import BenchmarkedSystem
from benchmarks.peers.released_search import released, rows_of, shared
from models.search.settings import SearchSettings

SYSTEMS = ("HT", "GraphSum", "PHT")


def compare(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return summaries a second of both ways, and the share of articles for which both find the same summary.

    In float32; all summaries are of one length, so that both ways do the same number of steps."""
    scale = system.scale
    model = system.model().eval().to(device)
    batch = system.equal_articles(scale.decoded).source
    settings = SearchSettings(min_length=scale.decoded_tokens, max_length=scale.decoded_tokens)
    result: dict[str, Any] = {}
    summaries: dict[str, list[list[int]]] = {}
    for way, search, articles in (("ours", shared, scale.decoded), ("released", released, scale.decoded_plain)):
        # The same articles: those of a shorter batch are the first of a longer one.
        source = rows_of(batch, slice(articles)).to(device)
        search(model, rows_of(source, slice(1)), SearchSettings(min_length=3, max_length=3))
        finish(device)
        started = clock(device)
        summaries[way] = search(model, source, settings)
        finish(device)
        result[way] = articles / (clock(device) - started)
    same = [ours == released for ours, released in zip(summaries["ours"], summaries["released"], strict=False)]
    return {**result, "same": sum(same) / len(same)}
