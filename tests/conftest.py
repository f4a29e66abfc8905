"""Fixtures every room's tests share."""

import gc
import os
import re
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.patience import PATIENCE

_clocked = [hypothesis.HealthCheck.too_slow]  # fails where 30 seconds go by, as they may on a busy machine
hypothesis.settings.register_profile("without time limits", deadline=None, suppress_health_check=_clocked)
hypothesis.settings.load_profile("without time limits")

# Each core has test processes, so that threads of OpenMP would only wait for each other: in whatever tests start.
os.environ["OMP_NUM_THREADS"] = "1"
# Trainings that take two threads all the same would spin while one of them waits for a core.
os.environ["OMP_WAIT_POLICY"] = "passive"

# A shell lets what it runs in the background ignore Ctrl-C, and processes inherit that; tests send it to theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_COSTLY = {"prefect_server", "s3_server", "browser", "learned", "trained"}  # fixtures
_LONGEST = ("test_pattern_growth.py", "test_stage_outputs.py")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real test data beside the checkout; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real test data not found at {SHARED_DATA}")
    return SHARED_DATA


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Start three processes for two cores: a third of their time tests wait for servers, browsers and disks."""
    return (yield) * 3 // 2


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files unread all whose tests are left out: what they import takes seconds."""
    left_out = [mark for mark in ("slow", "integration") if f"not {mark}" in config.option.markexpr]
    if not left_out or collection_path.suffix != ".py":
        return None
    marks = re.findall(r"^pytestmark = (.*(?:\n    .*)*)", collection_path.read_text(encoding="utf-8"), re.MULTILINE)
    return True if any(f"pytest.mark.{mark}" in line for mark in left_out for line in marks) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage, and never look at them or at what they import again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files of those that would come last first, or one process would end long after the others. What
    needs a server, a browser or a trained model is integration."""
    for item in items:
        if _COSTLY & set(getattr(item, "fixturenames", ())):
            item.add_marker("integration")
    items.sort(key=lambda item: item.path.name not in _LONGEST)


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A real Prefect server on a temporary database, for the whole session (it takes some ten seconds to start). Flows
    of the test process send it no heartbeats: each would end only when its thread wakes, up to a second later."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    with (
        prefect_test_harness(server_startup_timeout=int(PATIENCE)),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield


@pytest.fixture(scope="session")
def s3_server() -> Iterator[int]:
    """The port of a real S3-compatible server, for the whole session; each test has a folder of its own there."""
    from tests.storage.object_store import object_store

    with object_store() as port:
        yield port


@pytest.fixture
def s3(s3_server: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The same, with what it takes to be let in."""
    from tests.storage.object_store import CREDENTIALS

    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by playwright; tests that need it are skipped where there is none."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def axe_faults() -> Callable[[Any], list[str]]:
    """What axe finds wrong on a page in the browser, as rules with their elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def found(page: Any) -> list[str]:
        violations = axe.run(page).response["violations"]
        return [f"{one['id']}: {node['html'][:200]}" for one in violations for node in one["nodes"]]

    return found
