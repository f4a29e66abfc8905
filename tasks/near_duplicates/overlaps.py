"""What paragraphs and documents share, by hashes of n-grams of their words: near-duplicates (stages `sketches`, `twins`
and `twin_words`), and parts of the leads of held-out articles (stages `lead_ngrams` and `overlaps`).

Near-duplicates share a bucket. The MinHash bands of every kept paragraph and document are sent to the shards of
their buckets, and compared there, so that no machine ever holds the sketches of a whole corpus."""

import re
from collections.abc import Callable, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rensa import RMinHash

from storage.schemas import LEAD_NGRAMS, OVERLAPS, SKETCHES, TWIN_WORDS, TWINS
from tasks.engine.grouping import by_article, join_by_article
from tasks.engine.recipe import Shards
from tasks.text.ngrams import WordRule, rule_for, split_words

# A tenth of the words changed leaves .68 of the bigrams in common, but .42 of the 5-grams of Penedo et al. 2024. Two
# texts with Jaccard similarity s have a band in common with probability 1 - (1 - s^5)^28: .99 at .68, .59 at .5.
SHINGLE_WORDS = 2
BANDS, ROWS = 28, 5
_SEED = 1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word of an n-gram is lost


class Ngrams:
    """The hashed n-grams of several texts."""

    def __init__(self, words: Sequence[Sequence[str]], n: int) -> None:
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        hashed: Any = RMinHash.hash_token_sets(words)  # the same on every machine
        flat = np.fromiter(chain.from_iterable(hashed), np.uint64, int(lengths.sum()))
        count = max(0, len(flat) - n + 1)
        hashes = np.zeros(count, np.uint64)
        for offset in range(n):
            hashes = _mixed(hashes * _FACTOR + flat[offset : offset + count])
        starts = np.cumsum(lengths) - lengths
        numbers = np.maximum(lengths - n + 1, 0)
        self.ends = np.cumsum(numbers)  # int64 [texts], where the n-grams of each text end in `hashes`
        within = np.arange(self.ends[-1] if len(numbers) else 0) - np.repeat(self.ends - numbers, numbers)
        # uint64 [m], the n-grams of all texts, one text after another
        self.hashes: np.ndarray = hashes[np.repeat(starts, numbers) + within]

    def contain(self, wanted: np.ndarray) -> np.ndarray:
        """Return for each text whether one of its n-grams is among the sorted hashes `wanted`."""
        if not len(wanted):
            return np.zeros(len(self.ends), bool)
        places = np.minimum(np.searchsorted(wanted, self.hashes), len(wanted) - 1)
        result = np.concatenate([[0], np.cumsum(wanted[places] == self.hashes)])
        starts = np.concatenate([[0], self.ends[:-1]])
        return result[self.ends] > result[starts]  # type: ignore[no-any-return]


def split_all(texts: Sequence[str], rule: WordRule) -> list[list[str]]:
    """Return the words of each text, by the rule for its alphabet."""
    return [split_words(text, rule_for(text, rule)) for text in texts]


def band_hashes(ngrams: Ngrams) -> np.ndarray:
    """Return uint64 [texts, BANDS]: two texts have the same in a column if their MinHashes agree in that band."""
    count = len(ngrams.ends)
    offsets = np.concatenate([[0], ngrams.ends]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(ngrams.hashes, offsets, BANDS * ROWS, _SEED)
    signatures = np.array(matrix.to_rows(), np.uint64).reshape(count, BANDS, ROWS)
    bands = np.broadcast_to(np.arange(1, BANDS + 1, dtype=np.uint64), (count, BANDS)).copy()
    for row in range(ROWS):
        bands = _mixed(bands * _FACTOR + signatures[:, :, row])
    return bands


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return the finaliser of SplitMix64 (Steele et al. 2014): every bit of a value changes half of the bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))  # type: ignore[no-any-return]


def held_out(articles: pa.Table) -> pa.ChunkedArray:
    """Return for each article whether models are judged on it: it is kept, and of the valid or test split."""
    return pc.and_(pc.is_in(articles["split"], pa.array(["valid", "test"])), pc.is_null(articles["drop_reason"]))


_LEAST_WORDS = 10  # shorter paragraphs are equal by chance
_WHOLE = np.uint64(0x5851F42D4C957F2D)  # keeps the buckets of documents apart from those of paragraphs


def sketch_paragraphs(
    articles: pa.Table, paragraphs: pa.Table, *, words: WordRule, buckets: int, article_shard: int
) -> pa.Table:
    """Return SKETCHES rows, by bucket shard: the bands of a shard's kept paragraphs and, joined by page, documents."""
    kept = _kept(paragraphs)
    tables = [SKETCHES.schema.empty_table()]
    for article, rows, own in join_by_article(articles, kept):
        if own.num_rows:
            ids, whole, bands = _sketch(own, words)
            bucket = np.where(whole[:, None], bands ^ _WHOLE, bands).reshape(-1)
            columns = [
                (bucket % np.uint64(buckets)).astype(np.int32),
                bucket,
                np.repeat(whole, BANDS),
                np.full(len(bucket), int(article, 16), np.uint64),
                np.full(len(bucket), article_shard, np.int32),
                np.full(len(bucket), held_out(rows)[0].as_py()),
                np.repeat(ids, BANDS).astype(np.int32),
            ]
            tables.append(pa.table(columns, schema=SKETCHES.schema))
    return pa.concat_tables(tables).sort_by([("bucket_shard", "ascending")])


def _sketch(rows: pa.Table, rule: WordRule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return paragraph ids, whether each is of a document, and bands [n, BANDS] of one article."""
    ids, urls = rows["paragraph_id"].to_numpy(), rows["url"].to_pylist()
    words = split_all(rows["text"].to_pylist(), rule)
    documents = [list(group) for _, group in groupby(range(len(urls)), key=urls.__getitem__)]
    texts = words + [list(chain.from_iterable(words[i] for i in group)) for group in documents]
    all_ids = np.concatenate([ids, ids[[group[0] for group in documents]]])
    whole = np.arange(len(texts)) >= len(words)
    long_enough = [i for i, text in enumerate(texts) if len(text) >= _LEAST_WORDS]
    bands = band_hashes(Ngrams([texts[i] for i in long_enough], SHINGLE_WORDS))
    return all_ids[long_enough], whole[long_enough], bands


def match_sketches(sketches: pa.Table) -> pa.Table:
    """Return TWINS rows, by the shard of the earlier one: every paragraph and document, with the first that shares a
    bucket with it, and with the first such of its own article. Held-out articles come before training articles, then
    the order is by article and paragraph: it depends neither on the number of shards nor on the order of rows."""
    columns = {name: sketches[name].to_numpy() for name in sketches.schema.names}
    order = np.lexsort((columns["paragraph_id"], columns["article"], ~columns["held_out"], columns["bucket"]))
    columns = {name: values[order] for name, values in columns.items()}
    starts = changes(columns["bucket"])
    of_bucket, of_article = _places(starts), _places(starts | changes(columns["article"]))
    rows = np.arange(len(order))
    pairs = [(rows[of != rows], of[of != rows]) for of in (of_bucket, of_article)]
    later, first = (np.concatenate(side) for side in zip(*pairs, strict=True))
    values = {name: columns[name][later] for name in ("article_shard", "article", "paragraph_id", "whole")}
    values |= {
        "of_shard": columns["article_shard"][first],
        "of_article": columns["article"][first],
        "of_paragraph": columns["paragraph_id"][first],
        "in_held_out": columns["held_out"][first] & ~columns["held_out"][later],
    }
    twins = pa.table([values[name] for name in TWINS.schema.names], schema=TWINS.schema)
    return distinct(twins).sort_by([("of_shard", "ascending")])


def distinct(twins: pa.Table) -> pa.Table:
    """Return the rows of TWINS once each, sorted by article: a pair meets in many buckets."""
    columns = [twins[name].to_numpy() for name in ("of_paragraph", "of_article", "whole", "paragraph_id", "article")]
    order = np.lexsort(columns)
    return twins.take(order[np.logical_or.reduce([changes(values[order]) for values in columns])])


def _places(starts: np.ndarray) -> np.ndarray:
    """Return for each row the last place up to it where a group starts."""
    return np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))


def changes(values: np.ndarray) -> np.ndarray:
    """Return for each value whether it differs from the one before it."""
    starts = np.ones(len(values), bool)
    starts[1:] = values[1:] != values[:-1]
    return starts


# Jaccard similarity of sets of words: .83 where a tenth of a real paragraph's words are changed, .68 where a fifth are.
LEAST_SIMILARITY = 0.75

Key = tuple[int, int, bool]
"""Article, paragraph, and whether the document that begins with it is meant."""


def attach_words(paragraphs: pa.Table, twins: pa.Table, *, words: WordRule) -> pa.Table:
    """Return TWIN_WORDS rows, by the shard of the later one: TWINS once each, with the words of the earlier one."""
    twins = distinct(twins)
    keys = _keys(twins, "of_article", "of_paragraph")
    result = _word_sets(paragraphs, set(keys), words)
    texts = {key: " ".join(sorted(of)) for key, of in result.items()}
    named = twins.append_column("words", pa.array([texts[key] for key in keys], pa.large_string()))
    return named.select(TWIN_WORDS.schema.names).sort_by([("article_shard", "ascending")])


def near_duplicates(paragraphs: pa.Table, twin_words: pa.Table, words: WordRule) -> pa.Table:
    """Return an OVERLAPS row for each pair whose words are alike, without leads. Reports written by one template are
    alike and differ in what they say: a pair is none if the later one has a number or name that the earlier one has
    not."""
    keys = _keys(twin_words, "article", "paragraph_id")
    own = _word_sets(paragraphs, set(keys), words)
    values = _word_sets(paragraphs, set(keys), words, of=value_words)
    alike = []
    for key, text in zip(keys, twin_words["words"].to_pylist(), strict=True):
        other = text.split()
        common = len(own[key].intersection(other))
        similar = common >= LEAST_SIMILARITY * (len(own[key]) + len(other) - common)
        alike.append(similar and values.get(key, set()).issubset(other))
    rows = twin_words.filter(pa.array(alike, pa.bool_()))
    in_article = pc.equal(rows["article"], rows["of_article"])
    rows = rows.append_column("in_article", in_article).append_column("in_other", pc.invert(in_article))
    rows = rows.append_column("lead", pa.array(np.zeros(rows.num_rows, bool)))
    return rows.select(OVERLAPS.schema.names).cast(OVERLAPS.schema)


_TOKEN = re.compile(r"[^\W_]+(?:[.,:]\d+)*|[.!?]")
_ENDS = frozenset(".!?")


def value_words(text: str, rule: WordRule) -> list[str]:
    """Return the words of a text that belong to numbers and names, in order: a name has a capital letter, and no
    sentence begins with it unless another capital letter follows."""
    tokens = _TOKEN.findall(text)
    results = [
        token
        for before, token, after in zip([".", *tokens], tokens, [*tokens[1:], "."], strict=False)
        if token[0].isdigit() or (token[0].isupper() and (before not in _ENDS or after[0].isupper()))
    ]
    return split_words(" ".join(results), rule_for(text, rule))


def _kept(paragraphs: pa.Table) -> pa.Table:
    kept = paragraphs.filter(pc.is_null(paragraphs["drop_reason"]))
    return kept.select(["article_id", "paragraph_id", "url", "text"])


def _keys(pairs: pa.Table, article: str, paragraph: str) -> list[Key]:
    return list(zip(*(pairs[name].to_pylist() for name in (article, paragraph, "whole")), strict=True))


def _word_sets(
    paragraphs: pa.Table, keys: set[Key], rule: WordRule, of: Callable[[str, WordRule], list[str]] = split_words
) -> dict[Key, set[str]]:
    """Return the different words of the paragraphs and documents with these keys, or those that `of` chooses."""
    articles = {article for article, *_ in keys}
    result: dict[Key, set[str]] = {}
    for name, own in by_article(_kept(paragraphs)):
        if (article := int(name, 16)) not in articles:
            continue
        rows = zip(*(own[name].to_pylist() for name in ("url", "paragraph_id", "text")), strict=True)
        for _, group in groupby(rows, key=itemgetter(0)):
            document: Key | None = None
            for _, id_, text in group:
                document, paragraph = document or (article, id_, True), (article, id_, False)
                wanted = {document, paragraph} & keys
                words = of(text, rule_for(text, rule)) if wanted else []
                for key in wanted:
                    result.setdefault(key, set()).update(words)
    return result


LEAD_WORDS = 13  # the n of the contamination study of Brown et al. 2020 (app. C); shorter runs are common phrases
_TEMPLATE_LEADS = 3  # leads with the same n-gram from which it is a template's, not what one of them says


def collect_lead_ngrams(shards: Shards, *, words: WordRule) -> pa.Table:
    """Return LEAD_NGRAMS of the leads of the valid and test splits, shard by shard: 8 bytes for each word. An n-gram of
    `_TEMPLATE_LEADS` leads or more is left out."""
    results = [np.zeros(0, np.uint64)]
    for (articles,) in shards:
        leads = articles.filter(held_out(articles))["lead"].to_pylist()
        results += [np.unique(Ngrams([lead], LEAD_WORDS).hashes) for lead in split_all(leads, words)]
    hashes, leads_with = np.unique(np.concatenate(results), return_counts=True)
    return pa.table([hashes[leads_with < _TEMPLATE_LEADS]], schema=LEAD_NGRAMS.schema)


def find_overlaps(
    articles: pa.Table, paragraphs: pa.Table, twin_words: pa.Table, lead_ngrams: pa.Table, *, words: WordRule
) -> pa.Table:
    """Return OVERLAPS rows: what is nearly equal to an earlier paragraph or document, or has a part of a held-out lead.
    Articles and paragraphs are sorted by their ids, `twin_words` in any order, several of one paragraph; the rows are
    sorted by article, paragraph and `whole`. A text that is nearly equal to an earlier one counts even if that one is a
    near-duplicate itself."""
    alike = near_duplicates(paragraphs, twin_words, words)
    with_lead = _with_lead(articles, paragraphs, lead_ngrams["ngram"].to_numpy(), words)
    key, flags = ["article", "paragraph_id", "whole"], ["in_article", "in_other", "in_held_out", "lead"]
    first = [("in_held_out", "descending"), ("of_article", "ascending"), ("of_paragraph", "ascending")]
    groups = pa.concat_tables([alike, with_lead]).sort_by(first).group_by(key, use_threads=False)
    rows = groups.aggregate([*((name, "max") for name in flags), ("of_article", "first"), ("of_paragraph", "first")])
    rows = rows.rename_columns([name.removesuffix("_max").removesuffix("_first") for name in rows.column_names])
    return rows.select(OVERLAPS.schema.names).sort_by([(name, "ascending") for name in key]).cast(OVERLAPS.schema)


def _with_lead(articles: pa.Table, paragraphs: pa.Table, wanted: np.ndarray, rule: WordRule) -> pa.Table:
    """Return a row for each kept paragraph of a training article that contains one of the wanted n-grams."""
    training = articles.filter(pc.equal(articles["split"], "train"))
    no_twin = dict.fromkeys(("in_article", "in_other", "in_held_out"), False)
    rows = []
    for article, _, own in join_by_article(training, _kept(paragraphs)):
        result = Ngrams(split_all(own["text"].to_pylist(), rule), LEAD_WORDS).contain(wanted)
        number = int(article, 16)
        rows += [
            {**no_twin, "article": number, "paragraph_id": id_, "whole": False, "lead": True}
            for id_ in own["paragraph_id"].to_numpy()[result].tolist()
        ]
    return pa.Table.from_pylist(rows, schema=OVERLAPS.schema)
