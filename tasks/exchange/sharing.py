"""The command `export`: its options, checked before work starts, and the export they ask for, to a folder or hub."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from storage.errors import StorageError
from storage.formats.ranked_wikisum import Layout
from storage.root import check_root
from storage.store import Store
from tasks.exchange.shared_corpus.exporting import export_corpus
from tasks.exchange.shared_corpus.settings import PARTS, SharedCorpusSettings
from tasks.exchange.shared_model import export_model


@dataclass(frozen=True)
class Sharing:
    """What is exported, and where it goes."""

    root: str  # folder or URI of the builds
    to: str  # folder or URI that gets the export
    build: str | None = None  # build whose corpus is exported; None = the latest
    columns: str | None = None  # comma-separated parts (`SharedCorpusSettings`); None = all that the build has
    page_text: str = "licensed"  # licensed | free | all | none
    # Whose summarizer is exported instead: a version's number, `champion`, a build's name, `latest`
    model: str | None = None
    push: str | None = None  # ORG/NAME on the Hugging Face hub; None = the folder stays here
    # parquet | pt (ranked WikiSum of Liu & Lapata 2019) | json (GraphSum, with graphs), of examples and vocabulary
    layout: str = "parquet"


def share(sharing: Sharing, *, dry_run: bool = False, tell: Callable[[str], None] = lambda line: None) -> str:
    """Export, and push where that is asked for; return what happened. With `dry_run` only say how much would be
    written, and whether the hub would take it; `tell` gets a line now and then. Raises ValueError: an option is wrong,
    or the folder holds something else; StorageError: no such root, build or version, or a file or the hub is away."""
    if sharing.model is not None and (sharing.build, sharing.columns) != (None, None):
        raise ValueError("--build and --columns choose a corpus, --model a summarizer: expected one or the other")
    settings = _settings(sharing)
    if sharing.layout != "parquet":
        return _share_ranked(sharing, dry_run=dry_run, tell=tell)
    if sharing.push is not None and "://" in sharing.to:
        raise ValueError(f"--push uploads a local folder, --to is {sharing.to}: expected a folder of this machine")
    store, target = Store(sharing.root), Store(sharing.to)
    check_root(store)
    hub = None
    if sharing.push is not None:
        hub = HubTarget(sharing.push, "dataset" if sharing.model is None else "model")
        hub.check()
    if sharing.model is None:
        done = export_corpus(store, target, settings, build=sharing.build, dry_run=dry_run, tell=tell)
    else:
        done = export_model(store, target, sharing.model, dry_run=dry_run)
    if hub is None or dry_run:
        return done
    tell(done)
    return f"pushed to {hub.push(Path(target.base))}, which only its owners see until they open it"


def _share_ranked(sharing: Sharing, *, dry_run: bool, tell: Callable[[str], None]) -> str:
    if dry_run or (sharing.columns, sharing.model, sharing.push) != (None, None, None):
        raise ValueError(
            f"--layout {sharing.layout} writes the examples of a build: expected no --columns, --model, --push and "
            "--dry-run"
        )
    from tasks.exchange.ranked_wikisum.exporting import export_shards  # here, because it loads torch

    store = Store(sharing.root)
    check_root(store)
    return export_shards(store, Store(sharing.to), cast(Layout, sharing.layout), "WIKI", sharing.build, tell)


def _settings(sharing: Sharing) -> SharedCorpusSettings:
    columns = None
    if sharing.columns is not None:
        columns = tuple(part.strip() for part in sharing.columns.split(",") if part.strip())
        if unknown := [part for part in columns if part not in PARTS]:
            raise ValueError(f"unknown column {unknown[0]!r}: expected some of {', '.join(PARTS)}")
    try:
        return SharedCorpusSettings.model_validate({"columns": columns, "page_text": sharing.page_text})
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        # What is wrong with several fields together names them.
        raise ValueError(f"{first['loc'][0]}: {message}, got {first['input']!r}" if first["loc"] else message) from None


class HubTarget:
    """A repository on the hub; `huggingface_hub` (extra `hub`) takes server and token from the environment."""

    def __init__(self, name: str, kind: Literal["dataset", "model"]) -> None:
        """Take ORG/NAME, and ask nothing of the hub yet. Raises ValueError: a wrong name, or no package."""
        try:
            hub = importlib.import_module("huggingface_hub")
            self._errors: Any = importlib.import_module("huggingface_hub.errors")
        except ImportError as error:
            raise ValueError(
                f"to push to {name}, the package huggingface_hub is needed: pip install 'wikisum[hub]'"
            ) from error
        try:
            importlib.import_module("huggingface_hub.utils").validate_repo_id(name)
        except self._errors.HFValidationError as error:
            raise ValueError(f"the hub does not accept the name {name!r}: {error}") from error
        if name.count("/") != 1:
            raise ValueError(f"the hub's name is {name!r}: expected ORG/NAME")
        self.name, self.kind = name, kind
        self._api: Any = hub.HfApi()

    def check(self) -> None:
        """Check that the hub answers and knows the user, so that an export fails at its start. Raises StorageError."""
        with self._naming("asked who is logged in"):
            self._api.whoami()

    def push(self, folder: Path) -> str:
        """Upload a finished export as one commit, files the hub has already excepted; return the repository's URL. A
        repository that does not exist is made, for its owners' eyes alone: they open it when they have looked at it.
        Raises StorageError: the hub does not answer, or refuses."""
        with self._naming("pushed to"):
            url = self._api.create_repo(self.name, repo_type=self.kind, private=True, exist_ok=True)
            self._api.upload_folder(
                repo_id=self.name,
                folder_path=folder,
                repo_type=self.kind,
                ignore_patterns=[".*"],
                commit_message=f"Export of {folder.name}",
            )
        return str(url)

    @contextmanager
    def _naming(self, done: str) -> Iterator[None]:
        try:
            yield
        except self._errors.LocalTokenNotFoundError as error:
            raise StorageError("nobody is logged in to the hub: run `hf auth login`, or set HF_TOKEN") from error
        except (self._errors.HTTPError, OSError, ValueError, RuntimeError) as error:  # RuntimeError: of an upload
            causes = [str(item) or type(item).__name__ for item in (error, error.__cause__) if item is not None]
            said = " ".join(": ".join(causes).split())
            raise StorageError(f"the hub {self._api.endpoint} could not be {done}, {self.name}: {said}") from error
