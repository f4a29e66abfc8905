"""The paragraph ranker: scores how useful a paragraph is for the summary of a title (Liu & Lapata 2019, eq. 1-6).

Shapes: N paragraphs of L tokens, A titles of Lt tokens, E embedding size, H hidden size.

The paper leaves some details open. Our choices: title and paragraph share one embedding matrix, and the extracted
features p_i are as wide as the LSTMs. Dropout comes before both linear layers (sec. 4) and nowhere else, and drops one
set of title features per paragraph, not per token."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.attention import start
from models.layers.config import widened
from models.layers.transformer import Dropout


@dataclass(frozen=True)
class RankerConfig:
    """Sizes of a ranker."""

    vocabulary: int  # number of pieces V
    pad: int  # id of the padding piece
    embedding: int = 256  # size E of word embeddings (unstated in Liu & Lapata 2019; 256 as its other models)
    hidden: int = 256  # size H of both LSTMs (Liu & Lapata 2019, sec. 4)
    dropout: float = 0.2  # probability before the linear layers (Liu & Lapata 2019, sec. 4)

    def __post_init__(self) -> None:
        if not 0 <= self.pad < self.vocabulary:
            raise ValueError(f"pad id {self.pad} is not in a vocabulary of {self.vocabulary} pieces")
        if min(self.embedding, self.hidden) < 1 or not 0 <= self.dropout < 1:
            raise ValueError(f"expected positive sizes and a dropout below 1, got {self}")


class ParagraphRanker(nn.Module):
    """Scores paragraphs by title: two LSTMs, max-pooled and matched. Texts are padded on the right. The LSTMs read from
    left to right, so padding never reaches a token's state, and the poolings ignore it: a score does not depend on the
    padding, and sequences need no packing."""

    def __init__(self, config: RankerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.embedding, padding_idx=config.pad)
        self.title_lstm = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.paragraph_lstm = nn.LSTM(config.embedding, config.hidden, batch_first=True)
        self.match = nn.Linear(2 * config.hidden, config.hidden)  # W_1 of eq. 4
        self.score = nn.Linear(config.hidden, 1)  # W_2 of eq. 6
        self.dropout = Dropout(config.dropout)
        self._initialise()

    def encode_titles(self, titles: Tensor) -> Tensor:
        """Return the title vectors of eq. 3, [A, H], for titles [A, Lt] int64; an empty title gets zeros."""
        states_ALH, _ = self.title_lstm(self.embedding(titles))
        present = titles != self.config.pad
        return _max_over(states_ALH, present).masked_fill(~present.any(dim=1, keepdim=True), 0.0)

    def forward(self, paragraphs: Tensor, titles: Tensor) -> Tensor:
        """Return the logit [N] float32 of the score of paragraphs [N, L] int64; `sigmoid` makes it the s of eq. 6.
        `titles` are the vectors [N, H] of each paragraph's title, from `encode_titles`."""
        states_NLH, _ = self.paragraph_lstm(self.embedding(paragraphs))
        # W_1 [u_p; u_t] = W_p u_p + W_t u_t, and the second term is the same for every token of a paragraph.
        size = self.config.hidden
        from_title = F.linear(self.dropout(titles), self.match.weight[:, size:], self.match.bias)
        matched_NLH = F.linear(self.dropout(states_NLH), self.match.weight[:, :size])
        # Both the title's term and the rising tanh commute with the maximum over tokens: eq. 4 and 5 on [N, H].
        features = torch.tanh(_max_over(matched_NLH, paragraphs != self.config.pad) + from_title)
        logits: Tensor = widened(self.score(self.dropout(features)).squeeze(1))
        return logits

    def set_prior(self, score: float) -> None:
        """Set the output bias so that an untrained ranker gives about this score: training starts at the mean label."""
        score = min(max(score, 1e-4), 1 - 1e-4)
        nn.init.constant_(self.score.bias, math.log(score / (1 - score)))

    def _initialise(self) -> None:
        """Xavier matrices, orthogonal recurrences, forget biases of 1, embeddings of about unit length."""
        nn.init.normal_(self.embedding.weight, std=self.config.embedding**-0.5)
        with torch.no_grad():
            self.embedding.weight[self.config.pad].zero_()
        for lstm in (self.title_lstm, self.paragraph_lstm):
            for gate in lstm.get_parameter("weight_ih_l0").chunk(4):
                nn.init.xavier_uniform_(gate)
            for gate in lstm.get_parameter("weight_hh_l0").chunk(4):
                nn.init.orthogonal_(gate)
            nn.init.zeros_(lstm.get_parameter("bias_ih_l0"))
            nn.init.zeros_(lstm.get_parameter("bias_hh_l0"))
            nn.init.ones_(lstm.get_parameter("bias_hh_l0").chunk(4)[1])
        start(self.match, self.score)


def _max_over(states: Tensor, present: Tensor) -> Tensor:
    """Return the maximum of [N, L, H] over the positions that are `present` ([N, L] bool); -inf if none is."""
    return states.masked_fill(~present.unsqueeze(2), -torch.inf).amax(dim=1)
