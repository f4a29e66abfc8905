"""Small MediaWiki dumps, written page by page."""

import bz2
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Test</sitename>
    <base>https://wiki.test/wiki/Main_Page</base>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Bild</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"
LEAD = "'''{0}''' is a long enough article about {0} in a test.<ref>http://{1}.test/</ref>"


def page(
    title: str,
    text: str | None = None,
    *,
    number: int = 1,
    namespace: int = 0,
    redirect: str = "",
    model: str = "wikitext",
) -> str:
    """The XML of a page whose revision has the id 100 + number."""
    source = LEAD.format(title, title.lower().replace(" ", "-")) if text is None else text
    moved = f'<redirect title="{redirect}" />' if redirect else ""
    return f"""  <page>
    <title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id>{moved}
    <revision>
      <id>{100 + number}</id><parentid>1</parentid><timestamp>2026-01-01T00:00:00Z</timestamp>
      <contributor><username>A &amp; B</username><id>77</id></contributor>
      <comment>{escape("a <comment>")}</comment>
      <model>{model}</model><format>text/x-wiki</format>
      <text bytes="1" xml:space="preserve">{escape(source)}</text><sha1>x</sha1>
    </revision>
  </page>
"""


def dump(*pages: str) -> bytes:
    """A whole dump as XML."""
    return (HEAD + "".join(pages) + TAIL).encode()


def write_multistream(
    folder: Path, groups: list[list[str]], *, part: str = "", texts: Mapping[str, str | None] = MappingProxyType({})
) -> Path:
    """Write a multistream dump of groups of titles, a stream each, with its index beside it; return the dump.

    Pages whose title is not among the texts have that of `page`.
    """
    path = folder / f"testwiki-20260101-pages-articles-multistream{part}.xml.bz2"
    data, lines, number = bz2.compress(HEAD.encode()), [], 0
    for titles in groups:
        pages = []
        for title in titles:
            number += 1
            lines.append(f"{len(data)}:{number}:{title}\n")
            pages.append(page(title, texts.get(title), number=number))
        data += bz2.compress("".join(pages).encode())
    path.write_bytes(data + bz2.compress(TAIL.encode()))
    index = path.with_name(
        path.name.replace(".xml.bz2", ".txt.bz2").replace(f"multistream{part}", f"multistream-index{part}")
    )
    index.write_bytes(bz2.compress("".join(lines).encode()))
    return path
