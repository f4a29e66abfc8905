"""Who sees what: balanced, blind to nothing but the seed, and the same in every run."""

from collections import Counter
from itertools import combinations

import pytest

from tasks.human_evaluation.study import assign, draw_articles, form_groups

SYSTEMS = ("ht", "t-dmca", "ft", "lead")
ARTICLES = [f"{number:04}" for number in range(50)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("systems", "size"), [(SYSTEMS, 3), (SYSTEMS, 2), ((*SYSTEMS, "pht", "vht"), 3)])
def test_systems_and_pairs_are_compared_equally_often(systems: tuple[str, ...], size: int, seed: int) -> None:
    groups = form_groups(systems, ARTICLES, size, seed).values()
    alone = Counter(system for group in groups for system in group)
    pairs = Counter(pair for group in groups for pair in combinations(sorted(group), 2))
    assert max(alone.values()) - min(alone.values()) <= 1
    assert len(pairs) == len(list(combinations(systems, 2)))
    assert max(pairs.values()) - min(pairs.values()) <= 3


def test_all_raters_compare_the_same_systems_in_orders_of_their_own() -> None:
    forms = assign(SYSTEMS, ARTICLES, 3, 5, 1)
    for article in ARTICLES:
        groups = [dict(items)[article] for items in forms.values()]
        assert len({frozenset(group) for group in groups}) == 1
        assert all(len(group) == 3 for group in groups)
    for items in forms.values():
        places = Counter((system, place) for _, group in items for place, system in enumerate(group))
        assert max(places.values()) - min(places.values()) <= 2
        assert sorted(article for article, _ in items) == ARTICLES
    assert len({tuple(article for article, _ in items) for items in forms.values()}) == 5, "orders of articles differ"


def test_questions_on_an_article_are_answered_from_every_system_once() -> None:
    """Four raters, four systems: a Latin square."""
    forms = assign(SYSTEMS, ARTICLES, 1, 4, 1)
    for article in ARTICLES:
        assert {dict(items)[article][0] for items in forms.values()} == set(SYSTEMS)
    for items in forms.values():
        shown = Counter(group[0] for _, group in items)
        assert max(shown.values()) - min(shown.values()) <= 1


def test_equal_seeds_give_equal_forms_and_others_do_not() -> None:
    assert assign(SYSTEMS, ARTICLES, 3, 2, 1) == assign(SYSTEMS, ARTICLES, 3, 2, 1)
    assert assign(SYSTEMS, ARTICLES, 3, 2, 1) != assign(SYSTEMS, ARTICLES, 3, 2, 2)


def test_a_draw_does_not_depend_on_the_order_or_on_articles_that_are_not_drawn() -> None:
    drawn = draw_articles(ARTICLES, 10, 1)
    assert draw_articles(ARTICLES[::-1], 10, 1) == drawn
    assert draw_articles([one for one in ARTICLES if one in drawn[:5] or one > "0040"], 5, 1)[:1] == drawn[:1]
    assert draw_articles(ARTICLES, 10, 2) != drawn


def test_too_few_articles_or_systems() -> None:
    with pytest.raises(ValueError, match=r"^articles is 51: expected at most 50, the test articles that can be asked"):
        draw_articles(ARTICLES, 51, 1)
    with pytest.raises(ValueError, match=r"^texts is 3: expected at most 2, the systems a, b"):
        assign(("a", "b"), ARTICLES, 3, 1, 1)
