"""What is measured: the summarizers, their sizes, and articles with the lengths of WikiSum."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.presets import PRESETS
from models.registry import build_summarizer, fields_of
from models.training.batches import Batch, Position
from models.training.layout import Layout

TITLE_MARK, FIRST = 4, 7  # ids: the mark of a title, and the first piece that is not a mark
SYSTEMS = {
    "FT-1600": "ft-1600",
    "HT": "ht",
    "PHT": "pht",
    "VHT": "vht",
    "T-DMCA": "t-dmca",
    "GraphSum": "graphsum",
    "BART": "bart-base",
    "BART+HED": "hed-base",
}
_PIECES = 50_264  # a preset of BART's family has its own vocabulary
_BART_BEGIN, _BART_PAD, _BART_END = 0, 1, 2


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    # Size of the vocabulary (32,000 in Liu & Lapata 2019, sec. 4); BART has its own at full scale
    pieces: int = 32_000
    articles: int = 4096  # articles that batches are drawn from
    # Source tokens of a batch, padding included; twice the released HT's, for one batch per update
    batch_tokens: int = 21_000
    max_paragraphs: int = 24  # paragraphs read of an article
    max_paragraph_tokens: int = 100  # tokens read of a paragraph
    target_tokens: int = 140  # tokens of a target where all articles are equally long
    warmup: int = 5  # updates before the clock starts
    steps: int = 20  # updates that are timed
    rounds: int = 2  # how often each side is measured, in turns; the best round counts
    decoded: int = 32  # articles decoded by our search
    decoded_plain: int = 3  # articles decoded by the released way, which is slow
    decoded_tokens: int = 140  # tokens of each summary
    memory: int = 12 * 2**30  # bytes that a batch may take in the search for the largest batch
    sizes: Mapping[str, int] = field(default_factory=dict)  # fields of every configuration that has them


_DEPTHS = ("local_layers", "global_layers", "word_layers", "graph_layers", "encoder_layers", "decoder_layers")
SCALES = {
    "full": Scale(),
    "core": Scale(  # the papers' sizes, as few of everything as one core does in minutes
        articles=64,
        batch_tokens=4_200,
        warmup=1,
        steps=3,
        rounds=1,
        decoded=4,
        decoded_plain=1,
        decoded_tokens=40,
        memory=1 * 2**30,
    ),
    "small": Scale(  # models for laptops, HT as `ht-small`
        pieces=8_000,
        batch_tokens=4_992,
        warmup=2,
        steps=10,
        decoded=4,
        decoded_plain=1,
        decoded_tokens=40,
        sizes={
            "model_size": 128,
            "feed_forward_size": 512,
            "heads": 4,
            "local_layers": 2,
            **dict.fromkeys(("global_layers", "decoder_layers"), 1),
        },
    ),
    "tiny": Scale(
        pieces=300,
        articles=48,
        batch_tokens=960,
        max_paragraphs=3,
        max_paragraph_tokens=80,
        target_tokens=12,
        warmup=1,
        steps=2,
        rounds=1,
        decoded=3,
        decoded_plain=2,
        decoded_tokens=5,
        memory=16 * 2**20,
        sizes={"model_size": 32, "feed_forward_size": 64, "heads": 4, "layers": 2, **dict.fromkeys(_DEPTHS, 1)},
    ),
}


@dataclass(frozen=True)
class BenchmarkedSystem:
    """A summarizer of a scale."""

    name: str  # key of `SYSTEMS`
    scale: Scale

    @property
    def preset(self) -> str:
        """Key of `PRESETS`."""
        return SYSTEMS[self.name]

    @property
    def pad(self) -> int:
        """Id of the padding token."""
        return _BART_PAD if self._is_bart else 0

    @property
    def pieces(self) -> int:
        """Size of the vocabulary."""
        return _PIECES if self._is_bart and not self.scale.sizes else self.scale.pieces

    @property
    def overrides(self) -> dict[str, Any]:
        """Fields that differ from the preset's."""
        known = fields_of(self.preset, {})
        sizes: dict[str, Any] = {name: value for name, value in self.scale.sizes.items() if name in known}
        # As many tokens as the other systems read, where BART alone reads 1,024.
        return {**sizes, "max_positions": 4096, "source_tokens": 1600} if self._is_bart else sizes

    def model(self, **changes: Any) -> Summarizer:
        """Return a fresh model, always of the same weights; `changes` of fields that its preset lacks are left out."""
        known = fields_of(self.preset, {})
        fields = {**self.overrides, **{name: value for name, value in changes.items() if name in known}}
        torch.manual_seed(0)
        return build_summarizer(self.preset, vocabulary_size=self.pieces, pad=self.pad, **fields)

    def layout(self, length_multiple: int = 8) -> Layout:
        """Return how its articles are cut and padded."""
        begins_each = fields_of(self.preset, {}).get("document_begin")
        return Layout(
            pad=self.pad,
            title_mark=TITLE_MARK,
            max_paragraphs=self.scale.max_paragraphs,
            max_paragraph_tokens=self.scale.max_paragraph_tokens,
            max_source_tokens=fields_of(self.preset, self.overrides).get("source_tokens"),
            length_multiple=length_multiple,
            graph=self._reads_graph,
            source_begin=_BART_BEGIN if self._is_bart else None,
            source_end=_BART_END if self._is_bart else None,
            begins_each=bool(begins_each),
        )

    def articles(self) -> pa.Table:
        """Return articles of random tokens with the lengths of WikiSum's."""
        table = examples(self.scale.articles, self.pieces)
        return table.append_column("graph", _chains(table)) if self._reads_graph else table

    def equal_articles(self, count: int) -> Batch:
        """Return a batch of articles of one size, without padding: about 1,600 tokens at full scale."""
        paragraphs, tokens = self.scale.max_paragraphs, self.scale.max_paragraph_tokens * 2 // 3
        random = torch.Generator().manual_seed(0)
        ids = torch.randint(FIRST, self.pieces, (count, paragraphs, tokens), generator=random)
        target = torch.randint(FIRST, self.pieces, (count, self.scale.target_tokens), generator=random)
        ranks = torch.arange(paragraphs).expand(count, -1).contiguous()
        graph = torch.eye(paragraphs).repeat(count, 1, 1) if self._reads_graph else None
        title = torch.full((count, 1), self.pad)
        source = SourceBatch(ids, ranks, title, self.pad, graph)
        return Batch(source, target, count, ids.numel(), ids.numel(), Position())

    @property
    def _is_bart(self) -> bool:
        return PRESETS[self.preset].architecture == "bart"

    @property
    def _reads_graph(self) -> bool:
        return PRESETS[self.preset].architecture == "graphsum"


def examples(count: int, pieces: int) -> pa.Table:
    """Draw examples with lengths like those of WikiSum: log-normal, about 70 tokens a paragraph and 140 a lead.

    A third of the articles have fewer than 24 of at most 40 ranked paragraphs."""
    random = np.random.default_rng(0)
    tokens = pa.list_(pa.int32())

    def lists(lengths: np.ndarray) -> pa.Array:
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        values = random.integers(FIRST, pieces, offsets[-1], dtype=np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))

    # Truncated to 100 tokens each, the best 24 paragraphs have about 1,600 tokens, as in Liu & Lapata 2019, sec. 4.
    paragraphs = np.clip(random.lognormal(3.4, 0.7, count), 1, 40).astype(int)
    lengths = np.clip(random.lognormal(np.log(75), 0.5, paragraphs.sum()), 3, 400).astype(int)
    offsets = np.concatenate([[0], np.cumsum(paragraphs)]).astype(np.int32)
    columns = {
        "title": lists(random.integers(1, 8, count)),
        "source": pa.ListArray.from_arrays(pa.array(offsets), lists(lengths)),
        "target": lists(np.clip(random.lognormal(np.log(140) - 0.18, 0.6, count), 10, 400).astype(int)),
    }
    return pa.table(columns, schema=pa.schema({"title": tokens, "source": pa.list_(tokens), "target": tokens}))


def _chains(table: pa.Table) -> pa.Array:
    """Return a graph for each article: an edge between each paragraph and the next."""
    counts = np.array([len(paragraphs) for paragraphs in table.column("source")])
    offsets = np.concatenate([[0], np.cumsum(counts - 1)]).astype(np.int32)
    first = np.concatenate([np.arange(count - 1, dtype=np.int32) for count in counts])
    weight = np.full(len(first), 0.5, dtype=np.float32)
    edges = pa.StructArray.from_arrays([pa.array(first), pa.array(first + 1), pa.array(weight)], ["i", "j", "weight"])
    return pa.ListArray.from_arrays(pa.array(offsets), edges)
