"""Sentences of the mini web read back into facts, and what is true of a topic."""

import pytest

from tasks.sources.miniweb import Miniweb, MiniwebSettings
from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds import KINDS, Kind
from tasks.sources.miniweb.prose import Narrator
from tasks.sources.miniweb.reading import COMPOSED, Form, facts_of, forms, plain, plain_sentence, read_back
from tasks.sources.miniweb.truth import Reading, truth_of
from tasks.text.sentences import split_sentences

SETTINGS = MiniwebSettings(topics=1600)
WEB = Miniweb(SETTINGS)
BRIDGE = truth_of(SETTINGS, "Stalmann Viaduct")
COMPOSER = truth_of(SETTINGS, "Martin Rétemann")


def test_a_sentence_is_read_by_its_template() -> None:
    sentence = "About 30,800 vehicles cross it each day."
    assert BRIDGE.read(sentence) == Reading("bridge", (("traffic", "30800"), ("S", "it")))


def test_a_wrong_value_is_read_too() -> None:
    sentence = "Construction began in 1901 and cost 7.5 million crowns!"
    assert BRIDGE.read(sentence) == Reading("bridge", (("begun", "1901"), ("cost", "7.5")))


def test_two_facts_in_one_slot_are_taken_apart() -> None:
    sentence = "Martin Rétemann (10 June 1883 - 1970) was a Kestrian painter, best known for chamber music."
    assert COMPOSER.read(sentence) == Reading(
        "person",
        (("S", "martin rétemann"), ("birthday", "10 june 1883"), ("died", "1970"), ("demonym", "kestrian"),
         ("profession", "painter"), ("work", "chamber music")),
    )  # fmt: skip


@pytest.mark.parametrize(
    "subject", ["It", "The bridge", "The structure", "The Stalmann Viaduct", "Stalmann Viaduct", "The Stalmann"]
)
def test_the_topic_may_be_called_as_narrators_do(subject: str) -> None:
    reading = BRIDGE.read(f"{subject} has a total length of 814 metres and a main span of 194 metres.")
    assert reading == Reading("bridge", (("S", plain(subject)), ("length", "814"), ("span", "194")))
    assert all(BRIDGE.right(slot, value) for slot, value in reading.values)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge is 814 metres long.",  # half a sentence
        "The bridge is many metres long, with a main span of 194 metres.",  # no number
        "It was designed by Wilma Tékard, built by Humol Engineering and opened in 1900 in 1900 in place of a ford.",
        "About 30,800 vehicles cross the old wooden bridge at Lotiwell each day.",  # longer than any name
        "About 30,800 vehicles cross it each day too.",
        "",
    ],
)
def test_what_no_template_says_is_not_read(sentence: str) -> None:
    assert BRIDGE.read(sentence) is None


def test_values_are_cut_so_that_most_are_right() -> None:
    form = Form("bridge", "", (("river", " at "), ("town", "")))
    right = {("river", "the wolov at dawn"), ("town", "lotiwell")}
    cut = read_back(form, "the wolov at dawn at lotiwell", lambda slot, value: (slot, value) in right)
    assert cut == (("river", "the wolov at dawn"), ("town", "lotiwell"))
    cut = read_back(form, "the wolov at dawn at lotiwell", lambda slot, value: False)
    assert cut == (("river", "the wolov"), ("town", "dawn at lotiwell"))


def test_a_sentence_of_another_kind_is_read_as_such() -> None:
    reading = BRIDGE.read("In 2021 it had 610 employees and a turnover of 12 million crowns.")
    assert reading is not None
    assert reading.kind == "company"


def test_the_form_that_explains_most_words_reads_the_sentence() -> None:
    """A town is "a {type} in the {region} of {country}" too."""
    reading = BRIDGE.read("The River Wullal is a 229-kilometre-long river in the Téstim Marches of Valdria.")
    assert reading is not None
    assert reading.kind == "river"
    assert reading.values[1] == ("length", "229")


def test_a_marker_before_a_sentence_is_passed_over() -> None:
    assert plain_sentence("Moreover, it carries an  “arch”.") == 'it carries a "arch"'


def test_the_kind_of_the_article_is_asked_first() -> None:
    """Festivals and companies are founded in the same words up to the motive."""
    for title, kind in (("Lodell Clown Festival", "festival"), ("Fundatt Bicycles", "company")):
        reading = truth_of(SETTINGS, title).read("It was founded in 1900 by Ann Berg and became known for its bells.")
        assert reading is not None
        assert reading.kind == kind


def test_related_topics_have_shorter_names() -> None:
    assert BRIDGE.facts["company"] == {"humol engineering": "humol engineering", "humol": "humol engineering"}


def test_two_tributaries_are_one_fact() -> None:
    assert set(truth_of(SETTINGS, "River Vistolle").facts["tributary"].values()) == {
        "the river rudind", "the river lamem",
    }  # fmt: skip


def test_the_truth_is_that_of_the_week() -> None:
    titles = [WEB.world.title(topic) for topic in range(6, 80, 8)]  # bridges, whose traffic is what an edit changes
    now = [truth_of(SETTINGS, title).facts["traffic"] for title in titles]
    later = SETTINGS.model_copy(update={"week": 3, "edits": 1.0})
    assert all(before != truth_of(later, title).facts["traffic"] for before, title in zip(now, titles, strict=True))
    assert [truth_of(SETTINGS, title).lead for title in titles] == [truth_of(later, title).lead for title in titles]


def test_another_seed_is_another_world() -> None:
    with pytest.raises(ValueError, match=r"seed 2 has no article 'Stalmann Viaduct' among its 1600 topics"):
        truth_of(SETTINGS.model_copy(update={"seed": 2}), "Stalmann Viaduct")
    with pytest.raises(ValueError, match="no article 'Nowhere'"):
        truth_of(SETTINGS, "Nowhere")


def test_the_parts_of_a_composed_fact_say_the_same() -> None:
    for index in range(80):
        topic = WEB.world.topic(index)
        parts = {fact: value for fact, value, _ in facts_of(topic)}
        for slot, words in COMPOSED.get(topic.kind.name, {}).items():
            assert plain(words.format_map(parts)) == plain(topic.facts[slot])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_form_asks_for_facts_there_are(kind: Kind) -> None:
    topic = WEB.world.topic(KINDS.index(kind))
    known = {fact for fact, _, _ in facts_of(topic)} | {"S", "S's"}
    assert {slot for form in forms(topic.kind.name) for slot, _ in form.slots} <= known


def test_all_that_narrators_say_is_read_and_true() -> None:
    """So extractive systems are scored as exactly as those that write leads."""
    for index in range(80):
        topic = WEB.world.topic(index)
        truth = truth_of(SETTINGS, topic.title)
        stores = (*topic.kind.told.values(), *topic.kind.aside.values())
        for number in range(5):
            dice = Dice("narrators", index, number)
            templates = [dice.pick(alternatives) for alternatives in dice.sample(stores, 4)]
            for sentence in split_sentences(Narrator(topic, dice).paragraph(templates, marked=True)):
                reading = truth.read(sentence)
                assert reading is not None, sentence
                assert reading.kind == topic.kind.name
                assert [part for part in reading.values if not truth.right(*part)] == [], sentence
