"""What articles share, by hand."""

import random

import pyarrow as pa
import pytest

from storage.schemas import OVERLAPS, SKETCHES, TWIN_WORDS
from tasks.near_duplicates.overlaps import match_sketches, near_duplicates, value_words
from tasks.near_duplicates.refusals import refuse_overlaps
from tasks.near_duplicates.settings import AcrossSettings
from tests.tasks.near_duplicates.tables import FERRY, LEAD, LOCK, LOCK_EDITED, MILL, Article, compared, paragraphs

A, B, C = "000000000000000a", "000000000000000b", "f00000000000000c"


def flags(rows: list[dict], *, whole: bool = False) -> dict[tuple[int, int], set[str]]:
    """Article and paragraph -> the flags that hold."""
    names = ("in_article", "in_other", "in_held_out", "lead")
    return {
        (row["article"], row["paragraph_id"]): {name for name in names if row[name]}
        for row in rows
        if row["whole"] == whole
    }


def test_only_the_later_of_two_near_duplicates_is_found() -> None:
    rows = compared([(A, "train", [("u1", LOCK), ("u1", MILL), ("u2", FERRY), ("u2", LOCK_EDITED)])])
    assert flags(rows) == {(0xA, 3): {"in_article"}}
    assert (rows[0]["of_article"], rows[0]["of_paragraph"]) == (0xA, 0)


def test_near_copies_are_found_though_a_tenth_of_their_words_differ() -> None:
    draw, found = random.Random(2), []
    for _ in range(60):
        words = [f"w{draw.randrange(3000)}" for _ in range(60)]
        edited = list(words)
        for place in draw.sample(range(60), 6):
            edited[place] = f"x{place}"
        found.append(bool(compared([(A, "train", [("u1", " ".join(words)), ("u2", " ".join(edited))])])))
    assert sum(found) >= 54


def test_what_meets_in_a_bucket_is_found_only_if_its_words_are_alike() -> None:
    pair = {"article": 0xA, "whole": False, "in_held_out": False, "of_article": 0xB, "of_paragraph": 7}
    rows = [pair | {"article_shard": 0, "paragraph_id": id_, "words": "a b c d"} for id_ in range(4)]
    table = paragraphs([(A, "train", [("u", text) for text in ("c a B", "a b c d, d e", "a b c e f", "b a")])])
    found = near_duplicates(table, pa.Table.from_pylist(rows, TWIN_WORDS.schema), "rouge")
    assert found["paragraph_id"].to_pylist() == [0, 1]  # 3 of 4 and 4 of 5 words are common; 3 of 6 and 2 of 4 are not
    assert set(found["of_paragraph"].to_pylist()) == {7}


def test_a_stranger_that_comes_first_in_a_bucket_hides_no_copy_within_an_article() -> None:
    sketch = {"bucket_shard": 0, "bucket": 5, "whole": False, "article_shard": 0, "held_out": False}
    places = [(0xA, 0), (0xB, 1), (0xB, 2), (0xB, 3)]
    rows = [sketch | {"article": article, "paragraph_id": id_} for article, id_ in places]
    twins = match_sketches(pa.Table.from_pylist(rows, SKETCHES.schema)).to_pylist()
    pairs = [(row["paragraph_id"], row["of_article"], row["of_paragraph"]) for row in twins]
    assert pairs == [(1, 0xA, 0), (2, 0xA, 0), (2, 0xB, 1), (3, 0xA, 0), (3, 0xB, 1)]


def test_the_order_is_that_of_article_ids() -> None:
    rows = compared([(B, "train", [("u1", LOCK)]), (A, "train", [("u2", LOCK_EDITED), ("u2", MILL)])])
    assert flags(rows) == {(0xB, 0): {"in_other"}}


def test_a_held_out_article_comes_first_whatever_its_id() -> None:
    rows = compared([(C, "test", [("u1", LOCK), ("u1", MILL)]), (A, "train", [("u2", LOCK), ("u2", FERRY)])])
    assert flags(rows) == {(0xA, 0): {"in_other", "in_held_out"}}
    rows = compared([(C, "test", [("u1", LOCK), ("u1", MILL)]), (A, "valid", [("u2", LOCK), ("u2", FERRY)])])
    assert flags(rows) == {(int(C, 16), 0): {"in_other"}}  # both are held out: neither leaks


def test_documents_are_compared_as_wholes() -> None:
    mirror = [("u1", LOCK), ("u1", MILL), ("u1", FERRY)]
    copy = [("u9", LOCK_EDITED), ("u9", MILL), ("u9", FERRY.replace("church", "chapel"))]
    rows = compared([(A, "train", mirror), (B, "train", copy)])
    assert flags(rows, whole=True) == {(0xB, 0): {"in_other"}}
    assert flags(compared([(A, "train", mirror), (B, "train", [*copy[:1], ("u9", FERRY)])]), whole=True) == {}


def test_a_part_of_a_held_out_lead_is_found_in_training_sources_alone() -> None:
    quoted = f"As the guide says, {LEAD.lower()} It says no more."
    cut = " ".join(LEAD.split()[:12]) + " and so on for many more words than a lead has, none of them from it."
    given: list[Article] = [
        (A, "train", [("u1", MILL), ("u1", quoted), ("u2", cut)]),
        (B, "test", [("u3", quoted + " And " + FERRY)]),
    ]
    assert flags(compared(given))[0xA, 1] >= {"lead"}
    assert [key for key, found in flags(compared(given)).items() if "lead" in found] == [(0xA, 1)]
    assert flags(compared([(A, "train", [("u1", quoted)])])) == {}  # nothing is held out: its own lead is no leak


COUNTY = (
    "{name} County is a county of the state with {people} people as of the last census, and its seat is {seat}. It was "
    "formed in {year} from land of its neighbours and named for a settler. The county covers {miles} square miles, of "
    "which most is land and the rest water, and farms still take up more than half of it."
)
ADVISORY = (
    "At {hour} the center of Tropical Storm {name} was located near latitude {north} north. The storm is moving toward "
    "the west at {speed} miles an hour and is expected to turn north within a day. Swells on the coast are likely to "
    "cause surf and rip current conditions that are a danger to life."
)


def report(template: str, number: int) -> str:
    name = "".join(chr(ord("a") + number // base % 26) for base in (1, 26)).capitalize() + "ton"
    return template.format(
        **{"name": name, "seat": f"Port {name}", "people": 1000 + 37 * number, "year": 1700 + number},
        **{"miles": 300 + number, "hour": f"{number % 12}:{number % 60:02}", "north": f"{10 + number / 10:.1f}"},
        speed=5 + number,
    )


@pytest.mark.parametrize("template", [COUNTY, ADVISORY])
def test_reports_of_one_template_with_other_numbers_and_names_are_kept(template: str) -> None:
    """Two hundred of them, a fifth held out, and one copy that says the same in other words."""
    given: list[Article] = [
        (f"{number + 1:016x}", "test" if number % 5 == 4 else "train", [(f"u{number}", report(template, number))])
        for number in range(200)
    ]
    copy = report(template, 150).replace("half of it", "half of that").replace("a danger", "dangerous")
    given.append((C, "train", [("copy", copy)]))
    assert {article for article, _ in flags(compared(given))} == {int(C, 16)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rain fell on Hull at 5:30, and 1,200 people left Port Arlen.", "hull 5 30 1 200 port arlen"),
        ("However, it rained. Adams County had 3.5 inches!", "adams county 3 5"),
        ("it rained", ""),
    ],
)
def test_numbers_and_names_are_told_from_other_words(text: str, words: str) -> None:
    assert value_words(text, "rouge") == words.split()


def test_a_phrase_of_three_leads_is_no_leak() -> None:
    phrase = "as of the last census the county had a population of about nine thousand people in all its towns"
    leak = [(A, "train", [("u1", f"We know that {phrase}.")])]
    held_out: list[Article] = [(f"{number:016x}", "test", [("u", MILL)]) for number in (1, 2, 3)]
    assert [key for key, has in flags(compared([*leak, *held_out[:2]], lead=phrase)).items() if "lead" in has] == [
        (0xA, 0)
    ]
    assert [key for key, has in flags(compared([*leak, *held_out], lead=phrase)).items() if "lead" in has] == []


def test_short_and_unlike_paragraphs_are_left_alone() -> None:
    assert compared([(A, "train", [("u1", "It was built in 1894."), ("u2", "It was built in 1894.")])]) == []
    assert compared([(A, "train", [("u1", LOCK), ("u1", MILL), ("u2", FERRY)])]) == []
    assert compared([]) == []


@pytest.mark.parametrize("shards", [1, 3, 5])
def test_the_number_of_shards_changes_nothing(shards: int) -> None:
    texts = [LOCK, MILL, FERRY, LOCK_EDITED]
    given: list[Article] = [
        (
            f"{number * 0x1F2E3D4C5B6A7988 % 2**64:016x}",
            ("train", "test", "train")[number % 3],
            [(f"u{number}", texts[number % 4]), (f"u{number}", texts[number * 3 % 4]), ("v", f"{number} {MILL}")],
        )
        for number in range(12)
    ]
    assert compared(given, shards) == compared(given, 2)
    assert len(compared(given)) > 12


REFUSED = [
    ("off", "off", {}),
    ("counted", "counted", {}),
    ("article", "off", {1: "near_duplicate"}),
    ("corpus", "off", {1: "near_duplicate", 2: "near_duplicate", 3: "near_duplicate", 5: "near_duplicate"}),
    ("off", "leads", {4: "leak"}),
    ("corpus", "pages", {1: "near_duplicate", 2: "near_duplicate", 3: "near_duplicate", 4: "leak", 5: "leak"}),
]


@pytest.mark.parametrize(("near_duplicates", "leakage", "refused"), REFUSED)
def test_what_the_settings_refuse(near_duplicates: str, leakage: str, refused: dict[int, str]) -> None:
    texts = [
        ("u1", LOCK),
        ("u1", LOCK_EDITED),
        ("u2", MILL),
        ("u2", FERRY),
        ("u3", LOCK),
        ("u3", MILL),
        ("u4", "short"),
    ]
    table = paragraphs([(A, "train", texts)])
    reasons = pa.array([None] * 6 + ["too_short"], pa.string())
    table = table.set_column(table.schema.get_field_index("drop_reason"), "drop_reason", reasons)
    off = {"in_article": False, "in_other": False, "in_held_out": False, "lead": False, "article": 0xA}
    overlaps = pa.Table.from_pylist(
        [
            off | {"paragraph_id": 1, "whole": False, "in_article": True},
            off | {"paragraph_id": 2, "whole": True, "in_other": True},  # u2: 2 and 3
            off | {"paragraph_id": 4, "whole": False, "lead": True},
            off | {"paragraph_id": 5, "whole": False, "in_other": True, "in_held_out": True},
        ],
        schema=OVERLAPS.schema,
    )
    settings = AcrossSettings(near_duplicates=near_duplicates, leakage=leakage)  # type: ignore[arg-type]
    found = refuse_overlaps(table, overlaps, settings)
    assert {row: reason for row, reason in enumerate(found["drop_reason"].to_pylist()) if reason} == {
        **refused,
        6: "too_short",
    }
    assert found.drop_columns(["drop_reason"]).equals(table.drop_columns(["drop_reason"]))
    assert settings.refuses == bool(refused)
