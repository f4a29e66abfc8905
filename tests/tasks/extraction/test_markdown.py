from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings

PAGE = """# The *River* Wend

It rises on the **moors**, see [the map](https://example.org/map "Map"),
and runs east.

## Towns

* Hallow, with `4,100` people
* Orme

| town | people |
|------|--------|
| Orme | 900 |

```python
print("code")
```

<script>alert(1)</script>
"""


def test_blocks_become_paragraphs_without_marks_code_and_markup():
    found = extract(PAGE.encode(), "text/markdown", None, ExtractSettings())
    assert found.title == "The River Wend"
    assert found.paragraphs == (
        "It rises on the moors, see the map, and runs east.",
        "Towns",
        "Hallow, with 4,100 people",
        "Orme",
        "town",
        "people",
        "Orme",
        "900",
    )
    assert found.engine == "markdown"


def test_nothing_but_code_is_no_text():
    assert extract(b"```\nx = 1\n```\n", "text/markdown", None, ExtractSettings()).reason == "no_text"
