"""The labels of main events, and what a summary must have to tell one."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import main_events as benchmark
from benchmarks.main_events import main, main_events


def test_one_sentence_must_have_a_word_of_each_group(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("# a comment\nseen: The match = Leeds ; won|beat\n", encoding="utf-8")
    (event,) = main_events(labels)
    assert (event.part, event.title) == ("seen", "The match")
    assert event.is_in("It rained. Leeds BEAT York.")
    assert not event.is_in("Leeds played York. York won.")
    assert not event.is_in("Leeds was unbeaten.")  # words match where a word begins


def test_a_line_that_is_no_label_is_named(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("read: The match = Leeds\n", encoding="utf-8")
    with pytest.raises(ValueError, match="expected 'seen: title = words ; words', got 'read: The match = Leeds'"):
        list(main_events(labels))


def test_the_labels_name_each_pile_once() -> None:
    titles = [event.title for event in main_events()]
    assert len(titles) == len(set(titles)) == 37


MATCH = "Leeds won the match in 1990."


def run(
    data: Path, labels: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, seen: bool = False
) -> list[str]:
    """The status of the benchmark on two piles, and the lines that it prints, without empty ones."""
    filler = " ".join(f"Player {n} of Leeds was on the field in the match for a while." for n in range(40))
    piles = {"The match": f"{filler} {MATCH}", "The_fire": "It rained. A fire burned Leeds."}
    with gzip.open(data / "freshwiki_lead.jsonl.gz", "wt", encoding="utf-8") as file:
        for title, text in piles.items():
            section = {"title": "Report", "text": text}
            file.write(json.dumps({"title": title, "lead": "Unread.", "sections": [section]}) + "\n")
    path = data / "labels.txt"
    path.write_text(labels, encoding="utf-8")
    monkeypatch.setattr(benchmark, "main_events", lambda: main_events(path))
    status = main(str(data), seen=seen)
    return [str(status), *(" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line)]


def test_each_row_counts_the_piles_whose_text_tells_the_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lead reads the first 150 words, which do not say who won; the other pile is shorter than that."""
    labels = "seen: The match = Leeds ; won\nunseen: The fire = fire ; burned\nunseen: The match = Leeds ; won\n"
    assert run(tmp_path, labels, monkeypatch, capsys) == [
        "0",
        "main event told seen unseen",
        "the pile 1 of 1 2 of 2",
        "Lead 0 of 1 1 of 2",
        "concepts 1 of 1 2 of 2",
    ]


def test_an_unseen_event_that_concepts_does_not_tell_misses_the_goal_and_only_seen_summaries_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = "unseen: The fire = flooded\nseen: The match = drew\nseen: The match = won\n"
    status, shown, *table = run(tmp_path, labels, monkeypatch, capsys, seen=True)
    assert status == "1" and shown.startswith("The match: ") and MATCH in shown
    assert run(tmp_path, labels, monkeypatch, capsys) == [status, *table]
    assert table[1:] == ["the pile 1 of 2 0 of 1", "Lead 0 of 2 0 of 1", "concepts 1 of 2 0 of 1"]
