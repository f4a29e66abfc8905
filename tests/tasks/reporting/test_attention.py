"""The picture of paragraph attention: what it is drawn of, and that any token or host can be drawn."""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from tasks.evaluation.citations import CitedSentence
from tasks.reporting.attention import (
    Span,
    SummaryAttention,
    attention_picture,
    drawn_tokens,
    host_of,
    lay_out,
    readable,
)
from tasks.reporting.blocks import Quote
from tasks.reporting.samples import Sample, Samples, SampleSummary, attention_section

pytestmark = pytest.mark.integration

DARK, ORANGE = (8, 48, 107), (192, 86, 33)  # the most of a token's attention, and a citation's box


def attention(tokens: int, paragraphs: int, token: str = "\u2581word") -> SummaryAttention:
    weights = np.full((tokens, paragraphs), 1 / paragraphs, np.float32)
    urls = [f"https://host{number}.example/" for number in range(paragraphs)]
    laid_out = lay_out(" ".join(["word"] * tokens), [token] * tokens, weights, urls, [CitedSentence("word", "word")])
    assert laid_out is not None
    return laid_out


def picture(drawn: SummaryAttention) -> Image.Image:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a letter that the font lacks would warn
        return Image.open(io.BytesIO(attention_picture(drawn))).convert("RGB")


def count(image: Image.Image, color: tuple[int, int, int]) -> int:
    """Pixels of about a colour; the palette moves it a little."""
    pixels = np.asarray(image, np.int64)
    return int((np.abs(pixels - color).max(axis=-1) < 12).sum())


def test_attention_is_laid_out_by_token_host_and_sentence() -> None:
    weights = np.array([[1, 0], [1, 0], [0.25, 0.75]], np.float32)

    cited = [CitedSentence("Old bridge.", "Old bridge.", (0, 1)), CitedSentence("It.", "It.")]
    pieces = ["\u2581Old", "\u2581bridge.", "\u2581It."]

    found = lay_out("Old bridge. It.", pieces, weights, ["https://a.example/x"], cited)

    assert found is not None
    assert found.tokens == ["Old", "bridge.", "It."]
    assert found.hosts == ["a.example", ""]
    assert found.spans == [Span("Old bridge.", 0, 2, (0, 1)), Span("It.", 2, 3)]


def test_a_system_without_attention_has_none() -> None:
    assert lay_out("Words.", [], np.zeros((0, 0), np.float32), ["https://a.example/"], []) is None


def test_a_piece_is_read_as_the_beginning_of_a_word_or_as_its_going_on() -> None:
    pieces = ["\u2581the", "bri", "dge", ".", "\u2581", "<Q>", "\u25811982", "8", "\u2581a\u2581b"]

    assert [readable(piece) for piece in pieces] == [
        "the",
        "\u00b7bri",
        "\u00b7dge",
        ".",
        "\u2423",
        "<Q>",
        "1982",
        "\u00b78",
        "a b",
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://A.example:8080/x", "a.example"), ("javascript:alert(1)", ""), ("https://[", ""), ("", "")],
)
def test_a_page_is_named_by_its_host(url: str, host: str) -> None:
    assert host_of(url) == host


def test_what_is_looked_at_is_dark_in_the_row_of_its_rank_and_the_column_of_its_token() -> None:
    def darkest(rank: int, token: int) -> tuple[int, int]:
        looked = np.zeros((10, 4), np.float32)
        looked[token, rank] = 1
        scale = 800  # the scale at the right shows the same colours
        near = np.abs(np.asarray(picture(SummaryAttention(["word"] * 10, looked, ["h"] * 4, [])), np.int64) - DARK) < 12
        rows, columns = np.nonzero(near.all(axis=-1)[:, :scale])
        return int(np.median(rows)), int(np.median(columns))

    first, below, right = darkest(0, 2), darkest(3, 2), darkest(0, 7)

    assert below[0] > first[0] + 3 * 10  # a row is more than ten pixels high, a column as wide
    assert right[1] > first[1] + 5 * 10
    assert (below[1], right[0]) == (first[1], first[0])


def test_names_of_rows_are_whole_beside_a_very_short_summary() -> None:
    host = "museum.city-archive.org"
    drawn = picture(SummaryAttention(["word"] * 2, np.full((2, 1), 1, np.float32), [host], []))
    assert (np.asarray(drawn)[:, :5] == 255).all()  # a name that is cut reaches the edge


def test_a_box_stands_around_what_a_sentence_cites() -> None:
    plain = attention(10, 4)
    boxed = SummaryAttention(plain.tokens, plain.weights, plain.hosts, [Span("s", 2, 7, (1,))])
    twice = SummaryAttention(plain.tokens, plain.weights, plain.hosts, [Span("s", 2, 7, (1, 3))])
    unboxed = SummaryAttention(plain.tokens, plain.weights, plain.hosts, [Span("s", 2, 7)])

    assert count(picture(boxed), ORANGE) > 500
    assert count(picture(twice), ORANGE) > 1.5 * count(picture(boxed), ORANGE)
    assert count(picture(unboxed), ORANGE) == 0


def test_what_is_cited_has_a_row_of_its_own_among_many_paragraphs() -> None:
    plain = attention(10, 40)  # all looked at alike: the first fifteen would have rows
    boxed = SummaryAttention(plain.tokens, plain.weights, plain.hosts, [Span("s", 2, 7, (39,))])

    assert count(picture(boxed), ORANGE) > 500


def test_long_summaries_of_many_paragraphs_stay_within_a_page() -> None:
    long = attention(1000, 60)

    image = picture(long)

    assert drawn_tokens(long) == 180
    assert drawn_tokens(attention(5, 2)) == 5
    assert image.width == 864
    assert image.height < 2700
    assert len(attention_picture(long)) < 150_000


@pytest.mark.parametrize(
    "token", ["$x^2$", "$\\frac{", "\u7dad\u57fa", "\U0001f600", "\x1b[31m\u202e", "<script>", "a" * 500, ""]
)
def test_any_token_and_any_host_can_be_drawn(token: str) -> None:
    weights = np.ones((3, 1), np.float32)

    assert picture(SummaryAttention([token] * 3, weights, [token], [Span("s", 0, 3, (0,))])).width == 864


def test_the_section_names_system_title_and_what_is_left_out() -> None:
    written = SampleSummary([], system="ht", attention=attention(200, 2))
    found = Samples([Sample("A title", Quote("lead"), [written, SampleSummary([], system="lead")])], {})

    legend, heading, drawn = attention_section(found).blocks

    assert (legend.kind, heading.kind, drawn.kind) == ("text", "heading", "picture")
    assert drawn.caption == (  # type: ignore[union-attr]
        "Paragraph attention of ht while it wrote about “A title”, the first 180 of 200 tokens"
    )
