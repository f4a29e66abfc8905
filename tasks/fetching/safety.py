"""Connections that a hostile server cannot misuse: only to permitted addresses, and with a deadline.

A name is resolved once per connection, its addresses are filtered, and the socket is opened to one of the remaining
ones. The name is looked up once, so a second answer cannot differ (DNS rebinding). Sockets also have a deadline, so
that a server that sends a byte now and then cannot exceed the total time of a request. A look-up has a limit too: the
system's resolver can hang for minutes and cannot be stopped.

The standard library accepts responses that are invalid or incomplete. It skips only 100 of the interim
answers (RFC 9110, 15.2), and would take early hints for the final answer. It takes headers that end anywhere for all
headers. It takes a malformed chunk size for the end of the connection."""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import cache
from typing import Any, BinaryIO

import certifi
from cachetools import LRUCache
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from tasks.fetching.reasons import PageReason
from tasks.fetching.urls import host_matches

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}[ \t]*(;.*)?\r?\n?", re.DOTALL)  # RFC 9112, 7.1
_CHUNK_LINE_BYTES = 65_536


class _HeaderLines:
    """The lines of a connection while headers are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inside = False

    def readline(self, limit: int) -> bytes:
        """Return the next line. Raises FetchError: it has no end, or the headers have none."""
        line = self._file.readline(limit)
        inside = self._inside or line.startswith(b"HTTP/")  # before that the answer has not begun
        if inside and len(line) < limit and not line.endswith(b"\n"):
            raise FetchError(PageReason.TRUNCATED_HEADERS, transient=True)
        self._inside = inside and line.strip(b"\r\n") != b""
        return line

    def close(self) -> None:
        """Close the connection's file."""
        self._file.close()


class FinalResponse(http.client.HTTPResponse):
    """The standard library's response, without these errors."""

    def begin(self) -> None:
        """Read status and headers."""
        file: BinaryIO = self.fp
        self.fp = _HeaderLines(file)  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # it is closed after a status line that is none
                self.fp = file  # type: ignore[assignment]

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]  # no public place reads it
            if not 100 < status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)  # of the interim response; an endless series of these times out

    def _read_next_chunk_size(self) -> int:
        line = self.fp.readline(_CHUNK_LINE_BYTES)
        if not line:
            raise http.client.IncompleteRead(b"")
        if not _CHUNK_SIZE.fullmatch(line):
            self._close_conn()  # type: ignore[attr-defined]
            raise http.client.HTTPException("the size of a chunk is not a number, or has no end")
        return int(line.partition(b";")[0], 16)


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], list[str]]

LOOKUP_SECONDS = 10.0  # a system's resolver asks each of its servers twice, for 5 s
_KEPT_SECONDS = 60.0  # the resolver does not return the TTL; hosts that move often have one of a minute or more
_KEPT_NAMES = 10_000
_AT_ONCE = 128

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Global by their number, but not public servers: tunnels (6to4 and its relays, Teredo) to an embedded IPv4 address,
# Azure's host agent, and blocks that older Python versions consider global.
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in ("192.88.99.0/24", "168.63.129.16/32", "192.0.0.0/24", "2001::/23", "2002::/16", "3fff::/20")
)


class FetchError(Exception):
    """No response came, or an incomplete one."""

    def __init__(
        self,
        reason: str,
        detail: object = "",
        *,
        transient: bool = False,
        retry_after: float | None = None,
        received: int = 0,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason  # of `pages` (`tasks.fetching.reasons`)
        self.detail = detail
        self.transient = transient  # whether another try may succeed
        self.retry_after = retry_after  # seconds that the server asked us to wait, or None
        self.received = received  # decoded body bytes read before the fault


def is_public(address: str) -> bool:
    """Tell whether an address is of the public internet, also IPv4 in IPv6. Raises ValueError: it is not an address."""
    ip: Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        is_isatap = (int(ip) >> 32) & 0xFCFFFFFF == 0x5EFE  # RFC 5214: an interface identifier that embeds IPv4
        if ip not in _GLOBAL_UNICAST or is_isatap:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _REFUSED)


def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses of a host by the system's resolver. Raises OSError: the name has no address."""
    records = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in records))


class _Current(threading.local):
    """The state of the calling thread's request."""

    deadline: float | None = None  # monotonic time at which it ends, or None
    reused: bool = False  # whether it used a kept connection
    on_sent: Callable[[], None] | None = None  # what is called when it has been sent, or None


class Guard:
    """Decides which addresses of a host may be connected to."""

    def __init__(
        self,
        allowed_hosts: Iterable[str] = (),
        connect_to: Mapping[str, str] | None = None,
        resolver: Resolver = system_resolver,
    ) -> None:
        self._allowed = tuple(allowed_hosts)
        self._connect_to = dict(connect_to or {})
        self._resolver = resolver
        self.current = _Current()  # the request of the thread that asks; each thread has its own

    def own_addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses where a connection may be made; none if it is made elsewhere; raises as `addresses`."""
        if self._elsewhere(host, port) is not None:
            return []
        return [address for address, _ in self.addresses(host, port)]

    def _elsewhere(self, host: str, port: int) -> str | None:
        """Return the `address:port` where the host's connections are made instead, or None."""
        return next((to for pattern, to in self._connect_to.items() if host_matches(f"{host}:{port}", [pattern])), None)

    def addresses(self, host: str, port: int) -> list[tuple[str, int]]:
        """Return where a connection to host:port may be made, never nothing. Raises FetchError: nowhere."""
        target = self._elsewhere(host, port)
        if target is not None:
            name, _, target_port = target.rpartition(":")
            return [(address, int(target_port)) for address in self._resolve(name.strip("[]"), int(target_port))]
        resolved = self._resolve(host, port)
        if not host_matches(f"{host}:{port}", self._allowed):
            resolved = [address for address in resolved if is_public(address)]
        if not resolved:
            raise FetchError(PageReason.PRIVATE_ADDRESS, host)
        return [(address, port) for address in resolved]

    def _resolve(self, host: str, port: int) -> list[str]:
        try:
            resolved = self._resolver(host, port)
        except socket.gaierror as error:
            raise FetchError(PageReason.DNS_ERROR, error, transient=error.errno == socket.EAI_AGAIN) from error
        except (OSError, UnicodeError) as error:
            raise FetchError(PageReason.DNS_ERROR, error) from error
        if not resolved:
            raise FetchError(PageReason.DNS_ERROR, f"no address for {host}")
        return resolved

    def connect(self, host: str, port: int, timeout: float, options: Iterable[tuple[Any, ...]] = ()) -> socket.socket:
        """Open a socket to the first permitted address that answers, each within `timeout`, or raise FetchError."""
        fault: FetchError | None = None
        for address, real_port in self.addresses(host, port):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            sock = _DeadlineSocket(family, socket.SOCK_STREAM)
            try:
                for option in options:
                    sock.setsockopt(*option)
                sock.settimeout(_remaining(self.current.deadline, timeout))
                sock.connect((address, real_port))
                return sock
            except TimeoutError as error:
                sock.close()
                fault = FetchError(PageReason.TIMEOUT, error, transient=True)
            except OSError as error:
                sock.close()
                fault = FetchError(PageReason.CONNECT_ERROR, error, transient=True)
        assert fault is not None
        raise fault


def _remaining(deadline: float | None, timeout: float | None) -> float | None:
    """Return the shorter of a timeout and the time left; TimeoutError if no time is left."""
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for the whole response is over")
    return left if timeout is None else min(left, timeout)


class _DeadlineSocket(socket.socket):
    """A socket whose reads fail after a deadline, even if each read succeeds in time."""

    deadline: float | None = None

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(_remaining(self.deadline, self.gettimeout()))
        return super().recv_into(*args, **kwargs)


class _DeadlineTLSSocket(_DeadlineSocket, ssl.SSLSocket):
    """The same over TLS."""


def _connection_class(base: Any, guard: Guard) -> Any:
    class GuardedConnection(base):  # type: ignore[misc]
        """A connection opened by the guard, under the deadline of the thread that uses it."""

        response_class = FinalResponse

        def _new_conn(self) -> socket.socket:
            seconds = self.timeout if isinstance(self.timeout, (int, float)) else 60.0
            return guard.connect(self._dns_host, self.port, seconds, self.socket_options or ())

        used = False

        def connect(self) -> None:
            super().connect()
            self.sock.deadline = guard.current.deadline
            self.used = False

        def request(self, *args: Any, **kwargs: Any) -> None:
            if self.sock is not None:  # otherwise it connects below
                self.sock.deadline = guard.current.deadline
            guard.current.reused = self.sock is not None and self.used
            super().request(*args, **kwargs)
            self.used = True
            if guard.current.on_sent is not None:
                guard.current.on_sent()

    return GuardedConnection


@cache  # reading the authorities again costs tens of milliseconds
def _context(ca_bundle: str) -> ssl.SSLContext:
    context = create_urllib3_context()
    context.load_verify_locations(ca_bundle)
    context.sslsocket_class = _DeadlineTLSSocket
    return context


class GuardedAdapter(HTTPAdapter):
    """A requests adapter whose every connection is made by a guard, without retries and without proxies."""

    def __init__(self, guard: Guard, *, hosts: int, connections_per_host: int, ca_bundle: str | None = None) -> None:
        self._guard = guard
        self._context = _context(ca_bundle or certifi.where())
        super().__init__(pool_connections=hosts, pool_maxsize=connections_per_host, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        """Make the pool manager of guarded connections."""
        guard = self._guard

        class HTTPPool(HTTPConnectionPool):
            ConnectionCls = _connection_class(HTTPConnection, guard)

        class HTTPSPool(HTTPSConnectionPool):
            ConnectionCls = _connection_class(HTTPSConnection, guard)

        self.poolmanager = PoolManager(
            num_pools=connections, maxsize=maxsize, block=block, ssl_context=self._context, **pool_kwargs
        )
        self.poolmanager.pool_classes_by_scheme = {"http": HTTPPool, "https": HTTPSPool}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Do nothing: the context has its authorities, and the pool requires a certificate."""


class BoundedResolver:
    """A resolver with a time limit and a cache; usable from many threads. Each look-up runs in its own thread, which is
    abandoned when its time is over. Callers that ask for the same name wait for the same look-up, and an answer is
    cached, so that a busy host costs one look-up a minute."""

    def __init__(
        self,
        resolver: Resolver,
        seconds: float,
        *,
        kept_seconds: float = _KEPT_SECONDS,
        kept_names: int = _KEPT_NAMES,
        at_once: int = _AT_ONCE,
    ) -> None:
        """Start empty; beyond `kept_names` the least recently used goes; `at_once` counts hanging ones too."""
        self._resolver = resolver
        self._seconds = seconds
        self._kept_seconds = kept_seconds
        self._slots = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._lookups: LRUCache[tuple[str, int], tuple[float, Future[list[str]]]] = LRUCache(kept_names)

    def __call__(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host. Raises FetchError: `dns_timeout`; OSError: the name has no address."""
        ends = time.monotonic() + self._seconds
        lookup = self._lookup(host, port)
        try:
            return lookup.result(max(0.0, ends - time.monotonic()))
        except TimeoutError as error:
            if lookup.done():  # then it is the resolver's own error, or the answer has come in this moment
                return lookup.result()
            raise FetchError(PageReason.DNS_TIMEOUT, host, transient=True) from error

    def _lookup(self, host: str, port: int) -> Future[list[str]]:
        """Return a running or still valid look-up, or start a new one."""
        now = time.monotonic()
        with self._lock:
            started, earlier = self._lookups.get((host, port), (now, None))
            if earlier is not None and (not earlier.done() or now - started < self._kept_seconds):
                return earlier
            lookup: Future[list[str]] = Future()
            self._lookups[host, port] = now, lookup
        if not self._slots.acquire(timeout=self._seconds):
            self._forget(host, port, lookup)
            lookup.set_exception(FetchError(PageReason.DNS_TIMEOUT, f"{host}: too many look-ups hang", transient=True))
            return lookup
        threading.Thread(target=self._run, args=(host, port, lookup), name="lookup", daemon=True).start()
        return lookup

    def _run(self, host: str, port: int, lookup: Future[list[str]]) -> None:
        try:
            lookup.set_result(self._resolver(host, port))
        except Exception as error:  # noqa: BLE001 - all callers get it, whatever it is
            self._forget(host, port, lookup)
            lookup.set_exception(error)
        finally:
            self._slots.release()

    def _forget(self, host: str, port: int, lookup: Future[list[str]]) -> None:
        """Remove a failed look-up, so that the next caller tries again."""
        with self._lock:
            if self._lookups.get((host, port), (0.0, None))[1] is lookup:
                del self._lookups[host, port]
