"""The ledger of a root: what is added is there for the next process, whatever kills this one, and limits hold."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storage import spending
from storage.errors import BudgetSpentError, StorageError
from storage.sealed import seal
from storage.spending import Account, Ledger, spent, this_month
from storage.store import Store


def test_runs_and_processes_add_up_and_a_kill_forgets_nothing(tmp_path: Path) -> None:
    first, second = Account(str(tmp_path)), Account(str(tmp_path))
    with first.ledger() as one, first.ledger() as other, second.ledger() as later:
        one.add("search", 0.25)
        other.add("search", 0.5)
        other.add("search", -0.125)
        later.add("endpoints", 2.0)
    killed = (
        "import os, signal, sys; from storage.spending import Account, Ledger\n"
        f"Ledger(Account(sys.argv[1], run='{'a' * 32}')).add('endpoints', 4.0)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(tmp_path)]).returncode == -signal.SIGKILL
    everybody, of_first = spent(Store(str(tmp_path)), this_month(), first.run)
    assert +everybody == {"search": 0.625, "endpoints": 6.0}
    assert +of_first == {"search": 0.625}
    assert not spent(Store(str(tmp_path)), "1999-01")[0]


def test_a_damaged_file_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for amount in (1.0, 2.0):
        Ledger(Account(str(tmp_path))).add("search", amount)
    files = sorted((tmp_path / "spending" / this_month()).iterdir(), key=lambda file: b"2.0" in file.read_bytes())
    files[0].write_bytes(files[0].read_bytes().replace(b"1.0", b"0.0"))
    assert +spent(Store(str(tmp_path)), this_month())[0] == {"search": 2.0}
    assert files[0].name in caplog.text


def test_money_is_refused_before_it_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spending, "_SECONDS", 0.0)  # else what another spends is known a second later
    one, other = (Ledger(Account(str(tmp_path), month_dollars=1.0)) for _ in range(2))
    one.add("search", 0.5)
    other.add("search", 0.3)
    with pytest.raises(BudgetSpentError, match=r"budget.month_dollars is 1: 0.8 are spent, and 0.3 more would exceed"):
        one.add("endpoints", 0.3)
    one.add("endpoints", 0.2)
    assert +spent(Store(str(tmp_path)), this_month())[0] == {"search": 0.8, "endpoints": 0.2}


def test_a_month_begins_with_nothing_spent_and_a_run_goes_on_with_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the end of a year; also in a process that starts in the new month."""
    now = ["2026-11"]
    monkeypatch.setattr(spending, "this_month", lambda: now[0])
    account = Account(str(tmp_path), run_dollars=1.0, month_dollars=0.75)
    other_run = Ledger(Account(str(tmp_path), run_dollars=1.0, month_dollars=0.75))
    ledger = Ledger(account)
    ledger.add("search", 0.25)
    other_run.add("search", 0.25)
    now[0] = "2026-12"
    ledger.add("search", 0.25)
    now[0] = "2027-01"
    for one in (ledger, Ledger(account)):
        with pytest.raises(BudgetSpentError, match=r"budget.run_dollars is 1: 0.5 are spent, and 0.625 more"):
            one.add("search", 0.625)
    ledger.add("search", 0.375)
    other_run.add("search", 0.25)
    with pytest.raises(BudgetSpentError, match=r"budget.month_dollars is 0.75: 0.625 are spent, and 0.25 more"):
        other_run.add("search", 0.25)
    assert +account.spent(Store(str(tmp_path)), now[0])[1] == {"search": 0.875}


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -5.0, True, "0", None])
def test_an_amount_that_is_none_switches_no_limit_off(tmp_path: Path, amount: object) -> None:
    limited = Account(str(tmp_path), month_dollars=1.0)
    Ledger(limited).add("search", 0.9)
    name = f"spending/{this_month()}/{'b' * 32}-01234567.json"
    Store(str(tmp_path)).write_bytes(name, seal({"search": amount}))
    with pytest.raises(StorageError, match=rf"{name} below .* expected a number of at least 0.* budget is unknown"):
        Ledger(Account(str(tmp_path), month_dollars=1.0)).add("search", 0.5)
    assert spent(Store(str(tmp_path)), this_month())[0]["search"] == 0.9, "without a limit a warning is enough"


def test_what_was_not_needed_in_the_end_is_taken_off_the_month_that_counted_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["2026-11"]
    monkeypatch.setattr(spending, "this_month", lambda: now[0])
    ledger = Ledger(Account(str(tmp_path)))
    ledger.add("endpoints", 0.75)
    now[0] = "2026-12"
    ledger.add("endpoints", 0.25)
    ledger.add("endpoints", -0.5)
    store = Store(str(tmp_path))
    assert [spent(store, month)[0]["endpoints"] for month in ("2026-11", "2026-12")] == [0.5, 0.0]
    ledger.add("endpoints", -9.0)
    assert [spent(store, month)[0]["endpoints"] for month in ("2026-11", "2026-12")] == [0.0, 0.0]
