"""What a page says of its paragraphs: the headings that announce no prose (references, comments, other stories), and
its other words, since teasers and captions are about other things, or stand last."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain, compress
from statistics import median

from tasks.engine.data_files import fill, read_data

_HEADING_WORDS = 9  # no heading that announces such a section is longer
KINDS = ("references", "comments", "others")
_REACH = 12  # paragraphs that a list of other stories is long
_EDGES = re.compile(r"^\W+|(?<!\W)\W+$")


def sections(texts: Sequence[str], refused: Sequence[bool]) -> list[str | None]:
    """Return for each paragraph of a page the kind of section it stands in: references, comments, others or None.
    References and comments go on to the next heading of another kind, because their ends are seldom marked; a list of
    other stories has an end, after which the article may go on."""
    kind, since = None, 0
    result: list[str | None] = []
    for i, (text, is_refused) in enumerate(zip(texts, refused, strict=True)):
        if is_refused and len(text) < 80 and text.count(" ") < _HEADING_WORDS:
            name = _EDGES.sub("", text)
            found = next((kind for kind, heading in _headings() if heading.fullmatch(name)), None)
            if found:
                kind, since = found, i
        if kind == "others" and i - since > _REACH:
            kind = None
        result.append(kind)
    return result


@cache
def _headings() -> list[tuple[str, re.Pattern[str]]]:
    patterns = read_data("tasks.paragraphs", "junk.toml")["headings"]
    return [(kind, re.compile(fill(patterns[kind], {}), re.IGNORECASE)) for kind in KINDS]


NAMES = ["names_on_page", "length_on_page", "words_after"]
_NAME_CHARACTERS = 3  # that a name has at least
_UNKNOWN = 0.5  # share of names known of a paragraph that has none
_LONGEST = 5.0  # times the median paragraph; longer says no more


def page_word_features(words: Sequence[Sequence[str]], capitals: Sequence[Sequence[bool]]) -> list[list[float]]:
    """Return for each paragraph of a page, given as words and whether each has a capital, what its words say beside
    those of the others. In the order of `NAMES`: the share (0-1) of its names that other paragraphs have too; its words
    in relation to the median; the share of the others' words that come after it."""
    names = [
        {word for word in compress(paragraph[1:], capital[1:]) if len(word) >= _NAME_CHARACTERS}
        for paragraph, capital in zip(words, capitals, strict=True)
    ]
    once = {name for name, paragraphs in Counter(chain.from_iterable(names)).items() if paragraphs == 1}
    lengths = list(map(len, words))
    typical, total, before = median(lengths) if lengths else 1, sum(lengths), 0
    rows = []
    for count, own in zip(lengths, names, strict=True):
        known = len(own - once) / len(own) if own else _UNKNOWN
        after = (total - before - count) / max(1, total - count)
        rows.append([known, min(count / max(1, typical), _LONGEST), after])
        before += count
    return rows
