"""Whether texts fit the positions that a decoder has learned, checked before work starts."""

from models.presets import LEARNED_POSITIONS, find_preset
from tasks.summarization.settings import SummarizerSettings


def check_lengths(settings: SummarizerSettings, longest: int, setting: str) -> None:
    """Check that the `longest` target or summary, in tokens, fits the learned positions of an architecture that has
    such; `setting` asks for it. Raises ValueError: there are fewer positions.
    """
    preset = find_preset(settings.preset)
    if preset.architecture not in LEARNED_POSITIONS:
        return
    fields = {**preset.settings, **settings.overrides}
    positions = fields.get("max_positions", LEARNED_POSITIONS[preset.architecture])
    if longest > positions:
        raise ValueError(
            f"{setting} needs {longest} positions of the decoder, and preset {settings.preset!r} has {positions} "
            "(max_positions among summarizer.overrides)"
        )
