"""Patient requests to a service that the settings name: spaced, retried, and safe as all others."""

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext

from tasks.crawl.http import TRANSIENT_STATUS, Client, Inspector, Response
from tasks.crawl.lookup import BoundedResolver
from tasks.crawl.reasons import http_reason
from tasks.crawl.remote_settings import CommonCrawlSettings, WaybackSettings
from tasks.crawl.safety import FetchError, Guard, Resolver, system_resolver
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.turns import Turn, turn
from tasks.crawl.urls import host_of
from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)

# Hosts of the settings' defaults: their addresses are public, whatever a resolver says.
_PUBLIC_HOSTS = frozenset({"index.commoncrawl.org", "data.commoncrawl.org", "archive.org", "web.archive.org"})


class Service(Closing):
    """A client of one service; a context manager, usable from many threads."""

    def __init__(
        self,
        url: str,
        settings: CrawlSettings,
        patience: CommonCrawlSettings | WaybackSettings,
        connect_to: Mapping[str, str],
        *,
        queue: str | None,
        connections: int = 1,
        resolver: Resolver = system_resolver,
    ) -> None:
        """Make the client.

        Args:
            url: address of the service in normal form. Its host may be private but for the archives known by
                name: whoever names it trusts it. No other host is ever asked.
            settings: settings of the crawl: User-Agent, contact, limits.
            patience: delay, retries and back-off.
            connect_to: pattern of host -> `address:port` where its connections are made instead.
            queue: name under which requests are spaced and never two at a time, over all processes of this machine;
                None where they need not be.
            connections: connections kept open.
            resolver: looks its host name up; may hang, which must not hold all others' turns up.
        """
        self.url = url
        self._patience = patience
        self._queue = queue
        self._host = host_of(url)
        web = settings.model_copy(
            update={
                "total_seconds": patience.total_seconds,
                "allowed_hosts": () if self._host in _PUBLIC_HOSTS else (self._host,),
                "connections": connections,
                "host_concurrency": connections,
            }
        )
        bounded = BoundedResolver(resolver, settings.lookup_seconds)
        self._client = Client(web, Guard(web.allowed_hosts, connect_to, bounded))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(
        self,
        url: str,
        *,
        max_bytes: int,
        headers: Mapping[str, str] | None = None,
        inspect: Inspector | None = None,
    ) -> Response:
        """Return the answer to a GET request, asked for again while the service is busy.

        Args:
            url: URL of the service's host.
            max_bytes: limit for the decoded body.
            headers: headers added to the client's own.
            inspect: `Client.get`'s.

        Raises:
            FetchError: there is no answer, none that came whole, or a status that asks for patience without end.
        """
        assert host_of(url) == self._host, f"{url} is not of {self._host}"
        tries = 0
        while True:
            with nullcontext(Turn()) if self._queue is None else turn(self._queue, self._patience.delay_seconds) as own:
                answer = self._asked(url, max_bytes, headers, inspect)
                if isinstance(answer, Response):
                    if answer.status not in TRANSIENT_STATUS:
                        return answer
                    fault = FetchError(http_reason(answer.status), url, transient=True, retry_after=answer.retry_after)
                else:
                    fault = answer
                wait = self._patience.backoff_seconds * 2.0**tries if fault.retry_after is None else fault.retry_after
                wait = min(wait, self._patience.max_backoff_seconds)
                own.pause = wait if fault.transient else 0.0
            if not fault.transient or tries >= self._patience.retries:
                raise fault
            logger.info("%s: %s; the next request in %.1f s", self._host, fault.reason, wait)
            tries += 1
            if self._queue is None:
                time.sleep(wait)

    def _asked(
        self, url: str, max_bytes: int, headers: Mapping[str, str] | None, inspect: Inspector | None
    ) -> Response | FetchError:
        try:
            answer = self._client.get(url, headers=headers, max_bytes=max_bytes, inspect=inspect)
        except FetchError as fault:
            return fault
        return answer if answer.fault is None else answer.fault
