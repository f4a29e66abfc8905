"""Who sees which texts in which order: balanced, and decided by the seed alone.

The raters of a study that compares texts all judge the same group of systems on an article, so that their agreement can
be measured; over the articles, every system and every pair of systems is in equally many groups, as far as the numbers
allow. A rater who answers questions must see an article once only: the systems rotate over articles and raters (a Latin
square, as in Clarke & Lapata 2010, sec. 5). In the form of each rater every system stands equally often in each place.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations

from tasks.engine.hashing import stable_hash

Group = tuple[str, ...]  # systems in the order in which their texts are shown


def draw_articles(candidates: Sequence[str], count: int, seed: int) -> list[str]:
    """Return `count` articles in the order of their draws, which do not depend on the other candidates. Raises
    ValueError: there are fewer."""
    if len(candidates) < count:
        raise ValueError(
            f"articles is {count}: expected at most {len(candidates)}, the test articles that can be asked about"
        )
    return sorted(candidates, key=lambda article: stable_hash("human evaluation", seed, article))[:count]


def form_groups(systems: Sequence[str], articles: Sequence[str], size: int, seed: int) -> dict[str, Group]:
    """Return the systems to compare on each article: each system and each pair as often as the others, or nearly so. A
    group has `size` systems; `seed` decides between groups that are as good. Raises ValueError: there are fewer systems
    than a group has."""
    if len(systems) < size:
        raise ValueError(f"texts is {size}: expected at most {len(systems)}, the systems {', '.join(systems)}")
    met: Counter[Group] = Counter()  # systems and pairs of them
    groups: dict[str, Group] = {}
    for article in articles:

        def cost(group: Group, article: str = article) -> tuple[int, int]:
            # What the sum of squared counts grows by: the least even choice costs most.
            return sum(2 * met[part] + 1 for part in _parts(group)), stable_hash("group", seed, article, *group)

        groups[article] = min(combinations(sorted(systems), size), key=cost)
        met.update(_parts(groups[article]))
    return groups


def assign(
    systems: Sequence[str], articles: Sequence[str], size: int, raters: int, seed: int
) -> dict[int, list[tuple[str, Group]]]:
    """Return each rater's items in the order of the form: an article, and the systems in the order shown. An item has
    `size` systems; with 1, raters see different systems on an article. Raters are numbered from 1. Raises ValueError:
    there are fewer systems than an item has."""
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
    return [(system, place) for place, system in enumerate(order)]
