import pytest

from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings
from tasks.extraction.torn_words import mended

TORN = (
    "The fact-fi nding process was confirm ed by the offi ce in 1902. All require ments have been ful fi lled, and "
    "it identifi es signifi cant risks for Marwick at 18 fi elds. None of them is responsibl e."
)
WHOLE = (
    "The fact-finding process was confirmed by the office in 1902. All requirements have been fulfilled, and "
    "it identifies significant risks for Marwick at 18 fields. None of them is responsible."
)


def test_the_torn_words_of_a_page_that_has_several_are_whole():
    assert mended([TORN], lambda text: True) == [WHOLE]
    page = f"<html><title>The process</title><body><main><p>{TORN}</p></main></body></html>"
    assert extract(page.encode(), "text/html", None, ExtractSettings()).paragraphs == (WHOLE,)


@pytest.mark.parametrize(
    "line",
    [
        "It was confirm ed in 1902 that the offi ce was closed.",  # two alone
        "Plan b has x and y on axis z, and vitamin c, with e coli in it, as may be the case in to day.",
        "Section B and G in part D is of f with s and N e, p in M and S is or H and k on n of y e t for m.",
        "The Hoff man of the work shops an other day may be in to see us, by and by, at once.",
    ],
)
def test_other_words_stay_as_they_are(line):
    assert mended([line], lambda text: True) == [line]


def test_a_long_page_with_a_few_such_words_and_other_languages_stay_as_they_are():
    long = [TORN, "The weir was built by the people of the vale in the spring. " * 600]
    assert mended(long, lambda text: True) == long
    assert mended([TORN], lambda text: False) == [TORN]
