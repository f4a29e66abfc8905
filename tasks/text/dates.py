"""Days that a text names by their distance from the day on which it was published."""

from datetime import date, timedelta

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DISTANCES = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


def resolved_day(word: str, published: str | None) -> str | None:
    """Return the day, as YYYY-MM-DD, that a word such as "Tuesday" or "yesterday" means in a text that was published
    on the day `published` (column `date` of `documents`). A weekday is the last one up to that day, as in reports; a
    text may also mean the coming one, which its tense tells, and not this function. None for any other word, and
    where the day of publication is not known."""
    if published is None:
        return None
    day, name = date.fromisoformat(published), word.lower().rstrip(".")
    if name in _WEEKDAYS:
        return str(day - timedelta((day.weekday() - _WEEKDAYS.index(name)) % 7))
    return str(day + timedelta(_DISTANCES[name])) if name in _DISTANCES else None
