"""How much documents look at documents while they are encoded, against a loop over tokens and heads."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
import torch

from models.layers import patterns
from models.registry import to_config_dict
from tests.models.bart_twin import bart_looks
from tests.models.systems import batch, tiny
from tests.models.test_twins import articles, mixed, shaken
from tests.models.twin_layers import Weights

pytestmark = pytest.mark.usefixtures("float64")


def equal(one: Any, other: Any) -> bool:
    """Whether two memories hold the same numbers."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if is_dataclass(one):
        return all(equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


@torch.no_grad()
@pytest.mark.parametrize("preset", ["bart-large", "hed", "hed-row-2", "hie-bart"])
@pytest.mark.parametrize("chunk", [patterns.CHUNK, 300])
def test_looks_are_those_of_the_equations(preset: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "CHUNK", chunk)  # a few tokens at a time
    fields = {"sentence_begin": 7} if preset == "hie-bart" else {}
    model, source = shaken(preset, **fields), mixed()
    weights = Weights({name: value.numpy() for name, value in model.state_dict().items()})
    memory, found = model.encode_watched(source)
    assert equal(memory, model.encode(source))
    assert found is not None and found.dtype == torch.float32
    for row, (article, places) in zip(found.double().numpy(), articles(source), strict=True):
        expected = np.zeros_like(row)
        expected[np.ix_(places, places)] = bart_looks(weights, to_config_dict(model), article.paragraphs)
        np.testing.assert_allclose(row, expected, atol=1e-6)
        assert row.sum() == pytest.approx(1.0, abs=1e-6)


def test_a_document_alone_looks_at_itself_and_hed_at_hardly_any_other() -> None:
    one = batch(articles=1, paragraphs=2)  # the second is absent
    for preset in ("bart-large", "hed"):
        torch.testing.assert_close(
            tiny(preset).encode_watched(one)[1], torch.tensor([[[1.0, 0.0], [0.0, 0.0]]], dtype=torch.float32)
        )
    own = {}
    for preset in ("bart-large", "hed"):
        found = tiny(preset).encode_watched(batch())[1]
        assert found is not None
        own[preset] = found.diagonal(dim1=1, dim2=2).sum(dim=1)
    assert (own["hed"] > own["bart-large"]).all()


def test_others_say_nothing() -> None:
    model = tiny("ft-600")
    memory, looks = model.encode_watched(batch())
    assert looks is None
    assert equal(memory, model.encode(batch()))
