"""Settings of the papers' tables."""

from typing import Literal, get_args

from pydantic import Field, field_validator

from tasks.engine.settings import Settings
from tasks.tables.systems import SYSTEMS

TableName = Literal[
    "000-1",
    "000-2",
    "000-3",
    "001-1",
    "001-2",
    "001-4",
    "002-1",
    "002-2",
    "002-4",
    "002-5",
    "002-6",
    "003-2",
    "003-5",
    "003-11",
    "004-1",
    "004-2",
]
TABLES: tuple[TableName, ...] = get_args(TableName)


class TableSettings(Settings):
    """Which tables of the papers are reproduced, with which systems, and at what size."""

    tables: tuple[TableName, ...] = Field(
        TABLES,
        min_length=1,
        description="tables to publish, as PAPER-TABLE: 000 Liu & Lapata 2019, 001 and 002 Ma & Zong 2020 "
        "and 2022, 003 Shen et al. 2023, 004 Akiyama et al. 2021",
    )
    systems: tuple[str, ...] = Field(
        (),
        description="systems to train and evaluate, as tasks/tables/systems.py names them; none named = all. Those "
        "of `baselines` are always among them",
    )
    size: Literal["paper", "small"] = Field("paper", description="presets of the papers' size, or those for laptops")
    source_scale: float = Field(
        1.0, gt=0, description="factor of the papers' source lengths (24 paragraphs, 600 tokens and so on)"
    )
    steps: int | None = Field(None, ge=1, description="training steps of each system; null = those of `training`")

    @field_validator("systems")
    @classmethod
    def _known(cls, systems: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in systems if name not in SYSTEMS]
        if unknown:
            raise ValueError(f"unknown systems {unknown}, expected some of: {', '.join(SYSTEMS)}")
        return systems

    def scaled(self, length: int) -> int:
        """Return a source length of the papers, in paragraphs or tokens, at this scale: 1 at least."""
        return max(1, round(length * self.source_scale))
