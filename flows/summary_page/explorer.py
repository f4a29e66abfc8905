"""The page's routes into a corpus: its rows, filtered; one article; two of its summaries; a page as fetched; builds."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.background import BackgroundTask

from flows.summary_page.views import inert_response, render
from storage.errors import StorageError
from tasks.explorer.article import differing, read_article, read_page
from tasks.explorer.builds import Chart, chart_of, list_builds
from tasks.explorer.corpus import KINDS, CorpusQuery, ExplorerCorpus
from tasks.explorer.sql import ROWS, SECONDS
from tasks.explorer.weeks import year_of

_PAGE = 50  # rows of a page of a list
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_NEAR = 3  # page numbers to either side of the present one


def add_explorer(app: FastAPI, corpus: ExplorerCorpus, *, local: bool) -> None:
    """Add the routes below /corpus; `local`: only this machine reaches the page, so that it may also ask in SQL."""
    if local:
        _add_sql(app, corpus)

    @app.get("/corpus")
    def listing(request: Request, page: int = 1) -> HTMLResponse:
        page = min(max(page, 1), 1_000_000)
        asked = _query(request.query_params, page)
        try:
            result = corpus.find(asked)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        pages = -(-result.matches // _PAGE)
        near = [number for number in range(page - _NEAR, page + _NEAR + 1) if 1 <= number <= pages]
        around = {"page": page, "pages": sorted({1, *near, pages}) if pages > 1 else [], "address": _addresses(asked)}
        shown = {"corpus": corpus, "kind": KINDS[asked.kind], "asked": asked, "found": result, "local": local, **around}
        return render("corpus.html.j2", **shown, explores=True)

    @app.get("/corpus/rows.{form}")
    def download(request: Request, form: Literal["csv", "parquet"]) -> FileResponse:
        asked = _query(request.query_params, 1)
        with NamedTemporaryFile(prefix="wikisum-", suffix=f".{form}", delete=False) as file:
            written = Path(file.name)
            try:
                corpus.write(asked, file, form)
            except BaseException as error:
                written.unlink()
                if isinstance(error, StorageError):
                    raise HTTPException(404, str(error)) from error
                raise
        mime = "text/csv; charset=utf-8" if form == "csv" else "application/vnd.apache.parquet"
        return FileResponse(
            written, media_type=mime, filename=f"{asked.kind}.{form}", background=BackgroundTask(written.unlink)
        )

    @app.get("/corpus/builds")
    def builds() -> HTMLResponse:
        listed = list_builds(corpus.store)
        chart = chart_of(listed.rows)
        paths = [] if chart is None else _paths(chart)
        shown = {"builds": listed, "chart": chart, "paths": paths, "year": year_of(corpus.store)}
        return render("builds.html.j2", **shown, explores=True)

    @app.get("/corpus/compare")
    def compared(build: Annotated[list[str] | None, Query()] = None) -> HTMLResponse:
        from tasks.reporting.page import page  # here, because these load matplotlib
        from tasks.reporting.side_by_side import compared_builds

        try:
            sections = compared_builds(corpus.store, build or [])
        except (ValueError, StorageError) as error:
            return render("missing.html.j2", 422, heading="Not compared", why=str(error), explores=True)
        written = page("Builds side by side", sections)
        return HTMLResponse(written, headers={"Content-Security-Policy": _REPORT_POLICY})

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


def _add_sql(app: FastAPI, corpus: ExplorerCorpus) -> None:
    @app.get("/corpus/sql")
    def sql(query: Annotated[str, Query(max_length=10_000)] = "") -> HTMLResponse:
        fault, result = "", None
        try:
            result = corpus.query(query) if query.strip() else None
        except ValueError as error:
            fault = str(error)
        tables = {kind: list(KINDS[kind].columns) for kind in corpus.kinds}
        limits = {"seconds": SECONDS, "most": ROWS, "unread": corpus.unread(query)}
        shown = {"query": query, "fault": fault, "result": result, "tables": tables, **limits}
        return render("sql.html.j2", 422 if fault else 200, **shown, explores=True)


def _query(given: Mapping[str, str], page: int) -> CorpusQuery:
    """Return the query in the address of a list; an unknown kind is refused by the look-up."""
    of = given.get("of", "articles")
    kind = KINDS.get(of)
    filters, numbers = (kind.filters, kind.numbers) if kind else ((), ())
    chosen = {name: given[name] for name in filters if given.get(name)}
    bounds = {name: (_number(given.get(f"{name}_least")), _number(given.get(f"{name}_below"))) for name in numbers}
    return CorpusQuery(
        of, given.get("text", ""), chosen, bounds, order=given.get("order", ""), start=(page - 1) * _PAGE, count=_PAGE
    )


def _addresses(asked: CorpusQuery) -> Callable[..., str]:
    """Return a function that makes the address of a query with some of its parts changed; None = without that part."""
    ends = {
        f"{name}_{end}": value
        for name, both in asked.bounds.items()
        for end, value in zip(("least", "below"), both, strict=True)
    }

    def address(path: str = "/corpus", **changed: Any) -> str:
        parts = {"of": asked.kind, "text": asked.text, **asked.chosen, **ends, "order": asked.order, **changed}
        return f"{path}?{urlencode({name: value for name, value in parts.items() if value not in (None, '')})}"

    return address


def _paths(chart: Chart) -> list[list[str]]:
    """Return the points of each line in a square of 100 by 100, whose first row is on top."""
    across, high = 100 / (len(chart.builds) - 1), chart.high
    down = 100 / ((high - chart.low) or 1)
    return [
        [f"{place * across:.1f},{(high - value) * down:.1f}" for place, value in line.points] for line in chart.lines
    ]


def _number(given: str | None) -> float | None:
    with suppress(ValueError):
        return float(given or "")
    return None
