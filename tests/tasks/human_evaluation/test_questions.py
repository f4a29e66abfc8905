"""Questions drafted from a lead, and the table in which people edit them."""

import pytest

from tasks.human_evaluation.questions import Question, draft_questions, from_csv, to_csv
from tasks.human_evaluation.sampling import SampledArticle

LEAD = (
    "The Tavil Bridge is a truss bridge in Marrow, where it crosses the River Ost. It was opened in May 1921 and is "
    "1,778 metres long. It has been closed since."
)


def test_values_become_gaps_and_do_not_answer_each_other() -> None:
    assert draft_questions("Tavil Bridge", LEAD) == [
        Question("Fill the gap: The Tavil Bridge is a truss bridge in ____, where it crosses the […].", "Marrow"),
        Question("Fill the gap: The Tavil Bridge is a truss bridge in […], where it crosses the ____.", "River Ost"),
        Question("Fill the gap: It was opened in ____ and is […] metres long.", "May 1921"),
        Question("Fill the gap: It was opened in […] and is ____ metres long.", "1,778"),
    ]


def test_a_lead_without_values_has_no_questions() -> None:
    assert draft_questions("Tavil", "Tavil is small. It is quiet.") == []


ARTICLES = [SampledArticle("a1", "A, one", LEAD, {}), SampledArticle("a2", "Two", LEAD, {})]


def test_edited_questions_are_read_back() -> None:
    asked = {"a1": [Question('Where, "exactly"?', "in Marrow,\nhere")], "a2": [Question("When?", "1921")]}
    read = from_csv("\ufeff" + to_csv(ARTICLES, asked), ARTICLES, "q.csv")
    assert read == {"a1": [Question('Where, "exactly"?', "in Marrow, here")], "a2": [Question("When?", "1921")]}


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("article,question,answer\n", "q.csv has the columns article, question, answer: expected article, title,"),
        ("article,title,question,answer\nb9,t,q,a\n", "q.csv, line 2: article 'b9' is not one that was drawn"),
        ("article,title,question,answer\na1,t,q,\n", "q.csv, line 2: expected a question and its answer, got 'q', ''"),
        ("article,title,question,answer\na1,t,q,a\n", r"q.csv has no question on 'Two' \(a2\): expected at least one"),
    ],
)
def test_a_table_that_cannot_be_used(table: str, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^{problem}"):
        from_csv(table, ARTICLES, "q.csv")
