from storage.builds import Build
from tasks.reporting.corpus_counts import describe_corpus


def test_every_stage_but_intake_has_a_line() -> None:
    counts = {
        "intake": {"rows": 3, "drops": {"no_sources": 1}},
        "articles": {"rows": 1300, "drops": {"no_sources": 11, "short_lead": 4}},
        "vocabulary": {"rows": 1, "drops": {}},
    }
    text = describe_corpus(Build("20260101-000000-abcdef", "2026-01-01", {}, {}, {}, counts), "data")
    assert text.splitlines() == [
        "stage              kept  refused",
        "articles          1,285  no_sources 11, short_lead 4",
        "vocabulary            1",
        "",
        "build 20260101-000000-abcdef: its files are named in data/builds/20260101-000000-abcdef.json",
    ]
