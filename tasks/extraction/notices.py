"""Pages that a server sends instead of the wanted one: consent walls, soft 404s, bot checks, parked domains, pages for
outdated browsers and pages that have moved. They are short, and most of their text is about themselves."""

import re
from collections.abc import Sequence
from functools import cache

from tasks.engine.data_files import read_data
from tasks.extraction.reasons import DocumentReason

_MOST_WORDS = 250  # of a notice; longer pages have a subject
_TITLED, _UNTITLED = 0.35, 0.6  # share of its characters in sentences with a phrase, with and without such a title
_FEW_WORDS = 40  # a page with such a title and no more words is a notice whatever it says
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n")


_REASONS = {reason.value: reason for reason in DocumentReason}


@cache
def _kinds() -> list[tuple[DocumentReason, re.Pattern[str], list[re.Pattern[str]]]]:
    data = read_data("tasks.extraction", "notices.toml")
    return [
        (_REASONS[name], re.compile("|".join(kind["titles"])), [re.compile(one) for one in kind["phrases"]])
        for name, kind in data.items()
    ]


def notice(title: str | None, lines: Sequence[str]) -> DocumentReason | None:
    """Return the kind of a notice, None for every other page; `lines`: its text."""
    text = "\n".join(lines).casefold().replace("’", "'")
    words = len(text.split())
    if words > _MOST_WORDS:
        return None
    heads = [
        " ".join(head.casefold().replace("’", "'").split()) for head in (title or "", *lines[:1]) if len(head) <= 80
    ]
    sentences = [sentence for sentence in _SENTENCES.split(text) if sentence]
    best: tuple[int, DocumentReason] | None = None
    for reason, titles, phrases in _kinds():
        hits = sum(phrase.search(text) is not None for phrase in phrases)
        titled = any(titles.search(head) for head in heads)
        if hits < 2 - titled and not (titled and words <= _FEW_WORDS and reason is DocumentReason.NOT_FOUND):
            continue
        said = sum(len(one) for one in sentences if any(phrase.search(one) for phrase in phrases))
        enough = said >= (_TITLED if titled else _UNTITLED) * len(text)
        if enough and (best is None or hits > best[0]):
            best = hits, reason
    return best[1] if best else None
