import pytest
from lxml import html

from tasks.cited_summary.sanitize import ANCHOR, POLICY, sanitized_page

PASSAGE = "The tower is 31 metres high and stands on granite."
HOSTILE = f"""<html><head><base href="http://evil.test/"><meta http-equiv="refresh" content="0;url=http://evil.test/">
<script>parent.stolen = 1</script><link rel="stylesheet" href="http://evil.test/a.css">
<style>@import url(http://evil.test/b.css)</style></head>
<body onload="steal()" background="http://evil.test/c.png">
<img src="http://evil.test/d.png" srcset="http://evil.test/e.png 2x" onerror="steal()">
<p style="background: URL(http://evil.test/f.png)">One.</p>
<p style="background: u\\72l(http://evil.test/g.png)">Two.</p>
<a href="javascript:steal()">link</a> <a href="http://evil.test/h" ping="http://evil.test/i">other</a>
<form action="http://evil.test/j"><input name="password"><button formaction="http://evil.test/k">go</button></form>
<iframe src="http://evil.test/l" srcdoc="<script>1</script>"></iframe><object data="http://evil.test/m"></object>
<svg><script href="http://evil.test/n"></script>
<image xlink:href="http://evil.test/o"/><animate onbegin="steal()"/></svg>
<video poster="http://evil.test/p"><source src="http://evil.test/q"></video>
<div><p>{PASSAGE} It was built in 1847.</p></div></body></html>"""


def test_nothing_of_a_hostile_page_runs_loads_or_leads_away():
    page = sanitized_page(HOSTILE.encode(), "text/html", None)
    assert page is not None
    for sign in ("evil.test", "script", "steal", "http", "@import", "refresh", "<form", "<iframe", "<object", "<base"):
        assert sign not in page.lower(), f"{sign} is left in {page}"
    assert "One." in page
    assert PASSAGE in page


def test_the_smallest_element_with_the_passage_is_marked():
    page = sanitized_page(HOSTILE.encode(), "text/html", None, PASSAGE)
    assert page is not None
    (marked,) = html.document_fromstring(page).xpath(f"//*[@id='{ANCHOR}']")
    assert (marked.tag, marked.text) == ("p", f"{PASSAGE} It was built in 1847.")


def test_a_passage_that_is_not_there_marks_nothing():
    assert ANCHOR not in (sanitized_page(HOSTILE.encode(), "text/html", None, "Another text.") or "")
    assert ANCHOR not in (sanitized_page(HOSTILE.encode(), "text/html", None) or "")


def test_plain_text_is_escaped_and_its_passage_marked_over_a_line_break():
    text = f"<script>alert(1)</script>\n{PASSAGE[:20]}\n{PASSAGE[20:]} More."
    page = sanitized_page(text.encode(), "text/plain", None, PASSAGE)
    assert page is not None
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert f'id="{ANCHOR}"' in page


@pytest.mark.parametrize("mime", ["application/pdf", "image/png", None])
def test_other_types_are_not_shown(mime: str | None):
    assert sanitized_page(b"%PDF-1.4", mime, None) is None


def test_an_empty_page_is_shown_empty():
    assert sanitized_page(b"  ", "text/html", None) is not None


def test_the_policy_forbids_everything_but_inline_styles():
    assert POLICY.split("; ")[:3] == ["sandbox", "default-src 'none'", "style-src 'unsafe-inline'"]
