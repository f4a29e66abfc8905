"""Causal language models of the library transformers (extra `backbones`) as summarizers: Llama, Mistral, Qwen 2 and 3.

The stack reads a request, which is the source with the words around it (`models.causal_folder`), and writes the summary
as its answer. If `lora_rank` is not 0, the weights of a folder stay as they are, and only adapters are learned and
saved (Hu et al. 2022).

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, L tokens a paragraph, S tokens of a request. T
target positions, H heads of keys, E size of a head, D model size, V vocabulary."""

import importlib
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.causal_folder import check_peft, load_base
from models.contract import Cache, Decoded, Memory, Summarizer
from models.decoder_only import share_of_paragraphs
from models.layers.attention import KeyValueCache
from models.layers.config import TransformerConfig, check_positive, widened
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.presets import check_library
from models.weights_file import library_fields

# What LoRA adapts: every projection of a layer (Dettmers et al. 2023, sec. 4).
_ADAPTED = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_WEIGHED = "weighed"  # the name of `_weighed` in the library
_PROMPT = ("before_title", "before_paragraphs", "after")


@dataclass(frozen=True)
class CausalConfig(TransformerConfig):
    """The size of a causal model, and the token ids around its source; the defaults are those of Llama 3.2 1B."""

    family: str = "llama"  # `model_type` of the library's configuration
    model_size: int = 2048  # D
    feed_forward_size: int = 8192  # hidden size of the gated feed-forward layers
    heads: int = 32  # heads of queries
    key_value_heads: int = 8  # H
    layers: int = 16  # layers of the stack
    positions: int = 131_072  # tokens of request and summary together, at most
    source_tokens: int = 4096  # maximum number of tokens read of an article's paragraphs, best first
    dropout: float = 0.0  # of attention weights, or with adapters of what these read
    gradient_checkpointing: bool = False  # whether training computes each layer again for its gradients
    lora_rank: int = 0  # rank of the adapters, whose factor is 2 (alpha is twice the rank); 0 = all weights are trained
    four_bit: bool = False  # whether the folder's weights are held in 4 bits (QLoRA), by bitsandbytes
    folder: str | None = None  # local folder of the weights that adapters belong to
    more: Mapping[str, Any] | None = None  # other fields of the library's configuration
    before_title: tuple[int, ...] = ()  # token ids of the request before the title,
    before_paragraphs: tuple[int, ...] = ()  # between it and the first paragraph,
    after: tuple[int, ...] = ()  # and after the last one
    marks: tuple[tuple[int, ...], ...] = ()  # and before each paragraph: its number; () = none

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "key_value_heads", "layers", "positions", "source_tokens")
        if self.lora_rank < 0:
            raise ValueError(f"lora_rank must be at least 0, got {self.lora_rank}")
        if self.four_bit and not self.lora_rank:
            raise ValueError(
                "four_bit is for weights that stay fixed while adapters are trained: expected lora_rank above 0, got 0"
            )
        for name in _PROMPT:  # JSON makes lists of them
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "marks", tuple(map(tuple, self.marks)))

    def library(self) -> Any:
        """Return the library's configuration. Raises ValueError: the library is missing, or knows no such family."""
        check_library("causal")
        stated = {
            **library_fields("causal", self),
            "attention_dropout": 0.0 if self.lora_rank else self.dropout,
            "pad_token_id": None,  # else the row of the padding would have no gradient, and start as zeros
            **(self.more or {}),
        }
        return importlib.import_module("transformers").AutoConfig.for_model(self.family, **stated)


@dataclass(frozen=True)
class CausalMemory(Memory):
    """A request, and its keys and values in each layer; none in training, where it is read with the target at once."""

    tokens: Tensor  # [B, S] int64
    mask: Tensor  # [B, S] bool
    member: Tensor  # [B, S, P] float32, 1 where a token is from a paragraph
    pairs: tuple[tuple[Tensor, Tensor], ...] = ()  # keys and values of each layer, both [B, H, S, E]


class Causal(Summarizer):
    """A causal language model that is asked for a summary."""

    def __init__(self, config: CausalConfig) -> None:
        """Make a model; its weights are drawn by the library, or with adapters those of the folder. Raises ValueError:
        the library is missing, or the folder has no such weights."""
        super().__init__()
        self.config, self._adapted = config, False
        importlib.import_module("transformers").AttentionInterface.register(_WEIGHED, _weighed)
        stated = config.library()
        with torch.device("meta") if config.lora_rank else nullcontext():
            self.model: nn.Module = importlib.import_module("transformers").AutoModel.from_config(stated)
            self.lm_head: nn.Linear | None = None
            if not stated.tie_word_embeddings:
                self.lm_head = nn.Linear(config.model_size, stated.vocab_size, bias=False)
                nn.init.normal_(self.lm_head.weight, std=stated.initializer_range)
        if config.lora_rank:
            if config.folder is None:
                raise ValueError(f"lora_rank {config.lora_rank}: adapters need the weights of a folder, got none")
            check_peft()
            load_base(self, config.folder)
            self._add_adapters()
        if config.gradient_checkpointing:
            # Its name in later releases of the library, and in earlier ones.
            enable = getattr(self.model, "activation_checkpointing_enable", None)
            (enable or self.model.gradient_checkpointing_enable)({"use_reentrant": False})

    def _add_adapters(self) -> None:
        peft = importlib.import_module("peft")
        rank = self.config.lora_rank
        self.requires_grad_(False)
        adapters = peft.LoraConfig(
            r=rank, lora_alpha=2 * rank, lora_dropout=self.config.dropout, target_modules=_ADAPTED, bias="none"
        )
        peft.inject_adapter_in_model(adapters, self.model)
        for weight in self.parameters():
            if weight.requires_grad:
                weight.data = weight.data.float()  # next to 4 bits they are made in bfloat16, which loses small steps
        self._adapted = True

    def state_dict(self, *arguments: Any, **options: Any) -> Any:
        """Return what training changes: with adapters these alone, else all weights."""
        result = super().state_dict(*arguments, **options)
        return {n: value for n, value in result.items() if "lora_" in n} if self._adapted else result

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Load what `state_dict` returns; the folder's weights stay."""
        return super().load_state_dict(state_dict, strict and not self._adapted, assign)

    def encode(self, source: SourceBatch) -> CausalMemory:
        """Read the request: title and paragraphs, cut to `source_tokens`, with the words around them. Raises
        ValueError: there are more paragraphs than numbers."""
        memory = CausalMemory(*self._request(source))
        return memory if self.training else self._read(memory)

    def _read(self, memory: CausalMemory) -> CausalMemory:
        read = importlib.import_module("transformers").DynamicCache()
        self._run(memory.tokens, self._positions(memory.mask), _causal(memory.mask, 0), read)
        return replace(memory, pairs=tuple((layer.keys, layer.values) for layer in read.layers))

    def _request(self, source: SourceBatch) -> tuple[Tensor, Tensor, Tensor]:
        config, pad = self.config, source.pad
        articles, paragraphs, _ = source.tokens.shape
        marks = config.marks or ((),) * paragraphs
        if paragraphs > len(marks):
            raise ValueError(f"expected at most {len(marks)} paragraphs, as many as have numbers, got {paragraphs}")
        rows = ParagraphRows.of(source, config.pad).cut(config.source_tokens)
        grid_BPL = source.tokens.new_full((articles, paragraphs, rows.tokens.shape[1]), pad)
        grid_BPL[rows.article, rows.column] = rows.tokens
        there_BP = (grid_BPL != pad).any(dim=-1)

        def same(ids: tuple[int, ...]) -> Tensor:
            return source.tokens.new_tensor(ids).reshape(1, -1).expand(articles, -1)

        longest = max(map(len, marks[:paragraphs]))
        marks_PM = source.tokens.new_tensor([[*mark, *[pad] * (longest - len(mark))] for mark in marks[:paragraphs]])
        place_BP = source.ranks.masked_fill(~there_BP, int(source.ranks.max()) + 1).argsort(dim=1).argsort(dim=1)
        marks_BPM = marks_PM.reshape(paragraphs, longest)[place_BP].masked_fill(~there_BP.unsqueeze(-1), pad)
        # What is before the first and after the last are rows of their own, so that all falls into place. The last
        # token of all is where the answer starts, and so belongs to the target.
        before_BX = torch.cat((same(config.before_title), source.title, same(config.before_paragraphs)), dim=1)
        parts = (before_BX.unsqueeze(1), torch.cat((marks_BPM, grid_BPL), dim=2), same(config.after[:-1]).unsqueeze(1))
        width = max(part.shape[2] for part in parts)
        whole = torch.cat([F.pad(part, (0, width - part.shape[2]), value=pad) for part in parts], dim=1)
        ranks = F.pad(F.pad(source.ranks + 1, (1, 0)), (0, 1), value=int(source.ranks.max()) + 2)
        all_rows = ParagraphRows.of(replace(source, tokens=whole, ranks=ranks, graph=None), pad)
        flat = all_rows.flat(all_rows.tokens)
        member_BSQ = F.one_hot(flat.paragraph, paragraphs + 2).float() * flat.mask.unsqueeze(-1)
        return flat.values.masked_fill(~flat.mask, pad), flat.mask, member_BSQ[..., 1:-1]

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64), whose first token, at the beginning, is the last of the request."""
        assert isinstance(memory, CausalMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        rows, new = target_in.shape
        start = 0 if cache is None else cache.length
        if start == 0 and self.config.after:
            target_in = torch.cat((torch.full_like(target_in[:, :1], self.config.after[-1]), target_in[:, 1:]), dim=1)
        hypotheses = rows // memory.articles
        mask_RS = memory.mask.repeat_interleave(hypotheses, dim=0)
        places_RT = mask_RS.sum(dim=1, keepdim=True) + torch.arange(start, start + new, device=target_in.device)
        all_RX = torch.cat((mask_RS, mask_RS.new_ones(rows, start + new)), dim=1)
        if cache is not None and not memory.pairs:
            memory = self._read(memory)
        if memory.pairs:
            bias_R1TX, tokens_RT = _causal(all_RX, all_RX.shape[1] - new), target_in
            past = _Continued(memory, hypotheses, cache)
        else:
            bias_R1TX, past = _causal(all_RX, 0), None
            tokens_RT = torch.cat((memory.tokens.repeat_interleave(hypotheses, dim=0), target_in), dim=1)
            places_RT = torch.cat((self._positions(mask_RS), places_RT), dim=1)
        hidden_RTD, weights = self._run(tokens_RT, places_RT, bias_R1TX, past, attention=attention)
        if cache is not None:
            cache.advance(new)
        hidden_RTD = hidden_RTD[:, -new:]
        if not attention:
            return Decoded(hidden_RTD, None)
        all_RXX = torch.stack([widened(layer).mean(dim=1) for layer in weights]).mean(dim=0)
        return Decoded(hidden_RTD, share_of_paragraphs(all_RXX[:, -new:, : mask_RS.shape[1]], memory.member))

    def projection(self) -> tuple[Tensor, None]:
        """Return weight [V, D] of `logits`, without rows that no token of the vocabulary has."""
        outputs = self.model.get_submodule("embed_tokens") if self.lm_head is None else self.lm_head
        weight = outputs.weight
        assert isinstance(weight, Tensor)
        return weight[: self.config.vocabulary_size], None

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache. Raises ValueError: request and summary together exceed the positions."""
        together = memory.mask.shape[1] + length
        if together > self.config.positions:
            raise ValueError(f"expected at most {self.config.positions} tokens of request and summary, got {together}")
        return KeyValueCache(self.config.layers, memory.articles * hypotheses, length)

    @staticmethod
    def _positions(mask_BS: Tensor) -> Tensor:
        return (mask_BS.cumsum(dim=1) - 1).clamp_min(0)

    def _run(
        self, tokens: Tensor, positions: Tensor, bias: Tensor, past: Any, *, attention: bool = False
    ) -> tuple[Tensor, Any]:
        """Return the last hidden states, and with `attention` the weights [R, heads, T, X] of each layer."""
        self.model.config._attn_implementation = _WEIGHED if attention else "sdpa"  # type: ignore[union-attr]
        result = self.model(
            input_ids=tokens,
            position_ids=positions,
            attention_mask=bias.to(self.projection()[0].dtype),
            past_key_values=past,
            use_cache=past is not None,
            output_attentions=attention,
        )
        return result.last_hidden_state, result.attentions


def _causal(mask_RX: Tensor, first: int) -> Tensor:
    """Return what is added to the logits [R, 1, T, X] of the queries from `first` on: -inf for keys that come later or
    are padding. A token always sees itself, so that none sees nothing."""
    places = torch.arange(mask_RX.shape[1], device=mask_RX.device)
    earlier_TX = places <= places[first:, None]
    seen_RTX = (earlier_TX & mask_RX.unsqueeze(1)) | (places == places[first:, None])
    return torch.zeros(seen_RTX.shape, device=mask_RX.device).masked_fill(~seen_RTX, -torch.inf).unsqueeze(1)


def _weighed(
    layer: nn.Module, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, *, scaling: float, dropout: float = 0.0, **_: Any
) -> tuple[Tensor, Tensor]:
    """Attend as the library's fused kernel does, and return the weights too: its own plain way rounds them."""
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    weights = (widened(q @ k.transpose(2, 3)) * scaling + bias).softmax(dim=-1)
    context = F.dropout(weights, dropout, layer.training).to(v.dtype) @ v
    return context.transpose(1, 2).contiguous(), weights


class _Continued:
    """What the library takes for a cache: a request's keys and values, repeated for its hypotheses one layer at a time,
    before those of the target."""

    is_compileable = False

    def __init__(self, memory: CausalMemory, hypotheses: int, cache: KeyValueCache | None) -> None:
        self._memory, self._hypotheses, self._cache = memory, hypotheses, cache

    def update(self, key: Tensor, value: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        pair = (key, value) if self._cache is None else self._cache.extend(layer, key, value)
        key, value = (
            torch.cat((source.repeat_interleave(self._hypotheses, dim=0), own), dim=2)
            for source, own in zip(self._memory.pairs[layer], pair, strict=True)
        )
        return key, value

    def get_seq_length(self, _layer: int = 0) -> int:
        return self._memory.mask.shape[1] + (0 if self._cache is None else self._cache.length)
