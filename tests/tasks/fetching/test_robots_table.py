"""What a robots.txt means: a table after RFC 9309 and the behaviour of Google's open parser (google/robotstxt).

We are `wikisum-builder` here. Where both differ, the line says which is followed.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.fetching.robots import ROBOTS_BYTES, PathPattern, PathRules, path_of, read_rules

US = "wikisum-builder/0.1"
ALL = "User-agent: *\n"
OURS = "User-agent: wikisum-builder\n"
NOTHING = "Disallow: /\n"

# name: (robots.txt, paths that are allowed, paths that are forbidden)
CASES: dict[str, tuple[str | bytes, str, str]] = {
    # Which group is ours (2.2.1)
    "empty file": ("", "/ /a", ""),
    "for everyone": (ALL + NOTHING, "", "/ /a"),
    "for us": (OURS + NOTHING, "", "/ /a"),
    "for others": ("User-agent: other\n" + NOTHING, "/ /a", ""),
    "in any case": ("uSeR-aGeNt: WikiSum-BUILDER\ndIsAlLoW: /x\naLLow: /x/y\n", "/ /x/y", "/x"),
    "ours before everyone's": (OURS + "Disallow: /a\n" + ALL + "Disallow: /b\n", "/b", "/a"),
    "ours after everyone's": (ALL + "Disallow: /b\n" + OURS + "Disallow: /a\n", "/b", "/a"),
    "an empty one of ours": (ALL + NOTHING + OURS + "Disallow:\n", "/ /a", ""),
    "one of ours without rules": (ALL + NOTHING + OURS, "/ /a", ""),
    "version after our name": ("User-agent: wikisum-builder/0.1\n" + NOTHING, "", "/ /a"),
    "other version": ("User-agent: wikisum-builder/9\n" + NOTHING, "", "/"),
    "words after our name": ("User-agent: wikisum-builder, the crawler\n" + NOTHING, "", "/"),
    "words after a space": ("User-agent: wikisum-builder bot\n" + NOTHING, "", "/"),
    "star after our name": ("User-agent: wikisum-builder*\n" + NOTHING, "", "/"),
    "digits after our name": ("User-agent: wikisum-builder2\n" + NOTHING, "", "/"),
    "part of our name": (ALL + NOTHING + "User-agent: wiki\nDisallow:\n", "", "/ /a"),
    "part of our name up to its hyphen": (ALL + NOTHING + "User-agent: wikisum\nDisallow:\n", "", "/ /a"),
    "part of our name that forbids": ("User-agent: wikisum\n" + NOTHING, "/ /a", ""),
    "end of our name": (ALL + NOTHING + "User-agent: builder\nDisallow:\n", "", "/"),
    "longer name": (ALL + NOTHING + "User-agent: wikisum-builder-images\nDisallow:\n", "", "/"),
    "our name inside another": ("User-agent: the wikisum-builder\n" + NOTHING, "/", ""),
    "star and words": ("User-agent: * all bots\n" + NOTHING, "", "/ /a"),
    "star and a tab": ("User-agent: *\tall\n" + NOTHING, "", "/"),
    "star and letters": ("User-agent: *bot\n" + NOTHING, "/", ""),
    "star and a comma": ("User-agent: *, other\n" + NOTHING, "/", ""),
    "no name": ("User-agent:\n" + NOTHING, "/", ""),
    "star and comment": ("User-agent: * # everyone\n" + NOTHING, "", "/"),
    # Groups (2.1, 2.2.1, 2.2.4)
    "rules before any group": ("Disallow: /a\n" + ALL + "Disallow: /b\n", "/a", "/b"),
    "two names, one group": ("User-agent: other\n" + OURS + NOTHING, "", "/"),
    "two names, we are first": (OURS + "User-agent: other\n" + NOTHING, "", "/"),
    "rules end a group": (OURS + "Disallow: /a\nUser-agent: other\nDisallow: /b\n", "/b", "/a"),
    "an empty rule ends a group": (OURS + "Disallow:\nUser-agent: other\n" + NOTHING, "/", ""),
    "groups of one name together": (OURS + "Disallow: /a\n" + ALL + NOTHING + OURS + "Disallow: /b\n", "/c", "/a /b"),
    "groups of everyone together": (
        ALL + "Disallow: /a\nUser-agent: x\nAllow: /\n" + ALL + "Disallow: /b\n",
        "/c",
        "/a /b",
    ),
    "we and everyone in one group": (OURS + ALL + "Disallow: /a\n" + ALL + "Disallow: /b\n", "/b", "/a"),
    "empty lines": (OURS + "\n\n\n" + "User-agent: other\n\nDisallow: /a\n", "/", "/a"),
    "Sitemap between names": (OURS + "Sitemap: http://a.test/s.xml\n" + ALL + NOTHING, "", "/"),
    "unknown line between names": (OURS + "Unheard-of: yes\nUser-agent: other\n" + NOTHING, "", "/"),
    "prose between names": (OURS + "and these too\nUser-agent: other\n" + NOTHING, "", "/"),
    "Crawl-delay between names": (OURS + "Crawl-delay: 1\nUser-agent: other\n" + NOTHING, "", "/"),
    "Request-rate between names": (OURS + "Request-rate: 1/1\nUser-agent: other\n" + NOTHING, "", "/"),
    "Content-Signal between names": (OURS + "Content-Signal: ai-train=no\nUser-agent: other\n" + NOTHING, "", "/"),
    "unknown line between rules": (ALL + "Disallow: /a\nClean-param: x\nDisallow: /b\n", "/c", "/a /b"),
    # Lines
    "CR LF": ("User-agent: *\r\nDisallow: /a\r\n", "/b", "/a"),
    "CR alone": ("User-agent: *\rDisallow: /a\rAllow: /a/b\r", "/b /a/b", "/a"),
    "ends of every kind": ("User-agent: *\nDisallow: /a\r\n\rDisallow: /b\n\r\nDisallow: /c", "/d", "/a /b /c"),
    "a line separator is no end": ("User-agent: *\nDisallow: /a\u2028Disallow: /b\n", "/b", ""),
    "no last line end": ("User-agent: *\nDisallow: /a", "/b", "/a"),
    "space everywhere": ("  User-agent : *  \n\tDisallow\t:\t/a \t\n", "/b", "/a"),
    "no space": ("user-agent:*\ndisallow:/a\n", "/b", "/a"),
    "comments": (
        "# User-agent: x\nUser-agent: * # all\nDisallow: /a # this\n#Disallow: /b\nDisallow: /c#d\n",
        "/b",
        "/a /c",
    ),
    "no colon": ("user-agent *\ndisallow /a\nallow /a/b\n", "/b /a/b", "/a"),
    "no colon, one in the path": ("User-agent *\nDisallow /wiki/Special:Search\n", "/wiki", "/wiki/Special:Search"),
    "no colon, three words": ("User-agent: *\nDisallow /a b\nAllow me please\n", "/a /b", ""),
    "no colon, prose about agents": (ALL + "Disallow: /a\nUser agents may read this\nDisallow: /b\n", "/c", "/a /b"),
    "useragent": ("useragent: *\nDisallow: /a\n", "/b", "/a"),
    "user agent": ("User agent: *\nDisallow: /a\n", "/b", "/a"),
    "user agent without colon": ("User agent *\nDisallow: /a\n", "/b", "/a"),
    "user-agents": ("User-agents: *\nDisallow: /a\n", "/b", "/a"),
    "dissallow": (ALL + "dissallow: /a\n", "/b", "/a"),
    "dissalow": (ALL + "Dissalow: /a\n", "/b", "/a"),
    "disalow": (ALL + "Disalow: /a\n", "/b", "/a"),
    "diasllow": (ALL + "Diasllow: /a\n", "/b", "/a"),
    "disallaw": (ALL + "Disallaw: /a\n", "/b", "/a"),
    "disallowed": (ALL + "Disallowed: /a\n", "/b", "/a"),
    "alow is unknown": (ALL + "Disallow: /\nAlow: /a\n", "", "/a"),
    "deny is unknown": (ALL + "Deny: /a\n", "/a", ""),
    "key without a value": ("User-agent\nDisallow\n" + ALL + "Disallow\n", "/", ""),
    "colon alone": (":\n: *\n" + ALL + ": /a\nDisallow: /b\n", "/a", "/b"),
    # Bytes (2.5, and what editors write)
    "byte order mark": (b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "/b", "/a"),
    "two bytes of a mark": (b"\xef\xbbUser-agent: *\nDisallow: /a\n", "/b", "/a"),
    "one byte of a mark": (b"\xefUser-agent: *\nDisallow: /a\n", "/b", "/a"),
    "a broken mark": (b"\xef\x11\xbfUser-agent: *\nDisallow: /a\n", "/a", ""),
    "UTF-16, little end first": ("\ufeffUser-agent: *\nDisallow: /é\n".encode("utf-16-le"), "/b", "/%C3%A9"),
    "UTF-16, big end first": ("\ufeffUser-agent: *\nDisallow: /é\n".encode("utf-16-be"), "/b", "/%C3%A9"),
    "UTF-16 without a mark": ("User-agent: *\nDisallow: /a\n".encode("utf-16-le"), "/b", "/a"),
    "UTF-16 with half a character": ("\ufeffUser-agent: *\nDisallow: /a\n".encode("utf-16-le") + b"x", "/b", "/a"),
    "UTF-32": ("\ufeffUser-agent: *\nDisallow: /a\n".encode("utf-32-be"), "/b", "/a"),
    "NUL bytes": (b"User-agent: *\n\x00Disallow: /a\x00\n", "/b", "/a"),  # Google's parser reads no further
    "Latin-1": (b"User-agent: *\nDisallow: /caf\xe9\n", "/caf%C3%A9", "/caf%E9"),
    "HTML comment before": ("<!-- made by a plugin -->\nUser-agent: *\nDisallow: /a\n", "/b", "/a"),
    "HTML comment on the line": ("<!-- x -->User-agent: *\nDisallow: /a\n", "/b", "/a"),
    "HTML around": ("<html><body><pre>User-agent: *\nDisallow: /a</pre></body></html>", "/b", "/a"),
    "breaks of HTML": ("<p>User-agent: *<br>Disallow: /a<br/></p>", "/b", "/a"),
    "a page about something else": ("<!doctype html><p>All agents: welcome. Disallow nothing: /</p>", "/ /a", ""),
    "size limit": (ALL.encode() + b"#" * (ROBOTS_BYTES - 30) + b"\rDisallow: /a\rDisallow: /b", "/b /D", "/a"),
    "within the size limit, CR": (ALL.replace("\n", "\r") + "Disallow: /a\r" + "# x\r" * 200_000, "/b", "/a"),
    # Paths (2.2.2)
    "beginning": (ALL + "Disallow: /fish\n", "/catfish /Fish /?id=fish", "/fish /fish.html /fishes/a /fish?id=1"),
    "folder": (ALL + "Disallow: /fish/\n", "/fish /fish.html /Fish/", "/fish/ /fish/salmon /fish/?id=1"),
    "query": (ALL + "Disallow: /a?b=c\n", "/a /a?b=d", "/a?b=c /a?b=cd"),
    "address in a query": (ALL + "Disallow: /\nAllow: /a?u=http://b.test?x&y\n", "/a?u=http://b.test?x&y", "/a"),
    "no slash before": (ALL + "Disallow: a\n", "/a", ""),
    "longest match": (ALL + "Disallow: /x\nAllow: /x/page\n", "/x/page /x/page.html", "/x /x/y"),
    "longest match, other order": (ALL + "Allow: /x/page\nDisallow: /x\n", "/x/page /x/page.html", "/x /x/y"),
    "a longer rule that forbids": (ALL + "Allow: /x\nDisallow: /x/page\n", "/x /x/y", "/x/page"),
    "equal rules allow": (ALL + "Disallow: /a\nAllow: /a\n", "/a", ""),
    "equal length allows": (ALL + "Disallow: /*b\nAllow: /ab\n", "/ab", "/cb"),
    "wildcards count as octets": (ALL + "Allow: /page\nDisallow: /*.html\n", "/page", "/page.html"),
    "longer than wildcards": (ALL + "Allow: /x/page.\nDisallow: /*.html\n", "/x/page.html", "/x/y.html"),
    "a query counts as written": (ALL + "Disallow: /*?s=\nAllow: /blog/\n", "/blog/?s=1", "/shop/?s=1"),
    "empty rules": (ALL + "Disallow:\nAllow:\n", "/ /a", ""),
    "empty rule beside another": (ALL + "Disallow:\nDisallow: /a\n", "/b", "/a"),
    "only the home page": (ALL + "Disallow: /\nAllow: /$\n", "/", "/page.html"),
    "index.html is its folder": (ALL + "Disallow: /\nAllow: /d/index.html\n", "/d/ /d/index.html", "/d/index.htm /d/x"),
    "the file itself": (ALL + NOTHING, "/robots.txt", "/robots.txt2"),
    # Signs (2.2.3)
    "star": (ALL + "Disallow: /a/*/c\n", "/a/c /a/b/d /b/a/x/c", "/a/b/c /a//c /a/b/c/d"),
    "star at the end": (ALL + "Disallow: /fish*\n", "/catfish", "/fish /fishes"),
    "star at the start": (ALL + "Disallow: *.php\n", "/php", "/a.php /a.php?x"),
    "star between": (ALL + "Disallow: /fish*.php\n", "/fish.PHP", "/fish.php /fishes/cat.php?x"),
    "stars in a row": (ALL + "Disallow: /a**b\n", "/a", "/ab /axb"),
    "end": (ALL + "Disallow: /a$\n", "/a/ /a/b /ab /a?x", "/a"),
    "star and end": (ALL + "Disallow: /*.php$\n", "/a.php?x /a.php/ /a.php5", "/a.php /b/a.php"),
    "star, piece twice, end": (ALL + "Disallow: /*a*a$\n", "/a /ab", "/aa /aba /abaca"),
    "end inside is a character": (ALL + "Disallow: /a$b\n", "/a /ab", "/a$b /a%24b"),
    "star alone": (ALL + "Disallow: *\n", "", "/ /a"),
    "end alone": (ALL + "Disallow: $\n", "/ /a", ""),
    "escaped star": (ALL + "Disallow: /a-%2A.html\n", "/a-x.html", "/a-*.html /a-%2a.html"),
    "escaped end": (ALL + "Disallow: /a-%24\n", "/a-", "/a-$ /a-$b"),
    # Escapes (2.2.2)
    "letter outside ASCII": (ALL + "Disallow: /é\n", "/e", "/%C3%A9 /%c3%a9/x /é"),
    "its escape": (ALL + "Disallow: /%c3%a9\n", "/e", "/%C3%A9 /é"),
    "three bytes": (ALL + "Disallow: /ツ\n", "/", "/%E3%83%84"),
    "unreserved, escaped in the rule": (ALL + "Disallow: /%62%61%7A\n", "/b", "/baz"),  # RFC 9309; Google: as written
    "unreserved, escaped in the URL": (ALL + "Disallow: /baz\n", "/b", "/%62%61%7a"),
    "a slash and its escape": (ALL + "Disallow: /a%2fb\n", "/a/b", "/a%2Fb"),
    "a question mark and its escape": (ALL + "Disallow: /a%3Fb\n", "/a?b", "/a%3fb"),
    "a space": (ALL + "Disallow: /my folder\n", "/my", "/my%20folder/x"),  # Google: never matches
    "a percent sign": (ALL + "Disallow: /100%\n", "/100", "/100%25"),
}


@pytest.mark.parametrize("name", CASES)
def test_table(name: str) -> None:
    text, allowed, forbidden = CASES[name]
    judge = read_rules(text if isinstance(text, bytes) else text.encode(), US).judge()
    verdicts = {path: judge(f"http://a.test{path}") for path in [*allowed.split(), *forbidden.split()]}
    assert verdicts == dict.fromkeys(allowed.split()) | dict.fromkeys(forbidden.split(), "robots_disallowed")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (OURS + "Crawl-delay: 7\n", 7.0),
        (OURS + "crawl-delay 2.5 # slowly\n", 2.5),
        (OURS + "Crawl-delay: .5\n", 0.5),
        (OURS + "Crawl-delay: 10s\n", 10.0),
        (OURS + "Crawl-delay: -3\n", 0.0),
        (OURS + "Crawl-delay: soon\n", 0.0),
        (OURS + "Crawl-delay: 1e999\n", 0.0),
        (OURS + "Request-rate: 1/90\n", 90.0),
        (OURS + "Request-rate: 4/2m 0600-0845\n", 30.0),
        (OURS + "Request-rate: 0/5\n", 0.0),
        (OURS + "Crawl-delay: 5\nRequest-rate: 1/9\n" + OURS + "Crawl-delay: 2\n", 9.0),
        (ALL + "Crawl-delay: 9\n" + OURS + "Disallow: /a\n", 0.0),
        ("User-agent: wikisum-builder/0.1\nCrawl-delay: 9\n", 9.0),
        # A delay between two names is for those above it: many files have groups of nothing else.
        ("User-agent: other\nCrawl-delay: 60\n\n" + ALL + "Disallow: /a\n", 0.0),
        (OURS + "Crawl-delay: 60\n\n" + ALL + "Disallow: /a\n", 60.0),
    ],
)
def test_delays(text: str, seconds: float) -> None:
    assert read_rules(text.encode(), US).delay == seconds


LINES = [
    "User-agent: *",
    "User-agent: wikisum-builder",
    "user agent WIKISUM-builder/2",
    "User-Agent: other # us?",
    "Useragent:",
    "user-agent",
    "Disallow: /",
    "Disallow: /a",
    "Allow: /a/b",
    "Disallow: /*b$",
    "Disalow /c",
    "Allow /c/d",
    "Disallow:",
    "noise",
    "unknown: x",
    "Sitemap: http://a.test/s.xml",
    "Crawl-delay: 7",
    "",
    "# a comment",
    "Disallow: /%7Ejoe",
    "  Allow: /*.html # pages",
    "Allow: /x/index.html",
    "Disallow: /longer-than-any",
]
PATHS = ["/", "/a", "/a/b", "/a/b/c.html", "/c", "/c/d", "/xb", "/~joe/", "/b?q=1", "/x/"]


def verdicts(lines: list[str]) -> list[str | None]:
    judge = read_rules("\n".join(lines).encode(), US).judge()
    return [judge(f"http://a.test{path}") for path in PATHS]


@given(st.lists(st.sampled_from(LINES), max_size=14), st.lists(st.sampled_from(LINES[6:]), max_size=5))
def test_a_group_for_others_changes_no_verdict(lines: list[str], theirs: list[str]) -> None:
    assert verdicts(["User-agent: other", *theirs, "Disallow: /x", *lines]) == verdicts(lines)
    assert verdicts([*lines, "Disallow: /never", "User-agent: other", *theirs]) == verdicts(
        [*lines, "Disallow: /never"]
    )


PIECES = st.text(alphabet="ab/*$", max_size=8)


@given(st.lists(st.tuples(st.booleans(), PIECES), max_size=6), st.text(alphabet="ab/$", max_size=10))
def test_rules_decide_as_expressions_that_try_every_place(rules: list[tuple[bool, str]], rest: str) -> None:
    def found(written: str, path: str) -> bool:
        body = ".*".join(map(re.escape, written.removesuffix("$").split("*")))
        return re.compile(body + (r"\Z" if written.endswith("$") else "")).match(path) is not None

    path = path_of(f"http://a.test/{rest}")
    assert path == f"/{rest}"
    for _, written in rules:
        assert PathPattern(written).matches(path) is found(written, path)
    matching = [(len(written), allows) for allows, written in rules if found(written, path)]
    assert PathRules(rules).allows(path) is max(matching, default=(0, True))[1]
