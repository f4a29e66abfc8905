"""Requests to a service named in the settings: with delays, retries, and the same safety as other requests."""

import itertools
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from tasks.engine.closing import Closing
from tasks.engine.data_files import read_data
from tasks.fetching.credentials import authorization
from tasks.fetching.http import Client, Inspector, Patience, Response, retry_wait
from tasks.fetching.safety import LOOKUP_SECONDS, BoundedResolver, FetchError, Guard, Resolver, system_resolver
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.turns import LONGEST_WAIT, own_turns, shared_turns, turn
from tasks.fetching.urls import host_of, registered_domain

logger = logging.getLogger(__name__)
T = TypeVar("T")

_PUBLIC_HOSTS = frozenset(read_data("tasks.fetching", "sites.toml")["services"])


class Service(Closing):
    """A client of one service; a context manager, usable from many threads."""

    def __init__(
        self,
        url: str,
        settings: CrawlSettings,
        patience: Patience,
        connect_to: Mapping[str, str],
        *,
        delay_seconds: float,
        queue: str | None = None,
        connections: int | None = None,
        keep_cookies: bool = False,
        resolver: Resolver = system_resolver,
    ) -> None:
        """Make the client of the service at `url`; no request goes to another host.

        Its host may be private, because the user chose it, except for well-known public hosts. `delay_seconds`: between
        the starts of two requests. With a `queue` all processes of this machine take turns by that name, and with the
        crawl at the service's domain, which may be cited too; without, only this client's requests do. `connections`
        are for requests without turns; None = all take turns. `keep_cookies` is for a login. A `resolver` that hangs
        must not delay the turns of others. Raises ValueError: the environment's credentials are malformed
        (`tasks.fetching.credentials`)."""
        self.url = url
        self._patience = patience
        self._turn = None if connections else own_turns(delay_seconds)
        if queue is not None:
            assert patience.max_backoff_seconds <= LONGEST_WAIT, patience
            self._turn = partial(turn, queue, delay_seconds)
        self._host = host_of(url)
        authorised = authorization(self._host)
        self._headers = {} if authorised is None else {"Authorization": authorised}
        cited = queue is not None and settings.host_delay_seconds > 0
        self._site = {f"domain {registered_domain(self._host)}": settings.host_delay_seconds} if cited else {}
        self._site_turns = shared_turns()
        web = settings.model_copy(
            update={
                "allowed_hosts": () if self._host in _PUBLIC_HOSTS else (self._host,),
                "connections": connections or 1,
            }
        )
        bounded = BoundedResolver(resolver, LOOKUP_SECONDS)
        guarded = Guard(web.allowed_hosts, connect_to, bounded)
        self._client = Client(web, guarded, patience, keep_cookies=keep_cookies, host_connections=connections or 1)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(
        self, url: str, *, max_bytes: int, headers: Mapping[str, str] | None = None, inspect: Inspector | None = None
    ) -> Response:
        """Return the answer to a GET request, retried while the service is busy; arguments as for `read`."""
        return self.read(url, lambda answer: answer, max_bytes=max_bytes, headers=headers, inspect=inspect)

    def read(
        self,
        url: str,
        reader: Callable[[Response], T],
        *,
        max_bytes: int,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        inspect: Inspector | None = None,
        heard: Callable[[bytes], None] | None = None,
    ) -> T:
        """Return what `reader` makes of the answer to a GET request, or to a POST request of a `body`, which must be
        safe to send twice. It is sent again while the service is busy or `reader` raises a transient FetchError. Other
        arguments: `Client.request`."""
        assert host_of(url) == self._host, f"{url} is not of {self._host}"
        patience = self._patience
        next_turn = self._turn or own_turns(0.0)
        for failures in itertools.count():
            with next_turn() as own:
                try:
                    with self._site_turn():
                        answer = self._client.request(
                            url,
                            body=body,
                            headers={**self._headers, **(headers or {})},
                            max_bytes=max_bytes,
                            inspect=inspect,
                            heard=heard,
                        )
                    if answer.setback is not None:
                        raise answer.setback
                    return reader(answer)
                except FetchError as error:
                    fault = error
                if fault.transient:
                    own.pause = retry_wait(
                        failures, fault.retry_after, patience.backoff_seconds, patience.max_backoff_seconds
                    )
            if not fault.transient:
                raise fault
            asked = "" if fault.retry_after is None else f"; it asks to wait {fault.retry_after:.0f} s"
            if failures == patience.retries:
                detail = f"{fault.detail}, after {failures + 1} requests{asked}"
                raise FetchError(fault.reason, detail, transient=True) from fault
            logger.info("%s: %s%s; the next request in %.1f s", self._host, fault.reason, asked, own.pause)
        raise AssertionError("unreachable")

    @contextmanager
    def _site_turn(self) -> Iterator[None]:
        """Wait for the turn at the service's domain and hold it while the block runs."""
        if not self._site:
            yield
            return
        while wait := self._site_turns.take(self._site):
            time.sleep(wait)
        try:
            yield
        finally:
            self._site_turns.give(self._site)
