"""What flows within one another share."""

from pathlib import Path

import pytest

from flows.config import BuildConfig
from flows.running.session import session


def test_a_flow_within_another_has_its_configuration_or_is_refused(tmp_path: Path) -> None:
    given = {"preset": "records", "root": str(tmp_path), "source": {"records": {"paths": []}}}
    config = BuildConfig.model_validate(given)
    with session(config) as outer, session(BuildConfig.model_validate(given)) as inner:
        assert inner is outer
    other = BuildConfig.model_validate({**given, "seed": 2, "shards": {"articles": 3}})
    complaint = "configuration that differs in seed, shards: expected that of the flow around it"
    with session(config), pytest.raises(ValueError, match=complaint), session(other):
        pass
