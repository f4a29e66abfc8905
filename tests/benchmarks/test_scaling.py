"""The benchmark of scaling: what its ratios are and which goals they reach."""

import pytest

from benchmarks.jobs import JobCost
from benchmarks.scaling import Walked, show_growth, show_scaling

FILES = {"features/part-00000.parquet": "ab"}


def walked(seconds: float, files: dict[str, str] = FILES) -> Walked:
    return Walked(seconds, [JobCost("features", 1.0, 2.5, 7), JobCost("paragraphs", 1.0, 1.5, 9)], files)


def test_what_all_jobs_of_a_walk_took():
    assert (walked(1.0).processor, walked(1.0).peak_bytes) == (4.0, 9)


def test_each_kind_of_workers_has_its_goal(capsys: pytest.CaptureFixture[str]):
    kinds = {"plain": {1: walked(10), 2: walked(9)}, "processes": {1: walked(18), 2: walked(10)}}
    assert show_scaling(kinds, 2)
    plain, processes, files = capsys.readouterr().out.splitlines()
    assert " ".join(plain.split()) == "plain 10.0 s on one 9.0 s on 2 1.11 x"  # the peer has no goal
    assert " ".join(processes.split()) == "processes 18.0 s on one 10.0 s on 2 1.80 x goal 1.8: reached"
    assert files == "1 files of each of the 4 runs: identical bytes"
    assert not show_scaling({"dask": {1: walked(16.9), 2: walked(10)}}, 2)
    assert "1.69 x   goal 1.7: missed" in capsys.readouterr().out


@pytest.mark.parametrize("files", [{"features/part-00000.parquet": "cd"}, {}])
def test_other_bytes_on_several_workers_are_a_failure(files: dict[str, str], capsys: pytest.CaptureFixture[str]):
    assert not show_scaling({"dask": {1: walked(20), 2: walked(10, files)}}, 2)
    assert capsys.readouterr().out.endswith("DIFFERENT bytes\n")


def test_growth_is_that_of_one_article_and_of_the_memory(capsys: pytest.CaptureFixture[str]):
    assert show_growth([10, 40], [2.0, 8.8], [2e8, 2.2e8])
    first, second = capsys.readouterr().out.splitlines()
    assert " ".join(first.split()) == "10 articles 200.00 ms each 1.00 x 200 MB at most 1.00 x goal 1.10: reached"
    assert " ".join(second.split()) == "40 articles 220.00 ms each 1.10 x 220 MB at most 1.10 x goal 1.10: reached"
    assert not show_growth([10, 40], [2.0, 8.9], [1.0, 1.0])
    assert not show_growth([10, 40], [2.0, 8.0], [1.0, 1.2])
