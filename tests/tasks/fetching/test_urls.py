"""The normal form of URLs and why some are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.fetching.urls import (
    BadUrlError,
    archived_url,
    host_matches,
    host_of,
    join_url,
    normalise_url,
    origin_of,
    under_domain,
)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com:80/a#part", "http://example.com/a"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("http://example.com:8080/a", "http://example.com:8080/a"),
        ("https://user:secret@example.com/a", "https://example.com/a"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com/a/../b/./c", "http://example.com/b/c"),
        ("http://example.com/%7euser/%2e%2e/x%2fy", "http://example.com/x%2Fy"),
        ("http://example.com/a b?q=ä", "http://example.com/a%20b?q=%C3%A4"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://münchen.example/straße", "http://xn--mnchen-3ya.example/stra%C3%9Fe"),
        ("http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"),
        ("http://mu\u0308nchen.example:8080/a", "http://xn--mnchen-3ya.example:8080/a"),
        ("http://ｅｘａｍｐｌｅ．com/", "http://example.com/"),
        ("http://例え。jp/", "http://xn--r8jz45g.jp/"),
        ("http://ﬁsh.example/", "http://fish.example/"),
        ("http://straße.example/", "http://xn--strae-oqa.example/"),
        ("http://soft\u00adhyphen.example/", "http://softhyphen.example/"),
        ("http://i❤.example/", "http://xn--i-7iq.example/"),
        ("http://_dmarc.bücher.example/", "http://_dmarc.xn--bcher-kva.example/"),
        ("http://bücher.example./", "http://xn--bcher-kva.example/"),
        ("https://user:gehe❤im@bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("//example.com/a", "https://example.com/a"),
        ("  http://example.com/a\n", "http://example.com/a"),
        ("http://exa\tmple.com/", "http://example.com/"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("http://a_b.example.com/", "http://a_b.example.com/"),
        ("http://good.example\\@evil.example/", "http://good.example/%5C@evil.example/"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
    ],
)
def test_normal_form(written: str, normal: str) -> None:
    assert normalise_url(written) == normal
    assert normalise_url(normal) == normal


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "bad_url"),
        ("not a url", "bad_url"),
        ("/relative/path", "bad_url"),
        ("http://", "bad_url"),
        ("http:/example.com/", "bad_url"),
        ("http://exa mple.com/", "bad_url"),
        ("http://a..b/", "bad_url"),
        ("http://a\u2488b.example/", "bad_url"),  # "1." in one character
        ("http://a\u2100b.example/", "bad_url"),  # "a/c" in one character
        ("http://\u00ad/", "bad_url"),
        ("http://ü" + "a" * 64 + ".example/", "bad_url"),
        ("http://-a-.example/", "bad_url"),
        ("http://[::1", "bad_url"),
        ("http://[::1%25eth0]/", "bad_url"),
        ("http://example.com:99999/", "bad_url"),
        ("http://example.com:0/", "bad_url"),
        ("http://example.com/\x00", "bad_url"),
        ("http://" + "a" * 64 + ".example/", "bad_url"),
        ("http://example.com/" + "a" * 5000, "bad_url"),
        ("ftp://example.com/", "bad_scheme"),
        ("mailto:a@example.com", "bad_scheme"),
        ("javascript:alert(1)", "bad_scheme"),
        ("file:///etc/passwd", "bad_scheme"),
        ("data:text/html,x", "bad_scheme"),
        ("http://example.com:25/", "bad_port"),
        ("http://example.com:6379/", "bad_port"),
    ],
)
def test_refused(written: str, reason: str) -> None:
    with pytest.raises(BadUrlError) as error:
        normalise_url(written)
    assert error.value.reason == reason


def test_allowed_host_may_have_any_port() -> None:
    assert normalise_url("http://box.test:25/", allowed_hosts=["box.test"]) == "http://box.test:25/"


@given(st.text(alphabet="abc:/?#%.@[]é 0129-_\\&=~", max_size=40))
def test_normal_form_is_its_own(tail: str) -> None:
    try:
        normal = normalise_url(f"http://example.com/{tail}")
    except BadUrlError:
        return
    assert normalise_url(normal) == normal
    assert normal.startswith("http://example.com/")


@given(st.text(max_size=60))
def test_any_text_has_a_normal_form_or_a_reason(text: str) -> None:
    try:
        normalise_url(text)
    except BadUrlError as error:
        assert error.reason in ("bad_url", "bad_scheme", "bad_port")


def test_join() -> None:
    assert join_url("http://a.test/x/y", "../z#f") == "http://a.test/z"
    assert join_url("http://a.test/x", "//b.test") == "http://b.test/"
    with pytest.raises(BadUrlError):
        join_url("http://a.test/", "http://[bad")


def test_parts() -> None:
    assert host_of("http://a.test:81/x") == "a.test:81"
    assert origin_of("https://a.test/x?y") == "https://a.test"


@pytest.mark.parametrize(
    ("host", "pattern", "matches"),
    [
        ("a.miniweb.test", "*.miniweb.test", True),
        ("a.miniweb.test:80", "*.miniweb.test", True),
        ("miniweb.test", "*.miniweb.test", False),
        ("evilminiweb.test", "*.miniweb.test", False),
        ("127.0.0.1:8001", "127.0.0.1:800?", True),
        ("127.0.0.1:8101", "127.0.0.1:800?", False),
        ("[::1]:80", "::1", True),
    ],
)
def test_host_patterns(host: str, pattern: str, matches: bool) -> None:
    assert host_matches(host, [pattern]) is matches


def test_domains_and_captures_of_the_wayback_machine() -> None:
    assert under_domain("https://en.wikipedia.org/wiki/X", ["wikipedia.org"])
    assert not under_domain("https://notwikipedia.org/", ["wikipedia.org"])
    assert archived_url("https://web.archive.org/web/2014/https://Marvel.com/a") == "https://marvel.com/a"
    assert archived_url("https://web.archive.org/web/2014id_/marvel.com/a") == "http://marvel.com/a"
    assert archived_url("https://example.org/web/2014/https://marvel.com/") is None
