"""`wikisum doctor`: what a root is, what wrote it, and what its next run would compute again, why, and at what cost."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from flows.config import BuildConfig
from flows.running.building import show_plan
from flows.running.checks import large_database, missed_schedules, root_faults
from flows.running.serve_options import database_url
from flows.running.session import Session
from flows.running.temporary_server import check_prefect_api, has_prefect_api
from storage.builds import SUMMARIZER, Build, build_names, latest_build
from storage.inventory import check_whole, missing, read_inventory
from storage.registry import read_champion, read_version, version_numbers
from storage.root import check_root
from storage.store import Store
from tasks.engine.libraries import changed_libraries, codes
from tasks.engine.provenance import running_code
from tasks.engine.settings import message_of


def examine(root: str, console: Console) -> None:
    """Print it. Raises StorageError: the root does not exist, this version does not read its format, or it lacks what
    its inventory lists."""
    store = Store(root)
    check_root(store)

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    inventory = read_inventory(store)
    assert inventory is not None, "check_root has read it"
    for name, problem in missing(store).items():
        say(f"{name}: {problem}")
    check_whole(store)
    for line in _faults(store):
        say(line)
    champion, versions = read_champion(store), version_numbers(store)
    say(
        f"root {root}: format {inventory.format}, {'id ' + inventory.id if inventory.id else 'without identity'}, "
        f"builds: {len(build_names(store))}, versions of models: {len(versions)}"
        + ("" if champion is None else f", champion {champion.version}")
    )
    build = latest_build(store)
    if build is None:
        say("No build has finished here: `wikisum build --dry-run` says what one would do.")
        return
    if (trained := latest_build(store, having=SUMMARIZER)) is not None and trained.name != build.name:
        say(f"{build.name}, the latest build, has no summarizer: summaries use that of {trained.name}")
    for line in _writers(store, build):
        say(line)
    config, changes = _config_of(build, root)
    for change in changes:
        say(change)
    say(f"the next run with the settings of {build.name}, the latest build:")
    show_plan(config, _walk_of(store, build), console)


def _faults(store: Store) -> Iterator[str]:
    """Yield what `wikisum serve` would raise an alarm for."""
    database = os.environ.get("DATABASE_URL")
    looks = [root_faults(store), large_database(database_url(database) if database else None)]
    try:
        if has_prefect_api():
            check_prefect_api()
            looks.append(missed_schedules(["retrain"]))
        yield from (f"{fault.kind.alarm}: {fault.text}" for fault in chain(*looks))
    except (ConnectionError, SQLAlchemyError) as error:
        yield str(error)


def _writers(store: Store, build: Build) -> Iterator[str]:
    """Yield which code made which stages of a build, and how its libraries differ from those here."""
    here = running_code()
    stages: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    libraries: dict[str, dict[str, None]] = defaultdict(dict)
    made_by = list(codes(store, build))
    for stage, code in made_by:
        stages[code.get("version", "?"), code.get("commit", "?")][stage] = None
        for name, version in code.items():
            if name not in ("version", "commit") and version != here.get(name):
                libraries[name][version] = None
    for (version, commit), made in stages.items():
        yield f"made by version {version}, commit {commit}: {', '.join(made)}"
    yield f"here: version {here.get('version', '?')}, commit {here.get('commit', '?')}"
    if libraries:
        others = (_change(name, list(versions), here) for name, versions in libraries.items())
        yield f"other libraries here, which by themselves recompute nothing: {'; '.join(others)}"
    decided = changed_libraries(made_by)
    for changed_stage, changes in decided.items():
        which = "; ".join(_change(name, sorted(versions), here) for name, versions in changes.items())
        yield f"{changed_stage} was made with other versions of libraries that decide it: {which}"
    if decided:
        yield "to make these again: your command with --recompute-changed-libraries"


def _change(library: str, versions: Sequence[str], here: Mapping[str, str]) -> str:
    return f"{library} {', '.join(versions)} -> {here.get(library, 'none')}"


def _config_of(build: Build, root: str) -> tuple[BuildConfig, list[str]]:
    """Return a build's settings as this version reads them, and the unknown ones; ValidationError: they contradict each
    other."""
    settings: dict[str, Any] = {**build.config, "root": root}
    changes: list[str] = []
    while True:
        try:
            return BuildConfig.model_validate(settings), changes
        except ValidationError as error:
            for item in error.errors():
                *sections, name = item["loc"] or [""]
                section: Any = settings
                for part in sections:
                    section = section.get(part, {})
                if name not in section:  # it is about several settings together
                    raise
                changed = ".".join(map(str, item["loc"]))
                changes.append(
                    f"setting {changed} is {section.pop(name)!r}, which is not taken here: {message_of(item)}"
                )


def _walk_of(store: Store, build: Build) -> Callable[[Session], Any]:
    """Return the walk that made a build, by its manifest."""
    from flows import build_corpus, build_wikisum, retrain, train  # here, because they take seconds

    if any(read_version(store, number).build == build.name for number in version_numbers(store)):
        return retrain.challenge
    if build.report:
        return build_wikisum.build
    if SUMMARIZER in build.models:
        return train.trained_summarizer
    return train.trained_ranker if "models/ranker" in build.models else build_corpus.build
