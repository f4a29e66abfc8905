"""What the badge of a sentence says: tested on the closest sentence of each cited passage."""

from tasks.evaluation.support import ValueSupport
from tasks.summary.support import Judged, closest_sentence, judge

TOWER = "Thomas Ridley built the lower tower from granite in 1847. Ann Molloy painted it in 1902."


def judged(claim: str, *passages: str) -> Judged:
    return judge(ValueSupport("Skerry Point"), claim, passages)


def test_names_numbers_and_most_words_in_one_sentence_support() -> None:
    found = judged("The lower tower was built by Thomas Ridley in 1847.", TOWER)
    assert found == Judged(
        "supported",
        ("Thomas Ridley built the lower tower from granite in 1847.",),
        (),
        1.0,
        "names and numbers found; 100 % of its words found",
        said=True,
    )


def test_values_that_other_sentences_of_the_passage_hold_do_not_support() -> None:
    found = judged("Thomas Ridley built the tower from granite in 1902.", TOWER)
    assert (found.verdict, found.missing, found.tested) == (
        "partly",
        ("1902",),
        "not found: 1902; 83 % of its words found",
    )


def test_right_values_with_other_words_do_not_support() -> None:
    found = judged("In 1847 Thomas Ridley sold his northern quarry to unknown fishermen.", TOWER)
    assert (found.verdict, found.missing) == ("partly", ())
    assert found.tested == "names and numbers found; 37 % of its words found"  # 1847, thomas, ridley of eight words


def test_two_passages_support_together() -> None:
    claim = "Thomas Ridley built the tower in 1847 and Greta Hallow sold it in 1990."
    sold = "The lamp burned oil. Greta Hallow sold the tower in 1990."
    assert judged(claim, TOWER).verdict == "partly"
    both = judged(claim, TOWER, sold)
    assert (both.verdict, both.words) == ("supported", 1.0)
    assert not both.said, "no passage alone says both"
    assert both.quotes == (TOWER.split(". ")[0] + ".", "Greta Hallow sold the tower in 1990.")


def test_forms_of_a_word_are_one_word_and_the_title_needs_no_source() -> None:
    found = judged("Skerry Point was painting towers.", "It was painted as all towers are.")
    assert (found.verdict, found.words) == ("supported", 1.0)
    assert found.tested == "no names or numbers to look for; 100 % of its words found"


def test_without_passages_nothing_is_supported() -> None:
    found = judged("Greta Hallow sold it.")
    assert (found.verdict, found.quotes, found.missing, found.words) == ("not supported", (), ("Greta Hallow",), 0.0)


def test_the_closest_sentence_is_the_first_of_equals_and_the_text_itself_without_sentences() -> None:
    assert closest_sentence("A tower. A tower.", frozenset({"tower"})) == "A tower."
    assert closest_sentence("", frozenset({"tower"})) == ""
