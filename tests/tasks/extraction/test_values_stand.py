"""Law: every number and every name that a reader sees in a page's prose stands unchanged in its paragraphs, and none
stands there that is not seen. Pages are generated: layout, what is around the text, and how values are marked up."""

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.extraction.engines import extract
from tasks.extraction.settings import ExtractSettings

NAMES = ["Marwick", "Dunlop", "Harrow", "Ardal", "Lorne", "Okafor", "Besançon", "Łódź", "O’Neill", "Nørgaard"]
HIDDEN = [
    *("<span hidden>{}</span>", "<span style='display:none'>{}</span>", "<span class='sr-only'>{}</span>"),
    *("<del>{}</del>", "<s>{}</s>", "<span style='visibility: hidden'>{}</span>", "<template>{}</template>"),
    *("<script>var x = '{}'</script>", "<span class='visually-hidden'>{}</span>", "<sup><a href='#n'>{}</a></sup>"),
    *("<sup class='reference'>{}</sup>", "<!-- {} -->", "<span class='secret'>{}</span>"),
]
INLINE = [
    *("{}", "<b>{}</b>", "<a href='/x'>{}</a>", "<span class='popup'>{}</span>", "<em class='comment'>{}</em>"),
    *("<span class='menu'>{}</span>", "<abbr title='no'>{}</abbr>", "<span class='rss'>{}</span>", "<nobr>{}</nobr>"),
    *("<mark>{}</mark>", "<span class='x'><i>{}</i></span>", "<font color='red'>{}</font>", "<time>{}</time>"),
]
HEADS = ["Origins", "Decline", "Weavers", "Today", "Owners", "Stones"]
SPLITS = ["", "&shy;", "\u200b", "&#8203;", "<wbr>", "<b></b>"]  # within a word, and not seen
NUMBERS = st.one_of(
    st.integers(0, 2_000_000).map(lambda n: (f"{n:,}", f"{n:,}")),
    st.integers(1, 9999).map(lambda n: (f"{n}", f"{n}")),
    st.decimals(0, 999, places=2).map(lambda n: (f"{n}", f"{n}")),
    st.integers(2, 99).map(lambda n: (f"10<sup>{n}</sup>", f"10^{n}")),
    st.integers(2, 99).map(lambda n: (f"10<sup>−{n}</sup>", f"10^−{n}")),
    st.tuples(st.integers(1, 99), st.integers(1, 9), st.integers(2, 9)).map(
        lambda n: (f"{n[0]}<sup>{n[1]}</sup>/<sub>{n[2]}</sub>", f"{n[0]} {n[1]}/{n[2]}")
    ),
    st.integers(1, 900).map(lambda n: (f"{n} m<sup>2</sup>", f"{n} m²")),
    st.integers(1, 900).map(lambda n: (f"{n}&nbsp;km<sup>3</sup>", f"{n} km³")),
    st.integers(4, 20).map(lambda n: (f"{n}<sup>th</sup>", f"{n}th")),
    st.tuples(st.integers(1, 99), st.integers(100, 999)).map(lambda n: (f"{n[0]}&nbsp;{n[1]}", f"{n[0]} {n[1]}")),
    st.integers(1, 300).map(lambda n: (f"£{n}", f"£{n}")),
)
LAYOUTS = [
    *("<p>{}</p>", "<div>{}</div>", "<section>{}</section>", "<div class='x1'><p>{}</p></div>"),
    *("<section><h3>{head}</h3>{}</section>", "<h2>{head}</h2>{}<br><br>", "<blockquote><p>{}</p></blockquote>"),
    *("<div id='related-{head}' class='section level2'><h2>Related {head}</h2><p>{}</p></div>",),
    *("<p><span class='dropcap'>{first}</span>{rest}</p>", "<article><p>{}</p></article>", "<center>{}</center>"),
]
AROUND = [
    "{}",
    "<nav><a href='/'>Home</a></nav><main>{}</main><footer><p>© 2026 The Society</p></footer>",
    "<ul><li><a href='/'>Home</a></li><li><a href='/n'>News</a></li></ul><article>{}</article>",
    "<div id=root><template shadowrootmode=open><div>{}</div></template></div>",
    "<div id=root></div><noscript><div>{}</div></noscript>",
    "<table><tr><td><a href='/'>Home</a></td><td>{}</td></tr></table>",
]


@st.composite
def values(draw, number):
    """Return the HTML of a sentence, its text, and values that are in its HTML and not seen."""
    name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    written, seen = draw(NUMBERS)
    where = draw(st.integers(1, len(name) - 1))
    split = draw(st.sampled_from(SPLITS))
    marked = draw(st.sampled_from(INLINE)).format(name[:where] + split + name[where:])
    secret = f"{draw(st.integers(3001, 9999))}77"
    hidden = draw(st.sampled_from(HIDDEN)).format(secret) if draw(st.booleans()) else ""
    html = (
        f"In the vale the engineer {marked} of the old school measured {draw(st.sampled_from(INLINE)).format(written)}"
        f" at the weir{hidden} in the spring of year {number}, as the people of {other} wrote in the book of the mill."
    )
    text = (
        f"In the vale the engineer {name} of the old school measured {seen} at the weir in the spring of year {number},"
        f" as the people of {other} wrote in the book of the mill."
    )
    return html, text, secret


@st.composite
def pages(draw):
    """Return a page, the sentences that are seen on it, and values that are not."""
    sentences = [draw(values(1800 + number)) for number in range(draw(st.integers(2, 6)))]
    layout = draw(st.sampled_from(LAYOUTS))
    body = "".join(
        layout.format(html, head=HEADS[number], first=html[0], rest=html[1:])
        for number, (html, _, _) in enumerate(sentences)
    )
    page = draw(st.sampled_from(AROUND)).format(body)
    style = "<style>.secret{display:none}</style>"
    html = f"<html><head><title>The valley</title>{style}</head><body>{page}</body></html>"
    return html, [text for _, text, _ in sentences], [secret for _, _, secret in sentences]


@given(pages())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_values_of_a_page_stand_unchanged_in_its_paragraphs(page):
    html, seen, hidden = page
    found = extract(html.encode(), "text/html", None, ExtractSettings())
    text = "\n".join(found.paragraphs)
    for sentence in seen:
        assert sentence in text
    numbers = set(re.findall(r"\d+", text))
    assert not numbers.intersection(hidden)
    assert numbers <= set(re.findall(r"\d+", " ".join(seen)))
