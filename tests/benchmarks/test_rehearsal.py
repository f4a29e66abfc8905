"""What a rehearsal at the web's size extrapolates, and that its parts run."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from benchmarks.jobs import measured
from benchmarks.rehearsal import fan_in
from benchmarks.rehearsal.execution import configuration, execute
from benchmarks.rehearsal.extrapolation import Extrapolation, Prices
from benchmarks.rehearsal.page import write_page
from benchmarks.rehearsal.world import ARTICLE_URLS, PAGES, RehearsalWorld, answer
from flows.running.estimates import ARTICLE_PARAGRAPHS, CORPUS_ARTICLES

MIB = 2**20
STAGE = {
    "shards": 2,
    "rows": 100,
    "refused": 0,
    "bytes": 1_000,
    "seconds": 2.0,
    "processor": 3.6,
    "peak_bytes": 5 * MIB,
}
RUN: dict[str, Any] = {
    "articles": CORPUS_ARTICLES / 1_000,  # so that the whole is a thousand times as much
    "stages": {"frontier": STAGE, "paragraphs": STAGE, "models/ranker": STAGE},
    "frontier": {"urls": 90_000, "domains": [9_000, 900, 90]},
    "crawl": {"requests": 99_000, "pages": 80_000},
}
SMALLER = {
    "articles": RUN["articles"] / 2,
    "stages": {
        "frontier": {"processor": 1.8, "peak_bytes": 6 * MIB},
        "paragraphs": {"processor": 2.8, "peak_bytes": 3 * MIB},
        "models/ranker": {"processor": 9.0, "peak_bytes": 5 * MIB},
    },
}
FAN_IN = {name: {"seconds_a_file": 0.036, "footer_bytes": 1_000_000} for name in ("frontier", "documents")}


def extrapolation() -> Extrapolation:
    return Extrapolation(SMALLER, RUN, FAN_IN, 100)


def test_stages_cost_as_many_times_more_as_there_are_articles_and_open_every_file() -> None:
    costs = {cost.name: (cost.core_hours, cost.full_bytes) for cost in extrapolation().stages()}
    assert costs["frontier"] == pytest.approx((1.0, 1_000_000.0))
    # 1.6 s for 1,580 articles, 1 s for each shard of 100, and 100 readers of 100 files, .036 s each
    assert costs["paragraphs"] == pytest.approx((1_600 / 3_600 + 100 / 3_600 + 0.1, 1_000_000.0))
    assert costs["models/ranker"] == (None, None)


def test_memory_grows_with_the_articles_of_a_shard_and_never_shrinks() -> None:
    peaks = {cost.name: cost.full_peak_bytes for cost in extrapolation().stages()}
    # Shards of the samples have 395 and 790 articles, those of the whole 15,794: 38 times 395 more, each with 2 MiB
    assert peaks["paragraphs"] == pytest.approx((5 + 38 * 2) * MIB)
    assert peaks["frontier"] == pytest.approx(5 * MIB)
    assert peaks["models/ranker"] is None


def test_what_is_asked_of_the_web() -> None:
    requests = extrapolation().requests()
    assert (requests.urls, requests.asked) == pytest.approx((90e6, 99e6))
    assert requests.hosts == pytest.approx(2_400 * (90e6 / 7_648) ** 0.75)
    assert requests.received == pytest.approx(80e6 * 30_000)
    assert extrapolation().common_crawl() == pytest.approx((80e6, 80e6 * 30_000, 80e6 / 20 / 86_400))


def test_the_largest_domain_decides_how_long_a_crawl_takes() -> None:
    everything, million, hundred_thousand = extrapolation().limits()
    assert (everything.urls, everything.days) == pytest.approx((9.99e6, 9e6 / 86_400))
    assert (million.urls, million.days) == pytest.approx((1_000_000 + 900_000 + 90_000, 1e6 / 86_400))
    assert (hundred_thousand.urls, hundred_thousand.days) == pytest.approx((290_000, 1e5 / 86_400))


def test_the_page_names_every_figure_and_what_was_not_measured() -> None:
    plan = {"processor": 1.0, "peak": 1e9, "done": 0, "missing": 7, "waiting": 9}
    page = write_page(
        extrapolation(), {"empty": plan}, Prices(core_hour=2.0), cores=10, machine="4 cores", made="Today."
    )
    for line in (
        "| empty | 1.0 | 1.00 | 0 | 7 | 9 |",
        "| frontier | 100 | 2.0 | 3.6 | 0.00 | 5 | 0.00 | 5 | 1.0 | 0.0 |",
        "| models/ranker | 100 | 2.0 | 3.6 | 1.80 | 5 | 0.00 | – | not extrapolated | – |",
        "| 1,000,000 pages a domain | 2.0 | 11.6 | 2 |",
        "| processors | 2 core-hours | 2 a core-hour | 3 |",
        "| GPUs: trainings, decoding | not measured |  | not measured |",
        "all that follows were **not executed** here",
    ):
        assert line in page, page


def test_an_article_has_the_sizes_of_the_papers_and_is_always_the_same() -> None:
    world, again = RehearsalWorld(), RehearsalWorld()
    article = world.article(3)
    assert article == again.article(3)
    assert len(article["references"]) == len(set(article["references"])) == ARTICLE_URLS
    pages = [world.page(3, place) for place in range(ARTICLE_URLS)]
    there = [gzip.decompress(page) for page in pages if page is not None]
    assert len(there) == PAGES
    assert sum(page.count(b"<p>") for page in there) == ARTICLE_PARAGRAPHS
    assert again.page(3, 5) == pages[5]


def test_a_request_is_answered_with_the_page_of_its_article() -> None:
    world = RehearsalWorld()
    assert b"Disallow: /private/" in answer(world, "/robots.txt")
    for path in ("/articles/0/sources/0.html", "/other"):  # a dead link, and no page at all
        assert answer(world, path).startswith(b"HTTP/1.1 404 ")
    head, _, body = answer(world, "/articles/0/sources/1.html").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"Content-Encoding: gzip" in head
    assert body == world.page(0, 1)


def test_memory_and_processor_time_of_a_block_are_measured() -> None:
    with measured("small") as small:
        pass
    with measured("large") as large:
        block = b"x" * (200 * MIB)
        assert sum(range(3_000_000)) > len(block)
    del block
    with measured("after") as after:
        pass
    assert large.peak_bytes > small.peak_bytes + 150 * MIB
    assert after.peak_bytes < large.peak_bytes - 150 * MIB  # a peak of before does not count
    assert large.processor > small.processor


def test_opening_files_is_measured_on_every_stage_that_gathers() -> None:
    measured_files = fan_in.measure(3)
    assert set(measured_files) == set(FAN_IN)
    assert all(files["seconds_a_file"] > 0 for files in measured_files.values())
    more = fan_in.measure(30)
    # A footer names each of the 27 further row groups: more than 100 bytes for its columns.
    assert all(more[name]["footer_bytes"] > files["footer_bytes"] + 2_700 for name, files in measured_files.items())


@pytest.mark.slow
@pytest.mark.integration
def test_every_stage_is_executed_on_dask_workers_and_resumed(prefect_server: None, tmp_path: Path) -> None:
    corpus = execute(tmp_path, 8, "corpus")
    made = execute(tmp_path, 8)
    assert corpus["stages"].items() < made["stages"].items()
    assert {"pages", "documents", "paragraphs", "ranked", "graphs", "examples", "scores", "reports"} <= set(
        made["stages"]
    )
    assert made["crawl"] == {"requests": 8 * ARTICLE_URLS, "pages": 8 * PAGES}
    assert made["frontier"]["urls"] == sum(made["frontier"]["domains"]) == 8 * ARTICLE_URLS
    assert execute(tmp_path, 8) == made  # nothing is done twice
    assert configuration(tmp_path).engine.kind == "dask"
