"""What is wrong with settings, in words for people."""

from pydantic import ValidationError

from tasks.engine.settings import Settings


def explain(error: Exception) -> str:
    """Return a validation error as one line per setting: its name, the given value, what is expected."""
    if not isinstance(error, ValidationError):
        return f"  {error}"
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        # The message of a rule over several settings names their values itself; its input is the whole section.
        whole = problem["type"] == "missing" or isinstance(problem["input"], dict | Settings)
        shown_input = "" if whole else f" (given: {problem['input']!r})"
        lines.append(f"  {name + ': ' if name else ''}{message}{shown_input}")
    return "\n".join(lines)
