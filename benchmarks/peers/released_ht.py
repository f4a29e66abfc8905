"""The training step of HT as its released code is designed, written straightforwardly, for `benchmarks.training`.

It differs from `models/hierarchical.py` in what costs time. Every cell of the padded batch goes through every layer,
also absent paragraphs. Attention weights are materialised in float32, heads in the batch. The memory of the decoder is
gathered example by example. The logits of all target positions, with padding, are computed at once. The smoothed target
is a dense distribution over the vocabulary, compared by KL divergence. Sizes, layers and equations are those of the
preset, so both sides learn the same function: `tests/benchmarks/test_released_ht.py`.

Shapes: B articles, P paragraphs, L tokens a paragraph, S tokens of an article, T target positions, H heads, D model
size, V vocabulary."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peers.plain_design import dense_target
from models.hierarchical import HierarchicalConfig
from models.layers.paragraphs import SourceBatch
from models.layers.transformer import paragraph_positions, sinusoids

_MASKED = -1e18


class ReleasedAttention(nn.Module):
    """Multi-head attention with its weights in memory."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        size = config.model_size
        self.heads = config.heads
        self.query, self.key, self.value, self.output = (nn.Linear(size, size) for _ in range(4))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_RTD: Tensor, source_RSD: Tensor, hidden: Tensor) -> Tensor:
        """Attend from x to the source, except where `hidden` (broadcast to [R, H, T, S]) is True."""
        q, k, v = (
            layer(y).view(len(y), -1, self.heads, y.shape[-1] // self.heads).transpose(1, 2)
            for layer, y in ((self.query, x_RTD), (self.key, source_RSD), (self.value, source_RSD))
        )
        logits_RHTS = (q / math.sqrt(q.shape[-1])) @ k.transpose(2, 3)
        weights_RHTS = logits_RHTS.masked_fill(hidden, _MASKED).float().softmax(dim=-1)
        context_RTD = (self.dropout(weights_RHTS) @ v).transpose(1, 2).reshape(x_RTD.shape)
        output: Tensor = self.output(context_RTD)
        return output


class ReleasedFeedForward(nn.Module):
    """Pre-norm feed-forward layer with its residual connection."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        size = config.model_size
        self.norm = nn.LayerNorm(size, eps=config.norm_epsilon)
        self.inner, self.outer = nn.Linear(size, config.feed_forward_size), nn.Linear(config.feed_forward_size, size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., D] to [..., D]."""
        result: Tensor = self.dropout(self.outer(self.dropout(F.relu(self.inner(self.norm(x)))))) + x
        return result


class ReleasedLocalLayer(nn.Module):
    """Attention within paragraphs."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.model_size, eps=config.norm_epsilon)
        self.attention, self.feed_forward = ReleasedAttention(config), ReleasedFeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_RLD: Tensor, pad_RL: Tensor) -> Tensor:
        """Map every paragraph [B*P, L, D], absent ones included."""
        normed = self.norm(x_RLD)
        attended = self.attention(normed, normed, pad_RL[:, None, None, :])
        fed: Tensor = self.feed_forward(x_RLD + self.dropout(attended))
        return fed


class ReleasedGlobalLayer(nn.Module):
    """Pooling of paragraphs, attention among them, context for every token."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        size, self.heads = config.model_size, config.heads
        head = size // self.heads
        self.norm, self.head_norm = (nn.LayerNorm(width, eps=config.norm_epsilon) for width in (size, head))
        self.score, self.value = nn.Linear(size, self.heads), nn.Linear(size, size)
        self.query_key_value = nn.Linear(head, 3 * head)
        self.output, self.feed_forward = nn.Linear(size, size), ReleasedFeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BPLD: Tensor, pad_BPL: Tensor) -> Tensor:
        """Map [B, P, L, D] to the same shape."""
        normed = self.norm(x_BPLD)
        score_BPLH = self.score(normed).masked_fill(pad_BPL.unsqueeze(-1), _MASKED).float()
        value_BPLHE = self.value(normed).unflatten(-1, (self.heads, -1))
        pooled_BPHE = self.head_norm((score_BPLH.softmax(dim=2).unsqueeze(-1) * value_BPLHE).sum(dim=2))
        q, k, v = self.query_key_value(pooled_BPHE).transpose(1, 2).chunk(3, dim=-1)
        logits_BHPP = (q / math.sqrt(q.shape[-1])) @ k.transpose(2, 3)
        weights = logits_BHPP.masked_fill(pad_BPL.all(dim=-1)[:, None, None, :], _MASKED).float().softmax(dim=-1)
        context_BPD = self.output((weights @ v).transpose(1, 2).flatten(2))
        informed: Tensor = self.feed_forward(x_BPLD + self.dropout(context_BPD).unsqueeze(2))
        return informed


class ReleasedDecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.self_norm, self.cross_norm = (nn.LayerNorm(config.model_size, eps=config.norm_epsilon) for _ in range(2))
        self.self_attention, self.cross_attention = ReleasedAttention(config), ReleasedAttention(config)
        self.feed_forward, self.dropout = ReleasedFeedForward(config), nn.Dropout(config.dropout)

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, later_TT: Tensor, pad_BS: Tensor) -> Tensor:
        """Map target positions [B, T, D]."""
        normed = self.self_norm(x_BTD)
        x_BTD = x_BTD + self.dropout(self.self_attention(normed, normed, later_TT))
        crossed = self.cross_attention(self.cross_norm(x_BTD), memory_BSD, pad_BS[:, None, None, :])
        fed: Tensor = self.feed_forward(x_BTD + self.dropout(crossed))
        return fed


class ReleasedHT(nn.Module):
    """HT with all that its released training step computes."""

    pace = None  # all its weights learn at one rate, as `models.contract.Summarizer` says it

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.config, size = config, config.model_size
        self.embedding = nn.Embedding(config.vocabulary_size, size)
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary_size))
        self.local_layers = nn.ModuleList(ReleasedLocalLayer(config) for _ in range(config.local_layers))
        self.global_layers = nn.ModuleList(ReleasedGlobalLayer(config) for _ in range(config.global_layers))
        self.decoder_layers = nn.ModuleList(ReleasedDecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(size, eps=config.norm_epsilon) for _ in range(2))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, source: SourceBatch, target: Tensor, smoothing: float) -> Tensor:
        """Return the label-smoothed KL divergence, summed over the target tokens [B, T] to predict."""
        memory_BSD, pad_BS = self._encode(source)
        size, length = self.config.model_size, target.shape[1] - 1
        x_BTD = self._embedded(target[:, :-1], sinusoids(torch.arange(length, device=target.device), size))
        later_TT = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        for layer in self.decoder_layers:
            x_BTD = layer(x_BTD, memory_BSD, later_TT, pad_BS)
        log_probs = F.linear(self.decoder_norm(x_BTD), self.embedding.weight, self.bias).log_softmax(dim=-1)
        rows_MV = log_probs.flatten(0, 1)
        truth_MV = dense_target(rows_MV, target[:, 1:].flatten(), source.pad, smoothing)
        return F.kl_div(rows_MV, truth_MV, reduction="sum")

    def _encode(self, source: SourceBatch) -> tuple[Tensor, Tensor]:
        pad_BPL = ~source.token_mask
        articles, paragraphs, length = pad_BPL.shape
        size, order = self.config.model_size, self.config.position_order
        positions = paragraph_positions(source.ranks.flatten(), length, size, order)
        x_RLD = self._embedded(source.tokens.flatten(0, 1), positions)
        for layer in self.local_layers:
            x_RLD = layer(x_RLD, pad_BPL.flatten(0, 1))
        x_BPLD = x_RLD.view(articles, paragraphs, length, size)
        for layer in self.global_layers:
            x_BPLD = layer(x_BPLD, pad_BPL)
        x_BSD = self.encoder_norm(x_BPLD).flatten(1, 2)
        words = [x_SD[~pad_S] for x_SD, pad_S in zip(x_BSD, pad_BPL.flatten(1), strict=True)]
        counts = torch.tensor([len(rows) for rows in words], device=x_BSD.device)
        memory_BSD = nn.utils.rnn.pad_sequence(words, batch_first=True)
        return memory_BSD, torch.arange(memory_BSD.shape[1], device=x_BSD.device) >= counts.unsqueeze(1)

    def _embedded(self, tokens: Tensor, positions: Tensor) -> Tensor:
        words = self.embedding(tokens) * math.sqrt(self.config.model_size)
        embedded: Tensor = self.dropout(words + positions)
        return embedded
