"""Weights learned from piles whose leads say what a rule says, and the weights as a file."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from tasks.extractive.pile import KINDS, Pile, PilePassage
from tasks.extractive.weights import LabelledPile, Logistic, Weights, _trees, learn, shipped

NAMES = ["Ada Bell", "Carl Dorn", "Eva Falk", "Gus Holm", "Ida Juhl", "Kai Lund", "Mia Nord", "Ole Pihl"]


def topic(number: int) -> LabelledPile:
    """A pile whose lead says what its first passages say, and never what the last ones do."""
    name, other = NAMES[number % 8], NAMES[(number + 3) % 8]
    year = 1800 + 7 * number
    said = [f"{name} founded the harbour in {year}.", f"The harbour of {name} was closed in {year + 50}."]
    unsaid = [
        f"Tickets for {other} cost {number + 3} euros at gate {year % 90}.",
        f"Ring {other} at desk {number + 200}.",
    ]
    passages = [PilePassage(text, f"page{place}", place) for place, text in enumerate(said + unsaid)]
    return LabelledPile.of(Pile("Harbour", passages), " ".join(said))


def test_labels_are_what_the_lead_has() -> None:
    example = topic(1)
    words = dict(zip(example.pile.concepts[0].names, example.said[0], strict=True))
    assert (words["founded"], words["tickets"]) == (True, False)
    values = {str(name): bool(said) for name, said in zip(example.pile.concepts[2].names, example.said[2], strict=True)}
    assert (values["1807"], values["carl dorn"], values["201"]) == (True, True, False)
    assert example.shares[0].tolist() == [1.0, 1.0]
    assert example.shares[2, 1] == 0.0


def test_what_leads_say_is_worth_more() -> None:
    weights = learn([topic(number) for number in range(24)])
    other = topic(30)
    found = weights.worth(other.pile)
    assert found.sentences[:2, 1].min() > found.sentences[2:, 1].max()
    for kind in range(len(KINDS)):
        said = other.said[kind]
        assert found.concepts[kind][said].mean() > found.concepts[kind][~said].mean()


def test_learning_again_gives_the_same_bytes() -> None:
    examples = [topic(number) for number in range(8)]
    assert learn(examples).to_json() == learn(examples).to_json()


def test_too_few_topics_are_refused() -> None:
    with pytest.raises(ValueError, match="1 topics with sentences are too few"):
        learn([topic(0), LabelledPile.of(Pile("Harbour", []), "A lead.")])


def test_trees_are_those_of_the_library() -> None:
    generator = np.random.default_rng(0)
    features, target = generator.normal(size=(500, 4)), generator.normal(size=500)
    target += features[:, 1] * (features[:, 2] > 0)
    library = HistGradientBoostingRegressor(
        max_iter=120, learning_rate=0.05, max_leaf_nodes=6, min_samples_leaf=126, l2_regularization=5.0, random_state=1
    ).fit(features, target)
    new = generator.normal(size=(200, 4))
    assert _trees(features, target, digits=17).predict(new) == pytest.approx(library.predict(new))


def test_weights_outlive_their_file() -> None:
    written = shipped().to_json()
    assert Weights.from_json(written).to_json() == written
    short = replace(shipped(), concepts=[Logistic([1.23456789], [1.0], [2.0], 0.5)] * 3).to_json()
    assert short.startswith('{"concepts":{"word":{"mean":[1.2346],"scale":[1.0],"weight":[2.0],"bias":0.5},')


@pytest.mark.parametrize("text", ["[]", "{}", '{"concepts": {"word": {"mean": []}}}', "no json"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="these are not weights of an extractor"):
        Weights.from_json(text)
