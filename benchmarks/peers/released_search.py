"""The search methods of released summarizers, the peers of `benchmarks.gpu` in decoding.

Released programs search one article at a time. HT and GraphSum repeat keys and values of the source for every
hypothesis and gather them after every step (`tiled`); PHT has no cache: encoder and prefix run again for every
hypothesis and token. They take the same steps as ours (`models.search.step`) and find the same summaries."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from models.contract import Decoded, Memory, Summarizer
from models.layers.paragraphs import SourceBatch
from models.parallel import ParallelTransformer
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from models.search.step import Ended, Hypotheses, TokenRules, advance

PAD, BEGIN, END = 0, 2, 3
RULES = TokenRules(end=END, never=(PAD, BEGIN))


def shared(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    """Search as this project does."""
    return [hypothesis.tokens for hypothesis in beam_search(model, source, settings, begin=BEGIN, end=END)]


@torch.inference_mode()
def tiled(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    """Search with the source's keys and values repeated for each hypothesis and gathered after each step."""
    count, paragraphs, _ = source.tokens.shape
    memory: Memory = model.encode(source)
    memory = memory.select(torch.arange(count, device=source.tokens.device).repeat_interleave(settings.beam))
    cache = model.start_cache(memory, 1, settings.max_length + 1)
    alive, ended = _start(count, paragraphs, settings, source)
    newest = torch.full((count * settings.beam, 1), BEGIN, device=source.tokens.device)
    while True:
        decoded = model.decode(newest, memory, cache)
        alive, parents, ended, done = _advance(model, decoded, alive, ended, settings)
        if done:
            pairs = zip(ended.tokens.tolist(), ended.length.tolist(), strict=True)
            return [tokens[:length] for tokens, length in pairs]
        rows = (torch.arange(count, device=newest.device).unsqueeze(1) * settings.beam + parents).flatten()
        memory = memory.select(rows)
        cache.reorder(rows)
        newest = alive.tokens[..., -1].reshape(-1, 1)


@torch.inference_mode()
def released(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    """Search one article at a time, as the program that was released with the model does."""
    if isinstance(model, ParallelTransformer):
        return [_rerun_one(model, item, settings) for item in one_by_one(source)]
    return [summary for item in one_by_one(source) for summary in tiled(model, item, settings)]


def one_by_one(source: SourceBatch) -> Iterator[SourceBatch]:
    """Yield each article as a batch of its own."""
    return (rows_of(source, slice(b, b + 1)) for b in range(len(source.tokens)))


def rows_of(source: SourceBatch, rows: torch.Tensor | slice) -> SourceBatch:
    """Return some articles of a batch."""
    graph = None if source.graph is None else source.graph[rows]
    return replace(source, tokens=source.tokens[rows], ranks=source.ranks[rows], title=source.title[rows], graph=graph)


def _rerun_one(model: Summarizer, one: SourceBatch, settings: SearchSettings) -> list[int]:
    """Search one article without a cache; its encoder runs for every hypothesis and token too."""
    device = one.tokens.device
    beams = rows_of(one, torch.zeros(settings.beam, dtype=torch.int64, device=device))
    begin = torch.full((settings.beam, 1), BEGIN, device=device)
    alive, ended = _start(1, one.tokens.shape[1], settings, one)
    done = False
    while not done:
        memory = model.encode(beams)
        decoded = model.decode(torch.cat((begin, alive.tokens[0]), dim=1), memory)
        alive, _, ended, done = _advance(model, decoded, alive, ended, settings)
    return ended.tokens[0, : int(ended.length[0])].tolist()


def _start(count: int, paragraphs: int, settings: SearchSettings, source: SourceBatch) -> tuple[Hypotheses, Ended]:
    device = source.tokens.device
    alive = Hypotheses.start(count, settings.beam, paragraphs, device)
    return alive, Ended.start(count, settings.beam, settings.max_length, paragraphs, device)


def _advance(
    model: Summarizer, decoded: Decoded, alive: Hypotheses, ended: Ended, settings: SearchSettings
) -> tuple[Hypotheses, torch.Tensor, Ended, bool]:
    assert decoded.paragraph_attention is not None
    log_probs = model.logits(decoded.hidden[:, -1]).float().log_softmax(dim=-1)
    log_probs = log_probs.view(-1, settings.beam, log_probs.shape[-1])
    attention = decoded.paragraph_attention[:, -1].view(*log_probs.shape[:2], -1)
    alive, parents, ended, done = advance(alive, log_probs, attention, ended, settings, RULES)
    return alive, parents, ended, bool(done.all())
