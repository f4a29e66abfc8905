"""Tell paragraphs about a page's subject from those that only look like prose: a linear model on cheap features.

Rules refuse what no author writes. Text that passes them may still be useless for a summary: references, captions,
teasers of other stories, comments of readers, notes on authors. It differs from prose by degrees, so its marks
(`junk.toml`) and words (`junk_words.toml`) are weighed. The page is weighed too: headings that do not announce prose,
and its other words, because teasers and captions are about other things or come last. The weights were fitted on
paragraphs read one by one (`benchmarks/paragraph_quality.py`)."""

import codecs
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain, compress
from operator import itemgetter, not_
from statistics import median
from threading import Lock

import hyperscan as hs
import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import fill, read_data
from tasks.rights.text_columns import ENDS
from tasks.text.boilerplate_phrases import fold
from tasks.text.language import LEAST_SHARE, function_word_share, has_finite_verb

_NOT_REGULAR = re.compile(r"\(\?[<=!>]|[*+?]\+")


def _stand_in(character: str) -> str:
    """Return the ASCII character that patterns take for the same kind as another."""
    if character.isdecimal():
        return "0"
    return "_" if character.isalnum() else " " if character.isspace() else "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_stand_in, error.object[error.start : error.end])), error.end


codecs.register_error("stand-in", _replace)
_SIGNS = [bytes([byte]).decode("cp1252", "replace") for byte in range(256)]
_STAND_INS = bytes(  # line breaks stay, because "$" and "." treat them differently from other spaces
    ord(_stand_in(sign)) if sign != "\n" and (sign.isspace() or (byte > 127 and sign.isalnum())) else byte
    for byte, sign in enumerate(_SIGNS)
)


def _encoded(text: str) -> bytes:
    return text.encode("cp1252", "stand-in").translate(_STAND_INS)


class PatternSet:
    """Patterns that are looked for together, in one pass over a text's bytes, by Hyperscan's automaton; of the first
    `any_case` ones case is ignored, whatever they say.

    The answer may name a pattern too many and never leaves one out, so that Python's `re` need only try those it names.
    The automaton reads Windows-1252 with an underscore for each letter that is not ASCII: to a pattern both are
    characters of a word, so a range of letters may hold no sign (à-ÿ holds ÷). If it lacks a construct (assertions
    about neighbouring text, possessive repetition), it takes it as matched."""

    def __init__(self, patterns: Sequence[re.Pattern[str]], any_case: int = 0) -> None:
        flags = [
            hs.HS_FLAG_SINGLEMATCH
            | hs.HS_FLAG_ALLOWEMPTY
            | (hs.HS_FLAG_PREFILTER if _NOT_REGULAR.search(pattern.pattern) else 0)
            | (hs.HS_FLAG_CASELESS if pattern.flags & re.IGNORECASE or number < any_case else 0)
            for number, pattern in enumerate(patterns)
        ]
        self._database = hs.Database()
        self._database.compile(
            expressions=[_encoded(pattern.pattern) for pattern in patterns], ids=list(range(len(patterns))), flags=flags
        )
        self._lock = Lock()  # a database has memory for one search at a time

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the patterns that a text may have, each once; all that it has are among them."""
        results: list[int] = []
        with self._lock:
            self._database.scan(_encoded(text), match_event_handler=lambda number, *_: results.append(number))
        return results


_HEADING_WORDS = 9  # no heading that announces such a section is longer
KINDS = ("references", "comments", "others")
_LIST = 12  # paragraphs that a list of other stories is long
_EDGES = re.compile(r"^\W+|(?<!\W)\W+$")


def sections(texts: Sequence[str], refused: Sequence[bool]) -> list[str | None]:
    """Return for each paragraph of a page the kind of its section: references, comments, others or None. References and
    comments last until the next heading of another kind, because their ends are rarely marked. A list of other stories
    has an end, after which the article may continue."""
    kind, since = None, 0
    result: list[str | None] = []
    for i, (text, is_refused) in enumerate(zip(texts, refused, strict=True)):
        if is_refused and len(text) < 80 and text.count(" ") < _HEADING_WORDS:
            name = _EDGES.sub("", text)
            match = next((kind for kind, heading in _headings() if heading.fullmatch(name)), None)
            if match:
                kind, since = match, i
        if kind == "others" and i - since > _LIST:
            kind = None
        result.append(kind)
    return result


@cache
def _headings() -> list[tuple[str, re.Pattern[str]]]:
    patterns = read_data("tasks.paragraphs", "junk.toml")["headings"]
    return [(kind, re.compile(fill(patterns[kind], {}), re.IGNORECASE)) for kind in KINDS]


PAGE_WORDS = ["names_on_page", "length_on_page", "words_after"]
_NAME_CHARACTERS = 3  # that a name has at least
_UNKNOWN = 0.5  # share of names known of a paragraph that has none
_LONGEST = 5.0  # times the median paragraph; longer says no more


def page_word_features(words: Sequence[Sequence[str]], capitals: Sequence[Sequence[bool]]) -> list[list[float]]:
    """Return for each paragraph of a page, given as words and whether each has a capital, how its words compare with
    those of the others. In the order of `PAGE_WORDS`: the share (0-1) of its names that other paragraphs have too; its
    words in relation to the median; the share of the others' words that come after it."""
    names = [
        {word for word in compress(paragraph[1:], capital[1:]) if len(word) >= _NAME_CHARACTERS}
        for paragraph, capital in zip(words, capitals, strict=True)
    ]
    once = {name for name, paragraphs in Counter(chain.from_iterable(names)).items() if paragraphs == 1}
    lengths = list(map(len, words))
    typical, total, before = median(lengths) if lengths else 1, sum(lengths), 0
    rows = []
    for count, own in zip(lengths, names, strict=True):
        known = len(own - once) / len(own) if own else _UNKNOWN
        after = (total - before - count) / max(1, total - count)
        rows.append([known, min(count / max(1, typical), _LONGEST), after])
        before += count
    return rows


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# A table that finds most words in less time: all bytes of Windows-1252 except letters and apostrophes become spaces.
_WORD_BYTES = bytes(byte if _WORD.match(sign) or sign in "'’" else 32 for byte, sign in enumerate(_SIGNS))
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]]|\[\d+\])*(?=\s|$)""")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_FOLDED = re.compile("[İıſ\u212a]")  # letters with an ASCII one in lower case
_OTHERS = re.compile(r"[\x00-\x7f]+")
_DIGITS = b"0123456789"
_NO_SIGNS = bytes(byte for byte in range(128) if chr(byte).isalnum() or chr(byte).isspace())
_NEAR = (-3, -2, -1, 1, 2, 3)  # neighbours whose kind says something of a paragraph's
_REACH = 3  # places to a side
_SPARED = 1  # paragraphs that a page of nothing but junk keeps
_first = itemgetter(0)
_MOST = 3.0  # of a mark per ten words; more says no more


@cache
def columns() -> dict[str, int]:
    """Return the column of each feature in `page_features`: those of the text alone, of the page, and of headings. The
    file of weights has their order; a new feature is first written there, with any numbers."""
    names = read_data("tasks.paragraphs", "quality_weights.toml")["features"]
    return {name: index for index, name in enumerate(names)}


@cache
def marks() -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]]]:
    """Return the marks of junk by name: those of a text in lower case, and those of the text as it is. Searching a text
    in lower case takes half the time of a pattern that ignores case."""
    data = read_data("tasks.paragraphs", "junk.toml")
    parts = {**data["parts"], "ENDS": ENDS.pattern}
    folded, exact = (
        {name: re.compile(fill(pattern, parts)) for name, pattern in data[kind].items()} for kind in ("folded", "exact")
    )
    return folded, exact


def junk_probabilities(texts: Sequence[str], refused: Sequence[bool], language: str | None = None) -> list[float]:
    """Return for each paragraph of a page the probability (0-1) that it is junk; 0 for refused ones. All are 0 on a
    page that is not in English, because the weights were fitted on English pages. `texts` are in order; `language`: ISO
    639-1 code of those that are not refused, None = not sure."""
    if not is_english([text for text, no in zip(texts, refused, strict=True) if not no], language):
        return [0.0] * len(texts)
    intercept, (means, scales, weights) = _weights()
    scores = intercept + ((page_features(texts, refused) - means) / scales) @ weights
    result = iter((1 / (1 + np.exp(-scores))).tolist())
    return [0.0 if no else next(result) for no in refused]


def find_junk(
    texts: Sequence[str], refused: Sequence[bool], threshold: float, language: str | None = None
) -> list[bool]:
    """Tell which paragraphs of a page are junk: those as likely as a threshold, except the best of a page of junk. A
    page that would lose every paragraph keeps the `_SPARED` ones that are least likely junk (the first ones among
    equals). So something of each cited or chosen page is read, and a misjudged page is not lost. `threshold`:
    probability (0-1); the other arguments are those of `junk_probabilities`."""
    probabilities = junk_probabilities(texts, refused, language)
    candidates = [i for i, no in enumerate(refused) if not no]
    junk = {i for i in candidates if probabilities[i] >= threshold}
    if len(junk) == len(candidates):
        junk -= set(sorted(candidates, key=probabilities.__getitem__)[:_SPARED])
    return [i in junk for i in range(len(texts))]


def is_english(texts: Sequence[str], language: str | None = None) -> bool:
    """Tell whether a page is in English, by language or by function words, of which lists of references have few."""
    if language == "en":
        return True
    return function_word_share([word.casefold() for text in texts for word in _WORD.findall(text)]) > LEAST_SHARE


def page_features(texts: Sequence[str], refused: Sequence[bool]) -> NDArray[np.float64]:
    """Return the features of each paragraph that is not refused [k, f]; of the others headings and spaces alone are
    read."""
    kept = [i for i, no in enumerate(refused) if not no]
    words = [words_in(texts[i]) for i in kept]
    capitals = [list(map(str.isupper, map(_first, paragraph))) for paragraph in words]
    read = zip(kept, words, capitals, strict=True)
    own = np.array([_text_features(texts[i], paragraph, sum(first)) for i, paragraph, first in read], np.float64)
    own = own.reshape(len(kept), columns()["position"])
    kinds = sections(texts, refused)
    below = np.array([[kinds[i] == kind for kind in KINDS] for i in kept]).reshape(len(kept), len(KINDS))
    of_words = np.array(page_word_features(words, capitals)).reshape(len(kept), len(PAGE_WORDS))
    of_page = np.hstack([_places(texts, kept, own), of_words])
    others, typical = len(kept) - 1, np.array(list(_TYPICAL.values()))
    return np.hstack([own, typical + others / (others + _FEW) * (of_page - typical), below])


def words_in(text: str) -> list[str]:
    """Return the words of a text, in order."""
    letters = "ascii" if text.isascii() else "cp1252"
    try:
        words = text.encode(letters).translate(_WORD_BYTES).decode(letters).split()
    except UnicodeEncodeError:
        return _WORD.findall(text)
    if "'" in text or "’" in text:
        for place in reversed(list(compress(range(len(words)), map(not_, map(str.isalpha, words))))):
            words[place : place + 1] = _WORD.findall(words[place])
    return words


@cache
def _word_weights() -> dict[str, int]:
    """Return the weights of words in lower case, in tenths, as whole numbers, whose sum is the same in any order; those
    above 0 speak for junk."""
    words = read_data("tasks.paragraphs", "junk_words.toml")
    return {word: int(weight) for weight, of_weight in words.items() for word in of_weight.split()}


@cache
def mark_set() -> tuple[PatternSet, list[tuple[re.Pattern[str], bool, int, int | None]]]:
    """Return what finds all marks of a text at once. Each mark has three values: whether it reads the text in lower
    case, its column among the features of a text, and the column of its rate if it is counted."""
    folded, exact = marks()
    return (
        PatternSet([*folded.values(), *exact.values()], any_case=len(folded)),
        [
            (mark, named is folded, columns()[name], columns().get(f"{name}_rate"))
            for named in (folded, exact)
            for name, mark in named.items()
        ],
    )


def mark_candidates(text: str) -> Sequence[int]:
    """Return the numbers, in `mark_set`, of the marks that a text may have; all that it has are among them."""
    together, named = mark_set()
    everything = not text.isascii() and _FOLDED.search(text) is not None
    return range(len(named)) if everything else together.candidates(text)


@cache
def _weights() -> tuple[float, NDArray[np.float64]]:
    """Return the intercept, and means, scales and weights [3, f] of the features in the order of `page_features`."""
    data = read_data("tasks.paragraphs", "quality_weights.toml")
    return data["intercept"], np.array(list(data["features"].values())).T


# What a page says of a paragraph, and what it says of a typical one: a paragraph without others counts as typical,
# because the page says nothing of it, and one of few as nearly so.
_NEAR_MEANS = {"function_words": 0.33, "ends": 0.7, "reference": 0.05}  # of neighbours that are kept
_TYPICAL = {
    "position": 0.5,
    "from_end": 0.06,
    "page_length": 4.5,
    "page_kept": 0.55,
    "near_kept": 0.6,
    "near_length": 2.7,
    **{f"near_{name}": value for name, value in _NEAR_MEANS.items()},
    **dict(zip(PAGE_WORDS, (0.55, 0.9, 0.5), strict=True)),
}
_FEW = 3.0  # other candidates with which a page says half of what a long one says
_OF_REFERENCES = ("reference_word", "pages", "volume", "year", "initials")


def _text_features(text: str, words: Sequence[str], capitalised: int) -> list[float]:
    count = max(1, len(words))
    length = math.log(count)
    sentences = len(_SENTENCE_END.findall(text))
    ascii_bytes, others = text.encode("ascii", "ignore"), "" if text.isascii() else _OTHERS.sub("", text)
    folded = list(map(str.casefold, words))
    function_words, distinct = function_word_share(folded), set(folded)
    weighed = list(filter(None, map(_word_weights().get, distinct)))
    verbs = [has_finite_verb(sentence) for sentence in _BETWEEN_SENTENCES.split(text)]
    row = [0.0] * columns()["position"]
    (_, named), lower = mark_set(), fold(text)
    for mark, is_folded, column, rate in map(named.__getitem__, mark_candidates(text)):
        read = lower if is_folded else text
        if rate is None:
            row[column] = float(mark.search(read) is not None)
        elif result := len(mark.findall(read)):
            row[column], row[rate] = 1.0, min(10 * result / count, _MOST)
    of_references = sum(row[columns()[name]] for name in _OF_REFERENCES)
    row[:15] = (  # as the file of weights has them
        length,
        length**2,
        function_words,
        capitalised / count,
        (len(ascii_bytes) - len(ascii_bytes.translate(None, _DIGITS)) + sum(map(str.isdigit, others)))
        / max(1, len(text)),
        (len(ascii_bytes.translate(None, _NO_SIGNS)) + sum(not (sign.isalnum() or sign.isspace()) for sign in others))
        / max(1, len(text)),
        sum(map(len, words)) / count,
        math.log1p(sentences),
        length - math.log(max(1, sentences)),
        text.count(",") / count,
        of_references * max(0.0, 0.35 - function_words),
        float(any(verbs)),
        sum(verbs) / len(verbs),
        sum(weighed) / math.sqrt(max(1, len(distinct))),
        (sum(weighed) + sum(map(abs, weighed))) / 2 / max(1, len(distinct)),
    )
    return row


def _places(texts: Sequence[str], kept: Sequence[int], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the places and neighbours of the kept paragraphs on a page: the first features of `_TYPICAL` [k, 9],
    before they are drawn towards the typical ones."""
    count, told = len(texts), [columns()[name] for name in _NEAR_MEANS]
    # Of each place on the page, and of places without a paragraph before it and after it: whether one is there, its
    # length, whether it is kept, and what a kept one tells its neighbours.
    page = np.zeros((count + 2 * _REACH, 3 + len(told)))
    page[_REACH : _REACH + count, 0] = 1
    page[_REACH : _REACH + count, 1] = [math.log1p(text.count(" ")) for text in texts]
    at = np.array(kept, np.int64)
    page[at + _REACH, 2] = 1
    page[at + _REACH, 3:] = own[:, told]
    near = np.zeros((len(kept), page.shape[1]))
    for step in _NEAR:
        near += page[at + _REACH + step]
    divisors = near[:, [0, 0, 2, 2, 2]]
    means = near[:, [2, 1, 3, 4, 5]] / np.maximum(divisors, 1)
    first = np.empty((len(kept), 4))
    first[:, 0], first[:, 1] = at / max(1, count - 1), count - 1 - at < 3
    first[:, 2:] = math.log(max(1, count)), len(kept) / max(1, count)
    typical = list(_TYPICAL.values())[first.shape[1] :][: means.shape[1]]
    return np.hstack([first, np.where(divisors == 0, typical, means)])
