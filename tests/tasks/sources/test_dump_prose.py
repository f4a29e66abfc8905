"""Wikitext to prose: every kind of markup on a line of its own, exactly."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sources.dump.markup import balanced, lead_of, split_sections, without_comments, without_references
from tasks.sources.dump.pages import Site
from tasks.sources.dump.prose import plain_prose

SITE = Site.named("https://de.example.org/wiki/Hauptseite", {"Datei": 6, "Kategorie": 14, "": 0})


def prose(wikitext: str) -> str:
    return plain_prose(without_comments(wikitext), SITE)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''Ada''' was ''very'' '''''good'''''.", "Ada was very good."),
        ("A [[river]], two [[city|cities]] and [[bus]]es.", "A river, two cities and buses."),
        ("On [[:Category:Rivers]] and [[Ada (river)#Course|its course]].", "On Category:Rivers and its course."),
        ("[[File:A.jpg|thumb|A [[boat]] on it]]Ada flows.", "Ada flows."),
        ("[[Datei:A.jpg|mini|Ein Boot]]Ada fließt.[[Kategorie:Fluss]]", "Ada fließt."),
        ("Ada.[[Category:Rivers]][[fr:Ada]][[zh-min-nan:Ada]]", "Ada."),
        ("A [[wikt:word|word]] and [[fr:Ada|Ada]].", "A word and Ada."),
        ("The [http://a.test/ site] and [http://b.test/] and http://c.test/ are down.", "The site and and are down."),
        ("One<ref>Note</ref> two<ref name=a /> three<ref name='b'>{{cite web|url=x}}</ref>.", "One two three."),
        ("One<ref>never closed, to the line's end\nTwo.", "One Two."),
        ("Before <!-- a {{comment}} --> after.", "Before after."),
        ("Before <!-- to the end", "Before"),
        ("__NOTOC__Ada flows.__FORCETOC__", "Ada flows."),
        ("If 5 < 6 and 7 > 6, then <b it ends.", "If 5 < 6 and 7 > 6, then b it ends."),
        ("Ada &amp; Bo&nbsp;km &ndash; 5&#8201;m.", "Ada & Bo km – 5 m."),
        ("H<sub>2</sub>O, <small>small</small> and<br/>broken.", "H2O, small and broken."),
        ("10<sup>2</sup> of them in 1894<sup>1</sup>.", "10^2 of them in 1894."),
        ("1<sup>st</sup>, 468 km<sup>2</sup>, 10<sup>18</sup>, 10<sup>-6</sup>.", "1st, 468 km², 10^18, 10^-6."),
        ("Ada<sup>7</sup> and <sup>14</sup>C.", "Ada and 14C."),
        ("<math>E = mc^{2}</math> but <math>\\frac12</math> no.", "E = mc^2 but no."),
        ("<nowiki>'' * </nowiki> and <pre>|x=</pre> stay.", "'' * and |x= stay."),
        ("Ada.<gallery>A.jpg|One</gallery>", "Ada."),
        ("<div class=x>Ada flows.</div>", "Ada flows."),
        ("One line\nand the same paragraph.\n\nThe next.", "One line and the same paragraph.\nThe next."),
        ("{|\n! Head\n|-\n| Cell || Cell\n|}\nAda flows.", "Ada flows."),
        ("{| class=x\n| never closed\nAda flows.", "Ada flows."),
        (":''For others, see [[B]].''\nAda flows.\n* one\n# two\n; three", "Ada flows."),
        ("Ada flows. Its parts are:\n* one\n* two\nIt ends.", "Ada flows.\nIt ends."),
        ("Ada is so defined:\n\n<math>\\frac12</math>", ""),
        ("He said:\n<blockquote>Ada flows.</blockquote>", "He said:\nAda flows."),
    ],
)
def test_markup_becomes_prose(wikitext: str, expected: str) -> None:
    assert prose(wikitext) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{convert|5|km|mi}}", "5 km"),
        ("{{convert|1300|sqmi|km2|0}}", "1,300 sq mi"),
        ("{{convert|5|to|6|km|abbr=on}}", "5 to 6 km"),
        ("{{cvt|5|-|6|C|F}}", "5–6 °C"),
        ("{{convert|6|ft|2|in|cm|0}}", "6 ft 2 in"),
        ("{{convert|10|x|20|m|ft}}", "10 × 20 m"),
        ("{{convert|3.5|m|0|abbr=on}}", "3.5 m"),
        ("{{convert|22|e6acre}}", "22 million acres"),
        ("{{convert|1.5|e3km2|sqmi}}", "1.5 thousand km²"),
        ("{{convert|2|e12m3}}", "2 trillion m³"),
        ("{{convert|2|e5m}}", "2 e5m"),
        ("{{lang|fr|la ''vie''}}", "la vie"),
        ("{{langx|de|Leben}}", "Leben"),
        ("{{lang-grc-gre|βίος}}", "βίος"),
        ("{{transl|ar|ISO|al-ʿarab}}", "al-ʿarab"),
        ("{{nihongo|Aikido|合気道|Aikidō}}", "Aikido"),
        ("{{ill|Ada Bo|de|Ada Bo (Fluss)|lt=Ada}}", "Ada"),
        ("{{nowrap|E {{=}} [[mass|m]]c<sup>2</sup>}}", "E = mc²"),
        ("{{circa|1900}}", "c. 1900"),
        ("{{reign|1000|1010}}", "r. 1000–1010"),
        ("{{as of|2012|5|lc=y}}", "as of May 2012"),
        ("{{start date|1950|5|1}}", "1 May 1950"),
        ("{{birth date|1950|5|1|mf=yes}}", "May 1, 1950"),
        ("{{OldStyleDate|24 May|1743|13 May}}", "24 May 1743"),
        ("{{OldStyleDate|February 2|1905|January 20}}", "February 2, 1905"),
        ("{{val|30000|u=C}}", "30,000 C"),
        ("{{Carbon}}<sub>''n''</sub>{{Hydrogen}}<sub>2''n''+2</sub>", "CnH2n+2"),
        ("The boats{{snds}}two of them", "The boats – two of them"),
        ("{{OV|099}} and {{OV|1}}", "Space Shuttle Challenger and"),
        ("{{USS|Enterprise|CV-6}}", "USS Enterprise (CV-6)"),
        ("{{ship|HMS|Victory||2}}", "HMS Victory"),
        ("{{sclass|Iowa|battleship}}", "Iowa-class battleship"),
        ("{{frac|1|2}}", "1/2"),
        ("{{val|6.24|e=18|u=C}}", "6.24×10^18 C"),
        ("{{formatnum:1234567}}", "1,234,567"),
        ("{{formatnum:{{inflation|US|800|1861}}}}", ""),
        ("{{US$|5 million}}", "US$5 million"),
        ("{{HK$|5}}, {{NZD|6}}, {{₽|7}}, {{SEK|8}}", "HK$5, NZ$6, ₽7, SEK 8"),
        ("{{currency|5|HKD}} and {{currency|1,000|xyz}}", "HK$5 and XYZ 1,000"),
        ("{{INRConvert|5|c}}", "₹5 crore"),
        ("{{euro}} and {{euro|5}}", "€ and €5"),
        ("{{BCE|500}}, {{CE|79}}, {{BC|44}}, {{AD|79}}", "500 BCE, 79 CE, 44 BC, AD 79"),
        ("{{ordinal|1}}, {{ordinal|12}}, {{ord|22}}, {{ordinal|1,003}}", "1st, 12th, 22nd, 1,003rd"),
        ("{{10^|5}}, 3{{e|24}}, 10{{sup|5}} and 4 km{{sup|2}}", "10^5, 3×10^24, 10^5 and 4 km²"),
        ("{{b.|1900}} and {{d.|1980}}", "b. 1900 and d. 1980"),
        ("{{circa|1900|1910}}", "c. 1900 – c. 1910"),
        ("{{angbr|a}}", "⟨a⟩"),
        ("{{lit|big river}} and {{gloss|river}}", "lit. 'big river' and 'river'"),
        ("{{zh|c=大江|p=Dà Jiāng}}", "大江"),
        ("{{percentage|1|8|1}}, {{percentage|1|0}}", "12.5%,"),
        ("{{track gauge|1435mm}}", "1435 mm"),
        ("{{height|ft=6|in=2}} or {{height|m=1.88}}", "6 ft 2 in or 1.88 m"),
        ("{{music|flat}}, {{music|sharp}}", "♭, ♯"),
        ("{{nuclide|einsteinium|254}}", "einsteinium-254"),
        ("{{resize|120%|large}}", "large"),
        ("{{val|5|0.2|u=km}}", "5±0.2 km"),
        ("{{quote|text=It flows.}}", "It flows."),
        ("{{vol.|2}}", "Vol. 2"),
        ("{{chem|H|2|O}}", "H2O"),
        ("{{Citation needed|date=May 2012}}", ""),
        ("{{date|1er|mai|1950}}", "1er mai 1950"),
        ("{{date|12|mai|1950|en littérature}}", "12 mai 1950"),
        ("{{date-|12|mai}}", "12 mai"),
        ("{{unité|31,5|km}}", "31,5 km"),
        ("{{s|XIX}}", "XIXe siècle"),
        ("{{sav-|II}}", "IIe siècle av. J.-C."),
        ("{{enS|mill}}", "englisch mill"),
        ("{{RUS}}", ""),
        ("{{never heard of|it|at=all}}", ""),
        ("{{#if:x|y|z}}", ""),
    ],
)
def test_templates_leave_their_text_or_nothing(template: str, expected: str) -> None:
    assert prose(f"Ada {template} end.") == (f"Ada {expected} end." if expected else "Ada end.")


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''Ada''' ({{IPAc-en|ˈ|eɪ|d|ə}}) flows.", "Ada flows."),
        ("'''Ada''' ({{IPAc-en|a}}; {{lang-la|Ada}}; born 1815) was.", "Ada (Ada; born 1815) was."),
        ("'''Ada''' (pronounced {{IPA|a}}, born 1815) was.", "Ada (born 1815) was."),
        ("'''Ada''' (UK: {{IPA|a}}, US: {{IPA|b}}) was.", "Ada was."),
        ("'''Ada''' ({{IPA|a}}, occasionally {{IPA|b}}) was.", "Ada was."),
        ("'''Ada''', pronounced {{IPA|a}}, was.", "Ada was."),
        ("It cost $5 (equivalent to ${{Inflation|US|5|1990}} in {{Inflation/year|US}}).", "It cost $5."),
        ("He said it ... and left.", "He said it ... and left."),
        ("'''Ada''' (/ˈeɪdə/; Greek: Ἄδα) was.", "Ada (Greek: Ἄδα) was."),
        ("'''Ada''' [ˈeɪdə] was on [a] boat and/or ship.", "Ada was on [a] boat and/or ship."),
        ("'''Ada''' ({{lang-grc|Ἄδα}} {{IPA|a}}, ''Ada'') was.", "Ada (Ἄδα, Ada) was."),
        ("'''Ada''' ({{coord|1|2}}) and (<ref>x</ref>) and ( ; ) was.", "Ada and and was."),
        ("It fell ({{age|1969|7|20}} years ago) down.", "It fell down."),
        ("One (two (three {{u}}) four).", "One (two (three) four)."),
        ("'''Ada''' {{u}}, {{u}} and {{u}}.", "Ada, and."),
        ("Off {{u}}(see below).", "Off (see below)."),
        ("An f(x) and a (b) c.", "An f(x) and a (b) c."),
    ],
)
def test_what_is_gone_takes_its_punctuation_along(wikitext: str, expected: str) -> None:
    assert prose(wikitext) == expected


def test_a_box_goes_whole() -> None:
    box = "{{Infobox river\n| name = Ada\n| length = {{convert|5|km}}\n| map = [[File:A.jpg]]\n}}\n"
    assert prose(f"{box}'''Ada''' flows {{{{convert|5|km}}}}.") == "Ada flows 5 km."


def test_a_box_that_never_ends_leaves_no_markup() -> None:
    assert prose("{{Infobox river\n| name = Ada\n| length = 5\n'''Ada''' flows.") == "Infobox river Ada flows."


@given(st.text(alphabet="ab {}[]|='<>/!-\n*:;#_&(),.", max_size=120))
def test_no_wikitext_breaks_it_and_no_private_mark_is_left(wikitext: str) -> None:
    text = prose(wikitext)
    assert not any("\ue000" <= character <= "\ue003" for character in text)
    assert all(line == line.strip() and line for line in text.split("\n")) or not text


@given(st.text(alphabet="ab{}[]", max_size=60))
def test_what_is_balanced_stays_so(wikitext: str) -> None:
    once = balanced(wikitext)
    assert once.count("a") == wikitext.count("a")
    assert once.count("{{") == once.count("}}") or "{{{" in once or "}}}" in once
    assert balanced(once) == once


@pytest.mark.parametrize("opening", ["{{", "[[", "<ref>", "<!--", "{{convert|", "pronounced ", "(", "<ref "])
def test_broken_markup_takes_time_in_proportion(opening: str) -> None:
    prose(opening * 20_000)  # minutes, where a parser looks for the end from each of them


def test_sections_know_what_they_stand_under() -> None:
    text = "Lead.\n== A ==\na\n=== B ===\nb\n===C===\nc\n== D ==  \nd\n= = =\n==\n"
    assert [(section.path, section.text.split("\n")[0]) for section in split_sections(text)] == [
        ((), "Lead."),
        (("A",), "a"),
        (("A", "B"), "b"),
        (("A", "C"), "c"),
        (("D",), "d"),
        (("=",), "=="),
    ]
    assert lead_of(text) == "Lead.\n"
    assert lead_of("No heading, but a == b ==.") == "No heading, but a == b ==."


def test_references_and_comments_leave_the_rest_as_it_was() -> None:
    assert without_references("a<ref>b</ref>c<ref name=d/>e<references/>") == "ace<references/>"
    assert without_comments("a<!-- b -->c\n<!-- d -->\ne") == "ac\ne"


def test_templates_without_a_known_text_are_counted_by_name() -> None:
    left_out = Counter[str]()
    text = "{{Infobox river\n| name = Ada\n}}\nAda {{Pronuncia|a}} flows {{convert|5|km}} {{pronuncia|{{b}}}} {{x_y}}."
    assert plain_prose(text, SITE, left_out) == "Ada flows 5 km."
    assert left_out == {"pronuncia": 2, "x y": 1}
