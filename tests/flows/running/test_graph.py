"""What the graph of a flow run shows, as a real (temporary) Prefect server draws it."""

import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
import requests
from prefect import flow
from prefect.client.schemas.objects import RunInput
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed

import flows.build_wikisum
import flows.evaluate
import flows.running.session
from flows.config import BuildConfig
from flows.running.display import current_flow_run, run_within, show
from flows.running.execution import PrefectExecutor
from flows.running.session import Session
from flows.running.settings import EngineSettings
from storage.schemas import ARTICLES, FEATURES, PARAGRAPHS
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.recipe import Recipe, every, same
from tasks.engine.stage import Outcome, Run, StageFailedError
from tests.flows.recording import recorded
from tests.patience import PATIENCE, wait_until

pytestmark = pytest.mark.integration

Node = tuple[str, str, frozenset[str]]  # label, state, labels of its parents


def api(path: str, **body: Any) -> Any:
    url = f"{PREFECT_API_URL.value()}/{path}"
    answer = requests.post(url, json=body, timeout=PATIENCE) if body else requests.get(url, timeout=PATIENCE)
    answer.raise_for_status()
    return answer.json()


def graph(flow_run: UUID | None, nodes: int) -> set[Node]:
    """Return the graph once it has as many nodes as it is to have; a sub-flow is called by its flow."""
    found: set[Node] = set()

    def complete() -> bool:
        drawn = [node for _, node in api(f"flow_runs/{flow_run}/graph-v2")["nodes"]]
        names = {node["id"]: node["label"].partition(" / ")[0] for node in drawn}
        found.clear()
        found.update(
            (names[node["id"]], node["state_type"], frozenset(names[edge["id"]] for edge in node["parents"]))
            for node in drawn
        )
        return len(drawn) == nodes and {state for _, state, _ in found} <= {"COMPLETED", "FAILED"}

    wait_until(complete, f"{nodes} nodes that have ended", lambda: str(sorted(map(str, found))))
    return found


def states(flow_run: UUID | None) -> dict[str, str]:
    runs = api("task_runs/filter", flow_runs={"id": {"any_": [str(flow_run)]}})
    return {run["name"]: run["state_name"] for run in runs}


def features(*, shard: int) -> pa.Table:
    return FEATURES.schema.empty_table()


def paragraphs(features: pa.Table, *, broken: bool) -> pa.Table:
    if broken:
        raise ValueError("nonsense")
    return PARAGRAPHS.schema.empty_table()


def articles(shards: Any) -> pa.Table:
    return ARTICLES.schema.empty_table()


runs: dict[str, UUID | None] = {}
walks: list[Run] = []


@flow
def inner(root: str) -> None:
    runs["inner"] = current_flow_run()
    run = walks[-1]
    shown = run.stages["paragraphs"]
    run.stage(Recipe(ARTICLES, articles), shards=1, inputs={"shards": every(shown)}, name="inner-articles")


@flow
def outer(root: str, *, broken: bool = False) -> None:
    runs["outer"] = current_flow_run()
    executor = PrefectExecutor(EngineSettings(kind="threads", workers=2))
    run = Run(Store(root), executor)
    walks.append(run)
    with executor.serving():
        first = run.stage(Recipe(FEATURES, features, per_shard={"shard": range(3)}), shards=3, inputs={})
        recipe = Recipe(PARAGRAPHS, paragraphs)
        second = run.stage(recipe, shards=3, inputs={"features": same(first)}, context={"broken": broken})
        run_within(inner, root, second)
        last = run.stages["inner-articles"]
        run.stage(Recipe(FEATURES, features, per_shard={"shard": [7]}), shards=1, inputs={}, name="apart")
        run.stage(Recipe(ARTICLES, articles), shards=1, inputs={"shards": every(last, run.stages["apart"])})


def node(label: str, *parents: str, state: str = "COMPLETED") -> Node:
    return label, state, frozenset(parents)


def test_a_stage_comes_after_what_it_reads_and_its_shards_after_it(prefect_server: None, tmp_path: Path) -> None:
    outer(str(tmp_path))
    assert graph(runs["outer"], 11) == {
        node("features"),
        *(node(f"features-0000{shard}", "features") for shard in range(3)),
        node("paragraphs", "features"),
        *(node(f"paragraphs-0000{shard}", "paragraphs") for shard in range(3)),
        node("inner", "paragraphs"),
        node("apart-00000"),
        node("articles-00000", "inner", "apart-00000"),
    }
    assert graph(runs["inner"], 1) == {node("inner-articles-00000")}

    outer(str(tmp_path))  # finds everything done
    assert graph(runs["outer"], 5) == {
        node("features"),
        node("paragraphs", "features"),
        node("inner", "paragraphs"),
        node("apart"),
        node("articles", "inner", "apart"),
    }
    found = states(runs["outer"])
    assert {name: found[name] for name in ("features", "paragraphs", "apart", "articles")} == dict.fromkeys(
        ("features", "paragraphs", "apart", "articles"), "Cached"
    )
    assert states(runs["inner"]) == {"inner-articles": "Cached"}


def test_a_stage_that_fails_is_shown_so(prefect_server: None, tmp_path: Path) -> None:
    with pytest.raises(StageFailedError, match="3 of 3 failed"):
        outer(str(tmp_path), broken=True)
    drawn = graph(runs["outer"], 8)
    assert node("paragraphs", "features", state="FAILED") in drawn
    assert node("features") in drawn


def interrupting(*, shard: int) -> pa.Table:
    main = threading.main_thread().ident
    assert main is not None
    if shard == 0:
        signal.pthread_kill(main, signal.SIGINT)
    return FEATURES.schema.empty_table()


@flow
def interrupted(root: str) -> None:
    runs["interrupted"] = current_flow_run()
    executor = PrefectExecutor(EngineSettings(kind="threads", workers=1))
    with executor.serving():
        recipe = Recipe(FEATURES, interrupting, per_shard={"shard": range(2)})
        Run(Store(root), executor).stage(recipe, shards=2, inputs={})


def test_a_stage_that_is_interrupted_does_not_run_for_ever(prefect_server: None, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(str(tmp_path))
    assert states(runs["interrupted"])["features"] == "Crashed"


class Imagined(PrefectExecutor):
    """Shows what a build shows, and computes nothing."""

    def _submit(self, make: Callable[[Job], Any], jobs: Sequence[Job], edges: set[RunInput]) -> dict[str, Outcome]:
        if self._shown is None:
            self._shown = show(jobs[0].called, Completed(), edges)
        return recorded(make, jobs)


def test_the_graph_of_a_build_is_its_dag(prefect_server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows.running.session, "PrefectExecutor", Imagined)
    for module in (flows.build_wikisum, flows.evaluate):
        monkeypatch.setattr(module, "check_splits", lambda store, articles: None)
    monkeypatch.setattr(Session, "publish_report", lambda session, report: str(current_flow_run()))
    source = {"miniweb": {"topics": 5}}  # the web is served, though nobody visits it
    shards = {"articles": 2, "hosts": 2}
    config = {"root": str(tmp_path), "source": source, "shards": shards, "engine": {"kind": "threads"}}
    evaluated = flows.build_wikisum.build_wikisum(BuildConfig.model_validate(config))
    (run,) = api("flow_runs/filter", flows={"name": {"any_": ["build-wikisum"]}}, sort="EXPECTED_START_TIME_DESC")[:1]
    corpus = ("articles", "paragraphs", "features", "vocabulary")
    assert graph(run["id"], 12) == {
        node("intake"),
        node("articles", "intake"),
        node("search", "articles"),
        node("frontier", "articles", "search"),
        node("pages", "frontier"),
        node("documents", "frontier", "pages"),
        node("paragraphs", "articles", "documents"),
        node("features", "articles", "paragraphs"),
        node("vocabulary", "articles", "paragraphs"),
        node("train-ranker", *corpus),
        node("train-summarizer", *corpus, "train-ranker"),
        node("evaluate", *corpus, "train-ranker", "train-summarizer"),
    }
    assert graph(UUID(evaluated), 6) == {
        node("ranking_scores"),
        node("baselines"),
        node("baseline_scores", "baselines"),
        node("predictions"),
        node("scores", "predictions"),
        node("reports", "ranking_scores", "baselines", "baseline_scores", "predictions", "scores"),
    }
