"""Skip interim responses, such as early hints, before the final one (RFC 9110, 15.2)."""

import http.client


class FinalResponse(http.client.HTTPResponse):
    """The standard library's response, which itself skips only 100 and would take 102 and 103 for the final answer."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]  # no public place reads it
            if not 100 < status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)  # of the interim response; an endless series of these times out
