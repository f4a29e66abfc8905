"""Paragraphs per second that the ranker trains on and scores, against scoring them in their original order.

    python -m benchmarks.ranker [--paragraphs N] [--embedding E] [--hidden H] [--batch N] [--threads T] [--device D]

Texts are random token ids; lengths are log-normal about a median of 60 tokens, at most 100. Titles have 2 to 6 tokens.
* training: forward, backward and Adagrad on batches of similar length, as `tasks.ranking.training` makes them
* scoring: batches of similar length within a budget of tokens, each title encoded once, as `tasks.ranking.ranking` does
* peer: batches of as many paragraphs as ours have on average, in their original order, padded to the longest text of
  all, with a title for every paragraph; its scores must be the same
"""

import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from benchmarks.frame import command
from models.ranker import ParagraphRanker, RankerConfig
from models.training.distributed import find_device
from tasks.engine.dice import draws
from tasks.ranking.texts import batches_by_length, shuffled_batches

PAD, VOCABULARY, LONGEST, PER_ARTICLE = 0, 32_000, 100, 50
Texts = list[NDArray[np.int64]]


def random_texts(count: int, median: int, longest: int, seed: int) -> Texts:
    """Return texts of random ids."""
    dice = np.random.default_rng(seed)
    lengths = np.clip(np.round(median * np.exp(dice.normal(0, 0.5, count))), 1, longest).astype(int)
    return [dice.integers(7, VOCABULARY, length) for length in lengths]


def padded(texts: Texts, indices: NDArray[np.int64], multiple: int = 8, width: int = 0) -> torch.Tensor:
    """Return some texts as [B, L], L rounded up to a multiple or `width`."""
    width = width or -(-max(len(texts[index]) for index in indices) // multiple) * multiple
    ids = np.full((len(indices), width), PAD, dtype=np.int64)
    for row, index in enumerate(indices):
        ids[row, : len(texts[index])] = texts[index]
    return torch.from_numpy(ids)


def seconds(work: Callable[[], None], device: torch.device) -> float:
    """Return the seconds that a function takes."""
    started = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - started


def main(
    paragraphs: int = 4_000,
    embedding: int = 256,
    hidden: int = 256,
    batch: int = 128,
    batch_tokens: int = 16_384,
    threads: int = 0,
    device: str = "auto",
) -> None:
    """Measure and print."""
    if threads:
        torch.set_num_threads(threads)
    place = find_device(device)
    torch.manual_seed(0)
    model = ParagraphRanker(RankerConfig(VOCABULARY, PAD, embedding, hidden)).to(place)
    texts = random_texts(paragraphs, 60, LONGEST, 1)
    titles = random_texts(-(-paragraphs // PER_ARTICLE), 4, 6, 2)
    article = np.arange(paragraphs) // PER_ARTICLE
    lengths = np.array([len(text) for text in texts])
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)

    def train(batches: list[NDArray[np.int64]]) -> None:
        model.train()
        for indices in batches:
            its_articles, its_title = np.unique(article[indices], return_inverse=True)
            with torch.autocast(place.type, torch.bfloat16, enabled=place.type == "cuda"):
                vectors = model.encode_titles(padded(titles, its_articles).to(place))
                logits = model(padded(texts, indices).to(place), vectors[torch.from_numpy(its_title).to(place)])
            loss = F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, 0.02))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()

    ours, peers = np.zeros(paragraphs), np.zeros(paragraphs)
    own_batches = list(batches_by_length(lengths, batch_tokens))
    size = -(-paragraphs // len(own_batches))

    @torch.inference_mode()
    def score() -> None:
        vectors = model.encode_titles(padded(titles, np.arange(len(titles))).to(place))
        for indices in own_batches:
            logits = model(padded(texts, indices).to(place), vectors[torch.from_numpy(article[indices]).to(place)])
            ours[indices] = torch.sigmoid(logits).cpu().numpy()

    @torch.inference_mode()
    def score_as_they_come() -> None:
        for start in range(0, paragraphs, size):
            indices = np.arange(start, min(start + size, paragraphs))
            vectors = model.encode_titles(padded(titles, article[indices]).to(place))
            logits = model(padded(texts, indices, width=LONGEST).to(place), vectors)
            peers[indices] = torch.sigmoid(logits).cpu().numpy()

    batches = shuffled_batches(lengths, draws(1, np.arange(paragraphs)), batch)
    train(batches[:2])
    trained = seconds(lambda: train(batches), place)
    model.eval()
    score()
    times = [(seconds(score, place), seconds(score_as_they_come, place)) for _ in range(3)]
    own, peer = (min(each) for each in zip(*times, strict=True))
    assert np.abs(ours - peers).max() < 1e-4, "the peer's scores differ"
    print(
        f"{paragraphs:,} paragraphs, {lengths.mean():.1f} tokens each, E={embedding} H={hidden}, "
        f"{place}, {torch.get_num_threads()} threads"
    )
    for name, duration in (("training", trained), ("scoring", own), ("scoring in order (peer)", peer)):
        print(f"{name:28} {paragraphs / duration:10,.0f} paragraphs/s {lengths.sum() / duration:12,.0f} tokens/s")
    print(f"scoring / peer: {peer / own:.2f} x as fast")


if __name__ == "__main__":
    command(main, __doc__)
