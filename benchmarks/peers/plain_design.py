"""Every summarizer as released code computes it, from the same weights: the peer of `benchmarks.gpu`.

What costs time in the released HT, and what `plain_design` does without our savings:

* attention weights are stored, in float32;
* padding and absent paragraphs go through every layer;
* the tokens of an article are gathered article by article;
* the logits of all target positions, padding included, are computed at once, and compared with a dense distribution
  over the vocabulary (`PlainObjective`).

Equations and weights stay as they are, so both sides compute the same loss: `tests/benchmarks/test_gpu.py`."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.rnn import pad_sequence

from models.layers.config import widened
from models.layers.paragraphs import FlatTokens, Packing, ParagraphRows, SourceBatch, TokenPlaces
from models.training.token_objective import TokenObjective


@contextmanager
def plain_design() -> Iterator[None]:
    """Compute all layers in this context without packing, row by row and with stored attention weights."""
    with (
        sdpa_kernel(SDPBackend.MATH),
        patch.object(Packing, "of", _every_cell),
        patch.object(ParagraphRows, "packing", property(lambda rows: _every_cell(rows.mask))),
        patch.object(FlatTokens, "packing", property(lambda flat: _every_cell(flat.mask))),
        patch.object(ParagraphRows, "of", _every_paragraph),
        patch.object(ParagraphRows, "flat", _article_by_article),
        patch.object(ParagraphRows, "joined", lambda rows, x_MC: _article_by_article(rows, rows.packing.pad(x_MC))),
    ):
        yield


class PlainObjective(TokenObjective):
    """The label-smoothed loss from all logits and a dense target."""

    def loss(self, source: SourceBatch, target: Tensor, predicted: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return what `TokenObjective.loss` returns."""
        memory = self.model.encode(source)
        hidden = self.model.decode(target[:, :-1], memory, attention=False).hidden
        smoothed, nll = self._dense(hidden.flatten(0, 1), target[:, 1:].flatten(), source.pad)
        states = self.model.source_states(memory) if self.model.training else None
        if states is None:
            return smoothed, smoothed.detach(), nll, nll.new_zeros(())
        of_source, _ = self._dense(*states, source.pad)
        return smoothed + of_source, smoothed.detach(), nll, nll.new_full((), len(states[1]))

    def _dense(self, hidden_MD: Tensor, target_M: Tensor, pad: int) -> tuple[Tensor, Tensor]:
        """Return the loss as the cross entropy with a distribution [M, V], and the negative log likelihood."""
        log_probs_MV = widened(self.model.logits(hidden_MD)).log_softmax(dim=-1)
        smoothed = -(dense_target(log_probs_MV, target_M, pad, self.label_smoothing) * log_probs_MV).sum()
        nll = F.nll_loss(log_probs_MV.detach(), target_M, ignore_index=pad, reduction="sum")
        return smoothed, nll


def dense_target(log_probs_MV: Tensor, target_M: Tensor, pad: int, smoothing: float) -> Tensor:
    """Return [M, V]: 1 - smoothing on the target, the rest spread over all pieces; zeros where there is padding."""
    truth_MV = torch.full_like(log_probs_MV, smoothing / log_probs_MV.shape[1])
    truth_MV.scatter_add_(1, target_M.unsqueeze(1), torch.full_like(log_probs_MV[:, :1], 1 - smoothing))
    return truth_MV.masked_fill((target_M == pad).unsqueeze(1), 0.0)


def _every_cell(mask_RT: Tensor) -> Packing:
    return Packing(mask_RT, torch.arange(mask_RT.numel(), device=mask_RT.device))


def _every_paragraph(source: SourceBatch, pad: int) -> ParagraphRows:
    assert source.pad == pad
    articles, paragraphs, _ = source.tokens.shape
    column = source.ranks.argsort(dim=1, stable=True).flatten()
    article = torch.arange(articles, device=column.device).repeat_interleave(paragraphs)
    tokens = source.tokens[article, column]
    ranks = source.ranks[article, column]
    mask = tokens != pad
    places = TokenPlaces.of(mask, article, articles)
    return ParagraphRows(tokens, mask, ranks, article, column, articles, paragraphs, pad, places)


def _article_by_article(rows: ParagraphRows, x_NL: Tensor, limit: int | None = None) -> FlatTokens:
    values, columns = [], []
    for article in range(rows.articles):
        mine_N = rows.article == article
        mask = rows.mask[mine_N]
        values.append(x_NL[mine_N][mask][:limit])
        columns.append(rows.column[mine_N].unsqueeze(1).expand_as(mask)[mask][:limit])
    counts = torch.tensor([len(column) for column in columns], device=x_NL.device)
    paragraph_BS = pad_sequence(columns, batch_first=True)
    mask_BS = torch.arange(paragraph_BS.shape[1], device=x_NL.device) < counts.unsqueeze(1)
    return FlatTokens(pad_sequence(values, batch_first=True), mask_BS, paragraph_BS)
