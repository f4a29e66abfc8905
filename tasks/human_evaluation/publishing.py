"""Publish the results of a study in the Prefect UI."""

from prefect.artifacts import create_markdown_artifact

from tasks.engine.artifact_keys import artifact_key
from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.human_evaluation.study import Study


def publish_study(study: Study, markdown: str) -> None:
    """Publish the report as a Markdown artifact; studies of a task on a corpus make a history."""
    with unless_prefect_is_away(f"the results of study {study.id}"):
        create_markdown_artifact(
            key=artifact_key(study.name, f"human-{study.settings.task}"),
            markdown=markdown,
            description=f"{study.name}: {len(study.systems)} systems judged by people ({study.settings.task}), "
            f"{len(study.articles):,} articles of build {study.build}.",
        )
