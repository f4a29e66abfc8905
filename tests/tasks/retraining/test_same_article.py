"""An article is recognised after a rename and an edit, and its neighbours of one template are not taken for it."""

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES
from tasks.retraining.same_article import KnownArticles, lead_words

MILL = (
    "Thornby Mill is a watermill on the River Esk in Cumbria, England. It was built in 1784 by John Harrow for "
    "grinding oats and barley. A fire destroyed its upper floors on 3 May 1911. The mill has housed a museum since "
    "1987 and has about 12,500 visitors a year."
)
MILL_URLS = ["http://a.test/thornby", "http://b.test/mills/7", "http://register.test/"]
# Two more mills of the same template, and articles that make the template's words common.
OTHERS = {
    "b": MILL.replace("Thornby", "Calder")
    .replace("River Esk", "River Irt")
    .replace("1784", "1802")
    .replace("John Harrow", "Mary Penn")
    .replace("3 May 1911", "19 June 1874")
    .replace("1987", "2001")
    .replace("12,500", "8,400")
    .replace("oats and barley", "wheat"),
    "c": MILL.replace("Thornby", "Rowan")
    .replace("Esk", "Derwent")
    .replace("1784", "1690")
    .replace("John Harrow", "Elias Crook")
    .replace("3 May 1911", "8 July 1933")
    .replace("1987", "1994")
    .replace("12,500", "31,000"),
    "d": "Ada Harrow (1840 – 1911) was an English painter from Cumbria, known for views of the River Esk.",
    "e": "The River Esk is a river in Cumbria, England, 25 kilometres long. It rises on Scafell.",
}
EDITS = {
    "the same": MILL,
    "a word replaced": MILL.replace("watermill", "windmill"),
    "a word added": MILL.replace("is a", "is a former"),
    "a word removed": MILL.replace("about ", ""),
    "a name replaced": MILL.replace("John Harrow", "James Harlow"),
    "the title replaced": MILL.replace("Thornby Mill", "Lower Eskdale Works"),
    "the title in brackets": MILL.replace("Thornby Mill", "Thornby Mill (Cumbria)"),
    "a number changed": MILL.replace("1784", "1785"),
    "two numbers changed": MILL.replace("1784", "1785").replace("12,500", "13,000"),
    "a number without its comma": MILL.replace("12,500", "12500"),
    "a number spelled out": MILL.replace("12,500", "twelve thousand"),
    "a date turned round": MILL.replace("3 May 1911", "May 3, 1911"),
    "the first sentence dropped": MILL.partition(". ")[2],
    "the last sentence dropped": MILL.rpartition(" The mill")[0],
    "a sentence added": f"{MILL} Its wheel was restored by volunteers in 2016.",
    "a sentence in front": f"Not far from the coast stands an old building. {MILL}",
    "a sentence replaced": MILL.replace("A fire destroyed its upper floors on 3 May 1911.", "It closed soon after."),
    "sentences in another order": ". ".join(sorted(MILL.rstrip(".").split(". "))),
    "two sentences joined": MILL.replace(". It was", " and was"),
    "typing errors": MILL.replace("watermill", "watremill").replace("England", "Engand").replace("museum", "musuem"),
    "capitals": MILL.upper(),
    "no punctuation": MILL.replace(",", "").replace(".", ""),
    "other dashes and spaces": MILL.replace(" ", "\u00a0").replace("-", "–"),
    "line breaks": MILL.replace(". ", ".\n"),
}
NEEDS_REFERENCES = {"a sentence replaced"}  # a quarter of a lead of forty words


def table(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([{"source": "dump", "references": [], **row} for row in rows], ARTICLES.schema)


def known(**more: object) -> KnownArticles:
    first = {"article_id": "a", "lead": MILL, "references": MILL_URLS, **more}
    others = [
        {"article_id": id_, "lead": lead, "references": [f"http://{id_}.test/", "http://register.test/"]}
        for id_, lead in OTHERS.items()
    ]
    return KnownArticles([table(first), table(*others)])


def found(articles: KnownArticles, **row: object) -> set[int]:
    (numbers,) = articles.recognise(table({"article_id": "z", **row}))
    return numbers


@pytest.mark.parametrize("edit", EDITS)
def test_a_renamed_article_is_recognised_after_an_edit(edit: str) -> None:
    assert found(known(), lead=EDITS[edit]) == (set() if edit in NEEDS_REFERENCES else {0})
    assert found(known(), lead=EDITS[edit], references=MILL_URLS[1:]) == {0}


def test_articles_of_one_template_are_not_taken_for_each_other() -> None:
    articles = known()
    assert [found(articles, lead=lead) for lead in OTHERS.values()] == [{1}, {2}, {3}, {4}]
    another = MILL.replace("Thornby", "Burnt").replace("Esk", "Duddon").replace("1784", "1733")
    another = another.replace("John Harrow", "Ann Lark").replace("3 May 1911", "2 August 1850")
    another = another.replace("1987", "1979").replace("12,500", "2,700")
    assert found(articles, lead=another) == set()
    assert found(articles, lead="Harrow Mill is a mill.") == set()


def test_a_short_lead_is_recognised_by_what_it_cites() -> None:
    rows = [
        {
            "article_id": id_,
            "lead": f"The {name} is a river in Latvia.",
            "references": [f"http://{id_}.test/1", f"http://{id_}.test/2", "http://register.test/"],
        }
        for id_, name in {"a": "Aa", "b": "Bērze", "c": "Svēte"}.items()
    ]
    rivers = KnownArticles([table(*rows)])
    renamed = "The Gauja is a river in Latvia."  # as unlike the first as the second is
    assert found(rivers, lead=renamed) == set()
    assert found(rivers, lead=renamed, references=["http://a.test/1", "http://new.test/"]) == {0}
    assert found(rivers, lead=renamed, references=["http://register.test/"]) == set()  # all cite it
    few = ["http://a.test/1", "http://x.test/", "http://y.test/"]
    assert found(rivers, lead=renamed, references=few) == {0}  # half of those of the article with fewer
    assert found(rivers, lead="A bank in Peru.", references=["http://a.test/1", "http://a.test/2"]) == set()


def test_a_page_is_the_same_under_any_title_and_lead() -> None:
    articles = known(page="4711")
    assert found(articles, lead="Something else altogether.", page="4711") == {0}
    assert found(articles, lead="Something else altogether.", page="4711", source="records") == set()
    assert found(articles, lead="Something else altogether.") == set()
    assert found(known(), lead="Something else altogether.") == set()  # no page is not a page
    (numbers,) = articles.recognise(table({"article_id": "a", "lead": "Something else altogether."}))
    assert numbers == {0}


def test_articles_that_were_frozen_before_pages_were_known_are_compared_too() -> None:
    before = KnownArticles([table({"article_id": "a", "lead": MILL}).drop_columns(["page"])])
    assert found(before, lead=EDITS["a number changed"], page="4711") == {0}


def test_nothing_known_and_empty_leads() -> None:
    assert found(KnownArticles([]), lead=MILL) == set()
    assert found(KnownArticles([table({"article_id": "a", "lead": ""})]), lead="") == set()
    assert found(known(), lead="") == set()


def test_two_leads_are_one_whatever_their_case_marks_and_spaces() -> None:
    assert lead_words("  The “Aa” is\na RIVER, ﬁve km. ") == "the aa is a river five km"
    assert lead_words("Ada") != lead_words("Ada II")
    assert lead_words("東京は日本。") == "東 京 は 日 本"  # a script without spaces, one character a word


def test_one_known_article_does_not_make_every_word_rare() -> None:
    """A neighbour cites the same register, and is written after the same template."""
    shared = [MILL_URLS[2]]
    rows = [{"article_id": id_, "lead": lead, "references": shared} for id_, lead in OTHERS.items()]
    corpus = table({"article_id": "z", "lead": EDITS["two numbers changed"], "references": MILL_URLS}, *rows)
    one = KnownArticles([table({"article_id": "a", "lead": MILL, "references": shared})], [corpus])
    assert list(one.recognise(corpus)) == [{0}, set(), set(), set(), set()]
