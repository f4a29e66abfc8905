"""Everything a build can be told: one section a stage, each documented beside its stage."""

from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, model_validator

from models.attention_predictor import check_predictable
from models.registry import find_preset
from tasks.attention_training import AttentionSettings
from tasks.baselines import BaselineSettings
from tasks.crawl.settings import CrawlSettings
from tasks.decoding import DecodingSettings
from tasks.examples import ExampleSettings
from tasks.execution import EngineSettings
from tasks.extraction import ExtractSettings
from tasks.features import FeatureSettings
from tasks.graphs import GraphSettings
from tasks.notification import NotificationSettings
from tasks.paragraphs import ParagraphSettings
from tasks.ranked_wikisum import ImportSettings
from tasks.ranker_training import RankerSettings
from tasks.ranking import RankingSettings
from tasks.ranking_scores import RankingScoreSettings
from tasks.reporting.settings import ReportSettings
from tasks.retraining.settings import RetrainingSettings
from tasks.scoring import ScoringSettings
from tasks.search.settings import SearchSettings
from tasks.settings import Settings, tuning
from tasks.sources import SourceSettings
from tasks.tables.settings import TableSettings
from tasks.training import SummarizerSettings, TrainingSettings
from tasks.vocabulary import VocabularySettings

PRESETS = Path(__file__).parent / "presets"
Preset = Literal["miniweb", "records", "paper"]


class ShardSettings(Settings):
    """How many files a stage is cut into."""

    articles: int = Field(8, ge=1, description="shards of the stages that go by article; 1,000 suit 1.6 M articles")
    hosts: int = Field(4, ge=1, description="shards of the stages that go by host; 1,000 suit the whole web")


class BuildConfig(Settings):
    """The configuration of a build; what is not given comes from the preset, and then from the section's defaults."""

    preset: Preset = Field(
        "miniweb",
        description="miniweb: the embedded web and small models, minutes on a laptop; records: your own JSONL and "
        "small models; paper: the settings of Liu and Lapata 2019",
    )
    root: str = tuning("data", "folder or URI (s3://bucket/folder) everything is written below")
    seed: int = Field(1, ge=0, description="every random choice hangs on it")
    engine: EngineSettings = EngineSettings()
    notification: NotificationSettings = NotificationSettings()
    shards: ShardSettings = ShardSettings()
    source: SourceSettings = SourceSettings()
    search: SearchSettings = SearchSettings()
    crawl: CrawlSettings = CrawlSettings()
    extraction: ExtractSettings = ExtractSettings()
    paragraphs: ParagraphSettings = ParagraphSettings()
    features: FeatureSettings = FeatureSettings()
    vocabulary: VocabularySettings = VocabularySettings()
    ranker: RankerSettings = RankerSettings()
    ranking: RankingSettings = RankingSettings()
    ranking_scores: RankingScoreSettings = RankingScoreSettings()
    graphs: GraphSettings = GraphSettings()
    examples: ExampleSettings = ExampleSettings()
    imported: ImportSettings | None = Field(
        None, description="train on other people's ranked shards, in place of a corpus of one's own"
    )
    summarizer: SummarizerSettings = SummarizerSettings()
    training: TrainingSettings = TrainingSettings()
    attention: AttentionSettings = AttentionSettings()
    decoding: DecodingSettings = DecodingSettings()
    baselines: BaselineSettings = BaselineSettings()
    scoring: ScoringSettings = ScoringSettings()
    report: ReportSettings = ReportSettings()
    retraining: RetrainingSettings = tuning(RetrainingSettings(), "of retrain alone: no part of a build's recipe")
    tables: TableSettings = tuning(TableSettings(), "of reproduce-tables alone: no part of a build's recipe")

    @model_validator(mode="before")
    @classmethod
    def _under_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        preset = given.get("preset", cls.model_fields["preset"].default)
        file = PRESETS / f"{preset}.yaml"
        if not file.exists():
            return given  # the field's own validation names the presets there are
        return merge(yaml.safe_load(file.read_text()) or {}, given)

    @model_validator(mode="after")
    def _attention_can_be_predicted(self) -> Self:
        if self.decoding.guidance.reads_predictor:
            check_predictable(find_preset(self.summarizer.preset).architecture)
        return self

    @model_validator(mode="after")
    def _scores_are_at_hand(self) -> Self:
        if self.decoding.guidance.reads_scores and (self.imported is not None or self.ranking.method == "found"):
            raise ValueError(
                "decoding.alignment is 'ranked', but paragraphs that are imported or stand as found have no scores: "
                "expected a ranking of one's own, or 'predicted' or 'none'"
            )
        return self


def merge(under: Any, over: Any) -> Any:
    """Return nested settings `under` with those of `over` in their place."""
    if isinstance(over, Settings):
        over = over.model_dump(exclude_unset=True)
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{name: merge(under.get(name), value) for name, value in over.items()}}


DEFAULT = BuildConfig()
