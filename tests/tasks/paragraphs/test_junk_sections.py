import pytest

from tasks.paragraphs.quality import sections


def kinds(*texts: str) -> list[str | None]:
    """Return the sections of paragraphs; those without a full stop are refused, as headings are."""
    return sections(texts, [not text.endswith(".") for text in texts])


def test_references_go_on_to_the_end_or_to_another_kind() -> None:
    assert kinds("A weir.", "References", "Bell 1999.", "Webb 1987.") == [None, *["references"] * 3]
    assert kinds("Notes", "Bell 1999.", "3 Comments", "Great.") == ["references"] * 2 + ["comments"] * 2


def test_a_list_of_other_stories_ends() -> None:
    found = kinds("A weir.", "Related stories", *["A lock."] * 14)
    assert found == [None, *["others"] * 13, None, None]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("REFERENCES:", "references"),
        ("## Further reading", "references"),
        ("1,204 Comments", "comments"),
        ("Leave a Reply", "comments"),
        ("Most popular", "others"),
        ("More from River News", "others"),
        ("About the author", "others"),
        ("Related fish of the upper river", None),
        ("The ladder", None),
        ("Notes on the locks", None),
    ],
)
def test_headings_are_known_by_all_of_their_words(heading: str, kind: str | None) -> None:
    assert kinds("A weir.", heading, "A lock.")[2] == kind


def test_prose_is_no_heading() -> None:
    assert kinds("References.", "A weir.") == [None, None]
