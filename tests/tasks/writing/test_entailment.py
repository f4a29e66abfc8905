"""A model of entailment from a folder as a further check, the same in a writer, a summary of one's own and a build."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flows.running.building import checked
from tasks.evaluation.entailment import Pair
from tasks.writing.checking import Checker
from tasks.writing.reading import Draft
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import check_writer
from tests.flows.test_writer import config_of, dag, first_sentence, only_written, rows_of, walk
from tests.tasks.chat.chat_server import chat_server, sentences
from tests.tasks.cited_summary.topic import HISTORY, files, summarized
from tests.tasks.writing.entailment_folder import taught
from tests.tasks.writing.scripted import IS, LAMP, PASSAGES, TITLE, in_turn, writing

pytest.importorskip("transformers", reason="transformers is of the extra `judges`")
pytestmark = pytest.mark.integration
GRANITE = "Granite has about 12,000 visitors a year."  # said, as far as the verifier can tell


def test_what_the_verifier_takes_for_said_and_the_model_does_not_is_sent_back(tmp_path: Path) -> None:
    answers = [sentences((IS, [1]), (GRANITE, [4])), sentences((LAMP, [2]))]
    folder = taught(tmp_path, TITLE, PASSAGES, [(IS, [0]), (GRANITE, []), (LAMP, [1])])
    for entailment, expected in (
        (None, [Draft(IS, (0,)), Draft(GRANITE, (3,))]),
        (folder, [Draft(IS, (0,)), Draft(LAMP, (1,))]),
    ):
        with writing(in_turn(answers), entailment=entailment) as (writer, chat):
            made = writer.write(TITLE, PASSAGES)
        assert list(made.sections[0][1]) == expected
    back = chat.asked[1][2]["messages"][-1]["content"]
    assert "no passage entails this" in back and IS not in back


@pytest.mark.parametrize("unsupported", ["left out", "marked"])
def test_what_fails_twice_is_never_shown_as_said(unsupported: str, tmp_path: Path) -> None:
    folder = taught(tmp_path, TITLE, PASSAGES, [(IS, [0]), (GRANITE, [])])
    answers = in_turn([sentences((IS, [1]), (GRANITE, [4]))])
    with writing(answers, entailment=folder, unsupported=unsupported) as (writer, _):
        made = writer.write(TITLE, PASSAGES)
    assert ([one.text for one in made.sections[0][1]], made.left_out) == ([IS], 1)


def test_of_passages_that_say_a_sentence_one_that_entails_it_is_cited(tmp_path: Path) -> None:
    twice = [*PASSAGES, PASSAGES[1].replace("1871, when", "1871. Then")]
    folder = taught(tmp_path, TITLE, twice, [(LAMP, [4])])
    for number in (2, 5):
        with writing(in_turn([sentences((LAMP, [number]))]), entailment=folder) as (writer, chat):
            assert list(writer.write(TITLE, twice).sections[0][1]) == [Draft(LAMP, (4,))]
        assert len(chat.asked) == 1


def test_a_copy_is_said_whatever_the_model_finds(tmp_path: Path) -> None:
    folder = taught(tmp_path, TITLE, PASSAGES, [(IS, []), (LAMP, [1])])
    with writing(in_turn([sentences((IS, [1]), (LAMP, [2]))]), entailment=folder) as (writer, chat):
        assert list(writer.write(TITLE, PASSAGES).sections[0][1]) == [Draft(IS, (0,)), Draft(LAMP, (1,))]
    assert len(chat.asked) == 1


def test_the_model_reads_the_sentences_with_the_words_of_a_sentence_alone() -> None:
    """A model overlooks what is said among much else, and cuts passages that are too long for it."""
    asked: list[Pair] = []

    def entails(pairs: Sequence[Pair]) -> NDArray[np.float64]:
        asked.extend(pairs)
        return np.ones((len(pairs), 2))

    passage = f"{'Gulls nest there. ' * 300}{PASSAGES[1]} It was lit again in 1950."
    (checked,) = Checker(TITLE, [passage], 1, entails).check([Draft(LAMP, (0,))])
    assert checked.supported and asked == [(f"{TITLE}\n{PASSAGES[1]}", LAMP)]


def test_a_summary_of_ones_own_pages_is_checked_by_it(tmp_path: Path) -> None:
    passages = HISTORY.splitlines()
    built = "The lighthouse at Skerry Point was built in 1847 by Thomas Ridley."
    folder = taught(tmp_path, TITLE, passages, [(built, [0]), (LAMP, [])])
    with chat_server(in_turn([sentences((built, [1]), (LAMP, [2]))])) as chat:
        writer = {"url": chat.url, "model": "m", "context": 20_000, "entailment": folder}
        summary, _ = summarized(files(history_txt=HISTORY), writer=writer)
    assert [one.text for one in summary.sentences] == [built]
    assert summary.notes == ["1 sentence left out, because no passage says so."]


def test_a_build_is_checked_by_it_and_another_model_makes_other_shards(tmp_path: Path) -> None:
    folder = taught(tmp_path / "nli", TITLE, PASSAGES, [(IS, [])])  # it has learned to find nothing entailed
    with chat_server(partial(first_sentence, before="Also, ")) as chat:  # no copy, which it is not asked about
        written = {
            entailment: rows_of(walk(config_of(tmp_path / "root", chat, *given), only_written), "written")
            for entailment, given in ((False, []), (True, [f"--writer.entailment={folder}"]))
        }
    assert any(row["summary"] for row in written[False]) and not any(row["summary"] for row in written[True])


def test_a_folder_without_such_a_model_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    with chat_server(first_sentence) as chat:
        settings = WriterSettings.model_validate({"url": chat.url, "model": "m", "entailment": str(tmp_path / "no")})
        with pytest.raises(FileNotFoundError, match=r"writer\.entailment is .*: expected a local folder with a model"):
            check_writer(settings, 150)
        config = config_of(tmp_path / "root", chat, f"--writer.entailment={tmp_path}")
        refused = pytest.raises(FileNotFoundError, match=r"writer\.entailment is .*: expected config\.json in it")
        with refused, checked(config, dag.report):
            pass
    assert chat.asked == []
