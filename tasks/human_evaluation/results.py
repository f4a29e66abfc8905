"""Score a study's folder: read the answers, and write the report in the layout of the papers' tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.evaluation.significance import SIGNIFICANCE, Interval, too_few_articles
from tasks.human_evaluation import answers as given
from tasks.human_evaluation.answers import OVERALL, QUESTIONS, Answered, Measure
from tasks.human_evaluation.forms import CRITERIA, WORDS
from tasks.human_evaluation.preparing import KEY, write_whole
from tasks.human_evaluation.questions import csv_text
from tasks.human_evaluation.scoring import MeasureScores, score_judgements
from tasks.human_evaluation.sheets import answers_from_sheet
from tasks.human_evaluation.study import Study, read_study
from tasks.reporting import blocks, plots
from tasks.reporting.blocks import NONE, Block, Cell, ReportSection, Row, percent, section, table_of
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary

MARKS, PAGE, JUDGEMENTS = "marks.csv", "report.html", "judgements.csv"
_COMMENTS = 200  # shown; all are in the files of answers
_WEAK = 0.2  # below it, agreement is at most slight (Landis & Koch 1977)


def read_folder(folder: Path, files: Sequence[Path]) -> tuple[Study, list[Answered]]:
    """Return a study and the answers to it: files downloaded from forms (.json) and filled-in tables (.csv). Raises
    ValueError: the folder holds no study, or a file, named, does not fit it."""
    key = folder / KEY
    if not key.is_file():
        raise ValueError(f"{folder} has no {KEY}: expected the folder of a study that was prepared to the end")
    study = read_study(_text(key), str(key))
    texts: list[tuple[str, str]] = []
    for file in files:
        if not file.is_file():
            raise ValueError(f"{file}: no such file; expected the answers of a rater")
        is_table = file.suffix.lower() == ".csv"
        texts += answers_from_sheet(study, str(file), _text(file)) if is_table else [(str(file), _text(file))]
    return study, given.read_answers(study, texts)


def score_study(folder: Path, study: Study, answered: Sequence[Answered]) -> tuple[str, str]:
    """Score the answers and write `report.html`, `judgements.csv` and, for questions, `marks.csv` into the folder.
    Return the scores for the terminal, and the report as Markdown. Raises ValueError: the table of marks was edited
    into something else."""
    note = ""
    if study.settings.task == "qa":
        replies = given.said(answered)
        marked, note = _marks(study, folder / MARKS, given.draft_marks(study, replies))
        result = given.apply_marks(replies, marked)
    else:
        result = given.judgements(answered)
    scores = score_judgements(result, study.settings.seed)
    written = sections(study, scores, answered, note)
    rows = ((item.rater, item.article, item.system, item.measure, item.unit, f"{item.value:g}") for item in result)
    columns = ("rater", "article", "system", "measure", "question", "value")
    write_whole(folder / JUDGEMENTS, csv_text(columns, rows))
    write_whole(folder / PAGE, page(f"Human evaluation of {study.name}: {study.settings.task}", written))
    missing = sorted(set(study.forms) - {item.rater for item in answered})
    lacking = f"no answers yet of raters {', '.join(map(str, missing))}\n" if missing else ""
    parts = [(item.rater, len(item.items), len(study.forms[item.rater])) for item in answered]
    told = [f"rater {rater} answered {some:,} of {every:,} articles\n" for rater, some, every in parts if some < every]
    return f"{summary(written[0].blocks)}\n{lacking}{''.join(told)}report: {folder / PAGE}", artifact(written)


def _marks(study: Study, file: Path, drafts: given.Marked) -> tuple[given.Marked, str]:
    """Return the marks in a file, with drafts for answers that it does not have; the file then holds all."""
    before = given.marks_from_csv(_text(file), str(file)) if file.exists() else {}
    marked = {**drafts, **before}
    if marked != before:
        write_whole(file, given.marks_to_csv(study, marked))
    unchecked = sum(not marked[answer][1] for answer in drafts)
    if not unchecked:
        return marked, ""
    return marked, (
        f"The marks of {unchecked:,} of {len(drafts):,} different answers are drafts, by the values that they share "
        f"with the right answer: correct them in {file.name}, fill in its column `checked`, and score again."
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x}") from error


def sections(
    study: Study, scores: Sequence[MeasureScores], answered: Sequence[Answered], note: str
) -> list[ReportSection]:
    """Return the sections of the report. Each measure has one score; `note`: a remark on the marks, or empty."""
    results = [results_section(study, scores, note), _pairs(scores), _raters(scores), _study(study, answered)]
    if comments := _comments(answered):
        results.insert(3, ReportSection("comments", "Comments of the raters", [blocks.Lines(comments)]))
    return results


@section("results", "Human evaluation")
def results_section(study: Study, scores: Sequence[MeasureScores], note: str) -> Iterator[Block]:
    """Return the scores of the systems, with the papers' below."""
    if note:
        yield blocks.Text(note)
    yield from (blocks.Text(sentence(score)) for score in scores)
    yield _table(scores)
    first = scores[0]
    values = {system: _scaled(first, first.means[system]) for system in first.systems}
    label = f"{_name(first.measure)} ({_unit(first.measure)})"
    yield blocks.Picture(f"{label}, with intervals", plots.bars(values, label))
    published = WORDS["published"][study.settings.task]
    yield blocks.Text(published["source"])
    yield table_of("Published", published["columns"], published["rows"])


def sentence(scores: MeasureScores) -> str:
    """Return the result under a measure, in a sentence."""
    best, *others = scores.systems
    beaten = [pair.worse for pair in scores.comparisons if pair.better == best and scores.significant(pair)]
    mean = _scaled(scores, scores.means[best])[0]
    alike = [system for system in scores.systems if scores.means[system] == scores.means[best]]
    are = "is best" if len(alike) == 1 else "are alike and best"
    order = f"{_name(scores.measure)}: {', '.join(alike)} {are} with {_figure(scores.measure, mean)}"
    told = f"significantly above {', '.join(beaten)}" if beaten else "not significantly above any other"
    why = too_few_articles(scores.comparisons, SIGNIFICANCE.level)
    rest = [system for system in others if system not in beaten]
    open_ = f", not above {', '.join(rest)}" if beaten and rest else ""
    agreement = "no text was judged twice, so agreement is unknown"
    if scores.alpha is not None:
        care = ", which is slight: read it with care" if scores.alpha < _WEAK else ""
        agreement = f"Krippendorff's alpha {scores.alpha:.2f}{care}"
    return (
        f"{order}, {told}{open_} (p <= {SIGNIFICANCE.level:.2f} after Holm's correction, "
        f"{scores.articles:,} articles{f'; {why}' if why else ''}); {agreement}."
    )


def _table(scores: Sequence[MeasureScores]) -> blocks.Table:
    """Return a row a system and a column a measure; for a single measure also strength and number of judgements."""
    rows: list[Row] = []
    for system in scores[0].systems:
        cells: list[Cell | str | int] = [system]
        for item in scores:
            mean = item.means[system]
            best = mean.mean == max(other.mean for other in item.means.values())
            cells.append(_interval(item, mean, strong=best))
        if len(scores) == 1:
            fitted = None if item.strengths is None else item.strengths[system]
            shown = NONE if fitted is None else Cell(f"{fitted.mean:+.2f}", f"{fitted.low:+.2f} to {fitted.high:+.2f}")
            cells += [shown, item.judged[system]]
        rows.append(cells)
    columns = ["system", *(_name(score.measure) for score in scores)]
    if len(scores) == 1:
        columns += ["strength (Bradley-Terry)", "judgements"]
    unit = _unit(scores[0].measure)
    caption = f"{unit[0].upper()}{unit[1:]}, with {percent(SIGNIFICANCE.confidence)} intervals over articles"
    return table_of(caption, columns, rows)


@section("pairs", "Pairs of systems")
def _pairs(scores: Sequence[MeasureScores]) -> Iterator[Block]:
    for score in scores:
        rows: list[Row] = [
            [
                Cell(f"{pair.better} - {pair.worse}", strong=score.significant(pair)),
                _interval(score, pair.difference, "+"),
                _shown(score.preferred.get((pair.better, pair.worse))),
                _shown(pair.p_value),
                _shown(pair.p_adjusted),
                _shown(score.tukey.get(frozenset((pair.better, pair.worse)))),
                pair.articles,
            ]
            for pair in score.comparisons
        ]
        yield blocks.Heading(_name(score.measure))
        yield table_of(
            "Difference on the articles on which both were judged; head to head: share of the comparisons that the "
            "first won, ties as half (Shen et al. 2023); p by approximate randomisation over articles; Tukey's test, "
            "as in Liu & Lapata 2019, takes all judgements as independent",
            ["pair", "difference", "head to head", "p", "p (Holm)", "p (Tukey)", "articles"],
            rows,
        )


@section("raters", "Raters")
def _raters(scores: Sequence[MeasureScores]) -> Iterator[Block]:
    for score in scores:
        alpha = "unknown, because no text was judged twice" if score.alpha is None else f"{score.alpha:.3f}"
        rows: list[Row] = [
            [str(who.rater), who.judgements, _shown(who.severity, "+.2f"), _shown(who.agreement, ".2f")]
            for who in score.raters
        ]
        yield blocks.Heading(_name(score.measure))
        yield blocks.Text(f"Krippendorff's alpha (ordinal): {alpha}. 1 is full agreement, 0 that of chance.")
        yield table_of(
            "Severity: how far below the expected a rater's values are; agreement: rank correlation with the others",
            ["rater", "judgements", "severity", "agreement"],
            rows,
        )


@section("study", "The study")
def _study(study: Study, answered: Sequence[Answered]) -> Iterator[Block]:
    settings = study.settings
    partly = sum(len(item.items) < len(study.forms[item.rater]) for item in answered)
    facts = {
        "study": study.id,
        "corpus": study.name,
        "build": study.build,
        "task": settings.task,
        "systems": ", ".join(study.systems),
        "articles": f"{len(study.articles):,}",
        "raters": f"{len(answered)} of {settings.raters}{f', {partly} of them in part' if partly else ''}",
        "texts shown at a time": str(settings.shown),
        "questions": f"{sum(map(len, study.questions.values())):,}",
        "seed": str(settings.seed),
    }
    if not study.questions:
        del facts["questions"]
    yield table_of("This study", ["fact", "value"], facts.items(), range(0))


def _comments(answered: Sequence[Answered]) -> list[str]:
    results = [
        f"rater {one.rater}, {item.article.title} ({', '.join(item.systems)}): {answer['comment']}"
        for one in answered
        for item, answer in one.items
        if answer.get("comment")
    ]
    left_out = len(results) - _COMMENTS
    return results[:_COMMENTS] + ([f"{left_out:,} more are in the files of answers"] if left_out > 0 else [])


def _name(measure: Measure) -> str:
    return {OVERALL: "rating", QUESTIONS: "QA"}.get(measure) or CRITERIA[measure][0]


def _unit(measure: Measure) -> str:
    units = {OVERALL: "share of choices as best minus as worst, -1 to 1", QUESTIONS: "questions answered, %"}
    return units.get(measure, "mean rating, 1 to 5")


def _scaled(scores: MeasureScores, value: Interval) -> tuple[float, float, float]:
    scale = 100 if scores.measure == QUESTIONS else 1
    return scale * value.mean, scale * value.low, scale * value.high


def _figure(measure: Measure, value: float, sign: str = "") -> str:
    return f"{value:{sign}.3f}" if measure == OVERALL else f"{value:{sign}.2f}"


def _interval(scores: MeasureScores, value: Interval, sign: str = "", *, strong: bool = False) -> Cell:
    mean, low, high = (_figure(scores.measure, x, sign) for x in _scaled(scores, value))
    return Cell(mean, f"{low} to {high}", strong=strong)


def _shown(value: float | None, form: str = ".3f") -> str:
    return NONE if value is None else format(value, form)
