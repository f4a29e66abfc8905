"""Champion against challenger: means, the paired verdict, and three examples side by side."""

import json
from collections.abc import Sequence

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

import tests.tasks.reporting.reporting_tables as made
from tasks.evaluation.metrics import metric_name
from tasks.reporting.blocks import Block, Heading, ReportSection, Table, Text
from tasks.reporting.challenge import Contender, challenge_section, gains_by_article
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page
from tests.tasks.reporting.reporting_tables import prediction

HOSTILE = "<script>alert(1)</script> | ![x](http://t.example/i.png) `c` $x^2$ {{ 7 * 7 }}"


def contender(name: str, f1: dict[str, float], system: str = "ht", summary: str = "Words of {}.") -> Contender:
    rows = [prediction(article, system, summary.format(article)) for article in f1]
    return Contender(name, made.scores("repeated-trigrams", "density", **{system: f1}), made.predictions(*rows))


def compared(before: dict[str, float], after: dict[str, float], lead: str = "A lead.") -> ReportSection:
    articles = made.articles(**dict.fromkeys(sorted({*before, *after}), lead))
    champion = contender("version 1", before, summary="Old {}.")
    challenger = contender("version 2", after, summary="New {}.")
    return challenge_section(champion, challenger, articles, "values", seed=1)


def sentences(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Text)]


def cells(found: ReportSection, metric: str) -> list[tuple[str, str]]:
    """Figure and interval of a metric: of champion and challenger, and their difference."""
    table = next(block for block in found.blocks if isinstance(block, Table) and block.columns[0] == "metric")
    row = next(row for row in table.rows if row[0].text == metric_name(metric))
    return [(f"{'*' * cell.strong}{cell.text}", cell.note) for cell in row[1:4]]


def examples(found: ReportSection) -> list[tuple[str, list[str], list[str]]]:
    """Heading, summaries, and what stands above them, of each example."""
    titles = [block.text for block in found.blocks if isinstance(block, Heading) and block.level == 3]
    tables = [block for block in found.blocks if isinstance(block, Table) and block.columns[0] != "metric"]
    return [
        (title, [cell.text for cell in table.rows[0]], list(table.columns))
        for title, table in zip(titles, tables, strict=True)
    ]


def test_a_challenger_that_is_always_better_is_significantly_so() -> None:
    ids = [f"a{number}" for number in range(40)]

    found = compared(dict.fromkeys(ids, 0.25), dict.fromkeys(ids, 0.5))

    assert sentences(found.blocks) == [
        "The challenger (version 2) is 25.00 points of values F1 above the champion (version 1); 95 % interval of the "
        "difference +25.00 to +25.00: significant (p = 0.001)."
    ]
    assert cells(found, "values")[2] == ("*+25.00", "+25.00 to +25.00")
    both = made.scores(champion=dict.fromkeys("ab", 0.25), challenger={"b": 0.5, "a": 0.75})
    assert gains_by_article(both, "values") == [("b", 0.25, 0.5), ("a", 0.25, 0.75)]


def test_a_challenger_that_is_worse_has_a_negative_difference_with_its_ends_in_order() -> None:
    found = compared({"a": 0.75, "b": 0.5}, {"a": 0.5, "b": 0.5})

    assert cells(found, "values")[2] == ("*-12.50", "-25.00 to +0.00")
    (verdict,) = sentences(found.blocks)
    assert verdict.startswith(
        "The challenger (version 2) is 12.50 points of values F1 below the champion (version 1); 95 % interval of the "
        "difference -25.00 to +0.00: not significant"
    )
    assert verdict.endswith(
        "(p = 1.000; scores that differ on 1 article give no p below 1.000). With only 2 test articles these intervals "
        "are rough."
    )


def test_examples_are_the_best_the_middle_and_the_worst_of_the_articles_both_have() -> None:
    before = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5, "only": 1.0}

    found = compared(before, {"a": 1.0, "b": 0.25, "c": 0.5, "d": 0.75, "other": 0.0})

    assert sentences(found.blocks)[1] == ("2 test articles on which only one of them was scored are left out.")
    before_after = ["champion: version 1, 50.00", "challenger: version 2, {}"]
    assert examples(found) == [
        (title, [f"Old {id_}.", f"New {id_}."], [column.format(figure) for column in before_after])
        for title, id_, figure in (
            ("A: where the challenger does best", "a", "100.00"),
            ("C: the middle one", "c", "50.00"),
            ("B: where it does worst", "b", "25.00"),
        )
    ]


def test_one_article_is_one_example_and_two_are_two() -> None:
    one, two = compared({"a": 0.5}, {"a": 0.5}), compared({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 1.0})
    assert [[title[0] for title, *_ in examples(found)] for found in (one, two)] == [["A"], ["B", "A"]]


def test_the_artifact_shows_verdict_intervals_and_examples() -> None:
    text = artifact([compared({"a": 0.25, "b": 0.5}, {"a": 0.5, "b": 0.5})])

    assert text.startswith("## Champion and challenger\n\nThe challenger")
    assert "| **values F1** | 37.50<br>(25.00 to 50.00) | **50.00**<br>(50.00 to 50.00) |" in text
    assert "| champion: version 1, 25.00 | challenger: version 2, 50.00 |" in text
    assert "| Old a. | New a. |" in text
    assert text.count("data:image/png;base64,") == 1


@pytest.mark.parametrize(
    ("metric", "figures"),
    [
        ("rougeL", ["37.50", "*50.00", "+12.50"]),
        ("repeated-trigrams", ["*37.50", "50.00", "+12.50"]),  # the fewer the better
        ("density", ["0.38", "0.50", "+0.12"]),  # a ratio that only describes
    ],
)
def test_figures_are_shown_in_their_unit_and_the_better_one_stands_out(metric: str, figures: list[str]) -> None:
    found = compared({"a": 0.25, "b": 0.5}, {"a": 0.5, "b": 0.5})
    assert [figure for figure, _ in cells(found, metric)] == figures


def test_nothing_of_a_page_is_markup_in_artifact_or_page() -> None:
    scores = {"a": 0.5, "b": 0.25}
    articles = made.articles(a=HOSTILE, b=HOSTILE)
    place = articles.schema.get_field_index("title")
    articles = articles.set_column(place, "title", pa.array([HOSTILE, HOSTILE], pa.string()))
    sides = [contender(name, scores, summary=HOSTILE.replace("{", "{{").replace("}", "}}")) for name in "xy"]

    found = challenge_section(sides[0], sides[1], articles, "values", seed=1)

    tokens = MarkdownIt("commonmark").enable("table").parse(artifact([found]))
    inline = [child for token in tokens for child in token.children or []]
    assert {token.content for token in [*tokens, *inline] if "html" in token.type} == {"<br>"}
    assert not [token for token in inline if token.type == "link_open"]
    assert [token.attrs["src"][:15] for token in inline if token.type == "image"] == ["data:image/png;"]  # type: ignore[index]
    html = page(HOSTILE, [found])
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 8  # page title twice, and per example title, lead and summaries


def test_long_texts_are_shortened_and_the_artifact_is_within_the_limit() -> None:
    text = artifact([compared({"a": 0.5}, {"a": 0.25}, lead="word " * 200_000)])

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
        challenge_section(champion, challenger, made.articles(a="A lead."), "values", seed=1)
