"""What is wrong with settings, in words for people."""

from collections.abc import Callable, Sequence

from pydantic import ValidationError

from tasks.engine.settings import Settings

Line = Callable[[Sequence[str | int]], str | None]


def explain(error: ValidationError, line: Line = lambda place: None) -> str:
    """Return a validation error as one line per setting: its name, the given value, what is expected.

    Args:
        error: the error.
        line: returns the line of the file that gave the value at a place; None if no file did.
    """
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        # The message of a rule over several settings names their values itself; its input is the whole section.
        whole = problem["type"] == "missing" or isinstance(problem["input"], dict | Settings)
        given = None if whole else f"given: {problem['input']!r}"
        notes = ", ".join(note for note in (given, line(problem["loc"])) if note)
        lines.append(f"{name + ': ' if name else ''}{message}{f' ({notes})' if notes else ''}")
    return "\n".join(lines)
