"""Turns at sites: spaced at every place, whoever takes them; the rule with a clock of the test's own."""

import heapq
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.fetching.turns import _FREE, HOLD_SECONDS, LONGEST_LINE, MachineTurns, MemoryTurns, RequestTurn, State, take
from tests.patience import PATIENCE


def test_a_turn_is_held_until_it_is_given_back() -> None:
    wait, states = take([_FREE, _FREE], [1.0, 5.0], 100.0)
    assert (wait, states) == (0.0, [(100.0 + HOLD_SECONDS, 0.0)] * 2)
    # The next one is told to come after a delay, although the holder could have the turn for longer.
    assert take(states[:1], [1.0], 100.2) == (pytest.approx(1.0), [(100.0 + HOLD_SECONDS, pytest.approx(102.2))])
    assert take(states[:1], [1.0], 100.0 + HOLD_SECONDS)[0] == 0.0  # the holder has died


class Given:
    """Turns that only remember what was given back."""

    def __init__(self) -> None:
        self.delays: list[dict[str, float]] = []

    def give(self, delays: dict[str, float]) -> None:
        self.delays.append(dict(delays))


def test_a_host_that_asks_for_a_pause_delays_itself_alone() -> None:
    turns, delays = Given(), {"host a.x.test": 1.0, "domain x.test": 0.5, "address 10.0.0.1": 0.1}
    turn = RequestTurn(turns, None, delays)  # type: ignore[arg-type]
    turn.pause(30.0)
    turn.pause(0.0)
    assert turns.delays == [{"host a.x.test": 30.0}]


def test_no_place_is_taken_where_one_of_them_is_busy() -> None:
    busy, free = (103.0, 0.0), (99.0, 0.0)
    wait, states = take([busy, free], [4.0, 1.0], 100.0)
    assert wait == 3.0
    assert states == [(103.0, 107.0), free]


def test_who_waits_has_a_place_in_line_up_to_a_limit() -> None:
    state: State = (101.0, 0.0)
    waits = []
    for _ in range(LONGEST_LINE + 5):
        wait, [state] = take([state], [1.0], 100.0)
        waits.append(wait)
    assert waits[:3] == [1.0, 2.0, 3.0]
    assert max(waits) == waits[-1] == LONGEST_LINE
    # Who comes when the turn is about to be free waits for it, without a place.
    assert take([(101.0, 150.0)], [1.0], 100.9) == (pytest.approx(0.1), [(101.0, 150.0)])


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2), st.sets(st.sampled_from("abc"), min_size=1)), max_size=25),
    st.floats(0.1, 2),
)
def test_requests_arrive_spaced_at_every_place_and_each_gets_its_turn(
    requests: list[tuple[float, float, set[str]]], delay: float
) -> None:
    """A request comes at a time, connects for a while, and is sent."""
    states = dict.fromkeys("abc", _FREE)
    sent: dict[str, list[float]] = {place: [] for place in states}
    events = [(come, number, False) for number, (come, _, _) in enumerate(requests)]
    heapq.heapify(events)
    for _ in range(100_000):
        if not events:
            break
        now, number, connected = heapq.heappop(events)
        _, seconds, places = requests[number]
        if connected:
            for place in places:
                states[place] = now + delay, states[place][1]
                sent[place].append(now)
            continue
        wait, changed = take([states[place] for place in places], [delay] * len(places), now)
        states.update(zip(places, changed, strict=True))
        heapq.heappush(events, (now + wait, number, False) if wait else (now + seconds, number, True))
    assert not events
    assert sum(map(len, sent.values())) == sum(len(places) for _, _, places in requests)
    assert all(later - earlier >= delay - 1e-9 for times in sent.values() for earlier, later in pairwise(times))


@pytest.mark.parametrize("kind", [MemoryTurns, MachineTurns])
def test_tables_keep_places_apart(kind: type[MemoryTurns] | type[MachineTurns], tmp_path: Path) -> None:
    turns = kind() if kind is MemoryTurns else MachineTurns(tmp_path)
    assert turns.take({"host a": 50.0, "domain a": 50.0}) == 0.0
    assert turns.take({"host b": 50.0, "domain a": 50.0}) > 0.0
    assert turns.take({"host b": 50.0}) == 0.0
    turns.give({"host a": 0.0, "domain a": 800.0})
    assert turns.take({"host a": 50.0}) == 0.0
    assert turns.take({"domain a": 500.0}) > 0.0


def test_places_without_anybody_waiting_take_no_memory() -> None:
    turns = MemoryTurns(kept=100)
    for number in range(1_001):
        turns.take({f"host {number}": 1.0})
        turns.give({f"host {number}": 0.0})
    assert len(turns._states) <= 101


def test_threads_and_processes_of_a_machine_share_its_file(tmp_path: Path) -> None:
    code = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "from tasks.fetching.turns import MachineTurns\n"
        "turns = MachineTurns(Path(sys.argv[1]))\n"
        "def work():\n"
        "    for _ in range(3):\n"
        "        while wait := turns.take({'domain a': 0.05}):\n"
        "            time.sleep(wait)\n"
        "        at = time.monotonic()\n"
        "        with open(sys.argv[2], 'a') as log:\n"
        "            log.write(f'{at}\\n')\n"
        "        turns.give({'domain a': 0.05})\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
    )
    log = tmp_path / "log"
    call = [sys.executable, "-c", code, str(tmp_path), str(log)]
    running = [subprocess.Popen(call, cwd=Path(__file__).parents[3]) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in running] == [0, 0]
    times = sorted(map(float, log.read_text().split()))
    assert len(times) == 12
    assert all(later - earlier >= 0.05 for earlier, later in pairwise(times))


@pytest.mark.parametrize("content", [b"\xff" * 16, b"\x7f" * 16, b"short"])
def test_strange_time_is_no_wait(content: bytes, tmp_path: Path) -> None:
    turns = MachineTurns(tmp_path)
    file = os.open(tmp_path / "sites", os.O_RDWR | os.O_CREAT)
    os.pwrite(file, content, turns._entry("host a"))
    os.close(file)
    assert turns.take({"host a": 1.0}) == 0.0
