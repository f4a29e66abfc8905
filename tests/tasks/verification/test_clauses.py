"""What governs a clause by its parse; skipped, visibly, where no pipeline for English is installed."""

import pytest

from tasks.verification.clauses import clause_frames, dropped_frame
from tasks.verification.frames import Frame
from tasks.verification.parser import english, parser_notes

pytestmark = pytest.mark.skipif(english() is None, reason="wikisum[english] is not installed")


def frames_of(sentence: str, word: str) -> set[str]:
    pipeline = english()
    assert pipeline is not None
    doc = pipeline(sentence)
    return {frame.value for frame in clause_frames(doc)[next(t.i for t in doc if t.text == word)]}


@pytest.mark.parametrize(
    ("sentence", "word", "frames"),
    [
        ("Prosecutors alleged that Mara Quill had forged the deed.", "forged", {"reported"}),
        ("Quill, prosecutors alleged, forged the deed in 1998.", "forged", {"reported"}),
        ("Officials realised that the gauge was broken.", "broken", set()),
        ("He did not know that the gauge was broken.", "broken", set()),
        ("Nobody has shown that the vaccine causes fever.", "causes", {"denied"}),
        ("Had the dam failed, the village would have been flooded.", "flooded", {"uncertain"}),
        ("If it rains, the square is flooded.", "flooded", {"uncertain"}),
        ("Even if it rains, the square is dry.", "dry", set()),
        ("The company had been due to open a plant in Leeds.", "open", {"uncertain"}),
        ("The film depicts the queen poisoning her brother.", "poisoning", {"fictional"}),
        ("The film was shot in Malta in 1999.", "shot", set()),
        ("In the play, the mayor sells the harbour.", "sells", {"fictional"}),
        ("An attempt to raise the wreck in 1975 failed.", "raise", {"uncertain"}),
        ("She was the first woman to climb the mountain.", "climb", set()),
        ("Smith is suspected of having bribed two judges.", "bribed", {"reported"}),
        ("Smith was praised for winning the cup.", "winning", set()),
        ("The club came close to signing Diaz in 2003.", "signing", {"uncertain"}),
        ("The ship was to have sailed on 3 March.", "sailed", {"uncertain"}),
        ("The ship nearly sank off Malta.", "sank", {"uncertain"}),
        ("Neither the mayor nor the council approved the plan.", "approved", {"denied"}),
        ("The engineer who claimed that the dam was unsafe was dismissed.", "dismissed", set()),
        ("The engineer who claimed that the dam was unsafe was dismissed.", "unsafe", {"reported"}),
        ("The bell is said to have been cast in 1322.", "cast", {"reported"}),
        ("The court overturned a ruling that the firm had infringed the patent.", "infringed", {"denied", "reported"}),
        ("The team won the league and hoped to win the cup.", "won", set()),
        ("The team won the league and hoped to win the cup.", "win", {"uncertain"}),
        ("The house is easy to heat.", "heat", set()),
    ],
)
def test_the_frames_of_a_word_are_those_of_its_governors(sentence: str, word: str, frames: set[str]) -> None:
    assert frames_of(sentence, word) == frames


def test_a_frame_is_dropped_where_every_clause_with_the_predicate_has_it() -> None:
    source = "The mayor said that the school closed."
    assert dropped_frame("The school closed.", [source], frozenset()) is Frame.REPORTED
    assert dropped_frame("The school closed.", [source], frozenset({Frame.REPORTED})) is None
    assert dropped_frame("The school closed.", [source, "The school closed in May."], frozenset()) is None
    # The clause with more of the claim's words decides.
    other = "The shop in Leeds closed."
    assert dropped_frame("The school closed.", [source, other], frozenset()) is Frame.REPORTED


def test_a_predicate_in_a_clause_about_another_event_frames_nothing() -> None:
    claim = "Nell Ford led the Harbour Rowing Club of Leeds for ten years."
    assert dropped_frame(claim, ["Ford hoped to lead a quiet life."], frozenset()) is None
    assert dropped_frame(claim, ["Ford hoped to lead the Harbour Rowing Club."], frozenset()) is Frame.UNCERTAIN


def test_what_a_claim_adds_about_its_people_does_not_hide_a_frame() -> None:
    claim = "Nell Ford, a judge from Leeds who wrote six books and taught at a school in York, stole the ring."
    assert dropped_frame(claim, ["Two guards claimed that Ford stole it."], frozenset()) is Frame.REPORTED


def test_the_subject_of_a_governor_counts_where_the_clause_has_none() -> None:
    claim = "A teacher of the school in Leeds took money."
    assert dropped_frame(claim, ["A teacher was suspected of taking money."], frozenset()) is Frame.REPORTED


def test_what_will_be_is_no_past() -> None:
    assert dropped_frame("The bridge opened in May.", ["The bridge will open in May."], frozenset()) is Frame.UNCERTAIN
    assert dropped_frame("The bridge will open in May.", ["The bridge will open in May."], frozenset()) is None


def test_a_claim_in_other_words_inside_a_framed_clause_has_its_frame() -> None:
    source = ["Witnesses claimed to have seen Smith in Lyon."]
    assert dropped_frame("Smith was in Lyon.", source, frozenset()) is Frame.UNCERTAIN


def test_nothing_to_compare_drops_nothing() -> None:
    assert dropped_frame("", ["The bridge opened."], frozenset()) is None
    assert dropped_frame("The bridge opened.", [], frozenset()) is None


def test_the_record_names_the_pipeline() -> None:
    (note,) = parser_notes().values()
    assert note.startswith("en_core_web_sm")
    assert note[-1].isdigit()
