"""Attention of a decoder-only model: to its source, which the hypotheses of an article share, and to its own tokens.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, M keys of the source, S keys of the target,
P paragraphs, H heads, E size of a head.
"""

import torch
from torch import Tensor

from models.layers.attention import attend, fold_hypotheses, masked_softmax, unfold_hypotheses
from models.layers.paragraphs import FlatTokens, weights_by_paragraph
from models.layers.precision import widened


def shared_logits(q_RHTE: Tensor, k_BHME: Tensor) -> Tensor:
    """Return the products [R, H, T, M] of queries with keys that the hypotheses of an article share."""
    q_BHQE = fold_hypotheses(q_RHTE, len(k_BHME))
    return unfold_hypotheses(q_BHQE @ k_BHME.transpose(-1, -2), len(q_RHTE))


def attend_both(
    source_RHTM: Tensor, own_RHTS: Tensor, source_mask: Tensor, own_mask: Tensor, v_BHME: Tensor, v_RHSE: Tensor
) -> tuple[Tensor, Tensor]:
    """Attend to source and target in one softmax, given their scaled logits.

    Boolean masks broadcast to [R, 1, T, M] and [R, 1, T, S]. Returns the context [R, H, T, E] and the weights of the
    source [R, T, M] (float32), averaged over heads.
    """
    keys = source_RHTM.shape[-1]
    logits = widened(torch.cat((source_RHTM, own_RHTS), dim=-1))
    mask = torch.cat((source_mask.expand(*_sizes(logits), keys), own_mask.expand(*_sizes(logits), -1)), dim=-1)
    weights = masked_softmax(logits, mask)
    source_weights, own_weights = weights[..., :keys], weights[..., keys:]
    folded_BHQM = fold_hypotheses(source_weights, len(v_BHME)).to(v_BHME.dtype)
    context = unfold_hypotheses(folded_BHQM @ v_BHME, len(logits)) + own_weights.to(v_RHSE.dtype) @ v_RHSE
    return context, source_weights.mean(dim=1)


def _sizes(logits_RHTS: Tensor) -> tuple[int, int, int]:
    """Return the leading sizes of a mask over these logits."""
    return logits_RHTS.shape[0], 1, logits_RHTS.shape[2]


def attend_both_fused(
    q_RHTE: Tensor, source: tuple[Tensor, Tensor], own: tuple[Tensor, Tensor], mask: Tensor
) -> Tensor:
    """Return the context [R, H, T, E] of `attend_both` from the fused kernel, which returns no weights.

    It is given keys and values [B, H, M, E] of the source and [R, H, S, E] of the target. The mask is boolean or a bias
    of the scaled logits; it broadcasts to [R, H, T, M + S].
    """
    hypotheses = len(q_RHTE) // len(source[0])
    both = [
        torch.cat((shared.repeat_interleave(hypotheses, dim=0) if hypotheses > 1 else shared, target), dim=2)
        for shared, target in zip(source, own, strict=True)
    ]
    return attend(q_RHTE, both[0], both[1], mask)


def share_of_paragraphs(weights_RTM: Tensor, member_BMP: Tensor) -> Tensor:
    """Turn weights of source keys [R, T, M] into a distribution over paragraphs [R, T, P].

    The weight of the target's own tokens is left out and the rest is normalised to 1. If a position attends to no
    source key, as beyond the memory of Transformer-XL, the distribution is uniform over the keys' paragraphs.
    `member_BMP` is the share of each key that belongs to each paragraph.
    """
    attention_RTP = weights_by_paragraph(weights_RTM, member_BMP)
    hypotheses = len(attention_RTP) // len(member_BMP)
    held_R1P = (member_BMP.sum(dim=1, keepdim=True) > 0).repeat_interleave(hypotheses, dim=0).to(attention_RTP.dtype)
    unseen_RT1 = attention_RTP.sum(dim=-1, keepdim=True) == 0
    attention_RTP = torch.where(unseen_RT1, held_R1P, attention_RTP)
    return attention_RTP / attention_RTP.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(attention_RTP.dtype).tiny)


def next_tokens(hidden_BSD: Tensor, flat: FlatTokens) -> tuple[Tensor, Tensor]:
    """Return the hidden states [M, D] of all source tokens but the last of each article, and the tokens after them."""
    followed_BS = flat.mask[:, 1:]
    return hidden_BSD[:, :-1][followed_BS], flat.values[:, 1:][followed_BS]
