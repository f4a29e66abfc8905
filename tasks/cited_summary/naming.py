"""A title for sources that were given without one: of their own titles and names, the one whose words most of them
have."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

import pyarrow as pa

from tasks.text.content_words import content_words

_READ = 20_000  # characters of a source
_LONGEST = 14  # words
_SITE = re.compile(r"\s[|–—·»-]\s")  # before or behind the name of the site
_NAME = re.compile(
    r"(?<![\w’'-])(?!(?:The|In|On|By|It|He|She) )[A-Z][\w’'-]*(?: (?:of |of the |de |von )?[A-Z][\w’'-]*){1,5}"
)
_NAMES = 5  # of the texts, as titles to choose from


def suggest_title(documents: pa.Table, names: Sequence[str]) -> str:
    """Return a title for DOCUMENTS rows; without any text, the name of the first source. `names`: of the sources."""
    titles, texts = list[str](), list[str]()
    for row in documents.select(["title", "paragraphs", "reason"]).to_pylist():
        if row["reason"] is None:
            first, *others = _SITE.split(row["title"] or "")
            titles.append((first if " " in first.strip() else max([first, *others], key=len)).strip())
            texts.append(f"{row['title'] or ''}\n{chr(10).join(row['paragraphs'])[:_READ]}")
    words = [content_words(text) for text in texts]
    counted = Counter(name for text in texts for name in _NAME.findall(text))
    candidates = [title for title in titles if title] + [name for name, _ in counted.most_common(_NAMES)]

    def shared(candidate: str) -> float:
        """The share of sources that have a word, added up over its words and held against their number and one more."""
        own = content_words(candidate)
        return sum(word in one for word in own for one in words) / len(words) / (len(own) + 1)

    best = max(candidates, key=shared, default=PurePath(names[0]).stem.replace("_", " ") or names[0])
    return " ".join(best.split()[:_LONGEST])
