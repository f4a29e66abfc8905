"""Marks of a language model, where the settings say which: one request a summary, with the paragraphs it was made of.
Marks of 1 to 5 are shown as 0 to 1. A summary without marks has no row of them, and counts in `judge-answered`."""

from collections.abc import Collection, Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from tasks.evaluation.metrics import ArticleTexts, Score, Summary, SummaryScorer, described

METRICS = described("judge_metrics")


class JudgeMarks(BaseModel):
    """What the judge says of a summary, 1-5 each."""

    faithfulness: int = Field(ge=1, le=5)
    coverage: int = Field(ge=1, le=5)
    fluency: int = Field(ge=1, le=5)


class Marker(Protocol):
    """Gives marks."""

    def marks(self, title: str, paragraphs: Sequence[str], summary: str) -> JudgeMarks | None:
        """Return the marks of a summary of an article by its title and what was read, or None."""


def prepare(article: ArticleTexts, wanted: Collection[str], *, judge: Marker) -> SummaryScorer:
    """Return what asks for marks; nobody is asked about an empty summary, which has the lowest of each."""

    def score(summary: Summary) -> dict[str, Score]:
        if not summary.text.strip():
            return dict.fromkeys(("judge-faithfulness", "judge-coverage", "judge-fluency"), Score(0.0))
        marks = judge.marks(article.title, article.ranked[: summary.read], summary.text)
        if marks is None:
            return {"judge-answered": Score(0.0)}
        return {
            "judge-faithfulness": Score(_share(marks.faithfulness)),
            "judge-coverage": Score(_share(marks.coverage)),
            "judge-fluency": Score(_share(marks.fluency)),
            "judge-answered": Score(1.0),
        }

    return score


def _share(mark: int) -> float:
    return (mark - 1) / 4
