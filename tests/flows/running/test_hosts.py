"""A server answers by the names of this machine, and changes nothing for a page of another site."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from flows.running.hosts import LOOPBACK, KnownHosts, known_hosts, refusal


def scope(method: str, headers: Mapping[str, str], kind: str = "http") -> dict[str, Any]:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "headers": raw, **({"method": method} if kind == "http" else {})}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:4200", None),
        ("localhost", None),
        ("LOCALHOST:4200", None),
        ("[::1]:4200", None),
        ("box.lan:4200", None),
        ("evil.test", 421),
        ("evil.test:4200", 421),
        ("127.0.0.1.evil.test:4200", 421),
        ("localhost.evil.test", 421),
        ("evil.localhost:4200", 421),
        ("", 421),
    ],
)
def test_only_names_of_this_machine_are_answered(host: str, status: int | None) -> None:
    found = refusal(scope("GET", {"Host": host}), LOOPBACK | {"box.lan"})
    assert (found and found[0]) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),  # a program
        ({"Origin": "http://localhost:4200"}, None),
        ({"Origin": "http://localhost:4300"}, 403),  # another port is another site's page
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, None),
        ({"Sec-Fetch-Site": "none"}, None),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_other_sites_change_nothing_and_hear_nothing(headers: Mapping[str, str], status: int | None) -> None:
    named = {"Host": "localhost:4200", **headers}
    changing = [scope(method, named) for method in ("POST", "PUT", "PATCH", "DELETE")]
    for one in [*changing, scope("", named, "websocket")]:
        found = refusal(one, LOOPBACK)
        assert (found and found[0]) == status
    assert refusal(scope("GET", named), LOOPBACK) is None  # a link; nobody else's page reads the answer


def test_beyond_loopback_every_name_is_answered_unless_some_are_given() -> None:
    assert known_hosts("127.0.0.1", {}) == LOOPBACK
    assert known_hosts("localhost", {"WIKISUM_HOSTS": "Wiki.Example.org, box.lan,"}) == {
        *LOOPBACK,
        "wiki.example.org",
        "box.lan",
    }
    assert known_hosts("0.0.0.0", {}) is None
    assert known_hosts("0.0.0.0", {"WIKISUM_HOSTS": "box.lan"}) == {*LOOPBACK, "box.lan"}
    assert refusal(scope("GET", {"Host": "anything"}), None) is None


@pytest.mark.parametrize(("origin", "sent"), [("http://evil.test", ["websocket.close"]), ("http://localhost", ["in"])])
def test_a_websocket_of_another_site_is_closed_before_it_is_accepted(origin: str, sent: list[str]) -> None:
    messages: list[str] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "in"})

    async def send(message: Any) -> None:
        messages.append(message["type"])

    asked = scope("", {"Host": "localhost", "Origin": origin}, "websocket")
    asyncio.run(KnownHosts(app, LOOPBACK)(asked, None, send))  # type: ignore[arg-type]
    assert messages == sent
