"""The stage: rows, counts, budgets, and a journal by which nothing is paid for twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from storage.recipes import TALLY
from storage.schemas import ARTICLES, PREDICTIONS, RANKED
from tasks.chat.client import ChatError
from tasks.engine.job import Scratch
from tasks.writing.settings import BuildWriterSettings
from tasks.writing.stage import write_summaries
from tests.patience import PATIENCE, wait_until
from tests.tasks.chat.chat_server import Chat, Reply, chat_server, said, sentences
from tests.tasks.writing.scripted import IS, LAMP, PASSAGES

USAGE = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}, "model": "m-2026"}
GOOD = sentences((IS, [1]), (LAMP, [2]))


def articles(number: int) -> pa.Table:
    rows = [
        {"article_id": f"{n:03}", "title": f"Skerry Point Lighthouse ({n})", "lead": "It is.", "split": "test"}
        for n in range(number)
    ]
    return pa.Table.from_pylist(
        [*rows, {"article_id": "x", "title": "T", "lead": "", "split": "train"}], ARTICLES.schema
    )


def ranked(number: int) -> pa.Table:
    ids = [*(f"{n:03}" for n in range(number)), "x"]
    rows = [{"article_id": id_, "rank": rank, "text": text} for id_ in ids for rank, text in enumerate(PASSAGES)]
    return pa.Table.from_pylist(rows, RANKED.schema)


def write(chat: Chat, folder: Path, number: int = 3, at_once: int = 2, parts: int = 1, **settings: Any) -> pa.Table:
    return write_summaries(
        articles(number),
        ranked(number),
        BuildWriterSettings.model_validate({"url": chat.url, "model": "m", "context": 8192, **settings}),
        parts=parts,
        scratch=Scratch(pafs.LocalFileSystem(), str(folder)),
        at_once=at_once,
    )


def tally(table: pa.Table) -> dict[str, int]:
    found: dict[str, int] = json.loads(table.schema.metadata[TALLY.encode()])
    return found


def test_a_row_an_article_with_citations_as_attention(tmp_path: Path) -> None:
    with chat_server(
        lambda number, _: (200, said(json.loads(GOOD)["choices"][0]["message"]["content"], **USAGE))
    ) as chat:
        table = write(chat, tmp_path)
    assert table.schema.equals(PREDICTIONS.schema)
    rows = table.to_pylist()
    assert [(row["article_id"], row["system"]) for row in rows] == [("000", "m"), ("001", "m"), ("002", "m")]
    assert rows[0]["summary"] == f"{IS}\n{LAMP}"
    assert rows[0]["attention"] == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert "".join(rows[0]["tokens"]).replace("\u2581", "") == f"{IS}{LAMP}".replace(" ", "")
    assert tally(table) == {
        "answers of m-2026": 3,
        "requests": 3,
        "sentences": 6,
        "tokens read": 300,
        "tokens written": 30,
    }


def test_an_article_without_a_summary_is_counted_with_its_reason(tmp_path: Path) -> None:
    def script(number: int, body: dict[str, Any]) -> Reply:
        material = body["messages"][1]["content"]
        return Reply(413, "{}") if "(0)" in material else Reply(200, said("No.") if "(1)" in material else GOOD)

    with chat_server(script) as chat:
        table = write(chat, tmp_path)
    assert [bool(text) for text in table["summary"].to_pylist()] == [False, False, True]
    assert {name: count for name, count in tally(table).items() if name.startswith("no ")} == {
        "no summary: http_413": 1,
        "no summary: no_sentence": 1,
    }


@pytest.mark.parametrize(
    "budget", [{"most_requests": 10, "parts": 5}, {"most_dollars": 0.004, "price_read": 1.0, "price_written": 1.0}]
)
def test_a_spent_budget_leaves_articles_out_and_says_so(budget: dict[str, Any], tmp_path: Path) -> None:
    with chat_server(lambda number, _: (200, GOOD)) as chat:
        table = write(chat, tmp_path, 9, at_once=1, **budget)
        written = table.num_rows
        assert 1 <= written < 9
        assert tally(table)["no summary: not_asked"] == 9 - written
        assert len(chat.asked) == written
        more = write(chat, tmp_path, 9)
    assert more.num_rows == len(chat.asked) == 9  # what was paid for is not asked again


def test_a_model_that_is_away_ends_the_stage_and_what_it_answered_is_kept(tmp_path: Path) -> None:
    away, answered = True, list[int]()

    def script(number: int, _: dict[str, Any]) -> Reply:
        if away and number > 4:
            return Reply(413, "{}")
        answered.append(number)
        return Reply(200, GOOD)

    with chat_server(script) as chat:
        with pytest.raises(ChatError, match="5 times in a row: http_413"):
            write(chat, tmp_path, 20, at_once=1)
        assert answered == [1, 2, 3, 4]
        away = False
        assert write(chat, tmp_path, 20).num_rows == 20
    assert len(answered) == 20


def test_an_article_that_failed_for_now_ends_the_shard_and_is_asked_again(tmp_path: Path) -> None:
    broken = True

    def script(number: int, body: dict[str, Any]) -> Reply:
        lost = broken and "(1)" in body["messages"][1]["content"]
        return Reply(200, '{"error": "the model was unloaded"}' if lost else GOOD)

    with chat_server(script) as chat:
        with pytest.raises(ChatError, match=r"no answer for 1 of 3 articles, such as server_error: the model was unl"):
            write(chat, tmp_path)
        broken = False
        assert all(write(chat, tmp_path)["summary"].to_pylist())
    assert len(chat.asked) == 4


def test_no_server_is_said_before_an_article_is_read(tmp_path: Path) -> None:
    with chat_server(lambda number, _: (200, GOOD)) as chat:
        pass
    settings = BuildWriterSettings(url=chat.url, model="m")
    scratch = Scratch(pafs.LocalFileSystem(), str(tmp_path))
    empty = ranked(0).slice(0, 0)
    assert write_summaries(articles(0), empty, settings, parts=1, scratch=scratch, at_once=1).num_rows == 0
    with pytest.raises(ChatError, match=r"writer\.url is .*expected a server that answers, but connect_error"):
        write_summaries(articles(1), ranked(1), settings, parts=1, scratch=scratch, at_once=1)


KILLED = """
import sys
from types import SimpleNamespace
from pathlib import Path
from tests.tasks.writing.test_stage import write
write(SimpleNamespace(url=sys.argv[1]), Path(sys.argv[2]), 12)
"""


@pytest.mark.integration
def test_a_killed_stage_goes_on_without_a_request_twice(tmp_path: Path) -> None:
    held = 6

    def script(number: int, _: dict[str, Any]) -> Reply:
        if held and number > held:
            wait_until(lambda: not held, "the kill")
        return Reply(200, GOOD)

    with chat_server(script) as chat:
        command = [sys.executable, "-c", KILLED, chat.url, str(tmp_path)]
        with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(Path.cwd())}) as process:
            wait_until(lambda: len(chat.asked) == held + 2, "requests in flight")
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
        held = 0
        assert write(chat, tmp_path, 12).num_rows == 12
        assert len(chat.asked) == 12 + 2  # the two that were in flight were never answered
        assert write(chat, tmp_path, 12).num_rows == 12
        assert len(chat.asked) == 14
    titles = [json.dumps(body["messages"][1]) for _, _, body in chat.asked]
    assert len(set(titles)) == 12
