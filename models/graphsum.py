"""GraphSum (Li et al. 2020, a baseline of Ma & Zong 2022): a graph over paragraphs biases the attention between them.

Word layers read each paragraph separately, pooling turns it into a vector, and graph layers let these vectors attend to
each other with a penalty for paragraphs that the graph does not connect. A decoder layer attends to paragraphs and,
within each, to words, head by head.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, N paragraphs that exist, L tokens a paragraph. T
target positions, Q = K*T positions of an article, H heads, E size of a head, D = H*E."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from models.layers.attention import MultiHeadPooling, SelfAttention, attend, attend_to_memory, start
from models.layers.config import Norm, WritingConfig
from models.layers.decoder import (
    CopyHead,
    ParagraphDecoderLayer,
    ParagraphSummarizer,
    ParallelMemory,
    attend_paragraphs,
)
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.transformer import EncoderLayer, TiedEmbedding, TransformerLayer, final_norm, paragraph_positions

Graph = Literal["similarity", "discourse"]


@dataclass(frozen=True)
class GraphSumConfig(WritingConfig):
    """The size of GraphSum; the defaults are those of its authors' WikiSum run."""

    heads: int = 8  # attention and pooling heads (8 in the published runs)
    word_layers: int = 6  # layers over the tokens of a paragraph (6 in the published runs)
    graph_layers: int = 2  # layers over paragraphs (2 in the published runs)
    decoder_layers: int = 8  # layers of the decoder (8 in the published runs)
    graph: Graph = "similarity"  # which graph the batch must contain
    sigma: float = 2.0  # width of the penalty -(1 - G)^2 / (2 sigma^2) on the logits of paragraph attention
    # LayerNorm before each sub-layer ("pre", plus one at the end of encoder and decoder) or after it ("post")
    norm: Norm = "pre"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.graph not in get_args(Graph):
            raise ValueError(f"unknown graph {self.graph!r}, expected one of {get_args(Graph)}")
        if self.sigma <= 0:
            raise ValueError(f"sigma must be positive, got {self.sigma}")


def graph_bias(graph_BPP: Tensor, mask_BP: Tensor, sigma: float) -> Tensor:
    """Return what is added to the logits of attention among paragraphs [B, P, P]: -(1 - G)^2 / (2 sigma^2), and -inf at
    absent paragraphs. A weight above 1, which a discourse graph may have, counts as 1."""
    bias_BPP = -((1.0 - graph_BPP.clamp_max(1.0)) ** 2) / (2.0 * sigma**2)
    # An absent paragraph sees itself: a row of -inf throughout would give NaN.
    seen_BPP = mask_BP.unsqueeze(1) | torch.eye(mask_BP.shape[1], dtype=torch.bool, device=mask_BP.device)
    return bias_BPP.masked_fill(~seen_BPP, -torch.inf)


def attend_by_graph(attention: SelfAttention, x_BPD: Tensor, bias_BPP: Tensor) -> Tensor:
    """Attend among paragraphs with `graph_bias` on the logits of every head; returns [B, P, D]."""
    q_BHPE, k_BHPE, v_BHPE = attention.project(x_BPD)
    return attention.finish(attend(q_BHPE, k_BHPE, v_BHPE, bias_BPP.unsqueeze(1).to(q_BHPE.dtype)))


class GraphDecoderLayer(ParagraphDecoderLayer):
    """Attends to paragraphs and to words within them as PHT's decoder layer does, but head by head."""

    def read(self, x_RTD: Tensor, memory: ParallelMemory, layer: int, *, weights: bool = True) -> tuple[Tensor, Tensor]:
        """Return the context [R, T, D] and the weights of paragraphs [R, T, P]."""
        rows, articles = len(x_RTD), memory.articles
        paragraphs, words = self.paragraph_attention, self.word_attention
        pair, mask_BP = memory.paragraph_keys_values[layer], memory.paragraph_mask
        q_BHQE = paragraphs.queries(x_RTD, articles)
        paragraph_BHQE, alpha_BHQP = attend_to_memory(q_BHQE, *pair, mask_BP, weights=True, dropout=0.0)
        assert alpha_BHQP is not None
        q_BHQE = words.queries(x_RTD, articles)
        context_BPHQE = attend_paragraphs(q_BHQE, *memory.word_keys_values[layer], memory.mask)
        word_BHQE = torch.einsum("bhqp,bphqe->bhqe", alpha_BHQP.to(context_BPHQE.dtype), context_BPHQE)
        # One linear map of the two concatenated contexts equals the sum of one map of each.
        read_RTD = paragraphs.finish(paragraph_BHQE, rows) + words.finish(word_BHQE, rows)
        return read_RTD, alpha_BHQP.mean(dim=1).reshape(*x_RTD.shape[:2], -1)


class GraphSum(ParagraphSummarizer):
    """GraphSum: word layers, graph layers over paragraphs, a decoder that attends to both."""

    def __init__(self, config: GraphSumConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding.of(config)
        size, epsilon = config.model_size, config.norm_epsilon
        self.word_layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.word_layers))
        self.word_norm = final_norm(config)
        self.pooling = MultiHeadPooling(size, config.heads, weights="normalised", projection=False, epsilon=epsilon)
        self.pooled = nn.Linear(size, size)
        start(self.pooled)
        self.graph_layers = nn.ModuleList(
            TransformerLayer(config, SelfAttention(size, config.heads)) for _ in range(config.graph_layers)
        )
        self.graph_norm = final_norm(config)
        self.decoder_layers = nn.ModuleList(GraphDecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = final_norm(config)
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None

    def encode(self, source: SourceBatch) -> ParallelMemory:
        """Encode B articles. Raises ValueError: the batch has no graph."""
        if source.graph is None:
            raise ValueError(f"GraphSum needs the {self.config.graph} graph as SourceBatch.graph, got None")
        rows = ParagraphRows.of(source, self.config.pad)
        size = self.config.model_size
        positions_NLD = paragraph_positions(rows.ranks, rows.mask.shape[1], size, "rank-token")
        packing = rows.packing
        x_NLD = packing.pad(self.word_norm(self.read_words(self.word_layers, packing, rows.tokens, positions_NLD)))
        paragraphs_BPD = rows.grid(self.pooled(self.pooling(x_NLD, rows.mask).flatten(1)))
        bias_BPP = graph_bias(source.graph, source.paragraph_mask, self.config.sigma)
        for layer in self.graph_layers:
            assert isinstance(layer, TransformerLayer)
            assert isinstance(layer.attention, SelfAttention)
            attended_BPD = attend_by_graph(layer.attention, layer.enter(paragraphs_BPD), bias_BPP)
            paragraphs_BPD = layer.finish(paragraphs_BPD, attended_BPD)
        paragraphs_BPD = self.graph_norm(paragraphs_BPD)
        copies = self.copies_of(rows, x_NLD)
        return ParallelMemory.of(self.decoder_layers, paragraphs_BPD, rows.grid(x_NLD), source, copies)
