"""The predictions stage: a trained summarizer writes a summary for every article of the test split."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from models.attention_predictor import AttentionPredictor, guide
from models.exported import TrainedSummarizer
from models.layers.paragraphs import SourceBatch
from models.presets import check_predictable
from models.registry import to_config_dict
from models.search.beam import beam_search, search_ids
from models.search.settings import SearchSettings
from models.search.source_values import SourceValues, value_pieces
from models.search.step import Hypothesis
from models.training.distributed import find_device
from models.training.layout import Example, ExampleTable, Layout, Numbers, source_batch
from models.value_slots import fill
from storage.schemas import PREDICTIONS
from tasks.engine.failure_logs import working_on
from tasks.engine.progress import Progress
from tasks.engine.torch_threads import torch_threads
from tasks.summarization.directory import load_predictor, load_summarizer, with_graphs
from tasks.summarization.examples import slots_of
from tasks.summarization.settings import DecodingSettings

_WRITTEN = ("summary", "tokens", "attention", "source_attention")  # columns that decoding fills
_THREADS = 1  # of torch: shards are decoded in parallel, one per core


@torch_threads(_THREADS)
def decode_shard(
    examples: pa.Table,  # EXAMPLES rows of a shard; other splits than `test` are left out
    directory: Path,  # a trained summarizer, see `tasks/summarization/directory.py`
    settings: DecodingSettings,
    *,
    graphs: pa.Table | None = None,  # GRAPHS rows of the shard, if the summarizer reads a graph
    predictor: Path | None = None,  # directory of the summarizer's attention predictor, if the settings need one
    ranked: pa.Table | None = None,  # RANKED rows of the shard, if the settings need the ranker's scores
    system: str | None = None,  # its name in the table; None = its preset, and its graph if it reads one
    device: str = "cpu",  # where the summarizer runs: auto | cpu | cuda | cuda:N
    progress: Callable[[Progress], None] | None = None,  # called after each batch
) -> pa.Table:
    """Write a summary for each article of the test split: PREDICTIONS rows in the order of the examples. Raises
    ValueError: a directory does not contain the model, a graph, predictor or score is missing, or the settings
    contradict each other."""
    search = settings.search()
    _check_inputs(settings, predictor, ranked)
    test = examples.filter(pc.equal(examples.column("split"), "test"))
    if test.num_rows == 0:
        return PREDICTIONS.schema.empty_table()
    trained = load_summarizer(
        directory, device=find_device(device), checkpoint=settings.checkpoint, source_tokens=settings.max_source_tokens
    )
    rows = _rows(test, graphs, trained, settings)
    attention = None
    if settings.guidance.reads_predictor:
        assert predictor is not None
        check_predictable(to_config_dict(trained.model)["architecture"])
        attention = load_predictor(predictor, directory, device=next(trained.model.parameters()).device)
    scores = _scores(test, ranked) if settings.guidance.reads_scores else None
    slots = slots_of(test)
    summaries: list[dict[str, Any]] = [{}] * len(rows)
    started, tokens = time.monotonic(), 0
    for done, batch in _batches(rows, settings.batch_articles):
        working_on(f"articles {', '.join(test.column('article_id')[row].as_py() for row in batch)}")
        laid_out = [rows.example(row) for row in batch]
        source = source_batch(laid_out, rows.layout)
        batch_scores = None if scores is None else _scores_of([scores[row] for row in batch], laid_out, source)
        hypotheses, lengths, looks = _decode(
            source, [slots[row] for row in batch], batch_scores, trained, attention, rows.layout, settings, search
        )
        for b, (row, example, hypothesis) in enumerate(zip(batch, laid_out, hypotheses, strict=True)):
            ranks = lengths.ranks[b][lengths.paragraph_mask[b]].cpu().numpy()
            values = slots[row]
            text = fill(" ".join(trained.vocabulary.decode(hypothesis.tokens).split()), values)
            pieces = [fill(piece, values) for piece in trained.vocabulary.pieces(hypothesis.tokens)]
            places = lengths.paragraph_mask[b].cpu()
            own = None if looks is None else looks[b][places][:, places].numpy()
            summaries[row] = _prediction(example, text, pieces, hypothesis, ranks, own)
            tokens += len(hypothesis.tokens)
        if progress is not None:
            rate = done / max(time.monotonic() - started, 1e-9)
            text = f"{done:,} of {len(rows):,} summaries, {tokens:,} tokens, {rate:.1f} articles/s"
            progress(Progress(text, done / len(rows)))
    columns = {
        "article_id": test.column("article_id"),
        "system": [system or trained.name] * len(rows),
        **{name: [summary[name] for summary in summaries] for name in _WRITTEN},
    }
    return pa.table(columns, schema=PREDICTIONS.schema)


def _rows(
    test: pa.Table, graphs: pa.Table | None, trained: TrainedSummarizer, settings: DecodingSettings
) -> ExampleTable:
    if trained.graph != "none":
        if graphs is None:
            raise ValueError(f"the summarizer reads the {trained.graph} graph: expected a table of graphs, got none")
        test = with_graphs(test, graphs, trained.graph)
    _check_lengths(settings, trained.layout)
    return ExampleTable(test, replace(trained.layout, **settings.lengths))


def _batches(rows: ExampleTable, size: int) -> list[tuple[int, list[int]]]:
    """Return (rows done after it, rows) of each batch of similar shapes, the largest first, to fail early if at all."""
    shapes = rows.shapes()
    order = np.lexsort((shapes[:, 1], shapes[:, 0]))[::-1].tolist()
    return [(min(start + size, len(order)), order[start : start + size]) for start in range(0, len(order), size)]


def _check_lengths(settings: DecodingSettings, trained_on: Layout) -> None:
    """Reject longer input that a limit on tokens would silently cut off again."""
    limit = trained_on.max_source_tokens
    if limit is None or settings.max_source_tokens is not None:
        return
    asked, trained = settings.max_paragraphs, trained_on.max_paragraphs
    if asked is not None and asked > trained:
        raise ValueError(
            f"decoding.max_paragraphs is {asked}, and {trained} in training, but this summarizer reads {limit} tokens "
            "of all paragraphs together: expected decoding.max_source_tokens to say how many it shall read now"
        )


def _check_inputs(settings: DecodingSettings, predictor: Path | None, ranked: pa.Table | None) -> None:
    if settings.guidance.reads_predictor and predictor is None:
        raise ValueError(
            f"alignment {settings.alignment!r} and compressed_paragraphs {settings.compressed_paragraphs} need "
            "predicted attention: expected the directory of an attention predictor, got none"
        )
    if settings.guidance.reads_scores and ranked is None:
        raise ValueError(
            "alignment 'ranked' needs the ranker's scores: expected a table of ranked paragraphs, got none"
        )


def _by_article(ranked: pa.Table | None, column: str) -> dict[str, list[Any]]:
    """Return a column of the paragraphs of each article, by rank."""
    assert ranked is not None
    best = ranked.select(["article_id", "rank", column]).sort_by("rank")
    lists = best.group_by("article_id", use_threads=False).aggregate([(column, "list")])
    return dict(zip(lists["article_id"].to_pylist(), lists[f"{column}_list"].to_pylist(), strict=True))


def _scores(test: pa.Table, ranked: pa.Table | None) -> list[Numbers]:
    """Return the ranker's scores of each example's paragraphs, by rank."""
    by_article = _by_article(ranked, "score")
    scores = []
    for article, source in zip(test["article_id"].to_pylist(), test["source"], strict=True):
        if len(by_article.get(article, ())) < len(source):
            raise ValueError(
                f"article {article} has {len(source)} paragraphs: expected a score for each, got "
                f"{len(by_article.get(article, ()))}"
            )
        scores.append(np.array(by_article.get(article, ()), dtype=np.float32))
    return scores


def _scores_of(scores: Sequence[Numbers], examples: Sequence[Example], source: SourceBatch) -> Tensor:
    """Return the ranker's scores [B, P] of the paragraphs of a batch; 0 for one with only the title."""
    padded = torch.zeros(source.ranks.shape)
    for b, (article_scores, example) in enumerate(zip(scores, examples, strict=True)):
        ranks = example.ranks[example.ranks < len(article_scores)]
        padded[b, : len(ranks)] = torch.from_numpy(article_scores[ranks])
    return padded


@torch.inference_mode()
def _decode(
    source: SourceBatch,
    slots: Sequence[Mapping[str, str]],
    scores: Tensor | None,
    trained: TrainedSummarizer,
    predictor: AttentionPredictor | None,
    layout: Layout,
    settings: DecodingSettings,
    search: SearchSettings,
) -> tuple[list[Hypothesis], SourceBatch, Tensor | None]:
    """Return the summaries of a batch, the source that was read, perhaps compressed, and the attention between its
    paragraphs, [B, P, P], if the summarizer returns it."""
    model, vocabulary = trained.model, trained.vocabulary
    device = next(model.parameters()).device
    source = source.to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=settings.precision == "bfloat16"):
        device_scores = None if scores is None else scores.to(device)
        source, scorers = guide(source, settings.guidance, model, predictor=predictor, scores_BP=device_scores)
        memory, looks = model.encode_watched(source)
        values = (
            SourceValues(value_pieces(vocabulary), source, layout.may_be_cut, slots) if settings.source_values else None
        )
        ids = search_ids(vocabulary, search)
        hypotheses = beam_search(model, source, search, **ids, scorers=scorers, values=values, memory=memory)
    return hypotheses, source, None if looks is None else looks.cpu()


def _prediction(
    example: Example, text: str, pieces: list[str], hypothesis: Hypothesis, ranks: Numbers, looks: Numbers | None
) -> dict[str, Any]:
    """Return the columns of a summary; its attention is placed at the ranks of the paragraphs that were read."""
    width = int(example.ranks[-1]) + 1
    attention = np.zeros((len(hypothesis.tokens), width), dtype=np.float32)
    attention[:, ranks] = hypothesis.attention[:, : len(ranks)].numpy()
    source_attention = np.zeros((0 if looks is None else width, width), dtype=np.float32)
    if looks is not None:
        source_attention[np.ix_(ranks, ranks)] = looks
    return {"summary": text, "tokens": pieces, "attention": list(attention), "source_attention": list(source_attention)}
