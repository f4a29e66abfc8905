"""Junk among prose: the linear model on pages by hand, and the labels it was fitted on."""

import csv
import json
import math
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paragraph_quality import site_of
from storage.schemas import ARTICLES, DOCUMENTS
from tasks.engine.data_files import read_data
from tasks.paragraphs import quality
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.paragraphs.quality import columns, find_junk, is_english, junk_probabilities, page_features
from tasks.paragraphs.settings import ParagraphSettings

LABELS = Path(__file__).with_name("quality_labels.csv")
PROSE = [
    "The weir was built in 1894 to keep the upper river deep enough for barges, and it was rebuilt after the flood "
    "that carried away its sluices.",
    "When the last barge had gone, the county sold the lock to a company which used the fall of the water to drive two "
    "turbines and light the town.",
    "She told the inquiry that the gates had been inspected in the spring, but that nobody had looked at the hinges "
    "because they were under water.",
    "Salmon pass the weir by a ladder of nine pools, each a foot higher than the last, which anglers paid for.",
]
REFERENCES = [
    "Harris, T. & Webb, K. L. (1987). Weirs of the lower valley. Journal of River Engineering, 14(2), 211–229.",
    "- Osborne, M. J., Whitlock, P., et al. (2003). Sediment behind low dams. Hydrol. Process. 17, 1405–1422.",
    "Bell, A. (ed.), 1999, Locks and Keepers, Cambridge University Press, pp. 61–88.",
]
COMMENTS = ["Tom Hartley says: July 17, 2012 at 8:06 am Great, now we just need the other lock! Reply"]
PAGE = [*PROSE, *COMMENTS, *REFERENCES]


def junk(texts: list[str], threshold: float = 0.7) -> list[bool]:
    return [probability >= threshold for probability in junk_probabilities(texts, [False] * len(texts))]


def test_references_and_comments_are_told_from_prose() -> None:
    assert junk(PAGE) == [False] * 4 + [True] * 4


LIGHTHOUSE = (
    "The Skerry Point Lighthouse was built in 1874 by the engineer Thomas Marwick, after two ships were lost there.",
    "Its lamp burned paraffin until 1931, when the county brought electricity to the point.",
)


@pytest.mark.parametrize(
    "page",
    [
        [LIGHTHOUSE[0]],
        [" ".join(LIGHTHOUSE)],
        list(LIGHTHOUSE),
        ["Skerry Point", *LIGHTHOUSE],
        *([text] for text in PROSE),
        PROSE[:2],
        PROSE[1:],
    ],
)
def test_prose_stays_however_short_its_page(page: list[str]) -> None:
    refused = [text == "Skerry Point" for text in page]
    assert max(junk_probabilities(page, refused)) < 0.5


@pytest.mark.parametrize("text", [*REFERENCES, *COMMENTS])
def test_junk_is_known_by_its_text_alone(text: str) -> None:
    assert junk_probabilities([text], [False], "en")[0] >= 0.7


def test_a_page_of_nothing_but_junk_keeps_the_least_likely_junk() -> None:
    probabilities = junk_probabilities(REFERENCES, [False] * 3, "en")
    best = probabilities.index(min(probabilities))
    assert min(probabilities) >= 0.7
    assert find_junk(REFERENCES, [False] * 3, 0.7, "en") == [i != best for i in range(3)]
    assert find_junk([REFERENCES[0]] * 3, [False] * 3, 0.01, "en").count(False) == 1
    assert find_junk(COMMENTS, [False], 0.7, "en") == [False]
    assert find_junk(PAGE, [False] * 8, 0.7) == [False] * 4 + [True] * 4  # prose stays, and nothing else does
    assert find_junk(["Menu", REFERENCES[0]], [True, False], 0.7, "en") == [False, False]
    assert find_junk(["Menu"], [True], 0.7) == [False]
    assert find_junk([], [], 0.7) == []


def test_of_refused_texts_only_spaces_are_read() -> None:
    refused = [False, True, True, False]
    first, second = (
        page_features([PROSE[0], text, text, PROSE[1]], refused) for text in ("It ended. The a-a-a-b.org", "x x x x")
    )
    assert first.tolist() == second.tolist()
    assert len(first) == 2


def test_a_paragraph_alone_stands_on_a_typical_page() -> None:
    alone, elsewhere = (page_features([text], [False])[0] for text in (PROSE[0], REFERENCES[0]))
    at = columns()["position"]
    assert alone[at:].tolist() == elsewhere[at:].tolist()
    assert alone[at] == 0.5


def test_what_stands_around_a_paragraph_counts_the_more_the_longer_its_page_is() -> None:
    """By hand: prose, a refused line of two words, and references, which tell of three others beside them."""
    texts, refused = [PROSE[0], "Menu closed", *REFERENCES], [False, True, False, False, False]
    first, *references = (dict(zip(columns(), row, strict=True)) for row in page_features(texts, refused))
    kept = 2 / 3  # of three neighbours; each other candidate makes what the page says count for more: 3 / (3 + 3)
    assert first["near_kept"] == 0.6 + 0.5 * (kept - 0.6)
    assert first["near_reference"] == 0.05 + 0.5 * (sum(each["reference"] for each in references[:2]) / 2 - 0.05)
    spaces = [texts[i].count(" ") for i in (1, 2, 3)]
    assert first["near_length"] == pytest.approx(2.7 + 0.5 * (sum(map(math.log1p, spaces)) / 3 - 2.7))
    assert [first["position"], first["from_end"]] == [0.5 + 0.5 * (0 - 0.5), 0.06 + 0.5 * (0 - 0.06)]
    assert [each["from_end"] for each in references] == [0.06 + 0.5 * (1 - 0.06)] * 3


@given(st.lists(st.sampled_from(["Weir", "it", "'", "’", "é", "Ÿ", "я", "7", "²", "½", "_", " ", "\x81", "–", "."])))
def test_words_are_those_of_the_pattern(pieces: list[str]) -> None:
    assert quality.words_in("".join(pieces)) == quality._WORD.findall("".join(pieces))


def test_each_word_is_weighed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "_word_weights", lambda: {"you": 9, "weir": -4, "can’t": 2})
    (row,) = page_features(["You can’t see YOU, the Weir or 7 other things."], [False])
    found = dict(zip(columns(), row, strict=True))  # of 8 words: you, can’t, see, the, weir, or, other, things
    assert found["word_score"] == (9 + 2 - 4) / math.sqrt(8)
    assert found["junk_words"] == (9 + 2) / 8


def test_a_word_has_one_weight() -> None:
    words = " ".join(read_data("tasks.paragraphs", "junk_words.toml").values()).split()
    assert len(words) == len(set(words)) == len(quality._word_weights()) == 2000
    assert all(quality.words_in(word) == [word] == [word.casefold()] for word in words)


def test_a_refused_paragraph_is_not_judged() -> None:
    refused = [text in COMMENTS for text in PAGE]
    assert [probability == 0 for probability in junk_probabilities(PAGE, refused)] == refused


def test_pages_in_other_languages_are_not_judged() -> None:
    german = [
        "Das Wehr wurde 1894 gebaut, damit der Fluss oberhalb tief genug für Lastkähne blieb.",
        "Harris, T. (1987). Wehre im unteren Tal. Zeitschrift für Wasserbau, 14(2), 211–229.",
    ]
    assert not is_english(german)
    assert junk_probabilities(german, [False, False]) == [0.0, 0.0]


def test_a_page_of_references_in_english_is_judged_by_its_language() -> None:
    assert not is_english(REFERENCES)
    assert junk_probabilities(REFERENCES, [False] * 3) == [0.0] * 3
    assert min(junk_probabilities(REFERENCES, [False] * 3, "en")) > 0.7
    assert junk_probabilities(REFERENCES, [False] * 3, "de") == [0.0] * 3


@pytest.mark.parametrize(
    "text",
    [
        "Get involved in the conversation by heading over to our pages. For more guides, follow River News on Twitter.",
        "(A) Pools of the ladder, with the number of salmon in parentheses. (B) Heights of the pools at low water.",
        "40 Comments| Sep 03, 2008 10:23am CST The county closed the weir after the flood that carried away its...",
    ],
)
def test_calls_panels_and_teasers_are_junk_among_prose(text: str) -> None:
    assert junk([*PROSE, text]) == [False] * 4 + [True]


def test_prose_below_a_heading_of_other_stories_is_more_likely_junk() -> None:
    refused = [False] * 3 + [True, False]
    plain, related = ([*PROSE[:3], heading, PROSE[3]] for heading in ("The ladder", "Related stories"))
    assert junk_probabilities(plain, refused)[4] < junk_probabilities(related, refused)[4]


def test_every_feature_has_a_weight() -> None:
    (first, *_) = page_features(PAGE, [False] * len(PAGE))
    assert len(first) == len(columns())
    names, (folded, exact) = list(columns()), quality.marks()
    counted = read_data("tasks.paragraphs", "junk.toml")["counted"]
    assert names[15:] == [
        *(*folded, *exact, *(f"{name}_rate" for name in counted)),
        *(*quality._TYPICAL, *(f"below_{kind}" for kind in quality.KINDS)),
    ]


@pytest.mark.parametrize(
    ("engine", "quality", "refused"),
    [("blocks", 0.7, 4), ("embedded", 0.7, 4), ("blocks", None, 0), (None, 0.7, 0), ("plain", 0.7, 0), ("pdf", 0.7, 0)],
)
def test_junk_of_crawled_pages_is_refused_and_counted(engine: str | None, quality: float | None, refused: int) -> None:
    article = {"article_id": "a", "split": "train", "title": "Weir", "lead": "A weir crosses a river."}
    document = {
        "article_id": "a",
        "url": "u",
        "rank": 0,
        "provenance": "citation",
        "paragraphs": PAGE,
        "engine": engine,
        "language": "en",
    }
    (rows,) = build_paragraphs(
        pa.Table.from_pylist([article], schema=ARTICLES.schema),
        pa.Table.from_pylist([document], schema=DOCUMENTS.schema),
        ParagraphSettings(quality=quality),
    )
    assert Counter(rows["drop_reason"].to_pylist())["junk"] == refused
    assert rows["text"].to_pylist() == PAGE


@pytest.mark.parametrize("threshold", [0, 1])
def test_a_threshold_that_is_no_probability_is_named(threshold: int) -> None:
    with pytest.raises(ValueError, match="quality"):
        ParagraphSettings(quality=threshold)


def test_the_language_of_the_document_reaches_the_model() -> None:
    article = {"article_id": "a", "split": "train", "title": "Weir", "lead": "A weir crosses a river."}
    for language, refused in (("en", 2), ("de", 0)):  # the best of a page of junk stays
        document = {"article_id": "a", "url": "u", "rank": 0, "provenance": "citation", "paragraphs": REFERENCES}
        (rows,) = build_paragraphs(
            pa.Table.from_pylist([article], schema=ARTICLES.schema),
            pa.Table.from_pylist([document | {"engine": "blocks", "language": language}], schema=DOCUMENTS.schema),
            ParagraphSettings(quality=0.7),
        )
        assert rows["drop_reason"].to_pylist().count("junk") == refused


def labels() -> list[dict[str, str]]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_site_that_is_reported_on_was_fitted_on() -> None:
    fitted, reported, unseen = (
        {site_of(row["url"]) for row in labels() if row["part"] in parts}
        for parts in (("fit", "hard"), ("report", "fresh", "final", "more"), ("unseen",))
    )
    assert len(reported) > 100
    assert len(unseen) > 40
    assert not fitted & reported
    assert not unseen & (fitted | reported)


def test_every_label_has_a_reason() -> None:
    rows = labels()
    assert Counter((row["part"], not row["refused"]) for row in rows) == {
        ("fit", True): 680,
        ("fit", False): 270,
        ("hard", True): 514,
        ("report", True): 199,
        ("report", False): 95,
        ("fresh", True): 146,
        ("fresh", False): 71,
        ("final", True): 148,
        ("final", False): 68,
        ("more", True): 134,
        ("more", False): 2,
        ("unseen", True): 461,
    }
    assert len({row["digest"] for row in rows}) == len(rows)
    assert {row["label"] for row in rows} == {"good", "junk"}
    assert all((row["reason"] == "prose") == (row["label"] == "good") for row in rows)


@pytest.mark.shared_data
def test_labels_name_pages_of_the_shared_data(shared_data: Path) -> None:
    lines = (shared_data / "wikigraph" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    cited = {url.partition("#")[0] for line in lines for url in json.loads(line)["references"]}
    rows = [row for row in labels() if ".html" not in row["article_id"]]
    assert sum(row["url"] in cited for row in rows) > 0.95 * len(rows)  # the frontier writes some URLs in another form
    files = {row["article_id"] for row in labels() if row["article_id"].startswith("html/")}
    assert len(files) > 30
    assert all((shared_data / "extraction" / name).is_file() for name in files)
