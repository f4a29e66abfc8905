"""A corpus to look into: opened by its manifest alone, its titles read in the background. Files are read in place,
column by column, and only row groups whose statistics allow the article asked for. Their digests are not checked, which
would read whole files: `flows.verify` does that."""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.builds import latest_build
from storage.errors import StorageError
from storage.registry import FOLDER
from storage.root_format import check_root
from storage.schemas import ARTICLES
from storage.store import Store

_TITLE_COLUMNS = ["article_id", "title", "split", "drop_reason"]
_TITLES = pa.schema([ARTICLES.schema.field(name) for name in _TITLE_COLUMNS])
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TitleMatches:
    """Articles by title."""

    articles: Sequence[Mapping[str, Any]]  # shard, article_id, title, split and drop_reason of each
    matches: int  # how many articles match, in the shards that were searched
    searched: int  # shards that were searched
    shards: int  # all shards; more than `searched` while titles are still being read


class ExplorerCorpus:
    """The latest build below a root."""

    def __init__(self, store: Store) -> None:
        """Begin to read titles. Raises StorageError: there is no build with articles below the root."""
        check_root(store)
        build = latest_build(store)
        if build is None or not build.stages.get("articles"):
            raise StorageError(f"{store.root!r} has no build with articles: expected the root of a finished build")
        self.store, self.build = store, build
        self._titles: list[pa.Table] = []  # of the first shards, in order
        self._reader = threading.Thread(target=self._read_titles, name="titles", daemon=True)
        self._reader.start()

    @classmethod
    def beside(cls, model: str) -> "ExplorerCorpus | None":
        """Return the corpus of a model's root or registry, or None if there is none."""
        try:
            return cls(Store(model.rstrip("/").removesuffix(f"/{FOLDER}")))
        except StorageError:
            return None

    @property
    def shards(self) -> int:
        """How many shards the articles have."""
        return len(self.build.stages["articles"])

    def find(self, text: str, start: int, count: int) -> TitleMatches:
        """Return at most `count` articles, from `start` on, whose title contains a text in any case; "" finds all."""
        tables = list(self._titles)
        rows: list[dict[str, Any]] = []
        matches = 0
        for shard, table in enumerate(tables):
            if text.strip():
                table = table.filter(pc.match_substring(table["title"], text.strip(), ignore_case=True))
            skipped = max(0, min(start - matches, table.num_rows))
            chosen = table.slice(skipped, count - len(rows)).to_pylist()
            rows += [{"shard": shard, **row} for row in chosen]
            matches += table.num_rows
        return TitleMatches(rows, matches, len(tables), self.shards)

    def wait(self) -> None:
        """Wait until all titles are read."""
        self._reader.join()

    def has(self, stage: str) -> bool:
        """Whether the build has a stage."""
        return stage in self.build.stages

    def rows(self, stage: str, shard: int, columns: Sequence[str], filters: Sequence[tuple[str, str, Any]]) -> pa.Table:
        """Return rows of a shard by filters (column, operator, value); StorageError if it cannot be read."""
        return self._read(stage, shard, columns, list(filters), use_threads=True)

    def _read_titles(self) -> None:
        for shard in range(self.shards):
            try:
                table = self._read("articles", shard, _TITLE_COLUMNS, None, use_threads=False)
            except StorageError as error:
                _log.warning("%s: its articles are not listed", error)
                table = _TITLES.empty_table()
            self._titles.append(table)

    def _read(self, stage: str, shard: int, columns: Sequence[str], filters: Any, *, use_threads: bool) -> pa.Table:
        path = self.build.stages.get(stage, {}).get(str(shard))
        if path is None:
            raise StorageError(f"build {self.build.name} has no shard {shard} of {stage}")
        try:
            return pq.read_table(
                self.store.path(path),
                filesystem=self.store.filesystem,
                columns=list(columns),
                filters=filters,
                use_threads=use_threads,
            )
        except (OSError, pa.ArrowException) as error:
            raise StorageError(f"{path} below {self.store.root} cannot be read: {error}") from error
