"""The rows of a shared corpus, each an article, whatever stages of a build it comes from: their columns, what one shard
gives to them, and what they hold, counted while they are written. Labels and ranked paragraphs name a paragraph by its
document and its line, so that they stay where texts may not be shared."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from models.values import ValueIndex, find_values
from storage.recipes import gather, whole
from storage.schemas import Dataset
from storage.store import Store
from tasks.engine.data_files import read_data
from tasks.engine.grouping import join_by_article
from tasks.engine.hashing import unit_interval
from tasks.engine.recipe import StageResult
from tasks.exchange.shared_corpus.settings import PARTS, PageText, Part, SharedCorpusSettings
from tasks.paragraphs.filter import REPEATS_LEAD
from tasks.rights.licences import terms_of
from tasks.rights.totals import PageTotals

# Names that readers of shared corpora expect.
SPLITS: Mapping[str, str] = {"train": "train", "valid": "validation", "test": "test"}
STAGES: Mapping[Part, tuple[str, ...]] = {
    "summary": (),
    "urls": (),
    "documents": ("paragraphs",),
    "labels": ("features",),
    "ranked": ("ranked",),
    "graphs": ("graphs",),
}
_STATED = ("title", "date", "author", "site")  # what a page says of itself
_DOCUMENT = ("url", *_STATED, "provenance", "sha256", "text", "licence", "licence_source", "reservations", "language")
_PLACE = [("document", pa.int32()), ("paragraph", pa.int32())]
_LABEL = [("sha256", pa.string()), ("rouge2_recall", pa.float32()), ("title_similarity", pa.float32())]


_TYPES = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "documents": pa.list_(pa.struct([(name, pa.string()) for name in _DOCUMENT])),
    "labels": pa.list_(pa.struct([*_PLACE, *_LABEL])),
    "ranked": pa.list_(pa.struct([*_PLACE, ("score", pa.float32())])),
    "edges": pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())])),
}
_COLUMNS: Mapping[str, list[pa.Field]] = {
    part: [pa.field(name, _TYPES[kind], metadata={"doc": doc}) for name, (kind, doc) in columns.items()]
    for part, columns in read_data("tasks.exchange.shared_corpus", "descriptions.toml")["columns"].items()
}


def chosen_parts(settings: SharedCorpusSettings, stages: Mapping[str, object]) -> tuple[Part, ...]:
    """Return the parts to export, in their order: those of the settings, else all for which a build has the stages.
    Raises ValueError: the settings name one whose stage the build lacks."""
    for part in settings.columns or ():
        missing = [stage for stage in STAGES[part] if stage not in stages]
        if missing:
            raise ValueError(f"columns has {part}, but the build has no stage {missing[0]}: leave it out, or build it")
    wanted = settings.columns if settings.columns is not None else PARTS
    return tuple(part for part in PARTS if part in wanted and all(stage in stages for stage in STAGES[part]))


def shared_dataset(parts: tuple[Part, ...]) -> Dataset:
    """Return the schema of the exported rows; each field's metadata describes it under `doc`."""
    fields = [field for part in ("always", *parts) for field in _COLUMNS[part]]
    return Dataset(name="shared corpus", version=1, schema=pa.schema(fields))


UNRECORDED = "not recorded"


@dataclass
class Counts:
    """Counts of the rows of a split; those of a part that is not exported are 0."""

    articles: int = 0  # rows
    summary_words: int = 0  # words of the summaries, separated by white space
    documents: int = 0  # documents with usable text
    texts: int = 0  # of these, the ones whose text is exported
    without_documents: int = 0  # articles that have no document
    paragraphs: int = 0  # labelled paragraphs
    lead_in_source: int = 0  # articles with a source that repeats the lead; what repeats it is refused
    unlabelled: int = 0  # articles with documents, but no paragraph
    measured: int = 0  # articles whose summary's values were looked up
    values: int = 0  # names, numbers and dates of their summaries
    found: int = 0  # of these, the ones that the article's paragraphs contain, exported or not
    best: float = 0.0  # sum over articles with paragraphs of their highest ROUGE-2 recall
    licences: Counter[str] = field(default_factory=Counter)  # articles by the licence of their summary
    sources: Counter[str] = field(default_factory=Counter)  # articles by source
    pages: PageTotals = field(default_factory=PageTotals)  # rights, languages and personal data of the documents

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count rows (`CorpusShards.batches`)."""
        for row in rows:
            self.articles += 1
            self.summary_words += len((row.get("summary") or "").split())
            self.licences[row["licence"] or UNRECORDED] += 1
            self.sources[row["source"]] += 1
            self.pages.add(row.get("pages") or ())
            documents, labels = row.get("documents") or [], row.get("labels") or []
            self.documents += len(documents)
            self.texts += sum(document["text"] is not None for document in documents)
            self.without_documents += not documents
            self.lead_in_source += row.get("lead_in_source", False)
            self.paragraphs += len(labels)
            self.unlabelled += bool(documents) and not labels
            if (values := row.get("values")) is not None:
                self.measured += 1
                self.values += values[0]
                self.found += values[1]
            self.best += max((label["rouge2_recall"] for label in labels), default=0.0)

    def __add__(self, other: "Counts") -> "Counts":
        mine, others = vars(self), vars(other)
        return Counts(**{name: mine[name] + others[name] for name in mine})


COUNTS = TypeAdapter(Counts)  # to and from JSON


_BATCH = 64  # articles: 525 paragraphs each are 15 MB
_PARAGRAPHS = ["article_id", "paragraph_id", "url", "provenance", "position", "text", "drop_reason"]
_RIGHTS = ["licence", "licence_source", "reservations", "language", "personal"]
_ORIGIN = ["article_id", "url", "provenance", *_STATED, "reason", *_RIGHTS]
_DIGITS = 16  # of a paragraph's digest
Row = dict[str, Any]
_UNKNOWN: Row = dict.fromkeys((*_STATED, "reason", *_RIGHTS))


@dataclass(frozen=True)
class CorpusShards:
    """The shards of a finished corpus."""

    store: Store  # where they are
    # The stages that are read, by name; `documents` and `given` where the build has them
    stages: Mapping[str, StageResult]
    page_text: PageText  # which documents keep their text (`SharedCorpusSettings`)
    dataset: Dataset  # what the rows become (`shared_dataset`)
    measured: float = 0.0  # share of articles whose summary's values are looked up in their paragraphs, drawn by id

    def batches(self, shard: int) -> Iterator[tuple[str, list[Row]]]:
        """Yield split and rows of a shard's used articles, split by split and sorted by id. Besides the columns a row
        has `pages`, the rights and personal data of its documents for `PageTotals`, and `lead_in_source`, whether a
        source repeats the lead. A measured row also has `values`: how many names, numbers and dates its summary has,
        and how many of them its paragraphs contain, exported or not. Raises CorruptShardError: a file is gone, cut
        short or changed."""
        tables = {name: self._read(name, shard) for name in ("articles", "paragraphs", "features", "ranked", "graphs")}
        articles = tables["articles"].filter(pc.is_null(tables["articles"]["drop_reason"]))
        origins = self._origins(shard) if tables["paragraphs"] is not None else {}
        for split, shown in SPLITS.items():
            rows = self._rows(articles.filter(pc.equal(articles["split"], split)), tables, origins)
            while batch := list(islice(rows, _BATCH)):
                yield shown, batch

    def splits(self, shard: int) -> dict[str, int]:
        """Return how many used articles of each split a shard has, without reading texts. Raises CorruptShardError."""
        counts = dict.fromkeys(SPLITS.values(), 0)
        record = self.stages["articles"].records[shard]
        for batch in self.store.read_batches(record.path, record.written.sha256, ["split", "drop_reason"]):
            used = batch.filter(pc.is_null(batch["drop_reason"]))
            for pair in pc.value_counts(used["split"]).to_pylist():
                counts[SPLITS[pair["values"]]] += pair["counts"]
        return counts

    def _read(self, stage: str, shard: int) -> Any:
        if stage not in self.stages:
            return None
        table = whole(self.stages[stage].records[shard]).read(self.store)
        return table.select(_PARAGRAPHS) if stage == "paragraphs" else table

    def _origins(self, shard: int) -> dict[tuple[str, str, str], Row]:
        """Return article, URL and provenance of each usable document -> its title, rights and personal data."""
        origins: dict[tuple[str, str, str], Row] = {}
        for stage in ("given", "documents"):  # a page that was also crawled has the licence that it claims itself
            if stage not in self.stages:
                continue
            for part in gather(self.stages[stage].in_order, shard):
                rows = part.read(self.store).select(_ORIGIN)
                usable = rows.filter(pc.is_null(rows["reason"]))
                for row in usable.to_pylist():
                    key = (row.pop("article_id"), row.pop("url"), row.pop("provenance"))
                    earlier = origins.get(key, _UNKNOWN)["title"]
                    origins[key] = row | {"title": earlier or row["title"]}
        return origins

    def _rows(self, articles: pa.Table, tables: Mapping[str, Any], origins: Mapping[Any, Any]) -> Iterator[Row]:
        names = [name for name in ("paragraphs", "features", "ranked", "graphs") if tables[name] is not None]
        for _, rows, *matches in join_by_article(articles, *(tables[name] for name in names)):
            article = rows.to_pylist()[0]
            result = {name: match.to_pylist() for name, match in zip(names, matches, strict=True)}
            yield self._row(article, result, origins)

    def _row(self, article: Row, found: Mapping[str, Sequence[Row]], origins: Mapping[Any, Any]) -> Row:
        row = {**article, "id": article["article_id"], "summary": article["lead"]}
        documents, kept = self._documents(article["article_id"], found.get("paragraphs", ()), origins)
        pages = [{name: document[name] for name in ("reason", *_RIGHTS)} for document in documents]
        for document in documents:
            document["reservations"] = "; ".join(document["reservations"] or ())
        place = {
            paragraph["paragraph_id"]: {"document": number, "paragraph": line, "text": paragraph["text"]}
            for number, paragraphs in enumerate(kept)
            for line, paragraph in enumerate(paragraphs)
        }
        labels = [
            {**place[label["paragraph_id"]], **label, "sha256": _sha256(place[label["paragraph_id"]]["text"])[:_DIGITS]}
            for label in found.get("features", ())
        ]
        ranked = [{**place[entry["paragraph_id"]], **entry} for entry in found.get("ranked", ())]
        graph: Mapping[str, Any] = next(iter(found.get("graphs", ())), {"similarity": [], "discourse": []})
        row |= {"documents": documents, "labels": labels, "ranked": ranked}
        exported = {name: {**graph, **row}.get(name) for name in self.dataset.schema.names}
        if "documents" in self.dataset.schema.names:
            exported["pages"] = pages
            reasons = {paragraph["drop_reason"] for paragraph in found.get("paragraphs", ())}
            exported["lead_in_source"] = not reasons.isdisjoint(REPEATS_LEAD)
        if "paragraphs" in found and unit_interval("values", row["id"]) < self.measured:
            exported["values"] = _values(article, [paragraph["text"] for some in kept for paragraph in some])
        return exported

    def _documents(
        self, article_id: str, paragraphs: Sequence[Row], origins: Mapping[Any, Any]
    ) -> tuple[list[Row], list[list[Row]]]:
        """Return the documents of an article, and the kept paragraphs of each, a line each."""
        documents: list[Row] = []
        kept: list[list[Row]] = []
        for paragraph in paragraphs:
            if paragraph["position"] == 0:  # a document begins
                kept.append([])
                url, provenance = paragraph["url"], paragraph["provenance"]
                origin = origins.get((article_id, url, provenance), _UNKNOWN)
                documents.append({**origin, "url": url, "provenance": provenance})
            if paragraph["drop_reason"] is None:
                kept[-1].append({**paragraph, "text": " ".join(paragraph["text"].splitlines())})
        for document, some in zip(documents, kept, strict=True):
            text = "\n".join(paragraph["text"] for paragraph in some)
            document |= {"sha256": _sha256(text), "text": text if self._is_shared(document["licence"]) else None}
        return documents, kept

    def _is_shared(self, licence: str | None) -> bool:
        if self.page_text in ("all", "none") or licence is None:
            return self.page_text == "all"
        terms = terms_of(licence)
        # Its choice of paragraphs may be a change of the text.
        return terms == "free" if self.page_text == "free" else terms != "no-derivatives"


def _values(article: Row, texts: Sequence[str]) -> tuple[int, int]:
    """Return how many values the lead has, and how many of them title and paragraphs contain."""
    sources = ValueIndex([article["title"], *texts])
    values = find_values(article["lead"], ValueIndex([article["title"], article["lead"], *texts]))
    return len(values), sum(value in sources for value in values)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
