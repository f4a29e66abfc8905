"""Which paragraphs are cited for a sentence, and what is said of it; worked out by hand."""

import numpy as np

from tasks.evaluation.citations import CitedSentence, Citer
from tasks.evaluation.metrics import Summary

TITLE = "River Nilir"
PARAGRAPHS = [
    "Otters live in the reeds along its banks, as otters do.",
    "The Nilir is 395 kilometres long.",
    "It was surveyed by Anna Berg in 1829.",
    "A map of 1829 shows a river of 395 kilometres.",
    "Otto Lund built 12 mills.",
]
CITER = Citer(TITLE, PARAGRAPHS)


def cited(
    text: str, read: int | None = None, citer: Citer = CITER
) -> list[tuple[tuple[int, ...], str, tuple[str, ...]]]:
    return [(found.ranks, found.verdict, found.missing) for found in citer.cite(Summary(text, read))]


def looking(text: str, *weights: list[float]) -> CitedSentence:
    """Cite one sentence whose words look at the paragraphs alike."""
    tokens = [f"\u2581{word}" for word in text.split()]
    (found,) = CITER.cite(Summary(text, tokens=tokens, attention=np.array([*weights] * len(tokens), np.float32)))
    return found


def test_one_paragraph_that_holds_all_values_is_cited_alone() -> None:
    assert cited("It is 395 kilometres long.") == [((1,), "supported", ())]
    assert cited("Its 395 kilometres were on a map in 1829.") == [((3,), "supported", ())]


def test_paragraphs_are_cited_together_where_none_holds_all_values() -> None:
    assert cited("Anna Berg saw 12 mills.") == [((2, 4), "supported", ())]


def test_values_that_no_paragraph_holds_are_named_and_the_others_cited() -> None:
    assert cited("Anna Berg saw 13 mills of Otto Vind.") == [((2,), "partly", ("13", "Otto Vind"))]


def test_a_sentence_of_which_nothing_is_held_cites_nothing() -> None:
    text = "The River Pinine is 359 kilometres long and was seen by Eva O’Hara."
    assert cited(text) == [((), "not supported", ("359", "River Pinine", "Eva O’Hara"))]


def test_the_title_is_known_and_supports_no_claim_by_itself() -> None:
    assert cited("The River Nilir has 12 mills.") == [((4,), "supported", ())]
    assert cited("The River Nilir is a haven for smugglers.") == [((), "not supported", ())]


def test_a_sentence_without_values_needs_half_of_its_words_in_one_paragraph() -> None:
    assert cited("Otters live here.") == [((0,), "supported", ())]
    assert cited("Otters live with beavers and swans.") == [((0,), "supported", ())]  # two words of four
    assert cited("Otters hunt beavers and swans.") == [((), "not supported", ())]  # one of four
    assert cited("It is.") == [((), "not supported", ())]


def test_only_what_the_system_read_is_cited() -> None:
    assert cited("Otto Lund came in 1829.", read=4) == [((2,), "partly", ("Otto Lund",))]
    assert cited("Otto Lund came in 1829.") == [((2, 4), "supported", ())]
    assert looking("Anna Berg came.", [0.5, 0.5]).verdict == "not supported"  # the summarizer saw two paragraphs
    assert looking("Anna Berg came.", [0.5, 0.25, 0.25]).ranks == (2,)


def test_of_equals_the_one_of_most_words_is_cited_then_the_best_ranked() -> None:
    assert cited("It was seen in 1829.") == [((2,), "supported", ())]
    assert cited("A map came in 1829.") == [((3,), "supported", ())]


def test_attention_decides_between_paragraphs_that_support_and_no_others() -> None:
    """Overlap is 2/2 with paragraph 2 and 1/2 (1829) with 3: attention of more than two to one outweighs it."""
    assert cited("It was surveyed in 1829.") == [((2,), "supported", ())]
    assert looking("It was surveyed in 1829.", [0, 0, 0.25, 0.75, 0]) == CitedSentence(
        "It was surveyed in 1829.", "It was surveyed in 1829.", (3,), (0.75,), "supported", ()
    )
    assert looking("It was surveyed in 1829.", [0, 0, 0.4, 0.6, 0]).ranks == (2,)
    elsewhere = looking("It was surveyed in 1829.", [1, 0, 0, 0, 0])
    assert (elsewhere.ranks, elsewhere.shares, elsewhere.verdict) == ((2,), (0.0,), "supported")


def test_each_sentence_has_the_attention_of_its_own_tokens() -> None:
    tokens = ["\u2581It", "\u2581came", "\u2581in", "\u2581182", "9", ".", "\u2581It", "\u2581left", "\u25811829."]
    attention = np.zeros((9, 5), np.float32)
    attention[:6, 3], attention[6:, 2] = 1, 1

    found = CITER.cite(Summary("It came in 1829. It left 1829.", tokens=tokens, attention=attention))

    assert [(sentence.ranks, sentence.shares) for sentence in found] == [((3,), (1.0,)), ((2,), (1.0,))]


def test_at_most_three_paragraphs_are_cited_those_that_hold_most() -> None:
    citer = Citer("Nilir", ["Ada saw it.", "Bea saw it.", "Cleo saw Dora.", "Elsa saw it."])
    text = "They were Ada, Bea, Cleo, Dora and Elsa."
    assert cited(text, citer=citer) == [((0, 1, 2), "partly", ("Elsa",))]


def test_no_citation_is_needless() -> None:
    """Together the texts know that "river" is no part of a name; by itself the first holds only the number."""
    citer = Citer("Nilir", ["The Tavil has 12 mills.", "The river is long, says the River Tavil Board."])
    assert cited("The River Tavil has 12 mills.", citer=citer) == [((0, 1), "supported", ())]
    assert cited("The Tavil has 12 mills.", citer=citer) == [((0,), "supported", ())]


def test_the_title_before_a_paragraph_is_no_part_of_the_claim() -> None:
    found = CITER.cite(Summary("River Nilir The Nilir is 395 kilometres long. Otters live."))

    assert found[0] == CitedSentence(
        "River Nilir The Nilir is 395 kilometres long.",
        "The Nilir is 395 kilometres long.",
        (1,),
        (),
        "supported",
        (),
    )
    assert found[1].claim == "Otters live."
    # without a paragraph that goes on so, what follows the title belongs to the claim
    (other,) = CITER.cite(Summary("River Nilir Dam holds 395 tons."))
    assert (other.claim, other.verdict, other.missing) == (
        "River Nilir Dam holds 395 tons.",
        "partly",
        ("Nilir Dam",),
    )


def test_an_empty_summary_and_an_article_without_paragraphs() -> None:
    assert cited("") == []
    assert cited("It has 12 mills.", citer=Citer(TITLE, [])) == [((), "not supported", ("12",))]
    assert cited("It has 12 mills.", read=0) == [((), "not supported", ("12",))]


def test_dates_and_possessives_are_named_as_they_stand() -> None:
    text = "Eva Sand’s brother came on 4 May 1830."
    assert cited(text) == [((), "not supported", ("1830-05-04", "Eva Sand"))]


def test_texts_on_the_same_matter_tell_words_that_open_a_sentence_from_names() -> None:
    paragraphs = ["It is 395 kilometres long."]
    text = "Construction took 395 days."
    assert cited(text, citer=Citer("Nilir", paragraphs)) == [((0,), "partly", ("Construction",))]
    assert cited(text, citer=Citer("Nilir", paragraphs, ["Its construction was slow."])) == [((0,), "supported", ())]


def test_one_paragraph_is_cited_before_two_that_hold_the_same() -> None:
    citer = Citer("Nilir", ["395 in 1829.", "395 long boats.", "1829 long boats."])
    assert cited("395 long boats came in 1829.", citer=citer) == [((0,), "supported", ())]


def test_a_paragraph_that_the_others_make_needless_together_is_not_cited() -> None:
    """The second text writes "river" in lower case, so that the Tavil of the first is the River Tavil."""
    citer = Citer("Nilir", ["The Tavil has 12 mills.", "A river in 1829.", "See the River Tavil."])
    assert cited("In 1829 the River Tavil had 12 mills.", citer=citer) == [((0, 1), "supported", ())]
