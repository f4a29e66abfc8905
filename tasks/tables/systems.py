"""Every system of the papers' tables: which preset it is, at either size, and what it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tasks.summarizer_directory import Graph

Kind = Literal["extractive", "flat", "hierarchical"]

_NO_SCORERS = "the decoding stage takes no {} yet"


@dataclass(frozen=True)
class System:
    """A row of a table.

    Attributes:
        kind: extractive systems are not trained; flat ones read one sequence, hierarchical ones paragraphs.
        preset: of the papers' size (`models/presets.py`).
        small: preset for laptops.
        overrides: fields of the small preset that make it this system.
        paragraphs: ranked paragraphs read in training, before `source_scale`.
        tokens: tokens of them a flat system reads, before `source_scale`; None for a hierarchical one.
        graph: paragraph graph it reads.
        ranked: whether paragraphs are ranked, or read as found.
        model: the system whose trained model this one decodes with; "" = its own.
        test_paragraphs: paragraphs read when decoding, before `source_scale`; None = as in training.
        lacks: why it cannot be run; "" = it can.
    """

    kind: Kind
    preset: str = ""
    small: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    paragraphs: int = 24
    tokens: int | None = None
    graph: Graph = "none"
    ranked: bool = True
    model: str = ""
    test_paragraphs: int | None = None
    lacks: str = ""


def _flat(preset: str, small: str, tokens: int, *, ranked: bool = True) -> System:
    # 24 paragraphs are some 1,600 tokens (000 sec. 4): whoever reads more tokens is given more paragraphs.
    return System(
        "flat", preset, small, paragraphs=max(24, round(24 * tokens / 1600)), tokens=tokens, ranked=ranked
    )  # fmt: skip


def _ht(preset: str, graph: Graph = "none", **overrides: Any) -> System:
    return System("hierarchical", preset, "ht-small", overrides, graph=graph)


def _decoded(what: str) -> System:
    return System("hierarchical", "pht", "pht-small", paragraphs=30, model="pht", lacks=_NO_SCORERS.format(what))


_LAYER = {"encoder_layers": 1, "decoder_layers": 1}
COMPRESSED = (5, 10, 15, 20, 25)  # s of 002 Table 6; 30 is no compression

SYSTEMS: Mapping[str, System] = {
    "lead": System("extractive"),
    "lexrank": System("extractive"),
    # 000
    "ft-600-unranked": _flat("ft-600", "ft-small", 600, ranked=False),
    "ft-600": _flat("ft-600", "ft-small", 600),
    "ft-800": _flat("ft-800", "ft-small", 800),
    "ft-1200": _flat("ft-1200", "ft-small", 1200),
    "t-dmca": _flat("t-dmca", "t-dmca-small", 3000),
    "ht": _ht("ht"),
    "ht-similarity": _ht("ht-similarity", "similarity"),
    "ht-discourse": _ht("ht-discourse", "discourse"),
    "ht-3000": System("hierarchical", "ht", "ht-small", model="ht", test_paragraphs=45),
    "ht-no-positions": _ht("ht-no-positions", paragraph_positions=False),
    "ht-one-head": _ht("ht-one-head", pooling_heads=1),
    "ht-no-global": _ht("ht-no-global", global_layers=0),
    # 001 and 002
    "ft-3": _flat("ft-3", "ft-small", 1600),
    "t-dmca-3": _flat("t-dmca-3", "t-dmca-small", 3000),
    "transformer-xl": _flat("transformer-xl", "transformer-xl-small", 3000),
    "ht-3": System("hierarchical", "ht-3", "ht-small", paragraphs=30),
    "pht-1": System("hierarchical", "pht-1", "pht-small", _LAYER, paragraphs=30),
    "pht": System("hierarchical", "pht", "pht-small", paragraphs=30),
    "vht-1": System("hierarchical", "vht-1", "vht-small", _LAYER, paragraphs=30),
    "vht": System("hierarchical", "vht", "vht-small", paragraphs=30),
    "pht-strcov": _decoded("structural coverage"),
    "pht-extprob": _decoded("scores of the ranker as expected attention"),
    "pht-attalign": _decoded("attention predictor"),
    **{f"pht-attalign-{s}": _decoded("choice of paragraphs by predicted attention") for s in COMPRESSED},
}
