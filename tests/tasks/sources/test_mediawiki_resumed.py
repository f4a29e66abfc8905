"""An interrupted planning of a live wiki goes on where it stopped, and asks nothing twice."""

import errno
import time
from pathlib import Path
from typing import Any

import pytest

from storage.errors import StorageFullError
from storage.file_names import parse_file_name
from storage.store import Store
from tasks.fetching.answers import Answers
from tasks.fetching.http import Patience
from tasks.sources.mediawiki import KeptAnswers, MediaWikiError, MediaWikiSource
from tasks.sources.settings import MediaWikiSettings, WikitextSettings
from tasks.sources.source import Partition
from tests.tasks.sources.dump_files import LEAD
from tests.tasks.sources.mediawiki_server import WikiServer

pytestmark = pytest.mark.integration

NAMES = [f"T{number:03}" for number in range(120)]
PAGES = {name: (100 + number, LEAD.format(name, name.lower())) for number, name in enumerate(NAMES)}


def planned(wiki: WikiServer, kept: KeptAnswers | None, folder: Path | None = None, **more: Any) -> list[Partition]:
    """Plan as a process of its own does."""
    titles = ""
    if folder is not None:
        (folder / "titles.txt").write_text("".join(f"{name}\n" for name in NAMES))
        titles = str(folder / "titles.txt")
    settings = MediaWikiSettings(api=wiki.api, titles=titles, delay_seconds=0, **more)
    patience = Patience(total_seconds=120.0, retries=0, backoff_seconds=0.01, max_backoff_seconds=0.01)
    return MediaWikiSource(settings, WikitextSettings(), contact="x@y.test", kept=kept, patience=patience).partitions()


def interrupted(wiki: WikiServer, store: Store, at: int, *given: Any, **more: Any) -> None:
    wiki.fails_from = len(wiki.asked) + at
    with pytest.raises(ConnectionError, match="HTTP 403"):
        planned(wiki, KeptAnswers(store), *given, **more)
    wiki.asked.pop()  # the one that failed
    wiki.fails_from = None


def test_a_list_of_titles_goes_on_with_the_next_fifty(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "data"))
    with WikiServer(pages=PAGES) as wiki:
        expected = planned(wiki, None, tmp_path)
        wiki.asked.clear()
        interrupted(wiki, store, 3, tmp_path)
        assert planned(wiki, KeptAnswers(store), tmp_path) == expected
        assert [fields["titles"].split("|")[0] for fields in wiki.asked] == ["T000", "T050", "T100"]


@pytest.mark.parametrize(
    "body", [{"error": "oops"}, {"query": {}}, {"query": {"pages": []}}, {"query": {"pages": [{"title": "T050"}]}}]
)
def test_an_answer_that_is_none_is_not_kept_and_is_asked_for_again(tmp_path: Path, body: Any) -> None:
    store = Store(str(tmp_path / "data"))
    with WikiServer(pages=PAGES) as wiki:
        expected = planned(wiki, None, tmp_path)
        wiki.asked.clear()
        sound = wiki.respond
        broken = lambda fields: (200, {}, body) if "T050" in fields["titles"] else sound(fields)  # noqa: E731
        with pytest.MonkeyPatch.context() as patch, pytest.raises((ConnectionError, MediaWikiError)):
            patch.setattr(wiki, "respond", broken)
            planned(wiki, KeptAnswers(store), tmp_path)
        assert planned(wiki, KeptAnswers(store), tmp_path) == expected
        assert [fields["titles"].split("|")[0] for fields in wiki.asked] == ["T000", "T050", "T050", "T100"]


def test_a_category_goes_on_from_its_token(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "data"))
    categories = {"Category:T": [*NAMES[:5], "Category:More"], "Category:More": NAMES[5:9]}
    with WikiServer(pages=PAGES, categories=categories) as wiki:
        options = {"category": "T", "category_depth": 1}
        expected = planned(wiki, None, **options)
        whole = list(wiki.asked)
        assert [fields.get("cmcontinue") for fields in whole] == [None, "2", "4", None, "2", None]
        for at in range(1, len(whole) + 1):
            wiki.asked.clear()
            interrupted(wiki, store, at, **options)
            kept = KeptAnswers(store)
            assert planned(wiki, kept, **options) == expected
            assert wiki.asked == whole
            kept.forget()


def test_what_the_check_asked_is_for_the_run_and_then_forgotten(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "data"))
    with WikiServer(pages=PAGES) as wiki:
        before = planned(wiki, KeptAnswers(store), tmp_path)
        wiki.asked.clear()
        wiki.pages = PAGES | {"T007": (900, "edited")}
        run = KeptAnswers(store)
        assert planned(wiki, run, tmp_path) == before
        assert wiki.asked == []
        run.forget()
        assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert planned(wiki, KeptAnswers(store), tmp_path) != before
        assert len(wiki.asked) == 3


def test_a_killed_process_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "data"))
    killed = KeptAnswers(store)
    for number in range(3):
        assert killed.get(f"http://w.test/{number}") is None
        killed.add(f"http://w.test/{number}", {"query": {"é": number}})
    after = KeptAnswers(store)
    assert [after.get(f"http://w.test/{number}") for number in range(4)] == [
        {"query": {"é": 0}},
        {"query": {"é": 1}},
        {"query": {"é": 2}},
        None,
    ]
    after.add("http://w.test/3", {})
    assert KeptAnswers(store).get("http://w.test/3") == {}
    files = [path.relative_to(tmp_path / "data") for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert len(files) == 2
    kinds = {found.kind for path in files if (found := parse_file_name(path.as_posix())) is not None}
    assert kinds == {"scratch"}  # so that pruning knows them


def test_an_answer_cut_off_by_a_kill_is_asked_again_and_the_others_are_kept(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "data"))
    kept = KeptAnswers(store)
    for url in ("a", "b"):
        assert kept.get(url) is None
        kept.add(url, {"query": {"of": url}})
    kept.close()
    (file,) = (path for path in (tmp_path / "data").rglob("*") if path.is_file())
    file.with_name(".another.tmp").write_bytes(b'["c", ')  # of a writer that was killed
    file.write_bytes(file.read_bytes()[:-9])
    again = KeptAnswers(store)
    assert again.get("a") == {"query": {"of": "a"}}
    assert again.get("b") is None


def test_old_answers_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path / "data"))
    kept = KeptAnswers(store)
    assert kept.get("u") is None
    kept.add("u", {"query": {}})
    kept.close()
    assert KeptAnswers(store).get("u") == {"query": {}}
    later = time.time_ns() + 90_000 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert KeptAnswers(store).get("u") is None


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptAnswers(Store(str(tmp_path / "data")))
    assert kept.get("u") is None

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Answers, "add", full)
    with pytest.raises(StorageFullError, match="no space left for"):
        kept.add("u", {})
