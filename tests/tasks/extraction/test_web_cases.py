"""The pages of the shared cases: what is visible there is what their paragraphs say."""

import pytest

from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings

BUILT = "was built in 1874 by the engineer Thomas Marwick"
FLOOD = "a flood in 1931 destroyed the weir"
SCHOOL = "for 1,200 pounds and let it to a school of weavers"
TRUST = "A trust of local people restored the building between 1988 and 1994"
ALL = (BUILT, FLOOD, SCHOOL, TRUST)
SAID = {
    "01_list_in_table": (*ALL, "Monday | 10:00 AM to 8:00 PM", "Tuesday | Closed"),
    "04_section_text_no_p": ALL,
    "05_soft_hyphens": (
        "The Harrow Valley Mill was",
        "2 years before",
        "12 500 kg",
        "zerowidthspaces stand in this longword",
    ),
    "07_drop_cap": ("Mr Justice Ardal awarded", "The paper said", FLOOD, SCHOOL, TRUST),
    "11_superscripts": (
        *("2 × 10^30 kg", "1.5 × 10^8 km", "40 km² and", "3 m³ of", "CO2 and H2O", "14C was found in the beam, which"),
        *(
            "the wheel and the roof.",
            "Ada Lorne, Ben Ardal and Cora Dun at",
            "4th of May the 2nd Earl paid 5 1/2",
            "10^-3",
        ),
    ),
    "15a_jsonld_only": ALL,
    "15b_noscript_article": ALL,
    "16_frameset": ALL,
    "17c_thai": ("ในปี 1874", "1,200"),
    "26c_1990_h2_br": (*ALL, "31 kilometres long", "The bridge of 1790"),
    "26h_h3_then_br_text": (*ALL, "31 kilometres long", "The bridge of 1790"),
    "50a_notes_after_years": (
        "in 1874 by",
        "in 1931, when it had 42 buckets",
        "in 1947 for 1,200 pounds",
        "weavers for",
    ),
    "50d_fractions_units": (
        *("12 1/2 feet", "3 3/4 inches", "250 m² holds 2^10 seeds", "5.4×10^−7 pascal, or 10^-7"),
        *("235U and 40K", "3rd and 11th"),
    ),
    "51b_pandoc_div_level2": (
        *ALL,
        *("a union in 1950", "since 1962", "in 1879", "3,100 tons", "4,000 shares", "since 1926"),
    ),
    "56b_comments_obfuscated": (BUILT, TRUST),
}
UNSAID = {
    "05_soft_hyphens": ("\u00ad", "\u200b"),
    "11_superscripts": ("beam,3", "Lorne1", "1030"),
    "50a_notes_after_years": ("18741", "19312", "423", "19474"),
    "50d_fractions_units": ("121", "210 seeds"),
    "56b_comments_obfuscated": ("I went there with my children",),
}
REFUSED = {
    "54a_consent_wall": "consent_wall",
    "54b_soft_404": "not_found",
    "54d_parked": "parked_domain",
    "55_meta_refresh": "moved",
}


def extracted(shared_data, name):
    body = (shared_data.parent / "cases" / "web" / f"{name}.html").read_bytes()
    return extract(body, "text/html", None, ExtractSettings())


@pytest.mark.shared_data
@pytest.mark.parametrize("name", SAID)
def test_page_says_what_is_visible(shared_data, name):
    text = "\n".join(extracted(shared_data, name).paragraphs)
    assert [piece for piece in SAID[name] if piece not in text] == []
    assert [piece for piece in UNSAID.get(name, ()) if piece in text] == []
    assert "© 2026" not in text


@pytest.mark.shared_data
@pytest.mark.parametrize("name", REFUSED)
def test_page_in_the_place_of_another_is_refused(shared_data, name):
    found = extracted(shared_data, name)
    assert (found.paragraphs, found.reason) == ((), REFUSED[name])
