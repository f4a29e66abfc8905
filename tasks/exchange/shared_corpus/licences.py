"""Licences as hubs and Croissant name them."""

from collections.abc import Collection

from tasks.exchange.shared_corpus.statistics import UNRECORDED

# Identifier on the Hugging Face hub -> the licence's own page.
_KNOWN = {
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc-by-3.0": "https://creativecommons.org/licenses/by/3.0/",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc-by-nc-sa-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    "odc-by": "https://opendatacommons.org/licenses/by/1-0/",
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "mit": "https://opensource.org/license/mit",
}


def hub_licence(licences: Collection[str]) -> str:
    """Return the hub's identifier of the only licence; `unknown` if none is recorded, `other` for anything else."""
    if set(licences) == {UNRECORDED}:
        return "unknown"
    names = {name.lower().replace(" ", "-") for name in licences}
    (name,) = names if len(names) == 1 else ("other",)
    return name if name in _KNOWN else "other"


def licence_url(licence: str) -> str:
    """Return the page of a licence, or its name where that is not known."""
    return _KNOWN.get(licence.lower().replace(" ", "-"), licence)
