"""VHT, the vertical hierarchical Transformer (Ma & Zong 2020, sec. 3.2): paragraph attention on top of word attention.

At every target position, a decoder layer attends to the words of each paragraph; the context is that paragraph's
embedding, and paragraph attention chooses among these embeddings.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, N paragraphs that exist, L tokens a paragraph,
T target positions, Q = K*T positions of an article, H heads, E size of a head, D = H*E."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from models.layers.attention import fold_hypotheses, masked_softmax, split_heads
from models.layers.config import Norm, WritingConfig
from models.layers.copying import CopyableMemory, CopyHead, CopyMemory
from models.layers.decoder import ParagraphDecoderLayer, ParagraphSummarizer, attend_paragraphs, word_keys_values
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.precision import widened
from models.layers.transformer import EncoderLayer, Residual, TiedEmbedding, final_norm, row_positions, sinusoids


@dataclass(frozen=True)
class VerticalConfig(WritingConfig):
    """The size of VHT; the defaults are those of Ma & Zong 2020."""

    norm: ClassVar[Norm] = "post"

    encoder_layers: int = 3  # layers over the tokens of a paragraph (Ma & Zong 2020, sec. 4.2: 3, or 1)
    decoder_layers: int = 3  # layers of the decoder (Ma & Zong 2020, sec. 4.2: 3, or 1).
    # of embeddings, sub-layer outputs and inner feed-forward layers (Ma & Zong 2020, sec. 4.2: .3)
    dropout: float = 0.3
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
    paragraph_mask: Tensor  # [B, P] bool, True where there is a paragraph
    word_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, P, H, L, E] for each decoder layer
    mask: Tensor  # [B, P, L] bool, True where there is a token
    copies: CopyMemory | None = None  # the positions that may be copied, if the summarizer copies


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
        attention = self.word_attention
        q_BHQE = fold_hypotheses(split_heads(attention.query(x_RTD), attention.heads), memory.articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.mask)
        word_BPQD = attention.output(context_BPHQE.transpose(2, 3).flatten(-2))
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
        self.depth = config.decoder_layers

    def encode(self, source: SourceBatch) -> VerticalMemory:
        """Encode B articles: words within their paragraph."""
        rows = ParagraphRows.of(source, self.config.pad)
        packing = rows.packing
        positions_NLD = row_positions(rows.mask, self.config.model_size)
        x_MD = self.embedding(packing.pack(rows.tokens), packing.pack(positions_NLD))
        for layer in self.encoder_layers:
            x_MD = layer(x_MD, packing)
        x_NLD = packing.pad(x_MD)
        words_BPLD = rows.grid(x_NLD)
        layers = cast(Iterable[VerticalDecoderLayer], self.decoder_layers)
        pairs = tuple(word_keys_values(layer.word_attention, words_BPLD) for layer in layers)
        ranking_BPD = sinusoids(source.ranks, self.config.model_size)
        copies = None if self.copying is None else self.copying.remember(rows, rows.flat(x_NLD))
        return VerticalMemory(ranking_BPD, source.paragraph_mask, pairs, source.token_mask, copies)
