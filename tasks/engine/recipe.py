"""What a stage makes, and everything that decides the content of its shards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storage.recipes import recipe_key
from storage.schemas import Dataset
from tasks.engine.settings import Settings


@dataclass(frozen=True)
class Recipe:
    """How a stage or directory is made: with its inputs the key of each shard. The function is in no key."""

    made: Dataset | str  # the dataset, or the name of a directory, such as models/ranker
    # pure; gets inputs, settings, arguments and context by keyword, and returns a table or its batches in order.
    # The function of a directory returns metrics (`tasks.engine.shard.make_directory`). The flows name it
    # "module:function", so that only a process that calls it imports its module: a plan loads no torch, and a
    # worker that crawls no spaCy.
    function: Callable[..., Any] | str
    settings: Settings | None = None  # the stage's section, passed as `settings`; None if it takes none
    arguments: Mapping[str, Any] = field(default_factory=dict)  # further arguments
    # further arguments that differ by shard: name -> value for each shard
    per_shard: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    # other facts that decide the content, kept in the records, such as the version of a model used
    notes: Mapping[str, str] = field(default_factory=dict)
    version: int = 0  # of a directory; a dataset has its own version
    together: bool = False  # whether all processes that `torchrun` started make the directory

    @property
    def name(self) -> str:
        """Name of the dataset or directory."""
        return self.made if isinstance(self.made, str) else self.made.name

    @property
    def made_version(self) -> int:
        """The version in the keys."""
        return self.version if isinstance(self.made, str) else self.made.version

    def arguments_of(self, shard: int) -> dict[str, Any]:
        """Return the arguments of a shard."""
        return {**self.arguments, **{name: values[shard] for name, values in self.per_shard.items()}}

    def key(self, shard: int, digests: Mapping[str, list[str]]) -> str:
        """Return the key of a shard, given argument name -> digests of its inputs."""
        return recipe_key(self.name, self.made_version, {**self.fields(shard), **self.notes}, shard, digests)

    def fields(self, shard: int) -> dict[str, Any]:
        """Return the settings and arguments of a shard, JSON-able."""
        return recipe_fields(self.settings, self.arguments_of(shard))


def recipe_fields(settings: Settings | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-able fields that decide a shard's content: those of the section, and the arguments."""
    fields = settings.recipe() if settings is not None else {}
    return fields | {name: value.recipe() if hasattr(value, "recipe") else value for name, value in arguments.items()}
