"""Which paragraphs of a build its later stages read."""

from collections.abc import Container

COMPARED = "compared"  # the stage that refuses near-duplicates and leaks; a build that refuses none does not have it


def compared_paragraphs(stages: Container[str]) -> str:
    """Return the stage of a build whose paragraphs were labelled and ranked, given the names of its stages."""
    return COMPARED if COMPARED in stages else "paragraphs"
