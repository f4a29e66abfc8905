"""Every value of every preset and default, written out once more, each with where it comes from.

"Released" is the code of Liu & Lapata 2019 or Ma & Zong 2020 that gave the published scores, "published runs" are those
of a system's own authors. A field that is added to a configuration needs its line here.
"""

from dataclasses import asdict, fields

import pytest

from models.attention_predictor import AttentionPredictorConfig
from models.presets import PRESETS
from models.ranker import RankerConfig
from models.registry import ARCHITECTURES, build_summarizer
from models.search.settings import Guidance, SearchSettings
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective

Values = dict[str, object]

# Values that hold for an architecture unless a preset says otherwise below.
VALUES: dict[str, Values] = {
    "hierarchical": {
        "pad": 0,
        "model_size": 256,  # Liu & Lapata 2019, sec. 4
        "feed_forward_size": 1024,  # Liu & Lapata 2019, sec. 4
        "heads": 8,  # released
        "local_layers": 6,  # released: 8 layers, the last two global
        "global_layers": 2,
        "decoder_layers": 1,  # released README
        "dropout": 0.1,  # Liu & Lapata 2019, sec. 4
        "attention_dropout": 0.0,
        "norm": "pre",  # released
        "norm_epsilon": 1e-6,  # released
        "position_order": "token-rank",  # released: [token; rank]
        "scale_embeddings": True,  # released: x sqrt(d)
        "paragraph_positions": True,  # Liu & Lapata 2019, eq. 9
        "pooling_heads": None,
        "pooling_weights": "normalised",  # released; eq. 16 prints the scores
        "pooling_projection": False,  # released: no W_c
        "inter_projections": "shared",  # released
        "inter_scaled": True,  # released
        "global_residual": "g+(x+c)",  # released
        "graph": "none",
        "copying": False,  # in none of the papers
    },
    "flat": {
        "pad": 0,
        "model_size": 256,  # Ma & Zong 2020, sec. 4.3
        "feed_forward_size": 1024,
        "heads": 4,
        "encoder_layers": 3,  # Ma & Zong 2022, Table 5: 165.0 MB
        "decoder_layers": 3,
        "source_tokens": 1600,  # Ma & Zong 2022, sec. 5.3
        "dropout": 0.1,
        "attention_dropout": 0.0,
        "norm": "post",  # Vaswani et al. 2017
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,  # Vaswani et al. 2017
        "copying": False,  # in none of the papers
    },
    "parallel": {
        "pad": 0,
        "model_size": 256,  # Ma & Zong 2022, sec. 5.2
        "feed_forward_size": 1024,  # Ma & Zong 2022, sec. 5.2
        "heads": 4,  # Ma & Zong 2022, sec. 5.2
        "encoder_layers": 3,  # Ma & Zong 2022, sec. 5.2
        "decoder_layers": 3,
        "dropout": 0.3,  # Ma & Zong 2020, sec. 4.2, Ma & Zong 2022, sec. 5.2
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,  # released
        "pooling_norm": True,  # released
        "pooling_scaled": True,  # released
        "copying": False,  # in none of the papers
    },
    "vertical": {
        "pad": 0,
        "model_size": 256,  # Ma & Zong 2020, sec. 4.2
        "feed_forward_size": 1024,
        "heads": 4,
        "encoder_layers": 3,
        "decoder_layers": 3,
        "dropout": 0.3,  # Ma & Zong 2020, sec. 4.2
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,  # released
        "ranking_norm": True,  # released
        "ranking_residual": False,
        "copying": False,  # in none of the papers
    },
    "memory-compressed": {
        "pad": 0,
        "model_size": 256,  # Ma & Zong 2020, sec. 4.3
        "feed_forward_size": 1024,
        "heads": 4,
        "layers": 3,  # Ma & Zong 2020, sec. 4.3
        "source_tokens": 3000,  # Liu & Lapata 2019, Table 2, Ma & Zong 2020, sec. 4.3
        "block": 256,  # published runs
        "window": 3,  # published runs: kernel and stride 3
        "dropout": 0.1,  # Liu & Lapata 2019, sec. 4
        "norm": "post",
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,
        "loss_over_input": True,  # Liu et al. 2018
    },
    "transformer-xl": {
        "pad": 0,
        "model_size": 256,
        "feed_forward_size": 1024,
        "heads": 4,
        "layers": 3,  # Ma & Zong 2020, sec. 4.3
        "source_tokens": 3000,
        "memory": 512,  # Ma & Zong 2020, sec. 4.3
        "memory_gradient": True,  # ours
        "dropout": 0.1,
        "norm": "post",
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,
        "loss_over_input": True,
    },
    "pointer-generator": {  # See et al. 2017, sec. 5
        "pad": 0,
        "model_size": 256,
        "embedding_size": 128,
        "source_tokens": 400,
        "coverage": False,
        "coverage_loss": 1.0,  # sec. 5: lambda
        "dropout": 0.0,  # none
    },
    "graphsum": {  # published runs
        "pad": 0,
        "model_size": 256,
        "feed_forward_size": 1024,
        "heads": 8,
        "word_layers": 6,
        "graph_layers": 2,
        "decoder_layers": 8,
        "graph": "similarity",
        "sigma": 2.0,
        "dropout": 0.1,
        "norm": "pre",
        "norm_epsilon": 1e-6,
        "scale_embeddings": True,
        "copying": False,  # in none of the papers
    },
    "bart": {  # bart-large: Lewis et al. 2020, sec. 2, and its published configuration
        "pad": 0,
        "begin": 2,
        "end": 2,
        "source_begin": 0,
        "model_size": 1024,
        "feed_forward_size": 4096,
        "heads": 16,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "max_positions": 1024,
        "source_tokens": 1024,
        "dropout": 0.1,
        "attention_dropout": 0.1,
        "activation_dropout": 0.1,
        "document_begin": False,
        "hae": False,
        "had": False,
        "position_restart": False,
        "sentence_heads": 0,
        "sentence_begin": None,
        "copying": False,  # in none of the papers
        "gradient_checkpointing": False,
    },
    "led": {  # led-large-16384's published configuration (Beltagy et al. 2020)
        "pad": 0,
        "begin": 2,
        "end": 2,
        "source_begin": 0,
        "separator": None,
        "model_size": 1024,
        "feed_forward_size": 4096,
        "heads": 16,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "max_positions": 1024,
        "max_source_positions": 16_384,
        "source_tokens": 16_384,
        "window": 1024,
        "dropout": 0.1,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "document_begin": False,
    },
    "t5": {  # t5-base's published configuration (Raffel et al. 2020)
        "pad": 0,
        "begin": 0,
        "end": 1,
        "model_size": 768,
        "feed_forward_size": 3072,
        "heads": 12,
        "head_size": 64,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "source_tokens": 512,  # Raffel et al. 2020, sec. 3.1.2
        "dropout": 0.1,
        "gated": False,
        "own_outputs": False,
        "document_begin": False,
    },
    "longt5": {  # long-t5-tglobal-base's published configuration (Guo et al. 2022)
        "pad": 0,
        "begin": 0,
        "end": 1,
        "model_size": 768,
        "feed_forward_size": 2048,
        "heads": 12,
        "head_size": 64,
        "encoder_layers": 12,
        "decoder_layers": 12,
        "source_tokens": 4096,  # the longest inputs of its pre-training
        "radius": 127,
        "global_block": 16,
        "dropout": 0.1,
        "gated": True,
        "own_outputs": False,  # a folder says whether it has such outputs
        "document_begin": False,
    },
}
PRINTED: Values = {  # Liu & Lapata's (2019) equations
    "norm": "post",  # eq. 11
    "position_order": "rank-token",  # eq. 9
    "scale_embeddings": False,  # eq. 10
    "global_residual": "g+x",  # eq. 23
    "inter_projections": "per-head",  # eq. 17-19
    "inter_scaled": False,  # eq. 20
    "pooling_projection": True,  # eq. 16
    "pooling_weights": "raw",  # eq. 16
}
THREE: Values = {"local_layers": 3, "global_layers": 3, "decoder_layers": 3}  # Ma & Zong 2020, sec. 4.3
# Liu & Lapata 2019, sec. 4; released
FLAT: Values = {"encoder_layers": 6, "decoder_layers": 6, "heads": 8, "norm": "pre"}
ONE: Values = {"encoder_layers": 1, "decoder_layers": 1}  # Ma & Zong 2020, sec. 4.2
SMALL: Values = {"model_size": 128, "feed_forward_size": 512, "heads": 4}  # ours, for laptops
# Lewis et al. 2020, sec. 4
BASE: Values = {"model_size": 768, "feed_forward_size": 3072, "heads": 12, "encoder_layers": 6, "decoder_layers": 6}
LONG: Values = {"max_positions": 4096, "source_tokens": 4096}  # Shen et al. 2023, sec. 5.3
# Shen et al. 2023, Table 5, rows 2 and 5
HAE: Values = {"document_begin": True, "hae": True}
HED: Values = {**HAE, "had": True, "position_restart": True}
SMALL_BART: Values = {  # ours, for laptops
    **{"model_size": 256, "feed_forward_size": 1024, "heads": 4, "encoder_layers": 3, "decoder_layers": 3},
    **{"attention_dropout": 0.0, "activation_dropout": 0.0},
}
SMALL_LAYERS: Values = {
    **{"model_size": 256, "feed_forward_size": 1024, "heads": 4, "encoder_layers": 3, "decoder_layers": 3},
}
SMALL_LED: Values = {**SMALL_LAYERS, "max_source_positions": 4096, "source_tokens": 4096, "window": 64}

# Preset -> architecture, and what differs from the values above.
CHANGES: dict[str, tuple[str, Values]] = {
    "ht": ("hierarchical", {}),
    "ht-checkpoint": ("hierarchical", {"decoder_layers": 6}),  # released checkpoint
    "ht-paper": ("hierarchical", {**PRINTED, "local_layers": 5, "global_layers": 2, "decoder_layers": 6}),  # sec. 4
    "ht-no-positions": ("hierarchical", {"paragraph_positions": False}),  # Liu & Lapata 2019, Table 3
    "ht-one-head": ("hierarchical", {"pooling_heads": 1}),  # Liu & Lapata 2019, Table 3
    "ht-no-global": ("hierarchical", {"global_layers": 0}),  # Liu & Lapata 2019, Table 3
    "ht-similarity": ("hierarchical", {"graph": "similarity"}),  # Liu & Lapata 2019, sec. 3.2.4
    "ht-discourse": ("hierarchical", {"graph": "discourse"}),
    "ht-3": ("hierarchical", {**THREE, "heads": 4}),  # Ma & Zong 2020, sec. 4.3
    "ht-3-8-heads": ("hierarchical", {**THREE, "heads": 8}),
    "ht-3-paper": ("hierarchical", {**PRINTED, **THREE, "heads": 4}),
    "ht-small": ("hierarchical", {**SMALL, "local_layers": 2, "global_layers": 1}),
    "ht-small-2": (
        "hierarchical",
        {**SMALL, "feed_forward_size": 256, "local_layers": 1, "global_layers": 1, "decoder_layers": 2},
    ),
    "ft-600": ("flat", {**FLAT, "source_tokens": 600}),  # Liu & Lapata 2019, Table 2
    "ft-800": ("flat", {**FLAT, "source_tokens": 800}),
    "ft-1200": ("flat", {**FLAT, "source_tokens": 1200}),
    "ft-1600": ("flat", {**FLAT, "source_tokens": 1600}),
    "ft-3": ("flat", {}),
    "ft-small": ("flat", {**SMALL, "encoder_layers": 3, "decoder_layers": 1, "norm": "pre"}),
    "pht": ("parallel", {}),
    "pht-1": ("parallel", ONE),
    "pht-small": ("parallel", {**SMALL, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.1}),
    "vht": ("vertical", {}),
    "vht-1": ("vertical", ONE),
    "vht-small": ("vertical", {**SMALL, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.1}),
    # Liu & Lapata 2019
    "t-dmca": ("memory-compressed", {"layers": 5, "model_size": 512, "feed_forward_size": 2048, "heads": 8}),
    "t-dmca-3": ("memory-compressed", {}),
    "t-dmca-small": ("memory-compressed", SMALL),
    "transformer-xl": ("transformer-xl", {}),
    "transformer-xl-small": ("transformer-xl", {**SMALL, "memory": 256}),
    "graphsum": ("graphsum", {}),
    "graphsum-small": ("graphsum", {**SMALL, "word_layers": 2, "graph_layers": 1, "decoder_layers": 1}),
    "ptgen": ("pointer-generator", {}),
    "ptgen-cov": ("pointer-generator", {"coverage": True}),
    "ptgen-small": ("pointer-generator", {"model_size": 128, "embedding_size": 64}),
    "bart-large": ("bart", {}),
    "bart-base": ("bart", BASE),
    "bart-small": ("bart", SMALL_BART),
    # Shen et al. 2023, Table 5, and sec. 5.2 for the one on BART-base
    "hed-row-0": ("bart", LONG),
    "hed-row-1": ("bart", {**LONG, "document_begin": True}),
    "hed-row-2": ("bart", {**LONG, **HAE}),
    "hed-row-3": ("bart", {**LONG, **HAE, "position_restart": True}),
    "hed-row-4": ("bart", {**LONG, **HAE, "had": True}),
    "hed": ("bart", {**LONG, **HED}),
    "hed-base": ("bart", {**BASE, **LONG, **HED}),
    "hed-small": ("bart", {**SMALL_BART, **HED}),
    "hie-bart": ("bart", {"sentence_heads": 2}),  # Akiyama et al. 2021, sec. 4.2: 14:2
    # Akiyama et al. 2021, Table 2
    "hie-bart-16-0": ("bart", {}),
    "hie-bart-15-1": ("bart", {"sentence_heads": 1}),
    "hie-bart-13-3": ("bart", {"sentence_heads": 3}),
    "hie-bart-12-4": ("bart", {"sentence_heads": 4}),
    "hie-bart-11-5": ("bart", {"sentence_heads": 5}),
    "hie-bart-10-6": ("bart", {"sentence_heads": 6}),
    "hie-bart-9-7": ("bart", {"sentence_heads": 7}),
    "hie-bart-8-8": ("bart", {"sentence_heads": 8}),
    "hie-bart-small": ("bart", {**SMALL_BART, "sentence_heads": 1}),
    "led": ("led", {}),
    # Xiao et al. 2022: 4,096 tokens, windows of 512, a mark for each document
    "primera": (
        "led",
        {"document_begin": True, "max_source_positions": 4096, "source_tokens": 4096, "window": 512},
    ),
    "led-small": ("led", SMALL_LED),
    "primera-small": ("led", {**SMALL_LED, "document_begin": True}),
    # t5-11b's published configuration
    "t5": (
        "t5",
        {
            **{"model_size": 1024, "feed_forward_size": 65_536, "heads": 128, "head_size": 128},
            **{"encoder_layers": 24, "decoder_layers": 24},
        },
    ),
    "t5-base": ("t5", {}),
    # The published configuration of T5 1.1 base, which Flan-T5's is
    "t5-1.1-base": ("t5", {"feed_forward_size": 2048, "gated": True, "own_outputs": True}),
    "t5-small": ("t5", SMALL_LAYERS),
    "longt5-base": ("longt5", {}),
    "longt5-small": ("longt5", {**SMALL_LAYERS, "radius": 31}),
}


def test_these_are_all_presets() -> None:
    assert list(PRESETS) == list(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_preset_has_the_values_of_its_paper(name: str) -> None:
    architecture, changes = CHANGES[name]
    assert PRESETS[name].architecture == architecture
    found = asdict(ARCHITECTURES[architecture].config(vocabulary_size=9, **PRESETS[name].settings))
    assert found == {"vocabulary_size": 9, **VALUES[architecture], **changes}


def test_small_presets_say_so() -> None:
    small = {
        name
        for name, preset in PRESETS.items()
        if preset.settings.get("model_size") == (256 if preset.architecture in ("bart", "led", "t5", "longt5") else 128)
    }
    assert small == {name for name in CHANGES if "small" in name}


def test_a_search_is_that_of_000() -> None:
    assert asdict(SearchSettings()) == {
        "beam": 5,  # Liu & Lapata 2019, sec. 4
        "normalisation": "wu",  # Liu & Lapata 2019, sec. 4
        "alpha": 0.4,  # Liu & Lapata 2019, sec. 4
        "length_exponent": 1.0,  # Ma & Zong 2020, sec. 4.2
        "min_length": 20,  # released
        "max_length": 400,  # released
        "block_ngrams": 0,  # Liu & Lapata 2019: none
        "block_recent": 0,
        "allow_unknown": False,
        "as_transformers": False,
    }
    assert asdict(Guidance()) == {
        "alignment": "none",
        "beta": 0.8,  # Ma & Zong 2022, sec. 5.3
        "when": "step",  # Ma & Zong 2022, eq. 17
        "coverage": 0.0,
        "kept": None,
    }


def test_a_trainer_is_that_of_000() -> None:
    assert asdict(TrainerSettings(steps=7)) == {
        "steps": 7,
        "accumulation": 1,
        "clip_norm": None,
        "log_interval": 50,
        "validation_interval": 1000,
        "validate_start": False,
        "checkpoint_interval": None,
        "keep_best": 5,  # Liu & Lapata 2019, sec. 4
        "patience": None,
        "max_skipped": 10,
        "max_seconds": None,
        "precision": "auto",
        "compile": False,
        "seed": 0,
    }
    model = build_summarizer("ht-small", vocabulary_size=9)
    objective = TokenObjective(model, batch_tokens=1)
    assert objective.label_smoothing == 0.1  # Liu & Lapata 2019, sec. 4
    group = objective.optimizer().param_groups[0]
    assert (group["betas"], group["eps"]) == ((0.9, 0.998), 1e-9)  # released


def test_the_ranker_is_that_of_000_and_the_attention_predictor_that_of_002() -> None:
    assert asdict(RankerConfig(vocabulary=9, pad=1)) == {
        "vocabulary": 9,
        "pad": 1,
        "embedding": 256,  # unstated
        "hidden": 256,  # Liu & Lapata 2019, sec. 4
        "dropout": 0.2,  # Liu & Lapata 2019, sec. 4
    }
    assert asdict(AttentionPredictorConfig()) == {
        "model_size": 256,
        "feed_forward_size": 1024,
        "heads": 4,
        "layers": 2,  # Ma & Zong 2022, sec. 5.2
        "dropout": 0.5,  # Ma & Zong 2022, sec. 5.2
        "norm_epsilon": 1e-6,
    }


def test_a_configuration_has_no_default_for_what_a_corpus_decides() -> None:
    for architecture in ARCHITECTURES.values():
        with pytest.raises(TypeError, match="vocabulary_size"):
            architecture.config()
        assert [field.name for field in fields(architecture.config)][:2] == ["vocabulary_size", "pad"]
