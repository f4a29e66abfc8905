"""Features of a page's block, alone and among the blocks and elements around it: the classifier of `main_text.py` reads
them."""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from tasks.extraction.blocks import KINDS, MARKS, Block, Page

Rows = NDArray[np.float32]

_WORDS = tomllib.loads(files("tasks.extraction").joinpath("block_features.toml").read_text(encoding="utf-8"))

_SENTENCE_END = re.compile(r"""[.!?…。।؟][\s"”'’»)\]]*$""")
_SENTENCES = re.compile(r"""[.!?…][\s"”'’»)\]]+(?=[^\W\d_a-z])|[。।؟]""")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d")
_CAPITAL = re.compile(r"\b[^\W\d_a-z]\w*")
_PRICE = re.compile(r"[$€£¥]\s?\d|\d\s?[€£]|\b(?:usd|eur|gbp)\b")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\bago\b|\d{1,2}[:/.]\d\d"
)
_ASKING = re.compile(rf"\b(?:{'|'.join(_WORDS['asking'])})\b|©")
_STOP = frozenset(_WORDS["stop"].split())
_REACH = 3  # blocks before and after whose features are read too
_FAR = 20  # elements; marks further away count with this distance

_SINGLE = [
    "length",
    "words",
    "linked",
    "strong",
    "ends",
    "sentences",
    "word_length",
    "digits",
    "capitals",
    "stop",
    "price",
    "date",
    "asking",
    "colon",
    "starts_small",
    "punctuation",
    "bars",
    "title_share",
    "is_title",
    "repeats",
    "breaks",
    "depth",
    "tag_level",
    "heading_level",
]
_NEIGHBOUR = ["length", "linked", "ends", "heading_level", "stop", "asking"]
_ANCESTORS = 4  # elements that hold a block and others too, from the nearest
_ELEMENT = ["length", "linked", "prose", "blocks", "headings", "siblings", "share_of_page", "position_in"]
_PAGE = [
    "page_length",
    "page_blocks",
    "page_linked",
    "page_prose",
    "page_headings",
    "page_items",
    "page_articles",
    "page_forum",
    "page_prices",
    "page_mean",
]
_KINDS = [f"declared_{kind}" for kind in KINDS]
_PLACE = [
    "position",
    "text_position",
    "after_heading",
    "since_h1",
    "before_h1",
    "prose_before",
    "prose_after",
    "near_before",
    "near_after",
    "near_before_far",
    "near_after_far",
]


_DENSE = [
    "dense",
    "dense_share",
    "dense_length",
    "dense_before",
    "dense_after",
    "dense_since",
    "dense_until",
    "dense_near",
    "dense_far",
    "dense_held",
]
_FARTHEST = 50  # blocks to the next dense one; larger distances count as this
_ALIKE = ["blocks", "share_of_page", "linked", "prose", "mean_length", "first", "last", "dense"]
_NAMES = (1, 2, 4)  # names of the elements around a block, from the nearest, that blocks which are alike share


def names() -> list[str]:
    """Return the names of a row's features, in order."""
    around = [f"{name}{shift:+d}" for shift in _shifts() for name in [*_NEIGHBOUR, "same_element"]]
    held = [f"{name}^{level}" for level in range(_ANCESTORS) for name in _ELEMENT]
    alike = [f"{name}_alike{depth}" for depth in _NAMES for name in _ALIKE]
    return [*_SINGLE, *around, *held, *_PLACE, *_PAGE, *_KINDS, *(f"mark_{name}" for name in MARKS), *_DENSE, *alike]


def _shifts() -> list[int]:
    return [shift for shift in range(-_REACH, _REACH + 1) if shift]


def features(page: Page, title: str, weighed: NDArray[np.bool_]) -> Rows:
    """Return a row for each block; `title` is that of the page, empty if it has none; `weighed`: which blocks
    `density.dense` takes."""
    single = _single(page, title)
    columns = [
        single,
        _neighbours(page, single),
        _held(page, single),
        _place(page, single),
        _whole(page, single),
        _marks(page),
        _dense(page, single[:, _at("length")], weighed),
        *(_alike(page, single, weighed, depth) for depth in _NAMES),
    ]
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _single(page: Page, title: str) -> Rows:
    folded = [block.text.casefold() for block in page.blocks]
    repeats = Counter(folded)
    title_words = set(_WORD.findall(title.casefold()))
    rows = [
        _of_block(page, block, low, repeats[low], title_words) for block, low in zip(page.blocks, folded, strict=True)
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(_SINGLE))


def _of_block(page: Page, block: Block, low: str, repeats: int, title: set[str]) -> Sequence[float]:
    text, element = block.text, page.elements[block.element]
    length = len(text)
    head, low_head = text[:_HEAD], low[:_HEAD]
    words = _WORD.findall(low)
    count = len(words)
    first_words = words[:_FIRST_WORDS]
    shared = len(title.intersection(words)) if count <= _FIRST_WORDS else 0
    tag = element.tag
    level = int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit() else 0
    signs = len(head)
    return (
        length,
        count,
        block.linked / length,
        block.strong / length,
        _SENTENCE_END.search(text, max(0, length - 12)) is not None,
        len(_SENTENCES.findall(text, 0, _READ)) if length > 40 else 0,
        length / max(count, 1),
        len(_DIGITS.findall(head)) / signs,
        len(_CAPITAL.findall(head)) / max(len(first_words), 1),
        sum(map(_STOP.__contains__, first_words)) / max(len(first_words), 1),
        _PRICE.search(low_head) is not None,
        _DATE.search(low_head) is not None,
        _ASKING.search(low_head) is not None,
        text.endswith(":"),
        text[:1].islower(),
        (head.count(",") + head.count(";")) / signs,
        "|" in head or "›" in head or "»" in head or "·" in head,
        shared / max(count, 1),
        shared / max(len(title), 1),
        repeats,
        block.breaks,
        element.depth,
        _TAG_LEVELS.get(tag, 0),
        level,
    )


_HEAD = 120  # characters of a block whose signs are counted
_FIRST_WORDS = 40
_READ = 2000  # characters in which sentences are counted
_TAG_LEVELS = {tag: number for number, tag in enumerate(_WORDS["tags"].split(), start=1)}


def _at(name: str) -> int:
    return _SINGLE.index(name)


def _neighbours(page: Page, single: Rows) -> Rows:
    count = len(single)
    chosen = single[:, [_at(name) for name in _NEIGHBOUR]]
    owners = np.array([block.element for block in page.blocks], dtype=np.int64)
    padded = np.full((count + 2 * _REACH, chosen.shape[1]), -1, dtype=np.float32)
    padded[_REACH : _REACH + count] = chosen
    padded_owners = np.full(count + 2 * _REACH, -2, dtype=np.int64)
    padded_owners[_REACH : _REACH + count] = owners
    parts = []
    for shift in _shifts():
        window = slice(_REACH + shift, _REACH + shift + count)
        parts += [padded[window], (padded_owners[window] == owners)[:, None]]
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _sums(values: Rows) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


def _prose(single: Rows) -> Rows:
    """Return characters of prose: of blocks of some length that end a sentence and are not links."""
    length, linked, ends = (single[:, _at(name)] for name in ("length", "linked", "ends"))
    prose: Rows = np.where((length > 60) & (ends > 0), length * (1 - linked), 0)
    return prose


def _held(page: Page, single: Rows) -> Rows:
    count, elements = len(single), page.elements
    length = single[:, _at("length")]
    sums = [
        _sums(v)
        for v in (
            length,
            length * single[:, _at("linked")],
            _prose(single),
            (single[:, _at("heading_level")] > 0).astype(np.float32),
        )
    ]
    total = max(sums[0][-1], 1)
    siblings = Counter((element.parent, element.name) for element in elements)
    chains = [_chain(page, block.element, number) for number, block in enumerate(page.blocks)]
    table = np.array(chains, dtype=np.int64).reshape(count, _ANCESTORS)
    start = np.array([element.start for element in elements], dtype=np.int64)
    end = np.array([element.end for element in elements], dtype=np.int64)
    alike = np.array([siblings[element.parent, element.name] for element in elements], dtype=np.float32)
    parts = []
    for level in range(_ANCESTORS):
        held = table[:, level]
        first, last = start[held], end[held]
        text, linked, prose, headings = (total_[last] - total_[first] for total_ in sums)
        inside = np.maximum(text, 1)
        here = sums[0][:-1] - sums[0][first]
        parts.append(
            np.stack(
                [
                    text,
                    linked / inside,
                    prose / inside,
                    last - first,
                    headings,
                    alike[held],
                    text / total,
                    here / inside,
                ],
                axis=1,
            )
        )
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _chain(page: Page, element: int, block: int) -> list[int]:
    """Return the nearest elements around a block, each with more blocks than the one before."""
    chain: list[int] = []
    size = 0
    while len(chain) < _ANCESTORS:
        of = page.elements[element]
        if of.end - of.start > size:
            chain.append(element)
            size = of.end - of.start
        if of.parent < 0:
            break
        element = of.parent
    return chain + [element] * (_ANCESTORS - len(chain))


def _place(page: Page, single: Rows) -> Rows:
    count = len(single)
    length, level = single[:, _at("length")], single[:, _at("heading_level")]
    sums, prose = _sums(length), _prose(single)
    proses = _sums(prose)
    number = np.arange(count)
    last_heading = np.maximum.accumulate(np.where(level > 0, number, -1))
    tops = np.flatnonzero(level == 1)
    since = np.where(
        np.maximum.accumulate(np.where(level == 1, number, -1)) >= 0,
        number - np.maximum.accumulate(np.where(level == 1, number, -1)),
        -1,
    )
    before = (tops[0] - number).clip(min=-1) if len(tops) else np.full(count, -2)
    near = []
    for reach in (5, 20):
        low, high = np.maximum(number - reach, 0), np.minimum(number + 1 + reach, count)
        near += [proses[:-1] - proses[low], proses[high] - proses[1:]]
    whole = max(proses[-1], 1)
    return np.stack(
        [
            number / max(count, 1),
            sums[:-1] / max(sums[-1], 1),
            np.where(last_heading >= 0, number - last_heading, -1),
            since,
            before,
            proses[:-1] / whole,
            (proses[-1] - proses[1:]) / whole,
            *near,
        ],
        axis=1,
    ).astype(np.float32)


def _whole(page: Page, single: Rows) -> Rows:
    length = single[:, _at("length")]
    total = max(float(length.sum()), 1)
    names_of = Counter(element.tag for element in page.elements)
    forum = sum(_FORUM in element.marks for element in page.elements) / max(len(page.elements), 1)
    row = [
        total,
        len(single),
        float((length * single[:, _at("linked")]).sum()) / total,
        float(_prose(single).sum()) / total,
        sum(names_of[f"h{n}"] for n in range(1, 7)),
        names_of["li"],
        names_of["article"],
        forum,
        float(single[:, _at("price")].sum()),
        total / max(len(single), 1),
        *(kind in page.declared for kind in KINDS),
    ]
    return np.tile(np.array(row, dtype=np.float32), (len(single), 1))


_FORUM = MARKS.index("forum")


def _marks(page: Page) -> Rows:
    by_element: dict[int, list[int]] = {}
    for block in page.blocks:
        if block.element not in by_element:
            element = page.elements[block.element]
            row = [_FAR] * len(MARKS)
            for mark, depth in element.marks.items():
                row[mark] = min(element.depth - depth, _FAR)
            by_element[block.element] = row
    return np.array([by_element[block.element] for block in page.blocks], dtype=np.float32)


def _dense(page: Page, length: Rows, taken: NDArray[np.bool_]) -> Rows:
    count = len(taken)
    number = np.arange(count)
    before = np.maximum.accumulate(np.where(taken, number, -_FARTHEST - count))
    after = np.minimum.accumulate(np.where(taken, number, 2 * count + _FARTHEST)[::-1])[::-1]
    inside = np.flatnonzero(taken)
    first, last = (inside[0], inside[-1]) if len(inside) else (count + 99, -100)
    sums, all_sums = _sums(length * taken), _sums(length)
    near = []
    for reach in (3, 10):
        low, high = np.maximum(number - reach, 0), np.minimum(number + 1 + reach, count)
        near.append((sums[high] - sums[low]) / np.maximum(all_sums[high] - all_sums[low], 1))
    owners = np.array([block.element for block in page.blocks])
    held = np.bincount(owners, weights=length * taken) / np.maximum(np.bincount(owners, weights=length), 1)
    columns = [
        taken,
        np.full(count, sums[-1] / max(all_sums[-1], 1)),
        np.full(count, sums[-1]),
        np.minimum(number - before, _FARTHEST),
        np.minimum(after - number, _FARTHEST),
        (number - first).clip(-_FARTHEST, _FARTHEST),
        (last - number).clip(-_FARTHEST, _FARTHEST),
        *near,
        held[owners],
    ]
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _alike(page: Page, single: Rows, weighed: NDArray[np.bool_], depth: int) -> Rows:
    """Describe, for each block, all blocks of the page whose nearest elements have the same names, such as the items of
    a list or the comments of readers."""
    numbers = dict[tuple[str, ...], int]()
    owners = dict.fromkeys(block.element for block in page.blocks)
    groups = {at: numbers.setdefault(_path(page, at, depth), len(numbers)) for at in owners}
    group = np.array([groups[block.element] for block in page.blocks])
    length = single[:, _at("length")]
    count, text = np.bincount(group), np.bincount(group, weights=length)
    number = np.arange(len(group))
    first, last = np.full(len(count), len(group)), np.zeros(len(count))
    np.minimum.at(first, group, number)
    np.maximum.at(last, group, number)
    columns = [
        count,
        text / text.sum(),
        np.bincount(group, weights=length * single[:, _at("linked")]) / text,
        np.bincount(group, weights=_prose(single)) / text,
        text / count,
        first / len(group),
        last / len(group),
        np.bincount(group, weights=weighed) / count,
    ]
    rows: Rows = np.stack(columns, axis=1).astype(np.float32)[group]
    return rows


def _path(page: Page, element: int, depth: int) -> tuple[str, ...]:
    """Return the names of an element and of those around it, so many at most."""
    path: list[str] = []
    while element >= 0 and len(path) < depth:
        path.append(page.elements[element].name)
        element = page.elements[element].parent
    return tuple(path)
