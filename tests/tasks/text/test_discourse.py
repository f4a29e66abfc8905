"""Markers that tie a paragraph to the one before it on its page."""

import pytest

from tasks.text.language import MARKERS, has_marker, marked_pairs


def test_there_are_36_markers() -> None:
    assert len(set(MARKERS)) == 36


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_is_found_in_any_case(marker: str) -> None:
    assert has_marker(f"{marker.capitalize()}, the river rose.")
    assert has_marker(f"The river, {marker.upper()}, rose.")


@pytest.mark.parametrize(
    "paragraph",
    [
        "The river rose.",
        "Eventually it fell.",  # holds "even"
        "Authentic stones lie here.",  # holds "then"
        "The then-owner left.",
        "In additional notes he said so.",
        "The river rose. However, it fell.",  # a marker, but within the paragraph
        "",
    ],
)
def test_no_marker(paragraph: str) -> None:
    assert not has_marker(paragraph)


def test_a_marker_of_several_words_may_break_over_lines() -> None:
    assert has_marker("At the  same time it fell.")


def test_pairs_are_neighbours_on_one_page_with_a_marker_in_the_later() -> None:
    urls = ["a", "a", "b", "a", "a", "b"]
    positions = [4, 3, 4, 6, 1, 5]
    texts = ["However, no.", "Yes.", "Also this.", "Then that.", "Finally.", "Plain."]
    # a4 follows a3 with a marker; a6 follows a5, which is not here; b5 follows b4 without one.
    assert list(marked_pairs(urls, positions, texts)) == [(1, 0)]
