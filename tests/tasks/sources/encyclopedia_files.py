"""Small files in the layouts of parsed encyclopedias, in words of our own."""

import io
import json
import tarfile
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
        "title": title, "wikicode": wikicode, "hash": "2c0c", "last_revision": "2024-04-30T10:50:40Z",
        "text": "…", "elements": list(elements), "excerpts_with_citations": [],
    }  # fmt: skip


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
