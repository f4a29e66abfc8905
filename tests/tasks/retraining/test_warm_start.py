"""How training goes on from the champion, and which ranker is taken up."""

from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from models.training.state import noam
from storage.directories import DirectoryRecord
from storage.errors import StorageError
from storage.registry import FrozenSplit, Version, read_frozen
from storage.store import Store
from tasks.engine.recipe import DirectoryResult
from tasks.ranking.settings import RankerSettings
from tasks.retraining.settings import RetrainingSettings
from tasks.retraining.warm_start import (
    better_ranker,
    champion_models,
    frozen_stages,
    pinned,
    ranker_fits,
    summarizer_fits,
    summarizer_form,
    warm_ranker,
    warm_training,
)
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tests.storage.test_verification import filled


def ranker(loss: float, initial: float, floor: float = 0.1) -> DirectoryResult:
    metrics = {"validation_loss": loss, "initial_loss": initial, "validation_loss_floor": floor}
    return DirectoryResult("models/ranker", DirectoryRecord("models/ranker", "new", {}, "", {}, {}, metrics, 0.0))


CHAMPION = DirectoryResult("models/ranker", DirectoryRecord("models/ranker", "old", {}, "", {}, {}, {}, 0.0))


@pytest.mark.parametrize(
    ("loss", "initial", "gain", "taken"),
    # Above the floor of .1 the champion loses .1, of which a gain of .02 is .002.
    [
        (0.15, 0.2, 0.02, "new"),
        (0.197, 0.2, 0.02, "new"),
        (0.199, 0.2, 0.02, "old"),
        (0.2, 0.2, 0.0, "old"),
        (0.3, 0.2, 0.0, "old"),
        (0.1999, 0.2, 0.0, "new"),
    ],
)
def test_a_ranker_is_taken_up_where_it_saves_enough(loss: float, initial: float, gain: float, taken: str) -> None:
    chosen = better_ranker(ranker(loss, initial), CHAMPION, gain)
    assert chosen.record is not None
    assert chosen.record.key == taken


def test_the_promise_of_a_ranker_stays_one() -> None:
    promise = DirectoryResult("models/ranker", None)
    assert better_ranker(promise, CHAMPION, 0.1) is promise


def test_the_schedule_peaks_at_the_share_of_the_peak_before() -> None:
    training = TrainingSettings(steps=1000, warmup=100, learning_rate_factor=2.0, validation_interval=250)
    warm = warm_training(training, RetrainingSettings(summarizer_steps=40, warmup=9))
    assert (warm.steps, warm.warmup, warm.validation_interval) == (40, 9, 40)
    before = noam(factor=training.learning_rate_factor, model_size=64, warmup=training.warmup)
    after = noam(factor=warm.learning_rate_factor, model_size=64, warmup=warm.warmup)
    assert after(9) == pytest.approx(before(100))
    assert warm.learning_rate == training.learning_rate


def test_a_ranker_trained_on_validates_before_it_ends() -> None:
    warm = warm_ranker(RankerSettings(steps=900, validation_interval=300), RetrainingSettings(ranker_steps=50))
    assert (warm.steps, warm.validation_interval) == (50, 50)


def test_models_of_another_shape_are_trained_afresh() -> None:
    settings = {
        "ranker": RankerSettings(hidden=8).model_dump(mode="json"),
        "summarizer": SummarizerSettings(preset="ht-small").model_dump(mode="json"),
    }
    version = Version(1, "", "", "", None, {}, "", settings, {}, {})
    assert ranker_fits(version, RankerSettings(hidden=8, learning_rate=1.0))
    assert not ranker_fits(version, RankerSettings(hidden=16))
    assert summarizer_fits(version, SummarizerSettings(preset="ht-small"))
    assert not summarizer_fits(version, SummarizerSettings(preset="ht-small", graph="similarity"))
    assert not summarizer_fits(version, SummarizerSettings(preset="ht-small", truncation="each"))


@pytest.mark.parametrize(
    ("preset", "others", "form"),
    [
        ("ht-small", {}, "plain"),
        ("ht-small", {"copying": True, "slots": True}, "slots"),
        ("hie-bart-small", {}, "sentences"),
        ("hie-bart-small", {"overrides": {"sentence_heads": 0}}, "plain"),
    ],
)
def test_a_version_is_judged_on_the_examples_its_summarizer_reads(
    preset: str, others: dict[str, Any], form: str
) -> None:
    settings = {"summarizer": SummarizerSettings(preset=preset, **others).model_dump(mode="json")}
    assert summarizer_form(Version(1, "", "", "", None, {}, "", settings, {}, {})) == form


def test_another_seed_than_that_of_the_frozen_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"seed is 2, but the test split below .* was frozen under seed 1"):
        frozen_stages(Store(str(tmp_path)), FrozenSplit("b", 1), seed=2)


def test_a_root_without_a_champion_has_none(tmp_path: Path) -> None:
    assert champion_models(Store(str(tmp_path))) is None


@pytest.mark.parametrize(
    ("lost", "problem"),
    [("json", "has no record that can be read"), ("parquet", "is gone"), ("json parquet", "has no record that can be")],
)
def test_a_pinned_file_that_is_gone_is_named_with_the_way_out(tmp_path: Path, lost: str, problem: str) -> None:
    store = filled(tmp_path)
    frozen = read_frozen(store)
    assert frozen is not None
    (file,) = frozen.articles
    assert pinned(store, "documents", [file]).shards == range(1)
    for ending in lost.split():
        store.delete(file.replace("parquet", ending))
    with pytest.raises(StorageError, match=rf"{file} below .*, {problem}.*: restore it from a backup"):
        pinned(store, "documents", [file])


def test_a_week_begins_in_the_time_zone_of_the_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Monday 00:30 in London in summer is Sunday 23:30 in UTC."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2026, 6, 28, 23, 30, tzinfo=UTC).astimezone(tz)

    monkeypatch.setattr("tasks.retraining.settings.datetime", Clock)
    assert RetrainingSettings().period == "2026-W26"
    assert RetrainingSettings(timezone="Europe/London").period == "2026-W27"


@pytest.mark.parametrize("zone", ["London", "../etc/passwd", "", "/etc/localtime"])
def test_what_is_no_time_zone_is_named(zone: str) -> None:
    with pytest.raises(ValueError, match=f"expected the name of a time zone such as Europe/London, got '{zone}'"):
        RetrainingSettings(timezone=zone)


def test_the_period_is_the_week_given_or_the_present_one() -> None:
    assert RetrainingSettings(week="2026-W03").period == "2026-W03"
    assert len(RetrainingSettings().period) == len("2026-W03")
    with pytest.raises(ValueError, match="week"):
        RetrainingSettings(week="next week")
