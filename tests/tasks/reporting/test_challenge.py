"""Champion against challenger: means, the paired verdict, and three examples side by side."""

import json

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

import tests.tasks.reporting.reporting_tables as made
from tasks.evaluation.metrics import metric_name
from tasks.reporting.blocks import Table
from tasks.reporting.challenge import Challenge, Contender, challenge_section, compare_contenders, verdict
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page
from tasks.reporting.settings import ReportSettings
from tests.tasks.reporting.reporting_tables import prediction

HOSTILE = "<script>alert(1)</script> | ![x](http://t.example/i.png) `c` $x^2$ {{ 7 * 7 }}"


def contender(name: str, f1: dict[str, float], system: str = "ht", summary: str = "Words of {}.") -> Contender:
    rows = [prediction(article, system, summary.format(article)) for article in f1]
    return Contender(name, made.scores("repeated-trigrams", "density", **{system: f1}), made.predictions(*rows))


def compared(before: dict[str, float], after: dict[str, float], lead: str = "A lead.") -> Challenge:
    articles = made.articles(**dict.fromkeys(sorted({*before, *after}), lead))
    champion = contender("version 1", before, summary="Old {}.")
    challenger = contender("version 2", after, summary="New {}.")
    return compare_contenders(champion, challenger, articles, ReportSettings(), seed=1)


def test_a_challenger_that_is_always_better_is_significantly_so() -> None:
    ids = [f"a{number}" for number in range(40)]

    found = compared(dict.fromkeys(ids, 0.25), dict.fromkeys(ids, 0.5))

    assert (found.articles, found.left_out, found.significant) == (40, 0, True)
    assert found.decisive.difference.mean == 0.25
    assert found.differences == [0.25] * 40
    assert verdict(found) == (
        "The challenger (version 2) is 25.00 points of values F1 above the champion (version 1); 95 % interval of the "
        "difference +25.00 to +25.00: significant (p = 0.001)."
    )


def test_a_challenger_that_is_worse_has_a_negative_difference_with_its_ends_in_order() -> None:
    found = compared({"a": 0.75, "b": 0.5}, {"a": 0.5, "b": 0.5})

    gap = found.decisive.difference
    assert (gap.mean, gap.low, gap.high) == (-0.125, -0.25, 0.0)
    assert not found.significant
    assert verdict(found).startswith(
        "The challenger (version 2) is 12.50 points of values F1 below the champion (version 1); 95 % interval of the "
        "difference -25.00 to +0.00: not significant"
    )
    assert verdict(found).endswith(
        "(p = 1.000; scores that differ on 1 article give no p below 1.000). With only 2 test articles these intervals "
        "are rough."
    )


def test_examples_are_the_best_the_middle_and_the_worst_of_the_articles_both_have() -> None:
    before = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5, "only": 1.0}

    found = compared(before, {"a": 1.0, "b": 0.25, "c": 0.5, "d": 0.75, "other": 0.0})

    assert (found.articles, found.left_out) == (4, 2)
    assert [(example.title, example.summaries, example.figures) for example in found.examples] == [
        ("A", ("Old a.", "New a."), (0.5, 1.0)),
        ("C", ("Old c.", "New c."), (0.5, 0.5)),
        ("B", ("Old b.", "New b."), (0.5, 0.25)),
    ]


def test_one_article_is_one_example_and_two_are_two() -> None:
    assert [example.title for example in compared({"a": 0.5}, {"a": 0.5}).examples] == ["A"]
    assert [example.title for example in compared({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 1.0}).examples] == ["B", "A"]


def test_the_artifact_shows_decision_verdict_intervals_and_examples() -> None:
    text = artifact(
        [challenge_section(compared({"a": 0.25, "b": 0.5}, {"a": 0.5, "b": 0.5}), "Version 2 was not promoted.")]
    )

    assert text.startswith("## Champion and challenger\n\nVersion 2 was not promoted.\n\nThe challenger")
    assert "| **values F1** | 37.50<br>(25.00 to 50.00) | **50.00**<br>(50.00 to 50.00) |" in text
    assert "| champion: version 1, 25.00 | challenger: version 2, 50.00 |" in text
    assert "| Old a. | New a. |" in text
    assert text.count("data:image/png;base64,") == 1


@pytest.mark.parametrize(
    ("metric", "cells"),
    [
        ("rougeL", ["37.50", "*50.00", "+12.50"]),
        ("repeated-trigrams", ["*37.50", "50.00", "+12.50"]),  # the fewer the better
        ("density", ["0.38", "0.50", "+0.12"]),  # a ratio that only describes
    ],
)
def test_figures_are_shown_in_their_unit_and_the_better_one_stands_out(metric: str, cells: list[str]) -> None:
    found = challenge_section(compared({"a": 0.25, "b": 0.5}, {"a": 0.5, "b": 0.5}))
    table = next(block for block in found.blocks if isinstance(block, Table) and block.columns[0] == "metric")
    row = next(row for row in table.rows if row[0].text == metric_name(metric))
    assert [f"{'*' * cell.strong}{cell.text}" for cell in row[1:4]] == cells


def test_nothing_of_a_page_is_markup_in_artifact_or_page() -> None:
    scores = {"a": 0.5, "b": 0.25}
    articles = made.articles(a=HOSTILE, b=HOSTILE)
    place = articles.schema.get_field_index("title")
    articles = articles.set_column(place, "title", pa.array([HOSTILE, HOSTILE], pa.string()))
    sides = [contender(name, scores, summary=HOSTILE.replace("{", "{{").replace("}", "}}")) for name in "xy"]

    found = compare_contenders(sides[0], sides[1], articles, ReportSettings(), seed=1)

    tokens = MarkdownIt("commonmark").enable("table").parse(artifact([challenge_section(found, HOSTILE)]))
    inline = [child for token in tokens for child in token.children or []]
    assert {token.content for token in [*tokens, *inline] if "html" in token.type} == {"<br>"}
    assert not [token for token in inline if token.type == "link_open"]
    assert [token.attrs["src"][:15] for token in inline if token.type == "image"] == ["data:image/png;"]  # type: ignore[index]
    html = page(HOSTILE, [challenge_section(found, HOSTILE)])
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 9  # page title twice, decision, and per example title, lead and summaries


def test_long_texts_are_shortened_and_the_artifact_is_within_the_limit() -> None:
    text = artifact([challenge_section(compared({"a": 0.5}, {"a": 0.25}, lead="word " * 200_000))])

    assert len(json.dumps(text).encode()) <= 512 * 1024
    assert "more characters" in text


@pytest.mark.parametrize(
    ("champion", "challenger", "message"),
    [
        (contender("x", {"a": 0.5}), contender("y", {"b": 0.5}), "x and y have no common test article"),
        (
            Contender("x", made.scores(lead={"a": 0.5}, ht={"a": 0.5}), made.predictions()),
            contender("y", {"a": 0.5}),
            r"the scores of x are of the systems \['ht', 'lead'\]: expected one system",
        ),
        (
            Contender("x", made.scores(ht={"a": 0.5}), made.predictions()),
            contender("y", {"a": 0.5}),
            r"the predictions of x are of the systems \[\]",
        ),
        (
            Contender("x", made.scores(ht={"a": 0.5}), contender("", {"b": 0.5}).predictions),
            contender("y", {"a": 0.5}),
            r"the predictions of x lack the scored articles \['a'",
        ),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(champion: Contender, challenger: Contender, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_contenders(champion, challenger, made.articles(a="A lead."), ReportSettings(), seed=1)
