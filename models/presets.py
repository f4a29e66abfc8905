"""Every summarizer of the papers by name, each number with its source, and a small one of each kind for laptops."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """How a paper trained a summarizer, where it differs from Liu & Lapata (2019).

    Attributes:
        training: fields of the training settings.
        source: number of paragraphs read and of tokens of each: fields of the summarizer settings.
        decoding: fields of the decoding settings.
        fine_tuning: whether it is for weights that are loaded (`summarizer.pretrained`), and not for fresh ones.
    """

    training: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, int] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    fine_tuning: bool = False


@dataclass(frozen=True)
class Preset:
    """A summarizer of the papers, or a small one of its kind.

    Attributes:
        architecture: key of `models.registry.ARCHITECTURES`.
        settings: fields of its configuration that differ from the defaults there.
        paper: where it is described.
        note: one line on what it is.
        parameters: published number of parameters at `words` words, or its bounds if only a rounded size was published;
            None if no size was published.
        differences: the points in which paper and released code differ, and which side this preset takes.
        recipe: how its paper trained it.
        reading: how the published size compares with possible readings of the paper, if none of them gives it exactly.
        words: size of the vocabulary at which the number of parameters is counted.
    """

    architecture: str
    settings: Mapping[str, Any]
    paper: str
    note: str
    parameters: int | tuple[int, int] | None = None
    differences: str = ""
    reading: str = ""
    recipe: Recipe = field(default_factory=Recipe)
    words: int = 32_000


# The equations of Liu & Lapata 2019 as printed; the defaults of HierarchicalConfig follow the released code.
# Eq. 16 is followed literally, although its weights are a typo for those of eq. 15.
_EQUATIONS: dict[str, Any] = {
    "norm": "post",
    "position_order": "rank-token",
    "scale_embeddings": False,
    "global_residual": "g+x",
    "inter_projections": "per-head",
    "inter_scaled": False,
    "pooling_projection": True,
    "pooling_weights": "raw",
}
_THREE = {"local_layers": 3, "global_layers": 3, "decoder_layers": 3, "heads": 4}
_SMALL = {"model_size": 128, "feed_forward_size": 512, "heads": 4}
_SMALL_HT = {**_SMALL, "local_layers": 2, "global_layers": 1}
_RELEASED = "released: pre-norm, [token; rank], x sqrt(d), g + (x + c), one scaled Q, K, V, no W_c, normalised weights"
_PRINTED = "paper: post-norm, [rank; token], unscaled, g + x, unscaled Q, K, V and W_c of each head, eq. 16's weights"

_ONE_LAYER = {"encoder_layers": 1, "decoder_layers": 1}
_PHT_POINTS = "released: x sqrt(d), a LayerNorm before the pooling's feed-forward, pooling logits / sqrt(d_head); "
_PHT_POINTS += "paper: without (scale_embeddings, pooling_norm, pooling_scaled)"
_VHT_POINTS = "released: x sqrt(d), dropout and LayerNorm after the ranking encoding (absent from eq. 11)"

# Ma & Zong 2020, sec. 4.2: the schedule of Vaswani et al., whose factor is 1, with 16,000 steps of warm-up; 30 x 100
# tokens.
_HIERARCHICAL = Recipe(
    training={"schedule": "noam", "learning_rate_factor": 1.0, "warmup": 16_000},
    source={"max_paragraphs": 30, "max_paragraph_tokens": 100},
)
# The released GraphSum: noam x 2, gradients clipped at 2, 30 x 150 tokens.
_GRAPHSUM_RECIPE = Recipe(
    training={"schedule": "noam", "learning_rate_factor": 2.0, "clip_norm": 2.0},
    source={"max_paragraphs": 30, "max_paragraph_tokens": 150},
)

_DECODER_ONLY = (
    "loss over input and target in training (loss_over_input); "
    "ours: blocks, windows and segments begin again at the separator, whichever length the source has"
)

# Ma & Zong 2022, Table 5 prints megabytes of 12 bytes a parameter, which FT and PHT of the same table meet to the last
# digit. Both decoder-only systems have 32,000 x 257 = 8,224,000 for words and output biases, and three layers of
# 789,760 as FT's encoder has; what the table leaves beyond these 10,593,280 is compared with what the text of the
# papers may mean.
_DMCA_SIZE = (
    "131.1 MB leave 327,554 to 335,886 for compression: one convolution for keys and values (3 x 256 x 256 + 256) is "
    "196,864, as here; one for each is 393,728, 0.5 % above the table; neither is inside"
)
_XL_SIZE = (
    "130.4 MB leave 269,220 to 277,553 for relative positions: the projection of distances (256 x 256) and two vectors "
    "(256) of Dai et al. in each of three layers are 198,144, as here; no reading of the papers that we know is inside"
)

# See et al. 2017, sec. 5, at 50,000 words; a word is 128 + 256 + 1 parameters, of which 32,000 pieces have fewer.
_PTGEN_WORDS = (50_000 - 32_000) * (128 + 256 + 1)
_PTGEN_SIZE = "published: 21,499,600 + 1,153 for p_gen + 512 for coverage at 50,000 words; the ledger is for 32,000"
_PTGEN = (
    "released: input feeding, [cell; output] as s_t; ours: pieces, of which 400 are fewer words and none is unknown; "
    "Adam, not Adagrad .15 from .1; initial weights"
)
_PTGEN_COV = f"{_PTGEN}; coverage from the first step, theirs in the last 3,000 of 233,000"

# Lewis et al. 2020's tokenizer has 50,264 pieces; its mask token is one row more in Hugging Face's checkpoints, and
# Hie-BART's [BOS] one row more than the 50,264 of the checkpoint that it began from.
_BART_PIECES = 50_264
_BART_BASE = {"model_size": 768, "feed_forward_size": 3072, "heads": 12, "encoder_layers": 6, "decoder_layers": 6}
_SMALL_LAYERS = {"model_size": 256, "feed_forward_size": 1024, "heads": 4, "encoder_layers": 3, "decoder_layers": 3}
_BART_SMALL = {
    **_SMALL_LAYERS,
    **{"attention_dropout": 0.0, "activation_dropout": 0.0},  # the fused kernel of CPUs has no dropout
}
# Shen et al. 2023, sec. 5.3: 4,096 source tokens, by repeating the positions.
_LONG = {"max_positions": 4096, "source_tokens": 4096}
_HED = {"document_begin": True, "hae": True, "had": True, "position_restart": True}
# Shen et al. 2023, sec. 5.3: Adam at 5e-5 without warm-up, cross entropy, for BART and HED alike; its summaries are
# those of transformers' `generate` with a beam of 4, which divides by the length.
_TUNING = Recipe(
    training={"schedule": "constant", "learning_rate": 5e-5, "label_smoothing": 0.0},
    decoding={"beam": 4, "normalisation": "average", "min_length": 20, "as_transformers": True},
    fine_tuning=True,
)
# With 4,096 positions also the paper's lengths: targets and summaries of 1,024 tokens.
_LONG_TUNING = replace(_TUNING, source={"max_target_tokens": 1024}, decoding={**_TUNING.decoding, "max_length": 1024})
# Akiyama et al. 2021, sec. 4.1: 20,000 steps, gradients of 10 batches, and otherwise what fairseq publishes for BART on
# CNN/DM; its weight decay of .01 is not here. At the greatest length the end token has its probability there as in our
# search, not 0 as in transformers; but theirs stops at the first K that end.
_HIE_TUNING = Recipe(
    training={
        "steps": 20_000,
        "accumulation": 10,
        "schedule": "linear",
        "learning_rate": 3e-5,
        "warmup": 500,
        "label_smoothing": 0.1,
        "clip_norm": 0.1,
    },
    decoding={
        "beam": 4,
        "normalisation": "average",
        "length_exponent": 2.0,
        "min_length": 55,
        "max_length": 140,
        "block_ngrams": 3,
    },
    fine_tuning=True,
)
_BART = "ours: weights drawn as in this project's other systems, unless they are loaded"
_HIE_BART = "ours: [BOS] counts as a word of its sentence, text before the first one belongs to the first sentence"

# Beltagy et al. 2020, sec. 7, Xiao et al. 2022, sec. 2.1, and their published configurations; a `<doc-sep>` is one row
# more. Shen et al. 2023, app. B and C compare them at 4,096 source tokens.
_PRIMERA = {"document_begin": True, "max_source_positions": 4096, "source_tokens": 4096, "window": 512}
_LED_SMALL = {**_SMALL_LAYERS, "max_source_positions": 4096, "source_tokens": 4096, "window": 64}
_LIBRARY = "the layers of the library transformers"
_LED_SIZE = "Shen et al. 2023, Table 2 prints 435M"
# Raffel et al. 2020, sec. 3.1 and 3.7.2, and their published configurations: what differs between Base and 11B.
_T5_11B = {
    **{"model_size": 1024, "feed_forward_size": 65_536, "heads": 128, "head_size": 128},
    **{"encoder_layers": 24, "decoder_layers": 24},
}
_T5 = f"{_LIBRARY}; ours: no task prefix before a source, and tuned as Shen et al. 2023 do; theirs AdaFactor at .001"

_GRAPHSUM = "ours: the graph bends the encoder's paragraph attention alone, not the decoder's"


def _ht(settings: Mapping[str, Any], section: str, note: str, parameters: int | None = None) -> Preset:
    return Preset("hierarchical", settings, f"Liu & Lapata 2019, {section}", note, parameters, _RELEASED)


def _ft(tokens: int) -> Preset:
    # Liu & Lapata 2019 trained FT with its released code, hence pre-norm and 8 heads; sec. 4 gives 6 layers.
    settings = {"encoder_layers": 6, "decoder_layers": 6, "heads": 8, "norm": "pre", "source_tokens": tokens}
    return Preset(
        "flat",
        settings,
        "Liu & Lapata 2019, sec. 4",
        f"FT of 6 + 6 layers on {tokens:,} tokens",
        None,
        "released: pre-norm",
    )


def _bart(
    settings: Mapping[str, Any],
    paper: str,
    note: str,
    parameters: int | None = None,
    points: str = _BART,
    rows: int = 1,
    recipe: Recipe | None = None,
) -> Preset:
    """Make a preset of BART's family; `rows` is the number of rows besides those of its tokenizer's pieces."""
    words = _BART_PIECES + rows
    return Preset("bart", settings, paper, note, parameters, points, recipe=recipe or _TUNING, words=words)


def _hed(switches: Mapping[str, Any], row: int, note: str) -> Preset:
    settings = {**_LONG, **switches}
    return _bart(
        settings,
        f"Shen et al. 2023, Table 5, row {row}",
        f"BART-large, 4,096 tokens{note}",
        412_582_912,
        recipe=_LONG_TUNING,
    )


def _hie_bart(words: int) -> Preset:
    note = f"Hie-BART: heads that see words : sentences = {words}:{16 - words}"
    size, rows = (406_291_456, 1) if words < 16 else (406_290_432, 0)  # 16:0 is BART itself, without [BOS]
    return _bart(
        {"sentence_heads": 16 - words}, "Akiyama et al. 2021, Table 2", note, size, _HIE_BART, rows, _HIE_TUNING
    )


PRESETS: dict[str, Preset] = {
    "ht": _ht({}, "sec. 3.2", "HT of the released README: 6 local + 2 global, 1 decoder layer", 15_343_952),
    "ht-checkpoint": _ht({"decoder_layers": 6}, "sec. 3.2", "HT of the released checkpoint: 6 + 2, 6", 20_611_152),
    "ht-paper": Preset(
        "hierarchical",
        {**_EQUATIONS, "local_layers": 5, "global_layers": 2, "decoder_layers": 6},
        "Liu & Lapata 2019, sec. 3.2, sec. 4",
        "HT as printed: 5 local + 2 global layers; decoder depth unstated, 6 as in Vaswani et al.",
        None,
        _PRINTED,
    ),
    "ht-no-positions": _ht({"paragraph_positions": False}, "Table 3", "HT without paragraph position (w/o PP)"),
    "ht-one-head": _ht({"pooling_heads": 1}, "Table 3", "HT without multi-head pooling (w/o MP)"),
    "ht-no-global": _ht({"global_layers": 0}, "Table 3", "HT without global layers (w/o GT)"),
    "ht-similarity": _ht({"graph": "similarity"}, "sec. 3.2.4", "HT + similarity graph", 15_343_952),
    "ht-discourse": _ht({"graph": "discourse"}, "sec. 3.2.4", "HT + discourse graph", 15_343_952),
    "ht-3": Preset(
        "hierarchical",
        _THREE,
        "Ma & Zong 2020, sec. 4.3",
        "HT of Ma & Zong 2020 and 2022: 3 + 3, 3; 4 heads",
        15_770_060,
        _RELEASED,
    ),
    "ht-3-8-heads": Preset(
        "hierarchical",
        {**_THREE, "heads": 8},
        "Ma & Zong 2020, sec. 4.3",
        "the same with 8 heads",
        15_745_016,
        _RELEASED,
    ),
    "ht-3-paper": Preset(
        "hierarchical",
        {**_EQUATIONS, **_THREE},
        "Ma & Zong 2020, sec. 4.3",
        "the same as printed",
        15_929_740,
        _PRINTED,
    ),
    "ht-small": Preset(
        "hierarchical", _SMALL_HT, "Liu & Lapata 2019, sec. 3.2", "HT for laptops: d=128, 2 + 1, 1", None, _RELEASED
    ),
    # A second decoder layer helps to copy more than a second local layer does, and costs less.
    "ht-small-2": Preset(
        "hierarchical",
        {**_SMALL, "feed_forward_size": 256, "local_layers": 1, "global_layers": 1, "decoder_layers": 2},
        "Liu & Lapata 2019, sec. 3.2",
        "HT for laptops with two decoder layers: d=128, narrow feed-forward layers, 1 + 1, 2",
        None,
        _RELEASED,
    ),
    "ft-600": _ft(600),
    "ft-800": _ft(800),
    "ft-1200": _ft(1200),
    "ft-1600": _ft(1600),
    "ft-3": Preset(
        "flat",
        {},
        "Ma & Zong 2020, sec. 4.3, Ma & Zong 2022, Table 5",
        "FT of 3 + 3 layers on 1,600 tokens",
        13_753_600,
    ),
    "ft-small": Preset(
        "flat",
        {**_SMALL, "encoder_layers": 3, "decoder_layers": 1, "norm": "pre"},
        "Liu & Lapata 2019, sec. 4",
        "FT for laptops: d=128, 3 + 1",
    ),
    "pht": Preset(
        "parallel",
        {},
        "Ma & Zong 2020, sec. 3.1, Ma & Zong 2022, sec. 3",
        "PHT of 3 + 3 layers",
        15_201_536,
        _PHT_POINTS,
        recipe=_HIERARCHICAL,
    ),
    "pht-1": Preset(
        "parallel",
        _ONE_LAYER,
        "Ma & Zong 2020, sec. 4.2",
        "PHT of 1 + 1 layers",
        10_988_800,
        _PHT_POINTS,
        recipe=_HIERARCHICAL,
    ),
    "pht-small": Preset(
        "parallel",
        {**_SMALL, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.1},
        "Ma & Zong 2020, sec. 3.1",
        "PHT for laptops: d=128, 2 + 1",
        None,
        _PHT_POINTS,
    ),
    "vht": Preset(
        "vertical", {}, "Ma & Zong 2020, sec. 3.2", "VHT of 3 + 3 layers", 14_544_640, _VHT_POINTS, recipe=_HIERARCHICAL
    ),
    "vht-1": Preset(
        "vertical",
        _ONE_LAYER,
        "Ma & Zong 2020, sec. 4.2",
        "VHT of 1 + 1 layers",
        None,
        _VHT_POINTS,
        recipe=_HIERARCHICAL,
    ),
    "vht-small": Preset(
        "vertical",
        {**_SMALL, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.1},
        "Ma & Zong 2020, sec. 3.2",
        "VHT for laptops: d=128, 2 + 1",
        None,
        _VHT_POINTS,
    ),
    "t-dmca": Preset(
        "memory-compressed",
        # Liu & Lapata 2019, sec. 4: 5 layers, d=512, feed-forward 2,048; heads unstated, 8 as in its other systems.
        {"layers": 5, "model_size": 512, "feed_forward_size": 2048, "heads": 8},
        "Liu & Lapata 2019, sec. 4",
        "T-DMCA of 5 layers, d=512, on 3,000 tokens",
        None,
        _DECODER_ONLY,
    ),
    "t-dmca-3": Preset(
        "memory-compressed",
        {},
        "Ma & Zong 2020, sec. 4.3, Ma & Zong 2022, Table 5",
        "T-DMCA of 3 layers, d=256, on 3,000 tokens",
        (10_920_834, 10_929_166),
        _DECODER_ONLY,
        _DMCA_SIZE,
    ),
    "t-dmca-small": Preset(
        "memory-compressed",
        _SMALL,
        "Liu & Lapata 2019, sec. 4",
        "T-DMCA for laptops: d=128, 3 layers",
        None,
        _DECODER_ONLY,
    ),
    "transformer-xl": Preset(
        "transformer-xl",
        {},
        "Ma & Zong 2020, sec. 4.3, Ma & Zong 2022, Table 5",
        "Transformer-XL of 3 layers, memory 512, on 3,000 tokens",
        (10_862_500, 10_870_833),
        _DECODER_ONLY,
        _XL_SIZE,
    ),
    "transformer-xl-small": Preset(
        "transformer-xl",
        {**_SMALL, "memory": 256},
        "Ma & Zong 2020, sec. 4.3",
        "Transformer-XL for laptops: d=128, 3 layers",
        None,
        _DECODER_ONLY,
    ),
    "graphsum": Preset(
        "graphsum",
        {},
        "Ma & Zong 2022, sec. 5.3",
        "GraphSum: 6 + 2, 8 layers, similarity graph",
        None,
        _GRAPHSUM,
        recipe=_GRAPHSUM_RECIPE,
    ),
    "graphsum-small": Preset(
        "graphsum",
        {**_SMALL, "word_layers": 2, "graph_layers": 1, "decoder_layers": 1},
        "Ma & Zong 2022, sec. 5.3",
        "GraphSum for laptops: d=128, 2 + 1, 1",
        None,
        _GRAPHSUM,
    ),
    "ptgen": Preset(
        "pointer-generator",
        {},
        "Akiyama et al. 2021, Table 1",
        "PTGEN of See et al. 2017: LSTMs of 256, on 400 tokens",
        21_499_600 + 1_153 - _PTGEN_WORDS,
        _PTGEN,
        _PTGEN_SIZE,
    ),
    "ptgen-cov": Preset(
        "pointer-generator",
        {"coverage": True},
        "Akiyama et al. 2021, Table 1",
        "PTGEN+COV: the same with coverage and its loss",
        21_499_600 + 1_153 + 512 - _PTGEN_WORDS,
        _PTGEN_COV,
        _PTGEN_SIZE,
    ),
    "ptgen-small": Preset(
        "pointer-generator",
        {"model_size": 128, "embedding_size": 64},
        "Akiyama et al. 2021, Table 1",
        "PTGEN for laptops: LSTMs of 128",
        None,
        _PTGEN,
    ),
    "bart-large": _bart({}, "Lewis et al. 2020, sec. 2", "BART of 12 + 12 layers, d=1,024", 406_290_432, rows=0),
    "bart-base": _bart(_BART_BASE, "Lewis et al. 2020, sec. 4", "BART of 6 + 6 layers, d=768", 139_420_416),
    "bart-small": _bart(_BART_SMALL, "Lewis et al. 2020, sec. 2", "BART for laptops: d=256, 3 + 3"),
    "hed-row-0": _hed({}, 0, ""),
    "hed-row-1": _hed({"document_begin": True}, 1, ", + <s>"),
    "hed-row-2": _hed({"document_begin": True, "hae": True}, 2, ", + <s> + HAE"),
    "hed-row-3": _hed({"document_begin": True, "hae": True, "position_restart": True}, 3, ", + <s> + HAE + PR"),
    "hed-row-4": _hed({"document_begin": True, "hae": True, "had": True}, 4, ", + <s> + HAE + HAD"),
    "hed": _hed(_HED, 5, ", + <s> + HAE + HAD + PR: HED"),
    "hed-base": _bart(
        {**_BART_BASE, **_LONG, **_HED},
        "Shen et al. 2023, sec. 5.2",
        "HED on BART-base, 4,096 tokens",
        recipe=_LONG_TUNING,
    ),
    "hed-small": _bart({**_BART_SMALL, **_HED}, "Shen et al. 2023, sec. 4", "HED for laptops: d=256, 3 + 3"),
    "hie-bart": _hie_bart(14),
    **{f"hie-bart-{words}-{16 - words}": _hie_bart(words) for words in (16, 15, 13, 12, 11, 10, 9, 8)},
    "hie-bart-small": _bart(
        {**_BART_SMALL, "sentence_heads": 1},
        "Akiyama et al. 2021, sec. 3",
        "Hie-BART for laptops: d=256, 3 + 3, 3 heads of 4 see words",
        None,
        _HIE_BART,
    ),
    "led": Preset(
        "led",
        {},
        "Beltagy et al. 2020, sec. 7",
        "LED-large of 12 + 12 layers, 16,384 tokens",
        459_801_600,
        _LIBRARY,
        _LED_SIZE,
        _LONG_TUNING,
        _BART_PIECES + 1,
    ),
    "primera": Preset(
        "led",
        _PRIMERA,
        "Xiao et al. 2022, sec. 2",
        "PRIMERA: LED, 4,096 tokens, <doc-sep>",
        447_219_712,
        _LIBRARY,
        recipe=_LONG_TUNING,
        words=_BART_PIECES + 2,
    ),
    "led-small": Preset(
        "led",
        _LED_SMALL,
        "Beltagy et al. 2020, sec. 7",
        "LED for laptops: d=256, 3 + 3",
        None,
        _LIBRARY,
        recipe=_TUNING,
    ),
    "primera-small": Preset(
        "led",
        {**_LED_SMALL, "document_begin": True},
        "Xiao et al. 2022, sec. 2",
        "PRIMERA for laptops: d=256, 3 + 3",
        None,
        _LIBRARY,
        recipe=_TUNING,
    ),
    # The row of Akiyama et al. 2021 is that of 11B (Raffel et al. 2020, Table 14).
    "t5": Preset(
        "t5",
        _T5_11B,
        "Akiyama et al. 2021, Table 1, Raffel et al. 2020, sec. 3.7.2",
        "T5 of 24 + 24 layers, d=1,024, feed-forward 65,536: 11B",
        11_307_321_344,
        _T5,
        recipe=_TUNING,
        words=32_128,
    ),
    "t5-base": Preset(
        "t5",
        {},
        "Raffel et al. 2020, sec. 3.1.1",
        "T5 of 12 + 12 layers, d=768",
        222_903_552,
        _T5,
        recipe=_TUNING,
        words=32_128,
    ),
    # Release 1.1 is in no table of the paper; the sizes are its checkpoints', as are those of Flan-T5.
    "t5-1.1-base": Preset(
        "t5",
        {"feed_forward_size": 2048, "gated": True, "own_outputs": True},
        "Raffel et al. 2020, sec. 3.1.1, Shazeer 2020",
        "T5 1.1 and Flan-T5 of 12 + 12 layers, d=768, gated",
        247_577_856,
        _LIBRARY,
        recipe=_TUNING,
        words=32_128,
    ),
    "t5-small": Preset(
        "t5",
        _SMALL_LAYERS,
        "Raffel et al. 2020, sec. 2.1",
        "T5 for laptops: d=256, 3 + 3; the published T5-Small has d=512, 6 + 6",
        None,
        _T5,
        recipe=_TUNING,
    ),
    "longt5-base": Preset(
        "longt5",
        {},
        "Guo et al. 2022, sec. 3.1.2",
        "LongT5 of 12 + 12 layers, d=768, transient global",
        222_913_152,
        _LIBRARY,
        recipe=_TUNING,
        words=32_128,
    ),
    "longt5-small": Preset(
        "longt5",
        {**_SMALL_LAYERS, "radius": 31},
        "Guo et al. 2022, sec. 3.1.2",
        "LongT5 for laptops: d=256, 3 + 3",
        None,
        _LIBRARY,
        recipe=_TUNING,
    ),
}

# Architectures whose memory holds paragraph embeddings (keys of `models.registry.ARCHITECTURES`).
PREDICTABLE = ("parallel", "graphsum")
# Architectures that may be told to copy words of the source; the pointer-generator always does.
COPYING = ("hierarchical", "flat", "parallel", "vertical", "graphsum", "bart")
# Architectures that read at most so many tokens of an article: `source_tokens` of their configuration.
SOURCE_LIMITED = ("flat", "memory-compressed", "transformer-xl", "pointer-generator", "bart", "led", "t5", "longt5")
# Architectures whose decoder has an embedding for each position -> how many by default (`max_positions`).
LEARNED_POSITIONS = {"bart": 1024, "led": 1024}
# Architectures whose layers are those of transformers.
OF_TRANSFORMERS = ("led", "t5", "longt5")


def find_preset(name: str) -> Preset:
    """Return the preset called `name`.

    Raises:
        ValueError: there is no such preset.
    """
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}, expected one of: {', '.join(PRESETS)}")
    return PRESETS[name]


def sees_sentences(name: str, overrides: Mapping[str, Any]) -> bool:
    """Tell whether a preset, with these fields of its configuration changed, has heads that see sentences
    (Akiyama et al. 2021, sec. 3.3).

    Raises:
        ValueError: there is no such preset.
    """
    return bool({**find_preset(name).settings, **overrides}.get("sentence_heads"))


def check_predictable(architecture: str) -> None:
    """Check that the attention of an architecture can be predicted, by its key.

    Raises:
        ValueError: it makes no paragraph embeddings.
    """
    if architecture not in PREDICTABLE:
        raise ValueError(
            f"attention can be predicted for summarizers with paragraph embeddings, those of architecture "
            f"{' or '.join(PREDICTABLE)} (PHT, GraphSum), not for one of {architecture!r}"
        )


def check_library(architecture: str) -> None:
    """Check that the library of an architecture is there, by its key.

    Raises:
        ValueError: it is missing.
    """
    if architecture in OF_TRANSFORMERS and importlib.util.find_spec("transformers") is None:
        raise ValueError(
            f"architecture {architecture!r} needs the library transformers, found none: pip install -e '.[backbones]'"
        )
