"""One undisturbed tiny build, and an environment without the developer's Prefect, for the tests that disturb others."""

import os
from pathlib import Path

import pytest

from tests.end_to_end.faults import build
from tests.end_to_end.namespaces import why_not


@pytest.fixture(scope="session")
def tiny_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A Prefect home of the tests' own, and a temporary folder, where object stores' files are gathered."""
    home = tmp_path_factory.mktemp("prefect")
    (home / "tmp").mkdir()
    return {
        **os.environ,
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "",
        "TMPDIR": str(home / "tmp"),
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, tiny_environment: dict[str, str]) -> Path:
    """The root of a build that nothing disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    build(folder / "data", tiny_environment, folder / "log")
    return folder / "data"


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Skips what needs them where they are not permitted."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
