"""The licences of real pages: every page of wikigraph that speaks of licences or the public domain, read one by one.

`page_licences.tsv`, ours, names for each page the licence of its own text, "-" where it names none, and its URL. Not
counted as the page's: licences of pictures, of comments, of what the page cites, and those without a name."""

from collections import Counter
from pathlib import Path

from benchmarks.rights import in_half, read_pages
from tasks.extraction.markup import parse
from tasks.rights.claims import page_claim

LABELS = Path(__file__).with_name("page_licences.tsv")


def test_no_real_page_is_given_a_wrong_licence(shared_data: Path) -> None:
    """Rules were tuned on one half of the sites (`--half 0`); no rule was changed after these labels were read."""
    labels = {url: licence for licence, url in map(str.split, LABELS.read_text(encoding="utf-8").splitlines())}
    found: dict[str, str] = {}
    for url, body in read_pages(shared_data / "wikigraph" / "pages.warc.gz"):
        if url in labels:
            source = body.decode("utf-8", "replace")
            tree = parse(source)
            claim = None if tree is None else page_claim(source, tree)
            found[url] = "-" if claim is None or claim.licence is None else claim.licence
    assert found.keys() == labels.keys()
    assert {url: licence for url, licence in found.items() if licence not in ("-", labels[url])} == {}
    missed = [licence for url, licence in labels.items() if licence != found[url]]
    assert Counter(missed) == {"public-domain": 4, "GFDL": 1, "CC-BY-SA": 1}
    right = Counter(in_half(url, 0) for url, licence in labels.items() if licence == found[url] != "-")
    assert right == {True: 8, False: 2}  # of 10 and of 6
