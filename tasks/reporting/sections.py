"""The texts and tables of the report, one function per section; HTML, artifacts and terminal all show these."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args
from urllib.parse import urlencode

import numpy as np

from tasks.evaluation.metrics import METRICS, Group, metric_name
from tasks.reporting import plots
from tasks.reporting.attention_picture import attention_picture, drawn_tokens
from tasks.reporting.blocks import (
    Block,
    Cell,
    Cited,
    Figure,
    Figures,
    Folded,
    Heading,
    Lines,
    Picture,
    Quote,
    ReportSection,
    Table,
    Text,
    percent,
)
from tasks.reporting.corpus_table import statistics_table
from tasks.reporting.curves import Curve
from tasks.reporting.facts import Fact
from tasks.reporting.findings import Distributions, FunnelRow, HostRow, Ranking, Table1, imbalances
from tasks.reporting.reasons import meaning
from tasks.reporting.samples import Sample, Samples
from tasks.reporting.verdicts import (
    NOTHING_SCORED,
    SHOWN_THE_TARGET,
    best_systems,
    comparison_sentence,
    counted_articles,
    headline_sentence,
)

_METHODS = {
    "similarity": "tf-idf similarity with the title",
    "bm25": "BM25 with the title",
    "sentence-encoder": "cosine of sentence vectors with the title's",
    "cross-encoder": "cross-encoder on title and paragraph",
    "ranking": "learned ranker",
    "rouge": "ROUGE-2 recall against the lead",
    "found": "the order in which they were found",
}
_BASELINES = {
    "lead": "lead: the title and the best paragraphs, cut at the length of the target",
    "lexrank": "lexrank: the most central paragraphs (LexRank)",
    "concepts": "concepts: the whole sentences that together hold most of what a lead is likely to say",
    "filler": "filler: sentences of training leads, with the values that stand where theirs stood",
    "greedy-rouge2": "greedy-rouge2: the paragraphs that, one by one, raise ROUGE-2 with the target most (the papers' "
    "oracle): a bound for choosing whole paragraphs, and not a competitor",
    "ceiling": "ceiling: the target without what the paragraphs read lack: the best that could be said of them",
}
_JUDGES = ("ranker-loss", "summarizer-nll")  # the curves whose lowest validation picks a model's checkpoint
_NONE = "–"
# What the headline shows: the first three that were scored, each beside the best system without training; what is true
# where it is known, else what a source says.
_QUOTED = ("facts-sentences", "said", "values-right", "values-recalled", "values", "rouge1", "rouge2", "rougeL")
_FIGURES = 3


def headline_section(ranking: Ranking) -> ReportSection:
    """What a person can quote: three figures of the best trained system, and how it compares."""
    title, scored = "In short", [metric for metric in _QUOTED if metric in ranking.metrics]
    metrics = [one for one in scored if not (one == "said" and "facts-sentences" in scored)][:_FIGURES]
    trained, baseline = best_systems(ranking)
    system = trained or baseline
    if system is None:
        return ReportSection("headline", title, [Text(headline_sentence(ranking))])
    figures = []
    for metric in metrics:
        cell = _score(ranking, system, metric)
        beside = f"; {baseline} {_score(ranking, baseline, metric).text}" if baseline not in (None, system) else ""
        unit = " %" if METRICS[metric].unit == "percent" else ""
        figures.append(Figure(f"{cell.text}{unit}", f"{metric_name(metric)}, {system}", f"{cell.note}{beside}"))
    meanings = "; ".join(f"{metric_name(metric)}: {METRICS[metric].meaning}" for metric in metrics)
    blocks: list[Block] = [Figures(figures), Text(headline_sentence(ranking))]
    blocks.append(Text(f"With each figure its {percent(ranking.confidence)} interval. {meanings}."))
    return ReportSection("headline", title, blocks)


def built(facts: Iterable[Fact]) -> ReportSection:
    """The facts of the build."""
    rows = [[Cell(fact.name), Cell(fact.value)] for fact in facts]
    return ReportSection("built", "What was built", [Table("This build", ["fact", "value"], rows)])


def funnel_section(rows: Sequence[FunnelRow]) -> ReportSection:
    """Counts along the pipeline, and all refused rows by reason."""
    title = "From articles to examples"
    if not rows:
        return ReportSection("funnel", title, [Text("No stage was counted.")])
    stages = [
        [
            Cell(row.heading),
            Cell(f"{row.rows:,}"),
            Cell(f"{row.kept:,}", strong=True),
            Cell(f"{row.refused:,}"),
            _share(row.kept, row.rows),
        ]
        for row in rows
    ]
    reasons = [
        [
            Cell(row.heading),
            Cell(reason),
            Cell(f"{count:,}", rows=_listed(row.stage, reason)),
            _share(count, row.rows),
            Cell(meaning(row.stage, reason)),
        ]
        for row in rows
        for reason, count in row.drops.items()
    ]
    blocks: list[Block] = [
        Text(
            "In every stage rows = kept + refused; a refused row stays in its table with its reason. A page that "
            "several articles cite is fetched once and becomes a document of each of them."
        ),
        Table("Rows of each stage", ["stage", "rows", "kept", "refused", "kept, %"], stages, frozenset({1, 2, 3, 4})),
    ]
    blocks += [Text(f"The counts are inconsistent: {sentence}") for sentence in imbalances(rows)]
    if reasons:
        columns = ["stage", "reason", "rows", "of the stage, %", "meaning"]
        blocks.append(Table("Why rows were refused", columns, reasons, frozenset({2, 3})))
    else:
        blocks.append(Text("Nothing was refused."))
    return ReportSection("funnel", title, blocks)


def hosts_section(hosts: Sequence[HostRow]) -> ReportSection:
    """The hosts whose pages failed most."""
    title = "Hosts with the most failures"
    if not hosts:
        return ReportSection("hosts", title, [Text("No fetch of a page failed.")])
    rows = [
        [
            Cell(row.host),
            Cell(f"{row.urls:,}"),
            Cell(f"{row.failed:,}"),
            _share(row.failed, row.urls),
            Cell(", ".join(f"{reason} {count:,}" for reason, count in row.drops.items())),
        ]
        for row in hosts
    ]
    columns = ["host", "URLs", "without a page", "failed, %", "reasons"]
    caption = f"The {len(rows):,} hosts with the most URLs without a usable page"
    return ReportSection("hosts", title, [Table(caption, columns, rows, frozenset({1, 2, 3}))])


def table1_section(table1: Table1) -> ReportSection:
    """Liu & Lapata 2019, Table 1 on this corpus."""
    title = "Ranking paragraphs"
    if not table1.rows:
        return ReportSection(
            "table1", title, [Text("No article of the test split has ranked paragraphs: nothing to score.")]
        )
    rows = []
    for row in table1.rows:
        name = _METHODS.get(row.method, row.method)
        rows.append([Cell(name), Cell("this build"), *_recalls(row.measured, table1.cutoffs, strong=True)])
        if row.published:
            rows.append([Cell(name), Cell("paper, WikiSum"), *_recalls(row.published, table1.cutoffs)])
    columns = ["paragraphs ranked by", "corpus", *[f"L' = {cutoff}" for cutoff in table1.cutoffs]]
    caption = f"ROUGE-L recall of the L' best paragraphs against the lead, %; {counted_articles(table1.articles)}"
    blocks: list[Block] = [
        Table(caption, columns, rows, frozenset(range(2, len(columns)))),
        Text(
            "The paper's rows are Table 1 of Liu & Lapata 2019, on WikiSum with its 1.6 million articles of some "
            "525 paragraphs each. This corpus is different, also in size: compare the order of rows, not figures."
        ),
    ]
    return ReportSection("table1", title, blocks)


def scores_section(
    ranking: Ranking, writer: Mapping[str, Any] | None = None, tally: Mapping[str, int] | None = None
) -> ReportSection:
    """Scores of all systems with intervals, and the comparison of each pair; `writer` has the settings of a language
    model that is one of them, `tally` what was counted while it wrote."""
    title = "Summaries: scores"
    if not ranking.systems:
        return ReportSection("scores", title, [Text(NOTHING_SCORED)])
    blocks: list[Block] = [Text(headline_sentence(ranking)), _score_picture(ranking)]
    for heading, chosen in _grouped(ranking.metrics):
        if chosen:
            blocks.append(_score_table(ranking, heading, chosen))
    meanings = [
        f"{METRICS[metric].label}: {METRICS[metric].meaning}"
        for metric in ranking.metrics
        if METRICS[metric].group != "rouge"
    ]
    if meanings:
        blocks.append(Text(f"{'; '.join(meanings)}."))
    notes = [_BASELINES[system] for system in ranking.systems if system in _BASELINES]
    if notes:
        blocks.append(Text(f"Systems without training: {'; '.join(notes)}."))
    if writer is not None:
        counted = "; ".join(f"{name} {count:,}" for name, count in (tally or {}).items())
        blocks.append(
            Text(
                f"{writer['model']} is a language model that was asked at {writer['url']}: a hosted model may change "
                "under the same name, so that the same settings may give other summaries. Each of its sentences was "
                f"held against its passages, and its citations stand where others have attention. Counted: {counted}."
            )
        )
    blocks.append(
        Text(
            "ROUGE-L takes a summary as one line, ROUGE-Lsum sentence by sentence. Intervals are "
            f"{percent(ranking.confidence)} bootstrap intervals over articles."
        )
    )
    blocks.append(Heading(f"Differences in {metric_name(ranking.headline)}"))
    if ranking.comparisons:
        blocks.append(_comparison_table(ranking))
    else:
        blocks.append(Text("No two systems were scored on a common article: nothing to compare."))
    return ReportSection("scores", title, blocks)


def training_section(ranker: Sequence[Curve], summarizer: Sequence[Curve]) -> ReportSection:
    """Training curves of both models."""
    blocks: list[Block] = []
    for name, curves in (("Ranker", ranker), ("Summarizer", summarizer)):
        blocks += [Heading(name), *_training(f"The {name.lower()}", curves)]
    return ReportSection("training", "Training", blocks)


def model_section(name: str, curves: Sequence[Curve]) -> ReportSection:
    """Training curves of one model, as soon as it is trained."""
    return ReportSection("training", f"Training of {name}", _training(name, curves))


def _training(name: str, curves: Sequence[Curve]) -> list[Block]:
    if not curves:
        return [Text(f"{name} has no metrics of its training.")]
    blocks: list[Block] = []
    for curve in curves:
        if curve.name in _JUDGES and (points := curve.series["validation"]):
            step, value = min(points, key=lambda point: point[1])
            times = "once" if len(points) == 1 else f"{len(points):,} times"
            blocks.append(Text(f"Validated {times}; the lowest value, {value:.4f}, was at step {step:,}."))
    return blocks + [Picture(curve.title, plots.curve_picture(curve)) for curve in curves]


def distributions_section(
    distributions: Distributions, summary_words: Mapping[str, np.ndarray], instances: int
) -> ReportSection:
    """Lengths of paragraphs, leads and summaries, the labels, and the size of all `instances` articles."""
    title = "Lengths and labels"
    lengths = {"lead sections": distributions.lead_words, **summary_words}
    groups: list[tuple[str, np.ndarray]] = [
        ("kept paragraphs, words", distributions.paragraph_words),
        ("labels: ROUGE-2 recall, %", 100 * distributions.labels),
        ("lead sections, words", distributions.lead_words),
        *[(f"summaries of {system}, words", words) for system, words in summary_words.items()],
    ]
    rows = [[Cell(name), *_quantiles(values)] for name, values in groups if len(values)]
    if not rows:
        return ReportSection("distributions", title, [Text("No paragraph was kept and no lead section used.")])
    blocks: list[Block] = [
        Text(
            f"From the first {distributions.shards:,} of {distributions.of:,} article shards. Words are separated by "
            "spaces. The histogram of lengths leaves out the longest 1 %."
        ),
        Table(
            "Distributions",
            ["length or label", "count", "5 %", "median", "mean", "95 %", "most"],
            rows,
            frozenset(range(1, 7)),
        ),
        statistics_table(distributions.statistics, instances),
    ]
    if len(distributions.paragraph_words):
        png = plots.histogram(distributions.paragraph_words, "length (words)", of="paragraphs")
        blocks.append(Picture("Length of kept paragraphs", png))
    if len(distributions.labels):
        png = plots.histogram(distributions.labels, "ROUGE-2 recall (0-1)", of="paragraphs", logarithmic=True)
        blocks.append(Picture("Labels of paragraphs; counts on a logarithmic axis", png))
    shown = {name: values for name, values in lengths.items() if len(values)}
    if shown:
        caption = "Length of lead sections and summaries: middle half with its median, and 5th to 95th percentile"
        blocks.append(Picture(caption, plots.boxes(shown, "length (words)")))
    return ReportSection("distributions", title, blocks)


def samples_section(samples: Samples) -> ReportSection:
    """Articles of the test split with the systems' summaries."""
    title = "Sample summaries"
    if not samples.articles:
        return ReportSection("samples", title, [Text("No article of the test split has a summary to show.")])
    blocks: list[Block] = [
        Text(
            "Each sentence is followed by the pages that support it: of the paragraphs read by its system the one that "
            "says it, as far as a verifier can tell, or two from which it is put together; where there is none, those "
            "that hold most of its names, numbers and dates. Ties are decided by attention; rank and share of "
            "attention are shown. What is missing or in doubt is named in bold. The title counts as known."
        )
    ]
    for article in samples.articles:
        blocks += _sample(article)
    return ReportSection("samples", title, blocks)


def attention_section(samples: Samples) -> ReportSection:
    """Paragraph attention over time of every sample summary whose system has attention."""
    title = "Attention of the summaries"
    pictures: list[Block] = []
    for article in samples.articles:
        drawn = [written for written in article.written if written.attention is not None]
        if drawn:
            pictures.append(Heading(article.title))
        for written in drawn:
            assert written.attention is not None
            tokens, shown = len(written.attention.tokens), drawn_tokens(written.attention)
            caption = f"Paragraph attention of {written.system} while it wrote about “{article.title}”"
            caption += f", the first {shown:,} of {tokens:,} tokens" if shown < tokens else f", {tokens:,} tokens"
            pictures.append(Picture(caption, attention_picture(written.attention), wide=True))
    if not pictures:
        return ReportSection("attention", title, [Text("No system with attention has a summary to show.")])
    legend = Text(
        "A column is a token of the summary, a row a ranked paragraph with the host of its page: the stronger its "
        "colour, the more of the token's attention it has. Dotted lines separate sentences; a box marks a paragraph "
        "that is cited for a sentence because it supports the sentence. A dot before letters means that they continue "
        "a word."
    )
    return ReportSection("attention", title, [legend, *pictures])


def graphs_section(samples: Samples) -> ReportSection:
    """The similarity graph and the discourse graph of the first sample article that has them."""
    title = "Paragraph graphs"
    for article in samples.articles:
        if article.graph is not None:
            caption = f"Graphs over the ranked paragraphs of “{article.title}”, numbered by rank"
            legend = Text(
                "Nodes are ranked paragraphs, clockwise from the top; the stronger an edge, the higher "
                "its weight among those of its graph."
            )
            return ReportSection("graphs", title, [legend, Picture(caption, plots.graph_picture(article.graph))])
    return ReportSection("graphs", title, [Text("No sample article has a graph.")])


def costs_section(counts: Mapping[str, Mapping[str, Any]]) -> ReportSection:
    """Time, disk and memory of every counted stage, model or report; what was not recorded stays open."""
    if not counts:
        return ReportSection("costs", "Time and space", [Text("No stage was counted.")])

    def row(name: Cell, rows: Cell, cost: Mapping[str, Any]) -> list[Cell]:
        size, peak = cost.get("bytes"), cost.get("peak_bytes") or None  # in bytes
        return [name, rows, _number(size, 2, 1e6), _number(cost.get("seconds"), 1), _number(peak, 0, 1e6)]

    rows = [row(Cell(stage), _number(cost.get("rows"), 0), cost) for stage, cost in counts.items()]
    every = {name: [cost.get(name) or 0 for cost in counts.values()] for name in ("bytes", "seconds", "peak_bytes")}
    together = {"bytes": sum(every["bytes"]), "seconds": sum(every["seconds"]), "peak_bytes": max(every["peak_bytes"])}
    rows.append(row(Cell("together", strong=True), Cell(""), together))
    columns = ["stage", "rows", "MB on disk", "work, s", "peak memory, MB"]
    blocks: list[Block] = [
        Table("Cost of each stage", columns, rows, frozenset({1, 2, 3, 4})),
        Text(
            "Work is the sum over shards, wherever they were computed. Peak memory is that of the process that made "
            "a shard, including earlier shards of the process. 1 MB is a million bytes."
        ),
    ]
    return ReportSection("costs", "Time and space", blocks)


def settings_section(lines: Sequence[str]) -> ReportSection:
    """The settings that decide the content of the build."""
    blocks: list[Block] = [Lines(lines)] if lines else [Text("No settings were given.")]
    return ReportSection("settings", "Settings", blocks)


def _grouped(metrics: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the tables of scores, truth first: heading and metrics of each."""
    groups = {group: [metric for metric in metrics if METRICS[metric].group == group] for group in get_args(Group)}
    judged = [metric for metric in groups["truth"] if METRICS[metric].judge is not None]
    facts = [metric for metric in groups["truth"] if metric.startswith("facts-")]
    values = [metric for metric in groups["truth"] if metric.startswith("values")]
    cited = [metric for metric in groups["truth"] if metric not in (*judged, *facts, *values)]
    stemmed = [metric for metric in groups["rouge"] if metric.endswith("-stem")]
    plain = [metric for metric in groups["rouge"] if metric not in stemmed]
    return [
        ("Truth: facts of the mini web, which knows them all, %", facts),
        ("Truth: names, numbers and dates in input, sources and lead, %", values),
        ("Truth: sentences and the paragraphs cited for them, %", cited),
        ("Truth by judges: shares in %, ratios as numbers", judged),
        ("ROUGE F1 without stemming, %", plain),
        ("ROUGE F1 stemmed (Porter), %", stemmed),
        ("Similarity to the lead by a model, %", groups["similarity"]),
        ("Style: shares in %, ratios as numbers", groups["style"]),
    ]


def short_score_table(ranking: Ranking) -> Table:
    """Return the table for the terminal: truth, ROUGE-1, -2 and -L, and the interval of the headline metric."""
    suffix = "-stem" if ranking.headline.endswith("-stem") else ""
    truth = ("values-input", "values-right", "values-recalled", "said", "facts-sentences", "subject-named")
    wanted = [*truth, *[f"{metric}{suffix}" for metric in ("rouge1", "rouge2", "rougeL")]]
    chosen = [metric for metric in wanted if metric in ranking.metrics]
    if ranking.headline not in chosen:
        chosen.append(ranking.headline)
    interval = f"{metric_name(ranking.headline)}, {percent(ranking.confidence)} interval"
    rows = []
    for system in ranking.systems:
        cells = [_score(ranking, system, metric) for metric in chosen]
        note = _score(ranking, system, ranking.headline).note or _NONE
        rows.append([Cell(system), *[Cell(cell.text) for cell in cells], Cell(note)])
    columns = ["system", *map(metric_name, chosen), interval]
    caption = f"Summaries: truth, and ROUGE F1, %; {counted_articles(ranking.articles)}"
    return Table(caption, columns, rows, frozenset(range(1, len(columns))))


def _score_table(ranking: Ranking, heading: str, metrics: Sequence[str]) -> Table:
    rivals = [system for system in ranking.systems if system not in SHOWN_THE_TARGET]
    best = {}
    for metric in metrics:
        values = [ranking.scores[system, metric].value.mean for system in rivals if (system, metric) in ranking.scores]
        best[metric] = METRICS[metric].best(values)
    rows = [
        [
            Cell(system),
            *[_score(ranking, system, metric, best[metric] if system in rivals else None) for metric in metrics],
        ]
        for system in ranking.systems
    ]
    columns = ["system", *[metric_name(metric.removesuffix("-stem")) for metric in metrics]]
    caption = f"{heading}, with intervals; {counted_articles(ranking.articles)}"
    return Table(caption, columns, rows, frozenset(range(1, len(columns))))


def _score(ranking: Ranking, system: str, metric: str, best: float | None = None) -> Cell:
    score = ranking.scores.get((system, metric))
    if score is None:
        return Cell(_NONE)
    value, scale = score.value, METRICS[metric].scale
    note = f"{scale * value.low:.2f} to {scale * value.high:.2f}"
    rows = urlencode({"of": "scores", "metric": metric, "system": system, "order": "value"})
    return Cell(f"{scale * value.mean:.2f}", note, strong=best is not None and value.mean == best, rows=rows)


def _score_picture(ranking: Ranking) -> Picture:
    name = metric_name(ranking.headline)
    values = {}
    for system in ranking.systems:
        if score := ranking.scores.get((system, ranking.headline)):
            values[system] = (100 * score.value.mean, 100 * score.value.low, 100 * score.value.high)
    caption = f"{name} of each system, with its {percent(ranking.confidence)} interval"
    return Picture(caption, plots.bars(values, name))


def _comparison_table(ranking: Ranking) -> Table:
    rows = [
        [
            Cell(pair.better),
            Cell(pair.worse),
            Cell(
                f"{100 * pair.difference.mean:.2f}",
                f"{100 * pair.difference.low:.2f} to {100 * pair.difference.high:.2f}",
            ),
            Cell(f"{pair.p_value:.3f}"),
            Cell(f"{pair.p_adjusted:.3f}"),
            Cell(comparison_sentence(pair, ranking)),
        ]
        for pair in ranking.comparisons
    ]
    caption = "Each pair on the articles both summarized: points of 100, paired randomisation test, Holm's correction"
    columns = ["higher", "lower", "difference", "p", "p, corrected", "verdict"]
    return Table(caption, columns, rows, frozenset({2, 3, 4}))


def _sample(article: Sample) -> list[Block]:
    blocks: list[Block] = [
        Heading(article.title),
        Heading("Lead section (the target)", 4),
        Quote(article.lead, article.lead_left_out),
    ]
    summaries: list[list[Block]] = [
        [
            Heading(f"Summary by {written.system}", 4),
            Cited(written.sentences, written.sources, written.left_out)
            if written.sentences
            else Text("An empty summary."),
        ]
        for written in article.written
    ]
    blocks += [block for summary in summaries[:1] for block in summary]
    if others := [block for summary in summaries[1:] for block in summary]:
        blocks.append(Folded(f"Summaries by {', '.join(one.system for one in article.written[1:])}", others))
    return blocks


def _recalls(values: Mapping[int, float], cutoffs: Sequence[int], *, strong: bool = False) -> list[Cell]:
    return [Cell(f"{values[c]:.2f}", strong=strong) if c in values else Cell(_NONE) for c in cutoffs]


def _quantiles(values: np.ndarray) -> list[Cell]:
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    counted = np.issubdtype(values.dtype, np.integer)
    shown = [low, median, float(values.mean(dtype=np.float64)), high, values.max()]
    return [Cell(f"{len(values):,}"), *[Cell(f"{x:,.0f}" if counted else f"{x:,.1f}") for x in shown]]


def _listed(stage: str, reason: str) -> str:
    """Return the query of the explorer's list of the rows that a stage refused for a reason; "" where it lists none."""
    kind = {"articles": "articles", "pages": "documents", "documents": "documents"}.get(stage)
    kind = "paragraphs" if stage in ("paragraphs", "compared") else kind
    return urlencode({"of": kind, "reason": reason}) if kind else ""


def _share(part: int, total: int) -> Cell:
    return Cell(f"{100 * part / total:.1f}", share=max(0.0, part / total)) if total else Cell(_NONE)


def _number(value: float | None, digits: int, unit: float = 1) -> Cell:
    return Cell(_NONE if value is None else f"{value / unit:,.{digits}f}")
