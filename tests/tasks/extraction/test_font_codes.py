from pathlib import Path

import matplotlib
import pytest
from fpdf import FPDF
from fpdf.enums import XPos, YPos
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.engines import extract
from tasks.extraction.font_codes import is_garbled, is_unreadable, with_characters, with_tex_characters
from tasks.extraction.settings import ExtractSettings
from tasks.paragraphs.filter import drop_reason
from tasks.paragraphs.settings import ParagraphFilterSettings

BRIDGE = (
    "The bridge was built in 1874 for 48,500 pounds and carried 3,400 people a day until the storm of March 1912, "
    "which also closed the harbour of the town and both of its markets for as long as two years."
)


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("pp. \uf736\uf739-\uf737\uf730, of \uf76e\uf761\uf773\uf761", "pp. 69-70, of nasa"),
        ("\uf0b7Wind is steady.", "Wind is steady."),  # a bullet of Word's
        ("\uf06c The gauge stood at 4 m.", "The gauge stood at 4 m."),
        ("See the report \uf08e for more.", "See the report for more."),  # an icon
        ("It cost \x8050, \x93not more\x94 \x96 so they said.", "It cost €50, “not more” – so they said."),
        ("Ferry \uf0e0", "Ferry"),
        ("\uf0e0", "\uf0e0"),  # nothing is left of it: the filter says why
    ],
)
def test_known_codes_become_what_they_draw(text: str, characters: str) -> None:
    assert with_characters(text) == characters


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("di\x1berent \x1cgures and \x1dags, e\x1ecient ba\x1fes", "diﬀerent ﬁgures and ﬂags, eﬃcient baﬄes"),
        ("\x88 The \x10old\x11 one, 3\x155 m, was open \x16 once.", "• The “old” one, 3–5 m, was open — once."),
        ("log\r\n\x10\r\n1 + r\r\n\x11\r\n\x14 \x15 \x12 1", "log\r\n\x10\r\n1 + r\r\n\x11\r\n\x14 \x15 \x12 1"),
    ],
)
def test_codes_of_tex_are_letters_and_marks_and_those_of_formulas_stay(text: str, characters: str) -> None:
    assert with_tex_characters(text) == characters


@pytest.mark.parametrize(
    "text",
    [
        "In ͳͻ͸Ͳ mining began in the massif.",  # 1960, by a font without a table of characters
        "It was ͷ km away.",
        "Fossils of the siteǡ and all its layersǤ",
        "The of\x8ecial data of the police.",
        "A length of 4\uf06dm was read.",
        "It cost \ufffd50 at the door.",
    ],
)
def test_text_that_needs_its_font_is_refused_with_the_reason(text: str) -> None:
    assert is_unreadable(with_characters(text))
    assert drop_reason(text, ParagraphFilterSettings()) == "unreadable"


@pytest.mark.parametrize(
    "text",
    [
        "Ǥuõllʼjâuʹrr lij jäuʹrr Suõʹnnjelest, da tõt lij šurr.",  # Skolt Sámi
        "Ο αριθμός ͵αωοδʹ σημαίνει 1874 στα ελληνικά.",
        "Ćîlj, kućȉca i kȍnj: naglasci se pišu ȋ ovdje.",
        BRIDGE,
    ],
)
def test_letters_of_languages_are_readable(text: str) -> None:
    assert with_characters(text) == text
    assert not is_unreadable(text)


@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=("Cc", "Cn", "Co", "Cs"))))
def test_assigned_characters_are_left_as_they_are(text: str) -> None:
    assert with_characters(text) == text.rstrip() or with_characters(text) == text


def test_every_private_code_and_control_within_a_word_is_unreadable() -> None:
    codes = [chr(code) for code in (*range(0x80, 0xA0), *range(0xE000, 0xF900))]
    assert [code for code in codes if not is_unreadable(f"It has a{code}b in it.")] == []


def drawn(characters: bool) -> bytes:
    """Return a PDF whose font has the table of its characters, or has it not."""
    pdf = FPDF()
    pdf.set_compression(False)
    pdf.add_page()
    pdf.add_font("DejaVu", fname=Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf")
    pdf.set_font("DejaVu", size=12)
    for _ in range(3):
        pdf.multi_cell(0, 8, BRIDGE, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    return bytes(pdf.output()).replace(b"/ToUnicode", b"/NoUnicode" if not characters else b"/ToUnicode")


def test_a_pdf_without_a_table_of_characters_is_garbled() -> None:
    readable = extract(drawn(characters=True), "application/pdf", None, ExtractSettings())
    assert readable.reason is None and "48,500 pounds" in readable.paragraphs[0]
    garbled = extract(drawn(characters=False), "application/pdf", None, ExtractSettings())
    assert (garbled.reason, garbled.paragraphs, garbled.title) == ("garbled", (), None)


def test_text_in_codes_of_glyphs_is_garbled() -> None:
    glyphs = "".join(chr(ord(sign) - 29) if sign > " " else sign for sign in 3 * BRIDGE)  # "7KH EULGJH"
    assert is_garbled(glyphs)
    assert not is_garbled(3 * BRIDGE)


@pytest.mark.parametrize(
    "text",
    [
        "Mae'r bont yn croesi'r afon ger y dref, ac fe'i hadeiladwyd ym mil wyth saith pedwar gan y cwmni fferi. " * 4,
        "Vlk zmrzl zhltl hrst zrn. Most přes řeku byl postaven v roce 1874 a denně po něm přešlo 3400 lidí. " * 4,
        "Szczebrzeszyn: w Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie. " * 4,
        "1874 48,500 3,400 1912 | BRT XLF 12 | GHT 4.5 " * 40,  # a table
        "",
    ],
)
def test_words_of_few_vowels_and_tables_are_not_garbled(text: str) -> None:
    assert not is_garbled(text)
