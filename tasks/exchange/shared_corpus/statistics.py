"""What a shared corpus holds, counted while it is written."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.rights.totals import PageTotals

UNRECORDED = "not recorded"


@dataclass
class Counts:
    """Counts of the rows of a split; those of a part that is not exported are 0.

    Attributes:
        articles: rows.
        summary_words: words of the summaries, separated by white space.
        documents: documents with usable text.
        texts: of these, the ones whose text is exported.
        without_documents: articles that have no document.
        paragraphs: labelled paragraphs.
        unlabelled: articles with documents, but no paragraph.
        measured: articles whose summary's values were looked up.
        values: names, numbers and dates of their summaries.
        found: of these, the ones that the article's paragraphs contain, exported or not.
        best: sum over articles with paragraphs of their highest ROUGE-2 recall.
        licences: articles by the licence of their summary.
        sources: articles by source.
        pages: rights, languages and personal data of the documents.
    """

    articles: int = 0
    summary_words: int = 0
    documents: int = 0
    texts: int = 0
    without_documents: int = 0
    paragraphs: int = 0
    unlabelled: int = 0
    measured: int = 0
    values: int = 0
    found: int = 0
    best: float = 0.0
    licences: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    pages: PageTotals = field(default_factory=PageTotals)

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

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON, in an order that does not depend on that of the rows."""
        return {
            name: dict(sorted(value.items())) if isinstance(value, dict) else value
            for name, value in vars(self).items()
        } | {"pages": self.pages.to_json()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Counts":
        """Read counts.

        Raises:
            TypeError: these are not counts.
        """
        counters = {name: Counter(fields[name]) for name in ("licences", "sources")}
        return cls(**{**fields, **counters, "pages": PageTotals.from_json(fields["pages"])})
