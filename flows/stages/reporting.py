"""The report: content and scores of the build, beside the papers' figures."""

from collections.abc import Sequence

from flows.running.session import Session
from flows.stages.evaluation import Written
from flows.stages.results import (
    Baselines,
    BaselineScores,
    Graphs,
    Overlaps,
    Predictions,
    Ranked,
    RankerModel,
    RankingScores,
    Report,
    Scores,
    SummarizerModel,
)
from flows.stages.texts import Corpus
from storage.builds import summarise
from tasks.engine.recipe import Recipe, contents, every

_OF_A_RUN = ("seconds", "peak_bytes", "bytes")


def report(
    session: Session,
    corpus: Corpus,
    overlaps: Overlaps | None,
    ranker: RankerModel | None,
    ranked: Ranked,
    ranking_scores: RankingScores,
    graphs: Graphs,
    summarizer: SummarizerModel,
    baselines: Baselines,
    baseline_scores: BaselineScores,
    predictions: Predictions,
    scores: Scores,
    further: Sequence[tuple[Predictions, Scores]],
    written: Written | None,
) -> Report:
    """Write the report and the artifacts on all earlier stages; `further` are those of further summarizers."""
    config = session.config
    counts = {name: summarise(result.records.values()) for name, result in session.run.stages.items()}
    # What differs between equal runs is shown and no part of the key: also the size, of pages with the time they came.
    took = {name: {field: count.pop(field) for field in _OF_A_RUN} for name, count in counts.items()}
    recipe = Recipe(
        "reports",
        "tasks.reporting.report:write_report",
        settings=config.report,
        arguments={"counts": counts, "config": config, "seed": config.seed},
        version=7,
    )
    return Report(
        session.run.directory(
            recipe,
            inputs={
                "scores": every(
                    baseline_scores,
                    scores,
                    ranking_scores,
                    *[its for _, its in further],
                    *([] if written is None else [written.scores]),
                ),
                "samples": every(
                    corpus.articles,
                    ranked,
                    baselines,
                    predictions,
                    graphs,
                    *[its for its, _ in further],
                    *([] if written is None else [written.summaries]),
                ),
                "texts": every(corpus.articles, corpus.paragraphs, corpus.features),
                **{name: every(pages) for name in ("documents", "given") if (pages := session.run.stages.get(name))},
                **({} if overlaps is None else {"overlaps": every(overlaps)}),
                **({} if ranker is None else {"ranker": contents(ranker)}),
                "summarizer": contents(summarizer),
            },
            context={"took": took},
        )
    )
