"""Meaningless titles in the properties of a file, which programs write automatically."""

_NONE = frozenset(
    {"", "untitled", "title", "document", "document1", "presentation", "powerpoint presentation", "slide 1"}
    | {"contents", "inhalt", "inhaltsverzeichnis"}
)
_FILES = (".doc", ".docx", ".dvi", ".indd", ".odt", ".pdf", ".ppt", ".pptx", ".tex")  # ends of names of files


def names_nothing(title: str) -> bool:
    """Tell whether a title is empty, the name of a file, or one that a program gives every file."""
    folded = title.casefold()
    return folded in _NONE or folded.endswith(_FILES) or folded.startswith("microsoft word -")
