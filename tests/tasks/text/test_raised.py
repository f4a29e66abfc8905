import pytest

from tasks.text.raised import raised, without_invisible


@pytest.mark.parametrize(
    ("before", "content", "linked", "written"),
    [
        ("2 × 10", "30", False, "^30"),
        ("10", "−3", False, "^−3"),
        ("2", "10", False, "^10"),
        ("(N×k)", "3", False, "^3"),
        ("40 km", "2", False, "²"),
        ("3 m", "3", False, "³"),
        ("the x", "4", False, "^4"),
        ("E = mc", "2", False, "²"),
        ("a litre s", "-1", False, "^-1"),
        ("on the 4", "th", False, "th"),
        ("the 1", "er", False, "er"),
        ("", "14", False, "14"),  # of an isotope
        ("Ca", "2+", False, "2+"),
        ("built in 1874", "1", True, ""),
        ("built in 1874", "1", False, ""),  # a year has no power
        ("for 1,200", "5", False, ""),
        ("the wheel", "4", False, ""),
        ("the roof.", "5,6", False, ""),
        ("Ben Ardal", "2,3", False, ""),
        ("Cora Dun", "*", False, ""),
        ("the mill", "[12]", False, ""),
        ("the mill", "a", False, ""),
        ("the weir", "note 3", True, ""),
        ("the weir", "TM", False, "TM"),
    ],
)
def test_superscript_is_written_by_what_stands_before_it(before, content, linked, written):
    assert raised(before, content, linked) == written


def test_characters_without_width_are_left_out():
    assert without_invisible("Val\u00adley\u200b of \ufeffthe\u2060 Dun") == "Valley of the Dun"


def test_joiners_stay_where_a_script_needs_them():
    assert without_invisible("می\u200cروم") == "می\u200cروم"
    assert without_invisible("mill\u200cer and wheel\u200ds") == "miller and wheels"


def test_ligatures_are_letters():
    assert (
        without_invisible("The oﬃce of Griﬃn con\ufb01rmed the \ufb02oor")
        == "The office of Griffin confirmed the floor"
    )
