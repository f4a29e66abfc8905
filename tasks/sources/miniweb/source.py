"""The articles of the mini web, as a source."""

from collections.abc import Iterator

from tasks.engine.hashing import stable_hash
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.site import Miniweb
from tasks.sources.miniweb.world import WORLD_VERSION
from tasks.sources.source import Article, Partition


class MiniwebSource:
    """Topics 0 to N - 1 of a world, written when they are read; their search results come from the web itself."""

    name = "miniweb"
    gives_documents = False

    def __init__(self, settings: MiniwebSettings) -> None:
        self._web = Miniweb(settings)
        self._settings = settings

    def partitions(self) -> list[Partition]:
        """Return ranges of topics; a digest changes with edits, new topics and settings that change leads or URLs."""
        count, size = self._settings.topics_now, self._settings.partition_topics
        return [self._partition(start, min(start + size, count)) for start in range(0, count, size)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a range of topics."""
        for topic in range(partition.start, partition.stop):
            yield Article(
                title=self._web.world.title(topic),
                lead=self._web.pages.lead(topic),
                split=self._web.world.split(topic),
                references=tuple(link.url for link in self._web.links.references(topic)),
                revision=str(self._web.pages.revision(topic)),
                licence="CC0-1.0",
            )

    def _partition(self, start: int, stop: int) -> Partition:
        settings = self._settings
        revisions = ((topic, self._web.pages.revision(topic)) for topic in range(start, stop) if settings.week)
        edits = ",".join(f"{topic}:{revision}" for topic, revision in revisions if revision)
        digest = stable_hash(
            "miniweb",
            WORLD_VERSION,
            settings.seed,
            settings.hosts,
            repr(settings.faults),
            repr(settings.held_back),
            start,
            stop,
            edits,
        )
        return Partition(f"topics {start}-{stop - 1}", f"{digest:016x}", start, stop)
