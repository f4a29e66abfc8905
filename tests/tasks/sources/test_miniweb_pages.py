"""Links and pages of the mini web: rates, what a crawl finds, and what an extractor makes of the HTML."""

import re
from collections import Counter
from itertools import pairwise

import pytest
import trafilatura
from lxml import html as lxml_html

from tasks.rights.claims import Claim, page_claim
from tasks.sources.miniweb.links import (
    CLONE_RATE,
    CLONE_SLOT,
    DOMAIN,
    FAULT_RATES,
    GENRES,
    NEAR_CLONE_RATE,
    NEAR_CLONE_SLOT,
    Fate,
    Link,
    hosts_of,
)
from tasks.sources.miniweb.pages import PageContent
from tasks.sources.miniweb.site import CHROME, Miniweb, render_html
from tasks.sources.settings import MiniwebSettings

WEB = Miniweb(MiniwebSettings())


def page_of(link: Link) -> PageContent:
    match = re.search(r"-(g?)(\d+)-(\d+)\.html$", link.final_url or "")
    assert match, link
    return WEB.pages.guide(int(match[2]), int(match[3])) if match[1] else WEB.pages.page(int(match[2]), int(match[3]))


def has_text(link: Link) -> bool:
    """Whether a link leads to text."""
    return link.status == 200 and link.fate not in (Fate.PDF, Fate.OVERSIZED, Fate.EMPTY)


def bigrams(text: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(re.findall(r"[a-z0-9]+", text.lower())))


def recall(text: str, lead: str) -> float:
    wanted, found = bigrams(lead), bigrams(text)
    return (wanted & found).total() / wanted.total()


def candidates(topic: int) -> list[str]:
    """Paragraphs that a crawl of the topic comes to, clones taken out."""
    lead = WEB.pages.lead(topic)
    texts = (text for link in WEB.expected(topic) if has_text(link) for text in page_of(link).paragraphs)
    return [text for text in dict.fromkeys(texts) if recall(text, lead) <= 0.8]


def test_citations_and_search_results() -> None:
    shared: Counter[str] = Counter()
    for topic in range(400):
        references, results = WEB.links.references(topic), WEB.links.search_results(topic)
        assert 4 <= len({link.url for link in references}) == len(references) <= 12
        assert len({link.url for link in results}) == len(results) == 10
        assert {link.url for link in references} & {link.url for link in results}
        assert {link.url for link in results} - {link.url for link in references}
        shared.update(link.url for link in references)
    assert sum(count > 1 for count in shared.values()) > 100
    assert max(shared.values()) <= 10


def test_fates_come_at_the_documented_rates() -> None:
    fates = Counter(WEB.links.planned_fate(topic, slot) for topic in range(2500) for slot in range(4))
    for fate, rate in FAULT_RATES.items():
        assert abs(fates[fate] / 10_000 - rate) < 0.25 * rate + 0.0015, fate
    assert fates[Fate.OK] > 7500
    results = [{link.fate for link in WEB.links.search_results(topic)} for topic in range(1000)]
    assert abs(sum(Fate.CLONE in fates for fates in results) / 1000 - CLONE_RATE) < 0.04
    assert abs(sum(Fate.NEAR_CLONE in fates for fates in results) / 1000 - NEAR_CLONE_RATE) < 0.04


def test_every_link_lies_on_a_host_of_the_web() -> None:
    for hosts in (12, 40):
        settings = MiniwebSettings(hosts=hosts)
        web, names = Miniweb(settings), set(hosts_of(settings))
        assert len(names) == hosts + 4
        used = {link.url.split("/")[2] for topic in range(400) for link in web.expected(topic)}
        assert used <= names
        assert len(used) >= hosts
        assert all(name.endswith(f".{DOMAIN}") for name in names)


def test_links_die_for_good() -> None:
    webs = [Miniweb(MiniwebSettings(week=week, deaths=0.05)) for week in range(8)]
    dead = [{(t, s) for t in range(60) for s in range(4) if web.links.is_dead(t, s)} for web in webs]
    assert not dead[0]
    assert all(earlier <= later for earlier, later in pairwise(dead))
    assert 0.2 * 240 < len(dead[7]) < 0.4 * 240  # 1 - .95 ** 7 = .30
    for topic, slot in dead[7]:
        assert webs[7].links.link(topic, slot).fate in (Fate.NOT_FOUND, Fate.GONE, Fate.LOOP, Fate.FORBIDDEN)


def test_topics_have_candidate_paragraphs_to_choose_from() -> None:
    counts = []
    for topic in range(120):
        texts = candidates(topic)
        counts.append(len(texts))
        assert all(25 <= len(text.split()) <= 80 for text in texts)
    assert min(counts) >= 30
    assert max(counts) <= 90
    assert 45 <= sum(counts) / len(counts) <= 75


def test_clones_repeat_the_lead() -> None:
    for topic in range(200):
        lead = WEB.pages.lead(topic)
        assert WEB.pages.page(topic, CLONE_SLOT).paragraphs[0] == lead
        near = WEB.pages.page(topic, NEAR_CLONE_SLOT).paragraphs[0]
        assert near != lead
        assert recall(near, lead) > 0.8


def test_sources_tell_what_the_lead_states() -> None:
    told = stated = 0
    for topic in range(80):
        lead, texts = WEB.pages.lead(topic), " ".join(candidates(topic))
        numbers = set(re.findall(r"\d[\d,.]*\d", lead))
        told += sum(number in texts for number in numbers)
        stated += len(numbers)
    assert told / stated > 0.85


def test_the_title_is_a_poor_guide_to_the_paragraphs_that_matter() -> None:
    """The best five paragraphs by title words hold less than half of what the truly best five hold of the lead."""
    by_title = by_lead = 0.0
    for topic in range(80):
        lead, texts = WEB.pages.lead(topic), candidates(topic)
        title = set(WEB.world.title(topic).lower().split())

        def title_words(text: str, title: set[str] = title) -> float:
            tokens = re.findall(r"\w[\w-]*", text.lower())
            return sum(token in title for token in tokens) / len(tokens) ** 0.5

        by_title += recall(" ".join(sorted(texts, key=title_words)[-5:]), lead)
        by_lead += recall(" ".join(sorted(texts, key=lambda text, lead=lead: recall(text, lead))[-5:]), lead)  # type: ignore[misc]
    assert by_title < 0.5 * by_lead


def test_a_page_claims_a_licence_so_that_an_export_holds_its_text() -> None:
    document = render_html(WEB.pages.page(3, 0))
    assert page_claim(document, lxml_html.document_fromstring(document)) == Claim("CC0-1.0", "rel-license")


@pytest.mark.parametrize("genre", [*GENRES, "mirror"])
def test_an_extractor_finds_the_text_and_leaves_the_chrome(genre: str) -> None:
    slots = [(topic, slot) for topic in range(40) for slot in (0, 1, 20, 40) if WEB.links.genre(topic, slot) == genre]
    for topic, slot in slots[:4]:
        page = WEB.pages.page(topic, slot)
        document = render_html(page)
        assert all(text in document for text in ("cookie-banner", "<nav>", "<footer", "</html>"))
        lines = trafilatura.extract(document.encode(), include_comments=False).split("\n")
        assert [text for text in page.paragraphs if text not in lines] == []
        assert not any(chrome in line for chrome in CHROME for line in lines)
    assert slots
