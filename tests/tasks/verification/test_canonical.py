"""One form for values that are written in several ways."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.verification.canonical import canonical
from tasks.verification.words import read


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("The U.S. Army came on Nov. 1, 2020.", "The United States Army came on November 1, 2020."),
        ("on 3 September 2019", "on September 3 2019"),
        ("the 3rd of September", "the September 3"),
        ("by Sept 2020", "by September 2020"),
        ("It cost $2.5bn and £5m.", "It cost 2.5 billion dollars and 5 million pounds."),
        ("US$3 million", "3 million dollars"),
        ("5m people live there", "5 million people live there"),
        ("a wall 5m tall", "a wall 5m tall"),  # metres
        ("a quarter of the houses", "25 percent of the houses"),
        ("a quarter to three", "a quarter to three"),
        ("12.5 per cent, 12.5%", "12.5 percent, 12.5 percent"),
        ("3 percentage points", "3 points"),
        ("thirty-one men", "31 men"),
        ("a 12-km road", "a 12 kilometres road"),
        ("$$£5 and €5", "$$£5 and 5 euros"),
        ("Us and them, in May 5 people", "Us and them, in May 5 people"),
        ("Jan Smith, Mark Dec", "Jan Smith, Mark Dec"),  # no number beside them
    ],
)
def test_values_get_one_form(written: str, form: str) -> None:
    assert canonical(written) == form


@example("$$£0")
@example("£ £ £0")
@given(st.text(alphabet="UKS.$£€0123456789 ,-%mbnk JanSeptMayoftwenyquar", max_size=60))
def test_a_text_in_that_form_stays(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == canonical(canonical(once))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The U.S. won on Nov. 1.", "The United States won on November 1."),
        ("It cost $5m.", "It cost 5 million dollars."),
        ("It grew by 25%.", "It grew by 25 per cent."),
    ],
)
def test_texts_of_one_form_have_the_same_words(one: str, other: str) -> None:
    assert read(one).lines == read(other).lines


def test_percent_and_points_differ() -> None:
    assert read("It grew by 3 percent.").lines != read("It grew by 3 percentage points.").lines
