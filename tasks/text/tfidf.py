"""How near one article's paragraphs are in words: tf-idf (title similarity, similarity graph, LexRank) and BM25."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from tasks.text.ngrams import WordRule, split_words


class TfIdf:
    """Unit tf-idf vectors (Liu & Lapata 2019, eq. 25) of P paragraphs over their W words. The weight of a word in a
    text is its count there times log(P / paragraphs with the word). So a word that occurs in every paragraph has weight
    0, and a text of such words alone is the zero vector: similar to no text, not even to itself. A single paragraph is
    therefore always zero."""

    def __init__(self, paragraphs: Sequence[Sequence[str]]) -> None:
        """Compute the vectors of P paragraphs, given as words."""
        self.vocabulary, counts = _counts(paragraphs)  # column of each word
        holding = np.bincount(counts.indices, minlength=len(self.vocabulary))
        self.idf = np.log(len(paragraphs) / holding)  # [W] float64, log(P / paragraphs with the word)
        # [P, W] float64 CSR, each row of length 1 or zero; only non-zero weights are stored
        self.paragraphs = self._weigh(counts)

    def project(self, words: Sequence[str]) -> sparse.csr_array:
        """Return the [1, W] unit vector of another text, such as the title; words not in any paragraph are ignored."""
        columns = [self.vocabulary[word] for word in words if word in self.vocabulary]
        shape = (1, len(self.vocabulary))
        counts = sparse.csr_array((np.ones(len(columns)), np.array(columns, np.int32), [0, len(columns)]), shape=shape)
        counts.sum_duplicates()
        return self._weigh(counts)

    def similarity(self, words: Sequence[str]) -> np.ndarray:
        """Return the cosine of each paragraph with a text, [P] float64 in 0-1 (Liu & Lapata 2019, sec. 4)."""
        cosines: np.ndarray = (self.paragraphs @ self.project(words).T).toarray()[:, 0]
        return cosines.clip(max=1.0)  # rounding may exceed 1

    def _weigh(self, counts: sparse.csr_array) -> sparse.csr_array:
        counts.data *= self.idf[counts.indices]
        counts.eliminate_zeros()
        from sklearn.preprocessing import normalize  # here, because it takes a second that --help need not wait

        return normalize(counts, copy=False) if counts.nnz else counts


def tfidf_matrix(texts: Sequence[str], rule: WordRule = "rouge") -> sparse.csr_array:
    """Return unit tf-idf vectors of P texts, [P, W] float64 CSR; row times row is a cosine (Liu & Lapata 2019, A.1)."""
    return TfIdf([split_words(text, rule) for text in texts]).paragraphs


K1, B = 1.2, 0.75  # as Lucene has them: how soon repetitions stop to count, and how much length does


class BM25:
    """How near P texts are to a query, all given as words. A word in n of them weighs log(1 + (P - n + .5) / (n + .5)),
    as in Lucene, so that none counts against a text."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """Count the words of P texts."""
        self._vocabulary, counts = _counts(texts)
        self._counts = counts.tocsc()
        lengths = np.array([len(text) for text in texts], dtype=np.float64)
        self._saturation = K1 * (1 - B + B * lengths / (lengths.mean() if lengths.any() else 1.0))

    def scores(self, query: Sequence[str]) -> np.ndarray:
        """Return the score of each text, [P] float64 from 0."""
        scores = np.zeros(len(self._saturation))
        for word, times in Counter(query).items():
            if (column := self._vocabulary.get(word)) is not None:
                holding = slice(*self._counts.indptr[column : column + 2])
                texts, result = self._counts.indices[holding], self._counts.data[holding]
                weight = np.log(1 + (len(scores) - len(texts) + 0.5) / (len(texts) + 0.5))
                scores[texts] += times * weight * result * (K1 + 1) / (result + self._saturation[texts])
        return scores


def _counts(texts: Sequence[Sequence[str]]) -> tuple[dict[str, int], sparse.csr_array]:
    """Return the column of each word, and the counts of W words in P texts, [P, W] float64; scikit-learn's counting
    takes three times as long."""
    numbering: defaultdict[str, int] = defaultdict()
    numbering.default_factory = numbering.__len__  # a word not seen before takes the next number
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    words = np.fromiter(map(numbering.__getitem__, chain.from_iterable(texts)), np.int32, lengths.sum())
    starts = np.concatenate([[0], lengths.cumsum()])
    counts = sparse.csr_array((np.ones(len(words)), words, starts), shape=(len(texts), len(numbering)))
    counts.sum_duplicates()
    return dict(numbering), counts
