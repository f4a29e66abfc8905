"""The ranked stage: the L' best candidate paragraphs of every article, in order (Liu & Lapata 2019, sec. 3.1). The
order comes from a trained ranker, from rules, or from a model in a local folder, through transformers. A sentence
encoder compares the vectors of paragraph and title; a cross-encoder reads both together.

Shapes: N paragraphs, A articles, B texts of a batch, L tokens, D model size."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow as pa
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from models.ranker import ParagraphRanker, RankerConfig
from models.training.checkpoints import write_bytes_atomically, write_json_atomically
from models.training.distributed import find_device
from models.vocabulary import Vocabulary
from models.weights_file import load_weights
from storage.schemas import RANKED
from tasks.engine.torch_threads import torch_threads
from tasks.ranking.batches import Texts, batches_by_length
from tasks.ranking.candidates import Candidates, candidates, features_of, place_in_run
from tasks.ranking.folders import (
    RankingFolder,
    folder_digest,
    load_model,
    longest_input,
    ranking_folder,
    read_ranking_folder,
)
from tasks.ranking.settings import FOLDER_METHODS, RankingSettings
from tasks.text.ngrams import WordRule, rule_for, split_words
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


def describe_ranker(directory: Path, ranker: TrainedRanker) -> None:
    """Write a ranker's files next to its weights, `config.json` last."""
    write_bytes_atomically(directory / VOCABULARY, ranker.vocabulary.model)
    read = {"title_tokens": ranker.title_tokens, "paragraph_tokens": ranker.paragraph_tokens}
    record = {"architecture": _ARCHITECTURE, "config": dataclasses.asdict(ranker.model.config), **read}
    write_json_atomically(directory / CONFIG, record)


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
        "rank": place_in_run(ranked.article),
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
            _bm25(chosen.titles[article], [text for _, text in its], words)
            for article, its in groupby(texts, key=itemgetter(0))
        ]
        return np.concatenate([np.zeros(0), *scores]).astype(np.float32)
    with torch_threads(_THREADS):
        if settings.method in FOLDER_METHODS:
            folder = ranking_folder(settings)
            assert folder is not None
            with _ONE_THREAD:
                model = _opened(settings, folder, folder_digest(folder), find_device(device))
            return model.scores(chosen, settings.batch_tokens)
        if directory is None:
            raise ValueError("the method 'ranking' needs the directory of a trained ranker")
        ranker = load_ranker(directory, find_device(device))
        encoded = Texts(chosen.texts(), ranker.vocabulary, ranker.paragraph_tokens)
        titles = Texts([chosen.titles], ranker.vocabulary, ranker.title_tokens)
        return score_paragraphs(ranker, encoded, titles, chosen.article, settings.batch_tokens)


def _bm25(title: str, texts: Sequence[str], words: WordRule) -> NDArray[np.float64]:
    rule = rule_for(" ".join(texts), words)
    return BM25([split_words(text, rule) for text in texts]).scores(split_words(title, rule))


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


# Shards are ranked by several threads of a process, which share one model; the library's tokenizers are for one.
_ONE_THREAD = Lock()


@lru_cache(maxsize=1)
def _opened(settings: RankingSettings, folder: str, _digest: str, device: torch.device) -> "FolderModel":
    described = read_ranking_folder(settings)
    assert described is not None
    return FolderModel(folder, described, device)


class FolderModel:
    """The model of a folder and its tokenizer."""

    def __init__(self, folder: str, described: RankingFolder, device: torch.device) -> None:
        """Load them onto a device. Raises ValueError: one of them cannot be read."""
        kind = "AutoModelForSequenceClassification" if described.classifies else "AutoModel"
        try:
            model, self._tokenizer = load_model(kind, folder)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ValueError(f"ranking.folder is {folder!r}: {' '.join(str(error).split())}") from error
        self._model, self._described = model.to(device), described
        longest = longest_input(model, self._tokenizer)
        self._limit = min(longest, described.longest or longest)

    @torch.inference_mode()
    def scores(self, chosen: Candidates, tokens: int) -> NDArray[np.float32]:
        """Return the score of each paragraph, [N], of batches of so many tokens with padding."""
        own = self._described
        titles_AD = None if own.classifies else self._read([[own.title_prompt + t for t in chosen.titles]], tokens)
        scores, start = [torch.zeros(0)], 0
        for texts in chosen.texts():
            article = chosen.article[start : start + len(texts)]
            start += len(texts)
            if titles_AD is None:
                result = self._read([[chosen.titles[a] for a in article], texts], tokens)[:, 0].sigmoid()
            else:
                result = (self._read([[own.text_prompt + text for text in texts]], tokens) * titles_AD[article]).sum(
                    dim=1
                )
            scores.append(result)
        joined: NDArray[np.float32] = torch.cat(scores).numpy()
        return joined

    def _read(self, columns: Sequence[list[str]], tokens: int) -> Tensor:
        """Return what the model makes of texts, or of pairs in two columns: vectors of length 1, or logits."""
        if not columns[0]:
            return torch.zeros(0, 1)
        with _ONE_THREAD:
            encoded = self._tokenizer(*columns, truncation="longest_first", max_length=self._limit)
        lengths = np.array([len(ids) for ids in encoded["input_ids"]])
        rows: dict[int, Tensor] = {}
        for places in batches_by_length(lengths, tokens):
            batch = self._tokenizer.pad(
                {name: [values[place] for place in places] for name, values in encoded.items()}, return_tensors="pt"
            ).to(self._model.device)
            made = self._model(**batch)
            made_BD = made.logits if self._described.classifies else self._pooled(made[0], batch["attention_mask"])
            rows.update(zip(places.tolist(), made_BD.cpu(), strict=True))
        return torch.stack([rows[place] for place in range(len(lengths))])

    def _pooled(self, states_BLD: Tensor, mask_BL: Tensor) -> Tensor:
        """Return the vector of each text, [B, D] of length 1."""
        if self._described.pooling == "cls":
            return F.normalize(states_BLD[:, 0], dim=-1)
        weights_BL1 = mask_BL.unsqueeze(-1).to(states_BLD.dtype)
        return F.normalize((states_BLD * weights_BL1).sum(dim=1) / weights_BL1.sum(dim=1).clamp_min(1), dim=-1)
