"""Score a study's folder: read the answers, write the report, and return what people are told."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.human_evaluation import marks as marking
from tasks.human_evaluation.answers import Answered, Judgement, judgements, read_answers, said
from tasks.human_evaluation.crowd import answers_from_table
from tasks.human_evaluation.potato import answers_from_project
from tasks.human_evaluation.preparing import KEY, write_whole
from tasks.human_evaluation.report import results_section, sections
from tasks.human_evaluation.scoring import score_judgements
from tasks.human_evaluation.study import Study, read_study
from tasks.human_evaluation.tables import to_csv
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary

MARKS, PAGE, JUDGEMENTS = "marks.csv", "report.html", "judgements.csv"


@dataclass(frozen=True)
class Results:
    """What a scoring leaves."""

    study: Study
    text: str  # scores for the terminal
    markdown: str  # the report as an artifact


def read_folder(folder: Path, files: Sequence[Path]) -> tuple[Study, list[Answered]]:
    """Return a study and the answers to it. Files are answers downloaded from forms (.json), results of crowd platforms
    (.csv), and folders of Potato projects. Raises ValueError: the folder holds no study, or files are inconsistent with
    it or with each other; it names the file."""
    key = folder / KEY
    if not key.is_file():
        raise ValueError(f"{folder} has no {KEY}: expected the folder of a study that was prepared to the end")
    study = read_study(_text(key), str(key))
    given: list[tuple[str, str]] = []
    for file in files:
        if file.is_dir():
            given.append(answers_from_project(study, file))
            continue
        if not file.is_file():
            raise ValueError(f"{file}: no such file; expected the answers of a rater")
        is_table = file.suffix.lower() == ".csv"
        given += answers_from_table(study, str(file), _text(file)) if is_table else [(str(file), _text(file))]
    return study, read_answers(study, given)


def score_study(folder: Path, study: Study, answered: Sequence[Answered]) -> Results:
    """Score the answers and write `report.html`, `judgements.csv` and, for questions, `marks.csv` into the folder.
    Raises ValueError: the table of marks was edited into something else."""
    note = ""
    if study.settings.task == "qa":
        replies = said(answered)
        marked, note = _marks(study, folder / MARKS, marking.draft_marks(study, replies))
        found = marking.apply_marks(replies, marked)
    else:
        found = judgements(answered)
    scores = score_judgements(found, study.settings.seed)
    written = sections(study, scores, answered, note)
    write_whole(folder / JUDGEMENTS, _table(found))
    write_whole(folder / PAGE, page(f"Human evaluation of {study.name}: {study.settings.task}", written))
    results = results_section(study, scores, note)
    missing = sorted(set(study.forms) - {one.rater for one in answered})
    lacking = f"no answers yet of raters {', '.join(map(str, missing))}\n" if missing else ""
    parts = [(one.rater, len(one.items), len(study.forms[one.rater])) for one in answered]
    told = [f"rater {rater} answered {some:,} of {every:,} articles\n" for rater, some, every in parts if some < every]
    return Results(
        study, f"{summary(results.blocks)}\n{lacking}{''.join(told)}report: {folder / PAGE}", artifact(written)
    )


def _marks(study: Study, file: Path, drafts: marking.Marked) -> tuple[marking.Marked, str]:
    """Return the marks in a file, with drafts for answers that it does not have; the file then holds all."""
    before = marking.from_csv(_text(file), str(file)) if file.exists() else {}
    marked = {**drafts, **before}
    if marked != before:
        write_whole(file, marking.to_csv(study, marked))
    unchecked = sum(not marked[answer][1] for answer in drafts)
    note = (
        f"The marks of {unchecked:,} of {len(drafts):,} different answers are drafts, by the values that they share "
        f"with the right answer: correct them in {file.name}, fill in its column `checked`, and score again."
        if unchecked
        else ""
    )
    return marked, note


def _table(found: Sequence[Judgement]) -> str:
    rows = ((one.rater, one.article, one.system, one.measure, one.unit, f"{one.value:g}") for one in found)
    return to_csv(("rater", "article", "system", "measure", "question", "value"), rows)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
