"""The final answer to a request: interim ones before it, such as early hints, are passed over (RFC 9110, 15.2)."""

import http.client


class FinalResponse(http.client.HTTPResponse):
    """A response as the standard library reads it, which passes over 100 alone and takes 102 and 103 for the answer."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]  # no public place reads it
            if not 100 < status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)  # they are of the interim answer; an endless row of these times out
