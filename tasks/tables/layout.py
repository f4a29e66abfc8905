"""A published table with our column next to the paper's, as blocks of the report, and the paper's other tests and
figures."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc
from scipy import stats

from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import SIGNIFICANCE, Interval, bootstrap, too_few_articles
from tasks.reporting.blocks import NONE, Block, Cell, Picture, ReportSection, Row, Text, percent, table_of
from tasks.reporting.plots import bars
from tasks.tables.figures import METRIC, TableFigures
from tasks.tables.plan import NEEDS_WEIGHTS
from tasks.tables.published import ROUGE_COLUMNS, Measure, PublishedRow, PublishedTable

NOT_RUN = "not run"
_TRUTH = ("values-input", "values-right")  # shown with ROUGE, which does not measure whether a summary is true
_BYTES = 12  # a parameter in fp32 with Adam's two moments, as Table 5 of Ma & Zong 2022 counts
_ROUGE = ("rouge1", "rouge2", "rougeL")
# Metric, what it says, and the ratio in Figure 3, which prints no numbers.
_LOOKS = (
    ("own-document", "encoder: to a token's own document", "above 1 on ten corpora"),
    ("cds", "decoder: deviation over documents (CDS)", "below 1 on nine corpora"),
)


def section(table: PublishedTable, measured: TableFigures) -> ReportSection:
    """Return a table with notes: what was not run and why, and which differences are significant."""
    truth = _TRUTH if table.measure is Measure.ROUGE else ()
    columns = [table.title, *_headings(table), *(f"{metric_name(name)}, here" for name in truth)]
    rows = [
        [*_row(table, row, measured), *(_truth(row.system, name, measured) for name in truth)] for row in table.rows
    ]
    notes = (table.note, _batches(table, measured), _missing(table, measured))
    blocks: list[Block] = [
        table_of(f"{table.source}: {_unit(table)}", columns, rows),
        *[Text(text) for text in notes if text],
    ]
    if table.measure in (Measure.ROUGE, Measure.ATTENTION):
        blocks += _differences(table, measured)
    if table.name == "003-2":
        blocks += attention_to_documents(measured)
    if table.name == "004-1":
        blocks.append(Text(rank_tests(measured)))
    paper, number = table.name.split("-")
    return ReportSection(f"table-{table.name}", f"Table {number} of {paper}: {table.title}", blocks)


def _headings(table: PublishedTable) -> list[str]:
    """Return the heads above a row's cells; of several corpora, all figures of one are in one cell."""
    if table.corpora:
        metrics = "/".join(table.columns)
        return [*(f"{corpus}, {metrics}" for corpus in table.corpora), *(f"{name}, here" for name in table.columns)]
    names = [f"L' = {name}" if table.measure is Measure.RECALL else name for name in table.columns]
    return [heading for name in names for heading in (f"{name}, paper", f"{name}, here")]


def _row(table: PublishedTable, row: PublishedRow, measured: TableFigures) -> list[Cell]:
    here = [_measured(table, row, column, measured) for column in table.columns]
    shown = [_figure(table, row, figure) for figure in row.figures]
    if not table.corpora:
        return [Cell(row.label), *(cell for pair in zip(map(Cell, shown), here, strict=True) for cell in pair)]
    size = len(table.columns)
    of_corpora = [shown[start : start + size] for start in range(0, len(shown), size)]
    return [Cell(row.label), *(Cell(NONE if set(part) == {NONE} else "/".join(part)) for part in of_corpora), *here]


def _figure(table: PublishedTable, row: PublishedRow, figure: float | None) -> str:
    if figure is None:
        return NONE
    if row.relative:
        return f"{figure:+.1f}"
    digits = {Measure.RECALL: 2, Measure.ROUGE: table.digits, Measure.ATTENTION: 4}
    return f"{figure:.{digits[table.measure]}f}" if table.measure in digits else f"{figure:g}"


def _measured(table: PublishedTable, row: PublishedRow, column: str, measured: TableFigures) -> Cell:
    match table.measure:
        case Measure.RECALL:
            value = measured.table1.measured.get(row.system, {}).get(int(column))
            return Cell(NOT_RUN) if value is None else Cell(f"{value:.2f}", strong=True)
        case Measure.EFFICIENCY:
            return _efficiency(row.system, column, measured)
        case Measure.ATTENTION:
            score = measured.scores.get((row.system, METRIC))
            return Cell(NOT_RUN) if score is None else _interval(score.value, 1, 4)
        case Measure.ROUGE:
            metric, kind = ROUGE_COLUMNS[column]
            score = measured.scores.get((row.system, metric))
            if score is None:
                return _unrun(row.system, measured)
            value = getattr(score, kind)
            if not row.relative:
                return _interval(value, 100, 2)
            base = measured.scores.get((table.base, metric))
            return Cell(NOT_RUN) if base is None else Cell(f"{100 * (value.mean - getattr(base, kind).mean):+.2f}")


def _truth(system: str, metric: str, measured: TableFigures) -> Cell:
    score = measured.scores.get((system, metric))
    if score is not None:
        return _interval(score.value, 100, 2)
    # A summary without a name, a number or a date has no share of them that is right.
    return Cell(NONE) if any(scored == system for scored, _ in measured.scores) else _unrun(system, measured)


def _unrun(system: str, measured: TableFigures) -> Cell:
    return Cell(NEEDS_WEIGHTS if measured.reasons.get(system, "").startswith(NEEDS_WEIGHTS) else NOT_RUN)


def _efficiency(system: str, column: str, measured: TableFigures) -> Cell:
    if column == "largest batch" and (batch := measured.batches.get(system)) is not None:
        return Cell(f"{batch[0]:,}", strong=True)
    if column == "parameters, MB" and (count := measured.parameters.get(system)) is not None:
        return Cell(f"{_BYTES * count / 1e6:.1f}", f"{count:,}", strong=True)
    if column == "validation, s" and (timed := measured.validation.get(system)) is not None:
        return Cell(f"{timed[0]:.2f}", f"{timed[1]:,} articles", strong=True)
    return Cell(NOT_RUN)


def _interval(value: Interval, factor: int, digits: int) -> Cell:
    low, high = factor * value.low, factor * value.high
    return Cell(f"{factor * value.mean:.{digits}f}", f"{low:.{digits}f} to {high:.{digits}f}", strong=True)


def _unit(table: PublishedTable) -> str:
    return {
        Measure.RECALL: "ROUGE-L recall of the L' best paragraphs against the lead, %",
        Measure.ROUGE: "ROUGE, %" if table.name == "002-6" else "ROUGE F1, %",
        Measure.ATTENTION: "mean cosine of attention to paragraphs and tf-idf similarity with the gold summary",
        Measure.EFFICIENCY: f"MB of {_BYTES} bytes a parameter; seconds of one pass over the validation articles",
    }[table.measure]


def _batches(table: PublishedTable, measured: TableFigures) -> str:
    """Return how the largest batches were found."""
    methods = dict.fromkeys(measured.batches[row.system][1] for row in table.rows if row.system in measured.batches)
    if table.measure is not Measure.EFFICIENCY or not methods:
        return ""
    return f"Largest batch: examples of the greatest length, equal for all systems; {'; or '.join(methods)}."


def _missing(table: PublishedTable, measured: TableFigures) -> str:
    """Return which rows and columns were not run, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    if table.measure is Measure.RECALL:
        ran = measured.table1.measured
        absent = [row.label for row in table.rows if row.system not in ran]
        reason = "paragraphs were ranked by another method" if ran else "no test article has ranked paragraphs"
        return f"Not run: {', '.join(absent)} ({reason})." if absent else ""
    for row in table.rows:
        reason = measured.reasons.get(row.system) or _unscored(table, row, measured)
        if reason:
            by_reason.setdefault(reason, []).append(row.label)
    return "".join(f"Not run: {', '.join(labels)} ({reason}). " for reason, labels in by_reason.items()).strip()


def _unscored(table: PublishedTable, row: PublishedRow, measured: TableFigures) -> str:
    if table.measure is Measure.EFFICIENCY:
        return "" if row.system in measured.parameters else "its parameters were not counted"
    wanted = METRIC if table.measure is Measure.ATTENTION else measured.headline
    return "" if (row.system, wanted) in measured.scores else "no test article was scored"


def _differences(table: PublishedTable, measured: TableFigures) -> Sequence[Block]:
    """Return the pairs of rows that differ significantly, and how many were tested."""
    if table.measure is Measure.ATTENTION:
        metric, factor, digits, name = METRIC, 1, 4, "cosine"
    else:
        metric, factor, digits, name = measured.headline, 100, 2, metric_name(measured.headline)
    labels = {row.system: row.label for row in table.rows}
    pairs = measured.compare(list(labels), metric)
    if not pairs:
        return [Text("No two rows were scored on a common article: nothing to compare.")]
    certain = [pair for pair in pairs if pair.p_adjusted <= SIGNIFICANCE.level]
    level, why = percent(SIGNIFICANCE.level), too_few_articles(pairs, SIGNIFICANCE.level)
    sentence = (
        f"{len(certain)} of {len(pairs)} pairs of rows differ significantly in {name}, at {level} after Holm"
        f"{f': {why}' if why else ''}."
    )
    if not certain:
        return [Text(sentence)]
    rows: list[Row] = [
        [labels[pair.better], labels[pair.worse], _interval(pair.difference, factor, digits), f"{pair.p_adjusted:.3f}"]
        for pair in certain
    ]
    columns = ["higher", "lower", "difference", "p, corrected"]
    return [Text(sentence), table_of(f"Significant differences in {name}", columns, rows, range(2, 4))]


def rank_tests(measured: TableFigures) -> str:
    """Return Wilcoxon-Mann-Whitney tests, two-sided and unpaired, of Hie-BART and BART (Akiyama et al. 2021, 4.3)."""
    pairs = {
        name: [list(_scores(measured, system, name).values()) for system in ("hie-bart", "bart")] for name in _ROUGE
    }
    if not all(all(pair) for pair in pairs.values()):
        return "Hie-BART and BART were not both run: no Wilcoxon-Mann-Whitney test."
    tests = {metric_name(name): stats.mannwhitneyu(*pair) for name, pair in pairs.items()}
    result = ", ".join(f"{name} p = {test.pvalue:.3f}" for name, test in tests.items())
    return (
        f"Wilcoxon-Mann-Whitney test of Hie-BART against BART: {result}; published, R-1 and R-L with p of .05 and .10."
    )


def attention_to_documents(measured: TableFigures) -> list[Block]:
    """Return how BART+HED attends to documents compared with BART, with Welch's test (Shen et al. 2023, 6.3, Figure
    3)."""
    rows: list[Row] = []
    drawn, articles = {}, 0
    for metric, where, published in _LOOKS:
        hed, bart = (_scores(measured, system, metric) for system in ("hed", "bart"))
        common = [article for article in hed if bart.get(article)]
        if len(common) < 2:
            rows.append([where, *[NONE] * 4, published])
            continue
        first, second = (np.array([scores[article] for article in common]) for scores in (hed, bart))
        ratio = bootstrap((first / second)[:, None], SIGNIFICANCE, measured.seed)[0]
        p = stats.ttest_ind(first, second, equal_var=False).pvalue
        drawn[where] = (ratio.mean, ratio.low, ratio.high)
        articles = max(articles, len(common))
        means = [f"{100 * side.mean():.2f}" for side in (second, first)]
        rows.append([where, *means, _interval(ratio, 1, 3), f"{p:.3f}", published])
    if not drawn:
        return [Text("BART+HED and BART have no two articles with two documents in common: no analysis of attention.")]
    columns = ["attention to documents", "BART", "BART+HED", "BART+HED / BART", "p, Welch's test", "published ratio"]
    caption = f"Shen et al. 2023, sec. 6.3: points of 100, and their ratio on {articles:,} articles"
    picture = bars(drawn, "BART+HED relative to BART; 1 = equal")
    return [
        table_of(caption, columns, rows, range(1, 5)),
        Picture("Attention of BART+HED to documents relative to that of BART (Shen et al. 2023, Figure 3)", picture),
    ]


def _scores(measured: TableFigures, system: str, metric: str) -> dict[str, float]:
    """Return the score of each article."""
    table = measured.scored
    chosen = table.filter(pc.and_(pc.equal(table["system"], system), pc.equal(table["metric"], metric)))
    return dict(zip(chosen["article_id"].to_pylist(), chosen["value"].to_pylist(), strict=True))
