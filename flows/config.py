"""The configuration of a build: one section per stage, each in `settings.py` of its stage's folder."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, GetJsonSchemaHandler, ValidationError, field_validator, model_validator
from pydantic_core import CoreSchema

from flows.running.settings import BudgetSettings, EngineSettings
from flows.running.settings_file import read_settings
from models.json_file import length_penalty
from models.presets import PRESETS as SUMMARIZERS
from models.presets import TrainingRecipe, check_predictable, find_preset
from tasks.engine.settings import Settings, message_of, tuning
from tasks.evaluation.settings import EXTRACTOR, Baseline, BaselineSettings, ScoringSettings
from tasks.exchange.ranked_wikisum.settings import ImportSettings
from tasks.extraction.settings import ExtractSettings
from tasks.fetching.settings import CrawlSettings
from tasks.near_duplicates.settings import AcrossSettings
from tasks.paragraphs.settings import ParagraphSettings
from tasks.ranking.settings import RankerSettings, RankingSettings
from tasks.reporting.settings import ReportSettings
from tasks.retraining.settings import RetrainingSettings
from tasks.search.settings import WebSearchSettings
from tasks.sources.settings import MiniwebSettings, SourceSettings
from tasks.summarization.settings import (
    AttentionSettings,
    DecodingSettings,
    ExampleSettings,
    GraphSettings,
    SummarizerSettings,
    TrainingSettings,
    VocabularySettings,
)
from tasks.tables.settings import TableSettings
from tasks.text.ngrams import WordRule
from tasks.writing.settings import BuildWriterSettings

PRESETS = Path(__file__).parent / "presets"
Preset = Literal["miniweb", "records", "paper"]


_MOST_SHARDS = 100_000  # each is a file and a record of every stage, which every walk reads
_MOST_SEED = 2**32 - 1  # the smallest limit of the libraries that take the seed
USUAL = (
    *("preset", "root", "name", "seed", "source.kind", "source.records.paths", "source.mediawiki.titles"),
    *("crawl.contact", "shards.articles", "ranking.method", "summarizer.preset", "summarizer.graph"),
    *("summarizer.pretrained", "training.steps", "engine.workers"),
)
OTHERS = "settings"  # the field of all others
_OTHERS = 'all other settings by their full names, as on the command line: {"decoding.beam": 8, "ranker.steps": 500}'
_EMPTY = "left empty: as the preset has it"
_FORMS: dict[type, dict[str, Any]] = {}  # JSON schemas, each made once


class ShardSettings(Settings):
    """How many files a stage is cut into."""

    articles: int = Field(8, ge=1, le=_MOST_SHARDS)
    """shards of the stages that go by article; 1,000 suit 1.6 M articles"""
    hosts: int = Field(4, ge=1, le=_MOST_SHARDS)
    """shards of the stages that go by host; 1,000 suit the whole web"""


class FurtherSettings(Settings):
    """The settings in which a further summarizer of a build differs."""

    vocabulary: VocabularySettings = VocabularySettings()
    examples: ExampleSettings = ExampleSettings()
    summarizer: SummarizerSettings = SummarizerSettings()
    training: TrainingSettings = TrainingSettings()
    attention: AttentionSettings = AttentionSettings()
    decoding: DecodingSettings = DecodingSettings()


class BuildConfig(Settings):
    """The configuration of a build; what is not given comes from the preset, and then from the section's defaults."""

    preset: Preset = "miniweb"
    """miniweb: the embedded web and small models, minutes on a laptop; records: your own JSONL and small models; paper:
    the settings of Liu & Lapata 2019"""
    root: str = tuning("data")
    """folder or URI (s3://bucket/folder) everything is written below"""
    name: str = tuning("", pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)
    """name of the corpus, in the keys of artifacts, names of runs and tags of a Prefect server that several corpora
    share: lower-case letters, digits and dashes; default: preset and last part of the root"""
    seed: int = Field(1, ge=0, le=_MOST_SEED)
    """every random choice depends on it"""
    words: WordRule = "rouge"
    """how texts are cut into words for clones, labels, tf-idf and graphs: `rouge` = as in the papers if the lead is in
    the Latin alphabet, else as `unicode`; `unicode` = the words of Unicode in every alphabet, so that "Zürich" is one
    word, and each character of a script without spaces"""
    engine: EngineSettings = EngineSettings()
    budget: BudgetSettings = tuning(BudgetSettings())
    shards: ShardSettings = ShardSettings()
    source: SourceSettings = SourceSettings()
    search: WebSearchSettings = WebSearchSettings()
    crawl: CrawlSettings = CrawlSettings()
    extraction: ExtractSettings = ExtractSettings()
    paragraphs: ParagraphSettings = ParagraphSettings()
    across: AcrossSettings = AcrossSettings()
    vocabulary: VocabularySettings = VocabularySettings()
    ranker: RankerSettings = RankerSettings()
    ranking: RankingSettings = RankingSettings()
    graphs: GraphSettings = GraphSettings()
    examples: ExampleSettings = ExampleSettings()
    imported: ImportSettings | None = None
    """train on other people's ranked shards, instead of your own corpus"""
    summarizer: SummarizerSettings = SummarizerSettings()
    training: TrainingSettings = TrainingSettings()
    attention: AttentionSettings = AttentionSettings()
    decoding: DecodingSettings = DecodingSettings()
    further: dict[str, FurtherSettings] = Field(default_factory=dict)
    """further summarizers, as rows of the same table: name -> its sections of vocabulary, examples, summarizer,
    training, attention and decoding; all other settings are those that the command would have with this summarizer
    alone"""
    baselines: BaselineSettings = BaselineSettings()
    writer: BuildWriterSettings | None = None
    """a language model as one more system; null = none"""
    scoring: ScoringSettings = ScoringSettings()
    report: ReportSettings = ReportSettings()
    retraining: RetrainingSettings = tuning(RetrainingSettings())
    """of retrain alone: no part of a build's recipe"""
    tables: TableSettings = tuning(TableSettings())
    """of reproduce-tables alone: no part of a build's recipe"""

    @property
    def miniweb(self) -> MiniwebSettings | None:
        """The settings of the embedded web, if the corpus comes from it: then its facts are known."""
        return self.source.miniweb if self.source.kind == "miniweb" and self.imported is None else None

    @property
    def order(self) -> str:
        """The method that orders paragraphs; those that were imported stay as they are."""
        return self.ranking.method if self.imported is None else "found"

    @property
    def tokenizer_folder(self) -> tuple[str, str] | None:
        """The local folder whose tokenizer is the vocabulary, and the setting that names it; None = it is estimated."""
        if self.vocabulary.folder is not None:
            return self.vocabulary.folder, "vocabulary.folder"
        pretrained = self.summarizer.pretrained
        return None if pretrained is None else (pretrained, "summarizer.pretrained")

    def further_builds(self) -> Iterator[tuple[str, "BuildConfig"]]:
        """Yield the name of each further summarizer, and the settings of a build with it instead of the first."""
        for name, own in self.further.items():
            yield name, self.model_copy(update={**dict(own), "further": {}})

    def recipe(self) -> dict[str, Any]:
        """Return the fields that decide what the build makes; a section that none of its stages reads is left out."""
        fields = super().recipe()
        if further := {name: own.recipe() for name, own in self.further.items()}:
            fields["further"] = further
        else:
            del fields["further"]
        if not self.decoding.guidance.reads_predictor:
            del fields["attention"]
        if self.writer is None:
            del fields["writer"]
        return fields

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON schema of a form, made from that of all settings. It holds no default: a form sends defaults
        back as if a person had chosen them, over those of the preset."""
        if cls not in _FORMS:  # every flow needs it, so importing all of them would make it sixteen times
            _FORMS[cls] = cls._form(handler.resolve_ref_schema(handler(core)), handler)
        return deepcopy(_FORMS[cls])

    @staticmethod
    def _form(whole: dict[str, Any], handler: GetJsonSchemaHandler) -> dict[str, Any]:
        properties = dict[str, Any]()
        for position, name in enumerate(USUAL):
            field: dict[str, Any] = dict(whole)
            for part in name.split("."):
                field = handler.resolve_ref_schema(field)["properties"][part]
            shown = {key: value for key, value in field.items() if key not in ("default", "tuning")}
            description = " ".join(f"{field['description']}{'' if position < 2 else f'; {_EMPTY}'}".split())
            properties[name] = {**shown, "title": name, "description": description, "position": position}
        properties[OTHERS] = {"type": "object", "title": OTHERS, "description": _OTHERS, "position": len(USUAL)}
        about = {key: whole[key] for key in ("title", "description")}
        return {"type": "object", **about, "properties": properties}

    @model_validator(mode="before")
    @classmethod
    def _under_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = in_sections(given)
        preset = given.get("preset", cls.model_fields["preset"].default)
        file = PRESETS / f"{preset}.yaml"
        if not file.exists():
            return given  # the field's own validation lists the presets
        under = read_settings(file).values
        root = given.get("root", cls.model_fields["root"].default)
        given = {**given, "name": name_of({**given, "preset": preset}, str(root))}
        if isinstance(given.get("further"), dict):
            given["further"] = dict(cls._resolved(given))
        settings = merge(under, given)
        imported, words = settings.get("imported"), settings.get("vocabulary")
        if imported:  # imported shards are ranked and encoded already
            under = merge(under, {"across": {"near_duplicates": "off", "leakage": "off"}})
        if isinstance(words, dict) and (imported or words.get("folder") or words.get("model_type") == "byte-bpe"):
            under = merge(under, {"summarizer": {"slots": False}})  # the vocabulary cannot have them
        settings = merge(under, given)
        recipe = recipe_of(settings)
        summarizer = settings.get("summarizer")
        if isinstance(summarizer, dict) and summarizer.get("pretrained") is not None:
            # A checkpoint is fine-tuned as in its paper, and as its folder says where the paper leaves it open; the
            # preset's figures are for fresh weights.
            stated = length_penalty(str(summarizer["pretrained"]))
            folder = {} if stated is None else {"decoding": {"length_exponent": stated}}
            return merge(merge(merge(under, folder), recipe), given)
        return merge(recipe, settings)

    @classmethod
    def _resolved(cls, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield each further summarizer with all of its settings, so that it takes none from the build's own."""
        common = {name: value for name, value in given.items() if name not in ("further", "baselines")}
        sections = FurtherSettings.model_fields
        for name, own in given["further"].items():
            if not isinstance(own, dict | Settings) or not set(merge({}, own)) <= set(sections):
                raise ValueError(f"further.{name}: expected settings of {', '.join(sections)}, got {own!r}")
            try:
                whole = cls.model_validate(merge(common, own))
            except ValidationError as error:
                wrong = error.errors()[0]
                place = ".".join(str(part) for part in ("further", name, *wrong["loc"]))
                raise ValueError(f"{place}: {message_of(wrong)}") from error
            yield name, {section: getattr(whole, section).model_dump() for section in sections}

    @field_validator("root")
    @classmethod
    def _root_is_named(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("expected a folder or a URI such as s3://bucket/folder")
        return value

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if problem := next(chain(self._of_training(), self._of_imported(), self._of_systems()), None):
            raise ValueError(problem)
        if self.decoding.guidance.reads_predictor:
            check_predictable(find_preset(self.summarizer.preset).architecture)
        return self

    def _of_training(self) -> Iterator[str]:
        """Yield what is wrong with settings of trainings together."""
        training, number = self.training, self.decoding.checkpoint
        validations = -(-training.steps // training.validation_interval)
        kept = min(training.keep_best, max(validations, 1))
        if number >= kept:
            yield (
                f"decoding.checkpoint is {number}: expected at most {kept - 1}, because training keeps {kept} "
                f"checkpoints (training.keep_best {training.keep_best}, {validations} validations)"
            )
        if not training.steps and self.summarizer.pretrained is None:
            yield "training.steps is 0: expected at least 1, or weights in summarizer.pretrained"
        kind = "a folder's" if self.vocabulary.folder is not None else self.vocabulary.model_type
        if self.summarizer.form == "slots" and kind not in ("unigram", "bpe"):
            yield f"summarizer.slots needs a vocabulary of vocabulary.model_type unigram or bpe, got {kind}"

    def _of_imported(self) -> Iterator[str]:
        """Yield faults of settings that imported shards cannot have: a vocabulary, texts in another form, a
        comparison."""
        if self.imported is None:
            return
        if self.tokenizer_folder is not None:
            yield (
                f"{self.tokenizer_folder[1]} is {self.tokenizer_folder[0]!r}, but imported shards have a vocabulary of "
                "their own: expected one of the two"
            )
        form = self.summarizer.form
        if form != "plain":
            marked = "sentences marked (Hie-BART)" if form == "sentences" else "values as slots (summarizer.slots)"
            yield (
                f"summarizer.preset {self.summarizer.preset!r} reads texts with {marked}, and imported shards are "
                "token ids as they were: expected a summarizer that reads them so, or a corpus of your own"
            )
        if self.across.on:
            yield (
                "across.near_duplicates or across.leakage is set, but imported paragraphs are ranked and encoded "
                "already: expected off"
            )

    def _of_systems(self) -> Iterator[str]:
        """Yield systems that cannot be trained or distinguished, and scores that are needed and not computed."""
        if EXTRACTOR in self.baselines.systems and not self.summarizer.extracts_first:
            yield (
                f"baselines.systems names {EXTRACTOR!r}, but summarizer.preset {self.summarizer.preset!r} has no "
                "encoder that is first trained to extract: expected a preset such as bertsumextabs, or no such baseline"
            )
        taken = {*get_args(Baseline), self.summarizer.preset, self.writer and self.writer.model}
        for name in self.further:
            if name in taken or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 40:
                yield (
                    f"further has {name!r}: expected the name of no other system, of at most 40 lower-case letters, "
                    "digits and dashes"
                )
        if self.report.headline not in self.scoring.metrics:
            yield (
                f"report.headline is {self.report.headline!r}: expected one of scoring.metrics, "
                f"{', '.join(self.scoring.metrics)}"
            )
        if self.decoding.guidance.reads_scores and self.order == "found":
            yield (
                "decoding.alignment is 'ranked', but imported or unranked paragraphs have no scores: expected a "
                "ranking method that scores, or 'predicted' or 'none'"
            )


def name_of(config: Mapping[str, Any], root: str) -> str:
    """Return the name of a corpus; builds made before corpora had names get the default one."""
    folder = re.sub(r"[^a-z0-9]+", "-", root.partition("?")[0].lower().rstrip("/").rpartition("/")[2]).strip("-")
    return str(config.get("name") or "-".join(part for part in (config.get("preset"), folder[:40].strip("-")) if part))


def recipe_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the chosen summarizer's paper where they differ from those of Liu & Lapata (2019)."""
    summarizer = settings.get("summarizer")
    name = summarizer.get("preset") if isinstance(summarizer, dict) else None
    recipe = SUMMARIZERS[name].recipe if isinstance(name, str) and name in SUMMARIZERS else TrainingRecipe()
    if recipe.fine_tuning and (not isinstance(summarizer, dict) or summarizer.get("pretrained") is None):
        recipe = TrainingRecipe()
    return {"training": dict(recipe.training), "summarizer": dict(recipe.source), "decoding": dict(recipe.decoding)}


def in_sections(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, some given by full names or below `settings`, in sections. Raises ValueError: `settings` is not
    a mapping, or a setting has two values."""
    others = given.get(OTHERS) or {}
    if not isinstance(others, Mapping):
        raise ValueError(f"{OTHERS} is {others!r}: expected full names of settings and their values")
    nested: dict[str, Any] = {}
    for full, value in [*((name, value) for name, value in given.items() if name != OTHERS), *others.items()]:
        for part in reversed(full.split(".") if isinstance(full, str) else [full]):
            value = {part: value}
        if (place := _contradicted(nested, value)) is not None:
            raise ValueError(f"{place} is given twice, with different values: expected it once")
        nested = merge(nested, value)
    return nested


def _contradicted(one: Any, other: Any) -> str | None:
    """Return the full name of a setting to which both give different values; None without one."""
    one, other = (part.model_dump(exclude_unset=True) if isinstance(part, Settings) else part for part in (one, other))
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return "" if one != other else None
    inner = ((name, _contradicted(one[name], value)) for name, value in other.items() if name in one)
    return next((f"{name}.{rest}".rstrip(".") for name, rest in inner if rest is not None), None)


def merge(under: Any, over: Any) -> Any:
    """Return nested settings `under`, overridden by those of `over`."""
    if isinstance(over, Settings):
        over = over.model_dump(exclude_unset=True)
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{name: merge(under.get(name), value) for name, value in over.items()}}


DEFAULT = BuildConfig()
