"""The numbers of the report: the funnel adds up, Table 1, the order of the systems, what the scores come to."""

import pyarrow as pa
import pytest

import tests.tasks.reporting.reporting_tables as made
from storage.schemas import SCORES
from tasks.reporting.blocks import Table, Text
from tasks.reporting.corpus import copies_section, distributions_section
from tasks.reporting.curves import model_curves
from tasks.reporting.scores import headline_sentence, rank_systems, read_rows, scores_section, table1, table1_section
from tasks.reporting.settings import ReportSettings
from tasks.reporting.stages import (
    REPORTED_STAGES,
    costs_section,
    failing_hosts,
    funnel,
    funnel_section,
    imbalances,
    meaning,
    tallies,
)
from tests.tasks.reporting.reporting_tables import count

COUNTS = {
    "intake": count(10),
    "scores": count(8),
    "articles": count(10, {"empty_lead": 1, "no_sources": 2}),
    "frontier": count(70, {"already_cited": 5}),
    "documents": count(65, {"http_404": 9, "no_text": 9, "timeout": 1}),
    "paragraphs": count(500, {"clone": 7, "navigation": 93}),
    "features": count(400),
}


def test_the_funnel_adds_up_in_the_order_of_the_pipeline() -> None:
    rows = funnel(COUNTS)

    assert [(row.heading, row.rows, row.kept, row.refused) for row in rows] == [
        ("articles", 10, 7, 3),
        ("URLs of articles", 70, 65, 5),
        ("documents", 65, 46, 19),
        ("paragraphs", 500, 400, 100),
        ("labelled paragraphs", 400, 400, 0),
    ]
    assert list(rows[2].drops.items()) == [("http_404", 9), ("no_text", 9), ("timeout", 1)]
    assert imbalances(rows) == []


def test_a_stage_that_only_refuses_rows_has_a_heading_and_reasons_of_its_own() -> None:
    (row,) = funnel({"intake": {"rows": 1, "drops": {}}, "compared": {"rows": 3, "drops": {"leak": 1}}})
    assert (row.name, row.heading, row.kept) == ("compared", "paragraphs, compared across articles", 2)
    assert meaning("compared", "leak").startswith("of a training article, and")
    assert meaning("compared", "clone") == meaning("paragraphs", "clone") == "it repeats the lead section"
    assert meaning("features", "clone") == ""


def test_what_a_stage_counted_beside_rows_is_a_sentence_of_the_funnel() -> None:
    counts = {
        **COUNTS,
        "documents": {**count(65), "tally": {"pages": 1, "pieces": 4}},
        "written": {**count(1), "tally": {"requests": 9}},  # has its own section
    }
    assert tallies(counts) == ["Also counted in documents: pieces 4; pages 1."]
    texts = [block.text for block in funnel_section(funnel(counts), tallies(counts)).blocks if isinstance(block, Text)]
    assert "Also counted in documents: pieces 4; pages 1." in texts
    assert tallies(COUNTS) == []


def test_what_does_not_add_up_is_said() -> None:
    counts = {**COUNTS, "features": count(398), "articles": count(2, {"empty_lead": 3})}

    assert imbalances(funnel(counts)) == [
        "articles has 2 rows, but 3 refused rows.",
        "paragraphs keeps 400 rows, but features has 398.",
    ]


def test_hosts_stand_in_order_of_their_failures_and_so_do_their_reasons() -> None:
    worst = {
        "a.example": {"rows": 3, "drops": {"timeout": 1}},
        "b.example": {"rows": 9, "drops": {"http_404": 1, "timeout": 4}},
    }

    found = failing_hosts({"pages": {**count(12), "worst": worst}})

    assert [(row.name, row.rows, row.refused, list(row.drops)) for row in found] == [
        ("b.example", 9, 5, ["timeout", "http_404"]),
        ("a.example", 3, 1, ["timeout"]),
    ]
    assert failing_hosts({"pages": count(12)}) == []
    assert failing_hosts({}) == []


def test_costs_keep_what_was_not_recorded_apart_from_nothing() -> None:
    table = costs_section({"pages": count(3), "models/ranker": {"seconds": 7.0}}).blocks[0]

    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["pages", "3", "2.50", "1.5", "300"],
        ["models/ranker", "–", "–", "7.0", "–"],
        ["together", "", "2.50", "8.5", "300"],
    ]


@pytest.mark.parametrize("stage", REPORTED_STAGES)
def test_every_reason_of_a_stage_has_a_meaning(stage: str) -> None:
    reasons = [reason for kind in REPORTED_STAGES[stage].kinds for reason in kind]
    assert [reason for reason in reasons if not meaning(stage, reason) or meaning(stage, reason).endswith(".")] == []


def test_a_stage_that_repeats_the_reasons_of_another_tells_of_both() -> None:
    assert meaning("documents", "no_text") == "no engine found a main text"
    assert meaning("documents", "timeout") == "connecting, a single read, or the whole response took too long"
    assert meaning("compared", "page_licence") == "the licence of its page is not among the wanted ones"
    assert meaning("compared", "clone") == "it repeats the lead section"
    assert meaning("paragraphs", "leak") == ""


def test_a_status_is_its_own_meaning_and_an_unknown_reason_has_none() -> None:
    assert meaning("pages", "http_410") == "the server answered with status 410"
    assert meaning("documents", "http_503") == "the server answered with status 503"
    assert meaning("pages", "never_heard_of") == ""
    assert meaning("graphs", "clone") == ""


def test_table1_is_the_mean_over_test_articles_in_percent() -> None:
    found = table1(
        made.ranking_scores(
            ("a", "test", "similarity", 5, 0.25),
            ("b", "test", "similarity", 5, 0.5),
            ("c", "valid", "similarity", 5, 1.0),
            ("a", "test", "ranking", 5, 0.5),
            ("b", "test", "ranking", 5, 0.75),
            ("a", "test", "ranking", 7, 1.0),
        )
    )

    assert found.articles == 2
    assert found.cutoffs == [5, 7]
    assert found.measured == {"similarity": {5: 37.5}, "ranking": {5: 62.5, 7: 100.0}}
    (table, _) = table1_section(found).blocks
    assert isinstance(table, Table)
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["this build", "37.50", "–"],
        ["paper, WikiSum", "24.86", "–"],
        ["this build", "62.50", "100.00"],
        ["paper, WikiSum", "39.38", "–"],
    ]


def test_an_order_that_000_has_not_stands_without_published_figures() -> None:
    found = table1(made.ranking_scores(("a", "test", "similarity", 5, 0.25), ("a", "test", "found", 5, 0.5)))

    (table, _) = table1_section(found).blocks
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["tf-idf similarity with the title", "this build", "25.00"],
        ["tf-idf similarity with the title", "paper, WikiSum", "24.86"],
        ["the order in which they were found", "this build", "50.00"],
    ]


def test_table1_without_test_articles_has_no_rows() -> None:
    assert table1(made.ranking_scores(("c", "valid", "similarity", 5, 1.0))).measured == {}


def test_systems_are_ordered_by_the_headline_metric() -> None:
    baselines = made.scores(lead={"a": 0.1, "b": 0.3}, **{"greedy-rouge2": {"a": 0.9, "b": 0.7}})
    trained = made.scores(ht={"a": 0.5, "b": 0.5})

    ranking = rank_systems(baselines, trained, ReportSettings(), seed=1)

    assert ranking.systems == ["greedy-rouge2", "ht", "lead"]
    assert ranking.trained == {"ht"}
    assert ranking.articles == 2
    assert [(pair.better, pair.worse) for pair in ranking.comparisons] == [
        ("greedy-rouge2", "ht"),
        ("greedy-rouge2", "lead"),
        ("ht", "lead"),
    ]
    assert ranking.comparisons[2].difference.mean == pytest.approx(0.3)
    assert {pair.metric for pair in ranking.comparisons} == {"values"}


def test_the_verdict_sets_the_trained_system_against_the_best_baseline_but_what_is_shown_the_target() -> None:
    ids = [f"a{i}" for i in range(40)]
    baselines = made.scores(
        lead=dict.fromkeys(ids, 0.25), lexrank=dict.fromkeys(ids, 0.125), **{"greedy-rouge2": dict.fromkeys(ids, 0.9)}
    )
    ranking = rank_systems(baselines, made.scores(ht=dict.fromkeys(ids, 0.5)), ReportSettings(), seed=1)

    assert headline_sentence(ranking) == (
        "ht is 25.00 points of values F1 above lead (95 % interval 25.00 to 25.00): significant "
        "(p = 0.005 after Holm's correction)."
    )


def test_the_verdict_says_how_much_of_the_text_is_quoted() -> None:
    trained, baselines = (
        made.scores("novel-bigrams", ht={"a": 0.1, "b": 0.2}),
        made.scores(lead={"a": 0.05, "b": 0.05}),
    )
    sentence = headline_sentence(rank_systems(baselines, trained, ReportSettings(), seed=1))
    assert sentence.endswith(" The bigrams of ht: 85 % are quoted from its input, and 15 % are its own.")


def test_the_verdict_says_below_and_not_significant_and_that_articles_are_few() -> None:
    ranking = rank_systems(
        made.scores(lead={"a": 0.75, "b": 0.5}), made.scores(ht={"a": 0.5, "b": 0.5}), ReportSettings(), seed=1
    )

    sentence = headline_sentence(ranking)
    assert sentence.startswith(
        "ht is 12.50 points of values F1 below lead (95 % interval 0.00 to 25.00): not significant"
    )
    assert sentence.endswith(
        "(p = 1.000 after Holm's correction; scores that differ on 1 article give no p below 1.000). "
        "With only 2 test articles these intervals are rough."
    )


def test_five_articles_cannot_show_that_even_a_large_difference_is_significant() -> None:
    lead = {"a": 0.75, "b": 0.75, "c": 0.75, "d": 0.75, "e": 0.5}
    table = made.scores(lead=lead), made.scores(ht=dict.fromkeys(lead, 0.0))
    assert headline_sentence(rank_systems(*table, ReportSettings(), seed=1)) == (
        "ht is 70.00 points of values F1 below lead (95 % interval 60.00 to 75.00): not significant (p = 0.062 after "
        "Holm's correction; scores that differ on 5 articles give no p below 0.062). With only 5 test articles these "
        "intervals are rough."
    )


def test_the_verdict_without_a_partner_or_scores_is_a_sentence() -> None:
    none = made.scores()
    nothing = rank_systems(none, none, ReportSettings(), seed=1)
    alone = rank_systems(none, made.scores(ht={"a": 0.5}), ReportSettings(), seed=1)
    apart = rank_systems(made.scores(lead={"b": 0.5}), made.scores(ht={"a": 0.5}), ReportSettings(), seed=1)

    assert "no test articles" in headline_sentence(nothing)
    assert headline_sentence(alone).startswith("No baseline was scored")
    assert headline_sentence(apart) == "ht and lead were not scored on a common article: nothing to compare."


def test_another_headline_stands_in_where_it_was_not_scored() -> None:
    trained = made.scores(ht={"a": 0.5})
    only = trained.filter([metric == "rouge2-stem" for metric in trained["metric"].to_pylist()])

    ranking = rank_systems(made.scores(), only, ReportSettings(), seed=1)

    assert (ranking.headline, ranking.metrics) == ("rouge2-stem", ["rouge2-stem"])


def test_rows_are_those_of_all_stages_and_shards() -> None:
    first, second = made.scores(lead={"a": 0.5}), made.scores(ht={"b": 0.25})

    rows = read_rows([(first, second), (second,)], SCORES.schema)

    assert rows["system"].to_pylist() == [*["lead"] * len(first), *["ht"] * 2 * len(second)]
    assert read_rows([], SCORES.schema).num_rows == 0


def test_distributions_read_only_the_first_shards() -> None:
    def shards():  # type: ignore[no-untyped-def]
        yield (
            made.articles(a="One two  three."),
            made.paragraphs("a", ("four words are here", None), ("navigation", "navigation")),
            made.features("a", 0.25),
        )
        raise AssertionError("the second shard was read")

    told, table, size, *pictures = distributions_section(shards(), 7, 1, {}, None).blocks

    assert isinstance(told, Text)
    assert told.text.startswith("From the first 1 of 7 article shards.")
    assert isinstance(table, Table)
    assert [[cell.text for cell in row[:5]] for row in table.rows] == [
        ["kept paragraphs, words", "1", "4", "4", "4"],
        ["labels: ROUGE-2 recall, %", "1", "25.0", "25.0", "25.0"],
        ["lead sections, words", "1", "3", "3", "3"],
    ]
    assert isinstance(size, Table)
    assert [cell.text for cell in size.rows[1]] == ["this one, kept paragraphs", "1", "1.0", "4", "3"]
    assert len(pictures) == 3


def test_leads_that_occur_in_a_source_are_counted_by_split() -> None:
    def shards():  # type: ignore[no-untyped-def]
        rows = [("a", "train", None), ("b", "train", None), ("c", "test", None), ("d", "test", "empty_lead")]
        columns = [{"article_id": id_, "split": split, "drop_reason": reason} for id_, split, reason in rows]
        reasons = [("a", "mirror"), ("a", "clone"), ("b", None), ("c", "clone_of_part"), ("d", "mirror")]
        paragraphs = [{"article_id": id_, "drop_reason": reason} for id_, reason in reasons]
        yield pa.Table.from_pylist(columns), pa.Table.from_pylist(paragraphs)
        raise AssertionError("the second shard was read")

    text, table = copies_section(shards(), 7, 1).blocks

    assert isinstance(text, Text)
    assert text.text.startswith("From the first 1 of 7 article shards.")
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["train", "2", "1", "50.0"],
        ["test", "1", "1", "100.0"],
    ]


def test_distributions_of_no_shards_are_empty() -> None:
    (told,) = distributions_section([], 0, 4, {}, None).blocks

    assert told == Text("No paragraph was kept and no lead section used.")


def test_curves_take_each_line_of_metrics_for_what_it_is(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "metrics.jsonl").write_text(
        '{"kind": "train", "step": 50, "loss": 5.0, "nll": 4.0, "learning_rate": 0.001, "gradient_norm": null}\n'
        '{"kind": "validation", "step": 50, "loss": 4.5, "nll": 3.5, "rouge1": 0.25}\n'
    )

    curves = {curve.name: curve.series for curve in model_curves("summarizer", tmp_path)}

    assert curves == {
        "summarizer-nll": {"training": [(50, 4.0)], "validation": [(50, 3.5)]},
        "summarizer-rouge": {"ROUGE-1": [(50, 25.0)], "ROUGE-2": [], "ROUGE-L": []},
        "summarizer-rate": {"rate": [(50, 0.001)]},
    }
    assert model_curves("ranker", tmp_path / "nowhere") == []


def test_each_model_has_the_curves_of_its_kind(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "metrics.jsonl").write_text(
        '{"kind": "train", "step": 5, "loss": 0.5, "nll": 4.0, "error": 0.25}\n'
        '{"kind": "validation", "step": 5, "loss": 0.75, "loss_floor": 0.125, "recall": 0.5, "error": 1.0}\n'
    )

    found = {name: model_curves(name, tmp_path) for name in ("ranker", "attention-summarizer", "ht")}

    assert [curve.name for curve in found["ht"]] == ["summarizer-nll"]
    assert {curve.name: curve.series for curve in found["ranker"]} == {
        "ranker-loss": {"training": [(5, 0.5)], "validation": [(5, 0.75)], "floor: scores = labels": [(5, 0.125)]},
        "ranker-recall": {"ranker": [(5, 50.0)], "tf-idf": [], "ceiling: by label": []},
    }
    (error,) = found["attention-summarizer"]
    assert error.series == {"training": [(5, 0.25)], "validation": [(5, 1.0)]}


def test_what_judges_say_stands_apart_truth_first_each_with_its_unit() -> None:
    values = {"values": 0.5, "summac": 0.25, "ned": 1.5, "judge-answered": 1.0, "rouge1": 0.5}
    values |= {"facts-sentences": 0.125, "said": 0.75}
    rows = [
        {"article_id": article, "system": "ht", "metric": metric, "value": value}
        for article in ("a", "b")
        for metric, value in values.items()
    ]
    scored = pa.Table.from_pylist(rows, SCORES.schema)
    ranking = rank_systems(scored.slice(0, 0), scored, ReportSettings(), seed=1)
    tables = [block for block in scores_section(ranking).blocks if isinstance(block, Table)]
    assert [(table.caption.partition(",")[0], [cell.text for cell in table.rows[0][1:]]) for table in tables] == [
        ("Truth: facts of the mini web", ["12.50"]),
        ("Truth: names", ["50.00"]),
        ("Truth: sentences and the paragraphs cited for them", ["75.00"]),
        ("Truth by judges: shares in %", ["25.00", "1.50", "100.00"]),
        ("ROUGE F1 without stemming", ["50.00"]),
    ]
    assert tables[3].columns == ["system", "SummaC", "NED", "judge: answered"]


def test_what_is_shown_the_target_is_never_marked_as_best() -> None:
    ranking = rank_systems(
        made.scores(lead={"a": 0.5, "b": 0.5}, **{"greedy-rouge2": {"a": 1.0, "b": 1.0}}),
        made.scores(ht={"a": 1.0, "b": 1.0}),
        ReportSettings(),
        seed=1,
    )
    table = next(block for block in scores_section(ranking).blocks if isinstance(block, Table))
    assert {row[0].text: row[1].strong for row in table.rows} == {"greedy-rouge2": False, "ht": True, "lead": False}
