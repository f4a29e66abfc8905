"""Connections go only to addresses that were checked, and end in time."""

import datetime
import socket
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tasks.fetching.safety import FetchError, Guard, is_public
from tests.tasks.fetching.loopback_server import HASTY, Exchange, LoopbackServer, answer, crawl, local_journal


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450:4001::200e"],
)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "192.0.0.192",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::8.8.8.8",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "2002:7f00:1::",
        "2002:808:808::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "100::1",
        "2a00:1450::5efe:7f00:1",
        "2a00:1450::200:5efe:10.0.0.1",
        "3fff::1",
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


def guard(*answers: list[str], allowed: tuple[str, ...] = ()) -> Guard:
    left = list(answers)
    return Guard(allowed, {}, lambda host, port: left.pop(0))


def test_private_addresses_are_filtered_out() -> None:
    mixed = guard(["10.0.0.1", "8.8.8.8", "::1"])
    assert mixed.addresses("a.example", 80) == [("8.8.8.8", 80)]


def test_host_with_nothing_but_private_addresses_is_refused() -> None:
    with pytest.raises(FetchError) as error:
        guard(["10.0.0.1", "::1"]).addresses("a.example", 80)
    assert error.value.reason == "private_address"


def test_allowed_host_may_be_private_and_no_other() -> None:
    rules = guard(["10.0.0.1"], ["10.0.0.1"], allowed=("*.lan",))
    assert rules.addresses("box.lan", 80) == [("10.0.0.1", 80)]
    with pytest.raises(FetchError):
        rules.addresses("box.lan.example", 80)


def test_name_without_address() -> None:
    def missing(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    with pytest.raises(FetchError) as error:
        Guard((), {}, missing).addresses("nowhere.example", 80)
    assert (error.value.reason, error.value.transient) == ("dns_error", False)


def test_numbers_that_hide_an_address_are_resolved_and_refused() -> None:
    for host in ("127.1", "0x7f000001", "2130706433", "017700000001", "localhost"):
        with pytest.raises(FetchError) as error:
            Guard().addresses(host, 80)
        assert error.value.reason == "private_address"


def test_public_name_of_a_private_address_is_never_connected_to(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer()}) as server:
        url = f"http://rebind.example:{server.port}/"
        rows = crawl(server, [url], local_journal(tmp_path), resolver=lambda host, port: ["127.0.0.1"])
    assert rows[url]["reason"] == "private_address"
    assert server.log == []


def test_dns_that_changes_its_answer_is_refused_at_the_next_connection(tmp_path: Path) -> None:
    """Rebinding: an allowed first answer opens no door for a second one."""
    loopback, metadata = ["127.0.0.1"], ["169.254.169.254"]
    left = {"first.lan": [loopback], "second.example": [metadata]}

    with LoopbackServer() as server:
        away = f"http://second.example:{server.port}/"
        server.pages["/"] = answer(b"", "302 Found", Location=away)
        url = f"http://first.lan:{server.port}/"
        rows = crawl(
            server,
            [url],
            local_journal(tmp_path),
            resolver=lambda host, port: left[host].pop(),
            allowed_hosts=("*.lan",),
            robots=False,
        )
    assert (rows[url]["reason"], rows[url]["final_url"]) == ("private_address", away)
    assert left == {"first.lan": [], "second.example": []}


def test_connection_uses_the_address_that_was_checked_not_a_second_look_up(tmp_path: Path) -> None:
    """A resolver that would answer differently the second time is asked once per connection."""
    answers = {"first.lan": iter([["127.0.0.1"], ["0.0.0.1"]])}

    with LoopbackServer({"/": answer()}) as server:
        url = f"http://first.lan:{server.port}/"
        rows = crawl(
            server,
            [url],
            local_journal(tmp_path),
            resolver=lambda host, port: next(answers[host]),
            allowed_hosts=("*.lan",),
            robots=False,
        )
    assert rows[url]["reason"] is None
    assert next(answers["first.lan"]) == ["0.0.0.1"]


def test_loopback_url_is_refused_unless_allowed(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer()}) as server:
        url = f"http://{server.address}/"
        refused = crawl(server, [url], local_journal(tmp_path / "a"))
        assert server.log == []
        allowed = crawl(server, [url], local_journal(tmp_path / "b"), allowed_hosts=("127.0.0.1",))
    assert (refused[url]["reason"], allowed[url]["reason"]) == ("private_address", None)


def test_proxy_of_the_environment_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer({"/": answer()}) as proxy, LoopbackServer({"/": answer()}) as server:
        monkeypatch.setenv("http_proxy", f"http://{proxy.address}")
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        rows = crawl(server, ["http://site.test/"], local_journal(tmp_path))
    assert rows["http://site.test/"]["reason"] is None
    assert proxy.log == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of good.test, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "good.test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("good.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "good.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


def tls_server(certificate: Path, **pages: object) -> LoopbackServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return LoopbackServer({f"/{name}": page for name, page in pages.items()}, tls=context)  # type: ignore[misc]


def test_tls_is_verified(certificate: Path, tmp_path: Path) -> None:
    def slow(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        exchange.drip(b"<html>" * 100, 0.1)

    with tls_server(certificate, page=answer(), slow=slow) as server:
        trusted = crawl(
            server,
            ["https://good.test/page", "https://other.test/page"],
            local_journal(tmp_path / "a"),
            ca_bundle=str(certificate),
        )
        late = crawl(
            server,
            ["https://good.test/slow"],
            local_journal(tmp_path / "late"),
            ca_bundle=str(certificate),
            robots=False,
            **HASTY,
        )
        untrusted = crawl(server, ["https://good.test/page"], local_journal(tmp_path / "b"))
    assert trusted["https://good.test/page"]["reason"] is None
    assert late["https://good.test/slow"]["reason"] == "timeout"
    assert trusted["https://other.test/page"]["reason"] == "tls_error"  # the certificate is another host's
    assert untrusted["https://good.test/page"]["reason"] == "tls_error"


def test_plain_http_behind_https(tmp_path: Path) -> None:
    with LoopbackServer(greeting=b"HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        rows = crawl(server, ["https://site.test/"], local_journal(tmp_path))
    assert rows["https://site.test/"]["reason"] == "tls_error"


def test_connect_to_does_not_open_other_loopback_hosts(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer(b"", "302 Found", Location="http://localhost:8080/")}) as server:
        rows = crawl(server, ["http://site.test/"], local_journal(tmp_path))
    assert rows["http://site.test/"]["reason"] == "private_address"
