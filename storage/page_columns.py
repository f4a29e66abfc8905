"""Descriptions of the datasets' columns, for schemas and for settings, without Arrow."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIBED: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("schemas.toml").read_text("utf-8"))
# the figures that `documents` holds of a page's text: their names and meanings
QUALITY_SIGNALS: Mapping[str, str] = DESCRIBED["quality"]["members"]
PERSONAL_DATA: Mapping[str, str] = DESCRIBED["personal"]["members"]
