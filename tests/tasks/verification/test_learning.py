"""A verifier learned from a corpus of a few paragraphs."""

import numpy as np
import pytest

from tasks.engine.hashing import Dice
from tasks.verification.learning import LearningArticle, examples_of, fit, fit_forest, restated, teaching

NAMES = ["Brenn", "Corran", "Delm", "Esk", "Farn", "Gosk", "Holm", "Irun", "Jarl", "Kell", "Lund", "Mar"]
PASSAGES = [
    f"The mill of {name} was built in {1700 + 7 * number} by Hugh {name}son. It ground {number + 3} tonnes of barley a "
    f"day and did not stop in winter. Its wheel, which was made of oak, burned in {1800 + 9 * number}."
    for number, name in enumerate(NAMES)
]
TOPICS = [LearningArticle(PASSAGES, "The mill of Brenn was built in 1700. Nobody knows who owned the mill.")]


@pytest.mark.integration
def test_it_tells_the_truth_from_lies_of_its_corpus() -> None:
    verifier = fit(teaching(TOPICS, most=1500))
    true = [(passage.split(". ")[1] + ".", passage) for passage in PASSAGES]
    lies = [(sentence.replace("did not stop", "did stop"), passage) for sentence, passage in true]
    assert min(verifier.probabilities(true)) >= verifier.said_at
    assert max(verifier.probabilities(lies)) < min(verifier.probabilities(true))


@pytest.mark.integration
def test_the_same_corpus_and_seed_teach_the_same() -> None:
    pairs = [(PASSAGES[0].split(". ")[0], passage) for passage in PASSAGES]
    one, other = (fit(teaching(TOPICS, 5, most=300), 5).probabilities(pairs) for _ in range(2))
    assert one.tolist() == other.tolist()


def test_a_lead_teaches_what_its_sources_nearly_say() -> None:
    kinds = {(e.kind, e.sentence) for seed in range(8) for e in examples_of(TOPICS[0], 0, Dice(seed))}
    assert ("lead", "The mill of Brenn was built in 1700.") in kinds
    assert not any(kind == "lead" and "owned" in sentence for kind, sentence in kinds)
    assert any(kind == "negated, lead" for kind, _ in kinds)


@pytest.mark.integration
def test_a_family_of_lies_can_be_left_out() -> None:
    taught = teaching(TOPICS, most=600)
    pair = [(PASSAGES[0].split(". ")[0].replace("was built", "was not built") + ".", PASSAGES[0])]
    assert fit(taught).probabilities(pair)[0] < fit(taught, without=("negated", "affirmed")).probabilities(pair)[0]


def test_what_is_written_by_hand_is_both_true_and_false_in_its_passage() -> None:
    examples = restated()
    assert len(examples) > 300
    assert 0.3 < np.mean([example.true for example in examples]) < 0.7
    assert all(example.passage and example.sentence for example in examples)


def test_a_corpus_without_sentences_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="2 topics have none"):
        teaching([LearningArticle(["Mills"]), LearningArticle(["灯台は1901年に建てられた。"])])


def test_a_forest_says_what_scikit_learn_says() -> None:
    from sklearn.ensemble import RandomForestClassifier

    dice = np.random.default_rng(1)
    rows = dice.normal(size=(400, 5)).astype(np.float32)
    true = rows[:, 0] + rows[:, 1] ** 2 > 0.5
    weights = dice.uniform(0.5, 2, 400)
    forest = fit_forest(rows, true, weights, trees=7, seed=3)
    peer = RandomForestClassifier(
        7, min_samples_leaf=6, max_leaf_nodes=400, max_features=0.35, random_state=3, n_jobs=1
    ).fit(rows, true, sample_weight=weights)
    assert forest.predict(rows) == pytest.approx(peer.predict_proba(rows)[:, 1], abs=5e-5)
    assert forest.predict(rows[:0]).shape == (0,)
