"""A limit for the URLs of one registered domain: which are asked, and what becomes of the others."""

from pathlib import Path

from tasks.fetching.urls import within_budget
from tests.tasks.fetching.loopback_server import LoopbackServer, answer, crawl, local_journal


def test_longest_not_fetched_first_in_the_order_of_places() -> None:
    fetched = {
        "http://a.site.com/1": 5.0,
        "http://b.site.com/2": 0.0,
        "http://a.site.com/3": 2.0,
        "http://other.com/": 9.0,
    }
    urls = list(enumerate(fetched))
    assert [place for place, _ in within_budget(urls, fetched.__getitem__, 2)] == [1, 2, 3]
    assert list(within_budget(urls, fetched.__getitem__, 5)) == urls


def test_among_equals_the_same_ones_whatever_else_there_is() -> None:
    urls = list(enumerate(f"http://{host}.com/{n:03}" for host in ("a", "b") for n in range(100)))
    chosen = list(within_budget(urls, lambda _: 0.0, 10))
    assert [url for _, url in chosen if "//b" in url] == [
        url for _, url in within_budget(urls[100:], lambda _: 0.0, 10)
    ]
    assert len(chosen) == 20
    assert [url for _, url in chosen[:10]] != [url for _, url in urls[:10]]  # from all parts of a site


def test_crawl_asks_a_domain_for_no_more_also_after_an_interruption(tmp_path: Path) -> None:
    urls = [f"http://{host}.site.com/{n}" for host in ("www", "blog") for n in range(4)] + ["http://other.com/0"]
    with LoopbackServer({f"/{n}": answer() for n in range(4)}) as server:
        for budget in (2, 9):  # the first crawl is interrupted
            rows = crawl(
                server,
                urls,
                local_journal(tmp_path),
                budget_domain_pages=3,
                budget_pages=budget,
                connect_to={"*.com": server.address},
            )
    reasons = [rows[url]["reason"] for url in urls]
    assert (reasons.count(None), reasons.count("budget_spent")) == (4, 5)
    assert reasons[-1] is None
    # A request on its way when the first crawl ended is made again; no other page is asked for.
    assert len({(hit.host, hit.path) for hit in server.log if hit.path != "/robots.txt"}) == 4
