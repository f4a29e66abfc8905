"""What licences allow, by their names."""

import pytest

from tasks.rights.licences import MEANINGS, TERMS, terms_of


@pytest.mark.parametrize(
    ("licence", "terms"),
    [
        ("CC0-1.0", "free"),
        ("CC-BY-4.0", "free"),
        ("CC-BY", "free"),
        ("CC-BY-SA-3.0-US", "free"),
        ("CC-BY-3.0-IGO", "free"),
        ("CC BY-SA 4.0", "free"),
        ("CC-PDM-1.0", "free"),
        ("Public domain", "free"),
        ("OGL-UK-3.0", "free"),
        ("GFDL-1.3-or-later", "free"),
        ("ODC-BY-1.0", "free"),
        ("ODbL-1.0", "free"),
        ("Apache-2.0", "free"),
        ("CC-BY-NC-4.0", "non-commercial"),
        ("CC BY-NC-SA 4.0", "non-commercial"),
        ("CC-BY-ND", "no-derivatives"),
        ("CC-BY-NC-ND-3.0-DE", "no-derivatives"),
        ("CC-BY-ND-NC-1.0", "no-derivatives"),
        ("CC-BY-SAMPLING", "other"),
        ("All rights reserved", "other"),
        ("CC", "other"),
        ("", "other"),
    ],
)
def test_names_of_licences(licence: str, terms: str) -> None:
    assert terms_of(licence) == terms


def test_all_terms_have_a_meaning() -> None:
    assert tuple(MEANINGS) == TERMS
