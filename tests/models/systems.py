"""Small batches and tiny models that the tests of every architecture share."""

import functools
import importlib.util
from dataclasses import asdict, replace

import torch

from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.presets import OF_TRANSFORMERS, PRESETS
from models.registry import build_summarizer, configuration

PAD = 0
VOCABULARY = 29

# What makes each architecture tiny; the switches of its presets stay as they are.
_TINY = {"model_size": 16, "feed_forward_size": 32}
_TINY_T5 = {**_TINY, **{"heads": 4, "head_size": 4, "encoder_layers": 2, "decoder_layers": 2, "source_tokens": 64}}
TINY: dict[str, dict[str, object]] = {
    "hierarchical": {**_TINY, "local_layers": 2},
    "flat": {**_TINY, "encoder_layers": 2, "decoder_layers": 2},
    "parallel": {**_TINY, "encoder_layers": 2, "decoder_layers": 2},
    "vertical": {**_TINY, "encoder_layers": 2, "decoder_layers": 2},
    # Blocks short enough that a source has several and a target more than one.
    "memory-compressed": {**_TINY, "block": 4},
    "transformer-xl": {**_TINY, "memory": 7, "layers": 2},
    "pointer-generator": {"model_size": 16, "embedding_size": 8},
    "graphsum": {**_TINY, "word_layers": 1, "graph_layers": 2, "decoder_layers": 2},
    # A sentence mark that occurs in the batches.
    "bart": {
        **_TINY,
        "heads": 4,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_positions": 40,
        "source_tokens": 40,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "sentence_begin": 7,
    },
    # A mark that occurs in the batches, within a document and before it; windows that divide an article.
    "led": {
        **_TINY,
        "heads": 4,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_positions": 40,
        "max_source_positions": 96,
        "source_tokens": 64,
        "window": 4,
        "source_begin": 7,
    },
    "t5": _TINY_T5,
    "longt5": {**_TINY_T5, "radius": 2, "global_block": 3},
    # A sentence mark that occurs in the batches, and positions that the padding of an article may exceed.
    "bertsum": {
        **_TINY,
        "heads": 4,
        "encoder_heads": 4,
        "encoder_feed_forward_size": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "source_positions": 40,
        "source_tokens": 40,
        "attention_dropout": 0.0,
        "sentence_begin": 7,
    },
    "causal": {
        **{**_TINY, "heads": 4, "key_value_heads": 2, "layers": 2, "positions": 200, "source_tokens": 64},
        **{"more": {"tie_word_embeddings": True}, "before_title": (5, 9), "before_paragraphs": (6,), "after": (7, 8)},
        "marks": tuple((10, 11 + number) for number in range(9)),
    },
}
DEPTHS = ("local_layers", "global_layers", "decoder_layers", "encoder_layers", "graph_layers", "sentence_heads")


def tiny_fields(preset: str) -> dict[str, object]:
    """Return what makes a preset tiny: d = 16, at most two layers of a kind, no dropout."""
    chosen = PRESETS[preset]
    depths = {name: min(2, int(chosen.settings[name])) for name in DEPTHS if name in chosen.settings}
    return {**TINY[chosen.architecture], **depths, "dropout": 0.0}


def tiny(preset: str, seed: int = 0, **overrides: object) -> Summarizer:
    """Return a tiny model of a preset in evaluation mode."""
    torch.manual_seed(seed)
    fields = {**tiny_fields(preset), **overrides}
    return build_summarizer(preset, vocabulary_size=VOCABULARY, pad=PAD, **fields).eval()


def available() -> list[str]:
    """Return the presets whose library is installed; `test_huggingface.py` says visibly where it is not."""
    installed = importlib.util.find_spec("transformers") is not None
    return [name for name, preset in PRESETS.items() if installed or preset.architecture not in OF_TRANSFORMERS]


@functools.cache
def distinct_presets() -> list[str]:
    """Return the presets, one of those that differ only in sizes."""
    seen: dict[str, str] = {}
    for name in available():
        # Not of the model: every process of tests asks while it collects, and transformers takes seconds to load.
        settings = configuration(name, vocabulary_size=VOCABULARY, pad=PAD, **tiny_fields(name))
        config = {"architecture": PRESETS[name].architecture, **asdict(settings)}
        sizes = {field: bool(config[field]) for field in DEPTHS if field in config}
        sizes |= {field: None for field in ("heads", "source_tokens", "dropout") if field in config}
        sizes |= {"graph": config.get("graph", "none") != "none"}
        seen.setdefault(str(sorted({**config, **sizes}.items())), name)
    return list(seen.values())


def batch(seed: int = 0, articles: int = 3, paragraphs: int = 4, tokens: int = 6) -> SourceBatch:
    """Return random articles: the first misses paragraphs, the second is ragged, the others are full."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, VOCABULARY, (articles, paragraphs, tokens), generator=generator)
    ids[0, paragraphs // 2 :] = PAD
    if articles > 1:
        ids[1, 0, tokens // 2 :] = PAD
        ids[1, 1, 1:] = PAD
    graph = torch.rand(articles, paragraphs, paragraphs, generator=generator)
    graph = ((graph + graph.transpose(1, 2)) / 2).masked_fill(graph < 0.2, 0.0)
    graph[:, range(paragraphs), range(paragraphs)] = 1.0
    ranks = torch.arange(paragraphs).expand(articles, -1).contiguous()
    return SourceBatch(ids, ranks, torch.zeros(articles, 1, dtype=torch.int64), PAD, graph)


def target(seed: int = 0, rows: int = 3, length: int = 7) -> torch.Tensor:
    """Return random target tokens [rows, length] that begin with token 2."""
    ids = torch.randint(5, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed + 100))
    ids[:, 0] = 2
    return ids


def logits(model: Summarizer, source: SourceBatch, target_in: torch.Tensor) -> torch.Tensor:
    """Return the logits [B, T, V] of the whole target."""
    with torch.no_grad():
        return model.logits(model.decode(target_in, model.encode(source)).hidden)


def permuted(source: SourceBatch, order: list[int]) -> SourceBatch:
    """Return the batch with its paragraphs, their ranks and their graph in another order."""
    assert source.graph is not None
    return replace(
        source, tokens=source.tokens[:, order], ranks=source.ranks[:, order], graph=source.graph[:, order][:, :, order]
    )


def padded(source: SourceBatch, paragraphs: int, tokens: int) -> SourceBatch:
    """Return the batch with more empty paragraphs and longer ones."""
    articles, old_paragraphs, old_tokens = source.tokens.shape
    ids = torch.full((articles, old_paragraphs + paragraphs, old_tokens + tokens), PAD)
    ids[:, :old_paragraphs, :old_tokens] = source.tokens
    ranks = torch.cat((source.ranks, torch.zeros(articles, paragraphs, dtype=torch.int64)), dim=1)
    graph = torch.eye(old_paragraphs + paragraphs).repeat(articles, 1, 1)
    assert source.graph is not None
    graph[:, :old_paragraphs, :old_paragraphs] = source.graph
    return replace(source, tokens=ids, ranks=ranks, graph=graph)
