"""The labels of main events, and what a summary must have to tell one."""

from pathlib import Path

import pytest

from benchmarks.main_events import main_events


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
