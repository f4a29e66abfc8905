import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from storage.builds import Build, build_names, latest_build, read_build, record_build, save_build, summarise
from storage.directories import DirectoryRecord
from storage.errors import RootBusyError, StorageError
from storage.recipes import ShardRecord
from storage.root import root_lock
from storage.store import Store, WrittenTable
from tests.patience import PATIENCE, wait_until

BUILD = Build("20261120-101500", "2026-11-20T10:15:00+00:00", {"seed": 1}, {"articles": {"0": "ab"}}, {}, {})


def test_the_latest_build_is_the_one_saved_last(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert latest_build(store) is None
    save_build(store, BUILD)
    later = Build("20261121-101500", *list(vars(BUILD).values())[1:])
    save_build(store, later)
    assert latest_build(store) == later
    assert read_build(store, BUILD.name) == BUILD
    save_build(store, Build("20261122-101500", *list(vars(BUILD).values())[1:]), latest=False)
    assert latest_build(store) == later
    assert build_names(store) == [BUILD.name, later.name, "20261122-101500"]


def test_a_corpus_that_a_whole_build_has_does_not_hide_it(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    articles, pages, summarizer = shard("articles"), shard("pages"), model("models/summarizer")
    corpus = record_build(store, {}, {"articles": {0: articles}}, {})
    assert latest_build(store) == corpus
    trained = record_build(
        store, {}, {"articles": {0: articles}, "pages": {0: pages}}, {"models/summarizer": summarizer}
    )
    assert latest_build(store) == trained
    again = record_build(store, {}, {"articles": {0: articles}}, {})  # `wikisum corpus` once more
    assert latest_build(store) == trained
    assert build_names(store) == [corpus.name, trained.name, again.name]
    whole = record_build(store, {}, {"articles": {0: articles}, "pages": {0: pages}}, {"models/summarizer": summarizer})
    assert latest_build(store) == whole  # the same is not a part


def test_a_run_that_made_nothing_new_writes_no_further_build(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    articles, pages = {"articles": {0: shard("articles")}}, {"pages": {0: shard("pages")}}
    settings = {"seed": 1, "source": {"url": "https://me:secret@example.org/"}}
    first = record_build(store, settings, articles | pages, {}, model("reports"))
    again = record_build(store, settings, articles | pages, {}, model("reports"))
    assert (again.name, again.created, build_names(store)) == (first.name, first.created, [first.name])
    part = record_build(store, settings, articles, {})
    assert record_build(store, settings, articles, {}).name == part.name
    assert record_build(store, settings, articles | pages, {}, model("reports")).name == first.name
    assert build_names(store) == [first.name, part.name]
    other = record_build(store, {"seed": 2}, articles | pages, {}, model("reports"))
    weekly = record_build(store, {"seed": 2}, articles | pages, {}, model("reports"), label="week")
    assert build_names(store) == [first.name, part.name, other.name, weekly.name]
    (tmp_path / "builds" / "latest.json").write_text("damaged")
    healed = record_build(store, {"seed": 2}, articles | pages, {}, model("reports"))
    assert latest_build(store) == healed
    assert build_names(store)[-1] == healed.name != weekly.name


def test_where_the_latest_build_has_no_summarizer_an_older_one_has(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert latest_build(store, having="models/summarizer") is None
    first = record_build(
        store, {}, {"articles": {0: shard("articles")}}, {"models/summarizer": model("models/summarizer")}
    )
    (tmp_path / "builds" / "20000101-000000-abcdef.json").write_text("damaged")
    later = record_build(store, {}, {"articles": {0: shard("other")}}, {})
    assert latest_build(store) == later
    assert latest_build(store, having="models/summarizer") == first
    assert latest_build(store, having="articles") == later
    assert latest_build(store, having="models/ranker") is None


def shard(name: str) -> ShardRecord:
    return ShardRecord(name, 0, "0" * 16, WrittenTable(1, 1, "", ""), {}, {}, {}, 1, 1.0, 1)


def model(name: str) -> DirectoryRecord:
    return DirectoryRecord(name, "0" * 16, {}, "", {}, {}, {}, 1.0)


def test_builds_of_one_second_are_sorted_as_they_were_recorded(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    names = [record_build(store, {}, {}, {}, label=label).name for label in ("zebra", "gnu", "ant", "zebra")]
    assert build_names(store) == names
    assert len(set(names)) == 4


@pytest.mark.parametrize("order", [("clone", "duplicate", "too_short"), ("too_short", "duplicate", "clone")])
def test_reasons_are_summed_most_first_and_equal_counts_by_name(order: tuple[str, ...]) -> None:
    counts = {"clone": 1, "duplicate": 1, "too_short": 2}
    drops = {reason: counts[reason] for reason in order}
    records = [ShardRecord("paragraphs", n, "0", WrittenTable(9, 1, "", ""), drops, {}, {}, 1, 1.0, 1) for n in (0, 1)]
    assert list(summarise(records)["drops"].items()) == [("too_short", 4), ("clone", 2), ("duplicate", 2)]


def test_the_pointer_is_no_build(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    save_build(store, BUILD)
    with pytest.raises(StorageError, match=r"no build 'latest' below .*; existing builds: 20261120-101500"):
        read_build(store, "latest")


def test_an_unknown_build_is_answered_with_those_there_are(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    save_build(store, BUILD)
    with pytest.raises(StorageError, match=r"no build 'x' below .*; existing builds: 20261120-101500"):
        read_build(store, "x")


def test_a_second_run_is_refused_and_told_who_holds_the_root(tmp_path: Path) -> None:
    script = (
        "import sys; from storage.root import root_lock; from storage.store import Store\n"
        "with root_lock(Store(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)  # the kernel lets go of no lock of a process that lies still
        with (
            pytest.raises(RootBusyError, match=f"another build is running on root .*process {holder.pid} on "),
            root_lock(Store(str(tmp_path))),
        ):
            pass
        holder.kill()
    with root_lock(Store(str(tmp_path))):
        pass  # the kernel let go with the killed process


def test_a_run_waits_for_the_one_that_holds_the_root(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store, entered = Store(str(tmp_path)), Event()

    def second() -> None:
        with root_lock(store, wait_seconds=PATIENCE, retry_seconds=0.05):
            entered.set()

    waiting = Thread(target=second)
    with root_lock(store):
        waiting.start()
        wait_until(lambda: "waiting up to" in caplog.text, "the second run's word that it waits")
        assert not entered.is_set()
    waiting.join(PATIENCE)
    assert entered.is_set()
