"""Who says a clause, and whether it is denied, uncertain or fiction."""

import pytest

from tasks.verification.frames import Frame, framed, frames_named


def parts(sentence: str) -> set[tuple[str, str]]:
    return {(part.frame.value, sentence[part.start : part.end]) for part in framed(sentence)}


@pytest.mark.parametrize(
    ("sentence", "frame", "part"),
    [
        ("It is untrue that the mayor stole the ring.", "denied", "that the mayor stole the ring"),
        ("The jury rejected the claim that he stole the ring.", "denied", "that he stole the ring"),
        ("Rumours that the firm was bankrupt were invented.", "denied", "that the firm was bankrupt were invented"),
        ("There is no evidence that smoking helped.", "denied", "that smoking helped"),
        ("She denied stealing the money.", "denied", "stealing the money"),
        ("Nobody believes that the king was murdered.", "denied", "that the king was murdered"),
        ("The theory that it was a comet is wrong.", "denied", "that it was a comet is wrong"),
        ("In the novel, the bridge collapses in 1910.", "fictional", ", the bridge collapses in 1910"),
        ("The bridge collapses in the novel.", "fictional", "The bridge collapses in the"),
        ("If the recording is real, he took bribes.", "uncertain", "If the recording is real, he took bribes"),
        ("The council plans to close the school.", "uncertain", "close the school"),
        ("The firm may sell the plant, which opened in 1990.", "uncertain", "The firm may sell the plant"),
        ("It is unclear whether the ship sank.", "uncertain", "whether the ship sank"),
        ("They cannot say whether it is the cause.", "uncertain", "whether it is the cause"),
        ("The mayor said the bridge cost 5m.", "reported", "the bridge cost 5m"),
        ("The mayor announced on Monday that the bridge is closed.", "reported", "that the bridge is closed"),
        ("The bridge cost 5m, the mayor said.", "reported", "The bridge cost 5m"),
        ("According to the police, two men died.", "reported", "two men died"),
        ("Two men died, according to the police.", "reported", "Two men died,"),
        ("He reportedly left in 1990.", "reported", "He reportedly left in 1990"),
        ("The firm is said to own the mine.", "reported", "own the mine"),
        ("They asked him to leave.", "uncertain", "leave"),
        ("The minister urged Parliament to cut tariffs.", "uncertain", "cut tariffs"),
        ("He is accused of bribing two judges.", "reported", "bribing two judges"),
        ("The board considered moving the museum.", "uncertain", "moving the museum"),
        ("The club came close to signing Diaz.", "uncertain", "signing Diaz"),
        ("An attempt to raise the wreck failed.", "uncertain", "raise the wreck failed"),
        ("Should the treaty pass, tariffs fall.", "uncertain", "Should the treaty pass, tariffs fall"),
        ("The ship was to have sailed in May.", "uncertain", "have sailed in May"),
        ("Neither he nor she came.", "denied", "he nor she came"),
        ("Legend has it that the bell was cast here.", "reported", "the bell was cast here"),
        ("It is not true that the mayor stole the ring.", "denied", "that the mayor stole the ring"),
        ("It is not known that he left.", "uncertain", "that he left"),
        ("He left instead of signing the treaty.", "denied", "signing the treaty"),
        ("She was far from winning the race.", "denied", "winning the race"),
        ("It nearly collapsed in 1990.", "uncertain", "collapsed in 1990"),
    ],
)
def test_a_clause_stands_in_its_frame(sentence: str, frame: str, part: str) -> None:
    assert (frame, part) in parts(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was built in 1874.",
        "Helen Marsh (4 May 1889) was a botanist.",  # the month
        "The ship was reported missing in 1912.",
        "The report describes the town.",
        "The film stars Anna Lee.",
        "They asked him about it.",
        "They danced even if it rained.",
        "It may not open on Sundays.",
        "It is true that he left.",
        "He was accused by a man wearing a hat.",
        "He was accused of theft while sleeping.",
        "The dam, built in 1960, failed.",
        "Were the ships old?",
        "In 1990, the mayor said yes to him.",
        "The novel sold well.",
        "The mayor said nothing.",
        "The claim was rejected by the court.",
        "He promised help; that came late.",
        "The ship was towed to Leith.",
        "It was painted and charged in 1990.",
        "",
    ],
)
def test_what_is_asserted_stands_in_none(sentence: str) -> None:
    assert parts(sentence) == set()


def test_a_claim_is_denied_only_where_a_word_says_so() -> None:
    assert parts("The report that the ship sank reached London.") == {("reported", "that the ship sank reached London")}


def test_words_of_a_frame_count_whatever_they_govern() -> None:
    assert frames_named("Parents complained about it.") == {Frame.REPORTED}
    assert frames_named("It opened in May.") == frozenset()
