"""The report's counts of rights, read from real shards of documents."""

from pathlib import Path

import pyarrow as pa

from storage.recipes import whole
from storage.schemas import DATASETS, Dataset
from storage.store import Store
from tasks.engine.recipe import Shards
from tasks.reporting.corpus import count_rights, rights_section
from tasks.reporting.page import summary
from tests.tasks.exchange.corpus_root import CRAWLED, GIVEN_ROWS, write_shard


def shards(store: Store, dataset: Dataset, *tables: list[dict]) -> Shards:
    records = [
        write_shard(store, dataset.name, number, pa.Table.from_pylist(rows, dataset.schema))
        for number, rows in enumerate(tables)
    ]
    return Shards(store, tuple((whole(record),) for record in records))


def test_documents_of_the_crawl_and_of_the_source_are_added_up(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    crawled = shards(store, DATASETS["documents"], CRAWLED[:2], CRAWLED[2:])
    given = shards(store, DATASETS["given"], GIVEN_ROWS)
    totals = count_rights([crawled, given])
    assert totals.documents == 5  # one page has no text
    assert totals.licences == {"no claim found": 3, "CC-BY-4.0": 1, "CC-BY-SA-4.0": 1}
    assert totals.signs == {"header noai": 1, "meta noai": 1}
    told = summary(rights_section(totals).blocks)
    assert "Of 5 documents with text" in told
    assert "CC-BY-SA-4.0" in told
    assert "60.0" in told


def test_a_corpus_without_text_says_so(tmp_path: Path) -> None:
    totals = count_rights([shards(Store(str(tmp_path)), DATASETS["documents"], CRAWLED[2:3])])
    assert "No document has text." in summary(rights_section(totals).blocks)
