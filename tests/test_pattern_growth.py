"""No pattern of the project takes more than its share of time on any text: twice the text, at most 2.5 times the time.

Pages are written by others. A pattern whose time grows with the square of a text turns one page into hours.
"""

import ast
import functools
import re

import pytest

from tests.pattern_attacks import slow
from tests.pattern_census import Found, census, patterns


def of(place: str, *sources: str, method: str = "finditer") -> tuple[str, list[Found]]:
    return place, [Found(place, re.compile(source), method) for source in sources]


# What functions make from their arguments: an example each, as they would write it.
MADE = dict(
    [
        of("flows.summary_page.views:_marked", r"Two\ ships\ were\ lost\.|A\ lamp"),
        of("tasks.archives.archive_file:next_start", r"\x1f\x8b\x08[\x00-\x1f]", r"(?<=\n)WARC/[01]\.\d"),
        of("storage.recipes:newest_records", r"part-00001\.[0-9a-f]+\.json", method="fullmatch"),
        of("tasks.evaluation.citations:written", r"\bAnn(?:['’]s)?\s+Molloy\b"),
        of("tasks.human_evaluation.questions:_with_gap", r"(?<!\w)Ann\ Molloy(?!\w)"),
        of("tasks.rights.licences:_deed", "nc|commercial", "nd|deriv", "sa|share"),
        of("models.sentences:_matches", "(?:Jahrhundert|Jh|Jahrtausend)", "[一-鿿]{1,6}(?:说|道)", method="match"),
        of("models.sentences:_patterns", "[\u0370-\u03ff\u1f00-\u1fff]"),
        of("models.sentences:_pieces", "(?<=[។៕])"),
        of("tasks.rights.licences:agreed", r"CC-BY-\d", method="match"),
        of("tasks.sources.collection:_documents", r"\|\|\|\|\||</s>"),
        of("tasks.sources.dump.markup:_without_verbatim", r"</nowiki\s*>"),
        of("tasks.sources.miniweb.kinds:_pattern", "(north|south)(wick|ham)"),
        of("tasks.verification.restatements:_digits", r"\bthree\b"),
        of("tasks.verification.restatements:_replaceable", r"(?<!\w)at\ present(?!\w)|(?<!\w)as\ of\ now(?!\w)"),
    ]
)


@functools.cache
def every_pattern() -> tuple[list[Found], list[str]]:
    from tasks.extraction import notices
    from tasks.paragraphs import quality
    from tasks.text import boilerplate_phrases, standalone
    from tasks.text.ngrams import _unicode_word
    from tasks.verification import canonical

    kept = {
        "tasks.extraction.notices:_kinds": list(patterns(notices._kinds())),
        "tasks.paragraphs.quality:_headings": list(patterns(quality._headings())),
        "tasks.paragraphs.quality:marks": list(patterns(quality.marks())),
        "tasks.text.boilerplate_phrases:_joined": list(patterns(boilerplate_phrases._signs().patterns)),
        "tasks.verification.canonical:_replacements": [pattern for pattern, _ in canonical._replacements()],
        "tasks.text.ngrams:_unicode_word": [_unicode_word()],
        "tasks.text.standalone:_pattern": [
            *patterns([value for value in vars(standalone).values() if isinstance(value, list | re.Pattern)]),
            *(pattern for code in standalone._SMALL_WORDS for pattern in standalone._signs_of(code)),
        ],
    }
    return census(MADE | {where: [Found(where, each, "finditer") for each in some] for where, some in kept.items()})


@pytest.mark.integration  # loads every module and takes a minute of processor time
def test_no_pattern_of_the_project_is_slow_on_any_text() -> None:
    found, unseen = every_pattern()
    assert unseen == []
    assert len(found) > 250
    assert [f"{each.place}: {why}" for each in found if (why := slow(each.pattern, each.method))] == []


@pytest.mark.integration
@pytest.mark.parametrize(
    "pattern",
    [
        r"https?:|\bwww\.|\b[\w-]+\.(?:com|org|net|gov)\b",  # a-a-a-
        r"\s+$",
        r"<[^>]*>",  # <<<
        r"\{[^}]*;\s*\}",
        r"[.!?](?:[\"”]|\[\d+\]|\d{1,3})*\s*$",  # .11111
        r"(?:\.\.\.|…)\W*$",
        r"(a+)+b",
    ],
)
def test_what_grows_faster_is_found(pattern: str) -> None:
    assert slow(re.compile(pattern), "finditer") is not None


@pytest.mark.parametrize("pattern", [r"\w+", r"(?<!\s)\s+$", r"<[^<>]*>", r"\b(?:one|two)\b.{0,60}three"])
def test_what_grows_with_its_text_is_not_blamed(pattern: str) -> None:
    assert slow(re.compile(pattern), "finditer") is None


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import re as r", "re as r"),
        ("from re import compile", "imports ['re']: expected `import re`"),
        ("import regex", "imports ['regex']: expected `import re`"),
        ("import re\nre.Scanner([])", "re.Scanner is not known to the census"),
    ],
)
def test_the_census_says_what_it_cannot_see(source: str, why: str) -> None:
    _, unseen = census({}, {"tests.nothing": ast.parse(source)})
    assert [each for each in unseen if why in each] != []
