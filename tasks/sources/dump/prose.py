"""A section's wikitext as plain prose: one line a paragraph, its punctuation repaired where something was removed."""

import html
import re
from collections import Counter
from collections.abc import Callable, Mapping

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from tasks.engine.data_files import read_data
from tasks.sources.dump.markup import balanced, outer_templates, without, without_references
from tasks.sources.dump.pages import CATEGORY, FILE, MEDIA, Site
from tasks.sources.dump.templates import GONE, RAISED, Arguments, called, expand, raised
from tasks.text.raised import raised as raised_text
from tasks.text.raised import without_invisible

ITEM = "\ue001"  # marks the start of a line that is an item of a list or indented
_PRIVATE = re.compile("[\ue000-\ue004]")
_QUOTES = re.compile(r"'{2,5}")
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}|simple|[a-z]{2,3}-[a-z-]{2,12})")
_TABLE_LEFTOVER = re.compile(r"\s*(?:\||!|\{\||\}\}?)")
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*(?= )")
_LINK_START = re.compile(r"\[(?=(?:https?:)?//)")

_SKIPPED_TAGS = frozenset(read_data("tasks.sources.dump", "wikitext.toml")["skipped"]["tags"])
_ITEM_TAGS = frozenset(["li", "dt", "dd"])
_BLOCK_TAGS = frozenset(
    ["p", "div", "center", "blockquote", "ul", "ol", "dl", "hr", "poem", "h1", "h2", "h3", "h4", "h5", "h6"]
)


def plain_prose(wikitext: str, site: Site, left_out: Counter[str] | None = None) -> str:
    """Return the prose of a section, its paragraphs separated by line breaks; empty if there is none.

    Removed are templates (but see `templates`), tables, references, files with their captions, galleries, categories,
    lists and indented lines, bare URLs, maths in TeX, pronunciation and empty brackets. Links and emphasis keep their
    text. A sentence that only introduces what was removed (`There are three kinds:`) is removed too. The source is
    without comments and its own heading. `left_out` counts by name the templates within the text that were removed."""
    text = _PRIVATE.sub("", wikitext)
    text = _without_open_links(balanced(_without_boxes(without_references(text))))
    text = _QUOTES.sub("", _MAGIC_WORD.sub("", text))
    code = mwparserfromhell.parse(text, skip_style_tags=True)
    return "\n".join(paragraphs_of(_Writer(site, left_out).text(code)))


def _without_open_links(text: str) -> str:
    """Return wikitext without the brackets of links to the web that no bracket of their line closes."""
    lines = (line.rpartition("]") for line in text.split("\n"))
    return "\n".join(f"{closed}{end}{_LINK_START.sub(' ', rest)}" for closed, end, rest in lines)


def _without_boxes(text: str) -> str:
    """Return wikitext without templates that begin a line and span several lines: boxes, which need not be parsed."""
    templates = outer_templates(text)
    begin_a_line = ((start, end) for start, end in templates if text[max(start - 1, 0) : start] in ("", "\n"))
    return without(text, ((start, end) for start, end in begin_a_line if "\n" in text[start:end]))


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of marked text, their punctuation mended. Blank lines separate them; `ITEM` begins an item
    of a list, `GONE` marks where something was removed, `raised` wrote superscripts."""
    blocks: list[str] = []
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip() and not line.startswith(ITEM):
            if not _TABLE_LEFTOVER.match(line):
                lines.append(line)
            continue
        if lines:
            paragraph = mend(" ".join(_clean(" ".join(lines)).split()))
            blocks.append(paragraph if re.search(r"\w", paragraph) else "")
            lines = []
        if line.startswith(ITEM):
            blocks.append("")
    for index, following in enumerate([*blocks, ""][1:]):
        if not following and blocks[index].endswith(":"):  # its last sentence introduces what was removed
            ends = [match.end() for match in _SENTENCE_END.finditer(blocks[index])]
            blocks[index] = blocks[index][: max(ends, default=0)]
    return list(filter(None, blocks))


_RAISED = re.compile(rf"{RAISED}([-−–+]?\d+)")
_BEFORE = 60  # characters before a superscript that say what it is


def _raised(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - _BEFORE) : match.start()].replace(RAISED, "")
    return raised_text(before, match[1], linked=False)


def _clean(text: str) -> str:
    text = text.replace(ITEM, " ")
    text = _RAISED.sub(_raised, text).replace(RAISED, "")
    text = re.sub(r"\{\{|\}\}|\[\[|\]\]", "", text)
    return re.sub(
        r"<ref\b[^<>]*>|</ref\s*>|</?(?:small|big|span|div|center|sup|sub|i|b|u|br|p)\b[^<>]*>", "", text, flags=re.I
    )


class _Writer:
    """Writes nodes of parsed wikitext as text with the marks `GONE` and `ITEM`."""

    def __init__(self, site: Site, left_out: Counter[str] | None) -> None:
        self._site = site
        self._left_out = left_out
        self._writers: Mapping[type, Callable[..., str]] = {
            Text: lambda node: str(node.value),
            HTMLEntity: lambda node: html.unescape(str(node)).replace("\n", " "),
            Tag: self._tag,
            Template: self._template,
            Wikilink: self._link,
            ExternalLink: lambda node: self.text(node.title) if node.brackets and node.title is not None else GONE,
        }

    def text(self, code: Wikicode | None) -> str:
        """Return the text of nodes; comments, headings and template arguments have none."""
        if code is None:
            return ""
        return "".join(self._writers[type(node)](node) for node in code.nodes if type(node) in self._writers)

    def _template(self, node: Template) -> str:
        name = called(self.text(node.name))
        text = expand(name, Arguments(node, self.text))
        if text == GONE and self._left_out is not None:
            self._left_out[name] += 1
        return text

    def _tag(self, node: Tag) -> str:
        name = str(node.tag).strip().lower()
        if name in _SKIPPED_TAGS:
            return GONE if name not in ("table", "gallery") else "\n"
        if name in _ITEM_TAGS:
            return f"\n{ITEM}{self.text(node.contents)}" if node.wiki_markup is None else ITEM
        if name == "br":
            return " "
        if name == "math":
            formula = str(node.contents)
            return GONE if "\\" in formula else formula.replace("{", "").replace("}", "")
        inner = self.text(node.contents)
        if name == "sup":
            return raised(inner)
        return f"\n\n{inner}\n\n" if name in _BLOCK_TAGS else inner

    def _link(self, node: Wikilink) -> str:
        title = str(node.title).strip()
        prefix, colon, rest = title.partition(":")
        namespace = self._site.namespaces.get(" ".join(prefix.replace("_", " ").split()).casefold()) if colon else None
        if namespace in (FILE, CATEGORY):
            return ""
        if node.text is not None:
            return self.text(node.text)
        if namespace == MEDIA or (colon and rest and _LANGUAGE.fullmatch(prefix)):
            return ""  # a sound, or the same article in another language
        return html.unescape(title.removeprefix(":").replace("_", " "))


# Between slashes or square brackets, with at least one letter that only phonetic script has.
_SOUND = "[ˈˌːəɪʊɛɔæʃʒθðŋɑɒʌɡɹɾʁɐɨɯɲ]"
_PHONETIC = re.compile(rf"(?<!\w)/[^/\n]{{0,60}}{_SOUND}[^/\n]{{0,60}}/|\[[^\[\]\n]{{0,60}}{_SOUND}[^\[\]\n]{{0,60}}\]")
_SAYS = r"(?:pronounced|pronunciation|pron\.|IPA|locally|listen|audio|help|info|phonetically|respelling|approximately)"
_SPOKEN = re.compile(rf"\b{_SAYS}\b", re.I)
# What remains of a part of a bracket without its template: "UK:", "also", "years ago".
_LABEL = re.compile(r"[^:,;]{0,60}:\s*")
_BARE_LABEL = re.compile(
    r"(?:\s|:|[$£€¥₹]|\b(?:or|and|also|sometimes|occasionally|rarely|often|usually|commonly|now|named|age|aged|years|ago|in"
    r"|from|equivalent|to|about|approximately|roughly|today|adjusted|for|inflation|US)\b)*"
)
_OPEN, _CLOSE = "\ue002", "\ue003"  # brackets that are already repaired
_BRACKET = re.compile(r"\(([^()]*)\)")
_EMPTY_BRACKET = re.compile(r" ?(?:\([ ;,:.–—-]*\)|\[ ?\])")
_OUTSIDE = re.compile(
    rf",? ?\(?\b{_SAYS}\b[ :]{{0,3}}(?:{_SAYS}\b[ :]{{0,3}})?(?:as )?{GONE}(?: ?(?:or|and|,)? ?{GONE}){{0,3}} ?,?",
    re.IGNORECASE,
)


def mend(text: str) -> str:
    """Return a line of prose, single-spaced, without the `GONE` marks and the punctuation that belonged to them.
    Pronunciation and signs without width are removed too."""
    text = _PHONETIC.sub(GONE, without_invisible(text))
    if "(" in text:
        for _ in range(4):  # brackets within brackets, from the inside
            text, changes = _BRACKET.subn(_mended_bracket, text)
            if not changes:
                break
        text = text.replace(_OPEN, "(").replace(_CLOSE, ")")
    text = _OUTSIDE.sub("", text)
    text = re.sub(rf"(?<![ {GONE}])[ {GONE}]*{GONE}[ {GONE}]*(?=([.,;:!?)\]]|$)?)", _gap, text)
    text = _EMPTY_BRACKET.sub("", text)
    text = re.sub(r" ([,)](?!\d)|\.(?![\d.]))", r"\1", text.replace("( ", "("))
    return re.sub(r",(?: ?,)+", ",", text).strip()


def _gap(match: re.Match[str]) -> str:
    opened = match.start() == 0 or match.string[match.start() - 1] in "(["
    return "" if opened or match[1] is not None or " " not in match[0] else " "


def _mended_bracket(match: re.Match[str]) -> str:
    inner = match[1]
    if GONE in inner:
        parts = [",".join(_kept(part.split(","))) for part in inner.split(";")]
        inner = ";".join(part for part in parts if part.strip(" \t,")).strip(" \t,;")
    inner = re.sub(r"^[ \t]*[;,:]|[;,][ \t]*$", "", inner).strip()
    if not re.sub(r"[\s;,:.–—-]", "", inner):
        return GONE
    return f"{_OPEN}{inner}{_CLOSE}"


def _kept(parts: list[str]) -> list[str]:
    """Return the parts of a bracket that still have content."""
    kept = []
    for part in parts:
        if GONE not in part:
            kept.append(part)
            continue
        rest = re.sub(rf"(?:(?<![ \t])[ \t]+)?{GONE}[ \t]*", " ", part)
        if not (_SPOKEN.search(rest) or _LABEL.fullmatch(rest) or _BARE_LABEL.fullmatch(rest)):
            kept.append(rest.rstrip() if rest.startswith((" ", "\t")) else rest.strip())
    return kept
