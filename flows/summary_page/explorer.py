"""The page's routes into a corpus: articles by title, one article, a page as fetched."""

from urllib.parse import urlencode

from fastapi import FastAPI, HTTPException, Response
from fastapi.responses import HTMLResponse

from flows.summary_page.views import inert_response, render
from storage.errors import StorageError
from tasks.explorer.article import read_article, read_page
from tasks.explorer.corpus import ExplorerCorpus

_PAGE = 50  # articles of a page of the list


def add_explorer(app: FastAPI, corpus: ExplorerCorpus) -> None:
    """Add the routes below /corpus."""

    @app.get("/corpus")
    def articles(title: str = "", start: int = 0) -> HTMLResponse:
        start = max(0, start)
        found = corpus.find(title, start, _PAGE)
        following = urlencode({"title": title, "start": start + _PAGE}) if start + _PAGE < found.matches else ""
        return render(
            "corpus.html.j2",
            build=corpus.build,
            title=title,
            start=start,
            found=found,
            following=following,
            explores=True,
        )

    @app.get("/corpus/article/{shard}/{article_id}")
    def article(shard: int, article_id: str) -> HTMLResponse:
        try:
            view = read_article(corpus, shard, article_id)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        return render("article.html.j2", view=view, shard=shard, urlencode=urlencode, explores=True)

    @app.get("/corpus/page")
    def page(url: str, host_shard: int, passage: str = "", back: str = "") -> HTMLResponse:
        inert = f"/corpus/inert?{urlencode({'url': url, 'host_shard': host_shard, 'passage': passage})}"
        back = back if back.startswith("/corpus/article/") else "/corpus"
        return render("fetched.html.j2", name=url, back=back, inert=inert, explores=True)

    @app.get("/corpus/inert")
    def inert(url: str, host_shard: int, passage: str = "") -> Response:
        try:
            found = read_page(corpus, host_shard, url)
        except StorageError as error:
            raise HTTPException(404, str(error)) from error
        if found is None:
            raise HTTPException(404, "the corpus does not hold this page")
        return inert_response(found.body, found.mime, found.charset, passage)
