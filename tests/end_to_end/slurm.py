"""A Slurm of two nodes on this machine, whose daemons end with the block."""

import getpass
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.patience import running, wait_until
from tests.storage.object_store import free_port

NODES = ("one", "two")
PARTITION = "long"


def _configuration(folder: Path) -> str:
    host, (controller, *own) = socket.gethostname(), (free_port() for _ in range(3))
    return f"""ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=600
NodeName=DEFAULT CPUs=8 RealMemory=64000
NodeName={",".join(NODES)} NodeHostName={host} NodeAddr=127.0.0.1 Port=[{own[0]},{own[1]}]
PartitionName={PARTITION} Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def slurm(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield an environment in which Slurm's commands reach it. Skips where it cannot run."""
    if lacking := [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]:
        pytest.skip(f"no {', '.join(lacking)} on this machine: apt-get install slurm-wlm munge")
    if getpass.getuser() != "root":
        pytest.skip("Slurm's daemons start the jobs of users, which root may")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True)))
        (folder / "state").mkdir()
        (folder / "key").write_bytes(secrets.token_bytes(1024))
        (folder / "key").chmod(0o400)
        (folder / "slurm.conf").write_text(_configuration(folder))
        own = {**environment, "SLURM_CONF": str(folder / "slurm.conf")}

        daemons = []

        def start(name: str, *command: str) -> None:
            daemons.append(stack.enter_context(running(command, folder / f"{name}.log", folder, own)))

        files = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
        files += [f"--key-file={folder}/key", f"--socket={folder}/socket"]
        start("munged", "munged", "--foreground", "--force", *files)
        wait_until((folder / "socket").exists, "munged", (folder / "munged.log").read_text)
        start("slurmctld", "slurmctld", "-D", "-c")
        for node in NODES:
            start(node, "slurmd", "-D", "-N", node)

        def logs() -> str:
            return "\n".join(log.read_text() for log in folder.glob("*.log"))

        def idle() -> bool:
            assert not any(daemon.poll() for daemon in daemons), logs()
            return _said(own, "sinfo", "-h", "-t", "idle", "-o", "%D") == str(len(NODES))

        wait_until(idle, "the nodes", logs)
        try:
            yield own
        finally:
            subprocess.run(["scancel", "--user", "root"], env=own, check=False)
            wait_until(lambda: not jobs(own), "the end of the jobs", logs)


def jobs(environment: dict[str, str]) -> list[str]:
    """The numbers of the jobs that wait, run or end."""
    return _said(environment, "squeue", "-h", "-o", "%i").split()


def _said(environment: dict[str, str], *command: str) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()
