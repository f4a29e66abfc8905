"""Where a model is put."""

import pytest

from models.training.distributed import find_device


def test_a_device_that_is_not_there_is_named() -> None:
    assert find_device("cpu").type == "cpu"
    for name in ("toaster", "cuda:77"):
        with pytest.raises(ValueError, match=f"device '{name}' is not available .*: expected auto, cpu, cuda"):
            find_device(name)
