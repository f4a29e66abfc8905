"""Learn a verifier from a corpus without labels: its sentences are true, and rules make true and false ones from them.

True are source sentences in their passage, restatements of them (`restatements.py`), and sentences of leads that a
passage nearly says. False are lies made of all these (`lies.py`), and sentences held against passages elsewhere. Rules
cannot make sentences in entirely other words. Every verifier learns these from the few hundred true and false sentences
of `restated.txt`, which were written by hand about invented things."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.values import measurable
from tasks.engine.hashing import Dice, unit_interval
from tasks.engine.trees import Nodes, Trees, model_text
from tasks.verification.alignment import matches
from tasks.verification.features import features
from tasks.verification.lies import Others, lies
from tasks.verification.restatements import restatements
from tasks.verification.verifier import Verifier, WordWeights
from tasks.verification.words import read

MOST_EXAMPLES = 24_000
TREES = 96
_WORDS = range(5, 51)  # words of a sentence that teaches
_FAR = 6  # passages of the topic that lend names and ends of sentences
_SHORT = 0.3  # of the passages that are cut to the sentence itself, alone or with the next: sources may be short
_ALIGNED = 0.7  # share of a lead's sentence that a passage must hold, with all its values
_LEAD = ", lead"  # after the kind of a lie that is made of a lead's sentence
_HELD_OUT = 0.2  # share of the topics on which the threshold is chosen
# The lowest threshold, whatever the held-out lies suggest, because people wrote none of them: at .4 a fifth of the true
# sentences in other words are refused (`benchmarks.verifiers`, the half that may be looked at).
_LEAST_SURE = 0.3
_MOST_SURE = 0.9
_MOST_PASSING = 0.05  # of their lies


@dataclass(frozen=True)
class LearningArticle:
    """What a verifier learns from, one article of a corpus."""

    passages: Sequence[str]  # source paragraphs
    lead: str = ""  # text that is written from them, such as the article's lead; may be empty


class LabelledSentence(NamedTuple):
    """A sentence that a passage says or not, and how it was made."""

    true: bool
    kind: str
    sentence: str
    passage: str


class Teaching(NamedTuple):
    """What a verifier is fitted to: N examples, first the `made` ones of rules, and their features [N, F]."""

    examples: Sequence[LabelledSentence]
    made: int
    rows: NDArray[np.float32]
    weights: WordWeights


def teaching(topics: Sequence[LearningArticle], seed: int = 0, most: int = MOST_EXAMPLES) -> Teaching:
    """Return the examples of a corpus, from which `fit` learns; both take some forty seconds of processor time.
    `topics`: a corpus; those for training alone; `seed`: of every choice; `most`: examples made by rules, at most.
    Raises ValueError: no passage has two sentences that can be read."""
    weights = WordWeights.of(passage for topic in topics for passage in topic.passages)
    made = [example for example in _drawn(topics, seed, most) if read(example.sentence).content]
    if {example.true for example in made} != {True, False}:
        raise ValueError(
            f"a verifier learns from passages with sentences of {_WORDS.start} to {_WORDS.stop - 1} words in a script "
            f"with capitals: {len(topics)} topics have none"
        )
    examples = [*made, *restated()]
    rows = np.array([features(read(e.sentence), read(e.passage), weights) for e in examples], np.float32)
    return Teaching(examples, len(made), rows, weights)


def fit(taught: Teaching, seed: int = 0, without: Collection[str] = ()) -> Verifier:
    """Return the verifier that learns from a corpus, without some kinds of lies."""
    examples, made, rows, weights = taught
    true = np.array([example.true for example in examples])
    by_hand = np.arange(len(examples)) >= made
    evened = np.zeros(len(examples))
    taken = np.array([example.kind.removesuffix(_LEAD) not in without for example in examples])
    evened[taken & ~by_hand] = _even([e for e, t in zip(examples[:made], taken, strict=False) if t])
    evened[by_hand] = _even(examples[made:]) * evened.sum() / by_hand.sum()  # they weigh as much
    held = np.array([unit_interval("held out", seed, e.passage) < _HELD_OUT for e in examples]) & ~by_hand
    kept = taken & ~held
    trial = fit_forest(rows[kept], true[kept], evened[kept], TREES, seed)
    passing = trial.predict(rows[held & taken & ~true])
    said_at = float(np.quantile(passing, 1 - _MOST_PASSING)) if len(passing) else _LEAST_SURE
    forest = fit_forest(rows[taken], true[taken], evened[taken], TREES, seed)
    return Verifier(forest, weights, min(max(said_at, _LEAST_SURE), _MOST_SURE))


def fit_forest(
    rows: NDArray[np.float32], true: NDArray[np.bool_], weights: NDArray[np.float64], trees: int, seed: int
) -> Trees:
    """Return a random forest (Breiman 2001) learned with scikit-learn; it predicts the share of true examples. `rows`:
    [N, F] features. `true`: [N] the labels. `weights`: [N] of each row. `trees`: how many. `seed`: of their choices."""
    from sklearn.ensemble import RandomForestClassifier  # here, because it takes a second that readers need not

    model = RandomForestClassifier(
        trees, min_samples_leaf=6, max_leaf_nodes=400, max_features=0.35, random_state=seed, n_jobs=1
    )
    model.fit(rows, true, sample_weight=weights)
    place = list(model.classes_).index(True)
    learned = (estimator.tree_ for estimator in model.estimators_)
    nodes = (
        Nodes(np.maximum(t.feature, -1), t.threshold, t.children_left, t.children_right, t.value[:, 0, place].round(4))
        for t in learned
    )
    return Trees(model_text(nodes, rows.shape[1], mean=True))


@cache
def restated() -> list[LabelledSentence]:
    """Return the sentences of `restated.txt`, each with its passage."""
    examples, passage = [], ""
    for line in files("tasks.verification").joinpath("restated.txt").read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "=":
            passage = text
        elif mark in {"+", "-"}:
            examples.append(LabelledSentence(mark == "+", "by hand", text, passage))
    return examples


def _even(examples: Sequence[LabelledSentence]) -> NDArray[np.float64]:
    """Return weights under which truth and lies weigh the same, and rare kinds are not forgotten."""
    counts = Counter((example.true, example.kind) for example in examples)
    weights = np.array([counts[example.true, example.kind] ** -0.5 for example in examples])
    true = np.array([example.true for example in examples])
    for side in (true, ~true):
        weights[side] *= len(examples) / 2 / weights[side].sum()
    return weights


def _drawn(topics: Sequence[LearningArticle], seed: int, most: int) -> Iterator[LabelledSentence]:
    """Yield examples from the topics in turn, in random order, until there are enough."""
    dice = Dice("verifier", seed)
    turns = [
        (topic, place)
        for topic in topics
        for place in range(len(topic.passages))
        if len(read(topic.passages[place]).sentences) > 1
    ]
    count = 0
    for topic, place in dice.sample(turns, len(turns)):
        for example in examples_of(topic, place, dice):
            yield example
            count += 1
        if count >= most:
            return


def examples_of(topic: LearningArticle, place: int, dice: Dice) -> Iterator[LabelledSentence]:
    """Yield examples of one passage of a topic: of one of its sentences, and of one of the lead that it nearly says."""
    passage = topic.passages[place]
    text = read(passage)
    others = [topic.passages[other] for other in dice.sample(range(len(topic.passages)), _FAR) if other != place]
    far = [sentence for other in others for sentence in read(other).sentences]
    usable = [n for n, sentence in enumerate(text.sentences) if _usable(sentence)]
    if not usable:
        return
    number = dice.pick(usable)
    sentence = text.sentences[number]
    following = text.sentences[number + 1] if number + 1 < len(text.sentences) else ""
    near = [other for n, other in enumerate(text.sentences) if n != number]
    if dice.chance(_SHORT):
        passage = " ".join(text.sentences[number : number + 1 + dice.below(2)])
    restated = list(restatements(sentence, following, dice))
    for kind, made in restated:
        yield LabelledSentence(True, kind, made, passage)
    # Half of the lies are made of restatements, so that other words do not suggest truth.
    base = dice.pick([made for _, made in restated]) if dice.chance(0.5) else sentence
    for kind, made in lies(base, Others(near, far), dice):
        yield LabelledSentence(False, kind, made, passage)
    for other in others[:2]:
        if sentence not in other:
            yield LabelledSentence(False, "elsewhere", sentence, other)
    aligned = [line for line in read(topic.lead).sentences if _usable(line) and _nearly_says(passage, line)]
    for line in dice.sample(aligned, 1):
        yield LabelledSentence(True, "lead", line, passage)
        for kind, made in lies(line, Others(list(text.sentences), far), dice):
            yield LabelledSentence(False, f"{kind}{_LEAD}", made, passage)


def _usable(sentence: str) -> bool:
    return len(sentence.split()) in _WORDS and measurable(sentence) and bool(read(sentence).content)


def _nearly_says(passage: str, line: str) -> bool:
    own, other = read(line), read(passage)
    held = sum(bool(places) for places in matches(own, other))
    return held >= _ALIGNED * len(own.content) and all(value in other.evidence for value in own.values)
