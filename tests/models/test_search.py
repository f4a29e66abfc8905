"""The batched, cached search against the plain one, and what it must never do."""

from collections.abc import Sequence

import pytest
import torch

from models.attention_predictor import AttentionAlignment, StructuralCoverage
from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.registry import build_summarizer
from models.search.beam import beam_search
from models.search.settings import SearchSettings
from models.search.step import Hypotheses, recent_tokens, repeated_ngrams
from tests.models.reference_search import Found, Rules, reference_search

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("float64")]

PAD, UNKNOWN, BEGIN, END = 0, 1, 2, 3
COMMA = 7
VOCABULARY = 23
NEVER = frozenset({PAD, UNKNOWN, BEGIN})


def tiny(seed: int = 0) -> Summarizer:
    """A fresh model whose words are spread out, so that its choices differ from step to step."""
    torch.manual_seed(seed)
    model = build_summarizer(
        "ht-small", vocabulary_size=VOCABULARY, model_size=16, feed_forward_size=32, heads=2, local_layers=1
    )
    with torch.no_grad():
        model.projection()[0].mul_(4.0)
        model.projection()[1].normal_()
    return model.eval()


def source(seed: int = 0, articles: int = 4) -> SourceBatch:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(4, VOCABULARY, (articles, 3, 5), generator=generator)
    if articles > 1:
        tokens[0, 1:] = PAD
        tokens[1, 0, 2:] = PAD
    ranks = torch.arange(3).expand(articles, -1).contiguous()
    return SourceBatch(tokens, ranks, torch.zeros(articles, 1, dtype=torch.int64), PAD)


SETTINGS = {
    "greedy": SearchSettings(beam=1, min_length=0, max_length=8),
    "beam": SearchSettings(beam=4, min_length=0, max_length=12),
    "long": SearchSettings(beam=3, min_length=9, max_length=14),
    "average": SearchSettings(beam=5, normalisation="average", min_length=2, max_length=10),
    "sum": SearchSettings(beam=3, normalisation="none", min_length=0, max_length=10),
    "trigrams": SearchSettings(beam=4, min_length=8, max_length=16, block_ngrams=3),
    "bigrams": SearchSettings(beam=4, min_length=8, max_length=16, block_ngrams=2),
    "words": SearchSettings(beam=2, min_length=8, max_length=16, block_ngrams=1),
    "recent": SearchSettings(beam=4, min_length=8, max_length=16, block_recent=2),
    "Ma & Zong 2020": SearchSettings(
        beam=5, normalisation="average", min_length=5, max_length=16, block_ngrams=3, block_recent=2
    ),
    "empty": SearchSettings(beam=2, min_length=0, max_length=0),
    "transformers": SearchSettings(
        beam=4, normalisation="average", min_length=2, max_length=6, block_ngrams=3, as_transformers=True
    ),
}


def check_equal(found: list, expected: list[Found]) -> None:
    assert [hypothesis.tokens for hypothesis in found] == [hypothesis.tokens for hypothesis in expected]
    for ours, reference in zip(found, expected, strict=True):
        assert ours.score == pytest.approx(reference.score, abs=1e-9)
        assert ours.log_prob == pytest.approx(reference.log_prob, abs=1e-9)
        rows = torch.tensor(reference.attention[:-1]).reshape(len(reference.tokens), 3)
        torch.testing.assert_close(ours.attention, rows.float(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_the_reference(name: str, seed: int) -> None:
    model, batch, settings = tiny(seed), source(seed), SETTINGS[name]
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, unknown=UNKNOWN, exempt=[COMMA])
    expected = reference_search(model, batch, settings, Rules(BEGIN, END, NEVER, exempt=frozenset({COMMA})))
    check_equal(found, expected)


def test_a_source_that_was_encoded_before_is_searched_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, and as often as one likes."""
    model, batch, settings = tiny(), source(), SETTINGS["beam"]
    with torch.inference_mode():
        memory = model.encode(batch)
    expected = beam_search(model, batch, settings, begin=BEGIN, end=END)
    monkeypatch.setattr(model, "encode", None)
    for _ in range(2):
        for found, one in zip(
            beam_search(model, batch, settings, begin=BEGIN, end=END, memory=memory), expected, strict=True
        ):
            assert (found.tokens, found.score, found.log_prob) == (one.tokens, one.score, one.log_prob)
            assert torch.equal(found.attention, one.attention)


@pytest.mark.parametrize("seed", [27, 36, 51])
def test_a_search_that_ends_as_transformers_finds_what_ours_stops_before(seed: int) -> None:
    model, batch = tiny(seed), source(seed)
    texts = []
    for as_transformers in (True, False):
        settings = SearchSettings(
            beam=2,
            normalisation="average",
            min_length=2,
            max_length=14,
            block_ngrams=3,
            as_transformers=as_transformers,
        )
        found = beam_search(model, batch, settings, begin=BEGIN, end=END, unknown=UNKNOWN)
        check_equal(found, reference_search(model, batch, settings, Rules(BEGIN, END, NEVER)))
        texts.append([one.tokens for one in found])
    assert texts[0] != texts[1]


@pytest.mark.parametrize("seed", [0, 1])
def test_attention_alignment_equals_the_reference(seed: int) -> None:
    model, batch = tiny(seed), source(seed, articles=1)
    settings = SearchSettings(beam=4, normalisation="average", min_length=2, max_length=9)
    expected_attention = (0.2, 0.5, 0.3)
    scorer = AttentionAlignment(torch.tensor([expected_attention]), beta=0.8)
    rules = Rules(BEGIN, END, NEVER, expected_attention=expected_attention, beta=0.8)
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, unknown=UNKNOWN, scorers=[scorer])
    check_equal(found, reference_search(model, batch, settings, rules))


def test_scorers_add_up_and_follow_articles_that_stay() -> None:
    model, batch = tiny(3), source(3)
    settings = SearchSettings(beam=3, normalisation="average", min_length=0, max_length=12)
    expected = torch.tensor([[1.0, 0.0, 0.0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])
    scorers = [AttentionAlignment(expected, beta=0.5), StructuralCoverage(weight=0.2)]
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, unknown=UNKNOWN, scorers=scorers)
    for b, hypothesis in enumerate(found):
        rules = Rules(BEGIN, END, NEVER, expected_attention=tuple(expected[b].tolist()), beta=0.5, coverage=0.2)
        check_equal([hypothesis], reference_search(model, batch, settings, rules)[b : b + 1])


def test_the_first_token_is_given_and_left_out() -> None:
    model, batch = tiny(4), source(4, articles=2)
    settings = SearchSettings(beam=3, normalisation="average", min_length=4, max_length=10)
    longer = SearchSettings(beam=3, normalisation="average", min_length=5, max_length=11)
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, unknown=UNKNOWN, first=5)
    expected = reference_search(model, batch, longer, Rules(BEGIN, END, NEVER | {5}, first=5))
    assert [(5, *one.tokens) for one in found] == [tuple(one.tokens) for one in expected]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-9)
    assert [len(one.attention) for one in found] == [len(one.tokens) for one in found]
    assert all(5 not in one.tokens for one in found)


def test_a_summary_may_end_with_the_token_from_which_the_decoder_starts() -> None:
    model, batch = tiny(4), source(4)
    settings = SearchSettings(beam=3, min_length=2, max_length=10)
    found = beam_search(model, batch, settings, begin=END, end=END, unknown=UNKNOWN)
    check_equal(found, reference_search(model, batch, settings, Rules(END, END, frozenset({PAD, UNKNOWN}))))


@pytest.mark.parametrize("seed", range(5))
def test_never_generates_special_tokens_and_keeps_lengths(seed: int) -> None:
    model = tiny(seed)
    with torch.no_grad():
        model.projection()[1][[PAD, UNKNOWN, BEGIN, END]] = 30.0
    settings = SearchSettings(beam=3, min_length=6, max_length=9)
    for hypothesis in beam_search(model, source(seed), settings, begin=BEGIN, end=END, unknown=UNKNOWN):
        assert len(hypothesis.tokens) == 6
        assert not {PAD, UNKNOWN, BEGIN, END} & set(hypothesis.tokens)
        assert hypothesis.attention.shape == (6, 3)


def test_the_unknown_token_may_be_allowed() -> None:
    model = tiny()
    with torch.no_grad():
        model.projection()[1][UNKNOWN] = 30.0
    settings = SearchSettings(beam=2, min_length=3, max_length=3, allow_unknown=True)
    found = beam_search(model, source(), settings, begin=BEGIN, end=END, unknown=UNKNOWN)
    assert {token for hypothesis in found for token in hypothesis.tokens} == {UNKNOWN}


def test_decodes_in_evaluation_mode_and_leaves_the_mode_alone() -> None:
    model = tiny()
    expected = beam_search(model, source(), SETTINGS["beam"], begin=BEGIN, end=END)
    model.train()
    found = beam_search(model, source(), SETTINGS["beam"], begin=BEGIN, end=END)
    assert [h.tokens for h in found] == [h.tokens for h in expected]
    assert model.training


def test_goes_on_while_something_alive_is_better_than_all_that_has_ended() -> None:
    model = tiny(2)
    # Several ends come at once and early, each less likely than to go on.
    narrow = SearchSettings(beam=1, normalisation="none", min_length=0, max_length=12)
    wide = SearchSettings(beam=8, normalisation="none", min_length=0, max_length=12)
    for greedy, searched in zip(
        beam_search(model, source(2), narrow, begin=BEGIN, end=END),
        beam_search(model, source(2), wide, begin=BEGIN, end=END),
        strict=True,
    ):
        assert searched.score >= greedy.score - 1e-4


class NoEnd:
    """Values that can never be left, and from some step on not even continued."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def forbidden(self, alive: Hypotheses) -> torch.Tensor:
        mask = torch.zeros(*alive.tokens.shape[:2], VOCABULARY, dtype=torch.bool)
        mask[alive.articles > 0, :, END] = True
        mask[alive.articles > 0] |= alive.length >= self.steps
        return mask

    def finished(self, article: int, tokens: Sequence[int]) -> int:
        return len(tokens)


@pytest.mark.parametrize(("steps", "length"), [(100, 6), (4, 4)])
def test_a_search_that_cannot_end_gives_the_best_it_has(steps: int, length: int) -> None:
    settings = SearchSettings(beam=3, min_length=2, max_length=6)
    model, batch = tiny(2), source(2)
    plain = beam_search(model, batch, settings, begin=BEGIN, end=END)
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, values=NoEnd(steps))  # type: ignore[arg-type]
    assert found[0].tokens == plain[0].tokens
    for hypothesis in found[1:]:
        assert len(hypothesis.tokens) == length
        assert hypothesis.attention.shape == (length, 3)
        torch.testing.assert_close(hypothesis.attention.sum(dim=1), torch.ones(length), check_dtype=False)
        assert -torch.inf < hypothesis.log_prob < hypothesis.score < 0


def test_a_summary_is_cut_where_its_values_let_it_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NoEnd, "finished", lambda self, article, tokens: len(tokens) - article)
    settings = SearchSettings(beam=3, min_length=2, max_length=6)
    model, batch = tiny(2), source(2)
    found = beam_search(model, batch, settings, begin=BEGIN, end=END, values=NoEnd(100))  # type: ignore[arg-type]
    assert len(found[1].tokens) == 5
    assert found[1].attention.shape == (5, 3)


def test_large_terms_do_not_keep_a_search_from_stopping() -> None:
    steps: list[int] = []

    class Counting(AttentionAlignment):
        def __call__(self, hypotheses: Hypotheses) -> torch.Tensor:
            steps.append(hypotheses.length)
            return super().__call__(hypotheses)

    model = tiny(1)
    with torch.no_grad():
        model.projection()[0].div_(16.0)
        model.projection()[1][END] = 4.0
    settings = SearchSettings(beam=2, normalisation="none", min_length=2, max_length=300)
    scorer = Counting(torch.tensor([[0.2, 0.5, 0.3]]), beta=100.0)
    beam_search(model, source(1, articles=1), settings, begin=BEGIN, end=END, scorers=[scorer])
    assert max(steps) < 40


def test_settings_refuse_nonsense() -> None:
    with pytest.raises(ValueError, match="beam must be at least 1, got 0"):
        SearchSettings(beam=0)
    with pytest.raises(ValueError, match="min_length <= max_length, got 5 and 4"):
        SearchSettings(min_length=5, max_length=4)
    with pytest.raises(ValueError, match="unknown normalisation 'gnmt'"):
        SearchSettings(normalisation="gnmt")
    with pytest.raises(ValueError, match=r"expected an end token .*, got 0"):
        beam_search(tiny(), source(), SETTINGS["beam"], begin=BEGIN, end=PAD)


def test_normalisers() -> None:
    assert SearchSettings(alpha=0.0).normaliser(17) == 1.0
    assert SearchSettings(alpha=1.0).normaliser(7) == 2.0  # (5 + 7) / 6
    assert SearchSettings(normalisation="average").normaliser(9) == 9.0


def blocked(mask: torch.Tensor | None) -> set[int]:
    assert mask is not None
    return set(mask[0, 0].nonzero().flatten().tolist())


def test_repeated_ngrams() -> None:
    tokens = torch.tensor([[[4, 5, 6, 4, 5]]])
    assert blocked(repeated_ngrams(tokens, 3, 10)) == {6}
    assert blocked(repeated_ngrams(tokens, 2, 10)) == {6}
    assert blocked(repeated_ngrams(tokens, 1, 10)) == {4, 5, 6}
    assert blocked(repeated_ngrams(torch.tensor([[[4, 4, 4]]]), 3, 10)) == {4}
    assert repeated_ngrams(tokens, 6, 10) is None
    assert repeated_ngrams(tokens, 0, 10) is None


def test_recent_tokens() -> None:
    tokens = torch.tensor([[[4, 5, 6]]])
    assert blocked(recent_tokens(tokens, 2, 10)) == {5, 6}
    assert blocked(recent_tokens(tokens, 2, 10, exempt=[6])) == {5}
    assert blocked(recent_tokens(tokens, 9, 10)) == {4, 5, 6}
    assert recent_tokens(tokens, 0, 10) is None
