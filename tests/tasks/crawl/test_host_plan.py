"""What is left to ask of the largest sites, counted by registered domain."""

from typing import Any

import pyarrow as pa
import pytest

from tasks.crawl.frontier import ARCHIVES, DomainLoad, plan_hosts
from tasks.fetching.reasons import FrontierReason


def planned(*rows: tuple[str | None, int, str | None], **options: Any) -> list[DomainLoad]:
    """The plan of rows: host, host shard, reason; in batches of two."""
    names = ("host", "host_shard", "drop_reason")
    schema = pa.schema([("host", pa.string()), ("host_shard", pa.int32()), ("drop_reason", pa.string())])
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)
    return plan_hosts(table.to_batches(2), **{"done": (), "delay": 864.0, **options})


def test_kept_urls_of_a_domain_are_counted_over_its_hosts() -> None:
    assert "mirror_host" in set(FrontierReason)
    plan = planned(
        ("a.site.com", 1, None),
        ("b.other.org", 0, None),
        ("b.site.com", 1, None),
        ("a.site.com", 1, None),
        ("x.wikipedia.org", 1, "mirror_host"),
        (None, 0, "bad_url"),
    )
    # 864 s are a hundredth of a day.
    assert plan == [
        DomainLoad("site.com", 2, 3, pytest.approx(0.03)),
        DomainLoad("other.org", 1, 1, pytest.approx(0.01)),
    ]


def test_crawled_shards_are_left_out_and_a_sample_is_scaled_up_to_the_budget() -> None:
    rows = [("a.com", 0, None)] * 6 + [("b.com", 1, None)] * 3 + [("c.com", 2, None)]
    assert [(load.domain, load.urls) for load in planned(*rows, done=[0])] == [("b.com", 3), ("c.com", 1)]
    plan = planned(*rows, share=0.25, budget=20)
    assert [(load.domain, load.urls) for load in plan] == [("a.com", 20), ("b.com", 12), ("c.com", 4)]
    assert planned() == []


def test_archives_are_told_from_other_sites() -> None:
    archive, site = planned(("web.archive.org", 0, None), ("web.archive.org", 0, None), ("10.com", 0, None))
    assert (archive.domain, archive.archive) == ("archive.org", ARCHIVES["archive.org"])
    assert (site.domain, site.archive) == ("10.com", None)
