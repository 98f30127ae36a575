"""The exceptions of reppy; all of them exist, so that `except` clauses keep working."""

from __future__ import annotations


class ReppyException(Exception):  # reppy's name
    """Any failure of a fetch; `url` is the robots.txt."""

    url: str = ""


class ContentTooLong(ReppyException):
    """Not raised: a file is read up to 500 KiB (RFC 9309 §2.5)."""


class ServerError(ReppyException):
    """Not raised."""


class SSLException(ReppyException):
    """No secure connection, or an invalid certificate."""


class ConnectionException(ReppyException):
    """No connection, no address, a refused private address, or an incomplete response."""


class MalformedUrl(ReppyException, ValueError):
    """A URL that is not http or https with a host; reppy raises it, or a `ValueError`."""


class ExcessiveRedirects(ReppyException):
    """More than five redirects, a loop, or a broken redirect."""


class ReadTimeout(ReppyException):
    """No complete response in time."""


class BadStatusCode(ReppyException):
    """A status that means that the file is unreachable: 5xx, 408, 421, 425, 429."""
