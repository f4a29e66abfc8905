"""Every source from its own input to the paragraphs, through the flows' wiring; pages come over real connections."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows import dag
from flows.build_corpus import build_corpus
from flows.config import BuildConfig
from flows.running.session import Session, planning_session
from storage.builds import latest_build, summarise
from storage.recipes import read_parts, whole
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tasks.sources.dump.source import DumpSource
from tests.tasks.fetching.loopback_server import LoopbackServer, answer
from tests.tasks.sources.collection_files import comma_separated, json_array, json_lines, multi_news
from tests.tasks.sources.dump_files import write_multistream
from tests.tasks.sources.encyclopedia_files import (
    citation,
    cited,
    footnotes,
    lines_of,
    mark,
    megawika,
    page,
    paragraph,
    prose,
    reference,
    section,
    structured,
    write_archive,
)
from tests.tasks.sources.mediawiki_server import WikiServer
from tests.tasks.sources.tfrecord_files import write_example, write_records

pytestmark = pytest.mark.integration

BRIDGE_LEAD = (
    "Arlen Bridge is a stone bridge over the River Tam in the town of Arlen. It was opened in 1794 and carries the "
    "old coach road to the coast."
)
FERRY_LEAD = (
    "The Tamsin ferry is a chain ferry that crosses the mouth of the River Tam. It has run since 1831 and takes nine "
    "cars and sixty people at a time."
)
ARCHES = (
    "The bridge stands on five arches of red sandstone, the widest of which spans eighteen metres, and its piers were "
    "set on oak piles that were driven into the bed of the river in the dry summer of 1791."
)
TOLLS = (
    "Until 1868 every cart that crossed paid a toll of two pence, and the keeper's cottage at the eastern end still "
    "has the board on which the charges for sheep, cattle and carriages are painted."
)
CHAINS = (
    "Two chains lie across the bed of the river, and the engine on board pulls the ferry along them, so that it can "
    "neither drift with the tide nor lose its way in fog."
)
WINTER = (
    "In the winter of 1963 the mouth of the river froze for eleven days, and people walked across the ice beside the "
    "ferry while its crew broke the chains free with axes every morning."
)
STORM = (
    "A storm in October 1907 tore the ferry from both of its chains, and it came to rest on a sandbank half a mile "
    "upstream with forty passengers, none of whom were hurt."
)


def html(title: str, *paragraphs: str) -> bytes:
    """A page with a menu and a footer, which are not to be found in any paragraph."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    menu = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/visit'>Plan a visit</a></li></ul></nav>"
    return (
        f"<!doctype html><html lang='en'><head><title>{title}</title></head><body>{menu}"
        f"<main><article><h1>{title}</h1>{body}</article></main>"
        "<footer><p>Copyright of the society. All rights reserved.</p></footer></body></html>"
    ).encode()


BRIDGES, HISTORY, CROSSING = "http://bridges.test/arlen", "http://history.test/tolls", "http://ferry.test/crossing"
GONE = "http://ferry.test/gone"
WEB = {
    "//bridges.test/arlen": answer(html("Arlen Bridge", ARCHES, TOLLS)),
    "//history.test/tolls": answer(html("Tolls of the county", TOLLS, WINTER)),
    "//ferry.test/crossing": answer(html("The crossing", CHAINS, STORM, FERRY_LEAD)),
}
KEPT = {
    "Arlen Bridge": [(BRIDGES, ARCHES), (BRIDGES, TOLLS), (HISTORY, WINTER)],
    "Tamsin ferry": [(CROSSING, CHAINS), (CROSSING, STORM)],
}


@dataclass(frozen=True)
class Ended:
    """What a walk to the paragraphs left.

    Attributes:
        counts: stage -> rows kept, and rows refused by reason.
        kept: article -> URL and text of its kept paragraphs, in order.
        refused: article -> text and reason of the others.
        articles: rows of the articles.
        labels: number of labelled paragraphs.
    """

    counts: dict[str, tuple[int, dict[str, int]]]
    kept: dict[str, list[tuple[str, str]]]
    refused: dict[str, list[tuple[str, str]]]
    articles: list[dict[str, Any]]
    labels: int


def configured(root: Path, source: Mapping[str, Any], **sections: Any) -> BuildConfig:
    settings = {"preset": "records", "root": str(root), "shards": {"articles": 2, "hosts": 1}, "source": source}
    settings["crawl"] = {"host_delay_seconds": 0, **sections.pop("crawl", {})}
    return BuildConfig.model_validate({**settings, **sections})


def ended(root: Path, source: Mapping[str, Any], connect_to: Mapping[str, str] | None = None, **sections: Any) -> Ended:
    """Walk a source to its paragraphs, jobs in this process."""
    config = configured(root, source, **sections)
    executor, store = Executor(), Store(str(root))
    session = Session(config, executor, Run(store, executor), connect_to or {})  # type: ignore[arg-type]
    dag.features(session)
    stages = session.run.stages
    tables = {
        name: read_parts(store, name, map(whole, stages[name].in_order)).to_pylist()
        for name in ("articles", "paragraphs")
    }
    titles = {row["article_id"]: row["title"] for row in tables["articles"]}
    kept: dict[str, list[tuple[str, str]]] = {}
    refused: dict[str, list[tuple[str, str]]] = {}
    for row in tables["paragraphs"]:
        title, reason = titles[row["article_id"]], row["drop_reason"]
        if reason is None:
            kept.setdefault(title, []).append((row["url"], row["text"]))
        else:
            refused.setdefault(title, []).append((row["text"], reason))
    counts = {name: summarise(result.records.values()) for name, result in stages.items()}
    return Ended(
        {name: (count["rows"] - sum(count["drops"].values()), count["drops"]) for name, count in counts.items()},
        kept,
        refused,
        tables["articles"],
        counts["features"]["rows"],
    )


WIKITEXT = {
    "Arlen Bridge": f"""{{{{Infobox bridge
| name = Arlen Bridge
| image = arlen.jpg
}}}}
[[Bild:arlen.jpg|thumb|The bridge from [[Arlen Mill|the mill]]]]
'''Arlen Bridge''' ({{{{IPAc-en|ˈ|ɑr|l|ən}}}}) is a [[stone bridge]] over the [[River Tam (Arlen)|River Tam]] in the \
town of [[Arlen]].<ref name="arches">{{{{cite web|url={BRIDGES}|title=Arlen Bridge|url-status=live}}}}</ref> It was \
opened in 1794 and carries the old coach road to the coast.<ref>[{HISTORY} Tolls]</ref><ref name="arches" />

== See also ==
* [http://unrelated.test/ Another bridge]
""",
    "Tamsin ferry": f"""The '''Tamsin ferry''' is a [[chain ferry]] that crosses the mouth of the \
[[River Tam]].<ref>{CROSSING}</ref> It has run since 1831 and takes nine cars and sixty \
people at a time.<ref>{{{{cite news|url={GONE}}}}}</ref>
""",
    "Arlen": "'''Arlen''' is a town on the River Tam that nobody has cited a single source for.",
    "Old bridge": "#REDIRECT [[Arlen Bridge]]",
    "Tam": "'''Tam''' may refer to:\n* [[River Tam]]\n{{disambiguation}}",
    "List of bridges": "This is a list of all bridges over the River Tam and its tributaries, north to south.",
    "Mill": "A '''mill'''.<ref>http://mill.test/</ref>",
}


def test_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.sources.choice.DumpSource", partial(DumpSource, partition_bytes=1))
    groups = [["Arlen Bridge", "Old bridge", "Tam"], ["Tamsin ferry", "List of bridges"], ["Arlen", "Mill"]]
    dump = write_multistream(tmp_path, groups, texts=WIKITEXT)
    with LoopbackServer(WEB) as server:
        found = ended(tmp_path / "data", {"kind": "dump", "dump": {"paths": [str(dump)]}}, {"*.test": server.address})
        assert sorted(server.paths()) == ["/arlen", "/crossing", "/gone", "/tolls"]
    drops = {"redirect": 1, "disambiguation": 1, "list": 1, "no_sources": 1, "short_lead": 1}
    assert found.counts["articles"] == (2, drops)
    assert found.counts["frontier"] == (4, {})
    assert found.counts["pages"] == (3, {"http_404": 1})
    assert found.counts["documents"] == (3, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT
    assert found.refused == {"Arlen Bridge": [(TOLLS, "duplicate")], "Tamsin ferry": [(FERRY_LEAD, "clone")]}


def test_mediawiki(tmp_path: Path) -> None:
    (tmp_path / "titles.txt").write_text("Old bridge\nTamsin ferry\nArlen\nNo such page\n", encoding="utf-8")
    pages = {title: (100 + number, text) for number, (title, text) in enumerate(WIKITEXT.items())}
    redirects = {"Old bridge": "Arlen Bridge"}
    with LoopbackServer(WEB) as server, WikiServer(pages=pages, redirects=redirects, per_answer=2) as wiki:
        mediawiki = {"api": wiki.api, "titles": str(tmp_path / "titles.txt"), "delay_seconds": 0}
        source, crawl = {"kind": "mediawiki", "mediawiki": mediawiki}, {"contact": "team@example.org"}
        found = ended(tmp_path / "data", source, {"*.test": server.address}, crawl=crawl)
        assert wiki.agents == {"wikisum-builder/0.1 (+team@example.org)"}
    assert found.counts["articles"] == (2, {"no_sources": 1, "missing_page": 1})
    assert found.counts["pages"] == (3, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT


def test_the_listing_of_a_wiki_is_asked_once_for_check_and_run_and_goes_on(tmp_path: Path) -> None:
    pages = {title: (100 + number, text) for number, (title, text) in enumerate(WIKITEXT.items())}
    categories = {"Category:Tam": ["Arlen Bridge", "Tamsin ferry", "Arlen", "Category:More"], "Category:More": ["Mill"]}
    with LoopbackServer(WEB) as server, WikiServer(pages=pages, categories=categories, fails_from=3) as wiki:
        mediawiki = {"api": wiki.api, "category": "Tam", "category_depth": 1, "delay_seconds": 0}
        source, crawl = {"kind": "mediawiki", "mediawiki": mediawiki}, {"contact": "x@y.test"}
        planning = planning_session(configured(tmp_path / "data", source, crawl=crawl), keeps_answers=True)
        with pytest.raises(ConnectionError, match="HTTP 403"):
            planning.once(dag.articles)
        wiki.fails_from = None
        planning.once(dag.articles)
        found = ended(tmp_path / "data", source, {"*.test": server.address}, crawl=crawl)
        listed = [(fields.get("cmtitle"), fields.get("cmcontinue")) for fields in wiki.asked if "list" in fields]
        asked = [fields["titles"] for fields in wiki.asked if "titles" in fields]
    failed, *others = listed[2:]
    assert listed[:2] == [("Category:Tam", None), ("Category:Tam", "2")]
    assert (failed, others) == (("Category:More", None), [("Category:More", None)])
    assert asked == ["Arlen Bridge|Tamsin ferry|Arlen|Mill"]
    assert found.counts["articles"] == (2, {"no_sources": 1, "short_lead": 1})
    assert found.kept == KEPT
    assert not list((tmp_path / "data").rglob(".scratch-*"))


REFERENCES = [
    reference("1", url=BRIDGES),
    reference("2", text=[HISTORY]),
    reference("3", url=CROSSING),
    reference("4", url=GONE),
]


def test_structured_contents(tmp_path: Path) -> None:
    rows = [
        structured(
            "Arlen Bridge",
            [
                section("Abstract", *(paragraph(f"{text}.", "1", "2") for text in BRIDGE_LEAD[:-1].split(". "))),
                section("History", paragraph(TOLLS, "2")),
            ],
            REFERENCES[:2],
        ),
        structured("Tamsin ferry", [section("Abstract", paragraph(FERRY_LEAD, "3", "4"))], REFERENCES[2:]),
        structured("Arlen", [], [], abstract="Arlen is a town on the River Tam that nobody has cited a source for."),
        structured("Mill", [section("Abstract", paragraph("A mill.", "1"))], REFERENCES[:1]),
        structured("List of bridges", [section("Abstract", paragraph(BRIDGE_LEAD, "1"))], REFERENCES[:1]),
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "enwiki_0.parquet", row_group_size=2)
    with LoopbackServer(WEB) as server:
        encyclopedia = {"layout": "structured", "paths": [str(tmp_path / "*.parquet")]}
        found = ended(
            tmp_path / "data", {"kind": "encyclopedia", "encyclopedia": encyclopedia}, {"*.test": server.address}
        )
        assert sorted(server.paths()) == ["/arlen", "/crossing", "/gone", "/tolls"]
    assert found.counts["articles"] == (2, {"no_sources": 1, "short_lead": 1, "list": 1})
    assert found.counts["frontier"] == (4, {})
    assert found.counts["pages"] == (3, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT
    assert found.labels == 5
    leads = {row["title"]: (row["lead"], row["licence"]) for row in found.articles if row["drop_reason"] is None}
    assert leads == {
        "Arlen Bridge": (BRIDGE_LEAD.replace(". It", ".\nIt"), "CC-BY-SA-4.0"),
        "Tamsin ferry": (FERRY_LEAD, "CC-BY-SA-4.0"),
    }


def write_warc(path: Path) -> Path:
    """Write the pages of the web, and one that is gone, as captures."""
    captures = [
        warc_record(BRIDGES, html("Arlen Bridge", ARCHES, TOLLS)),
        warc_record(HISTORY, html("Tolls of the county", TOLLS, WINTER)),
        warc_record(CROSSING, html("The crossing", CHAINS, STORM, FERRY_LEAD)),
        warc_record(GONE, b"<p>Not here.</p>", "404 Not Found"),
    ]
    path.write_bytes(b"".join(captures))
    return path


def test_megawika_with_its_cited_pages_out_of_a_warc(tmp_path: Path) -> None:
    rows = [
        megawika(
            "Arlen Bridge",
            prose(BRIDGE_LEAD, cited(BRIDGES)),
            {"type": "heading", "content": "History"},
            prose(TOLLS, cited(HISTORY), cited(None)),
        ),
        megawika("Tamsin ferry", prose(FERRY_LEAD, cited(CROSSING), cited(GONE), cited("http://nowhere.test/"))),
        megawika("Old bridge", prose("Moved."), wikicode="#REDIRECT [[Arlen Bridge]]"),
        b"{",
        megawika("Arlen", prose("Arlen is a town on the River Tam that nobody has cited a source for.")),
    ]
    (tmp_path / "chunk-0.jsonl").write_bytes(lines_of(*rows))
    encyclopedia = {"layout": "megawika", "paths": [str(tmp_path / "chunk-0.jsonl")]}
    crawl = {"archive": [str(write_warc(tmp_path / "pages.warc.gz"))]}
    found = ended(
        tmp_path / "data", {"kind": "encyclopedia", "encyclopedia": encyclopedia, "malformed": 1}, crawl=crawl
    )
    assert found.counts["articles"] == (2, {"redirect": 1, "malformed_row": 1, "no_sources": 1})
    assert found.counts["captures"] == (4, {})
    assert found.counts["pages"] == (3, {"http_404": 1, "not_in_archive": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT
    assert found.labels == 5


def test_html_dump(tmp_path: Path) -> None:
    links = {"1": BRIDGES, "2": HISTORY, "3": CROSSING, "4": GONE}
    notes = {name: citation(url, url=url, title="A source") for name, url in links.items()}
    references = f"<h2 id='References'>References</h2>{footnotes(**notes)}"
    rows = [
        page(
            "Arlen Bridge",
            f"<p>{BRIDGE_LEAD}{mark('1')}</p>",
            f"<h2>Tolls</h2><p>{TOLLS}{mark('2')}</p>",
            "<h2>References</h2>" + footnotes(**{name: notes[name] for name in "12"}),
        ),
        page(
            "Tamsin ferry",
            f"<p>{FERRY_LEAD}{mark('3')}{mark('4')}</p>",
            "<h2>References</h2>" + footnotes(**{name: notes[name] for name in "34"}),
        ),
        page("Tam", "<p>Tam may refer to:</p>", head='<meta property="mw:PageProp/disambiguation"/>'),
        page("Talk:Tam", f"<p>{BRIDGE_LEAD}</p>", references, namespace={"identifier": 1}),
        page("Arlen", "<p>Arlen is a town on the River Tam that nobody has cited a source for.</p>"),
        b'{"name": "Mill"}',
    ]
    archive = write_archive(
        tmp_path / "enwiki-NS0-20260101-ENTERPRISE-HTML.json.tar.gz",
        enwiki_namespace_0_0__ndjson=lines_of(*rows[:3]),
        enwiki_namespace_0_1__ndjson=lines_of(*rows[3:]),
    )
    with LoopbackServer(WEB) as server:
        encyclopedia = {"layout": "html", "paths": [str(archive)]}
        found = ended(
            tmp_path / "data",
            {"kind": "encyclopedia", "encyclopedia": encyclopedia, "malformed": 1},
            {"*.test": server.address},
        )
        assert sorted(server.paths()) == ["/arlen", "/crossing", "/gone", "/tolls"]
    drops = {"disambiguation": 1, "other_namespace": 1, "no_sources": 1, "malformed_row": 1}
    assert found.counts["articles"] == (2, drops)
    assert found.counts["pages"] == (3, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT
    assert found.labels == 5


def write_shards(folder: Path) -> dict[str, Any]:
    """Write two pairs of the published shards: one of training articles, one of test articles."""
    wiki = "https://en.wikipedia.org/wiki/"
    leads = {"Arlen_Bridge": BRIDGE_LEAD, "Tamsin_ferry": FERRY_LEAD}
    references = {"Arlen_Bridge": [BRIDGES, HISTORY], "Tamsin_ferry": [CROSSING, GONE], "Tam_Fair": [GONE]}
    for number, titles in ((100, ["Tamsin_ferry"]), (200, ["Arlen_Bridge", "Tam_Fair"])):
        entries = {
            f"{wiki}{title}": {"title": title.replace("_", " "), "refs": references[title], "url": f"{wiki}{title}"}
            for title in titles
        }
        records = [
            write_example(
                {
                    "url": [f"{wiki}{title}".encode()],
                    "title": [title.replace("_", " ").encode()],
                    "section_titles": [b"", b"History"],
                    "section_texts": [leads[title].encode(), b"It has a history."],
                }
            )
            for title in titles
            if title in leads
        ]
        (folder / f"wiki_urls.json-{number:05}-of-01000").write_text(json.dumps(entries))
        with (folder / f"wiki_content.tfrecords-{number:05}-of-01000").open("wb") as stream:
            write_records(stream, records)
    return {"urls": str(folder / "wiki_urls.json-*"), "content": str(folder / "wiki_content.tfrecords-*")}


def test_tensor2tensor(tmp_path: Path) -> None:
    with LoopbackServer(WEB) as server:
        found = ended(
            tmp_path / "data",
            {"kind": "tensor2tensor", "tensor2tensor": write_shards(tmp_path)},
            {"*.test": server.address},
        )
    assert found.counts["intake"] == found.counts["articles"] == (2, {"no_content": 1})
    assert found.counts["pages"] == (3, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT


def warc_record(url: str, body: bytes, status: str = "200 OK") -> bytes:
    content = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + content + b"\r\n\r\n")


def write_records_file(folder: Path, *lines: Mapping[str, Any]) -> dict[str, Any]:
    (folder / "articles.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return {"kind": "records", "records": {"paths": [str(folder / "articles.jsonl")]}}


def test_records_with_pages_out_of_a_warc(tmp_path: Path) -> None:
    source = write_records_file(
        tmp_path,
        {"title": "Arlen Bridge", "lead": BRIDGE_LEAD, "references": [BRIDGES, HISTORY]},
        {"title": "Tamsin ferry", "lead": FERRY_LEAD, "references": [CROSSING, GONE, "http://nowhere.test/"]},
        {"title": "Tamsin ferry", "lead": FERRY_LEAD, "references": [HISTORY]},
        {"title": "Tam Fair", "lead": " ", "references": [HISTORY]},
    )
    found = ended(tmp_path / "data", source, crawl={"archive": [str(write_warc(tmp_path / "pages.warc.gz"))]})
    assert found.counts["articles"] == (2, {"duplicate_title": 1, "empty_lead": 1})
    assert found.counts["captures"] == (4, {})
    assert found.counts["pages"] == (3, {"http_404": 1, "not_in_archive": 1})
    assert found.counts["paragraphs"] == (5, {"duplicate": 1, "clone": 1})
    assert found.kept == KEPT


def test_records_with_documents_of_their_own_and_pages_to_fetch(tmp_path: Path) -> None:
    source = write_records_file(
        tmp_path,
        {
            "title": "Arlen Bridge",
            "lead": BRIDGE_LEAD,
            "references": [HISTORY],
            "documents": [{"url": "file:notes.txt", "title": "Notes", "text": f"{ARCHES}\n\n{TOLLS}\n"}],
        },
        {
            "title": "Tamsin ferry",
            "lead": FERRY_LEAD,
            "documents": [{"paragraphs": [CHAINS, FERRY_LEAD]}, {"text": ""}, {"paragraphs": [STORM]}],
        },
        {"title": "Tamsin ferry", "lead": "Another ferry.", "documents": [{"text": WINTER}]},
        {"title": "Tam Fair", "lead": "The Tam Fair is held in May.", "references": [GONE]},
        {"title": "Arlen", "lead": "Arlen is a town.", "references": []},
    )
    with LoopbackServer(WEB) as server:
        found = ended(tmp_path / "data", source, {"*.test": server.address})
        assert sorted(server.paths()) == ["/gone", "/tolls"]
    assert found.counts["articles"] == (3, {"duplicate_title": 1, "no_sources": 1})
    assert found.counts["given"] == (4, {"no_text": 1, "no_documents": 1})
    assert found.counts["documents"] == (1, {"http_404": 1})
    assert found.counts["paragraphs"] == (5, {"clone": 1, "duplicate": 1})
    assert found.kept == {
        "Arlen Bridge": [("file:notes.txt", ARCHES), ("file:notes.txt", TOLLS), (HISTORY, WINTER)],
        "Tamsin ferry": [("document:1", CHAINS), ("document:3", STORM)],
    }


SECTIONED = f"""'''Arlen Bridge''' is a stone bridge over the River Tam in the town of Arlen. It was opened in 1794 \
and carries the old coach road to the coast.
== Structure ==
{ARCHES}<ref>{BRIDGES}</ref>
=== Repairs ===
The piers were repaired in [[1902]] with stone from a quarry that has long been closed.<ref>{GONE}</ref>
== Tolls ==
{TOLLS}<ref>{HISTORY}</ref>
== References ==
<references />
"""
LINE = {
    "title": "Tamsin_ferry",
    "url": "https://wiki.test/wiki/Tamsin_ferry",
    "lead": FERRY_LEAD,
    "sections": [
        {"title": "Working", "text": CHAINS, "refs": [CROSSING]},
        {"title": "Events / Frost", "text": f"{WINTER}\n{STORM}", "refs": [CROSSING, HISTORY]},
        {"title": "Timetable", "text": "Every hour.", "refs": []},
    ],
}


def sections_over(folder: Path, over: str, target: str) -> dict[str, Any]:
    (folder / "articles.jsonl").write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    dump = write_multistream(folder, [["Arlen Bridge"], ["Old bridge"]], texts={**WIKITEXT, "Arlen Bridge": SECTIONED})
    sections = {"target": target, "paths": [str(folder / "articles.jsonl")] if over == "jsonl" else []}
    return {"kind": "sections", "sections": sections, "dump": {"paths": [str(dump)]}}


def test_sections_of_a_dump_as_topics(tmp_path: Path) -> None:
    with LoopbackServer(WEB) as server:
        found = ended(tmp_path / "data", sections_over(tmp_path, "dump", "section"), {"*.test": server.address})
    assert found.counts["articles"] == (3, {"apparatus": 1, "redirect": 1})
    assert found.counts["pages"] == (2, {"http_404": 1})
    assert found.counts["paragraphs"] == (2, {"clone": 2})
    assert found.kept == {"Arlen Bridge (Structure)": [(BRIDGES, TOLLS)], "Arlen Bridge (Tolls)": [(HISTORY, WINTER)]}


def test_sections_of_lines_as_topics(tmp_path: Path) -> None:
    with LoopbackServer(WEB) as server:
        found = ended(tmp_path / "data", sections_over(tmp_path, "jsonl", "section"), {"*.test": server.address})
    assert found.counts["articles"] == (2, {"short_lead": 1})
    assert found.counts["pages"] == (2, {})
    assert found.counts["paragraphs"] == (5, {"clone_of_part": 2, "clone": 1})
    assert found.kept == {
        "Tamsin ferry (Working)": [(CROSSING, STORM), (CROSSING, FERRY_LEAD)],
        "Tamsin ferry (Events / Frost)": [(CROSSING, CHAINS), (CROSSING, FERRY_LEAD), (HISTORY, TOLLS)],
    }


@pytest.mark.parametrize("over", ["dump", "jsonl"])
def test_sections_as_documents_of_their_lead(tmp_path: Path, over: str) -> None:
    with LoopbackServer(WEB) as server:
        found = ended(tmp_path / "data", sections_over(tmp_path, over, "lead"), {"*.test": server.address})
        assert server.log == []
    assert found.counts["frontier"] == found.counts["pages"] == found.counts["documents"] == (0, {})
    if over == "jsonl":
        url = "https://wiki.test/wiki/Tamsin_ferry"
        assert found.counts["articles"] == (1, {})
        assert found.counts["given"] == (2, {})
        assert found.kept == {
            "Tamsin ferry": [(f"{url}#Working", CHAINS), (f"{url}#Frost", WINTER), (f"{url}#Frost", STORM)]
        }
    else:
        url = "https://wiki.test/wiki/Arlen_Bridge"
        repairs = "The piers were repaired in 1902 with stone from a quarry that has long been closed."
        assert found.counts["articles"] == (1, {"redirect": 1})
        assert found.counts["given"] == (3, {})
        assert found.kept == {
            "Arlen Bridge": [(f"{url}#Structure", ARCHES), (f"{url}#Repairs", repairs), (f"{url}#Tolls", TOLLS)]
        }
    assert found.counts["paragraphs"] == (3, {})
    assert found.refused == {}


def test_a_collection(tmp_path: Path) -> None:
    documents = {
        "train": [f"{ARCHES} NEWLINE_CHAR {TOLLS} ||||| {WINTER} {TOLLS} |||||", f"{CHAINS} ||||| {STORM} |||||"],
        "val": [" ||||| ", f"{FERRY_LEAD} NEWLINE_CHAR Menu ||||| {CHAINS}"],
    }
    summaries = {"train": [f"– {BRIDGE_LEAD}", " "], "val": [f"– {BRIDGE_LEAD}", FERRY_LEAD]}
    for split in documents:
        multi_news(tmp_path, split, documents[split], summaries[split])
    (tmp_path / "val.src").open("ab").write(b"\xff\n")
    (tmp_path / "val.tgt").open("a").write("Lost.\n")
    settings = {"layout": "multi-news", "paths": [str(tmp_path / "*.src")], "paragraph_words": 50}
    found = ended(tmp_path / "data", {"kind": "collection", "collection": settings, "malformed": 1})
    assert found.counts["articles"] == (2, {"empty_lead": 1, "no_sources": 1, "malformed_row": 1})
    assert found.counts["given"] == (4, {})
    assert found.counts["paragraphs"] == (4, {"duplicate": 1, "clone": 1, "too_short": 1})
    assert found.kept == {
        "The bridge stands on five arches of red sandstone, the widest of": [
            ("document:1", ARCHES),
            ("document:1", TOLLS),
            ("document:2", WINTER),
        ],
        "The Tamsin ferry is a chain ferry that crosses the mouth of": [("document:2", CHAINS)],
    }
    rows = {row["title"]: row for row in found.articles}
    assert [row["split"] for row in found.articles if row["drop_reason"] is None].count("valid") == 1
    assert rows["val.src, row 3"]["drop_reason"] == "malformed_row"
    assert rows["The bridge stands on five arches of red sandstone, the widest of"]["lead"] == f"– {BRIDGE_LEAD}"
    assert found.labels == 4


def article(url: str, text: str) -> dict[str, str]:
    return {"id": url, "url": url, "title": f"About {url}", "text": text}


def of_layout(folder: Path, layout: str) -> Path:
    """Write one row with the same two documents in a layout, its summary that of the ferry, and return the file."""
    long, short = f"{CHAINS} {STORM}", WINTER
    match layout:
        case "wcep-10":
            row = {"id": "w", "summary": FERRY_LEAD, "articles": [article("u", long), article("v", short)]}
            row["articles"] += [article("u", TOLLS), *(article(f"{number}", TOLLS) for number in range(8))]  # type: ignore[operator]
            return json_lines(folder / "test.jsonl.gz", row)
        case "multi-xscience":
            cited = {"@cite_1": {"mid": "1", "abstract": short}, "@cite_2": {"mid": "2", "abstract": ""}}
            return json_array(
                folder / "test.json.gz",
                {"aid": "1", "mid": "2", "abstract": long, "ref_abstract": cited, "related_work": FERRY_LEAD},
            )
        case "rotten-tomatoes":
            critics = {"1": long, "2": short, "3": "A must."}
            return json_array(
                folder / "rottentomatoes.json",
                {"_movie_name": "Ferry", "_movie_id": 7, "_critics": critics, "_critic_consensus": FERRY_LEAD},
            )
        case "hed":
            text = f"{CHAINS} <sep> {STORM} <REVBREAK> {short}"
            return comma_separated(folder / "test.csv", ["text", "summary"], [text, FERRY_LEAD])
        case _:
            table = pa.table({"documents": [[long, short]], "summary": [FERRY_LEAD]})
            pq.write_table(table, folder / "test-00000-of-00001.parquet")
            return folder / "test-00000-of-00001.parquet"


@pytest.mark.parametrize(
    ("layout", "documents", "refused", "drops"),
    [
        ("wcep-10", 9, {"duplicate_url": 1}, {"duplicate": 6}),
        ("multi-xscience", 2, {"no_text": 1}, {}),
        ("rotten-tomatoes", 3, {}, {"too_short": 1}),
        ("hed", 2, {}, {}),
        ("columns", 2, {}, {}),
    ],
)
def test_every_layout_ends_as_labelled_paragraphs(
    tmp_path: Path, layout: str, documents: int, refused: dict[str, int], drops: dict[str, int]
) -> None:
    file = of_layout(tmp_path, layout)
    collection = {"layout": layout, "paths": [str(file)], "paragraph_words": 40}
    found = ended(tmp_path / "data", {"kind": "collection", "collection": collection})
    assert found.counts["articles"] == (1, {})
    assert found.counts["given"] == (documents, refused)
    (row,) = found.articles
    assert (row["lead"], row["references"]) == (FERRY_LEAD, [])
    assert layout == "rotten-tomatoes" or row["split"] == "test"
    (kept,) = found.kept.values()
    expected = [CHAINS, STORM, WINTER, *([TOLLS] if layout == "wcep-10" else [])]
    assert [text for _, text in kept] == expected
    assert found.counts["paragraphs"] == (len(expected), drops)
    assert found.labels == len(expected)


def test_the_corpus_alone_is_a_build(tmp_path: Path, prefect_server: None) -> None:
    source = write_records_file(
        tmp_path,
        {"title": "Arlen Bridge", "lead": BRIDGE_LEAD, "documents": [{"url": "n", "paragraphs": [ARCHES, TOLLS]}]},
        {"title": "Tamsin ferry", "lead": FERRY_LEAD, "documents": [{"url": "n", "text": f"{CHAINS}\nMenu"}]},
        {"title": "Arlen", "lead": "Arlen is a town.", "references": []},
    )
    root = str(tmp_path / "data")
    settings = {"preset": "records", "root": root, "shards": {"articles": 1, "hosts": 1}, "source": source}
    text = build_corpus(BuildConfig.model_validate({**settings, "engine": {"kind": "threads"}}))
    lines = text.splitlines()
    assert lines[:15] == [
        "stage              kept  refused",
        "articles              2  no_sources 1",
        "search                0",
        "frontier              0",
        "pages                 0",
        "documents             0",
        "given                 2",
        "paragraphs            3  too_short 1",
        "compared              3  too_short 1",
        "features              3",
        "vocabulary            1",
        "",
        "Size of the corpus, as in Shen et al. 2023, Table 1",
        "corpus                     instances  documents  source, words  target, words",
        "this one                           2        1.0             54             30",
    ]
    build = latest_build(Store(root))
    assert build is not None and build.report is None and build.models == {}
    assert text.endswith(f"builds/{build.name}.json")
    assert sorted(build.stages["given"]) == sorted(build.stages["paragraphs"]) == ["0"]


@pytest.mark.shared_data
def test_papers_and_what_cites_them_are_documents_of_their_summary(tmp_path: Path, shared_data: Path) -> None:
    with gzip.open(shared_data / "scisummnet_mds.jsonl.gz", "rt", encoding="utf-8") as stream:
        papers = [json.loads(line) for line, _ in zip(stream, range(40), strict=False)]
    lines = [
        {
            "title": paper["title"],
            "lead": paper["summary"],
            "documents": [
                {"url": f"{paper['id']}#paper", "title": paper["title"], "paragraphs": paper["paper_sentences"]},
                {"url": f"{paper['id']}#citances", "paragraphs": paper["citances"]},
            ],
        }
        for paper in papers
    ]
    found = ended(tmp_path / "data", write_records_file(tmp_path, *lines))
    assert found.counts["articles"] == (40, {})
    assert found.counts["given"] == (80, {})
    drops = {
        "too_short": 543,
        "markup": 298,
        "duplicate": 163,
        "mostly_symbols": 129,
        "clone_of_part": 84,
        "no_letters": 67,
        "no_sentence": 29,
        "mostly_links": 1,
    }
    assert found.counts["paragraphs"] == (6206, drops)
    (url, text), *_ = reversed(found.kept["TnT - A Statistical Part-Of-Speech Tagger"])
    assert (url, text) == ("A00-1031#citances", papers[0]["citances"][-1])
