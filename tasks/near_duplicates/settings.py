"""Settings of what articles share: what is counted, and what is refused."""

from typing import Literal

from tasks.engine.settings import Settings


class AcrossSettings(Settings):
    """What paragraphs share with those of other articles; nothing is computed while both settings are off."""

    near_duplicates: Literal["off", "counted", "article", "corpus"] = "off"
    """paragraphs and documents nearly equal to an earlier one: counted, or refused where that one is of the same
    article, or of any article of the corpus; one with another number or name is kept; off in the papers"""
    leakage: Literal["off", "counted", "leads", "pages"] = "off"
    """sources of training articles that contain 13 words in a row of a validation or test lead: counted, or refused
    (leads); pages also refuses what is nearly equal to a source of such an article; off in the papers"""

    @property
    def on(self) -> bool:
        """Whether anything is asked for."""
        return (self.near_duplicates, self.leakage) != ("off", "off")

    @property
    def refuses(self) -> bool:
        """Whether anything is refused."""
        return self.near_duplicates in ("article", "corpus") or self.leakage in ("leads", "pages")
