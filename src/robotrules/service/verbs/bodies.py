"""Files in requests and answers: as text, and as base64 where the bytes matter."""

from __future__ import annotations

from base64 import b64encode

from robotrules.service.problems import Problem

__all__ = ["body_values", "file_octets"]


def file_octets(text: str | None, octets: bytes | None, name: str) -> bytes:
    """Return the bytes of a file whose field is *name*; a missing one is a problem."""
    if (text is None) == (octets is None):
        words = f"pass either {name} or {name}_base64"
        raise Problem("invalid-request", words, at=f"$.{name}")
    # Lone surrogates are possible in JSON; they become '?', as in `RobotsInput`.
    return octets or b"" if text is None else text.encode("utf-8", "replace")


def body_values(body: bytes) -> dict[str, str | None]:
    """
    Return a file as members of an answer.

    In `body`, an invalid sequence of UTF-8 is U+FFFD; then `body_base64` has the bytes.
    """
    try:
        return {"body": body.decode(), "body_base64": None}
    except UnicodeDecodeError:
        return {
            "body": body.decode("utf-8", "replace"),
            "body_base64": b64encode(body).decode("ascii"),
        }
