"""Time and memory of the systems of the efficiency tables."""

from collections.abc import Mapping

from flows.dag import dag_of
from flows.running.session import Session
from flows.stages.systems import Evaluated
from tasks.engine.inputs import DirectoryResult, contents, every
from tasks.engine.recipe import Recipe
from tasks.tables.plan import EFFICIENCY_TOKENS, MEMORY_BYTES, shown_in
from tasks.tables.published import Measure
from tasks.tables.systems import MOST_PARAGRAPHS


def timings(session: Session, evaluated: Mapping[str, Evaluated]) -> dict[str, DirectoryResult]:
    """Measure the systems of the efficiency tables, one after another, so that they do not slow each other."""
    config, examples = session.config, dag_of(session).examples
    return {
        name: session.run.directory(
            Recipe(
                f"efficiency/{name}",
                "tasks.tables.efficiency:measure_efficiency",
                arguments={
                    "articles": config.training.validation_articles,
                    "batch_tokens": config.training.batch_tokens,
                    "paragraphs": config.tables.scaled(MOST_PARAGRAPHS),
                    "source_tokens": config.tables.scaled(EFFICIENCY_TOKENS),
                    "memory_bytes": MEMORY_BYTES,
                    "precision": config.training.precision,
                },
                version=3,
            ),
            inputs={"shards": every(examples), "summarizer": contents(evaluated[name].model)},
            context={"device": config.engine.device},
        )
        for name in shown_in(config.tables, Measure.EFFICIENCY)
        if name in evaluated
    }
