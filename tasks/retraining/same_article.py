"""Find the same article after it was renamed or edited: a frozen test article may still be in its source, and must be
recognised there before anything learns from it.

Two articles are the same if id or page are equal, or if the leads are nearly equal. Leads are compared as sets of words
in which a rare word counts more (inverse document frequency, Spärck Jones 1972). Two articles written after one
template share the template's words; two versions of one article also share its names and numbers. The common weight is
divided by that of the lighter lead, so that a removed, added or moved sentence changes little. One edit changes much of
a short lead, and short leads of one template are very similar. So references decide for short leads: versions share
them, and other articles do not.
"""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from tasks.text.ngrams import split_words

# Chosen on the mini web of seed 1 and on real leads; `benchmarks/edited_articles.py` measures on others.
_ALIKE = 0.68  # least common share of the lighter lead's weight
_ALIKE_SHORT = 0.8  # if one of the leads is short
_ALIKE_CITING = 0.25  # if the articles also cite the same
_LIGHT = 0.25  # least weight of the lighter lead, as a share of the other's: a sentence of common words is in any
_SHORT = 40  # different words, about two sentences
_CITED = 0.5  # least common share of the references, of the article with fewer
_REGISTER = 3  # a URL cited by so many articles identifies none of them: a register, a census
_COUNTED = 2_000  # other articles in which words and URLs are counted
_SCALE = 1_000  # weights are whole numbers, so that their sums do not depend on the order of a set


def lead_words(lead: str) -> str:
    """Return a lead in the form used for comparison: words in lower case, without punctuation."""
    return " ".join(split_words(unicodedata.normalize("NFKC", lead).casefold(), "unicode"))


@dataclass(frozen=True)
class _ComparedArticle:
    """The compared fields of an article: its id and page if known, its lead, and the URLs it cites."""

    names: tuple[tuple[str, str], ...]
    words: frozenset[str]
    urls: frozenset[str]


class KnownArticles:
    """Articles that are to be recognised among others. Leads are found by their rare words (prefix filtering, Chaudhuri
    et al. 2006). If two leads share `_ALIKE` of the lighter one's weight, they share one of its rarest words: these are
    as many as weigh more than the rest may. So the time for one article grows with the number of known ones that share
    a rare word with it."""

    def __init__(self, tables: Iterable[pa.Table], others: Iterable[pa.Table] = ()) -> None:
        """Take ARTICLES of the known articles, numbered from 0 on, and INTAKE or ARTICLES rows of their corpus. The
        first `_COUNTED` of these and the known ones decide which words are rare and which URLs many articles cite:
        among few known articles alone, every word is rare."""
        self._articles = [article for table in tables for article in _articles(table)]
        ids = {article.names[0] for article in self._articles}
        more = (article for table in others for article in _articles(table) if article.names[0] not in ids)
        counted = [*self._articles, *islice(more, _COUNTED)]
        holders = Counter(word for article in counted for word in article.words)
        count = len(counted)
        self._new_word = round(_SCALE * math.log((count + 1) / 0.5))
        self._weights = {word: round(_SCALE * math.log((count + 1) / (n + 0.5))) for word, n in holders.items()}
        citing = Counter(url for article in counted for url in article.urls)
        self._registers = {url for url, n in citing.items() if n >= _REGISTER}
        self._total = [self._weight(article.words) for article in self._articles]
        self._by_name: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_rare_word: defaultdict[str, list[int]] = defaultdict(list)
        self._by_url: defaultdict[str, list[int]] = defaultdict(list)
        for number, article in enumerate(self._articles):
            for index, keys in (
                (self._by_name, article.names),
                (self._by_word, article.words),
                (self._by_rare_word, self._rarest(article.words)),
                (self._by_url, article.urls - self._registers),
            ):
                for key in keys:
                    index[key].append(number)  # type: ignore[index]

    def __len__(self) -> int:
        """Return the number of known articles."""
        return len(self._articles)

    def recognise(self, articles: pa.Table) -> Iterator[set[int]]:
        """Yield for each INTAKE or ARTICLES row the numbers of the known articles that it is."""
        for article in _articles(articles):
            yield {number for name in article.names for number in self._by_name.get(name, ())} | self._alike(article)

    def _alike(self, article: _ComparedArticle) -> set[int]:
        """Return the known articles whose leads are nearly an article's."""
        urls = article.urls - self._registers
        shared = Counter(number for url in urls for number in self._by_url.get(url, ()))
        candidates = set(shared)
        for word in article.words:
            candidates.update(self._by_rare_word.get(word, ()))
        for word in self._rarest(article.words):
            candidates.update(self._by_word.get(word, ()))
        total, result = self._weight(article.words), set()
        for number in candidates:
            known = self._articles[number]
            lighter, heavier = sorted((total, self._total[number]))
            cited = min(len(urls), len(known.urls - self._registers))
            if shared[number] and shared[number] >= _CITED * cited:
                least = _ALIKE_CITING
            else:
                least = _ALIKE_SHORT if min(len(article.words), len(known.words)) < _SHORT else _ALIKE
                if lighter < _LIGHT * heavier:
                    continue
            if self._weight(article.words & known.words) >= least * lighter > 0:
                result.add(number)
        return result

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """Return the rarest words of a lead, one of which is in every lead that has the share `_ALIKE` of it."""
        chosen, left = [], (1 - _ALIKE) * self._weight(words)
        for word in sorted(words, key=lambda word: (-self._weights.get(word, self._new_word), word)):
            if left < 0:
                break
            chosen.append(word)
            left -= self._weights.get(word, self._new_word)
        return chosen

    def _weight(self, words: frozenset[str]) -> int:
        """Return the weight of a set of words; a word that no known lead has weighs most."""
        return sum(self._weights.get(word, self._new_word) for word in words)


def _articles(table: pa.Table) -> Iterator[_ComparedArticle]:
    # The test split may have been frozen before articles had a page.
    pages = table["page"].to_pylist() if "page" in table.schema.names else [None] * table.num_rows
    columns = (table[name].to_pylist() for name in ("article_id", "source", "lead", "references"))
    for id_, source, lead, urls, page in zip(*columns, pages, strict=True):
        names = [("id", id_)] if page is None else [("id", id_), (f"page of {source}", page)]
        yield _ComparedArticle(tuple(names), frozenset(lead_words(lead).split()), frozenset(urls or ()))
