"""A minimal PDF writer: one page, one font, as much text as fits."""

import re
from collections.abc import Sequence
from textwrap import wrap

_LINES = 58


def render_pdf(title: str, paragraphs: Sequence[str]) -> bytes:
    """Return a valid one-page PDF 1.4 with a title and paragraphs, cut where the page ends."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*wrap(paragraph, 92), ""]
    escaped = (re.sub(r"([\\()])", r"\\\1", line).encode("cp1252", "replace") for line in lines[:_LINES])
    shown = b"".join(b"(%s) Tj T*\n" % line for line in escaped)
    stream = b"BT /F1 10 Tf 13 TL 50 800 Td\n" + shown + b"ET"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R\n"
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )
    file, table = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(file)
    return file + b"xref\n0 6\n" + table + trailer
