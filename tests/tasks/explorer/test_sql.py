"""Queries in SQL: what they see, and what they may not do."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from storage.store import Store
from tasks.explorer import sql
from tasks.explorer.corpus import ExplorerCorpus
from tasks.explorer.sql import CLOSED, SqlResult, run_query
from tests.tasks.explorer.small_corpus import small_corpus


@pytest.fixture
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config=CLOSED) as opened:
        opened.execute("CREATE TABLE articles AS SELECT range AS number FROM range(5)")
        yield opened


@pytest.mark.parametrize(
    "query",
    [
        "SELECT number FROM articles WHERE number > 2",
        "with big AS (FROM articles WHERE number > 2) SELECT number FROM big ORDER BY number;",
        "SELECT number FROM articles WHERE number > 2 -- the last ones",
    ],
)
def test_one_select_is_answered(tables: duckdb.DuckDBPyConnection, query: str) -> None:
    assert run_query(tables, query) == SqlResult(["number"], [(3,), (4,)], False)


def test_a_long_result_is_cut(tables: duckdb.DuckDBPyConnection) -> None:
    assert run_query(tables, "FROM articles", rows=4) == SqlResult(["number"], [(0,), (1,), (2,), (3,)], True)
    assert not run_query(tables, "FROM articles", rows=5).cut


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DROP TABLE articles", "the query is DROP: expected one SELECT"),
        ("INSERT INTO articles VALUES (9)", "the query is INSERT: expected one SELECT"),
        ("SELECT 1; DROP TABLE articles", "the query is SELECT, DROP: expected one SELECT"),
        ("COPY articles TO 'articles.csv'", "the query is COPY: expected one SELECT"),
        ("ATTACH 'other.db'", "the query is ATTACH: expected one SELECT"),
        ("SET enable_external_access = true", "the query is SET: expected one SELECT"),
        ("INSTALL httpfs", "the query is LOAD: expected one SELECT"),
        ("", "the query is nothing: expected one SELECT"),
        ("SELECT * FROM read_text('/etc/passwd')", "file system operations are disabled"),
        ("SELECT * FROM '/etc/passwd'", "does not exist"),
        ("SELECT * FROM read_csv('http://127.0.0.1/x.csv')", "disabled"),
        ("SELECT * FROM glob('/*')", "file system operations are disabled"),
        ("SELECT * FROM query('DROP TABLE articles')", ""),
        ("SELECT 1) ; DROP TABLE articles; SELECT (1", ""),
        ("SELEC 1", "syntax error"),
    ],
)
def test_everything_else_is_refused_and_nothing_changes(
    tables: duckdb.DuckDBPyConnection, query: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said or "."):
        run_query(tables, query)
    assert run_query(tables, "SELECT count(*) AS rows FROM articles").rows == [(5,)]


def test_variables_of_the_program_are_not_seen(
    tables: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "secret", pa.table({"answer": [42]}), raising=False)
    with pytest.raises(ValueError, match="secret does not exist"):
        run_query(tables, "FROM secret")


def test_a_query_that_takes_too_long_is_stopped(tables: duckdb.DuckDBPyConnection) -> None:
    endless = "SELECT count(*) FROM range(10000000000) a, range(1000) b WHERE a.range % 7 = b.range"
    with pytest.raises(ValueError, match=r"took longer than 0\.2 s"):
        run_query(tables, endless, seconds=0.2)


def test_a_corpus_answers_over_the_rows_of_its_lists(tmp_path: Path) -> None:
    corpus = ExplorerCorpus(Store(small_corpus(tmp_path)))
    query = "SELECT title, host FROM documents JOIN articles USING (article_id) ORDER BY host"
    corpus.wait()
    corpus.wait("documents")
    assert corpus.query(query).rows == [("Skerry Point", "a.test"), ("Skerry Point", "b.test")]
    with pytest.raises(ValueError, match="scores does not exist"):
        corpus.query("FROM scores")
