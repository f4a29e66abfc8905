"""A minimal PDF writer: one page, one font, as much text as fits."""

from collections.abc import Sequence
from textwrap import wrap

_LINES = 58


def render_pdf(title: str, paragraphs: Sequence[str]) -> bytes:
    """Return a valid one-page PDF 1.4 with a title and paragraphs, cut where the page ends."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*wrap(paragraph, 92), ""]
    shown = b"".join(b"(" + _escaped(line) + b") Tj T*\n" for line in lines[:_LINES])
    stream = b"BT /F1 10 Tf 13 TL 50 800 Td\n" + shown + b"ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R\n"
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    file += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(file)


def _escaped(line: str) -> bytes:
    """Return the line as the inside of a PDF string in WinAnsi encoding."""
    escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return escaped.encode("cp1252", "replace")
