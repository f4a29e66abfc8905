"""Counts of a corpus, stage by stage, as text."""

from storage.builds import Build

_INTAKE = "intake"  # its rows are those of `articles`, which count again


def describe_corpus(build: Build, root: str) -> str:
    """Return a line for each stage: rows kept, and rows refused by reason, most frequent first."""
    lines = [f"{'stage':<12} {'kept':>10}  refused"]
    for stage, count in build.counts.items():
        if stage == _INTAKE:
            continue
        kept = count["rows"] - sum(count["drops"].values())
        refused = ", ".join(f"{reason} {rows:,}" for reason, rows in count["drops"].items())
        lines.append(f"{stage:<12} {kept:>10,}  {refused}".rstrip())
    return "\n".join([*lines, "", f"build {build.name}: its files are named in {root}/builds/{build.name}.json"])
