"""Features of the kept paragraphs: the ranker's label, and tf-idf similarity, its baseline."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.schemas import FEATURES
from tasks.engine.grouping import join_by_article
from tasks.text.ngrams import TargetNgrams, WordRule, split_words
from tasks.text.tfidf import TfIdf


def rouge2_recalls(lead: Sequence[str], paragraphs: Iterable[Sequence[str]]) -> NDArray[np.float64]:
    """Return the ROUGE-2 recall of each paragraph against the lead, [P] in 0-1 (Liu & Lapata 2019, sec. 3.1, y_i).
    Words are those of `tasks.text.ngrams.split_words`, by one rule; with `rouge` a recall equals rouge-score's
    unstemmed `rouge2` recall to the last bit. With fewer than two words of the lead every recall is 0."""
    return np.array(TargetNgrams(lead, 2).recalls(paragraphs), dtype=np.float64)


def compute_features(
    articles: pa.Table, paragraphs: pa.Table | pa.RecordBatchReader, words: WordRule = "rouge"
) -> Iterator[pa.RecordBatch]:
    """Yield FEATURES of every kept paragraph of every kept article, in the order of the sorted `paragraphs`."""
    kept = articles.filter(pc.is_null(articles["drop_reason"])).select(["article_id", "title", "lead"])
    for article, rows, candidates in join_by_article(kept, paragraphs):
        chosen = candidates.filter(pc.is_null(candidates["drop_reason"]))
        title, lead = (split_words(rows[name][0].as_py() or "", words) for name in ("title", "lead"))
        texts = [split_words(text, words) for text in chosen["text"].to_pylist()]
        yield pa.RecordBatch.from_pydict(
            {
                "article_id": [article] * len(texts),
                "paragraph_id": chosen["paragraph_id"].to_pylist(),
                "rouge2_recall": rouge2_recalls(lead, texts),
                "title_similarity": TfIdf(texts).similarity(title),
            },
            schema=FEATURES.schema,
        )
