"""ai.txt and tdmrep.json of a real server: what they reserve, and what hostile ones cost."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.crawl.site_rules import PATHS, read_file
from tasks.fetching.robots import read_rules
from tasks.fetching.safety import FetchError
from tasks.rights.reservations import header_reservations, of_other_files, reserves_training
from tests.tasks.fetching.loopback_server import Handler, LoopbackServer, answer, crawl, local_journal

SITE = "http://site.test"


def text(body: str, status: str = "200 OK") -> bytes:
    return answer(body.encode(), status, Content_Type="text/plain")


def rules(*locations: tuple[str, int]) -> bytes:
    body = json.dumps([{"location": location, "tdm-reservation": value} for location, value in locations])
    return answer(body.encode(), Content_Type="application/json")


def signs(tmp_path: Path, pages: dict[str, Handler], paths: list[str], **settings: Any) -> tuple[list[Any], list[str]]:
    """Crawl paths of a site; return the signs of each and the paths that were asked for."""
    with LoopbackServer({**{path: answer() for path in paths}, **pages}) as server:
        rows = crawl(
            server, [SITE + path for path in paths], local_journal(tmp_path), **{"reservation_files": True, **settings}
        )
        asked = [hit.path for hit in server.log if hit.host == "site.test"]
    return [header_reservations(rows[SITE + path]["rights_headers"] or []) for path in paths], asked


AI = "User-Agent: *\nDisallow: /stories\nDisallow: *.html\nAllow: /free\n"
AI_CASES: dict[str, tuple[str, list[bool]]] = {
    # what ai.txt says, and whether it reserves /stories/1, /free/a.php and /news?id=1
    "everything": ("User-Agent: *\nDisallow: /\nDisallow: *\n", [True, True, True]),
    "some paths": ("User-Agent: *\nDisallow: /stories\n", [True, False, False]),
    "pages of HTML": ("User-Agent: *\nDisallow: *.html\n", [True, True, True]),
    "pictures only": ("User-Agent: *\nDisallow: *.jpg\nDisallow: *.png\n", [False, False, False]),
    "us": ("User-Agent: wikisum-builder\nDisallow: /\nUser-Agent: *\nAllow: /\n", [True, True, True]),
    "others": ("User-Agent: GPTBot\nDisallow: /\n", [False, False, False]),
    "another format of that name": ("# A shop\n> It sells hats.\n- Disallow nothing\n", [False, False, False]),
    "a web page": ("<html><body>Not found: /ai.txt\n</body></html>", [False, False, False]),
    "rules in a web page": ("<html><body>User-Agent: *\nDisallow: /\n</body></html>", [True, True, True]),
}


@pytest.mark.parametrize("name", AI_CASES)
def test_what_ai_txt_reserves(name: str, tmp_path: Path) -> None:
    body, reserved = AI_CASES[name]
    found, _ = signs(tmp_path, {"/ai.txt": text(body)}, ["/stories/1", "/free/a.php", "/news?id=1"])
    assert found == [["ai.txt"] if one else [] for one in reserved]


def test_pages_of_html_have_an_ending_a_name_or_a_folder(tmp_path: Path) -> None:
    found, _ = signs(
        tmp_path, {"/ai.txt": text("User-Agent: *\nDisallow: *.html\n")}, ["/", "/a/", "/a", "/?b=c", "/a.html"]
    )
    assert found == [["ai.txt"]] * 5


UNREAD = ["tdmrep.json unread"] * 3
TDM_CASES: dict[str, tuple[Handler, list[bool] | list[str]]] = {
    # what tdmrep.json says, and whether it reserves /a/open, /a/b%20c?x=1 and /d.html
    "everything": (rules(("/", 1)), [True, True, True]),
    "the first that matches counts": (rules(("/a/open", 0), ("/a/*", 1), ("/", 0)), [False, True, False]),
    "no later rule": (rules(("/*", 0), ("/a/", 1)), [False, False, False]),
    "stars and an end": (rules(("*/*.html$", 1), ("/*b c", 1)), [False, True, True]),
    "an end that is not reached": (rules(("/a$", 1), ("/d.htm$", 1)), [False, False, False]),
    "one rule without a list": (answer(b'{"location": "/d", "tdm-reservation": 1}'), [False, False, True]),
    "text for a number": (answer(b'[{"location": "/d", "tdm-reservation": "1"}]'), [False, False, True]),
    "other things": (answer(b'[1, {"location": 1}, {"location": "/"}, {"tdm-reservation": 1}]'), [False] * 3),
    "half a character": (answer(b'[{"location": "/a\\ud800", "tdm-reservation": 1}]'), [False] * 3),
    "no JSON": (answer(b"<html>Not found</html>"), [False] * 3),
    "a text": (answer(b"not here"), [False] * 3),
    "missing": (text("no", "404 Not Found"), [False] * 3),
    "redirects without end": (lambda e: e.send(answer(b"", "302 F", Location=f"{e.path}?{e.hit}")), [False] * 3),
    "nested without end": (answer(b"[" * 200_000), UNREAD),
    "cut short": (answer(b'[{"location": "/", "tdm-reser'), UNREAD),
    "cut short within its length": (answer(b"[", Content_Length="99"), UNREAD),
    "longer than what is read": (answer(b'[{"location": "/' + b"x" * 600_000 + b'", "tdm-reservation": 1}]'), UNREAD),
    "bytes": (answer(bytes(range(256)) * 4), UNREAD),
    "reset": (lambda e: e.reset(), UNREAD),
    "too many rules": (rules(*[(f"/{number}", 0) for number in range(1_001)]), [True] * 3),
    "an error": (text('[{"location": "/", "tdm-reservation": 1}]', "503 Busy"), UNREAD),
}


@pytest.mark.parametrize("name", TDM_CASES)
def test_what_tdmrep_reserves(name: str, tmp_path: Path) -> None:
    file, reserved = TDM_CASES[name]
    paths = ["/a/open", "/a/b%20c?x=1", "/d.html"]
    found, _ = signs(tmp_path, {"/.well-known/tdmrep.json": file}, paths, retries=0)
    assert found == [[one] if isinstance(one, str) else ["tdmrep.json"] if one else [] for one in reserved]


def test_each_file_is_asked_for_once_and_only_where_that_is_wanted_and_allowed(tmp_path: Path) -> None:
    paths = ["/1", "/2", "/3"]
    files: dict[str, Handler] = {"/ai.txt": text("User-agent: *\nDisallow: /2\n"), PATHS[1]: rules(("/3", 1))}
    found, asked = signs(tmp_path / "both", files, paths)
    assert found == [[], ["ai.txt"], ["tdmrep.json"]]
    assert asked == ["/robots.txt", *PATHS, *paths]
    found, asked = signs(tmp_path / "none", files, paths, reservation_files=False)
    assert (found, asked) == ([[], [], []], ["/robots.txt", *paths])
    found, asked = signs(tmp_path / "without robots", files, paths, robots=False)
    assert (found, asked) == ([[], ["ai.txt"], ["tdmrep.json"]], [*PATHS, *paths])
    forbidden = {**files, "/robots.txt": text("User-agent: *\nDisallow: /.well-known\nDisallow: /2\n")}
    found, asked = signs(tmp_path / "forbidden", forbidden, paths)
    assert (found, asked) == ([[], [], []], ["/robots.txt", "/ai.txt", "/1", "/3"])


def test_a_redirect_is_judged_by_the_files_of_its_target(tmp_path: Path) -> None:
    pages: dict[str, Handler] = {
        "/old": answer(b"", "301 Moved", Location="http://other.test/new"),
        "//other.test/new": answer(),
        "//other.test/ai.txt": text("User-agent: *\nDisallow: /\n"),
        "//site.test/ai.txt": text(""),
    }
    found, _ = signs(tmp_path, pages, ["/old", "/here"])
    assert found == [["ai.txt"], []]


def test_a_file_that_cannot_be_read_may_reserve_every_page() -> None:
    for path, sign in zip(PATHS, ("ai.txt unread", "tdmrep.json unread"), strict=True):
        file = read_file(path, FetchError("timeout"), "us")
        assert file is not None
        assert file.reader()("http://a.test/x")
        assert header_reservations([file.sign]) == [sign]
        assert of_other_files([file.sign, "link: x"], ()) == ["link: x"]
        assert reserves_training(sign)


def test_hostile_rules_are_applied_without_backtracking(tmp_path: Path) -> None:
    location = "/" + "*a" * 9_000 + "$"  # with backtracking it would take longer than a test may
    found, _ = signs(tmp_path, {PATHS[1]: rules((location, 1), ("/", 0))}, [f"/{'a' * 1_500}b"])
    assert found == [[]]


SIGNAL = "robots.txt content-signal ai-train=no"
ROBOTS_CASES: dict[str, tuple[str, list[list[str]]]] = {
    # what robots.txt says, and what it says of /stories/1 and /free/a
    "for everyone": ("User-Agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n", [[SIGNAL], [SIGNAL]]),
    "before any crawler": ("Content-Signal: ai-train=no\nUser-Agent: *\nAllow: /\n", [[SIGNAL], [SIGNAL]]),
    "for another crawler": ("User-Agent: GPTBot\nContent-Signal: ai-train=no\nUser-Agent: *\nAllow: /\n", [[], []]),
    "for us": (
        "User-Agent: wikisum-builder\nContent-Signal: ai-train=no\nAllow: /\nUser-agent:*\nContent-Signal: search=no\n",
        [[SIGNAL], [SIGNAL]],
    ),
    "allowed": ("User-Agent: *\nContent-Signal: ai-train=yes\nContent-Usage: train-ai=y\n", [[], []]),
    "by path": (
        "User-Agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y\nAllow: /\n",
        [["robots.txt content-usage train-ai=n"], []],
    ),
    "by the longer path": (
        "User-Agent: *\nContent-Usage: /s* train-ai=n\nContent-Usage: /stories/ bots=n\n",
        [["robots.txt content-usage bots=n"], []],
    ),
    "RSL, anywhere": (
        "User-Agent: GPTBot\nDisallow: /\nLicense: https://site.test/license.xml\n",
        [["robots.txt rsl"], ["robots.txt rsl"]],
    ),
    "an open licence": ("License: https://creativecommons.org/licenses/by/4.0/\n", [[], []]),
    "prose": ("License terms: see below\nContent-Usage of this site is free\n", [[], []]),
}


@pytest.mark.parametrize("name", ROBOTS_CASES)
def test_what_robots_says_of_uses(name: str, tmp_path: Path) -> None:
    body, expected = ROBOTS_CASES[name]
    found, asked = signs(tmp_path, {"/robots.txt": text(body)}, ["/stories/1", "/free/a"], reservation_files=False)
    assert found == expected
    assert sorted(asked) == ["/free/a", "/robots.txt", "/stories/1"]


def test_lines_on_uses_are_bounded_and_then_of_every_path() -> None:
    body = b"User-Agent: *\n" + b"".join(b"Content-Usage: /%d* train-ai=n\n" % number for number in range(100))
    robots = read_rules(body, "reader")
    assert len(robots.uses) == 1
    assert robots.reserves()("http://a.test/news") == ["robots.txt: content-usage train-ai=n"]
