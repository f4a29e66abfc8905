"""All reasons of refused or failed URLs, captures and search results, with their meaning.

A null reason means that the row is used. Besides those below, a response whose status is not a success has the reason
`http_` and its status: `http_404`, `http_410`, `http_500`, `http_503`.
"""

FRONTIER_REASONS = {
    "bad_url": "not an absolute URL with a host, or one that no server could be asked for",
    "bad_scheme": "neither http nor https",
    "bad_port": "a port that belongs to another service than the web",
    "mirror_host": "the encyclopedia itself or a mirror of it: the target would be among its own sources",
    "already_cited": "a search result that the article cites too; the citation stays",
    "duplicate_url": "the article has the same URL already, of the same provenance",
}

CAPTURE_REASONS = {
    "bad_url": "the record names no absolute web address",
    "bad_scheme": "the record is of no web address (metadata:, file:, dns:)",
    "bad_port": "a port that belongs to another service than the web",
    "revisit": "the record repeats an earlier capture and has no body of its own",
    "empty_record": "the record has no content, or an invalid length",
    "truncated_record": "the file ends inside the record, or the archiver cut it",
    "broken_record": "no record where one should start; reading went on at the next one found",
    "unsupported_compression": "the dictionary that the file is compressed with cannot be read",
    "index_failed": "the archive's index did not answer the look-up of the URL",
    "index_bad_answer": "the index's answer is not what its interface promises",
    "too_large": "the record is larger than the settings allow",
    "archive_too_large": "the file is not compressed per record, and its decoded copy passes the limit",
}

PAGE_REASONS = {
    "bad_url": "a redirect to something that is no URL",
    "bad_scheme": "a redirect to neither http nor https",
    "bad_port": "a redirect to a port that belongs to another service than the web",
    "bad_redirect": "a redirect that does not say where to",
    "redirect_loop": "a redirect to a URL that was asked already",
    "too_many_redirects": "more redirects than the settings allow",
    "private_address": "the host has no public address (private, loopback, link-local, metadata, ...)",
    "dns_error": "the host name has no address",
    "dns_timeout": "looking up the host name took too long",
    "connect_error": "no connection: refused or unreachable",
    "connection_reset": "the server closed the connection before it had answered",
    "tls_error": "no trustworthy encrypted connection",
    "timeout": "connecting, a single read, or the whole response took too long",
    "malformed_response": "what came back is not HTTP",
    "headers_too_large": "a header line or the number of headers passes the limit",
    "truncated_headers": "the answer ended inside its headers",
    "truncated_body": "the body ended before the length or the last chunk that was announced, or before the end of its "
    "compressed data, or an archiver cut it",
    "partial_content": "a part of the page (206) where the whole was asked for",
    "bad_encoding": "the body is not compressed as its Content-Encoding says",
    "too_large": "more decoded bytes than the settings allow",
    "not_html": "a media type that no text is extracted from, or bytes that are no text",
    "empty_body": "a success without content",
    "rate_limited": "the server asked for fewer requests (429) until our patience ended",
    "robots_disallowed": "robots.txt forbids it",
    "robots_unreachable": "robots.txt could not be read, which forbids the host (RFC 9309, 2.3.1.4)",
    "robots_too_complex": "robots.txt has more rules than can be applied in bounded time, which forbids the host",
    "crawl_delay_too_long": "robots.txt asks for a longer pause between requests than the settings wait",
    "host_unavailable": "the host failed so often in a row that its other URLs were not asked for",
    "budget_spent": "the crawl's budget of time, bytes or pages was spent before",
    "not_in_archive": "no capture of the URL, or of what it redirects to",
    "index_failed": "the archive's index did not answer, so that nobody knows whether there is a capture",
    "index_bad_answer": "the archive's index answered what its interface does not promise",
    "archive_failed": "the archive did not give the record that its index names",
    "archive_bad_answer": "the archive gave something else than the part of a file that was asked for, or the record "
    "of another URL than its index names",
    "internal_error": "a fault of ours; the log has the traceback",
}

SEARCH_REASONS = {
    "query_failed": "the provider did not answer the query",
    "bad_answer": "the provider's answer is not what its interface promises",
    "no_results": "the provider knows nothing of the title",
}


def http_reason(status: int) -> str:
    """Return the reason for a response that is not a success."""
    return "rate_limited" if status == 429 else f"http_{status}"
