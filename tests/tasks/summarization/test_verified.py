"""Summaries whose sentences a verifier accepts, or which are those of the paragraphs."""

import pytest
import torch

from models.search.certainty import Written
from models.search.step import Hypothesis
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


def chosen(
    *sentences: tuple[str, float], paragraphs: list[str] = PARAGRAPHS, least: float = 0.15
) -> list[WrittenSentence]:
    written = [Written(text, slice(0), log_prob) for text, log_prob in sentences]
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
    written = [Written("It is 90 kilometres long and 40 wide.", slice(0), UNSURE)]
    assert [one.text for one in writer.write(written)] == [
        "The River Tavil is a river in Valdria.",
        "The Tavil is 40 wide.",
    ]


def test_numbers_in_words_are_not_looked_for() -> None:
    chatter = "Five stars for the Bodall Viaduct, four for the article."
    assert texts((DEFINITION, SURE), ("It has five stars.", UNSURE), paragraphs=[*PARAGRAPHS, chatter, chatter]) == [
        DEFINITION
    ]


def test_a_sentence_that_leads_over_to_another_subject_is_not_taken() -> None:
    over = "Readers of the Bodall Viaduct stay for Nora Berg. Nora Berg was a painter."
    told = "The Bodall Viaduct was painted by Nora Berg."
    berg = ("It was drawn by Nora Berg.", UNSURE)
    assert texts((DEFINITION, SURE), berg, paragraphs=[*PARAGRAPHS, over]) == [DEFINITION]
    assert texts((DEFINITION, SURE), berg, paragraphs=[*PARAGRAPHS, over, told]) == [DEFINITION, told]


def test_a_marker_that_joins_a_sentence_to_what_is_not_shown_goes() -> None:
    assert texts((DEFINITION, SURE), ("It was opened in 1908.", UNSURE)) == [
        DEFINITION,
        "The Bodall was opened in 1908.",
    ]


@pytest.mark.parametrize("text", ["The Bodall Viaduct was was opened in 1908.", "It was Was opened in 1908."])
def test_no_word_is_repeated(text: str) -> None:
    assert texts((DEFINITION, SURE), (text, 0.0)) == [DEFINITION, "The Bodall was opened in 1908."]


def test_what_several_paragraphs_hold_is_added_and_nothing_twice() -> None:
    more = [*PARAGRAPHS, "In 1908 a crowd came. The old ferry stopped in 1908 when the Bodall was opened."]
    found = texts((DEFINITION, SURE), paragraphs=more)
    assert found == [DEFINITION, "The Bodall was opened in 1908."]
    assert texts((DEFINITION, SURE), ("It was opened in 1908.", UNSURE), paragraphs=more) == found


def test_the_first_sentence_names_the_subject() -> None:
    # The name is put in place of a pronoun; else a sentence of the paragraphs that has it comes first.
    assert texts(("It was opened in 1908.", SURE))[0] == "Bodall Viaduct was opened in 1908."
    assert texts(("It was opened in 1908.", UNSURE)) == [DEFINITION, "The Bodall was opened in 1908."]


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
        Written(DEFINITION, slice(0, len(own)), SURE),
        Written("It is 652 metres high.", slice(len(own), len(tokens)), UNSURE),
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
