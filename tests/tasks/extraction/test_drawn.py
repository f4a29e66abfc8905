"""What a browser draws otherwise than an element's tag says: no value is glued to another, split, hidden or moved."""

import pytest

from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings

AROUND = (
    "The mill at Harrow was built by a company of weavers and stood beside the river for many years before the flood."
)
END = " at the time of the flood in the vale of the weavers."


def text_of(body: str, style: str = "") -> str:
    page = (
        f"<html><head><title>The mill</title>{style}</head><body><article>{body}<p>{AROUND}</p></article></body></html>"
    )
    found = extract(page.encode(), "text/html", "utf-8", ExtractSettings())
    return "\n".join(found.paragraphs).removesuffix(AROUND).strip()


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ('It had 4,512<span class="superscript">3</span> people', "It had 4,512 people"),
        ('It had 4,512<span style="vertical-align: super; color: red">3</span> people', "It had 4,512 people"),
        ('It had 10<span style="vertical-align:super">30</span> grains', "It had 10^30 grains"),
        ('It had H<span style="vertical-align:sub">2</span>O', "It had H2O"),
        ('It had 31 mills<a class="footnote-ref" href="#fn:1">1</a> and 3 inns', "It had 31 mills and 3 inns"),
        ('It had inns in 1874<a role="doc-noteref" href="#fn2">2</a> and mills', "It had inns in 1874 and mills"),
        ('It had 31 mills<a class="footnote-ref" href="/x">The long list</a> too', "It had 31 millsThe long list too"),
        ('It had:<span style="display:block">31 mills</span><i style="display:flex">3</i>', "It had: 31 mills 3"),
        ("It had <img alt='77' src='x'>31 mills", "It had 31 mills"),
        ("It had 31<img alt='' src='x'>mills", "It had 31 mills"),
        ("It had 31 mills<img alt='' src='x'>, and inns", "It had 31 mills, and inns"),
        ("It had <input value='77'>31 mills", "It had 31 mills"),
        ("It had <label>about 31</label> mills", "It had about 31 mills"),
        ("It had 31<button>GDP</button>mills", "It had 31 GDP mills"),
        ("It had <output>31</output> mills", "It had 31 mills"),
        ("It had <x-term>31</x-term>st mills<x-note>, said Lorne,</x-note> too", "It had 31st mills, said Lorne, too"),
        (
            "It had <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>",
            "It had 漢(kan)字(ji)",
        ),
        ("It had <ruby>東京<rt>Tokyo</rt></ruby> silk", "It had 東京(Tokyo) silk"),
        ('It had 31<span role="tooltip">thirty</span> mills', "It had 31 mills"),
        ('It had 31<span class="tooltiptext">thirty</span> mills', "It had 31 mills"),
    ],
)
def test_a_sentence_has_the_values_that_are_seen(written: str, seen: str):
    assert text_of(f"<p>{written}{END}</p>") == seen + END


def test_what_is_within_no_sentence_remains_a_block():
    first, second = (f"The {name} mill had 31 looms and 12 wheels{END}" for name in ("old", "new"))
    assert text_of(f"<div>{first}<img src='x'>{second}</div>") == f"{first}\n{second}"


@pytest.mark.parametrize(
    ("rule", "element", "seen"),
    [
        (".old { text-decoration: line-through }", '<i class="old">£40</i> ', "£35"),
        (".old{text-decoration-line:line-through}", '<i class="old">£40</i> ', "£35"),
        ("i.old, b {display: none}", '<i class="old">£40</i> ', "£35"),
        ("b.old {display: none}", '<i class="old">£40</i> ', "£40 £35"),
        (".old:hover { text-decoration: line-through }", '<i class="old">£40</i> ', "£40 £35"),
        (".old { text-decoration: underline }", '<i class="old">£40</i> ', "£40 £35"),
    ],
)
def test_rules_of_the_page_hide_and_strike_out(rule: str, element: str, seen: str):
    written = f"<p>A day on the river cost {element}£35{END}</p>"
    assert text_of(written, f"<style>{rule}</style>") == f"A day on the river cost {seen}{END}"


def test_a_closed_dialog_is_not_seen():
    price = "The price for members of the club is 99 pounds in this year."
    prose = f"<p>The mill had 31 looms and 12 wheels{END}</p>"
    assert text_of(f"<dialog>{price}</dialog>{prose}") == f"The mill had 31 looms and 12 wheels{END}"


def test_a_value_stays_in_its_column_if_the_cell_before_is_empty():
    rows = [("Town", "1901", "1911", "1921"), ("Orme", "4,100", "", "310"), ("Dun", "77", "78", "")]
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    assert text_of(f"<p>{AROUND}{END}</p><table>{table}</table>").split("\n")[-3:] == [
        "Town | 1901 | 1911 | 1921",
        "Orme | 4,100 | – | 310",
        "Dun | 77 | 78",
    ]
