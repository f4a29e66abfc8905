"""PTGEN and PTGEN+COV, the pointer-generator network of See, Liu & Manning 2017 (Akiyama et al. 2021, Table 1), on
ranked paragraphs.

A bidirectional LSTM reads the first tokens of an article. Another LSTM writes the summary, attends to every token at
each step, and either generates a piece of the vocabulary or copies the piece it points at. With coverage the attention
also reads how much it has attended to each token so far, and a loss discourages attending there again.

The paper's equations leave three things open. Its parameter counts settle them (21,499,600 at 50,000 words, 1,153 more
for p_gen, 512 more for coverage). So s_t is an LSTM's cell and output together, the last context enters the next step,
and attention is as wide as the states it reads.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, S source tokens, P paragraphs, E size of an
embedding. D size of an LSTM (`model_size`), C = 2*D of the reader's states, of s_t and of attention, V vocabulary."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from models.contract import Cache, CopyDistribution, Decoded, Memory, PerArticle, Summarizer
from models.layers.attention import initialise, masked_softmax, start
from models.layers.config import check_dropouts, check_positive, widened
from models.layers.paragraphs import ParagraphRows, ParagraphTokens, SourceBatch
from models.layers.transformer import Dropout


@dataclass(frozen=True)
class PointerGeneratorConfig:
    """The size of a pointer-generator; the defaults are those of See et al. 2017, sec. 5."""

    vocabulary_size: int  # V; theirs was 50,000 words, ours is of pieces
    pad: int = 0  # id of the padding token
    model_size: int = 256  # D, of the decoder's LSTM and of each direction of the encoder's
    embedding_size: int = 128  # E, of one matrix for source and target; the output layer has its own
    source_tokens: int = 400  # maximum number of tokens read of an article, best paragraphs first
    coverage: bool = False  # whether attention reads its own sum over earlier steps (eq. 10-11)
    coverage_loss: float = 1.0  # lambda, the weight of the coverage loss (eq. 12-13); unused without coverage
    dropout: float = 0.0  # of embeddings and before the output layers; See et al. have none

    def __post_init__(self) -> None:
        check_positive(self, "model_size", "embedding_size", "source_tokens")
        check_dropouts(self)
        if self.coverage_loss < 0:
            raise ValueError(f"coverage_loss must be at least 0, got {self.coverage_loss}")


@dataclass(frozen=True)
class PointerMemory(ParagraphTokens, Memory):
    """What the encoder returns for B articles."""

    states: Tensor  # [B, S, C] h_i of eq. 1, both directions
    keys: Tensor  # [B, S, C] W_h h_i of eq. 1
    mask: Tensor  # [B, S] bool, True if there is a token
    tokens: Tensor  # [B, S] int64 token ids; padding gets no attention, so it is never copied
    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P
    output: Tensor  # [B, D] the decoder's first output
    cell: Tensor  # [B, D] its first cell


@dataclass(frozen=True)
class DecoderState(PerArticle):
    """The state of the decoder after some target tokens, by row (hypothesis) instead of by article."""

    output: Tensor  # [R, D] of its LSTM
    cell: Tensor  # [R, D] of its LSTM
    context: Tensor  # [R, C] h*_t of eq. 3
    coverage: Tensor  # [R, S] float32, c^t of eq. 10: the attention so far

    @classmethod
    def start(cls, memory: PointerMemory, hypotheses: int) -> "DecoderState":
        """Return the state before the first token of `hypotheses` an article."""
        output_RD = memory.output.repeat_interleave(hypotheses, dim=0)
        cell_RD = memory.cell.repeat_interleave(hypotheses, dim=0)
        rows, (_, tokens, width) = len(output_RD), memory.states.shape
        return cls(output_RD, cell_RD, cell_RD.new_zeros(rows, width), cell_RD.new_zeros(rows, tokens))


class PointerCache(Cache):
    """The state after the target decoded so far: an LSTM needs nothing else."""

    def __init__(self, state: DecoderState) -> None:
        self.length = 0
        self.state = state

    def reorder(self, hypotheses: Tensor) -> None:
        """Make old row `hypotheses[i]` the new row i; there may be fewer rows than before."""
        self.state = self.state.select(hypotheses)


class PointerGenerator(Summarizer):
    """An LSTM encoder both ways, and an LSTM decoder that generates or copies."""

    def __init__(self, config: PointerGeneratorConfig) -> None:
        super().__init__()
        self.config = config
        size, words, width = config.model_size, config.embedding_size, 2 * config.model_size
        self.embedding = nn.Embedding(config.vocabulary_size, words)
        # nn.LSTM has two biases where one is enough: a constant 1 in its input, whose weights are the bias.
        self.encoder = nn.LSTM(words + 1, size, bias=False, batch_first=True, bidirectional=True)
        self.first_output = nn.Linear(width, size)
        self.first_cell = nn.Linear(width, size)
        self.feed = nn.Linear(words + width, words)  # the last context next to the word
        self.recurrence = nn.Linear(words + size, 4 * size)  # input, forget, new and output gate
        self.key = nn.Linear(width, width, bias=False)  # W_h of eq. 1
        self.query = nn.Linear(width, width)  # W_s and b_attn
        self.coverage = nn.Parameter(torch.empty(width)) if config.coverage else None  # w_c of eq. 11
        self.score = nn.Parameter(torch.empty(width))  # v
        self.gate = nn.Linear(2 * width + words, 1)  # w_h*, w_s, w_x and b_ptr of eq. 8
        self.hidden = nn.Linear(size + width, size)  # V and b of eq. 4
        self.vocabulary = nn.Linear(size, config.vocabulary_size)  # V' and b'
        self.dropout = Dropout(config.dropout)
        self._initialise()

    def encode(self, source: SourceBatch) -> PointerMemory:
        """Encode B articles: their first `source_tokens` tokens, best paragraphs first."""
        rows = ParagraphRows.of(source, self.config.pad)
        flat = rows.flat(rows.tokens, self.config.source_tokens)
        words_BSE = F.pad(self.dropout(self.embedding(flat.values)), (0, 1), value=1.0)
        # An article without any token is read as one token of padding, which attention then ignores.
        lengths = flat.mask.sum(dim=1).clamp_min(1).cpu()
        packed = pack_padded_sequence(words_BSE, lengths, batch_first=True, enforce_sorted=False)
        # In float32 like the decoder's state, which accumulates over hundreds of tokens; and CPUs without bfloat16
        # have no LSTM of that type.
        with torch.autocast(words_BSE.device.type, enabled=False):
            states, (output_2BD, cell_2BD) = self.encoder(packed)
        states_BSC, _ = pad_packed_sequence(states, batch_first=True, total_length=flat.mask.shape[1])
        return PointerMemory(
            states=states_BSC,
            keys=self.key(states_BSC),
            mask=flat.mask,
            tokens=flat.values,
            paragraph=flat.paragraph,
            paragraphs=rows.paragraphs,
            output=widened(self.first_output(torch.cat(tuple(output_2BD), dim=-1)).relu()),
            cell=widened(self.first_cell(torch.cat(tuple(cell_2BD), dim=-1)).relu()),
        )

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64), one position after the other."""
        assert isinstance(memory, PointerMemory)
        assert cache is None or isinstance(cache, PointerCache)
        state = DecoderState.start(memory, len(target_in) // memory.articles) if cache is None else cache.state
        steps: list[list[Tensor]] = []
        for words_RE in self.dropout(self.embedding(target_in)).unbind(dim=1):
            state, *made = self._step(words_RE, state, memory)
            steps.append(made)
        if cache is not None:
            cache.state = state
            cache.length += len(steps)
        hidden_RTD, weights_RTS, gate_RT, repeated_RT = (torch.stack(each, dim=1) for each in zip(*steps, strict=True))
        # Generated or copied, a piece was written with the same attention, so the gate does not change its paragraphs.
        looked_RTP = memory.by_paragraph(weights_RTS) if attention else None
        return Decoded(
            hidden=hidden_RTD,
            paragraph_attention=looked_RTP,
            copied=CopyDistribution(weights_RTS, gate_RT, memory.tokens),
            extra_loss=None if self.coverage is None else self.config.coverage_loss * repeated_RT,
        )

    def projection(self) -> tuple[Tensor, Tensor | None]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.vocabulary.weight, self.vocabulary.bias

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return the state before the first token for `hypotheses` per article; it does not depend on `length`."""
        assert isinstance(memory, PointerMemory)
        return PointerCache(DecoderState.start(memory, hypotheses))

    def _step(
        self, words_RE: Tensor, state: DecoderState, memory: PointerMemory
    ) -> tuple[DecoderState, Tensor, Tensor, Tensor, Tensor]:
        """Read one target token after `state`. Return the state after it and four tensors. V [s_t, h*_t] + b of eq. 4,
        [R, D], gives the vocabulary's distribution. The others are a^t of eq. 2, [R, S] float32, the log-odds of p_gen
        (eq. 8), [R] float32, and the coverage loss of eq. 12 without its weight, [R] float32."""
        x_RE = self.feed(torch.cat((words_RE, state.context), dim=-1))
        gates_RD = widened(self.recurrence(torch.cat((x_RE, state.output), dim=-1))).chunk(4, dim=-1)
        enter, keep, new, leave = gates_RD
        cell_RD = keep.sigmoid() * state.cell + enter.sigmoid() * new.tanh()
        output_RD = leave.sigmoid() * cell_RD.tanh()
        s_RC = torch.cat((cell_RD, output_RD), dim=-1)
        weights_RS = self._attend(s_RC, state.coverage, memory)
        # The hypotheses of an article share its states: the memory is never copied.
        weights_BKS = weights_RS.view(memory.articles, -1, weights_RS.shape[-1])
        context_RC = (weights_BKS.to(memory.states.dtype) @ memory.states).flatten(0, 1)
        after = DecoderState(output_RD, cell_RD, context_RC, state.coverage + weights_RS)
        hidden_RD = self.hidden(self.dropout(torch.cat((output_RD, context_RC), dim=-1)))
        gate_R = widened(self.gate(torch.cat((context_RC, s_RC, x_RE), dim=-1))).squeeze(-1)
        return after, hidden_RD, weights_RS, gate_R, torch.minimum(weights_RS, state.coverage).sum(dim=-1)

    def _attend(self, s_RC: Tensor, coverage_RS: Tensor, memory: PointerMemory) -> Tensor:
        """Return the attention [R, S] (float32) of eq. 2 with the scores of eq. 1, or of eq. 11 with coverage."""
        query_BK1C = self.query(s_RC).view(memory.articles, -1, 1, s_RC.shape[-1])
        features_BKSC = memory.keys.unsqueeze(1) + query_BK1C
        if self.coverage is not None:
            coverage_BKS1 = coverage_RS.view(memory.articles, -1, coverage_RS.shape[-1], 1)
            features_BKSC = features_BKSC + coverage_BKS1.to(features_BKSC.dtype) * self.coverage
        scores_BKS = widened(features_BKSC.tanh() @ self.score)
        return masked_softmax(scores_BKS, memory.mask.unsqueeze(1)).flatten(0, 1)

    def _initialise(self) -> None:
        """Xavier matrices gate by gate, orthogonal recurrences, forget biases of 1, embeddings of about unit length.
        See et al. draw all weights from a narrow range around zero, which works with Adagrad's large first steps."""
        nn.init.normal_(self.embedding.weight, std=self.config.embedding_size**-0.5)
        nn.init.normal_(self.vocabulary.weight, std=self.config.model_size**-0.5)
        nn.init.zeros_(self.vocabulary.bias)
        start(self.first_output, self.first_cell, self.feed, self.query, self.gate, self.hidden)
        initialise(self.key.weight, self.score.unsqueeze(0))
        if self.coverage is not None:
            initialise(self.coverage.unsqueeze(0))
        words = self.config.embedding_size
        with torch.no_grad():
            for suffix in ("", "_reverse"):
                entering = self.encoder.get_parameter(f"weight_ih_l0{suffix}")
                _initialise_gates(entering[:, :words], self.encoder.get_parameter(f"weight_hh_l0{suffix}"))
                _initialise_bias(entering[:, words])
            _initialise_gates(self.recurrence.weight[:, :words], self.recurrence.weight[:, words:])
            _initialise_bias(self.recurrence.bias)


def _initialise_gates(entering: Tensor, recurring: Tensor) -> None:
    for gate in entering.chunk(4):
        nn.init.xavier_uniform_(gate)
    for gate in recurring.chunk(4):
        gate.copy_(nn.init.orthogonal_(torch.empty_like(gate, memory_format=torch.contiguous_format)))


def _initialise_bias(bias: Tensor) -> None:
    """All zero but that of the forget gate, the second of four."""
    bias.zero_()
    bias.chunk(4)[1].fill_(1.0)
