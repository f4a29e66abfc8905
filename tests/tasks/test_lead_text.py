import pytest

from tasks.lead_text import clean_lead


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        ("A river in Valdria.", "A river in Valdria."),
        ("[edit]\nA river.\n\nIt is long.", "A river.\nIt is long."),
        ("Releases| 2002 | Beta |\n| 2003 | 1.0 |\n|---|---|\nIt was released in 2003.", "It was released in 2003."),
        ("A river[1][23] in Valdria.[citation needed] It is long.[note 2]", "A river in Valdria. It is long."),
        ("The ratio a|b is fixed.", "The ratio a|b is fixed."),
        ("An array [0, 1] and [1999] stay, as does [sic].", "An array [0, 1] and [1999] stay, as does [sic]."),
        ("[edit]\n| only | a | table |", ""),
    ],
)
def test_only_prose_is_left(lead: str, expected: str) -> None:
    assert clean_lead(lead) == expected
