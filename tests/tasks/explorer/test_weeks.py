"""The weekly versions of a root, their builds and the money spent."""

from dataclasses import replace
from pathlib import Path

import pytest

from storage.builds import Build, save_build
from storage.registry import save_version, version_path
from storage.sealed import seal
from storage.store import Store
from tasks.explorer import weeks
from tasks.explorer.weeks import year_of
from tests.storage.test_registry import version

BUILD = "20261120-101500-abcdef"
SPENT = "spending/2026-11/" + "a" * 32 + "-01234567.json"


def test_weeks_are_listed_with_their_build_and_the_money_of_their_month(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert year_of(store) is None
    counts = {
        "articles": {"rows": 9, "drops": {"redirect": 2}, "bytes": 1000},
        "pages": {"rows": 40, "drops": {}, "bytes": 500},
    }
    save_build(store, Build(BUILD, "2026-11-20T10:15:00+00:00", {}, {}, {}, counts))
    refused = replace(
        version(2, "2026-W48"),
        build="20261127-101500-abcdef",  # pruned
        created="2026-12-01T00:00:00+00:00",
        verdict={"promoted": False},
        scores={"values": 0.25, "rouge1": 0.4, "rougeL": 0.3},
        computed={"ranked": [1, 8], "pages": [2, 4]},
    )
    for each in (version(1), refused):
        save_version(store, each)
    store.write_bytes(SPENT, seal({"search": 1.25, "endpoints": 0.5}))
    year = year_of(store)
    assert year is not None
    assert (year.promoted, year.older, year.spent) == (1, 0, {"2026-11": 1.75, "2026-12": 0.0})
    second, first = year.rows
    assert (second.version, second.articles, second.bytes, second.computed, second.shards) == (
        refused,
        None,
        None,
        3,
        12,
    )
    assert second.scores == {"values F1": 25.0, "ROUGE-L": 30.0}
    assert (first.articles, first.bytes, first.computed, first.shards) == (7, 1500, 1, 8)


def test_a_damaged_version_is_left_out_and_older_ones_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path))
    for number in (1, 2, 3):
        save_version(store, version(number))
    store.write_bytes(version_path(3), b"damaged")
    monkeypatch.setattr(weeks, "_MOST_WEEKS", 2)
    year = year_of(store)
    assert year is not None
    assert [row.version.number for row in year.rows] == [2]
    assert (year.promoted, year.older) == (1, 1)
