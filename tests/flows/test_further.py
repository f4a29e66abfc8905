"""Further summarizers of a build: rows of its table beside the first, from the same paragraphs."""

from pathlib import Path

import pytest

from flows import dag
from flows.config import BuildConfig
from storage.builds import Build
from tasks.explorer.article import read_article
from tasks.explorer.corpus import ExplorerCorpus
from tests.flows.command_line import settings_of
from tests.flows.recording import keys, walked
from tests.flows.test_writer import TINY, walk

FT = '--further={"ft": {"summarizer": {"preset": "ft-small"}, "training": {"steps": 2}, "decoding": {"max_length": 9}}}'


@pytest.mark.integration
def test_each_is_a_row_of_the_table(tmp_path: Path) -> None:
    config = settings_of(f"--root={tmp_path}", f"--config={TINY}", FT).build
    run = walk(config).run
    report = run.directories["reports"].record
    assert report is not None
    assert {"ht-small-2", "ft", "concepts"} <= report.metrics["headline_scores"].keys()
    build: Build = run.record_build(config.model_dump(mode="json"), report)
    assert BuildConfig.model_validate(build.config) == config
    corpus = ExplorerCorpus(run.store)
    shard, one = next(item for item in run.stages["predictions-ft"].records.items() if item[1].written.rows)
    article_id = run.store.read_table(one.path, one.written.sha256)["article_id"][0].as_py()
    assert [summary.system for summary in read_article(corpus, shard, article_id).written[:2]] == ["ht-small-2", "ft"]
    assert walk(config).run.finished


def test_its_work_is_that_of_a_build_with_it_alone(tmp_path: Path) -> None:
    own = {"summarizer": {"preset": "ft-small", "graph": "none"}, "training": {"warmup": 9}, "decoding": {"beam": 3}}
    common = {"vocabulary": {"pieces": 900}, "seed": 3}
    first = BuildConfig.model_validate({**common, **own})
    beside = BuildConfig.model_validate({**common, "further": {"ft": own}})
    assert [config for _, config in beside.further_builds()] == [first]
    assert BuildConfig.model_validate(beside.model_dump(mode="json")) == beside
    _, alone = walked(first, dag.examples_read, tmp_path / "alone")
    _, without = walked(BuildConfig.model_validate(common), dag.scores, tmp_path / "without")
    _, jobs = walked(beside, dag.report, tmp_path / "beside")
    assert keys(without) <= keys(jobs)
    assert {job.key for job in alone} <= {job.key for job in jobs}
    by_name = {job.called: job for job in jobs}
    assert {name for name in by_name if name.endswith("-ft")} == {
        *("vocabulary-ft", "slot-examples-ft", "models/summarizer-ft", "predictions-ft", "scores-ft")
    }
    decoded, trained = by_name["predictions-ft"], by_name["models/summarizer-ft"]
    assert (decoded.recipe.fields(0)["beam"], decoded.recipe.fields(0)["system"]) == (3, "ft")
    assert trained.recipe.fields(0)["preset"] == "ft-small"
    assert by_name["predictions"].recipe.fields(0)["beam"] == 12


def test_a_build_without_any_has_the_recipe_it_had() -> None:
    assert "further" not in BuildConfig().recipe()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('{"lead": {}}', "further has 'lead': expected the name of no other system"),
        ('{"ht-small-2": {}}', "further has 'ht-small-2'"),
        ('{"A B": {}}', "further has 'A B'"),
        ('{"x": {"ranker": {}}}', "further.x: expected settings of vocabulary, examples, summarizer"),
        ('{"x": 3}', "got 3"),
        ('{"x": {"training": {"steps": -1}}}', "further.x.training.steps: Input should be greater"),
        ('{"x": {"summarizer": {"preset": "llama"}}}', "further.x.summarizer: copying: preset 'llama'"),
    ],
)
def test_what_cannot_be_is_named(given: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        settings_of(f"--further={given}")
    assert message in str(error.value)
