"""
Saved HTTP responses: the output of `curl -i`, and HAR files that browsers export.

`read_response` reads one saved response with the redirects before it; `read_har` reads each
document in a HAR file. Content never raises; a file in another format does, and the error says how
to save one. It does not fetch anything, open files or parse HTML.
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

# The limit of a decoded body. Readers of HTML need 2 MiB; a person may want to see more.
MAX_BODY = 16 * 1024 * 1024
# Blocks of fields before the last: curl itself follows 50 redirects.
MAX_BLOCKS = 100
# Nested codings, and concatenated gzip members; servers send one or two.
MAX_CODINGS = 4
MAX_MEMBERS = 64

CODES: dict[str, tuple[str, str]] = {
    "body-not-decoded": (
        "error",
        "The body has a content coding that cannot be decoded: save it with curl --compressed.",
    ),
    "body-cut": ("warning", "The body ends early or exceeds the limit: the rest is not read."),
    "fields-cut": ("warning", "The header fields do not end within 1 MiB, so no body was read."),
    "body-not-saved": ("info", "The HAR file has no content for this document."),
    "bad-base64": ("error", "The content is not valid base64, so it was not read."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class EarlierResponse(NamedTuple):
    """A response before the last: a redirect, a 1xx, the answer of a proxy or a challenge."""

    url: str | None
    status: int | None
    fields: Fields


class SavedResponse(NamedTuple):
    """A saved HTTP response."""

    url: str | None
    """Known from a HAR file; None for the output of curl."""
    status: int | None
    """None: there is no status line, or no response came."""
    fields: Fields
    body: bytes | str | None
    """Without transfer and content codings; None: not saved, or it cannot be decoded."""
    earlier: tuple[EarlierResponse, ...] = ()
    """Earlier responses of the same exchange; their fields do not apply to it (AMB-80)."""
    notes: tuple[TagNote, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the body is complete, as far as it is known."""
        return all(note.code != "body-cut" for note in self.notes)


def _note(code: str) -> TagNote:
    return TagNote(code, CODES[code][0], None)


# --- A saved response -----------------------------------------------------------------------------

_STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:")
_BLANK = re.compile(rb"\n\r?\n")
_FOLLOWED_BY_ANOTHER = frozenset((301, 302, 303, 307, 308, 401, 407))


def read_response(data: bytes) -> SavedResponse:
    """
    Return the response in *data*, the output of `curl -i` or `curl -iL`.

    Of several responses the last counts; those before it are kept as `earlier`. A block of fields
    without a status line is accepted. Chunks are joined, and gzip and deflate decoded, if the body
    still has them: curl removes both and leaves the fields that declare them.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        name = type(data).__name__
        raise TypeError(f"a saved response must be bytes, not {name}: read the file in binary mode")
    data = bytes(data).removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SavedResponseError(
            "the file is UTF-16, which comes from a shell redirection: save it with curl -i -o FILE"
        )
    if not (_STATUS.match(data) or _FIELD.match(data)):
        raise SavedResponseError(
            "not a saved HTTP response, which starts with a line such as HTTP/1.1 200 OK: save one "
            "with curl -i -o FILE URL"
        )
    earlier: list[EarlierResponse] = []
    notes: tuple[TagNote, ...]
    at = 0
    status, fields, end = _read_block(data, at)
    while end and _may_be_followed(status, fields) and _STATUS.match(data, end):
        if len(earlier) == MAX_BLOCKS:
            break
        earlier.append(EarlierResponse(None, status, fields))
        at = end
        status, fields, end = _read_block(data, at)
    if end is None:
        notes = (_note("fields-cut"),) if len(data) - at > MAX_BYTES else ()
        return SavedResponse(None, status, fields, None, tuple(earlier), notes)
    body, notes = _decode_body(data[end:], status, fields)
    return SavedResponse(None, status, fields, body, tuple(earlier), notes)


def _read_block(data: bytes, at: int) -> tuple[int | None, Fields, int | None]:
    """Return status and fields of the block at a position, and where its body starts."""
    line = _STATUS.match(data, at)
    blank = _BLANK.search(data, at, at + MAX_BYTES)
    block = data[at : blank.start() if blank else at + MAX_BYTES]
    if line and b"\n" in block:  # a 1xx has fields too, which `read_fields` would skip
        _, _, block = block.partition(b"\n")
    return int(line[1]) if line else None, read_fields(block), blank.end() if blank else None


def _may_be_followed(status: int | None, fields: Fields) -> bool:
    """
    Return whether another response may follow this one.

    A page may contain the text of a response, which must not count as one: so another response is
    expected only where curl continues. A proxy's response to CONNECT is a success without content.
    """
    if status is None or status in _FOLLOWED_BY_ANOTHER or status < 200:
        return status is not None
    names = {name for name, _ in fields.lines}
    return status < 300 and not names & {"content-type", "content-length", "transfer-encoding"}


def _decode_body(
    body: bytes, status: int | None, fields: Fields
) -> tuple[bytes | None, tuple[TagNote, ...]]:
    if not body:
        # `curl -I` saves no body, which differs from an empty one.
        is_empty = status in (204, 205) or fields.get("content-length") == [b"0"]
        return b"" if is_empty else None, ()
    notes: list[TagNote] = []
    if _tokens(fields, "transfer-encoding")[-1:] == ["chunked"]:
        body, is_whole = _remove_chunks(body)
        notes += [] if is_whole else [_note("body-cut")]
    codings = [name for name in _tokens(fields, "content-encoding") if name != "identity"]
    for name in reversed(codings):
        decoded = _remove_coding(body, name) if len(codings) <= MAX_CODINGS else None
        if decoded is None:
            return None, (*notes, _note("body-not-decoded"))
        body, is_whole = decoded
        notes += [] if is_whole else [_note("body-cut")]
    if len(body) > MAX_BODY:
        body = body[:MAX_BODY]
        notes.append(_note("body-cut"))
    return body, tuple(dict.fromkeys(notes))


def _tokens(fields: Fields, name: str) -> list[str]:
    """Return the members of a field that is a list of tokens, in lower case."""
    joined = b",".join(fields.get(name)).decode("latin-1").lower()
    return [token.strip(" \t") for token in joined.split(",") if token.strip(" \t")]


# --- Codings --------------------------------------------------------------------------------------

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?(\r?\n)")


def _remove_chunks(body: bytes) -> tuple[bytes, bool]:
    """Return a body without chunked coding (RFC 9112 §7.1), and whether it is complete."""
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
            return body, True  # a text that starts with a number and was never chunked
    is_cut = bool(parts) and at >= len(body)
    return (b"".join(parts), False) if is_cut else (body, True)


def _remove_coding(body: bytes, coding: str) -> tuple[bytes, bool] | None:
    """
    Return a body without a content coding, and whether it is complete; None if unknown coding.

    A body that obviously does not have the coding is returned unchanged: curl removed it.
    """
    if coding in ("gzip", "x-gzip"):
        return _inflate(body, 31) if body.startswith(b"\x1f\x8b") else (body, True)
    if coding == "deflate":
        # RFC 9110 §8.4.1.2: the zlib format is meant, and some servers send raw deflate, which
        # plain text may look like.
        inflated, is_whole = _inflate(body, 15)
        if not inflated and not is_whole and not _is_text(body):
            inflated, is_whole = _inflate(body, -15)
        if inflated or is_whole:
            return inflated, is_whole
    return (body, True) if _is_text(body) else None


def _inflate(body: bytes, form: int) -> tuple[bytes, bool]:
    """Return a decompressed body up to the limit, and whether it is complete."""
    parts: list[bytes] = []
    left, members = MAX_BODY + 1, 1
    inflate = zlib.decompressobj(form)
    # In pieces: data before a corruption is kept, and the unused rest is short.
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
                # RFC 1952 §2.2: members are concatenated.
                members += 1
                if members > MAX_MEMBERS:
                    return b"".join(parts), False
                inflate = zlib.decompressobj(form)
            elif inflate.eof:
                return b"".join(parts), True  # data after the end does not belong to it
    return b"".join(parts), inflate.eof


def _is_text(body: bytes) -> bool:
    """Return whether a body is text, so already decoded: compressed data has control characters."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    return not re.search(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]", body[:1024])


# --- HAR files ------------------------------------------------------------------------------------

_REDIRECTS = frozenset((301, 302, 303, 307, 308))


def read_har(data: bytes | str) -> Iterator[SavedResponse]:
    """
    Yield each document of a HAR 1.2 file, in its order.

    A document is an entry that the browser marks as one (`_resourceType`), or else an entry with an
    HTML media type. A redirect to a later document is in `earlier` of that document.
    """
    if not isinstance(data, (bytes, bytearray, str)):
        name = type(data).__name__
        raise TypeError(f"a HAR file must be bytes or str, not {name}: read the file")
    try:
        text = data.removeprefix("\ufeff") if isinstance(data, str) else data
        har = json.loads(text)
    except (ValueError, RecursionError):
        raise SavedResponseError(f"not a HAR file, because it is not valid JSON: {_HOW}") from None
    entries = _get_typed(_get_typed(har, "log", dict), "entries", list)
    if entries is None:
        raise SavedResponseError(f"not a HAR file, because it has no log.entries: {_HOW}")
    return _read_documents(entries)


_HOW = "export one in the browser's network panel with 'Save all as HAR'"


def _read_documents(entries: list[Any]) -> Iterator[SavedResponse]:
    """Return the documents, each with the redirects that lead to it."""
    responses: list[SavedResponse | None] = []
    # The index of the redirect that leads to a URL, and the redirects that count only if they lead
    # to a document: without `_resourceType` the kind of a redirect is unknown.
    waiting: dict[str, int] = {}
    doubtful: set[int] = set()
    for entry in entries:
        response = _get_typed(entry, "response", dict)
        is_redirect = _get_typed(response, "status", int) in _REDIRECTS
        is_document, is_known = _is_document(entry)
        if not is_document and (is_known or not is_redirect):
            if not is_known and (led_by := waiting.pop(_comparable_url(entry), None)) is not None:
                doubtful.add(led_by)  # it led to an image or a script
            continue
        saved = _read_entry(entry)
        led_by = waiting.pop(_comparable_url(entry), None)
        before = None if led_by is None else responses[led_by]
        if led_by is not None and before and len(before.earlier) < MAX_BLOCKS:
            earlier = EarlierResponse(before.url, before.status, before.fields)
            saved = saved._replace(earlier=(*before.earlier, earlier))
            responses[led_by] = None
        if is_redirect:
            location = first_line(saved.fields, "location").decode("latin-1")
            if target := _get_typed(response, "redirectURL", str) or location:
                waiting[_comparable_url(entry, target)] = len(responses)
            if not is_document:
                doubtful.add(len(responses))
        responses.append(saved)
    return (saved for at, saved in enumerate(responses) if saved and at not in doubtful)


def _is_document(entry: Any) -> tuple[bool, bool]:
    """Return whether an entry is a document, and whether the browser states its type."""
    resource_type: str | None = _get_typed(entry, "_resourceType", str)
    if resource_type is not None:
        return resource_type.lower() == "document", True
    content = _get_typed(_get_typed(entry, "response", dict), "content", dict)
    media: str = _get_typed(content, "mimeType", str) or ""
    return media.partition(";")[0].strip().lower() in HTML, False


def _comparable_url(entry: Any, target: str = "") -> str:
    """Return the URL of an entry, or of its redirect target, in a form for comparison."""
    url: str = _get_typed(_get_typed(entry, "request", dict), "url", str) or ""
    try:
        resolved = urldefrag(urljoin(url, target)).url
    except ValueError:
        return url
    scheme, mark, rest = resolved.partition("://")
    return resolved if "/" in rest else f"{scheme}{mark}{rest}/"


def _read_entry(entry: Any) -> SavedResponse:
    url = _get_typed(_get_typed(entry, "request", dict), "url", str)
    response = _get_typed(entry, "response", dict)
    # Browsers write 0 if there was no response.
    status = _get_typed(response, "status", int) or None
    body, notes = _read_content(_get_typed(response, "content", dict))
    return SavedResponse(url, status, _read_har_fields(response), body, (), notes)


def _read_har_fields(response: Any) -> Fields:
    """Return the fields; browsers that join repeated fields separate them by line breaks."""
    pairs = []
    for header in _get_typed(response, "headers", list) or ():
        name, value = _get_typed(header, "name", str), _get_typed(header, "value", str)
        # HTTP/2 pseudo-headers such as `:status` are not fields.
        if name and value is not None and not name.startswith(":"):
            pairs.append((name, value))
    return read_fields(pairs)


def _read_content(content: Any) -> tuple[bytes | str | None, tuple[TagNote, ...]]:
    text = _get_typed(content, "text", str)
    if text is None:
        return None, (_note("body-not-saved"),)
    body: bytes | str = text
    if (_get_typed(content, "encoding", str) or "").lower() == "base64":
        try:
            body = base64.b64decode(text)
        except ValueError:
            return None, (_note("bad-base64"),)
    if len(body) > MAX_BODY:
        return body[:MAX_BODY], (_note("body-cut"),)
    return body, ()


def _get_typed(of: Any, name: str, kind: type) -> Any:
    """Return a member of a JSON object if it has the type *kind*, else None; true is not an int."""
    value = of.get(name) if isinstance(of, dict) else None
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
