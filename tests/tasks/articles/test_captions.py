import gzip
import json
from pathlib import Path

import pytest

from models.sentences import split_sentences
from tasks.articles.articles import is_caption


@pytest.mark.parametrize(
    "line",
    [
        "Location of the locks on the upper Severn.",
        "A coloured engraving of the weir, published in 1894. It had nine pools then.",
        "The Ystan plan, an early map showing the two locks.",
        "Main language families of the valley (and of its neighbours).",
        "The mayor of Ystan opening the lock in June 1894.",
        'A bargeman holding a sign that reads "Closed".',
        "Several kinds of barge; from top left, clockwise: narrow, wide, steam.",
        "The number of barges, by year, counted at Ystan. The years before 1894 are not visible.",
        "Photograph of a keeper taken by the county, 1902.",
    ],
)
def test_captions_are_found_though_they_end_in_a_full_stop(line: str) -> None:
    assert is_caption(line)


@pytest.mark.parametrize(
    "line",
    [
        "A map of the locks was drawn in 1894.",
        "The mayor opened a lock in June 1894, holding a speech.",
        "It features two keepers opening the lock.",
        "Barges cross the town.",
        "The river crosses, above the town, an old weir.",
        "Maps show the locks of the river.",
        "The county began closing the lock.",
        "Before opening the lock the keeper rings a bell.",
        "Keepers often display love for their lock.",
        "Karte der Schleusen am oberen Fluss.",
        "Map of the locks of the river, " + "and of its neighbours, " * 12 + "by the county.",
    ],
)
def test_sentences_are_no_captions(line: str) -> None:
    assert not is_caption(line)


@pytest.mark.shared_data
def test_no_sentence_of_real_leads_is_taken_for_a_caption(shared_data: Path) -> None:
    with gzip.open(shared_data / "freshwiki_lead.jsonl.gz", "rt", encoding="utf-8") as file:
        sentences = [sentence for line in file for sentence in split_sentences(json.loads(line)["lead"])]
    assert len(sentences) > 700
    assert [sentence for sentence in sentences if is_caption(sentence)] == []
