import pytest

from tasks.extraction.notices import notice

PAGES = {
    "consent_wall": (
        "Before you continue to the site",
        "We and our 214 partners store and access information on your device, such as cookies. "
        "You can accept or manage your choices by clicking below. Some partners rely on legitimate interest.",
    ),
    "not_found": (
        "Oops! Page not found | Ardal News",
        "Sorry, the page you were looking for does not exist. It may have been moved or deleted. "
        "Check the URL or go back to the home page.",
    ),
    "bot_check": (
        "Just a moment...",
        "Checking your browser before access. This process is automatic. Please enable cookies. Ray ID: 71f",
    ),
    "parked_domain": (
        "ardal.example",
        "This domain is for sale. Buy this domain from its owner, or make an offer through our domain broker.",
    ),
    "unsupported_browser": (
        "Browser not supported",
        "Your browser is out of date and no longer supported. Please upgrade to a modern browser such as Chrome.",
    ),
    "moved": (
        "Moved",
        "This page has moved to a new address. If you are not redirected in a few seconds, click here. "
        "Please update your bookmarks.",
    ),
}


@pytest.mark.parametrize("reason", PAGES)
def test_page_in_the_place_of_another_has_its_reason(reason):
    title, text = PAGES[reason]
    assert notice(title, [text]) == reason
    assert notice(title.upper(), text.split(". ")) == reason


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (
            "Consent walls under the law",
            "A consent wall asks readers to accept all cookies first. The court of the county decided in 2023 "
            "that the newspaper of Ardal had to show its pages to readers who had refused. The paper has appealed.",
        ),
        (
            "The page that could not be found",
            "Ada Lorne kept a diary from 1912 to 1947. One page could not be found when the county bought it, and "
            "the school of Harrow asked its pupils to look for it in the attic of the mill. It was never seen again.",
        ),
        (
            "Domain names",
            "In 1999 the domain was for sale at 300 pounds; the brewery of Ardal bought it and still has it.",
        ),
        (
            "Chrome",
            "Chrome is a browser that Google released in 2008. It is made for Windows, Linux and other systems.",
        ),
        (
            "The mill has moved",
            "The mill of Harrow was taken down in 1962 and stands in the museum of Ardal since 1964.",
        ),
        ("Robots of Harrow", "The robot of the school can lift 3 kg. Its makers say that it is not a toy."),
        (None, ""),
    ],
)
def test_page_on_such_a_subject_is_kept(title, text):
    assert notice(title, [text]) is None


def test_long_page_is_no_notice():
    title, text = PAGES["not_found"]
    assert notice(title, [text] * 10) is None
