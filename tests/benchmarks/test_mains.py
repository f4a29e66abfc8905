"""Every benchmark ends at a small size: what it measures changes, and its figures are to be had again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
# Options of a small size. A goal that is missed at it makes the status 1, which says nothing here.
SMALL: dict[str, list[str]] = {
    "columnar_index": ["--rows", "20000", "--urls", "1000"],
    "crawl": ["--pages", "100", "--hosts", "5", "--rounds", "1"],
    "differences": [],
    "edited_articles": ["--seeds", "3", "--topics", "300", "--frozen", "60"],
    "false_promotions": ["--years", "20", "--articles", "200", "--recent", "100"],
    "labels": ["--rounds", "1"],
    "near_duplicates": ["--shards", "1", "--articles", "12"],
    "sentences": [],
    "summarize": ["--rounds", "1"],
    "training": ["--device", "cpu", "--rounds", "1"],
}
OF_SHARED_DATA: dict[str, list[str]] = {
    "main_events": ["{data}"],
    "mirrors": ["{data}/wikigraph", "--leads", "1", "--pages", "3"],
    "rights": ["{data}/extraction/html", "--pages", "5"],
}
ELSEWHERE = {
    **dict.fromkeys(("orchestration", "stages", "scisummnet", "kills"), "its parts, in a file beside"),
    "crawl_memory": "minutes at its smallest size",
    **dict.fromkeys(("extractors", "fools", "paragraph_quality"), "needs the root of a build"),
    "teach_writer": "minutes, for one step of training",
    "main_text": "minutes, of the pages that its classifier learns from",
    "extraction": "minutes, with the peers that only its own extra installs",
}


def test_every_benchmark_is_run_or_has_its_reason() -> None:
    files = (PROJECT / "benchmarks").glob("*.py")
    mains = {file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8")}
    assert mains == {*SMALL, *OF_SHARED_DATA, *ELSEWHERE}


def output_of(name: str, options: list[str]) -> str:
    """Run a benchmark in a process of its own and return what it prints."""
    call = [sys.executable, "-m", f"benchmarks.{name}", *options]
    ended = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr, ended.stderr[-2000:]
    assert ended.returncode in (0, 1), ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_ends_with_figures(name: str) -> None:
    assert re.search(r"\d", output_of(name, SMALL[name]))


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("name", OF_SHARED_DATA)
def test_a_benchmark_of_real_pages_ends_with_figures(name: str, shared_data: Path) -> None:
    assert re.search(r"\d", output_of(name, [option.format(data=shared_data) for option in OF_SHARED_DATA[name]]))
