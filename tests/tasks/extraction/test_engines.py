import json

import pytest
from lxml import html

from benchmarks.extraction import THRESHOLDS, f1, leave_one_site_out, measure, precision_recall, read_pages
from tasks.extraction import density, engines
from tasks.extraction.engines import choose, extract, extract_readability, tidy
from tasks.extraction.markup import parse
from tasks.extraction.settings import ExtractSettings

FIRST = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
SECOND = "Below the old bridge it turns south, and the valley widens into meadows that are under water each winter."
PAGE = f"<html><head><title>Severn | Rivers</title></head><body><article><p>{FIRST}</p><p>{SECOND}</p></article></body>"


@pytest.mark.parametrize(
    ("settings", "engine"), [({"rescue_below": 0}, "trafilatura"), ({}, "density"), ({"engine": "density"}, "density")]
)
def test_engine_finds_the_article_and_says_who_it_was(settings, engine):
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings(**settings))
    assert found.title == "Severn | Rivers"
    assert found.paragraphs == (FIRST, SECOND)
    assert (found.engine, found.reason) == (engine, None)


def test_soup_is_the_last_resort():
    found = extract(
        b"<body><ul><li><a href='/'>Only a link</a></li></ul><script>x</script>",
        "text/html",
        None,
        ExtractSettings(engine="density"),
    )
    assert (found.paragraphs, found.engine) == (("Only a link",), "soup")


SHORT, LONG = [FIRST], [FIRST, SECOND]
OTHER = [
    "Subscribers read on, and everyone else is asked to come back tomorrow with a valid card.",
    "So are their guests.",
]


@pytest.mark.parametrize(
    ("texts", "engine"),
    [
        ((SHORT, LONG, LONG), "density"),  # two agree on twice as much
        ((LONG, SHORT, SHORT), "density"),  # two agree on half as much
        ((OTHER, LONG, LONG), "density"),
        ((LONG, OTHER, LONG), "trafilatura"),
        ((LONG, LONG + OTHER, LONG), "trafilatura"),
        ((SHORT, LONG, OTHER), "trafilatura"),  # that one engine found more is no reason
        ((SHORT, LONG, []), "trafilatura"),
        (([FIRST[:80]], [SECOND] * 9, OTHER), "trafilatura"),  # nobody agrees
        (([], LONG, OTHER), "density"),  # nothing to be believed, whoever agrees
        (([], [], LONG), "readability"),
    ],
)
def test_engine_is_given_up_where_two_others_agree_against_it(texts, engine):
    named = dict(zip(("trafilatura", "density", "readability"), texts, strict=True))
    assert choose(named, 0.95) == (engine, named[engine])


def test_engine_that_finds_no_more_than_others_of_a_long_text_is_believed():
    several = [
        f"Reach {number} of the river has a lock, and it has been shut since the year 18{number}0."
        for number in range(9)
    ]
    named = {"trafilatura": several, "density": [*several, FIRST], "readability": [*several, FIRST]}
    assert choose(named, 0.95)[0] == "trafilatura"  # what two engines have beyond it may be a menu of both
    named["trafilatura"] = [*several, SECOND, *OTHER]
    named["density"] = named["readability"] = several
    assert choose(named, 0.95)[0] == "density"


@pytest.mark.parametrize(
    ("density", "readability", "fast", "full", "engine", "asked"),
    [
        (LONG, LONG, OTHER, OTHER, "density", []),  # sure
        (LONG, SHORT, LONG, OTHER, "trafilatura", ["fast"]),
        (LONG, LONG + OTHER, [], LONG, "trafilatura", ["fast", "full"]),
        (LONG, [*LONG, "So are their guests."], OTHER, OTHER, "density", ["fast", "full"]),
        ([], LONG, [], [], "readability", ["fast", "full"]),
    ],
)
def test_dearer_engines_are_asked_only_in_doubt(monkeypatch, density, readability, fast, full, engine, asked):
    calls = []

    def trafilatura(tree, settings, **options):
        calls.append("fast" if options.get("fast") else "full")
        return fast if calls[-1] == "fast" else full

    monkeypatch.setattr("tasks.extraction.engines.extract_density", lambda tree: density)
    monkeypatch.setattr("tasks.extraction.engines.extract_readability", lambda tree: readability)
    monkeypatch.setattr("tasks.extraction.engines.extract_trafilatura", trafilatura)
    assert extract(PAGE.encode(), "text/html", None, ExtractSettings()).engine == engine
    assert calls == asked


def test_shorter_of_two_texts_that_agree_is_taken(monkeypatch):
    several = [
        f"Reach {number} of the river has a lock, and it was shut in the year 18{number}0." for number in range(9)
    ]
    monkeypatch.setattr("tasks.extraction.engines.extract_density", lambda tree: [*several, "Read on."])
    monkeypatch.setattr("tasks.extraction.engines.extract_readability", lambda tree: several)
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings())
    assert (found.engine, list(found.paragraphs)) == ("readability", several)


def test_tables_are_left_to_trafilatura_where_they_are_not_wanted():
    cells = "".join(f"<tr><td>{text}</td></tr>" for text in (FIRST, SECOND))
    page = f"<body><article><p>{FIRST} {SECOND}</p><p>{SECOND} It is so.</p><table>{cells}</table></article>".encode()
    kept, left = (
        extract(page, "text/html", None, ExtractSettings(tables=tables)).paragraphs for tables in (True, False)
    )
    assert len(kept) == 4
    assert len(left) == 2


def test_no_engine_is_overruled_where_that_is_off(monkeypatch):
    def never(tree):
        raise AssertionError("asked although nobody can be overruled")

    monkeypatch.setattr("tasks.extraction.engines.extract_trafilatura", lambda tree, settings, fast=False: ["A word."])
    assert extract(PAGE.encode(), "text/html", None, ExtractSettings(rescue_below=0.95)).engine == "density"
    monkeypatch.setattr("tasks.extraction.engines.extract_readability", never)
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings(rescue_below=0))
    assert (found.engine, found.paragraphs) == ("trafilatura", ("A word.",))


def test_next_engine_is_asked_where_trafilatura_finds_nothing(monkeypatch):
    monkeypatch.setattr("tasks.extraction.engines.extract_trafilatura", lambda tree, settings, fast=False: [""])
    found = extract(PAGE.encode(), "text/html", None, ExtractSettings(rescue_below=0))
    assert (found.engine, found.paragraphs) == ("density", (FIRST, SECOND))


def test_readability_leaves_the_tree_as_it_was():
    tree = parse(PAGE)
    before = html.tostring(tree)
    assert extract_readability(tree) == [FIRST, SECOND]
    assert html.tostring(tree) == before


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


def test_the_recipe_can_be_written_as_json():
    json.dumps(ExtractSettings().recipe())


def test_shingle_scores_worked_out_by_hand():
    assert precision_recall("a b c d e", "a b c d e") == (1.0, 1.0)
    assert precision_recall("a b c d e", "a b c d") == (1.0, 0.5)  # shingles abcd, bcde against abcd
    assert precision_recall("a b c d", "x a b c d y") == (1 / 3, 1.0)
    assert precision_recall("a b c d", "") == (0.0, 0.0)


def test_rule_that_helps_one_site_alone_is_not_counted_there():
    sites = ["wye.test", "usk.test", "usk.test", "dee.test"]
    thresholds = {"first": (0, 1), "second": (0, 1)}

    def score(page, choice):
        first, second = choice
        good = 0.5 + 0.2 * first * (page == 0) + 0.1 * second  # the first helps wye.test alone, the second everyone
        return good, good

    scores, choices = leave_one_site_out(sites, thresholds, score)
    assert [round(precision, 3) for precision, _ in scores] == [0.6, 0.6, 0.6, 0.6]
    assert choices == {(0, 1): 1, (1, 1): 2}


def test_f1_is_that_of_the_averages():
    assert f1([(1.0, 0.5), (0.5, 0.5)]) == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert f1([(0.0, 0.0)]) == 0.0


def test_benchmark_knows_every_threshold_by_the_value_it_has():
    now = {
        **{name: getattr(ExtractSettings(), name) for name in ("favour", "tables", "rescue_below")},
        **{name: getattr(density, f"_{name.upper()}") for name in ("linked", "gap", "elsewhere", "small")},
        "phrase_length": engines._PHRASE_LENGTH,
        "recall_weight": engines._RECALL_WEIGHT,
    }
    assert now.keys() == THRESHOLDS.keys()
    assert all(value in THRESHOLDS[name] for name, value in now.items())


@pytest.mark.shared_data
def test_defaults_stay_near_the_pages_they_were_chosen_on(shared_data):
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
