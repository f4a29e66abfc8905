import numpy as np

from tasks.extraction.blocks import read_page
from tasks.extraction.density import dense
from tasks.extraction.markup import parse

FIRST = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
SECOND = "Below the old bridge it turns south, and the valley widens into meadows that are under water each winter."
THIRD = "Barges carried coal and limestone along it until the railway came in 1863, after which the locks decayed."
MENU = "<ul>" + "".join(f'<li><a href="/{i}">Section {i}</a></li>' for i in range(12)) + "</ul>"


def lines(body: str) -> list[str]:
    page = read_page(parse(f"<html><body>{body}</body></html>"))
    return [page.blocks[number].text for number in np.flatnonzero(dense(page))]


def test_article_between_menus():
    assert lines(f"{MENU}<div><p>{FIRST}</p><p>{SECOND}</p></div>{MENU}") == [FIRST, SECOND]


def test_elements_that_never_hold_prose_are_left_out():
    around = f"<nav><p>{THIRD}</p></nav><footer><p>{THIRD}</p></footer><aside><p>{THIRD}</p></aside>"
    assert lines(f"<div><p>{FIRST}</p><script>var a = 1;</script><p>{SECOND}</p></div>{around}") == [FIRST, SECOND]


def test_refused_by_class_role_and_visibility():
    kept = f"<div>{''.join(f'<p>{FIRST}</p>' for _ in range(10))}</div>"
    for attribute in ('class="post-comments"', 'id="sidebar"', 'role="complementary"', 'class="read-more"'):
        assert lines(f"{kept}<div {attribute}><p>{THIRD}</p></div>") == [FIRST] * 10


def test_class_that_only_contains_a_refused_word_is_kept():
    text = "".join(f"<p>{FIRST}</p>" for _ in range(10))
    assert lines(f'<div class="shaded adapted commentary">{text}</div>') == [FIRST] * 10


def test_refused_class_around_the_whole_article_is_looked_into():
    assert lines(f'<div class="menu">{MENU}<p>{FIRST}</p><p>{SECOND}</p></div>') == [FIRST, SECOND]


def test_advertisement_in_the_middle_cuts_nothing_off():
    before, after = [FIRST, SECOND, THIRD], [SECOND, THIRD, FIRST]
    html = MENU.join("".join(f"<p>{text}</p>" for text in part) for part in (before, after))
    assert lines(html) == before + after


def test_heading_and_date_before_the_text_are_trimmed():
    assert lines(f"<div><h1>The river</h1><p>4 May 2019</p><p>{FIRST}</p><h2>Course</h2><p>{SECOND}</p></div>") == [
        FIRST,
        "Course",
        SECOND,
    ]


def test_inline_tags_break_no_paragraph_and_tails_are_kept():
    html = f"<p>The <b>river</b> rises on <a href='/m'>the moors</a>{FIRST[29:]}</p>"
    assert lines(html) == ["The river rises on the moors" + FIRST[29:]]


def test_two_line_breaks_end_a_paragraph_and_one_does_not():
    assert lines(f"<div>{FIRST}<br> <br>{SECOND}<br>{THIRD}</div>") == [FIRST, f"{SECOND} {THIRD}"]


def test_preformatted_text_is_read_like_plain_text():
    assert lines(f"<pre>{FIRST[:49]}\n{FIRST[50:]}\n\n{SECOND[:60]}\n{SECOND[61:]}</pre>") == [
        f"{FIRST[:49]} {FIRST[50:]}",
        f"{SECOND[:60]} {SECOND[61:]}",
    ]


def test_page_of_links_has_no_text():
    assert lines(MENU * 3) == []


def test_text_after_a_heading_needs_no_paragraph():
    sections = "".join(f"<section><h3>Part {n}</h3>{text}</section>" for n, text in enumerate((FIRST, SECOND, THIRD)))
    assert (
        lines(f"{sections}<footer><p>{FIRST}</p></footer>") == ["Part 0", FIRST, "Part 1", SECOND, "Part 2", THIRD][1:]
    )


def test_id_made_of_a_heading_refuses_nothing():
    sections = "".join(
        f'<div id="{head.lower().replace(" ", "-")}" class="section level2"><h2>{head}</h2><p>{text}</p></div>'
        for head, text in (("Related rivers", FIRST), ("Legal status", SECOND), ("Share capital", THIRD))
    )
    assert [line for line in lines(sections) if len(line) > 20] == [FIRST, SECOND, THIRD]
