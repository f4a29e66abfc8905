"""What every stage that trains or decodes is told unless something else is asked for, each value with its place.

"released" is the code of Liu & Lapata 2019.
"""

import pytest
from pydantic import ValidationError

from tasks.engine.settings import Settings
from tasks.extraction.settings import ExtractSettings
from tasks.fetching.settings import CrawlSettings, WaybackSettings
from tasks.ranking.settings import RankerSettings
from tasks.sources.settings import MiniwebSettings, Tensor2TensorSettings
from tasks.summarization.settings import AttentionSettings, DecodingSettings, SummarizerSettings, TrainingSettings
from tasks.summarization.training import trainer_settings

DEFAULTS: dict[type[Settings], dict[str, object]] = {
    SummarizerSettings: {
        "preset": "ht",
        "overrides": {},
        "graph": "none",
        "max_paragraphs": 24,  # Liu & Lapata 2019, sec. 4
        "max_paragraph_tokens": 100,  # Ma & Zong 2020, sec. 4.2
        "max_source_tokens": None,
        "max_target_tokens": 400,
    },
    TrainingSettings: {
        "steps": 500_000,  # Liu & Lapata 2019, sec. 4
        "batch_tokens": 10_500,  # released
        "accumulation": 4,  # released
        "schedule": "noam",  # Vaswani et al. 2017
        "learning_rate_factor": 3.0,  # released
        "learning_rate": 2e-5,  # Liu & Lapata 2019, sec. 4, in place of the schedule
        "warmup": 8000,  # Liu & Lapata 2019, sec. 4
        "label_smoothing": 0.1,  # Liu & Lapata 2019, sec. 4
        "dropout": None,
        "clip_norm": None,
        "validation_articles": 4000,
        "validation_interval": 2500,
        "keep_best": 5,  # Liu & Lapata 2019, sec. 4
        "precision": "auto",
        "max_seconds": None,
        "log_interval": 50,
        "decoded_articles": 8,
        "compile": False,
    },
    AttentionSettings: {
        "steps": 100_000,  # Ma & Zong 2022, sec. 5.2
        "learning_rate_factor": 1.0,  # Vaswani et al. 2017
        "warmup": 16_000,  # Ma & Zong 2022, sec. 5.2, of PHT
    },
    RankerSettings: {
        "hidden": 256,  # Liu & Lapata 2019, sec. 4
        "learning_rate": 0.15,  # Liu & Lapata 2019, sec. 4, of Adagrad
        "initial_accumulator": 0.001,
    },
    DecodingSettings: {
        "beam": 5,  # Liu & Lapata 2019, sec. 4
        "normalisation": "wu",  # Liu & Lapata 2019, sec. 4
        "alpha": 0.4,  # Liu & Lapata 2019, sec. 4
        "min_length": 20,  # released
        "max_length": 400,  # released
        "block_ngrams": 0,
        "block_recent": 0,
        "alignment": "none",
        "coverage": 0.0,
        "compressed_paragraphs": None,
        "max_paragraphs": None,
        "max_source_tokens": None,
        "checkpoint": 0,
        "precision": "float32",
    },
}


@pytest.mark.parametrize("section", DEFAULTS, ids=lambda section: section.__name__)
def test_defaults_are_those_of_the_papers(section: type[Settings]) -> None:
    found = section().model_dump()
    assert {name: found[name] for name in DEFAULTS[section]} == DEFAULTS[section]


def test_what_training_is_told_reaches_the_trainer() -> None:
    told = {
        "steps": 11,
        "accumulation": 12,
        "clip_norm": 1.4,
        "log_interval": 15,
        "validation_interval": 16,
        "keep_best": 18,
        "max_seconds": 20.0,
        "precision": "bfloat16",
        "compile": True,
    }
    found = trainer_settings(TrainingSettings(**told), seed=21)
    assert {name: getattr(found, name) for name in told} == told
    assert (found.seed, found.validate_start) == (21, False)
    shared = trainer_settings(TrainingSettings(**told), seed=21, processes=3, continued=True)
    assert (shared.accumulation, shared.validate_start) == (4, True)


def test_a_record_of_before_may_have_what_is_a_constant_now() -> None:
    address = "https://archive.org/wayback/available"
    before = {"max_bytes": 5, "wayback": {"enabled": True, "availability_url": address}}
    assert CrawlSettings.of_record(before) == CrawlSettings(max_bytes=5, wayback=WaybackSettings(enabled=True))
    with pytest.raises(ValidationError, match=r"wayback\.availability_url"):  # the pages were others
        CrawlSettings.of_record({"wayback": {"availability_url": "https://other.test"}})
    with pytest.raises(ValidationError, match=r"wayback\.availability_url"):  # a person is told that it is no setting
        CrawlSettings.model_validate(before)


def test_constants_that_were_settings_stay_in_the_recipe() -> None:
    assert ExtractSettings().recipe() == {"engine": "blocks", "cpu_seconds": 10.0}
    asked = WaybackSettings(enabled=True, timestamp="2015").recipe()
    assert asked == {
        "enabled": True,
        "timestamp": "2015",
        "availability_url": "https://archive.org/wayback/available",
        "pages_url": "https://web.archive.org/web/",
    }
    assert WaybackSettings().recipe() == {"enabled": False}
    assert MiniwebSettings().recipe()["held_back"] == 0.3
    assert MiniwebSettings().recipe()["partition_topics"] == 1000
    gone = {"beta": 0.8, "alignment_when": "step", "prompt_title": False, "max_paragraph_tokens": None}
    assert gone.items() <= DecodingSettings().recipe().items()
    assert Tensor2TensorSettings().recipe() == {"urls": "", "content": "", "split": "files"}
    assert CrawlSettings().recipe()["max_decoded_archive_bytes"] == 50_000_000_000
