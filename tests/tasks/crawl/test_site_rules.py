"""The rules of origins, kept up to a size."""

from tasks.crawl.robots import Robots
from tasks.crawl.site_rules import RulesCache, SiteRules


def test_cache_keeps_what_was_used_last() -> None:
    rules = SiteRules(Robots(None, b"x" * 500))
    cache = RulesCache(2_500)
    for origin in "ab":
        cache.put(origin, rules)
    assert cache.get("a") is rules
    cache.put("c", rules)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (rules, None, rules)
    cache.put("c", SiteRules(Robots(None)))
    assert cache.bytes == 1_500
    cache.put("d", SiteRules(Robots(None, b"x" * 5_000)))
    assert (cache.get("a"), cache.get("c"), cache.bytes) == (None, None, 5_500)
