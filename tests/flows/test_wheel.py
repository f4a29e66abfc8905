"""The wheel: what lies in it is enough for the command and for serving, from any folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.patience import PATIENCE

pytestmark = pytest.mark.integration
PROJECT = Path(__file__).parents[2]
FLOWS = """
import yaml
from prefect.flows import load_flow_from_entrypoint
import flows
from flows.running.prefect_setup import DEPLOYMENTS

print(flows.__file__)
for one in yaml.safe_load(DEPLOYMENTS.read_text())["deployments"]:
    assert load_flow_from_entrypoint(one["entrypoint"]).name == one["name"]
    print(one["name"])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel's packages; made of a copy, in which setuptools leaves what it makes on the way."""
    copied, folder = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("site")
    for name in ("pyproject.toml", "README.md", "LICENSE", "wikisum.py"):
        shutil.copy(PROJECT / name, copied)
    for name in ("storage", "models", "tasks", "flows"):
        shutil.copytree(PROJECT / name, copied / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(copied), str(copied)], check=True, timeout=PATIENCE)
    (wheel,) = copied.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def run(installed: Path, folder: Path, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout


def test_its_command_runs_from_any_folder(installed: Path, tmp_path: Path) -> None:
    (names,) = installed.glob("wikisum-*.dist-info/entry_points.txt")
    assert "wikisum = flows.__main__:main" in names.read_text()
    start = "from flows.__main__ import main; main()"
    assert "--pool" in run(installed, tmp_path, "-c", start, "serve", "--help")
    planned = run(installed, tmp_path, "-c", start, "corpus", "--dry-run")
    assert "plan for root 'data', preset miniweb" in planned  # with the preset's file, which is no module


def test_its_module_is_imported_from_any_folder(installed: Path, tmp_path: Path) -> None:
    imported = run(installed, tmp_path, "-c", "import wikisum; print(wikisum.__file__, wikisum.__all__)")
    assert imported.startswith(f"{installed / 'wikisum.py'} ['Corpus', ")


def test_it_brings_its_deployments(installed: Path, tmp_path: Path) -> None:
    file, *names = run(installed, tmp_path, "-c", FLOWS).split()
    assert file == str(installed / "flows" / "__init__.py")
    assert {"build-wikisum", "retrain", "summarize"} <= set(names)
