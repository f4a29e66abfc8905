"""A study: who sees which texts in which order, and the key that says which system wrote which text. Everything is
decided by the build, the settings and the questions, so preparing a study again gives the same files. Its id is a
digest of all of it; every form and every file of answers names it.

If a study compares texts, all raters judge the same group of systems on an article, so that their agreement can be
measured. Over the articles, every system and every pair of systems is in equally many groups, as far as the numbers
allow. A rater who answers questions must see an article once only: the systems rotate over articles and raters (a Latin
square, as in Clarke & Lapata 2010, sec. 5). Each rater's form shows every system equally often in each place.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tasks.engine.hashing import stable_hash
from tasks.human_evaluation.questions import Question
from tasks.human_evaluation.sampling import SampledArticle
from tasks.human_evaluation.settings import GOLD, StudySettings

Group = tuple[str, ...]  # systems in the order in which their texts are shown


def draw_articles(candidates: Sequence[str], count: int, seed: int) -> list[str]:
    """Return `count` articles by draws that do not depend on the others. Raises ValueError: there are fewer."""
    if len(candidates) < count:
        raise ValueError(
            f"articles is {count}: expected at most {len(candidates)}, the test articles that can be asked about"
        )
    return sorted(candidates, key=lambda article: stable_hash("human evaluation", seed, article))[:count]


def form_groups(systems: Sequence[str], articles: Sequence[str], size: int, seed: int) -> dict[str, Group]:
    """Return the `size` systems to compare on each article: each system and each pair as often as the others, or nearly
    so; `seed` decides between groups that are as good. Raises ValueError: there are fewer systems."""
    if len(systems) < size:
        raise ValueError(f"texts is {size}: expected at most {len(systems)}, the systems {', '.join(systems)}")
    met: Counter[Group] = Counter()  # systems and pairs of them
    groups: dict[str, Group] = {}
    for article in articles:

        def cost(group: Group, article: str = article) -> tuple[int, int]:
            # The growth of the sum of squared counts: the least even choice costs most.
            return sum(2 * met[part] + 1 for part in _parts(group)), stable_hash("group", seed, article, *group)

        groups[article] = min(combinations(sorted(systems), size), key=cost)
        met.update(_parts(groups[article]))
    return groups


def assign(
    systems: Sequence[str], articles: Sequence[str], size: int, raters: int, seed: int
) -> dict[int, list[tuple[str, Group]]]:
    """Return each rater's items (from rater 1 on) in the order of the form: an article, and `size` systems in the order
    shown; with 1, raters see different systems on an article. Raises ValueError: there are fewer systems."""
    groups = form_groups(systems, articles, size, seed)
    turning = sorted(systems, key=lambda system: stable_hash("turn", seed, system))
    forms = {}
    for rater in range(1, raters + 1):
        places: Counter[tuple[str, int]] = Counter()
        items = []
        for number, article in enumerate(articles):
            group = groups[article] if size > 1 else (turning[(number + rater) % len(turning)],)
            order = min(
                permutations(group),
                key=lambda order: (
                    sum(places[place] for place in _places(order)),
                    stable_hash("order", seed, rater, article, *order),
                ),
            )
            places.update(_places(order))
            items.append((article, order))
        forms[rater] = sorted(items, key=lambda item: stable_hash("sequence", seed, rater, item[0]))
    return forms


def _parts(group: Group) -> list[Group]:
    return [*((system,) for system in group), *combinations(group, 2)]


def _places(order: Group) -> list[tuple[str, int]]:
    return [(system, index) for index, system in enumerate(order)]


FORMAT = 1  # of key and answers


@dataclass(frozen=True)
class RatingItem:
    """What a rater judges at a time."""

    article: SampledArticle
    systems: tuple[str, ...]  # those that wrote the texts, in the order shown; raters do not see them
    texts: tuple[str, ...]
    reference: str | None  # the gold summary, if it is shown
    questions: Sequence[Question]  # of the article


@dataclass(frozen=True)
class Study:
    """A study."""

    id: str  # digest of everything below, 12 hex digits
    settings: StudySettings
    name: str  # of the corpus
    build: str  # from which the summaries are
    systems: tuple[str, ...]  # those compared
    articles: Mapping[str, SampledArticle]  # the drawn ones, by id
    questions: Mapping[str, Sequence[Question]]  # on each article; empty for other tasks than qa
    # Rater -> (article, systems in the order shown), in the order of the form
    forms: Mapping[int, Sequence[tuple[str, tuple[str, ...]]]]

    def items(self, rater: int) -> list[RatingItem]:
        """Return what a rater judges, in the order of the form."""
        # Questions are answered without the lead, which would also be recognised among the texts.
        blind = self.settings.task == "qa" or GOLD in self.systems
        items = []
        for id_, systems in self.forms[rater]:
            article = self.articles[id_]
            texts = tuple(article.texts[system] for system in systems)
            reference = None if blind else article.lead
            items.append(RatingItem(article, systems, texts, reference, self.questions.get(id_, ())))
        return items

    def to_json(self) -> str:
        """Return the key."""
        return json.dumps({"format": FORMAT, "study": self.id, **_content(self)}, indent=1, ensure_ascii=False) + "\n"


_STUDIES = TypeAdapter(Study)


def make_study(
    settings: StudySettings,
    *,
    name: str,
    build: str,
    systems: tuple[str, ...],
    articles: Sequence[SampledArticle],
    questions: Mapping[str, Sequence[Question]],
) -> Study:
    """Assign the articles to raters; arguments as `Study`. Raises ValueError: fewer systems than texts to be shown."""
    ids = [article.id for article in articles]
    forms = assign(systems, ids, settings.shown, settings.raters, settings.seed)
    by_id = {article.id: article for article in articles}
    return _identified(Study("", settings, name, build, systems, by_id, questions, forms))


def read_study(text: str, name: str) -> Study:
    """Read a key of a file. Raises ValueError: it is not the key of a study, or not that of the forms."""
    try:
        key = json.loads(text)
        fields = {field: value for field, value in key.items() if field not in ("format", "study")}
        study = _identified(_STUDIES.validate_python({"id": "", **fields}))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{name} is not the key of a study: {place!r}: {first['msg']}") from error
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{name} is not the key of a study: {error}") from error
    if study.id != key.get("study"):
        raise ValueError(
            f"{name} was changed: its content has the id {study.id}, it says {key.get('study')!r}. Restore it, or "
            "prepare the study again"
        )
    return study


def _identified(study: Study) -> Study:
    digest = hashlib.sha256(json.dumps(_content(study), sort_keys=True).encode()).hexdigest()[:12]
    return replace(study, id=digest)


def _content(study: Study) -> dict[str, Any]:
    content: dict[str, Any] = _STUDIES.dump_python(study, mode="json", exclude={"id"})
    return content
