"""Which sentences answer a question; texts, questions and answers are of our own writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extractive.answers import answers
from tasks.extractive.pile import PilePassage

TITLE = "Corran Head Lighthouse"
BUILT = "It was built in 1874 by the engineer Alan Moray."
TALL = "The tower is 32 metres tall and has 140 steps."
OIL = "The lamp burned whale oil until 1891."
ELECTRIC = "It was electrified in 1931, and automated in 1988."
KEEPER = "The last keeper, Mary Dunn, left on 3 March 1988."
COST = "The lighthouse cost 48,500 pounds to build."
VISITED = "It is visited by 12,000 people a year."
SOLD = "In 2019 the Corran Trust bought the tower for 1.2 million pounds and opened a museum."
RANGE = "The light has a range of 24 nautical miles and flashes white every 20 seconds."
TICKETS = "Tickets cost 9 pounds for adults and 4 pounds for children."
LENS = "Critics said that the restoration of 2020 damaged the original lens, which was made in Lyon."
RAILWAY = "A railway reached the village of Corran in 1862."
DEFINED = f"{TITLE} is a lighthouse on the northern tip of Corran Head."
PASSAGES = [
    PilePassage(f"{DEFINED} {BUILT} {TALL}"),
    PilePassage(f"{OIL} {ELECTRIC} {KEEPER}"),
    PilePassage(f"{COST} {VISITED} {SOLD}"),
    PilePassage(RANGE),
    PilePassage(f"The Corran Trust runs the museum in the tower. {TICKETS}"),
    PilePassage(f"{LENS} The trust denied this."),
    PilePassage(RAILWAY),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    {
        "When was the lighthouse electrified?": ELECTRIC,
        "In which year was it automated?": ELECTRIC,
        "Who was the last keeper?": KEEPER,
        "When did the last keeper leave?": KEEPER,
        "How much did it cost to build?": COST,
        "How tall is the tower?": TALL,
        "How many steps does the tower have?": TALL,
        "What do tickets cost?": TICKETS,
        "Who purchased the tower?": SOLD,
        "Was the lens damaged?": LENS,
        "Where was the lens made?": LENS,
        "Who built the lighthouse?": BUILT,
        "How many people visit it?": VISITED,
        "When did the railway reach the village?": RAILWAY,
        "Until when did the lamp burn oil?": OIL,
        "What is the range of the light?": RANGE,
    }.items(),
)
def test_the_first_answer(question: str, answer: str) -> None:
    found = answers(question, PASSAGES, TITLE)
    assert found[0].text == answer
    assert answer in PASSAGES[found[0].passage].text


@pytest.mark.parametrize(
    "question",
    [
        "Why was it closed?",
        "Who painted the tower?",
        "How many keepers lived there?",
        "What is the name of the architect?",
        "Which bank lent the money?",
        "",
        "Who is it?",
        "How?",
        "How much?",
    ],
)
def test_what_no_sentence_answers(question: str) -> None:
    assert answers(question, PASSAGES, TITLE) == []


def test_a_sentence_with_the_wanted_kind_of_value_comes_first() -> None:
    undated, dated = "The bridge was opened by the mayor.", "The bridge was opened in May 1901."
    passages = [PilePassage(undated), PilePassage(dated)]
    assert [one.text for one in answers("When was the bridge opened?", passages)] == [dated]
    assert answers("Was the bridge opened?", passages)[0].text == undated


def test_a_value_of_the_question_is_no_answer() -> None:
    passages = [PilePassage("In 1901 many ferries served the island."), PilePassage("In 1901 there were 14 ferries.")]
    assert answers("How many ferries were there in 1901?", passages)[0].passage == 1


def test_the_subject_need_not_be_repeated() -> None:
    sentence = "It closed in 1990."
    (found,) = answers("When did Harrow Mill close?", [PilePassage(sentence)], "Harrow Mill")
    assert found.text == sentence
    assert answers("When did Harrow Mill close?", [PilePassage(sentence)], "Lunn Brewery") == []


@given(
    st.lists(
        st.sampled_from(["how", "many", "much", "tall", "when", "which", "year", "who", "is", "the", "tower", "?"]),
        max_size=4,
    )
)
def test_unfinished_questions_are_read(words: list[str]) -> None:
    for one in answers(" ".join(words), PASSAGES, TITLE):
        assert one.text in PASSAGES[one.passage].text


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_answers_are_sentences_of_their_passages(question: str, texts: list[str]) -> None:
    passages = [PilePassage(text) for text in texts]
    found = answers(question, passages, "A title")
    assert len(found) <= 2
    for one in found:
        assert 0.5 <= one.score <= 1 + 1e-9
        assert one.text in " ".join(passages[one.passage].text.split())
