"""The results of a study as the sections of a report, in the layout of the papers' tables."""

from collections.abc import Mapping, Sequence

from tasks.evaluation.significance import SIGNIFICANCE, Interval, too_few_articles
from tasks.human_evaluation.answers import OVERALL, Answered, Measure
from tasks.human_evaluation.marks import QUESTIONS
from tasks.human_evaluation.scoring import MeasureScores
from tasks.human_evaluation.study import Study
from tasks.human_evaluation.wording import CRITERIA, published
from tasks.reporting import plots
from tasks.reporting.blocks import Block, Cell, Heading, Lines, Picture, ReportSection, Table, Text, percent

_NONE = "–"
_COMMENTS = 200  # shown; all are in the files of answers
_WEAK = 0.2  # below it, agreement is at most slight (Landis & Koch 1977)


def sections(
    study: Study, scores: Sequence[MeasureScores], answered: Sequence[Answered], note: str
) -> list[ReportSection]:
    """Return the sections of the report. Scores are one a measure; `note` is what readers must know of the marks, or
    empty."""
    found = [
        results_section(study, scores, note),
        ReportSection("pairs", "Pairs of systems", [block for one in scores for block in _pairs(one)]),
        ReportSection("raters", "Raters", [block for one in scores for block in _raters(one)]),
        ReportSection("study", "The study", [_study(study, answered)]),
    ]
    if comments := _comments(answered):
        found.insert(3, ReportSection("comments", "Comments of the raters", [Lines(comments)]))
    return found


def results_section(study: Study, scores: Sequence[MeasureScores], note: str) -> ReportSection:
    """Return the scores of the systems, with the papers' below."""
    blocks: list[Block] = [Text(note)] if note else []
    blocks += [Text(sentence(one)) for one in scores]
    blocks.append(_table(study, scores))
    first = scores[0]
    values = {system: _scaled(first, first.means[system]) for system in first.systems}
    label = f"{_name(first.measure)} ({_unit(first.measure)})"
    blocks.append(Picture(f"{label}, with intervals", plots.bars(values, label)))
    return ReportSection("results", "Human evaluation", [*blocks, *published(study.settings.task)])


def sentence(scores: MeasureScores) -> str:
    """Return what the raters found under a measure, in a sentence."""
    best, *others = scores.systems
    beaten = [pair.worse for pair in scores.comparisons if pair.better == best and scores.significant(pair)]
    mean = _scaled(scores, scores.means[best])[0]
    order = f"{_name(scores.measure)}: {best} is best with {_figure(scores.measure, mean)}"
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


def _table(study: Study, scores: Sequence[MeasureScores]) -> Table:
    """Return a row a system and a column a measure; for a single measure also strength and number of judgements."""
    rows = []
    single = scores[0] if len(scores) == 1 else None
    for system in scores[0].systems:
        cells = [Cell(system)]
        for one in scores:
            mean = one.means[system]
            best = mean.mean == max(other.mean for other in one.means.values())
            cells.append(_interval(one, mean, strong=best))
        if single is not None:
            strength = None if single.strengths is None else single.strengths[system]
            cells.append(Cell(_NONE) if strength is None else _plain(strength))
            cells.append(Cell(f"{single.judged[system]:,}"))
        rows.append(cells)
    columns = ["system", *(f"{_name(one.measure)}" for one in scores)]
    if single is not None:
        columns += ["strength (Bradley-Terry)", "judgements"]
    unit = _unit(scores[0].measure)
    caption = f"{unit[0].upper()}{unit[1:]}, with {percent(SIGNIFICANCE.confidence)} intervals over articles"
    return Table(caption, columns, rows, frozenset(range(1, len(columns))))


def _pairs(scores: MeasureScores) -> list[Block]:
    rows = [
        [
            Cell(f"{pair.better} - {pair.worse}", strong=scores.significant(pair)),
            _interval(scores, pair.difference, "+"),
            Cell(_shown(scores.preferred.get((pair.better, pair.worse)))),
            Cell(_shown(pair.p_value)),
            Cell(_shown(pair.p_adjusted)),
            Cell(_shown(scores.tukey.get(frozenset((pair.better, pair.worse))))),
            Cell(f"{pair.articles:,}"),
        ]
        for pair in scores.comparisons
    ]
    columns = ["pair", "difference", "head to head", "p", "p (Holm)", "p (Tukey)", "articles"]
    return [
        Heading(_name(scores.measure)),
        Table(
            "Difference on the articles on which both were judged; head to head: share of the comparisons that the "
            "first won, ties as half (Shen et al. 2023); p by approximate randomisation over articles; Tukey's test, "
            "as in Liu & Lapata 2019, takes all judgements as independent",
            columns,
            rows,
            frozenset(range(1, len(columns))),
        ),
    ]


def _raters(scores: MeasureScores) -> list[Block]:
    alpha = "unknown, because no text was judged twice" if scores.alpha is None else f"{scores.alpha:.3f}"
    rows = [
        [
            Cell(str(one.rater)),
            Cell(f"{one.judgements:,}"),
            Cell(_shown(one.severity, "+.2f")),
            Cell(_shown(one.agreement, ".2f")),
        ]
        for one in scores.raters
    ]
    return [
        Heading(_name(scores.measure)),
        Text(f"Krippendorff's alpha (ordinal): {alpha}. 1 is full agreement, 0 that of chance."),
        Table(
            "Severity: how far below the expected a rater's values are; agreement: rank correlation with the others",
            ["rater", "judgements", "severity", "agreement"],
            rows,
            frozenset({1, 2, 3}),
        ),
    ]


def _study(study: Study, answered: Sequence[Answered]) -> Table:
    settings = study.settings
    partly = sum(len(one.items) < len(study.forms[one.rater]) for one in answered)
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
    return Table("This study", ["fact", "value"], [[Cell(name), Cell(value)] for name, value in facts.items()])


def _comments(answered: Sequence[Answered]) -> list[str]:
    found = [
        f"rater {one.rater}, {item.article.title} ({', '.join(item.systems)}): {answer['comment']}"
        for one in answered
        for item, answer in one.items
        if answer.get("comment")
    ]
    left_out = len(found) - _COMMENTS
    return found[:_COMMENTS] + ([f"{left_out:,} more are in the files of answers"] if left_out > 0 else [])


def _name(measure: Measure) -> str:
    names: Mapping[str, str] = {
        OVERALL: "rating",
        QUESTIONS: "QA",
        **{key: name for key, (name, _) in CRITERIA.items()},
    }
    return names[measure]


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


def _plain(value: Interval) -> Cell:
    return Cell(f"{value.mean:+.2f}", f"{value.low:+.2f} to {value.high:+.2f}")


def _shown(value: float | None, form: str = ".3f") -> str:
    return _NONE if value is None else format(value, form)
