"""Artifacts: nothing from a page is Markdown, and none is larger than the server takes."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tasks.reporting.blocks import (
    AttendedPage,
    Cell,
    Citation,
    Cited,
    Heading,
    Lines,
    Picture,
    Quote,
    ReportSection,
    SampleSentence,
    Table,
    Text,
    clean,
    web_url,
)
from tasks.reporting.markdown import LIMIT, artifact, escape, link, render

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) ![i](http://t/i.png) `c` **b** | p &amp; # 1. - > ~~s~~"


def inline(text: str) -> list[tuple[str, str]]:
    """The inline tokens of the one paragraph that a text is."""
    opening, content, closing = MARKDOWN.parse(text)
    assert (opening.type, closing.type) == ("paragraph_open", "paragraph_close")
    return [(token.type, token.content) for token in content.children or []]


@given(st.text(st.sampled_from(r"""<>&;`*_[]()!|\#-+.~:/"'{}=1ax @$^""")))
@example(HOSTILE)
@example("1. a")
@example("    indented")
@example("&copy; &#60;")
@example("a\n\n# b\u2028c\x1b[31m\u202e")
def test_a_text_shows_as_it_is(text: str) -> None:
    shown = clean(text)
    if shown:
        assert all(kind in ("text", "text_special") for kind, _ in inline(escape(text)))
        assert "".join(content for _, content in inline(escape(text))) == shown
    else:
        assert escape(text) == ""


def test_prose_stays_readable() -> None:
    prose = 'Al-Thani said (in 2010): "4.30 % at 10:30, why not?" It\'s so; yes!'
    assert escape(prose) == prose


def test_no_address_becomes_a_link_and_no_number_a_list() -> None:
    assert escape("www.a.b http://c.d e@f.g") == r"www\.a\.b http\://c\.d e\@f\.g"
    assert (escape("1. a"), escape("12) b"), escape("- c")) == (r"1\. a", r"12\) b", r"\- c")


def test_no_control_character_or_direction_mark_is_shown() -> None:
    assert clean("a\x1b[31mb\u202ec\x00\n d") == "a [31mb c d"


def test_a_cell_cannot_leave_its_cell() -> None:
    table = Table("cap|tion", ["a|b", "n"], [[Cell(HOSTILE, note="1|2"), Cell("5", strong=True)]], frozenset({1}))

    tokens = MARKDOWN.parse(render(table))

    assert sum(token.type == "td_open" for token in tokens) == 2
    assert sum(token.type == "th_open" for token in tokens) == 2
    cell = [token.children or [] for token in tokens if token.type == "inline"][3]
    assert "".join(" " if child.content == "<br>" else child.content for child in cell) == f"{clean(HOSTILE)} (1|2)"
    assert {child.content for child in cell if "html" in child.type} == {"<br>"}
    assert not any("html" in token.type for token in tokens)


@given(st.text(st.sampled_from(r"""<>&;`*_[]()!|\#-+.~:/"'{}=1ax br"""), max_size=300))
def test_a_long_cell_is_broken_into_lines_and_stays_one_cell(text: str) -> None:
    tokens = MARKDOWN.parse(render(Table("c", ["a"], [[Cell(text)]])))

    cell = [token.children or [] for token in tokens if token.type == "inline"][2]
    lines = "".join("\n" if child.type == "html_inline" else child.content for child in cell).split("\n")
    assert {child.content for child in cell if child.type == "html_inline"} <= {"<br>"}
    assert all(len(line) <= 42 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "ftp://e.example/", "//e.example/", "http:///x", "https://[", ""]
)
def test_what_is_no_web_address_is_no_link(url: str) -> None:
    assert web_url(url) is None
    assert "](" not in link(url)


@given(st.text(st.sampled_from(r"""<>&;`*_[]()!|\#"'{}= ax/?%""")))
def test_a_link_leads_to_its_page_and_ends_where_it_ends(rest: str) -> None:
    url = f"https://e.example/{clean(rest)}".strip()
    kinds = [kind for kind, _ in inline(f"{link(url)} after")]

    assert kinds[0] == "link_open"
    assert kinds.count("link_close") == 1
    assert "html_inline" not in kinds
    assert "image" not in kinds
    assert inline(f"{link(url)} after")[-1] == ("text", " after")
    target = MARKDOWN.parse(link(url))[1].children[0].attrs["href"]  # type: ignore[index]
    assert str(target).startswith("https://e.example/")


def test_a_summary_names_what_is_cited_for_each_sentence_and_what_is_not_supported() -> None:
    block = Cited(
        [
            SampleSentence("One. #1", [Citation(2, "https://e.example/p?a=1", 0.414), Citation(4, None, 0.0)]),
            SampleSentence("Two.", [Citation(0, "javascript:x")], "supported in part, not: *A*"),
            SampleSentence("3", [], "not supported: 395, River Pinine"),
        ],
        [AttendedPage("https://e.example/q", 0.5)],
        12,
    )

    assert render(block) == (
        "- One. \\#1 *[e.example/p?a=1](https://e.example/p?a=1), paragraph 3, 41 %; paragraph 5, 0 %*\n"
        "- Two. *javascript\\:x, paragraph 1* **supported in part, not: \\*A\\***\n"
        "- 3 **not supported: 395, River Pinine** *… 12 more characters*\n\n"
        "Most attention: [e.example/q](https://e.example/q) 50 %"
    )


def test_an_artifact_is_its_sections() -> None:
    text = artifact(
        [
            ReportSection(
                "a", "Title", [Text("Words."), Heading("Part", 4), Quote("q"), Lines(["a: 1"]), Picture("P", b"png")]
            )
        ]
    )

    assert text == ("## Title\n\nWords.\n\n#### Part\n\n> q\n\n- a: 1\n\n![P](data:image/png;base64,cG5n)\n\nP\n")


def test_pictures_are_left_out_largest_first_until_the_artifact_is_small_enough() -> None:
    large, small = Picture("Large", bytes(450_000)), Picture("Small", bytes(90_000))

    text = artifact([ReportSection("a", "Title", [small, large, Text("Words.")])])

    assert len(text.encode()) <= LIMIT
    assert "![Small]" in text
    assert "![Large]" not in text
    assert "*Picture left out to keep this artifact below 512 KiB; the report has it: Large*" in text
    assert text.endswith("Words.\n")


@pytest.mark.parametrize("limit", [300, 5000, 20_000])
def test_words_are_left_out_where_even_without_pictures_it_is_too_large(limit: int) -> None:
    blocks = [Quote("ж" * 1000, 0) for _ in range(40)]

    text = artifact([ReportSection("a", "Title", [Picture("P", bytes(1000)), *blocks])], limit)

    assert len(json.dumps(text, ensure_ascii=False).encode()) <= limit
    assert text.endswith("*The rest is left out to keep this artifact below 512 KiB; the report has it.*\n")


def test_a_text_of_any_size_gives_an_artifact_within_the_limit() -> None:
    assert len(artifact([ReportSection("a", "T", [Quote('"|' * 400_000)])]).encode()) <= 512 * 1024
