"""How well sentences are found: F1 of the boundaries inside paragraphs that were split by hand, by language.

`python -m benchmarks.sentences` compares the English rule on every language, Wikimedia's `sentencex`, and what the
product does with the language given and without. The paragraphs of `sentences.txt` were seen when
the rules were made, those of `sentences_unseen.txt` were not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import sentencex

from models.sentences import split_sentences

_FOLDER = Path(__file__).parents[1] / "tests/models"
Splitter = Callable[[str, str], list[str]]
SPLITTERS: dict[str, Splitter] = {
    "English rule": lambda text, _: split_sentences(text, "en"),
    "sentencex": lambda text, language: [item for item in sentencex.segment(language, text) if item.strip()],
    "language given": split_sentences,
    "language by the text": lambda text, _: split_sentences(text),
}


def split_by_hand(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the language and the sentences of each paragraph of a file of `tests/models`."""
    language, lines = "", list[str]()
    for line in [*(_FOLDER / name).read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("["):
            language = line[1:-1]
        elif line and not line.startswith("#"):
            lines.append(line)
        elif lines:
            yield language, lines
            lines = []


def joined(language: str, sentences: list[str]) -> str:
    """Return the paragraph of the sentences."""
    return ("" if language in {"zh", "ja"} else " ").join(sentences)


def counts(language: str, sentences: list[str], splitter: Splitter) -> tuple[int, int, int]:
    """Return how many boundaries inside a paragraph a splitter has right, sets wrongly, and misses."""
    here, there = _inner_ends(splitter(joined(language, sentences), language)), _inner_ends(sentences)
    return len(here & there), len(here - there), len(there - here)


def _inner_ends(sentences: list[str]) -> set[int]:
    """Return how many characters other than spaces come before each boundary between two sentences."""
    lengths = [len("".join(sentence.split())) for sentence in sentences]
    return {sum(lengths[:number]) for number in range(1, len(lengths))}


def f1(name: str, language: str, splitter: Splitter) -> float:
    """Return the F1 of boundaries in the paragraphs of a language in a file; 1 without any boundary."""
    results = [counts(*item, splitter) for item in split_by_hand(name) if item[0] == language]
    right, wrong, missed = map(sum, zip(*results, strict=True))
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0


def main() -> None:
    """Print a table for each file."""
    for name in ("sentences.txt", "sentences_unseen.txt"):
        print(f"\n| {name} | {' | '.join(SPLITTERS)} |\n|---{'|---' * len(SPLITTERS)}|")
        for language in dict.fromkeys(language for language, _ in split_by_hand(name)):
            print(f"| {language} | {' | '.join(f'{f1(name, language, one):.2f}' for one in SPLITTERS.values())} |")


if __name__ == "__main__":
    main()
