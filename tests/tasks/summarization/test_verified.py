"""Summaries whose sentences a verifier accepts, or which are those of the paragraphs."""

import pytest
import torch

from models.search.certainty import LikelySentence
from models.search.step import Hypothesis
from tasks.summarization import verified as module
from tasks.summarization.verified import VerifiedWriter, WrittenSentence, verified
from tasks.verification.verifier import shipped
from tests.tasks.summarization.summarizer_examples import vocabulary

TITLE = "Bodall Viaduct"
PARAGRAPHS = [
    "The Bodall Viaduct is a steel bridge over the River Stoditt. Moreover, the Bodall was opened in 1908.",
    "It is known all over Valdria. The Bodall is 652 metres long, as walkers know.",
    "The Tunass Bridge is 90 metres long.",
]
DEFINITION = "The Bodall Viaduct is a steel bridge over the River Stoditt."
SURE, UNSURE = -0.1, -20.0


@pytest.fixture(autouse=True)
def short_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let summaries be short, since the few sentences here would all be taken."""
    monkeypatch.setattr(module, "_LEAST", 0)


def chosen(
    *sentences: tuple[str, float], paragraphs: list[str] = PARAGRAPHS, least: float = 0.15
) -> list[WrittenSentence]:
    written = [LikelySentence(text, slice(0), log_prob) for text, log_prob in sentences]
    return VerifiedWriter(shipped(), TITLE, paragraphs, least).write(written)


def texts(*sentences: tuple[str, float], paragraphs: list[str] = PARAGRAPHS) -> list[str]:
    return [sentence.text for sentence in chosen(*sentences, paragraphs=paragraphs)]


def test_what_a_paragraph_says_stays() -> None:
    assert chosen((DEFINITION, SURE)) == [WrittenSentence(DEFINITION, place=0)]


def test_what_the_model_doubts_gives_way_to_the_sentence_that_holds_its_values_and_names_the_subject() -> None:
    assert chosen((DEFINITION, SURE), ("It is 652 metres high.", UNSURE)) == [
        WrittenSentence(DEFINITION, place=0),
        WrittenSentence("The Bodall is 652 metres long, as walkers know.", paragraph=1),
    ]


def test_what_no_paragraph_on_the_subject_says_gives_way_however_sure_the_model_is() -> None:
    assert texts((DEFINITION, SURE), ("It is 652 metres long.", SURE))[1] == "It is 652 metres long."
    assert texts((DEFINITION, SURE), ("It is 90 metres long.", 0.0)) == [DEFINITION]
    assert texts((DEFINITION, SURE), ("The Tunass Bridge is 652 metres long.", 0.0)) == [
        DEFINITION,
        "The Bodall is 652 metres long, as walkers know.",
    ]


def test_a_sentence_whose_values_stand_only_beside_another_subject_is_left_out() -> None:
    assert texts((DEFINITION, SURE), ("It is 90 metres long.", UNSURE)) == [DEFINITION]


def test_a_part_of_the_name_that_is_an_ordinary_word_names_nobody() -> None:
    paragraphs = [
        "The River Tavil is a river in Valdria.",
        "The River Kobir is 90 kilometres long.",
        "The Tavil is 40 wide.",
    ]
    writer = VerifiedWriter(shipped(), "River Tavil", paragraphs, 0.15)
    written = [LikelySentence("It is 90 kilometres long and 40 wide.", slice(0), UNSURE)]
    assert [one.text for one in writer.write(written)] == [
        "The River Tavil is a river in Valdria.",
        "The Tavil is 40 wide.",
    ]


def test_numbers_in_words_are_not_looked_for() -> None:
    chatter = "Five stars for the Bodall Viaduct, four for the article."
    assert texts((DEFINITION, SURE), ("It has five stars.", UNSURE), paragraphs=[*PARAGRAPHS, chatter, chatter]) == [
        DEFINITION
    ]


@pytest.mark.parametrize("following", ["Nora Berg was a painter.", "In 1920 Berg drew a lot."])
def test_a_sentence_that_leads_over_to_another_subject_is_not_taken(following: str) -> None:
    over = f"Readers of the Bodall Viaduct stay for Nora Berg. {following}"
    told = "The Bodall Viaduct was painted by Nora Berg."
    berg = ("It was drawn by Nora Berg.", UNSURE)
    assert texts((DEFINITION, SURE), berg, paragraphs=[*PARAGRAPHS, over]) == [DEFINITION]
    assert texts((DEFINITION, SURE), berg, paragraphs=[*PARAGRAPHS, over, told]) == [DEFINITION, told]


def test_a_sentence_before_one_on_a_kind_of_thing_leads_nowhere() -> None:
    paragraphs = [*PARAGRAPHS, "In spring the Bodall rises over the River Tavil. Such a river is cold."]
    tavil = ("It rises over the River Tavil.", UNSURE)
    assert (
        texts((DEFINITION, SURE), tavil, paragraphs=paragraphs)[1] == "In spring the Bodall rises over the River Tavil."
    )


RISES = "In spring it rises. The bridge was repaired in 1950."


@pytest.mark.parametrize(
    ("before", "taken"),
    [
        ("The Bodall Viaduct is busy.", True),
        ("The old viaduct is busy.", False),
        ("Readers of the Bodall Viaduct often stay for the Kobir.", False),
        ("The Bodall Viaduct is near the Tunass Bridge. The Tunass Bridge is old.", False),
        ("The Bodall Viaduct is busy. Its road leads to Tunass. Tunass is a town.", False),
    ],
)
def test_what_follows_a_sentence_on_the_subject_is_about_it_until_another_one_is_led_over_to(
    before: str, taken: bool
) -> None:
    repaired = ("It was repaired in 1950.", UNSURE)
    found = texts((DEFINITION, SURE), repaired, paragraphs=[*PARAGRAPHS, f"{before} {RISES}"])
    assert ("The bridge was repaired in 1950." in found) == taken


def test_a_marker_that_joins_a_sentence_to_what_is_not_shown_goes() -> None:
    assert texts((DEFINITION, SURE), ("It was opened in 1908.", UNSURE)) == [
        DEFINITION,
        "The Bodall was opened in 1908.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The Bodall Viaduct was was opened in 1908.",
        "It was Was opened in 1908.",
        "Built in 1908, it was opened in 1908.",
    ],
)
def test_no_word_is_repeated_and_no_number_told_of_two_things(text: str) -> None:
    assert texts((DEFINITION, SURE), (text, 0.0)) == [DEFINITION, "The Bodall was opened in 1908."]


def test_numbers_that_begin_alike_are_two() -> None:
    steps = "The Bodall is 1,652 metres long and has 1,109 steps."
    _, found = chosen((DEFINITION, SURE), (steps, SURE), paragraphs=[DEFINITION, steps])
    assert found == WrittenSentence(steps, place=1)


def test_what_several_paragraphs_hold_is_added_and_nothing_twice() -> None:
    more = [*PARAGRAPHS, "In 1908 a crowd came. The old ferry stopped in 1908 when the Bodall was opened."]
    found = texts((DEFINITION, SURE), paragraphs=more)
    assert found == [DEFINITION, "The Bodall was opened in 1908."]
    assert texts((DEFINITION, SURE), ("It was opened in 1908.", UNSURE), paragraphs=more) == found


def test_the_first_sentence_defines_the_subject_or_else_names_it() -> None:
    # The name is put in place of a pronoun; else a sentence of the paragraphs that has it comes first.
    opened = ("It was opened in 1908.", SURE)
    assert texts(opened) == [DEFINITION, "Bodall Viaduct was opened in 1908."]
    assert texts(("It was opened in 1908.", UNSURE)) == [DEFINITION, "The Bodall was opened in 1908."]
    apart = "Of all crossings in Valdria the Bodall Viaduct, a steel bridge, is the first."
    assert texts(opened, paragraphs=["In 1908 the Bodall Viaduct was opened.", apart])[0] == apart
    only = ["The Bodall Viaduct was opened in 1908. Nora Berg drew the Bodall Viaduct."]
    for other in (
        "The Bodall Viaduct is a bridge that you will like.",
        "The Tunass, a bridge, is near the Bodall Viaduct.",
    ):
        assert texts(opened, paragraphs=[*only, other]) == ["Bodall Viaduct was opened in 1908."]


def test_a_sentence_that_needs_its_page_is_not_taken() -> None:
    chatter = "A lecture about the Bodall Viaduct is on Thursday in Tunass. Do you know the Bodall in Tunass?"
    assert texts((DEFINITION, SURE), ("It is in Tunass.", UNSURE), paragraphs=[*PARAGRAPHS, chatter]) == [DEFINITION]
    plain = "The Bodall is in Tunass."
    assert texts((DEFINITION, SURE), ("It is in Tunass.", UNSURE), paragraphs=[*PARAGRAPHS, chatter, plain])[1] == plain


def test_a_number_is_told_once_where_another_sentence_has_what_is_lacking() -> None:
    long = ("The Bodall Viaduct is 652 metres long and in Valdria.", UNSURE)
    repeats = "Valdria has no bridge like the Bodall, 652 metres long."
    assert texts((DEFINITION, SURE), long, paragraphs=[*PARAGRAPHS, repeats]) == [DEFINITION, repeats]
    both = ("It is 652 metres long.", UNSURE), ("It is in Valdria.", UNSURE)
    measured = "The Bodall is 652 metres long, as walkers know."
    assert texts((DEFINITION, SURE), *both, paragraphs=[*PARAGRAPHS[:2], repeats]) == [DEFINITION, measured]
    stands = "The Bodall stands in Valdria."
    assert texts((DEFINITION, SURE), *both, paragraphs=[*PARAGRAPHS, repeats, stands])[1:] == [measured, stands]


def test_a_name_is_told_once_where_another_sentence_has_what_is_lacking() -> None:
    berg = "The Bodall Viaduct was drawn by Nora Berg."
    both = "Nora Berg opened the Bodall Viaduct on 3 May 1908 and went on to Tunass."
    drawn, opened = ("It was drawn by Nora Berg.", UNSURE), ("It was opened on 3 May 1908.", UNSURE)
    paragraphs = [DEFINITION, berg, both, "The Bodall was opened on 3 May 1908."]
    assert texts((DEFINITION, SURE), drawn, opened, paragraphs=paragraphs) == [DEFINITION, berg, paragraphs[-1]]


def test_what_others_tell_goes() -> None:
    sure = [(text, SURE) for text in ("It is 652 metres long.", "The Bodall is 652 metres long, as walkers know.")]
    assert texts((DEFINITION, SURE), *sure) == [DEFINITION, "It is 652 metres long."]
    whole = "The Bodall Viaduct, 652 metres long, was painted by 90 men in 1950."
    painted = ("It was painted by 90 men in 1950.", UNSURE)
    assert texts((DEFINITION, SURE), sure[0], painted, paragraphs=[*PARAGRAPHS, whole]) == [DEFINITION, whole]


def test_a_word_that_only_opens_sentences_is_no_name() -> None:
    walkers = "Walkers like the Bodall Viaduct."
    assert texts((DEFINITION, SURE), paragraphs=[*PARAGRAPHS[2:], DEFINITION, walkers, f"{walkers} It is old."]) == [
        DEFINITION
    ]


def test_a_short_summary_takes_what_one_paragraph_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAST", 2)
    assert texts((DEFINITION, SURE)) == [DEFINITION, "The Bodall was opened in 1908."]
    monkeypatch.undo()
    assert len(texts((DEFINITION, SURE))) == 3


@pytest.mark.parametrize("sentences", [[], [("It rains.", 0.0)]])
def test_without_values_there_is_the_sentence_that_names_the_subject(sentences: list[tuple[str, float]]) -> None:
    assert texts(*sentences) == [DEFINITION]
    assert texts(*sentences, paragraphs=["Long ago it stood here. The Bodall Viaduct is old."]) == [
        "The Bodall Viaduct is old."
    ]


def test_where_no_paragraph_names_the_subject_the_likeliest_sentence_stays() -> None:
    strange = ["The River Kobir is 90 kilometres long."]
    assert texts(("It rains.", UNSURE), ("It was opened in 1908.", -1.0), paragraphs=strange) == [
        "Bodall Viaduct was opened in 1908."
    ]
    assert texts(paragraphs=strange) == texts(paragraphs=[]) == []


def test_tokens_and_attention_are_those_of_the_sentences_chosen() -> None:
    words = vocabulary()
    own = words.encode(DEFINITION)
    tokens = [*own, *words.encode("It is 652 metres high.")]
    attention = torch.full((len(tokens), 3), 0.2)
    attention[:, 2] = 0.6
    written = [
        LikelySentence(DEFINITION, slice(0, len(own)), SURE),
        LikelySentence("It is 652 metres high.", slice(len(own), len(tokens)), UNSURE),
    ]
    hypothesis = Hypothesis(tokens, 1.0, -3.0, attention)
    writer = VerifiedWriter(shipped(), TITLE, PARAGRAPHS, 0.15)
    text, pieces, found = verified(writer, hypothesis, words.pieces(tokens), written, words)
    stated = "The Bodall is 652 metres long, as walkers know."
    added = words.encode(stated)
    assert text == f"{DEFINITION} {stated}"
    assert pieces == words.pieces(found.tokens)
    assert found.tokens == [*own, *added]
    assert found.attention[: len(own)].tolist() == attention[: len(own)].tolist()
    assert found.attention[len(own) :].tolist() == [[0.0, 1.0, 0.0]] * len(added)
