"""Which hosts count as one site."""

import pytest

from tasks.fetching.urls import registered_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com:8080", "example.com"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("a.b.city.kawasaki.jp", "city.kawasaki.jp"),
        # Names that a platform gives away belong to the platform's servers.
        ("someone.blogspot.com", "blogspot.com"),
        ("someone.github.io", "github.io"),
        # Names and addresses of no registry stand for themselves.
        ("a.test", "a.test"),
        ("b.a.test:81", "b.a.test"),
        ("localhost:8000", "localhost"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("[2001:db8::1]:8000", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        # A suffix alone, for which nobody could have registered less.
        ("co.uk", "co.uk"),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain
