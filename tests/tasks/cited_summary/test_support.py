"""What the badge of a sentence says, and what people see of the passages."""

from tasks.cited_summary.cited import PassageNumbers, SummarySentence
from tasks.evaluation.metrics import Summary

TOWER = "Thomas Ridley built the lower tower from granite in 1847. Ann Molloy painted it in 1902."
SOLD = "The lamp burned oil. Greta Hallow sold the tower in 1990."


def judged(claim: str, *passages: str) -> SummarySentence:
    (sentence,) = PassageNumbers(passages, [(1, 0)] * len(passages)).of("Skerry Point", Summary(claim))
    return sentence


def seen(found: SummarySentence) -> tuple[object, ...]:
    return found.verdict, found.quotes, found.missing, found.tested


def test_what_one_passage_says_is_said_with_the_sentence_that_says_it() -> None:
    assert seen(judged("The lower tower was built by Thomas Ridley in 1847.", SOLD, TOWER)) == (
        "said",
        ("Thomas Ridley built the lower tower from granite in 1847.",),
        (),
        "one passage says it, so far as can be checked",
    )


def test_values_that_other_sentences_of_the_passage_hold_do_not_support() -> None:
    found = judged("Thomas Ridley built the lower tower from granite in 1902.", TOWER)
    assert (found.verdict, found.missing, found.tested) == ("partly", ("1902",), "not found: 1902")


def test_right_values_with_other_words_do_not_support() -> None:
    found = judged("In 1847 Thomas Ridley sold his northern quarry to unknown fishermen.", TOWER)
    assert (found.verdict, found.missing) == ("partly", ())
    assert found.tested == "its names and numbers are there, but no passage says this"


def test_what_stands_there_word_for_word_is_said() -> None:
    """The verifier refuses it beside its neighbour."""
    passage = "The loaf bakes for 45 minutes in all. Steam in the first half lets the crust open."
    found = judged("Steam in the first half lets the crust open.", passage)
    assert (found.verdict, found.quotes) == ("said", ("Steam in the first half lets the crust open.",))
    assert judged("Steam in the first half lets the lid open.", passage).verdict != "said"


def test_two_passages_support_together_and_a_sentence_of_each_is_shown() -> None:
    found = judged(
        "Thomas Ridley built the lower tower from granite in 1847 and Greta Hallow sold the tower in 1990.", TOWER, SOLD
    )
    assert seen(found) == (
        "combined",
        ("Thomas Ridley built the lower tower from granite in 1847.", "Greta Hallow sold the tower in 1990."),
        (),
        "no passage says all of it: several passages say a part each",
    )


def test_without_passages_nothing_is_supported() -> None:
    assert seen(judged("Greta Hallow sold it.")) == (
        "not supported",
        (),
        ("Greta Hallow",),
        "no passage has its names, numbers or half of its words",
    )


def test_a_script_without_capitals_is_not_checked() -> None:
    sentence = "灯台は1847年に建てられた。"
    found = judged(sentence, sentence)
    assert (found.verdict, found.tested) == ("not judged", "sentences in this script or language are not checked")
