"""The command of human evaluation: its options are the settings, its results an artifact in a real server."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from prefect.settings import PREFECT_API_URL

from flows.human_evaluation import human_evaluation
from flows.running.root_command import options_of, settings_from
from tasks.human_evaluation.settings import StudySettings
from tests.patience import PATIENCE
from tests.tasks.human_evaluation.studies import chooser, filled, study

PROJECT = Path(__file__).parents[2]


def test_options_are_the_fields_of_the_settings() -> None:
    options = options_of(StudySettings)
    assert list(options) == [f"--{name}" for name in StudySettings.model_fields]
    given = argparse.Namespace(systems="ht,lead", articles="7", action="prepare")
    chosen = settings_from(StudySettings, given)
    assert (chosen.systems, chosen.articles, chosen.task) == (("ht", "lead"), 7, "best-worst")
    with pytest.raises(ValueError, match=r"^settings are wrong\n  criteria\.1: Input should be .*given: 'beauty'"):
        settings_from(StudySettings, argparse.Namespace(criteria="fluency,beauty"))


@pytest.mark.integration
def test_a_study_is_scored_and_published(prefect_server: None, tmp_path: Path) -> None:
    of = study(articles=6, raters=2)
    (tmp_path / "key.json").write_text(of.to_json())
    files = []
    for number in of.forms:
        files.append(str(tmp_path / f"{number}.json"))
        Path(files[-1]).write_text(filled(of, number, chooser({"ht": 3, "t-dmca": 2, "ft": 1, "lead": 0}, 0, 1)))
    text = human_evaluation(str(tmp_path), files)
    assert "Krippendorff's alpha 1.00" in text
    url = f"{PREFECT_API_URL.value()}/artifacts/tiny-human-best-worst/latest"
    artifact = requests.get(url, timeout=PATIENCE).json()
    assert artifact["data"].startswith("## Human evaluation")
    assert artifact["description"] == (
        "tiny: 4 systems judged by people (best-worst), 6 articles of build 20261122-000000-abc."
    )


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["score", "--study", "absent", "a.json"], 1, "score stopped: absent has no key.json: expected the folder"),
        (["prepare", "--root", "absent", "--to", "s"], 1, "prepare stopped: root 'absent' does not exist"),
        (["prepare", "--to", "s", "--task", "best"], 1, "task: Input should be 'qa', 'best-worst' or 'ratings'"),
        (["prepare"], 2, "the following arguments are required: --to"),
        ([], 2, "the following arguments are required: ACTION"),
    ],
)
def test_mistakes_are_answered_in_a_line(tmp_path: Path, arguments: list[str], code: int, problem: str) -> None:
    command = [sys.executable, "-m", "flows.human_evaluation", *arguments]
    environment = {
        "PYTHONPATH": str(PROJECT),
        "PATH": "",
        "HOME": str(tmp_path),
        "PREFECT_API_URL": "http://127.0.0.1:9/api",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
