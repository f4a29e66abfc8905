from benchmarks.plain_pages import bare_page
from tasks.extraction.markup import parse


def test_a_page_without_its_design_has_its_blocks_and_links_and_no_classes():
    tree = parse(
        "<html><body class='a'><nav class='m'><a href='/a'>Home</a></nav><div class='x'><h2>Weir &amp; mill</h2>"
        "<p id='p'>Built in <a href='/b'>1874</a>.</p><ul><li>One</li><li><div>Two</div></li></ul>"
        "<table><tr><td>Length</td><td>31 km</td></tr></table></div><footer>Imprint</footer></body></html>"
    )
    assert tree is not None
    assert bare_page(tree, "Weir <1>") == (
        "<html><head><title>Weir &lt;1&gt;</title></head><body><h1>Weir &lt;1&gt;</h1>"
        '<p><a href="/x">Home</a></p><h2>Weir &amp; mill</h2><p><a href="/x">Buil</a>t in 1874.</p>'
        "<ul><li>One</li><li>Two</li></ul><p>Length</p><p>31 km</p><p>Imprint</p></body></html>"
    )
