"""wikisum for people who program: summarize pages, check a sentence, read a page's text, build and open a corpus.

    import wikisum

    summary = wikisum.summarize(["notes.md", "https://example.org/page"], title="Skerry Point Lighthouse")
    wikisum.verify("It was lit in 1901.", ["The lighthouse was lit in 1901 by Ada Lund."]).support   # said
    corpus = wikisum.build(preset="miniweb", root="data")
    corpus.table("ranked")

Nothing heavy is imported before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from storage.store import Store
    from tasks.cited_summary.exports import ShownSummary
    from tasks.engine.progress import Progress
    from tasks.extraction.engines import Extracted
    from tasks.verification.verifier import Finding

__all__ = ["Corpus", "Plot", "build", "extract", "open", "summarize", "verify"]


def _check_names() -> None:
    """Raise ImportError, which names the file: a file or folder of the user has the name of one of our packages."""
    here = Path(__file__).parent
    for name in ("flows", "models", "storage", "tasks"):
        spec = find_spec(name)
        where = None if spec is None else spec.origin
        if where is None or Path(where).parent.parent != here:
            raise ImportError(
                f"wikisum needs its own package {name!r}, and Python finds {where or 'none'}: rename that file, or "
                "start Python in another folder"
            )


_check_names()


def summarize(
    sources: Sequence[str | Path],
    title: str = "",
    *,
    question: str = "",
    words: int = 150,
    language: str | None = "en",
    model: str | None = None,
    writer: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ShownSummary:
    """Return a summary of web pages and files in which every sentence cites its passages; a notebook shows its page.

    Args:
        sources: URLs, files (HTML, PDF, Word, slides, OpenDocument, EPUB, text, Markdown) and folders of files.
        title: what the summary is about; empty: one is made of the sources.
        question: about the topic; sentences of the sources, or `writer`, answer it instead of a summary.
        words: of the summary, at most (20 to 2,000).
        language: ISO 639-1 code of the summary; text surely in another language is left out. None: any language.
        model: root of a build or folder of an exported model that writes; None: sentences of the sources are chosen.
        writer: folder or GGUF file of a language model that writes on this machine, or `local`: SmolLM2-135M-Instruct.
        progress: called at the start of each step; None: a line in a terminal or a notebook, elsewhere nothing.

    Raises:
        ValueError: there is no source, too many, or the model cannot be used.
        FileNotFoundError: a source is neither a URL nor a file nor a folder."""
    import sys

    from flows.running.from_python import shown_progress
    from tasks.cited_summary.exports import ShownSummary
    from tasks.cited_summary.pipeline import summarize as summarize_sources
    from tasks.cited_summary.settings import SummarySettings
    from tasks.cited_summary.sources import read_sources
    from tasks.cited_summary.systems import find_system

    settings = SummarySettings.model_validate({"words": words, "language": language, "writer": writer})
    given = read_sources([str(source) for source in sources], settings.max_bytes, sys.stdin.buffer)
    with shown_progress(progress) as report:
        summary, _ = summarize_sources(title, given, find_system(model), settings, question=question, progress=report)
    return ShownSummary(**vars(summary))


def verify(sentence: str, passages: Sequence[str], title: str = "") -> Finding:
    """Return whether passages say a sentence, with its probability, and which of them do.

    `passages`: paragraphs of sources; `title`: the topic, known to all of them, so that "It" and "The tower" may mean
    it. English is judged; what is copied is recognised in every language (docs/judging.md says how often it errs)."""
    from tasks.verification.verifier import shipped

    return shipped().finding(sentence, list(passages), title)


def extract(page: str | bytes | Path, media_type: str | None = None) -> Extracted:
    """Return the title and the paragraphs of a page, or the reason why it has none.

    `page`: a file, or its content: text is read as HTML; `media_type`: of bytes, such as application/pdf; None = told
    by the name and the content. Raises OSError: the file cannot be read; ValueError: its format is not read."""
    from tasks.cited_summary.sources import file_source
    from tasks.extraction.engines import extract as extract_page
    from tasks.extraction.settings import ExtractSettings

    if isinstance(page, str):
        return extract_page(page.encode(), "text/html", "utf-8", ExtractSettings())
    body, name = (page.read_bytes(), page.name) if isinstance(page, Path) else (page, "page.html")
    if media_type is None:
        given = file_source(name, body)
        if given.reason is not None:
            raise ValueError(f"{name} cannot be read: {given.reason}")
        media_type = given.mime
    return extract_page(body, media_type, None, ExtractSettings())


def build(
    preset: str = "miniweb",
    root: str | Path = "data",
    *,
    train: bool = True,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Corpus:
    """Build a corpus and its models, as `wikisum build` does, and open it; what is finished there is not made again.

    Args:
        preset: `miniweb`, `records` or `paper`.
        root: folder or URI that everything is written below.
        train: whether models are trained and judged; False: the corpus alone, as by `wikisum corpus`.
        progress: called whenever the build reports something; None: a line in a terminal or a notebook, elsewhere
            nothing.
        settings: further ones, in sections (`source={"miniweb": {"topics": 40}}`) or by their full names
            (`**{"training.steps": 100}`).

    Raises:
        ValueError: a setting is wrong.
        RuntimeError: the build failed, with what it said."""
    from flows.running.from_python import run_command, shown_progress

    given = {"preset": preset, "root": str(root), **settings}
    with shown_progress(progress) as report:
        run_command("build" if train else "corpus", given, report)
    return open(root)


def open(root: str | Path) -> Corpus:
    """Return the corpus of a root: its latest build. Raises ValueError: there is no build."""
    from storage.store import Store

    return Corpus(Store(str(root)))


@dataclass(frozen=True)
class Plot:
    """A picture; a notebook shows it."""

    caption: str  # what it shows, with the unit
    png: bytes = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write it as a PNG file."""
        Path(path).write_bytes(self.png)

    def _repr_png_(self) -> bytes:
        return self.png


class Corpus:
    """The tables of a root's latest build."""

    def __init__(self, store: Store) -> None:
        from storage.builds import latest_build

        build = latest_build(store)
        if build is None:
            raise ValueError(f"{store.root} has no build: expected a folder in which `wikisum build` ran")
        self._store, self.build = store, build

    @property
    def tables(self) -> list[str]:
        """The names of its tables, sorted."""
        return sorted(self.build.stages)

    def table(self, name: str) -> pa.Table:
        """Return a table with all its shards. Raises ValueError: the build has no table of this name."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if name not in self.build.stages:
            raise ValueError(f"there is no table {name!r}: expected one of {', '.join(self.tables)}")
        shards = self.build.stages[name]
        files = [shards[number] for number in sorted(shards, key=int)]
        return pa.concat_tables(pq.read_table(pa.BufferReader(self._store.read_bytes(file))) for file in files)

    def articles(self) -> pa.Table:
        """Return the articles, one a row."""
        return self.table("articles")

    def scores(self) -> pa.Table:
        """Return the scores of all systems, one row for each article, system and metric. Raises ValueError: nothing was
        scored, as where no model was trained."""
        import pyarrow as pa

        names = [name for name in self.tables if "scores" in name and name != "ranking_scores"]
        if not names:
            raise ValueError(f"build {self.build.name} has no scores: expected one of `wikisum build`, with models")
        return pa.concat_tables(map(self.table, names))

    def plot(self, metric: str | None = None) -> Plot:
        """Return a picture of all systems under a metric, each with its mean and interval; None = the metric that the
        report compares them in. Raises ValueError: nothing was scored under it."""
        from tasks.reporting.scores import metric_picture
        from tasks.reporting.settings import ReportSettings

        headline = ReportSettings.model_validate(self.build.config.get("report", {})).headline
        picture = metric_picture(self.scores(), metric or headline)
        return Plot(picture.caption, picture.png)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {counts['rows']:,}" for name, counts in self.build.counts.items())
        return f"<build {self.build.name} below {self._store.root}; rows: {rows}>"
