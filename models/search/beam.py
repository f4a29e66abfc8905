"""Beam search over articles and hypotheses at once, with a cache, for every summarizer of `models.contract`.

Shapes: B articles, b of them still searched, K hypotheses an article, P paragraphs, V vocabulary."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from models.contract import Memory, Summarizer
from models.layers.paragraphs import SourceBatch
from models.search.settings import SearchSettings
from models.search.source_values import SourceValues
from models.search.step import Ended, Hypotheses, Hypothesis, Scorer, TokenRules, advance, commas
from models.vocabulary import Vocabulary


@torch.inference_mode()
def beam_search(
    model: Summarizer,
    source: SourceBatch,  # B articles, on the model's device
    settings: SearchSettings,
    *,
    begin: int,  # id the decoder starts from; like padding it is never generated, unless it is the end token too
    end: int,  # id that ends a summary
    unknown: int | None = None,  # id of the unknown token, which is generated only if the settings allow it
    exempt: Sequence[int] = (),  # ids to which `settings.block_recent` does not apply (commas)
    scorers: Sequence[Scorer] = (),  # terms of the score besides the normalised log-probability
    values: SourceValues | None = None,  # forbids names and numbers that the source lacks
    # id that follows `begin` before any summary, and at no cost, as BART's `<s>` does
    # (`forced_bos_token_id` of transformers); no part of the summary, but of the length that divides its probability
    first: int | None = None,
    memory: Memory | None = None,  # what the model made of `source` in evaluation mode; None = it is encoded here
) -> list[Hypothesis]:
    """Return the best summary found for each article of `source`. The model decodes in evaluation mode, whatever mode
    it was in. An article whose search is over leaves the batch; keys and values of a source are never repeated for its
    hypotheses. A summary that the search leaves in the middle of a value is cut before it."""
    never = {source.pad, *([begin] if begin != end else []), *([] if first is None else [first])}
    if unknown is not None and not settings.allow_unknown:
        never.add(unknown)
    rules = TokenRules(end=end, never=tuple(sorted(never)), exempt=tuple(exempt))
    if end in never:
        raise ValueError(f"expected an end token other than those never generated {sorted(never)}, got {end}")
    if first is not None:
        settings = replace(settings, min_length=settings.min_length + 1, max_length=settings.max_length + 1)
    was_training = model.training
    model.eval()
    try:
        memory = model.encode(source) if memory is None else memory
        result = _search(model, memory, source, settings, begin, rules, scorers, first, values)
    finally:
        model.train(was_training)
    if first is None:
        return result
    return [replace(item, tokens=item.tokens[1:], attention=item.attention[1:]) for item in result]


def search_ids(vocabulary: Vocabulary, settings: SearchSettings) -> dict[str, Any]:
    """Return the arguments of `beam_search` that a vocabulary decides."""
    ids = {"begin": vocabulary.begin, "end": vocabulary.end, "unknown": vocabulary.unk}
    exempt = commas(vocabulary) if settings.block_recent else ()
    return {**ids, "exempt": exempt, "first": vocabulary.specials.target_begin}


def _search(
    model: Summarizer,
    memory: Memory,
    source: SourceBatch,
    settings: SearchSettings,
    begin: int,
    rules: TokenRules,
    scorers: Sequence[Scorer],
    first: int | None,
    values: SourceValues | None,
) -> list[Hypothesis]:
    articles, paragraphs, _ = source.tokens.shape
    beam, device = settings.beam, source.tokens.device
    best: list[Hypothesis | None] = [None] * articles
    cache = model.start_cache(memory, beam, settings.max_length + 1)
    alive = Hypotheses.start(articles, beam, paragraphs, device)
    ended = Ended.start(articles, beam, settings.max_length, paragraphs, device)
    newest_R1 = torch.full((articles * beam, 1), begin, device=device)
    while len(alive.articles):
        decoded = model.decode(newest_R1, memory, cache)
        assert decoded.paragraph_attention is not None
        log_probs_RV = model.log_probs(decoded)[:, -1]
        log_probs_bKV = log_probs_RV.view(-1, beam, log_probs_RV.shape[-1])
        if values is not None:
            log_probs_bKV = log_probs_bKV.masked_fill(values.forbidden(alive), -torch.inf)
        alive, parents_bK, ended, done_b = advance(
            alive,
            log_probs_bKV,
            decoded.paragraph_attention[:, -1].view(-1, beam, paragraphs),
            ended,
            settings,
            rules,
            scorers,
            None if alive.length else first,
        )
        row_bK = torch.arange(len(parents_bK), device=device).unsqueeze(1) * beam + parents_bK
        if done_b.any():
            _keep(best, alive.articles[done_b], ended.select(done_b.nonzero().squeeze(1)))
            unfinished = (~done_b).nonzero().squeeze(1)
            alive, ended, memory = alive.select(unfinished), ended.select(unfinished), memory.select(unfinished)
            row_bK = row_bK[unfinished]
        cache.reorder(row_bK.flatten())
        newest_R1 = alive.tokens[..., -1].reshape(-1, 1)
    results = [hypothesis for hypothesis in best if hypothesis is not None]
    if values is None:
        return results
    kept = [values.finished(article, hypothesis.tokens) for article, hypothesis in enumerate(results)]
    return [
        replace(hypothesis, tokens=hypothesis.tokens[:length], attention=hypothesis.attention[:length])
        for hypothesis, length in zip(results, kept, strict=True)
    ]


def _keep(best: list[Hypothesis | None], articles: Tensor, ended: Ended) -> None:
    """Store the best hypothesis of each article whose search is over."""
    tokens, lengths, scores, log_probs = (x.tolist() for x in (ended.tokens, ended.length, ended.score, ended.log_prob))
    attention = ended.attention.float().cpu()
    for row, article in enumerate(articles.tolist()):
        length = lengths[row]
        best[article] = Hypothesis(tokens[row][:length], scores[row], log_probs[row], attention[row, :length].clone())
