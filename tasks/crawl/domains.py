"""The registered domain of a host: whose servers they are, as far as its name says."""

from functools import lru_cache

import tld

from tasks.crawl.urls import bare_host


@lru_cache(maxsize=100_000)
def registered_domain(host: str) -> str:
    """Return the domain that somebody registered for a host, such as `example.co.uk` for `www.example.co.uk:8080`.

    The public suffixes are those of registries, from the list that `tld` contains. The list's private part (platforms
    whose users have names below theirs, such as `github.io`) does not count: one operator serves them all. An address,
    and a name that no registry knows (`localhost`, `a.test`), is its own domain.

    Args:
        host: host[:port] of a URL in normal form.
    """
    found = tld.get_fld(f"http://{host}/", fail_silently=True, search_private=False)
    return found or bare_host(host)
