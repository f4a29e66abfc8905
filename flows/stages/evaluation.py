"""Summaries of the test articles and their scores (Liu & Lapata 2019, sec. 5)."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from flows.running.session import Session
from flows.stages import results
from flows.stages.texts import CorpusStages
from flows.stages.training import Read
from storage import schemas
from tasks.engine.hashing import stable_hash
from tasks.engine.recipe import Input, Recipe, StageResult, contents, every, same
from tasks.evaluation.judges import judge_notes
from tasks.evaluation.metrics import COMPUTED
from tasks.evaluation.settings import EXTRACTOR
from tasks.summarization.settings import DecodingSettings, check_lengths
from tasks.verification.parser import parser_notes
from tasks.writing.messages import DIGEST
from tasks.writing.writer import writer_notes

T = TypeVar("T")


def extracts(session: Session) -> bool:
    """Tell whether the extractor's summaries are asked for."""
    return EXTRACTOR in session.config.baselines.systems


def baselines(
    session: Session,
    articles: results.Articles,
    ranked: results.Ranked,
    examples: results.Examples | None = None,
    extractor: results.ExtractorModel | None = None,
) -> results.Baselines:
    """Summarize the test articles with the systems without training, and with the extractor if it is given."""
    config = session.config
    function = "tasks.evaluation.baselines:predict_baselines"
    arguments: dict[str, Any] = {"words": config.words}
    inputs = {"articles": same(articles), "ranked": same(ranked)}
    if {"filler", "ceiling"} & set(config.baselines.systems):
        arguments["read"] = config.summarizer.max_paragraphs
    if {"filler", "concepts"} & set(config.baselines.systems):
        inputs["training"] = every(articles, ranked)
    context = {}
    if examples is not None and extractor is not None:
        function = "tasks.summarization.extraction:predict_with_extractor"
        inputs |= {"examples": same(examples), "extractor": contents(extractor)}
        context = {"device": config.engine.device}
    recipe = Recipe(schemas.PREDICTIONS, function, settings=config.baselines, arguments=arguments)
    shards = len(ranked.shards)
    return results.Baselines(session.run.stage(recipe, shards=shards, inputs=inputs, context=context, name="baselines"))


def predictions(
    session: Session,
    read: Read,
    ranked: results.Ranked,
    summarizer: results.SummarizerModel,
    predictor: results.PredictorModel | None,
    *,
    settings: DecodingSettings | None = None,
    system: str | None = None,
    name: str = "predictions",
    progress: str = "decoding",
) -> results.Predictions:
    """Summarize the test articles with a trained model; `system` is its name in tables, None = its preset."""
    settings = settings or session.config.decoding
    # The beginning of a summary is one token, or two in BART's vocabulary.
    check_lengths(session.config.summarizer, settings.max_length + 2, "decoding.max_length")
    inputs: dict[str, Input] = {"examples": same(read.examples), "directory": contents(summarizer)}
    inputs |= {} if read.graphs is None else {"graphs": same(read.graphs)}
    if predictor is not None:
        inputs["predictor"] = contents(predictor)
    if settings.guidance.reads_scores:
        inputs["ranked"] = same(ranked)
    named = {} if (system := system or session.system) is None else {"system": system}
    recipe = Recipe(schemas.PREDICTIONS, "tasks.summarization.decoding:decode_shard", settings, named)
    context = {"progress": session.progress(session.named(progress)), "device": session.config.engine.device}
    shards, name = len(read.examples.shards), session.named(name)
    return results.Predictions(session.run.stage(recipe, shards=shards, inputs=inputs, context=context, name=name))


class WriterStages(NamedTuple):
    """Summaries of a language model, and their scores."""

    summaries: results.WriterSummaries
    scores: results.WriterScores


def written(session: Session, corpus: CorpusStages, ranked: results.Ranked) -> WriterStages | None:
    """Have a language model summarize the test articles; None if the settings name none."""
    settings = session.config.writer
    if settings is None:
        return None
    shards = len(ranked.shards)
    function, notes = (
        "tasks.writing.stage:write_summaries",
        {"instructions": DIGEST, **writer_notes(settings), **parser_notes()},
    )
    recipe = Recipe(schemas.PREDICTIONS, function, settings, {"parts": shards}, notes=notes)
    inputs = {"articles": same(corpus.articles), "ranked": same(ranked)}
    engine = session.config.engine
    kept = {"scratch": "scratch", "lasting": f"{stable_hash(settings.url, settings.model):016x}"}
    # Shards that are made at the same time share the requests.
    at_once, progress = max(1, settings.concurrency // min(engine.parallel, shards)), session.progress("writing")
    context = {"at_once": at_once, "progress": progress, "device": engine.device, "account": session.run.account}
    made = session.run.stage(recipe, shards=shards, inputs=inputs, context=context, name="written", **kept)
    summaries = results.WriterSummaries(made)
    return WriterStages(summaries, _scores(results.WriterScores, session, corpus, ranked, summaries, "written_scores"))


def baseline_scores(
    session: Session, corpus: CorpusStages, ranked: results.Ranked, baselines: results.Baselines
) -> results.BaselineScores:
    """Score the summaries of systems without training."""
    return _scores(results.BaselineScores, session, corpus, ranked, baselines, "baseline_scores")


def scores(
    session: Session,
    corpus: CorpusStages,
    ranked: results.Ranked,
    predictions: results.Predictions,
    name: str = "scores",
    *,
    facts: bool = True,
) -> results.Scores:
    """Score every summary; with `facts` also by those of the mini web, if the corpus is one."""
    return _scores(results.Scores, session, corpus, ranked, predictions, session.named(name), facts=facts)


def _scores(
    kind: Callable[[StageResult], T],
    session: Session,
    corpus: CorpusStages,
    ranked: results.Ranked,
    summaries: results.Baselines | results.Predictions | results.WriterSummaries,
    name: str,
    *,
    facts: bool = True,
) -> T:
    settings = session.config.scoring
    world = session.config.miniweb if facts else None
    truth = {} if world is None else {"world": world.of_facts}
    function, notes = "tasks.evaluation.scoring:score_predictions", judge_notes(settings)
    if not set(COMPUTED["citations"]).isdisjoint(settings.metrics):
        notes |= parser_notes()
    recipe = Recipe(schemas.SCORES, function, settings, truth, notes=notes)
    inputs = {"articles": same(corpus.articles), "predictions": same(summaries)}
    inputs |= {"ranked": same(ranked), "paragraphs": same(corpus.paragraphs)}
    progress = session.progress(name) if settings.judged else None
    context = {"device": session.config.engine.device, "progress": progress}
    shards, scratch = len(summaries.shards), None if settings.judge is None else "scratch"
    return kind(session.run.stage(recipe, shards=shards, inputs=inputs, context=context, scratch=scratch, name=name))
