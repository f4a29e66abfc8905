"""Copying words of the source, as a pointer-generator does (See et al. 2017, eq. 8-9), behind any decoder.

The next token is either taken from the vocabulary, with probability `gate`, or copied from a position of the source
chosen by one attention head. A name is several pieces, and a decoder of few layers mixes up the pieces of several
names; so the head also sees which positions follow the same pieces as were written last, and learns how much a match of
one, two or three pieces counts.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, S source tokens, P paragraphs, D model size,
V vocabulary, C pieces of context."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Copied, Memory
from models.layers.attention import KeyValueCache, initialise, masked_softmax
from models.layers.paragraphs import FlatTokens, ParagraphRows, ParagraphTokens
from models.layers.precision import widened

CONTEXT = 3  # pieces: most names and numbers of a SentencePiece vocabulary are two to four
_NO_SOURCE, _NO_TARGET = -1, -2  # padding before a paragraph and before a summary; different, so they never match


@dataclass(frozen=True)
class CopyMemory(ParagraphTokens, Memory):
    """The source positions of B articles that may be copied."""

    keys: Tensor  # [B, S, D]
    tokens: Tensor  # [B, S] int64 token ids
    # [B, S, C] int64, the token 1, 2, ... C positions earlier in the same paragraph, -1 if there is none
    before: Tensor
    mask: Tensor  # [B, S] bool, True where there is a token
    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P


class CopyableMemory(Memory):
    """A memory of articles whose words may be copied."""

    copies: CopyMemory | None  # the positions that may be copied; None if the summarizer does not copy


class CopyHead(nn.Module):
    """Points at the source position of the next token, and decides whether to copy it; sees `reach` tokens on each side
    of a position too."""

    def __init__(self, size: int, reach: int = 0) -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.reach = reach
        self.key = nn.Linear((1 + 2 * reach) * size, size, bias=False)
        self.match = nn.Parameter(torch.ones(CONTEXT))
        self.gate = nn.Linear(3 * size, 1)
        initialise(self.query.weight, self.key.weight, self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def remember(self, rows: ParagraphRows, states: FlatTokens) -> CopyMemory:
        """Make the memory of the encoded tokens [B, S, D] of `rows`, which may have been cut."""
        tokens = rows.flat(rows.tokens, states.mask.shape[1]).values
        before = [_shifted(tokens, states.paragraph, distance) for distance in range(1, CONTEXT + 1)]
        return CopyMemory(
            keys=self.key(self._with_neighbours(states)),
            tokens=tokens.masked_fill(~states.mask, _NO_SOURCE),
            before=torch.stack(before, dim=-1),
            mask=states.mask,
            paragraph=states.paragraph,
            paragraphs=rows.paragraphs,
        )

    def _with_neighbours(self, states: FlatTokens) -> Tensor:
        """Return [B, S, (1+2*reach)*D]: the states of each token and of those beside it in its paragraph."""
        places = range(-self.reach, self.reach + 1)
        return torch.cat([_beside(states, place) for place in places], dim=-1)

    def forward(
        self, hidden_RTD: Tensor, input_RTD: Tensor, target_RT: Tensor, memory: CopyMemory, cache: KeyValueCache | None
    ) -> Copied:
        """Point at the source from each target position, given the decoder's last hidden states, the embeddings of its
        input tokens, and these tokens, which with a cache follow those in it."""
        articles, (rows, new, size) = memory.articles, hidden_RTD.shape
        query_BQD = self.query(hidden_RTD).reshape(articles, -1, size)
        logits_BQS = (query_BQD @ memory.keys.transpose(1, 2)) * size**-0.5
        recent_BQC = recent_tokens(target_RT, cache).reshape(articles, -1, CONTEXT)
        matched = torch.ones_like(logits_BQS, dtype=torch.bool)
        for offset in range(CONTEXT):  # a match of two pieces includes the match of one, so their weights add up
            matched = matched & (recent_BQC[..., offset].unsqueeze(2) == memory.before[..., offset].unsqueeze(1))
            logits_BQS = logits_BQS + self.match[offset] * matched
        weights_BQS = masked_softmax(widened(logits_BQS), memory.mask.unsqueeze(1))
        context_RTD = (weights_BQS.to(memory.keys.dtype) @ memory.keys).reshape(rows, new, size)
        gate_RT = widened(self.gate(torch.cat((hidden_RTD, context_RTD, input_RTD), dim=-1)).squeeze(-1))
        return Copied(weights_BQS.reshape(rows, new, -1), gate_RT, memory.tokens, memory.paragraph)


def recent_tokens(target_RT: Tensor, cache: KeyValueCache | None) -> Tensor:
    """Return [R, T, C]: each input token of a decoder, the one before it, and so on; -2 before the first."""
    all_RT = target_RT if cache is None else cache.remember_tokens(target_RT)
    padded_RT = F.pad(all_RT, (CONTEXT - 1, 0), value=_NO_TARGET)
    windows_RTC = padded_RT.unfold(1, CONTEXT, 1).flip(-1)
    return windows_RTC[:, -target_RT.shape[1] :]


def _beside(states: FlatTokens, distance: int) -> Tensor:
    """Return for each token the state of the one `distance` positions later in its paragraph, 0 if there is none."""
    if not distance:
        return states.values
    pad = (max(-distance, 0), max(distance, 0))
    cut = slice(max(distance, 0), -max(-distance, 0) or None)
    values = F.pad(states.values, (0, 0, *pad))[:, cut]
    same = F.pad(states.paragraph, pad, value=-1)[:, cut] == states.paragraph
    there = F.pad(states.mask, pad, value=False)[:, cut]
    return values * (same & there).unsqueeze(-1)


def _shifted(tokens_BS: Tensor, paragraph_BS: Tensor, distance: int) -> Tensor:
    """Return for each token the one `distance` positions earlier in its paragraph, -1 if there is none."""
    earlier = F.pad(tokens_BS, (distance, 0), value=_NO_SOURCE)[:, :-distance]
    same = F.pad(paragraph_BS, (distance, 0), value=-1)[:, :-distance] == paragraph_BS
    return earlier.masked_fill(~same, _NO_SOURCE)
