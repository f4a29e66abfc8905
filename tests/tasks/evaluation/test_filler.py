"""The template filler, in worlds of the mini web whose forms training shows, and in one that holds a share back."""

import os
import subprocess
import sys
from functools import cache

import pytest

from tasks.evaluation.facts import find_facts
from tasks.evaluation.filler import Filler
from tasks.evaluation.topic_truth import truth_of
from tasks.sources.miniweb.site import Miniweb
from tasks.sources.settings import MiniwebSettings

TOPICS, PAGES = 210, 3


@cache
def shares(held_back: float) -> tuple[float, float]:
    """Return the share of true sentences, and of the facts of leads that are recalled, on the test split."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.sources.miniweb.site.HELD_BACK", held_back)
        patch.setattr("tasks.evaluation.topic_truth.HELD_BACK", held_back)
        return measured(MiniwebSettings(topics=TOPICS, seed=5))


def measured(settings: MiniwebSettings) -> tuple[float, float]:
    web = Miniweb(settings)

    def texts(topic: int) -> list[str]:
        return [text for slot in range(PAGES) for text in web.pages.page(topic, slot).paragraphs]

    splits = {topic: web.world.split(topic) for topic in range(TOPICS)}
    filler = Filler(
        (web.world.title(topic), web.pages.lead(topic), texts(topic))
        for topic, split in splits.items()
        if split == "train"
    )
    true = sentences = recalled = stated = 0
    for topic, split in splits.items():
        if split == "test":
            title = web.world.title(topic)
            found = find_facts(truth_of(settings, title), filler.write(title, texts(topic)))
            true += found.true
            sentences += found.sentences
            recalled += sum(count["recalled"] for count in found.facts.values())
            stated += sum(count["lead"] for count in found.facts.values())
    return true / sentences, recalled / stated


@pytest.mark.integration
def test_where_training_shows_every_form_the_filler_knows_the_world_by_heart() -> None:
    true, recalled = shares(0.0)
    assert true > 0.6
    assert recalled > 0.4


@pytest.mark.integration
def test_forms_that_training_never_showed_are_beyond_the_filler() -> None:
    (seen, recalled), (unseen, found) = shares(0.0), shares(0.3)
    assert unseen < seen - 0.15
    assert found < recalled - 0.15


def test_without_training_articles_nothing_is_written() -> None:
    assert Filler([]).write("Ash", ["Ash has 88 mills."]) == ""


@pytest.mark.parametrize("text", ["", "!", "nothing"])
def test_an_article_without_sentences_has_no_summary(text: str) -> None:
    filler = Filler([("Ash", "Ash has 88 mills.", ["The mills of Ash are 88."])])
    assert filler.write("Elm", [text]) == ""


_WRITTEN = """
from tasks.evaluation.filler import Filler
names = ["Otto Lund", "Anna Berg", "Eric Holm", "Elsa Dahl", "Nils Ryde", "Hans Falk"]
told = [(f"{name}", f"{name} was born in {1900 + n}.", [f"{name} was born in {1900 + n} by the sea. {name[5:]} sang."])
        for n, name in enumerate(names)]
print([Filler(told).write(title, [f"{title} was born in 1950 by the sea. {title[5:]} sang."]) for title in names])
print([Filler(told)._read(title, texts) for title, _, texts in told])
"""


def test_what_is_written_does_not_hang_on_the_order_of_sets() -> None:
    """Names of which several words are as long are read by the first of these."""
    made = {
        subprocess.run(
            [sys.executable, "-c", _WRITTEN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "1234"
    }
    assert len(made) == 1
    assert b"Otto Lund was born in 1950." in made.pop()
