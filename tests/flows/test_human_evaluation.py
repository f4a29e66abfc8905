"""The command of human evaluation: its options are the settings, its results an artifact in a real server."""

import argparse
import runpy
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
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning", "ignore:A flow named:UserWarning")
def test_mistakes_are_answered_in_a_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    problem: str,
) -> None:
    """Run as a script, in this process, which has its libraries already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["human_evaluation", *arguments])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("flows.human_evaluation", run_name="__main__")
    assert end.value.code == code
    assert problem in capsys.readouterr().err
