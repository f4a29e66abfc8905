"""A cited summary as a Word file and as a PDF: sentences with the numbers of their passages, the differences between
sources, the passages, and the sources."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Literal

from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.wording import DIFFERING, MARKS, described, meaning
from tasks.reporting.blocks import clean

Style = Literal["title", "heading", "sentence", "note"]
_FONT = "DejaVuSans"  # of matplotlib: most alphabets, but no signs of Chinese, Japanese and Korean
_SIZES = {"title": 18.0, "heading": 13.0, "sentence": 11.0, "note": 9.0}
_MARGIN = 20.0  # mm
_BOX = "□"
_RIGHT_TO_LEFT = {"R", "AL"}  # which would be drawn backwards, and Arabic letters without their joins
_JOINING = re.compile("[\u200d\ufe0e\ufe0f]")  # marks that only choose or join symbols


@dataclass(frozen=True)
class DocumentPart:
    """A paragraph of the document."""

    style: Style
    text: str
    numbers: tuple[int, ...] = ()  # of the passages that it cites
    doubt: str = ""  # the verifier's result, if no passage says the sentence


def to_docx(summary: CitedSummary) -> bytes:
    """Return the summary as a Word file; citations are raised numbers."""
    from docx import Document  # here, because other exports need no such package

    document = Document()
    properties = document.core_properties  # those of the package's template name its maker and a day in 2013
    properties.title, properties.author, properties.comments = clean(summary.title), "wikisum", ""
    if summary.made:
        properties.created = properties.modified = datetime.fromisoformat(summary.made)
    for part in _parts(summary):
        if part.style in {"title", "heading"}:
            document.add_heading(part.text, 0 if part.style == "title" else 1)
            continue
        paragraph = document.add_paragraph()
        paragraph.add_run(part.text).italic = part.style == "note"
        for number in part.numbers:
            paragraph.add_run(f"[{number}]").font.superscript = True
        if part.doubt:
            paragraph.add_run(f" ({part.doubt})").bold = True
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def to_pdf(summary: CitedSummary) -> bytes:
    """Return the summary as a PDF; symbols that the font lacks are boxes. Raises ValueError: it lacks letters, such as
    Chinese ones, or they are written from right to left."""
    import matplotlib
    from fpdf import FPDF  # here, because other exports need no such package
    from fpdf.fonts import TTFFont

    pdf = FPDF(format="A4")
    pdf.set_margin(_MARGIN)
    pdf.add_font(_FONT, fname=Path(matplotlib.get_data_path()) / f"fonts/ttf/{_FONT}.ttf")
    pdf.set_title(clean(summary.title))
    pdf.add_page()
    font = pdf.fonts[_FONT.lower()]
    assert isinstance(font, TTFFont)
    for part in _parts(summary):
        numbers = "".join(f" [{number}]" for number in part.numbers)
        line = _JOINING.sub("", f"{part.text}{numbers}{f' ({part.doubt})' if part.doubt else ''}")
        if signs := sorted({sign for sign in line if unicodedata.bidirectional(sign) in _RIGHT_TO_LEFT}):
            raise ValueError(f"PDFs cannot join letters from right to left ({signs[0]}): export as docx or html")
        lacking = sorted({sign for sign in line if ord(sign) not in font.cmap and not sign.isspace()})
        # A box shows that a symbol, such as an emoji, is missing. Without its letters a word says something else.
        line = line.translate({ord(sign): _BOX for sign in lacking if unicodedata.category(sign)[0] not in "LMN"})
        if lacking := [sign for sign in lacking if sign in line]:
            raise ValueError(f"the font of PDFs lacks {' '.join(lacking[:10])}: export as docx or html")
        pdf.set_font(_FONT, size=_SIZES[part.style])
        pdf.ln(3 if part.style == "heading" else 0)
        pdf.multi_cell(0, text=line, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(2)
    return bytes(pdf.output())


def _parts(summary: CitedSummary) -> Iterator[DocumentPart]:
    """Yield the paragraphs of the document, in order."""
    yield DocumentPart("title", clean(summary.title))
    for sentence in summary.told:
        if sentence.heading:
            yield DocumentPart("heading", clean(sentence.heading))
        doubt = "" if sentence.verdict == "said" else f"{MARKS[sentence.verdict]}: {clean(sentence.tested)}"
        yield DocumentPart("sentence", clean(sentence.text), tuple(sentence.passages), doubt)
    if summary.differing:
        yield DocumentPart("heading", DIFFERING)
    for difference in summary.differing:
        for side, number in difference.stated:
            yield DocumentPart("sentence", f"{clean(summary.named(number))}: {clean(side)}", (number,))
    for note in summary.notes:
        yield DocumentPart("note", clean(note))
    if summary.sentences:
        yield DocumentPart("note", clean(f"Written by {summary.system}. {summary.why} {meaning([summary.system])}"))
    names = {source.number: described(source) for source in summary.sources}
    yield DocumentPart("heading", "Passages")
    for passage in summary.passages:
        place = f"{names.get(passage.source, 'unknown')}, {passage.place}"
        yield DocumentPart("sentence", f"[{passage.number}] {place}: {clean(passage.shown)}")
    yield DocumentPart("heading", "Sources")
    for source in summary.sources:
        refused = f" Not used: {clean(source.refused)}." if source.refused else ""
        yield DocumentPart("sentence", f"{source.number}. {described(source)}{refused}")
