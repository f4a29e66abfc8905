"""The examples stage: input and target of summarizers, as token ids."""

import pyarrow as pa
import pyarrow.compute as pc

from models.sentences import split_sentences
from models.vocabulary import Vocabulary
from storage.schemas import EXAMPLES
from tasks.engine.grouping import join_by_article
from tasks.evaluation.support import ValueSupport
from tasks.evaluation.values import Evidence
from tasks.summarization.settings import ExampleSettings
from tasks.summarization.vocabulary import read_vocabulary

_TITLE_TOKENS = 64  # kept of a title: hardly one is longer, and a summarizer reads at most its first paragraph of it


def build_examples(
    articles: pa.Table,
    ranked: pa.Table,
    vocabulary: pa.Table | Vocabulary,
    settings: ExampleSettings,
    *,
    sentences: bool = False,
) -> pa.Table:
    """Make the example of every kept article that has ranked paragraphs with any token.

    Args:
        articles: ARTICLES rows of a shard, sorted by article_id.
        ranked: RANKED rows of the shard, sorted by article_id and rank.
        vocabulary: the VOCABULARY table, or the vocabulary read from it.
        settings: see the class.
        sentences: whether `[BOS]` is before each sentence of a paragraph (Akiyama et al. 2021, sec. 3.1), as it always
            is with a vocabulary that has this piece.

    Returns:
        EXAMPLES rows sorted by article_id. Paragraph i of `source` is the one of rank i, an empty list if it has no
        token, so that ranks and graph nodes still match. With `supported_by` an article of the training or validation
        split without a supported sentence has no row.

    Raises:
        ValueError: a table is not sorted.
    """
    vocabulary = read_vocabulary(vocabulary, sentences=sentences)
    kept = articles.filter(pc.is_null(articles["drop_reason"])).select(["article_id", "split", "title", "lead"])
    used = ranked.select(["article_id", "rank", "text"])
    batches = []
    for article, rows, best in join_by_article(kept, used):
        if best["rank"].to_pylist() != list(range(len(best))):
            raise ValueError(f"the ranked paragraphs of article {article} are not in order of rank")
        source = [ids[: settings.paragraph_tokens] for ids in _encoded(best["text"].to_pylist(), vocabulary)]
        if not any(source):
            continue
        title, lead, split = (rows[name][0].as_py() or "" for name in ("title", "lead", "split"))
        learned = lead
        if settings.supported_by is not None and split != "test":
            shown = [vocabulary.decode(ids) for ids in source[: settings.supported_by]]
            learned = " ".join(supported_sentences(title, lead, shown))
            if not learned:
                continue
        target = [*vocabulary.target_start, *vocabulary.encode(learned), vocabulary.end]
        example = {
            "article_id": article,
            "split": split,
            "title": vocabulary.encode(title)[:_TITLE_TOKENS],
            "source": source,
            "target": target[: settings.target_tokens],
            "title_text": title,
            "target_text": lead,
        }
        batches.append(pa.RecordBatch.from_pylist([example], schema=EXAMPLES.schema))
    return pa.Table.from_batches(batches, schema=EXAMPLES.schema).combine_chunks()


def supported_sentences(title: str, lead: str, paragraphs: list[str]) -> list[str]:
    """Return the sentences of a lead whose names, numbers and dates all occur in the title or the paragraphs.

    Training on the others teaches a summarizer to invent values (Nan et al. 2021).
    """
    context, shown = Evidence([title, *paragraphs, lead]), Evidence([title, *paragraphs])
    support = ValueSupport(title, context)
    return [line for line in split_sentences(lead) if all(value in shown for value in support.values(line))]


def _encoded(texts: list[str], vocabulary: Vocabulary) -> list[list[int]]:
    """Return the ids of paragraphs, with a mark before each sentence if the vocabulary has one."""
    if vocabulary.sentence_begin is None:
        return vocabulary.encode_batch(texts)
    return vocabulary.encode_paragraphs(map(split_sentences, texts))
