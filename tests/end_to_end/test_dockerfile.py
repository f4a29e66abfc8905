"""The steps of the Dockerfile, read from it and run without a builder: in a changed root over this machine's files,
whose Python and installed packages take the place of the base image. pip compares those with the lock instead of
fetching them."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from benchmarks.tiny_runs import PROJECT, TINY

pytestmark = [pytest.mark.slow, pytest.mark.integration]

# What is written lies in memory, above all that is there, and goes with the namespace.
_OVER = """
mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev && mount --rbind /proc /mnt/root/proc
exec chroot /mnt/root "$@"
"""
# In place of the base image: Python and its packages where any user can read them, and nobody with the user's number.
_BASE = f"""
set -e
chmod a+rx /root
! taken=$(getent passwd 1000 | cut -d: -f1) || test -z "$taken" || userdel "$taken"
{sys.executable} -m venv /usr/local/image
echo {sysconfig.get_path("purelib")} > $(echo /usr/local/image/lib/python*/site-packages)/base.pth
export PATH=/usr/local/image/bin:{sysconfig.get_path("scripts")}:/usr/sbin:/usr/bin:/sbin:/bin
"""


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in (PROJECT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    text = "\n".join(lines).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def as_shell(user: str, kind: str, rest: str) -> str:
    """One instruction for a shell that stands in the working directory."""
    if kind in ("FROM", "ARG", "USER"):
        return ""  # the base is above; arguments have no default; the user is that of later steps
    if kind == "ENV":
        return f"export {rest}"
    if kind == "WORKDIR":
        return f"mkdir -p {rest} && cd {rest}"
    if kind == "VOLUME":
        return f"test -d {rest}"
    if kind == "COPY":
        *options, to = shlex.split(rest)
        owner = [one.removeprefix("--chown=") for one in options if one.startswith("--chown=")]
        sources = [PROJECT / one for one in options if not one.startswith("--")]
        copied = [f"mkdir -p {to} && cp -r {one}{'/.' if one.is_dir() else ''} {to}" for one in sources]
        return "\n".join([*copied, *(f"chown -R {one} {to}" for one in owner)])
    assert kind == "RUN", f"{kind} {rest}"
    return f"{as_user(user)} sh -ec {shlex.quote(rest)}"


def as_user(user: str) -> str:
    return "" if user == "root" else f"runuser -u {user} --"


@pytest.mark.usefixtures("namespaces")
def test_the_steps_of_the_image_lead_to_its_command() -> None:
    user, script, command = "root", [_BASE], list[str]()
    for kind, rest in instructions():
        if kind == "CMD":
            command = json.loads(rest)
            continue
        user = rest if kind == "USER" else user
        script.append(as_shell(user, kind, rest))
    assert user != "root"
    script += [
        f"{as_user(user)} sh -ec 'id -un; pwd; touch /data/mine'",
        f"""{as_user(user)} python -c 'import flows; print(flows.__file__)'""",
        f"{as_user(user)} wikisum corpus --root /data/new --dry-run",
        f"{as_user(user)} {shlex.join(command)} --help",
    ]
    done = subprocess.run(
        ["unshare", "--mount", "--propagation=private", "sh", "-ec", _OVER, "sh", "sh", "-ec", "\n".join(script)],
        env={name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"{user}\n/app\n/app/flows/__init__.py\n" in done.stdout
    assert "paragraphs" in done.stdout
    assert f"prefect {' '.join(command[1:3])}" in done.stdout
    assert not Path("/app").exists()


def test_a_builder_makes_an_image_whose_user_builds(tmp_path: Path) -> None:
    """Needs the base image: from a registry, or one of its name that was made by hand. pip's settings are passed on."""
    if shutil.which("buildah") is None:
        pytest.skip("needs buildah: apt-get install buildah")
    base = next(rest for kind, rest in instructions() if kind == "FROM")
    image, container = f"localhost/wikisum-{os.getpid()}", f"wikisum-{os.getpid()}"

    def buildah(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["buildah", *arguments], capture_output=True, text=True, check=False)

    if (pulled := buildah("pull", "--policy=missing", base)).returncode:
        pytest.skip(f"{base} is not here and cannot be had: {pulled.stderr.strip().splitlines()[-1]}")
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    given = [f"--env={name}={value}" for name, value in pip.items()]
    given += [f"--volume={value}:{value}:ro" for value in pip.values() if value.startswith("/")]
    try:
        made = buildah("bud", "--isolation=chroot", "--pull-never", *given, f"--tag={image}", str(PROJECT))
        assert made.returncode == 0, (made.stdout + made.stderr)[-6000:]
        assert buildah("from", f"--name={container}", "--pull-never", image).returncode == 0
        (data := tmp_path / "data").mkdir()
        os.chown(data, 1000, 1000)
        # not /data: a folder that the image declares as a volume hides what is mounted there
        steps = ("id -un", "wikisum --help", "wikisum corpus --root /data/new --dry-run")
        script = "\n".join(["set -e", *steps, f"wikisum build --root /mine/tiny {shlex.join(TINY)}"])
        run = ("run", "--isolation=chroot", f"--volume={data}:/mine", container, "--", "sh", "-c", script)
        done = buildah(*run)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        assert done.stdout.startswith("wikisum\nUsage: wikisum COMMAND")
        assert "paragraphs" in done.stdout
        assert (data / "tiny" / "builds" / "latest.json").exists()
        assert {file.stat().st_uid for file in data.rglob("*")} == {1000}
    finally:
        buildah("rm", container)
        buildah("rmi", image)
