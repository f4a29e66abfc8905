"""Train the ranker (Liu & Lapata 2019, sec. 3.1) or the summarizer (sec. 3.2)."""

import sys

from flows.running.options import read_command

if __name__ == "__main__":  # help and mistakes are answered before the imports below, which take seconds
    command = read_command("python -m flows.train")

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.dag import dag_of
from flows.running.command_line import main
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from tasks.engine.inputs import DirectoryResult


@flow(name="train-ranker", flow_run_name="train-ranker-{config.name}", on_failure=[notify], on_crashed=[notify])
def train_ranker(config: BuildConfig = DEFAULT) -> None:
    """Train the paragraph ranker on the corpus, building missing stages first."""
    walk_flow(config, ranker)


@flow(name="train-summarizer", flow_run_name="train-summarizer-{config.name}", on_failure=[notify], on_crashed=[notify])
def train_summarizer(config: BuildConfig = DEFAULT) -> None:
    """Rank, compute graphs, and train the summarizer, building missing stages first."""
    walk_flow(config, summarizer)


def ranker(session: Session) -> DirectoryResult | None:
    """Walk the DAG as far as the ranker; None if the paragraphs were imported ranked."""
    return dag_of(session).ranker


def summarizer(session: Session) -> DirectoryResult:
    """Walk the DAG as far as the summarizer."""
    return dag_of(session).summarizer


if __name__ == "__main__":
    sys.exit(main(command, train_summarizer, summarizer))
