"""What it takes to make one shard or directory, and the call of its stage's function."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

import pyarrow.fs as pafs

from storage.leases import Lease
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine.recipe import Load, Recipe


@dataclass(frozen=True)
class Scratch:
    """A folder for one shard that survives an interrupted run; removed once the shard is done."""

    filesystem: pafs.FileSystem  # where it is
    path: str  # the folder on that filesystem; it need not exist yet


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything needed to make one shard or directory; small and picklable."""

    root: str  # the store's root
    recipe: Recipe  # of this shard alone
    shard: int  # shard number; 0 for a directory
    key: str  # the recipe's key
    inputs: Mapping[str, Load]  # argument name -> function that loads it
    digests: Mapping[str, list[str]]  # argument name -> digests, for the record
    context: Mapping[str, Any] = field(default_factory=dict)  # arguments that are not part of the recipe
    scratch: str | None = None  # argument that takes a `Scratch`, for work that survives an interruption
    lasting: str | None = None  # key of a scratch that outlives its shard, for what no other recipe should pay again
    title: str = ""  # name of the stage for people, if several stages share a dataset; "" = `stage`
    lease: Lease | None = None  # what its run holds of a root on an object store

    @property
    def stage(self) -> str:
        """Name of the dataset or directory."""
        return self.recipe.name

    @property
    def called(self) -> str:
        """Name of its stage in logs and the UI."""
        return self.title or self.stage

    @property
    def name(self) -> str:
        """Name of the job in logs and the UI."""
        return f"{self.called}-{self.shard:05d}" if self.stage in DATASETS else self.called


def call(job: Job, store: Store, **more: Any) -> Any:
    """Load the inputs of a job from the store and call its function."""
    recipe = job.recipe
    function = resolve_name(recipe.function) if isinstance(recipe.function, str) else recipe.function
    loaded = {name: load(store) for name, load in job.inputs.items()}
    settings = {} if recipe.settings is None else {"settings": recipe.settings}
    return functools.partial(function, **loaded, **settings, **recipe.arguments, **job.context, **more)()
