"""Which blocks of a page are its main text by their weights alone, without anything learned; the classifier of
`main_text.py` reads this among its features.

The weight of prose is its length; blocks of links, and short blocks without a full stop, have negative weight. The
element with the largest total weight contains the main text; its heaviest run of blocks is the main text (Kadane's
maximum subarray). The cost of a gap is capped, so that an advertisement between two sections cuts nothing off."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.extraction.blocks import CLASS, NOTHING, Block, Page

_SENTENCE_END = re.compile(r"""[.!?…。।؟:;][\s"”'’»)\]]*$""")
_LINKED = 0.5  # share of a block's characters inside links from which it counts as navigation
_GAP = 300.0  # characters of prose that pay for any gap between two runs of prose
_ELSEWHERE = 1.5  # the heaviest run of the whole page is used if its weight is this many times that of the best element
_SMALL = 1000.0  # below so many characters, elements of refused classes are also read: they may contain the article


def dense(page: Page) -> NDArray[np.bool_]:
    """Return whether each block of a page is of its main text."""
    weights = [_weight(page, block) for block in page.blocks]
    chosen, weight = _heaviest(page, weights, NOTHING)
    if weight < _SMALL:
        wider, wider_weight = _heaviest(page, weights, CLASS)
        if wider_weight > 2 * weight:
            chosen = wider
    taken = np.zeros(len(page.blocks), dtype=bool)
    for number in chosen:
        block = page.blocks[number]
        taken[number] = block.linked <= _LINKED * len(block.text)
    return taken


def _weight(page: Page, block: Block) -> float:
    """Return characters of prose, or a negative number for what is not prose."""
    length = len(block.text)
    if block.linked > _LINKED * length:
        return -30 - min(0.3 * length, 150)
    tag = page.elements[block.element].tag
    if len(tag) == 2 and tag[0] == "h" and tag != "hr":
        return -5
    if length < 100 and not _SENTENCE_END.search(block.text, max(0, length - 12)):
        return -10
    return length / 2 if length < 40 else length * (1 - block.linked / length)


def _heaviest(page: Page, weights: Sequence[float], outside: int) -> tuple[Sequence[int], float]:
    """Return the blocks of the heaviest run, and its weight, among elements whose sign is at most `outside`."""
    allowed = [number for number, block in enumerate(page.blocks) if page.elements[block.element].outside <= outside]
    before = np.zeros(len(weights) + 1, dtype=np.int64)
    before[1:][allowed] = 1
    before = np.cumsum(before)
    kept = [weights[number] for number in allowed]
    sums = np.concatenate([[0.0], np.cumsum(kept)])
    start = before[[element.start for element in page.elements]]
    end = before[[element.end for element in page.elements]]
    totals = sums[end] - sums[start]
    # Of equal elements the innermost, which ends first.
    home = max(range(len(totals)), key=lambda at: (totals[at], at), default=None)
    low, high, weight = (0, 0, 0.0)
    if home is not None and totals[home] > 0:
        low, high, weight = _heaviest_run(kept, int(start[home]), int(end[home]))
    anywhere = _heaviest_run(kept, 0, len(kept))
    if anywhere[2] > _ELSEWHERE * weight:
        low, high, weight = anywhere
    return allowed[low:high], weight


def _heaviest_run(weights: Sequence[float], start: int, end: int) -> tuple[int, int, float]:
    """Return (start, end, weight) of the heaviest run within [start, end); a gap costs `_GAP` at most."""
    best = (start, start, 0.0)
    run, run_start, gap = 0.0, start, 0.0
    for i in range(start, end):
        weight = weights[i]
        if weight <= 0:
            weight = max(weight, gap - _GAP)
            gap -= weight
        else:
            gap = 0.0
            if run <= 0:
                run, run_start = 0.0, i
        run += weight
        if run > best[2]:
            best = (run_start, i + 1, run)
    return best
