"""PHT, the parallel hierarchical Transformer (Ma & Zong 2020, sec. 3.1, Ma & Zong 2022, sec. 3): paragraph attention
weighs word attention.

The encoder returns the words of each paragraph and one embedding per paragraph. A decoder layer attends to both in
parallel, and its attention to a paragraph weighs the context it reads from that paragraph's words.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, N paragraphs that exist, L tokens a paragraph,
T target positions, H heads, E size of a head, D = H*E."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from models.layers.attention import (
    fold_hypotheses,
    initialise,
    join_heads,
    masked_softmax,
    split_heads,
    unfold_hypotheses,
)
from models.layers.config import Norm, WritingConfig
from models.layers.copying import CopyHead
from models.layers.decoder import ParagraphDecoderLayer, ParagraphSummarizer, ParallelMemory, attend_paragraphs
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.pooling import pool_values
from models.layers.precision import widened
from models.layers.transformer import (
    EncoderLayer,
    FeedForward,
    Residual,
    TiedEmbedding,
    final_norm,
    row_positions,
    sinusoids,
)


@dataclass(frozen=True)
class ParallelConfig(WritingConfig):
    """The size of PHT; the defaults are those of Ma & Zong 2020 and 2022."""

    norm: ClassVar[Norm] = "post"

    encoder_layers: int = 3  # layers over the tokens of a paragraph (Ma & Zong 2020, sec. 4.2: 3, or 1)
    decoder_layers: int = 3  # layers of the decoder (Ma & Zong 2020, sec. 4.2: 3, or 1).
    # of embeddings, sub-layer outputs and inner feed-forward layers (Ma & Zong 2020, sec. 4.2: .3)
    dropout: float = 0.3
    # whether a LayerNorm comes before the pooling's feed-forward layer, as in the released code but not in eq. 4-5
    pooling_norm: bool = True
    # whether pooling logits are divided by sqrt(E), as in the released code but not in eq. 3
    pooling_scaled: bool = True


class ParagraphPooling(nn.Module):
    """A paragraph's embedding: multi-head pooling of its words, a feed-forward layer (Ma & Zong 2020, eq. 2-5)."""

    def __init__(self, config: ParallelConfig) -> None:
        super().__init__()
        size = config.model_size
        self.heads = config.heads
        self.value = nn.Linear(size, size)  # W1
        self.score = nn.Parameter(torch.empty(self.heads, size // self.heads))  # W2, one vector a head
        self.output = nn.Linear(size, size)  # W3
        self.scale = (size // self.heads) ** -0.5 if config.pooling_scaled else 1.0
        self.pooled_norm = nn.LayerNorm(size, eps=config.norm_epsilon) if config.pooling_norm else nn.Identity()
        self.feed_forward = FeedForward(config)
        self.residual = Residual(config)
        initialise(self.value.weight, self.score, self.output.weight)
        nn.init.zeros_(self.value.bias)
        nn.init.zeros_(self.output.bias)

    def forward(self, x_NLD: Tensor, mask_NL: Tensor) -> Tensor:
        """Pool words [N, L, D] into paragraphs [N, D]."""
        head_size = self.score.shape[1]
        # eq. 3 scores a head's values; composed with eq. 2 that is one vector of size D per head. The bias of eq. 2
        # shifts all scores of a head alike, which the softmax ignores.
        score_HD = (self.score.unsqueeze(1) @ self.value.weight.view(self.heads, head_size, -1)).squeeze(1)
        score_NHL = widened(x_NLD @ score_HD.T).transpose(1, 2) * self.scale
        weights_NLH = masked_softmax(score_NHL, mask_NL.unsqueeze(1)).transpose(1, 2)
        pooled_NHE = pool_values(x_NLD, weights_NLH, self.value.weight, self.value.bias)
        pooled_ND = self.pooled_norm(self.output(pooled_NHE.flatten(1)))  # eq. 4
        return self.residual.leave(pooled_ND, self.feed_forward(pooled_ND))  # eq. 5


class ParallelDecoderLayer(ParagraphDecoderLayer):
    """Masked self-attention, paragraph and word attention side by side, feed-forward."""

    def read(self, x_RTD: Tensor, memory: ParallelMemory, layer: int, *, weights: bool = True) -> tuple[Tensor, Tensor]:
        """Attend to paragraphs, and to words weighted by the attention to their paragraph (eq. 8-9)."""
        keys, values = memory.paragraph_keys_values[layer]
        paragraph_RTD, alpha_RTP = self.paragraph_attention(x_RTD, keys, values, memory.paragraph_mask, weights=True)
        attention, articles = self.word_attention, memory.articles
        q_BHQE = fold_hypotheses(split_heads(attention.query(x_RTD), attention.heads), articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.mask)
        alpha_BQP = alpha_RTP.reshape(articles, -1, alpha_RTP.shape[-1]).to(context_BPHQE.dtype)
        context_BHQE = torch.einsum("bqp,bphqe->bhqe", alpha_BQP, context_BPHQE)
        # The paper weighs contexts after their output projection. The projection is affine and the weights sum to 1, so
        # projecting the weighted sum gives the same with one projection per position instead of P.
        word_RTD = attention.output(join_heads(unfold_hypotheses(context_BHQE, len(x_RTD))))
        return paragraph_RTD + word_RTD, alpha_RTP  # eq. 10


class ParallelTransformer(ParagraphSummarizer):
    """PHT: a purely hierarchical encoder and decoder."""

    def __init__(self, config: ParallelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding.of(config)
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.pooling = ParagraphPooling(config)
        self.decoder_layers = nn.ModuleList(ParallelDecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = final_norm(config)
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None
        self.depth = config.decoder_layers

    def encode(self, source: SourceBatch) -> ParallelMemory:
        """Encode B articles: words within their paragraph, then each paragraph into one vector."""
        rows = ParagraphRows.of(source, self.config.pad)
        packing = rows.packing
        positions_NLD = row_positions(rows.mask, self.config.model_size)
        x_MD = self.embedding(packing.pack(rows.tokens), packing.pack(positions_NLD))
        for layer in self.encoder_layers:
            x_MD = layer(x_MD, packing)
        x_NLD = packing.pad(x_MD)
        ranked_ND = self.pooling(x_NLD, rows.mask) + sinusoids(rows.ranks, self.config.model_size)  # eq. 6
        # `flat` makes the host wait for the device, so it is called only if its result is needed.
        copies = None if self.copying is None else self.copying.remember(rows, rows.flat(x_NLD))
        return ParallelMemory.of(self.decoder_layers, rows.grid(ranked_ND), rows.grid(x_NLD), source, copies)
