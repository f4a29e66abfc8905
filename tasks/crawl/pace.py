"""The pace of a crawl's requests: each waits for its turn at the host, the registered domain and the addresses."""

import time
from typing import Self
from urllib.parse import urlsplit

from tasks.crawl.domains import registered_domain
from tasks.crawl.safety import FetchError, Guard
from tasks.crawl.site_turns import Turns
from tasks.crawl.urls import DEFAULT_PORTS

# Of the delay of a domain. Behind one address of a content network or a hosting company are thousands of domains, and
# it answers thousands of requests a second: at a domain's own delay they would wait for each other for months. Behind
# the address of a small server are a few domains, each of which is asked at its own delay at most, and all together ten
# times as often. Lists of networks, or counts of the domains at an address, would have to be kept up to date.
ADDRESS_SHARE = 0.1


class Pace:
    """Takes turns for requests."""

    def __init__(self, turns: Turns, guard: Guard, delay: float) -> None:
        """Start.

        Args:
            turns: those of the run.
            guard: looks up addresses, and says when a request has been sent.
            delay: seconds between two requests to one registered domain; to one address `ADDRESS_SHARE` of them.
        """
        self._turns = turns
        self._guard = guard
        self._delay = delay

    def turn(self, url: str, host_delay: float) -> "RequestTurn":
        """Return the turn of the request for a URL in normal form, or when to ask again.

        Args:
            url: the URL.
            host_delay: seconds between two requests to its host, by its robots.txt or the settings.
        """
        parts = urlsplit(url)
        delays = {f"host {parts.netloc}": host_delay} if host_delay else {}
        if self._delay:
            delays[f"domain {registered_domain(parts.netloc)}"] = self._delay
            port = parts.port or DEFAULT_PORTS[parts.scheme]
            try:
                addresses = self._guard.own_addresses(parts.hostname or "", port)
            except FetchError as fault:
                return RequestTurn(self._turns, self._guard, {}, fault=fault)  # there will be no request
            delays |= {f"address {address}": ADDRESS_SHARE * self._delay for address in addresses}
        wait = self._turns.take(delays) if delays else 0.0
        return RequestTurn(self._turns, self._guard, delays, wait=wait)


class RequestTurn:
    """The turn of one request; a context manager around it, if there is nothing to wait for.

    Attributes:
        wait: seconds after which to ask again; 0 = the turn is taken.
        fault: fault known before the request, which is then not sent, or None.
        sent: monotonic time when the request had been sent, or its turn was given back unused; None without a delay.
    """

    def __init__(
        self,
        turns: Turns,
        guard: Guard,
        delays: dict[str, float],
        *,
        wait: float = 0.0,
        fault: FetchError | None = None,
    ) -> None:
        self._turns = turns
        self._guard = guard
        self._delays = delays
        self.wait = wait
        self.fault = fault
        self.sent: float | None = None

    def __enter__(self) -> Self:
        assert not self.wait
        if self._delays:
            self._guard.current.on_sent = self._give
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.current.on_sent = None
        if self._delays and self.sent is None:
            self._give()

    def _give(self) -> None:
        self._turns.give(self._delays)
        self.sent = time.monotonic()

    def pause(self, seconds: float) -> None:
        """Delay the next request to the host, of any shard, by that many seconds."""
        if seconds and self._delays:
            self._turns.give({place: seconds for place in self._delays if place.startswith("host ")})
