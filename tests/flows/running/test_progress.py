from dataclasses import dataclass

import pytest

from flows.running import progress
from flows.running.progress import ProgressLog


@dataclass(frozen=True)
class Half:
    share: float = 0.5

    def __str__(self) -> str:
        return "half"


def test_outside_a_run_nothing_is_told_to_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(progress, "create_progress_artifact", lambda *given, **named: told.append(given))
    log = ProgressLog("pages")
    for _ in range(3):
        log(Half())
    assert told == []
