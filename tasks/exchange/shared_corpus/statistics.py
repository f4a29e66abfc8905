"""What a shared corpus holds, counted while it is written, and its licences as hubs and Croissant name them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from tasks.engine.data_files import read_data
from tasks.rights.totals import PageTotals

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

# Identifier on the Hugging Face hub -> the licence's own page.
_KNOWN: Mapping[str, str] = read_data("tasks.exchange.shared_corpus", "descriptions.toml")["licences"]


def hub_licence(licences: Collection[str]) -> str:
    """Return the hub's identifier of the only licence; `unknown` if none is recorded, `other` for anything else."""
    if set(licences) == {UNRECORDED}:
        return "unknown"
    names = {name.lower().replace(" ", "-") for name in licences}
    (name,) = names if len(names) == 1 else ("other",)
    return name if name in _KNOWN else "other"


def licence_url(licence: str) -> str:
    """Return the page of a licence, or its name where that is not known."""
    return _KNOWN.get(licence.lower().replace(" ", "-"), licence)
