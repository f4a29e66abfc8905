import gzip
import subprocess
import sys
from importlib.resources import files

import lightgbm
import numpy as np
import pytest

from tasks.extraction.block_features import names
from tasks.extraction.main_text import MODELS
from tasks.extraction.trees import Trees

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
