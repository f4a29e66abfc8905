"""The summaries of a finished build that people can judge: which there are, and their texts for the drawn articles."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from storage.builds import Build
from storage.schemas import ARTICLES, PREDICTIONS, RANKED
from storage.store import Store
from tasks.engine.recipe import finished_stage
from tasks.evaluation.settings import Baseline
from tasks.human_evaluation.settings import GOLD
from tasks.reporting.blocks import clean

_BASELINES = ("lead", "concepts")  # compared unless systems are named
_ALL_BASELINES = frozenset(get_args(Baseline))
_SOURCES = 10  # best ranked paragraphs shown as the input; raters do not read more
_SOURCE_CHARACTERS = 1000


@dataclass(frozen=True)
class SampledArticle:
    """A drawn article."""

    id: str
    title: str
    lead: str  # its lead section, the gold summary
    texts: Mapping[str, str]  # system -> summary
    sources: Sequence[str] = ()  # the best ranked input paragraphs, shortened


class Summaries:
    """The summaries of a build.

    Attributes:
        systems: system -> the stage that has its summaries and its name there; `STAGE/SYSTEM` where stages of the build
            share a name, such as champion and challenger."""

    def __init__(self, store: Store, build: Build) -> None:
        """Look through the build's predictions; texts are read later. Raises ValueError: the build has no summaries;
        StorageError: a record is missing or damaged."""
        self._store, self._build = store, build
        self._articles: dict[tuple[str, str], set[str]] = {}
        for stage, row in self._rows(PREDICTIONS.name, ["article_id", "system"]):
            self._articles.setdefault((stage, row["system"]), set()).add(row["article_id"])
        if not self._articles:
            raise ValueError(
                f"build {build.name} has no summaries, only {', '.join(build.stages)}: expected one of "
                "`wikisum build`, `tables` or `retrain`"
            )
        names = [system for _, system in self._articles]
        self.systems = {
            system if names.count(system) == 1 else f"{stage}/{system}": (stage, system)
            for stage, system in self._articles
        }

    def chosen(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the systems to compare: the wanted ones, or the trained ones with the usual baselines. Raises
        ValueError: a system is unknown, or fewer than two are left."""
        unknown = [system for system in wanted if system not in self.systems and system != GOLD]
        known = ", ".join((*self.systems, GOLD))
        if unknown:
            raise ValueError(f"systems has {unknown[0]!r}: expected some of {known}")
        chosen = tuple(wanted) or tuple(
            system for system in self.systems if system in _BASELINES or system not in _ALL_BASELINES
        )
        if len(chosen) < 2:
            raise ValueError(f"systems is {', '.join(chosen)}: expected at least two of {known}")
        return chosen

    def common(self, systems: Collection[str]) -> list[str]:
        """Return the ids of the articles that all of these systems summarized."""
        return sorted(set.intersection(*(self._articles[self.systems[system]] for system in systems if system != GOLD)))

    def read(self, ids: Collection[str], systems: Sequence[str], *, sources: bool) -> dict[str, SampledArticle]:
        """Return articles with the texts of these systems, by id; control characters and line breaks become spaces. The
        input is read only with `sources`. Raises ValueError: an article is missing, or has no lead."""
        leads = {row["article_id"]: row for _, row in self._rows(ARTICLES.name, ["article_id", "title", "lead"], ids)}
        texts = self._texts(ids, systems)
        inputs = self._inputs(ids) if sources else {}
        articles = {}
        for id_ in ids:
            if id_ not in leads or not clean(leads[id_]["lead"]):
                raise ValueError(f"article {id_} of build {self._build.name} has no lead to judge summaries by")
            title, lead = (clean(leads[id_][column]) for column in ("title", "lead"))
            if GOLD in systems:
                texts[id_][GOLD] = lead
            articles[id_] = SampledArticle(id_, title, lead, texts[id_], inputs.get(id_, []))
        return articles

    def _texts(self, ids: Collection[str], systems: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return article -> system -> summary, of the systems of the build in their order."""
        places = {self.systems[name]: name for name in systems if name != GOLD}
        texts: dict[str, dict[str, str]] = {id_: dict.fromkeys(places.values(), "") for id_ in ids}
        for stage, row in self._rows(PREDICTIONS.name, ["article_id", "system", "summary"], ids):
            if (name := places.get((stage, row["system"]))) is not None:
                texts[row["article_id"]][name] = clean(row["summary"])
        return texts

    def _inputs(self, ids: Collection[str]) -> dict[str, list[str]]:
        """Return article -> its best paragraphs, shortened."""
        ranks: dict[str, dict[int, str]] = {id_: {} for id_ in ids}
        for _, row in self._rows(RANKED.name, ["article_id", "rank", "text"], ids):
            if row["rank"] < _SOURCES:
                ranks[row["article_id"]][row["rank"]] = clean(row["text"])[:_SOURCE_CHARACTERS]
        return {id_: [text for _, text in sorted(texts.items())] for id_, texts in ranks.items()}

    def _rows(
        self, dataset: str, columns: list[str], ids: Collection[str] | None = None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield stage and row of the build's stages that have the columns of a dataset, whatever their names."""
        wanted = None if ids is None else pa.array(sorted(ids), pa.string())
        for stage, files in self._build.stages.items():
            if not any(file.partition("/")[0] == dataset for file in files.values()):
                continue
            for record in finished_stage(self._store, self._build, stage).in_order:
                for batch in self._store.read_batches(record.path, record.written.sha256, columns):
                    rows = batch if wanted is None else batch.filter(pc.is_in(batch["article_id"], wanted))
                    yield from ((stage, row) for row in rows.to_pylist())
