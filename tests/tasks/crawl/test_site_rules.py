"""The rules of origins, kept up to a size."""

from tasks.crawl.site_rules import SiteRules, rules_cache
from tasks.fetching.robots import Robots


def test_cache_keeps_what_was_used_last() -> None:
    rules = SiteRules(Robots(None, b"x" * 500))
    cache = rules_cache(2_500)
    for origin in "ab":
        cache[origin] = rules
    assert cache.get("a") is rules
    cache["c"] = rules
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (rules, None, rules)
    cache["c"] = SiteRules(Robots(None))
    assert cache.currsize == 1_500
    newest = SiteRules(Robots(None, b"x" * 5_000))
    cache["d"] = newest
    assert (cache.get("a"), cache.get("c"), cache.get("d")) == (None, None, newest)
