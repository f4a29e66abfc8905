"""Upload of an exported folder to the Hugging Face hub. Its package is the optional extra `hub`."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from storage.errors import StorageError

Kind = Literal["dataset", "model"]


class HubTarget:
    """A repository on the hub. `huggingface_hub` takes server, token and proxies from its environment variables."""

    def __init__(self, name: str, kind: Kind) -> None:
        """Take ORG/NAME; nothing is asked of the hub yet. Raises ValueError: the name is not one that the hub takes, or
        its package is not installed."""
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
        """Check that the hub answers and knows the user, so that an export fails at its start. Raises StorageError: it
        does not answer, or nobody is logged in."""
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
            causes = [str(one) or type(one).__name__ for one in (error, error.__cause__) if one is not None]
            said = " ".join(": ".join(causes).split())
            raise StorageError(f"the hub {self._api.endpoint} could not be {done}, {self.name}: {said}") from error
