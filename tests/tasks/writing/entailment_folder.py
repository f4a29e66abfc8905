"""A tiny model of entailment that learns by heart which pairs follow, saved as people bring theirs."""

import re
from collections.abc import Sequence
from pathlib import Path

import torch

from tasks.evaluation.entailment import Pair, premise
from tasks.verification.verifier import shipped
from tests.tasks.evaluation.tiny_models import LABELS, save_model

_LONGEST = 64  # tokens


def taught(folder: Path, title: str, passages: Sequence[str], follows: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Save a model for which each sentence follows from the passages of these ranks, and from none of the others."""
    import transformers

    pairs: list[tuple[Pair, bool]] = [
        ((premise(title, [shipped().premise(sentence, [text], title)]), sentence), rank in ranks)
        for sentence, ranks in follows
        for rank, text in enumerate(passages)
    ]
    words = sorted({word for pair, _ in pairs for text in pair for word in re.findall(r"\w+|[^\w\s]+", text)})
    save_model(folder, words=["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words], longest=_LONGEST)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()  # without dropout
    first, second = [one for (one, _), _ in pairs], [other for (_, other), _ in pairs]
    given = tokenizer(first, second, padding=True, truncation="longest_first", return_tensors="pt")
    labels = torch.tensor([LABELS.index("ENTAILMENT" if yes else "contradiction") for _, yes in pairs])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        loss = model(**given, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert bool((model(**given).logits.argmax(-1) == labels).all())
    model.save_pretrained(folder)
    return str(folder)
