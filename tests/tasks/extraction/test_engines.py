import json

import pytest

from benchmarks.extraction import f1, ours, precision_recall, score, word_scores
from benchmarks.web_pages import LabelledPage, read_news, read_wcxb
from tasks.extraction.engines import extract, tidy
from tasks.extraction.settings import ExtractSettings

FIRST = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
SECOND = "Below the old bridge it turns south, and the valley widens into meadows that are under water each winter."
PAGE = f"<html><head><title>Severn | Rivers</title></head><body><article><p>{FIRST}</p><p>{SECOND}</p></article></body>"


def test_engine_finds_the_article_and_says_who_it_was():
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings())
    assert found.title == "Severn | Rivers"
    assert found.paragraphs == (FIRST, SECOND)
    assert (found.engine, found.reason) == ("blocks", None)


def test_page_of_a_link_has_that_line():
    page = b"<body><ul><li><a href='/'>Only a link</a></li></ul><script>x</script>"
    assert extract(page, "text/html", None, ExtractSettings()).paragraphs == ("Only a link",)


def test_trafilatura_can_be_chosen():
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings(engine="trafilatura"))
    assert (found.engine, found.paragraphs) == ("trafilatura", (FIRST, SECOND))


@pytest.mark.parametrize("engine", ["blocks", "trafilatura"])
def test_text_of_tables_is_kept(engine):
    cells = "".join(f"<tr><td>{text}</td></tr>" for text in (FIRST, SECOND))
    page = f"<body><article><p>{FIRST} {SECOND}</p><p>{SECOND} It is so.</p><table>{cells}</table></article>".encode()
    kept = extract(page, "text/html", None, ExtractSettings(engine=engine)).paragraphs
    assert kept[:2] == (f"{FIRST} {SECOND}", f"{SECOND} It is so.")
    assert len(kept) > 2


def test_short_cells_of_a_row_are_one_line():
    rows = "".join(
        f"<tr><td><div>{day}</div></td><td><ul><li>{hours}</li></ul></td></tr>"
        for day, hours in (("Monday", "10:00 AM to 8:00 PM"), ("Tuesday", "Closed"))
    )
    page = f"<main><h1>The mill</h1><p>{FIRST}</p><table>{rows}</table><p>{SECOND}</p></main>"
    found = extract(page.encode(), "text/html", None, ExtractSettings())
    assert found.paragraphs[-4:] == (FIRST, "Monday | 10:00 AM to 8:00 PM", "Tuesday | Closed", SECOND)


@pytest.mark.parametrize("word", ["popup", "comment", "menu", "rss", "share", "sidebar"])
def test_class_within_a_line_removes_nothing(word):
    page = PAGE.replace("the moors", f"<span class='{word}'>the moors</span>")
    assert extract(page.encode(), "text/html", None, ExtractSettings()).paragraphs == (FIRST, SECOND)


def test_text_after_the_end_of_the_page_is_read():
    page = f"<html><body><header><h1>Severn</h1></header></body></html><div><p>{FIRST}</p><p>{SECOND}</p></div>"
    assert extract(page.encode(), "text/html", None, ExtractSettings()).paragraphs[-2:] == (FIRST, SECOND)


def test_text_in_a_head_that_is_not_closed_is_read():
    page = f"<!doctype html><title>Severn</title><article><p>{FIRST}</p><p>{SECOND}</p></article>"
    assert extract(page.encode(), "text/html", None, ExtractSettings()).paragraphs == (FIRST, SECOND)


def test_page_in_the_place_of_another_has_a_reason():
    page = "<title>Page not found</title><p>Sorry, we can’t find that page. It may have been moved or deleted.</p>"
    found = extract(page.encode(), "text/html", None, ExtractSettings())
    assert (found.paragraphs, found.engine, found.reason) == ((), None, "not_found")


def test_plain_text():
    found = extract(f"{FIRST}\n\n{SECOND}\n".encode(), "text/plain", None, ExtractSettings())
    assert (found.title, found.paragraphs, found.engine) == (None, (FIRST, SECOND), "plain")


@pytest.mark.parametrize(
    ("body", "mime"),
    [(b"", "text/html"), (b"\0\0", "text/html"), (b" \n ", "text/plain"), (b"<script>1</script>", None)],
)
def test_nothing_has_a_reason(body, mime):
    found = extract(body, mime, None, ExtractSettings())
    assert (found.paragraphs, found.engine, found.reason) == ((), None, "no_text")


def test_nul_bytes_within_text_are_left_out():
    assert (
        extract(PAGE.replace("river", "ri\0ver").encode(), "text/html", None, ExtractSettings()).paragraphs[0] == FIRST
    )


def test_mislabelled_page():
    html = PAGE.replace("moors", "Hügeln").encode()
    assert "Hügeln" in extract(html, "text/html", "iso-8859-1", ExtractSettings()).paragraphs[0]


@pytest.mark.parametrize(
    "line",
    [
        "Read more: Barges return to the Severn",
        "RELATED: The Wye",
        "Advertisement",
        "Don’t miss",
        "Story continues below advertisement",
        "Sign up for our weekly newsletter.",
        "Get the day’s top stories delivered to your inbox every morning.",
        "Follow us on Twitter.",
        "This slideshow requires JavaScript.",
        "===============",
        "* * *",
        "",
        "The Severn",
        "THE SEVERN — RIVERS",
    ],
)
def test_pointers_rules_and_titles_are_left_out(line):
    assert tidy([FIRST, line, SECOND], "The Severn | Rivers") == [FIRST, SECOND]


@pytest.mark.parametrize(
    "line",
    [
        "Read more slowly and you will see the pattern in the water.",
        "More: a Man for All Seasons was filmed on its banks." * 8,
        "Related species live in the Wye and the Usk.",
        "“Follow me,” said the ferryman.",
        "He asked them to sign up for the march on the capital.",
        "Watch the tide and you will know the hour.",
        "The Severn is the longest river of the island.",
    ],
)
def test_prose_that_begins_alike_is_kept(line):
    assert tidy([line], "The Severn | Rivers") == [line]


def test_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine"):
        ExtractSettings.model_validate({"engine": "justext"})


def test_the_recipe_can_be_written_as_json():
    json.dumps(ExtractSettings().recipe())


def test_shingle_scores_worked_out_by_hand():
    assert precision_recall("a b c d e", "a b c d e") == (1.0, 1.0)
    assert precision_recall("a b c d e", "a b c d") == (1.0, 0.5)  # shingles abcd, bcde against abcd
    assert precision_recall("a b c d", "x a b c d y") == (1 / 3, 1.0)
    assert precision_recall("a b c d", "") == (0.0, 0.0)


def test_f1_is_that_of_the_averages():
    assert f1([(1.0, 0.5), (0.5, 0.5)]) == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert f1([(0.0, 0.0)]) == 0.0


def test_word_scores_worked_out_by_hand():
    assert word_scores("a b b c", "A b d") == (2 / 3, 1 / 2, pytest.approx(4 / 7))
    assert word_scores("", "") == (1, 1, 1)
    assert word_scores("a", "") == (0, 0, 0)


def test_required_and_forbidden_pieces_are_counted():
    page = LabelledPage(b"", "a b", "x.test", "article", ("A b", "c"), ("d", "e"))
    found = score(page, "a b d")
    assert (found.required, found.forbidden) == (0.5, 0.5)


@pytest.mark.shared_data
def test_shipped_classifier_stays_near_the_pages_it_was_learned_from(shared_data):
    for folder, read, least in (("extraction", read_news, 0.985), ("wcxb", read_wcxb, 0.88)):
        pages = read(shared_data / folder)[:: 1 if folder == "extraction" else 20]
        scores = [score(page, ours()(page.html)) for page in pages]
        if folder == "extraction":
            assert f1([(one.shingle_precision, one.shingle_recall) for one in scores]) >= least
        else:
            assert sum(one.f1 for one in scores) / len(scores) >= least
