"""HT, the hierarchical Transformer, has local layers, global layers and a flat decoder (Liu & Lapata 2019, sec. 3.2).
FT, the flat one, reads title and ranked paragraphs as one sequence (Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec.
4.3).

The paper of HT and the code its authors released differ in many small points; each is a field of `HierarchicalConfig`,
so that one architecture covers both.

Shapes: B articles, P paragraphs, N paragraphs that exist, L tokens a paragraph, M tokens that exist. S tokens of an
article, H heads of a global layer, E size of such a head, D = H*E."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from models.layers.attention import HeadLinear, MultiHeadPooling, PoolingWeights, attend, start
from models.layers.config import Norm, WritingConfig, check_heads, check_positive
from models.layers.decoder import CopyHead, TokenMemory, TokenSummarizer, TransformerDecoder
from models.layers.paragraphs import Packing, ParagraphRows, SourceBatch
from models.layers.transformer import (
    Dropout,
    EncoderLayer,
    FeedForward,
    PositionOrder,
    Residual,
    TiedEmbedding,
    final_norm,
    paragraph_positions,
    row_positions,
)


@dataclass(frozen=True)
class FlatConfig(WritingConfig):
    """The size of FT; the defaults are those of Ma & Zong's (2022) comparison (3 layers, 1,600 tokens)."""

    encoder_layers: int = 3  # layers of the encoder
    decoder_layers: int = 3  # layers of the decoder
    source_tokens: int = 1600  # maximum number of tokens read of an article, best paragraphs first
    attention_dropout: float = 0.0  # of attention weights; above 0, CPUs cannot use the fused attention kernel
    # LayerNorm before each sub-layer ("pre", plus one at the end of encoder and decoder) or after it ("post")
    norm: Norm = "post"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "source_tokens")


class FlatTransformer(TokenSummarizer):
    """FT: the Transformer of Vaswani et al. over the tokens of all paragraphs, cut at a fixed length."""

    def __init__(self, config: FlatConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding.of(config)
        dropout = config.attention_dropout
        self.layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.encoder_layers))
        self.final_norm = final_norm(config)
        self.decoder = TransformerDecoder(config, config.decoder_layers, dropout)
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None

    def encode(self, source: SourceBatch) -> TokenMemory:
        """Encode B articles: their first `source_tokens` tokens, best paragraphs first."""
        paragraphs = ParagraphRows.of(source, self.config.pad)
        flat = paragraphs.flat(paragraphs.tokens, self.config.source_tokens)
        packing, positions_BSD = flat.packing, row_positions(flat.mask, self.config.model_size)
        x_MD = self.read_words(self.layers, packing, flat.values, positions_BSD)
        return self.remember(replace(flat, values=packing.pad(self.final_norm(x_MD))), paragraphs)


GlobalResidual = Literal["g+(x+c)", "g+x"]
Projections = Literal["shared", "per-head"]
Graph = Literal["none", "similarity", "discourse"]


@dataclass(frozen=True)
class HierarchicalConfig(WritingConfig):
    """The size and the switches of HT; the defaults are the released README's, the dropout that of sec. 4."""

    heads: int = 8  # of local layers, global layers and decoder; released
    local_layers: int = 6  # Transformer layers within paragraphs; released: 8 layers, the last two global
    global_layers: int = 2  # layers across paragraphs, on top of the local ones. 0 is the ablation "w/o GT".
    decoder_layers: int = 1  # released README
    attention_dropout: float = 0.0  # of attention weights; costs the fused attention kernel on CPUs
    # LayerNorm before each sub-layer ("pre", plus one at the end of encoder and decoder) or after it ("post")
    norm: Norm = "pre"
    # which half of a token's embedded position is its own, which the paragraph's rank (eq. 9)
    position_order: PositionOrder = "token-rank"
    paragraph_positions: bool = True  # False is the ablation "w/o PP": positions within the paragraph only
    pooling_heads: int | None = None  # heads of the global layers; None = `heads`, 1 is the ablation "w/o MP"
    # "normalised" sums values with eq. 15's distribution, "raw" with its scores as eq. 16 prints
    pooling_weights: PoolingWeights = "normalised"
    pooling_projection: bool = False  # whether the W_c^z of eq. 16 exists
    inter_projections: Projections = "shared"  # whether the heads share one Q, K and V (eq. 17-19)
    inter_scaled: bool = True  # whether inter-paragraph logits are divided by sqrt(E); released, eq. 20 does not.
    # what the feed-forward's output g is added to: the token x (eq. 23) or x + c
    global_residual: GlobalResidual = "g+(x+c)"
    graph: Graph = "none"  # which graph replaces the last inter-paragraph head (eq. 24); the batch must contain it

    def __post_init__(self) -> None:
        super().__post_init__()
        check_heads(self.global_heads, self.model_size, "pooling_heads")
        for name, value, kind in (
            ("inter_projections", self.inter_projections, Projections),
            ("global_residual", self.global_residual, GlobalResidual),
            ("graph", self.graph, Graph),
        ):
            if value not in get_args(kind):
                raise ValueError(f"unknown {name} {value!r}, expected one of {get_args(kind)}")
        if self.graph != "none" and (self.global_heads < 2 or self.global_layers < 1):
            raise ValueError(
                "a graph replaces one head of a global layer: expected at least one global layer of two heads, "
                f"got {self.global_layers} of {self.global_heads}"
            )

    @property
    def global_heads(self) -> int:
        """Heads of a global layer."""
        return self.heads if self.pooling_heads is None else self.pooling_heads


class InterParagraphAttention(nn.Module):
    """Attention of paragraphs to each other (Liu & Lapata 2019, eq. 17-20); a graph may replace one head (eq. 24)."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        heads = config.global_heads
        size = config.model_size // heads
        self.scale = None if config.inter_scaled else 1.0
        self.project: nn.Module
        if config.inter_projections == "shared":
            self.project = shared = nn.Linear(size, 3 * size)
            start(shared, parts=3)
        else:
            self.project = HeadLinear(heads, size, 3 * size, parts=3)

    def forward(self, head_BPHE: Tensor, mask_BP: Tensor, graph_BPP: Tensor | None) -> Tensor:
        """Return the context vectors [B, P, H, E] of paragraphs among those where mask_BP is True."""
        q_BHPE, k_BHPE, v_BHPE = self.project(head_BPHE).transpose(1, 2).chunk(3, dim=-1)
        if graph_BPP is None:
            return attend(q_BHPE, k_BHPE, v_BHPE, mask_BP[:, None, None, :], scale=self.scale).transpose(1, 2)
        learned = attend(q_BHPE[:, :-1], k_BHPE[:, :-1], v_BHPE[:, :-1], mask_BP[:, None, None, :], scale=self.scale)
        from_graph = graph_context(graph_BPP, v_BHPE[:, -1], mask_BP).unsqueeze(1)
        return torch.cat((learned, from_graph), dim=1).transpose(1, 2)


def graph_context(graph_BPP: Tensor, v_BPE: Tensor, mask_BP: Tensor) -> Tensor:
    """Return the mean of paragraphs' values [B, P, E], weighted by the edges of each (Liu & Lapata 2019, eq. 24). A
    paragraph without any edge gets zeros; with a unit diagonal there is none."""
    weights_BPP = graph_BPP.masked_fill(~mask_BP.unsqueeze(1), 0.0)
    total_BP1 = weights_BPP.sum(dim=-1, keepdim=True)
    weights_BPP = weights_BPP / total_BP1.masked_fill(total_BP1 == 0, 1.0)
    return weights_BPP.to(v_BPE.dtype) @ v_BPE


class GlobalLayer(nn.Module):
    """Pool paragraphs, attend among them, give the context to every token (Liu & Lapata 2019, sec. 3.2.3)."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        size, heads = config.model_size, config.global_heads
        weights, projection, epsilon = config.pooling_weights, config.pooling_projection, config.norm_epsilon
        self.pooling = MultiHeadPooling(size, heads, weights=weights, projection=projection, epsilon=epsilon)
        self.attention = InterParagraphAttention(config)
        self.output = nn.Linear(size, size)
        start(self.output)
        self.feed_forward = FeedForward(config)
        self.dropout = Dropout(config.dropout)
        self.residual = Residual(config)
        self.pooling_norm = final_norm(config)  # of the layer before
        self.keep_context = config.global_residual == "g+(x+c)"

    def forward(
        self, x_MD: Tensor, packing: Packing, paragraphs: ParagraphRows, mask_BP: Tensor, graph_BPP: Tensor | None
    ) -> Tensor:
        """Map tokens [M, D] to tokens [M, D] informed by the other paragraphs of their article."""
        head_NHE = self.pooling(packing.pad(self.pooling_norm(x_MD)), packing.mask)
        context_BPHE = self.attention(paragraphs.grid(head_NHE), mask_BP, graph_BPP)
        context_ND = self.output(paragraphs.rows(context_BPHE).flatten(-2))  # eq. 21
        context_NLD = self.dropout(context_ND).unsqueeze(1).expand(-1, packing.mask.shape[1], -1)
        informed_MD = x_MD + packing.pack(context_NLD)
        fed_MD = self.feed_forward(self.residual.enter(informed_MD))  # eq. 22
        return self.residual.leave(informed_MD if self.keep_context else x_MD, fed_MD)  # eq. 23


class HierarchicalTransformer(TokenSummarizer):
    """HT: tokens attend within their paragraph, then paragraphs to each other; the decoder reads all tokens flat."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding.of(config)
        dropout = config.attention_dropout
        self.local_layers = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.local_layers))
        self.global_layers = nn.ModuleList(GlobalLayer(config) for _ in range(config.global_layers))
        self.final_norm = final_norm(config)
        self.decoder = TransformerDecoder(config, config.decoder_layers, dropout)
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None

    def encode(self, source: SourceBatch) -> TokenMemory:
        """Encode B articles. Raises ValueError: the configuration asks for a graph and the batch has none."""
        if self.config.graph != "none" and source.graph is None:
            raise ValueError(f"a summarizer with the {self.config.graph} graph needs SourceBatch.graph, got None")
        graph_BPP = source.graph if self.config.graph != "none" else None
        paragraphs = ParagraphRows.of(source, self.config.pad)
        mask_BP = source.paragraph_mask
        packing = paragraphs.packing
        x_MD = self.read_words(self.local_layers, packing, paragraphs.tokens, self._positions(paragraphs))
        for layer in self.global_layers:
            x_MD = layer(x_MD, packing, paragraphs, mask_BP, graph_BPP)
        return self.remember(paragraphs.joined(self.final_norm(x_MD)), paragraphs)

    def _positions(self, paragraphs: ParagraphRows) -> Tensor:
        """Return the embeddings [N, L, D] of the positions in rows."""
        size = self.config.model_size
        if self.config.paragraph_positions:
            length = paragraphs.mask.shape[1]
            return paragraph_positions(paragraphs.ranks, length, size, self.config.position_order)
        return row_positions(paragraphs.mask, size)
