"""The page's routes into a corpus: its rows, filtered; one article; two of its summaries; a page as fetched."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from flows.summary_page.views import inert_response, render
from storage.errors import StorageError
from tasks.explorer.article import differing, read_article, read_page
from tasks.explorer.corpus import KINDS, CorpusQuery, ExplorerCorpus

_PAGE = 50  # rows of a page of a list
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_NEAR = 3  # page numbers to either side of the present one


def add_explorer(app: FastAPI, corpus: ExplorerCorpus) -> None:
    """Add the routes below /corpus."""

    @app.get("/corpus")
    def listing(request: Request, of: str = "articles", text: str = "", order: str = "", page: int = 1) -> HTMLResponse:
        given, kind = dict(request.query_params), KINDS.get(of)
        chosen = {name: given[name] for name in (kind.filters if kind else ()) if given.get(name)}
        bounds = {bound: _number(given.get(bound, "")) for bound in ("least", "most")}
        page = min(max(page, 1), 1_000_000)
        asked = CorpusQuery(of, text, chosen, **bounds, order=order, start=(page - 1) * _PAGE, count=_PAGE)
        try:
            result = corpus.find(asked)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        pages = -(-result.matches // _PAGE)
        near = [number for number in range(page - _NEAR, page + _NEAR + 1) if 1 <= number <= pages]

        def address(**changed: Any) -> str:
            kept = {"of": of, "text": text, **chosen, **bounds, "order": order, **changed}
            return f"/corpus?{urlencode({name: value for name, value in kept.items() if value not in (None, '')})}"

        around = {"page": page, "pages": sorted({1, *near, pages}) if pages > 1 else [], "address": address}
        shown = {"corpus": corpus, "kind": KINDS[of], "asked": asked, "found": result, **around}
        return render("corpus.html.j2", **shown, explores=True)

    @app.get("/corpus/report")
    def report() -> HTMLResponse:
        try:
            page = corpus.report()
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        linked = page.replace('<a data-rows="', '<a href="/corpus?')
        return HTMLResponse(linked, headers={"Content-Security-Policy": _REPORT_POLICY})

    @app.get("/corpus/article/{shard}/{article_id}")
    def article(shard: int, article_id: str, left: str = "", right: str = "") -> HTMLResponse:
        try:
            view = read_article(corpus, shard, article_id)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        texts = {written.system: written.text for written in view.written} | {"the article": view.article["lead"]}
        beside = []
        if left in texts and right in texts:
            beside = [(left, differing(texts[left], texts[right])), (right, differing(texts[right], texts[left]))]
        shown = {"view": view, "shard": shard, "systems": list(texts), "beside": beside, "urlencode": urlencode}
        return render("article.html.j2", **shown, explores=True)

    @app.get("/corpus/page")
    def page(url: str, host_shard: int, passage: str = "", back: str = "") -> HTMLResponse:
        inert = f"/corpus/inert?{urlencode({'url': url, 'host_shard': host_shard, 'passage': passage})}"
        back = back if back.startswith("/corpus/article/") else "/corpus"
        return render("fetched.html.j2", name=url, back=back, inert=inert, explores=True)

    @app.get("/corpus/inert")
    def inert(url: str, host_shard: int, passage: str = "") -> Response:
        try:
            result = read_page(corpus, host_shard, url)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        if result is None:
            raise HTTPException(404, "the corpus does not hold this page")
        return inert_response(result.body, result.mime, result.charset, passage)


def _number(given: str) -> float | None:
    with suppress(ValueError):
        return float(given)
    return None
