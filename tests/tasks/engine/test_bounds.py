"""Every number among the settings has bounds: what is absurd is refused by name before work starts."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import flows
import tasks
from flows.running.command_line import CommandLine
from tasks.engine.settings import Settings

ABSURD = st.one_of(
    st.integers(min_value=2**63),
    st.integers(max_value=-(2**63)),
    st.floats(min_value=1e19, allow_infinity=False),
    st.floats(max_value=-1e19, allow_infinity=False),
)


def sections() -> set[type[Settings]]:
    """Every settings class of the project."""
    for package in (flows, tasks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.rpartition(".")[2] == "settings":
                importlib.import_module(module.name)

    def below(kind: type[Settings]) -> Iterator[type[Settings]]:
        yield kind
        for other in kind.__subclasses__():
            yield from below(other)

    return {kind for kind in below(Settings) if kind.__module__.startswith(("flows.", "tasks."))}


NUMBERS = sorted(
    f"{kind.__module__}:{kind.__name__}.{name}"
    for kind in sections()
    for name, field in kind.model_fields.items()
    if not {field.annotation, *get_args(field.annotation)}.isdisjoint({int, float})
)


def test_the_numbers_are_found() -> None:
    assert len(NUMBERS) > 100
    assert "tasks.summarization.settings:TrainingSettings.steps" in NUMBERS
    assert "flows.running.settings:BudgetSettings.run_dollars" in NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=10)
@given(value=ABSURD)
def test_an_absurd_number_is_refused_by_name(number: str, value: float) -> None:
    module, _, full = number.partition(":")
    kind, _, name = full.partition(".")
    with pytest.raises(ValidationError) as refused:
        getattr(importlib.import_module(module), kind).model_validate({name: value})
    assert (name,) in [error["loc"] for error in refused.value.errors()]


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("training", "steps", 2**64),
        ("training", "learning_rate", 1e300),
        ("training", "torch_threads", 100_000),
        ("decoding", "beam", 1_000_000),
        ("engine", "workers", 100_000),
        ("ranker", "learning_rate", 1e6),
        ("retraining", "keep", 2**31),
    ],
)
def test_numbers_far_beyond_any_use_are_refused(section: str, name: str, value: float) -> None:
    with pytest.raises(ValidationError, match=rf"{section}.{name}\n  Input should be less than or equal to"):
        CommandLine.model_validate({section: {name: value}})


@pytest.mark.parametrize("text", ["data\udcff", "a\0b"])
def test_text_that_no_file_can_hold_is_refused_by_name(text: str) -> None:
    for given_text in (
        {"root": text},
        {"source": {"records": {"paths": [text]}}},
        {"summarizer": {"pretrained": text}},
    ):
        with pytest.raises(ValidationError, match="expected text that UTF-8 can write, without NUL"):
            CommandLine.model_validate(given_text)
