import pytest

from tasks.articles.articles import clean_lead


@pytest.mark.parametrize(
    ("lead", "expected"),
    [
        ("A river in Valdria.", "A river in Valdria."),
        ("[edit]\nA river.\n\nIt is long.", "A river.\nIt is long."),
        ("Releases| 2002 | Beta |\n| 2003 | 1.0 |\n|---|---|\nIt was released in 2003.", "It was released in 2003."),
        ("A river[1][23] in Valdria.[citation needed] It is long.[note 2]", "A river in Valdria. It is long."),
        ("The ratio a|b is fixed.", "The ratio a|b is fixed."),
        ("An array [0, 1] and [1999] stay, as does [sic].", "An array [0, 1] and [1999] stay, as does [sic]."),
        ("[edit]\n| only | a | table |", ""),
        ("Further information: Rivers of Valdria\nA river.", "A river."),
        ("Main articles: The U.S. locks. and others\nA river.\nSee also: Wye", "A river."),
        ("For the town, see Severn (town).\nA river.", "A river."),
        ("“Sabrina” redirects here.\nA river.", "A river."),
        ("Further information came to light in 1990.", "Further information came to light in 1990."),
        ("For years nobody would see it as a river.", "For years nobody would see it as a river."),
        ("For a boat, see how deep it is. It is not.", "For a boat, see how deep it is. It is not."),
        ("See also the map.\nIt is long.", "See also the map.\nIt is long."),
        ("The river at Ystan, seen by J. Smith in 1894\nIt is long.", "It is long."),
        ("A river.\n* Wye\n* Usk\nSource: FIFA", "A river."),
        ("It has three locks:\n* Upper\n* Lower\nIt is long.", "It is long."),
        ("He wrote:\n“It is long.”", "He wrote:\n“It is long.”"),
        ("It is long. Barges went on it until", "It is long. Barges went on it until"),
        ("Several terms redirect here. For other uses, see River (disambiguation).\nA river.", "A river."),
        ("This section may be too long. Please help improve it by moving parts of it.\nA river.", "A river."),
        ("It is long.\nLocks of the Valley Vol. 2\nThe Weir ep. 1\nA Short...\n* La .lojban.", "It is long."),
        ("Its locks are numbered:\n2, 3, 5, 7, 11, 13, 17 (sequence A000040 in the OEIS).", ""),
        ("Map of the locks of the river.\nA river.", "A river."),
        ("It is long.[excessive citations] It is wide.[failed verification]", "It is long. It is wide."),
        (
            "It is long.[needs update]\nIt has [two] locks.[dubious – discuss][by how much?]",
            "It is long.\nIt has [two] locks.",
        ),
        (
            'He asked for "[a]nother lock" and "hope[s] for it"[a].',
            'He asked for "[a]nother lock" and "hope[s] for it".',
        ),
        ("It was built in 1894.: 2, 5, 10, 17–20 It is long.", "It was built in 1894. It is long."),
        ("A lock:\u200a8\u200a at Ystan.:\u200a1, 3\u200aIt is long.", "A lock at Ystan. It is long."),
        ("It opens at 8:30, the score was 3: 2.", "It opens at 8:30, the score was 3: 2."),
        ("Severn (Welsh: [ˈhavrɛn]) is a river () of 5 km .", "Severn is a river of 5 km."),
        ("It is long.\nUpper 54.1%, middle 30%, lower 15.9%.", "It is long."),
        (
            "In 2010 54% of it was used, in 2011 60%, in 2012 70%.",
            "In 2010 54% of it was used, in 2011 60%, in 2012 70%.",
        ),
        ("It is A>1{\\displaystyle {A}>1}.\nN=1+p.{\\displaystyle N=1+p.}", "It is A>1."),
        ("It is long.\nThe upper lock in June 1894.", "It is long."),
        ("大江は長い。\n大江の橋", "大江は長い。"),
        ("a lead that has lost its full stops\nand goes on", "a lead that has lost its full stops\nand goes on"),
    ],
)
def test_only_prose_is_left(lead: str, expected: str) -> None:
    assert clean_lead(lead) == expected


def test_a_long_list_of_shares_is_no_riddle() -> None:
    assert clean_lead("It is long.\n" + "lock 5%, " * 200 + "and so on. Then") != ""
