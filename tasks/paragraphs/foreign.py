"""Find the paragraphs that are in another language than their article, of which a summary has no use. A summarizer of
one language learns nothing from them, and no published system reads them. Short texts, lists of names and tables are
told badly by their letters: they follow their page, if most of it is surely in another language."""

from collections.abc import Sequence

from tasks.text.language import is_english, probability_in, sure_language

# Below which a paragraph is surely in another language, whichever: related ones share what is left, so that the
# likeliest is often not sure. Of 90 paragraphs of cited pages below it whose likeliest language was not sure, none was
# an English sentence.
_EXCLUDED = 0.001
_UNLIKELY = 0.5  # below which a paragraph follows its page, if that is foreign
_PAGE_CHARACTERS = 200  # of surely foreign paragraphs, below which they say nothing of the others on their page


def article_language(lead: str) -> str | None:
    """Return the ISO 639-1 code of the language of an article's lead; None if it is not sure."""
    return "en" if is_english(lead) else sure_language(lead)


def in_other_language(texts: Sequence[str], refused: Sequence[bool], language: str) -> list[bool]:
    """Tell of each paragraph whether it is in another language, False if refused; ValueError for an unknown code."""
    probabilities = [1.0 if no else probability_in(text, language) for text, no in zip(texts, refused, strict=True)]
    other = [probability is not None and probability < _EXCLUDED for probability in probabilities]
    foreign = sum(len(text) for text, is_other in zip(texts, other, strict=True) if is_other)
    kept = sum(len(text) for text, no in zip(texts, refused, strict=True) if not no)
    if foreign < _PAGE_CHARACTERS or 2 * foreign <= kept:
        return other
    return [probability is None or probability < _UNLIKELY for probability in probabilities]
