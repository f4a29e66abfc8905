"""One step of a visit, with a client that answers at once."""

import pytest

from tasks.fetching.http import Patience, Response
from tasks.fetching.reasons import PageReason
from tasks.fetching.safety import FetchError
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.visit import Answer, RequestResult, Visit, step

URL = "http://a.test/page"


class Answering:
    """A client with one answer to every request."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def request(self, *_args: object, **_options: object) -> Response:
        if isinstance(self._answer, FetchError):
            raise self._answer
        return self._answer


def response(status: int, **headers: str) -> Response:
    return Response(URL, status, headers, b"", 0, None, 0.0)


def stepped(answer: Answer, retries: int = 0) -> RequestResult:
    patience = Patience(retries=retries, backoff_seconds=2.0)
    return step(Visit(URL, URL), Answering(answer), CrawlSettings(), patience)  # type: ignore[arg-type]


@pytest.mark.parametrize(("retries", "ended"), [(0, True), (1, False)])
@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (response(429), True),
        (response(503), False),
        (FetchError(PageReason.TIMEOUT, URL, transient=True), True),
        (FetchError(PageReason.TRUNCATED_BODY, URL, transient=True), False),
    ],
)
def test_what_a_passing_failure_says_of_the_host(answer: Answer, failed: bool, retries: int, ended: bool) -> None:
    result = stepped(answer, retries)
    assert (result.host_failed, result.answer is not None) == (failed, ended)


@pytest.mark.parametrize("reason", [PageReason.DNS_ERROR, PageReason.TLS_ERROR, PageReason.TOO_LARGE])
def test_a_lasting_failure_is_not_tried_again(reason: PageReason) -> None:
    fault = FetchError(reason, URL)
    assert stepped(fault, retries=3).answer is fault


@pytest.mark.parametrize("status", [200, 404, 410])
def test_a_final_answer_shows_that_the_host_is_up(status: int) -> None:
    assert stepped(response(status)).host_failed is False


def test_a_host_that_limits_requests_is_paused() -> None:
    assert stepped(response(429, **{"retry-after": "7"})).pause == 7.0
    assert stepped(response(429)).pause == 2.0
    assert stepped(response(503)).pause == 0.0
    assert stepped(response(503, **{"retry-after": "7"})).pause == 7.0
