from dataclasses import dataclass

import pytest

from flows.running import display
from flows.running.display import ProgressLog


@dataclass(frozen=True)
class Half:
    share: float = 0.5

    def __str__(self) -> str:
        return "half"


def test_outside_a_run_nothing_is_told_to_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(display, "create_progress_artifact", lambda *given, **named: told.append(given))
    log = ProgressLog("pages")
    for _ in range(3):
        log(Half())
    assert told == []
