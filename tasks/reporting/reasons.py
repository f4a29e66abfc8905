"""The stages of the corpus as the report tells of them: what their rows are, and what each reason for refusal means."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from tasks.across.refusals import AcrossReason
from tasks.crawl.reasons import CaptureReason, FrontierReason, PageReason
from tasks.engine.reasons import Reason
from tasks.extraction.reasons import DocumentReason
from tasks.paragraphs.reasons import ParagraphReason
from tasks.rights.conditions import ConditionReason
from tasks.search.search import SearchReason
from tasks.sources.source import ArticleReason, GivenReason


@dataclass(frozen=True)
class ReportedStage:
    """What the report says of a stage of the corpus."""

    heading: str | None  # what its rows are; None for a stage that is not in the table of rows
    kinds: tuple[type[Reason], ...] = ()  # the reasons for refusing one of them

    @property
    def reasons(self) -> dict[str, str]:
        """Each reason with its meaning."""
        return {reason: reason.meaning for reason in chain.from_iterable(self.kinds)}


_PARAGRAPHS = (ConditionReason, ParagraphReason)
# In the order of the pipeline.
REPORTED_STAGES: Mapping[str, ReportedStage] = {
    "intake": ReportedStage(None, (ArticleReason,)),
    "articles": ReportedStage("articles", (ArticleReason,)),
    "search": ReportedStage("search results", (FrontierReason, SearchReason)),
    "captures": ReportedStage("archived captures", (CaptureReason,)),
    "captures-indexed": ReportedStage("captures an index names", (CaptureReason,)),
    "frontier": ReportedStage("URLs of articles", (FrontierReason,)),
    "pages": ReportedStage("pages", (PageReason,)),
    "documents": ReportedStage("documents", (PageReason, DocumentReason)),
    "given": ReportedStage("documents the source gives", (GivenReason,)),
    "paragraphs": ReportedStage("paragraphs", _PARAGRAPHS),
    "compared": ReportedStage("paragraphs, compared across articles", (*_PARAGRAPHS, AcrossReason)),
    "features": ReportedStage("labelled paragraphs"),
    "ranked": ReportedStage("ranked paragraphs"),
    "graphs": ReportedStage("articles with a graph"),
    "examples": ReportedStage("examples"),
    "sentence-examples": ReportedStage("examples"),
}


def meaning(stage: str, reason: str) -> str:
    """Return what a reason of a stage means, or an empty string for an unknown reason."""
    text = REPORTED_STAGES[stage].reasons.get(reason) if stage in REPORTED_STAGES else None
    if text is None and reason.startswith("http_"):
        return f"the server answered with status {reason.removeprefix('http_')}"
    return text or ""
