"""Pushing an export to a stand-in for the hub, by the command, with the real client."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from storage.errors import StorageError
from tasks.exchange.sharing import Sharing, share
from tests.tasks.exchange import corpus_root, hub_server
from tests.tasks.exchange.hub_server import Hub

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[3]
SHARE = """
import sys
from tasks.exchange.sharing import Sharing, share
print(share(Sharing(sys.argv[1], sys.argv[2], push=sys.argv[3])))
"""


@pytest.fixture
def hub() -> Iterator[Hub]:
    with hub_server.hub() as known:
        yield known


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "root"
    corpus_root.make_corpus(root)
    return root


def push(root: Path, to: Path, name: str, url: str) -> str:
    """Push as a user does, by the client's environment variables; return what was said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": url, "HF_TOKEN": hub_server.TOKEN, "HF_HOME": str(to.parent / "hf")}
    environment |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_XET": "1"}
    call = [sys.executable, "-c", SHARE, str(root), str(to), name]
    done = subprocess.run(call, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # the hub's client, of its own HTTP client
def test_a_folder_is_pushed_whole_and_what_the_hub_has_is_not_sent_again(
    root: Path, tmp_path: Path, hub: Hub, logged_in: Hub
) -> None:
    said = push(root, tmp_path / "to", "org/rivers", hub.url)
    assert said.splitlines()[-1] == (
        f"pushed to {hub.url}/datasets/org/rivers, which only its owners see until they open it"
    )
    assert [(made["organization"], made["name"], made["type"]) for made in hub.made] == [("org", "rivers", "dataset")]
    assert hub.made[0].get("private") is True or hub.made[0].get("visibility") == "private"
    here = {
        str(path.relative_to(tmp_path / "to")): path.read_bytes()
        for path in (tmp_path / "to").rglob("*")
        if path.is_file()
    }
    assert hub.files == here
    assert hub.uploads == 2
    (tmp_path / "to/.cache").mkdir()
    (tmp_path / "to/.cache/x").write_text("of another tool")
    share(Sharing(str(root), str(tmp_path / "to"), push="org/rivers"))
    assert hub.uploads == 2
    assert hub.files == here


@pytest.fixture
def logged_in(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The hub, known to the client of this process."""
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", hub_server.TOKEN)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    return hub


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rivers", "the hub's name is 'rivers': expected ORG/NAME"),
        ("org/a--b", "the hub does not accept the name 'org/a--b': Cannot have -- or .."),
        ("org/the rivers", "the hub does not accept the name 'org/the rivers': Repo id must use alphanumeric chars"),
        ("a/b/c", "the hub does not accept the name 'a/b/c': Repo id must be in the form"),
    ],
)
def test_a_name_that_the_hub_refuses_is_named_before_work_starts(
    root: Path, tmp_path: Path, logged_in: Hub, name: str, expected: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        share(Sharing(str(root), str(tmp_path / "to"), push=name))
    assert (logged_in.made, (tmp_path / "to").exists()) == ([], False)


def test_who_cannot_push_is_told_so_before_work_starts(
    root: Path, tmp_path: Path, logged_in: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> str:
        with pytest.raises((ValueError, StorageError)) as error:
            share(Sharing(str(root), str(tmp_path / "to"), push="org/rivers"))
        assert (logged_in.made, (tmp_path / "to").exists()) == ([], False)
        return str(error.value)

    asked = "could not be asked who is logged in, org/rivers: "
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert refused().startswith(f"the hub {logged_in.url} {asked}Invalid user token")
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    assert refused() == "nobody is logged in to the hub: run `hf auth login`, or set HF_TOKEN"
    monkeypatch.setenv("HF_TOKEN", hub_server.TOKEN)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    assert refused().startswith(f"the hub http://127.0.0.1:9 {asked}")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # as if it were not installed
    assert refused() == ("to push to org/rivers, the package huggingface_hub is needed: pip install 'wikisum[hub]'")


@pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # the hub's client, of its own HTTP client
def test_a_refused_push_leaves_the_finished_folder(root: Path, tmp_path: Path, logged_in: Hub) -> None:
    logged_in.refusal = (403, "the quota of org is used up")
    sharing = Sharing(str(root), str(tmp_path / "to"), push="org/rivers")
    with pytest.raises(StorageError, match=r"could not be pushed to, org/rivers: .*the quota of org is used up"):
        share(sharing)
    assert (tmp_path / "to/export.json").is_file()
    logged_in.refusal = None
    assert share(sharing).startswith(f"pushed to {logged_in.url}/datasets/org/rivers")
    assert logged_in.uploads == 2  # the first attempt sent the large files
