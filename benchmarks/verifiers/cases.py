"""What verifiers are asked: sentences with passages of one article, true or not, by kind and corpus."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks.verifiers.corpora import BenchmarkPassage
from tasks.engine.hashing import Dice
from tasks.verification.learning import LearningArticle, examples_of
from tasks.verification.words import read

# Files about invented passages.
_INVENTED = {"by hand": "restated.txt", "by hand, framed": "framed.txt", "by hand, near": "near.txt"}
_OF_REAL_PAGES = ("read", "fresh", "hard", "models")  # files, and parts of the tables
_LINE = re.compile(r"(?:\+|- (?P<kind>[a-z, ]+):) (?P<text>.+)")
_DIGITS = 12  # of the digest that names a passage
_BESIDE = 4  # passages of the same article besides the one that a sentence was made from


@dataclass(frozen=True)
class Case:
    """A sentence to be judged.

    Attributes:
        corpus: where its passages are from.
        kind: how it was made.
        true: whether its first passage says it.
        sentence: as a summary might have it.
        passages: what it is held against; the first one is that it was made from."""

    corpus: str
    kind: str
    true: bool
    sentence: str
    passages: Sequence[str]


def topics_of(passages: Iterable[BenchmarkPassage]) -> dict[str, LearningArticle]:
    """Return passages as topics: an article of wikigraph or the mini web is one, the others' articles are a passage."""
    result: defaultdict[str, list[str]] = defaultdict(list)
    for passage in passages:
        own = passage.corpus in {"wikigraph", "miniweb"}
        result[f"{passage.corpus} {passage.article if own else ''}"].append(passage.text)
    return {name: LearningArticle(texts) for name, texts in result.items()}


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


def by_hand(passages: Sequence[BenchmarkPassage]) -> Iterator[Case]:
    """Yield the cases written by hand.

    Those about invented passages that may be looked at, every other one, are `seen`; `read` may too, the others not.
    Raises ValueError: a line is none of the file's kinds, or names a passage that is not there or teaches."""
    for part, file in _INVENTED.items():
        for number, block in enumerate(_blocks(Path(__file__).with_name(file)), 1):
            yield from _written(f"{part}, {'seen' if number % 2 else 'unseen'}", block[1], block[2:])
    text_of = {sha256(p.text.encode()).hexdigest()[:_DIGITS]: p.text for p in passages if not p.teaches}
    for part in _OF_REAL_PAGES:
        for name, *lines in _blocks(Path(__file__).with_name(f"{part}.txt")):
            if (text := text_of.get(name.removeprefix("@ "))) is None:
                raise ValueError(f"{part}.txt: no passage that taught nothing has the digest {name[2:]!r}")
            yield from _written(f"by hand, {part}", text, lines)


def _blocks(path: Path) -> Iterator[list[str]]:
    """Yield the lines of each block of a file; blank lines separate blocks, comments are left out."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        if lines := [line for line in block.splitlines() if line and not line.startswith("#")]:
            yield lines


def _written(corpus: str, passage: str, lines: Iterable[str]) -> Iterator[Case]:
    for line in lines:
        if not (match := _LINE.fullmatch(line)):
            raise ValueError(f"expected '+ sentence' or '- kind: sentence', got {line[:60]!r}")
        yield Case(corpus, match["kind"] or "restated", not match["kind"], match["text"], [passage])
