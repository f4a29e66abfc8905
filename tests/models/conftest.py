"""In which numbers the tests of models compute."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def float64() -> Iterator[None]:
    """Make models and random numbers in float64, in which two ways to compute one thing agree to some ten digits.

    In float32 they agree to three to six, depending on the depth of the model and on the order in which a processor
    adds: a tolerance that holds on one machine fails on another. In float64 a wrong formula and a rounding error are
    so far apart that one tolerance tells them on all machines.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
