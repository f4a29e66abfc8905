"""BERTSUM (Liu & Lapata 2019, *Text Summarization with Pretrained Encoders*): BERT reads an article sentence by
sentence, and either a scorer chooses sentences (BERTSUMEXT) or a decoder writes (BERTSUMABS). BERTSUMEXTABS does one
after the other: its encoder is first trained to extract.

BERT's layers are those of the library transformers (extra `backbones`), imported where a model is made. Marks arrive
with a source: BERT's `[CLS]` before the title and before each sentence, `[SEP]` at the end of each. A vocabulary
without such pieces has `[BOS]` before each sentence.

Shapes: B articles, S tokens of an article, N its sentences, K hypotheses, T target tokens, D model size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from models.contract import OwnRate
from models.json_file import MORE
from models.layers.config import (
    LayerConfig,
    Norm,
    TransformerConfig,
    check_at_most,
    check_heads,
    check_positive,
    check_sentence_begin,
)
from models.layers.decoder import TokenMemory, TokenSummarizer, TransformerDecoder
from models.layers.paragraphs import FlatTokens, Packing, ParagraphRows, SourceBatch
from models.layers.transformer import EncoderLayer, TiedEmbedding, row_positions
from models.presets import check_library
from models.weights_file import (
    CONFIG,
    WeightsFile,
    check_complete,
    library_fields,
    open_weights,
    put_weights,
    read_config,
)


@dataclass(frozen=True)
class BertSumConfig(TransformerConfig, LayerConfig):
    """The size of BERTSUM; the defaults are those of BERT-base and of sec. 4.2."""

    model_size: int = 768  # D
    feed_forward_size: int = 2048  # hidden size of the decoder's and the scorer's feed-forward layers (sec. 4.2)
    heads: int = 8  # of decoder and scorer
    encoder_feed_forward_size: int = 3072  # BERT's
    encoder_heads: int = 12  # BERT's
    encoder_layers: int = 12  # BERT's
    decoder_layers: int = 6  # sec. 4.2
    source_positions: int = 512  # learned positions of the source; those beyond BERT's start fresh (sec. 3.1)
    source_tokens: int = 512  # maximum number of tokens read of an article, best paragraphs first
    dropout: float = 0.1  # of embeddings, sub-layer outputs and inner feed-forward layers
    attention_dropout: float = 0.1  # of attention weights; above 0, CPUs cannot use the fused attention kernel
    norm: Norm = "pre"  # of decoder and scorer; BERT's layers are post-norm
    norm_epsilon: float = 1e-6  # of decoder and scorer
    # id of the token before each sentence; None = the last of the vocabulary, where an added token is
    sentence_begin: int | None = None
    document_begin: bool = False  # whether each paragraph begins with the vocabulary's mark of a source
    extraction_layers: int = 2  # of the scorer with which the encoder is trained first (sec. 3.2); 0 = it is not
    encoder_rate: float = 0.02  # the encoder's learning rate, as a multiple of the decoder's (sec. 3.3: 2e-3 and .1)
    encoder_warmup: int = 20_000  # steps of the encoder's warm-up (sec. 3.3)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_heads(self.encoder_heads, self.model_size, "encoder_heads")
        check_positive(self, "encoder_layers", "decoder_layers", "source_positions", "source_tokens", "encoder_warmup")
        check_at_most(self, "source_tokens", "source_positions")
        if self.extraction_layers < 0 or self.encoder_rate <= 0:
            raise ValueError(
                f"expected extraction_layers of at least 0 and encoder_rate above 0, got {self.extraction_layers} and "
                f"{self.encoder_rate}"
            )
        check_sentence_begin(self.sentence_begin, self.vocabulary_size)

    @property
    def mark(self) -> int:
        """The id of the token before each sentence."""
        return self.vocabulary_size - 1 if self.sentence_begin is None else self.sentence_begin


def library_config(config: BertSumConfig) -> Any:
    """Return the library's configuration of BERT."""
    from transformers import BertConfig

    return BertConfig(**library_fields("bert", config))


class SentenceEncoder(nn.Module):
    """BERT over the tokens of an article, its sentences in turn in segment A and B (sec. 3.1, interval segments)."""

    def __init__(self, config: BertSumConfig) -> None:
        """Make a fresh BERT, its weights drawn by the library. Raises ValueError: the library is missing."""
        super().__init__()
        check_library("bertsum")
        from transformers import BertModel

        self.config = config
        self.bert: nn.Module = BertModel(library_config(config), add_pooling_layer=False)

    def forward(self, source: SourceBatch) -> tuple[FlatTokens, Tensor]:
        """Return the states [B, S, D] of each article's first `source_tokens` tokens, and where its sentences begin,
        [B, S] bool."""
        rows = ParagraphRows.of(source, self.config.pad).cut(self.config.source_tokens)
        flat = rows.flat(rows.tokens)
        tokens_BS = flat.values.masked_fill(~flat.mask, self.config.pad)
        begins_BS = (tokens_BS == self.config.mark) & flat.mask
        positions_S = torch.arange(tokens_BS.shape[1], device=tokens_BS.device)
        states_BSD: Tensor = self.bert(
            input_ids=tokens_BS,
            attention_mask=flat.mask.long(),
            token_type_ids=(begins_BS.cumsum(dim=1) - 1).clamp_min(0) % 2,
            position_ids=positions_S.clamp_max(self.config.source_positions - 1).unsqueeze(0),  # padding may lie beyond
            return_dict=True,
        ).last_hidden_state
        return replace(flat, values=states_BSD), begins_BS


class BertSum(TokenSummarizer):
    """BERTSUMABS: BERT, and a decoder that is trained from nothing; ValueError where the library is missing."""

    copying = None

    def __init__(self, config: BertSumConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = SentenceEncoder(config)
        self.embedding = TiedEmbedding(config.vocabulary_size, config.model_size, scaled=True, dropout=config.dropout)
        self.decoder = TransformerDecoder(config, config.decoder_layers, config.attention_dropout)

    @torch.no_grad()
    def start_words(self) -> None:
        """Begin the decoder's words, which are its outputs too, with those of the encoder (released code)."""
        self.embedding.weight.copy_(self.encoder.bert.get_parameter("embeddings.word_embeddings.weight"))

    @property
    def pace(self) -> OwnRate:
        """The encoder's own learning rate (sec. 3.3)."""
        return OwnRate(tuple(self.encoder.parameters()), self.config.encoder_rate, self.config.encoder_warmup)

    def encode(self, source: SourceBatch) -> TokenMemory:
        """Encode B articles: their first `source_tokens` tokens, best paragraphs first."""
        return self.remember(self.encoder(source)[0], ParagraphRows.of(source, self.config.pad))


class SentenceExtractor(nn.Module):
    """BERTSUMEXT: BERT, Transformer layers over its states at the beginnings of sentences, a sigmoid (sec. 3.2)."""

    def __init__(self, config: BertSumConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = SentenceEncoder(config)
        layers = range(config.extraction_layers)
        self.layers = nn.ModuleList(EncoderLayer(config, config.attention_dropout) for _ in layers)
        self.final_norm = nn.LayerNorm(config.model_size, eps=config.norm_epsilon)
        self.score = nn.Linear(config.model_size, 1)

    def forward(self, source: SourceBatch) -> tuple[Tensor, Tensor]:
        """Return the log-odds [B, N] that a sentence belongs to a summary, and which of the N exist, [B, N] bool."""
        flat, begins_BS = self.encoder(source)
        counts_B = begins_BS.sum(dim=1)
        most = max(int(counts_B.max()), 1)
        places_BN = begins_BS.int().argsort(dim=1, descending=True, stable=True)[:, :most]
        states_BND = flat.values.gather(1, places_BN.unsqueeze(-1).expand(-1, -1, flat.values.shape[-1]))
        mask_BN = torch.arange(most, device=counts_B.device) < counts_B.unsqueeze(1)
        packing = Packing.of(mask_BN, None)
        x_MD = packing.pack(states_BND + row_positions(mask_BN, self.config.model_size))
        for layer in self.layers:
            x_MD = layer(x_MD, packing)
        return packing.pad(self.score(self.final_norm(x_MD))).squeeze(-1), mask_BN


def best_sentences(scores: Sequence[float], texts: Sequence[str], words: int) -> list[int]:
    """Return the sentences of the highest scores that have `words` words together, in the order of the texts. A
    sentence that shares three words in a row with a better one is left out (trigram blocking, sec. 4.3)."""
    chosen: list[int] = []
    seen: set[tuple[str, ...]] = set()
    for number in sorted(range(len(texts)), key=lambda number: -scores[number]):
        if words <= 0:
            break
        its = texts[number].casefold().split()
        trigrams = set(zip(its, its[1:], its[2:], strict=False))
        if its and not trigrams & seen:
            chosen.append(number)
            seen |= trigrams
            words -= len(its)
    return sorted(chosen)


_KIND, _PREFIX = "bert", "bert."
_LEFT_OUT, _OLD_NAMES = tuple(MORE["bert"]["left_out"]), MORE["bert"]["old_names"]
_SIZES, _FIXED = MORE["bert"]["also"], MORE["bert"]["fixed"]  # what must be as in the preset, by the library's names
_POSITIONS = "embeddings.position_embeddings.weight"


def check_bert(path: str | Path, config: BertSumConfig) -> None:
    """Check that a folder's encoder can be loaded into a model of `config`; no weight is read.
    Raises ValueError: it cannot, with the name of what differs and both values."""
    with torch.device("meta"):
        _names(Path(path), SentenceEncoder(config))


def load_bert(encoder: SentenceEncoder, path: str | Path) -> None:
    """Load the weights of a folder into an encoder; nothing of it is changed unless all of them fit. Positions beyond
    the folder's keep the values that they were drawn with. Raises ValueError: see `check_bert`."""
    names, file = _names(Path(path), encoder)

    def value(name: str, tensor: Tensor) -> Tensor:
        result = file.tensor(names[name])
        return torch.cat((result, tensor[len(result) :].to(result.dtype))) if name == _POSITIONS else result

    put_weights(encoder.bert, file.path, value)


def _names(path: Path, encoder: SentenceEncoder) -> tuple[dict[str, str], WeightsFile]:
    """Return the name in the file of each of BERT's weights, and the file.
    Raises ValueError: the folder holds no such BERT, or a weight is missing, left over or of another shape."""
    place = path / CONFIG
    stated = read_config(path)
    if stated.get("model_type") != _KIND:
        raise ValueError(f"expected model_type {_KIND!r} in {place}, got {stated.get('model_type')!r}")
    ours = library_config(encoder.config)
    for name in (*_SIZES, *_FIXED):
        expected, actual = getattr(ours, name), stated.get(name, None if name in _SIZES else getattr(ours, name))
        if actual != expected:
            raise ValueError(f"expected {name} {expected!r} in {place}, as the preset has, got {actual!r}")
    file = open_weights(path)
    theirs = {_bare(name): name for name in file.shapes}
    own = {name: tuple(tensor.shape) for name, tensor in encoder.bert.state_dict().items()}
    left = [name for bare, name in theirs.items() if bare not in own and not bare.startswith(_LEFT_OUT)]
    check_complete(file, [name for name in own if name not in theirs], left)
    for name, shape in own.items():
        actual = file.shapes[theirs[name]]
        if actual != shape and not (name == _POSITIONS and actual[0] <= shape[0] and actual[1:] == shape[1:]):
            raise ValueError(
                f"expected {theirs[name]} of shape {shape} in {file.path}, as the preset has, got {actual}"
                + (": expected source_positions of at least the folder's" if name == _POSITIONS else "")
            )
    return theirs, file


def _bare(name: str) -> str:
    name = name.removeprefix(_PREFIX)
    for old, new in _OLD_NAMES.items():
        name = name.removesuffix(old) + new if name.endswith(old) else name
    return name
