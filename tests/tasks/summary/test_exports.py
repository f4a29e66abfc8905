import json
import re
from dataclasses import replace

from lxml import html

from tasks.summary.cited import CitedSummary, Paragraph, Passage, Sentence, Source
from tasks.summary.exports import FORMATS, meaning, to_html, to_json, to_markdown, to_text

EVIL = "<script>alert(1)</script> [x](javascript:alert(1))"
ALL, SOME = "names and numbers found; 100 % of its words found", "not found: 1990; 75 % of its words found"
SUMMARY = CitedSummary(
    title=f"Skerry {EVIL}",
    system="concepts",
    why="No model was given.",
    sentences=[
        Sentence("The tower was built in 1847.", "supported", (1,), (), (), 1.0, ALL),
        Sentence("Ann Molloy left in 1990.", "partly", (2,), (), ("1990",), 0.75, SOME),
        Sentence(f"It was sold {EVIL}.", "not supported", (), (), ("Greta Hallow",), 0.0, f"no passage {EVIL}"),
    ],
    passages=[
        Passage(1, 1, 3, f"{EVIL} It was built in 1847.", ("It was built in 1847.",)),
        Passage(2, 2, 0, "Ann Molloy left in 1986.", ("Ann Molloy left in 1986.",)),
    ],
    sources=[
        Source(1, "https://example.org/tower", "The tower", None, (Paragraph("It was built in 1847."),), True),
        Source(2, "notes.txt", None, None, (Paragraph("Ann Molloy left in 1986."),), True),
        Source(3, "javascript:alert(1)", None, "neither http nor https"),
    ],
    notes=["1 of 3 sources could not be used; the list of sources says why."],
)


def test_markdown_marks_doubt_lists_passages_and_escapes_everything():
    text = to_markdown(SUMMARY)
    lines = text.replace("\\", "").splitlines()
    assert "The tower was built in 1847.[^1] *(supported: names and numbers found; 100 % of its words found)*" in lines
    assert "Ann Molloy left in 1990.[^2] **(partly supported: not found: 1990; 75 % of its words found)**" in lines
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
    assert to_markdown(replace(SUMMARY, passages=[several])).endswith("paragraph 4: One line. \\# Another\n")


def test_json_has_every_field_and_reads_back():
    fields = json.loads(to_json(SUMMARY))
    assert [sentence["verdict"] for sentence in fields["sentences"]] == ["supported", "partly", "not supported"]
    assert fields["sentences"][1]["tested"] == "not found: 1990; 75 % of its words found"
    assert fields["sentences"][1]["words_found"] == 0.75
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
    (supported,) = tree.xpath("//p/span[@class='note']")
    assert supported.text == "(supported: names and numbers found; 100 % of its words found)"
    partly, unsupported = tree.xpath("//p/span[@class='doubt']")
    assert partly.text == "(partly supported: not found: 1990; 75 % of its words found)"
    assert unsupported.text.startswith("(not supported: no passage <script>")


def test_text_for_a_terminal_has_the_marks_and_no_control_characters():
    text = to_text(SUMMARY)
    assert "built in 1847. [1]    supported: names and numbers found; 100 % of its words found" in text
    assert "Ann Molloy left in 1990. [2]  <- partly supported: not found: 1990; 75 % of its words found" in text
    assert "source 3  javascript:alert(1)  <- not used: neither http nor https" in text
    assert set(FORMATS) == {"md", "json", "html", "txt"}


def test_figures_of_a_model_are_given_with_summaries_by_models_only():
    figures, copied = "74 % of a model's supported sentences were true", "copied from the sources"
    for name, write in [("md", to_markdown), ("html", to_html), ("txt", to_text)]:
        extractive, written = (write(replace(SUMMARY, system=system)) for system in ("concepts", "ht-small+similarity"))
        assert (copied in extractive, copied in written) == (True, False), name
        assert ("of a model" in extractive, "of a model" in written) == (False, True), name
    both = meaning(["lead", "ht-small"])
    assert figures in both
    assert copied in both
