"""Docs, docstrings and comments are plain English: phrases that a reader has to read twice, and long sentences, are
counted by room.

A limit may only fall. Rewrite the sentence (subject, verb, object), and do not swap one word for another:
`python -m tests.test_prose` lists the sentences."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
# Phrases in 500 words, at most.
LIMITS = {"guides": 0.1, "flows": 0.1, "tasks": 0.1, "models": 0.1, "storage": 0.1, "benchmarks": 0.1}
GUIDES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/corpus/*.md")
PHRASES = {
    "says what it is not": r"\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]+",
    "stand": r"\bst(?:ands?|ood)\b(?! for\b)",
    "tell": r"\b(?:is|are|was|be) told\b|\btells? (?:no|nothing|of|apart)\b",
    "beside": r"\bbeside\b",
    "in place of": r"\bin place of\b|\b(?:save|but) for\b|\ball but\b|\b(?:so|in so) far as\b",
    "old word": r"\b(?:sought|(?:there|where)(?:of|in|by)|henceforth)\b|^Nor (?:do|does|is|are|did|was|were)\b",
    "verb before subject": (
        r"(?:^|(?<=[.:] ))(?:Of|With|Without|For|In|On|From|Where|Among|Behind)\b[^.;:,]{2,60} "
        r"(?:is|are|was|were|stands?) [a-z]"
    ),
}
# A long sentence has more words than this; and the share of long sentences, at most.
LONGEST, LONG = 35, 0.013
PATTERN = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PHRASES.items()}


def texts(room: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a room with their prose."""
    if room == "guides":
        for path in (path for pattern in GUIDES for path in sorted(PROJECT.glob(pattern))):
            yield path, of_markdown(path.read_text(encoding="utf-8"))
    else:
        for path in sorted((PROJECT / room).rglob("*.py")):
            yield path, of_python(path.read_text(encoding="utf-8"))


def of_markdown(text: str) -> str:
    """Return Markdown without code, tables and headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("|", "#")))
    return re.sub(r"`[^`]*`", "X", "\n".join(lines))


def of_python(text: str) -> str:
    """Return the docstrings and comments of a module."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return re.sub(r"`[^`]*`", "X", "\n\n".join([*docs, *comments]))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, and the parts of its lists, each on one line."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z`\"*])|\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", text)
    return [" ".join(part.split()) for part in parts if part.strip()]


def is_long(sentence: str) -> bool:
    return len(sentence.split()) > LONGEST


def phrases(text: str) -> list[tuple[str, str]]:
    """Return the name of each phrase that a text has, with the sentence."""
    return [(name, one) for one in sentences(text) for name, pattern in PATTERN.items() if pattern.search(one)]


@pytest.mark.parametrize("room", LIMITS)
def test_a_room_has_few_phrases_that_are_read_twice(room: str) -> None:
    found = [(path, text) for path, text in texts(room)]
    words = sum(len(text.split()) for _, text in found)
    count = sum(len(phrases(text)) for _, text in found)
    assert 500 * count / words <= LIMITS[room], "list them: python -m tests.test_prose"


@pytest.mark.parametrize("room", LIMITS)
def test_a_room_has_few_long_sentences(room: str) -> None:
    lengths = [is_long(sentence) for _, text in texts(room) for sentence in sentences(text)]
    assert sum(lengths) / len(lengths) <= LONG, "list them: python -m tests.test_prose"


def test_a_sentence_is_long_from_36_words_on() -> None:
    words = ["word"] * LONGEST
    assert [is_long(one) for one in sentences(f"{' '.join(words)}. {' '.join(['A', *words])}.")] == [False, True]


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("The record stands beside the file.", ["stand", "beside"]),
        ("There is no worker, and it is told so.", ["says what it is not", "tell"]),
        ("Where there is no builder a test is run.", ["says what it is not", "verb before subject"]),
        ("It stands for a number, and no longer changes.", []),
        ("The test runs if no builder is installed.", []),
    ],
)
def test_phrases_are_found(sentence: str, names: list[str]) -> None:
    assert [name for name, _ in phrases(sentence)] == names


if __name__ == "__main__":
    for each in LIMITS:
        for file, prose in texts(each):
            long = [("long", sentence) for sentence in sentences(prose) if is_long(sentence)]
            for kind, where in [*phrases(prose), *long]:
                print(f"{file.relative_to(PROJECT)} [{kind}]: {where[:200]}")
