"""FT, the flat Transformer: title and ranked paragraphs as one sequence
(Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec. 4.3).

Shapes: B articles, S tokens of an article, M tokens of all articles, D model size."""

from dataclasses import dataclass, replace

from torch import nn

from models.layers.config import Norm, WritingConfig, check_positive
from models.layers.decoder import CopyHead, TokenMemory, TokenSummarizer, TransformerDecoder
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.transformer import EncoderLayer, TiedEmbedding, final_norm, row_positions


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
        self.depth = config.decoder_layers

    def encode(self, source: SourceBatch) -> TokenMemory:
        """Encode B articles: their first `source_tokens` tokens, best paragraphs first."""
        paragraphs = ParagraphRows.of(source, self.config.pad)
        flat = paragraphs.flat(paragraphs.tokens, self.config.source_tokens)
        packing = flat.packing
        positions_BSD = row_positions(flat.mask, self.config.model_size)
        x_MD = self.embedding(packing.pack(flat.values), packing.pack(positions_BSD))
        for layer in self.layers:
            x_MD = layer(x_MD, packing)
        encoded = replace(flat, values=packing.pad(self.final_norm(x_MD)))
        return self.remember(encoded, paragraphs)
