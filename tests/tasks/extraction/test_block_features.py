import numpy as np
import pytest

from tasks.extraction.block_features import features, names
from tasks.extraction.blocks import read_page
from tasks.extraction.markup import parse

# Blocks of 67, 17, 4 and 6 characters.
BODY = (
    "<div class='post'><p>The weir was built by the people of the vale in the spring of 1874.</p></div>"
    "<p>The mill is open.</p>"
    "<ul><li class='post'><p><a href='/a'>Mill</a></p></li>"
    "<li class='post'><p><a href='/b'>Bridge</a></p></li></ul>"
)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("blocks_alike1", [4, 4, 4, 4]),  # each is in a <p> without a class
        ("share_of_page_alike1", [1, 1, 1, 1]),
        ("blocks_alike2", [1, 1, 2, 2]),
        ("share_of_page_alike2", [67 / 94, 17 / 94, 10 / 94, 10 / 94]),
        ("linked_alike1", [10 / 94] * 4),
        ("linked_alike2", [0, 0, 1, 1]),
        ("prose_alike2", [1, 0, 0, 0]),
        ("mean_length_alike2", [67, 17, 5, 5]),
        ("first_alike2", [0, 1 / 4, 2 / 4, 2 / 4]),
        ("last_alike2", [0, 1 / 4, 3 / 4, 3 / 4]),
        ("dense_alike1", [1 / 4] * 4),
        ("dense_alike2", [1, 0, 0, 0]),
    ],
)
def test_a_block_is_described_by_the_blocks_whose_elements_have_the_same_names(name, values):
    tree = parse(f"<html><body>{BODY}</body></html>")
    assert tree is not None
    rows = features(read_page(tree), "", np.array([True, False, False, False]))
    assert rows.shape == (4, len(names()))
    assert rows[:, names().index(name)] == pytest.approx(values)
