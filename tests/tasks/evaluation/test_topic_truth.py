"""Sentences of the mini web read back into facts, and what is true of a topic."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count

import pytest

from models.sentences import split_sentences
from tasks.engine.hashing import Dice
from tasks.evaluation.topic_truth import (
    NAME,
    POSSESSIVE,
    PRONOUN,
    SUBJECT,
    Reading,
    fact_of,
    facts_of,
    forms,
    longest,
    plain,
    plain_sentence,
    plain_value,
    read_back,
    truth_of,
)
from tasks.sources.miniweb.kinds import KINDS, Form, TopicKind
from tasks.sources.miniweb.pages import Narrator, say, text_of, write_lead
from tasks.sources.miniweb.site import Miniweb
from tasks.sources.settings import MiniwebSettings

SETTINGS = MiniwebSettings(topics=1600)
WEB = Miniweb(SETTINGS)
BRIDGE = truth_of(SETTINGS, "Flisind Viaduct")
COMPOSER = truth_of(SETTINGS, "Ivan Wevoberg")


def test_a_sentence_is_read_by_its_template() -> None:
    sentence = "About 30,800 vehicles cross it each day."
    assert BRIDGE.read(sentence) == Reading("bridge", (("traffic", "30800"), ("S", "it")))


def test_a_wrong_value_is_read_too() -> None:
    sentence = "Construction began in 1901 and cost 7.5 million crowns!"
    assert BRIDGE.read(sentence) == Reading("bridge", (("begun", "1901"), ("cost", "7.5")))


def test_two_facts_in_one_slot_are_taken_apart() -> None:
    sentence = "Ivan Wevoberg (5 June 1895 - 1985) was a Kestrian painter, best known for chamber music."
    assert COMPOSER.read(sentence) == Reading(
        "person",
        (
            ("S", "ivan wevoberg"),
            ("birthday", "5 june"),
            ("born", "1895"),
            ("died", "1985"),
            ("demonym", "kestrian"),
            ("profession", "painter"),
            ("work", "chamber music"),
        ),
    )


@pytest.mark.parametrize(
    "subject", ["It", "The bridge", "The structure", "The Flisind Viaduct", "Flisind Viaduct", "The Flisind"]
)
def test_the_topic_may_be_called_as_narrators_do(subject: str) -> None:
    reading = BRIDGE.read(f"{subject} has a total length of 758 metres and a main span of 315 metres.")
    assert reading == Reading("bridge", (("S", plain(subject)), ("length", "758"), ("span", "315")))
    assert all(BRIDGE.right(slot, value) for slot, value in reading.values)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge is 758 metres.",  # half a sentence
        "The bridge is many metres long, with a main span of 315 metres.",  # no number
        "It was designed by Hanna Himett, built by Vasork Engineering and opened in 1914 in 1914 in place of a ford.",
        "About 30,800 vehicles cross the old wooden bridge beside the mill at Brallabourne each day.",  # too long
        "About 30,800 vehicles cross it each day too.",
        "",
    ],
)
def test_what_no_template_says_is_not_read(sentence: str) -> None:
    assert BRIDGE.read(sentence) is None


def test_values_are_cut_so_that_most_are_right() -> None:
    form = Form("", (("river", " at "), ("town", "")))
    right = {("river", "the wolov at dawn"), ("town", "lotiwell")}
    cut = read_back("bridge", form, "the wolov at dawn at lotiwell", lambda slot, value: (slot, value) in right)
    assert cut == (("river", "the wolov at dawn"), ("town", "lotiwell"))
    cut = read_back("bridge", form, "the wolov at dawn at lotiwell", lambda slot, value: False)
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
    """Of a film it is the merit that has many words, of a person the prize."""
    sentence = "It received the Blue Ribbon for best picture in 1931."
    for title, kind in (("The Brass House by the Sea", "film"), ("Ivan Wevoberg", "person")):
        reading = truth_of(SETTINGS, title).read(sentence)
        assert reading is not None
        assert reading.kind == kind


def test_related_topics_have_shorter_names() -> None:
    assert BRIDGE.facts["company"] == {"vasork engineering": "vasork engineering", "vasork": "vasork engineering"}


def test_two_tributaries_are_one_fact() -> None:
    assert set(truth_of(SETTINGS, "River Thuseth").facts["tributary"].values()) == {
        "the river flalmend",
        "the river pestoll",
    }


def test_the_truth_is_that_of_the_week() -> None:
    titles = [WEB.world.title(topic) for topic in range(5, 60, 6)]  # bridges, whose traffic is what an edit changes
    now = [truth_of(SETTINGS, title).facts["traffic"] for title in titles]
    later = SETTINGS.model_copy(update={"week": 3, "edits": 1.0})
    assert all(before != truth_of(later, title).facts["traffic"] for before, title in zip(now, titles, strict=True))
    assert [truth_of(SETTINGS, title).lead for title in titles] == [truth_of(later, title).lead for title in titles]


def test_another_seed_is_another_world() -> None:
    with pytest.raises(ValueError, match=r"seed 2 has no article 'Flisind Viaduct' among its 1600 topics"):
        truth_of(SETTINGS.model_copy(update={"seed": 2}), "Flisind Viaduct")
    with pytest.raises(ValueError, match="no article 'Nowhere'"):
        truth_of(SETTINGS, "Nowhere")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_form_asks_for_facts_there_are(kind: TopicKind) -> None:
    known = {fact for fact, _, _ in facts_of(WEB.world.topic(KINDS.index(kind)))}
    assert {slot for form in forms(kind.name) for slot, _ in form.slots} <= known | {SUBJECT, POSSESSIVE}
    assert known | {SUBJECT, POSSESSIVE} == set(longest(kind.name))


def every_form(kind: TopicKind) -> Iterator[Form]:
    lines = chain(*(aspect.lead + aspect.told for aspect in kind.aspects), kind.colour)
    return chain.from_iterable(lines)


@pytest.mark.parametrize("index", range(12))
def test_every_paraphrase_is_read_and_true_and_false_with_another_value(index: int) -> None:
    topic, other = WEB.world.topic(index), WEB.world.topic(index + len(KINDS))
    truth = truth_of(SETTINGS, topic.title)
    for form in chain.from_iterable(topic.kind.paraphrases):
        said = say(form, topic, topic.name)
        reading = truth.read(said.text)
        assert reading is not None, said.text
        assert all(truth.right(*value) for value in reading.values), said.text
        for slot, _ in form.slots:
            if slot in topic.facts and not truth.right(fact_of(slot), plain_value(other.facts[slot])):
                wrong = say(form, replace(topic, facts=topic.facts | {slot: other.facts[slot]}), topic.name)
                reading = truth.read(wrong.text)
                assert reading is None or not all(truth.right(*value) for value in reading.values), wrong.text


@pytest.mark.parametrize("index", range(18))
def test_every_sentence_that_can_be_said_of_a_topic_is_read_as_what_it_says(index: int) -> None:
    """Every form of its kind, with every word for the topic: the same facts, the same values, all of them true."""
    topic = WEB.world.topic(index)
    truth = truth_of(SETTINGS, topic.title)
    for form in every_form(topic.kind):
        for subject in {topic.name, *topic.aliases, *topic.nouns, topic.pronouns[0]}:
            said = say(form, topic, subject)
            values = tuple((fact_of(slot), plain_value(words)) for slot, words in said.values)
            assert truth.read(said.text) == Reading(topic.kind.name, values), said.text
            assert all(truth.right(*value) for value in values), said.text
            marked = say(form, topic, subject, "At the same time, ")
            assert truth.read(marked.text) == Reading(topic.kind.name, values), marked.text


@pytest.mark.parametrize("index", range(18))
def test_every_sentence_with_a_wrong_value_is_read_as_just_that(index: int) -> None:
    """Every form with one value of the topic after it in the region in its place, unless that happens to be right."""
    topic, other = WEB.world.topic(index), WEB.world.topic(index + len(KINDS))
    truth = truth_of(SETTINGS, topic.title)
    wrong = 0
    for form in every_form(topic.kind):
        for slot, _ in form.slots:
            if slot not in topic.facts or truth.right(fact_of(slot), plain_value(other.facts[slot])):
                continue
            said = say(form, replace(topic, facts=topic.facts | {slot: other.facts[slot]}), topic.name)
            values = tuple((fact_of(each), plain_value(words)) for each, words in said.values)
            assert truth.read(said.text) == Reading(topic.kind.name, values), said.text
            assert {fact for fact, value in values if not truth.right(fact, value)} == {fact_of(slot)}, said.text
            wrong += 1
    assert wrong > 50


def test_the_truth_of_a_lead_is_what_its_writer_put_in() -> None:
    for index in range(60):
        topic = WEB.world.topic(index)
        truth = truth_of(SETTINGS, topic.title)
        lead = write_lead(topic, WEB.world)
        facts = {fact_of(slot) for said in lead for slot, _ in said.values} - {SUBJECT, POSSESSIVE}
        pronouns = {words for said in lead for _, words in said.values} & {"he", "his", "she", "her"}
        assert truth.lead == facts | {NAME} | ({PRONOUN} if pronouns else set())
        assert text_of(lead) == WEB.pages.lead(index)


def test_all_that_narrators_say_is_read_and_true() -> None:
    """So extractive systems are scored as exactly as those that write leads."""
    for index in range(60):
        topic = WEB.world.topic(index)
        truth = truth_of(SETTINGS, topic.title)
        for number in range(5):
            dice = Dice("narrators", index, number)
            lines = (dice.pick(dice.pick(topic.kind.aspects).told) for _ in count())
            for sentence in split_sentences(text_of(Narrator(topic, dice).paragraph(lines, 4, marked=True))):
                reading = truth.read(sentence)
                assert reading is not None, sentence
                assert reading.kind == topic.kind.name
                assert [part for part in reading.values if not truth.right(*part)] == [], sentence
