"""Which text can be a path; a settings module imports it, so it imports nothing."""


def is_path_text(text: str) -> bool:
    """Return whether a text can be a path and be written to a file. A byte of a name that is not UTF-8 comes from the
    shell as half a character, which no file takes."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
