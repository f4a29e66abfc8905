"""Seconds of a beam search, against the search methods of released summarizers, in the same run with the same steps.

    python -m benchmarks.beam_search [--preset NAME] [--articles N] [--paragraphs N] [--tokens N] [--length N]

* shared: ours. Hypotheses share keys and values of their article, and only self-attention state is reordered.
* tiled: keys and values of the source are repeated for every hypothesis and gathered after every step, as the
  released HT does.
* rerun: no cache, one article at a time; the whole prefix is decoded again for every token.
* released: one article at a time, as the released programs do. PHT: encoder and prefix run again for every hypothesis
  and token; the others: tiled.

All take the same steps (`models.search.step`) and have to find the same summaries. The ratio at the end is that of
summaries a second, released over shared, with encoding. The defaults are smaller than the papers' sizes (30 x 100
tokens and up to 300 generated, for PHT and GraphSum; 24 x 100 and 250 for HT): the released way takes minutes there.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from benchmarks.frame import command
from models.contract import Decoded, Memory, SourceBatch, Summarizer
from models.parallel import ParallelTransformer
from models.presets import find_preset
from models.registry import build_summarizer
from models.search.beam import beam_search
from models.search.hypotheses import Hypotheses
from models.search.settings import SearchSettings
from models.search.step import Ended, TokenRules, advance

PAD, BEGIN, END = 0, 2, 3
GOALS = {"parallel": 20, "hierarchical": 4, "graphsum": 4}
RULES = TokenRules(end=END, never=(PAD, BEGIN))


def articles_of(count: int, paragraphs: int, tokens: int, vocabulary: int) -> SourceBatch:
    """Return random articles, all of one size."""
    ids = torch.randint(10, vocabulary, (count, paragraphs, tokens), generator=torch.Generator().manual_seed(0))
    ranks = torch.arange(paragraphs).expand(count, -1).contiguous()
    graph = torch.eye(paragraphs).repeat(count, 1, 1)
    return SourceBatch(ids, ranks, torch.zeros(count, 1, dtype=torch.int64), PAD, graph)


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
def rerun(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    """Search one article at a time, decoding every prefix again."""
    return [_rerun_one(model, one, settings, encode_again=False) for one in one_by_one(source)]


@torch.inference_mode()
def released(model: Summarizer, source: SourceBatch, settings: SearchSettings) -> list[list[int]]:
    """Search one article at a time, as the program that was released with the model does."""
    if isinstance(model, ParallelTransformer):
        return [_rerun_one(model, one, settings, encode_again=True) for one in one_by_one(source)]
    return [summary for one in one_by_one(source) for summary in tiled(model, one, settings)]


def one_by_one(source: SourceBatch) -> Iterator[SourceBatch]:
    """Yield each article as a batch of its own."""
    return (rows_of(source, slice(b, b + 1)) for b in range(len(source.tokens)))


def rows_of(source: SourceBatch, rows: torch.Tensor | slice) -> SourceBatch:
    """Return some articles of a batch."""
    graph = None if source.graph is None else source.graph[rows]
    return replace(source, tokens=source.tokens[rows], ranks=source.ranks[rows], title=source.title[rows], graph=graph)


def _rerun_one(model: Summarizer, one: SourceBatch, settings: SearchSettings, *, encode_again: bool) -> list[int]:
    """Search one article; `encode_again`: its encoder runs for every hypothesis and token too."""
    device = one.tokens.device
    beams = rows_of(one, torch.zeros(settings.beam, dtype=torch.int64, device=device))
    memory = model.encode(one)
    begin = torch.full((settings.beam, 1), BEGIN, device=device)
    alive, ended = _start(1, one.tokens.shape[1], settings, one)
    done = False
    while not done:
        if encode_again:
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
    step = advance(alive, log_probs, attention, ended, settings, RULES)
    return step.alive, step.parents, step.ended, bool(step.done.all())


def main(
    preset: str = "ht",
    articles: int = 4,
    paragraphs: int = 24,
    tokens: int = 66,
    length: int = 60,
    vocabulary: int = 32_000,
) -> None:
    """Print seconds and summaries per second of each way."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)  # other work on the machine then disturbs the clock of the process less
    torch.manual_seed(0)
    model = build_summarizer(preset, vocabulary_size=vocabulary).eval().to(device)
    source = articles_of(articles, paragraphs, tokens, vocabulary).to(device)
    # All summaries are of one length, so that every way does the same number of steps for every article.
    settings = SearchSettings(min_length=length, max_length=length)
    shared(model, source, replace(settings, min_length=3, max_length=3))
    size = f"{articles} articles of {paragraphs} x {tokens} tokens, {length} generated"
    print(f"{preset} on {device}: {size}; seconds of one {'core' if device == 'cpu' else 'device'}")
    clock = time.process_time if device == "cpu" else time.perf_counter
    started = clock()
    with torch.inference_mode():
        model.encode(source)
    if device == "cuda":
        torch.cuda.synchronize()  # the searches wait for the device themselves, to read their summaries
    encoding = clock() - started
    print(f"encoding, part of each: {encoding:.2f} s")
    expected: list[list[int]] | None = None
    taken = {}
    for variant in (shared, tiled, rerun, released):
        started = clock()
        summaries = variant(model, source, settings)
        seconds = taken[variant] = clock() - started
        expected = expected or summaries
        same = "the same summaries" if summaries == expected else "OTHER SUMMARIES"
        print(f"{variant.__name__:<9}{seconds:8.2f} s, {seconds - encoding:8.2f} s without encoding, {same}")
    goal = GOALS.get(find_preset(preset).architecture)
    bar = f"; goal {goal} x at the papers' sizes" if goal else ""
    print(f"summaries a second, against the released way: {taken[released] / taken[shared]:.1f} x{bar}")


if __name__ == "__main__":
    command(main, __doc__)
