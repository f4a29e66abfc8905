"""`torchrun` starts a command on two machines without a shared disk: they learn what one learns, also after a kill."""

import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import psutil
import pyarrow.fs as pafs
import pytest
import torch
from safetensors.torch import load

from storage.directories import newest_directory
from storage.store import Store
from tests.end_to_end.machine_training import STEPS, stage
from tests.end_to_end.namespaces import TEMPORARY, machine
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import CREDENTIALS, free_port, object_store, uri

pytestmark = [pytest.mark.slow, pytest.mark.integration]


def weights(root: str, step: int = STEPS) -> dict[str, torch.Tensor]:
    store = Store(root)
    record = newest_directory(store, "models/summarizer")
    assert record is not None
    assert record.metrics["steps"] == STEPS
    return load(store.read_bytes(f"{record.path}/checkpoints/step-{step:08d}/model.safetensors"))


def files(root: str) -> list[str]:
    store = Store(root)
    return [one.path for one in store.filesystem.get_file_info(pafs.FileSelector(store.path(""), recursive=True))]


@pytest.mark.usefixtures("namespaces")
def test_two_machines_learn_what_one_learns_also_after_each_was_lost(
    tmp_path: Path, tiny_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    logs = [tmp_path / "rank0", tmp_path / "rank1"]

    def said() -> str:
        return "\n".join(log.read_text(errors="replace")[-6000:] for log in logs)

    def steps() -> list[int]:
        return [int(step) for step in re.findall(r"^step (\d+)$", logs[0].read_text(), re.MULTILINE)]

    done = 0  # steps in the store
    with object_store() as port, ExitStack() as stack:
        root = uri(port, "data")
        environment = {**tiny_environment, **CREDENTIALS, "TMPDIR": TEMPORARY}

        def machines() -> list["subprocess.Popen[bytes]"]:
            meet = ("--nnodes=2", f"--rdzv-endpoint=127.0.0.1:{free_port()}", f"--rdzv-conf=timeout={PATIENCE:.0f}")
            command = ("-m", "tests.end_to_end.machine_training", root)
            return [
                stack.enter_context(
                    machine(log, environment, "torch.distributed.run", *meet, f"--node-rank={rank}", *command)
                )
                for rank, log in enumerate(logs)
            ]

        for lost in (1, 0):  # rank 0 is where the processes meet, and it alone writes
            members = machines()
            left = members.pop(1 - lost)
            wait_until(
                lambda left=left, done=done: left.poll() is not None or max(steps(), default=0) > done + 10,
                "step",
                said,
            )
            for member in (*psutil.Process(members[0].pid).children(recursive=True), psutil.Process(members[0].pid)):
                member.kill()
            assert left.wait(PATIENCE) == 1, said()
            assert done < steps()[0] <= steps()[-1] < STEPS
            (manifest,) = [name for name in files(root) if name.endswith(".snapshot/manifest.json")]
            done += 10 * lost  # rank 0 sends its last checkpoint when it ends, but not when it is killed
        both = machines()  # the disks of those before are gone
        assert [one.wait(PATIENCE) for one in both] == [0, 0], said()
        assert steps()[0] > done
        assert manifest not in files(root)
        together = weights(root)
        stage(str(tmp_path / "one"))
    expected, before = weights(str(tmp_path / "one")), weights(str(tmp_path / "one"), STEPS - 10)
    for name, tensor in expected.items():
        torch.testing.assert_close(together[name], tensor, rtol=1e-3, atol=1e-4, msg=name)
    assert max(float((before[name] - tensor).abs().max()) for name, tensor in expected.items()) > 1e-3
