"""A language model as one more system of a build: its summaries, scores and report, a repeat, and what a plan says."""

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from flows import dag
from flows.config import BuildConfig
from flows.running.building import checked, show_plan, writer_line
from flows.running.session import Session
from flows.running.writer_trial import try_writer
from storage.spending import spent, this_month
from storage.store import Store
from tasks.chat.client import ChatError
from tasks.engine.stage import Executor, Run
from tasks.sources.choice import running_web
from tests.flows.command_line import settings_of
from tests.flows.recording import walked
from tests.tasks.chat.chat_server import Chat, Reply, chat_server, said, sentences
from tests.test_stage_outputs import PROJECT

TINY = str(PROJECT / "tests" / "stage_outputs.yaml")


def ranked(session: Session) -> None:
    dag.corpus(session), dag.ranked(session)


@pytest.fixture(scope="module")
def ranked_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny corpus, its paragraphs ranked, for tests that copy it."""
    root = tmp_path_factory.mktemp("ranked")
    walk(settings_of(f"--root={root}", f"--config={TINY}").build, ranked)
    return root


def config_of(root: Path, chat: Chat, *more: str) -> BuildConfig:
    writer = [f"--writer.url={chat.url}", "--writer.model=tiny-chat", "--writer.context=8192", *more]
    return settings_of(f"--root={root}", f"--config={TINY}", *writer).build


def walk(config: BuildConfig, wiring: Callable[[Session], Any] = dag.report) -> Session:
    executor = Executor()
    with running_web(config.source) as connect_to:
        session = Session(config, executor, Run(Store(config.root), executor), connect_to)  # type: ignore[arg-type]
        session.once(wiring)
    return session


def only_written(session: Session) -> None:
    dag.evaluation.written(session, dag.corpus(session), dag.ranked(session))


def rows_of(session: Session, stage: str) -> list[dict[str, Any]]:
    return [
        row
        for one in session.run.stages[stage].in_order
        for row in session.run.store.read_table(one.path, one.written.sha256).to_pylist()
    ]


def first_sentence(number: int, body: dict[str, Any], before: str = "") -> tuple[int, str]:
    """What a model that copies writes: the beginning of the first passage, and a lie. `before`: words before it."""
    data = json.loads(body["messages"][1]["content"].rpartition("\n\n")[0])
    said = data["passages"][0]["text"].partition(". ")[0]
    return 200, sentences((f"{before}{said}.", [1]), ("It was built in 1066 by Wilhelm Unheard.", [1]))


@pytest.mark.integration
def test_a_build_has_its_summaries_scores_and_report_and_repeats_without_a_request(
    ranked_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(ranked_root, tmp_path, dirs_exist_ok=True)
    with chat_server(first_sentence) as chat:
        config = config_of(tmp_path, chat)
        session = walk(config)
        asked = len(chat.asked)
        written, rows = session.run.stages["written"], rows_of(session, "written")
        assert rows and {row["system"] for row in rows} == {"tiny-chat"}
        assert not any("1066" in row["summary"] for row in rows)
        scores = rows_of(session, "written_scores")
        supported = [row["value"] for row in scores if row["metric"] == "supported"]
        assert len(supported) == len(rows)
        assert {value for value, row in zip(supported, rows, strict=True) if row["summary"]} == {1.0}
        report = session.run.directories["reports"].record
        assert report is not None
        page = session.run.store.read_bytes(f"{report.path}/report.html").decode()
        assert "tiny-chat" in page and "may change under the same name" in page
        tally = sum((record.tally.get("requests", 0) for record in written.in_order), 0)
        assert tally == asked > 0
        again = walk(config).run
        assert again.finished
        assert try_writer(again, config) is None  # there is nothing to ask for
        marked = config_of(tmp_path, chat, "--writer.unsupported=marked")
        walk(marked, only_written)
    assert len(chat.asked) == asked  # other sentences are shown of the same answers


def test_a_plan_asks_whether_the_model_is_there_and_a_dry_run_does_not(tmp_path: Path) -> None:
    with chat_server(first_sentence) as chat:
        pass
    config = config_of(tmp_path, chat)
    show_plan(config, dag.report, Console(file=io.StringIO()))
    refused = pytest.raises(ChatError, match=r"writer\.url is .*expected a server that answers")
    with refused, checked(config, dag.report):
        pass


def test_a_build_asks_the_model_once_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(first_sentence) as chat, checked(config_of(tmp_path, chat), dag.report):
        assert len(chat.asked) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"a model without a name answered a trial request in \d+\.\d s: 1 sentences kept, 1 refused", line
    )


def test_what_the_trial_costs_is_spent(tmp_path: Path) -> None:
    """300 tokens read for 1,000 dollars a million, 20 written for 2,000."""
    answer = said('{"sentences": []}', usage={"prompt_tokens": 300, "completion_tokens": 20})
    with chat_server(lambda number, _: Reply(200, answer)) as chat:
        config = config_of(tmp_path, chat, "--writer.price-read=1000", "--writer.price-written=2000")
        with checked(config, dag.report):
            pass
    month, _ = spent(Store(config.root), this_month())
    assert month["endpoints"] == pytest.approx(0.3 + 0.04)


def test_an_error_in_an_answer_stops_a_build_before_it_starts(tmp_path: Path) -> None:
    with chat_server(lambda number, _: Reply(200, '{"error": "no such endpoint"}')) as chat:
        refused = pytest.raises(
            ChatError, match=r"tiny-chat at http://.* gave no answer: server_error: no such endpoint"
        )
        with refused, checked(config_of(tmp_path, chat), dag.report):
            pass


def test_settings_decide_the_key_and_tuning_does_not(tmp_path: Path) -> None:
    def keys(**settings: Any) -> set[str]:
        writer = {"url": "http://h/v1", "model": "m", **settings}
        _, jobs = walked(BuildConfig.model_validate({"writer": writer}), dag.report, tmp_path / "root")
        return {job.key for job in jobs if job.called == "written"}

    first = keys()
    assert first and keys(concurrency=9) == first
    for other in ({"model": "n"}, {"words": 80}, {"most_requests": 5}, {"unsupported": "marked"}):
        assert keys(**other).isdisjoint(first)


def test_a_build_without_a_writer_is_as_it_was(tmp_path: Path) -> None:
    assert "writer" not in BuildConfig().recipe()
    session, _ = walked(BuildConfig(), dag.report, tmp_path / "root")
    assert "written" not in session.run.stages


@pytest.mark.integration
def test_a_dry_run_says_requests_tokens_and_money(ranked_root: Path, tmp_path: Path) -> None:
    with chat_server(first_sentence) as chat:
        prices = ["--writer.price-read=1", "--writer.price-written=2"]
        config = config_of(tmp_path, chat, *prices)
        run = Run(Store(config.root), Executor(), planning=True)
        session = Session(config, Executor(), run, keeps_answers=False)  # type: ignore[arg-type]
        session.once(dag.report)
        line = writer_line(session.run, config)
        assert line == "Writer: requests, tokens and money are known once paragraphs are ranked."
        shutil.copytree(ranked_root, tmp_path, dirs_exist_ok=True)
        planned = Run(Store(config.root), Executor(), planning=True)
        again = Session(config, Executor(), planned, keeps_answers=False)  # type: ignore[arg-type]
        again.once(dag.report)
        line = writer_line(planned, config)
        assert (
            line is not None and line.startswith("Writer: tiny-chat, at most ") and "requests" in line and "$" in line
        )
        assert chat.asked == []
