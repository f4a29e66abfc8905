"""The Arrow schema of every stage: one place to learn what a column holds.

A dataset is a stage's output. Refused rows stay in it with a reason (null = kept), so that the counts along the
pipeline always add up. `version` rises with every change of meaning or layout; it is part of a shard's key, so a new
version recomputes the stage and every stage that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from storage.page_columns import PERSONAL_DATA, QUALITY_SIGNALS


@dataclass(frozen=True)
class Dataset:
    """One stage's table: its schema and how its shards are laid out."""

    name: str  # stage name, also the directory below the root
    version: int  # rises when a column's meaning or the layout changes
    schema: pa.Schema  # Arrow schema; each field's metadata holds its description under `doc`
    # column with the destination shard of a row; one Parquet row group is written per value. None for a stage that is
    # read whole
    grouped_by: str | None = None
    # column that says why a row was refused (null = kept), or None for a stage that refuses none
    reason: str | None = None
    # columns left out of row-group digests, because they differ between equal runs (fetch times)
    unstable: frozenset[str] = field(default_factory=frozenset)
    # column whose values with the most refused rows are listed in a shard's record, or None. All rows of a value must
    # be in one shard, so that the worst values overall are among the worst of each shard
    blamed: str | None = None

    def __post_init__(self) -> None:
        for column in (self.grouped_by, self.reason, self.blamed, *self.unstable):
            assert column is None or column in self.schema.names, f"{self.name} has no column {column}"

    @property
    def stable(self) -> list[str]:
        """Return the columns that have equal values in equal runs."""
        return [column for column in self.schema.names if column not in self.unstable]


def _column(name: str, type_: pa.DataType, doc: str) -> pa.Field:
    return pa.field(name, type_, metadata={"doc": doc})


def _dataset(name: str, version: int, *columns: pa.Field, **layout: Any) -> Dataset:
    return Dataset(name, version, pa.schema(columns), **layout)


def _meanings(members: Mapping[str, str]) -> str:
    return "; ".join(f"{name}, {meaning}" for name, meaning in members.items())


_STRINGS = pa.list_(pa.string())
_SLOTS = pa.list_(pa.struct({"slot": pa.string(), "text": pa.string()}))
_TOKENS = pa.list_(pa.int32())
_EDGES = pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())]))

_ARTICLE_COLUMNS = [
    _column("article_id", pa.string(), "stable hash of the source's name for the article, 16 hex digits"),
    _column("title", pa.string(), "article title, the T of Liu & Lapata 2019, sec. 3"),
    _column("lead", pa.large_string(), "lead section as plain prose: the target D of Liu & Lapata 2019, sec. 3"),
    _column("references", _STRINGS, "URLs the article cites, in order of first citation"),
    _column("search_results", _STRINGS, "URLs of search results for the title, best first"),
    _column("split", pa.string(), "train | valid | test"),
    _column("group", pa.string(), "articles of one group never straddle splits; null = the article alone"),
    _column("source", pa.string(), "name of the article source"),
    _column("revision", pa.string(), "the source's revision of the article, or null"),
    _column("licence", pa.string(), "licence of the lead text, or null"),
    _column("page", pa.string(), "number by which the source knows the page, whatever its title; null = not known"),
    _column("drop_reason", pa.string(), "why the article is not used; null = used"),
]

INTAKE = _dataset(
    "intake",
    1,
    *_ARTICLE_COLUMNS,
    _column("article_shard", pa.int32(), "destination shard"),
    grouped_by="article_shard",
    reason="drop_reason",
)

ARTICLES = _dataset("articles", 1, *_ARTICLE_COLUMNS, reason="drop_reason")

SEARCH = _dataset(
    "search",
    1,
    _column("article_id", pa.string(), "article whose title was the query"),
    _column("url", pa.string(), "URL of the result; null where the query failed"),
    _column("rank", pa.int32(), "0-based rank of the result"),
    _column("provider", pa.string(), "search provider that answered"),
    _column("reason", pa.string(), "why the result is not used, or why the query failed; null = used"),
    reason="reason",
)

CAPTURES = _dataset(
    "captures",
    1,
    _column("url", pa.string(), "normalised URL of the capture; null where the record has none"),
    _column("host_shard", pa.int32(), "destination shard: hash of the host's registered domain"),
    _column("file", pa.string(), "WARC file: as the settings name it, or the URL it is read from"),
    _column("offset", pa.int64(), "byte offset of the record in the file, or in its decoded content"),
    _column("decoded", pa.bool_(), "whether the offset is in the content, because no member starts there"),
    _column("length", pa.int64(), "bytes of the record in the file; null = not needed to read it"),
    _column("captured_at", pa.timestamp("us", tz="UTC"), "WARC-Date"),
    _column("reason", pa.string(), "why the record, or an index, cannot be used; null = it can"),
    grouped_by="host_shard",
    reason="reason",
)

INDEX_FILES = _dataset(
    "index_files",
    1,
    _column("file", pa.string(), "file of a table of the columnar index"),
    _column("first", pa.string(), "smallest key in the file; null = unknown"),
    _column("last", pa.string(), "largest key in the file; null = unknown"),
    _column("rows", pa.int64(), "captures in the file"),
    _column("row_groups", pa.int32(), "row groups of the file"),
    _column("bytes", pa.int64(), "compressed bytes of the columns that are read"),
    _column("sorted", pa.bool_(), "whether its row groups are in order of key"),
)

URL_LOOKUPS = _dataset(
    "url_lookups",
    1,
    _column("url", pa.string(), "URL of the frontier"),
    _column("key", pa.string(), "its key in indexes of web archives (SURT)"),
    _column("host_shard", pa.int32(), "shard of its host"),
    _column("file", pa.int32(), "destination: the file to look it up in, numbered through all tables"),
    grouped_by="file",
)

FRONTIER = _dataset(
    "frontier",
    1,
    _column("article_id", pa.string(), "citing article"),
    _column("article_shard", pa.int32(), "shard of the citing article"),
    _column("url", pa.string(), "normalised absolute URL, without fragment or credentials"),
    _column("host", pa.string(), "lower-case host[:port] of the URL"),
    _column("host_shard", pa.int32(), "destination shard: hash of the host's registered domain"),
    _column("provenance", pa.string(), "citation | search"),
    _column("rank", pa.int32(), "0-based place of the URL among those of its provenance"),
    _column("drop_reason", pa.string(), "why the URL is not fetched; null = it is"),
    grouped_by="host_shard",
    reason="drop_reason",
)

PAGES = _dataset(
    "pages",
    1,
    _column("url", pa.string(), "URL as the frontier has it; unique in the dataset"),
    _column("host", pa.string(), "lower-case host[:port] of the URL"),
    _column("status", pa.int32(), "HTTP status of the last response; null = no response"),
    _column("reason", pa.string(), "why there is no usable body; null = there is one"),
    _column("final_url", pa.string(), "URL after redirects; null = no response"),
    _column("mime", pa.string(), "media type: declared, or sniffed where that is missing or wrong"),
    _column("charset", pa.string(), "declared character set, or null"),
    _column("bytes", pa.int64(), "decoded body bytes read, also where the body was refused"),
    _column("sha256", pa.string(), "SHA-256 of body in hex, or null"),
    _column(
        "rights_headers",
        _STRINGS,
        "what says something of rights, as `name: value`: the response headers tdm-reservation, x-robots-tag, "
        "link of a licence; ai.txt and tdmrep.json where they reserve the page and the crawl asked for them; "
        "null = no body",
    ),
    _column("etag", pa.string(), "ETag response header, or null"),
    _column("last_modified", pa.string(), "Last-Modified response header, or null"),
    _column("fetched_at", pa.timestamp("us", tz="UTC"), "when the last response arrived; a 304 counts"),
    _column("seconds", pa.float32(), "time from first request to result, retries included"),
    _column("attempts", pa.int32(), "requests sent for this URL, redirect hops not counted"),
    _column(
        "stale_reason",
        pa.string(),
        "why the page is still as an earlier crawl found it though it was due; null = it is not",
    ),
    _column("archive", pa.string(), "archive file or service that the page was taken from; null = the web"),
    _column("body", pa.large_binary(), "decoded body, or null"),
    reason="reason",
    unstable=frozenset({"etag", "last_modified", "fetched_at", "seconds", "attempts", "stale_reason", "archive"}),
    blamed="host",
)

DOCUMENTS = _dataset(
    "documents",
    2,
    _column("article_id", pa.string(), "citing article"),
    _column("article_shard", pa.int32(), "destination shard"),
    _column("url", pa.string(), "URL as the frontier has it"),
    _column("provenance", pa.string(), "citation | search"),
    _column("rank", pa.int32(), "0-based place of the URL among those of its provenance"),
    _column("title", pa.string(), "title of the page, or null"),
    _column("paragraphs", pa.list_(pa.large_string()), "main text, one string a line break, in order"),
    _column("boilerplate", pa.list_(pa.bool_()), "for each paragraph, whether it repeats across pages of its host"),
    _column("engine", pa.string(), "extraction engine that found the text, or null"),
    _column("reason", pa.string(), "why there is no text; null = there is"),
    _column(
        "licence",
        pa.string(),
        "licence that the page claims, as SPDX names it; null = no claim was found, which does not mean none",
    ),
    _column(
        "licence_source",
        pa.string(),
        "where the claim stands: rel-license | json-ld | rdfa | meta | statement | link-header | domain | "
        "source (of the articles) | ambiguous (claims contradict each other, licence is null); null = nowhere",
    ),
    _column(
        "reservations",
        _STRINGS,
        "signs that rights are reserved against mining, each with its place, such as `header noai`, and the "
        "crawler that it names, `meta noai for gptbot`; empty = none was found, which does not mean none",
    ),
    _column("language", pa.string(), "ISO 639-1 code; null = not sure, or no text"),
    _column(
        "quality",
        pa.struct([(name, pa.float32()) for name in QUALITY_SIGNALS]),
        f"signals of quality: {_meanings(QUALITY_SIGNALS)}; null = no text",
    ),
    _column(
        "personal",
        pa.struct([(name, pa.int32()) for name in PERSONAL_DATA]),
        f"how many pieces of personal data the text has: {_meanings(PERSONAL_DATA)}; null = no text",
    ),
    grouped_by="article_shard",
    reason="reason",
)

GIVEN = _dataset("given", 1, *DOCUMENTS.schema, grouped_by="article_shard", reason="reason")

PARAGRAPHS = _dataset(
    "paragraphs",
    1,
    _column("article_id", pa.string(), "article the paragraph is a candidate for"),
    _column("paragraph_id", pa.int32(), "0-based number within the article"),
    _column("url", pa.string(), "page it stands in"),
    _column("provenance", pa.string(), "citation | search"),
    _column("position", pa.int32(), "0-based position in its page"),
    _column("text", pa.large_string(), "the paragraph"),
    _column("drop_reason", pa.string(), "why it is not a candidate; null = it is"),
    reason="drop_reason",
)

LEAD_NGRAMS = _dataset(
    "lead_ngrams",
    1,
    _column("ngram", pa.uint64(), "hash of 13 words in a row of a validation or test lead; sorted and unique"),
)

SKETCHES = _dataset(
    "sketches",
    2,
    _column("bucket_shard", pa.int32(), "destination shard: decided by the bucket"),
    _column("bucket", pa.uint64(), "hash of one band of the MinHash; equal in near-duplicates"),
    _column("whole", pa.bool_(), "whether it is of a whole document, not of a paragraph"),
    _column("article", pa.uint64(), "article_id as a number"),
    _column("article_shard", pa.int32(), "shard of the article"),
    _column("held_out", pa.bool_(), "whether the article is of the valid or test split"),
    _column("paragraph_id", pa.int32(), "kept paragraph, or the first kept one of the document"),
    grouped_by="bucket_shard",
)

_PAIR_COLUMNS = [
    _column("article", pa.uint64(), "article_id as a number"),
    _column("paragraph_id", pa.int32(), "paragraph, or the first kept one of the document"),
    _column("whole", pa.bool_(), "whether the row is on a whole document, not on a paragraph"),
    _column("in_held_out", pa.bool_(), "of a training article, and nearly equal to one of a valid or test article"),
    _column("of_article", pa.uint64(), "article of the earlier one, as a number; null = none"),
    _column("of_paragraph", pa.int32(), "paragraph_id of the earlier one; null = none"),
]

TWINS = _dataset(
    "twins",
    2,
    _column("of_shard", pa.int32(), "destination shard: that of the earlier one"),
    _column("article_shard", pa.int32(), "shard of the article"),
    *_PAIR_COLUMNS,
    grouped_by="of_shard",
)

TWIN_WORDS = _dataset(
    "twin_words",
    1,
    _column("article_shard", pa.int32(), "destination shard"),
    *_PAIR_COLUMNS,
    _column("words", pa.large_string(), "different words of the earlier one, sorted, with spaces between them"),
    grouped_by="article_shard",
)

OVERLAPS = _dataset(
    "overlaps",
    2,
    *_PAIR_COLUMNS,
    _column("in_article", pa.bool_(), "nearly equal to an earlier one of the same article"),
    _column("in_other", pa.bool_(), "nearly equal to an earlier one of another article; held-out articles come first"),
    _column("lead", pa.bool_(), "of a training article, with 13 words of a valid or test lead"),
)

FEATURES = _dataset(
    "features",
    1,
    _column("article_id", pa.string(), "article"),
    _column("paragraph_id", pa.int32(), "kept paragraph of the article"),
    _column("rouge2_recall", pa.float32(), "label: ROUGE-2 recall against the lead, 0-1 (Liu & Lapata 2019, sec. 3.1)"),
    _column("title_similarity", pa.float32(), "tf-idf cosine of paragraph and title, 0-1 (Liu & Lapata 2019, sec. 4)"),
)

VOCABULARY = _dataset(
    "vocabulary",
    1,
    _column("model", pa.binary(), "serialized SentencePiece model"),
    _column("pieces", pa.int32(), "number of pieces"),
    _column("sentences", pa.int64(), "training sentences it was estimated on"),
)

RANKED = _dataset(
    "ranked",
    1,
    _column("article_id", pa.string(), "article"),
    _column("rank", pa.int32(), "0-based rank by score: R_1 ... R_L' of Liu & Lapata 2019, sec. 3.1"),
    _column("paragraph_id", pa.int32(), "paragraph of the article"),
    _column("url", pa.string(), "page it stands in"),
    _column("position", pa.int32(), "0-based position in its page"),
    _column("text", pa.large_string(), "the paragraph"),
    _column("score", pa.float32(), "score of the ranker, 0-1"),
)

RANKING_SCORES = _dataset(
    "ranking_scores",
    1,
    _column("article_id", pa.string(), "article of the valid or test split"),
    _column("split", pa.string(), "valid | test"),
    _column(
        "method",
        pa.string(),
        "similarity | ranking (the rows of Liu & Lapata 2019, Table 1) | rouge | found, as paragraphs were ranked",
    ),
    _column("paragraphs", pa.int32(), "L': how many best paragraphs were joined"),
    _column("rouge_l_recall", pa.float32(), "ROUGE-L recall of the joined paragraphs against the lead, 0-1"),
)

GRAPHS = _dataset(
    "graphs",
    1,
    _column("article_id", pa.string(), "article"),
    _column("nodes", pa.int32(), "ranked paragraphs of the article; node i is the paragraph of rank i"),
    _column("similarity", _EDGES, "edges i < j of the similarity graph, tf-idf cosine (Liu & Lapata 2019, app. A.1)"),
    _column("discourse", _EDGES, "edges i < j of the approximate discourse graph (Liu & Lapata 2019, eq. 26)"),
)

EXAMPLES = _dataset(
    "examples",
    2,
    _column("article_id", pa.string(), "article"),
    _column("split", pa.string(), "train | valid | test"),
    _column("title", _TOKENS, "token ids of the title, no special tokens"),
    _column("source", pa.list_(_TOKENS), "token ids of the ranked paragraphs, best first, no special tokens"),
    _column("slots", _SLOTS, "what each slot stands for (`models/value_slots.py`)"),
    _column("target", _TOKENS, "token ids of the lead, begin and end of summary included"),
    _column("title_text", pa.string(), "the title"),
    _column("target_text", pa.large_string(), "the lead"),
)

PASSAGES = _dataset(
    "passages",
    1,
    _column("article_id", pa.string(), "article whose candidate paragraphs it is from"),
    _column("split", pa.string(), "train | valid"),
    _column("sentences", pa.list_(_TOKENS), "token ids of its sentences, in the page's order, no special tokens"),
)

PREDICTIONS = _dataset(
    "predictions",
    5,
    _column("article_id", pa.string(), "article of the test split"),
    _column("system", pa.string(), "name of the summarizer"),
    _column("summary", pa.large_string(), "the summary, one line"),
    _column("tokens", _STRINGS, "pieces of the summary; empty for extractive systems"),
    _column(
        "attention",
        pa.list_(pa.list_(pa.float32())),
        "for each piece, its attention to each ranked paragraph (rows sum to 1); empty for extractive systems",
    ),
    _column(
        "source_attention",
        pa.list_(pa.list_(pa.float32())),
        "for each ranked paragraph, the attention of its tokens to those of each while the source is encoded "
        "(all numbers sum to 1); empty for systems that do not say it",
    ),
)

SCORES = _dataset(
    "scores",
    3,
    _column("article_id", pa.string(), "article of the test split"),
    _column("system", pa.string(), "name of the summarizer"),
    _column("metric", pa.string(), "name of a metric, such as values-input or rougeL"),
    _column("value", pa.float32(), "the metric's figure, F1 where it is one of precision and recall"),
    _column("precision", pa.float32(), "0-1, null for a metric that has none"),
    _column("recall", pa.float32(), "likewise"),
)

DATASETS: dict[str, Dataset] = {one.name: one for one in list(vars().values()) if isinstance(one, Dataset)}
