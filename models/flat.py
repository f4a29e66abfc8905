"""FT, the flat Transformer: title and ranked paragraphs as one sequence (000 sec. 4, 001 sec. 4.3).

Shapes: B articles, N paragraphs that exist, L tokens a paragraph, S tokens of an article, D model size.
"""

from dataclasses import dataclass

import torch
from torch import nn

from models.contract import Memory, SourceBatch
from models.families import TokenDecoding
from models.layers.copying import CopyHead
from models.layers.decoder import TransformerDecoder
from models.layers.embeddings import TiedEmbedding
from models.layers.encoder import EncoderLayer
from models.layers.feed_forward import Norm
from models.layers.paragraphs import FlatTokens, ParagraphRows
from models.layers.positions import sinusoids


@dataclass(frozen=True)
class FlatConfig:
    """The size of FT; the defaults are those of 002's comparison (3 layers, 1,600 tokens).

    Attributes:
        vocabulary_size: V.
        pad: id of the padding token.
        model_size: D.
        feed_forward_size: hidden size of feed-forward layers.
        heads: attention heads.
        encoder_layers: layers of the encoder.
        decoder_layers: layers of the decoder.
        source_tokens: most tokens of an article that are read, best paragraphs first.
        dropout: of embeddings, sub-layer outputs and inner feed-forward layers.
        attention_dropout: of attention weights; costs the fused attention kernel on CPUs.
        norm: LayerNorm before each sub-layer ("pre", plus one at the end of encoder and decoder) or after it ("post").
        norm_epsilon: that of every LayerNorm.
        scale_embeddings: whether word embeddings are multiplied by sqrt(D) before positions are added.
        copying: whether words of the source may be copied (See et al. 2017); in none of the papers.
    """

    vocabulary_size: int
    pad: int = 0
    model_size: int = 256
    feed_forward_size: int = 1024
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 3
    source_tokens: int = 1600
    dropout: float = 0.1
    attention_dropout: float = 0.0
    norm: Norm = "post"
    norm_epsilon: float = 1e-6
    scale_embeddings: bool = True
    copying: bool = False

    def __post_init__(self) -> None:
        if self.heads < 1 or self.model_size % self.heads:
            raise ValueError(f"heads must divide model_size {self.model_size}, got {self.heads}")
        if self.source_tokens < 1:
            raise ValueError(f"source_tokens must be at least 1, got {self.source_tokens}")


class FlatTransformer(TokenDecoding):
    """FT: the Transformer of Vaswani et al. over the tokens of all paragraphs, cut at a fixed length."""

    def __init__(self, config: FlatConfig) -> None:
        """Make a fresh model, its weights drawn from PyTorch's default generator."""
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.layers = nn.ModuleList(
            EncoderLayer(
                config.model_size,
                config.heads,
                config.feed_forward_size,
                norm=config.norm,
                dropout=config.dropout,
                attention_dropout=config.attention_dropout,
                epsilon=config.norm_epsilon,
            )
            for _ in range(config.encoder_layers)
        )
        self.final_norm = (
            nn.LayerNorm(config.model_size, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity()
        )
        self.decoder = TransformerDecoder(
            config.model_size,
            config.heads,
            config.feed_forward_size,
            config.decoder_layers,
            norm=config.norm,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            epsilon=config.norm_epsilon,
        )
        self.copying = CopyHead(config.model_size) if config.copying else None

    def encode(self, source: SourceBatch) -> Memory:
        """Encode B articles: their first `source_tokens` tokens, best paragraphs first."""
        paragraphs = ParagraphRows.of(source, self.config.pad)
        flat = paragraphs.flat(paragraphs.tokens, self.config.source_tokens)
        positions_SD = sinusoids(torch.arange(flat.mask.shape[1], device=flat.mask.device), self.config.model_size)
        x_BSD = self.embedding(flat.values, positions_SD)
        for layer in self.layers:
            x_BSD = layer(x_BSD, flat.mask)
        encoded = FlatTokens(self.final_norm(x_BSD), flat.mask, flat.paragraph)
        return self.remember(paragraphs, encoded)
