"""What a licence allows, by its name: whether text under it may be shared, changed, and sold.

A free licence allows everybody to share the text and to change it, if need be with the author's name (BY) or under the
same licence (SA). NC forbids commercial use, ND sharing what has been changed; and a choice of paragraphs, cut and
labelled, may count as a change.
"""

import re
from typing import Literal, get_args

Terms = Literal["free", "non-commercial", "no-derivatives", "other"]
TERMS: tuple[Terms, ...] = get_args(Terms)
MEANINGS: dict[Terms, str] = {
    "free": "may be shared and changed",
    "non-commercial": "not for commercial use (NC)",
    "no-derivatives": "not to be shared changed (ND)",
    "other": "terms that the program does not know",
}

# As SPDX writes them, without version; beside those that `tasks.rights.licences` finds, what sources of articles name.
_FREE = re.compile(
    r"(?:cc0|cc-by|cc-by-sa|cc-pdm|public-domain|pd|ogl-uk|gfdl|gnu-fdl|odc-by|odbl|pddl|fal|mit|apache|bsd-[23]-clause)"
    r"(?:-v?\d.*|-only|-or-later|-igo)?"
)
_CREATIVE_COMMONS = re.compile(r"cc-by((?:-(?:nc|nd|sa))*)(?:-.*)?")


def terms_of(licence: str) -> Terms:
    """Return what a licence allows, such as "free" of "CC-BY-SA-4.0"; with NC and ND it is "no-derivatives".

    Args:
        licence: identifier as SPDX writes it, or with spaces; any case.
    """
    name = re.sub(r"[\s_]+", "-", licence.strip().lower())
    found = _CREATIVE_COMMONS.fullmatch(name)
    parts = set(found[1].split("-")) if found is not None else set()
    if "nd" in parts:
        return "no-derivatives"
    if "nc" in parts:
        return "non-commercial"
    return "free" if _FREE.fullmatch(name) is not None else "other"
