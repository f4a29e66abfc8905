"""The command of human evaluation: its options are the settings, its results an artifact in a real server."""

from pathlib import Path

import pytest
import requests
from prefect.settings import PREFECT_API_URL

from flows.human_evaluation import human_evaluation
from tests.flows.command_line import commands_in_this_process, understood
from tests.patience import PATIENCE
from tests.tasks.human_evaluation.studies import chooser, filled, study


def test_options_are_the_fields_of_the_settings() -> None:
    chosen = understood("judge", "prepare", "--to", "s", "--systems", "ht,lead", "--articles", "7").arguments[
        "settings"
    ]
    assert (chosen.systems, chosen.articles, chosen.task) == (("ht", "lead"), 7, "best-worst")
    with pytest.raises(ValueError, match=r"^criteria\.1: Input should be .*given: 'beauty'"):
        understood("judge", "prepare", "--to", "s", "--criteria", "fluency,beauty")


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
        (
            ["score", "--study", "absent", "a.json"],
            1,
            "wikisum judge score stopped: absent has no key.json: expected the folder",
        ),
        (
            ["prepare", "--root", "absent", "--to", "s"],
            1,
            "wikisum judge prepare stopped: root 'absent' does not exist",
        ),
        (["prepare", "--to", "s", "--task", "best"], 2, "task: Input should be 'qa', 'best-worst' or 'ratings'"),
        (["prepare"], 2, "parameter --to requires an argument"),
        (["prepaer"], 2, 'Did you mean "prepare"?'),
    ],
)
def test_mistakes_are_answered_in_two_lines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with commands_in_this_process(monkeypatch, capfd) as run:
        done = run("judge", *arguments)
    assert done.returncode == code
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) <= 2
