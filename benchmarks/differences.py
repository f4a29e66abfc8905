"""How many contradictions between two notes are listed, and how many pairs that only look contradictory.

    python -m benchmarks.differences

`differences.txt` has pairs by hand: "!" begins those that contradict each other, "=" the others; " / " is a line break.
Two rules that learn nothing are measured too: list every pair, and list each pair whose numbers differ."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.frame import command
from models.values import find_values
from tasks.extractive.differences import find_differences
from tasks.extractive.pile import PilePassage

_PAIRS = Path(__file__).with_suffix(".txt")


@dataclass(frozen=True)
class NotePair:
    """Two notes of different sources."""

    part: str  # of the file
    contradict: bool
    title: str
    notes: tuple[str, str]


def pairs() -> Iterator[NotePair]:
    """Yield the pairs of the file. Raises ValueError: a block has not three lines."""
    part = ""
    for block in _PAIRS.read_text(encoding="utf-8").split("\n\n"):
        if block.startswith("## "):
            part = block.strip("# \n")
            continue
        head, one, other = block.strip().split("\n")
        yield NotePair(part, head.startswith("!"), head[2:], (one, other))


def _ours(pair: NotePair) -> bool:
    passages = [
        PilePassage(text.replace(" / ", "\n"), str(number), note=True) for number, text in enumerate(pair.notes)
    ]
    return any(not item.changed for item in find_differences(pair.title, passages))


def _numbers_differ(pair: NotePair) -> bool:
    one, other = ({value for value in find_values(note) if value.kind != "name"} for note in pair.notes)
    return one != other


RULES: Mapping[str, Callable[[NotePair], bool]] = {
    "ours": _ours,
    "other numbers": _numbers_differ,
    "every pair": lambda pair: True,
}


def main() -> int:
    """Print a table a part; status 1 where ours lists a pair that does not contradict itself."""
    wrong = 0
    for part in dict.fromkeys(pair.part for pair in pairs()):
        print(part)
        for name, listed in RULES.items():
            right, false = (
                [listed(pair) for pair in pairs() if pair.part == part and pair.contradict is side]
                for side in (True, False)
            )
            print(f"  {name:14} {sum(right):3} of {len(right)} contradictions, {sum(false):3} of {len(false)} others")
            wrong += sum(false) if name == "ours" else 0
    return int(wrong > 0)


if __name__ == "__main__":
    command(main, __doc__)
