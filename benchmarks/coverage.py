"""Coverage: whole sentences that hold as much as possible of what many good paragraphs hold, without learning.

The concepts are words and capitalised words, each worth more the more paragraphs have it and the better they are ranked
(Gillick & Favre 2009); the choice is greedy (Lin & Bilmes 2010, sec. 4). Its constants were chosen on 32 topics of
wikigraph: those of the typhoon season and of prime numbers.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

from models.sentences import split_sentences
from tasks.text.content_words import content_words
from tasks.text.standalone import is_list

_RANK_POWER, _LENGTH_POWER = 0.3, 0.7
_PER_DEFECT = 0.5
_LEAST_WORDS = 6
_ENDS = (".", "!", "?", '"', "\u201d")
_POINTS_BACK = re.compile(
    r"""["'“‘(]*(?:
    he|she|it|they|this|that|these|those|here|there|such|his|her|its|their|both|another|others?|some|which|who|what|
    why|how|and|but|or|so|yet|still|also|then|thus|therefore|hence|instead|however|moreover|furthermore|meanwhile|
    nevertheless|nonetheless|additionally|otherwise|similarly|likewise|indeed|in\ addition|as\ such|for\ example|
    for\ instance|as\ a\ result|of\ course|in\ short|that\ said|when\ asked|no|yes|ok|okay|well|now|today|yesterday|
    image|photo|picture|video|source|see|reply|update|read|watch|click|sign|subscribe|note
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TALKS = re.compile(r"\b(?:I|me|my|mine|[Yy]ou|[Yy]ours?)\b")  # not we: papers and companies call themselves so
_MARKUP = re.compile(r"https?:|www\.|@|[*|•]|\bReply\b")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"))
_MOST_WORDS = 60
_MOST_FIGURES = 0.4  # of the words; a row of a table has more


def coverage(texts: Sequence[str], length: int) -> list[str]:
    """Return whole sentences that hold as much as possible, in their order; none where no sentence fits.

    A concept is worth more the more paragraphs hold it, and the better they are ranked.

    Args:
        texts: ranked paragraphs, best first.
        length: words of all sentences together, at most.
    """
    sentences: list[list[str]] = []  # as words
    concepts: list[frozenset[str]] = []
    quality: list[float] = []
    weights: defaultdict[str, float] = defaultdict(float)
    for rank, text in enumerate(texts):
        held: set[str] = set()
        for sentence in split_sentences(text):
            words = sentence.split()
            found = content_words(sentence) | _values(words)
            held |= found
            whole = len(words) >= _LEAST_WORDS and sentence[0].isupper() and sentence.endswith(_ENDS)
            if whole and not is_list(sentence):
                sentences.append(words)
                concepts.append(found)
                quality.append(_PER_DEFECT ** _defects(sentence))
        for concept in held:
            weights[concept] += (rank + 1) ** -_RANK_POWER
    lengths = list(map(len, sentences))
    chosen = _greedy(concepts, lengths, quality, weights, length, power=_LENGTH_POWER)
    return [" ".join(sentences[index]) for index in sorted(chosen)]


def _values(words: Sequence[str]) -> frozenset[str]:
    """Return a sentence's words with a capital or a digit in front, but for the first, beside the content words."""
    stripped = (word.strip(".,;:()'\"\u201c\u201d") for word in words[1:])
    return frozenset(f"={word.lower()}" for word in stripped if word[:1].isupper() or word[:1].isdigit())


def _defects(sentence: str) -> int:
    """Return how many signs a sentence shows that it needs its page: 0 for one that stands alone.

    It points back, talks to somebody, has marks of a page, opens a bracket or quotation that it does not close, asks,
    is mostly figures, or has over 60 words.
    """
    words = sentence.split()
    unpaired = sentence.count('"') % 2 or any(sentence.count(a) != sentence.count(b) for a, b in _PAIRS)
    signs = (
        _POINTS_BACK.match(sentence),
        _TALKS.search(sentence),
        _MARKUP.search(sentence),
        unpaired,
        sentence.endswith("?"),
        sum(any(map(str.isdigit, word)) for word in words) > _MOST_FIGURES * len(words),
        len(words) > _MOST_WORDS,
    )
    return sum(map(bool, signs))


def _greedy(
    concepts: Sequence[Set[str]],
    words: Sequence[int],
    quality: Sequence[float],
    weights: Mapping[str, float],
    length: int,
    *,
    power: float,
) -> list[int]:
    """Pick sentences that together hold as much as possible of what matters (Gillick & Favre 2009), each once.

    Greedy (Lin & Bilmes 2010, sec. 4): the sentence that adds most weight for its length, until none fits any more or
    none adds anything; of equals, the first is taken.

    Args:
        concepts: what each of N sentences holds.
        words: length of each, > 0.
        quality: factor of the gain of each, > 0.
        weights: what a concept is worth, > 0.
        length: words of the result, at most.
        power: of a sentence's length, which its gain is divided by: 0 prefers long sentences, 1 short ones.

    Returns:
        The indices of the chosen sentences, in the order they were chosen.
    """
    chosen: list[int] = []
    held: set[str] = set()
    free = list(range(len(concepts)))
    while True:
        free = [index for index in free if words[index] <= length]
        gains = [
            quality[index] * sum(weights[each] for each in concepts[index] - held) / words[index] ** power
            for index in free
        ]
        if max(gains, default=0) <= 0:
            return chosen
        index = free.pop(gains.index(max(gains)))
        chosen.append(index)
        held |= concepts[index]
        length -= words[index]
