"""An article out of a row: its documents cut into paragraphs, its summary as the target."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from models.sentences import first_sentence, split_sentences
from tasks.sources.collection.layouts import CollectionLayout
from tasks.sources.source import Article, GivenDocument

_TITLE_WORDS = 12  # of a document's beginning, where a row has no title
_SPLITS = {"train": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid", "test": "test"}
_IN_NAME = re.compile(f"(?:^|[^a-z])({'|'.join(_SPLITS)})(?:[^a-z]|$)")
_NAMES = ("url", "archive_url", "id")  # of a document that is an object


@dataclass(frozen=True)
class _Document:
    text: str
    title: str | None = None
    url: str | None = None


def article_of(
    row: Mapping[str, Any], layout: CollectionLayout, name: str, split: str | None, paragraph_words: int | None
) -> Article:
    """Return the article of a row. `name`, of file and row, identifies it where its layout has no id; `split` is that
    of its file, for a row that names none. A paragraph has at most `paragraph_words`; None = a document is one
    paragraph. Raises ValueError: a column holds another kind of value."""
    found = [document for column in layout.documents for document in _documents(row.get(column), layout, column)]
    documents = tuple(
        GivenDocument(
            document.url or f"document:{number}",
            document.title,
            tuple(_paragraphs(_broken(document.text, layout), layout, paragraph_words)),
        )
        for number, document in enumerate(found[: layout.most], 1)
    )
    summary = _broken(_string(row, layout.summary), layout)
    own = row.get(layout.id) if layout.id else None
    return Article(
        title=_string(row, layout.title) or _beginning(documents) or name,
        lead=summary if layout.lines else " ".join(summary.split()),
        references=(),
        split=_split(_string(row, layout.split)) or split,
        group=_string(row, layout.group) or None,
        licence=_string(row, layout.licence) or None,
        documents=documents,
        id=name if own is None else str(own),
        published_target=True,
    )


def split_of(name: str) -> str | None:
    """Return the split that a file's name says, None if it says none."""
    found = _IN_NAME.search(name.lower())
    return _SPLITS[found[1]] if found else None


def _split(value: str) -> str | None:
    if value and value.lower() not in _SPLITS:
        raise ValueError(f"column 'split': expected one of {', '.join(_SPLITS)}, got {value!r}")
    return _SPLITS[value.lower()] if value else None


def _string(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column) if column else None
    if value is not None and not isinstance(value, str):
        raise ValueError(f"column {column!r}: expected a string, got {type(value).__name__}")
    return value or ""


def _documents(value: Any, layout: CollectionLayout, column: str) -> Iterator[_Document]:
    match value:
        case None:
            return
        case str():
            parts = re.split("|".join(map(re.escape, layout.separators)), value) if layout.separators else [value]
            # What precedes the first separator or follows the last one is often blank: that is no document.
            yield from (_Document(text) for text in parts if text.strip())
        case Mapping() if layout.text in value and isinstance(value[layout.text], list):  # columns of a struct
            yield from _documents(value[layout.text], layout, column)
        case list() | Mapping():
            for part in value if isinstance(value, list) else value.values():
                yield _document(part, layout, column)
        case _:
            raise ValueError(f"column {column!r}: expected documents, got {type(value).__name__}")


def _document(part: Any, layout: CollectionLayout, column: str) -> _Document:
    if isinstance(part, str):
        return _Document(part)
    if not isinstance(part, Mapping) or not isinstance(part.get(layout.text) or "", str):
        raise ValueError(f"column {column!r}: expected strings or objects with {layout.text!r}, got {part!r:.60}")
    url = next((part[name] for name in _NAMES if isinstance(part.get(name), str) and part[name]), None)
    title = part.get("title")
    return _Document(part.get(layout.text) or "", title if isinstance(title, str) and title else None, url)


def _broken(text: str, layout: CollectionLayout) -> str:
    return text.replace(layout.line_break, "\n") if layout.line_break else text


def _paragraphs(text: str, layout: CollectionLayout, most: int | None) -> Iterator[str]:
    """Yield the lines of a text, unless the layout says otherwise those of more than `most` words in pieces of whole
    sentences."""
    if layout.lines:
        yield from filter(None, text.split("\n"))
        return
    if most is None:
        yield from filter(None, [" ".join(text.split())])
        return
    for line in text.splitlines():
        piece: list[str] = []
        for sentence in split_sentences(line):
            words = sentence.split()
            if piece and len(piece) + len(words) > most:
                yield " ".join(piece)
                piece = []
            piece += words
            while len(piece) > most:  # a sentence longer than a paragraph, as in text without full stops
                yield " ".join(piece[:most])
                piece = piece[most:]
        if piece:
            yield " ".join(piece)


def _beginning(documents: tuple[GivenDocument, ...]) -> str:
    """Return the title of the first document that has one, else the first words of the first text."""
    titles = (document.title for document in documents if document.title)
    texts = (first_sentence(text) for document in documents for text in document.paragraphs)
    return " ".join(next(titles, next(texts, "")).split()[:_TITLE_WORDS])
