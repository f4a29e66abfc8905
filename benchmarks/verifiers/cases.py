"""What verifiers are asked: sentences with passages of one article, true or not, by kind and corpus."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.verifiers.corpora import BenchmarkPassage
from tasks.engine.dice import Dice
from tasks.verification.learning import LearningArticle, examples_of
from tasks.verification.words import read

RESTATED = Path(__file__).parent / "restated.txt"
_BESIDE = 4  # passages of the same article beside the one that a sentence was made from


@dataclass(frozen=True)
class Case:
    """A sentence to be judged.

    Attributes:
        corpus: where its passages are from.
        kind: how it was made.
        true: whether its first passage says it.
        sentence: as a summary might have it.
        passages: what it is held against; the first one is that it was made from.
    """

    corpus: str
    kind: str
    true: bool
    sentence: str
    passages: Sequence[str]


def topics_of(passages: Iterable[BenchmarkPassage]) -> dict[str, LearningArticle]:
    """Return passages as topics: an article of wikigraph or the mini web is one, the others' articles are a passage."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for passage in passages:
        own = passage.corpus in {"wikigraph", "miniweb"}
        found[f"{passage.corpus} {passage.article if own else ''}"].append(passage.text)
    return {name: LearningArticle(texts) for name, texts in found.items()}


def made(passages: Sequence[BenchmarkPassage], count: int) -> Iterator[Case]:
    """Yield cases made by rules of some passages of each corpus, at most `count`."""
    corpora = sorted({passage.corpus for passage in passages})
    for corpus in corpora:
        topics = topics_of(passage for passage in passages if passage.corpus == corpus)
        places = [(topic, place) for topic in topics.values() for place in range(len(topic.passages))]
        dice = Dice("cases", corpus)
        for topic, place in dice.sample(places, count):
            beside = [other for other in dice.sample(topic.passages, _BESIDE + 1) if other != topic.passages[place]]
            for example in examples_of(topic, place, dice):
                if read(example.sentence).content:
                    passage = [example.passage, *(text for text in beside if example.sentence not in text)][:_BESIDE]
                    yield Case(corpus, example.kind, example.true, example.sentence, passage)


def by_hand(path: Path = RESTATED) -> Iterator[Case]:
    """Yield the cases written by hand; those of the passages that may be looked at, every other one, are `seen`.

    Raises:
        ValueError: a line is none of the file's kinds.
    """
    passage, number = "", 0
    for line in filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())):
        mark, _, rest = line.partition(" ")
        if mark == "=":
            passage, number = "", number + 1
        elif mark in {"+", "-"} and passage:
            part = "seen" if number % 2 else "unseen"
            kind, text = ("restated", rest) if mark == "+" else rest.split(": ", 1)
            yield Case(f"by hand, {part}", kind, mark == "+", text, [passage])
        elif mark not in {"#", "+", "-"} and not passage:
            passage = line
        elif mark != "#":
            raise ValueError(f"{path}: expected a mark or one line of passage, got {line[:60]!r}")
