"""Labels are joined with the paragraphs of today's extraction by their digests."""

import pytest

from benchmarks import paragraph_quality
from benchmarks.paragraph_quality import digest, read_labels

MILL = "The mill was built in 1874 and ground the corn of the whole valley for ninety years."
FLOOD = "The flood of 1911 carried away its wheel, and the owners replaced it with a turbine."
SHARE = "Subscribe to our newsletter and share this story with your friends on every platform."
HEADER = "part,article_id,url,position,digest,refused,label,reason"
URL = "https://a.example/mill"


def _label(position: int, text: str, label: str, url: str = URL) -> str:
    return f"fit,article,{url},{position},{digest(text)},,{label},prose"


def test_labels_are_found_by_their_digest_nearest_to_their_position(tmp_path, monkeypatch, capsys):
    texts = [SHARE, MILL, MILL, FLOOD]
    monkeypatch.setattr(paragraph_quality, "read_pages", lambda root: {URL: (texts, [False] * 4, [False] * 4, [])})
    lines = [_label(9, MILL, "good"), _label(0, FLOOD, "good"), _label(3, SHARE, "junk"), _label(0, "Gone.", "junk")]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    positions = []
    features = paragraph_quality._features
    monkeypatch.setattr(
        paragraph_quality, "_features", lambda *page: positions.append((page[0], page[2])) or features(*page)
    )
    labels, _ = read_labels(path, "root", ())
    assert [position for page, position in positions if page is texts] == [2, 3, 0]
    whole = [(label[2], label[3]) for label in labels if label[-1] == 0]
    assert whole == [(False, URL), (False, URL), (True, URL)]
    assert "1 labels of paragraphs that root does not have: junk 1, good 0" in capsys.readouterr().out


def test_a_corpus_of_other_pages_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(paragraph_quality, "read_pages", lambda root: {})
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEADER}\n{_label(0, MILL, 'good')}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="root: 1 of 1 labels have no paragraph"):
        read_labels(path, "root", ())
