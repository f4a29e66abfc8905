"""Budgets of runs: what would exceed one does not start, what does stops, keeps what is done and goes on later."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from flows import dag
from flows.running.building import checked, show_plan
from flows.running.session import Session
from storage.errors import BudgetSpentError
from storage.inventory import take_stock
from storage.spending import Account
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tasks.sources.choice import running_web
from tests.flows.command_line import settings_of
from tests.test_stage_outputs import PROJECT


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
    assert "on this root: $999.00 (search $0.00, language models $999.00)" in shown.getvalue()
    assert "at most $1,000." in shown.getvalue()
    assert "This would not start: budget.month_dollars is 1,000: 999 are spent" in shown.getvalue()
