"""Days that a text names by their distance from its day of publication."""

import pytest

from tasks.text.dates import resolved_day


@pytest.mark.parametrize(
    ("word", "day"),
    [
        ("Friday", "2024-05-03"),  # the day of publication is a Friday itself
        ("Thursday", "2024-05-02"),
        ("saturday", "2024-04-27"),
        ("Tuesday.", "2024-04-30"),
        ("yesterday", "2024-05-02"),
        ("today", "2024-05-03"),
        ("tomorrow", "2024-05-04"),
        ("May", None),
    ],
)
def test_a_day_is_counted_from_the_day_of_publication(word: str, day: str | None) -> None:
    assert resolved_day(word, "2024-05-03") == day
    assert resolved_day(word, None) is None
