"""Sentences that a summarizer doubts: log-probabilities as the search counts them, and what is left of a summary."""

from math import log

import pytest
import torch

from models.search.beam import beam_search
from models.search.certainty import token_log_probs, without_unlikely
from models.search.settings import SearchSettings
from models.search.step import Hypothesis
from models.training.layout import ExampleTable, source_batch
from tasks.summarization.examples import layout_of
from tasks.summarization.fresh_model import fresh_model
from tasks.summarization.settings import DecodingSettings
from tests.tasks.summarization.summarizer_examples import TINY, examples, vocabulary

WORDS = vocabulary()


@pytest.mark.parametrize("copying", [False, True])
def test_log_probabilities_are_those_of_the_search(copying: bool) -> None:
    settings = TINY.model_copy(update={"copying": copying})
    model = fresh_model(settings, WORDS, 1, dropout=0).eval()
    rows = ExampleTable(examples("test"), layout_of(settings, WORDS))
    source = source_batch([rows.example(row) for row in range(3)], rows.layout)
    search = SearchSettings(beam=2, min_length=0, max_length=12, allow_unknown=True)
    model.requires_grad_(False)
    found = beam_search(model, source, search, begin=WORDS.begin, end=WORDS.end)
    memory = model.encode(source)
    for article, (one, log_probs) in enumerate(zip(found, token_log_probs(model, memory, found, WORDS), strict=True)):
        assert log_probs.shape == (len(one.tokens),)
        own = memory.select(torch.tensor([article]))
        end = model.log_probs(model.decode(torch.tensor([[WORDS.begin, *one.tokens]]), own))[0, -1, WORDS.end]
        assert float(log_probs.sum() + end) == pytest.approx(one.log_prob, abs=1e-4)


def summary(*sentences: tuple[str, float]) -> tuple[Hypothesis, torch.Tensor]:
    """Return a summary of sentences of given probability, spread over their tokens."""
    parts = [WORDS.encode(text) for text, _ in sentences]
    log_probs = [log(p) / len(part) for part, (_, p) in zip(parts, sentences, strict=True) for _ in part]
    tokens = [token for part in parts for token in part]
    return Hypothesis(tokens, 0.0, 0.0, torch.arange(len(tokens)).float().unsqueeze(1)), torch.tensor(log_probs)


FOUR = (("The river is long.", 0.5), ("It is red.", 0.01), ("It lies here.", 0.05), ("It ends.", 0.2))


@pytest.mark.parametrize(
    ("least", "kept"), [(0.0, [0, 1, 2, 3]), (0.02, [0, 2, 3]), (0.051, [0, 3]), (0.3, [0]), (0.9, [0])]
)
def test_sentences_below_the_limit_are_left_out(least: float, kept: list[int]) -> None:
    whole, log_probs = summary(*FOUR)
    shorter = without_unlikely(whole, log_probs, WORDS, least)
    assert WORDS.decode(shorter.tokens) == " ".join(FOUR[index][0] for index in kept)
    assert [whole.tokens[int(row)] for row in shorter.attention[:, 0]] == shorter.tokens


@pytest.mark.parametrize("preset", ["ht-small", "vht-small"])
def test_an_empty_summary_stays_empty(preset: str) -> None:
    empty = Hypothesis([], 0.0, 0.0, torch.zeros(0, 2))
    settings = TINY.model_copy(update={"preset": preset, "graph": "none", "overrides": {"dropout": 0.0}})
    model = fresh_model(settings, WORDS, 1, dropout=0).eval()
    rows = ExampleTable(examples("test"), layout_of(settings, WORDS))
    (log_probs,) = token_log_probs(model, model.encode(source_batch([rows.example(0)], rows.layout)), [empty], WORDS)
    assert log_probs.shape == (0,)
    assert without_unlikely(empty, torch.zeros(0), WORDS, 0.5).tokens == []


def test_another_limit_is_another_recipe() -> None:
    recipes = [DecodingSettings(min_sentence_probability=least).recipe() for least in (0.0, 0.02)]
    assert [recipe["min_sentence_probability"] for recipe in recipes] == [0.0, 0.02]
