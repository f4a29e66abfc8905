"""The generated world: unique names, facts that fit together, prose that fills, leads, and weeks."""

import hashlib
import re
import string
from collections import Counter
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.engine.hashing import Dice, draws, stable_hash
from tasks.sources.miniweb.kinds import KINDS, Aspect, Form, Line, NameScheme, TopicKind, expand
from tasks.sources.miniweb.pages import LINKS, MARKERS, MENTIONS, REMARKS, capital, write_lead
from tasks.sources.miniweb.site import Miniweb, MiniwebSource
from tasks.sources.miniweb.world import PROFESSIONS, REGION_TOPICS, World
from tasks.sources.settings import WORLD_TOPICS, MiniwebSettings

WEB = Miniweb(MiniwebSettings())


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_dice_never_change() -> None:
    dice = Dice("golden", 1)
    assert [dice.below(1000) for _ in range(5)] == [646, 306, 869, 275, 307]
    states = draws(stable_hash("golden", 1), np.arange(1, 6))  # SplitMix64 again, in numpy
    assert [int(state) * 1000 >> 64 for state in states] == [646, 306, 869, 275, 307]
    assert {dice.between(10, 20, 5) for _ in range(50)} == {10, 15, 20}
    assert sorted(dice.sample("abc", 9)) == ["a", "b", "c"]


@given(st.integers(0, WORLD_TOPICS - 1), st.integers(0, 99))
def test_a_title_leads_back_to_its_topic(index: int, seed: int) -> None:
    world = World(seed)
    assert world.find(world.title(index)) == index  # so no two topics share a title


def test_a_scheme_goes_through_all_its_names_before_one_comes_again() -> None:
    scheme = NameScheme((("a", "b", "c"), ("x", "y")))
    names = {"".join(scheme.name_parts(5, ordinal)) for ordinal in range(6)}
    assert names == {"ax", "ay", "bx", "by", "cx", "cy"}
    assert scheme.ordinal(5, "az") is None


def test_the_schemes_have_names_for_the_largest_world() -> None:
    assert min(kind.scheme.size for kind in KINDS) * len(KINDS) >= WORLD_TOPICS


def slots(lines: Iterable[Line]) -> set[str]:
    return {slot for line in lines for form in line for slot, _ in form.slots} - {"S", "he", "his"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_sentences_ask_for_the_facts_of_their_kind_and_pages_tell_what_leads_state(kind: TopicKind) -> None:
    lead = slots(chain.from_iterable(aspect.lead for aspect in kind.aspects))
    told = slots(chain.from_iterable(aspect.told for aspect in kind.aspects))
    assert lead <= told
    assert told <= {*kind.facts, "region", "country", "demonym"}
    assert set(kind.facts) <= told  # none is drawn for nothing
    assert not slots(kind.colour)
    assert all(len(set(chain.from_iterable(aspect.told))) > 1 for aspect in kind.aspects)
    assert {aspect.chance for aspect in kind.aspects if aspect.lead} == {1.0, 0.7}
    assert {aspect.chance for aspect in kind.aspects if not aspect.lead} == {0.0}
    assert len(kind.chatter) > 1
    for text in kind.chatter:
        assert fields(text) == {"T"}


def test_a_line_of_the_table_stands_for_several_sentences() -> None:
    assert expand("{S} [is|was [very|]] long[ by {n} metres|]") == (
        Form("", (("S", " is long by "), ("n", " metres"))),
        Form("", (("S", " is long"),)),
        Form("", (("S", " was very long by "), ("n", " metres"))),
        Form("", (("S", " was very long"),)),
        Form("", (("S", " is long by "), ("n", " metres"))),
        Form("", (("S", " is long"),)),
        Form("", (("S", " was  long by "), ("n", " metres"))),
        Form("", (("S", " was  long"),)),
    )


TABLE = """
= one
= two
- three
? four
- five
- six
+ seven
- eight
+ nine
~ ten
> eleven {T}
  twelve
% thirteen
"""


def test_the_table_is_cut_into_aspects() -> None:
    kind = TopicKind("k", NameScheme((("a",),)), (), {})
    kind.__dict__["prose"] = TABLE  # in place of the file
    texts = [
        [aspect.chance, *([form.start for line in lines for form in line] for lines in (aspect.lead, aspect.told))]
        for aspect in kind.aspects
    ]
    assert texts == [
        [1.0, ["one", "two"], ["three"]],
        [0.7, ["four"], ["five", "six"]],
        [0.0, [], ["seven", "eight"]],
        [0.0, [], ["nine"]],
    ]
    assert kind.colour == ((Form("ten", ()),),)
    assert kind.chatter == ("eleven {T} twelve",)
    assert kind.paraphrases == ((Form("thirteen", ()),),)


def masked(parts: Iterable[Aspect]) -> set[str]:
    """Return the sentences of aspects with their values cut out."""
    lines = chain.from_iterable(aspect.lead + aspect.told for aspect in parts)
    return {form.start + "_".join(["", *(words for _, words in form.slots)]) for line in lines for form in line}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_share_of_the_forms_is_held_back_for_test_articles(kind: TopicKind, seed: int) -> None:
    world = World(seed, 0.3)
    shown, held = world.wording(kind, test=False), world.wording(kind, test=True)
    others = chain.from_iterable(world.wording(other, test=False) for other in KINDS)
    assert not masked(held) & masked(others)
    assert masked(shown) | masked(held) == masked(kind.aspects)
    for aspect, of_shown, of_held in zip(kind.aspects, shown, held, strict=True):
        for every, stay, held_back in (
            (aspect.lead, of_shown.lead, of_held.lead),
            (aspect.told, of_shown.told, of_held.told),
        ):
            assert len(stay) + len(held_back) == len(every)
            assert 0.2 <= len(held_back) / len(every) <= 0.5 if every else not held_back
        # Whatever a lead states, pages of the same articles can tell; of the names that a region shares not all do.
        assert len(slots(of_shown.lead) - slots(of_shown.told) - {"region", "country", "demonym"}) <= 1


def test_nothing_is_held_back_where_no_share_is() -> None:
    world = World(1)
    assert all(world.wording(kind, test=test) == kind.aspects for kind in KINDS for test in (False, True))


def test_training_never_shows_what_is_held_back() -> None:
    """Neither in leads nor on the pages that it cites or finds, of whatever topic these are."""
    web = Miniweb(MiniwebSettings(topics=240, seed=4))
    test = {topic for topic in range(240) if web.world.split(topic) == "test"}
    assert 0.05 < len(test) / 240 < 0.15
    pages = {topic: {link.url for link in web.expected(topic)} for topic in range(240)}
    own = {web.links.page_url(topic, slot) for topic in test for slot in range(20) if web.links.has_page(topic, slot)}
    assert own & set().union(*(pages[topic] for topic in test))
    assert not own & set().union(*(urls for topic, urls in pages.items() if topic not in test))


def test_no_sentence_of_a_test_lead_occurs_in_training_once_its_values_are_cut_out() -> None:
    world = World(4, 0.3)
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for index in range(600):
        for text, values in write_lead(world.topic(index), world):
            for value in sorted({capital(words) for _, words in values} | {words for _, words in values}, key=len)[
                ::-1
            ]:
                text = re.sub(rf"\b{re.escape(value)}(?!\w)", "_", text)
            found[world.split(index) == "test"][text.replace(" an _", " a _")] += 1
    assert found[True].total() > 300
    assert sum(count for text, count in found[True].items() if text in found[False]) == 0


def test_the_chatter_asks_only_for_words_there_are() -> None:
    for text in (*MENTIONS, *REMARKS):
        assert fields(text) <= {"T", "B", "who", "n", "price", "day", "site"}
    assert all("{T}" in text or "{B}" in text for text in MENTIONS)
    assert not any("{T}" in text for text in REMARKS)
    assert all(fields(text) <= {"T", "R"} and "{R}" in text for text in LINKS)
    assert len(set(MARKERS)) >= 20


def test_leads_have_60_to_140_words_in_one_paragraph() -> None:
    for seed in (1, 2):
        web = Miniweb(MiniwebSettings(seed=seed))
        for index in range(800):
            lead = web.pages.lead(index)
            assert 60 <= len(lead.split()) <= 140, lead
            assert "\n" not in lead
            assert "{" not in lead
            assert web.world.title(index).split()[-1].lower() in lead.lower()


def test_a_topic_does_not_depend_on_others_or_on_the_size_of_the_world() -> None:
    alone = Miniweb(MiniwebSettings(topics=100_000))
    assert alone.pages.lead(90_001) == Miniweb(MiniwebSettings(topics=10)).pages.lead(90_001)
    assert [WEB.pages.lead(index) for index in range(9)] == [alone.pages.lead(index) for index in range(9)]
    assert Miniweb(MiniwebSettings(seed=2)).pages.lead(0) != WEB.pages.lead(0)


def test_facts_fit_together() -> None:
    world = WEB.world
    for index in range(240):
        topic = world.topic(index)
        related = topic.related
        assert index not in related.values()
        assert len(set(related.values())) == len(related)
        regions = {other // REGION_TOPICS for role, other in related.items() if world.kind(other).name != "person"}
        assert regions <= {index // REGION_TOPICS}
        if topic.kind.name == "bridge":
            assert related["river"] == world.topic(related["town"]).related["river"]
            assert world.topic(related["engineer"]).facts["profession"] == "engineer"
            assert int(topic.facts["begun"]) < int(topic.facts["opened"])
        if topic.kind.name == "film":
            director = world.topic(related["director"])
            assert director.index // len(KINDS) % len(PROFESSIONS) == PROFESSIONS.index("film director")
            assert 29 <= int(topic.facts["year"]) - int(director.facts["born"]) <= 56


def test_an_edit_changes_numbers_and_leaves_the_rest() -> None:
    for index in range(16):
        old, new = WEB.world.topic(index), WEB.world.topic(index, 1)
        changed = {name for name in old.facts if old.facts[name] != new.facts[name]}
        assert 1 <= len(changed) <= 4
        assert old.related == new.related


def test_a_week_edits_its_share_of_leads_and_adds_topics() -> None:
    before, after = MiniwebSettings(topics=2000), MiniwebSettings(topics=2000, week=1)
    assert (before.topics_now, after.topics_now) == (2000, 2020)
    old, new = Miniweb(before), Miniweb(after)
    edited = [index for index in range(2000) if old.pages.lead(index) != new.pages.lead(index)]
    assert 20 <= len(edited) <= 60  # 2 % of 2,000
    revised = {index for index in range(2000) if new.pages.revision(index)}
    assert revised >= set(edited)
    assert len(edited) >= 0.95 * len(revised)  # a new draw can give the old number
    living = [index for index in range(2000) if not any(new.links.is_dead(index, slot) for slot in range(9))]
    assert len(living) > 1500
    assert all(old.links.references(index) == new.links.references(index) for index in living[::50])


def test_pages_change_only_with_their_topic() -> None:
    old, new = Miniweb(MiniwebSettings()), Miniweb(MiniwebSettings(week=6))
    changed = {
        (index, slot)
        for index in range(120)
        for slot in range(4)
        if old.pages.page(index, slot) != new.pages.page(index, slot)
    }
    edited = {index for index in range(120) if new.pages.revision(index)}
    assert changed
    assert {index for index, _ in changed} <= edited
    assert len(changed) < len(edited) * 4  # some pages never follow an edit
    assert all(old.pages.guide(0, number) == new.pages.guide(0, number) for number in range(10))


def test_a_digest_changes_exactly_with_the_articles_of_its_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniwebSettings, "partition_topics", 100)

    def digests(**changes: int) -> list[str]:
        settings = MiniwebSettings(**({"topics": 400} | changes))
        return [partition.digest for partition in MiniwebSource(settings).partitions()]

    base = digests()
    assert len(set(base)) == 4
    assert digests(topics=450)[:4] == base
    assert digests(topics=390)[:3] == base[:3] and digests(topics=390)[3] != base[3]
    assert not set(digests(seed=2)) & set(base)
    assert digests(oversized_bytes=1) == base
    monkeypatch.setattr(MiniwebSettings, "partition_topics", 20)
    week = MiniwebSource(MiniwebSettings(topics=400, week=1, growth=0))
    first = MiniwebSource(MiniwebSettings(topics=400))
    for old, new in zip(first.partitions(), week.partitions(), strict=True):
        assert (old.digest == new.digest) == (list(first.read(old)) == list(week.read(new)))


def test_articles_of_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniwebSettings, "partition_topics", 20)
    source = MiniwebSource(MiniwebSettings(topics=30))
    parts = source.partitions()
    assert [(part.start, part.stop) for part in parts] == [(0, 20), (20, 30)]
    articles = [article for part in parts for article in source.read(part)]
    assert len({article.title for article in articles}) == 30
    assert all(4 <= len(article.references) <= 12 for article in articles)
    assert Counter(article.revision for article in articles) == {"0": 30}


def test_a_world_that_outgrows_its_names_is_refused() -> None:
    with pytest.raises(ValueError, match="week 1 would have 1010000 topics, expected at most 1000000"):
        MiniwebSettings(topics=1_000_000, week=1)


def test_the_world_of_this_version_never_changes() -> None:
    """A change of facts or prose is allowed; then raise world.WORLD_VERSION and write the new digest here."""
    text = "".join(WEB.pages.lead(index) for index in range(160))
    text += "".join(repr(WEB.pages.page(index, slot)) for index in range(24) for slot in (0, 5, 20, 40, 41))
    text += "".join(link.url + link.fate for index in range(80) for link in WEB.expected(index))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "13d2404cf1410fca"
