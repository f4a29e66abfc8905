"""Words as they are written, and alphabets: what lengths in words mean in any language."""

import re

# Scripts written without spaces between words, as ranges of a pattern: a character (with its marks) counts as a word.
UNSPACED_SCRIPTS = (
    r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Hiragana, Katakana, Han
    r"\U00020000-\U0003ffff"  # Han, supplementary planes
)
_UNSPACED = re.compile(rf"[{UNSPACED_SCRIPTS}]")
_WRITTEN = re.compile(rf"[^\w\s]*[{UNSPACED_SCRIPTS}][^\w\s]*|[^\s{UNSPACED_SCRIPTS}]+")
BEYOND_LATIN = re.compile(r"[\u0370-\u1dff\u1f00-\u1fff\u2c00-\u2dff\u3040-\uabff\uac00-\ufefe\U00010000-\U0003ffff]")
# Signs of other scripts than the Latin one that end a sentence, whatever follows.
END_MARKS = "。！？｡।॥۔።፧፨։။។៕།༎᠃᱾"


def written_words(text: str) -> list[str]:
    """Return the words of a text as written, with their punctuation: white space separates them, and a character of a
    script without spaces is one."""
    if text.isascii() or _UNSPACED.search(text) is None:
        return text.split()
    return _WRITTEN.findall(text)


def cut(line: str, most: int) -> list[str]:
    """Return the pieces of a line of at most so many words, as they are written there; none of an empty line."""
    spans, end = list[tuple[int, int]](), 0
    for word in written_words(line):
        begin = line.index(word, end)
        end = begin + len(word)
        spans.append((begin, end))
    return [line[some[0][0] : some[-1][1]] for some in (spans[at : at + most] for at in range(0, len(spans), most))]


def is_caseless(letter: str) -> bool:
    """Tell whether a letter is of a script without capitals."""
    return letter.isalpha() and not letter.islower() and not letter.isupper()


def is_beyond_latin(text: str) -> bool:
    """Tell whether most letters of a text are of other scripts than the Latin one."""
    if text.isascii():
        return False
    others = sum(map(str.isalpha, BEYOND_LATIN.findall(text)))
    return 2 * others > sum(map(str.isalpha, text))
