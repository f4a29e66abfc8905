"""Whether texts fit the positions that a decoder has learned, checked before work starts."""

from models.presets import LEARNED_POSITIONS, find_preset
from tasks.summarization.settings import SummarizerSettings


def check_lengths(settings: SummarizerSettings, longest: int, setting: str) -> None:
    """Check that a target or summary fits the learned positions of an architecture that has such.

    Args:
        settings: which summarizer.
        longest: tokens that its decoder reads, special ones included.
        setting: what asks for them, for the message.

    Raises:
        ValueError: there are fewer positions.
    """
    if find_preset(settings.preset).architecture not in LEARNED_POSITIONS:
        return
    from models.registry import fields_of  # here, because it loads torch, and a plan of most builds needs none

    positions = fields_of(settings.preset, settings.overrides)["max_positions"]
    if longest > positions:
        raise ValueError(
            f"{setting} needs {longest} positions of the decoder, and preset {settings.preset!r} has {positions} "
            "(max_positions among summarizer.overrides)"
        )
