"""`python -m models`: every summarizer, its size beside the published one, its place in the papers."""

import sys

import torch

from models.registry import PRESETS, build_summarizer

LEDGER_WORDS = 32_000  # SYSTEMS.md counts parameters at this vocabulary


def count_parameters(preset: str, vocabulary_size: int = LEDGER_WORDS) -> int:
    """Return the number of parameters of a preset, without taking memory for them."""
    with torch.device("meta"):
        model = build_summarizer(preset, vocabulary_size=vocabulary_size)
    return sum(parameter.numel() for parameter in model.parameters())


def describe(ledger: int | tuple[int, int] | None, counted: int) -> str:
    """Return the ledger's number, and how far `counted` is from it where it differs."""
    if ledger is None:
        return "-"
    low, high = (ledger, ledger) if isinstance(ledger, int) else ledger
    published = f"{low:,}" if low == high else f"{low:,}-{high:,}"
    if low <= counted <= high:
        return published
    nearest = low if counted < low else high
    return f"{published} ({(counted - nearest) / nearest:+.1%})"


def listing() -> str:
    """Return the table that the command prints."""
    rows = [("preset", "parameters", "ledger", "paper", "what it is")]
    for name, preset in PRESETS.items():
        counted = count_parameters(name)
        ledger = describe(preset.parameters, counted)
        rows.append((name, f"{counted:,}", ledger, preset.paper, preset.note))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{'preset':<{widths[0]}}  {'parameters':>{widths[1]}}  " + _rest(rows[0][2:], widths[2:])]
    for row, preset in zip(rows[1:], PRESETS.values(), strict=True):
        lines.append(f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  " + _rest(row[2:], widths[2:]))
        if preset.differences:
            lines.append(f"{'':<{widths[0]}}    {preset.differences}")
    return "\n".join(lines)


def _rest(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


if __name__ == "__main__":
    sys.stdout.write(listing() + "\n")
