"""What the words of a paragraph say beside those of its page, counted by hand."""

from tasks.paragraphs.quality import PAGE_WORDS, page_word_features

PAGE = [
    ["The", "weir", "at", "Ystan", "was", "built", "by", "the", "county"],  # 9 words
    ["In", "Ystan", "the", "county", "of", "Morva", "closed", "it"],  # 8 words
    ["See", "Hartley", "and", "Ystan", "Ox", "too"],  # 6 words
]


def features(page: list[list[str]]) -> list[list[float]]:
    return page_word_features(page, [[word[0].isupper() for word in paragraph] for paragraph in page])


def test_names_lengths_and_places_on_a_page() -> None:
    assert [len(row) for row in features(PAGE)] == [len(PAGE_WORDS)] * 3
    assert features(PAGE) == [
        [1.0, 9 / 8, 1.0],  # Ystan is known
        [0.5, 1.0, 6 / 15],  # Ystan is known, Morva is not
        [0.5, 6 / 8, 0.0],  # Ystan is known, Hartley is not, and Ox is too short for a name
    ]


def test_pages_of_nothing() -> None:
    assert features([]) == []
    assert features([PAGE[0]]) == [[0.0, 1.0, 0.0]]
    assert features([[]]) == [[0.5, 0.0, 0.0]]
    assert features([["No"], ["Name", "here"]]) == [[0.5, 1 / 1.5, 1.0], [0.5, 2 / 1.5, 0.0]]
