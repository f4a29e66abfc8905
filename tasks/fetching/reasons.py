"""Reasons of refused or failed URLs and captures. A null reason means that the row is used. Besides those below, a
response whose status is not a success has the reason `http_` and its status, such as `http_404` and `http_503`."""

from tasks.engine.reasons import Reason


class FrontierReason(Reason):
    """Why a URL of an article is not asked for."""

    BAD_URL = "bad_url", "not an absolute URL with a valid host"
    BAD_SCHEME = "bad_scheme", "neither http nor https"
    BAD_PORT = "bad_port", "a port that belongs to another service than the web"
    MIRROR_HOST = "mirror_host", "the encyclopedia itself or a mirror of it: the target would be among its own sources"
    ALREADY_CITED = "already_cited", "a search result that the article cites too; the citation stays"
    DUPLICATE_URL = "duplicate_url", "the article has the same URL already, of the same provenance"


class CaptureReason(Reason):
    """Why a record of an archive is not used."""

    BAD_URL = "bad_url", "the record does not name an absolute web address"
    BAD_SCHEME = "bad_scheme", "the record is not of a web address (metadata:, file:, dns:)"
    BAD_PORT = "bad_port", "a port that belongs to another service than the web"
    REVISIT = "revisit", "the record repeats an earlier capture and has no body of its own"
    EMPTY_RECORD = "empty_record", "the record has no content, or an invalid length"
    TRUNCATED_RECORD = "truncated_record", "the file ends inside the record, or the archiver cut it"
    BROKEN_RECORD = "broken_record", "a record does not start where it should; reading continued at the next one"
    UNSUPPORTED_COMPRESSION = (
        "unsupported_compression",
        "the dictionary that the file is compressed with cannot be read",
    )
    INDEX_FAILED = "index_failed", "the archive's index did not answer the look-up of the URL"
    INDEX_BAD_ANSWER = "index_bad_answer", "the index's answer is not what its interface promises"
    TOO_LARGE = "too_large", "the record is larger than the settings allow"
    ARCHIVE_TOO_LARGE = (
        "archive_too_large",
        "the file is not compressed per record, and its decoded copy passes the limit",
    )


class PageReason(Reason):
    """Why a URL has no page."""

    BAD_URL = "bad_url", "a redirect to something that is not a URL"
    BAD_SCHEME = "bad_scheme", "a redirect to neither http nor https"
    BAD_PORT = "bad_port", "a redirect to a port that belongs to another service than the web"
    BAD_REDIRECT = "bad_redirect", "a redirect without a target"
    REDIRECT_LOOP = "redirect_loop", "a redirect to a URL that was requested already"
    TOO_MANY_REDIRECTS = "too_many_redirects", "more redirects than the settings allow"
    PRIVATE_ADDRESS = "private_address", "the host has no public address (private, loopback, link-local, metadata, ...)"
    DNS_ERROR = "dns_error", "the host name has no address"
    DNS_TIMEOUT = "dns_timeout", "looking up the host name took too long"
    CONNECT_ERROR = "connect_error", "no connection: refused or unreachable"
    CONNECTION_RESET = "connection_reset", "the server closed the connection before it had answered"
    TLS_ERROR = "tls_error", "no trustworthy encrypted connection"
    TIMEOUT = "timeout", "connecting, a single read, or the whole response took too long"
    MALFORMED_RESPONSE = "malformed_response", "the answer is not HTTP"
    HEADERS_TOO_LARGE = "headers_too_large", "a header line or the number of headers passes the limit"
    TRUNCATED_HEADERS = "truncated_headers", "the answer ended inside its headers"
    TRUNCATED_BODY = (
        "truncated_body",
        "the body ended before the length or the last chunk that was announced, or before the end of its "
        "compressed data, or an archiver cut it",
    )
    PARTIAL_CONTENT = "partial_content", "a part of the page (206) instead of the whole"
    BAD_ENCODING = "bad_encoding", "the body is not compressed as its Content-Encoding says"
    TOO_LARGE = "too_large", "more decoded bytes than the settings allow"
    NOT_HTML = "not_html", "a media type that no text is extracted from, or bytes that are not text"
    EMPTY_BODY = "empty_body", "a success without content"
    RATE_LIMITED = "rate_limited", "the server asked for fewer requests (429) until the last retry"
    ROBOTS_DISALLOWED = "robots_disallowed", "robots.txt forbids it"
    ROBOTS_UNREACHABLE = (
        "robots_unreachable",
        "robots.txt could not be read, which forbids the host (RFC 9309, 2.3.1.4)",
    )
    ROBOTS_TOO_COMPLEX = (
        "robots_too_complex",
        "robots.txt has more rules than can be applied in bounded time, which forbids the host",
    )
    CRAWL_DELAY_TOO_LONG = (
        "crawl_delay_too_long",
        "robots.txt asks for a longer pause between requests than the settings wait",
    )
    HOST_UNAVAILABLE = "host_unavailable", "the host failed so often in a row that its other URLs were not requested"
    BUDGET_SPENT = "budget_spent", "the crawl's budget of time, bytes or pages was spent before"
    NOT_IN_ARCHIVE = "not_in_archive", "no capture of the URL, or of what it redirects to"
    INDEX_FAILED = "index_failed", "the archive's index did not answer, so it is unknown whether it has a capture"
    INDEX_BAD_ANSWER = "index_bad_answer", "the index's answer is not what its interface promises"
    ARCHIVE_FAILED = "archive_failed", "the archive did not give the record that its index names"
    ARCHIVE_BAD_ANSWER = (
        "archive_bad_answer",
        "the archive did not send the requested part of a file, or the record is of another URL than its index names",
    )
    INTERNAL_ERROR = "internal_error", "a fault of ours; the log has the traceback"


# Faults of a host that may pass; and all faults of a host, not of a single page: a robots.txt with one of them gives it
# to the pages of its host.
SILENT = frozenset({PageReason.DNS_TIMEOUT, PageReason.CONNECT_ERROR, PageReason.CONNECTION_RESET, PageReason.TIMEOUT})
HOST_FAULTS = SILENT | {PageReason.DNS_ERROR, PageReason.PRIVATE_ADDRESS, PageReason.TLS_ERROR}


def http_reason(status: int) -> str:
    """Return the reason for a response that is not a success."""
    return "rate_limited" if status == 429 else f"http_{status}"
