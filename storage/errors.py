"""Errors of files; each message names the file and says what to do."""


class StorageError(Exception):
    """A file could not be read or written; the message names it and says what to do."""


class StorageFullError(StorageError):
    """The device of the root has no space left; the half-written file has been removed."""


class CorruptShardError(StorageError):
    """A shard's bytes do not match its record; `path` is its file, relative to the root."""

    def __init__(self, path: str, problem: str) -> None:
        """Name the file and what is wrong with it."""
        super().__init__(path, problem)
        self.path, self.problem = path, problem

    def __str__(self) -> str:
        return f"{self.path} is damaged: {self.problem}"


class DamagedFieldsError(StorageError):
    """A file, as a manifest or an entry of the registry, is there and cannot be read: it is damaged, was not written by
    this project, or is a folder or a pipe."""


class MissingFilesError(StorageError):
    """A file that a root's inventory lists, or the inventory itself, is gone."""


class RootBusyError(StorageError):
    """Another build is writing below the same root."""


class BudgetSpentError(Exception):
    """A run or its month would spend more than its budget; finished work is kept."""
