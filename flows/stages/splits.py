"""Check that there are articles for training and for testing."""

from collections import Counter

from storage.store import Store
from tasks.engine.inputs import StageResult


def check_splits(store: Store, articles: StageResult) -> None:
    """Check that both splits have articles, as soon as the articles are known.

    Raises:
        ValueError: a split has none.
    """
    if not articles.complete:  # a plan before anything was made
        return
    missing, kept = {"train", "test"}, Counter[str]()
    for record in articles.in_order:  # most corpora have both in their first shard
        for batch in store.read_batches(record.path, record.written.sha256, ["split", "drop_reason"]):
            kept.update(batch.filter(batch.column("drop_reason").is_null()).column("split").to_pylist())
        if missing <= kept.keys():
            return
    has = ", ".join(f"{count:,} {split}" for split, count in sorted(kept.items())) or "none"
    raise ValueError(
        f"of the articles that are kept, {has}: expected some of {' and of '.join(sorted(missing - kept.keys()))} too"
    )
