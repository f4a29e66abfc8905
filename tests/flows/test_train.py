"""Each command does the part of a build that it names, and keeps what it has made."""

import subprocess
import sys
from pathlib import Path

import pytest

from flows.config import BuildConfig
from flows.running.commands import app
from flows.running.session import Session
from flows.train import trained_ranker, trained_summarizer
from storage.builds import build_names, latest_build, read_build
from storage.store import Store
from tests.flows.recording import walked
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[2]
CONFIG = BuildConfig.model_validate({"shards": {"articles": 2, "hosts": 1}})
COMMANDS = [name for name in app.resolved_commands() if not name.startswith("-")]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "flows", *arguments],
        cwd=PROJECT,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.integration
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_ends_well_without_reading_its_options(command: str) -> None:
    done = run(command, "--no-such-option", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "made", "not_made"),
    [
        (("train", "ranker"), "models/ranker", "models/summarizer"),
        (("train", "summarizer"), "models/summarizer", "predictions"),
        (("train",), "models/summarizer", "predictions"),
        (("evaluate",), "reports", "attention"),
    ],
)
def test_a_plan_ends_with_what_was_asked_for(
    arguments: tuple[str, ...], made: str, not_made: str, tmp_path: Path
) -> None:
    done = run(*arguments, "--dry-run", "--root", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    stages = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("│")]
    assert stages[-1] == made
    assert not_made not in stages


@pytest.mark.integration
def test_a_model_that_is_none_is_answered_with_those_there_are() -> None:
    done = run("train", "rankr")
    assert done.returncode == 2
    assert 'Choose from: "ranker", "summarizer". Did you mean "ranker"?' in done.stderr


@pytest.mark.parametrize(("wiring", "model"), [(trained_ranker, "ranker"), (trained_summarizer, "summarizer")])
def test_what_was_trained_is_told_and_kept_from_pruning(wiring: object, model: str, tmp_path: Path) -> None:
    said: list[str] = []

    def telling(session: Session) -> None:
        said.append(wiring(session))  # type: ignore[operator]

    walked(CONFIG, telling, tmp_path)
    store = Store(str(tmp_path))
    (name,) = build_names(store)
    folder = read_build(store, name).models[f"models/{model}"]
    assert said == [f"{tmp_path}/{folder}: 7 parameters, validation loss floor 0.1, validation loss 0.2"]
    latest = latest_build(store)
    assert latest is not None
    assert latest.name == name  # summaries, explorer and figures take it from now on


def test_a_walk_within_another_leaves_the_manifest_to_that(tmp_path: Path) -> None:
    walked(CONFIG, lambda session: session.once(trained_ranker), tmp_path)
    assert build_names(Store(str(tmp_path))) == []
