"""A wiki that speaks as much of MediaWiki's action interface as the source asks for, on loopback."""

import json
import threading
import unicodedata
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, quote, urlsplit

Answer = tuple[int, dict[str, str], Any]  # status, headers, body
SITE = {
    "general": {"base": "https://wiki.test/wiki/Main_Page", "generator": "MediaWiki 1.46.0"},
    "namespaces": {
        "0": {"id": 0, "case": "first-letter", "name": "", "content": True},
        "6": {"id": 6, "case": "first-letter", "name": "Fichier", "canonical": "File"},
        "14": {"id": 14, "case": "first-letter", "name": "Catégorie", "canonical": "Category"},
    },
    "namespacealiases": [{"id": 6, "alias": "Bild"}],
}


@dataclass
class WikiServer:
    """Pages by title; `scripted` answers are given first, one a request.

    Attributes:
        pages: title -> (revision, wikitext).
        redirects: title -> title.
        categories: category -> titles and categories in it.
        hidden: revisions whose text is not shown.
        per_answer: pages whose text goes into one answer before it has to be continued.
        fails_from: number of the request, counted from 1, from which on it is out of order; None = never.
        headers: Authorization and Cookie of each request, or None.
    """

    pages: dict[str, tuple[int, str]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    per_answer: int = 50
    scripted: list[Answer] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    fails_from: int | None = None
    headers: list[tuple[str | None, str | None]] = field(default_factory=list)

    def __enter__(self) -> Self:
        wiki = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fields = dict(parse_qsl(urlsplit(self.path).query))
                wiki.asked.append(fields)
                wiki.agents.add(self.headers["User-Agent"])
                wiki.headers.append((self.headers["Authorization"], self.headers["Cookie"]))
                status, headers, body = wiki.respond(fields)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/w/api.php"

    def respond(self, fields: dict[str, str]) -> Answer:
        if self.scripted:
            return self.scripted.pop(0)
        if self.fails_from is not None and len(self.asked) >= self.fails_from:
            return 403, {}, b"out of order"
        return 200, {"Set-Cookie": "session=s1; Path=/"}, self.answer(fields)

    def answer(self, fields: dict[str, str]) -> dict[str, Any]:
        """The answer to a query, in the shapes of formatversion 2."""
        assert (fields["action"], fields["format"], fields["formatversion"]) == ("query", "json", "2")
        if fields.get("meta") == "siteinfo":
            return {"batchcomplete": True, "query": SITE}
        if fields.get("list") == "categorymembers":
            return self._members(fields)
        if "titles" in fields:
            return self._info(fields["titles"].split("|"))
        return self._revisions(fields)

    def _info(self, titles: list[str]) -> dict[str, Any]:
        assert len(titles) <= 50
        nfc = {title: unicodedata.normalize("NFC", title) for title in titles}
        normal = {title: form[:1].upper() + form[1:] for title, form in nfc.items()}
        ends = {title: self.redirects.get(title, title) for title in normal.values()}
        pages = [
            {"pageid": self.pages[title][0], "ns": 0, "title": title, "lastrevid": self.pages[title][0]}
            if title in self.pages
            else {"ns": 0, "title": title, "missing": True}
            for title in dict.fromkeys(ends.values())
        ]
        query: dict[str, Any] = {"pages": pages}
        if steps := [
            {"fromencoded": nfc[a] != a, "from": quote(a, safe="") if nfc[a] != a else a, "to": b}
            for a, b in normal.items()
            if a != b
        ]:
            query["normalized"] = steps
        if steps := [{"from": a, "to": b} for a, b in ends.items() if a != b]:
            query["redirects"] = steps
        return {"batchcomplete": True, "query": query}

    def _revisions(self, fields: dict[str, str]) -> dict[str, Any]:
        """All pages, the text of only some: the rest has to be asked for again."""
        assert fields["rvslots"] == "main"
        wanted = [int(number) for number in fields["revids"].split("|")]
        start = wanted.index(int(fields["rvcontinue"])) if "rvcontinue" in fields else 0
        shown = set(wanted[start : start + self.per_answer])
        pages = []
        for title, (revision, text) in sorted(self.pages.items()):
            if revision not in wanted:
                continue
            page: dict[str, Any] = {"pageid": revision, "ns": 0, "title": title}
            if revision in shown:
                slot = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": text}
                hidden = {"contentmodel": "wikitext", "texthidden": True}
                main = hidden if revision in self.hidden else slot
                page["revisions"] = [{"revid": revision, "parentid": 1, "slots": {"main": main}}]
            pages.append(page)
        answer: dict[str, Any] = {"query": {"pages": pages} if pages else {}}
        known = {revision for revision, _ in self.pages.values()}
        if gone := [revision for revision in wanted if revision not in known]:
            answer["query"]["badrevids"] = {str(revision): {"revid": revision, "missing": True} for revision in gone}
        if start + self.per_answer < len(wanted):
            answer["continue"] = {"rvcontinue": wanted[start + self.per_answer], "continue": "||"}
        return answer

    def _members(self, fields: dict[str, str]) -> dict[str, Any]:
        kinds = fields["cmtype"].split("|")
        members = [
            {"pageid": 1, "ns": 14 if name in self.categories else 0, "title": name}
            for name in self.categories[fields["cmtitle"]]
            if ("subcat" if name in self.categories else "page") in kinds
        ]
        start = int(fields.get("cmcontinue", 0))
        answer: dict[str, Any] = {"query": {"categorymembers": members[start : start + 2]}}
        if start + 2 < len(members):
            answer["continue"] = {"cmcontinue": str(start + 2), "continue": "-||"}
        return answer
