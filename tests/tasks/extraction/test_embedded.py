import json

import pytest

from tasks.extraction.embedded import embedded_text, embedded_tree
from tasks.extraction.engines import extract
from tasks.extraction.markup import parse
from tasks.extraction.settings import ExtractSettings

FIRST = (
    "The mill was built in 1874 by the engineer Thomas Marwick for the Dunlop family, who had bought the land before."
)
SECOND = (
    "It ground barley for the villages of the upper valley until a flood in 1931 destroyed the weir and wheel house."
)


def page(kind: str, data: object, body: str = "<div id='root'></div>") -> str:
    return f"<html><head><title>Mill</title><script {kind}>{json.dumps(data)}</script></head><body>{body}</body></html>"


LD = "type='application/ld+json'"
NEXT = "id='__NEXT_DATA__' type='application/json'"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (LD, {"@type": "NewsArticle", "articleBody": f"{FIRST}\n\n{SECOND}"}),
        (LD, {"@graph": [{"@type": "WebSite"}, {"@type": "Article", "articleBody": f"<p>{FIRST}</p><p>{SECOND}</p>"}]}),
        (LD, {"@type": "DiscussionForumPosting", "text": FIRST, "comment": [{"@type": "Comment", "text": SECOND}]}),
        (LD, {"@type": "Article", "articleBody": f"<!-- 1 --><p>{FIRST}</p><!-- 2 --><p><?php 3 ?>{SECOND}</p>"}),
        (NEXT, {"props": {"post": {"id": "a1", "body": f"<p>{FIRST}</p><p>{SECOND}</p>"}}}),
    ],
)
def test_text_in_the_data_of_an_empty_page_is_read(kind, data):
    found = extract(page(kind, data).encode(), "text/html", None, ExtractSettings())
    assert (found.paragraphs, found.engine, found.title) == ((FIRST, SECOND), "embedded", "Mill")


def test_page_that_shows_its_text_is_read_as_it_is():
    body = f"<article><h1>Mill</h1><p>{FIRST}</p><p>{SECOND}</p></article>"
    other = {"@type": "NewsArticle", "articleBody": f"{SECOND} {SECOND} {FIRST}"}
    found = extract(page(LD, other, body).encode(), "text/html", None, ExtractSettings())
    assert (found.paragraphs, found.engine) == ((FIRST, SECOND), "blocks")


@pytest.mark.parametrize("text", ["{", "[1, 2", '{"articleBody": 7}', '{"text": "short"}', "null", "[" * 5000])
def test_broken_or_empty_data_has_no_text(text):
    assert embedded_text(parse(f"<script {LD}>{text}</script><p>x</p>")) == ""


def test_state_that_a_script_assigns_is_read():
    state = json.dumps({"title": "Mill", "parts": [FIRST, "https://x.test/" + "a" * 200]})
    tree = parse(f"<script>window.__INITIAL_STATE__ = {state};</script><p>x</p>")
    assert embedded_text(tree) == FIRST


def test_nothing_is_no_tree():
    assert embedded_tree("  ") is None
