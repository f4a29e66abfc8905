"""A run that its server has lost goes on as a new one, once; other errors of a server end it."""

from collections.abc import Callable
from io import StringIO

import httpx
import pytest
from prefect.exceptions import ObjectNotFound
from rich.console import Console

from flows.config import BuildConfig
from flows.running.building import run_through_a_loss
from tasks.engine.failure_logs import is_expected

REQUEST = httpx.Request("POST", "http://127.0.0.1:4200/api/task_runs/")


def answered(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError(f"{status}", request=REQUEST, response=httpx.Response(status, request=REQUEST))


def runs(*ends: Exception | str) -> tuple[Callable[[BuildConfig], str], list[BuildConfig]]:
    """A flow that ends so when it is run for the first time, the second, ..., and the runs that there were."""
    left, seen = list(ends), list[BuildConfig]()

    def run(config: BuildConfig) -> str:
        seen.append(config)
        end = left.pop(0)
        if isinstance(end, Exception):
            raise end
        return end

    return run, seen


@pytest.mark.parametrize("loss", [ObjectNotFound(answered(404)), answered(404), answered(409)])
def test_a_run_that_its_server_does_not_know_goes_on_as_a_new_one(loss: Exception) -> None:
    run, seen = runs(loss, "report")
    said = StringIO()
    assert run_through_a_loss(run, config := BuildConfig(), Console(file=said)) == "report"
    assert seen == [config, config]
    assert said.getvalue().startswith("the Prefect server no longer knows this run")


def test_one_loss_is_borne_and_no_other_error() -> None:
    for ends in ((answered(404), answered(404)), (answered(500), "report"), (ValueError("x"), "report")):
        run, _ = runs(*ends)
        with pytest.raises((httpx.HTTPStatusError, ValueError)):
            run_through_a_loss(run, BuildConfig(), Console(file=StringIO()))


def test_what_a_server_answered_is_logged_in_one_line() -> None:
    assert is_expected(answered(409))
    assert not is_expected(KeyError("x"))
