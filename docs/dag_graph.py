"""Draw the DAG, as a Mermaid graph, from plans of builds: what each stage reads is seen while it is planned."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows import dag
from flows.config import BuildConfig
from flows.running.execution import PrefectExecutor
from flows.running.session import Session
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, Input, Recipe, StageResult
from tasks.engine.stage import Run


@dataclass
class ReadingRun(Run):
    """A plan that remembers the stages and directories that each stage reads, in the order of the walk."""

    reads: dict[str, list[str]] = field(default_factory=dict)

    def stage(
        self, recipe: Recipe, *, inputs: Mapping[str, Input], name: str | None = None, **more: Any
    ) -> StageResult:
        """Plan a stage."""
        self._remember(name or recipe.name, inputs)
        return super().stage(recipe, inputs=inputs, name=name, **more)

    def directory(self, recipe: Recipe, *, inputs: Mapping[str, Input], **more: Any) -> DirectoryResult:
        """Plan a model or report."""
        self._remember(recipe.name, inputs)
        return super().directory(recipe, inputs=inputs, **more)

    def _remember(self, reader: str, inputs: Mapping[str, Input]) -> None:
        names = {id(result): name for name, result in {**self.stages, **self.directories}.items()}
        read = [names[id(result)] for source in inputs.values() for result in source.results]
        self.reads[reader] = list(dict.fromkeys(read))


def stages_read(folder: Path, **sections: Any) -> dict[str, list[str]]:
    """Plan a build in an empty folder; return stage -> the stages that it reads, in the order of the walk."""
    config = BuildConfig.model_validate({"root": str(folder / "root"), **sections})
    executor = PrefectExecutor(config.engine, config.name)
    run = ReadingRun(Store(config.root), executor, planning=True)
    dag.report(Session(config, executor, run))
    return run.reads


def draw() -> Iterator[str]:
    """Yield the lines of the graph: a build's stages with every option, dashed those that no preset asks for. An arrow
    that others imply is left out: most of the stages read `articles`, and the report reads nearly all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usual = stages_read(folder)
        articles, archive = folder / "articles.jsonl", folder / "pages.warc"
        articles.write_text(json.dumps({"title": "A", "lead": "A.", "references": [], "documents": []}) + "\n")
        archive.touch()
        common_crawl = {"indexes": ["https://index.commoncrawl.org/CC-MAIN-2026-43-index"]}
        whole = stages_read(
            folder,
            source={"kind": "records", "records": {"paths": [str(articles)]}},
            crawl={"archive": [str(archive)], "common_crawl": common_crawl, "contact": "you@example.org"},
            across={"near_duplicates": "corpus", "leakage": "pages"},
            summarizer={"preset": "pht-small"},
            decoding={"alignment": "predicted"},
        )
    before: dict[str, set[str]] = {}  # stage -> all that must be done before it
    yield "flowchart TD"
    for stage, reads in whole.items():
        direct = set(reads).difference(*(before[one] for one in reads))
        before[stage] = set(reads).union(*(before[one] for one in reads))
        shape = f'(["{stage}"])' if "/" in stage or stage == "reports" else f'["{stage}"]'
        yield f"  {_identifier(stage)}{shape}"
        if reads:
            yield f"  {' & '.join(_identifier(one) for one in reads if one in direct)} --> {_identifier(stage)}"
    yield "  classDef optional stroke-dasharray: 5 5"
    yield f"  class {','.join(_identifier(stage) for stage in whole if stage not in usual)} optional"


def _identifier(stage: str) -> str:
    return stage.replace("/", "_").replace("-", "_")
