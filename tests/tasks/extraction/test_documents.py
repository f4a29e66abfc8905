from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.recipes import DropCount
from storage.schemas import DOCUMENTS, FRONTIER, PAGES
from tasks.extraction import documents
from tasks.extraction.documents import HostRepeats
from tasks.extraction.extractor import Extractor
from tasks.extraction.settings import ExtractSettings

pytestmark = pytest.mark.integration

RIVER = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
BRIDGE = "The old bridge was built in 1894 by the county, and it carried every cart that went to the market."
MARSH = "Below the town the valley widens into marshes, which are under water for most of each winter."
NOTICE = "The County Courier is a member of the press council."


def frontier(*rows: tuple) -> pa.Table:
    names = ["article_id", "article_shard", "url", "provenance", "rank", "drop_reason"]
    full = [dict(zip(names, row, strict=True)) | {"host": row[2].split("/")[2], "host_shard": 0} for row in rows]
    return pa.Table.from_pylist(full, schema=FRONTIER.schema)


def page(url: str, text: str | None, reason: str | None = None, **columns) -> dict:
    body = None if text is None else text.encode()
    defaults = {"url": url, "host": url.split("/")[2], "reason": reason, "mime": "text/html", "body": body}
    return defaults | columns


def pages(*rows: dict) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=PAGES.schema)


A, B, C, D = (f"https://severn.test/{name}" for name in "abcd")


def extract_documents(rows: pa.Table, crawled: pa.Table, settings: ExtractSettings) -> pa.Table:
    return pa.Table.from_batches(
        documents.extract_documents(rows, crawled.to_batches(), settings), schema=DOCUMENTS.schema
    )


def html(*texts: str) -> str:
    return "<title>Page</title><body>" + "".join(f"<p>{text}</p>" for text in texts)


def test_every_article_and_url_has_its_row_in_order():
    table = extract_documents(
        frontier(
            ("f2", 1, A, "citation", 0, None),
            ("f1", 1, C, "search", 0, None),
            ("f1", 1, B, "citation", 1, None),
            ("f1", 1, A, "citation", 0, None),
            ("f9", 0, A, "search", 3, None),
            ("f1", 1, B, "search", 5, None),  # cited already
            ("f1", 1, D, "search", 6, None),
            ("f1", 1, "https://severn.test/dropped", "citation", 2, "scheme"),
        ),
        pages(page(A, html(RIVER, BRIDGE)), page(B, None, "not_found"), page(C, f"{BRIDGE}\n", mime="text/plain")),
        ExtractSettings(),
    )
    assert table.schema == DOCUMENTS.schema
    columns = ["article_shard", "article_id", "provenance", "rank", "url", "title", "paragraphs", "engine", "reason"]
    assert [tuple(row[column] for column in columns) for row in table.to_pylist()] == [
        (0, "f9", "search", 3, A, "Page", [RIVER, BRIDGE], "blocks", None),
        (1, "f1", "citation", 0, A, "Page", [RIVER, BRIDGE], "blocks", None),
        (1, "f1", "citation", 1, B, None, [], None, "not_found"),
        (1, "f1", "search", 0, C, None, [BRIDGE], "plain", None),
        (1, "f1", "search", 6, D, None, [], None, "page_missing"),
        (1, "f2", "citation", 0, A, "Page", [RIVER, BRIDGE], "blocks", None),
    ]
    assert table["boilerplate"].to_pylist() == [[False] * 2, [False] * 2, [], [False], [], [False] * 2]


def test_line_on_three_pages_of_a_host_is_marked_and_kept():
    rows = [("f1", 0, url, "citation", rank, None) for rank, url in enumerate((A, B, C, "https://wye.test/"))]
    crawled = pages(
        page(A, html(RIVER, NOTICE)),
        page(B, html(BRIDGE, NOTICE)),
        page(C, html(MARSH, NOTICE)),
        page("https://wye.test/", html(RIVER, NOTICE)),
    )
    marked = extract_documents(frontier(*rows), crawled, ExtractSettings()).to_pylist()
    assert [row["paragraphs"][1] for row in marked] == [NOTICE] * 4
    assert [row["boilerplate"] for row in marked] == [[False, True]] * 3 + [[False, False]]


def test_bad_page_costs_no_other_page(monkeypatch):
    monkeypatch.setattr("tasks.extraction.documents.Extractor", partial(Extractor, cpu_seconds=1.0))
    slow = "<p " + " ".join(f"a{i}=x" for i in range(100_000)) + ">text</p>"
    table = extract_documents(
        frontier(*[("f1", 0, url, "citation", rank, None) for rank, url in enumerate((A, B, C))]),
        pages(page(A, html(RIVER)), page(B, slow), page(C, html(BRIDGE))),
        ExtractSettings(),
    )
    assert table["reason"].to_pylist() == [None, "extraction_timeout", None]
    assert table["paragraphs"].to_pylist() == [[RIVER], [], [BRIDGE]]


def test_empty_shard():
    table = extract_documents(FRONTIER.schema.empty_table(), PAGES.schema.empty_table(), ExtractSettings())
    assert table.schema == DOCUMENTS.schema and table.num_rows == 0


def test_same_text_twice_gives_the_same_table():
    arguments = (
        frontier(("f1", 0, A, "citation", 0, None)),
        pages(page(A, html(RIVER, BRIDGE, MARSH))),
        ExtractSettings(),
    )
    assert extract_documents(*arguments).equals(extract_documents(*arguments))


def repeated(lists: list[list[str]], pages: int) -> set[str]:
    """Return the texts that are marked on any page."""
    repeats = HostRepeats(pages)
    for paragraphs in lists:
        repeats.add(paragraphs)
    return {text for texts in lists for text, marked in zip(texts, repeats.marks(texts), strict=True) if marked}


def test_repeated_lines_counted_by_hand():
    lists = [["a", "b", "b"], ["a", "c"], ["a", "b"], ["a", "b"]]  # the last two are one page under two URLs
    assert repeated(lists, pages=3) == {"a"}
    assert repeated(lists, pages=2) == {"a", "b"}
    assert repeated([["x" * 301, str(i)] for i in range(9)], pages=2) == set()
    assert repeated([["x" * 300, str(i)] for i in range(9)], pages=9) == {"x" * 300}


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=6), st.integers(2, 4))
def test_asking_for_more_pages_marks_less(lists, pages_asked):
    more, fewer = (repeated(lists, n) for n in (pages_asked, pages_asked + 1))
    assert fewer <= more
    assert repeated(lists + lists, pages_asked) == more


def test_rights_language_quality_and_personal_data_are_columns():
    licensed = f'<head><meta name="robots" content="noai"></head>{html(RIVER, BRIDGE, "Write to ada@severn.test.")}'
    licensed += '<a rel="license" href="https://creativecommons.org/licenses/by/4.0/">CC</a>'
    wiki, gone = "https://en.wikivoyage.org/wiki/Severn", "https://severn.test/gone"
    table = extract_documents(
        frontier(*[("f1", 0, url, "citation", rank, None) for rank, url in enumerate([A, B, C, D, wiki, gone])]),
        pages(
            page(A, licensed, rights_headers=["tdm-reservation: 1"]),
            page(B, None, "robots_disallowed"),
            page(C, html(RIVER), rights_headers=None),
            page(
                D, licensed, rights_headers=['link: <https://creativecommons.org/licenses/by-sa/4.0/>; rel="license"']
            ),
            page("https://severn.test/wiki", html(RIVER)) | {"url": wiki, "final_url": wiki},
        ),
        ExtractSettings(),
    )
    rows = {row["url"]: row for row in table.to_pylist()}
    rights = ("licence", "licence_source", "reservations")
    assert {url: tuple(row[name] for name in rights) for url, row in rows.items()} == {
        A: ("CC-BY-4.0", "rel-license", ["header tdm-reservation", "meta noai"]),
        B: (None, None, ["robots.txt"]),
        C: (None, None, []),
        D: (None, "ambiguous", ["meta noai"]),
        wiki: ("CC-BY-SA", "domain", []),
        gone: (None, None, []),
    }
    assert [(row["language"], row["personal"] and row["personal"]["emails"]) for row in rows.values()] == [
        ("en", 1),
        (None, None),
        ("en", 0),
        ("en", 1),
        ("en", 0),
        (None, None),
    ]
    assert rows[C]["quality"]["words"] == len(RIVER.split())


def test_pages_with_text_encoded_twice_are_counted_once_however_many_articles_cite_them():
    twice = BRIDGE.replace("by the county", "by JosÃ© for Â£300")
    batches = list(
        documents.extract_documents(
            frontier(*(("f1", shard, url, "citation", 0, None) for shard in (0, 1) for url in (A, B))),
            pages(page(A, html(RIVER, twice)), page(B, html(RIVER, BRIDGE))).to_batches(),
            ExtractSettings(),
        )
    )
    drops = DropCount(DOCUMENTS)
    assert len(list(drops.batches(batches))) == len(batches)
    assert drops.tally() == {"pages with text encoded twice": 1, "pieces of such text mended": 2}
    assert "José for £300" in batches[0]["paragraphs"].to_pylist()[0][1]
