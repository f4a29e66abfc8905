"""What a program starts, and the progress that it is shown."""

import io
import sys
from pathlib import Path

import psutil
import pytest

from flows.running.from_python import progress_of, run_command, shown_progress
from storage.root import root_lock
from storage.store import Store
from tasks.engine.progress import Progress

OUTPUT = """loading
4 of 9 stages are left to compute
10:00:00.000 | INFO    | Flow run 'build-x' - Beginning flow run 'build-x' for flow 'build-wikisum'
10:00:01.000 | INFO    | Flow run 'build-x' - articles: computing 8 of 8: never made here
10:00:02.000 | INFO    | Task run 'articles-00001' - Finished in state Completed()
10:00:03.000 | INFO    | Flow run 'build-x' - search: computing 8 of 8: never made here
10:00:04.000 | WARNING | Flow run 'build-x' - search: a page is damaged
10:00:05.000 | INFO    | Task run 'ranker' - ranker: step 10 of 40
"""


def test_progress_is_the_last_log_line_and_the_share_of_stages_that_are_done() -> None:
    assert list(progress_of(OUTPUT.splitlines(keepends=True))) == [
        Progress("articles: computing 8 of 8: never made here", 0.0),
        Progress("search: computing 8 of 8: never made here", 0.25),
        Progress("ranker: step 10 of 40", 0.25),
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_which_goes_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "21")
    with shown_progress(None) as report:
        report(Progress("articles: computing 8 of 8", 0.5))
        report(Progress("done", 1.0))
    assert terminal.getvalue().split("\r") == ["", " 50 %  articles: com", f"{'100 %  done':<20}", " " * 11, ""]


def test_elsewhere_nothing_is_shown_and_a_function_of_the_program_is_called_instead(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now, taken = Progress("done", 1.0), list[Progress]()
    with shown_progress(None) as report:
        report(now)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with shown_progress(taken.append) as report:
        report(now)
    assert (capsys.readouterr().err, terminal.getvalue(), taken) == ("", "", [now])


def test_a_wrong_setting_is_named_before_anything_starts() -> None:
    with pytest.raises(ValueError, match=r"^seed: .* \(given: 'x'\)$"):
        run_command("build", {"seed": "x"}, lambda now: None)


@pytest.mark.integration
def test_a_command_that_fails_says_why_beside_a_file_with_our_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.py").write_text("raise SystemExit('the wrong models')")
    settings = {"preset": "records", "root": f"{tmp_path}/root", "source.records.paths": [f"{tmp_path}/none.jsonl"]}
    with pytest.raises(RuntimeError, match=r"^no such file: .*none\.jsonl \(source\.records\.paths\)$"):
        run_command("corpus", settings, lambda now: None)


@pytest.mark.integration
def test_an_interruption_ends_the_command_and_frees_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("PREFECT_API_URL", "")
    root, before, seen = str(tmp_path / "root"), children(), list[Progress]()

    def interrupted(now: Progress) -> None:
        seen.append(now)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_command("corpus", {"root": root, "source": {"miniweb": {"topics": 24}}}, interrupted)
    assert seen == [Progress("intake: computing 1 of 1: never made here", 0.0)]
    assert children() <= before
    with root_lock(Store(root)):
        pass


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}
