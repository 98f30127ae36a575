"""
Responses that somebody saved: the output of `curl -i`, and HAR files that browsers export.

`read_response` reads one saved response, the redirects before it included; `read_har` reads each
document in a HAR file. What is in them never raises; a file of another kind does, and the error
says how to save one. It fetches nothing, opens no file, and does not know HTML.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

from robotrules.errors import SavedResponseError
from robotrules.http.fields import MAX_BYTES, Fields, first_line, read_fields
from robotrules.http.media_types import HTML
from robotrules.robotstxt.values import SENTENCES
from robotrules.tags.codes import TagNote

# A body is kept up to here, decoded. Readers of HTML look at 2 MiB, so this is for people.
MOST_BODY = 16 * 1024 * 1024
# Blocks of fields before the last: curl itself follows 50 redirects.
MOST_BLOCKS = 100
# Codings one over another, and gzip members one after another; nobody sends more than one or two.
MOST_CODINGS = 4
MOST_MEMBERS = 64

CODES: dict[str, tuple[str, str]] = {
    "body-not-decoded": (
        "error",
        "The body has a content coding that is not decoded here: save it with curl --compressed.",
    ),
    "body-cut": ("warning", "The body ends early or is longer than is kept: the rest is not read."),
    "fields-cut": ("warning", "The fields do not end within 1 MiB, so there is no body."),
    "body-not-saved": ("info", "The HAR file has no content for this document."),
    "bad-base64": ("error", "The content is said to be base64 and is not, so it was not read."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class Earlier(NamedTuple):
    """A response before the last: a redirect, a 1xx, a proxy's or a challenge."""

    url: str | None
    status: int | None
    fields: Fields


class Saved(NamedTuple):
    """A response that was saved."""

    url: str | None
    """A HAR file knows it; a saved response does not."""
    status: int | None
    """None: there is no status line, or no answer came."""
    fields: Fields
    body: bytes | str | None
    """Decoded of transfer and content codings; None: not saved, or not to be decoded."""
    earlier: tuple[Earlier, ...] = ()
    """What came before it in the same exchange; their fields do not speak for it (AMB-80)."""
    notes: tuple[TagNote, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the body is whole, as far as it is known."""
        return all(one.code != "body-cut" for one in self.notes)


def _note(code: str) -> TagNote:
    return TagNote(code, CODES[code][0], None)


# --- A saved response -----------------------------------------------------------------------------

_STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:")
_BLANK = re.compile(rb"\n\r?\n")
_ANSWERS_THAT_GO_ON = frozenset((301, 302, 303, 307, 308, 401, 407))


def read_response(data: bytes) -> Saved:
    """
    Return the response in *data*, as `curl -i` or `curl -iL` print it.

    Of several the last counts, and those before it are kept as `earlier`. A block of fields without
    a status line is read as well. Chunks are joined, and gzip and deflate decoded, where the body
    still has them: curl removes both and leaves the fields that say so.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        name = type(data).__name__
        raise TypeError(f"a saved response is bytes, not {name}: read the file in binary")
    data = bytes(data).removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SavedResponseError(
            "the file is UTF-16, which a shell made of the response: save it with curl -i -o FILE"
        )
    if not (_STATUS.match(data) or _FIELD.match(data)):
        raise SavedResponseError(
            "this does not look like a saved HTTP response, which starts with a line such as "
            "HTTP/1.1 200 OK: save one with curl -i -o FILE URL"
        )
    earlier: list[Earlier] = []
    notes: tuple[TagNote, ...]
    at = 0
    status, fields, end = _block(data, at)
    while end and _goes_on(status, fields) and _STATUS.match(data, end):
        if len(earlier) == MOST_BLOCKS:
            break
        earlier.append(Earlier(None, status, fields))
        at = end
        status, fields, end = _block(data, at)
    if end is None:
        notes = (_note("fields-cut"),) if len(data) - at > MAX_BYTES else ()
        return Saved(None, status, fields, None, tuple(earlier), notes)
    body, notes = _body(data[end:], status, fields)
    return Saved(None, status, fields, body, tuple(earlier), notes)


def _block(data: bytes, at: int) -> tuple[int | None, Fields, int | None]:
    """Return status and fields of the block that starts there, and where its body starts."""
    line = _STATUS.match(data, at)
    blank = _BLANK.search(data, at, at + MAX_BYTES)
    block = data[at : blank.start() if blank else at + MAX_BYTES]
    if line and b"\n" in block:  # a 1xx has fields too, which `read_fields` would pass over
        _, _, block = block.partition(b"\n")
    return int(line[1]) if line else None, read_fields(block), blank.end() if blank else None


def _goes_on(status: int | None, fields: Fields) -> bool:
    """
    Tell whether another response may follow this one.

    A page may hold the text of a response, and must not speak as one: so only where curl goes on
    is another looked for. A proxy's answer to CONNECT is a success without any content.
    """
    if status is None or status in _ANSWERS_THAT_GO_ON or status < 200:
        return status is not None
    said = {name for name, _ in fields.lines}
    return status < 300 and not said & {"content-type", "content-length", "transfer-encoding"}


def _body(
    body: bytes, status: int | None, fields: Fields
) -> tuple[bytes | None, tuple[TagNote, ...]]:
    if not body:
        # `curl -I` saves no body, which is another thing than an empty one.
        is_empty = status in (204, 205) or fields.get("content-length") == [b"0"]
        return b"" if is_empty else None, ()
    notes: list[TagNote] = []
    if _tokens(fields, "transfer-encoding")[-1:] == ["chunked"]:
        body, is_whole = _dechunked(body)
        notes += [] if is_whole else [_note("body-cut")]
    codings = [name for name in _tokens(fields, "content-encoding") if name != "identity"]
    for name in reversed(codings):
        found = _decoded(body, name) if len(codings) <= MOST_CODINGS else None
        if found is None:
            return None, (*notes, _note("body-not-decoded"))
        body, is_whole = found
        notes += [] if is_whole else [_note("body-cut")]
    if len(body) > MOST_BODY:
        body = body[:MOST_BODY]
        notes.append(_note("body-cut"))
    return body, tuple(dict.fromkeys(notes))


def _tokens(fields: Fields, name: str) -> list[str]:
    """Return the members of a field that is a list of tokens, in lower case."""
    joined = b",".join(fields.get(name)).decode("latin-1").lower()
    return [token.strip(" \t") for token in joined.split(",") if token.strip(" \t")]


# --- Codings --------------------------------------------------------------------------------------

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?(\r?\n)")


def _dechunked(body: bytes) -> tuple[bytes, bool]:
    """Return a body without its chunks (RFC 9112 §7.1), and whether its end was there."""
    parts: list[bytes] = []
    at = 0
    while line := _CHUNK.match(body, at):
        size = int(line[1], 16)
        if size == 0:
            return b"".join(parts), True
        end = line.end() + size
        parts.append(body[line.end() : end])
        if end >= len(body) and (len(parts) > 1 or line[2] == b"\r\n"):
            return b"".join(parts), False  # cut in this chunk
        at = end + len(line[2])
        if body[end:at] != line[2]:
            return body, True  # a text that starts with a number, and never was in chunks
    is_cut = bool(parts) and at >= len(body)
    return (b"".join(parts), False) if is_cut else (body, True)


def _decoded(body: bytes, coding: str) -> tuple[bytes, bool] | None:
    """
    Return a body without a content coding, and whether all of it is there; None: unknown coding.

    A body that plainly does not have the coding is returned as it is: curl removed it.
    """
    if coding in ("gzip", "x-gzip"):
        return _inflated(body, 31) if body.startswith(b"\x1f\x8b") else (body, True)
    if coding == "deflate":
        # RFC 9110 §8.4.1.2: zlib's form is meant, and some servers send the bare one, which may
        # take a text for its own.
        found, is_whole = _inflated(body, 15)
        if not found and not is_whole and not _is_text(body):
            found, is_whole = _inflated(body, -15)
        if found or is_whole:
            return found, is_whole
    return (body, True) if _is_text(body) else None


def _inflated(body: bytes, form: int) -> tuple[bytes, bool]:
    """Return what zlib makes of a body, at most so much, and whether that is all of it."""
    parts: list[bytes] = []
    left, members = MOST_BODY + 1, 1
    inflate = zlib.decompressobj(form)
    # In pieces: what came before damage is kept, and what is left over is never long.
    for at in range(0, len(body), 65536):
        piece = body[at : at + 65536]
        while piece:
            try:
                parts.append(inflate.decompress(piece, left))
            except zlib.error:
                return b"".join(parts), False
            left -= len(parts[-1])
            if left <= 0:
                return b"".join(parts), False
            piece = inflate.unused_data
            if inflate.eof and form == 31 and piece.startswith(b"\x1f\x8b"):
                # RFC 1952 §2.2: members follow one another.
                members += 1
                if members > MOST_MEMBERS:
                    return b"".join(parts), False
                inflate = zlib.decompressobj(form)
            elif inflate.eof:
                return b"".join(parts), True  # what stands behind the end is no part of it
    return b"".join(parts), inflate.eof


def _is_text(body: bytes) -> bool:
    """Tell whether a body is text and so was decoded already: what is compressed has controls."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not re.search(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]", body[:1024])


# --- HAR files ------------------------------------------------------------------------------------

_REDIRECTS = frozenset((301, 302, 303, 307, 308))


def read_har(data: bytes | str) -> Iterator[Saved]:
    """
    Yield each document of a HAR 1.2 file, in its order.

    A document is what the browser calls one (`_resourceType`), or else what is HTML by its media
    type. A redirect to a later document is not one of its own, and stands in `earlier` of that one.
    """
    if not isinstance(data, (bytes, bytearray, str)):
        raise TypeError(f"a HAR file is bytes or str, not {type(data).__name__}: read the file")
    try:
        text = data.removeprefix("\ufeff") if isinstance(data, str) else data
        har = json.loads(text)
    except (ValueError, RecursionError):
        raise SavedResponseError(f"this is no HAR file, for it is not valid JSON: {_HOW}") from None
    entries = _part(_part(har, "log", dict), "entries", list)
    if entries is None:
        raise SavedResponseError(
            f"this JSON file is no HAR file, for it has no log.entries: {_HOW}"
        )
    return _documents(entries)


_HOW = "export one in the browser's network panel with 'Save all as HAR'"


def _documents(entries: list[Any]) -> Iterator[Saved]:
    """Return the documents, redirects put before what they lead to."""
    found: list[Saved | None] = []
    # Where a redirect was put that leads to a URL, and which of them are there only if they lead to
    # a document: without `_resourceType` nobody knows what a redirect was for.
    waiting: dict[str, int] = {}
    doubtful: set[int] = set()
    for entry in entries:
        response = _part(entry, "response", dict)
        is_redirect = _part(response, "status", int) in _REDIRECTS
        is_document, is_known = _is_document(entry)
        if not is_document and (is_known or not is_redirect):
            if not is_known and (led_by := waiting.pop(_place(entry), None)) is not None:
                doubtful.add(led_by)  # it led to an image or a script
            continue
        saved = _entry(entry)
        led_by = waiting.pop(_place(entry), None)
        before = None if led_by is None else found[led_by]
        if led_by is not None and before and len(before.earlier) < MOST_BLOCKS:
            earlier = Earlier(before.url, before.status, before.fields)
            saved = saved._replace(earlier=(*before.earlier, earlier))
            found[led_by] = None
        if is_redirect:
            location = first_line(saved.fields, "location").decode("latin-1")
            if target := _part(response, "redirectURL", str) or location:
                waiting[_place(entry, target)] = len(found)
            if not is_document:
                doubtful.add(len(found))
        found.append(saved)
    return (saved for at, saved in enumerate(found) if saved and at not in doubtful)


def _is_document(entry: Any) -> tuple[bool, bool]:
    """Tell whether an entry is a document, and whether the browser itself says which it is."""
    called: str | None = _part(entry, "_resourceType", str)
    if called is not None:
        return called.lower() == "document", True
    content = _part(_part(entry, "response", dict), "content", dict)
    media: str = _part(content, "mimeType", str) or ""
    return media.partition(";")[0].strip().lower() in HTML, False


def _place(entry: Any, target: str = "") -> str:
    """Return the URL of an entry, or where it redirects to, to be compared."""
    url: str = _part(_part(entry, "request", dict), "url", str) or ""
    try:
        place = urldefrag(urljoin(url, target)).url
    except ValueError:
        return url
    scheme, mark, rest = place.partition("://")
    return place if "/" in rest else f"{scheme}{mark}{rest}/"


def _entry(entry: Any) -> Saved:
    url = _part(_part(entry, "request", dict), "url", str)
    response = _part(entry, "response", dict)
    # 0 is how browsers write that there was no answer.
    status = _part(response, "status", int) or None
    body, notes = _content(_part(response, "content", dict))
    return Saved(url, status, _har_fields(response), body, (), notes)


def _har_fields(response: Any) -> Fields:
    """Return the fields; a browser that writes repeated ones as one value parts them by line."""
    pairs = []
    for header in _part(response, "headers", list) or ():
        name, value = _part(header, "name", str), _part(header, "value", str)
        # HTTP/2 pseudo-headers such as `:status` are no fields.
        if name and value is not None and not name.startswith(":"):
            pairs.append((name, value))
    return read_fields(pairs)


def _content(content: Any) -> tuple[bytes | str | None, tuple[TagNote, ...]]:
    text = _part(content, "text", str)
    if text is None:
        return None, (_note("body-not-saved"),)
    body: bytes | str = text
    if (_part(content, "encoding", str) or "").lower() == "base64":
        try:
            body = base64.b64decode(text)
        except ValueError:
            return None, (_note("bad-base64"),)
    if len(body) > MOST_BODY:
        return body[:MOST_BODY], (_note("body-cut"),)
    return body, ()


def _part(of: Any, name: str, kind: type) -> Any:
    """Return a member of a JSON object if it is there and of its type; JSON's true is no int."""
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
