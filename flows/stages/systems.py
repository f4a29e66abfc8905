"""The systems of the papers' tables: train, decode and score each, and do equal work only once."""

from dataclasses import dataclass

from flows.dag import dag_of
from flows.running.session import Session
from flows.stages import evaluation, ranking, training
from flows.stages.examples import examples
from storage import schemas
from tasks.engine.inputs import DirectoryResult, StageResult, same
from tasks.engine.recipe import Recipe
from tasks.tables.plan import (
    attention_of,
    decoding_of,
    summarizer_of,
    training_of,
)
from tasks.tables.systems import SYSTEMS


@dataclass(frozen=True)
class Evaluated:
    """A system's model, its summaries of the test articles and their scores."""

    model: DirectoryResult
    summaries: StageResult
    scores: StageResult


def evaluate_systems(session: Session, names: list[str]) -> dict[str, Evaluated]:
    """Train, decode and score those of the given systems that need training; equal work is done once."""
    dag, config = dag_of(session), session.config
    models: dict[str, DirectoryResult] = {}
    predictors: dict[str, DirectoryResult] = {}
    decoded: dict[tuple[str, str], StageResult] = {}
    evaluated = {}
    for name in names:
        system = SYSTEMS[name]
        if system.kind == "extractive":
            continue
        owner = system.model or name
        settings = summarizer_of(SYSTEMS[owner], config.tables, config.summarizer)
        how = training_of(SYSTEMS[owner], config.tables, config.training)
        token_ids = _examples_of(session, ranked=system.ranked, sentences=settings.sees_sentences)
        graphs = dag.graphs if settings.graph != "none" else None
        recipe = f"{system.ranked} {settings.model_dump_json()} {how.model_dump_json()}"
        if recipe not in models:
            models[recipe] = training.summarizer(
                session, graphs, token_ids, dag.vocabulary, settings=settings, training=how, name=owner
            )
        decoding = decoding_of(system, config.tables, config.decoding)
        if (work := (recipe, decoding.model_dump_json())) in decoded:
            summaries = renamed(session, name, decoded[work])
        else:
            predicted = decoding.guidance.reads_predictor
            if predicted and recipe not in predictors:
                learning = attention_of(config.tables, config.attention)
                predictors[recipe] = training.attention(session, graphs, token_ids, models[recipe], learning)
            summaries = decoded[work] = evaluation.predictions(
                session,
                graphs,
                token_ids,
                dag.ranked,
                models[recipe],
                predictors[recipe] if predicted else None,
                settings=decoding,
                system=name,
                name=f"predictions-{name}",
                progress=name,
            )
        scores = evaluation.scores(session, dag.corpus, dag.ranked, summaries, f"scores-{name}")
        evaluated[name] = Evaluated(models[recipe], summaries, scores)
    return evaluated


def _examples_of(session: Session, *, ranked: bool, sentences: bool) -> StageResult:
    """Return the examples that a system reads; those that see sentences all read ranked paragraphs."""
    dag = dag_of(session)
    if not ranked:
        return session.once(unranked_examples)
    return dag.sentence_examples if sentences else dag.examples


def renamed(session: Session, name: str, summaries: StageResult) -> StageResult:
    """Return the summaries of a system with the same decoding as `name`, under this name."""
    return session.run.stage(
        Recipe(schemas.PREDICTIONS, "tasks.tables.plan:rename_system", arguments={"system": name}),
        shards=len(summaries.shards),
        inputs={"predictions": same(summaries)},
        name=f"predictions-{name}",
    )


def unranked_examples(session: Session) -> StageResult:
    """Return examples with paragraphs in the order they were found (Liu & Lapata 2019, Table 2, no ranking)."""
    corpus = dag_of(session).corpus
    unranked = ranking.ranked(session, corpus, None, "unranked")
    return examples(session, corpus.articles, unranked, corpus.vocabulary, "unranked-examples")
