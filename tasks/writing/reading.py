"""Lenient reading of a writer's answer: JSON, JSON that is damaged or ends early, JSON in a string, in a fence or in a
tool call, or prose with numbers in brackets."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from models.sentences import split_sentences

_MOST = 50_000  # characters of an answer that are read
_LONGEST = 600  # characters of a sentence
_HEADING = 80  # of a heading
_MOST_SENTENCES = 300
_DEEPEST = 6  # objects within each other
_TEXTS = ("text", "sentence", "summary")  # keys under which models write sentences
_NUMBERS = ("passages", "passage", "citations", "sources", "source")
_LETTERS = 0.5  # share of a sentence's characters, at least: less is not a language

# Where thinking ends, and where it begins: Qwen and DeepSeek, Magistral, gpt-oss.
_THOUGHT = re.compile(r"</think(?:ing)?>|\[/THINK\]|<\|channel\|>final(?:<\|message\|>)?", re.IGNORECASE)
_THINKS = re.compile(r"\s*(?:<think(?:ing)?>|\[THINK\]|<\|channel\|>analysis)", re.IGNORECASE)

_BEGINS = re.compile(r"[\[{]\s*[\"'{\[]")
# A quote ends a string before what may follow one, or at the end of a text that was cut.
_TOKEN = re.compile(
    r"""(?P<double>"(?P<said>(?:[^"\\]|\\.|"(?![ \t\n]{0,20}(?:[:,\]}"]|\Z)))*)(?P<end>"|\\?\Z))"""
    r"""|(?P<colon>:)|(?P<number>\d{1,6})""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)

_LIST = r"\^?\d{1,3}(?: ?(?:[,;–-]|and|&) ?\^?\d{1,3})*"
_CITATION = re.compile(
    rf"[\[【(](?:(?:passages?|sources?|refs?\.?|see) )?(?P<numbers>{_LIST})(?:†[^\]】)]{{0,40}})?[\]】)]", re.IGNORECASE
)
_WORDED = re.compile(r"[\[【(](?:passage|source|ref|see)", re.IGNORECASE)
_RAISED = re.compile(r"(?<=[.!?,;”\"])[¹²³⁴-⁹⁰]{1,6}(?![\w⁄])|(?<=[^\W\d_]{4})[¹²³⁴-⁹⁰]{1,6}(?=[.!?])")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_CITED = re.compile(r"(?<!\s)\s*\[(\d[\d,]*)\]")
# "It is long.[1] It is red.": it belongs before the stop.
_AFTER_STOP = re.compile(r"([.!?][\"”’]?)((?: ?\[\d[\d,]*\])+)")
_FOOTNOTE = re.compile(
    r"^[ \t]*\[\^?\d{1,3}\]:.*$|^[ \t]*(?:sources|references|citations|passages)[ \t]*:.*$", re.M | re.I
)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_TAG = re.compile(r"<[^<>]*>|\[/?INST\]")
_MARKUP = re.compile(r"(?:\*\*|__|`)|^[ \t]*(?:#{1,6}|[*>•-]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.MULTILINE)
# A cut answer's "41." may have been "41.5".
_ENDED = re.compile(r"(?:(?<!\d)[.!?]|[…。！？।])[\"'”’»)\]]*\Z")
_STOPS = re.compile(r"[.!?…。！？।][\"'”’»)\]]*\Z")
_QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“", "'": "'", "‘": "’"}


@dataclass(frozen=True)
class Draft:
    """A sentence as a model wrote it, without markup, and the ranks of the passages that it cites, if they exist."""

    text: str
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Said:
    """A text of an answer, and the numbers that belong to it."""

    text: str
    numbers: Any = ()
    whole: bool = True  # whether its end is there


def read_sentences(answer: str, passages: int, *, cut: bool = False) -> list[Draft]:
    """Return the sentences of an answer; numbers of passages that were not sent are left out. `answer`: whatever a
    model wrote; `passages`: how many there are; their numbers begin at 1; `cut`: whether the answer ended before the
    model did: a last sentence without its end is left out."""
    text = _spoken(answer)
    every = _objects(text, _TEXTS)
    if not every and not _BEGINS.search(text):
        text = _MARKUP.sub("", _FOOTNOTE.sub("", _FENCE.sub("", text)))
        every = [
            _Said(split_sentence)
            for split_sentence in split_sentences(_AFTER_STOP.sub(r"\2\1", _canonical(text, passages)))
        ]
    drafts = list[Draft]()
    for item in every:
        drafts += _drafts(item, passages)
    unfinished = every and (cut or not every[-1].whole)
    if drafts and unfinished and not _ENDED.search(drafts[-1].text):
        drafts.pop()
    return drafts[:_MOST_SENTENCES]


def read_whole_sentences(answer: str, *, cut: bool = False) -> list[str]:
    """Return the sentences of an answer in plain words that begin and end as sentences do, each once; arguments as of
    `read_sentences`."""
    texts = dict.fromkeys(draft.text for draft in read_sentences(answer, 0, cut=cut))
    return [text for text in texts if _STOPS.search(text) and not text[0].islower() and text[0] not in "*#-&.,;:)"]


def read_sections(answer: str, passages: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return headings and ranks of an outline's sections, each passage in one; those without any are left out."""
    sections, used = [], set[int]()
    for item in _objects(_spoken(answer), ("heading",)):
        ranks = tuple(n - 1 for n in dict.fromkeys(_whole(item.numbers)) if 1 <= n <= passages and n - 1 not in used)
        used.update(ranks)
        if ranks:
            sections.append((" ".join(_plain(item.text).split())[:_HEADING], ranks))
    return sections


def _drafts(said: _Said, passages: int) -> Iterator[Draft]:
    """Yield the sentences of a text. If its sentences have citations of their own, each has these; else all have the
    numbers of the text."""
    text = _AFTER_STOP.sub(r"\2\1", _canonical(_LINK.sub(r"\1", said.text), passages))
    beside = [n for n in _whole(said.numbers) if 1 <= n <= passages]
    for sentence in split_sentences(_TAG.sub("", text)):
        cited = [int(number) for group in _CITED.findall(sentence) for number in group.split(",") if number]
        ranks = tuple(dict.fromkeys(n - 1 for n in (*beside, *cited) if 1 <= n <= passages))
        plain = _unquoted(_plain(_CITED.sub("", sentence)))
        # A text that is read again as several sentences would not be recognised in the summary.
        if len(plain) <= _LONGEST and _is_language(plain) and split_sentences(plain) == [plain]:
            yield Draft(plain, ranks)


def _spoken(answer: str) -> str:
    """Return an answer without the model's thinking before it; nothing if the thinking did not end."""
    ends = [match.end() for match in _THOUGHT.finditer(answer)]
    if ends:
        return answer[ends[-1] :][:_MOST]
    return "" if _THINKS.match(answer) else answer[:_MOST]


def _objects(text: str, names: Sequence[str]) -> list[_Said]:
    """Return the texts under these names with their passages, of whole JSON or of what there is."""
    if text.lstrip().startswith('"{'):  # JSON in a string
        text = _ESCAPE.sub(_unescaped, text.strip()[1:].removesuffix('"'))
    begin = _BEGINS.search(text)
    if begin is None:
        return []
    rest = text[begin.start() :]
    ends = max(rest.rfind("}"), rest.rfind("]")) + 1
    for read in (json.loads, ast.literal_eval):  # models that learned Python write its quotes
        try:
            return list(_walk(read(rest[:ends]), names, _DEEPEST))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return list(_scanned(rest, names))


def _walk(value: Any, names: Sequence[str], depth: int) -> Iterator[_Said]:
    if not depth:
        return
    if isinstance(value, str):
        inner = _objects(value, names) if _BEGINS.match(value.strip()) else []
        yield from inner or [_Said(value)]
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, names, depth - 1)
    elif isinstance(value, dict):
        text = next((value[name] for name in names if isinstance(value.get(name), str)), None)
        if text is not None:
            numbers = next((value[name] for name in _NUMBERS if name in value), ())
            inner = _objects(text, names) if _BEGINS.match(text.strip()) else []
            yield from inner or [_Said(text, numbers)]
            return
        for item in value.values():
            if isinstance(item, list | dict) or (isinstance(item, str) and _BEGINS.match(item.strip())):
                yield from _walk(item, names, depth - 1)


def _scanned(text: str, names: Sequence[str]) -> Iterator[_Said]:
    """Yield what damaged JSON holds, by its strings and the key before each, from left to right."""
    key, said, numbers = "", _Said(""), list[str]()
    tokens = list(_TOKEN.finditer(text))
    for token, after in zip(tokens, [*tokens[1:], None], strict=False):
        if token["number"] is not None:
            if key in _NUMBERS:
                numbers.append(token["number"])
        elif token["double"] is not None:
            value = _ESCAPE.sub(_unescaped, token["said"])
            if after is not None and after["colon"] is not None:
                key = value
            elif key in names or key == "sentences":
                if said.text:
                    yield _Said(said.text, numbers)
                said, numbers = _Said(value, (), token["end"] == '"'), []
    if said.text:
        yield _Said(said.text, numbers, said.whole)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return {"n": "\n", "t": " ", "r": " ", "b": "", "f": " "}.get(match[2], match[2])


def _canonical(text: str, passages: int) -> str:
    """Return a text with each form of a citation as "[1,2]"; a number in round brackets is one only if it may be."""

    def numbered(match: re.Match[str]) -> str:
        numbers = list(_expanded(match["numbers"]))
        round_ = match[0].startswith("(") and not _WORDED.match(match[0])
        if round_ and not all(1 <= number <= passages for number in numbers):
            return match[0]
        return f"[{','.join(map(str, numbers))}]"

    text = _CITATION.sub(numbered, text)
    return _RAISED.sub(lambda match: f"[{match[0].translate(_DIGITS)[:3]}]", text)


def _expanded(numbers: str) -> Iterator[int]:
    """Yield the numbers of "1, 3-5"."""
    for part in re.split(r"[,;&]|and", numbers.lower().replace("^", "")):
        first, _, last = part.replace("–", "-").partition("-")
        begin, end = int(first), int(last or first)
        yield from range(begin, end + 1) if begin <= end <= begin + 20 else (begin, end)


def _whole(given: Any) -> list[int]:
    """Return the whole numbers of a list, written as numbers or as text."""
    every = given if isinstance(given, list | tuple) else [given]
    digits = [str(item) for item in every if isinstance(item, int | str) and not isinstance(item, bool)]
    return [int(digit) for digit in digits if re.fullmatch(r"[0-9]{1,6}", digit)]


def _plain(text: str) -> str:
    """Return a text without links, tags and Markdown, on one line a sentence."""
    return " ".join(_MARKUP.sub("", _TAG.sub("", _LINK.sub(r"\1", text))).split())


def _unquoted(text: str) -> str:
    """Return a sentence without quotes around all of it."""
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and not set(text[1:-1]) & {text[0], text[-1]}:
        return text[1:-1].strip()
    return text


def _is_language(text: str) -> bool:
    """Whether a sentence has letters, and more of them than other signs."""
    signs = [item for item in text if not item.isspace()]
    letters = sum(sign.isalpha() or not sign.isascii() for sign in signs)
    return letters >= 4 and letters >= _LETTERS * len(signs)
