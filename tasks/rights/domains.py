"""Sites whose terms put the text of every page under one licence, for pages that do not say so themselves.

Each was read in the terms named beside it. A site belongs here only if the terms speak of all its text; where the
version depends on the date of a page, none is given.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

# https://foundation.wikimedia.org/wiki/Policy:Terms_of_Use, section 7: version 3.0 until June 2023, then 4.0
_WIKIMEDIA = ("wikipedia.org", "wiktionary.org", "wikibooks.org", "wikiquote.org", "wikiversity.org", "wikivoyage.org")
# https://meta.stackexchange.com/questions/347758: versions 2.5, 3.0 and 4.0, by the date of the post
_STACK_EXCHANGE = (
    "stackoverflow.com",
    "stackexchange.com",
    "superuser.com",
    "serverfault.com",
    "askubuntu.com",
    "mathoverflow.net",
)

_LICENCES: Mapping[str, str] = {
    **dict.fromkeys(_WIKIMEDIA, "CC-BY-SA"),
    **dict.fromkeys(_STACK_EXCHANGE, "CC-BY-SA"),
    "globalvoices.org": "CC-BY-3.0",  # https://community.globalvoices.org, republishing guidelines of June 2021
    "theconversation.com": "CC-BY-ND",  # https://theconversation.com/uk/republishing-guidelines
}


def domain_licence(url: str) -> str | None:
    """Return the licence of a URL's site, or None if its site is not among the known ones."""
    host = f".{urlsplit(url).hostname}"
    return next((licence for domain, licence in _LICENCES.items() if host.endswith(f".{domain}")), None)
