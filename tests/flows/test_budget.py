"""Budgets of runs: what would exceed one does not start, what does stops, keeps what is done and goes on later."""

import io
import time
from pathlib import Path

import pyarrow as pa
import pytest
from prefect import flow
from rich.console import Console

from flows import dag
from flows.running.building import checked, show_plan
from flows.running.estimates import gpus_of
from flows.running.execution import PrefectExecutor
from flows.running.session import Session
from flows.running.settings import BudgetSettings, EngineSettings
from storage.errors import BudgetSpentError
from storage.inventory import take_stock
from storage.schemas import FEATURES
from storage.spending import Account, spent, this_month
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.shard import Job
from tasks.engine.stage import Executor, Run
from tasks.sources.choice import running_web
from tests.flows.command_line import settings_of
from tests.test_stage_outputs import PROJECT

SHARDS = 8


def slow_rows(*, shard: int) -> pa.Table:
    time.sleep(0.5)
    return pa.Table.from_pylist([{"article_id": "a", "paragraph_id": shard}], schema=FEATURES.schema)


@flow
def spending_flow(root: str, budget: BudgetSettings) -> int:
    account = Account(root, budget.limits)
    executor = PrefectExecutor(EngineSettings(kind="processes", workers=1), account=account)
    run = Run(Store(root), executor, account=account)
    with executor.serving():
        run.stage(Recipe(FEATURES, slow_rows, per_shard={"shard": range(SHARDS)}), shards=SHARDS, inputs={})
    return run.plans[0].missing


@pytest.mark.integration
def test_a_run_stops_at_its_hours_and_the_next_goes_on(
    prefect_server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("estimates", "execution"):
        monkeypatch.setattr(f"flows.running.{module}.COUNT_SECONDS", 0.1)
    with pytest.raises(BudgetSpentError, match=r"budget.run_core_hours is 0.0002: .* are spent"):
        spending_flow(str(tmp_path), BudgetSettings(run_core_hours=0.0002))
    done = len(list((tmp_path / "features").glob("*.parquet")))
    assert done < SHARDS
    before = spent(Store(str(tmp_path)), this_month())[0]["cores"]
    assert before > 0.0002
    assert spending_flow(str(tmp_path), BudgetSettings()) == SHARDS - done
    after = spent(Store(str(tmp_path)), this_month())[0]["cores"]
    assert after - before >= (SHARDS - done) * 0.5 / 3600  # jobs sleep so long


def test_a_run_whose_queries_cost_too_much_does_not_start(tmp_path: Path) -> None:
    tiny = f"--config={PROJECT / 'tests' / 'stage_outputs.yaml'}"
    options = [f"--root={tmp_path}", tiny, "--search.provider=searxng", "--search.endpoint=http://127.0.0.1:9"]
    poor, rich = (
        settings_of(*options, "--search.price-per-thousand=1000", f"--budget.month-dollars={most}").build
        for most in (1, 1000)
    )
    take_stock(Store(poor.root))  # as a run does when it opens a new root
    with running_web(poor.source) as connect_to:
        executor = Executor()
        session = Session(poor, executor, Run(Store(poor.root), executor), connect_to)  # type: ignore[arg-type]
        articles = session.once(dag.articles)
    kept = sum(one.written.rows - sum(one.drops.values()) for one in articles.in_order)
    assert kept > 1
    refused = rf"budget.month_dollars is 1: 0 are spent, and {kept} more would exceed"
    with pytest.raises(BudgetSpentError, match=refused), checked(poor, dag.report):
        pass
    with checked(rich, dag.report):
        pass
    with Account(str(tmp_path)).ledger() as ledger:
        ledger.add("endpoints", 999.0)
    with pytest.raises(BudgetSpentError, match=r"budget.month_dollars is 1,000: 999 are"), checked(rich, dag.report):
        pass
    shown = io.StringIO()
    show_plan(rich, dag.report, Console(file=shown, width=200))
    assert "on this root: $999.00 (search $0.00, language models $999.00), 0.00 core-hours" in shown.getvalue()
    assert "at most $1,000." in shown.getvalue()
    assert "This would not start: budget.month_dollars is 1,000: 999 are spent" in shown.getvalue()


@pytest.mark.parametrize(
    ("stage", "device", "visible", "expected"),
    [
        ("models/summarizer", "auto", "0,1", 2),
        ("models/summarizer", "cuda:1", "0,1", 1),
        ("predictions", "cuda", "0,1", 1),
        ("models/summarizer", "auto", "", 0),
        ("models/summarizer", "cpu", "0,1", 0),
        ("articles", None, "0,1", 0),
    ],
)
def test_gpus_of_a_job(
    monkeypatch: pytest.MonkeyPatch, stage: str, device: str | None, visible: str, expected: int
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    job = Job(root="", recipe=Recipe(stage, ""), shard=0, key="", inputs={}, digests={})
    assert gpus_of(job) == 0
    job.context["device"] = device  # type: ignore[index]
    assert gpus_of(job) == expected
