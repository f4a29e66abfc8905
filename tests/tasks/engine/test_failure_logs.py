import logging

import httpx
import pyarrow as pa
import pytest

from storage.errors import CorruptShardError
from storage.schemas import FEATURES
from storage.store import Store
from tasks.engine.failure_logs import describe, is_expected, log_expected_failures_in_one_line, unless_prefect_is_away
from tasks.engine.grouping import by_article, join_by_article
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run, StageFailedError


def broken(*, shard: int) -> pa.Table:
    rows = pa.table({"article_id": ["a", "b", "c"]})
    for article, *_ in join_by_article(rows, rows) if shard else by_article(rows):
        if article == "b":
            raise ValueError("its title is empty")
    return FEATURES.schema.empty_table()


def test_a_failure_names_the_shard_and_the_article(tmp_path: object) -> None:
    run = Run(Store(str(tmp_path)), Executor())
    with pytest.raises(StageFailedError) as failure:
        run.stage(Recipe(FEATURES, broken, per_shard={"shard": range(2)}), shards=2, inputs={})
    assert "features-00000: ValueError: its title is empty (while working on article b)" in str(failure.value)
    assert "features-00001: ValueError: its title is empty (while working on article b)" in str(failure.value)


def caught(raises: str) -> Exception:
    """The exception that some code of nobody's raises."""
    try:
        exec(raises)
    except (KeyError, ValueError) as error:
        return error
    raise AssertionError


def test_what_was_raised_on_purpose_is_told_from_a_bug() -> None:
    expected = [CorruptShardError("a", "b"), ConnectionError("reset"), StageFailedError("s", {}, 1), own_value_error()]
    assert [is_expected(error) for error in expected] == [True] * 4
    bugs = [caught("{}['x']"), caught("int('x')"), caught("raise ValueError('from a library')"), MemoryError()]
    assert [is_expected(error) for error in bugs] == [False] * 4


def own_value_error() -> Exception:
    try:
        list(by_article(pa.table({"article_id": ["b", "a"]})))
    except ValueError as error:
        return error
    raise AssertionError


def logged(error: Exception) -> logging.LogRecord:
    """The record of Prefect's message as its handlers see it."""
    log = logging.getLogger("prefect.flow_runs")
    told = (type(error), error, error.__traceback__)
    record = log.makeRecord(log.name, logging.ERROR, "f", 1, "Encountered exception: %r", (error,), told)
    assert log.filter(record)
    return record


def test_an_expected_failure_is_one_line_of_prefects_log_and_a_bug_keeps_its_traceback() -> None:
    log_expected_failures_in_one_line()
    log_expected_failures_in_one_line()
    expected = logged(own_value_error())
    assert expected.getMessage() == "stopped: ValueError: article a follows b: expected rows sorted by article_id"
    assert expected.exc_info is None
    bug = logged(caught("{}['x']"))
    assert bug.getMessage() == "Encountered exception: KeyError('x')"
    assert bug.exc_info is not None


def test_notes_are_part_of_the_description() -> None:
    error = ValueError("bad")
    error.add_note("while working on page http://a/b")
    assert describe(error) == "ValueError: bad (while working on page http://a/b)"


def test_a_server_that_is_away_costs_a_warning_and_a_bug_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    with unless_prefect_is_away("the progress of ranker"):
        raise httpx.ConnectError("refused")
    assert [record.getMessage() for record in caplog.records] == [
        "the Prefect server did not take the progress of ranker: ConnectError: refused"
    ]
    with pytest.raises(KeyError), unless_prefect_is_away("the progress of ranker"):
        raise KeyError("x")
