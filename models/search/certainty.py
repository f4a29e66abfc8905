"""How sure a summarizer is of each sentence it wrote, and summaries without the sentences that it doubts.

The probability of a whole sentence, given the input and the sentences before, separates true sentences from false ones
better than that of its least likely token, or the mean over its tokens. A wrong name or a clause of another subject
makes one or several tokens unlikely."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp
from typing import NamedTuple

import torch
from torch import Tensor

from models.contract import Memory, Summarizer
from models.search.step import Hypothesis
from models.sentences import sentence_pieces
from models.vocabulary import Vocabulary


class LikelySentence(NamedTuple):
    """A sentence that a summarizer wrote: its text, its tokens in the summary, and its log-probability."""

    text: str
    tokens: slice
    log_prob: float


def likely_summaries(
    model: Summarizer, memory: Memory, hypotheses: Sequence[Hypothesis], vocabulary: Vocabulary, least: float
) -> list[Hypothesis]:
    """Return a batch of summaries without the sentences that the model holds less probable than `least`; 0 = all stay.
    For the arguments see `token_log_probs` and `without_unlikely`."""
    if not least:
        return list(hypotheses)
    log_probs = token_log_probs(model, memory, hypotheses, vocabulary)
    return [
        without_unlikely(hypothesis, of_tokens, vocabulary, least)
        for hypothesis, of_tokens in zip(hypotheses, log_probs, strict=True)
    ]


@torch.inference_mode()
def token_log_probs(
    model: Summarizer, memory: Memory, hypotheses: Sequence[Hypothesis], vocabulary: Vocabulary
) -> list[Tensor]:
    """Return the log-probability of each token of each summary, [T] float32 on the CPU, without the end token. They are
    the model's own, in evaluation mode: what a search forbids keeps its share, so that a token in its place is
    unlikely. There is a hypothesis for each article of the memory."""
    start, device = vocabulary.target_start, memory.mask.device
    results = []
    for article, hypothesis in enumerate(hypotheses):  # one at a time: [T, V] are many numbers
        if not hypothesis.tokens:  # nothing to decode
            results.append(torch.zeros(0))
            continue
        tokens = torch.tensor([*start, *hypothesis.tokens], device=device)
        one = memory.select(torch.tensor([article], device=device))
        log_probs_TV = model.log_probs(model.decode(tokens[:-1].unsqueeze(0), one, attention=False))[0]
        chosen_T = log_probs_TV[len(start) - 1 :].gather(1, tokens[len(start) :].unsqueeze(1)).squeeze(1)
        results.append(chosen_T.float().cpu())
    return results


def without_unlikely(hypothesis: Hypothesis, log_probs: Tensor, vocabulary: Vocabulary, least: float) -> Hypothesis:
    """Return a summary of T tokens, with `log_probs` [T] of these, without the sentences that are less probable than
    `least`, 0-1; the likeliest one always stays."""
    written = list(written_sentences(hypothesis, log_probs, vocabulary))
    if not written:
        return hypothesis
    enough = min(least, max(exp(item.log_prob) for item in written))
    kept = [
        index
        for item in written
        if exp(item.log_prob) >= enough
        for index in range(item.tokens.start, item.tokens.stop)
    ]
    return replace(hypothesis, tokens=[hypothesis.tokens[i] for i in kept], attention=hypothesis.attention[kept])


def written_sentences(hypothesis: Hypothesis, log_probs: Tensor, vocabulary: Vocabulary) -> Iterator[LikelySentence]:
    """Yield the sentences of a summary of T tokens, with `log_probs` [T] of these, that have a token."""
    text = " ".join(vocabulary.decode(hypothesis.tokens).split())
    for sentence, place in sentence_pieces(text, vocabulary.pieces(hypothesis.tokens)):
        if place.stop > place.start:
            yield LikelySentence(sentence, place, float(log_probs[place].sum()))
