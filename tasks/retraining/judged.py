"""A version's models with their results on the test splits: what a plan and a verdict both name."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.engine.inputs import DirectoryResult, StageResult


@dataclass(frozen=True)
class Judged:
    """A version's models, and their results on the test splits.

    Attributes:
        vocabulary: its vocabulary.
        models: name -> directory.
        predictions: its summaries.
        scores: their scores.
    """

    vocabulary: StageResult
    models: Mapping[str, DirectoryResult]
    predictions: StageResult
    scores: StageResult
