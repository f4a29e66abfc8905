import json

import pytest

from benchmarks.extraction import measure, precision_recall, read_pages
from tasks.extraction.engines import extract, tidy
from tasks.extraction.settings import ExtractSettings

FIRST = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
SECOND = "Below the old bridge it turns south, and the valley widens into meadows that are under water each winter."
PAGE = f"<html><head><title>Severn | Rivers</title></head><body><article><p>{FIRST}</p><p>{SECOND}</p></article></body>"


@pytest.mark.parametrize("engine", ["trafilatura", "density"])
def test_engine_finds_the_article_and_says_who_it_was(engine):
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings(engine=engine))
    assert found.title == "Severn | Rivers"
    assert found.paragraphs == (FIRST, SECOND)
    assert (found.engine, found.reason) == (engine, None)


def test_soup_is_the_last_resort():
    found = extract(b"<body><ul><li><a href='/'>Only a link</a></li></ul><script>x</script>", "text/html", None,
                    ExtractSettings(engine="density"))  # fmt: skip
    assert (found.paragraphs, found.engine) == (("Only a link",), "soup")


@pytest.mark.parametrize(("rescue_below", "engine"), [(0.5, "density"), (0.3, "trafilatura"), (0, "trafilatura")])
def test_fast_engine_rescues_what_trafilatura_leaves_out(monkeypatch, rescue_below, engine):
    monkeypatch.setattr("tasks.extraction.engines._extract_trafilatura", lambda tree, settings: [FIRST[:80]])
    settings = ExtractSettings(rescue_below=rescue_below)
    assert len(FIRST[:80]) / len(FIRST + SECOND) == pytest.approx(0.38, abs=0.01)
    assert extract(PAGE.encode(), "text/html", None, settings).engine == engine


def test_fast_engine_rescues_even_when_that_is_off_where_trafilatura_finds_nothing(monkeypatch):
    monkeypatch.setattr("tasks.extraction.engines._extract_trafilatura", lambda tree, settings: [""])
    assert extract(PAGE.encode(), "text/html", None, ExtractSettings(rescue_below=0)).paragraphs == (FIRST, SECOND)


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
    with pytest.raises(ValueError, match="repeated_pages is 1"):
        ExtractSettings(repeated_pages=1)


def test_speed_alone_is_no_part_of_the_recipe():
    assert "pages_per_worker" not in ExtractSettings().recipe()
    json.dumps(ExtractSettings().recipe())


def test_shingle_scores_worked_out_by_hand():
    assert precision_recall("a b c d e", "a b c d e") == (1.0, 1.0)
    assert precision_recall("a b c d e", "a b c d") == (1.0, 0.5)  # shingles abcd, bcde against abcd
    assert precision_recall("a b c d", "x a b c d y") == (1 / 3, 1.0)
    assert precision_recall("a b c d", "") == (0.0, 0.0)


@pytest.mark.shared_data
def test_figures_of_the_extraction_benchmark(shared_data):
    pages = read_pages(shared_data / "extraction")
    settings = {name: ExtractSettings.model_validate({"engine": name}) for name in ("trafilatura", "density")}
    scores = {
        name: measure(
            pages, lambda html, name=name: "\n".join(extract(html, "text/html", None, settings[name]).paragraphs)
        )
        for name in settings
    }
    assert scores["trafilatura"].f1 >= 0.974
    assert scores["density"].f1 >= 0.96
