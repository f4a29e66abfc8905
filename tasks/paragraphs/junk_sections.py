"""Find the paragraphs below a heading that announces no prose: references, comments, other stories."""

import re
from collections.abc import Sequence
from functools import cache

from tasks.engine.data_files import fill, read_data

_HEADING_WORDS = 9  # no heading that announces such a section is longer
KINDS = ("references", "comments", "others")
_REACH = 12  # paragraphs that a list of other stories is long
_EDGES = re.compile(r"^\W+|(?<!\W)\W+$")


def sections(texts: Sequence[str], refused: Sequence[bool]) -> list[str | None]:
    """Return for each paragraph of a page the kind of section it stands in: references, comments, others or None.

    References and comments go on to the next heading of another kind, because their ends are seldom marked; a list of
    other stories has an end, after which the article may go on.
    """
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
