"""The main text of a page: its blocks that a classifier of their looks and surroundings takes for content.

The classifier is boosted trees (Friedman 2001; LightGBM), learned from pages of seven kinds and from small plain ones
(`benchmarks/main_text.py`). The classifier of pages without any class, such as those made from Markdown, was learned
from the same pages without their design. It takes the blocks of a page with the greatest expected F1 of words (Lewis
1995). If a page declares itself an article, it takes only blocks that are very likely or also weigh enough by
`density.py`, which learns nothing. It takes no teasers of other articles, and no comments that are not very likely."""

import gzip
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from lxml import html
from numpy.typing import NDArray

from tasks.engine.trees import Trees
from tasks.extraction.block_features import features
from tasks.extraction.blocks import MARKS, Block, Page, read_page
from tasks.extraction.density import dense

Probabilities = NDArray[np.float64]
MODELS = {False: "main_text.txt.gz", True: "main_text_bare.txt.gz"}  # by whether the page has no classes
_LEAST = 0.4  # a block of lower probability is taken only if the page has none above it
_AGREED = 0.7  # F1 of words, from which an article's text is what both the classifier and density take
_SURE = 0.8  # a block of this probability is content, also against density
_ARTICLES, _SEVERAL = frozenset({"article", "og_article"}), frozenset({"forum", "list"})  # what a page declares
_COMMENT = MARKS.index("comment")
_MAIN = 0.4  # least share of the taken words in the page's own article
_MANY = 3  # least number of elements of one name that are teasers of other articles
# A page is a document if the classifier takes less than a part of it, though density takes nearly all of its words, or
# many words of prose that are most of what density takes. On the pages of WCXB and of news this changes nothing.
_DOCUMENT, _PLAIN, _PART = 1500, 0.95, 0.7  # words; share that density takes; part
_PROSE_DOCUMENTS = ((1500, 0.8, 0.5), (3000, 0.8, 0.7), (10_000, 0.3, 0.7))  # words of prose; their share; part
_PROSE_WORDS = 12  # of a paragraph, at least
_SENTENCE_END = re.compile(r"[.!?][\"”’)\]]{0,3}(?:\d{1,3}|\[\d{1,3}\])?\Z")  # also before the mark of a note
_WORDS = tomllib.loads(files("tasks.extraction").joinpath("main_text.toml").read_text(encoding="utf-8"))
_TALK = re.compile("|".join(_WORDS["talk"]), re.IGNORECASE)
_TALKING = 0.05  # short blocks a paragraph of prose from which a page is a discussion of readers
_SHORT = 80  # characters
_LONG = 90  # words of a paragraph; most comments are shorter
_LINKS = 0.7  # of a block's characters: it is a list of links, or the headline of another article
_NO_VALUE = "–"
_DATA = 3  # cells with text in a row; empty cells between fewer are mostly space
_CELL = 100  # characters; the cells of a row are one line where none is longer
_MOST_BLOCKS = 50_000  # blocks of a page; the rest is left out


@cache
def _model(bare: bool) -> Trees:
    packed = files("tasks.extraction").joinpath(MODELS[bare]).read_bytes()
    return Trees(gzip.decompress(packed).decode("ascii"))


def load() -> None:
    """Read the classifiers, so that the first page need not wait for them."""
    for bare in MODELS:
        _model(bare)


def main_text(tree: html.HtmlElement, title: str) -> list[str]:
    """Return the lines of a page's main text; `visible.show` took from its tree what is hidden. `title`: the page's,
    empty if it has none."""
    page = read_page(tree)
    _shorten(page)
    if not page.blocks:
        return []
    weighed = dense(page)
    probability = _model(page.bare).predict(features(page, title, weighed))
    return lines(page, taken(page, probability, weighed))


def _shorten(page: Page) -> None:
    if len(page.blocks) > _MOST_BLOCKS:
        del page.blocks[_MOST_BLOCKS:]
        for element in page.elements:
            element.start, element.end = (min(edge, _MOST_BLOCKS) for edge in (element.start, element.end))


def taken(page: Page, probability: Probabilities, weighed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which blocks of a page to take. `probability`: of each that it is content; `weighed`: whether density
    takes it."""
    words = np.array([len(block.text.split()) for block in page.blocks], dtype=np.float64)
    learned = chosen(probability, words)
    if "article" in page.declared:
        both = learned & weighed
        agreed = 2 * words[both].sum() >= _AGREED * (words[learned].sum() + words[weighed].sum()) > 0
        learned = both | (learned & (probability >= _SURE)) if agreed else learned
    if page.declared & _ARTICLES and not page.declared & _SEVERAL:
        learned &= ~(_comments(page) & (probability < _SURE))
        learned &= ~_teasers(page, words * learned)
    document = _document(page, words, learned, weighed)  # by what the classifier itself takes
    if page.bare:
        learned = _plainly(page, words, learned, weighed)
    return learned | document


def _plainly(
    page: Page, words: NDArray[np.float64], learned: NDArray[np.bool_], weighed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return what to take of a page whose elements have no classes. Long paragraphs of prose between those that the
    classifier takes are added. If it takes more prose than other text, links that density leaves out are headlines of
    other articles, and are not taken."""
    links = np.array([block.linked >= _LINKS * len(block.text) for block in page.blocks])
    prose = weighed & np.array([_is_prose(block) for block in page.blocks])
    result: NDArray[np.bool_] = learned
    if 2 * words[learned & prose].sum() > words[learned].sum():
        result = learned & (weighed | ~links)
    inside = np.flatnonzero(learned & prose)
    if len(inside) and not _is_talk(page, int(prose.sum())):
        missed = prose & (words >= _LONG)
        missed[: inside[0]] = missed[inside[-1] :] = False
        result = result | missed
    return result


def _document(
    page: Page, words: NDArray[np.float64], learned: NDArray[np.bool_], weighed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the text of a long plain document, such as a book or a report on one page, or at least its prose; nothing
    for other pages. The classifier has seen few pages without any design, and takes only a part of their paragraphs.
    Comments of readers are long too, so a page with many is not a document."""
    prose = weighed & np.array([_is_prose(block) for block in page.blocks])
    if _is_talk(page, int(prose.sum())):
        return np.zeros_like(prose)
    dense_words, prose_words = words[weighed].sum(), words[prose].sum()
    if dense_words >= max(_DOCUMENT, _PLAIN * words.sum()) and words[weighed & learned].sum() < _PART * dense_words:
        return weighed
    its = words[prose & learned].sum()
    found = any(
        prose_words >= max(least, share * dense_words) and its < part * prose_words
        for least, share, part in _PROSE_DOCUMENTS
    )
    return prose if found else np.zeros_like(prose)


def _is_talk(page: Page, paragraphs: int) -> bool:
    """Tell by the short blocks around comments, such as "Reply", whether readers wrote much of a page's paragraphs."""
    answers = sum(len(block.text) < _SHORT and _TALK.search(block.text) is not None for block in page.blocks)
    return answers > _TALKING * paragraphs


def _is_prose(block: Block) -> bool:
    long = len(block.text.split()) >= _PROSE_WORDS
    return long and block.linked < 0.3 * len(block.text) and _SENTENCE_END.search(block.text) is not None


def _comments(page: Page) -> NDArray[np.bool_]:
    """Return which blocks are in elements that are named after comments. The name of the body only says whether readers
    may comment."""
    return np.array([page.elements[block.element].marks.get(_COMMENT, 0) > 0 for block in page.blocks])


def _teasers(page: Page, words: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which blocks are in the many small `<article>` elements of one name that follow the page's article.
    `words`: of each block, 0 where it is not taken."""
    before = np.concatenate([[0.0], np.cumsum(words)])
    articles = [element for element in page.elements if element.tag == "article"]
    held = [before[element.end] - before[element.start] for element in articles]
    names = Counter(element.name for element in articles)
    teasers = np.zeros(len(words), dtype=bool)
    most = max(held, default=0.0)
    if not articles or most < _MAIN * before[-1]:
        return teasers
    main = articles[held.index(most)]
    for element, its in zip(articles, held, strict=True):
        other = element.start >= main.end and element.name != main.name
        if other and names[element.name] >= _MANY and its < most / 3:
            teasers[element.start : element.end] = True
    return teasers


def chosen(probability: Probabilities, words: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which blocks to take: the likeliest, as many as have the greatest expected F1 of words, and of those the
    ones of some probability, where there are any."""
    order = np.argsort(-probability, kind="stable")
    expected = (probability * words)[order]
    f1 = 2 * np.cumsum(expected) / (np.cumsum(words[order]) + expected.sum() + 1e-9)
    best = np.zeros(len(probability), dtype=bool)
    best[order[: int(np.argmax(f1)) + 1]] = True
    sure = best & (probability >= _LEAST)
    return sure if sure.any() else best


def lines(page: Page, kept: NDArray[np.bool_]) -> list[str]:
    """Return the texts of the blocks that are kept, those of a row's short cells in one line."""
    result: list[str] = []
    cells: dict[int, list[str]] = {}  # of a row, by the index of the cell
    row = -1
    for block in (block for block, keep in zip(page.blocks, kept.tolist(), strict=True) if keep):
        at, cell = _row(page, block)
        if at != row:
            result += _joined(page, row, cells)
            cells, row = {}, at
        if at < 0:
            result.append(block.text)
        else:
            cells.setdefault(cell, []).append(block.text)
    return result + _joined(page, row, cells)


def _row(page: Page, block: Block) -> tuple[int, int]:
    """Return the index of the row of the table that holds a block, and of its cell; -1 outside of tables."""
    at, inner = block.element, -1
    while at >= 0:
        element = page.elements[at]
        if element.tag == "tr":
            return at, inner
        at, inner = element.parent, at
    return -1, -1


def _joined(page: Page, row: int, cells: Mapping[int, Sequence[str]]) -> list[str]:
    """Return the texts of a row's cells, in one line if they are short. There an empty cell between others is a dash,
    so that a value does not move to another column."""
    texts = [text for cell in cells.values() for text in cell]
    if len(texts) < 2 or any(len(text) > _CELL for text in texts):
        return texts
    between = range(min(cells), max(cells) + 1)
    empty = {at: [_NO_VALUE] for at in between if len(cells) >= _DATA and _is_empty_cell(page, at, row)}
    return [" | ".join(text for at in between for text in cells.get(at, empty.get(at, [])))]


def _is_empty_cell(page: Page, at: int, row: int) -> bool:
    element = page.elements[at]
    return element.parent == row and element.tag in ("td", "th") and element.start == element.end
