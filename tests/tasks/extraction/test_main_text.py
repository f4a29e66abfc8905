import numpy as np
import pytest

from tasks.extraction import main_text as module
from tasks.extraction.blocks import read_page
from tasks.extraction.main_text import main_text, taken
from tasks.extraction.markup import parse

LONG = "The weir was built by the people of the vale in the spring of 1874, and it stands to this day. " * 3
TEASER = "<article class='teaser'><h2>More</h2><p>A story of the mill in seven words.</p></article>"
ARTICLE = '<meta property="og:type" content="article">'
FORUM = '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>'


def taken_of(body: str, head: str, probability: float = 0.9, name: str = "page") -> list[str]:
    tree = parse(f"<html><head>{head}</head><body class='{name}'>{body}</body></html>")
    assert tree is not None
    page = read_page(tree)
    none = np.zeros(len(page.blocks), dtype=bool)
    kept = taken(page, np.full(len(page.blocks), probability), none)
    return [block.text for block, keep in zip(page.blocks, kept, strict=True) if keep]


def story(name: str = "story") -> str:
    return f"<article class='{name}'><p>{LONG}</p></article>"


@pytest.mark.parametrize(
    ("body", "head", "teasers"),
    [
        (story() + TEASER * 3, ARTICLE, 0),
        (story() + TEASER * 2, ARTICLE, 2),  # too few
        (story() + TEASER * 3, "", 3),  # no article
        (story() + TEASER * 3, ARTICLE + FORUM, 3),  # posts of a forum
        (TEASER * 3 + story(), ARTICLE, 3),  # before the article
        (story("teaser") + TEASER * 3, ARTICLE, 3),  # the parts of one article
        (TEASER * 9, ARTICLE, 9),  # no article among them
        (f"<p>{LONG}</p><p>{LONG}</p>" + story() + TEASER * 3, ARTICLE, 3),  # most of the page is elsewhere
    ],
)
def test_teasers_of_other_articles_are_no_part_of_an_article(body, head, teasers):
    texts = taken_of(body, head)
    assert texts.count("A story of the mill in seven words.") == teasers
    assert (LONG.strip() in texts) == (LONG in body)


@pytest.mark.parametrize(
    ("head", "probability", "count"),
    [
        (ARTICLE, 0.75, 0),
        (ARTICLE, 0.85, 3),  # surely content
        ("", 0.75, 3),  # no article
        (ARTICLE + FORUM, 0.75, 3),  # posts are the content of a forum
    ],
)
def test_comments_are_no_part_of_an_article_unless_they_are_surely_content(head, probability, count):
    comment = "The bell of it was lost at sea."
    body = f"<p>{LONG}</p><div class='comments'>{3 * f'<p>{comment}</p>'}</div>"
    assert taken_of(body, head, probability) == [LONG.strip(), *[comment] * count]


def test_the_class_of_the_body_makes_no_comments():
    assert taken_of(f"<p>{LONG}</p>", ARTICLE, 0.75, "comments-open") == [LONG.strip()]


@pytest.mark.parametrize(("probability", "count"), [(0.85, 2), (0.75, 1)])
def test_a_block_of_an_article_that_density_leaves_out_is_taken_if_it_is_sure(probability, count):
    head = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    tree = parse(f"<html><head>{head}</head><body><p>{LONG}</p><p>It is open to all.</p></body></html>")
    assert tree is not None
    kept = taken(read_page(tree), np.array([0.9, probability]), np.array([True, False]))
    assert kept.sum() == count


@pytest.mark.parametrize(
    ("paragraphs", "lines", "around", "count"),
    [
        (30, 10, 0, 40),  # 1,730 words, of which the classifier takes a third: all of it is the document
        (20, 10, 0, 10),  # too short for a document
        (30, 10, 100, 30),  # density leaves out some: only the prose is taken
        (30, 300, 100, 10),  # and most of what it takes is no prose
    ],
)
def test_the_text_of_a_long_plain_document_is_taken(paragraphs, lines, around, count):
    body = f"<p>{LONG}</p>" * paragraphs + "<p>Mill 1874</p>" * lines + "<p>Home page</p>" * around
    tree = parse(f"<html><body>{body}</body></html>")
    assert tree is not None
    page = read_page(tree)
    probabilities = np.full(len(page.blocks), 0.1)
    probabilities[:10] = 0.99
    dense = np.arange(len(page.blocks)) < paragraphs + lines
    assert taken(page, probabilities, dense).sum() == count


@pytest.mark.parametrize(
    ("attribute", "kept"),
    [
        ("", [1, 0, 1, 0, 1, 0, 1]),  # long prose between prose is taken, the link is not
        ("class='page'", [1, 0, 0, 0, 1, 1, 1]),  # the classifier knows pages with classes
    ],
)
def test_a_page_without_classes_is_read_by_density_too(attribute, kept):
    long = f"<p>{LONG * 2}</p>"  # 120 words
    short = f"<p>{LONG}</p>"  # 60 words, as a comment may have
    link = "<p><a href='/'>The mill in the valley has a new owner</a></p>"
    body = f"<div {attribute}>{long}{link}{long}{short}{long}{link}<p>Mill 1874</p></div>"
    tree = parse(f"<html><body>{body}</body></html>")
    assert tree is not None
    page = read_page(tree)
    probabilities = np.array([0.9, 0.1, 0.2, 0.2, 0.9, 0.8, 0.8])
    dense = np.array([1, 0, 1, 1, 1, 0, 0], dtype=bool)
    assert taken(page, probabilities, dense).astype(int).tolist() == kept


def test_links_of_a_list_without_classes_are_its_text():
    link = "<li><a href='/'>The mill in the valley has a new owner and a new wheel</a></li>"
    tree = parse(f"<html><body><p>{LONG}</p><ul>{link * 6}</ul></body></html>")  # 60 words, and 72 in links
    assert tree is not None
    dense = np.arange(7) == 0
    assert taken(read_page(tree), np.full(7, 0.9), dense).all()


class Sure:
    """A classifier that takes all blocks for content."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.ones(len(rows))


@pytest.mark.parametrize(
    ("body", "bare"),
    [
        (f"<h1>Weir</h1><p>{LONG}</p>", True),
        (f"<h1>Weir</h1><p id='text'>{LONG}</p>", True),
        (f"<div><p>{LONG}</p><div class='side'></div></div>", False),
    ],
)
def test_a_page_without_classes_has_a_classifier_of_its_own(body, bare, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "_model", lambda kind: asked.append(kind) or Sure())
    tree = parse(f"<html><body>{body}</body></html>")
    assert tree is not None
    assert LONG.strip() in main_text(tree, "Weir")
    assert asked == [bare]


@pytest.mark.parametrize(("answers", "count"), [(2, 42), (3, 10)])  # of 40 paragraphs; more than one in twenty
def test_what_readers_write_is_no_document_however_long_it_is(answers, count):
    body = f"<p>{LONG}</p>" * 40 + "<p>Lorne says:</p>" * answers
    tree = parse(f"<html><body>{body}</body></html>")
    assert tree is not None
    page = read_page(tree)
    probabilities = np.full(len(page.blocks), 0.1)
    probabilities[:10] = 0.99
    assert taken(page, probabilities, np.ones(len(page.blocks), dtype=bool)).sum() == count


def test_long_comments_between_others_are_not_taken():
    comment = f"<p>{LONG * 2}</p>"
    tree = parse(f"<html><body>{comment}<p>Log in to reply</p>{comment}<p>Reply</p>{comment}</body></html>")
    assert tree is not None
    probabilities, dense = np.array([0.9, 0.1, 0.2, 0.1, 0.9]), np.ones(5, dtype=bool)
    assert taken(read_page(tree), probabilities, dense).tolist() == [True, False, False, False, True]
