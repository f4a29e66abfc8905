"""The lines of each page of a PDF file in reading order: columns one after the other, without the numbers of lines. An
empty line is added where the layout ends a paragraph. Coordinates are in points, from the lower left."""

import re
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median, mode

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_raw

from tasks.extraction.font_codes import with_tex_characters

_WORD = re.compile(r"[^\s\ufffe]+")
_LINE_END = re.compile(r"[\r\n\ufffe]")  # PDFium writes U+FFFE for a hyphen at the end of a line
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNSPACED = 0.22  # of a line's height: a wider gap within a word is a space that was only moved over, not written
_TIGHT = 0.04  # of it: gaps of most letters of a word are smaller, unless all its letters are set apart
_SAME_LINE = 0.6  # of a height, by which words of one line may be raised or lowered
_TOUCH = 0.3  # of a height, by which boxes of neighbouring words may overlap
_SMALLER = 0.85  # of the height of its word: a digit that is raised by _HIGHER of it and smaller is a superscript
_HIGHER = 0.1
_GUTTER = 0.8  # of a line's height: words farther apart may be in two columns
_SPACE = 0.4  # of a line's height: more than a space, where the columns are known
# Of the widest other space of its line, for half of the lines. On pages of one justified column whose spaces lie below
# one another by chance it is less.
_WIDER = 2.0
_NEAR = 1.0  # points by which the lines of a column may begin apart
_COLUMN_LINES = 4  # side by side, at least: fewer are a table or a heading
_COLUMN_WORDS = 3  # of a line of a column, at least: cells of tables have fewer
_FULL = 0.7  # of a column's width: a full line
_PROSE = 0.6  # share of full lines in a column; cells of tables differ more in length
_SHORT_LINES = 2  # of a short text side by side with another, at least
_BLANK = 1.9  # heights from one line to the next: what is below is another text
_ENDS = frozenset('.!?:”"')
_MOST_COLUMNS = 4
_NUMBERED = 5  # lines with a number in the margin, at least
_STEADY = 0.8  # share of equal steps from one number to the next; numbers of headings have no such steps
_WITHIN = 1 / 3  # share of such lines that begin in lower case: they are prose and not items of a list
_WORDS = 0.3  # share of numbered lines that begin with a word, at least; rows of a table have fewer
_APART = 1.45  # of the usual distance of two lines: a new paragraph
_OTHER_SIZE = 1.15  # ratio of two heights: a heading and its text
_INDENTED = (0.8, 4.0)  # heights: how far the first line of a paragraph may be indented
_TITLE_SIZE = 1.08  # of the height of the rest
_TITLE_WORDS = 30
_SPELLED = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class PdfWord:
    """A word as it is drawn."""

    text: str
    left: float
    right: float
    bottom: float
    height: float


Line = Sequence[PdfWord]


def page_words(document: pdfium.PdfDocument) -> Iterator[list[Line]]:
    """Yield the words of each page, in the lines and the order in which they are drawn. Raises pdfium.PdfiumError."""
    for page in document:
        text_page = page.get_textpage()
        yield _merged(line for line in _lines(text_page, *page.get_size()) if line)
        text_page.close()
        page.close()


def text_lines(page: Sequence[Line]) -> list[str]:
    """Return the text of the lines of a page in reading order; an empty line stands for the end of a paragraph."""
    lines: list[str] = []
    before: Line | None = None
    ordered = _columns(_without_line_numbers(page))
    heights = [one[0].bottom - other[0].bottom for one, other in pairwise(ordered)]
    usual = median([height for height in heights if height > 0] or [0.0])
    for line in ordered:
        if before is not None and _begins_paragraph(before, line, usual):
            lines.append("")
        lines.append(" ".join(word.text for word in line))
        before = line
    return lines


def drawn_title(page: Sequence[Line]) -> str | None:
    """Return the lines with the largest words of a page, if they are as few as those of a title and larger than the
    rest. A word of another font may be smaller, and symbols of formulas do not count. One word alone is a title only if
    the page begins with it. In capitals it is a logo."""
    sizes = [max((word.height for word in line if _SPELLED.search(word.text)), default=0.0) for line in page]
    least = max(sizes, default=0.0) / 1.05
    title = [word.text for line, size in zip(page, sizes, strict=True) if size > least for word in line]
    rest = [word.height for line, size in zip(page, sizes, strict=True) if size <= least for word in line]
    alone = len(title) == 1 and title[0] == page[0][0].text and not title[0].isupper()
    is_title = rest and least > _TITLE_SIZE * median(rest) and (alone or 1 < len(title) <= _TITLE_WORDS)
    return " ".join(title) if is_title else None


def _lines(text_page: pdfium.PdfTextPage, width: float, height: float) -> Iterator[Line]:
    count = text_page.count_chars()
    text = text_page.get_text_range()
    if len(text) != count:  # some characters have no text, or two code units
        text = "".join(chr(pdfium_raw.FPDFText_GetUnicode(text_page, index)) for index in range(count))
    text = with_tex_characters(text)
    start = 0
    for end in [*(match.start() for match in _LINE_END.finditer(text)), count]:
        parts = [part for match in _WORD.finditer(text, start, end) for part in _parted(text_page, *match.span())]
        drawn = [_word(text_page, text, *part) for part in parts]
        words = [word for word in drawn if word.right > 0 and word.left < width and 0 <= word.bottom < height]
        if words and text[end : end + 1] == "\ufffe":
            words[-1] = replace(words[-1], text=f"{words[-1].text}-")
        yield words
        start = end + 1


def _merged(lines: Iterable[Line]) -> list[Line]:
    """Return lines whose superscripts and subscripts, which are drawn as lines of their own, are part of them."""
    merged: list[list[PdfWord]] = []
    for line in lines:
        last = merged[-1][-1] if merged else None
        if last is not None and _beside(last, line[0]):
            merged[-1] += line
        else:
            merged.append(list(line))
    return [_with_raised_words(line) for line in merged]


def _beside(last: PdfWord, word: PdfWord) -> bool:
    """Tell whether a word is drawn right after another one on the same line, raised or lowered by a part of it."""
    tall = max(last.height, word.height)
    return -_TOUCH * tall < word.left - last.right < tall and abs(word.bottom - last.bottom) < _SAME_LINE * tall


def _box(text_page: pdfium.PdfTextPage, index: int) -> pdfium_raw.FS_RECTF:
    box = pdfium_raw.FS_RECTF()
    pdfium_raw.FPDFText_GetLooseCharBox(text_page, index, byref(box))
    return box


def _parted(text_page: pdfium.PdfTextPage, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of the words in a run of characters: groff draws words apart without a space between them."""
    boxes = [_box(text_page, index) for index in range(start, end)]
    height = boxes[0].top - boxes[0].bottom
    gaps = [other.left - one.right for one, other in pairwise(boxes)]
    if gaps and max(gaps) > _UNSPACED * height and median(gaps) < _TIGHT * height:
        for index, gap in enumerate(gaps, start + 1):
            if gap > _UNSPACED * height:
                yield start, index
                start = index
    yield start, end


def _word(text_page: pdfium.PdfTextPage, text: str, start: int, end: int) -> PdfWord:
    first, last = _box(text_page, start), _box(text_page, end - 1)
    word, height = text[start:end], first.top - first.bottom
    if len(word) > 1 and last.top - last.bottom < _SMALLER * height and any("0" <= sign <= "9" for sign in word):
        word = word[0] + "".join(
            sign.translate(_RAISED) if _is_raised(_box(text_page, index), first.bottom, height) else sign
            for index, sign in enumerate(word[1:], start + 1)
        )
    return PdfWord(word, first.left, last.right, first.bottom, height)


def _is_raised(box: pdfium_raw.FS_RECTF, bottom: float, height: float) -> bool:
    return bool(box.top - box.bottom < _SMALLER * height and box.bottom > bottom + _HIGHER * height)


def _with_raised_words(words: Sequence[PdfWord]) -> Line:
    """Return a line whose raised numbers are part of the word before them; one at its start numbers a note."""
    line: list[PdfWord] = []
    for word in words:
        before = line[-1] if line else None
        raised = (
            before is not None
            and word.text.isdecimal()
            and word.height < _SMALLER * before.height
            and word.bottom > before.bottom + _HIGHER * before.height
            and 0 <= word.left - before.right < before.height
        )
        if raised and before is not None:
            line[-1] = replace(before, text=before.text + word.text.translate(_RAISED), right=word.right)
        else:
            line.append(word)
    return line


def _without_line_numbers(page: Sequence[Line]) -> list[Line]:
    """Return a page without its line numbers, which count up at the left of all text, on lines of prose."""
    first = [line[0] for line in page if line[0].text.isdecimal()]
    texts = sorted(word.left for line in page for word in (line[1:] if line[0].text.isdecimal() else line)[:1])
    if len(first) < _NUMBERED or not texts:
        return list(page)
    numbers = [word for word in first if word.right < texts[len(texts) // 10]]
    steps = [int(after.text) - int(before.text) for before, after in pairwise(numbers)]
    if len(numbers) < _NUMBERED or min(steps) < 1 or steps.count(mode(steps)) < _STEADY * len(steps):
        return list(page)
    marked = set(map(id, numbers))
    after = [_text_beside(word, page) for word in numbers]
    words = [text for text in after if text[:1].isalpha()]  # a line that begins with a figure proves nothing
    if len(words) < _WORDS * len(after) or sum(text[0].islower() for text in words) < _WITHIN * len(words):
        return list(page)
    lines = (line[1:] if id(line[0]) in marked else line for line in page)
    return [line for line in lines if line]


def _text_beside(number: PdfWord, page: Sequence[Line]) -> str:
    """Return the first word at the right of the number of a line, at its height."""
    beside = (
        word
        for line in page
        for word in line[:2]
        if word.left >= number.right and abs(word.bottom - number.bottom) < number.height / 2
    )
    return next((word.text for word in beside), "")


def _columns(page: Sequence[Line], most: int = _MOST_COLUMNS) -> list[Line]:
    """Return the lines of a page, those of each column together; lines over the whole width part the columns."""
    gutter = _gutter(page) if most > 1 else None
    if gutter is None:
        return list(page)
    return [line for region in _regions(page, gutter) for column in region for line in _columns(column, most - 1)]


def _regions(page: Sequence[Line], gutter: float) -> Iterator[tuple[list[Line], list[Line]]]:
    """Yield the lines of the left and of the right column between lines over both, and each of these alone."""
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in page:
        parts = _parts(line, gutter)
        if parts is None:
            yield columns
            yield [line], []
            columns = ([], [])
            continue
        for column, words in zip(columns, parts, strict=True):
            if words:
                column.append(words)
    yield columns


def _parts(line: Line, gutter: float) -> tuple[Line, Line] | None:
    """Return the words of a line in either column; None for a line over both."""
    left = [word for word in line if word.left < gutter]
    right = [word for word in line if word.left >= gutter]
    apart = not left or left[-1].right <= (right[0].left - _SPACE * left[-1].height if right else gutter)
    return (left, right) if apart else None


def _gutter(page: Sequence[Line]) -> float | None:
    """Return the left edge of the second of two columns whose lines are drawn row by row; None if there are none."""
    gaps = [
        (one.right, other.left)
        for line in page
        for number, (one, other) in enumerate(pairwise(line), 1)
        if min(number, len(line) - number) >= _COLUMN_WORDS and other.left - one.right >= _GUTTER * one.height
    ]
    if not gaps:
        return None
    edges = {right - _NEAR for _, right in gaps}  # of the column at the right, whose lines begin below one another
    gutter = max(edges, key=lambda x: sum(left < x < right for left, right in gaps))
    split = [parts for line in page if (parts := _parts(line, gutter)) and all(parts)]
    if split and median(map(_widens, split)) < _WIDER:
        return None
    columns = list(zip(*split, strict=True))
    if len(split) >= _COLUMN_LINES and all(_is_prose(column) for column in columns):
        return gutter
    return gutter if _are_wrapped(page, gutter) else None


def _widens(parts: tuple[Line, Line]) -> float:
    """Return the space between the columns on a line, as a multiple of the widest space within them."""
    left, right = parts
    within = [max(other.left - one.right, _NEAR) for words in parts for one, other in pairwise(words)]
    return (right[0].left - left[-1].right) / max(within, default=_NEAR)


def _are_wrapped(page: Sequence[Line], gutter: float) -> bool:
    """Tell whether the lines at the left and at the right belong to short texts side by side. Such lines begin below
    one another, have no space for the first word of the next, and this word often begins in lower case. Cells are
    shorter, or begin a text."""
    blocks = [block for region in _regions(page, gutter) if all(region) for block in _side_by_side(*region)]
    if not blocks or any(len(block) < _SHORT_LINES or _ragged(block) for block in blocks):
        return False
    pairs = [pair for block in blocks for pair in _within_sentences(block)]
    small = sum(below[0].text[:1].islower() for _, below in pairs)
    return small >= max(_SHORT_LINES, _WITHIN * len(pairs))


def _side_by_side(left: Sequence[Line], right: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Yield the lines of either column from the first row that both have, without what is set apart below."""
    top = min(left[0][0].bottom, right[0][0].bottom) + right[0][0].height / 2
    for column in (left, right):
        lines = [line for line in column if line[0].bottom < top]
        apart = (n for n, (line, below) in enumerate(pairwise(lines), 1) if _is_apart(line, below))
        yield lines[: next(apart, None)]


def _is_apart(line: Line, below: Line) -> bool:
    return line[0].bottom - below[0].bottom > _BLANK * line[0].height


def _ragged(block: Sequence[Line]) -> bool:
    """Tell whether lines begin apart, or leave space for the first word of the next within a sentence."""
    starts, edge = [line[0].left for line in block], max(line[-1].right for line in block)
    wide = (line[-1].right + below[0].right - below[0].left for line, below in _within_sentences(block))
    return max(starts) - min(starts) > _NEAR or min(wide, default=edge) < edge


def _within_sentences(block: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Return each line of a column that ends no sentence, with the line below it."""
    return [(line, below) for line, below in pairwise(block) if line[-1].text[-1:] not in _ENDS]


def _is_prose(column: Sequence[Line]) -> bool:
    """Tell whether most lines of a column are full, as those of prose are and cells of tables are not."""
    widths = [line[-1].right - line[0].left for line in column]
    return sum(width >= _FULL * max(widths) for width in widths) >= _PROSE * len(widths)


def _begins_paragraph(before: Line, line: Line, usual: float) -> bool:
    height, other = (median(word.height for word in words) for words in (before, line))
    if height <= 0 or other <= 0:
        return False
    if max(height, other) > _OTHER_SIZE * min(height, other):
        return True
    down = before[0].bottom - line[0].bottom
    indented = _INDENTED[0] * height < line[0].left - before[0].left < _INDENTED[1] * height
    ends = before[-1].text[-1:] in _ENDS
    return down > _APART * usual or (indented and ends and down > 0)
