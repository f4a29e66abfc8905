"""GraphSum (Li et al. 2020, a baseline of 002): a graph over paragraphs bends their attention to each other.

Word layers read each paragraph by itself, pooling makes it a vector, graph layers let these vectors attend to each
other with a penalty for paragraphs that the graph does not join. A decoder layer attends to paragraphs and, within
each, to words, head by head.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, N paragraphs that exist, L tokens a paragraph,
T target positions, Q = K*T positions of an article, H heads, E size of a head, D = H*E.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from models.contract import SourceBatch
from models.families import ParagraphDecoding
from models.layers.attention import (
    CrossAttention,
    KeyValueCache,
    SelfAttention,
    attend,
    attention_weights,
    fold_hypotheses,
    initialise,
    join_heads,
    split_heads,
    unfold_hypotheses,
)
from models.layers.copying import CopyHead
from models.layers.embeddings import TiedEmbedding
from models.layers.encoder import EncoderLayer
from models.layers.feed_forward import FeedForward, Norm, Residual
from models.layers.paragraphs import ParagraphRows
from models.layers.pooling import MultiHeadPooling
from models.layers.positions import paragraph_positions
from models.layers.words import attend_paragraphs, word_keys_values
from models.parallel import ParallelMemory

Graph = Literal["similarity", "discourse"]


@dataclass(frozen=True)
class GraphSumConfig:
    """The size of GraphSum; the defaults are those of its authors' WikiSum run.

    Attributes:
        vocabulary_size: V.
        pad: id of the padding token.
        model_size: D.
        feed_forward_size: hidden size of feed-forward layers.
        heads: attention and pooling heads (8 in the published runs).
        word_layers: layers over the tokens of a paragraph (6 in the published runs).
        graph_layers: layers over paragraphs (2 in the published runs).
        decoder_layers: layers of the decoder (8 in the published runs).
        graph: which graph the batch has to bring.
        sigma: width of the penalty -(1 - G)^2 / (2 sigma^2) on the logits of paragraph attention.
        dropout: of embeddings, sub-layer outputs and inner feed-forward layers.
        norm: LayerNorm before each sub-layer ("pre", plus one at the end of encoder and decoder) or after it ("post").
        norm_epsilon: that of every LayerNorm.
        scale_embeddings: whether word embeddings are multiplied by sqrt(D).
        copying: whether words of the source may be copied (See et al. 2017); in none of the papers.
    """

    vocabulary_size: int
    pad: int = 0
    model_size: int = 256
    feed_forward_size: int = 1024
    heads: int = 8
    word_layers: int = 6
    graph_layers: int = 2
    decoder_layers: int = 8
    graph: Graph = "similarity"
    sigma: float = 2.0
    dropout: float = 0.1
    norm: Norm = "pre"
    norm_epsilon: float = 1e-6
    scale_embeddings: bool = True
    copying: bool = False

    def __post_init__(self) -> None:
        if self.heads < 1 or self.model_size % self.heads:
            raise ValueError(f"heads must divide model_size {self.model_size}, got {self.heads}")
        if self.graph not in get_args(Graph):
            raise ValueError(f"unknown graph {self.graph!r}, expected one of {get_args(Graph)}")
        if self.sigma <= 0:
            raise ValueError(f"sigma must be positive, got {self.sigma}")


class GraphAttention(SelfAttention):
    """Attention of paragraphs to paragraphs, its logits lowered where the graph does not join two."""

    def __init__(self, config: GraphSumConfig) -> None:
        """Make the projections."""
        super().__init__(config.model_size, config.heads)
        self.sigma = config.sigma

    def among(self, x_BPD: Tensor, graph_BPP: Tensor, mask_BP: Tensor) -> Tensor:
        """Attend among the paragraphs where mask_BP is True; returns [B, P, D]."""
        q_BHPE, k_BHPE, v_BHPE = self._project(x_BPD)
        bias_BPP = graph_bias(graph_BPP, self.sigma)
        # A paragraph that does not exist sees itself, so that no row of a float mask is -inf throughout.
        seen_BPP = mask_BP.unsqueeze(1) | torch.eye(mask_BP.shape[1], dtype=torch.bool, device=mask_BP.device)
        bias_B1PP = bias_BPP.masked_fill(~seen_BPP, -torch.inf).unsqueeze(1)
        return self._finish(attend(q_BHPE, k_BHPE, v_BHPE, bias_B1PP.to(q_BHPE.dtype)))


def graph_bias(graph_BPP: Tensor, sigma: float) -> Tensor:
    """Return -(1 - G)^2 / (2 sigma^2); a weight above 1, which a discourse graph may have, counts as 1."""
    return -((1.0 - graph_BPP.clamp_max(1.0)) ** 2) / (2.0 * sigma**2)


class GraphLayer(nn.Module):
    """Graph-informed attention and feed-forward over paragraph vectors."""

    def __init__(self, config: GraphSumConfig) -> None:
        """Make one layer."""
        super().__init__()
        size = config.model_size
        self.attention = GraphAttention(config)
        self.feed_forward = FeedForward(size, config.feed_forward_size, config.dropout)
        self.attention_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)
        self.feed_forward_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)

    def forward(self, x_BPD: Tensor, graph_BPP: Tensor, mask_BP: Tensor) -> Tensor:
        """Map paragraphs [B, P, D] to paragraphs [B, P, D]."""
        attended = self.attention.among(self.attention_residual.enter(x_BPD), graph_BPP, mask_BP)
        x_BPD = self.attention_residual.leave(x_BPD, attended)
        fed = self.feed_forward(self.feed_forward_residual.enter(x_BPD))
        return self.feed_forward_residual.leave(x_BPD, fed)


class GraphDecoderLayer(nn.Module):
    """Masked self-attention, attention to paragraphs and to words within them, feed-forward."""

    def __init__(self, config: GraphSumConfig) -> None:
        """Make one layer."""
        super().__init__()
        size = config.model_size
        self.self_attention = SelfAttention(size, config.heads)
        self.paragraph_attention = CrossAttention(size, config.heads)
        self.word_attention = CrossAttention(size, config.heads)
        self.feed_forward = FeedForward(size, config.feed_forward_size, config.dropout)
        self.self_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)
        self.cross_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)
        self.feed_forward_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)

    def forward(
        self, x_RTD: Tensor, memory: ParallelMemory, layer: int, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        """Return [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""
        attended = self.self_attention.causal(self.self_residual.enter(x_RTD), cache, layer)
        x_RTD = self.self_residual.leave(x_RTD, attended)
        read_RTD, alpha_RTP = self._read(self.cross_residual.enter(x_RTD), memory, layer)
        x_RTD = self.cross_residual.leave(x_RTD, read_RTD)
        fed = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed), alpha_RTP

    def _read(self, x_RTD: Tensor, memory: ParallelMemory, layer: int) -> tuple[Tensor, Tensor]:
        """Return what is read [R, T, D] and the weights of paragraphs [R, T, P]."""
        rows, articles = len(x_RTD), memory.articles
        paragraphs, words = self.paragraph_attention, self.word_attention
        k_BHPE, v_BHPE = memory.paragraph_keys_values[layer]
        q_BHQE = fold_hypotheses(split_heads(paragraphs.query(x_RTD), paragraphs.heads), articles)
        alpha_BHQP = attention_weights(q_BHQE, k_BHPE, memory.paragraph_mask[:, None, None, :])
        paragraph_BHQE = alpha_BHQP.to(v_BHPE.dtype) @ v_BHPE

        q_BHQE = fold_hypotheses(split_heads(words.query(x_RTD), words.heads), articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.word_mask)
        word_BHQE = torch.einsum("bhqp,bphqe->bhqe", alpha_BHQP.to(context_BPHQE.dtype), context_BPHQE)
        # One linear map of the two contexts side by side is the sum of a map of each.
        read_RTD = paragraphs.output(join_heads(unfold_hypotheses(paragraph_BHQE, rows)))
        read_RTD = read_RTD + words.output(join_heads(unfold_hypotheses(word_BHQE, rows)))
        return read_RTD, alpha_BHQP.mean(dim=1).reshape(*x_RTD.shape[:2], -1)


class GraphSum(ParagraphDecoding):
    """GraphSum: word layers, graph layers over paragraphs, a decoder that attends to both."""

    def __init__(self, config: GraphSumConfig) -> None:
        """Make a fresh model, its weights drawn from PyTorch's default generator."""
        super().__init__()
        self.config = config
        size, epsilon = config.model_size, config.norm_epsilon
        self.embedding = TiedEmbedding(
            config.vocabulary_size, size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.word_layers = nn.ModuleList(
            EncoderLayer(
                size,
                config.heads,
                config.feed_forward_size,
                norm=config.norm,
                dropout=config.dropout,
                epsilon=epsilon,
            )
            for _ in range(config.word_layers)
        )
        pre = config.norm == "pre"
        self.word_norm = nn.LayerNorm(size, eps=epsilon) if pre else nn.Identity()
        self.pooling = MultiHeadPooling(size, config.heads, weights="normalised", projection=False, epsilon=epsilon)
        self.pooled = nn.Linear(size, size)
        initialise(self.pooled.weight)
        nn.init.zeros_(self.pooled.bias)
        self.graph_layers = nn.ModuleList(GraphLayer(config) for _ in range(config.graph_layers))
        self.graph_norm = nn.LayerNorm(size, eps=epsilon) if pre else nn.Identity()
        self.decoder_layers = nn.ModuleList(GraphDecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = nn.LayerNorm(size, eps=epsilon) if pre else nn.Identity()
        self.copying = CopyHead(config.model_size) if config.copying else None

    def encode(self, source: SourceBatch) -> ParallelMemory:
        """Encode B articles.

        Raises:
            ValueError: the batch brings no graph.
        """
        if source.graph is None:
            raise ValueError(f"GraphSum needs the {self.config.graph} graph as SourceBatch.graph, got None")
        rows = ParagraphRows.of(source, self.config.pad)
        size = self.config.model_size
        x_NLD = self.embedding(rows.tokens, paragraph_positions(rows.ranks, rows.tokens.shape[1], size, "rank-token"))
        for layer in self.word_layers:
            x_NLD = layer(x_NLD, rows.mask)
        x_NLD = self.word_norm(x_NLD)
        paragraphs_BPD = rows.grid(self.pooled(self.pooling(x_NLD, rows.mask).flatten(1)))
        for layer in self.graph_layers:
            paragraphs_BPD = layer(paragraphs_BPD, source.graph, source.paragraph_mask)
        paragraphs_BPD = self.graph_norm(paragraphs_BPD)
        words_BPLD = rows.grid(x_NLD)
        paragraph_pairs, word_pairs = [], []
        for layer in self.decoder_layers:
            assert isinstance(layer, GraphDecoderLayer)
            paragraph_pairs.append(layer.paragraph_attention.keys_values(paragraphs_BPD))
            word_pairs.append(word_keys_values(layer.word_attention, words_BPLD))
        return ParallelMemory(
            paragraphs_BPD,
            source.paragraph_mask,
            tuple(paragraph_pairs),
            tuple(word_pairs),
            source.token_mask,
            self.remember_places(rows, rows.flat(x_NLD)),
        )
