"""
The error for a URL that is neither `str` nor `bytes`, for both engines and all callers.

The message says what to pass instead. `str(url)` works for a URL class such as `httpx.URL` and not
for other values: `str(None)` is the path `None`, and `str()` of a `SplitResult` is its repr.
"""

from __future__ import annotations


def url_type_error(url: object) -> TypeError:
    """Return the error for *url*, with a hint how to pass it."""
    return TypeError(f"a URL is str or bytes, not {type(url).__name__}: {_hint(url)}")


def _hint(url: object) -> str:
    if url is None:
        return "None is not a URL; leave it out"
    if isinstance(url, (bytearray, memoryview)):
        return "pass bytes(url)"
    # A class has the methods of its instances, but calling them does not return a URL.
    if not isinstance(url, type):
        if hasattr(url, "geturl"):  # urllib.parse
            return "pass url.geturl()"
        if hasattr(url, "scheme") and hasattr(url, "host"):  # httpx, yarl, pydantic
            return "pass str(url)"
    return "pass the URL as text, such as 'https://example.com/'"
