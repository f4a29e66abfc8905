"""Small files in the layouts of parsed encyclopedias, in words of our own."""

import html
import io
import json
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Part = dict[str, Any]


def paragraph(text: str, *notes: str) -> Part:
    """A paragraph of structured contents; each note leaves its mark [1], [2] in the text."""
    marks = [f"[{note}]" for note in notes]
    return {
        "type": "paragraph",
        "value": text + "".join(marks),
        "links": [{"url": "https://en.wikipedia.org/wiki/River_Tam", "text": "River Tam"}],
        "citations": [
            {"identifier": f"cite_note-{note}", "group": "", "text": mark}
            for note, mark in zip(notes, marks, strict=True)
        ],
    }


def section(name: str, *parts: Part) -> Part:
    return {"type": "section", "name": name, "has_parts": list(parts)}


def links(*urls: str) -> list[dict[str, str]]:
    return [{"url": url, "text": url} for url in urls]


def listed(*urls: str) -> Part:
    """A list of links."""
    items = [{"type": "list_item", "value": url, "links": links(url)} for url in urls]
    return {"type": "list", "has_parts": items}


def reference(note: str, *, text: Sequence[str] = (), source: Sequence[str] = (), **metadata: str) -> Part:
    """An entry of the references: the fields of its template, or its links."""
    return {
        "identifier": f"cite_note-{note}",
        "type": "web" if metadata else "text",
        "metadata": {name.replace("_", "-"): value for name, value in metadata.items()},
        "text": {"value": "A source.", "links": links(*text)},
        "source": {"value": "", "links": links(*source)},
    }


def structured(name: str, sections: list[Part], references: list[Part] | None = None, **more: Any) -> Part:
    """A row of structured contents."""
    row = {
        "name": name,
        "identifier": 7,
        "url": f"https://en.wikipedia.org/wiki/{name.replace(' ', '_')}",
        "abstract": "",
        "description": "A thing",
        "version": {"identifier": 1209, "comment": "typo"},
        "license": [{"identifier": "CC-BY-SA-4.0", "name": "Creative Commons", "url": "https://creativecommons.org/"}],
        "sections": sections,
    }
    return row | ({} if references is None else {"references": references}) | more


def cited(url: str | None, content: str = "<ref>…</ref>") -> Part:
    """A citation of MegaWika."""
    return {"type": "citation", "content": content, "name": None, "url": url}


def prose(*pieces: str | Part) -> Part:
    """A paragraph of MegaWika: texts and citations."""
    elements = [{"type": "text", "content": one} if isinstance(one, str) else one for one in pieces]
    return {"type": "paragraph", "elements": elements}


def megawika(title: str, *elements: Part, wikicode: str = "") -> Part:
    """A row of MegaWika."""
    return {
        "title": title,
        "wikicode": wikicode,
        "hash": "2c0c",
        "last_revision": "2024-04-30T10:50:40Z",
        "text": "…",
        "elements": list(elements),
        "excerpts_with_citations": [],
    }


def lines_of(*rows: Any) -> bytes:
    """Rows as lines of JSON; a row of bytes as it stands."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def write_archive(path: Path, **members: bytes) -> Path:
    """Write a .tar.gz as Wikimedia Enterprise does: enwiki_0.ndjson and so on; return its path."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name.replace("__", "."))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def transclusion(name: str, /, **fields: str) -> str:
    """The attributes of the first element that a template makes, as Parsoid writes them."""
    params = {key.replace("_", "-"): {"wt": value} for key, value in fields.items()}
    data = {"parts": [{"template": {"target": {"wt": f"{name} ", "href": f"./Template:{name}"}, "params": params}}]}
    about = f"#mwt{zlib.crc32(json.dumps(data).encode())}"
    return f'about="{about}" typeof="mw:Transclusion" data-mw=\'{html.escape(json.dumps(data))}\''


def citation(*links: str, **fields: str) -> str:
    """What a citation template becomes: a style that holds its fields, the citation, and data for machines."""
    attributes = transclusion("cite web", **fields)
    about = attributes.split(" ")[0]
    shown = " ".join(external(url, "the page") for url in links)
    return (
        f'<link rel="mw-deduplicated-inline-style" href="mw-data:TemplateStyles:r1" {attributes}/>'
        f'<cite class="citation web cs1" {about}>{shown}</cite><span class="Z3988" {about} title="ctx"></span>'
    )


def external(url: str, text: str = "a page") -> str:
    return f'<a rel="mw:ExtLink nofollow" href="{url}" class="external text">{text}</a>'


def mark(note: str) -> str:
    """The mark of a footnote."""
    return (
        f'<sup about="#mwt9" class="mw-ref reference" id="cite_ref-{note}" rel="dc:references" '
        f'typeof="mw:Extension/ref" data-mw=\'{{"name":"ref","attrs":{{}},"body":{{"id":"x"}}}}\'>'
        f'<a href="./Page#cite_note-{note}"><span class="mw-reflink-text">[{note}]</span></a></sup>'
    )


def footnotes(classes: str = "mw-reference-text reference-text", /, **notes: str) -> str:
    """The list of footnotes as {{reflist}} makes it; their texts have some classes, today those of the default."""
    items = "".join(
        f'<li about="#cite_note-{note}" id="cite_note-{note}"><span class="mw-cite-backlink" rel="mw:referencedBy">'
        f'<a href="./Page#cite_ref-{note}"><span class="mw-linkback-text">↑ </span></a></span> '
        f'<span id="mw-reference-text-cite_note-{note}" class="{classes}">{text}</span></li>'
        for note, text in notes.items()
    )
    return (
        f'<div class="reflist" {transclusion("reflist", refs="http://not-this.test/")}><div class="mw-references-wrap">'
        f'<ol class="mw-references references" typeof="mw:Extension/references" about="#mwt8">{items}</ol></div></div>'
    )


def page(name: str, *sections: str, head: str = "", **more: Any) -> Part:
    """A row of an HTML dump: the HTML of the lead, then that of sections with their headings."""
    body = "".join(
        f'<section data-mw-section-id="{number}">{section}</section>' for number, section in enumerate(sections)
    )
    document = (
        '<!DOCTYPE html>\n<html prefix="mw: http://mediawiki.org/rdf/"><head><meta charset="utf-8"/>'
        f'<meta property="mw:htmlVersion" content="2.8.0"/><title>{name}</title></head>'
        f'<body class="mw-body-content parsoid-body">{body}{head}</body></html>'
    )
    return {
        "name": name,
        "identifier": 5,
        "url": f"https://en.wikipedia.org/wiki/{name}",
        "version": {"identifier": 31},
        "namespace": {"identifier": 0},
        "license": [{"name": "Creative Commons", "identifier": "CC-BY-SA-4.0"}],
        "templates": [{"name": "Template:Cite web"}],
        "categories": [{"name": "Category:Bridges"}],
        "article_body": {"html": document, "wikitext": "…"},
        **more,
    }
