"""Slides (.pptx) as the trees of pages, one a slide, in their order: what is shown, without hidden slides and shapes,
struck-out text, dates, feet, numbers of slides and the speaker's notes."""

from lxml import etree, html

from tasks.extraction.packed.archive import Archive, attribute, child, children, line, local, write

_FEET = frozenset({"dt", "ftr", "sldNum", "hdr"})  # types of placeholders
_SKIPPED = frozenset({"Fallback", "nvSpPr", "nvGrpSpPr", "nvGraphicFramePr", "spPr", "grpSpPr", "style", "bodyPr"})
_STRUCK = frozenset({"sngStrike", "dblStrike"})


def read_slides(archive: Archive) -> tuple[str, list[html.HtmlElement]]:
    """Return the title and a tree for each slide; that of a hidden one is empty. Raises PackedError: it is damaged, or
    expands too far."""
    name = archive.main_part()
    targets = archive.targets(name)
    listed = child(archive.xml(name), "sldIdLst")
    bodies: list[html.HtmlElement] = []
    title = ""
    for entry in [] if listed is None else children(listed):
        part = targets.get(_relation(entry), ("", ""))[1]
        slide = archive.xml(part)
        body = html.Element("body")
        bodies.append(body)
        if slide is not None and attribute(slide, "show") not in ("0", "false"):
            reader = _Slide(archive, part)
            reader.shapes(slide, body)
            title = title or reader.title
    return title or line(child(archive.core_properties(), "title")), bodies


def _relation(entry: etree._Element) -> str:
    return next((value for key, value in entry.items() if key.startswith("{") and key.endswith("}id")), "")


class _Slide:
    def __init__(self, archive: Archive, part: str) -> None:
        self.title = ""
        self._archive = archive
        self._targets = archive.targets(part)

    def shapes(self, element: etree._Element, parent: html.HtmlElement) -> None:
        """Append the text of all shapes below an element."""
        for below in children(element):
            name = local(below)
            if name == "p":
                self._paragraph(below, parent)
            elif name == "relIds":
                self._diagram(below, parent)
            elif name == "tr":
                row = etree.SubElement(parent, "tr")
                for cell in children(below):
                    if attribute(cell, "hMerge") is None and attribute(cell, "vMerge") is None:
                        self.shapes(cell, etree.SubElement(row, "td"))
            elif name not in _SKIPPED and not _is_left_out(below):
                self.shapes(below, etree.SubElement(parent, "table" if name == "tbl" else "div"))
                if _placeholder(below) in ("title", "ctrTitle") and not self.title:
                    self.title = line(parent[-1])

    def _diagram(self, reference: etree._Element, parent: html.HtmlElement) -> None:
        """Append the texts of a diagram, which is a part of its own."""
        wanted = next((value for key, value in reference.items() if key.endswith("}dm")), "")
        data = self._archive.xml(self._targets.get(wanted, ("", ""))[1])
        points = child(data, "ptLst")
        for point in [] if points is None else children(points):
            if attribute(point, "type") in (None, "node", "asst", "doc"):
                self.shapes(point, parent)

    @staticmethod
    def _paragraph(element: etree._Element, parent: html.HtmlElement) -> None:
        paragraph = etree.SubElement(parent, "p")
        for run in children(element):
            properties = child(run, "rPr")
            text = child(run, "t")
            if local(run) == "br":
                write(paragraph, "\n")
            elif text is not None and attribute(properties, "strike") not in _STRUCK:
                baseline = attribute(properties, "baseline") or "0"
                tag = "sub" if baseline.startswith("-") else "sup" if baseline.strip("0%") else ""
                write(paragraph, text.text or "", tag)


def _placeholder(shape: etree._Element) -> str | None:
    return attribute(child(shape, "nvSpPr", "nvPr", "ph"), "type")


def _is_left_out(shape: etree._Element) -> bool:
    """Tell whether a shape is hidden, or repeats on every slide."""
    named = next((below for below in children(shape) if local(below).startswith("nv")), None)
    return attribute(child(named, "cNvPr"), "hidden") in ("1", "true") or _placeholder(shape) in _FEET
