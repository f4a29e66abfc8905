"""Pruning never takes what a kept build or version needs, and leaves nothing else of ours."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.builds import (
    Build,
    build_names,
    latest_build,
    pin_build,
    pinned_builds,
    read_build,
    save_build,
    unpin_build,
)
from storage.errors import StorageError
from storage.inventory import take_stock
from storage.pruning import carry_out, plan_pruning
from storage.registry import (
    FrozenSplit,
    Version,
    promote_version,
    read_version,
    save_frozen,
    save_version,
    usable,
    version_numbers,
)
from storage.sealed import seal
from storage.store import Store

pytestmark = pytest.mark.integration

STRANGERS = ("notes.txt", "articles/mine.parquet", "registry/cards/000001.md", "models/ranker/readme.md", ".lock")


class Root:
    """A root filled as runs would, with a clock that only goes forward."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(str(folder))
        self.clock = 1_700_000_000.0
        self.count = 0

    def write(self, name: str, data: bytes = b"x") -> str:
        self.store.write_bytes(name, data)
        self.touch(name)
        return name

    def touch(self, name: str) -> None:
        self.clock += 1
        os.utime(self.folder / name, (self.clock, self.clock))

    def shard(self, stage: str, key: int) -> str:
        file = self.write(f"{stage}/part-00000.{key:016x}.parquet")
        self.write(f"{stage}/part-00000.{key:016x}.json")
        return file

    def model(self, name: str, key: int, *, finished: bool = True) -> str:
        path = f"{name}/{key:016x}"
        self.write(f"{path}/model.safetensors")
        self.write(f"{path}/checkpoints/step-00000001/state.json")
        if finished:
            files = {"model.safetensors": "00", "checkpoints/step-00000001/state.json": "00"}
            record = {
                "name": name,
                "key": f"{key:016x}",
                "files": files,
                "digest": "",
                "settings": {},
                "inputs": {},
                "metrics": {},
                "seconds": 0.0,
            }
            self.write(f"{path}.json", seal(record))
        return path

    def build(self, stages: dict[str, dict[str, str]], models: dict[str, str], report: str | None = None) -> str:
        self.count += 1
        name = f"20260101-{self.count:06d}-abcdef"
        save_build(self.store, Build(name, "", {}, stages, models, {}, report))
        self.touch(f"builds/{name}.json")
        return name

    def version(self, build: str, models: dict[str, str], vocabulary: str) -> int:
        number = max(version_numbers(self.store), default=0) + 1
        save_version(self.store, Version(number, "", f"W{number}", build, None, models, vocabulary, {}, {}, {}))
        return number

    def files(self) -> set[str]:
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}


def test_the_summarizer_stays_that_summaries_use_while_newer_builds_have_none(tmp_path: Path) -> None:
    root = Root(tmp_path)
    model = root.model("models/summarizer", 1)
    first = root.build({"articles": {"0": root.shard("articles", 1)}}, {"models/summarizer": model})
    later = [root.build({"articles": {"0": root.shard("articles", 2 + number)}}, {}) for number in range(3)]
    carry_out(root.store, plan_pruning(root.store, 1))
    assert build_names(root.store) == [first, later[-1]]
    assert (tmp_path / model / "model.safetensors").exists()


WEEKS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5), min_size=1, max_size=3),  # shards of examples the build names
        st.integers(0, 3),  # its model
        st.booleans(),  # registered as a version
        st.booleans(),  # and promoted
        st.booleans(),  # leftovers of an interrupted run beside it
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=60)
@given(weeks=WEEKS, keep=st.integers(1, 4), young=st.booleans())
def test_what_is_kept_is_whole_and_the_rest_is_gone(weeks: list, keep: int, young: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Root(Path(folder))
        store = root.store
        for name in STRANGERS:
            root.write(name)
        frozen = root.shard("articles", 99)
        save_frozen(store, FrozenSplit("", 1, [frozen], []))
        junk: dict[int, set[str]] = {}
        versions: dict[int, bool] = {}  # registered -> whether promoted
        for number, (shards, model, registered, promoted, leftovers) in enumerate(weeks):
            stages = {
                "examples": {str(i): root.shard("examples", key) for i, key in enumerate(shards)},
                "vocabulary": {"0": root.shard("vocabulary", model)},
            }
            models = {"models/ranker": root.model("models/ranker", model)}
            if leftovers:
                key = 1000 + number
                root.shard("pages", key)
                root.model("models/summarizer", key, finished=False)
                root.write(f"pages/part-00001.{key:016x}.parquet.damaged")
                root.write(f"pages/.scratch-00001.{key:016x}/journal/1.jsonl")
                root.write(f"pages/.part-00001.{key:016x}.parquet.{key:032x}.tmp")
                junk[number] = {name for name in root.files() if f"{key:016x}" in name}
            build = root.build(stages, models, root.model("reports", number))
            if registered:
                version = root.version(build, models, stages["vocabulary"]["0"])
                versions[version] = promoted
                if promoted:
                    promote_version(store, version, at="", why="")
        unfinished = {root.shard("pages", 5000), f"pages/part-00000.{5000:016x}.json"} if young else set()
        before = root.files()
        names = build_names(store)

        found = plan_pruning(store, keep)
        assert root.files() == before
        sizes = {name: (root.folder / name).stat().st_size for name in found.sizes}
        assert found.sizes == sizes
        carry_out(store, found)

        after = root.files()
        assert before - after == set(found.sizes)
        for number, files in junk.items():
            # A build of the same week was finished just after: it is one of those that push unfinished work out.
            pushed_out = len(weeks) - number >= keep
            trash = {name for name in files if name.endswith((".damaged", ".tmp"))}
            assert trash.isdisjoint(after)
            assert (files - trash).isdisjoint(after) if pushed_out else files - trash <= after
        assert unfinished <= after
        assert set(STRANGERS) <= after
        assert {frozen, frozen.replace(".parquet", ".json")} <= after
        latest = latest_build(store)
        assert latest is not None
        assert latest.name == names[-1]
        assert set(names[-keep:]) <= set(build_names(store))
        kept = {
            file
            for name in build_names(store)
            for stage in read_build(store, name).stages.values()
            for file in stage.values()
        }
        kept |= {file.replace(".parquet", ".json") for file in kept}
        assert kept <= after
        for name in build_names(store):
            build = read_build(store, name)
            for path in [*build.models.values(), build.report]:
                assert {f"{path}.json", f"{path}/model.safetensors"} <= after
        # Each version is promoted at most once, so the last two that were are the champion and the one before it.
        needed = {*list(versions)[-keep:], *[version for version, promoted in versions.items() if promoted][-2:]}
        assert all(usable(store, number) for number in needed)
        assert set(found.versions) == needed
        extra = {read_version(store, number).build for number in needed}
        assert set(build_names(store)) == {*names[-keep:], *extra}
        ours = {name for name in after if name.split("/")[0] in ("examples", "pages", "vocabulary")}
        assert ours <= kept | unfinished | {name for files in junk.values() for name in files}
        assert plan_pruning(store, keep).sizes == {}


def test_before_the_first_build_nothing_goes(tmp_path: Path) -> None:
    root = Root(tmp_path)
    root.shard("articles", 1)
    root.write("articles/part-00000.0000000000000002.parquet.damaged")
    found = plan_pruning(root.store, 3)
    assert (found.sizes, found.young) == ({}, 3)


def test_manifests_go_first_and_records_before_what_they_vouch_for(tmp_path: Path) -> None:
    root = Root(tmp_path)
    old = root.build({"examples": {"0": root.shard("examples", 1)}}, {"models/ranker": root.model("models/ranker", 1)})
    root.build({"examples": {"0": root.shard("examples", 2)}}, {})
    found = plan_pruning(root.store, 1)
    assert list(found.sizes) == [
        f"builds/{old}.json",
        "examples/part-00000.0000000000000001.json",
        "models/ranker/0000000000000001.json",
        "examples/part-00000.0000000000000001.parquet",
        "models/ranker/0000000000000001/checkpoints/step-00000001/state.json",
        "models/ranker/0000000000000001/model.safetensors",
    ]
    assert found.by_folder()["examples"] == (2, 2)
    assert set(found.by_folder()) == {"builds", "examples", "models/ranker"}
    carry_out(root.store, found)
    assert not (tmp_path / "models/ranker").exists()  # no empty folders stay behind


def test_what_was_set_aside_in_a_kept_directory_goes(tmp_path: Path) -> None:
    root = Root(tmp_path)
    path = root.model("models/ranker", 1)
    root.write(f"{path}/model.safetensors.damaged")
    root.build({}, {"models/ranker": path})
    assert list(plan_pruning(root.store, 1).sizes) == [f"{path}/model.safetensors.damaged"]


def test_an_interrupted_build_counts_as_a_build(tmp_path: Path) -> None:
    root = Root(tmp_path)
    root.model("models/ranker", 2)  # trained, before something else of its build failed
    for key in range(3):
        assert "models/ranker" not in plan_pruning(root.store, 3).by_folder()
        root.build({"examples": {"0": root.shard("examples", key)}}, {})
    assert "models/ranker" in plan_pruning(root.store, 3).by_folder()
    root.model("models/summarizer", 3, finished=False)
    root.build({"examples": {"0": root.shard("examples", 4)}}, {})
    assert "models/summarizer" not in plan_pruning(root.store, 3).by_folder()  # two older builds do not push it out


def test_a_run_that_finds_everything_done_is_no_further_build(tmp_path: Path) -> None:
    root = Root(tmp_path)
    first, second = (root.build({"examples": {"0": root.shard("examples", key)}}, {}) for key in range(2))
    root.model("models/ranker", 2)
    again = [root.build({"examples": {"0": "examples/part-00000.0000000000000001.parquet"}}, {}) for _ in range(5)]
    found = plan_pruning(root.store, 2)
    assert found.builds == (first, second, again[-1])
    assert list(found.sizes) == [f"builds/{name}.json" for name in again[:-1]]
    carry_out(root.store, found)
    # What is unfinished is as old as the build before it, not as the last run that made nothing.
    assert plan_pruning(root.store, 1).builds == (second, again[-1])
    assert set(plan_pruning(root.store, 1).by_folder()) == {"builds", "examples"}


def test_a_pinned_build_stays_until_its_pin_is_taken_away(tmp_path: Path) -> None:
    root = Root(tmp_path)
    mine, *_ = (root.build({"examples": {"0": root.shard("examples", key)}}, {}) for key in range(3))
    with pytest.raises(StorageError, match=r"no build 'mine' below .*; existing builds: 20260101-000001-abcdef, "):
        pin_build(root.store, "mine")
    pin_build(root.store, mine)
    pin_build(root.store, mine)
    carry_out(root.store, plan_pruning(root.store, 1))
    assert pinned_builds(root.store) == [mine]
    assert build_names(root.store) == [mine, "20260101-000003-abcdef"]
    assert root.store.exists("examples/part-00000.0000000000000000.parquet")
    assert not root.store.exists("examples/part-00000.0000000000000001.parquet")
    unpin_build(root.store, mine)
    with pytest.raises(ValueError, match=f"build '{mine}' is not pinned; pinned are: none"):
        unpin_build(root.store, mine)
    carry_out(root.store, plan_pruning(root.store, 1))
    assert build_names(root.store) == ["20260101-000003-abcdef"]


def test_retraining_prunes_only_what_it_made(tmp_path: Path) -> None:
    root = Root(tmp_path)
    shared, words = root.shard("examples", 90), root.shard("vocabulary", 0)
    reports = [
        root.build({"examples": {"0": shared, "1": root.shard("examples", key)}}, {}, root.model("reports", key))
        for key in (1, 2)
    ]
    weeks = []
    for week in range(3):
        models = {"models/ranker": root.model("models/ranker", week)}
        dropped = {"models/ranker, replaced": root.model("models/ranker", 10 + week)}
        files = {"0": shared, "1": root.shard("examples", 10 + week)}
        weeks.append(root.build({"examples": files}, models | dropped))
        root.version(weeks[-1], models, words)
    promote_version(root.store, 3, at="", why="")
    root.shard("pages", 7)
    root.write(f"pages/part-00000.{8:016x}.parquet.damaged")
    others = root.build({"examples": {"0": shared}}, {})

    found = plan_pruning(root.store, 1, retrained=True)
    assert (found.builds, found.versions, found.young) == ((*reports, weeks[2], others), (3,), 3)
    assert set(found.sizes) == {
        *(f"builds/{name}.json" for name in weeks[:2]),
        *(f"examples/part-00000.{10 + week:016x}.{end}" for week in (0, 1) for end in ("parquet", "json")),
        *(
            f"models/ranker/{key:016x}{end}"
            for key in (0, 1, 10, 11)
            for end in (".json", "/model.safetensors", "/checkpoints/step-00000001/state.json")
        ),
    }
    carry_out(root.store, found)
    assert plan_pruning(root.store, 1, retrained=True).sizes == {}
    assert "reports" in plan_pruning(root.store, 1).by_folder()  # by hand all builds count


def test_a_manifest_that_cannot_be_read_goes_with_the_old_ones(tmp_path: Path) -> None:
    root = Root(tmp_path)
    take_stock(root.store)
    root.write("builds/20250101-000000-abcdef.json", b"{")
    for key in range(2):
        root.build({"examples": {"0": root.shard("examples", key)}}, {})
    assert list(plan_pruning(root.store, 2).sizes) == ["builds/20250101-000000-abcdef.json"]
    carry_out(root.store, plan_pruning(root.store, 3))  # it is among the three newest
    aside = "builds/20250101-000000-abcdef.json.damaged"
    assert aside in root.files()
    assert list(plan_pruning(root.store, 2).sizes) == [aside]
    assert plan_pruning(root.store, 3).sizes == {}


@pytest.mark.parametrize("damage", ["flip", "half", "empty", "of another build"])
def test_what_a_damaged_manifest_may_have_named_is_kept(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    root = Root(tmp_path)
    names = [root.build({"examples": {"0": root.shard("examples", key)}}, {}) for key in range(2)]
    path = tmp_path / "builds" / f"{names[1]}.json"
    data, moment = path.read_bytes(), path.stat().st_mtime
    other = (tmp_path / "builds" / f"{names[0]}.json").read_bytes()
    path.write_bytes(
        {"flip": data.replace(b'"config"', b'"confiG"'), "half": data[:40], "empty": b"", "of another build": other}[
            damage
        ]
    )
    os.utime(path, (moment, moment))
    names += [root.build({"examples": {"0": root.shard("examples", key)}}, {}) for key in (2, 3)]

    found = plan_pruning(root.store, 3)
    assert (found.builds, list(found.damaged), found.sizes) == (tuple(names), [f"builds/{names[1]}.json"], {})
    carry_out(root.store, found)
    assert f"builds/{names[1]}.json cannot be read" in caplog.text
    assert path.with_name(f"{names[1]}.json.damaged").exists()
    assert plan_pruning(root.store, 3).builds == tuple(names)

    root.build({"examples": {"0": root.shard("examples", 4)}}, {})
    found = plan_pruning(root.store, 2)  # it is no longer among those to keep: everything that old goes with it
    assert found.damaged == {}
    assert set(found.sizes) == {
        f"builds/{names[0]}.json",
        f"builds/{names[1]}.json.damaged",
        f"builds/{names[2]}.json",
        *(f"examples/part-00000.{key:016x}.{ending}" for key in (0, 1, 2) for ending in ("json", "parquet")),
    }


def test_a_damaged_manifest_of_others_stops_no_retraining_and_keeps_what_is_older(tmp_path: Path) -> None:
    root = Root(tmp_path)
    words = root.shard("vocabulary", 0)

    def week(key: int) -> str:
        name = root.build({"examples": {"0": root.shard("examples", key)}}, {})
        root.version(name, {}, words)
        return name

    first = week(0)
    theirs = root.build({"examples": {"0": root.shard("examples", 50)}}, {})
    root.store.write_bytes(f"builds/{theirs}.json", b"\0")
    root.touch(f"builds/{theirs}.json")
    second, third = week(1), week(2)
    promote_version(root.store, 3, at="", why="")

    found = plan_pruning(root.store, 1, retrained=True)
    assert (found.builds, list(found.damaged)) == ((first, theirs, third), [f"builds/{theirs}.json"])
    assert set(found.sizes) == {
        f"builds/{second}.json",
        *(f"examples/part-00000.{1:016x}.{ending}" for ending in ("json", "parquet")),
    }


def test_what_a_damaged_version_may_have_named_is_kept(tmp_path: Path) -> None:
    root = Root(tmp_path)
    words = root.shard("vocabulary", 0)
    for key in range(3):
        models = {"models/ranker": root.model("models/ranker", key)}
        root.version(root.build({}, models), models, words)
        root.touch(f"registry/versions/{key + 1:06d}.json")
    promote_version(root.store, 3, at="", why="")
    root.write("registry/versions/000002.json", b"{}")
    found = plan_pruning(root.store, 2)
    assert (found.versions, list(found.damaged)) == ((2, 3), ["registry/versions/000002.json"])
    assert found.sizes == {}
    assert "models/ranker" in plan_pruning(root.store, 1).by_folder()


def test_files_of_others_among_the_manifests_are_left_alone(tmp_path: Path) -> None:
    root = Root(tmp_path)
    strangers = [
        "builds/.DS_Store",
        "builds/notes.json",
        "builds/._20260101-000001-abcdef.json",
        "builds/pinned/.DS_Store",
        "registry/versions/2.json",
        "registry/versions/.DS_Store",
    ]
    for name in strangers:
        root.write(name, b"\0\1Bud1")
    names = [root.build({"examples": {"0": root.shard("examples", key)}}, {}) for key in range(2)]
    found = plan_pruning(root.store, 1)
    carry_out(root.store, found)
    assert (build_names(root.store), pinned_builds(root.store), found.damaged) == ([names[1]], [], {})
    assert set(strangers) <= root.files()


def test_a_root_in_a_folder_of_the_root_is_left_alone(tmp_path: Path) -> None:
    outer, inner = Root(tmp_path), Root(tmp_path / "titles")
    inner.build(
        {"examples": {"0": inner.shard("examples", 1)}},
        {"models/ranker": inner.model("models/ranker", 1)},
        inner.model("reports", 1),
    )
    inner.write(f"examples/.part-00001.{2:016x}.parquet.{2:032x}.tmp")
    outer.model("pictures", 1)  # somebody else's folder whose names look like ours
    outer.clock = inner.clock
    outer.build({}, {})
    assert plan_pruning(outer.store, 1).sizes == {}


def test_keeping_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep is 0: expected at least 1"):
        plan_pruning(Store(str(tmp_path)), 0)
