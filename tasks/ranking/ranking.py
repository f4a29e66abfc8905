"""The ranked stage: the L' best candidate paragraphs of every article, in order (Liu & Lapata 2019, sec. 3.1)."""

import dataclasses
import json
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from models.ranker import ParagraphRanker, RankerConfig
from models.training.checkpoints import write_bytes_atomically, write_text_atomically
from models.training.distributed import find_device
from models.vocabulary import Vocabulary
from models.weights_file import load_weights
from storage.schemas import RANKED
from tasks.engine.torch_threads import torch_threads
from tasks.ranking.batches import Texts, batches_by_length
from tasks.ranking.candidates import Candidates, candidates, features_of
from tasks.ranking.settings import FOLDER_METHODS, RankingSettings
from tasks.text.ngrams import WordRule, split_words
from tasks.text.tfidf import BM25

WEIGHTS, CONFIG, VOCABULARY = "model.safetensors", "config.json", "vocabulary.model"
PUBLISHED = [WEIGHTS, CONFIG, VOCABULARY]
_ARCHITECTURE = "ranker"


@dataclass(frozen=True)
class TrainedRanker:
    """A ranker and how to prepare its input."""

    model: ParagraphRanker  # on its device, in evaluation mode
    vocabulary: Vocabulary  # of its texts
    title_tokens: int  # tokens of a title that it was trained to read
    paragraph_tokens: int  # tokens of a paragraph that it was trained to read


def describe_ranker(
    directory: Path, config: RankerConfig, vocabulary: Vocabulary, *, title_tokens: int, paragraph_tokens: int
) -> None:
    """Write a ranker's files beside its weights, `config.json` last."""
    write_bytes_atomically(directory / VOCABULARY, vocabulary.model)
    record = {
        "architecture": _ARCHITECTURE,
        "config": dataclasses.asdict(config),
        "title_tokens": title_tokens,
        "paragraph_tokens": paragraph_tokens,
    }
    write_text_atomically(directory / CONFIG, json.dumps(record, indent=1) + "\n")


def load_ranker(directory: Path, device: torch.device) -> TrainedRanker:
    """Read a ranker onto `device`. Raises ValueError: the directory has none, or a file is damaged."""
    try:
        record = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        if record["architecture"] != _ARCHITECTURE:
            raise ValueError(f"{directory}: expected a ranker, got a model of architecture {record['architecture']!r}")
        config = RankerConfig(**record["config"])
        title_tokens, paragraph_tokens = int(record["title_tokens"]), int(record["paragraph_tokens"])
        vocabulary = Vocabulary.from_file(directory / VOCABULARY)
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{directory} does not hold a trained ranker: {error!r}") from error
    if vocabulary.size != config.vocabulary:
        raise ValueError(f"{directory}: {VOCABULARY} has {vocabulary.size} pieces, the ranker {config.vocabulary}")
    model = ParagraphRanker(config)
    load_weights(model, directory / WEIGHTS)
    return TrainedRanker(model.to(device).eval(), vocabulary, title_tokens, paragraph_tokens)


_THREADS = 1  # of torch: shards are ranked in parallel, one per core


def rank_paragraphs(
    articles: pa.Table,
    paragraphs: pa.Table,
    features: pa.Table,
    ranker_directory: Path | None,
    settings: RankingSettings,
    words: WordRule = "rouge",
    *,
    device: str = "cpu",
) -> pa.Table:
    """Return RANKED rows of the kept paragraphs of every kept article, whatever its split, by article_id and rank. Ties
    are in order of paragraph_id; an article without kept paragraphs has no row. The methods `similarity` and `rouge`
    read `features`, the method `ranking` the ranker, which has its own vocabulary. `device`: auto | cpu | cuda |
    cuda:N. Raises ValueError: the directory contains no ranker, a feature is missing, or a score is not a number."""
    chosen = candidates(articles, paragraphs)
    scores = _scores(chosen, features, ranker_directory, settings, words, device)
    if not np.isfinite(scores).all():
        raise ValueError(f"the scores of method {settings.method!r} are not all numbers: is the ranker damaged?")
    best = chosen.best(scores, settings.keep)
    ranked = chosen.take(best)
    columns = {
        "article_id": [ranked.ids[article] for article in ranked.article],
        "rank": ranked.ranks(),
        "paragraph_id": ranked.number,
        "score": scores[best],
        **{name: ranked.column(name) for name in ("url", "position", "text")},
    }
    return pa.table({name: columns[name] for name in RANKED.schema.names}).cast(RANKED.schema)


def _scores(
    chosen: Candidates,
    features: pa.Table,
    directory: Path | None,
    settings: RankingSettings,
    words: WordRule,
    device: str,
) -> NDArray[np.float32]:
    """Return the score of each paragraph by the method of the settings, [N]."""
    if settings.method == "similarity":
        return features_of(chosen, features, "title_similarity")
    if settings.method == "rouge":
        return features_of(chosen, features, "rouge2_recall")
    if settings.method == "found":
        return np.zeros(len(chosen), np.float32)  # equal scores are in order of paragraph_id
    if settings.method == "bm25":
        texts = zip(chosen.article.tolist(), chain.from_iterable(chosen.texts()), strict=True)
        scores = [
            BM25([split_words(text, words) for _, text in its]).scores(split_words(chosen.titles[article], words))
            for article, its in groupby(texts, key=itemgetter(0))
        ]
        return np.concatenate([np.zeros(0), *scores]).astype(np.float32)
    with torch_threads(_THREADS):
        if settings.method in FOLDER_METHODS:
            from tasks.ranking.folder_model import score_by_folder  # here, because few need the library

            return score_by_folder(settings, chosen, find_device(device))
        if directory is None:
            raise ValueError("the method 'ranking' needs the directory of a trained ranker")
        ranker = load_ranker(directory, find_device(device))
        encoded = Texts(chosen.texts(), ranker.vocabulary, ranker.paragraph_tokens)
        titles = Texts([chosen.titles], ranker.vocabulary, ranker.title_tokens)
        return score_paragraphs(ranker, encoded, titles, chosen.article, settings.batch_tokens)


def score_paragraphs(
    ranker: TrainedRanker, texts: Texts, titles: Texts, article: NDArray[np.int64], batch_tokens: int
) -> NDArray[np.float32]:
    """Return the score s of each paragraph (Liu & Lapata 2019, eq. 6), [N] in 0-1. Each title is encoded once; N
    paragraphs are scored in batches of similar length, `batch_tokens` with padding. `article`, [N], is the index of
    each paragraph's title."""
    device = next(ranker.model.parameters()).device
    vectors = torch.empty(len(titles), ranker.model.config.hidden, device=device)
    scores = torch.empty(len(texts), device=device)
    with torch.inference_mode():
        for indices in batches_by_length(titles.lengths, batch_tokens):
            vectors[torch.from_numpy(indices)] = ranker.model.encode_titles(titles.padded(indices).to(device))
        for indices in batches_by_length(texts.lengths, batch_tokens):
            its_title = vectors[torch.from_numpy(article[indices]).to(device)]
            logits = ranker.model(texts.padded(indices).to(device), its_title)
            scores[torch.from_numpy(indices).to(device)] = torch.sigmoid(logits)
    result: NDArray[np.float32] = scores.cpu().numpy()
    return result
