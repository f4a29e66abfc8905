"""PHT and VHT against literal loops over paragraphs, words and heads."""

import pytest
import torch

from models.layers.attention import CrossAttention
from models.layers.decoder import ParagraphSummarizer, ParallelMemory, attend_paragraphs, word_keys_values
from models.layers.paragraphs import Packing, ParagraphRows
from models.layers.transformer import row_positions
from models.parallel import ParagraphPooling, ParallelConfig, VerticalMemory
from tests.models.systems import batch, target, tiny

pytestmark = pytest.mark.usefixtures("float64")


def read(
    attention: CrossAttention, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Multi-head attention of one vector [D] to vectors [S, D]: the output and the weights averaged over heads."""
    size = len(query) // attention.heads
    q = attention.query(query)
    k = keys @ attention.key_value.weight[: len(query)].T + attention.key_value.bias[: len(query)]
    v = values @ attention.key_value.weight[len(query) :].T + attention.key_value.bias[len(query) :]
    contexts, shares = [], []
    for head in range(attention.heads):
        columns = slice(head * size, (head + 1) * size)
        share = (k[:, columns] @ q[columns] / size**0.5).softmax(dim=0)
        shares.append(share)
        contexts.append(share @ v[:, columns])
    return attention.output(torch.cat(contexts)), torch.stack(shares).mean(dim=0)


def encoded(preset: str) -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    """A model without dropout, the encoded words [B, P, L, D] and where there are any."""
    model, source = tiny(preset), batch()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, mean=0.5, std=0.5)  # biases of zero would hide mistakes
    rows = ParagraphRows.of(source, 0)
    packing = Packing.of(rows.mask)
    words = model.embedding(packing.pack(rows.tokens), packing.pack(row_positions(rows.mask, 16)))
    for layer in model.encoder_layers:
        words = layer(words, packing)
    return model, rows.grid(packing.pad(words)), source.token_mask


def test_attention_to_paragraphs_folded_into_the_batch_is_a_loop_over_them() -> None:
    torch.manual_seed(0)
    attention = CrossAttention(16, 4)
    words, queries = torch.randn(2, 3, 5, 16), torch.randn(2, 7, 16)
    mask = torch.rand(2, 3, 5) > 0.3
    mask[..., 0] = True
    mask[1, 2] = False
    q = attention.query(queries).view(2, 7, 4, 4).transpose(1, 2)
    found = attend_paragraphs(q, *word_keys_values(attention, words), mask)
    for b in range(2):
        for p in range(3):
            for t in range(7):
                context = found[b, p, :, t].flatten()
                if not mask[b, p].any():
                    assert context.eq(0).all()
                    continue
                kept = words[b, p][mask[b, p]]
                expected, _ = read(attention, queries[b, t], kept, kept)
                torch.testing.assert_close(attention.output(context), expected, atol=1e-10, rtol=0)


@torch.no_grad()
def test_a_pht_decoder_layer_is_equations_7_to_10() -> None:
    model, words, mask = encoded("pht")
    memory = model.encode(batch())
    assert isinstance(memory, ParallelMemory)
    layer = model.decoder_layers[0]
    x = torch.randn(3, 5, 16)
    found, attention = layer(x, memory, 0, None, weights=True)
    first = layer.self_residual.norm(x + layer.self_attention.causal(x))
    for b in range(3):
        count = int(memory.paragraph_mask[b].sum())
        for t in range(5):
            query = first[b, t]
            paragraphs = memory.paragraphs[b, :count]
            read_paragraphs, alpha = read(layer.paragraph_attention, query, paragraphs, paragraphs)
            read_words = torch.zeros(16)
            for p in range(count):
                kept = words[b, p][mask[b, p]]
                read_words += alpha[p] * read(layer.word_attention, query, kept, kept)[0]  # eq. 9
            second = layer.cross_residual.norm(query + read_paragraphs + read_words)
            third = layer.feed_forward_residual.norm(second + layer.feed_forward(second))
            torch.testing.assert_close(found[b, t], third, atol=1e-10, rtol=0)
            torch.testing.assert_close(attention[b, t, :count], alpha, atol=1e-10, rtol=0)


@torch.no_grad()
def test_a_vht_decoder_layer_is_equations_11_to_13() -> None:
    for adds_query in (False, True):
        model, words, mask = encoded("vht")
        memory = model.encode(batch())
        assert isinstance(memory, VerticalMemory)
        layer = model.decoder_layers[0]
        layer.adds_query = adds_query
        x = torch.randn(3, 5, 16)
        found, attention = layer(x, memory, 0, None, weights=True)
        first = layer.self_residual.norm(x + layer.self_attention.causal(x))
        for b in range(3):
            count = int(memory.paragraph_mask[b].sum())
            for t in range(5):
                query = first[b, t]
                embeddings = []
                for p in range(count):
                    kept = words[b, p][mask[b, p]]
                    embedding = read(layer.word_attention, query, kept, kept)[0] + memory.ranking[b, p]  # eq. 11
                    embeddings.append(layer.ranking_residual.norm(embedding + query * adds_query))
                stacked = torch.stack(embeddings)
                chosen, alpha = read(layer.paragraph_attention, query, stacked, stacked)  # eq. 12
                second = layer.cross_residual.norm(query + chosen)
                third = layer.feed_forward_residual.norm(second + layer.feed_forward(second))
                torch.testing.assert_close(found[b, t], third, atol=1e-10, rtol=0)
                torch.testing.assert_close(attention[b, t, :count], alpha, atol=1e-10, rtol=0)


@pytest.mark.parametrize("released", [True, False], ids=["released", "paper"])
@torch.no_grad()
def test_paragraph_pooling_is_equations_2_to_5(released: bool) -> None:
    """The released code divides logits by sqrt(4), and puts a LayerNorm before the feed-forward layer."""
    torch.manual_seed(0)
    switches = {} if released else {"pooling_norm": False, "pooling_scaled": False}
    config = ParallelConfig(10, model_size=8, feed_forward_size=16, heads=2, dropout=0.0, **switches)
    pooling = ParagraphPooling(config).eval()
    torch.nn.init.normal_(pooling.value.bias)
    words, mask = torch.randn(2, 4, 8), torch.tensor([[True] * 4, [True, True, False, False]])
    found = pooling(words, mask)
    for n in range(2):
        values = pooling.value(words[n][mask[n]])  # eq. 2
        pooled = []
        for head in range(2):
            columns = slice(4 * head, 4 * head + 4)
            logits = values[:, columns] @ pooling.score[head]
            share = (logits / 2 if released else logits).softmax(dim=0)
            pooled.append(share @ values[:, columns])  # eq. 3
        embedding = pooling.output(torch.cat(pooled))  # eq. 4
        if released:
            embedding = torch.nn.functional.layer_norm(embedding, (8,), eps=1e-6)  # of weight 1 and bias 0 as yet
        expected = pooling.residual.norm(embedding + pooling.feed_forward(embedding))  # eq. 5
        torch.testing.assert_close(found[n], expected, atol=1e-10, rtol=0)


@torch.no_grad()
def test_paragraph_attention_is_averaged_over_layers() -> None:
    model, source = tiny("pht"), batch()
    memory = model.encode(source)
    assert len(model.decoder_layers) == 2
    seen = []
    for layer in model.decoder_layers:
        layer.register_forward_hook(lambda _module, _inputs, outputs: seen.append(outputs[1]))
    found = model.decode(target(), memory).paragraph_attention
    torch.testing.assert_close(found, sum(seen) / 2)


def test_the_parts_of_decoder_layers_keep_their_order() -> None:
    """Checkpoints have an optimizer's state by the number of a weight."""
    read = {"pht": ["paragraph_attention", "word_attention"], "vht": ["word_attention", "paragraph_attention"]}
    for preset, attentions in read.items():
        model = tiny(preset)
        assert isinstance(model, ParagraphSummarizer)
        layer = model.decoder_layers[0]
        parts = list(dict.fromkeys(name.partition(".")[0] for name, _ in layer.named_parameters()))
        ranking = ["ranking_residual"] if preset == "vht" else []
        residuals = ["self_residual", *ranking, "cross_residual", "feed_forward_residual"]
        assert parts == ["self_attention", *attentions, "feed_forward", *residuals]
