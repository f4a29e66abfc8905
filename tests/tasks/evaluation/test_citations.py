"""Which paragraphs are cited for a sentence, and what is said of it; worked out by hand."""

import numpy as np

from tasks.evaluation.citations import CitedSentence, Citer
from tasks.evaluation.metrics import Summary

TITLE = "River Nilir"
PARAGRAPHS = [
    "Otters live in the reeds along its banks, as otters do. They eat trout.",
    "The Nilir is 395 kilometres long and flows into the Tavil. It never freezes.",
    "Anna Berg surveyed the river in 1829, and drew a map of it.",
    "In 1829 the river was surveyed by Anna Berg.",
    "Otto Lund built 12 mills on the river. Two of them burned in 1901.",
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


def test_the_one_paragraph_that_says_a_sentence_is_cited() -> None:
    assert cited("The Nilir is 395 kilometres long.") == [((1,), "said", ())]
    assert cited("Otters live in the reeds along its banks.") == [((0,), "said", ())]
    assert cited("Otto Lund built 12 mills on the river.") == [((4,), "said", ())]


def test_two_paragraphs_are_cited_where_a_part_stands_in_each() -> None:
    text = "Otto Lund built 12 mills on the river, and otters live in the reeds along its banks."
    assert cited(text) == [((0, 4), "combined", ())]


def test_right_values_that_no_paragraph_relates_so_are_cited_and_do_not_support() -> None:
    assert cited("Anna Berg built 12 mills on the river.") == [((2, 4), "partly", ())]
    assert cited("The Nilir freezes.") == [((1,), "partly", ())]


def test_values_that_no_paragraph_holds_are_named_and_the_others_cited() -> None:
    assert cited("Anna Berg saw 13 mills of Otto Vind.") == [((2,), "partly", ("13", "Otto Vind"))]


def test_a_sentence_of_which_nothing_is_held_cites_nothing() -> None:
    text = "The River Pinine is 359 kilometres long and was seen by Eva O’Hara."
    assert cited(text) == [((), "not supported", ("359", "River Pinine", "Eva O’Hara"))]


def test_the_title_is_known_and_supports_no_claim_by_itself() -> None:
    assert cited("The River Nilir is a haven for smugglers.") == [((), "not supported", ())]
    citer = Citer("Kestrel Tower", ["It was built in 1847 by Thomas Ridley. It is red."])
    assert cited("The Kestrel Tower was built in 1847 by Thomas Ridley.", citer=citer) == [((0,), "said", ())]


def test_a_refused_sentence_without_values_cites_what_has_half_of_its_words() -> None:
    assert cited("Otters live with beavers and swans.") == [((0,), "partly", ())]  # two words of four
    assert cited("Otters hunt beavers and swans.") == [((), "not supported", ())]  # one of four
    assert cited("It is.") == [((), "not supported", ())]


def test_a_script_without_capitals_is_not_judged() -> None:
    sentence = "川は長い。"
    assert cited(sentence, citer=Citer("川", [sentence])) == [((0,), "not judged", ())]


def test_only_what_the_system_read_is_cited() -> None:
    assert cited("Otto Lund built 12 mills on the river.", read=4) == [((), "not supported", ("12", "Otto Lund"))]
    assert looking("Anna Berg surveyed the river.", [0.5, 0.5]).verdict == "not supported"  # it saw two paragraphs
    assert looking("Anna Berg surveyed the river.", [0.5, 0.25, 0.25]).ranks == (2,)


def test_attention_decides_between_paragraphs_that_say_it_and_no_others() -> None:
    text = "Anna Berg surveyed the river in 1829."
    citer = Citer(TITLE, [PARAGRAPHS[2], PARAGRAPHS[2], PARAGRAPHS[0]])
    tokens = [f"\u2581{word}" for word in text.split()]

    def found(*weights: float) -> CitedSentence:
        (sentence,) = citer.cite(Summary(text, tokens=tokens, attention=np.array([weights] * 7, np.float32)))
        return sentence

    assert cited(text, citer=citer) == [((0,), "said", ())]
    assert found(0.25, 0.75, 0) == CitedSentence(text, text, (1,), (0.75,), "said", ())
    assert found(0.75, 0.25, 0).ranks == (0,)
    assert (found(0, 0, 1).ranks, found(0, 0, 1).shares) == ((0,), (0.0,))


def test_each_sentence_has_the_attention_of_its_own_tokens() -> None:
    tokens = ["\u2581Eva", "\u2581came", "\u2581in", "\u2581182", "9", ".", "\u2581Eva", "\u2581left", "\u25811829."]
    attention = np.zeros((9, 5), np.float32)
    attention[:6, 3], attention[6:, 2] = 1, 1

    found = CITER.cite(Summary("Eva came in 1829. Eva left 1829.", tokens=tokens, attention=attention))

    assert [(sentence.ranks, sentence.shares) for sentence in found] == [((3,), (1.0,)), ((2,), (1.0,))]


def test_at_most_three_paragraphs_are_cited_those_that_hold_most() -> None:
    citer = Citer("Nilir", ["Ada saw it.", "Bea saw it.", "Cleo saw Dora.", "Elsa saw it."])
    text = "They were Ada, Bea, Cleo, Dora and Elsa."
    assert cited(text, citer=citer) == [((0, 1, 2), "partly", ("Elsa",))]


def test_no_citation_is_needless() -> None:
    """Together the texts know that "river" is no part of a name; by itself the first holds only the number."""
    citer = Citer("Nilir", ["The Tavil has 12 mills.", "The river is long, says the River Tavil Board."])
    assert cited("The River Tavil sold 12 rusty pumps to thieves.", citer=citer) == [((0, 1), "partly", ())]
    assert cited("The Tavil has 12 mills.", citer=citer) == [((0,), "said", ())]


def test_the_title_before_a_paragraph_is_no_part_of_the_claim() -> None:
    first, claim = "River Nilir The Nilir is 395 kilometres long.", "The Nilir is 395 kilometres long."
    found = CITER.cite(Summary(f"{first} Otters live."))

    assert found[0] == CitedSentence(first, claim, (1,), (), "said", ())
    assert found[1].claim == "Otters live."
    # without a paragraph that goes on so, what follows the title belongs to the claim
    (other,) = CITER.cite(Summary("River Nilir Dam holds 395 tons."))
    assert (other.claim, other.verdict, other.missing) == ("River Nilir Dam holds 395 tons.", "partly", ("Nilir Dam",))


def test_an_empty_summary_and_an_article_without_paragraphs() -> None:
    assert cited("") == []
    assert cited("It has 12 mills.", citer=Citer(TITLE, [])) == [((), "not supported", ("12",))]
    assert cited("It has 12 mills.", read=0) == [((), "not supported", ("12",))]


def test_dates_and_possessives_are_named_as_they_stand() -> None:
    text = "Eva Sand’s brother came on 4 May 1830."
    assert cited(text) == [((), "not supported", ("1830-05-04", "Eva Sand"))]


def test_texts_on_the_same_matter_tell_words_that_open_a_sentence_from_names() -> None:
    paragraphs = ["The boats need 395 men."]
    text = "Construction took 395 days."
    assert cited(text, citer=Citer("Nilir", paragraphs)) == [((0,), "partly", ("Construction",))]
    assert cited(text, citer=Citer("Nilir", paragraphs, ["Its construction was slow."])) == [((0,), "partly", ())]
