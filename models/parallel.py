"""PHT and VHT, the parallel and the vertical hierarchical Transformer (Ma & Zong 2020, sec. 3, Ma & Zong 2022, sec. 3).

The encoder returns the words of each paragraph and, of PHT, one embedding per paragraph. A PHT decoder layer attends to
both in parallel, and its attention to a paragraph weighs the context it reads from that paragraph's words. A VHT
decoder layer attends to the words of each paragraph at every target position; the context is that paragraph's
embedding, and paragraph attention chooses among these embeddings.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, N paragraphs that exist, L tokens a paragraph. T
target positions, Q = K*T positions of an article, H heads, E size of a head, D = H*E."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from models.layers.attention import initialise, masked_softmax, pool_values
from models.layers.config import Norm, WritingConfig, widened
from models.layers.decoder import (
    CopyableMemory,
    CopyHead,
    ParagraphDecoderLayer,
    ParagraphSummarizer,
    ParallelMemory,
    attend_paragraphs,
    word_keys_values,
)
from models.layers.paragraphs import ParagraphRows, SourceBatch
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
class ParagraphsConfig(WritingConfig):
    """What PHT and VHT share: layers over the words of each paragraph alone."""

    norm: ClassVar[Norm] = "post"

    encoder_layers: int = 3  # layers over the tokens of a paragraph (Ma & Zong 2020, sec. 4.2: 3, or 1)
    decoder_layers: int = 3  # layers of the decoder (Ma & Zong 2020, sec. 4.2: 3, or 1).
    # of embeddings, sub-layer outputs and inner feed-forward layers (Ma & Zong 2020, sec. 4.2: .3)
    dropout: float = 0.3


@dataclass(frozen=True)
class ParallelConfig(ParagraphsConfig):
    """The size of PHT; the defaults are those of Ma & Zong 2020 and 2022."""

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
        q_BHQE = attention.queries(x_RTD, articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.mask)
        alpha_BQP = alpha_RTP.reshape(articles, -1, alpha_RTP.shape[-1]).to(context_BPHQE.dtype)
        context_BHQE = torch.einsum("bqp,bphqe->bhqe", alpha_BQP, context_BPHQE)
        # The paper weighs contexts after their output projection. The projection is affine and the weights sum to 1, so
        # projecting the weighted sum gives the same with one projection per position instead of P.
        return paragraph_RTD + attention.finish(context_BHQE, len(x_RTD)), alpha_RTP  # eq. 10


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

    def encode(self, source: SourceBatch) -> ParallelMemory:
        """Encode B articles: words within their paragraph, then each paragraph into one vector."""
        rows, size = ParagraphRows.of(source, self.config.pad), self.config.model_size
        packing, positions_NLD = rows.packing, row_positions(rows.mask, size)
        x_NLD = packing.pad(self.read_words(self.encoder_layers, packing, rows.tokens, positions_NLD))
        ranked_ND = self.pooling(x_NLD, rows.mask) + sinusoids(rows.ranks, size)  # eq. 6
        words, copies = rows.grid(x_NLD), self.copies_of(rows, x_NLD)
        return ParallelMemory.of(self.decoder_layers, rows.grid(ranked_ND), words, source, copies)


@dataclass(frozen=True)
class VerticalConfig(ParagraphsConfig):
    """The size of VHT; the defaults are those of Ma & Zong 2020."""

    # whether dropout and a LayerNorm follow the ranking encoding, as in the released code but not in eq. 11
    ranking_norm: bool = True
    # whether the query is added before that LayerNorm, as in a version of the released code
    ranking_residual: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ranking_residual and not self.ranking_norm:
            raise ValueError("ranking_residual needs ranking_norm, which is off: expected both, or neither")


@dataclass(frozen=True)
class VerticalMemory(CopyableMemory):
    """What a VHT decoder reads of B articles."""

    ranking: Tensor  # [B, P, D] ranking encodings (Ma & Zong 2020, eq. 11)
    paragraph_mask: Tensor  # [B, P] bool, True if there is a paragraph
    word_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, P, H, L, E] for each decoder layer
    mask: Tensor  # [B, P, L] bool, True if there is a token


class VerticalDecoderLayer(ParagraphDecoderLayer):
    """Masked self-attention, word attention, paragraph attention over its result, feed-forward; all post-norm."""

    attentions = ("word_attention", "paragraph_attention")
    residuals = ("self_residual", "ranking_residual", "cross_residual", "feed_forward_residual")
    ranking_residual: Residual | None

    def __init__(self, config: VerticalConfig) -> None:
        super().__init__(config)
        self.adds_query = config.ranking_residual
        if not config.ranking_norm:
            self.ranking_residual = None

    def read(self, x_RTD: Tensor, memory: VerticalMemory, layer: int, *, weights: bool = True) -> tuple[Tensor, Tensor]:
        """Attend to the paragraphs' embeddings at each target position (eq. 13)."""
        x_BQD = x_RTD.reshape(memory.articles, -1, x_RTD.shape[-1])
        embedding_BPQD = self._dynamic_embeddings(x_RTD, x_BQD, memory, layer)
        context_BQD, alpha_BQP = self._choose(x_BQD, embedding_BPQD, memory.paragraph_mask)
        return context_BQD.view_as(x_RTD), alpha_BQP.reshape(*x_RTD.shape[:2], -1)

    def _dynamic_embeddings(self, x_RTD: Tensor, x_BQD: Tensor, memory: VerticalMemory, layer: int) -> Tensor:
        """Return each paragraph's embedding at each target position, ranking encoding included (eq. 8, 11)."""
        q_BHQE = self.word_attention.queries(x_RTD, memory.articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.mask)
        word_BPQD = self.word_attention.output(context_BPHQE.transpose(2, 3).flatten(-2))
        embedding_BPQD: Tensor = word_BPQD + memory.ranking.unsqueeze(2)
        if self.ranking_residual is None:
            return embedding_BPQD
        query = x_BQD.unsqueeze(1) if self.adds_query else None
        return self.ranking_residual.leave(query, embedding_BPQD)

    def _choose(self, x_BQD: Tensor, embedding_BPQD: Tensor, mask_BP: Tensor) -> tuple[Tensor, Tensor]:
        """Attend to paragraphs (eq. 12): return the context [B, Q, D] and the weights [B, Q, P] averaged over heads."""
        attention = self.paragraph_attention
        heads, size = attention.heads, x_BQD.shape[-1] // attention.heads
        q_BQHE = attention.query(x_BQD).unflatten(-1, (heads, size))
        k_BPQHE, v_BPQHE = attention.key_value(embedding_BPQD).unflatten(-1, (2 * heads, size)).chunk(2, dim=-2)
        logits_BQHP = torch.einsum("bqhe,bpqhe->bqhp", q_BQHE * size**-0.5, k_BPQHE)
        weights_BQHP = masked_softmax(widened(logits_BQHP), mask_BP[:, None, None, :])
        context_BQHE = torch.einsum("bqhp,bpqhe->bqhe", weights_BQHP.to(v_BPQHE.dtype), v_BPQHE)
        return attention.output(context_BQHE.flatten(-2)), weights_BQHP.mean(dim=2)


class VerticalTransformer(ParagraphSummarizer):
    """VHT: the encoder reads words within paragraphs; the decoder makes paragraph embeddings anew at every step."""

    def __init__(self, config: VerticalConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding.of(config)
        self.encoder_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder_layers = nn.ModuleList(VerticalDecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = final_norm(config)
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None

    def encode(self, source: SourceBatch) -> VerticalMemory:
        """Encode B articles: words within their paragraph."""
        rows, size = ParagraphRows.of(source, self.config.pad), self.config.model_size
        packing, positions_NLD = rows.packing, row_positions(rows.mask, size)
        x_NLD = packing.pad(self.read_words(self.encoder_layers, packing, rows.tokens, positions_NLD))
        words_BPLD, layers = rows.grid(x_NLD), cast(Iterable[VerticalDecoderLayer], self.decoder_layers)
        pairs = tuple(word_keys_values(layer.word_attention, words_BPLD) for layer in layers)
        ranking_BPD, copies = sinusoids(source.ranks, size), self.copies_of(rows, x_NLD)
        return VerticalMemory(ranking_BPD, source.paragraph_mask, pairs, source.token_mask, copies=copies)
