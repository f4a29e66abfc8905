"""Leads as plain prose: without captions and whatever else stands between the sentences of a copied page."""

import re
from itertools import accumulate

from models.sentences import first_sentence
from tasks.engine.data_files import fill, read_data
from tasks.sources.dump.prose import mend
from tasks.sources.source import Article
from tasks.text.english import has_finite_verb

_DATA = read_data("tasks.articles", "lead_text.toml")
_CAPTIONS, _LINES, _INSIDE = (
    [re.compile(fill(pattern, _DATA["parts"])) for pattern in _DATA[kind].values()]
    for kind in ("captions", "lines", "inside")
)
_NOT_PROSE, _FRAGMENT, _HATNOTE, _SHARES = _LINES
_MARKS, _PAGES, _SENTENCE_END, _ABBREVIATION = _INSIDE
_LONGEST = 45  # words; no caption that was read is longer
_TEX = "{\\displaystyle"


def is_caption(line: str) -> bool:
    """Tell whether a line is the caption of a picture, although it ends in a full stop. It is if its first sentence has
    no finite verb, and begins with what pictures are ("Map of ..."), says what somebody is seen doing ("Workers closing
    a lock."), when it was taken, where in the picture something is or by what a chart counts. Only English lines are
    found."""
    if len(line.split()) > _LONGEST:
        return False
    first = first_sentence(line)
    return not has_finite_verb(first) and any(pattern.search(first) for pattern in _CAPTIONS)


def target_of(article: Article) -> str:
    """Return the target of an article: its lead, cleaned unless it was published as a target."""
    return article.lead.strip() if article.published_target else clean_lead(article.lead)


def clean_lead(text: str) -> str:
    """Return the sentences of a lead, its paragraphs separated by line breaks.

    Removed are edit links, table rows, footnote marks with their pages, editors' notes, pronunciation, the source of
    formulas, lines that send the reader to other pages, captions, lines in
    which no sentence ends (list items, table headings), and a line ending in a colon that introduces such lines. If no
    sentence ends in the whole lead, as in texts that have lost their full stops, its lines are kept."""
    plain = map(_plain, (line for line in text.splitlines() if not _NOT_PROSE.fullmatch(line)))
    lines = [line for line in plain if line and not _HATNOTE.fullmatch(line)]
    if not any(map(_ends_a_sentence, lines)):
        return "\n".join(lines)
    prose = [_ends_a_sentence(line) and not _is_fragment(line) and not is_caption(line) for line in lines]
    kept: list[str] = []
    for line, is_prose, goes_on in zip(lines, prose, [*prose[1:], False], strict=True):
        if is_prose or (line.endswith(":") and goes_on):
            kept.append(line)
    return "\n".join(kept)


def _plain(line: str) -> str:
    """Return a line without marks, its words separated by single spaces."""
    return mend(" ".join(_without_tex(_MARKS.sub("", _PAGES.sub(" ", line))).split()))


def _without_tex(line: str) -> str:
    """Return a line without the TeX that copies of a formula leave behind it: A>1{\\displaystyle A>1}."""
    while (start := line.find(_TEX)) >= 0:
        depths = accumulate((sign == "{") - (sign == "}") for sign in line[start:])
        length = next((length for length, depth in enumerate(depths, 1) if depth == 0), len(line))
        line = line[:start] + line[start + length :]
    return line


def _is_fragment(line: str) -> bool:
    return _FRAGMENT.fullmatch(line) is not None or (_SHARES.fullmatch(line) is not None and not has_finite_verb(line))


def _ends_a_sentence(line: str) -> bool:
    """Tell whether a sentence ends in a line; an abbreviation's full stop counts only at the end of the line."""
    return any(
        match.end() == len(line) or not _ABBREVIATION.search(line[: match.start()])
        for match in _SENTENCE_END.finditer(line)
    )
