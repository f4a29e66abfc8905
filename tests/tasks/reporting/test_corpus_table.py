from storage.builds import Build
from tasks.reporting.corpus_size import CorpusStatistics, describe_corpus

SIZE = CorpusStatistics(300, 2.5, 1800, 2.25, 1500, 217)


def test_every_stage_but_intake_has_a_line() -> None:
    counts = {
        "intake": {"rows": 3, "drops": {"no_sources": 1}},
        "articles": {"rows": 1300, "drops": {"no_sources": 11, "short_lead": 4}},
        "vocabulary": {"rows": 1, "drops": {}},
    }
    text = describe_corpus(Build("20260101-000000-abcdef", "2026-01-01", {}, {}, {}, counts), SIZE, "data")
    assert text.splitlines() == [
        "stage              kept  refused",
        "articles          1,285  no_sources 11, short_lead 4",
        "vocabulary            1",
        "",
        "Size of the corpus, as in Shen et al. 2023, Table 1; means of 300 articles",
        "corpus                     instances  documents  source, words  target, words",
        "this one                       1,285        2.5          1,800            217",
        "this one, kept paragraphs      1,285        2.2          1,500            217",
        "",
        "build 20260101-000000-abcdef: its files are named in data/builds/20260101-000000-abcdef.json",
    ]
