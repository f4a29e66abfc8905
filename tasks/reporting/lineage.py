"""The page on a build's lineage: a picture of what each stage was made from, and the same as a table."""

from collections.abc import Sequence

from tasks.reporting.blocks import Cell, Picture, Section, Table, Text
from tasks.reporting.lineage_picture import lineage_picture
from tasks.reporting.origins import Origin


def lineage_section(build: str, origins: Sequence[Origin]) -> Section:
    """Return the page: the picture, and what each stage was made from."""
    rows = [
        [
            Cell(origin.name),
            Cell(f"{origin.shards:,}" if origin.shards else ""),
            Cell("" if origin.rows is None else f"{origin.rows:,}"),
            Cell(origin.digest),
            Cell(", ".join(origin.reads)),
            Cell(", ".join(origin.code)),
        ]
        for origin in origins
    ]
    return Section(
        "lineage",
        f"Lineage of build {build}",
        [
            Text(
                "Read from the records of its shards: a line leads from a stage to one whose records name its digests. "
                "Equal digests in two builds mean equal data."
            ),
            Picture(
                "Stages, their shards and digests, and the build that names them",
                lineage_picture(build, origins),
                wide=True,
            ),
            Table(
                "What was made from what",
                ["stage", "shards", "rows", "digest", "made from", "code"],
                rows,
                frozenset({1, 2}),
            ),
        ],
    )
