"""A filler of templates: it shows what learning a corpus by heart achieves, without a model.

It learns the sentences of training leads with their names and numbers cut out. For each gap it learns the words around
its value in the input paragraphs. To summarize another article, it takes the training lead whose gaps it fills with
most certainty, and leaves out uncertain sentences. A trained summarizer has to be better; otherwise its corpus has too
few forms of sentences to show understanding."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from typing import NamedTuple

from models.sentences import split_sentences
from models.values import OPENERS

_TOKEN = re.compile(r"\d[\d.,]*\d|\d|[^\W\d_](?:[\w'’-]*\w)?|-[^\W\d_](?:[\w-]*\w)?|[^\w\s]")
_SUBJECT, _NAME, _YEAR, _NUMBER, _WORDS = "@s", "@", "#y", "#n", "_"  # shapes of gaps
_MALE = {"she": "he", "her": "his"}
_FEMALE = {"he": "she", "his": "her"}
# May occur within a value of small letters.
_LINKS = frozenset(["a", "an", "the", "of", "in", "by", "for", "to", "on", "at"])
_LONGEST = 8  # words of such a value
_NEIGHBOURS = 40  # training leads tried for an article, those with the most similar paragraphs
_SURE = 0.5  # least probability of a sentence that is written
_COPIED = 2.0  # a lead's word is from its paragraphs if it is there so many times as often as in others'
_SMOOTHING = 0.5
_REACH = 3  # words on each side of a value whose positions count
_SHARPNESS = 0.5  # of the evidence of a value: neighbouring words repeat each other's evidence


class Gap(NamedTuple):
    """A value in a text, or the place for one."""

    shape: str
    value: str


Tokens = list[str | Gap]
Template = tuple[str, ...]  # words, and the shapes of gaps


class SlotPlace(NamedTuple):
    """A value in the paragraphs read, with the words around it."""

    value: str
    features: frozenset[str]


class _Gap:
    """The values in a gap of a template, and how often each feature occurred around them, and around other values."""

    def __init__(self) -> None:
        self.values: set[str] = set()
        self._features: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self._places = [0, 0]

    def learn(self, value: str, places: Iterable[SlotPlace]) -> None:
        self.values.add(value)
        for place in places:
            self._features[place.value != value].update(place.features)
            self._places[place.value != value] += 1

    @cached_property
    def _weights(self) -> dict[str, float]:
        inside, outside = self._features
        more = math.log((self._places[1] + 2 * _SMOOTHING) / (self._places[0] + 2 * _SMOOTHING))
        return {
            name: more + math.log((inside[name] + _SMOOTHING) / (outside[name] + _SMOOTHING))
            for name in inside.keys() | outside.keys()
        }

    def best(self, shape: str, places: Iterable[SlotPlace]) -> tuple[float, str]:
        """Return the likeliest of the values in `places` and its probability."""
        scores: defaultdict[str, float] = defaultdict(float)
        for place in places:
            if shape != _WORDS or place.value in self.values:
                result = _SHARPNESS * math.fsum(self._weights.get(name, 0.0) for name in place.features)
                scores[place.value] += math.exp(min(result, 50.0))
        if not scores:
            return 0.0, ""
        value = max(scores, key=scores.__getitem__)
        return scores[value] / (sum(scores.values()) + 1.0), value


class Filler:
    """Templates of training leads, and the contexts of the values in their gaps."""

    def __init__(self, training: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """Learn from articles: title, lead and paragraphs read of each."""
        given = list(training)
        every = (text for _, lead, texts in given for text in (lead, *texts))
        self._small = OPENERS.union(re.findall(r"(?<= )[^\W\d_A-Z][\w'’-]*", " ".join(every)))
        articles = [(self._read(title, [lead]), self._read(title, texts)) for title, lead, texts in given]
        words = [(_small(lead), _small(texts)) for lead, texts in articles]
        copied = _copied(words)
        leads = []
        for (lead,), texts in articles:
            own = f" {' '.join(word for text in texts for sentence in text for word in _signs(sentence))} "
            leads.append([_with_words(sentence, copied, own) for sentence in lead])
        tokens = (token for lead in leads for sentence in lead for token in sentence)
        self._values = frozenset(token.value for token in tokens if isinstance(token, Gap) and token.shape == _WORDS)
        self._gaps: defaultdict[Template, list[_Gap]] = defaultdict(list)
        self._leads: list[tuple[frozenset[str], list[Template]]] = []
        for lead, (_, texts), (_, held) in zip(leads, articles, words, strict=True):
            places = self._places(texts)
            plan = [self._learn(sentence, places) for sentence in lead]
            self._leads.append((held, plan))
        counts = Counter(word for held, _ in self._leads for word in held)
        self._rare = {word: math.log(len(leads) / count) for word, count in counts.items() if count > 1}

    def write(self, title: str, texts: Sequence[str]) -> str:
        """Return the summary of an article; empty if no sentence is sure enough."""
        paragraphs = self._read(title, texts)
        sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        places, held = self._places(paragraphs), _small(paragraphs)
        words = [word for sentence in sentences for word in sentence]
        female = sum({"he": -1, "his": -1, "she": 1, "her": 1}.get(str(word), 0) for word in words) > 0

        def likeness(lead: tuple[frozenset[str], list[Template]]) -> float:
            own = math.fsum(self._rare.get(word, 0.0) for word in lead[0])
            return math.fsum(self._rare.get(word, 0.0) for word in lead[0] & held) / math.sqrt(own or 1.0)

        filled: dict[Template, tuple[float, str]] = {}
        best, summary = 0.0, ""
        for _, plan in nlargest(_NEIGHBOURS, self._leads, key=likeness):
            for template in plan:
                if template not in filled:
                    filled[template] = self._fill(template, title, places, female=female)
            sure = [filled[template] for template in plan if filled[template][0] > _SURE]
            gain = sum(probability - _SURE for probability, _ in sure)
            if gain > best:
                best, summary = gain, " ".join(sentence for _, sentence in sure)
        return summary

    def _learn(self, sentence: Tokens, places: Mapping[str, Sequence[SlotPlace]]) -> Template:
        """Learn the contexts of the values of a lead's sentence in its paragraphs; return its template."""
        template = tuple(token.shape if isinstance(token, Gap) else token for token in sentence)
        values = [token for token in sentence if isinstance(token, Gap) and token.shape != _SUBJECT]
        gaps = self._gaps[template]
        gaps.extend(_Gap() for _ in range(len(values) - len(gaps)))
        for gap, (shape, value) in zip(gaps, values, strict=True):
            gap.learn(value, places.get(shape, ()))
        return template

    def _fill(
        self, template: Template, title: str, places: Mapping[str, Sequence[SlotPlace]], *, female: bool
    ) -> tuple[float, str]:
        """Return the likeliest sentence of this template and its probability."""
        shapes = [sign for sign in template if sign in (_NAME, _YEAR, _NUMBER, _WORDS)]
        found = [
            gap.best(shape, places.get(shape, ())) for shape, gap in zip(shapes, self._gaps[template], strict=True)
        ]
        values = [value for _, value in found]
        if len(set(values)) < len(values):
            return 0.0, ""
        rest = iter(values)
        words = [
            title if sign == _SUBJECT else next(rest) if sign in shapes else _FEMALE.get(sign, sign) if female else sign
            for sign in template
        ]
        text = re.sub(r" (?=[.,;:!?)’]|-\w)|(?<=\() ", "", " ".join(words))
        text = re.sub(r"\b[Tt]he The\b", "The", text)
        text = re.sub(r"\b([Aa])n?(?= ([aeioAEIO8])?)", lambda found: found[1] + "n" * bool(found[2]), text)
        return math.prod(probability for probability, _ in found), text[:1].upper() + text[1:]

    def _places(self, paragraphs: Iterable[Sequence[Tokens]]) -> Mapping[str, Sequence[SlotPlace]]:
        """Return the values in an article's paragraphs by shape."""
        result: defaultdict[str, list[SlotPlace]] = defaultdict(list)
        for paragraph in paragraphs:
            every = [_signs(sentence) for sentence in paragraph]
            naming = [_SUBJECT in signs for signs in every]
            opening = {f"^{' '.join(every[0][:_REACH])}", f"{naming[:1]} {sum(naming)}"} if every else set()
            for sentence, signs in zip(paragraph, every, strict=True):
                around = opening | {f"~{sign}" for sign in signs if sign.isalpha() or sign == _SUBJECT}
                for start, token in enumerate(sentence):
                    if isinstance(token, Gap):
                        features = around.union(_around(signs, start, start + 1))
                        result[token.shape].append(SlotPlace(token.value, frozenset(features)))
                    for end in range(start + 1, min(start + _LONGEST, len(signs)) + 1):
                        if (value := " ".join(signs[start:end])) in self._values:
                            features = around.union(_around(signs, start, end))
                            result[_WORDS].append(SlotPlace(value, frozenset(features)))
        return result

    def _read(self, title: str, texts: Iterable[str]) -> list[list[Tokens]]:
        """Return the sentences of each text, with names and numbers as gaps; pronouns of persons are those of men."""
        return [[self._cut(sentence, title) for sentence in split_sentences(text)] for text in texts]

    def _cut(self, sentence: str, title: str) -> Tokens:
        names = [word for word in _TOKEN.findall(title) if word[0].isupper()]  # of those as long, the first is the name
        results: Tokens = []
        for index, word in enumerate(_TOKEN.findall(sentence.replace(title, max(names, key=len, default=title)))):
            last = results[-1] if results else None
            if word[0].isdigit():
                results.append(Gap(_YEAR if len(word) == 4 and word.isdigit() else _NUMBER, word))
            elif word[0].isupper() and (index or word.lower() not in self._small):
                is_name = isinstance(last, Gap) and last.shape in (_NAME, _SUBJECT)
                value = f"{last.value} {word}" if is_name and isinstance(last, Gap) else word
                gap = Gap(_SUBJECT if set(names).issuperset(value.split()) else _NAME, value)
                results[len(results) - is_name :] = [gap]
            else:
                small = word if index else word.lower()
                results.append(_MALE.get(small, small))
        return results


def _with_words(sentence: Tokens, copied: Collection[str], own: str) -> Tokens:
    """Return a lead's sentence with the words that come from its paragraphs as gaps too, if they are in one run
    there."""
    results: Tokens = []
    signs = _signs(sentence)
    start = 0
    while start < len(signs):
        ends = [end for end in range(start + 1, min(start + _LONGEST, len(signs)) + 1) if signs[end - 1] in copied]
        end = max((end for end in ends if _is_run(signs[start:end], copied, own)), default=0)
        results.append(Gap(_WORDS, " ".join(signs[start:end])) if end else sentence[start])
        start = max(end, start + 1)
    return results


def _is_run(words: Sequence[str], copied: Collection[str], own: str) -> bool:
    return words[0] in copied and all(w in copied or w in _LINKS for w in words) and f" {' '.join(words)} " in own


def _signs(sentence: Tokens) -> list[str]:
    return [token.shape if isinstance(token, Gap) else token for token in sentence]


def _small(paragraphs: Iterable[Sequence[Tokens]]) -> frozenset[str]:
    """Return the words in small letters."""
    words = (token for paragraph in paragraphs for sentence in paragraph for token in sentence)
    return frozenset(word for word in words if isinstance(word, str) and word.isalpha())


def _around(signs: Sequence[str], start: int, end: int) -> set[str]:
    left, right = ["^", *signs[:start]], [*signs[end:], "$"]
    return {
        feature
        for length in range(1, _REACH + 1)
        for feature in (f"{' '.join(left[-length:])} <", f"> {' '.join(right[:length])}")
    }


def _copied(articles: Sequence[tuple[frozenset[str], frozenset[str]]]) -> frozenset[str]:
    """Return the words of leads that come from their paragraphs: there much oftener than in those of other articles.
    `articles`: words of the lead and of the paragraphs of each."""
    written = Counter(word for lead, _ in articles for word in lead)
    both = Counter(word for lead, texts in articles for word in lead & texts)
    anywhere = Counter(word for _, texts in articles for word in texts)
    return frozenset(
        word
        for word, count in both.items()
        if 2 * count > written[word] and count * len(articles) > _COPIED * written[word] * anywhere[word]
    )
