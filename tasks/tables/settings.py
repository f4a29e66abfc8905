"""Settings of the papers' tables."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from tasks.engine.settings import MOST_STEPS, Settings
from tasks.tables.published import PUBLISHED, SYSTEMS

TABLES = tuple(table.name for table in PUBLISHED)


class TableSettings(Settings):
    """Which tables of the papers are reproduced, with which systems, and at what size."""

    tables: tuple[str, ...] = Field(TABLES, min_length=1)
    """tables to publish, as PAPER-TABLE: 000 Liu & Lapata 2019, 001 and 002 Ma & Zong 2020 and 2022, 003 Shen et al.
    2023, 004 Akiyama et al. 2021"""
    systems: tuple[str, ...] = ()
    """systems to train and evaluate, as tasks/tables/systems.toml names them; none named = all. Those of `baselines`
    are always among them"""
    size: Literal["paper", "small"] = "paper"
    """presets of the papers' size, or those for laptops"""
    source_scale: float = Field(1.0, gt=0, le=100)
    """factor of the papers' source lengths (24 paragraphs, 600 tokens and so on)"""
    steps: int | None = Field(None, ge=1, le=MOST_STEPS)
    """training steps of each system; null = those of `training`"""

    @field_validator("tables", "systems")
    @classmethod
    def _known(cls, names: tuple[str, ...], field: ValidationInfo) -> tuple[str, ...]:
        known = TABLES if field.field_name == "tables" else tuple(SYSTEMS)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"unknown {field.field_name} {unknown}, expected some of: {', '.join(known)}")
        return names

    def scaled(self, length: int) -> int:
        """Return a source length of the papers, in paragraphs or tokens, at this scale: 1 at least."""
        return max(1, round(length * self.source_scale))
