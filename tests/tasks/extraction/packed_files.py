"""Word files, slides, OpenDocument and EPUB of a few paragraphs, each a list of (text, look)."""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape

Run = tuple[str, str]  # text, and plain | bold | super | hidden | struck | deleted | inserted | note | comment

OFFICE = "application/vnd.openxmlformats-officedocument"
OPEN = "application/vnd.oasis.opendocument"
DOCX, PPTX = f"{OFFICE}.wordprocessingml.document", f"{OFFICE}.presentationml.presentation"
ODT, EPUB = f"{OPEN}.text", "application/epub+zip"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_RELATION}"'
)
_O = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "style", "table", "draw", "presentation", "meta")
) + (
    ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def packed(parts: Mapping[str, str | bytes], mimetype: str = "") -> bytes:
    """Return a ZIP archive of parts; `mimetype`: its uncompressed first part."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


def _types(kind: str) -> str:
    return f'<Types><Override PartName="/x" ContentType="{kind}.main+xml"/></Types>'


def _relations(targets: Mapping[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATION}/{kind.rstrip("0123456789")}" Target="{name}"/>'
        for number, (kind, name) in enumerate(targets.items())
    )
    return f"<Relationships>{listed}</Relationships>"


_WORD = {
    "plain": "<w:r><w:t>{}</w:t></w:r>",
    "bold": "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>",
    "super": '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>',
    "hidden": "<w:r><w:rPr><w:vanish/></w:rPr><w:t>{}</w:t></w:r>",
    "struck": '<w:r><w:rPr><w:rStyle w:val="Struck"/></w:rPr><w:t>{}</w:t></w:r>',
    "deleted": '<w:del w:id="1"><w:r><w:delText>{}</w:delText></w:r></w:del>',
    "inserted": '<w:ins w:id="2"><w:r><w:t>{}</w:t></w:r></w:ins>',
    "comment": '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>{}</w:instrText>'
    '<w:fldChar w:fldCharType="end"/></w:r>',
}


def word(paragraphs: Sequence[Sequence[Run]], body: str = "", kind: str = DOCX) -> bytes:
    """Return a Word file; `body`: XML after the paragraphs."""
    text = "".join(
        f"<w:p>{''.join(_WORD[look].format(escape(part)) for part, look in runs)}</w:p>" for runs in paragraphs
    )
    styles = (
        '<w:style w:styleId="Base"><w:rPr><w:strike/></w:rPr></w:style>'
        '<w:style w:styleId="Struck"><w:basedOn w:val="Base"/></w:style>'
        '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    )
    note = '<w:footnote w:id="3"><w:p><w:r><w:footnoteRef/><w:t>A note by Lorne.</w:t></w:r></w:p></w:footnote>'
    return packed(
        {
            "[Content_Types].xml": _types(kind),
            "_rels/.rels": _relations({"officeDocument": "word/document.xml", "core-properties": "core.xml"}),
            "core.xml": "<c><title>Untitled</title></c>",
            "word/_rels/document.xml.rels": _relations({"styles": "styles.xml", "footnotes": "footnotes.xml"}),
            "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
            "word/footnotes.xml": f"<w:footnotes {_W}>{note}</w:footnotes>",
            "word/document.xml": f"<w:document {_W}><w:body>{text}{body}</w:body></w:document>",
        }
    )


_SLIDE = {
    "plain": "<a:r><a:t>{}</a:t></a:r>",
    "bold": '<a:r><a:rPr b="1"/><a:t>{}</a:t></a:r>',
    "super": '<a:r><a:rPr baseline="30000"/><a:t>{}</a:t></a:r>',
    "hidden": "<!-- {} -->",
    "struck": '<a:r><a:rPr strike="sngStrike"/><a:t>{}</a:t></a:r>',
    "deleted": '<a:r><a:rPr strike="dblStrike"/><a:t>{}</a:t></a:r>',
    "inserted": '<a:r><a:rPr strike="noStrike"/><a:t>{}</a:t></a:r>',
    "comment": "<a:extLst><a:ext><a:t>{}</a:t></a:ext></a:extLst>",
}


def slides(paragraphs: Sequence[Sequence[Run]], shapes: str = "", kind: str = PPTX) -> bytes:
    """Return slides with one paragraph each; `shapes`: more of the first one."""
    parts = {
        "[Content_Types].xml": _types(kind),
        "_rels/.rels": _relations({"officeDocument": "ppt/presentation.xml"}),
        "ppt/presentation.xml": f"<p:presentation {_P}><p:sldIdLst>{{}}</p:sldIdLst></p:presentation>",
    }
    entries = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(len(paragraphs)))
    parts["ppt/presentation.xml"] = parts["ppt/presentation.xml"].format(entries)
    names = {f"slide{n}": f"slides/s{n}.xml" for n in range(len(paragraphs))}
    parts["ppt/_rels/presentation.xml.rels"] = _relations(names)
    for number, runs in enumerate(paragraphs):
        text = "".join(_SLIDE[look].format(escape(part)) for part, look in runs)
        shape = f"<p:sp><p:txBody><a:p>{text}</a:p></p:txBody></p:sp>{shapes if number == 0 else ''}"
        parts[f"ppt/slides/s{number}.xml"] = f"<p:sld {_P}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>"
    return packed(parts)


_SPAN = '<text:span text:style-name="{look}">{{}}</text:span>'
_DOCUMENT = {
    "plain": "{}",
    "bold": "<text:span>{}</text:span>",
    "super": _SPAN.format(look="Raised"),
    "hidden": _SPAN.format(look="Hidden"),
    "struck": _SPAN.format(look="Struck"),
    "deleted": "<office:annotation><text:p>{}</text:p></office:annotation>",
    "inserted": '<text:change-start text:change-id="1"/>{}<text:change-end text:change-id="1"/>',
    "comment": '<text:hidden-text text:is-hidden="true" text:string-value="{0}">{0}</text:hidden-text>',
}
_PROPERTIES = {
    "Raised": 'style:text-position="super 58%"',
    "Hidden": 'text:display="none"',
    "Base": 'style:text-line-through-style="solid"',
}


def opendocument(
    paragraphs: Sequence[Sequence[Run]], body: str = "", content: str | None = None, kind: str = ODT
) -> bytes:
    """Return an OpenDocument text; `body`: XML after the paragraphs; `content`: XML of the body instead."""
    text = "".join(
        f"<text:p>{''.join(_DOCUMENT[look].format(escape(part)) for part, look in runs)}</text:p>"
        for runs in paragraphs
    )
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties {look}/></style:style>'
        for name, look in _PROPERTIES.items()
    )
    styles += '<style:style style:name="Struck" style:parent-style-name="Base"/>'
    deleted = "<text:tracked-changes><text:deletion><text:p>99177</text:p></text:deletion></text:tracked-changes>"
    content = f"<office:text>{deleted}{text}{body}</office:text>" if content is None else content
    return packed(
        {
            "content.xml": f"<office:document-content {_O}><office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body>{content}</office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {_O}><office:meta><dc:title>The valley</dc:title></office:meta>"
            "</office:document-meta>",
        },
        kind,
    )


_XHTML = {
    "plain": "{}",
    "bold": "<b>{}</b>",
    "super": "<sup>{}</sup>",
    "hidden": "<span class='secret'>{}</span>",
    "struck": "<s>{}</s>",
    "deleted": "<del>{}</del>",
    "inserted": "<ins>{}</ins>",
    "comment": "<a epub:type='noteref' href='n.xhtml#n'>{}</a>",
}


def book(paragraphs: Sequence[Sequence[Run]], **parts: str) -> bytes:
    """Return an EPUB book with a chapter for each paragraph."""
    chapters = {
        f"text/c{number}.xhtml": "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml' "
        "xmlns:epub='http://www.idpf.org/2007/ops'><head><title/><link rel='stylesheet' href='../look.css'/></head>"
        f"<body><p><a id='x'/>{''.join(_XHTML[look].format(escape(part)) for part, look in runs)}</p></body></html>"
        for number, runs in enumerate(paragraphs)
    }
    items = "".join(
        f"<item id='c{number}' href='{name}' media-type='application/xhtml+xml'/>"
        for number, name in enumerate(chapters)
    )
    spine = "".join(f"<itemref idref='c{number}'/>" for number in range(len(chapters)))
    return packed(
        {
            "META-INF/container.xml": "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles>"
            "</container>",
            "OPS/book.opf": "<package xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata><dc:title>The valley"
            f"</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            "OPS/look.css": ".secret { display: none }",
            **{f"OPS/{name}": text for name, text in chapters.items()},
            **parts,
        },
        EPUB,
    )


MAKERS = {DOCX: word, PPTX: slides, ODT: opendocument, EPUB: book}
