"""Whether a line can be read outside its page, by the signs of `standalone.toml`: words of English and others."""

import re
from functools import cache

from models.words import is_caseless, written_words
from tasks.engine.data_files import read_data
from tasks.text.language import FUNCTION_WORDS, has_finite_verb

_LISTS = read_data("tasks.text", "standalone.toml")


_END = r"(?!\w|[’'-](?!s\b)\w)"  # of a word


def _pattern(signs: str, before: str = r"\b", flags: int = re.IGNORECASE, after: str = _END) -> re.Pattern[str]:
    """Return the pattern of a list of alternatives, on several lines."""
    joined = "|".join(filter(None, signs.splitlines())).replace("'", "['’]")
    return re.compile(rf"{before}(?:{joined}){after}", flags)


_IRREGULAR = _LISTS["irregular_verbs"].strip().replace("\n", "|")
# What a sentence that needs its page begins with.
_BEGINNINGS = [_pattern(_LISTS[name], r"""^["'“‘(]*""") for name in ("points_back", "furniture")]
# Signs anywhere in a sentence.
_ANYWHERE = [
    *(_pattern(_LISTS[name]) for name in ("parts", "relative_time", "referring", "credits", "provisional")),
    _pattern(_LISTS["talks"], flags=0),
    re.compile(
        r" \.$|(?<=[a-z]{5}\.) [a-z]{2}"  # torn apart
        r"|https?:|www\.|@|[*|•©→»∈∉∀∃∑∏∫⊂⊆∝∂∇]|[´¨ˆ˜¸](?=\w)|\.\.\.|…|^\W*\d+[.)] |\[\w{1,3}\]|\. \. \.|\(\d\) "
        r"|[a-z]{6}\d{2,3}(?![\w])"  # marks of notes
        r"|^[A-Z][a-z]+ed (?:by|in|on|at|to|from|for|with|as) [^,]+$"  # without a subject
        r"|^(?:[A-Z][a-z]+n['’]t|Did|Does|Is|Are|Has|Have|Was (?:born|a|the|one)) (?![A-Z]).*[^?]$"  # likewise
        rf"|^(?i:{_IRREGULAR}|[a-z]+ed) (?:an?|the|my|some) "
        r"|^(?:Even (?:if|though)|Although|Whereas) [^,]*$"  # without a main clause
        r"|\? [a-z]|: [\w.-]+ --?[a-z]"  # a question and its explanation, a command
        r"|^(.{3,60}) [–—:-] \1\b"  # a heading that its sentence repeats
        # These explain a formula, which is lost
        r"|(?:,|:)? where [A-Za-z]{1,2} (?:is|are|denotes?)\b|: where\b|^Where [^,]* (?:is|are) [^,]*$|[α-ω] [=<>≤≥]"
        r"|^(?:[A-Z]{3,} ){2}|^[A-Z][A-Z_]{2,} [A-Z][a-z]+ed |\d{4} \d\.$"
        r"|^[A-Z][A-Z .’'-]{3,}(?:,[^:—–(-]{2,20})?[:—–(-]|^[^.]{3,40}\((?:AP|AFP|Reuters|CNN)\)"  # a dateline
    ),
    re.compile(  # a quotation alone, or of somebody without a name
        r"""^["“‘'][^"”]*(?:["”]|$)\W*(?:$|(?:he|she|they|the \w+) \w+|(?:said|says|added|wrote) (?:he|she|the)\b)"""
        r"|, [A-Z][\w’'-]+ (?:says|said|adds|added|notes|noted|explains|writes)\.$"  # by a family name alone
    ),
]
_AUTHOR = r"(?:[A-Z][a-z]+ )?(?:[A-Z]\.[ -]?)+[A-Z][\w’'-]+"
_REFERENCE = re.compile(
    rf"^\W*(?:\[\w{{1,12}}\] {_AUTHOR}|(?:\[\w{{1,12}}\] )?[A-Z][\w’'-]+, (?:[A-Z]\. ?)+"
    rf"|{_AUTHOR}(?:,? (?:and )?{_AUTHOR})*\. [A-Z])"
)
# German nouns have capitals as names have. Only a verb distinguishes a German sentence from a list of names.
_GERMAN_VERB = re.compile(rf"\b(?:{_LISTS['german_verbs']})\b")
_GERMAN_VERB_LIKE = re.compile(  # also words that end as verbs and are none, apart from these
    rf"{_GERMAN_VERB.pattern}|\b(?!(?:[a-zäöüß]*ge[a-zäöüß]{{2,}}en|{_LISTS['german_no_verbs']})\b)"
    r"[a-zäöüß]{2,}(?:t|te|en|ern|eln)\b"
)
_OPENER = re.compile(
    rf"(?i:{'|'.join(_LISTS['openers'].split(chr(10))).strip('|')}),? (?=\w)|(?i:{_LISTS['conjunctions']}) (?=[A-Z])"
)
_KANA, _HAN, _LETTERS = (re.compile(letters) for letters in (r"[\u3041-\u30ff]", r"[\u4e00-\u9fff]", r"[^\W\d_]+"))
_ENGLISH = re.compile(r"\b(?:the|of)\b")
_VERB_LIKE = re.compile(
    r"(?<![\w’'-])[A-Za-z][\w’'-]*(?:(?<![su'’])s|ed)\b"
    rf"|\b(?:{_IRREGULAR})\b"
)
_ENTRY = re.compile(r"[A-Z][^.:]{2,40}: an? ")  # of a glossary
_THAT_TIME = re.compile(r"\bthat (?:year|month|day|time)\b", re.IGNORECASE)
_DATE = re.compile(r"\d{4}|\d{1,2} [A-Z][a-z]{2,}|[A-Z][a-z]{2,} \d{1,2}\b")
_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"))
_MOST_WORDS = 60
_MOST_FIGURES = 0.4  # of the words; a row of a table has more
_MOST_SHOUTED = 0.3  # of the words of four letters or more; headings have more in capitals
# Of the words. On the training articles of wikigraph, nearly all lines with more capitals and no verb that is known are
# affiliations, titles and references, and of those with fewer most are sentences.
_MOST_CAPITALS = 0.6
_OPENING = "“‘\"'(["


def defects(sentence: str) -> int:
    """Return how many signs a sentence shows that it needs its page: 0 for one that makes sense alone.

    Signs of content: it points back or elsewhere, is a label of the page or names other parts of it, or talks to
    somebody or in the first person. It quotes somebody who is not named, has a pronoun before any name, a time that
    depends on the page's day, or a plan that may be outdated. Signs of form: it has no verb, a credit, marks of a
    page, or a bracket or quotation that it does not close. It asks, exclaims, shouts, is mostly figures, or has over 60
    words."""
    words, written, language = sentence.split(), written_words(sentence), _other_language(sentence)
    unpaired = sentence.count('"') % 2 or any(sentence.count(a) != sentence.count(b) for a, b in _PAIRS)
    long = [word for word in words if len(word) > 3]
    time, pronoun = _THAT_TIME.search(sentence), _PRONOUN.search(sentence)
    signs = (
        *(pattern.match(sentence) for pattern in _BEGINNINGS),
        *(pattern.search(sentence) for pattern in _ANYWHERE),
        *(pattern.search(sentence) for pattern in _signs_of(language)),
        time and not _DATE.search(sentence, 0, time.start()),  # "that year" before any date that it could mean
        pronoun and pronoun.start() and not any(map(_begins_name, sentence[: pronoun.start()].split()[1:])),
        unpaired,
        _has_no_verb(sentence, language) or (_ENTRY.match(sentence) and not has_finite_verb(sentence)),
        sentence.endswith(("?", "!", ":")),
        sum(any(map(str.isdigit, word)) for word in written) > _MOST_FIGURES * len(written),
        sum(map(str.isupper, long)) > _MOST_SHOUTED * len(long),
        len(words) > _MOST_WORDS,
        is_reference(sentence),
    )
    return sum(map(bool, signs))


def _has_no_verb(sentence: str, language: str | None) -> bool:
    """Tell whether an English or German sentence surely has no verb, as captions and entries of lists: no word that is
    known as one, and none that ends as one."""
    if language == "de":
        return _GERMAN_VERB_LIKE.search(sentence) is None
    english = sentence.endswith(".") and _ENGLISH.search(sentence) is not None
    return english and not has_finite_verb(sentence) and _VERB_LIKE.search(sentence) is None


def is_reference(text: str) -> bool:
    """Tell whether a text begins as an entry of a list of references: "Lund, A., 1931." or "[4] A. B. Lund."."""
    return _REFERENCE.match(text) is not None


def without_opener(sentence: str) -> str:
    """Return a sentence without a first word that only joins it to the one before, such as "However,"."""
    match = _OPENER.match(sentence)
    return sentence if match is None else sentence[match.end()].upper() + sentence[match.end() + 1 :]


def _begins_name(word: str) -> bool:
    return word.lstrip(_OPENING)[:1].isupper()


def is_list(line: str) -> bool:
    """Tell whether a line is an affiliation, a title, a reference or the like: names and figures without a verb."""
    words = line.split()
    capitals = sum(not (first.islower() or is_caseless(first)) for first in (w.lstrip(_OPENING)[:1] for w in words))
    if capitals <= _MOST_CAPITALS * len(words) or has_finite_verb(line):
        return False
    return not (_other_language(line) == "de" and _GERMAN_VERB.search(line))


# The small words of each language by which a sentence shows that it is in it.
_SMALL_WORDS = {code: frozenset(signs["words"].split()) for code, signs in _LISTS["languages"].items()}


def _other_language(sentence: str) -> str | None:
    """Return the code of the language of a sentence in one of `standalone.toml`, if it has more of its small words than
    of the commonest English ones; None for others. Japanese and Chinese show by their letters."""
    if _KANA.search(sentence):
        return "ja"
    if _HAN.search(sentence):
        return "zh"
    words = set(_LETTERS.findall(sentence.lower()))
    counts = {code: len(words & small) for code, small in _SMALL_WORDS.items()}
    likeliest = max(counts, key=counts.__getitem__)
    return likeliest if counts[likeliest] > len(words & FUNCTION_WORDS) else None


@cache
def _signs_of(language: str | None) -> tuple[re.Pattern[str], ...]:
    """Return the signs of a language that a sentence in it needs its page; none for an unknown one."""
    if language is None:
        return ()
    lists, spaced = _LISTS["languages"][language], bool(_SMALL_WORDS[language])
    before, after = (r"\b", _END) if spaced else ("", "")
    return (
        _pattern(lists["points_back"], r"""^[„"“»«「(]*""", after=after),
        _pattern(lists["points"], before, after=after),
        _pattern(lists["talks"], before, 0, after),
    )
