"""Settings of a study with human raters, as in the papers."""

from typing import Literal, Self

from pydantic import Field, model_validator

from tasks.engine.settings import Settings

Task = Literal["qa", "best-worst", "ratings"]
Criterion = Literal[
    "informativeness", "fluency", "conciseness", "consistency", "relevance", "abstractiveness", "salience", "coverage"
]
GOLD = "gold"

# Texts that a rater sees at a time: one alone, from which questions are answered, and three of the systems, best and
# worst (both Liu & Lapata 2019, sec. 5); a pair, head to head (Shen et al. 2023, sec. 6.2).
TEXTS: dict[Task, int] = {"qa": 1, "best-worst": 3, "ratings": 2}


class StudySettings(Settings):
    """The task, the number of raters and the number of articles."""

    task: Task = "best-worst"
    """qa: questions on the lead, answered from a summary alone; best-worst: the best and the worst of some summaries
    (both Liu & Lapata 2019, sec. 5); ratings: 1 to 5 by criterion (Ma & Zong 2020), also shown head to head (Shen et
    al. 2023, sec. 6.2)"""
    systems: tuple[str, ...] = ()
    """summarizers to compare, besides the trained ones also baselines, and gold, the lead itself; default: the trained
    ones, lead and concepts"""
    articles: int = Field(50, ge=1, le=100_000)
    """test articles drawn (50 in Shen et al. 2023, 20 in Liu & Lapata 2019)"""
    raters: int = Field(4, ge=1, le=99)
    """forms made, one a person; in qa a multiple of the number of systems is balanced"""
    texts: int = Field(0, ge=0, le=6)
    """summaries shown at a time; 0 = qa 1, best-worst 3, ratings 2"""
    criteria: tuple[Criterion, ...] = Field(("informativeness", "fluency", "conciseness", "consistency"), min_length=1)
    """what ratings are given for: informativeness, fluency, conciseness, consistency (Ma & Zong 2020), relevance,
    abstractiveness, salience, coverage (Shen et al. 2023)"""
    seed: int = Field(1, ge=0, le=2**32 - 1)
    """decides articles, groups and order"""

    @property
    def shown(self) -> int:
        """Texts that a rater sees at a time."""
        return self.texts or TEXTS[self.task]

    @model_validator(mode="after")
    def _fits_the_task(self) -> Self:
        least = 2 if self.task == "best-worst" else 1
        if self.task == "qa" and self.shown != 1:
            raise ValueError(
                f"texts is {self.texts}: expected 1 in qa, because one summary answers another one's questions"
            )
        if self.shown < least:
            raise ValueError(f"texts is {self.texts}: expected at least {least} in {self.task}")
        if len(set(self.systems)) < len(self.systems):
            raise ValueError(f"systems are {', '.join(self.systems)}: expected each once")
        return self
