"""Precision, recall and F1 of an entity pipeline on Wikigold, and its speed; also typed, if it predicts types.

    python -m benchmarks.entities [--pipeline NAME] [--half first|second|both]

The shipped rules were written with the first half of the sentences in view; the second half is the figure to quote.
Three sentences in a row make one document, about as long as a paragraph of WikiSum. A span counts when both ends
agree. Types are compared after mapping the nine types of Liu & Lapata 2019, app. A.2 to Wikigold's four."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example

from benchmarks.frame import command
from tasks.text.entities import RULES, load_pipeline

WIKIGOLD = Path(__file__).resolve().parents[2] / "shared/data/wikigold/CONLL-format/data/wikigold.conll.txt"
COARSE = {
    "NAME": "NAME",  # of the shipped rules, which predict no types
    "PERSON": "PER",
    "ORG": "ORG",
    "GPE": "LOC",
    "LOC": "LOC",
    "FAC": "LOC",
    "NORP": "MISC",
    "EVENT": "MISC",
    "WORK_OF_ART": "MISC",
    "LAW": "MISC",
}


def read_sentences(path: Path) -> list[tuple[list[str], list[str]]]:
    """Return the words and IO tags of each sentence."""
    sentences: list[tuple[list[str], list[str]]] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        pairs = [line.rsplit(" ", 1) for line in block.splitlines() if line and not line.startswith("-DOCSTART-")]
        if pairs:
            sentences.append(([word for word, _ in pairs], [tag.removeprefix("I-") for _, tag in pairs]))
    return sentences


def gold_spans(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of a sequence of IO tags."""
    start = 0
    for i in range(1, len(tags) + 1):
        if i == len(tags) or tags[i] != tags[start]:
            if tags[start] != "O":
                yield start, i, tags[start]
            start = i


def main(pipeline: str = RULES, half: Literal["first", "second", "both"] = "both") -> None:
    """Print the figures of one pipeline."""
    sentences = read_sentences(WIKIGOLD)
    middle = len(sentences) // 2
    halves = {"first": sentences[:middle], "second": sentences[middle:]}
    nlp = load_pipeline(pipeline)
    for name, part in halves.items():
        if half in (name, "both"):
            measure(nlp, name, part)
    texts = [" ".join(word for words, _ in sentences[i : i + 3] for word in words) for i in range(0, len(sentences), 3)]
    started = time.process_time()
    for _ in nlp.pipe(texts, batch_size=256):
        pass
    seconds = time.process_time() - started
    words = sum(len(text.split()) for text in texts)
    rate, mean = len(texts) / seconds, words / len(texts)
    print(f"speed: {rate:,.0f} paragraphs/s of {mean:.0f} words on one core, each text new")


def measure(nlp: Language, half: str, sentences: list[tuple[list[str], list[str]]]) -> None:
    """Print precision, recall and F1 over some sentences."""
    examples, names = [], 0
    for d in range(0, len(sentences), 3):
        words = [word for words, _ in sentences[d : d + 3] for word in words]
        found, gold = (Doc(nlp.vocab, words=words) for _ in range(2))
        for _, component in nlp.pipeline:
            found = component(found)
        found.ents = [Span(found, e.start, e.end, COARSE[e.label_]) for e in found.ents if e.label_ in COARSE]
        spans = gold_spans([tag for _, tags in sentences[d : d + 3] for tag in tags])
        gold.ents = [Span(gold, start, end, label) for start, end, label in spans]
        names += len(gold.ents)
        examples.append(Example(found, gold))
    for kind in ("untyped",) if nlp.meta["name"] == RULES else ("untyped", "typed"):
        score = Scorer.score_spans(examples, "ents", labeled=kind == "typed")
        shown = " ".join(f"{name} {score[f'ents_{key}']:.3f}" for name, key in (("P", "p"), ("R", "r"), ("F1", "f")))
        print(f"{half:6} half, {names} names, {kind:7}: {shown}")


if __name__ == "__main__":
    command(main, __doc__)
