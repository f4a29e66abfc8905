"""The passages stage: consecutive sentences of a page, as token ids, that a model learns to restore."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from models.sentences import split_sentences
from models.vocabulary import Vocabulary
from storage.schemas import PASSAGES
from tasks.engine.grouping import join_by_article, packed

# Most tokens of a passage. Lewis et al. 2020 have 512; here it is less, as summarizers for laptops read a few hundred.
PASSAGE_TOKENS = 256


def build_passages(
    articles: pa.Table, paragraphs: pa.Table, vocabulary: pa.Table | Vocabulary, passage_tokens: int = PASSAGE_TOKENS
) -> pa.Table:
    """Cut kept paragraphs of training and validation articles, never leads, into PASSAGES; none spans two pages."""
    words = Vocabulary.of(vocabulary)
    learned = pc.and_(pc.is_null(articles["drop_reason"]), pc.not_equal(articles["split"], "test"))
    rows = []
    texts = paragraphs.filter(pc.is_null(paragraphs["drop_reason"])).select(["article_id", "url", "position", "text"])
    for article, item, own in join_by_article(articles.filter(learned).select(["article_id", "split"]), texts):
        for page in _pages(own):
            sentences = [sentence for text in page for sentence in split_sentences(text)]
            encoded = (ids[:passage_tokens] for ids in words.encode_batch(sentences) if ids)
            split = item["split"][0].as_py()
            passages = packed(encoded, len, passage_tokens)
            rows += [{"article_id": article, "split": split, "sentences": passage} for passage in passages]
    return pa.Table.from_pylist(rows, schema=PASSAGES.schema)


def _pages(paragraphs: pa.Table) -> Iterable[list[str]]:
    """Return the texts of each page, in the page's order."""
    pages: dict[str | None, list[tuple[int, str]]] = {}
    for row in paragraphs.select(["url", "position", "text"]).to_pylist():
        pages.setdefault(row["url"], []).append((row["position"], row["text"]))
    return [[text for _, text in sorted(texts)] for texts in pages.values()]
