"""The papers' tables: train, decode and score their systems, doing equal work only once, and measure their speed."""

from collections.abc import Mapping
from dataclasses import dataclass

from flows import dag
from flows.running.session import Session, once
from flows.stages import evaluation, intake, ranking, training
from flows.stages.results import Examples, Predictions, PredictorModel, Scores, SummarizerModel
from storage import schemas
from tasks.engine.recipe import DirectoryResult, Recipe, contents, every, same
from tasks.tables import plan
from tasks.tables.published import MOST_PARAGRAPHS, SYSTEMS, Measure


@dataclass(frozen=True)
class EvaluatedSystem:
    """A system's model, its summaries of the test articles and their scores."""

    model: SummarizerModel
    summaries: Predictions
    scores: Scores


def impossible(session: Session) -> dict[str, str]:
    """Return the systems that cannot run with these settings, and why."""
    reasons = {}
    config = session.config
    tables, kept, ranks = config.tables, config.ranking.keep, config.imported is None
    shards = dag.ranked_shards(session)
    for name, system in SYSTEMS.items():
        wanted = tables.scaled(system.test_paragraphs or system.paragraphs)
        if not ranks and not system.ranked:
            reasons[name] = "imported paragraphs are already ranked"
        elif ranks and system.kind != "extractive" and wanted > kept:
            reasons[name] = f"it reads {wanted} paragraphs and ranking.keep is {kept}"
        elif not ranks and plan.system_sees_sentences(system, tables):
            reasons[name] = "imported paragraphs are token ids, in which no sentence is marked"
        elif system.graph != "none" and shards is not None and not intake.can_have_graphs(session, shards):
            reasons[name] = "the imported shards have no graphs, and no texts of the training split to compute them"
        elif system.decoding.get("alignment") == "ranked" and not (ranks and config.ranking.method != "found"):
            reasons[name] = "no ranker scored the paragraphs"
        elif system.decoding.get("alignment") == "predicted" and config.decoding.checkpoint:
            reasons[name] = "its attention predictor was trained only for the best checkpoint"
    return reasons


def evaluate_systems(session: Session, names: list[str]) -> dict[str, EvaluatedSystem]:
    """Train, decode and score those of the given systems that need training; equal work is done once."""
    config, evaluated = session.config, dict[str, EvaluatedSystem]()
    # What systems with equal settings share: models and predictors by recipe, summaries by recipe and decoding.
    models, predictors = dict[str, SummarizerModel](), dict[str, PredictorModel]()
    made = dict[tuple[str, str], Predictions]()
    for name in (name for name in names if SYSTEMS[name].kind != "extractive"):
        system = SYSTEMS[name]
        owner = system.model or name
        settings = plan.summarizer_of(SYSTEMS[owner], config.tables, config.summarizer)
        how = plan.training_of(SYSTEMS[owner], config.tables, config.training)
        # Those that see sentences all read ranked paragraphs.
        examples = dag.examples(session, settings.form) if system.ranked else unranked_examples(session)
        graphs = dag.graphs(session) if settings.graph != "none" else None
        read = training.Read(graphs, examples, dag.vocabulary(session))
        recipe = f"{system.ranked} {settings.model_dump_json()} {how.model_dump_json()}"
        if recipe not in models:
            extractor = training.extractor(session, read, settings=settings, training=how, name=f"extractor-{owner}")
            models[recipe] = training.summarizer(
                session, read, settings=settings, training=how, extractor=extractor, name=owner
            )
        decoding = plan.decoding_of(system, config.tables, config.decoding)
        work = recipe, decoding.model_dump_json()
        if work in made:
            summaries = renamed(session, name, made[work])
        else:
            predicted = decoding.guidance.reads_predictor
            if predicted and recipe not in predictors:
                learning = plan.attention_of(config.tables, config.attention)
                predictors[recipe] = training.attention(session, read, models[recipe], learning)
            summaries = made[work] = evaluation.predictions(
                session,
                read,
                dag.ranked(session),
                models[recipe],
                predictors[recipe] if predicted else None,
                settings=decoding,
                system=name,
                name=f"predictions-{name}",
                progress=name,
            )
        scores = evaluation.scores(session, dag.corpus(session), dag.ranked(session), summaries, f"scores-{name}")
        evaluated[name] = EvaluatedSystem(models[recipe], summaries, scores)
    return evaluated


@once
def unranked_examples(session: Session) -> Examples:
    """Return examples with paragraphs in the order they were found (Liu & Lapata 2019, Table 2, no ranking)."""
    corpus = dag.corpus(session)
    unranked = ranking.ranked(session, corpus, None, "unranked", order="found")
    return training.examples(session, corpus.articles, unranked, corpus.vocabulary, "unranked-examples")


def renamed(session: Session, name: str, summaries: Predictions) -> Predictions:
    """Return the summaries of a system with the same decoding as `name`, under this name."""
    recipe = Recipe(schemas.PREDICTIONS, "tasks.tables.plan:rename_system", arguments={"system": name})
    inputs = {"predictions": same(summaries)}
    shards = len(summaries.shards)
    return Predictions(session.run.stage(recipe, shards=shards, inputs=inputs, name=f"predictions-{name}"))


def timings(session: Session, evaluated: Mapping[str, EvaluatedSystem]) -> dict[str, DirectoryResult]:
    """Measure the systems of the efficiency tables, one after another, so that they do not slow each other."""
    config, examples = session.config, dag.examples(session)
    arguments = {
        "articles": config.training.validation_articles,
        "batch_tokens": config.training.batch_tokens,
        "paragraphs": config.tables.scaled(MOST_PARAGRAPHS),
        "source_tokens": config.tables.scaled(plan.EFFICIENCY_TOKENS),
        "memory_bytes": plan.MEMORY_BYTES,
        "precision": config.training.precision,
    }
    function, context = "tasks.tables.efficiency:measure_efficiency", {"device": config.engine.device}
    timed = {}
    for name in plan.shown_in(config.tables, Measure.EFFICIENCY):
        if name in evaluated:
            recipe = Recipe(f"efficiency/{name}", function, arguments=arguments, version=1)
            inputs = {"shards": every(examples), "summarizer": contents(evaluated[name].model)}
            timed[name] = session.run.directory(recipe, inputs=inputs, context=context)
    return timed
