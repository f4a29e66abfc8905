"""Facts of the mini web in summaries, counted by hand for one bridge, and laws that hold for every topic."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tasks.evaluation.facts import find_facts, prepare
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Summary, SummaryScorer
from tasks.evaluation.topic_truth import facts_of, plain_value, truth_of
from tasks.sources.miniweb.kinds import KINDS
from tasks.sources.miniweb.site import Miniweb
from tasks.sources.settings import MiniwebSettings

SETTINGS = MiniwebSettings(topics=1600)
WEB = Miniweb(SETTINGS)
TITLE = "Flisind Viaduct"
# Its 18 facts: name, type, river, town, region, country; engineer, company, opened, replaced; length, span; begun,
# cost; traffic; repaired, nickname; film. `workers` (2,010) is none of them, but true.
LEAD = (
    "The Flisind Viaduct is a suspension bridge over the River Brénden at Brallabourne, in the Lidel Vale of Valdria. "
    "Opened in 1914 in place of a chain ferry, the bridge was built by Vasork Engineering to a design by Hanna Himett. "
    "It measures 758 metres in all and 315 metres in its main span. "
    "Construction began in 1910 and cost 8.5 million crowns. It carries about 43,100 vehicles a day. "
    "It was thoroughly repaired in 1954 and is known locally as the Harp. "
    "The bridge appears in the film The First Hotel by the Sea."
)
FACTS = 18


def scorer_of(world: MiniwebSettings | None, title: str) -> SummaryScorer:
    return prepare(ArticleTexts(title, LEAD, [], [], world), [])


def test_an_article_from_elsewhere_has_no_facts_to_score() -> None:
    assert scorer_of(None, TITLE)(Summary(LEAD)) == {}


def scores(text: str, title: str = TITLE) -> dict[str, float]:
    return {name: score.value for name, score in scorer_of(SETTINGS, title)(Summary(text)).items()}


def counts(text: str, title: str = TITLE) -> dict[str, Counter[str]]:
    """Return what was stated of each fact: those only missed are left out."""
    found = find_facts(truth_of(SETTINGS, title), text).facts
    return {
        f"{kind}.{fact}": count
        for (kind, fact), count in found.items()
        if count["right"] + count["wrong"] + count["invented"]
    }


RIGHT = Counter(right=1, lead=1, recalled=1)
WRONG = Counter(wrong=1, lead=1)


def test_the_lead_is_what_the_test_says() -> None:
    topic = WEB.world.find(TITLE)
    assert topic is not None
    assert WEB.pages.lead(topic) == LEAD


def test_right_wrong_and_missed() -> None:
    text = "The bridge is 758 metres long, with a main span of 200 metres. About 43,100 vehicles cross it each day."
    assert counts(text) == {"bridge.length": RIGHT, "bridge.span": WRONG, "bridge.traffic": RIGHT}
    assert scores(text) == {
        "facts-right": pytest.approx(2 / 3),
        "facts-wrong": pytest.approx(1 / 3),
        "facts-invented": 0.0,
        "facts-recalled": pytest.approx(2 / FACTS),
        "facts-unread": 0.0,
        "facts-sentences": 0.5,
    }
    missed = [count["missed"] for count in find_facts(truth_of(SETTINGS, TITLE), text).facts.values()]
    assert sum(missed) == FACTS - 3


def test_a_true_fact_that_the_lead_does_not_state_is_right_but_recalls_nothing() -> None:
    text = "Built from 1910 at a cost of 8.5 million crowns, it employed up to 2,010 workers."
    assert counts(text)["bridge.workers"] == Counter(right=1)
    assert scores(text)["facts-right"] == 1.0
    assert scores(text)["facts-recalled"] == pytest.approx(2 / FACTS)


def test_an_untrue_fact_that_the_lead_does_not_state_is_invented() -> None:
    text = "Built from 1910 at a cost of 8.5 million crowns, it employed up to 6,810 workers."
    assert counts(text)["bridge.workers"] == Counter(invented=1)
    assert scores(text)["facts-invented"] == pytest.approx(1 / 3)
    assert scores(text)["facts-wrong"] == 0.0


def test_a_sentence_of_another_kind_is_invented_whole() -> None:
    """Even where a fact of this name and value is the topic's: bridges have a town too."""
    text = "It was shot in 9 weeks in Brallabourne, with music by Ann Berg. "
    text += "The river was first surveyed in full by Ann Berg in 1900."
    assert counts(text) == {
        "film.weeks": Counter(invented=1),
        "film.town": Counter(invented=1),
        "film.composer": Counter(invented=1),
        "river.surveyor": Counter(invented=1),
        "river.survey_year": Counter(invented=1),
        "bridge.name": WRONG,  # "the river" is no bridge
    }


def test_a_sentence_that_names_another_topic_states_a_wrong_name() -> None:
    text = (
        "The Pillill Footbridge is a truss bridge over the River Brénden at Brallabourne, in the Lidel Vale of Valdria."
    )
    assert {fact for fact, count in counts(text).items() if count == WRONG} == {"bridge.name", "bridge.type"}
    assert scores(text)["facts-sentences"] == 0


def test_a_sentence_that_no_template_reads_is_unread() -> None:
    text = "The bridge is known as the. About 43,100 vehicles cross it each day."
    assert scores(text)["facts-unread"] == scores(text)["facts-sentences"] == 0.5
    assert find_facts(truth_of(SETTINGS, TITLE), text).unread == ("The bridge is known as the.",)


def test_a_fact_counts_once_for_every_value() -> None:
    again = "It carries about 43,100 vehicles a day."
    text = f"About 43,100 vehicles cross it each day. {again} About 9,000 vehicles cross the Flisind each day."
    assert counts(text) == {"bridge.traffic": Counter(right=1, wrong=1, lead=1, recalled=1), "bridge.name": RIGHT}


def test_a_shorter_name_is_the_same_value() -> None:
    text = "Designed by Himett and built by Vasork, it was opened in 1914 and replaced a chain ferry. " + LEAD
    assert counts(text)["bridge.engineer"] == counts(text)["bridge.company"] == RIGHT


def test_a_persons_pronoun_is_a_fact() -> None:
    """As the beam search wrote it: "She received the Linden Prize in 1951" of a man."""
    text = "He received the Linden Prize in 1951. She received the Linden Prize in 1951."
    assert counts(text, "Ivan Wevoberg")["person.pronoun"] == Counter(right=1, wrong=1, lead=1, recalled=1)
    assert "bridge.pronoun" not in counts(LEAD)
    assert counts("About 43,100 vehicles cross her each day.")["bridge.pronoun"] == Counter(invented=1)


def test_the_order_of_two_tributaries_says_nothing() -> None:
    text = "It drains an area of 9 square kilometres and is fed chiefly by the River {} and the River {}."
    both = counts(text.format("Flalmend", "Pestoll"), "River Thuseth")["river.tributary"]
    assert both == Counter(right=2, lead=2, recalled=2)
    one = counts(text.format("Flalmend", "Flalmend"), "River Thuseth")["river.tributary"]
    assert one == Counter(right=1, missed=1, lead=2, recalled=1)


def test_a_sentence_that_states_one_value_twice_is_not_true() -> None:
    truth = truth_of(SETTINGS, "River Thuseth")
    (basin,) = truth.facts["basin"].values()
    text = f"It drains an area of {basin} square kilometres and is fed chiefly by the River {{}} and the River {{}}."
    assert find_facts(truth, text.format("Flalmend", "Pestoll")).true == 1
    assert find_facts(truth, text.format("Flalmend", "Flalmend")).true == 0


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Flisind Viaduct", "In fog the far end cannot be seen."),
        ("Brallabourne", "The bakery on the square opens at five."),
        ("Flisind Viaduct", "Nevertheless, cyclists have had a lane of their own for some years."),
    ],
)
def test_what_may_be_said_of_anything_is_not_true_of_something(title: str, sentence: str) -> None:
    found = find_facts(truth_of(SETTINGS, title), sentence)
    assert (found.sentences, found.true, found.unread) == (1, 0, ())


def test_one_value_in_two_places_is_not_true() -> None:
    truth = truth_of(SETTINGS, TITLE)
    assert find_facts(truth, "The builder was Vasork Engineering, the engineer Hanna Himett.").true == 1
    assert find_facts(truth, "The builder was Vasork Engineering, the engineer Vasork.").true == 0
    doubled = replace(truth, facts={**truth.facts, "engineer": truth.facts["company"]})
    assert find_facts(doubled, "The builder was Vasork Engineering, the engineer Vasork.").true == 0


def test_honest_parts_of_what_leads_say_are_true() -> None:
    text = (
        "The bridge was opened in 1914. It is 758 metres long. It was designed by Hanna Himett. It crosses the Brénden."
    )
    found = find_facts(truth_of(SETTINGS, TITLE), text)
    assert (found.sentences, found.true, found.unread) == (4, 4, ())
    assert find_facts(truth_of(SETTINGS, TITLE), text.replace("1914", "1915").replace("758", "785")).true == 2


def test_an_empty_summary_states_nothing_right_and_has_no_share_of_errors() -> None:
    assert scores("") == {"facts-sentences": 0.0, "facts-right": 0.0, "facts-recalled": 0.0}


def test_all_metrics_are_listed() -> None:
    assert set(COMPUTED["facts"]) == set(scores(LEAD))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_lead_states_all_its_facts_right(seed: int) -> None:
    """In a world of 60 topics, a third of them edited each week: nothing wrong, nothing missed, nothing unread."""
    settings = MiniwebSettings(topics=60, seed=seed, week=2, edits=0.3)
    web = Miniweb(settings)
    for topic in range(60):
        lead = web.pages.lead(topic)
        found = {
            name: score.value for name, score in scorer_of(settings, web.world.title(topic))(Summary(lead)).items()
        }
        assert found == {
            "facts-right": 1.0,
            "facts-wrong": 0.0,
            "facts-invented": 0.0,
            "facts-recalled": 1.0,
            "facts-unread": 0.0,
            "facts-sentences": 1.0,
        }, lead


def swapped(topic: int) -> Iterator[tuple[str, str]]:
    """Yield each fact of a lead, and the lead with another topic's value in its place."""
    lead, truth = WEB.pages.lead(topic), truth_of(SETTINGS, WEB.world.title(topic))
    others = [WEB.world.topic(topic + len(KINDS) * step) for step in range(1, 9)]
    own = {plain_value(value) for _, value, _ in facts_of(WEB.world.topic(topic))}
    for fact, value, _ in facts_of(WEB.world.topic(topic)):
        pattern = re.compile(rf"(?<![\w,.-]){re.escape(value)}(?![\w-]|[.,]\d)")
        if fact not in truth.lead or len(pattern.findall(lead)) != 1:
            continue  # not in the lead, there twice, or part of another value too
        strange = (text for other in others for name, text, _ in facts_of(other) if name == fact)
        another = next((text for text in strange if plain_value(text) not in own), None)
        if another is not None:
            yield fact, pattern.sub(another, lead)


def test_a_lead_with_one_value_swapped_states_one_fact_wrong() -> None:
    tried = 0
    for topic in range(32):
        truth = truth_of(SETTINGS, WEB.world.title(topic))
        for fact, text in swapped(topic):
            tried += 1
            found = find_facts(truth, text)
            assert found.unread == ()
            assert {name: count["wrong"] for (_, name), count in found.facts.items() if count["wrong"]} == {fact: 1}, (
                text
            )
            assert (
                sum(count["invented"] + count["missed"] for count in found.facts.values() if count["lead"] < 2) == 0
            ), text
    assert tried > 400
