"""Attributes of HTML that hold a list of words, such as class, rel and property: compared word by word, never whole."""

from lxml import html


def tokens(element: html.HtmlElement, attribute: str) -> list[str]:
    """Return the words of an attribute, in its order and as written; none if the element lacks it."""
    return (element.get(attribute) or "").split()
