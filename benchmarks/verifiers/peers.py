"""Verifiers to compare with: what learns nothing, the rule by values, a model of entailment, a chat model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow.fs
from numpy.typing import NDArray

from benchmarks.verifiers.cases import Case
from models.values import ValueIndex
from tasks.engine.job import Scratch
from tasks.evaluation.chat_judge import ChatJudge
from tasks.evaluation.citations import ValueSupport
from tasks.evaluation.folder_models import EntailmentModel
from tasks.evaluation.settings import JudgeSettings
from tasks.verification.verifier import Support, Verifier, shipped

_MARKS = 5


class Judge(Protocol):
    """Says how likely passages say sentences."""

    def __call__(self, cases: Sequence[Case]) -> NDArray[np.float64]:
        """Return [N], 0-1."""
        ...


def accept_all(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Believe everything."""
    return np.ones(len(cases))


def refuse_all(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Believe nothing."""
    return np.zeros(len(cases))


def values_of_all(cases: Sequence[Case]) -> NDArray[np.float64]:
    """The passages together have all names, numbers and dates, or half of the words of a sentence without any."""
    return np.array([_by_values(case.sentence, case.passages, case.passages) for case in cases], np.float64)


def values_of_one(cases: Sequence[Case]) -> NDArray[np.float64]:
    """The same, in one passage."""
    return np.array(
        [any(_by_values(case.sentence, [text], case.passages) for text in case.passages) for case in cases], np.float64
    )


def _by_values(sentence: str, passages: Sequence[str], context: Sequence[str]) -> bool:
    return ValueSupport("", ValueIndex(context))(passages, sentence)


def said(verifier: Verifier) -> Judge:
    """Our verifier: its probability where one passage supports the sentence or none does, else 0."""

    def judge(cases: Sequence[Case]) -> NDArray[np.float64]:
        findings = [verifier.finding(case.sentence, case.passages) for case in cases]
        alone = {Support.SAID, Support.UNSUPPORTED}
        return np.array([finding.probability if finding.support in alone else 0.0 for finding in findings])

    return judge


def supported(verifier: Verifier) -> Judge:
    """Both tiers of our verifier: what one passage says, and what several passages say together."""

    def judge(cases: Sequence[Case]) -> NDArray[np.float64]:
        result = (verifier.finding(case.sentence, case.passages).support for case in cases)
        return np.array([support in {Support.SAID, Support.COMBINED} for support in result], np.float64)

    return judge


def entailment(folder: str) -> Judge:
    """The model of entailment of a folder: its highest probability for the evidence in a passage."""
    model = EntailmentModel(folder, "--nli", "cpu")

    def judge(cases: Sequence[Case]) -> NDArray[np.float64]:
        pairs = [[(shipped().premise(c.sentence, [text]), c.sentence) for text in c.passages] for c in cases]
        return np.array([float(model(each)[:, 0].max()) for each in pairs])

    return judge


def chat(url: str, name: str, scratch: str) -> Judge:
    """A chat model's mark of how faithful the sentence is to the passages, from 1 to 5, as a share."""
    settings = JudgeSettings(url=url, model=name, most_calls=1_000_000)
    model = ChatJudge(settings, Scratch(pyarrow.fs.LocalFileSystem(), scratch))

    def judge(cases: Sequence[Case]) -> NDArray[np.float64]:
        marks = [model.marks("", case.passages, case.sentence) for case in cases]
        return np.array([0.0 if mark is None else (mark.faithfulness - 1) / (_MARKS - 1) for mark in marks])

    return judge
