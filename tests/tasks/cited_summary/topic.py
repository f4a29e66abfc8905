"""A topic of our own writing with sources that tests summarize."""

from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import SourcePage, summarize
from tasks.cited_summary.settings import Choice, SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source
from tasks.cited_summary.systems import SummarySystem, find_system
from tasks.engine.progress import Progress

TITLE = "Skerry Point Lighthouse"
HISTORY = """The lighthouse at Skerry Point was built in 1847 by Thomas Ridley, after two ships were lost there.
The lamp of Skerry Point burned whale oil until 1871, when the keeper changed it to paraffin.
"""
TODAY = """<!doctype html><title>Skerry Point today</title><article>
<p>Skerry Point Lighthouse was automated in 1986, and its last keeper, Ann Molloy, left in March of that year.</p>
<p>The tower is 31 metres high, stands on granite, and has about 12,000 visitors a year.</p></article>"""
GERMAN = """Der Leuchtturm von Skerry Point wurde im Jahr 1847 gebaut, nachdem dort zwei Schiffe gesunken waren.
Heute kommen jedes Jahr etwa zwölftausend Besucher zu dem Turm, der auf einem Felsen aus Granit steht.
"""


def page_of(text: str) -> str:
    """A web page with a paragraph a line."""
    return "<!doctype html><article>" + "".join(f"<p>{line}</p>" for line in text.splitlines()) + "</article>"


def files(**texts: str) -> list[GivenSource]:
    """Sources by name; an underscore stands for the dot."""
    return [file_source(name.replace("_", "."), text.encode()) for name, text in texts.items()]


def summarized(
    given: list[GivenSource],
    *,
    title: str = TITLE,
    question: str = "",
    system: SummarySystem | None = None,
    said: list[Progress] | None = None,
    connect_to: dict[str, str] | None = None,
    choice: Choice = "suitable",
    **settings: object,
) -> tuple[CitedSummary, dict[int, SourcePage]]:
    return summarize(
        title,
        given,
        system or find_system(None),
        SummarySettings.model_validate(settings),
        question=question,
        choice=choice,
        progress=[].append if said is None else said.append,
        connect_to=connect_to,
    )
