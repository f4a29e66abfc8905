"""The systems of the papers' tables: each trained, decoded and scored, equal work done once."""

from dataclasses import dataclass

from flows.evaluate import decode, score
from flows.running.session import Session
from flows.stages.corpus import corpus
from flows.stages.imported import imported
from flows.stages.ranking import ranked, ranking_method
from flows.train import train_predictor, train_system
from storage import schemas
from tasks.engine.inputs import DirectoryResult, StageResult, only, same
from tasks.ranking.ranking import rank_paragraphs
from tasks.summarization.examples import build_examples
from tasks.tables.plan import attention_of, decoding_of, rename_system, summarizer_of, systems_to_run, training_of
from tasks.tables.systems import SYSTEMS


@dataclass(frozen=True)
class Evaluated:
    """A system's model, its summaries of the test articles and their scores."""

    model: DirectoryResult
    summaries: StageResult
    scores: StageResult


def systems(session: Session) -> dict[str, Evaluated]:
    """Train, decode and score the systems that are asked for and trained; equal work is done once."""
    config = session.config
    run, _ = session.once(chosen)
    models: dict[str, DirectoryResult] = {}
    predictors: dict[str, DirectoryResult] = {}
    decoded: dict[tuple[str, str], StageResult] = {}
    evaluated = {}
    for name in run:
        system = SYSTEMS[name]
        if system.kind == "extractive":
            continue
        owner = system.model or name
        settings = summarizer_of(SYSTEMS[owner], config.tables, config.summarizer)
        examples = session.once(ranked).examples if system.ranked else session.once(unranked)
        graphs = session.once(ranked).graphs
        training = training_of(SYSTEMS[owner], config.tables, config.training)
        recipe = f"{system.ranked} {settings.model_dump_json()} {training.model_dump_json()}"
        if recipe not in models:
            models[recipe] = train_system(session, owner, settings, training, examples, graphs)
        how = decoding_of(system, config.tables, config.decoding)
        read = graphs if settings.graph != "none" else None
        if (work := (recipe, how.model_dump_json())) in decoded:
            summaries = renamed(session, name, decoded[work])
        else:
            if how.guidance.reads_predictor and recipe not in predictors:
                learning = attention_of(config.tables, config.attention)
                predictors[recipe] = train_predictor(session, models[recipe], learning, examples, read)
            predictor = predictors[recipe] if how.guidance.reads_predictor else None
            summaries = decode(session, f"predictions-{name}", models[recipe], how, examples, read, name, predictor)
            decoded[work] = summaries
        evaluated[name] = Evaluated(models[recipe], summaries, score(session, f"scores-{name}", summaries))
    return evaluated


def chosen(session: Session) -> tuple[list[str], dict[str, str]]:
    """Return the systems that are run, and of the others why they are not."""
    config = session.config
    return systems_to_run(config.tables, config.baselines.systems, impossible(session))


def impossible(session: Session) -> dict[str, str]:
    """Return the systems that read what there is not under these settings, and what that is."""
    settings, given = session.config.imported, session.once(imported)
    drawn = settings is None or given is None or given.graphs is not None or settings.texts == "all"
    reasons = {}
    tables, kept = session.config.tables, session.config.ranking.keep
    for name, system in SYSTEMS.items():
        wanted = tables.scaled(system.test_paragraphs or system.paragraphs)
        if settings is not None and not system.ranked:
            reasons[name] = "imported paragraphs came ranked"
        elif settings is None and system.kind != "extractive" and wanted > kept:
            reasons[name] = f"it reads {wanted} paragraphs and ranking.keep is {kept}"
        elif system.graph != "none" and not drawn:
            reasons[name] = "the imported shards hold no graphs, and no texts of the training split to draw them from"
        elif system.decoding.get("alignment") == "ranked" and ranking_method(session) == "found":
            reasons[name] = "no ranker scored the paragraphs"
        elif system.decoding.get("alignment") == "predicted" and session.config.decoding.checkpoint:
            reasons[name] = "its attention predictor knows the best checkpoint alone"
    return reasons


def renamed(session: Session, name: str, summaries: StageResult) -> StageResult:
    """Return the summaries of a system that decodes just as `name` does, under this name."""
    return session.run.stage(
        schemas.PREDICTIONS,
        rename_system,
        shards=len(summaries.shards),
        inputs={"predictions": same(summaries)},
        arguments={"system": name},
        name=f"predictions-{name}",
    )


def unranked(session: Session) -> StageResult:
    """Return examples whose paragraphs stand as they were found (000 Table 2, no ranking)."""
    config, built = session.config, session.once(corpus)
    both = {"articles": same(built.articles), "paragraphs": same(built.paragraphs), "features": same(built.features)}
    found = session.run.stage(
        schemas.RANKED,
        rank_paragraphs,
        shards=len(built.articles.shards),
        inputs=both,
        settings=config.ranking.model_copy(update={"method": "found"}),
        arguments={"ranker_directory": None},
        name="unranked",
    )
    return session.run.stage(
        schemas.EXAMPLES,
        build_examples,
        shards=len(found.shards),
        inputs={"articles": same(built.articles), "ranked": same(found), "vocabulary": only(built.vocabulary)},
        settings=config.examples,
        name="unranked-examples",
    )
