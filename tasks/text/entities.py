"""Named entities of paragraphs with spaCy (Liu & Lapata 2019, app. A.2): by any installed pipeline, or by capitals
alone.

The default, `rules`, is a spaCy pipeline of a blank English tokenizer and the component below; it needs no download,
and finds names but not their types. A trained one, such as `en_core_web_sm`, is loaded by name if it is installed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from tasks.engine.data_files import read_data
from tasks.text.content_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Find names in English text by their capitals, if no trained recogniser is installed; without types.
# A name is a run of capitalised words, possibly joined by particles and "of", or a title in quotation marks. The
# capital of a word that opens a sentence counts only if the word is also capitalised elsewhere in the paragraph
# or the words around it suggest a name. A test measures it on Wikigold.
VERSION = "2"
LONGEST_NAME = 9  # words; a longer run of capitals is a heading

_ENDS = frozenset({".", "!", "?", "...", "…", ":", ";", "\n", "•", "*"})
_OPENING_QUOTES = frozenset({'"', "“", "«", "``", "‘"})
_CLOSING_QUOTES = frozenset({'"', "”", "»", "''", "’"})
_WORDS = read_data("tasks.text", "words.toml")
_JOINTS, _CALENDAR, _TITLES = (frozenset(_WORDS[name]) for name in ("joints", "calendar", "titles"))
_NO_NAME = re.compile(r"(?:ed|ing|tion|ment|s)$")  # a lone word with such an ending opens a sentence; it is not a name
_AFTER_SUBJECT = re.compile(r"was|were|is|are|has|had|became|and|also|of|'s|[(,]|\w{2,}(?:s|ed)")


def find_names(words: Sequence[str]) -> list[slice]:
    """Return the slices of `words`, tokens as of spaCy's English tokenizer, that are names, in order, disjoint."""
    alphabetic = sum(word[0].isalpha() for word in words)
    sentence = words[-1:] == ["."] or "," in words
    if not sentence and alphabetic >= 6 and sum(map(_is_capital, words)) > 0.8 * alphabetic:
        return []  # a line in title case, whose capitals do not count
    works = list(_quoted_works(words))
    part = _parts(words)
    for work in works:
        part[work] = [False] * (work.stop - work.start)
    return sorted([*works, *_runs(words, part)], key=lambda name: name.start)


def _parts(words: Sequence[str]) -> list[bool]:
    openings, opening = [], True
    for word in words:
        openings.append(opening)
        opening = word in _ENDS or "\n" in word or (opening and not word[0].isalnum())
    inside = {word for word, opening in zip(words, openings, strict=True) if _is_capital(word) and not opening}
    lower = {word.lower() for word in words if not _is_capital(word)}
    return [
        _is_capital(word) and _is_part(word, following, opening and word not in inside, word.lower() in lower)
        for word, following, opening in zip(words, [*words[1:], ""], openings, strict=False)
    ]


def _is_part(word: str, following: str, opening: bool, common: bool) -> bool:
    """Tell whether a capitalised word looks like part of a name; `following` is the word after it, or "". `opening`: it
    opens a sentence and is capitalised nowhere else in the paragraph; `common`: the paragraph has it in lower case."""
    ahead = _is_capital(following) and following not in _CALENDAR
    small = word.lower()
    if word in _CALENDAR:
        return False
    if small in FUNCTION_WORDS and (len(word) == 1 or not word.isupper()):
        return ahead and not opening and word in ("The", "A")
    if not opening:
        return True
    if common or small.endswith("ly"):
        return False
    return ahead or (_NO_NAME.search(small) is None and _AFTER_SUBJECT.fullmatch(following) is not None)


def _is_capital(word: str) -> bool:
    return word[:1].isupper() or (word[:1].isdigit() and word[-1].isupper() and len(word) > 2)


def _quoted_works(words: Sequence[str]) -> Iterator[slice]:
    """Yield titles in quotation marks: up to nine words, the first and most long ones capitalised, no comma inside."""
    last = 0
    for start in range(1, len(words)):
        if start > last and words[start - 1] in _OPENING_QUOTES and _is_capital(words[start]):
            ends = range(start + 1, min(start + 10, len(words)))
            last = next((end for end in ends if words[end] in _CLOSING_QUOTES), 0)
            stop = last - 1 if words[last - 1] in (",", ".") else last
            long = [word for word in words[start:stop] if len(word) > 3]
            if last and "," not in words[start:stop] and sum(map(_is_capital, long)) >= 0.8 * len(long):
                yield slice(start, stop)


def _runs(words: Sequence[str], part: Sequence[bool]) -> Iterator[slice]:
    """Join neighbouring parts of names, across joints and initials' full stops; leave out titles before them."""
    stop = 0
    for start in range(len(words)):
        if not part[start] or start < stop:
            continue
        stop = start + 1
        while stop < len(words):
            joint = words[stop] in _JOINTS or (words[stop] == "." and len(words[stop - 1]) == 1)
            if not any(part[stop + joint : stop + joint + 1]):
                break
            stop += joint + 1
        while start < stop and words[start].rstrip(".") in _TITLES and words[start + 1 : start + 2] != ["of"]:
            start += 1
        if start < stop <= start + LONGEST_NAME:
            yield slice(start, stop)


RULES = "rules"
_UNTYPED = "NAME"
# Types of Liu & Lapata 2019, app. A.2; PER and MISC in pipelines of other languages.
_COUNTED = {"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART", "LAW", "PER", "MISC", _UNTYPED}
# Components that entity recognition does not need; without them a trained pipeline is about twice as fast.
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "morphologizer", "senter")
# spaCy keeps every word it has seen. A pipeline with more than this many is loaded anew for the next shard. spaCy's
# memory zones, made for this, switch the tokenizer's cache off and make it four times slower.
_STRINGS = 500_000


@lru_cache(maxsize=2)
def load_pipeline(name: str) -> "Language":
    """Return a spaCy pipeline; `rules` is the shipped one. Raises ValueError: it is missing, or finds no entities."""
    import spacy  # here, because it takes seconds, and settings import this module

    if name == RULES:
        nlp = spacy.blank("en")
        spacy.Language.component("wikisum_rules", assigns=["doc.ents"], func=_mark_names)
        nlp.add_pipe("wikisum_rules")
        return nlp
    try:
        nlp = spacy.load(name, exclude=list(_UNUSED))
    except OSError as error:
        raise ValueError(
            f"spaCy pipeline {name!r} is not installed: run `python -m spacy download {name}`, "
            f"or set spacy_pipeline to {RULES!r}, which needs no download"
        ) from error
    if not any("doc.ents" in nlp.get_pipe_meta(pipe).assigns for pipe in nlp.pipe_names):
        raise ValueError(f"spaCy pipeline {name!r} finds no entities: expected one with `ner`, it has {nlp.pipe_names}")
    return nlp


def _mark_names(doc: "Doc") -> "Doc":
    doc.ents = [(_UNTYPED, name.start, name.stop) for name in find_names([token.text for token in doc])]
    return doc


def pipeline_label(pipeline: str) -> str:
    """Return name and version of a pipeline and of spaCy, for records and the report. Raises ValueError: it cannot be
    used."""
    label = f"{RULES} {VERSION}"
    if pipeline != RULES:  # else spaCy itself is not needed to say so, and takes seconds to import
        nlp = load_pipeline(pipeline)
        label = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    return f"{label} (spaCy {version('spacy')})"


def entity_sets(texts: Iterable[str], pipeline: str = RULES, batch_size: int = 256) -> Iterator[frozenset[str]]:
    """Yield the set E_i of each paragraph: the different names in it, as they are written (Liu & Lapata 2019, app.
    A.2). White space is normalised first, so that names match across line ends; a name without a type always counts.
    Raises ValueError: the pipeline cannot be used."""
    nlp = load_pipeline(pipeline)
    evened = (" ".join(text.split())[: nlp.max_length] for text in texts)
    for doc in nlp.pipe(evened, batch_size=batch_size):
        yield frozenset(entity.text for entity in doc.ents if entity.label_ in _COUNTED)
    if len(nlp.vocab.strings) > _STRINGS:
        load_pipeline.cache_clear()
