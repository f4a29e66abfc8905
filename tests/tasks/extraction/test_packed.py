import re
import zipfile
from datetime import datetime
from io import BytesIO

import pyarrow as pa
import pytest
from docx import Document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.schemas import FRONTIER, PAGES
from tasks.cited_summary.sources import file_source
from tasks.extraction.documents import extract_documents
from tasks.extraction.engines import Extracted, extract
from tasks.extraction.origin import Origin
from tasks.extraction.packed import archive
from tasks.extraction.settings import ExtractSettings
from tests.tasks.extraction.packed_files import (
    DOCX,
    EPUB,
    MAKERS,
    ODT,
    OPEN,
    PPTX,
    book,
    opendocument,
    packed,
    slides,
    word,
)

NAMES = ["Marwick", "Dunlop", "Harrow", "Okafor", "Besançon", "Łódź", "O’Neill", "Nørgaard"]
SEEN = ("plain", "bold", "inserted")
UNSEEN = ("hidden", "struck", "deleted", "comment")


def read(body: bytes, mime: str) -> Extracted:
    return extract(body, mime, None, ExtractSettings())


@st.composite
def documents(draw):
    """Return paragraphs, their sentences as they are seen, and numbers that are not seen."""
    paragraphs, sentences, secrets = [], [], []
    for year in range(1801, 1801 + draw(st.integers(1, 4))):
        name, number, power = draw(st.sampled_from(NAMES)), draw(st.integers(1, 9999)), draw(st.integers(2, 99))
        cut, secret = draw(st.integers(1, len(name) - 1)), f"{draw(st.integers(3001, 9999))}77"
        runs = [
            (f"In {year} the engineer ", "plain"),
            *((part, draw(st.sampled_from(SEEN))) for part in (name[:cut], name[cut:])),
            (f" measured {number}", draw(st.sampled_from(SEEN))),
            (secret, draw(st.sampled_from(UNSEEN))),
            (" × 10", "plain"),
            (str(power), "super"),
            (" N & more <here>.", draw(st.sampled_from(SEEN))),
        ]
        paragraphs.append(runs)
        secrets.append(secret)
        sentences.append(f"In {year} the engineer {name} measured {number} × 10^{power} N & more <here>.")
    return paragraphs, sentences, secrets


@pytest.mark.parametrize("mime", MAKERS)
@given(documents())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_values_of_a_document_stand_unchanged_in_its_paragraphs(mime, document):
    paragraphs, sentences, secrets = document
    extracted = read(MAKERS[mime](paragraphs), mime)
    assert list(extracted.paragraphs) == sentences
    assert not set(re.findall(r"\d+", "\n".join(extracted.paragraphs))).intersection(secrets)


def test_notes_of_a_word_file_come_last_and_their_marks_are_left_out():
    mark = "<w:r><w:footnoteReference w:id='3'/></w:r>"
    body = f"<w:p><w:r><w:t>Built in 1874</w:t></w:r>{mark}<w:r><w:t>.</w:t></w:r></w:p>"
    assert read(word([], f"{body}<w:p><w:r><w:t>It fell.</w:t></w:r></w:p>"), DOCX).paragraphs == (
        "Built in 1874.",
        "It fell.",
        "A note by Lorne.",
    )


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next_one():
    body = (
        "<w:p><w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr><w:r><w:t>Built in 18</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>74.</w:t></w:r></w:p><w:p><w:r><w:t>It fell.</w:t></w:r></w:p>"
    )
    assert read(word([], body), DOCX).paragraphs == ("Built in 1874.", "It fell.")


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<w:r><w:t>12</w:t><w:noBreakHyphen/><w:t>14</w:t><w:tab/><w:t>m</w:t></w:r>", "12-14 m"),
        ("<w:r><w:t>co</w:t><w:softHyphen/><w:t>ast</w:t></w:r>", "coast"),
        ("<w:r><w:t>12</w:t><w:sym w:font='Symbol' w:char='F0B0'/><w:t>C</w:t></w:r>", "12°C"),
        ("<w:r><w:t>12</w:t><w:sym w:font='Wingdings' w:char='F0B0'/></w:r>", "12"),
        ("<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>12</w:t></w:r>", "12"),
        ("<w:r><w:rPr><w:rStyle w:val='Struck'/><w:strike w:val='false'/></w:rPr><w:t>12</w:t></w:r>", "12"),
        ("<w:moveFrom><w:r><w:t>9</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>12</w:t></w:r></w:moveTo>", "12"),
        ("<w:hyperlink><w:r><w:t>12</w:t></w:r></w:hyperlink>", "12"),
        (
            "<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:t>9</w:t></w:r><w:r><w:fldChar "
            "w:fldCharType='separate'/></w:r><w:r><w:t>12</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r>",
            "12",
        ),
        ("<m:f xmlns:m='urn:m'><m:num><m:t>3</m:t></m:num><m:den><m:t>4</m:t></m:den></m:f>", "3/4"),
        ("<m:sSup xmlns:m='urn:m'><m:e><m:t>10</m:t></m:e><m:sup><m:t>6</m:t></m:sup></m:sSup>", "10^6"),
    ],
)
def test_what_a_run_of_a_word_file_stands_for(xml, text):
    assert read(word([], f"<w:p>{xml}</w:p>"), DOCX).paragraphs == (text,)


def test_a_text_box_of_a_word_file_is_read_once_after_its_paragraph():
    box = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Before </w:t></w:r><w:r><mc:AlternateContent xmlns:mc='urn:mc'><mc:Choice>"
        f"{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:t>and after.</w:t></w:r></w:p>"
    )
    assert read(word([], body), DOCX).paragraphs == ("Before and after.", "In a box.")


def test_the_short_cells_of_a_row_are_one_line_and_a_deleted_row_is_left_out():
    def row(*cells: str, properties: str = "") -> str:
        held = "".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in cells)
        return f"<w:tr><w:trPr>{properties}</w:trPr>{held}</w:tr>"

    table = f"<w:tbl>{row('Ardal', '1811')}{row('Lorne', '1902', properties='<w:del/>')}</w:tbl>"
    assert read(word([], table), DOCX).paragraphs == ("Ardal | 1811",)


def test_titles_come_from_the_text_where_the_properties_name_nothing():
    titled = "<w:p><w:pPr><w:pStyle w:val='T'/></w:pPr><w:r><w:t>The weir</w:t></w:r></w:p>"
    assert read(word([], titled), DOCX).title == "The weir"
    assert read(word([[("Text.", "plain")]]), DOCX).title is None  # its properties say "Untitled"
    placeholder = "<p:nvSpPr><p:cNvPr/><p:nvPr><p:ph type='{}'/></p:nvPr></p:nvSpPr>"
    shape = (
        f"<p:sp>{placeholder.format('ctrTitle')}<p:txBody><a:p><a:r><a:t>The weir</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    assert read(slides([[("Text.", "plain")]], shape), PPTX).title == "The weir"
    assert read(opendocument([[("Text.", "plain")]]), ODT).title == "The valley"
    assert read(book([[("Text.", "plain")]]), EPUB).title == "The valley"


def test_paragraphs_of_slides_have_their_numbers_and_feet_and_hidden_shapes_are_left_out():
    shapes = "".join(
        f"<p:sp><p:nvSpPr><p:cNvPr {hidden}/><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr>"
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        for kind, hidden, text in (("ftr", "", "The Society"), ("body", "hidden='1'", "9"), ("body", "", "Shown."))
    )
    extracted = read(slides([[("One.", "plain")], [("Two.", "plain")]], shapes), PPTX)
    assert (extracted.paragraphs, extracted.page_numbers) == (("One.", "Shown.", "Two."), (1, 1, 2))


def test_a_hidden_slide_is_left_out_and_still_counted():
    made = slides([[("One.", "plain")], [("Two.", "plain")], [("Three.", "plain")]])
    with zipfile.ZipFile(BytesIO(made)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["ppt/slides/s1.xml"] = parts["ppt/slides/s1.xml"].replace(b"<p:sld ", b"<p:sld show='0' ", 1)
    extracted = read(packed(parts), PPTX)
    assert (extracted.paragraphs, extracted.page_numbers) == (("One.", "Three."), (1, 3))


def test_hidden_rows_of_a_sheet_are_left_out():
    def row(name: str, year: str, hidden: str = "") -> str:
        cells = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in (name, year))
        return f"<table:table-row {hidden}>{cells}</table:table-row>"

    rows = row("Ardal", "1811") + row("Lorne", "9", 'table:visibility="collapse"')
    sheet = f"<office:spreadsheet><table:table>{rows}</table:table></office:spreadsheet>"
    kind = f"{OPEN}.spreadsheet"
    assert read(opendocument([], content=sheet, kind=kind), kind).paragraphs == ("Ardal | 1811",)


def test_notes_of_opendocument_come_last_and_their_marks_are_left_out():
    note = (
        "<text:note><text:note-citation>7</text:note-citation>"
        "<text:note-body><text:p>By Lorne.</text:p></text:note-body></text:note>"
    )
    body = f"<text:p>Built in 1874{note}.<text:s/>Then<text:line-break/>lost.</text:p><text:p>It fell.</text:p>"
    assert read(opendocument([], body), ODT).paragraphs == ("Built in 1874. Then lost.", "It fell.", "By Lorne.")


@pytest.mark.parametrize("mime", MAKERS)
def test_a_file_is_known_by_its_bytes_whatever_its_name(mime):
    body = MAKERS[mime]([[("Text.", "plain")]])
    for name in ("a", "a.html", "a.zip", "a.docx", "a.epub"):
        assert file_source(name, body).mime == mime


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (word([], kind="application/vnd.ms-word.document.macroEnabled"), "a Word file with macros: save it as .docx"),
        (slides([], kind="application/vnd.ms-powerpoint.presentation.macroEnabled"), "slides with macros"),
        (packed({"[Content_Types].xml": ""}), "an archive: unpack it"),
        (packed({"a.txt": "text"}), "an archive: unpack it"),
        (packed({"Index/Document.iwa": "text"}), "a file of Pages, Numbers or Keynote: export it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an Office file older than 2007, or one with a password"),
        (b"{\\rtf1\\ansi The weir.}", "Rich Text: save it as .docx or .odt"),
        (bytes(60) + b"BOOKMOBI", "a book for Kindle: convert it to .epub"),
        (b'<?xml version="1.0"?><office:document>', "flat OpenDocument: save it as .odt"),
    ],
)
def test_a_format_that_is_not_read_is_named_with_what_to_do(body, reason):
    refused = file_source("a.docx", body).reason
    assert refused is not None
    assert refused.startswith(f"it is {reason}")


@pytest.mark.parametrize("mime", MAKERS)
def test_a_bomb_is_refused_before_it_expands(mime, monkeypatch):
    monkeypatch.setattr(archive, "MAX_EXPANDED", 100_000)
    bomb = MAKERS[mime]([[("0" * 1_000_000, "plain")]])
    assert len(bomb) < 10_000
    assert read(bomb, mime).reason == "expands_too_far"


def test_entities_are_not_read():
    for declaration in ('<!ENTITY e SYSTEM "/etc/hostname">', '<!ENTITY e "77">'):
        made = word([], "<w:p><w:r><w:t>x</w:t></w:r></w:p>")
        with zipfile.ZipFile(BytesIO(made)) as file:
            parts = {name: file.read(name) for name in file.namelist()}
        text = parts["word/document.xml"].decode().replace("<w:t>x", "<w:t>x&e;")
        parts["word/document.xml"] = f"<!DOCTYPE d [{declaration}]>{text}"
        extracted = read(packed(parts), DOCX)
        assert (extracted.paragraphs, extracted.reason) == ((), "extraction_failed")


def test_a_locked_file_and_a_damaged_one_say_so():
    locked = "<m><file-entry><encryption-data/></file-entry></m>"
    with zipfile.ZipFile(BytesIO(opendocument([[("Text.", "plain")]]))) as file:
        parts = {name: file.read(name) for name in file.namelist() if name != "mimetype"}
    assert read(packed({**parts, "META-INF/manifest.xml": locked}, ODT), ODT).reason == "encrypted"
    method = "<e><EncryptionMethod Algorithm='{}'/></e>"
    for algorithm, reason in (
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "encrypted"),
        ("http://www.idpf.org/2008/embedding", None),
    ):
        assert (
            read(book([[("Text.", "plain")]], **{"META-INF/encryption.xml": method.format(algorithm)}), EPUB).reason
            == reason
        )
    for mime, maker in MAKERS.items():
        assert read(maker([[("Text.", "plain")]])[:300], mime).reason == "extraction_failed"
        assert read(packed({"other.xml": "<a/>"}), mime).reason == "extraction_failed"


_CORE = (
    "<c:coreProperties xmlns:c='urn:c' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='urn:t'>"
    "<dc:creator>{author}</dc:creator><dcterms:created>2021-03-04T08:00:00Z</dcterms:created></c:coreProperties>"
)

_META = (
    "<d xmlns:meta='urn:m' xmlns:dc='urn:d'><meta><dc:title>The weir</dc:title>"
    "<meta:initial-creator>Ann Molloy</meta:initial-creator><dc:creator>Rhys Pugh</dc:creator>"
    "<dc:date>2024-01-01T00:00:00</dc:date><meta:creation-date>2021-03-04T08:00:00.5</meta:creation-date></meta></d>"
)


def with_part(body: bytes, name: str, text: str) -> bytes:
    """Return an archive with another text in one part."""
    with zipfile.ZipFile(BytesIO(body)) as file:
        parts: dict[str, str | bytes] = {name: file.read(name) for name in file.namelist()}
    return packed({**parts, name: text})


@pytest.mark.parametrize("author", ["Ann Molloy", "python-docx"])
def test_a_word_file_states_its_origin(author):
    made = with_part(word([[("Text.", "plain")]]), "core.xml", _CORE.format(author=author))
    assert read(made, DOCX).origin == Origin("2021-03-04", author if author == "Ann Molloy" else None)


def test_a_file_of_word_itself_states_its_origin():
    document, file = Document(), BytesIO()
    document.add_paragraph("The weir stands.")
    document.core_properties.author, document.core_properties.created = "Rhys Pugh", datetime(2019, 12, 31, 23, 0)
    document.save(file)
    extracted = read(file.getvalue(), DOCX)
    assert (extracted.paragraphs, extracted.origin) == (("The weir stands.",), Origin("2019-12-31", "Rhys Pugh"))


def test_slides_state_their_origin():
    made = with_part(slides([[("Text.", "plain")]]), "core.xml", _CORE.format(author="Ann Molloy"))
    with zipfile.ZipFile(BytesIO(made)) as file:
        relations = file.read("_rels/.rels").decode()
    core = "<Relationship Id='c' Type='urn:x/core-properties' Target='core.xml'/></Relationships>"
    made = with_part(made, "_rels/.rels", relations.replace("</Relationships>", core))
    assert read(made, PPTX).origin == Origin("2021-03-04", "Ann Molloy")


def test_opendocument_states_who_made_it_first_and_when():
    assert read(with_part(opendocument([[("Text.", "plain")]]), "meta.xml", _META), ODT).origin == Origin(
        "2021-03-04", "Ann Molloy"
    )


@pytest.mark.parametrize(
    ("dates", "day"),
    [
        ("<dc:date>2021-03-04</dc:date>", "2021-03-04"),
        ("<dc:date>2021</dc:date>", None),
        ("<dc:date opf:event='modification'>2024-01-01</dc:date><dc:date>2021-03-04</dc:date>", "2021-03-04"),
    ],
)
def test_a_book_states_its_authors_and_the_day_it_was_published(dates, day):
    made = book([[("Text.", "plain")]])
    with zipfile.ZipFile(BytesIO(made)) as file:
        package = file.read("OPS/book.opf").decode()
    stated = "<dc:creator>Ann Molloy</dc:creator><dc:creator>Rhys Pugh</dc:creator>"
    package = package.replace("<package ", "<package xmlns:opf='urn:o' ").replace(
        "</metadata>", f"{stated}{dates}</metadata>"
    )
    assert read(with_part(made, "OPS/book.opf", package), EPUB).origin == Origin(day, "Ann Molloy; Rhys Pugh")


def test_documents_of_packed_pages_have_title_author_and_date():
    made = with_part(opendocument([[("The weir stands.", "plain")]]), "meta.xml", _META)
    url = "https://a.test/report"
    frontier = pa.Table.from_pylist(
        [{"article_shard": 0, "article_id": "a", "provenance": "citation", "rank": 0, "url": url}],
        schema=FRONTIER.schema,
    )
    page = {"url": url, "host": "a.test", "mime": ODT, "body": made, "final_url": url, "rights_headers": []}
    pages = pa.RecordBatch.from_pylist([page], schema=PAGES.schema)
    (batch,) = extract_documents(frontier, [pages], ExtractSettings())
    (row,) = batch.select(["title", "author", "date", "engine", "paragraphs"]).to_pylist()
    assert row == {
        "title": "The weir",
        "author": "Ann Molloy",
        "date": "2021-03-04",
        "engine": "opendocument",
        "paragraphs": ["The weir stands."],
    }
