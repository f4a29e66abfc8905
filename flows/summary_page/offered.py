"""The systems that people can choose, as the page names them."""

import time
from collections.abc import Mapping

from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import trained_systems

_FRESH_SECONDS = 60.0  # retraining adds systems while the page runs


class OfferedSystems:
    """What each system is called: the choice that `chosen_system` takes -> what it says to people."""

    def __init__(self, model: str | None, settings: SummarySettings) -> None:
        """Take the root of trained systems, None for none, and the settings, of which the language model counts."""
        self._model, self._writer = model, settings.writer and settings.writer.model
        self._found: Mapping[str, str] = {}
        self._until = 0.0

    def __call__(self) -> Mapping[str, str]:
        """Return the systems, the usual one first. Raises StorageError: the root cannot be listed."""
        if time.monotonic() > self._until:
            self._found, self._until = self._find(), time.monotonic() + _FRESH_SECONDS
        return self._found

    def _find(self) -> dict[str, str]:
        extractive = {"extractive": "sentences of the sources, as they are"}
        if self._model is None:
            usual = {"suitable": f"the language model {self._writer}, each sentence checked"} if self._writer else {}
            return usual | extractive
        if self._writer:
            usual = {"suitable": f"the language model {self._writer}, each sentence checked"}
        else:
            usual = {"suitable": "the trained model if it suits the sources, else their own sentences"}
        names = trained_systems(self._model)
        others = {name: f"the trained model of {name}" for name in names} if len(names) > 1 else {}
        return usual | {"model": "the trained model, whatever it writes"} | others | extractive
