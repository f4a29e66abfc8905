"""A real model of transformers, tiny and random, from a folder."""

import socket
from pathlib import Path

import numpy as np
import pytest
import torch

from tasks.evaluation.folder_models import EntailmentModel
from tests.tasks.evaluation.tiny_models import WORDS, save_model

transformers = pytest.importorskip("transformers", reason="transformers is of the extra `judges`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("nli"))


def model(folder: Path) -> EntailmentModel:
    return EntailmentModel(str(folder), "scoring.nli.folder", "cpu")


def by_hand(folder: Path, premise: str, hypothesis: str) -> list[float]:
    """Ids looked up, one pair at a time; the labels are 2 and 0."""
    ids = [2, *map(WORDS.index, premise.split()), 3, *map(WORDS.index, hypothesis.split()), 3]
    kinds = [0] * (len(premise.split()) + 2) + [1] * (len(hypothesis.split()) + 1)
    network = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        chances = network(torch.tensor([ids]), token_type_ids=torch.tensor([kinds])).logits.softmax(-1)[0]
    return [float(chances[2]), float(chances[0])]


PAIRS = [("the river is long", "river long"), ("the mill", "the mill is short ."), ("is", "the river is long")]


def test_probabilities_are_those_of_the_labels_by_name_whatever_stands_in_a_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("a local model asked for the network")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    found = model(folder)(PAIRS)
    assert found.shape == (3, 2)
    np.testing.assert_allclose(found, [by_hand(folder, *pair) for pair in PAIRS], atol=1e-6)
    assert np.ptp(found[:, 0]) > 0.01  # the pairs differ


def test_same_bytes_again_and_more_pairs_than_a_batch(folder: Path) -> None:
    many = PAIRS * 30
    first, again = model(folder)(many), model(folder)(many)
    assert first.tobytes() == again.tobytes()
    np.testing.assert_allclose(first[:3], model(folder)(PAIRS), atol=1e-6)


def test_the_longer_text_is_cut_at_the_models_limit(folder: Path) -> None:
    """24 positions: 3 marks, 2 words of the hypothesis, 19 of the premise."""
    long = " ".join(["river"] * 500)
    np.testing.assert_allclose(
        model(folder)([(long, "long ."), ("mill .", long)]),
        [by_hand(folder, " ".join(["river"] * 19), "long ."), by_hand(folder, "mill .", " ".join(["river"] * 19))],
        atol=1e-6,
    )


def test_no_pairs(folder: Path) -> None:
    assert model(folder)([]).shape == (0, 2)


def test_a_folder_that_lacks_the_head_is_refused(folder: Path, tmp_path: Path) -> None:
    """The configuration says classification, the weights are those of a bare encoder."""
    save_model(tmp_path, "BertModel")
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(ValueError, match="expected the weights of BertForSequenceClassification; classifier"):
        model(tmp_path)
