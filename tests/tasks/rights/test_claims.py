"""Which licence a page claims for its own text: each case is a page in small, as sites write them."""

import pytest

from tasks.extraction.markup import parse
from tasks.rights.claims import Claim, page_claim, settle

BY = "https://creativecommons.org/licenses/by/4.0/"
BY_SA = "https://creativecommons.org/licenses/by-sa/3.0/"
LONG = "The river rises on the moors, where rain falls on two days of every three."


def claim(page: str) -> Claim | None:
    tree = parse(page)
    assert tree is not None
    return page_claim(page, tree)


@pytest.mark.parametrize(
    ("page", "source"),
    [
        (f'<p>{LONG}</p><a rel="license" href="{BY}">Some rights reserved</a>', "rel-license"),
        (f'<head><link rel="nofollow License" href="{BY}"></head><p>{LONG}</p>', "rel-license"),
        (f'<script type="application/ld+json">{{"@type": "NewsArticle", "license": "{BY}"}}</script>', "json-ld"),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "Organization"}, '
            f'{{"@type": ["WebPage", "FAQPage"], "license": {{"@id": "{BY}"}}}}]}}</script>',
            "json-ld",
        ),
        (f'<span property="dct:license" resource="{BY}"></span>', "rdfa"),
        (f'<meta itemprop="license" content="{BY}">', "rdfa"),
        ('<meta name="DC.Rights" content="Creative Commons Attribution 4.0">', "meta"),
        (f'<p>This article is distributed under the terms of the <a href="{BY}">licence</a>.</p>', "statement"),
        (
            "<p>Except where otherwise noted, content on this site is licensed under a Creative Commons "
            "Attribution 4.0 International license.</p>",
            "statement",
        ),
        ("<p>Text and images on this page are available under <b>CC BY 4.0</b>.</p>", "statement"),
        ("<p><em>License</em> : CC BY-4.0</p>", "statement"),
        (f'<footer><a href="{BY}"><img alt="CC"></a></footer>', "statement"),
    ],
)
def test_claims(page: str, source: str) -> None:
    assert claim(page) == Claim("CC-BY-4.0", source)


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{LONG}</p>",
        '<a rel="license" href="/terms">Terms of use</a>',
        f'<figure><img><figcaption>A bridge, <a rel="license" href="{BY}">CC BY</a></figcaption></figure>',
        f'<div class="wp-caption"><p>This work is licensed under <a href="{BY}">CC BY</a></p></div>',
        f'<p>Photo by Ada, <a rel="license" href="{BY}">CC BY 4.0</a></p>',
        "<p><em>Logo by Flickr user Ada (CC BY 2.0)</em></p>",
        "<p>Game graphic by Ada is licensed under CC BY 3.0. Made with Logo Maker</p>",
        "<p>Map of the countries. Photo by Ada, Creative Commons Attribution-Share Alike 4.0 International.</p>",
        "<p>This article is not available under CC BY 4.0.</p>",
        "<p>In the absence of an open licence (such as CC BY 4.0), content is protected by copyright.</p>",
        "<p>This article is republished from The Conversation under a Creative Commons license.</p>",
        "<p>The journal reached a million readers with CC BY 4.0.</p>",
        f'<p>Read about <a href="{BY}">CC BY</a> in our guide.</p>',
        f'<script type="application/ld+json">{{"@type": "ImageObject", "license": "{BY}"}}</script>',
        f'<script type="application/ld+json">{{"@type": "Article", "license": "{BY}"</script>',  # broken JSON
    ],
)
def test_what_is_no_claim_of_the_page(page: str) -> None:
    assert claim(page) is None


def test_claims_that_differ_are_ambiguous_and_versions_complete_each_other() -> None:
    assert claim(f'<a rel="license" href="{BY}"></a><a rel="license" href="{BY_SA}"></a>') == Claim(None, "ambiguous")
    both = f'<a rel="license" href="{BY}"></a><p>This site is licensed under CC BY.</p>'
    assert claim(both) == Claim("CC-BY-4.0", "rel-license")
    assert settle([]) is None


def test_a_page_that_names_a_licence_a_thousand_times_is_looked_at_for_a_bounded_time() -> None:
    page = f"<p>{'CC BY 4.0 photo ' * 1000}</p>" * 300
    assert claim(page) is None
