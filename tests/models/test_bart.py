"""What BART, HED and Hie-BART have that other summarizers have not; what all owe is in `test_summarizers.py`."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.bart import Bart, DocumentMemory
from models.layers.decoder import TokenMemory
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.patterns import WordsAndSentences
from models.registry import build_summarizer
from tests.models.systems import PAD, batch, logits, target, tiny

KINDS = pytest.mark.parametrize("preset", ["bart-large", "hed-row-2", "hed", "hie-bart"])


pytestmark = pytest.mark.usefixtures("float64")


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "more tokens than positions": (
        {"source_tokens": 2000},
        "source_tokens must be at most max_positions 1024, got 2000",
    ),
    "HAE without <s>": ({"hae": True}, "hae needs document_begin, which is off"),
    "HAD without HAE": ({"document_begin": True, "had": True}, "had needs hae, which is off"),
    "too many heads": ({"sentence_heads": 17}, "sentence_heads must be 0 to 16, the number of heads, got 17"),
    "no token": ({"sentence_begin": 9}, "sentence_begin must be a token of the vocabulary of 9, got 9"),
    "two encoders": (
        {"document_begin": True, "hae": True, "sentence_heads": 1},
        "hae and sentence_heads are two kinds",
    ),
    "no layers": ({"encoder_layers": 0}, "encoder_layers must be at least 1, got 0"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_named(case: str) -> None:
    fields, message = MISTAKES[case]
    with pytest.raises(ValueError, match=message), torch.device("meta"):
        build_summarizer("bart-large", vocabulary_size=9, pad=1, **fields)


def test_a_target_longer_than_the_positions_is_refused() -> None:
    model = tiny("bart-large", max_positions=24, source_tokens=24)
    memory = model.encode(batch())
    with pytest.raises(ValueError, match="expected at most max_positions 24 target tokens, got 25"):
        model.start_cache(memory, 2, 25)
    with pytest.raises(ValueError, match="expected at most max_positions 24 target tokens, got 25"):
        model.decode(target(length=25), memory)


@pytest.mark.parametrize("preset", ["bart-large", "hed-row-2", "hed-row-4"])  # as one sequence, and by document
@torch.no_grad()
def test_padding_past_the_last_position_changes_nothing(preset: str) -> None:
    """Six tokens fill six positions; the padding of the second paragraph lies past them."""
    source = SourceBatch(
        tokens=torch.tensor([[[5, 6, 7, 8], [9, 10, PAD, PAD]]]),
        ranks=torch.tensor([[0, 1]]),
        title=torch.zeros(1, 1, dtype=torch.int64),
        pad=PAD,
    )
    narrow = tiny(preset, max_positions=6, source_tokens=6)
    wide = tiny(preset, max_positions=40, source_tokens=6)
    weights = {**wide.state_dict(), **narrow.state_dict()}
    for side in ("encoder", "decoder"):
        name = f"model.{side}.embed_positions.weight"
        table = wide.state_dict()[name].clone()
        table[: len(weights[name])] = weights[name]
        weights[name] = table
    wide.load_state_dict(weights)
    assert torch.equal(logits(narrow, source, target(rows=1, length=4)), logits(wide, source, target(rows=1, length=4)))


@KINDS
def test_checkpointing_changes_no_gradient(preset: str) -> None:
    """Dropout included: the layer that is computed again draws the same masks."""
    gradients, kept = [], []
    for checkpointing in (False, True):
        model = tiny(preset, dropout=0.2, attention_dropout=0.2, gradient_checkpointing=checkpointing).train()
        torch.manual_seed(1)
        sizes: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda x, sizes=sizes: sizes.append(x.numel()) or x, lambda x: x):
            decoded = model.decode(target(), model.encode(batch()), attention=False)
        model.logits(decoded.hidden).square().sum().backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
        kept.append(sum(sizes))
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, atol=1e-10, rtol=1e-10, msg=name)
    assert kept[1] < kept[0] / 2


@KINDS
def test_attention_dropout_falls_on_every_token_of_the_source(preset: str) -> None:
    model = tiny(preset, attention_dropout=0.5, encoder_layers=1)
    assert isinstance(model, Bart)
    before, again = states(model), states(model)
    assert torch.equal(before, again)
    torch.manual_seed(0)
    changed = torch.stack([(states(model.train()) - before).abs().amax(dim=-1) > 1e-6 for _ in range(20)]).any(dim=0)
    assert changed.all()


def states(model: Bart) -> Tensor:
    """What the encoder says of each token of a full article, [tokens, D], by way of the decoder's first keys."""
    source = batch()
    full = SourceBatch(source.tokens[2:], source.ranks[2:], source.title[2:], PAD)
    with torch.no_grad():
        memory = model.encode(full)
    assert isinstance(memory, TokenMemory | DocumentMemory)
    keys = memory.pairs[0][0]  # [1, H, S, E], or [1, P, H, L, E]
    return keys.transpose(-3, -2).flatten(-2)[memory.mask]


def test_attention_dropout_falls_on_what_is_read_of_documents() -> None:
    """All values are 1, so with half of the weights gone what is read varies around 1."""
    attention = tiny("hed", attention_dropout=0.5).model.decoder.layers[0].encoder_attn.train()
    nn.init.eye_(attention.out_proj.weight)
    ones = torch.ones(1, 3, 4, 5, 4)
    memory = DocumentMemory(pairs=((ones, ones),), mask=torch.ones(1, 3, 5, dtype=torch.bool))
    read = torch.stack([attention(torch.ones(1, 1, 16), memory, 0, weights=False)[0] for _ in range(400)])
    assert read.std() > 0.1
    assert float(read.detach().mean()) == pytest.approx(1.0, abs=0.05)


def test_a_copying_bart_writes_what_its_source_holds() -> None:
    model = tiny("hed", copying=True)
    source = batch()
    decoded = model.decode(target(), model.encode(source))
    assert decoded.copied is not None
    log_probs = model.log_probs(decoded)
    torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(3, 7))
    torch.testing.assert_close(decoded.paragraph_attention.sum(dim=-1).double(), torch.ones(3, 7), atol=1e-6, rtol=0)


@KINDS
def test_what_is_cut_is_not_read(preset: str) -> None:
    model = tiny(preset, source_tokens=9)
    source = batch()
    tokens = source.tokens.clone()
    tokens[2, 1, 3:], tokens[2, 2:] = 5, 6  # tokens from the tenth on
    changed = logits(model, replace(source, tokens=tokens), target())
    torch.testing.assert_close(changed, logits(model, source, target()), atol=1e-12, rtol=0)
    tokens[2, 1, 2] = 3 + tokens[2, 1, 2] % 20  # the ninth
    assert (logits(model, replace(source, tokens=tokens), target()) - changed)[2].abs().max() > 1e-6


def test_rows_are_cut_where_an_article_is_full() -> None:
    tokens = torch.tensor([[[4, 5, 6], [7, 8, PAD], [9, 9, 9]], [[1, 2, 3], [PAD] * 3, [PAD] * 3]])
    ranks = torch.tensor([[0, 1, 2], [0, 1, 2]])
    rows = ParagraphRows.of(SourceBatch(tokens, ranks, torch.zeros(2, 1, dtype=torch.int64), PAD), PAD)
    assert rows.starts.tolist() == [0, 3, 5, 0]
    cut = rows.cut(4)
    assert cut.tokens.tolist() == [[4, 5, 6], [7, PAD, PAD], [1, 2, 3]]
    assert cut.mask.tolist() == [[True] * 3, [True, False, False], [True] * 3]
    assert (cut.article.tolist(), cut.column.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert rows.cut(2).tokens.tolist() == [[4, 5], [1, 2]]
    assert torch.equal(rows.cut(100).tokens, rows.tokens)


def test_sentences_begin_at_the_mark() -> None:
    tokens = torch.tensor([[5, 7, 6, 7, 8, 0], [5, 6, 0, 0, 0, 0]])
    means = WordsAndSentences.of(tokens, tokens != 0, mark=7, heads=1).means
    third = 1 / 3
    assert means[0].tolist() == [pytest.approx([third, third, third, 0, 0, 0]), [0, 0, 0, 0.5, 0.5, 0]]
    assert means[1].tolist() == [[0.5, 0.5, 0, 0, 0, 0], [0] * 6]
