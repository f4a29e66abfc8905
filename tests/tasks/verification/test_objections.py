"""What a sentence claims beyond the evidence that has its words."""

import pytest

from tasks.verification.objections import Objection, objection


@pytest.mark.parametrize(
    ("sentence", "evidence", "expected"),
    [
        ("The bridge would cost 5 million pounds.", "The mayor said the bridge would cost £5m.", Objection.REPORTED),
        ("He stole the ring.", "The jury rejected the claim that he stole the ring.", Objection.FRAMED),
        ("The bridge collapses in 1910.", "In the novel, the bridge collapses in 1910.", Objection.FRAMED),
        ("The council will close the school.", "The council plans to close the school.", Objection.FRAMED),
        ("It is the largest bridge in Wales.", "It is the second largest bridge in Wales.", Objection.RANK),
        ("It is the largest bridge.", "It is the largest bridge in Wales.", Objection.RANK),
        ("It is the largest bridge.", "It is one of the largest bridges.", Objection.RANK),
        ("He is chairman of the club.", "He was chairman of the club until 2010.", Objection.TIME),
        ("The mine is open.", "The mine is no longer open.", Objection.TIME),
        ("The museum still shows the bell.", "The museum showed the bell.", Objection.TIME),
        ("Sales rose by 3 percent.", "Sales rose by 3 percentage points.", Objection.UNIT),
        ("It is 12,000 metres high.", "It is 31 metres high and has 12,000 visitors.", Objection.UNIT),
        ("It killed 300 people.", "It killed about 300 people.", Objection.BOUND),
        ("It killed 300 people.", "It killed at least 300 people.", Objection.BOUND),
        ("Skerry Point burned oil.", "The lamp of Skerry Point burned oil.", Objection.SUBJECT),
        ("Skerry Point burned oil.", "Skerry Point's old lamp burned oil.", Objection.SUBJECT),
        ("Skerry Point was painted white.", "The tower at Skerry Point was painted white.", Objection.SUBJECT),
    ],
)
def test_a_changed_claim_is_refused(sentence: str, evidence: str, expected: Objection) -> None:
    assert objection(sentence, [evidence]) is expected


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("The mayor said the bridge would cost 5 million pounds.", "The mayor said the bridge would cost £5m."),
        ("It is the largest bridge in Wales.", "It is the largest bridge in Wales."),
        ("It is the second largest bridge in Wales.", "The bridge is Wales's second largest bridge in Wales."),
        ("About 300 people died.", "Some 300 people died, nearly all of them sailors."),
        ("The study took four years.", "The study ran over four years."),
        ("Sales rose by 3 percent.", "Sales rose by 3%."),
        ("He was chairman of the club.", "He was chairman of the club until 2010."),
        ("Whether it works is unclear.", "It is unclear whether it works."),
        ("Skerry Point burned oil.", "The village of Skerry Point burned oil."),
        ("Skerry Point burned oil.", "The lamp was lit in 1820, and Skerry Point burned oil."),
        ("The lamp of Skerry Point burned oil.", "The lamp of Skerry Point burned oil."),
        (
            "Skerry Point was built by Ann Ray.",
            "The owner of Skerry Point was Ann Ray. Skerry Point was built by Ann Ray.",
        ),
    ],
)
def test_what_the_evidence_says_is_not_refused(sentence: str, evidence: str) -> None:
    assert objection(sentence, [evidence]) is None


def test_in_other_words_only_frames_are_compared() -> None:
    assert objection("It killed 300 people.", ["It killed about 300 people."], close=False) is None
    assert objection("He stole it.", ["She denied that he stole it."], close=False) is Objection.FRAMED
