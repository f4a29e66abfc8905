"""Look-ups that hang, fail, or are asked for again."""

import socket
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tasks.fetching.safety import BoundedResolver, FetchError
from tests.patience import PATIENCE, wait_until
from tests.tasks.fetching.loopback_server import LoopbackServer, answer, crawl, local_journal


class Names:
    """A resolver that counts; hosts below `hang.` answer only when released, and those below `none.` do not exist."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.released = threading.Event()

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked[host] += 1
        if host.startswith("hang."):
            self.released.wait(PATIENCE)
        if host.startswith("none."):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [f"192.0.2.{self.asked[host]}"]


def reason(resolver: BoundedResolver, host: str) -> tuple[str, bool]:
    with pytest.raises(FetchError) as error:
        resolver(host, 80)
    return error.value.reason, error.value.transient


def answered(resolver: BoundedResolver, host: str) -> list[str]:
    """Ask until there is an answer: a busy machine may take longer for one than the resolver's limit."""
    found: list[list[str]] = []

    def asked() -> bool:
        with suppress(FetchError):
            found.append(resolver(host, 80))
        return bool(found)

    wait_until(asked, f"the address of {host}")
    return found[0]


def test_answer_is_kept_for_a_while() -> None:
    names = Names()
    resolver = BoundedResolver(names, PATIENCE, kept_seconds=PATIENCE)
    assert [resolver("a.test", 80) for _ in range(3)] == [["192.0.2.1"]] * 3
    assert names.asked == {"a.test": 1}
    resolver = BoundedResolver(names, PATIENCE, kept_seconds=0.1)
    assert resolver("a.test", 80) == ["192.0.2.2"]
    time.sleep(0.2)
    assert resolver("a.test", 80) == ["192.0.2.3"]


def test_names_used_least_recently_are_forgotten() -> None:
    names = Names()
    resolver = BoundedResolver(names, PATIENCE, kept_names=2)
    for host in ("a.test", "b.test", "a.test", "c.test", "a.test", "b.test"):
        resolver(host, 80)
    assert names.asked == {"a.test": 1, "b.test": 2, "c.test": 1}


def test_failure_is_not_kept() -> None:
    names = Names()
    resolver = BoundedResolver(names, PATIENCE)
    for _ in range(2):
        with pytest.raises(socket.gaierror):
            resolver("none.test", 80)
    assert names.asked == {"none.test": 2}


def test_timeout_of_the_resolver_itself_is_its_failure() -> None:
    def impatient(host: str, port: int) -> list[str]:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        BoundedResolver(impatient, 5.0)("a.test", 80)


def test_hanging_look_up_ends_in_time_and_is_shared() -> None:
    names = Names()
    resolver = BoundedResolver(names, 0.2)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: reason(resolver, "hang.test"), range(8)))
    assert found == [("dns_timeout", True)] * 8
    assert names.asked == {"hang.test": 1}
    names.released.set()
    assert answered(resolver, "hang.test") == ["192.0.2.1"]  # what came late is used
    assert names.asked == {"hang.test": 1}


def test_an_answer_that_comes_as_the_time_ends_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    names, result = Names(), Future.result

    def just_missed(lookup: "Future[list[str]]", timeout: float | None = None) -> list[str]:
        if timeout is not None:
            names.released.set()
            wait_until(lookup.done, "the answer")
            raise TimeoutError
        return result(lookup)

    monkeypatch.setattr(Future, "result", just_missed)
    assert BoundedResolver(names, 0.2)("hang.test", 80) == ["192.0.2.1"]


def test_hanging_look_ups_are_limited_in_number() -> None:
    names = Names()
    resolver = BoundedResolver(names, 0.2, at_once=2)
    for number in range(4):
        assert reason(resolver, f"hang.{number}.test") == ("dns_timeout", True)
    assert set(names.asked) == {"hang.0.test", "hang.1.test"}
    names.released.set()
    assert answered(resolver, "a.test") == ["192.0.2.1"]


def test_crawl_ends_hosts_whose_look_up_hangs_with_a_reason_and_fetches_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.crawl.crawl.LOOKUP_SECONDS", 2.0)
    names = Names()

    def loopback(host: str, port: int) -> list[str]:
        names(host, port)
        return ["127.0.0.1"]

    with LoopbackServer({f"/{n}": answer() for n in range(3)}) as server:
        hosts = ["hang.lan", "none.lan", "a.lan"]
        urls = [f"http://{host}:{server.port}/{n}" for host in hosts for n in range(3)]
        rows = crawl(server, urls, local_journal(tmp_path), resolver=loopback, allowed_hosts=("*.lan",))
        assert len(server.paths()) == 3
    names.released.set()
    assert [rows[url]["reason"] for url in urls] == ["dns_timeout"] * 3 + ["dns_error"] * 3 + [None] * 3
    assert names.asked["hang.lan"] == 1
    assert names.asked["a.lan"] == 1  # four connections
