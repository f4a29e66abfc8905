"""Open licences by name: the address or the words of a licence, turned into an identifier of SPDX.

Jurisdictions and missing versions are kept as written, so that no page is said to claim more than it does:
`CC-BY-SA-3.0-US`, and `CC-BY-SA` without a version (which SPDX does not know).

What a licence allows follows from its name. A free one allows everybody to share the text and to change it, if need be
with the author's name (BY) or under the same licence (SA). NC forbids commercial use, ND sharing what has been changed;
and a choice of paragraphs, cut and labelled, may count as a change."""

import re
from collections.abc import Mapping
from typing import Literal, get_args
from urllib.parse import urlsplit

from tasks.engine.data_files import fill, read_data

_DATA = read_data("tasks.rights", "licences.toml")
_PARTS: Mapping[str, str] = {part: fill(names, {}) for part, names in _DATA["deed"].items()}
_DEED_URL, _PUBLIC_URL, _GOVERNMENT_URL = (re.compile(fill(pattern, {})) for pattern in _DATA["addresses"].values())
_SHORT, _LONG, _ZERO, _GOVERNMENT = (
    re.compile(fill(pattern, {**_DATA["parts"], "DEED": "|".join(_PARTS.values())}))
    for pattern in _DATA["names"].values()
)
_SIGNS = [(part, re.compile(sign)) for part, sign in _DATA["signs"].values()]
_DEEDS = frozenset({"by", "by-sa", "by-nd", "by-nc", "by-nc-sa", "by-nc-nd"})
_LONGEST = 2_000  # characters of a licence's name, with the sentences around it


def may_name_licence(source: str) -> bool:
    """Tell quickly whether a page's source may name a licence, so that it is worth a closer look."""
    return ("ommons" in source and "reative" in source) or any(
        part in source and sign.search(source) for part, sign in _SIGNS
    )


def licence_of_url(url: str) -> str | None:
    """Return the identifier of the licence at an address, or None for any other address."""
    if (deed := _DEED_URL.search(url)) is not None:
        name = deed["deed"].lower()
        name = "by-nc-nd" if name == "by-nd-nc" else name  # the order of version 1.0
        if name not in _DEEDS:
            return None
        return f"CC-{name}-{deed['version']}{'-' + deed['port'] if deed['port'] else ''}".upper()
    if (public := _PUBLIC_URL.search(url)) is not None:
        return "CC0-1.0" if public[1].lower() == "zero" else "CC-PDM-1.0"
    if (government := _GOVERNMENT_URL.search(url)) is not None:
        return f"OGL-UK-{government[1]}.0"
    return None


def licence_of(text: str) -> str | None:
    """Return the licence that an address or a name stands for, such as "CC BY-SA 4.0"; None for any other text."""
    if (licence := licence_of_url(text)) is not None:
        return licence
    return agreed({name for _, _, name in named_licences(text[:_LONGEST])})


def named_licences(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and identifier of every licence that a text names, in its order."""
    results = [(m.start(), m.end(), name) for p in (_SHORT, _LONG) for m in p.finditer(text) if (name := _deed(m))]
    results += [(m.start(), m.end(), "CC0-1.0") for m in _ZERO.finditer(text)]
    results += [
        (m.start(), m.end(), f"OGL-UK-{m['version']}" if m["version"] else "OGL-UK") for m in _GOVERNMENT.finditer(text)
    ]
    return sorted(results)


def agreed(licences: set[str]) -> str | None:
    """Return the only licence of a set, or None if they differ; one without a version agrees with one that has it."""
    exact = {licence for licence in licences if not any(re.match(rf"{licence}-\d", other) for other in licences)}
    return next(iter(exact)) if len(exact) == 1 else None


def _deed(match: re.Match[str]) -> str | None:
    words = match["parts"].lower()
    parts = [part.upper() for part, names in _PARTS.items() if re.search(rf"\b{part}\b|{names}", words)]
    name = "-".join(["BY", *parts])
    if name.lower() not in _DEEDS:
        return None
    version = f"-{match['version']}" if match["version"] else ""
    named = match.groupdict()
    igo = "-IGO" if version and (named.get("igo") or named.get("igo_after")) else ""
    return f"CC-{name}{version}{igo}"


def domain_licence(url: str) -> str | None:
    """Return the licence under which the terms of a URL's site put all its text (`sites.toml`), or None."""
    host = f".{urlsplit(url).hostname}"
    sites = read_data("tasks.rights", "sites.toml")
    return next((licence for domain, licence in sites.items() if host.endswith(f".{domain}")), None)


Terms = Literal["free", "non-commercial", "no-derivatives", "other"]
TERMS: tuple[Terms, ...] = get_args(Terms)
MEANINGS: Mapping[Terms, str] = _DATA["meanings"]

# As SPDX writes them, without version: those that are found here, and those that sources of articles name.
_FREE = re.compile(
    r"(?:cc0|cc-by|cc-by-sa|cc-pdm|public-domain|pd|ogl-uk|gfdl|gnu-fdl|odc-by|odbl|pddl|fal|mit|apache|bsd-[23]-clause)"
    r"(?:-v?\d.*|-only|-or-later|-igo)?"
)
_CREATIVE_COMMONS = re.compile(r"cc-by((?:-(?:nc|nd|sa))*)(?:-.*)?")


def terms_of(licence: str) -> Terms:
    """Return what a licence, as SPDX writes it, allows: "free" of "CC-BY-SA-4.0"; NC with ND is "no-derivatives"."""
    name = re.sub(r"[\s_]+", "-", licence.strip().lower())
    match = _CREATIVE_COMMONS.fullmatch(name)
    parts = set(match[1].split("-")) if match is not None else set()
    if "nd" in parts:
        return "no-derivatives"
    if "nc" in parts:
        return "non-commercial"
    return "free" if _FREE.fullmatch(name) is not None else "other"
