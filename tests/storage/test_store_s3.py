"""The store on a real S3-compatible server, also where that fails and dawdles."""

import json
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest

from storage.errors import BudgetSpentError, CorruptShardError, RootBusyError, StorageError
from storage.leases import LOCK, Lease, holder, leased
from storage.recipes import find_record, gather, save_record, set_aside
from storage.root import root_lock
from storage.schemas import FEATURES
from storage.spending import Account, Ledger, spent, this_month
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.recipe import Recipe
from tasks.engine.shard import make_shard
from tests.patience import PATIENCE, output_of, wait_until
from tests.storage.object_store import BUCKET, Proxy, proxy, uri
from tests.storage.test_store import NAME, documents, features, record_of

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def between(s3_server: int) -> Iterator[Proxy]:
    with proxy(s3_server) as between:
        yield between


@pytest.fixture
def store(between: Proxy, s3: int) -> Store:
    """A store of the test's own, behind a proxy that passes everything on."""
    between.failing, between.failures, between.seconds, between.failed, between.dropped = set(), None, 0.0, 0, set()
    between.seen = lambda method, path: None
    return Store(uri(between.port, uuid.uuid4().hex))


def test_a_shard_on_s3_is_the_same_file_as_on_local_disk(store: Store, tmp_path: object) -> None:
    store.check_writable()
    written = store.write_table(NAME, features(1000), FEATURES)
    assert written == Store(str(tmp_path)).write_table(NAME, features(1000), FEATURES)
    assert store.read_table(NAME, written.sha256).equals(features(1000))
    assert pa.Table.from_batches(store.read_batches(NAME, written.sha256)).equals(features(1000))
    assert store.sizes("features") == {"part-00000.abc.parquet": written.bytes}
    assert store.sizes("nothing") == {}


def test_row_groups_and_records_are_found_on_s3_and_damage_is_set_aside(store: Store) -> None:
    record = record_of(store, documents([2, 0, 2]), 0)
    save_record(store, record)
    assert find_record(store, store.sizes("documents"), "documents", 0, record.key) == record
    part = gather([record], 2)[0]
    assert part.read(store).column("url").to_pylist() == ["http://a/0", "http://a/2"]
    data = store.read_bytes(record.path)
    store.write_bytes(record.path, data[: len(data) // 2])
    with pytest.raises(CorruptShardError, match="row group 1 cannot be read") as damage:
        part.read(store)
    set_aside(store, damage.value)
    assert list(store.sizes("documents")) == [f"part-00000.{record.key}.parquet.damaged"]
    store.delete_folder("documents")
    assert store.sizes("documents") == {}
    with pytest.raises(CorruptShardError, match="the file is gone"):
        part.read(store)


def test_the_endpoint_may_stand_in_the_environment(store: Store, s3: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3}")
    elsewhere = Store(f"s3://{BUCKET}/by-environment")
    elsewhere.write_bytes("a/file", b"seen")
    assert Store(uri(s3, "by-environment")).read_bytes("a/file") == b"seen"


def test_a_missing_bucket_and_a_password_in_the_uri_are_named_before_work_starts(store: Store, s3: int) -> None:
    missing = Store(uri(s3, "folder").replace(f"//{BUCKET}/", "//missing/"))
    with pytest.raises(StorageError, match=r"root 's3://missing/folder.* cannot be written: .*NO_SUCH_BUCKET"):
        missing.check_writable()
    with pytest.raises(StorageError, match="the root's URI holds a password") as refused:
        Store("s3://name:hush@bucket/folder")
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("mebibytes", [1, 30])
def test_a_failing_write_shows_no_half_object(store: Store, mebibytes: int) -> None:
    with pytest.raises(RuntimeError, match="broke"), store.writing("a/file") as sink:
        sink.write(bytes(mebibytes << 20))
        raise RuntimeError("broke")
    assert store.sizes("a") == {}


@pytest.mark.parametrize("when", ["POST", "PUT"])
@pytest.mark.parametrize("mebibytes", [0, 12])
def test_an_interrupted_upload_leaves_the_old_file_or_the_new_one(
    store: Store, between: Proxy, when: str, mebibytes: int
) -> None:
    """Ctrl-C comes while the upload is being opened, or while it is being written."""
    old, new = b"the manifest before", b"the manifest after" + bytes(mebibytes << 20)
    store.write_bytes("a/file", old)
    script = (
        "import sys; from storage.store import Store\n"
        "new = b'the manifest after' + bytes(int(sys.argv[2]) << 20)\n"
        "try:\n    Store(sys.argv[1]).write_bytes('a/file', new)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", script, store.root, str(mebibytes)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )

    def interrupt(method: str, path: str) -> None:
        if method == when:
            between.seen = lambda method, path: None
            writer.send_signal(signal.SIGINT)
            time.sleep(0.5)  # for it to be heard while this request is under way

    between.seen = interrupt
    assert writer.communicate(timeout=PATIENCE)[0] == b"interrupted\n"
    assert store.read_bytes("a/file") in (old, new)


def test_a_thread_whose_start_is_interrupted_uploads_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write_bytes("a/file", b"before")
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.write_bytes("a/file", b"after")
    for thread in threading.enumerate():
        if thread.name.startswith("upload"):
            thread.join(PATIENCE)
    assert store.read_bytes("a/file") == b"before"


def test_a_few_errors_of_the_server_are_ridden_out(store: Store, between: Proxy) -> None:
    between.failing, between.failures, between.seconds = {"PUT", "POST", "GET", "HEAD"}, 4, 0.05
    store.write_bytes("a/file", b"written")
    between.failures = 3
    assert store.read_bytes("a/file") == b"written"
    assert between.failed == 7


@pytest.mark.slow  # the client tries ten times before it gives up
def test_a_server_that_only_fails_is_named_and_its_shards_are_not_called_damaged(store: Store, between: Proxy) -> None:
    record = record_of(store, documents([0]), 0)
    between.failing = {"GET"}
    for read in (
        lambda: store.read_table(record.path, record.written.sha256),
        lambda: gather([record], 0)[0].read(store),
        lambda: store.sizes("documents"),
    ):
        with pytest.raises(StorageError, match=r"documents.* could not be (read|listed): .*AWS Error") as failure:
            read()
        assert not isinstance(failure.value, CorruptShardError)
    between.failing = {"PUT"}
    with pytest.raises(StorageError, match=r"a/file could not be written: .*AWS Error"):
        store.write_bytes("a/file", bytes(12 << 20))
    between.failing = set()
    assert store.sizes("a") == {}
    assert gather([record], 0)[0].read(store).num_rows == 1


@pytest.fixture
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that are renewed and lapse within seconds."""
    for name, seconds in {"RENEW_SECONDS": 0.5, "LEASE_SECONDS": 3.0, "WATCH_SECONDS": 0.1}.items():
        monkeypatch.setattr(f"storage.root.{name}", seconds)


def test_a_lease_keeps_a_second_run_out_and_is_let_go(store: Store, short_lease: None) -> None:
    with (
        root_lock(store),
        pytest.raises(RootBusyError, match="another build is running on root 's3://"),
        root_lock(store),
    ):
        pass
    assert not store.exists(LOCK)


@pytest.mark.parametrize("written", [b'{"pid": 1, "host": "h", "time": 0}', b'{"time": 4e9}', b"no lease", None])
def test_a_lease_that_nobody_renews_is_taken_over(store: Store, written: bytes | None, short_lease: None) -> None:
    """Its holder died, a moment ago as well (None); or the clock jumped, and its time is of the past or the future."""
    fresh = json.dumps({"pid": 1, "host": "h", "time": time.time(), "token": "a"}).encode()
    store.write_bytes(LOCK, written or fresh)
    with root_lock(store):
        assert store.read_bytes(LOCK) != (written or fresh)


def test_a_lease_of_another_clock_that_is_renewed_is_respected(
    store: Store, short_lease: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.root.time.time", iter(range(4_000_000_000)).__next__)
    with root_lock(store), pytest.raises(RootBusyError), root_lock(store):
        pass


HOLDER = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # before Arrow's threads begin, which inherit it
import storage.root
from storage.errors import RootBusyError
from storage.store import Store
storage.root.RENEW_SECONDS = 0.5
store = Store(sys.argv[1])
with storage.root.root_lock(store):
    store.write_bytes("registry/champion.json", b"mine")
    print("held", flush=True)
    signal.sigwait({signal.SIGUSR1})
    for change in (
        lambda: store.write_bytes("registry/champion.json", b"stale"),
        lambda: store.delete("registry/champion.json"),
        lambda: store.rename("registry/champion.json", "elsewhere"),
        lambda: store.delete_folder("registry"),
    ):
        try:
            change()
        except RootBusyError as error:
            print(error, flush=True)
"""


CONDITIONS = {"if-match", "if-none-match"}


@pytest.mark.parametrize(("ended", "dropped"), [(False, set()), (True, set()), (False, CONDITIONS)])
def test_a_holder_that_was_paused_for_too_long_changes_nothing_any_more(
    store: Store, between: Proxy, short_lease: None, caplog: pytest.LogCaptureFixture, *, ended: bool, dropped: set[str]
) -> None:
    """It is really stopped; another takes the root over meanwhile, and goes on, or has ended when it wakes up; also
    where the server ignores conditions, of which the second is warned."""
    between.dropped = dropped
    first = subprocess.Popen([sys.executable, "-c", HOLDER, store.root], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        first.send_signal(signal.SIGSTOP)
        with ExitStack() as second:
            second.enter_context(root_lock(store))
            store.write_bytes("registry/champion.json", b"theirs")
            if ended:
                second.close()
            first.send_signal(signal.SIGUSR1)
            first.send_signal(signal.SIGCONT)
            said = output_of(first)[0].splitlines()
        whom = "a run that has ended since" if ended else "another build is running on root"
        assert len(said) == 4
        assert all(f"was taken over, nothing more is written: {whom}" in line for line in said)
        assert store.read_bytes("registry/champion.json") == b"theirs"
        assert store.names() == ["registry"]
        warned = "ignores conditions of writes (it ignores them): a run that is paused" in caplog.text
        assert warned == bool(dropped)
    finally:
        first.kill()
        first.wait()


WRITER = """
import sys
import storage.root
from storage.errors import RootBusyError
from storage.store import Store
storage.root.RENEW_SECONDS = 1000
store = Store(sys.argv[1])
with storage.root.root_lock(store):
    if "over" in sys.argv:
        store.write_bytes("registry/champion.json", b"mine")
    print("held", flush=True)
    sys.stdin.readline()
    try:
        if "delete" in sys.argv:
            store.delete("registry/champion.json")
        elif "folder" in sys.argv:
            store.delete_folder("registry")
        else:
            store.write_bytes("registry/champion.json", b"stale" + bytes(20 << 20 if "large" in sys.argv else 0))
        print("written", flush=True)
    except RootBusyError as error:
        print(error, flush=True)
"""


@pytest.mark.parametrize(
    "how", [["new"], ["over"], ["new", "large"], ["over", "large"], ["over", "delete"], ["over", "folder"]]
)
def test_a_holder_stopped_between_its_look_at_the_lease_and_its_write_changes_nothing(
    store: Store, between: Proxy, short_lease: None, how: list[str]
) -> None:
    """The moment that looks alone leave open."""
    first = subprocess.Popen(
        [sys.executable, "-c", WRITER, store.root, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdin is not None
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        stopped = Event()

        def stop(method: str, path: str) -> None:
            if method == "GET" and LOCK in path:
                between.seen = lambda method, path: None
                first.send_signal(signal.SIGSTOP)
                stopped.set()

        between.seen = stop
        first.stdin.write("now\n")
        first.stdin.flush()
        assert stopped.wait(PATIENCE)
        with root_lock(store):
            store.write_bytes("registry/champion.json", b"theirs")
            first.send_signal(signal.SIGCONT)
            said = output_of(first)[0].splitlines()
        assert len(said) == 1
        assert "the lease of the root expired and was taken over, nothing more is written: another build" in said[0]
        assert store.read_bytes("registry/champion.json") == b"theirs"
    finally:
        first.kill()
        first.wait()


def test_of_two_runs_that_find_the_root_free_one_gets_it(store: Store, between: Proxy, s3: int) -> None:
    def take_first(method: str, path: str) -> None:
        if method == "PUT" and path.split("?")[0].endswith(LOCK):
            between.seen = lambda method, path: None
            Store(store.root.replace(str(between.port), str(s3))).write_bytes(LOCK, b'{"pid": 7, "host": "other"}')

    between.seen = take_first
    with pytest.raises(RootBusyError, match="process 7 on other"), root_lock(store):
        pass


def test_a_job_of_a_run_that_has_lost_its_lease_writes_nothing(store: Store) -> None:
    """In a process that does not hold the lease itself."""
    lease = Lease("a", conditional=True)
    job = Job(
        root=store.root,
        lease=lease,
        recipe=Recipe(FEATURES, lambda: features(3)),
        shard=0,
        key="abc",
        inputs={},
        digests={},
    )
    store.write_bytes(LOCK, holder(lease.token))
    record = make_shard(job)
    store.write_bytes(LOCK, holder("b"))
    with pytest.raises(RootBusyError, match="was taken over, nothing more is written"):
        make_shard(replace(job, key="def"))
    assert set(store.sizes("features")) == {"part-00000.abc.parquet", "part-00000.abc.json"}
    assert store.read_table(record.path, record.written.sha256).equals(features(3))


def test_a_lease_that_was_taken_over_is_its_new_holders(
    store: Store, short_lease: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Its former holder, which lay still for longer than a lease, neither renews nor deletes it."""
    successor = json.dumps({"pid": 2, "host": "other", "time": time.time(), "token": "b"}).encode()
    with root_lock(store):
        store.write_bytes(LOCK, successor)
        wait_until(lambda: "taken over" in caplog.text, "the former holder's look at its lease")
        # Not whose it is: this server empties an object that is replaced while it is read.
        assert store.read_bytes(LOCK) == successor
    assert store.read_bytes(LOCK) == successor
    with root_lock(store):  # and a holder that comes to the end before it looks deletes nothing either
        store.write_bytes(LOCK, successor)
    assert store.read_bytes(LOCK) == successor


def test_what_is_spent_stands_on_the_store_and_counts_for_other_processes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once where the last look is long ago, else when its process ends."""
    with Account(store.root, month_dollars=1.0).ledger() as one:
        one.add("search", 0.25)
        one.add("search", 0.5)
        assert spent(store, this_month())[0]["search"] == 0.25
    assert spent(store, this_month())[0]["search"] == 0.75
    with (
        Account(store.root, month_dollars=1.0).ledger() as later,
        pytest.raises(BudgetSpentError, match=r"budget.month_dollars is 1: 0.75 are spent, and 0.5 more would exceed"),
    ):
        later.add("search", 0.5)
    monkeypatch.setattr("storage.spending._REMOTE_SECONDS", 0.0)
    with Account(store.root, month_dollars=1.0).ledger() as eager:
        eager.add("search", 0.25)
        assert spent(store, this_month())[0]["search"] == 1.0


def test_a_run_that_has_lost_its_lease_spends_nothing_more(store: Store) -> None:
    store.write_bytes(LOCK, holder("b"))
    with leased(store.root, Lease("a", conditional=True)):
        ledger = Ledger(Account(store.root))
        with pytest.raises(RootBusyError, match="taken over"):
            ledger.add("search", 0.25)
    assert not spent(store, this_month())[0]
