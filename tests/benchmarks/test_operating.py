"""The benchmark of what watching a build costs: what it counts is there, and is counted once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name

import pytest

from benchmarks import operating
from benchmarks.operating import PARTS, counted


def test_every_function_that_is_counted_is_in_its_module() -> None:
    for module, (_, functions) in PARTS.items():
        if not module.startswith("opentelemetry"):  # its packages may be missing
            assert all(callable(resolve_name(f"{module}:{name}")) for name in functions)


def test_time_within_another_part_and_within_a_block_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0]

    def spin(seconds: int) -> None:
        clock[0] += seconds

    inner = counted("inner", lambda: spin(2))

    @contextmanager
    def around() -> Iterator[None]:
        spin(10)
        yield
        inner()

    def outer() -> None:
        spin(1)
        inner()

    monkeypatch.setattr(operating.time, "thread_time", lambda: clock[0])
    for counts in (operating._seconds, operating._calls):
        counts.clear()
    counted("outer", outer)()
    with counted("block", around)():
        spin(100)
    assert operating._seconds == {"outer": 3, "block": 12}
    assert operating._calls == {"outer": 1, "block": 3}  # the call, the beginning and the end
