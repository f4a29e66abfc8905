"""Ranking by a model in a local folder, through transformers: a sentence encoder compares the vectors of paragraph and
title, a cross-encoder reads both together.

Shapes: N paragraphs, A articles, B texts of a batch, L tokens, D model size.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tasks.ranking.batches import batches_by_length
from tasks.ranking.candidates import Candidates
from tasks.ranking.folders import RankingFolder, folder_digest, load_model, longest_input, read_ranking_folder
from tasks.ranking.settings import RankingSettings

# Shards are ranked by several threads of a process, which share one model; the library's tokenizers are for one.
_ONE_THREAD = Lock()


def score_by_folder(settings: RankingSettings, chosen: Candidates, device: torch.device) -> NDArray[np.float32]:
    """Return the score of each paragraph, [N]: the cosine of its vector and the title's, or the probability that a
    cross-encoder gives both, 0-1. Raises FileNotFoundError, ValueError: as `read_ranking_folder`; or the model's
    weights or tokenizer cannot be read."""
    assert settings.folder is not None
    with _ONE_THREAD:
        model = _opened(settings, folder_digest(settings.folder), device)
    return model.scores(chosen, settings.batch_tokens)


@lru_cache(maxsize=1)
def _opened(settings: RankingSettings, _digest: str, device: torch.device) -> "FolderModel":
    described = read_ranking_folder(settings)
    assert settings.folder is not None and described is not None
    return FolderModel(settings.folder, described, device)


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
                found = self._read([[chosen.titles[a] for a in article], texts], tokens)[:, 0].sigmoid()
            else:
                found = (self._read([[own.text_prompt + text for text in texts]], tokens) * titles_AD[article]).sum(
                    dim=1
                )
            scores.append(found)
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
