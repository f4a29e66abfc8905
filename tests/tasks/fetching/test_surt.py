"""Keys of URLs, against those that the package with which Common Crawl makes its indexes gives (surt 0.3.1)."""

import pytest

from tasks.fetching.urls import normalise_url, surt_key

KEYS = {
    "http://www.Example.com/": "com,example)/",
    "http://example.com": "com,example)/",
    "http://www2.example.com/a/": "com,example)/a",
    "http://wwwx.example.com/a//b/../c/": "com,example,wwwx)/a/c",
    "http://www.www.example.com/x": "com,example,www)/x",
    "http://www.com/": "com)/",
    "http://www.example.co.uk:80/": "uk,co,example)/",
    "https://example.com:443/x": "com,example)/x",
    "http://example.com:8080/x": "com,example:8080)/x",
    "http://1.2.3.4/x": "4,3,2,1)/x",
    "http://user:pw@example.com/": "com,example)/",
    "http://example.com/A?b=2&A=1&a": "com,example)/a?a&a=1&b=2",
    "http://example.com/a?b=1&b=0&&c": "com,example)/a?&b=0&b=1&c",
    "http://example.com/a?": "com,example)/a",
    "http://example.com/a?B": "com,example)/a?b",
    "http://example.com/x?a=http://y.com/z": "com,example)/x?a=http://y.com/z",
    "http://example.com/a%20b%C3%BCc": "com,example)/a%20b%c3%bcc",
    "http://example.com/a%2fb%3Fc%23": "com,example)/a/b?c%23",
    "http://example.com/a+b?c=%26d&e=+": "com,example)/a+b?c=&d&e=+",
    "http://example.com/a%25b%2541": "com,example)/a%ba",
    "http://example.com/%ff": "com,example)/%ff",
    "http://example.com/~x/%7Ey": "com,example)/~x/~y",
    "http://example.com//": "com,example)/",
    "http://example.com/a?PHPSESSID=0123456789abcdef0123456789abcdef&x=1": "com,example)/a?x=1",
    "http://example.com/a?x=1&sid=9682993c8daa2c5497996114facdc805": "com,example)/a?&x=1",
    "http://example.com/a?cfid=12&cftoken=34&z=1": "com,example)/a?z=1",
    "http://example.com/a?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&b=1": "com,example)/a?b=1",
    "http://example.com/(S(abcdefghijklmnopqrstuvwx))/default.aspx": "com,example)/default.aspx",
}


@pytest.mark.parametrize("url", KEYS)
def test_key_is_that_of_common_crawl(url: str) -> None:
    assert surt_key(normalise_url(url)) == KEYS[url]
