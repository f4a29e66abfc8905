"""HT beyond what every summarizer owes: its switches, its global layer and its graph head."""

from dataclasses import replace

import pytest
import torch

from models.hierarchical import GlobalLayer, HierarchicalConfig, InterParagraphAttention, graph_context
from models.layers.paragraphs import Packing, ParagraphRows
from tests.models.systems import VOCABULARY, batch, logits, target, tiny

SWITCHES = {
    "norm": "post",
    "position_order": "rank-token",
    "scale_embeddings": False,
    "paragraph_positions": False,
    "pooling_heads": 1,
    "pooling_weights": "raw",
    "pooling_projection": True,
    "inter_projections": "per-head",
    "inter_scaled": False,
    "global_residual": "g+x",
    "graph": "similarity",
    "global_layers": 0,
}


pytestmark = pytest.mark.usefixtures("float64")


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_switch_does_something(switch: str) -> None:
    plain, switched = tiny("ht"), tiny("ht", **{switch: SWITCHES[switch]})
    if [p.shape for p in plain.parameters()] == [p.shape for p in switched.parameters()]:
        switched.load_state_dict(plain.state_dict())
        assert not torch.equal(logits(plain, batch(), target()), logits(switched, batch(), target()))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"heads": 3}, "heads must divide model_size 16, got 3"),
        ({"pooling_heads": 5}, "pooling_heads must divide model_size 16, got 5"),
        ({"norm": "none"}, "unknown norm 'none'"),
        ({"inter_projections": "both"}, "unknown inter_projections 'both'"),
        ({"global_residual": "x"}, "unknown global_residual 'x'"),
        ({"graph": "random"}, "unknown graph 'random'"),
        ({"graph": "similarity", "pooling_heads": 1}, "expected at least one global layer of two heads"),
        ({"graph": "similarity", "global_layers": 0}, "expected at least one global layer of two heads"),
    ],
)
def test_nonsense_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny("ht", **fields)


def test_a_graph_summarizer_needs_a_graph() -> None:
    with pytest.raises(ValueError, match=r"the discourse graph needs SourceBatch.graph, got None"):
        tiny("ht-discourse").encode(replace(batch(), graph=None))


def test_other_summarizers_ignore_the_graph() -> None:
    source = batch()
    assert torch.equal(logits(tiny("ht"), source, target()), logits(tiny("ht"), replace(source, graph=None), target()))


class TestGraphContext:
    values = torch.tensor([[[1.0], [10.0], [100.0], [1000.0]]], dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False]])

    def test_an_identity_graph_gives_a_paragraph_its_own_value(self) -> None:
        found = graph_context(torch.eye(4).unsqueeze(0), self.values, self.mask)
        assert found[0, :3, 0].tolist() == [1, 10, 100]

    def test_an_all_equal_graph_gives_the_mean_of_those_that_exist(self) -> None:
        found = graph_context(torch.full((1, 4, 4), 0.3), self.values, self.mask)
        torch.testing.assert_close(found[0, :, 0], torch.full((4,), 37.0))

    def test_rows_are_normalised(self) -> None:
        graph = torch.tensor([[[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.5, 0.0], [0.0, 0.5, 1.0, 0.0], [0.0] * 4]])
        found = graph_context(graph, self.values, self.mask)
        torch.testing.assert_close(found[0, 0, 0], torch.tensor((1 + 5) / 1.5))
        torch.testing.assert_close(found[0, 1, 0], torch.tensor((0.5 + 10 + 50) / 2))

    def test_a_paragraph_without_edges_gets_zeros(self) -> None:
        assert graph_context(torch.zeros(1, 4, 4), self.values, self.mask).eq(0).all()


def config(**fields: object) -> HierarchicalConfig:
    fields = {"model_size": 8, "feed_forward_size": 16, "heads": 2, "dropout": 0.0, **fields}
    return HierarchicalConfig(vocabulary_size=VOCABULARY, **fields)


@pytest.mark.parametrize("projections", ["shared", "per-head"])
@pytest.mark.parametrize("scaled", [True, False])
def test_inter_paragraph_attention_head_by_head(projections: str, scaled: bool) -> None:
    torch.manual_seed(0)
    attention = InterParagraphAttention(config(inter_projections=projections, inter_scaled=scaled))
    heads, mask = torch.randn(1, 3, 2, 4), torch.tensor([[True, True, False]])
    found = attention(heads, mask, None)
    for z in range(2):
        vectors = attention.project(heads)[0, :, z]  # [P, 12]: query, key, value
        q, k, v = vectors.split(4, dim=-1)
        for i in range(2):
            logit = (k[:2] @ q[i]) / (2.0 if scaled else 1.0)
            expected = (logit.exp() / logit.exp().sum()) @ v[:2]
            torch.testing.assert_close(found[0, i, z], expected, atol=1e-10, rtol=0)


def test_the_graph_takes_the_place_of_the_last_head_alone() -> None:
    torch.manual_seed(0)
    attention = InterParagraphAttention(config())
    heads, mask = torch.randn(2, 3, 2, 4), torch.ones(2, 3, dtype=torch.bool)
    learned = attention(heads, mask, None)
    given = attention(heads, mask, torch.eye(3).repeat(2, 1, 1))
    torch.testing.assert_close(given[:, :, 0], learned[:, :, 0], atol=1e-10, rtol=0)
    own_values = attention.project(heads)[:, :, 1, 8:]
    torch.testing.assert_close(given[:, :, 1], own_values, atol=1e-10, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("residual", ["g+x", "g+(x+c)"])
def test_equations_21_to_23(norm: str, residual: str) -> None:
    torch.manual_seed(0)
    layer = GlobalLayer(config(norm=norm, global_residual=residual))
    source = batch()
    rows, mask = ParagraphRows.of(source, 0), source.paragraph_mask
    x = torch.randn(*rows.mask.shape, 8)
    packing = Packing.of(rows.mask)
    found = layer(packing.pack(x), packing, rows, mask, None)

    pooled = layer.pooling(layer.pooling_norm(x) if norm == "pre" else x, rows.mask)
    context = layer.attention(rows.grid(pooled), mask, None)[rows.article, rows.column]
    c = layer.output(context.reshape(len(x), 8)).unsqueeze(1)
    informed = x + c
    g = layer.feed_forward(layer.residual.norm(informed) if norm == "pre" else informed)
    joined = g + (x if residual == "g+x" else informed)
    expected = joined if norm == "pre" else layer.residual.norm(joined)
    torch.testing.assert_close(found, expected[rows.mask], atol=1e-10, rtol=0)


def test_a_paragraph_hears_of_the_others_of_its_article_only() -> None:
    torch.manual_seed(0)
    layer = GlobalLayer(config())
    source = batch(articles=2, paragraphs=3)
    rows = ParagraphRows.of(source, 0)
    x = torch.randn(*rows.mask.shape, 8)
    changed = x.clone()
    changed[rows.article == 0] += 1.0
    changed[0] += torch.randn(8)
    packing = Packing.of(rows.mask)
    before, after = (
        packing.pad(layer(packing.pack(words), packing, rows, source.paragraph_mask, None)) for words in (x, changed)
    )
    torch.testing.assert_close(before[rows.article == 1], after[rows.article == 1], atol=1e-10, rtol=0)
    assert (before[rows.article == 0] - after[rows.article == 0]).abs().max() > 1e-3


def test_without_paragraph_positions_ranks_do_not_matter() -> None:
    source = batch()
    ranks = torch.arange(4).flip(0).expand(3, -1).contiguous()
    shuffled = replace(source, ranks=ranks)
    blind, seeing = tiny("ht", paragraph_positions=False), tiny("ht")
    expected = logits(blind, source, target())
    torch.testing.assert_close(logits(blind, shuffled, target()), expected, atol=1e-10, rtol=0)
    assert not torch.allclose(logits(seeing, shuffled, target()), logits(seeing, source, target()), atol=1e-3)
