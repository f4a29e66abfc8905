"""The figures that `documents` holds of a page's text: their names and meanings, for the schema and for settings.
Sources: Gopher (Rae et al. 2021, app. A.1.1), C4 (Raffel et al. 2020, sec. 2.2), FineWeb (Penedo et al. 2024, sec.
3.6). A paragraph is what they call a line."""

from collections.abc import Mapping

QUALITY_SIGNALS: Mapping[str, str] = {
    "words": "words, separated by white space (Gopher)",
    "word_length": "characters of a word, mean (Gopher)",
    "stop_words": "how many of the, be, to, of, and, that, have, with occur (Gopher)",
    "alphabetic": "share of words with a letter (Gopher)",
    "symbols": "# and ellipses, for each word (Gopher)",
    "bullets": "share of paragraphs that begin with a bullet (Gopher)",
    "ellipses": "share of paragraphs that end in an ellipsis (Gopher)",
    "sentences": "ends of sentences (C4)",
    "placeholders": "opening curly brackets and `lorem ipsum` (C4)",
    "ended": "share of paragraphs that end as a sentence does (C4, FineWeb)",
    "short": "share of paragraphs of fewer than 30 characters (FineWeb)",
    "repeated": "share of characters in paragraphs that stand earlier on the page (FineWeb)",
}

PERSONAL_DATA: Mapping[str, str] = {
    "emails": "e-mail addresses",
    "phones": "telephone numbers",
    "ip_addresses": "IP addresses",
    "cards": "numbers of payment cards",
    "accounts": "numbers of bank accounts (IBAN)",
}
