"""SQL over the tables of the lists: one SELECT, which reads nothing else, for a limited time, with a limited result.

DuckDB itself is opened without access to files, network and variables of Python (`corpus.py`), so that a query sees the
tables alone. A statement other than a SELECT is refused before it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

import duckdb

SECONDS = 10.0  # after which a query is stopped
ROWS = 1000  # of a result that are returned
CLOSED = {"enable_external_access": "false", "lock_configuration": "true"}


@dataclass(frozen=True)
class SqlResult:
    """The result of a query."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    cut: bool  # whether there are more rows


def run_query(
    tables: duckdb.DuckDBPyConnection, query: str, *, seconds: float = SECONDS, rows: int = ROWS
) -> SqlResult:
    """Return the first rows of a query's result. Raises ValueError: it is not one SELECT, DuckDB refuses it, or it took
    longer than `seconds`."""
    connection = tables.cursor()
    stop = Timer(seconds, connection.interrupt)
    try:
        statements = duckdb.extract_statements(query)
        if [statement.type.name for statement in statements] != ["SELECT"]:
            kinds = ", ".join(statement.type.name for statement in statements) or "nothing"
            raise ValueError(f"the query is {kinds}: expected one SELECT")
        stop.start()
        # The line break ends a comment of the query.
        limited = f"SELECT * FROM (\n{statements[0].query.strip().rstrip(';')}\n) LIMIT {rows + 1}"
        result = connection.execute(limited)
        found = result.fetchall()
        return SqlResult([column[0] for column in result.description], found[:rows], len(found) > rows)
    except duckdb.InterruptException as error:
        raise ValueError(f"the query took longer than {seconds:g} s and was stopped") from error
    except duckdb.Error as error:
        raise ValueError(str(error)) from error
    finally:
        stop.cancel()
        connection.close()
