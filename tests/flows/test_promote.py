"""Making a version the champion by hand, from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.promote import promote
from storage.errors import StorageError
from storage.inventory import take_stock
from storage.store import Store
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[2]


@pytest.mark.integration
def test_a_version_that_is_not_there_is_named_before_a_server_is_started(tmp_path: Path) -> None:
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home"), "PREFECT_API_URL": ""}
    take_stock(Store(str(tmp_path / "data")))
    done = subprocess.run(
        [sys.executable, "-m", "flows", "promote", "--to", "3", "--root", str(tmp_path / "data")],
        cwd=PROJECT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("wikisum promote stopped: no version 3 below ")


def test_a_deployment_says_so_in_one_line(
    prefect_server: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    take_stock(Store(str(tmp_path)))
    with pytest.raises(StorageError, match="no version 3"):
        promote(str(tmp_path), 3)
    assert "stopped: StorageError: no version 3" in caplog.text
    assert "Traceback" not in caplog.text
