"""Export a corpus, or with --model a summarizer, as a folder that other people's tools read; run again to continue."""

from flows.running.notification import notifying_flow
from flows.running.temporary_server import use_prefect_api
from tasks.exchange.sharing import Sharing, share


@notifying_flow("export")
def export(
    root: str,
    to: str,
    build: str | None = None,
    columns: str | None = None,
    page_text: str = "licensed",
    model: str | None = None,
    push: str | None = None,
    layout: str = "parquet",
) -> str:
    """Export a corpus or model to the folder `to` and return what happened.

    Args:
        root: folder or URI of the builds.
        to: new or empty folder or URI.
        build: name of the build whose corpus is exported; empty: the latest one.
        columns: some of summary, urls, documents, labels, ranked, graphs, separated by commas; empty: all there are.
        page_text: documents whose text is exported: licensed, free, all or none.
        model: export its summarizer instead of a corpus: a version, champion, a build or latest.
        push: repository (ORG/NAME) of the Hugging Face Hub that gets it too.
        layout: parquet, or the examples as shards: pt (ranked WikiSum) or json (GraphSum)."""
    return share(Sharing(root, to, build, columns, page_text, model, push, layout), tell=print)


def run(sharing: Sharing, *, dry_run: bool) -> None:
    """Export, and print what happened; a dry run needs no Prefect server."""
    if dry_run:
        print(share(sharing, dry_run=True, tell=print))
    else:
        use_prefect_api()
        print(export(**{name: getattr(sharing, name) for name in Sharing.__dataclass_fields__}))
