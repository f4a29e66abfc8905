"""The benchmark of verifiers: what must stand beside ours in its tables, and which goals are met."""

import numpy as np
import pytest

from benchmarks.verifiers.__main__ import GOALS, Columns, _missed, _tables
from benchmarks.verifiers.cases import Case, made
from benchmarks.verifiers.corpora import miniweb
from benchmarks.verifiers.peers import accept_all, refuse_all, said, values_of_one
from benchmarks.verifiers.wice import marked_words
from tasks.verification.verifier import shipped

TRUE = ("unchanged", "restated")


def test_sentences_of_a_mini_web_are_told_apart_as_far_as_each_verifier_can(capsys: pytest.CaptureFixture[str]) -> None:
    cases = list(made(miniweb(topics=30), 15))
    judges = {"all": accept_all, "none": refuse_all, "values": values_of_one, "said": said(shipped())}
    _tables(Columns.of(cases), {name: judge(cases) for name, judge in judges.items()}, shipped().said_at)
    _, heading, *lines = capsys.readouterr().out.splitlines()[1:]
    assert heading.split() == ["n", *judges]
    rows = {line[:40].strip(): [float(cell) for cell in line[40:].split()] for line in lines}
    assert sum(row[0] for name, row in rows.items() if name.startswith(("true: ", "lie: "))) == len(cases)
    assert {tuple(row[1:3]) for row in rows.values()} == {(100.0, 0.0)}
    (*_, value_truth, truth), (*_, value_lies, lies) = (rows[f"all {side}: miniweb"] for side in ("true", "lies"))
    assert rows["true: unchanged"][-2:] == [100.0, 100.0]
    assert value_truth - value_lies < truth - lies
    assert lies < 20


@pytest.mark.parametrize("accepts", [True, False])
def test_whoever_accepts_or_refuses_everything_misses_half_of_the_goals(
    accepts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        Case("by hand, unseen" if kind == "restated" else "made", kind, kind in TRUE, "It rained.", ["It rained."])
        for kind in GOALS
    ]
    assert _missed(Columns.of(cases), np.full(len(cases), accepts)) == 1
    verdicts = {line[:16].strip(): line.rsplit(": ", 1)[1] for line in capsys.readouterr().out.splitlines() if line}
    assert verdicts == {kind: "met" if (kind in TRUE) == accepts else "missed" for kind in GOALS}
    right = np.array([case.true for case in cases])
    assert _missed(Columns.of(cases), right) == 0


def test_words_that_people_marked_are_those_of_their_tokens_alone() -> None:
    tokens = ["The", "audience", "of", "Australian", "ex", "-", "pats", "is", "The", "audience", "."]
    spans = [False, True, False, False, True, True, True, False, False, False, False]
    assert marked_words(tokens, spans) == {"ex", "-", "pats"}
