"""The phrases found by way of their signs, against one search for all of them."""

import gzip
import re
import string
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.extraction.blocks import read_page
from tasks.extraction.markup import parse
from tasks.text.boilerplate_phrases import fold, is_boilerplate, phrases
from tasks.text.ngrams import split_words

PATTERNS = [pattern for _, pattern in phrases()]
PLAIN = re.compile("|".join(PATTERNS), re.IGNORECASE)

TEXTS = [
    "The river rises on the moors, and its source was found in 1831; see the map of this page in his terms of travel.",
    "We use Cookies to personalise content, to share this story and to sign you up.",
    "“Accept all cookies”",
    "You Agree to our Terms & Conditions and the PRIVACY NOTICE of our partners",
    "Privacy Policy",
    "Copyright (c) 2019 by the County Courier. ALL RIGHTS RESERVED",
    "He copied the right to reserve all of it, and may not be right on facebook.",
    "Follow the Courier on Facebook, or like us on X!",
    "FOLLOW US ON ﬁRST SIGHT",
    "\u017fign up for our new\u017fletter",  # a long s, which is an s but for case
    "S\u0130gn up for our newsletter and w\u0131n",  # a capital i with a dot, and a small one without
    "Clic\u212a here",  # the sign of kelvin
    "Photo: Getty Images",
    "Getty Images lost its appeal against the ruling.",
    "Read more: the bridge that never was",
    "Tags : rivers",
    "Source: the county's records of 1894",
    "Sources of the river were long in doubt",
    "Please enable JavaScript, your browser doesn’t have it.",
    "Already a member? Log in to comment. Comments are closed.",
    "Crossref PubMed Google Scholar",
    "Consciousness. MIT Press. Cross Ref",
    "Make a donation of any size to keep the bridge.",
    "Delivered on Mondays to your inbox.",
    "Opt-out of the sale of your data; do not sell the bridge personally.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_as_by_one_search(text):
    assert is_boilerplate(text) == bool(PLAIN.search(text))


def test_texts_have_both_kinds():
    found = [text for text in TEXTS if PLAIN.search(text)]
    assert len(found) == 19  # counted by hand


@pytest.mark.integration  # it makes texts of each pattern
@pytest.mark.parametrize(("signs", "pattern"), phrases())
def test_whatever_matches_has_one_of_its_signs(signs, pattern):
    plain = re.sub(r"\.\{0,\d+\}", "(?: |, and )", pattern)  # gaps that leave words whole

    @settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
    @given(st.from_regex(re.compile(plain, re.IGNORECASE)))
    def check(text):
        spaced = f" {' '.join(split_words(fold(text)))} "
        assert any(sign in (spaced if split_words(sign) else text) for sign in signs.split("|"))
        assert is_boilerplate(text)
        assert is_boilerplate(text, split_words(text))

    check()


@pytest.mark.parametrize(
    "text",
    [
        # what a page says of itself
        "This website and its partners use cookies and similar technologies.",
        "These cookies allow us to count visits and traffic sources.",
        "Strictly necessary cookies are always on.",
        "You can block all cookies in your browser.",
        "See our Cookie Policy.",
        "By signing up you agree to our terms of service.",
        "Please read the privacy policy before you write to us.",
        "Terms of use | Privacy policy | Contact",
        "This material may not be published, broadcast, rewritten or redistributed.",
        "Registered in England and Wales, number 01234567.",
        "We may earn a commission when you buy through links on this page.",
        "JavaScript is not enabled.",
        "This page requires JavaScript.",
        "Proudly powered by WordPress",
        "Sign up for our weekly newsletter.",
        "Subscribe to the magazine today.",
        "Register now for free",
        "Register for our newsletter",
        "Already a member? Log in.",
        "Forgot your password?",
        "Your email address will not be published.",
        "Please make a donation today.",
        "Share this on Facebook or Twitter",
        "Share on X",
        "Follow Jane Doe on Instagram.",
        "He writes about rivers. Follow him on Twitter.",
        "Leave a comment",
        "Be the first to comment.",
        "Photo credit: a member of the crew",
        "Source: Bureau of Rivers and Harbours",
        "SOURCE: Al Jazeera News",
        "(AFP/Getty Images)",
        "Reporting by Ann Hill in York; additional reporting by Bo Lee; editing by Cy Dunn",
        "RELATED: The mayor's other bridge is late, too.",
        "Watch: Barges return to the Severn",
        "Updated: 12 March 2020",
        "Advertisement",
        "Story continues below advertisement",
        # what consent notices and archives of the web say in the same words on thousands of sites
        "Data from other sources can be matched in support of one or more of purposes.",
        "Your activity may be told to our partners for the purposes explained in this notice.",
        "Personalised ads can be shown to you based on a profile.",
        "Content presented to you on this service can follow your interests.",
        "A profile can be built about you.",
        "Your data can be used to improve existing systems.",
        "Your device might be distinguished based on what it sends.",
        "Data may be kept on your device for the purposes presented to you.",
        "Cookies or similar online identifiers may be stored.",
        "The effectiveness of content that you see or interact with can be measured.",
        "This allows you to see and interact with ads.",
        "Research can be used to learn more about the audiences who visit sites.",
        "Data can be combined with your online activity.",
        "Devices may be linked as belonging to you or your household.",
        "Actively scan device characteristics for identification.",
        "We process your data to deliver advertising.",
        "Beginning of dialog window.",
        "This modal can be closed by the Escape key.",
        "These crawls are part of an effort to archive pages.",
        "The archive hopes that references to these archived pages will be set.",
        "The goal is to fix all broken links.",
        "For years Alexa has been donating their crawl data to the Internet Archive.",
        "The Internet Archive discovers and captures pages in many ways.",
        "The main site for Archive Team is elsewhere.",
        "We have changed how we do these wide crawls.",
        "Focused crawls are collections of pages.",
        "This is a collection of web page captures.",
        "There are sub-collections for the type of data we acquire.",
        "A daily crawl of more than 200,000 home pages.",
        "Capture a web page as it appears now.",
    ],
)
def test_pages_about_themselves(text):
    assert is_boilerplate(text)


@pytest.mark.parametrize(
    "text",
    [
        # news prose with the same words, at least one for each pattern
        "“We use butter, never oil, in our cookies,” the baker said.",
        "She sold these cookies at the county fair.",
        "Google will block third-party cookies in Chrome from next year.",
        "The regulator fined the firm for its use of cookies on two million phones.",
        "The site changed its cookie policy after the ruling.",
        "Scouts sell nine categories of cookies, and thin mints sell best.",
        "Under the law consumers can opt out of the sale of their personal information.",
        "The tenth amendment leaves all rights reserved to the states untouched.",
        "Copyright expired in 1998, and the song has been free since.",
        "Twitter said the account had broken its terms of service.",
        "The senators asked to see the privacy policy.",
        "Few people read the privacy policy of an app, the study found.",
        "The letters may not be published until 2040.",
        "The ship was registered in England and sailed under a Greek flag.",
        "Agents earn a commission on each sale.",
        "The blogger lived on affiliate links for years.",
        "The flaw hits everyone who has to enable JavaScript at work.",
        "JavaScript is not Java, as every student learns.",
        "Two sites in five are powered by WordPress, a survey found.",
        "Readers skip to content that angers them, the editor said.",
        "Residents can go to the town hall to sign up for alerts.",
        "Some 4,000 people subscribe to the magazine.",
        "Register of the Treasury was an office that Lincoln gave to a friend.",
        "Registers were kept in Latin until 1733.",
        "She was already a member of parliament when the war began.",
        "Buyers had to create an account with the bank first.",
        "A bug let anyone reset it by the “forgot password” function.",
        "He promised to make a donation to help the victims of the flood.",
        "In a post on X, the president said the bridge would be built.",
        "In a post on Facebook the mayor asked people to stay at home.",
        "Millions follow her on Instagram.",
        "Like many on Facebook, he had never met his friends.",
        "Users click to share what they have not read.",
        "Visitors may not leave a comment on the wall of the cell.",
        "She would be the first to add that luck had played its part.",
        "Source: the river rises on the moors, where rain falls on two days of every three",
        "Source: the river rises ...",
        "Courtesy of the mayor, the band played until midnight.",
        "Credit: the bank gave none, and the mill closed.",
        "The photographer sued Getty Images.",
        "Reporting by the Times found that the bridge was never inspected.",
        "See: the mayor was right about the bridge.",
        "Updated: nobody knows what the word means here.",
        "By: the bridge, there was nothing else.",
        "The story continues below the surface of the lake.",
        "Related species live in the Wye and the Usk.",
        "A search of Google Scholar found forty papers.",
        "He spoke in support of one or more candidates, whatever their purposes.",
        "The trust gave money in support of the purposes of the museum.",
        "Ads were shown to readers based on the pages that they had opened.",
        "She built a profile of the killer that was about right.",
        "Your data can be used against you, the lawyer warned.",
        "Thieves asked where your device was last seen.",
        "Children interact with content that no adult has checked.",
        "The museum wants to know the audiences who visit it.",
        "The police scanned devices for the characteristics of a bomb.",
        "The law lets banks process your data for ninety days.",
        "The dialog between the window and the street is what the painter saw.",
        "The Internet Archive was sued by four publishers in 2020.",
        "Archive Team saved the pages of GeoCities before they went dark.",
        "The company was donating their books to the Internet Archive.",
        "Two students mended broken links for a summer.",
        "Search engines crawl the web, and their crawls are seldom shown.",
    ],
)
def test_news_prose_is_kept(text):
    assert not is_boilerplate(text)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(sorted({word for text in TEXTS for word in text.split()})), max_size=30))
def test_shuffled_texts_as_by_one_search(words):
    text = " ".join(words)
    assert is_boilerplate(text) == bool(PLAIN.search(text))


def test_letters_that_differ_in_case_only_are_folded_into_one():
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in string.ascii_lowercase + "©&:().,-' ":
        same = re.findall(re.escape(letter), characters, re.IGNORECASE)
        assert letter in same and {fold(one) for one in same} == {letter}


def test_signs_are_written_as_they_are_looked_for():
    signs = {sign for signs, _ in phrases() for sign in signs.split("|")}
    assert {sign for sign in signs if not split_words(sign)} == {":", "©"}
    assert all(sign.strip() == " ".join(split_words(sign)) for sign in signs if split_words(sign))
    assert not any("  " in sign for sign in signs)


@pytest.mark.shared_data
def test_lines_of_real_pages_as_by_one_search(shared_data):
    pages = sorted((shared_data / "extraction" / "html").iterdir())
    trees = [parse(gzip.decompress(page.read_bytes()).decode("utf-8", "replace")) for page in pages]
    lines = {block.text for tree in trees for block in read_page(tree).blocks}
    found = {line for line in lines if len(line) <= 800 and is_boilerplate(line, split_words(line))}
    assert found == {line for line in lines if len(line) <= 800 and PLAIN.search(line)}
    assert len(found) > 100
