import pytest

from tasks.extraction.blocks import read_page
from tasks.extraction.markup import parse
from tasks.extraction.visible import show

PROSE = "The mill was built in 1874 by the engineer Thomas Marwick for the Dunlop family of the upper valley."


def blocks(body: str, head: str = "") -> list[str]:
    tree = parse(f"<html><head>{head}<title>T</title></head><body>{body}</body></html>")
    show(tree)
    return [block.text for block in read_page(tree).blocks]


@pytest.mark.parametrize(
    "hidden",
    [
        "<span hidden>1931</span>",
        "<span style='display: none'>1931</span>",
        "<b style='color:red; visibility:hidden'>1931</b>",
        "<span class='sr-only'>1931</span>",
        "<span class='label visually-hidden'>1931</span>",
        "<span class='screen-reader-text'>1931</span>",
        "<i class='material-icons'>chevron_right</i>",
        "<del>1931</del>",
        "<s>1931</s>",
        "<strike>1931</strike>",
        "<span style='text-decoration: line-through'>1931</span>",
        "<span style='position:absolute; left:-9999px'>1931</span>",
        "<script>1931</script>",
        "<template><p>1931</p></template>",
        "<span class='secret'>1931</span>",
        "<span id='gone'>1931</span>",
        "<div hidden><p>1931</p></div>",
    ],
)
def test_what_is_not_seen_or_struck_out_is_left_out(hidden):
    head = "<style>@media print { .wide { display: none } } p, .secret, #gone { color: red; display:none }</style>"
    text = " ".join(blocks(f"<div>{PROSE} Its owner{hidden} sold it.</div>", head))
    assert text == f"{PROSE} Its owner sold it."


def test_a_link_to_the_top_of_the_page_opens_nothing():
    assert blocks(f"<p>{PROSE}</p><div hidden>1931</div><a href='#'>Up</a>") == [PROSE, "Up"]


@pytest.mark.parametrize(
    "shown",
    [
        "<span class='wide'>1931</span>",  # hidden in print alone
        "<span hidden='until-found'>1931</span>",
        "<span style='opacity:0'>1931</span>",  # scripts fade it in
        "<div id='answer' hidden>1931</div><a href='#answer'>Open</a>",
        "<div role='tabpanel' style='display:none'>1931</div>",
        "<div id='S:0' hidden>1931</div>",
        "<ins>1931</ins>",
        "<span aria-hidden='true'>1931</span>",
    ],
)
def test_what_a_reader_sees_or_opens_is_kept(shown):
    head = "<style>@media print { .wide { display: none } }</style>"
    assert "1931" in " ".join(blocks(f"<div>{PROSE} {shown}</div>", head))


def test_page_that_a_script_shows_is_kept():
    assert blocks(f"<div style='visibility:hidden'><p>{PROSE}</p><p>{PROSE}</p></div>") == [PROSE, PROSE]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("In 1874<sup><a href='#n1'>1</a></sup> it burnt.", "In 1874 it burnt."),
        ("In 1874<sup class='reference'>1</sup> it burnt.", "In 1874 it burnt."),
        ("In 1874<a href='#n1'><sup>12</sup></a> it burnt.", "In 1874 it burnt."),
        ("About 10<sup>30</sup> kg.", "About 10^30 kg."),
        ("An area of 40 km<sup>2</sup>.", "An area of 40 km²."),
        ("CO<sub>2</sub> and H<sub>2</sub>O.", "CO2 and H2O."),
        ("12<sup>1</sup>/<sub>2</sub> feet.", "12 1/2 feet."),
        ("3<span class='frac'><sup>3</sup>&frasl;<sub>4</sub></span> inches.", "3 3/4 inches."),
        ("<sup>1</sup>/<sub>3</sub> of it.", "1/3 of it."),
        ("The 4<sup>th</sup> <sup>235</sup>U.", "The 4th 235U."),
        ("a<sup><b>2</b></sup> is", "a² is"),
    ],
)
def test_superscripts_and_subscripts_keep_their_values(html, text):
    assert blocks(f"<p>{html}</p>") == [text]


@pytest.mark.parametrize(
    "html",
    [
        "<span class='drop-cap'>M</span>r Ardal came.",
        "<span class='dropcap'>M</span> r Ardal came.",
        "<span class='x'>M</span>r Ardal came.",
        "<b class='first-letter'><span>M</span></b>\n<span>r Ardal</span> came.",
    ],
)
def test_large_first_letter_belongs_to_its_word(html):
    assert blocks(f"<p>{html}</p>") == ["Mr Ardal came."]


def test_text_in_a_shadow_root_is_read():
    assert blocks(f"<x-a><template shadowrootmode='open'><p>{PROSE}</p></template></x-a>") == [PROSE]


def test_noscript_is_read_where_the_page_has_nothing_else():
    article = f"<noscript><p>{PROSE}</p><p>{PROSE} {PROSE}</p></noscript>"
    assert blocks(f"<div id='root'></div>{article}") == [PROSE, f"{PROSE} {PROSE}"]
    assert blocks(f"<p>{PROSE * 5}</p>{article}") == [PROSE * 5]
    assert blocks("<p>One.</p><noscript>You need to enable JavaScript.</noscript>") == ["One."]


def test_noframes_is_the_body_of_a_frameset():
    tree = parse(f"<html><frameset><frame src=a><noframes><body><p>{PROSE}</p></body></noframes></frameset></html>")
    show(tree)
    assert [block.text for block in read_page(tree).blocks] == [PROSE]
