"""Every system of the papers' tables: its preset at either size, and what it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tasks.summarization.settings import Graph

Kind = Literal["extractive", "flat", "hierarchical"]


@dataclass(frozen=True)
class TableSystem:
    """A row of a table."""

    kind: Kind  # extractive systems are not trained; flat ones read one sequence, hierarchical ones paragraphs
    preset: str = ""  # of the papers' size (`models/presets.toml`)
    small: str = ""  # preset for laptops
    overrides: Mapping[str, Any] = field(default_factory=dict)  # fields of the small preset that make it this system
    paragraphs: int = 24  # ranked paragraphs read in training, before `source_scale`
    tokens: int | None = None  # maximum number of tokens read of all paragraphs, before `source_scale`; None = no limit
    graph: Graph = "none"  # paragraph graph it reads
    ranked: bool = True  # whether paragraphs are ranked, or read as found
    model: str = ""  # the system whose trained model is used; "" = its own
    test_paragraphs: int | None = None  # paragraphs read when decoding, before `source_scale`; None = as in training
    # maximum number of tokens read of all paragraphs when decoding, before `source_scale`; None = as in training
    test_tokens: int | None = None
    # fields of the decoding settings that make it this system
    decoding: Mapping[str, Any] = field(default_factory=dict)
    # s, paragraphs of highest predicted attention read when decoding, before `source_scale`; None = all
    kept: int | None = None
    # pre-trained weights from which its paper began: without them it is run at the small size alone, and not even
    # there if it has no small preset
    weights: str = ""

    def lacks_weights(self, *, small: bool) -> bool:
        """Whether it cannot be run at a size, for lack of its weights."""
        return bool(self.weights) and not (small and self.small)

    @property
    def stands_for_its_kind(self) -> bool:
        """Whether it is compared with systems of the other kind: complete, on ranked paragraphs, with plain search.

        Ablations, shallower versions, unranked input, longer test input and guided search are compared only with the
        system from which they are derived.
        """
        return self.kind != "extractive" and self.ranked and not self.overrides and not self.model


# kept by ranking (Liu & Lapata 2019, Table 1), and all that the released examples have (Ma & Zong 2022, sec. 5.1)
MOST_PARAGRAPHS = 40

_BART = "facebook/bart-large"  # of BART(base), LongT5 and the others: Shen et al. 2023, app. B

# How Ma & Zong 2020 and 2022 decode every system (Ma & Zong 2020, sec. 4.2, Ma & Zong 2022, sec. 5.2 and eq. 17).
_BY_LENGTH: Mapping[str, Any] = {
    "normalisation": "average",
    "block_ngrams": 3,
    "block_recent": 2,
    "min_length": 0,
    "max_length": 200,
}


def _flat(
    preset: str, small: str, tokens: int, *, ranked: bool = True, decoding: Mapping[str, Any] | None = None
) -> TableSystem:
    # 24 paragraphs are some 1,600 tokens (Liu & Lapata 2019, sec. 4): whoever reads more tokens is given all that
    # ranking keeps.
    paragraphs = 24 if tokens <= 1600 else MOST_PARAGRAPHS
    return TableSystem(
        "flat", preset, small, paragraphs=paragraphs, tokens=tokens, ranked=ranked, decoding=decoding or {}
    )


def _ht(preset: str, graph: Graph = "none", **overrides: Any) -> TableSystem:
    return TableSystem("hierarchical", preset, "ht-small", overrides, graph=graph)


def _hierarchical(preset: str, small: str, tokens: int | None = None, **overrides: Any) -> TableSystem:
    return TableSystem("hierarchical", preset, small, overrides, paragraphs=30, tokens=tokens, decoding=_BY_LENGTH)


def _decoded(kept: int | None = None, **decoding: Any) -> TableSystem:
    return replace(_hierarchical("pht", "pht-small"), model="pht", decoding={**_BY_LENGTH, **decoding}, kept=kept)


def _bart(
    kind: Kind, preset: str, small: str, overrides: Mapping[str, Any] | None = None, weights: str = _BART
) -> TableSystem:
    # BART's own 1,024 positions, of which a paragraph fills 70 or so.
    return TableSystem(kind, preset, small, overrides or {}, paragraphs=24, tokens=1024, weights=weights)


def _long(preset: str, small: str, weights: str) -> TableSystem:
    # As BART and HED at the small size, so that they differ in the architecture alone.
    return _bart("flat", preset, small, weights=weights)


def _ratio(words: int) -> TableSystem:
    # All of 16 heads, so that they differ in the ratio alone.
    preset = "hie-bart" if words == 14 else f"hie-bart-{words}-{16 - words}"
    return _bart("hierarchical", preset, "hie-bart-small", {"heads": 16, "sentence_heads": 16 - words})


# A quoted row of Akiyama et al. 2021, Table 1, whose system has no adapter.
_BERTSUM = (
    "those of BERTSUMEXTABS (Liu & Lapata 2019, Text Summarization), and an encoder of BERT with its WordPiece pieces, "
    "first trained to extract"
)

_LAYER = {"encoder_layers": 1, "decoder_layers": 1}
_HAE = {"document_begin": True, "hae": True}
RATIOS = (16, 15, 14, 13, 12, 11, 10, 9, 8)  # heads of 16 for words (Akiyama et al. 2021, Table 2)
COMPRESSED = (5, 10, 15, 20, 25)  # s of Ma & Zong 2022, Table 6; 30 is no compression

SYSTEMS: Mapping[str, TableSystem] = {
    "lead": TableSystem("extractive"),
    "lexrank": TableSystem("extractive"),
    # Liu & Lapata 2019
    "ft-600-unranked": _flat("ft-600", "ft-small", 600, ranked=False),
    "ft-600": _flat("ft-600", "ft-small", 600),
    "ft-800": _flat("ft-800", "ft-small", 800),
    "ft-1200": _flat("ft-1200", "ft-small", 1200),
    "t-dmca": _flat("t-dmca", "t-dmca-small", 3000),
    "ht": _ht("ht"),
    "ht-similarity": _ht("ht-similarity", "similarity"),
    "ht-discourse": _ht("ht-discourse", "discourse"),
    "ht-3000": TableSystem(
        "hierarchical", "ht", "ht-small", model="ht", test_paragraphs=MOST_PARAGRAPHS, test_tokens=3000
    ),
    "ht-no-positions": _ht("ht-no-positions", paragraph_positions=False),
    "ht-one-head": _ht("ht-one-head", pooling_heads=1),
    "ht-no-global": _ht("ht-no-global", global_layers=0),
    # Ma & Zong 2020 and 2022
    "ft-3": _flat("ft-3", "ft-small", 1600, decoding=_BY_LENGTH),
    "t-dmca-3": _flat("t-dmca-3", "t-dmca-small", 3000, decoding=_BY_LENGTH),
    "transformer-xl": _flat("transformer-xl", "transformer-xl-small", 3000, decoding=_BY_LENGTH),
    "ht-3": _hierarchical("ht-3", "ht-small", 1600),  # cut as FT's input is (Ma & Zong 2020, sec. 4.3)
    "pht-1": _hierarchical("pht-1", "pht-small", **_LAYER),
    "pht": _hierarchical("pht", "pht-small"),
    "vht-1": _hierarchical("vht-1", "vht-small", **_LAYER),
    "vht": _hierarchical("vht", "vht-small"),
    "pht-strcov": _decoded(coverage=1.0),
    "pht-extprob": _decoded(alignment="ranked"),
    "pht-attalign": _decoded(alignment="predicted"),
    **{f"pht-attalign-{s}": _decoded(s, alignment="predicted") for s in COMPRESSED},
    # Shen et al. 2023
    "bart": _bart("flat", "bart-large", "bart-small"),
    "hed": _bart("hierarchical", "hed", "hed-small"),
    "hed-base": _bart("hierarchical", "hed-base", "hed-small", weights="facebook/bart-base"),
    "hed-1": _bart("hierarchical", "hed-row-1", "bart-small", {"document_begin": True}),
    "hed-2": _bart("hierarchical", "hed-row-2", "bart-small", _HAE),
    "hed-3": _bart("hierarchical", "hed-row-3", "bart-small", {**_HAE, "position_restart": True}),
    "hed-4": _bart("hierarchical", "hed-row-4", "bart-small", {**_HAE, "had": True}),
    "hed-cnn": TableSystem("hierarchical", weights="facebook/bart-large-cnn"),
    "led": _long("led", "led-small", "allenai/led-large-16384"),
    "longt5": _long("longt5-base", "longt5-small", "google/long-t5-tglobal-base"),
    "primera": _long("primera", "primera-small", "allenai/PRIMERA"),
    # Akiyama et al. 2021; its pointer-generators are those of See et al. 2017, on 400 tokens
    "ptgen": _flat("ptgen", "ptgen-small", 400),
    "ptgen-cov": replace(_flat("ptgen-cov", "ptgen-small", 400), overrides={"coverage": True}),
    "hie-bart": _bart("hierarchical", "hie-bart", "hie-bart-small"),
    **{f"hie-bart-{words}-{16 - words}": _ratio(words) for words in RATIOS},
    "bart-cnn": TableSystem("flat", weights="fairseq bart.large.cnn"),
    "bertsumextabs": TableSystem("flat", weights=_BERTSUM),
    "t5": _long("t5", "t5-small", "google-t5/t5-11b"),
}
