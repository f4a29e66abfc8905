"""A client of a service: what concerns it whichever archive it asks."""

import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.fetching.http import Patience, Response, retry_wait
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CrawlSettings
from tests.tasks.fetching.loopback_server import Exchange, LoopbackServer, answer

PATIENCE = Patience(total_seconds=60.0, retries=2, backoff_seconds=0.01, max_backoff_seconds=120.0)


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
        hanging.wait()
        return []

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("tasks.fetching.service.LOOKUP_SECONDS", 0.1)
    patience = replace(PATIENCE, retries=1)
    with (
        Service(
            "http://index.test/x", CrawlSettings(), patience, {}, delay_seconds=0.0, queue=queue, resolver=resolver
        ) as service,
        pytest.raises(FetchError, match="dns_timeout"),
    ):
        service.get("http://index.test/x", max_bytes=10)


def _patient(server: LoopbackServer, patience: Patience = PATIENCE, delay_seconds: float = 0.0) -> Service:
    return Service(f"http://{server.address}/", CrawlSettings(), patience, {}, delay_seconds=delay_seconds)


def test_reader_may_ask_for_patience() -> None:
    def reader(response: Response) -> bytes:
        if response.body == b"lagging":
            raise FetchError("maxlag", transient=True)
        return response.body

    def page(exchange: Exchange) -> None:
        exchange.send(answer(b"lagging" if exchange.hit == 0 else b"done"))

    with LoopbackServer({"/": page}) as server, _patient(server) as service:
        assert service.read(service.url, reader, max_bytes=100) == b"done"
        assert len(server.paths()) == 2


def test_retry_after_counts_before_the_back_off_and_is_cut_to_the_longest_wait() -> None:
    def page(exchange: Exchange) -> None:
        exchange.send(answer(b"", "500 Oops", Retry_After="9000") if exchange.hit == 0 else answer(b"done"))

    with LoopbackServer({"/": page}) as server:
        patience = replace(PATIENCE, backoff_seconds=60.0, max_backoff_seconds=0.2)
        with _patient(server, patience) as service:
            start = time.monotonic()
            assert service.get(service.url, max_bytes=100).body == b"done"
        assert 0.2 <= time.monotonic() - start < 60  # which the back-off alone would take


def test_it_gives_up_after_the_last_retry_and_at_once_where_none_would_help() -> None:
    pages = {"/busy": answer(b"", "429 Slow", Retry_After="0"), "/long": answer(b"x" * 101)}
    with LoopbackServer(pages) as server, _patient(server) as service:
        with pytest.raises(FetchError, match=r"^rate_limited: .*, after 3 requests; it asks to wait 0 s$"):
            service.get(f"{service.url}busy", max_bytes=100)
        with pytest.raises(FetchError, match="too_large"):
            service.get(f"{service.url}long", max_bytes=100)
        assert server.paths() == ["/busy"] * 3 + ["/long"]


def test_requests_of_a_client_are_spaced() -> None:
    with LoopbackServer({"/": answer(b"done")}) as server, _patient(server, delay_seconds=0.1) as service:
        start = time.monotonic()
        for _ in range(3):
            service.get(service.url, max_bytes=100)
        assert time.monotonic() - start >= 0.2


@pytest.mark.parametrize(
    ("failures", "asked", "wait"), [(0, None, 2), (2, None, 8), (9, None, 60), (3, 5, 5), (0, 99, 60)]
)
def test_wait_before_a_retry(failures: int, asked: float | None, wait: float) -> None:
    assert retry_wait(failures, asked, 2.0, 60.0) == wait


def test_credentials_of_the_environment_go_to_their_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def page(exchange: Exchange) -> None:
        exchange.send(answer(exchange.headers.get("authorization", "none").encode()))

    with LoopbackServer({"/": page}) as server:
        for value, sent in (
            ("", "none"),
            (f"other.example=a:b {server.address}=me:p@ss=w:rd", f"Basic {b64encode(b'me:p@ss=w:rd').decode()}"),
            (f"{server.address}.example=a:b", "none"),
        ):
            monkeypatch.setenv("WIKISUM_CREDENTIALS", value)
            with _patient(server) as service:
                assert service.get(service.url, max_bytes=100).body.decode() == sent
                given = service.get(service.url, max_bytes=100, headers={"Authorization": "Bearer key"})
                assert given.body == b"Bearer key", "what a setting's own variable holds goes first"
        monkeypatch.setenv("WIKISUM_CREDENTIALS", "s3cret")
        with pytest.raises(ValueError, match="WIKISUM_CREDENTIALS: expected HOST=USER:PASSWORD") as raised:
            _patient(server)
        assert "s3cret" not in str(raised.value)
