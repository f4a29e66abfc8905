"""MinHash bands against the true similarity of sets of shingles."""

import random

import numpy as np

from tasks.near_duplicates.overlaps import BANDS, SHINGLE_WORDS, Ngrams, band_hashes


def shingles(words: list[str], n: int = SHINGLE_WORDS) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def test_ngrams_are_equal_where_their_words_are() -> None:
    texts = [["a", "b", "c", "d"], [], ["c"], ["b", "c", "d", "a", "b", "c"], ["x", "a", "b", "c"]]
    ngrams = Ngrams(texts, 3)
    assert ngrams.ends.tolist() == [2, 2, 2, 6, 8]
    by_hash: dict[int, set[tuple[str, ...]]] = {}
    grams = [tuple(text[i : i + 3]) for text in texts for i in range(len(text) - 2)]
    for value, gram in zip(ngrams.hashes.tolist(), grams, strict=True):
        by_hash.setdefault(value, set()).add(gram)
    assert len(by_hash) == len(set(grams)) == 5
    wanted = np.sort(np.unique(Ngrams([["b", "c", "d"]], 3).hashes))
    assert ngrams.contain(wanted).tolist() == [True, False, False, True, False]
    assert ngrams.contain(np.zeros(0, np.uint64)).tolist() == [False] * 5


def test_hashes_are_the_same_on_every_machine() -> None:
    words = ["the", "lock", "was", "built", "in", "1894", "to", "lift", "barges", "past", "the", "weir"]
    assert Ngrams([words[:3]], SHINGLE_WORDS).hashes.tolist() == [2770975178708380728, 8356838428658194284]
    assert band_hashes(Ngrams([words], SHINGLE_WORDS))[0, :2].tolist() == [118225300790186308, 12084061109028126528]


def test_alike_texts_share_a_band_and_unlike_ones_do_not() -> None:
    draw = random.Random(7)
    shared: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(300):
        words = [str(draw.randrange(5000)) for _ in range(80)]
        changed = list(words)
        for place in draw.sample(range(80), draw.choice([1, 8, 40])):
            changed[place] = "other"
        a, b = shingles(words), shingles(changed)
        similarity = len(a & b) / len(a | b)
        if 0.25 < similarity < 0.65:
            continue
        first, second = band_hashes(Ngrams([words, changed], SHINGLE_WORDS))
        shared[similarity >= 0.65].append(bool((first == second).any()))
    assert min(map(len, shared.values())) > 80
    assert np.mean(shared[True]) > 0.95  # 1 - (1 - .65^5)^28 = .97
    assert np.mean(shared[False]) < 0.05


def test_bands_do_not_depend_on_the_other_texts() -> None:
    texts = [[str(number * i % 97) for i in range(20 + number)] for number in range(1, 30)]
    together = band_hashes(Ngrams(texts, SHINGLE_WORDS))
    assert together.shape == (29, BANDS)
    for text, bands in zip(texts, together, strict=True):
        assert (band_hashes(Ngrams([text], SHINGLE_WORDS))[0] == bands).all()
