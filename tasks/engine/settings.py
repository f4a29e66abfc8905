"""The base class of settings sections, and which of their fields belong to a shard's recipe.

A stage's settings class is defined in `settings.py` of the stage's folder. That module imports nothing slow, so that
`--help` is fast; `flows/config.py` puts the sections together. Most fields decide a shard's content and so are part of
its key. A field declared with `tuning` only decides how fast or how politely the shard is made (pool sizes, retries):
changing it recomputes nothing.

Secrets come from the environment: settings name the variable, so that no record, parameter or log holds the secret."""

import os
import re
from collections.abc import Mapping
from inspect import get_annotations
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from storage.paths import is_path_text
from storage.redaction import holds_secret

# Every number has an upper bound too, far above what anybody needs: a typing error is found before work starts, and no
# number overflows. These two bound many settings.
MOST_STEPS = 100_000_000
MOST_TOKENS = 10_000_000

# A valid value of an HTTP header: one line of printable ASCII.
HEADER_TEXT = r"^[\x20-\x7e]*$"
_NO_SUCH_SETTING = "no such setting; docs/upgrading.md lists those that became constants or went"
_SECRET = (
    "its URL holds a user or password, which records, parameters and logs would keep: expected it without. For HTTP "
    "services the environment variable WIKISUM_CREDENTIALS has them (HOST=USER:PASSWORD, several divided by spaces), "
    "for s3:// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


class Settings(BaseModel):
    """A frozen section of settings, without unknown fields, infinity or NaN; the text below a field is for users."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # it may be a secret
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **_kwargs: Any) -> None:
        for field in cls.model_fields.values():
            field.description = field.description and " ".join(field.description.split())

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `true` where a number is expected: it would count as 1."""
        if isinstance(value, bool) and info.field_name is not None:
            annotation = cls.model_fields[info.field_name].annotation
            kinds = {annotation, *get_args(annotation)}
            if bool not in kinds and not kinds.isdisjoint({int, float}):
                raise ValueError("expected a number")
        return value

    @field_validator("*", mode="before")
    @classmethod
    def _is_text_without_secret(cls, value: Any) -> Any:
        """Refuse user and password in a URL, and text that no file can hold; a section checks its own fields."""
        values = value if isinstance(value, list | tuple | set | frozenset) else [value]
        texts = [text for text in values if isinstance(text, str)]
        if any(map(holds_secret, texts)):
            raise ValueError(_SECRET)
        if not all(map(is_path_text, texts)):
            raise ValueError("expected text that UTF-8 can write, without NUL")
        return value

    @classmethod
    def of_record(cls, values: Mapping[str, Any]) -> Self:
        """Return settings that a record has, also one of an earlier version: what has become a constant (`ClassVar`)
        since then is left out if it had that value. Raises ValidationError: it had another value, or a setting is
        unknown."""
        return cls.model_validate(cls._without_constants(values))

    @classmethod
    def _without_constants(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        kept, unknown = dict[str, Any](), object()
        for name, value in values.items():
            info = cls.model_fields.get(name)
            if info is None and getattr(cls, name, unknown) == value:
                continue
            section = None if info is None else info.annotation
            if isinstance(value, Mapping) and isinstance(section, type) and issubclass(section, Settings):
                value = section._without_constants(value)
            kept[name] = value
        return kept

    def recipe(self) -> dict[str, Any]:
        """Return the JSON-able fields and constants (`ClassVar`) that decide a shard's content, in the order in which
        they are declared, nested sections included."""
        fields: dict[str, Any] = {}
        kinds = [kind for kind in reversed(type(self).__mro__) if issubclass(kind, Settings)]
        for name in dict.fromkeys(name for kind in kinds for name in get_annotations(kind)):
            info, value = type(self).model_fields.get(name), getattr(self, name)
            extra = None if info is None else info.json_schema_extra
            if isinstance(extra, dict) and extra.get("tuning"):
                continue
            plain = value if info is None else self.model_dump(mode="json")[name]
            fields[name] = value.recipe() if isinstance(value, Settings) else plain
        return fields


def tuning(default: Any, **constraints: Any) -> Any:
    """Declare a field that changes how a shard is made but never its content."""
    return Field(default, json_schema_extra={"tuning": True}, **constraints)


def message_of(problem: ErrorDetails) -> str:
    """Return what is wrong with a setting, for people."""
    if problem["type"] == "extra_forbidden":
        return _NO_SUCH_SETTING
    return problem["msg"].removeprefix("Value error, ")


def secret_in(variable: str | None, setting: str, what: str) -> str | None:
    """Return the secret that an environment variable holds; None if the setting names no variable. Raises
    ValueError, which names `setting` and `what` was expected: the variable is not set, is empty, or holds anything but
    one line of printable ASCII, as headers of HTTP need it."""
    if variable is None:
        return None
    secret = os.environ.get(variable, "")
    if not secret or not re.fullmatch(HEADER_TEXT, secret):
        result = "something else" if secret else "none"
        raise ValueError(
            f"{setting} is {variable!r}: expected an environment variable that holds {what}, one line of ASCII; it "
            f"holds {result}"
        )
    return secret
