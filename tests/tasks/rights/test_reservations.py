import pytest

from tasks.extraction.markup import parse
from tasks.rights.reservations import (
    header_licences,
    header_reservations,
    page_reservations,
    reserves_training,
    rights_headers,
)


@pytest.mark.parametrize(
    ("headers", "signs"),
    [
        ({}, []),
        ({"tdm-reservation": "1"}, ["header tdm-reservation"]),
        ({"tdm-reservation": "0"}, []),
        ({"tdm-reservation": "yes"}, []),  # the protocol knows 0 and 1
        ({"x-robots-tag": "noindex, NoAI, noimageai"}, ["header noai", "header noimageai"]),
        ({"x-robots-tag": "noai, noai"}, ["header noai"]),
        ({"x-robots-tag": "noml"}, ["header noml"]),
        ({"x-robots-tag": "noAI noimageAI"}, ["header noai", "header noimageai"]),
        ({"x-robots-tag": "noai; noml"}, ["header noai", "header noml"]),
        ({"x-robots-tag": "noaim, no-ai"}, []),
        ({"x-robots-tag": "GPTBot: noai, noindex"}, ["header noai for gptbot"]),
        ({"x-robots-tag": "googlebot: noindex"}, []),
        ({"x-robots-tag": "googlebot: noindex, noai"}, ["header noai for googlebot"]),  # two headers may be joined so
        (
            {"x-robots-tag": "wikisum-builder: noai, otherbot: noml, noindex"},
            ["header noai for wikisum-builder", "header noml for otherbot"],
        ),
        ({"x-robots-tag": "unavailable_after: 25 Jun 2010 15:00:00 PST, noai"}, ["header noai"]),
        ({"x-robots-tag": "googlebot: noindex, *: noai"}, ["header noai"]),
        ({"x-robots-tag": "max-snippet: 20, noai"}, ["header noai"]),
        (
            {"content-signal": "search=yes, ai-train=no, ai-input=no"},
            ["header content-signal ai-train=no", "header content-signal ai-input=no"],
        ),
        ({"content-signal": "ai-train=yes"}, []),
        ({"content-usage": "train-ai=n;exp=1, search=y"}, ["header content-usage train-ai=n"]),
        ({"content-usage": "bots=n"}, ["header content-usage bots=n"]),
        ({"content-usage": "bots=n, train-ai=y"}, ["header content-usage bots=n with train-ai"]),
        ({"content-usage": "train-ai=never"}, []),
        ({"link": '<https://severn.test/l.xml>; rel="license"; type="application/rsl+xml"'}, ["header rsl"]),
        ({"link": '<https://severn.test/l.xml>; rel="license"; type="text/html"'}, []),
        ({"link": '</a>; rel="license", </l.xml>; type="application/rsl+xml"; rel=license'}, ["header rsl"]),
        (  # as an archive of ours keeps it
            {"robots.txt": "content-signal ai-train=no, rsl"},
            ["robots.txt content-signal ai-train=no", "robots.txt rsl"],
        ),
        ({"x-archive-orig-x-robots-tag": "noai"}, ["header noai"]),  # as the Internet Archive keeps it
    ],
)
def test_signs_in_headers(headers: dict[str, str], signs: list[str]) -> None:
    assert header_reservations(rights_headers({"content-type": "text/html", **headers})) == signs


def test_only_headers_on_rights_are_kept_and_only_such_as_a_file_can_hold() -> None:
    licence = '<https://creativecommons.org/licenses/by/4.0/>; rel="license"'
    kept = rights_headers({"etag": "1", "link": f"</a.css>; rel=preload, {licence}", "x-robots-tag": "all"})
    assert kept == ["x-robots-tag: all", f"link: </a.css>; rel=preload, {licence}"]
    assert header_licences(kept) == ["https://creativecommons.org/licenses/by/4.0/"]
    assert rights_headers({"link": "</a.css>; rel=preload", "x-robots-tag": "noai\u00e9"}) == []
    assert [len(header) for header in rights_headers({"x-robots-tag": "x" * 5000})] == [len("x-robots-tag: ") + 1000]


@pytest.mark.parametrize(
    ("meta", "signs"),
    [
        ('<meta name="robots" content="index, noai">', ["meta noai"]),
        (
            '<meta name="ROBOTS" content="noimageai"><meta name="tdm-reservation" content=" 1 ">',
            ["meta noimageai", "meta tdm-reservation"],
        ),
        ('<meta name="robots" content="noai"><meta name="robots" content="noai">', ["meta noai"]),
        ('<meta name="robots" content="noarchive"><meta name="tdm-reservation" content="0">', []),
        ('<meta name="robots" content="noAI">', ["meta noai"]),
        ('<META NAME="Robots" CONTENT="NOINDEX,NOIMAGEAI">', ["meta noimageai"]),
        ('<meta name="robots" content="noml">', ["meta noml"]),
        ('<meta name="robots" content="noai noimageai">', ["meta noai", "meta noimageai"]),
        ('<meta http-equiv="X-Robots-Tag" content="noai, noindex">', ["meta noai"]),
        (
            '<meta http-equiv="x-robots-tag" content="gptbot: noai, ccbot: noml">',
            ["meta noai for gptbot", "meta noml for ccbot"],
        ),
        ('<meta http-equiv="Content-Usage" content="train-ai=n">', ["meta content-usage train-ai=n"]),
        ('<meta name="content-signal" content="ai-input=no">', ["meta content-signal ai-input=no"]),
        ('<link rel="license" type="application/rsl+xml" href="/l.xml">', ["link rsl"]),
        ('<link rel="alternate" type="application/rsl+xml" href="/l.xml">', []),
        ('<script type="application/rsl+xml"><rsl></rsl></script>', ["script rsl"]),
        ('<meta http-equiv="refresh" content="noai">', []),
        ('<meta http-equiv="tdm-reservation" content="1">', ["meta tdm-reservation"]),
        ('<meta name="GPTBot" content="noai">', ["meta noai for gptbot"]),
        ('<meta name="Google-Extended" content="noindex, noai">', ["meta noai for google-extended"]),
        ('<meta name="googlebot" content="noindex">', []),
        ('<meta name="keywords" content="art, noai, noml">', []),
        ('<meta content="noai">', []),
        ('<meta name="description" content="What noai means">', []),
    ],
)
def test_signs_in_a_page(meta: str, signs: list[str]) -> None:
    page = f"<head>{meta}</head><body>Text.</body>"
    tree = parse(page)
    assert tree is not None
    assert page_reservations(tree) == signs


@pytest.mark.parametrize(
    ("sign", "reserves"),
    [
        ("robots.txt content-signal ai-train=no", True),
        ("robots.txt content-signal ai-input=no", False),
        ("robots.txt content-signal search=no", False),
        ("header content-usage train-ai=n", True),
        ("header content-usage bots=n", True),
        ("header content-usage bots=n with train-ai", False),
        ("meta noai for gptbot", True),
        ("meta noimageai", False),
        ("header tdm-reservation", True),
        ("robots.txt rsl", True),
        ("ai.txt", True),
    ],
)
def test_training_is_told_from_other_uses(sign: str, reserves: bool) -> None:
    assert reserves_training(sign) is reserves
