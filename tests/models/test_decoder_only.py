"""T-DMCA and Transformer-XL against literal readings of their attention, and GraphSum's graph."""

import pytest
import torch

from models.contract import Summarizer
from models.graphsum import attend_by_graph, graph_bias
from models.layers.attention import SelfAttention
from models.layers.paragraphs import FlatTokens
from models.layers.transformer import sinusoids
from models.memory_compressed import CompressedAttention, LocalAttention, MemoryCompressedConfig, window_members
from models.transformer_xl import RelativeAttention, TransformerXLConfig
from tests.models.systems import batch, logits, target, tiny

SIZE, HEADS = 8, 2


@pytest.fixture(autouse=True)
def _seeded(float64: None) -> None:
    torch.manual_seed(0)


def close(found: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=0)


def read_one(module: torch.nn.Module, query: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """Multi-head attention of one vector [D] to vectors [S, D] with the projections of `module`."""
    weight, bias = module.query_key_value.weight.chunk(3), module.query_key_value.bias.chunk(3)
    q, k, v = (x @ w.T + b for x, w, b in zip((query, seen, seen), weight, bias, strict=True))
    contexts = []
    for columns in torch.arange(SIZE).chunk(HEADS):
        share = (k[:, columns] @ q[columns] / len(columns) ** 0.5).softmax(dim=0)
        contexts.append(share @ v[:, columns])
    return module.output(torch.cat(contexts))


def dmca_config(**fields: int) -> MemoryCompressedConfig:
    return MemoryCompressedConfig(10, model_size=SIZE, feed_forward_size=8, heads=HEADS, dropout=0.0, **fields)


@torch.no_grad()
def test_local_attention_stays_in_its_block() -> None:
    attention = LocalAttention(dmca_config(block=3))
    torch.nn.init.normal_(attention.query_key_value.bias)
    x = torch.randn(2, 8, SIZE)
    mask = torch.ones(2, 8, dtype=torch.bool)
    for found, _ in (attention.read(x, mask), attention.write(x, None, None, 0, weights=True)):
        for i in range(8):
            close(found[1, i], read_one(attention, x[1, i], x[1, i // 3 * 3 : i + 1]))


@torch.no_grad()
def test_compressed_attention_sees_the_first_token_and_whole_windows() -> None:
    attention = CompressedAttention(dmca_config(window=3))
    torch.nn.init.normal_(attention.query_key_value.bias)
    x = torch.randn(2, 8, SIZE)
    found, (keys, _) = attention.read(x, torch.ones(2, 8, dtype=torch.bool))
    windows = [attention.convolution(x[0, start : start + 3].flatten()) for start in (0, 3)]
    for i in range(8):
        seen = torch.stack([x[0, 0], *windows[: (i + 1) // 3]])
        close(found[0, i], read_one(attention, x[0, i], seen))
    last = attention.convolution(torch.cat((x[0, 6], x[0, 7], torch.zeros(SIZE))))
    assert keys.shape == (2, HEADS, 4, SIZE // HEADS)
    weight, bias = attention.query_key_value.weight.chunk(3)[1], attention.query_key_value.bias.chunk(3)[1]
    close(keys[0, :, 3].flatten(), weight @ last + bias)


def test_windows_belong_to_the_paragraphs_of_their_tokens() -> None:
    mask = torch.tensor([[True] * 5 + [False]])
    flat = FlatTokens(torch.zeros(1, 6), mask, torch.tensor([[1, 1, 0, 0, 2, 0]]))
    expected = [[0, 1, 0], [1 / 3, 2 / 3, 0], [0.5, 0, 0.5]]
    close(window_members(flat, 3, 3)[0], torch.tensor(expected, dtype=torch.float32), 1e-6)


@torch.no_grad()
def test_relative_attention_is_the_formula_of_transformer_xl() -> None:
    config = TransformerXLConfig(10, model_size=SIZE, feed_forward_size=8, heads=HEADS, memory=3)
    attention = RelativeAttention(config)
    torch.nn.init.normal_(attention.query_key_value.bias)
    previous, x = torch.randn(2, 3, SIZE), torch.randn(2, 3, SIZE)
    found = attention.read_segments(x, previous, torch.tensor([False, True]))
    weight, bias = attention.query_key_value.weight.chunk(3), attention.query_key_value.bias.chunk(3)
    for row, before in ((0, previous[0]), (1, previous[1, :0])):
        sequence = torch.cat((before, x[row]))
        for i in range(3):
            position = len(before) + i
            seen = sequence[: position + 1]
            q = weight[0] @ x[row, i] + bias[0]
            k, v = seen @ weight[1].T + bias[1], seen @ weight[2].T + bias[2]
            r = attention.distance(sinusoids(position - torch.arange(position + 1), SIZE).double())
            contexts = []
            for head, columns in enumerate(torch.arange(SIZE).chunk(HEADS)):
                content = k[:, columns] @ (q[columns] + attention.content_bias[head])
                distance = r[:, columns] @ (q[columns] + attention.distance_bias[head])
                contexts.append(((content + distance) / 2).softmax(dim=0) @ v[:, columns])
            close(found[row, i], attention.output(torch.cat(contexts)))


@pytest.mark.parametrize("preset", ["t-dmca-small", "transformer-xl-small"])
def test_the_source_is_read_causally(preset: str) -> None:
    model, source = tiny(preset), batch()
    tokens = source.tokens.clone()
    tokens[2, 3, 3:] = 5  # the third article is full: its last three tokens change
    changed = type(source)(tokens, source.ranks, source.title, source.pad)
    before, after = model.encode(source).hidden[2], model.encode(changed).hidden[2]
    close(before[:21], after[:21])
    assert (before[21:24] - after[21:24]).abs().max() > 1e-3


@pytest.mark.parametrize("preset", ["t-dmca-small", "transformer-xl-small"])
def test_source_states_predict_the_next_token_of_each_article(preset: str) -> None:
    model, source = tiny(preset), batch()
    memory = model.encode(source)
    hidden, tokens = model.source_states(memory)
    expected = [article[article != 0][1:] for article in source.tokens.flatten(1)]
    assert tokens.tolist() == torch.cat(expected).tolist()
    assert hidden.shape == (len(tokens), 16)
    close(hidden[0], memory.hidden[0, 0])
    assert tiny(preset, loss_over_input=False).source_states(memory) is None


def test_other_summarizers_do_not_predict_their_source() -> None:
    model: Summarizer = tiny("ht")
    assert model.source_states(model.encode(batch())) is None


@pytest.mark.parametrize("passes", [True, False])
def test_transformer_xl_may_stop_gradients_at_its_memory(passes: bool) -> None:
    model, source = tiny("transformer-xl-small", memory_gradient=passes).train(), batch()
    seen: list[torch.Tensor] = []
    model.embedding.register_forward_hook(lambda _module, _inputs, output: seen.append(output))
    loss = model.logits(model.decode(target(), model.encode(source)).hidden).log_softmax(dim=-1)[..., 5].sum()
    (gradient,) = torch.autograd.grad(loss, seen[:1], allow_unused=True)
    assert (gradient is not None) == passes


@pytest.mark.parametrize("preset", ["t-dmca-small", "transformer-xl-small", "ft-small"])
def test_more_source_may_be_read_than_was_trained_on(preset: str) -> None:
    short, long = tiny(preset, source_tokens=8), tiny(preset, source_tokens=3000)
    long.load_state_dict(short.state_dict())
    assert not torch.equal(logits(short, batch(), target()), logits(long, batch(), target()))


def test_graph_bias() -> None:
    graph = torch.tensor([1.0, 0.5, 0.0, 3.0]).expand(1, 4, 4)
    found = graph_bias(graph, torch.tensor([[True, True, True, False]]), 2.0)
    seen = [0.0, -0.25 / 8, -1 / 8]
    close(found, torch.tensor([[[*seen, -torch.inf]] * 3 + [[*seen, 0.0]]]))  # an absent paragraph sees itself


@torch.no_grad()
def test_graph_attention_lowers_the_logits_of_paragraphs_that_are_not_joined() -> None:
    attention = SelfAttention(SIZE, HEADS)
    x, mask = torch.randn(1, 3, SIZE), torch.tensor([[True, True, False]])
    alone = attend_by_graph(attention, x, graph_bias(torch.eye(3)[None], mask, sigma=0.1))
    for p in range(2):
        close(alone[0, p], read_one(attention, x[0, p], x[0, p : p + 1]))
    joined = attend_by_graph(attention, x, graph_bias(torch.ones(1, 3, 3), mask, sigma=0.1))
    for p in range(2):
        close(joined[0, p], read_one(attention, x[0, p], x[0, :2]))


def test_graphsum_needs_a_graph() -> None:
    source = batch()
    with pytest.raises(ValueError, match=r"GraphSum needs the similarity graph as SourceBatch.graph, got None"):
        tiny("graphsum").encode(type(source)(source.tokens, source.ranks, source.title, source.pad))


@pytest.mark.parametrize(
    ("preset", "fields", "message"),
    [
        ("t-dmca-small", {"layers": 1}, "expected at least 2 layers, a local and a compressed one, got 1"),
        ("t-dmca-small", {"window": 0}, "window must be at least 1, got 0"),
        ("t-dmca-small", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("transformer-xl-small", {"memory": 0}, "memory must be at least 1, got 0"),
        ("transformer-xl-small", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("ft-small", {"source_tokens": 0}, "source_tokens must be at least 1, got 0"),
        ("ft-small", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("graphsum", {"sigma": 0.0}, "sigma must be positive, got 0"),
        ("graphsum", {"graph": "none"}, "unknown graph 'none'"),
        ("graphsum", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("pht", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("vht", {"heads": 3}, "heads must divide model_size 16, got 3"),
        ("vht", {"ranking_norm": False, "ranking_residual": True}, "ranking_residual needs ranking_norm"),
    ],
)
def test_nonsense_is_refused(preset: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny(preset, **fields)


@torch.no_grad()
@pytest.mark.parametrize("preset", ["t-dmca-small", "transformer-xl-small"])
def test_attention_is_a_distribution_also_when_the_target_is_longer_than_any_memory(preset: str) -> None:
    # Seven tokens of memory and segment, blocks of four: from its 8th token on the target sees nothing of the source.
    model, source, tokens = tiny(preset), batch(), target(rows=6, length=17)
    memory = model.encode(source)
    attention = model.decode(tokens, memory).paragraph_attention
    close(attention.sum(dim=-1), torch.ones(6, 17))
    assert attention[:2, :, 2:].eq(0).all()  # the first article has two paragraphs
    if preset == "transformer-xl-small":
        held = memory.member.sum(dim=1).gt(0).double()
        even = held / held.sum(dim=1, keepdim=True)
        close(attention[:, 7:], even.repeat_interleave(2, dim=0).unsqueeze(1).expand(-1, 10, -1))


@pytest.mark.parametrize("preset", ["t-dmca-small", "transformer-xl-small"])
def test_no_weights_are_made_where_attention_is_not_asked_for(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, source, tokens = tiny(preset), batch(), target(rows=6, length=17)
    memory = model.encode(source)
    expected = model.decode(tokens, memory).hidden
    made: list[object] = []
    monkeypatch.setattr("models.decoder_only.masked_softmax", lambda *_: made.append(1))
    found = model.decode(tokens, memory, attention=False)
    assert found.paragraph_attention is None
    assert made == []
    close(found.hidden, expected)
    cache = model.start_cache(memory, hypotheses=2, length=17)
    parts = [model.decode(part, memory, cache, attention=False).hidden for part in tokens.split([1, 9, 7], dim=1)]
    close(torch.cat(parts, dim=1), expected)
