"""The largest batch: how it is searched, and that its memory is what the line through two batches says."""

import pytest
import torch

from models.presets import PRESETS
from models.registry import build_summarizer, to_config_dict
from models.training import token_objective
from models.training.layout import Layout
from tasks.tables.efficiency import find_capacity, largest, longest_batch, peak_bytes
from tests.models.systems import TINY, distinct_presets

pytestmark = pytest.mark.integration

CPU = torch.device("cpu")
LAYOUT = Layout(
    pad=0, title_mark=4, max_paragraphs=5, max_paragraph_tokens=10, max_target_tokens=17, length_multiple=4, graph=True
)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_objective, "CHUNK", 32)


def config(preset: str) -> dict[str, object]:
    return to_config_dict(build_summarizer(preset, vocabulary_size=50, **TINY[PRESETS[preset].architecture]))


@pytest.mark.parametrize("answer", [0, 1, 2, 3, 7, 8, 9, 100])
def test_the_largest_that_fits_is_found_with_few_tries(answer: int) -> None:
    tried: list[int] = []

    def fits(size: int) -> bool:
        tried.append(size)
        return size <= answer

    assert largest(fits, most=100) == answer
    assert len(tried) == len(set(tried)) <= 2 * 7
    assert max(tried) <= 2 * max(1, answer)


def test_more_than_the_most_is_never_tried() -> None:
    assert largest(lambda _size: True, most=100) == 100


def test_a_longest_batch_is_as_long_as_the_layout_allows() -> None:
    model = build_summarizer("ht-small", vocabulary_size=50)
    batch = longest_batch(model, LAYOUT, source_tokens=35, examples=3)
    assert batch.source.tokens.shape == (3, 4, 12)  # 35 tokens take 4 paragraphs of 10, padded to 12
    assert batch.target.shape == (3, 17)
    assert batch.source.graph is not None
    assert (batch.source.token_mask.sum().item(), batch.source_tokens, batch.padded_tokens) == (120, 120, 144)
    assert (batch.target != 0).all()
    assert longest_batch(model, LAYOUT, source_tokens=1600, examples=1).source.tokens.shape == (1, 5, 12)


@pytest.mark.parametrize("preset", distinct_presets())
def test_the_largest_batch_fits_and_one_more_example_does_not(preset: str) -> None:
    settings = config(preset)
    limit = peak_bytes(settings, LAYOUT, 40, 12) + 1000
    most, _ = find_capacity(settings, LAYOUT, source_tokens=40, memory_bytes=limit, device=CPU)
    assert most == 12
    assert peak_bytes(settings, LAYOUT, 40, most + 1) > limit


def test_a_small_batch_is_measured_itself() -> None:
    settings = config("ht")
    one = peak_bytes(settings, LAYOUT, 40, 1)
    for limit, expected in ((one - 1, 0), (one, 1)):
        assert find_capacity(settings, LAYOUT, source_tokens=40, memory_bytes=limit, device=CPU)[0] == expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_cuda_more_memory_holds_more_examples() -> None:
    settings, device = config("ht"), torch.device("cuda", 0)
    few, many = (
        find_capacity(settings, LAYOUT, source_tokens=40, memory_bytes=limit, device=device)
        for limit in (200_000_000, 400_000_000)
    )
    assert 1 <= few.batch < many.batch
    assert "its allocator refused more than 0.2 GB" in few.method
