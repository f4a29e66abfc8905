"""What the words of a paragraph say beside those of its page, counted by hand."""

from tasks.paragraphs.page_context import NAMES, page_word_features

PAGE = [
    ["The", "weir", "at", "Ystan", "was", "built", "by", "the", "county"],  # 9 words
    ["Menu"],
    ["In", "Ystan", "the", "county", "of", "Morva", "closed", "it"],  # 8 words
    ["See", "Hartley", "and", "Ystan", "too"],  # 5 words
]
REFUSED = [False, True, False, False]


def test_names_lengths_and_places_on_a_page() -> None:
    assert [len(row) for row in page_word_features(PAGE, REFUSED)] == [len(NAMES)] * 4
    assert page_word_features(PAGE, REFUSED) == [
        [1.0, 9 / 8, 1.0],  # Ystan is known
        [0.5, 1 / 8, 13 / 22],  # no name after its first word
        [0.5, 1.0, 5 / 14],  # Ystan is known, Morva is not
        [0.5, 5 / 8, 0.0],  # Ystan is known, Hartley is not
    ]


def test_a_refused_paragraph_makes_no_name_known() -> None:
    assert page_word_features([PAGE[0], PAGE[2]], [False, True])[0][0] == 0
    assert page_word_features([PAGE[0], PAGE[2]], [False, True])[1][0] == 0.5  # Ystan is, Morva is not


def test_pages_of_nothing() -> None:
    assert page_word_features([], []) == []
    assert page_word_features([PAGE[0]], [True]) == [[0.0, 5.0, 0.0]]
    assert page_word_features([[]], [False]) == [[0.5, 0.0, 0.0]]
