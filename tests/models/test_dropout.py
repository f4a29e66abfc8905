"""Where dropout falls, place by place, and that what falls out there is missed."""

import re
from collections import Counter

import pytest
import torch
from torch import Tensor, nn

from models.attention_predictor import AttentionPredictor, AttentionPredictorConfig
from models.contract import Summarizer
from models.layers.attention import CrossAttention, SelfAttention
from models.layers.paragraphs import Packing
from models.layers.transformer import Dropout
from models.ranker import ParagraphRanker, RankerConfig
from tests.models.systems import batch, logits, target, tiny

_FEED = ("feed_forward.dropout", "feed_forward_residual.dropout")
_LAYER = ("attention_residual.dropout", *_FEED)
_DECODER = ("self_residual.dropout", "cross_residual.dropout", *_FEED)


def _in(layers: str, places: tuple[str, ...], count: int = 2) -> dict[str, int]:
    return {f"{layers}.*.{place}": count for place in places}


# One module drops the outputs of all sub-layers of a layer: two in the encoder, three in the decoder.
_BART = {
    **{"model.encoder.dropout": 1, "model.encoder.layers.*.dropout": 4, "model.encoder.layers.*.activation_dropout": 2},
    **{"model.decoder.dropout": 1, "model.decoder.layers.*.dropout": 6, "model.decoder.layers.*.activation_dropout": 2},
}

# Of a tiny model with two layers of each kind: how often each place is passed when an article's summary is decoded.
# Words are embedded twice, in source and target, and a decoder-only stack is passed twice, for the same reason.
PLACES: dict[str, dict[str, int]] = {
    "ht-checkpoint": {
        "embedding.dropout": 2,
        **_in("local_layers", _LAYER),
        **_in("global_layers", ("feed_forward.dropout", "dropout", "residual.dropout")),
        **_in("decoder.layers", _DECODER),
    },
    "ft-3": {"embedding.dropout": 2, **_in("layers", _LAYER), **_in("decoder.layers", _DECODER)},
    "pht": {
        "embedding.dropout": 2,
        **_in("encoder_layers", _LAYER),
        "pooling.feed_forward.dropout": 1,
        "pooling.residual.dropout": 1,
        **_in("decoder_layers", _DECODER),
    },
    "vht": {
        "embedding.dropout": 2,
        **_in("encoder_layers", _LAYER),
        **_in("decoder_layers", (*_DECODER, "ranking_residual.dropout")),
    },
    "t-dmca-3": {"embedding.dropout": 2, **_in("layers", _LAYER, 2 * 3)},
    "transformer-xl": {"embedding.dropout": 2, **_in("layers", _LAYER, 2 * 2)},
    "graphsum": {
        "embedding.dropout": 2,
        **_in("word_layers", _LAYER, 1),
        **_in("graph_layers", _LAYER),
        **_in("decoder_layers", _DECODER),
    },
    # Source and target words at once, then before the output layers at each of the target's seven positions.
    "ptgen-cov": {"dropout": 2 + 7},
    "bart-large": _BART,
    "hed": _BART,
    "hie-bart": _BART,
}
ALL = pytest.mark.parametrize("preset", PLACES)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def dropouts(model: nn.Module) -> dict[str, nn.Dropout]:
    return {name: module for name, module in model.named_modules() if isinstance(module, nn.Dropout)}


def dropping(preset: str, rate: float) -> Summarizer:
    """A tiny model with one rate in all places but attention weights; BART has a rate of its own for some places."""
    inner = {"activation_dropout": rate} if PLACES[preset] is _BART else {}
    return tiny(preset, dropout=rate, **inner)


@ALL
def test_dropout_falls_in_these_places_and_no_others(preset: str) -> None:
    model = dropping(preset, 0.25)
    passed: Counter[str] = Counter()
    for name, module in dropouts(model).items():
        assert module.p == 0.25, name
        module.register_forward_hook(
            lambda _module, _inputs, _output, name=name: passed.update([re.sub(r"\.\d+\.", ".*.", name)])
        )
    logits(model, batch(), target())
    assert dict(passed) == PLACES[preset]


@ALL
def test_what_falls_out_in_any_place_is_missed(preset: str) -> None:
    model: Summarizer = tiny(preset)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=0.5, std=0.5)
    whole = logits(model, batch(), target())
    for name, module in dropouts(model).items():
        hook = module.register_forward_hook(lambda _module, _inputs, output: torch.zeros_like(output))
        assert not torch.allclose(logits(model, batch(), target()), whole, atol=1e-4), name
        hook.remove()
    assert torch.equal(logits(model, batch(), target()), whole)


class TestAttentionDropout:
    """With a single key a weight of 1 is dropped or, at a rate of .5, doubled: nothing else can come out."""

    x = torch.ones(64, 1, 8)
    mask = torch.ones(64, 1, dtype=torch.bool)

    def outcomes(self, found: Tensor, kept: Tensor, dropped: Tensor) -> set[bool]:
        doubled = dropped + 2 * (kept - dropped)
        seen = set()
        for row in found.flatten(0, 1):
            out = torch.allclose(row, doubled, atol=1e-5)
            assert out or torch.allclose(row, dropped, atol=1e-5)
            seen.add(out)
        return seen

    @pytest.mark.parametrize("causal", [False, True])
    def test_of_self_attention(self, causal: bool) -> None:
        attention = SelfAttention(8, 1, dropout=0.5)
        nn.init.normal_(attention.output.bias)

        def run() -> Tensor:
            packing = Packing.of(self.mask)
            return attention.causal(self.x) if causal else packing.pad(attention(packing.pack(self.x), packing))

        kept = attention.eval().causal(self.x[:1])[0, 0]
        torch.testing.assert_close(run(), kept.expand(64, 1, 8))
        attention.train()
        assert self.outcomes(run(), kept, attention.output.bias) == {True, False}

    def test_of_cross_attention(self) -> None:
        attention = CrossAttention(8, 1, dropout=0.5)
        nn.init.normal_(attention.output.bias)
        pair = attention.keys_values(self.x)
        kept = attention.eval()(self.x, *pair, self.mask, weights=False)[0][0, 0]
        attention.train()
        found, _ = attention(self.x, *pair, self.mask, weights=False)
        assert self.outcomes(found, kept, attention.output.bias) == {True, False}

    @pytest.mark.parametrize("preset", ["ht", "ft-3"])
    def test_reaches_encoder_and_decoder(self, preset: str) -> None:
        def rates(model: nn.Module) -> dict[str, float]:
            return {n: m.dropout for n, m in model.named_modules() if isinstance(m, SelfAttention | CrossAttention)}

        found = rates(tiny(preset, attention_dropout=0.25))
        assert set(found.values()) == {0.25}
        assert any(name.startswith("decoder") for name in found)
        assert any(not name.startswith("decoder") for name in found)
        assert set(rates(tiny(preset)).values()) == {0.0}


def test_the_ranker_drops_before_its_linear_layers_alone() -> None:
    # Liu & Lapata 2019, sec. 4: before W_1, of the title's vector and of the tokens' states, and before W_2.
    model = ParagraphRanker(RankerConfig(vocabulary=20, pad=0, embedding=6, hidden=4, dropout=0.25)).eval()
    assert [(name, module.p) for name, module in dropouts(model).items()] == [("dropout", 0.25)]
    paragraphs, titles = torch.tensor([[3, 4, 5], [6, 7, 8]]), torch.tensor([[9, 10], [11, 12]])
    shapes: list[tuple[int, ...]] = []

    def scores(dropped: int | None = None) -> Tensor:
        shapes.clear()

        def hook(_module: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
            shapes.append(tuple(inputs[0].shape))
            return torch.zeros_like(output) if len(shapes) - 1 == dropped else output

        handle = model.dropout.register_forward_hook(hook)
        found = model(paragraphs, model.encode_titles(titles))
        handle.remove()
        return found

    whole = scores()
    assert shapes == [(2, 4), (2, 3, 4), (2, 4)]
    for place in range(3):
        assert not torch.allclose(scores(place), whole, atol=1e-4), place


def test_the_attention_predictor_drops_where_an_encoder_does() -> None:
    predictor = AttentionPredictor(AttentionPredictorConfig(model_size=8, feed_forward_size=16, heads=2, dropout=0.25))
    found = dropouts(predictor)
    assert list(found) == [f"layers.{n}.{place}" for n in (0, 1) for place in (_FEED[0], _LAYER[0], _FEED[1])]
    assert {module.p for module in found.values()} == {0.25}


class TestMasks:
    """The masks of a CPU: as many elements as asked for, independent of each other, the rest scaled."""

    @pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.97])
    def test_the_share_that_falls_out(self, p: float) -> None:
        found = Dropout(p)(torch.ones(1000, 999))
        share = (found == 0).double().mean().item()
        assert abs(share - p) < 5 * (p * (1 - p) / found.numel()) ** 0.5
        assert found.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=2e-3)

    @pytest.mark.parametrize("distance", [1, 2, 3, 4, 8])
    def test_elements_fall_out_independently(self, distance: int) -> None:
        out = (Dropout(0.3)(torch.ones(1_000_000)) == 0).double()
        both = (out[distance:] * out[:-distance]).mean().item()
        assert both == pytest.approx(0.09, abs=5 * (0.09 * 0.91 / 1e6) ** 0.5)

    def test_gradients_fall_out_where_values_do(self) -> None:
        x = torch.full((7, 13), 3.0, requires_grad=True)
        found = Dropout(0.4)(x)
        found.sum().backward()
        assert x.grad is not None
        assert torch.equal(x.grad * 3, found)
        assert 0 < int((found == 0).sum()) < found.numel()

    def test_a_seed_gives_the_same_mask_again(self) -> None:
        masks = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            masks.append(Dropout(0.5)(torch.ones(5, 5, 5)))
        assert torch.equal(masks[0], masks[1])
        assert not torch.equal(masks[0], masks[2])

    @pytest.mark.parametrize(("p", "expected"), [(0.0, 1.0), (1.0, 0.0)])
    def test_nothing_or_all(self, p: float, expected: float) -> None:
        assert torch.equal(Dropout(p)(torch.ones(9)), torch.full((9,), expected))

    def test_an_empty_tensor_stays_empty(self) -> None:
        assert Dropout(0.5)(torch.ones(0, 4)).shape == (0, 4)
