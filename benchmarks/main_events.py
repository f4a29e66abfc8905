"""In how many piles a summary of 150 words tells the main event: `concepts`, and Lead, which learns nothing.

    python -m benchmarks.main_events DATA [--seen]

DATA is the folder of shared data. The piles are articles of FreshWiki without their leads, and `main_events.txt` has
the words of the main event of each. A text has the event if one sentence has them all. The first row says whether any
sentence of the pile does. `--seen` also prints the summaries that lack the event, of piles that may be looked at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.extractors import Topic, topics_of_leads
from benchmarks.frame import command
from models.extractive import first_words
from models.sentences import split_sentences
from tasks.extractive.choosing import choose

LENGTH, READ = 150, 200  # words of a summary; passages, as the page of summaries reads
GOAL = 0.9
_LABELS = Path(__file__).with_suffix(".txt")


@dataclass(frozen=True)
class MainEvent:
    """What a sentence of a summary of an article must have: a match of each pattern."""

    part: str  # seen | unseen
    title: str
    patterns: tuple[re.Pattern[str], ...]

    def is_in(self, text: str) -> bool:
        """Tell whether one sentence of a text has all of it."""
        return any(all(pattern.search(each) for pattern in self.patterns) for each in split_sentences(text))


def main_events(path: Path = _LABELS) -> Iterator[MainEvent]:
    """Yield the labels of a file. Raises ValueError: a line is not "part: title = words ; words"."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"(seen|unseen): (.+?) = (.+)", line)
        if match is None:
            raise ValueError(f"{path.name}: expected 'seen: title = words ; words', got {line[:60]!r}")
        groups = (map(re.escape, group.strip().split("|")) for group in match[3].split(";"))
        yield MainEvent(match[1], match[2], tuple(re.compile(rf"(?i)\b(?:{'|'.join(g)})") for g in groups))


def summaries(topic: Topic) -> dict[str, list[str]]:
    """Return the passages of a pile, and the summary by each system."""
    texts = topic.best(READ)
    return {
        "the pile": texts,
        "Lead": [first_words(texts, LENGTH)],
        "concepts": [" ".join(each.text for each in choose(topic.title, topic.passages[:READ], LENGTH))],
    }


def main(data: str, seen: bool = False) -> int:
    """Print the table; status 1 where `concepts` misses the goal on piles that nobody looked at."""
    topics = {topic.title: topic for topic in topics_of_leads(Path(data) / "freshwiki_lead.jsonl.gz")}
    told: dict[str, dict[str, list[bool]]] = {}
    for event in main_events():
        for name, texts in summaries(topics[event.title]).items():
            told.setdefault(name, {}).setdefault(event.part, []).append(any(map(event.is_in, texts)))
            if seen and event.part == "seen" and name == "concepts" and not told[name]["seen"][-1]:
                print(f"{event.title}: {texts[0]}\n")
    print(f"{'main event told':20}{'seen':>12}{'unseen':>12}")
    for name, parts in told.items():
        print(f"{name:20}" + "".join(f"{sum(parts[p]):>6} of {len(parts[p])}" for p in ("seen", "unseen")))
    unseen = told["concepts"]["unseen"]
    return int(sum(unseen) < GOAL * len(unseen))


if __name__ == "__main__":
    command(main, __doc__)
