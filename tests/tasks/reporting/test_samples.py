"""Samples: which paragraphs each sentence is shown with, and what is said of a sentence without support."""

import numpy as np
import pytest

import tests.tasks.reporting.reporting_tables as made
from storage.schemas import GRAPHS
from tasks.evaluation.citations import CitedSentence
from tasks.reporting.blocks import AttendedPage, Citation, SampleSentence
from tasks.reporting.samples import SHOWN_CHARACTERS, doubt, read_samples, shorten, sources
from tests.tasks.reporting.reporting_tables import prediction

URLS = ["https://a.example/", "https://b.example/", "https://a.example/"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (CitedSentence("S.", "S.", (0,), (), "said"), ""),
        (CitedSentence("S.", "S.", (0, 1), (), "combined"), "put together from several paragraphs"),
        (CitedSentence("S.", "S.", (0,), (), "not judged"), "not checked: its script or language is not known"),
        (
            CitedSentence("S.", "S.", (0,), (), "partly"),
            "supported in part, not: what it says of its names and numbers",
        ),
        (CitedSentence("S.", "S.", (0,), (), "partly", ("395",)), "supported in part, not: 395"),
        (CitedSentence("S.", "S.", missing=("395", "River Pinine")), "not supported: 395, River Pinine"),
        (CitedSentence("S.", "S."), "not supported: no paragraph has half of its words"),
    ],
)
def test_a_sentence_without_support_is_marked(found: CitedSentence, said: str) -> None:
    assert doubt(found) == said


def test_sentences_are_shown_with_what_supports_them_and_not_with_what_was_looked_at() -> None:
    texts = ["Otters live here.", "It is 395 kilometres long."]
    written = "It is 395 kilometres long. Eva Sand came."
    table = (
        made.articles(nilir="The lead."),
        made.ranked(nilir=[(url, text) for url, text in zip(URLS, texts, strict=False)]),
        GRAPHS.schema.empty_table(),
    )
    lead = made.predictions(prediction("nilir", "lead", written))
    ht = made.predictions(prediction("nilir", "ht", written, [[0.75, 0.25]] * 8))

    (sample,) = read_samples([table], [(ht,)], [(lead,)], count=1, length_shards=1).articles
    assert sample.graph is None
    trained, untrained = sample.written

    assert trained.sentences == [
        SampleSentence("It is 395 kilometres long.", [Citation(1, "https://b.example/", 0.25)]),
        SampleSentence("Eva Sand came.", [], "not supported: Eva Sand"),
    ]
    assert trained.attention is not None
    assert [span.ranks for span in trained.attention.spans] == [(1,), ()]
    assert untrained.sentences == [
        SampleSentence("It is 395 kilometres long.", [Citation(1, "https://b.example/")]),
        SampleSentence("Eva Sand came.", [], "not supported: Eva Sand"),
    ]


def test_pages_add_up_over_their_paragraphs() -> None:
    attention = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], np.float32)

    assert sources(attention, URLS) == [
        AttendedPage("https://a.example/", 0.625),
        AttendedPage("https://b.example/", 0.375),
    ]


def test_long_texts_are_cut_between_words() -> None:
    text = "word " * 2000

    shown, left_out = shorten(text)

    assert shown.endswith("word")
    assert len(shown) <= SHOWN_CHARACTERS
    assert len(shown) + left_out == len(text)
    assert shorten("short") == ("short", 0)
    assert shorten("x" * 5000) == ("x" * SHOWN_CHARACTERS, 1000)


def shard(name: str, *, written: bool = True):  # type: ignore[no-untyped-def]
    rows = [prediction(name, "ht", "New words.", [[1.0], [1.0]])] if written else []
    baselines = [prediction(name, "lead", "Old words here.")] if written else []
    sample = (
        made.articles(**{name: f"The lead of {name}."}),
        made.ranked(**{name: [f"https://{name}.example/"]}),
        made.graphs(name, 1, []),
    )
    return sample, (made.predictions(*rows),), (made.predictions(*baselines),)


def test_samples_are_the_first_articles_with_summaries_and_no_shard_beyond_is_read() -> None:
    def shards(part: int):  # type: ignore[no-untyped-def]
        yield shard("a", written=False)[part]
        yield shard("b")[part]
        yield shard("c")[part]
        raise AssertionError("a shard beyond was read")

    found = read_samples(shards(0), shards(1), shards(2), count=2, length_shards=2)

    assert [(sample.title, sample.lead.text) for sample in found.articles] == [
        ("B", "The lead of b."),
        ("C", "The lead of c."),
    ]
    assert [written.system for written in found.articles[0].written] == ["ht", "lead"]
    assert found.articles[0].written[0].sentences == [SampleSentence("New words.", [], "not supported: New")]
    assert found.articles[0].graph is not None
    assert {system: words.tolist() for system, words in found.summary_words.items()} == {"ht": [2], "lead": [3]}


def test_samples_may_be_none() -> None:
    assert read_samples([], [], [], count=5, length_shards=4).articles == []
    sample, trained, untrained = shard("a")
    assert read_samples([sample], [trained], [untrained], count=0, length_shards=4).articles == []
