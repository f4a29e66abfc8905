import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.rights.text_columns import count_personal, find_personal, mask_personal

CASES = json.loads(Path(__file__).with_name("personal_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["text"] for case in CASES])
def test_what_a_person_would_mask(case: dict[str, str]) -> None:
    assert mask_personal(case["text"]) == case["masked"]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to ada.lovelace+x@maths.ox.ac.uk, please.", "Write to [e-mail], please."),
        ("(mailto:a@b.co)", "(mailto:[e-mail])"),
        ("Call +44 20 7946 0018 or (212) 555-0123.", "Call [telephone] or [telephone]."),
        ("Fax: 212-555-0123, 1-888-555-0199", "Fax: [telephone], [telephone]"),
        ("Tel. 020 7946 0018", "Tel. [telephone]"),
        ("Ring +49 (0)30 901820 today", "Ring [telephone] today"),
        (
            "It came from 93.184.215.14 and 2606:2800:21f:cb07:6820:80da:af6b:8b2c.",
            "It came from [IP address] and [IP address].",
        ),
    ],
)
def test_personal_data_is_found_and_masked(text: str, masked: str) -> None:
    assert mask_personal(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Follow @ada on the site, or a@b and me@localhost.",
        "In 1914-1918 and 1939-1945 it cost $1,250,000.00 or 1 250 000.",
        "ISBN 978-0-306-40615-7, ISSN 2049-3630, doi:10.1000/182.1234567890",
        "Version 10.2.1.4 of the program, at 192.168.0.1 or 127.0.0.1 or 300.1.2.3",
        "14.2.4.3 Plant Intelligence",
        "The score was 212-555, the ratio 1:2:3:4, at 12:30:45.",
        "See pp. 211-212, table 3.1.2 and 100.000.000 people.",
    ],
)
def test_other_numbers_and_signs_are_not_personal(text: str) -> None:
    assert find_personal(text) == []


def test_counts_add_up_over_paragraphs() -> None:
    counts = count_personal(["a@b.org, c@d.org", "nothing", "Tel: +33 1 99 00 12 34"])
    assert counts == {"emails": 2, "phones": 1, "ip_addresses": 0, "cards": 0, "accounts": 0}


@given(st.text(alphabet="abDE@.:+()- 0123456789\n", max_size=80))
def test_pieces_are_in_order_and_a_masked_text_holds_no_more_of_them(text: str) -> None:
    pieces = find_personal(text)
    assert all(one.end <= two.start for one, two in itertools.pairwise(pieces))
    assert all(piece.start < piece.end for piece in pieces)
    assert (mask_personal(text) == text) == (not pieces)
