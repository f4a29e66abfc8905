import gzip
import subprocess
import sys
from importlib.resources import files

import lightgbm
import numpy as np
import pytest

from tasks.engine.trees import Nodes, Trees, model_text
from tasks.extraction.block_features import names
from tasks.extraction.main_text import MODELS

TEXTS = {
    name: gzip.decompress(files("tasks.extraction").joinpath(name).read_bytes()).decode() for name in MODELS.values()
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_probabilities_are_those_of_the_package(text: str) -> None:
    rows = np.random.default_rng(0).normal(0, 30, (400, len(names()))).astype(np.float32)
    expected = np.asarray(lightgbm.Booster(model_str=text).predict(rows, num_threads=1))
    found = Trees(text).predict(rows)
    assert found.tolist() == expected.tolist()
    assert 0 <= found.min() < found.max() <= 1


# Below .5 in feature 1 a row ends in 2; else at most -1 in feature 0 in 3, else in 5. The other tree is one leaf.
BRANCHED = Nodes([1, -1, 0, -1, -1], [0.5, 0, -1, 0, 0], [1, 0, 3, 0, 0], [2, 0, 4, 0, 0], [0, 2, 0, 3, 5])
LEAF = Nodes([-1], [0.0], [0], [0], [10.0])


@pytest.mark.parametrize(("mean", "expected"), [(False, [12, 13, 15]), (True, [6, 6.5, 7.5])])
def test_trees_of_nodes_are_summed_or_averaged(mean: bool, expected: list[float]) -> None:
    trees = Trees(model_text([BRANCHED, LEAF], 2, mean=mean))
    assert trees.predict(np.array([[0, 0.5], [-1, 0.6], [0, 0.6]])).tolist() == expected


def test_rows_are_compared_in_their_own_precision() -> None:
    """The nearest float32 to .1 is above it."""
    trees = Trees(model_text([Nodes([0, -1, -1], [0.1, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 2])], 1))
    assert trees.predict(np.array([[0.1]], np.float64)).tolist() == [1.0]
    assert trees.predict(np.array([[0.1]], np.float32)).tolist() == [2.0]


def test_columns_of_a_table_are_read_as_rows() -> None:
    text = next(iter(TEXTS.values()))
    rows = np.random.default_rng(1).normal(0, 30, (5, len(names()))).astype(np.float32)
    assert Trees(text).predict(np.asfortranarray(rows)).tolist() == Trees(text).predict(rows).tolist()
    assert Trees(text).predict(rows[:0]).tolist() == []


def test_rows_with_other_features_are_refused() -> None:
    with pytest.raises(ValueError, match=rf"rows of shape \(2, 3\): expected \(N, {len(names())}\)"):
        Trees(next(iter(TEXTS.values()))).predict(np.zeros((2, 3), np.float32))


def test_a_text_that_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="LightGBM: Model file doesn't specify the number of classes"):
        Trees("tree")


def test_no_package_of_learning_is_imported_for_a_page() -> None:
    code = (
        "import sys; from tasks.extraction import main_text; from tasks.extraction.markup import parse; "
        "main_text.load(); assert main_text.main_text(parse('<p>The weir was built in 1874 by Lorne.</p>'), ''); "
        "print({'lightgbm', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
