"""Guided search: every combination of scorers, compression and settings of the search against the plain reference."""

from dataclasses import replace

import pytest
import torch

from models.attention_predictor import AttentionPredictor, AttentionPredictorConfig, guide
from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.search.beam import beam_search
from models.search.settings import Guidance, SearchSettings
from tests.models.reference_search import Rules, reference_search
from tests.models.systems import PAD, batch, tiny

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("float64")]

BEGIN, END = 2, 3
NEVER = frozenset({PAD, BEGIN})
SCORES = torch.tensor([[0.9, 0.1, 0.0, 0.0], [0.2, 0.2, 0.4, 0.8], [0.5, 0.25, 0.25, 0.0]], dtype=torch.float64)


def wordy(preset: str = "pht") -> Summarizer:
    """A model whose words are spread out, so that its choices differ from step to step."""
    model = tiny(preset)
    with torch.no_grad():
        model.projection()[0].mul_(4.0)
    return model


def predictor() -> AttentionPredictor:
    torch.manual_seed(5)
    model = AttentionPredictor(AttentionPredictorConfig(model_size=16, feed_forward_size=32))
    with torch.no_grad():
        model.unit.weight.mul_(4.0)  # so that paragraphs differ
    return model.eval()


def expectations(guidance: Guidance, summarizer: Summarizer, source: SourceBatch) -> list[list[float] | None]:
    """What each article's paragraphs are expected to get, one article at a time and without padding."""
    found: list[list[float] | None] = []
    for b, exists in enumerate(source.paragraph_mask):
        if guidance.alignment == "none":
            found.append(None)
            continue
        shares = SCORES[b][exists]
        if guidance.alignment == "predicted":
            memory = summarizer.encode(article(source, b))
            with torch.no_grad():
                shares = predictor()(memory.paragraphs, memory.paragraph_mask)[0]
        found.append((shares / shares.sum()).tolist())
    return found


def article(source: SourceBatch, b: int) -> SourceBatch:
    exists = source.paragraph_mask[b]
    graph = None if source.graph is None else source.graph[b : b + 1][:, exists][:, :, exists]
    return replace(
        source,
        tokens=source.tokens[b : b + 1, exists],
        ranks=source.ranks[b : b + 1, exists],
        title=source.title[b : b + 1],
        graph=graph,
    )


def most(summarizer: Summarizer, source: SourceBatch, b: int, kept: int) -> list[int]:
    """The places of the paragraphs with most predicted attention, by the definition."""
    predicted = expectations(Guidance("predicted"), summarizer, source)[b]
    assert predicted is not None
    return sorted(sorted(range(len(predicted)), key=lambda p: -predicted[p])[:kept])


SEARCHES = {
    "wu": SearchSettings(beam=3, normalisation="wu", alpha=0.4, min_length=2, max_length=6, block_ngrams=2),
    "average": SearchSettings(
        beam=3, normalisation="average", min_length=4, max_length=7, block_ngrams=3, block_recent=2
    ),
}
GUIDANCES = {
    "predicted": Guidance("predicted"),
    "ranked": Guidance("ranked", beta=0.5),
    "coverage": Guidance(coverage=0.3),
    "predicted and coverage": Guidance("predicted", coverage=0.2),
    "compressed": Guidance(kept=2),
    "predicted, compressed": Guidance("predicted", kept=2),
    "ranked, coverage, compressed": Guidance("ranked", coverage=0.2, kept=3),
}


@pytest.mark.parametrize("name", GUIDANCES)
@pytest.mark.parametrize("how", SEARCHES)
@pytest.mark.parametrize("preset", ["pht", "graphsum"])
def test_guided_search_equals_the_reference(preset: str, how: str, name: str) -> None:
    model, source, guidance, settings = wordy(preset), batch(), GUIDANCES[name], SEARCHES[how]
    read, scorers = guide(source, guidance, model, predictor=predictor(), scores_BP=SCORES)
    found = beam_search(model, read, settings, begin=BEGIN, end=END, scorers=scorers)
    wanted = expectations(guidance, model, source)
    for b, hypothesis in enumerate(found):
        alone, expected = article(source, b), wanted[b]
        if guidance.kept is not None:
            places = most(model, source, b, guidance.kept)
            assert read.ranks[b][read.paragraph_mask[b]].tolist() == places
            alone = replace(
                alone,
                tokens=alone.tokens[:, places],
                ranks=alone.ranks[:, places],
                graph=alone.graph[:, places][:, :, places],
            )
            if expected is not None:
                total = sum(expected[p] for p in places)
                expected = [expected[p] / total for p in places]
        rules = Rules(
            BEGIN,
            END,
            NEVER,
            expected_attention=None if expected is None else tuple(expected),
            beta=guidance.beta,
            coverage=guidance.coverage,
        )
        [reference] = reference_search(model, alone, settings, rules)
        assert hypothesis.tokens == reference.tokens
        assert hypothesis.score == pytest.approx(reference.score, abs=1e-9)
        rows = torch.tensor(reference.attention[:-1]).reshape(len(reference.tokens), -1)
        torch.testing.assert_close(hypothesis.attention[:, : rows.shape[1]], rows.float(), atol=1e-6, rtol=0)


def test_guidance_changes_what_is_found() -> None:
    model, source, settings = wordy(), batch(), SEARCHES["average"]

    def tokens(guidance: Guidance) -> list[list[int]]:
        read, scorers = guide(source, guidance, model, predictor=predictor(), scores_BP=SCORES)
        return [found.tokens for found in beam_search(model, read, settings, begin=BEGIN, end=END, scorers=scorers)]

    plain = tokens(Guidance())
    for guidance in (Guidance("predicted", beta=5), Guidance("ranked", beta=5), Guidance(coverage=9), Guidance(kept=1)):
        assert tokens(guidance) != plain, guidance


def test_without_guidance_nothing_is_changed() -> None:
    source = batch()
    assert guide(source, Guidance(), tiny("ht")) == (source, [])
    assert not Guidance().reads_predictor
    assert not Guidance().reads_scores


def test_what_is_needed_and_missing_is_named() -> None:
    with pytest.raises(ValueError, match="needs an attention predictor, got None"):
        guide(batch(), Guidance("predicted"), tiny("pht"))
    with pytest.raises(ValueError, match="needs an attention predictor, got None"):
        guide(batch(), Guidance(kept=2), tiny("pht"))
    with pytest.raises(ValueError, match="needs its scores, got None"):
        guide(batch(), Guidance("ranked"), tiny("pht"))
    with pytest.raises(ValueError, match="TokenMemory has none"):
        guide(batch(), Guidance("predicted"), tiny("ht"), predictor=predictor())
