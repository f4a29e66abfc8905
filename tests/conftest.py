"""Fixtures every room's tests share."""

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.patience import PATIENCE

hypothesis.settings.register_profile("without time limits", deadline=None)
hypothesis.settings.load_profile("without time limits")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real test data beside the checkout; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real test data not found at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A real Prefect server on a temporary database, for the whole session (it takes some ten seconds to start)."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=int(PATIENCE)):
        yield
