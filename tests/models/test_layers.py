"""The layers, against literal values and against plain formulas."""

import math

import pytest
import torch

from models.hierarchical import FlatConfig
from models.layers.attention import (
    CrossAttention,
    HeadLinear,
    KeyValueCache,
    MultiHeadPooling,
    SelfAttention,
    attend,
    attention_weights,
    join_heads,
    masked_softmax,
    pool_values,
    split_heads,
)
from models.layers.config import Norm
from models.layers.paragraphs import LENGTH_STEP, Packing, ParagraphRows, SourceBatch
from models.layers.transformer import Residual, TiedEmbedding, paragraph_positions, sinusoids
from tests.models.systems import tiny


@pytest.fixture(autouse=True)
def _seeded(float64: None) -> None:
    torch.manual_seed(0)


def close(found: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=0)


class TestPositions:
    def test_values_of_equations_7_and_8(self) -> None:
        found = sinusoids(torch.tensor([0, 3]), 4)
        expected = [[0, 1, 0, 1], [math.sin(3), math.cos(3), math.sin(3 / 100), math.cos(3 / 100)]]
        close(found, torch.tensor(expected, dtype=torch.float32), 1e-6)

    def test_halves_in_both_orders(self) -> None:
        ranks = torch.tensor([5, 2])
        released = paragraph_positions(ranks, 3, 8, "token-rank")
        assert released.shape == (2, 3, 8)
        close(released[0, 2], torch.cat((sinusoids(torch.tensor(2), 4), sinusoids(torch.tensor(5), 4))))
        close(paragraph_positions(ranks, 3, 8, "rank-token"), released.roll(4, dims=-1))

    def test_refuses_odd_sizes_and_unknown_orders(self) -> None:
        with pytest.raises(ValueError, match="even size, got 5"):
            sinusoids(torch.tensor([0]), 5)
        with pytest.raises(ValueError, match="divisible by 4, got 6"):
            paragraph_positions(torch.tensor([0]), 1, 6, "token-rank")
        with pytest.raises(ValueError, match="unknown position order 'rank'"):
            paragraph_positions(torch.tensor([0]), 1, 4, "rank")


class TestAttention:
    def test_fused_kernel_equals_its_plain_twin(self) -> None:
        q, k, v = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 3, 5, 8)
        mask = torch.rand(2, 1, 1, 5) > 0.4
        mask[..., 0] = True
        for scale in (None, 1.0):
            weights = attention_weights(q, k, mask, scale=scale)
            close(attend(q, k, v, mask, scale=scale), weights @ v)
            close(weights.sum(dim=-1), torch.ones(2, 3, 4))

    def test_a_query_without_keys_gets_zeros_and_finite_gradients_both_ways(self) -> None:
        q, k, v = (torch.randn(1, 1, 2, 4, requires_grad=True) for _ in range(3))
        mask = torch.zeros(1, 1, 1, 2, dtype=torch.bool)
        for context in (attend(q, k, v, mask), attention_weights(q, k, mask) @ v):
            assert context.eq(0).all()
            context.sum().backward()
        assert all(x.grad.isfinite().all() for x in (q, k, v) if x.grad is not None)

    def test_masked_softmax(self) -> None:
        logits = torch.tensor([[0.0, math.log(3.0), 9.0], [1.0, 2.0, 3.0]])
        mask = torch.tensor([[True, True, False], [False, False, False]])
        close(masked_softmax(logits, mask), torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]]))

    def test_heads_are_split_and_joined(self) -> None:
        x = torch.arange(12.0).view(1, 2, 6)
        heads = split_heads(x, 3)
        assert heads[0, 1].tolist() == [[2, 3], [8, 9]]
        assert torch.equal(join_heads(heads), x)

    def test_self_attention_equals_pytorchs(self) -> None:
        ours = SelfAttention(8, 2)
        torch.nn.init.normal_(ours.query_key_value.bias)
        theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        with torch.no_grad():
            theirs.in_proj_weight.copy_(ours.query_key_value.weight)
            theirs.in_proj_bias.copy_(ours.query_key_value.bias)
            theirs.out_proj.weight.copy_(ours.output.weight)
            theirs.out_proj.bias.copy_(ours.output.bias)
        x = torch.randn(3, 5, 8)
        mask = torch.ones(3, 5, dtype=torch.bool)
        mask[1, 3:] = False
        packing = Packing.of(mask)
        expected = theirs(x, x, x, key_padding_mask=~mask, need_weights=False)[0]
        close(ours(packing.pack(x), packing), expected[mask])
        causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
        close(ours.causal(x), theirs(x, x, x, attn_mask=causal, is_causal=True, need_weights=False)[0])

    def test_projections_that_share_a_matrix_start_as_if_they_did_not(self) -> None:
        bound = math.sqrt(6 / (64 + 64))
        for part in SelfAttention(64, 4).query_key_value.weight.chunk(3):
            assert part.abs().max() <= bound
            assert part.abs().max() > 0.97 * bound

    def test_hypotheses_share_the_memory_of_their_article(self) -> None:
        attention = CrossAttention(8, 2)
        memory = torch.randn(2, 5, 8)
        mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
        x = torch.randn(6, 3, 8)  # three hypotheses an article
        k, v = attention.keys_values(memory)
        repeated = attention.keys_values(memory.repeat_interleave(3, dim=0))
        for weights in (True, False):
            shared, shared_weights = attention(x, k, v, mask, weights=weights)
            copied, copied_weights = attention(x, *repeated, mask.repeat_interleave(3, dim=0), weights=weights)
            close(shared, copied)
            if weights:
                close(shared_weights, copied_weights)
                close(shared_weights.sum(dim=-1), torch.ones(6, 3))
                assert shared_weights[3:, :, 2:].eq(0).all()


class TestCache:
    def test_keeps_and_reorders_rows(self) -> None:
        cache = KeyValueCache(layers=1, rows=3, capacity=4)
        first = torch.arange(3.0).view(3, 1, 1, 1)
        cache.extend(0, first, -first)
        cache.advance(1)
        cache.reorder(torch.tensor([2, 0]))
        keys, values = cache.extend(0, torch.full((2, 1, 1, 1), 7.0), torch.full((2, 1, 1, 1), 8.0))
        assert keys.flatten(1).tolist() == [[2, 7], [0, 7]]
        assert values.flatten(1).tolist() == [[-2, 8], [0, 8]]

    def test_refuses_more_than_it_has_room_for(self) -> None:
        cache = KeyValueCache(layers=1, rows=1, capacity=2)
        with pytest.raises(ValueError, match="1 rows x 2 tokens cannot take 1 rows to length 3"):
            cache.extend(0, torch.zeros(1, 1, 3, 1), torch.zeros(1, 1, 3, 1))
        with pytest.raises(ValueError, match="cannot take 2 rows"):
            cache.extend(0, torch.zeros(2, 1, 1, 1), torch.zeros(2, 1, 1, 1))


class TestPooling:
    def test_values_are_pooled_as_if_each_token_had_one(self) -> None:
        x, weights = torch.randn(2, 5, 6), torch.rand(2, 5, 3)
        value, bias = torch.randn(6, 6), torch.randn(6)
        values = (x @ value.T + bias).view(2, 5, 3, 2)
        close(pool_values(x, weights, value, bias), (weights.unsqueeze(-1) * values).sum(dim=1))

    @pytest.mark.parametrize("weights", ["normalised", "raw"])
    @pytest.mark.parametrize("projection", [False, True])
    def test_equations_13_to_16_token_by_token(self, weights: str, projection: bool) -> None:
        pooling = MultiHeadPooling(6, 3, weights=weights, projection=projection, epsilon=1e-6)
        torch.nn.init.normal_(pooling.value.bias)
        torch.nn.init.normal_(pooling.score.bias)
        x = torch.randn(2, 4, 6)
        mask = torch.tensor([[True] * 4, [True, False, True, False]])
        found = pooling(x, mask)
        for n in range(2):
            tokens = [x[n, j] for j in range(4) if mask[n, j]]
            for z in range(3):
                rows = slice(2 * z, 2 * z + 2)
                a = torch.stack([pooling.score.weight[z] @ token + pooling.score.bias[z] for token in tokens])
                b = [pooling.value.weight[rows] @ token + pooling.value.bias[rows] for token in tokens]
                shares = a.exp() / a.exp().sum() if weights == "normalised" else a
                pooled = sum(share * value for share, value in zip(shares, b, strict=True))
                if pooling.projection is not None:
                    pooled = pooled @ pooling.projection.weight_HEC[z] + pooling.projection.bias_HC[z]
                close(found[n, z], torch.nn.functional.layer_norm(pooled, (2,), eps=1e-6))

    def test_head_linear_maps_each_head_by_itself(self) -> None:
        linear = HeadLinear(2, 3, 4)
        x = torch.randn(5, 2, 3)
        for head in range(2):
            close(linear(x)[:, head], x[:, head] @ linear.weight_HEC[head])

    def test_unknown_weights_are_refused(self) -> None:
        with pytest.raises(ValueError, match="unknown pooling weights 'typo'"):
            MultiHeadPooling(4, 2, weights="typo", projection=False, epsilon=1e-6)


def layer_config(norm: Norm) -> FlatConfig:
    return FlatConfig(5, model_size=2, heads=1, dropout=0.0, norm=norm, norm_epsilon=0.0)


class TestResidual:
    def test_pre_and_post_norm(self) -> None:
        x, output = torch.tensor([1.0, 3.0]), torch.tensor([2.0, 4.0])
        pre, post = (Residual(layer_config(norm)) for norm in ("pre", "post"))
        close(pre.enter(x), torch.tensor([-1.0, 1.0]))
        close(pre.leave(x, output), torch.tensor([3.0, 7.0]))
        close(post.enter(x), x)
        close(post.leave(x, output), torch.tensor([-1.0, 1.0]))

    def test_an_unknown_norm_is_refused(self) -> None:
        with pytest.raises(ValueError, match="unknown norm 'rms', expected one of"):
            Residual(layer_config("rms"))


class TestEmbedding:
    def test_words_are_scaled_and_shared_with_the_output(self) -> None:
        embedding = TiedEmbedding(5, 4, scaled=True, dropout=0.0)
        found = embedding(torch.tensor([3]), torch.full((1, 4), 0.5))
        close(found[0], 2 * embedding.weight[3] + 0.5)
        model = tiny("ft-3")
        close(model.logits(torch.eye(16)), model.embedding.weight.T)


class TestParagraphRows:
    def source(self) -> SourceBatch:
        tokens = torch.tensor([[[8, 9, 0], [0, 0, 0], [5, 6, 7]], [[4, 0, 0], [0, 0, 0], [0, 0, 0]]])
        ranks = torch.tensor([[1, 2, 0], [0, 1, 2]])
        return SourceBatch(tokens, ranks, torch.zeros(2, 1, dtype=torch.int64), pad=0)

    def test_rows_are_the_paragraphs_that_exist_by_rank(self) -> None:
        rows = ParagraphRows.of(self.source(), pad=0)
        assert rows.tokens.tolist() == [[5, 6, 7], [8, 9, 0], [4, 0, 0]]
        assert rows.article.tolist() == [0, 0, 1]
        assert rows.column.tolist() == [2, 0, 0]
        assert rows.ranks.tolist() == [0, 1, 0]

    def test_the_grid_and_back(self) -> None:
        rows = ParagraphRows.of(self.source(), pad=0)
        grid = rows.grid(torch.tensor([[1.0], [2.0], [3.0]]))
        assert grid.squeeze(-1).tolist() == [[2, 0, 1], [3, 0, 0]]
        assert rows.rows(grid).flatten().tolist() == [1, 2, 3]

    def test_flat_tokens_stand_best_paragraph_first_without_gaps(self) -> None:
        rows = ParagraphRows.of(self.source(), pad=0)
        flat = rows.flat(rows.tokens)
        assert flat.values.shape == (2, LENGTH_STEP)
        assert flat.values[:, :6].tolist() == [[5, 6, 7, 8, 9, 0], [4, 0, 0, 0, 0, 0]]
        assert flat.mask.sum(dim=1).tolist() == [5, 1]
        assert flat.paragraph[0, :5].tolist() == [2, 2, 2, 0, 0]
        cut = rows.flat(rows.tokens, limit=4)
        assert cut.values[0, :5].tolist() == [5, 6, 7, 8, 0]
        assert cut.mask.sum(dim=1).tolist() == [4, 1]
