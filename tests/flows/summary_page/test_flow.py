"""The deployment's flow on a real Prefect server: the artifact shows the summary; nothing usable is a failed run."""

import re
from pathlib import Path

import pytest
from prefect.artifacts import Artifact

from flows.summarize import summarize
from tests.tasks.cited_summary.topic import GERMAN, HISTORY, TITLE, page_of

pytestmark = pytest.mark.integration


@pytest.mark.usefixtures("prefect_server")
def test_the_artifact_shows_what_the_flow_returns(tmp_path: Path) -> None:
    (tmp_path / "history.txt").write_text(HISTORY)
    returned = summarize(TITLE, [str(tmp_path)])
    shown = Artifact.get("summary")
    assert shown is not None
    assert re.sub(r"\\\[(\d+)\\\]", r"[\1]", str(shown.data)) == re.sub(r"\[\^(\d+)\]:?", r"[\1]", returned)
    assert "\n\\[1\\] " in str(shown.data)
    assert shown.description == f"{TITLE}: written by concepts"
    assert "[^1]: " in returned


@pytest.mark.usefixtures("prefect_server")
def test_a_run_without_a_usable_source_fails_with_every_reason(tmp_path: Path) -> None:
    (tmp_path / "german.html").write_text(page_of(GERMAN))
    with pytest.raises(ValueError, match=r"german\.html: its text is not in the language of the summary, 'en'\."):
        summarize(TITLE, [str(tmp_path / "german.html")])
    with pytest.raises(ValueError, match="a deployment has no standard input"):
        summarize(TITLE, ["-"])
