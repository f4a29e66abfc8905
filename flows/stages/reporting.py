"""The report: content and scores of the build, next to the papers' figures."""

from collections.abc import Sequence

from flows.running.session import Session
from flows.stages import results
from flows.stages.evaluation import WriterStages
from flows.stages.texts import CorpusStages
from storage.builds import summarise
from tasks.engine.recipe import Recipe, contents, every

_OF_A_RUN = ("seconds", "peak_bytes", "bytes")


def report(
    session: Session,
    corpus: CorpusStages,
    overlaps: results.Overlaps | None,
    ranker: results.RankerModel | None,
    ranked: results.Ranked,
    ranking_scores: results.RankingScores,
    graphs: results.Graphs,
    summarizer: results.SummarizerModel,
    baselines: results.Baselines,
    baseline_scores: results.BaselineScores,
    predictions: results.Predictions,
    scores: results.Scores,
    further: Sequence[tuple[results.Predictions, results.Scores]],
    written: WriterStages | None,
) -> results.Report:
    """Write the report and the artifacts on all earlier stages; `further` are those of further summarizers."""
    config = session.config
    counts = {name: summarise(result.records.values()) for name, result in session.run.stages.items()}
    # What differs between equal runs is shown and no part of the key: also the size, of pages with the time they came.
    took = {name: {field: count.pop(field) for field in _OF_A_RUN} for name, count in counts.items()}
    arguments = {"counts": counts, "config": config, "seed": config.seed}
    recipe = Recipe("reports", "tasks.reporting.report:write_report", config.report, arguments, version=18)
    summaries, scored = [its for its, _ in further], [its for _, its in further]
    others = ([], []) if written is None else ([written.summaries], [written.scores])
    inputs = {
        "baseline_scores": every(baseline_scores, *others[1]),
        "trained_scores": every(scores, *scored),
        "ranking_scores": every(ranking_scores),
        "baselines": every(baselines, *others[0]),
        "predictions": every(predictions, *summaries),
        "samples": every(corpus.articles, ranked, graphs),
        "texts": every(corpus.articles, corpus.paragraphs, corpus.features),
        **{name: every(pages) for name in ("documents", "given") if (pages := session.run.stages.get(name))},
        **({} if overlaps is None else {"overlaps": every(overlaps)}),
        **({} if ranker is None else {"ranker": contents(ranker)}),
        "summarizer": contents(summarizer),
    }
    return results.Report(session.run.directory(recipe, inputs=inputs, context={"took": took}))
