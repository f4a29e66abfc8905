"""A corpus built on a Dask cluster by its address: client and workers share only the root, on an S3 server."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.tiny_runs import TINY, shards
from storage.store import Store
from tests.end_to_end.namespaces import TEMPORARY, machine
from tests.end_to_end.test_s3 import shards_on
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import CREDENTIALS, free_port, object_store, uri

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("namespaces")
def test_workers_that_share_no_disk_make_what_one_machine_makes(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    private = {"PREFECT_HOME": f"{TEMPORARY}/prefect", "TMPDIR": TEMPORARY}
    environment = {**tiny_environment, **CREDENTIALS, **private}
    logs = {name: tmp_path / name for name in ("scheduler", "one", "two", "client")}
    with object_store() as store, ExitStack() as stack:
        root, port = uri(store, "data"), free_port()
        listen = ("--host=127.0.0.1", f"--port={port}", "--no-dashboard")
        stack.enter_context(machine(logs["scheduler"], environment, "dask", "scheduler", *listen))
        wait_until(
            lambda: "Scheduler at:" in logs["scheduler"].read_text(), "the scheduler", logs["scheduler"].read_text
        )
        address = f"tcp://127.0.0.1:{port}"
        for name in ("one", "two"):
            command = ("dask", "worker", address, "--nthreads=1", f"--name={name}", "--no-dashboard")
            stack.enter_context(machine(logs[name], environment, *command))
        build = ("flows", "corpus", "--root", root, *TINY, "--engine.kind=dask", f"--engine.dask-address={address}")
        with machine(logs["client"], environment, *build) as client:
            assert client.wait(PATIENCE) == 0, logs["client"].read_text()[-6000:]
        made = shards_on(Store(root))
        stages = {name.partition("/")[0] for name in made}
        assert {"intake", "pages", "documents", "paragraphs", "features", "vocabulary"} <= stages
        expected = shards(undisturbed)
        assert made == {name: digest for name, digest in expected.items() if name.partition("/")[0] in stages}
    for name in ("one", "two"):
        assert logs[name].read_text().count("Finished in state Completed()") > 2, logs[name].read_text()[-3000:]
