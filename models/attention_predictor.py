"""The attention predictor of Ma & Zong 2022, sec. 4.2: how much attention a good summary will pay to each paragraph;
and how it guides a search.

It reads the paragraph embeddings of a trained summarizer (eq. 6) and learns the attention that the summarizer's decoder
pays to paragraphs while it reads the target (eq. 15). Search then prefers hypotheses with such attention (eq. 17-18),
and paragraphs with little expected attention may be left out beforehand (Table 6). Scorers are terms of a hypothesis's
score besides its normalised log-probability; several are added up.

Shapes: B articles, b of them still searched, K hypotheses an article, t tokens (the next one's attention included), P
paragraphs, s of them kept, T target positions, D model size."""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from models.contract import Memory, Summarizer
from models.layers.attention import masked_softmax, start
from models.layers.config import LayerConfig, Norm, check_dropouts, check_heads, widened
from models.layers.decoder import ParallelMemory
from models.layers.paragraphs import Packing, SourceBatch
from models.layers.transformer import EncoderLayer
from models.search.settings import Guidance
from models.search.step import Hypotheses, Scorer


@dataclass(frozen=True)
class AttentionPredictorConfig(LayerConfig):
    """The size of the attention predictor; the defaults are those of Ma & Zong 2022, sec. 5.2."""

    norm: ClassVar[Norm] = "post"

    model_size: int = 256  # D, that of the summarizer's paragraph embeddings
    feed_forward_size: int = 1024  # hidden size of feed-forward layers
    heads: int = 4  # attention heads
    layers: int = 2  # encoder layers (Ma & Zong 2022, sec. 5.2: 2)
    dropout: float = 0.5  # of sub-layer outputs and inner feed-forward layers (Ma & Zong 2022, sec. 5.2: .5)
    norm_epsilon: float = 1e-6  # that of every LayerNorm

    def __post_init__(self) -> None:
        check_heads(self.heads, self.model_size)
        check_dropouts(self)


class AttentionPredictor(nn.Module):
    """Two Transformer encoder layers over paragraphs, one linear unit for each, a softmax over those that exist."""

    def __init__(self, config: AttentionPredictorConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.unit = nn.Linear(config.model_size, 1)
        start(self.unit)

    def forward(self, paragraphs_BPD: Tensor, mask_BP: Tensor) -> Tensor:
        """Return the expected attention [B, P] float32: rows sum to 1, zero if mask_BP is False."""
        packing = Packing.of(mask_BP)
        x_MD = packing.pack(paragraphs_BPD)
        for layer in self.layers:
            x_MD = layer(x_MD, packing)
        return masked_softmax(widened(packing.pad(self.unit(x_MD).squeeze(-1))), mask_BP)


def paragraph_memory(memory: Memory) -> ParallelMemory:
    """Return a memory with paragraph embeddings, as of PHT and GraphSum. Raises ValueError: it holds none."""
    if not isinstance(memory, ParallelMemory):
        raise ValueError(
            f"attention can be predicted for summarizers with paragraph embeddings (PHT, GraphSum), "
            f"{type(memory).__name__} has none"
        )
    return memory


@torch.no_grad()
def attention_labels(model: Summarizer, memory: Memory, target: Tensor, pad: int) -> Tensor:
    """Return the attention [B, P] that a trained summarizer pays to paragraphs over a given target (Ma & Zong 2022, eq.
    15). Summed over target positions and layers, then normalised. The model should be in evaluation mode; the target is
    [B, T] int64, begin and end included, padded with `pad`."""
    attention_BTP = model.decode(target[:, :-1], memory).paragraph_attention
    assert attention_BTP is not None
    written_BT1 = (target[:, 1:] != pad).unsqueeze(-1)
    total_BP = (attention_BTP * written_BT1).sum(dim=1)
    return total_BP / total_BP.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(total_BP.dtype).tiny)


def attention_loss(expected_BP: Tensor, labels_BP: Tensor, mask_BP: Tensor) -> Tensor:
    """Return the mean squared error over the paragraphs that exist (Ma & Zong 2022, sec. 4.2.1), a scalar."""
    return ((expected_BP - labels_BP) ** 2)[mask_BP].mean()


@torch.no_grad()
def expected_attention(predictor: AttentionPredictor, summarizer: Summarizer, source: SourceBatch) -> Tensor:
    """Return the attention [B, P] that a summary of each article is expected to pay, both models in evaluation mode.
    Raises ValueError: the summarizer makes no paragraph embeddings."""
    memory = paragraph_memory(summarizer.encode(source))
    expected: Tensor = predictor(memory.paragraphs, memory.paragraph_mask)
    return expected


def normalised_scores(scores_BP: Tensor, mask_BP: Tensor) -> Tensor:
    """Return extProb (Ma & Zong 2022, sec. 5.3): the ranker's scores [B, P], of existing paragraphs, with sum 1."""
    scores_BP = widened(scores_BP).clamp_min(0.0).masked_fill(~mask_BP, 0.0)
    total_B1 = scores_BP.sum(dim=-1, keepdim=True)
    uniform_BP = mask_BP.to(scores_BP.dtype) / mask_BP.sum(dim=-1, keepdim=True).clamp_min(1)
    return torch.where(total_B1 > 0, scores_BP / total_B1.clamp_min(torch.finfo(scores_BP.dtype).tiny), uniform_BP)


def compress_source(source: SourceBatch, expected_BP: Tensor, kept: int) -> tuple[SourceBatch, Tensor]:
    """Return the batch with the `kept` paragraphs of highest expected attention of each article (Ma & Zong 2022, Table
    6), and their indices [B, s], s = min(kept, P), ascending. They keep their ranks and their order; articles of fewer
    paragraphs keep all. Raises ValueError: `kept` is below 1."""
    if kept < 1:
        raise ValueError(f"expected at least 1 paragraph to keep, got {kept}")
    ranked_BP = expected_BP.masked_fill(~source.paragraph_mask, -1.0)
    best_Bs = ranked_BP.argsort(dim=1, descending=True, stable=True)[:, :kept].sort(dim=1).values
    article_B1 = torch.arange(len(best_Bs), device=best_Bs.device).unsqueeze(1)
    graph = source.graph
    if graph is not None:
        graph = graph[article_B1, best_Bs].gather(2, best_Bs.unsqueeze(1).expand(-1, best_Bs.shape[1], -1))
    tokens, ranks = source.tokens[article_B1, best_Bs], source.ranks[article_B1, best_Bs]
    return replace(source, tokens=tokens, ranks=ranks, graph=graph), best_Bs


# Smaller attention counts as this, so that its logarithm stays finite for a paragraph without attention.
FLOOR = 1e-9


@dataclass(frozen=True)
class AttentionAlignment:
    """How well the attention of a hypothesis covers the expected one (Ma & Zong 2022, eq. 17-18). The attention
    predictor's output makes this attAlign, the ranker's normalised scores extProb (Ma & Zong 2022, sec. 5.3)."""

    expected: Tensor  # [B, P] float32, rows sum to 1, zero for missing paragraphs
    beta: float = 0.8  # weight of the term (Ma & Zong 2022, sec. 5.3: .8)

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return beta times the sum over paragraphs of log min(attention, expected attention), [b, K]."""
        total_bKP = hypotheses.attention.sum(dim=2)
        share_bKP = total_bKP / total_bKP.sum(dim=-1, keepdim=True).clamp_min(FLOOR)
        expected_b1P = self.expected[hypotheses.articles].unsqueeze(1)
        aligned_bKP = torch.minimum(share_bKP, expected_b1P).clamp_min(FLOOR).log()
        term: Tensor = self.beta * aligned_bKP.masked_fill(expected_b1P == 0, 0.0).sum(dim=-1)
        return term


@dataclass(frozen=True)
class StructuralCoverage:
    """Reward for attending to paragraphs that have had little attention so far (Ma & Zong 2022, eq. 13 over paragraphs,
    strCov)."""

    weight: float = 1.0  # of the sum of eq. 13 over the tokens of a hypothesis

    def __call__(self, hypotheses: Hypotheses) -> Tensor:
        """Return the weighted sum over tokens of 1 - sum_p min(attention, attention so far), [b, K]."""
        attention_bKtP = hypotheses.attention
        before_bKtP = attention_bKtP.cumsum(dim=2) - attention_bKtP
        covered_bKt = torch.minimum(attention_bKtP, before_bKtP).sum(dim=-1)
        term: Tensor = self.weight * (1.0 - covered_bKt).sum(dim=-1)
        return term


def guide(
    source: SourceBatch,  # B articles, on the summarizer's device
    guidance: Guidance,
    summarizer: Summarizer,  # in evaluation mode
    *,
    predictor: AttentionPredictor | None = None,  # of its attention, in evaluation mode, where one is needed
    scores_BP: Tensor | None = None,  # of the ranker, where they are needed
) -> tuple[SourceBatch, list[Scorer]]:
    """Return the source to read, perhaps compressed, and the scorers of its search. Under compression, the expected
    attention is normalised again over the remaining paragraphs. Raises ValueError: a predictor or scores are needed and
    missing, or the summarizer makes no paragraph embeddings."""
    predicted_BP = None
    if guidance.reads_predictor:
        if predictor is None:
            raise ValueError("alignment or compression by predicted attention needs an attention predictor, got None")
        predicted_BP = expected_attention(predictor, summarizer, source)
    expected_BP = predicted_BP if guidance.alignment == "predicted" else None
    if guidance.reads_scores:
        if scores_BP is None:
            raise ValueError("alignment with the ranker needs its scores, got None")
        expected_BP = normalised_scores(scores_BP, source.paragraph_mask)
    if guidance.kept is not None:
        assert predicted_BP is not None
        source, best_Bs = compress_source(source, predicted_BP, guidance.kept)
        if expected_BP is not None:
            expected_BP = normalised_scores(expected_BP.gather(1, best_Bs), source.paragraph_mask)
    scorers: list[Scorer] = []
    if expected_BP is not None:
        scorers.append(AttentionAlignment(expected_BP, guidance.beta))
    if guidance.coverage:
        scorers.append(StructuralCoverage(guidance.coverage))
    return source, scorers
