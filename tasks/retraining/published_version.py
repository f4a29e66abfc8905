"""What a version shows in Prefect: its card, the comparison with the champion, and how many shards were computed. The
pages are kept beside the registry, so that they can be published again: a server forgets old runs, and the tables that
a comparison was made from are pruned."""

from collections.abc import Mapping

from storage.registry import FOLDER, Version, read_version, version_numbers
from storage.store import Store
from tasks.reporting.challenge import Challenge, challenge_section
from tasks.reporting.markdown import artifact
from tasks.reporting.publishing import publish_page, publish_table
from tasks.retraining.splits import FROZEN, RECENT

_CHALLENGES = {FROZEN: "champion-challenger", RECENT: f"champion-challenger-{RECENT}"}  # split -> artifact


def keep_pages(store: Store, version: Version, card: str, challenges: Mapping[str, Challenge], decision: str) -> None:
    """Write a version's card and its comparisons with the champion, by split, beside the registry. The version need not
    be saved yet, and a first one has no challenges; `decision` says what was decided and why."""
    store.write_bytes(_card(version), card.encode())
    for split, challenge in challenges.items():
        store.write_bytes(_page(version, split), artifact([challenge_section(challenge, decision)]).encode())


def publish_version(store: Store, version: Version, corpus: str) -> None:
    """Publish what was kept of a version, and the shards computed for it, as artifacts with a history."""
    of = f"version {version.number} of {version.label}"
    kept = {
        "model-card": (_card(version), f"Model card of {of}."),
        **{name: (_page(version, split), f"Champion and challenger: {of}.") for split, name in _CHALLENGES.items()},
    }
    rows = [{"stage": stage, "computed": done, "of": total} for stage, (done, total) in version.computed.items()]
    for name, (path, description) in kept.items():
        if store.exists(path):
            publish_page(corpus, name, store.read_bytes(path).decode(), description)
    publish_table(corpus, "retrained-shards", rows, f"Shards computed for {of}.")


def publish_versions(store: Store, corpus: str) -> int:
    """Publish what was kept of all versions again, oldest first; return how many versions there are."""
    numbers = version_numbers(store)
    for number in numbers:
        publish_version(store, read_version(store, number), corpus)
    return len(numbers)


def _card(version: Version) -> str:
    return f"{FOLDER}/cards/{version.number:06d}.md"


def _page(version: Version, split: str) -> str:
    return f"{FOLDER}/challenges/{version.number:06d}-{split}.md"
