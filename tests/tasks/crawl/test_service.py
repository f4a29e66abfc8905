"""A client of a service: what concerns it whichever archive it asks."""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.crawl.safety import FetchError
from tasks.crawl.service import Service
from tasks.crawl.settings import CrawlSettings


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """What the resolver waits for; set when the test is over."""
    ended = threading.Event()
    yield ended
    ended.set()


@pytest.mark.parametrize("queue", ["index.test", None])
def test_look_up_that_hangs_ends_the_request(
    queue: str | None, hanging: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolver(host: str, port: int) -> list[str]:
        hanging.wait(60)
        return []

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    common = {"retries": 1, "backoff_seconds": 0.01, "delay_seconds": 0.0}
    settings = CrawlSettings(lookup_seconds=0.1, common_crawl=common)
    with (
        Service("http://index.test/x", settings, settings.common_crawl, {}, queue=queue, resolver=resolver) as service,
        pytest.raises(FetchError, match="dns_timeout"),
    ):
        service.get("http://index.test/x", max_bytes=10)
