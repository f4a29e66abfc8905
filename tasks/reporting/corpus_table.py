"""The size of a corpus beside the published ones of Shen et al. 2023, Table 1, and its counts, stage by stage."""

from storage.builds import Build
from tasks.reporting.blocks import Cell, Table
from tasks.reporting.corpus_statistics import CorpusStatistics
from tasks.reporting.page import summary

# The rows of `intake` are those of `articles`, which count again; the others compare paragraphs, and `compared` counts.
_LEFT_OUT = ("intake", "lead_ngrams", "sketches", "twins", "twin_words", "overlaps")
_COLUMNS = ("corpus", "instances", "documents", "source, words", "target, words")
# Shen et al. 2023, Table 1: instances in thousands, documents, lengths of source and target. Its unit is not stated.
_PUBLISHED = {
    "Multi-News": (56, 2.8, 1793, 217),
    "WCEP-10": (10, 9.1, 3866, 28),
    "Multi-XScience": (40, 5.1, 700, 105),
    "Rotten Tomatoes": (3, 100, 2052, 21),
    "MReD": (6, 3.3, 1478, 120),
    "MReD+": (6, 6.3, 3069, 120),
    "Film": (37, 4.5, 777, 92),
    "MeanOfTransportation": (10, 4.1, 878, 88),
    "Town": (16, 4.7, 582, 52),
    "Software": (15, 4.3, 843, 113),
}


def statistics_table(found: CorpusStatistics, instances: int) -> Table:
    """Return the figures of this corpus above those that Shen et al. 2023 publish. Means are of a sample if there are
    many articles; `instances` counts all."""
    rows = [
        _row(name, f"{instances:,}", sources.documents, sources.words, found.target_words)
        for name, sources in (("this one", found.sources), ("this one, kept paragraphs", found.kept))
    ]
    rows += [
        _row(f"{name}, published", f"{thousands} K", documents, source, target)
        for name, (thousands, documents, source, target) in _PUBLISHED.items()
    ]
    sample = "" if found.articles == instances else f"; means of {found.articles:,} articles"
    caption = f"Size of the corpus, as in Shen et al. 2023, Table 1{sample}"
    return Table(caption, _COLUMNS, rows, frozenset(range(1, len(_COLUMNS))))


def describe_corpus(build: Build, statistics: CorpusStatistics, root: str) -> str:
    """Return a line for each stage: rows kept, and rows refused by reason, most frequent first; then the size."""
    lines = [f"{'stage':<12} {'kept':>10}  refused"]
    kept = {stage: count["rows"] - sum(count["drops"].values()) for stage, count in build.counts.items()}
    for stage, count in build.counts.items():
        if stage in _LEFT_OUT:
            continue
        refused = ", ".join(f"{reason} {rows:,}" for reason, rows in count["drops"].items())
        lines.append(f"{stage:<12} {kept[stage]:>10,}  {refused}".rstrip())
    size = summary([statistics_table(statistics, kept["articles"])])
    return "\n".join([*lines, "", size, f"build {build.name}: its files are named in {root}/builds/{build.name}.json"])


def _row(name: str, instances: str, documents: float, source: float, target: float) -> list[Cell]:
    return [Cell(name), Cell(instances), Cell(f"{documents:.1f}"), Cell(f"{source:,.0f}"), Cell(f"{target:,.0f}")]
