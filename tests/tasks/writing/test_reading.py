"""What is read of an answer, in each form that models were seen to write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.writing.reading import Draft, read_sections, read_sentences

A, B = "The mill is a mill in Lund.", "It was built in 1874."
BOTH = [Draft(A, (0,)), Draft(B, (1,))]
PAIR = [{"text": A, "passages": [1]}, {"text": B, "passages": [2]}]
WHOLE = json.dumps({"sentences": PAIR})


@pytest.mark.parametrize(
    "answer",
    [
        WHOLE,
        json.dumps(PAIR),
        f"```json\n{WHOLE}\n```",
        f"Here is the object {{as asked}}:\n{WHOLE}\nI hope that it helps.",
        json.dumps(WHOLE),
        json.dumps({"name": "answer", "arguments": json.loads(WHOLE)}),
        json.dumps({"name": "answer", "arguments": WHOLE}),
        str(json.loads(WHOLE)),  # single quotes
        WHOLE.replace("}, {", "} {"),
        WHOLE.replace(', "passages"', ' "passages"'),
        WHOLE[:-1],
        WHOLE[:-4],
        WHOLE.replace('"text"', '"sentence"'),
        WHOLE.replace('"passages"', '"sources"'),
        f"<think>{{hm}}</think>{WHOLE}",
        f"hm {{}}</think>\n{WHOLE}",
        f"[THINK]perhaps[/THINK]{WHOLE}",
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{WHOLE}",
        json.dumps({"sentences": [f"{A} [1]", f"{B} [2]"]}),
        json.dumps({"sentences": [f"{A[:-1]} [1].", f"{B}[2]"]}),
        json.dumps({"summary": f"{A} [1] {B} [2]"}),
        json.dumps({"text": f"{A}[1] {B}[2]"}),
        f"{A} (1) {B} (2)",
        f"{A}[^1] {B}[^2]\n\n[^1]: Passage 1\n[^2]: Passage 2",
        f"{A} [Source 1] {B} [Passage 2]",
        f"{A}¹ {B}²",
        f"1. {A} [1]\n2. {B} [2]",
        f"1) **{A}** [1]\n2) **{B}** [2]",
        f"- {A} [1]\n- {B} [2]",
        f'"{A}" [1]\n"{B}" [2]',
        f"# Summary\n\n{A} [1]\n\n*** ### 191 ####\n\n{B} [2]\n\nSources: 1, 2",
        f"{A} [1]<|im_end|>\n[INST]\n{B} [2]</s>",
    ],
)
def test_every_form_of_two_cited_sentences(answer: str) -> None:
    assert [one for one in read_sentences(answer, 4) if one.text != "Summary"] == BOTH


@pytest.mark.parametrize(
    ("written", "ranks"),
    [
        ("[1-3]", (0, 1, 2)),
        ("[1, 3]", (0, 2)),
        ("[1; 3]", (0, 2)),
        ("[1][3]", (0, 2)),
        ("[1] [3]", (0, 2)),
        ("[1 and 2]", (0, 1)),
        ("(2, 3)", (1, 2)),
        ("[2–3]", (1, 2)),
        ("【3】", (2,)),
        ("【3†source】", (2,)),
        ("(Source 2)", (1,)),
        ("[9]", ()),
    ],
)
def test_every_form_of_citation(written: str, ranks: tuple[int, ...]) -> None:
    for answer in (f"{A} {written}", f"{A[:-1]} {written}.", json.dumps({"sentences": [{"text": f"{A} {written}"}]})):
        assert read_sentences(answer, 4) == [Draft(A, ranks)], answer


@pytest.mark.parametrize(
    "text",
    [
        "The mill (1874) is a mill in Lund.",
        "It has 12 km² of land.",
        "The crew (12) left the mill.",
        "In it 7 (seven) men worked.",
        "The “Skua” is a ferry.",
        "“Skua” and “Tern”",
    ],
)
def test_what_is_no_citation_and_no_quote_around_a_sentence_stays(text: str) -> None:
    assert read_sentences(text, 4) == [Draft(text)]
    assert read_sentences(json.dumps({"sentences": [{"text": text, "passages": [2]}]}), 4) == [Draft(text, (1,))]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "<think>The mill is a mill in Lund. It was built",
        "[THINK] It was built in 1874.",
        "<|channel|>analysis<|message|>It was built in 1874.",
        "2.",
        "*** ### 191 ####",
        '{"sentences": []}',
        "{" * 60_000,
        "[" * 60_000,
        '["' * 30_000,
    ],
)
def test_what_holds_no_sentence(answer: str) -> None:
    assert read_sentences(answer, 4) == []


def test_of_an_answer_that_was_cut_the_last_unfinished_sentence_is_left_out() -> None:
    one_text = f'{{"sentences": [{{"text": "{A} {B} The owner of the'  # as llama.cpp's grammar lets it end
    for cut in (True, False):  # the damage says it too
        assert read_sentences(one_text, 4, cut=cut) == [Draft(A), Draft(B)]
    assert read_sentences(f"{A} [1] {B[:-6]}", 4, cut=True) == [Draft(A, (0,))]
    assert read_sentences(f"{A} [1] {B[:-6]}", 4) == [Draft(A, (0,)), Draft("It was built in")]
    assert read_sentences(f"{A} It is 3.", 4, cut=True) == [Draft(A)]  # perhaps of 3.5
    assert read_sentences(f"{A} [1]", 4, cut=True) == [Draft(A, (0,))]
    assert read_sentences(json.dumps({"sentences": PAIR}), 4, cut=True)[:1] == BOTH[:1]


def test_quotes_within_a_string_may_lack_their_marks() -> None:
    assert read_sentences('{"sentences": [{"text": "He said "yes" to it.", "passages": [1]}', 2) == [
        Draft('He said "yes" to it.', (0,))
    ]
    assert read_sentences('{"sentences": [{"text": "Gr\\u00f6\\u00dfe: \\"31\\" m in all", "passages": [1] ', 2) == [
        Draft('Größe: "31" m in all', (0,))
    ]


def test_sections_of_damaged_json() -> None:
    answer = '{"sections": [{"heading": "Lamp", "passages": [2, 1]} {"heading": "Tower", "passages": [1, 3]}'
    assert read_sections(answer, 3) == [("Lamp", (1, 0)), ("Tower", (2,))]


@given(st.text(alphabet="ab. \"'[]{}:,1\\<>-¹(\n", max_size=60), st.booleans())
def test_any_answer_is_read_without_an_error_and_cites_what_was_sent(answer: str, cut: bool) -> None:
    for draft in read_sentences(answer, 1, cut=cut):
        assert set(draft.ranks) <= {0} and draft.text == draft.text.strip() != ""
