import json
import re
from dataclasses import replace

from lxml import html

from tasks.cited_summary.cited import CitedSummary, Paragraph, Passage, SummarySentence, SummarySource
from tasks.cited_summary.exports import FORMATS, to_cited_text, to_html, to_json, to_markdown, to_text
from tasks.cited_summary.wording import meaning

EVIL = "<script>alert(1)</script> [x](javascript:alert(1))"
ALL, SOME = "one passage says it", "not found: 1990"
SUMMARY = CitedSummary(
    title=f"Skerry {EVIL}",
    system="concepts",
    why="No model was given.",
    sentences=[
        SummarySentence("The tower was built in 1847.", "said", (1,), (), (), ALL),
        SummarySentence("Ann Molloy left in 1990.", "partly", (2,), (), ("1990",), SOME),
        SummarySentence(f"It was sold {EVIL}.", "not supported", (), (), ("Greta Hallow",), f"no passage {EVIL}"),
    ],
    passages=[
        Passage(1, 1, 3, f"{EVIL} It was built in 1847.", ("It was built in 1847.",)),
        Passage(2, 2, 0, "Ann Molloy left in 1986.", ("Ann Molloy left in 1986.",)),
    ],
    sources=[
        SummarySource(1, "https://example.org/tower", "The tower", None, (Paragraph("It was built in 1847."),), True),
        SummarySource(2, "notes.txt", None, None, (Paragraph("Ann Molloy left in 1986."),), True),
        SummarySource(3, "javascript:alert(1)", None, "neither http nor https"),
    ],
    notes=["1 of 3 sources could not be used; the list of sources says why."],
)


def test_markdown_marks_doubt_lists_passages_and_escapes_everything():
    text = to_markdown(SUMMARY)
    lines = text.replace("\\", "").splitlines()
    assert "The tower was built in 1847.[^1]" in lines, "what a source says needs no word"
    assert "Ann Molloy left in 1990.[^2] **(partly supported: not found: 1990)**" in lines
    assert any("**(not supported: no passage <" in line or "**(not supported: no passage &" in line for line in lines)
    assert "<script" not in text
    assert "](javascript" not in text
    assert "[example.org/tower](https://example.org/tower)" in text
    assert lines[-1] == "[^2]: notes.txt, paragraph 1: Ann Molloy left in 1986."


def test_every_citation_of_markdown_is_a_footnote():
    text = to_markdown(SUMMARY)
    noted = re.findall(r"^\[\^(\d+)\]: ", text, re.MULTILINE)
    assert noted == re.findall(r"\[\^(\d+)\](?!:)", text) == ["1", "2"]
    assert "\\[1" not in text
    several = replace(SUMMARY.passages[0], text="One line.\n\n# Another")
    assert to_markdown(replace(SUMMARY, passages=[several])).endswith("paragraph 4: One line. · \\# Another\n")


def test_json_has_every_field_and_reads_back():
    fields = json.loads(to_json(SUMMARY))
    assert [sentence["verdict"] for sentence in fields["sentences"]] == ["said", "partly", "not supported"]
    assert fields["sentences"][1]["tested"] == "not found: 1990"
    assert fields["passages"][0]["position"] == 3
    assert fields["sources"][2]["refused"] == "neither http nor https"


def test_html_has_no_script_and_each_citation_leads_to_its_passage():
    page = to_html(SUMMARY)
    tree = html.document_fromstring(page)
    assert tree.xpath("//script") == []
    assert [child.tag for child in tree.body] == ["main"], "everything is in a landmark"
    for link in tree.xpath("//p/a/@href"):
        assert tree.xpath(f"//*[@id='{link[1:]}']"), f"{link} leads nowhere"
    assert tree.xpath("//a[starts-with(@href, 'javascript')]") == []
    partly, unsupported = tree.xpath("//p/span")  # what a source says needs no word
    assert partly.text == "(partly supported: not found: 1990)"
    assert unsupported.text.startswith("(not supported: no passage <script>")


def test_what_is_put_together_stands_beside_the_sentences_that_say_its_parts():
    parts = ("The tower was built in 1847.", "Ann Molloy left <b>in</b> 1986.")
    joined = SummarySentence("The tower was built in 1847, and Ann Molloy left in 1986.", "combined", (1, 2), parts)
    tree = html.document_fromstring(to_html(replace(SUMMARY, sentences=[joined])))
    assert [quote.text for quote in tree.xpath("//p/following-sibling::blockquote")] == list(parts)
    assert "put together" in to_text(replace(SUMMARY, sentences=[joined]))


def test_what_sources_say_differently_stands_side_by_side_with_its_passages():
    sides = ("Built in 1847.", "Built <b>in</b> | 1849.")
    line = f"Sources differ: {'; '.join(sides)}"
    differing = SummarySentence(line, "combined", (1, 2), sides, (), "each passage says one", sides=sides)
    dated = [replace(source, date="2024-05-03" if source.number == 2 else None) for source in SUMMARY.sources]
    summary = replace(SUMMARY, sentences=[SUMMARY.sentences[0], differing], sources=dated)
    tree = html.document_fromstring(to_html(summary))
    assert tree.findtext(".//h2") == "Where sources differ"
    figures = tree.xpath("//div[@class='sides']/figure")
    assert [" ".join(one.text_content().split()) for one in figures] == [
        "The tower Built in 1847. [1]",
        "notes.txt, 2024-05-03 Built <b>in</b> | 1849. [2]",
    ]
    assert (
        "## Where sources differ\n\n"
        "| The tower | notes\\.txt, 2024-05-03 |\n"
        "| --- | --- |\n"
        "| Built in 1847.[^1] | Built &lt;b&gt;in&lt;/b&gt; \\| 1849.[^2] |\n\n" in to_markdown(summary)
    )
    told = "Sources differ: Built in 1847. [1]; Built <b>in</b> | 1849. [2]"
    for text in (to_text(summary), FORMATS["cited.txt"][1](summary)):
        assert f"\n\n{told}\n" in text
        assert text.count("1849. [2]") == 1
    assert "Where sources differ" not in to_html(SUMMARY) + to_markdown(SUMMARY)


def test_text_for_a_terminal_has_the_marks_and_no_control_characters():
    text = to_text(SUMMARY)
    assert "built in 1847. [1]    said by a source: one passage says it" in text
    assert "Ann Molloy left in 1990. [2]  <- partly supported: not found: 1990" in text
    assert "source 3  javascript:alert(1)  <- not used: neither http nor https" in text
    assert set(FORMATS) == {"md", "json", "html", "docx", "pdf", "txt", "cited.txt", "bib"}


def test_references_name_the_sources_that_were_used_and_escape_what_bibtex_reads():
    odd = SummarySource(4, "https://www.a.test/50%_{x}#y", "Costs & {gains} of 50 % \\ C#", None, (), True)
    odd = replace(odd, date="2024-05-03", author="Ann Molloy; Bo & Co", site="The Post")
    made = replace(SUMMARY, sources=[*SUMMARY.sources, odd], made="2026-11-24T13:00:00+00:00")
    bibtex = FORMATS["bib"][1](made)
    assert bibtex.count("@misc{") == 3
    assert "@misc{exampleorg1,\n  title = {{The tower}},\n" in bibtex
    assert "  title = {{Costs \\& \\{gains\\} of 50 \\% \\textbackslash{} C\\#}}," in bibtex
    assert "  url = {https://www.a.test/50\\%_%7Bx%7D\\#y}," in bibtex
    assert "  author = {{Ann Molloy} and {Bo \\& Co}},\n  date = {2024-05-03},\n  year = {2024}," in bibtex
    assert "  organization = {{The Post}}," in bibtex
    for kind in ("md", "html", "txt"):
        assert "Ann Molloy; Bo" in FORMATS[kind][1](made) and "The Post, 2024-05-03" in FORMATS[kind][1](made)
    dated = replace(SUMMARY, sources=[replace(SUMMARY.sources[0], date="2024-05-03"), *SUMMARY.sources[1:]])
    assert "[1] The tower, 2024-05-03, https://example.org/tower, paragraph 4" in FORMATS["cited.txt"][1](dated)


def test_what_is_copied_has_numbers_and_where_the_passages_stand():
    section = SummarySentence("It has a lamp.", "said", (1,), heading="Today")
    text = FORMATS["cited.txt"][1](replace(SUMMARY, sentences=[*SUMMARY.sentences[:2], section]))
    _, before, today, cited = text.strip().split("\n\n")
    assert before == "The tower was built in 1847. [1] Ann Molloy left in 1990. [2] (partly supported)"
    assert today == "Today\nIt has a lamp. [1]"
    assert cited == "[1] The tower, https://example.org/tower, paragraph 4\n[2] notes.txt, paragraph 1"


def test_what_the_check_lets_through_is_said_of_summaries_by_models_only():
    figures, copied = "lets few lies through", "copied from the sources"
    for name, write in [("md", to_markdown), ("html", to_html), ("txt", to_text)]:
        extractive, written = (write(replace(SUMMARY, system=system)) for system in ("concepts", "ht-small+similarity"))
        assert (copied in extractive, copied in written) == (True, False), name
        assert (figures in extractive, figures in written) == (False, True), name
    both = meaning(["lead", "ht-small"])
    assert figures in both
    assert copied in both


def test_every_export_names_the_page_of_a_passage():
    paged = replace(SUMMARY, passages=[replace(SUMMARY.passages[0], page=12), *SUMMARY.passages[1:]])
    for text in (to_markdown(paged), to_cited_text(paged), to_html(paged)):
        assert "page 12, paragraph 4" in text
    assert json.loads(to_json(paged))["passages"][0]["page"] == 12
