"""After how long a run counts as dead: on SQLite signs of life come late."""

from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from flows import serve
from flows.running.operator import Operator
from flows.running.serve_options import options_of


@pytest.mark.parametrize(("database", "seconds"), [({}, 300), ({"DATABASE_URL": "postgresql://u:p@h/d"}, 120)])
def test_a_run_on_sqlite_may_be_silent_for_longer(
    database: dict[str, str], seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[timedelta] = []

    class AskedError(Exception):
        pass

    def automations(_to: Any, *, silence: timedelta, **_: Any) -> None:
        asked.append(silence)
        raise AskedError

    class Opened:
        @staticmethod
        def of(*_: Any, **__: Any) -> Any:
            return nullcontext()

    monkeypatch.setattr(serve, "listening", Opened.of)
    for name in ("start_server", "stop", "create_work_pool"):
        monkeypatch.setattr(serve, name, lambda *_, **__: None)
    monkeypatch.setattr(serve, "wait_for_api", lambda *_: True)
    monkeypatch.setattr(serve, "create_automations", automations)
    options = options_of("127.0.0.1", 0, "wikisum", database)
    with (
        pytest.raises(AskedError),
        serve.serving(options, Operator(), timedelta(hours=1), Console(quiet=True), upkeep=False),
    ):
        pass
    assert asked == [timedelta(seconds=seconds)]
