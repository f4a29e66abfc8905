import pytest

from tasks.rights.licences import agreed, licence_of, licence_of_url, may_name_licence, named_licences


@pytest.mark.parametrize(
    ("url", "licence"),
    [
        ("https://creativecommons.org/licenses/by-sa/4.0/", "CC-BY-SA-4.0"),
        ("http://www.creativecommons.org/licenses/by-nc-nd/3.0/us/deed.en", "CC-BY-NC-ND-3.0-US"),
        ("//creativecommons.org/licenses/by/4.0/deed.de", "CC-BY-4.0"),
        ("https://creativecommons.org/licenses/by-nd-nc/1.0/", "CC-BY-NC-ND-1.0"),
        ("https://creativecommons.org/licenses/by/3.0/igo/legalcode", "CC-BY-3.0-IGO"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "CC-PDM-1.0"),
        ("https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "OGL-UK-3.0"),
        ("https://creativecommons.org/licenses/", None),
        ("https://creativecommons.org/licenses/sampling/1.0/", None),
        ("https://example.org/terms", None),
    ],
)
def test_addresses_of_licences(url: str, licence: str | None) -> None:
    assert licence_of_url(url) == licence


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("CC-BY-NC-ND", "CC-BY-NC-ND"),
        ("CC BY 3.0 IGO", "CC-BY-3.0-IGO"),
        ("CC-BY-SA IGO 3.0", "CC-BY-SA-3.0-IGO"),
        ("Creative Commons Attribution 4.0 International License", "CC-BY-4.0"),
        ("Creative Commons Attribution-ShareAlike License 3.0", "CC-BY-SA-3.0"),
        ("Creative Commons Attribution-NonCommercial-NoDerivs 3.0 Unported", "CC-BY-NC-ND-3.0"),
        ("CC0 1.0", "CC0-1.0"),
        ("CC0-1.0", "CC0-1.0"),
        ("Open Government Licence v3.0", "OGL-UK-3.0"),
        ("CC BY-ND-SA 4.0", None),  # there is no such licence
        ("a Creative Commons license", None),  # which one?
        ("CC BYLAW 4.0", None),
        ("All rights reserved", None),
    ],
)
def test_names_of_licences(text: str, licence: str | None) -> None:
    assert licence_of(text) == licence
    assert licence is None or may_name_licence(f"<p>{text}</p>")


def test_names_stand_where_they_are_found() -> None:
    assert named_licences("Text: CC BY 4.0; pictures: CC0.") == [(6, 15, "CC-BY-4.0"), (27, 30, "CC0-1.0")]


def test_a_licence_without_a_version_agrees_with_one_that_has_it() -> None:
    assert agreed({"CC-BY", "CC-BY-4.0"}) == "CC-BY-4.0"
    assert agreed({"CC-BY", "CC-BY-SA-4.0"}) is None
    assert agreed({"CC-BY-3.0", "CC-BY-4.0"}) is None
    assert agreed(set()) is None
