"""Every architecture, from token ids to logits, against its plain twin in numpy."""

import numpy as np
import pytest
import torch

from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.presets import OF_TRANSFORMERS, PRESETS
from models.registry import to_config_dict
from tests.models.systems import PAD, batch, distinct_presets, permuted, target, tiny
from tests.models.twin_layers import Weights
from tests.models.twins import TWINS, Article

# Three segments of Transformer-XL's 7 tokens, four blocks of T-DMCA's 4.
TARGET = target(length=16)
# Switches that no preset turns.
FURTHER: dict[str, tuple[str, dict[str, object]]] = {
    "ht, raw pooling with projections of its own": ("ht", {"pooling_weights": "raw", "pooling_projection": True}),
    "ht, per-head projections with a graph": ("ht-discourse", {"inter_projections": "per-head"}),
    "vht, eq. 11 as printed": ("vht", {"ranking_norm": False}),
    "vht, the query added": ("vht", {"ranking_residual": True}),
    "t-dmca, pre-norm, windows of two": ("t-dmca", {"norm": "pre", "window": 2}),
    "t-dmca, a short source": ("t-dmca", {"source_tokens": 8}),
    "transformer-xl, pre-norm, a short memory": ("transformer-xl", {"norm": "pre", "memory": 3}),
    "transformer-xl, a short source": ("transformer-xl", {"source_tokens": 5}),
    "ft, a short source": ("ft-800", {"source_tokens": 9}),
    "ptgen, a short source": ("ptgen", {"source_tokens": 9}),
    "bart, a short source": ("bart-large", {"source_tokens": 9}),
    "bart, positions that restart": ("bart-large", {"position_restart": True}),
    "hed, a short source": ("hed", {"source_tokens": 9}),
    "hed, a short source, positions that go on": ("hed-row-4", {"source_tokens": 9}),
    "hie-bart, all heads on sentences": ("hie-bart", {"sentence_heads": 4}),
    "graphsum, post-norm, a narrow penalty": ("graphsum", {"norm": "post", "sigma": 0.5}),
}
# Those of a library are compared with the library itself, in `test_huggingface.py`.
OURS = [preset for preset in distinct_presets() if PRESETS[preset].architecture not in OF_TRANSFORMERS]
CASES = {**{preset: (preset, {}) for preset in OURS}, **FURTHER}


def shaken(preset: str, **fields: object) -> Summarizer:
    """A tiny model in float64 whose biases and norms are not those it starts with, which would hide mistakes."""
    model = tiny(preset, **fields).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.dim() == 1:
                parameter.add_(0.3 * noise)
            else:
                parameter.mul_(1.5)  # sharper attention
    return model


def mixed(seed: int = 0) -> SourceBatch:
    """Ragged articles whose paragraphs do not lie in the order of their ranks, with a discourse edge above 1."""
    source = batch(seed)
    assert source.graph is not None
    source.graph[1, 0, 2] = source.graph[1, 2, 0] = 1.4
    return permuted(source, [2, 0, 3, 1])


def articles(source: SourceBatch) -> list[tuple[Article, list[int]]]:
    """What a twin reads of each article, and the places in the batch of its paragraphs."""
    assert source.graph is not None
    found = []
    for tokens, ranks, graph in zip(source.tokens, source.ranks, source.graph, strict=True):
        texts = [[token for token in paragraph if token != PAD] for paragraph in tokens.tolist()]
        places = sorted((place for place, text in enumerate(texts) if text), key=lambda place: int(ranks[place]))
        edges = graph.double().numpy()[np.ix_(places, places)]
        found.append((Article([texts[p] for p in places], [int(ranks[p]) for p in places], edges), places))
    return found


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_logits_and_attention_are_those_of_the_plain_twin(case: str) -> None:
    preset, fields = CASES[case]
    model, source = shaken(preset, **fields), mixed()
    config = to_config_dict(model)
    twin = TWINS[config["architecture"]]
    weights = Weights({name: value.numpy() for name, value in model.state_dict().items()})
    decoded = model.decode(TARGET, model.encode(source))
    logits = model.logits(decoded.hidden).numpy()
    for number, (article, places) in enumerate(articles(source)):
        expected, attention = twin(weights, config, article, TARGET[number].tolist())
        np.testing.assert_allclose(logits[number], expected, atol=1e-5, rtol=0)
        # Past its memory Transformer-XL sees nothing of the source: there it has no such attention.
        seen = config.get("memory", len(attention))
        np.testing.assert_allclose(
            decoded.paragraph_attention[number, :seen, places].numpy(), attention[:seen], atol=1e-5, rtol=0
        )


def test_every_architecture_has_a_twin() -> None:
    assert {to_config_dict(tiny(preset))["architecture"] for preset in OURS} == set(TWINS)
