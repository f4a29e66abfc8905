"""Multi-head attention over PyTorch's fused kernel, with boolean masks throughout; and multi-head pooling, several
weighted means of the tokens of a paragraph (Liu & Lapata 2019, eq. 13-16, Ma & Zong 2020, eq. 2-4).

Shapes: B articles, K hypotheses an article, T query positions, S key positions, H heads, E size of a head, D = H*E, P
paragraphs. N paragraphs that exist, L tokens a paragraph, R rows of any batch (R = B*K in a decoder), M tokens of rows
without padding. A mask is True if a key may be attended to; a query whose keys are all masked gets a context of
zeros and finite gradients."""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache
from models.layers.config import widened
from models.layers.paragraphs import Packing


def attend(
    q_RHTE: Tensor,
    k_RHSE: Tensor,
    v_RHSE: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Return the context [R, H, T, E] of scaled dot-product attention. `mask` is boolean and broadcasts to [R, H, T,
    S]; `scale` is 1/sqrt(E) unless given."""
    return F.scaled_dot_product_attention(
        q_RHTE, k_RHSE, v_RHSE, attn_mask=mask, is_causal=causal, dropout_p=dropout, scale=scale
    )


def attention_weights(
    q_RHTE: Tensor, k_RHSE: Tensor, mask: Tensor | None = None, *, scale: float | None = None
) -> Tensor:
    """Return the weights [R, H, T, S] (float32) that `attend` applies to the values. `attend` does not compute them;
    they are needed only to report attention."""
    scale = q_RHTE.shape[-1] ** -0.5 if scale is None else scale
    logits_RHTS = (q_RHTE * scale) @ k_RHSE.transpose(-1, -2)
    return masked_softmax(widened(logits_RHTS), mask)


def masked_softmax(logits: Tensor, mask: Tensor | None) -> Tensor:
    """Return the softmax over the last dimension: zero where `mask` is False, even if a whole row is masked."""
    if mask is None:
        return logits.softmax(dim=-1)
    # A finite fill keeps NaN out of the gradient of a fully masked row; the second mask sets its weights to zero.
    return logits.masked_fill(~mask, torch.finfo(logits.dtype).min).softmax(dim=-1).masked_fill(~mask, 0.0)


def split_heads(x_RTD: Tensor, heads: int) -> Tensor:
    """Return [R, T, D] as [R, H, T, E]."""
    rows, length, size = x_RTD.shape
    return x_RTD.reshape(rows, length, heads, size // heads).transpose(1, 2)


def join_heads(x_RHTE: Tensor) -> Tensor:
    """Return [R, H, T, E] as [R, T, D]."""
    return x_RHTE.transpose(1, 2).flatten(-2)


class Growing:
    """Growing sequences of vectors per row, in memory that is allocated once, at the first `extend`. All `parts`, such
    as the keys and the values of each layer, have vectors of one shape in one tensor. So a step of a search reorders
    the rows of all of them at once. Time is the last dimension but one: [R, ..., T, C]."""

    def __init__(self, rows: int, capacity: int, parts: int = 1) -> None:
        self.rows = rows
        self.capacity = capacity
        self._lengths = [0] * parts
        self._stored: Tensor | None = None

    def extend(self, new: Tensor, part: int = 0) -> Tensor:
        """Append vectors [R, ..., T, C] to a part and return all that it has so far. Raises ValueError: the capacity is
        exceeded, or the number of rows has changed."""
        start = self._lengths[part]
        end = start + new.shape[-2]
        if end > self.capacity or len(new) != self.rows:
            raise ValueError(
                f"a cache of {self.rows} rows x {self.capacity} tokens cannot take {len(new)} rows to length {end}"
            )
        if self._stored is None:
            self._stored = new.new_empty(self.rows, len(self._lengths), *new.shape[1:-2], self.capacity, new.shape[-1])
        stored = self._stored[:, part]
        stored[..., start:end, :] = new
        self._lengths[part] = end
        return stored[..., :end, :]

    def reorder(self, rows: Tensor) -> None:
        """Make old row `rows[i]` the new row i; there may be fewer rows than before."""
        if self._stored is not None:
            # Only the filled part is moved, not the free capacity.
            length = max(self._lengths)
            filled = self._stored[..., :length, :].index_select(0, rows)
            self._stored = self._stored[: len(rows)]
            self._stored[..., :length, :] = filled
        self.rows = len(rows)


class KeyValueCache(Cache):
    """Keys and values of the target decoded so far, one pair per layer. Those of cross-attention are not cached here:
    they belong to the article and are shared by its hypotheses."""

    def __init__(self, layers: int, rows: int, capacity: int) -> None:
        self.length = 0
        self._keys_values = Growing(rows, capacity, 2 * layers)
        self._tokens = Growing(rows, capacity)

    def extend(self, layer: int, k_RHTE: Tensor, v_RHTE: Tensor) -> tuple[Tensor, Tensor]:
        """Store the keys and values of T new tokens and return those of all tokens so far, [R, H, length + T, E].
        Raises ValueError: the capacity is exceeded, or the number of rows has changed."""
        return self._keys_values.extend(k_RHTE, 2 * layer), self._keys_values.extend(v_RHTE, 2 * layer + 1)

    def remember_tokens(self, target_RT: Tensor) -> Tensor:
        """Store T new tokens and return all so far [R, length + T]; only a summarizer that copies needs them. Raises
        ValueError: the capacity is exceeded, or the number of rows has changed."""
        return self._tokens.extend(target_RT.unsqueeze(-1)).squeeze(-1)

    def advance(self, tokens: int) -> None:
        """Count `tokens` as decoded, once every layer has stored its keys and values."""
        self.length += tokens

    def reorder(self, hypotheses: Tensor) -> None:
        """Make old row `hypotheses[i]` the new row i; there may be fewer rows than before."""
        self._keys_values.reorder(hypotheses)
        self._tokens.reorder(hypotheses)


class SelfAttention(nn.Module):
    """Self-attention: among the tokens of a paragraph, or of target tokens to earlier ones."""

    def __init__(self, size: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(size, 3 * size)
        self.output = nn.Linear(size, size)
        start(self.query_key_value, parts=3)
        start(self.output)

    def forward(self, x_MD: Tensor, packing: Packing) -> Tensor:
        """Attend in both directions among the tokens of a row; returns [M, D]."""
        q_RHTE, k_RHTE, v_RHTE = self._split(packing.pad(self.query_key_value(x_MD)))
        mask = packing.mask[:, None, None, :]
        context_RHTE = attend(q_RHTE, k_RHTE, v_RHTE, mask, dropout=self._active_dropout)
        output_MD: Tensor = self.output(packing.pack(join_heads(context_RHTE)))
        return output_MD

    def causal(self, x_RTD: Tensor, cache: KeyValueCache | None = None, layer: int = 0) -> Tensor:
        """Attend to earlier tokens: those in `x_RTD` and, with a cache, those of its `layer`; returns [R, T, D]."""
        q_RHTE, k_RHSE, v_RHSE = self.project(x_RTD)
        if cache is not None:
            k_RHSE, v_RHSE = cache.extend(layer, k_RHSE, v_RHSE)
        return self.finish(attend_earlier(q_RHTE, k_RHSE, v_RHSE, dropout=self._active_dropout))

    @property
    def _active_dropout(self) -> float:
        return self.dropout if self.training else 0.0

    def project(self, x_RTD: Tensor) -> Sequence[Tensor]:
        """Return queries, keys and values, each [R, H, T, E]."""
        return self._split(self.query_key_value(x_RTD))

    def _split(self, projected_RT: Tensor) -> Sequence[Tensor]:
        return [split_heads(x, self.heads) for x in projected_RT.chunk(3, dim=-1)]

    def finish(self, context_RHTE: Tensor) -> Tensor:
        """Return the output [R, T, D] of contexts."""
        output: Tensor = self.output(join_heads(context_RHTE))
        return output


def attend_earlier(q_RHTE: Tensor, k_RHSE: Tensor, v_RHSE: Tensor, *, dropout: float) -> Tensor:
    """Return the context [R, H, T, E] of the T newest of S tokens, each of which sees itself and those before it."""
    new, keys = q_RHTE.shape[-2], k_RHSE.shape[-2]
    if new == keys:
        return attend(q_RHTE, k_RHSE, v_RHSE, causal=True, dropout=dropout)
    mask = torch.ones(new, keys, dtype=torch.bool, device=q_RHTE.device).tril(diagonal=keys - new)
    return attend(q_RHTE, k_RHSE, v_RHSE, mask if new > 1 else None, dropout=dropout)  # a single one sees all


class CrossAttention(nn.Module):
    """Attention of target tokens to the memory of their article. The K hypotheses of an article are folded into the
    query positions, so its keys and values are never copied."""

    def __init__(self, size: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(size, size)
        self.key_value = nn.Linear(size, 2 * size)
        self.output = nn.Linear(size, size)
        start(self.query)
        start(self.key_value, parts=2)
        start(self.output)

    def keys_values(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values [B, H, S, E] of a memory, for `forward`."""
        k_BHSE, v_BHSE = (split_heads(x, self.heads) for x in self.key_value(memory_BSD).chunk(2, dim=-1))
        # A search reads them once per token; if they were not contiguous, every product would copy them.
        return (k_BHSE, v_BHSE) if torch.is_grad_enabled() else (k_BHSE.contiguous(), v_BHSE.contiguous())

    def forward(
        self, x_RTD: Tensor, k_BHSE: Tensor, v_BHSE: Tensor, mask_BS: Tensor, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output [R, T, D] and, with `weights`, the weights [R, T, S] averaged over heads. R = B*K, the
        hypotheses of an article next to each other."""
        rows, new, _ = x_RTD.shape
        dropout = self.dropout if self.training else 0.0
        q_BHQE = self.queries(x_RTD, len(k_BHSE))
        context_BHQE, weights_BHQS = attend_to_memory(q_BHQE, k_BHSE, v_BHSE, mask_BS, weights=weights, dropout=dropout)
        attention = None if weights_BHQS is None else weights_BHQS.mean(dim=1).reshape(rows, new, -1)
        return self.finish(context_BHQE, rows), attention

    def queries(self, x_RTD: Tensor, articles: int) -> Tensor:
        """Return the queries [B, H, K*T, E] of target positions."""
        return fold_hypotheses(split_heads(self.query(x_RTD), self.heads), articles)

    def finish(self, context_BHQE: Tensor, rows: int) -> Tensor:
        """Return the output [R, T, D] of contexts [B, H, K*T, E], where R is `rows`."""
        output_RTD: Tensor = self.output(join_heads(unfold_hypotheses(context_BHQE, rows)))
        return output_RTD


def attend_to_memory(
    q_BHQE: Tensor, k_BHSE: Tensor, v_BHSE: Tensor, mask_BS: Tensor, *, weights: bool, dropout: float
) -> tuple[Tensor, Tensor | None]:
    """Return the context [B, H, Q, E] of queries and, with `weights`, the weights [B, H, Q, S] (float32), which have no
    dropout."""
    mask = mask_BS[:, None, None, :]
    if not weights:
        return attend(q_BHQE, k_BHSE, v_BHSE, mask, dropout=dropout), None
    weights_BHQS = attention_weights(q_BHQE, k_BHSE, mask)
    return weights_BHQS.to(v_BHSE.dtype) @ v_BHSE, weights_BHQS


def fold_hypotheses(x_RHTE: Tensor, articles: int) -> Tensor:
    """Return [B*K, H, T, E] as [B, H, K*T, E]."""
    rows, heads, new, size = x_RHTE.shape
    folded_BKHTE = x_RHTE.reshape(articles, rows // articles, heads, new, size)
    return folded_BKHTE.transpose(1, 2).flatten(2, 3)


def unfold_hypotheses(x_BHQE: Tensor, rows: int) -> Tensor:
    """Return [B, H, K*T, E] as [B*K, H, T, E], where B*K is `rows`."""
    articles, heads, positions, size = x_BHQE.shape
    hypotheses = rows // articles
    unfolded_BHKTE = x_BHQE.reshape(articles, heads, hypotheses, positions // hypotheses, size)
    return unfolded_BHKTE.transpose(1, 2).flatten(0, 1)


def initialise(*weights: Tensor) -> None:
    """Initialise each weight in place by Xavier's method, as Liu & Lapata's (2019) released code does everywhere. Pass
    the parts of a matrix that joins several projections for speed: as a whole it would start too small."""
    with torch.no_grad():
        for weight in weights:
            nn.init.xavier_uniform_(weight)


def start(*layers: nn.Linear, parts: int = 1) -> None:
    """Initialise the weights of layers, each made of so many projections, and set their biases to zero."""
    for layer in layers:
        initialise(*layer.weight.chunk(parts))
        nn.init.zeros_(layer.bias)


PoolingWeights = Literal["normalised", "raw"]


def pool_values(x_NLD: Tensor, weights_NLH: Tensor, value_DD: Tensor, bias_D: Tensor) -> Tensor:
    """Return, for each head, the weighted sum of the values of a paragraph's tokens: [N, H, E]. A value is a linear map
    of a token and the sum is linear too, so the tokens are summed first and the sum is mapped. The projection then maps
    N*H vectors instead of N*L, and the values of tokens are never stored. Weights are zero at padding; the rows of the
    value projection are grouped by head."""
    heads = weights_NLH.shape[-1]
    summed_NHD = weights_NLH.transpose(1, 2).to(x_NLD.dtype) @ x_NLD
    value_HED = value_DD.view(heads, -1, x_NLD.shape[-1]).to(summed_NHD.dtype)
    bias_HE = bias_D.view(heads, -1)
    total_NH1 = weights_NLH.sum(dim=1).unsqueeze(-1)
    pooled_NHE: Tensor = torch.einsum("nhd,hed->nhe", summed_NHD, value_HED) + total_NH1 * bias_HE
    return pooled_NHE


class MultiHeadPooling(nn.Module):
    """Vectors of paragraphs, one a head, each by its own weights of tokens (Liu & Lapata 2019, eq. 13-16)."""

    def __init__(self, size: int, heads: int, *, weights: PoolingWeights, projection: bool, epsilon: float) -> None:
        """Make `heads` pools of `size` / `heads` each, which share a LayerNorm of an epsilon. "normalised" sums with
        the distribution of eq. 15, "raw" with the scores of eq. 13, as eq. 16 is printed; `projection` is whether the
        W_c^z of eq. 16 exists. Raises ValueError: `weights` is unknown."""
        super().__init__()
        if weights not in get_args(PoolingWeights):
            raise ValueError(f"unknown pooling weights {weights!r}, expected one of {get_args(PoolingWeights)}")
        self.weights = weights
        head_size = size // heads
        self.score = nn.Linear(size, heads)
        self.value = nn.Linear(size, size)
        self.projection = HeadLinear(heads, head_size, head_size) if projection else None
        self.norm = nn.LayerNorm(head_size, eps=epsilon)
        start(self.score, self.value)

    def forward(self, x_NLD: Tensor, mask_NL: Tensor) -> Tensor:
        """Pool [N, L, D] over the tokens where mask_NL is True; returns [N, H, E]."""
        score_NLH = widened(self.score(x_NLD))
        mask_NL1 = mask_NL.unsqueeze(-1)
        if self.weights == "raw":
            weights_NLH = score_NLH.masked_fill(~mask_NL1, 0.0)
        else:
            weights_NLH = masked_softmax(score_NLH.transpose(1, 2), mask_NL.unsqueeze(1)).transpose(1, 2)
        pooled_NHE = pool_values(x_NLD, weights_NLH, self.value.weight, self.value.bias)
        if self.projection is not None:
            pooled_NHE = self.projection(pooled_NHE)
        normed: Tensor = self.norm(pooled_NHE)
        return normed


class HeadLinear(nn.Module):
    """A separate linear layer for each head."""

    def __init__(self, heads: int, size: int, output_size: int, parts: int = 1) -> None:
        super().__init__()
        self.weight_HEC = nn.Parameter(torch.empty(heads, size, output_size))
        self.bias_HC = nn.Parameter(torch.zeros(heads, output_size))
        for weight_EC in self.weight_HEC.detach():
            initialise(*weight_EC.chunk(parts, dim=1))

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., H, E] to [..., H, C]."""
        return torch.einsum("...he,hec->...hc", x, self.weight_HEC) + self.bias_HC
