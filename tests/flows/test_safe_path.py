"""What Prefect starts beside its own `storage.py`, as hooks of crashed and cancelled runs, finds our package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flows.running.prefect_setup import DEPLOYMENTS

WRITTEN = yaml.safe_load(DEPLOYMENTS.read_text())


@pytest.mark.parametrize("deployment", WRITTEN["deployments"], ids=lambda one: one["name"])
def test_a_program_beside_another_storage_imports_ours(deployment: dict, tmp_path: Path) -> None:
    (tmp_path / "storage.py").write_text("raise SystemExit('the wrong storage')")
    (program := tmp_path / "hook.py").write_text("import storage.builds; print(storage.builds.LATEST)")
    environment = {**os.environ, **deployment["work_pool"]["job_variables"]["env"]}
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("builds/latest.json\n", "")
