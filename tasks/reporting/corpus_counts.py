"""Counts of a corpus, stage by stage, and its size beside published ones, as text."""

from storage.builds import Build
from tasks.reporting.corpus_statistics import CorpusStatistics
from tasks.reporting.corpus_table import statistics_table
from tasks.reporting.text import summary

_INTAKE = "intake"  # its rows are those of `articles`, which count again


def describe_corpus(build: Build, statistics: CorpusStatistics, root: str) -> str:
    """Return a line for each stage: rows kept, and rows refused by reason, most frequent first; then the size."""
    lines = [f"{'stage':<12} {'kept':>10}  refused"]
    kept = {stage: count["rows"] - sum(count["drops"].values()) for stage, count in build.counts.items()}
    for stage, count in build.counts.items():
        if stage == _INTAKE:
            continue
        refused = ", ".join(f"{reason} {rows:,}" for reason, rows in count["drops"].items())
        lines.append(f"{stage:<12} {kept[stage]:>10,}  {refused}".rstrip())
    size = summary([statistics_table(statistics, kept["articles"])])
    return "\n".join([*lines, "", size, f"build {build.name}: its files are named in {root}/builds/{build.name}.json"])
