"""Files in answers: as text, and as base64 where the text is not exactly the bytes."""

from __future__ import annotations

from base64 import b64encode

__all__ = ["body_values"]


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
