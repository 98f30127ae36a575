"""
A webhook: each event as a POST request with a signature, as standardwebhooks.com defines it.

    webhook-id: 3b1f…          the id of the event, the same in every attempt
    webhook-timestamp: 1777…   seconds since 1970, of this attempt
    webhook-signature: v1,…    HMAC-SHA256 over `id.timestamp.body`, in base64

Any status from 200 to 299 accepts the event. Redirects are not followed. The endpoint is the
user's own, so private addresses are allowed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Timer
from typing import Any
from urllib.parse import quote, urlsplit

from robotrules.cache import parse_retry_after
from robotrules.http.fields import read_fields
from robotrules.http.origins import authority_end
from robotrules.octets import visible
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent

SECRET_PREFIX = "whsec_"
TIMEOUT = 15.0
# The shortest and longest key in bytes, as standardwebhooks.com recommends.
MIN_KEY, MAX_KEY = 24, 64
MAX_RESPONSE = 64 * 1024
MAX_RETRY_AFTER = 86_400.0
# Statuses with which an endpoint refuses one body, and not all.
REFUSED_BODIES = (400, 409, 413, 415, 422)
_URL = re.compile(r"https?://[!-~]{1,2000}", re.IGNORECASE)


def parse_secret(text: str) -> bytes:
    """Return the key of a secret: `whsec_` and base64, or any text of 24 characters or more."""
    text = text.strip()
    if text.startswith(SECRET_PREFIX):
        try:
            key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(
                f"the webhook secret is not base64 after {SECRET_PREFIX}: create one with "
                'python -c \'import base64, os; print("whsec_" + '
                "base64.b64encode(os.urandom(32)).decode())'"
            ) from None
        if not MIN_KEY <= len(key) <= MAX_KEY:
            raise ValueError(
                f"the webhook secret has {len(key)} bytes: use {MIN_KEY} to {MAX_KEY} random bytes"
            )
        return key
    if len(text) < MIN_KEY:
        raise ValueError(
            f"the webhook secret is too short: use {SECRET_PREFIX} and the base64 of 32 random "
            "bytes"
        )
    return text.encode()


def sign(key: bytes, name: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message."""
    content = f"{name}.{timestamp}.".encode() + body
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


class WebhookChannel:
    """An HTTP endpoint."""

    batch = 1

    def __init__(
        self,
        url: str,
        *,
        key: bytes | None = None,
        user_agent: str = "robotrules",
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """*key* signs the requests; None: they are not signed. ValueError for an invalid URL."""
        parts = urlsplit(url) if _URL.fullmatch(url) else None
        if parts is None or not parts.hostname:
            raise ValueError("the webhook is not a URL: pass one such as https://example.com/hook")
        if parts.username is not None or parts.password is not None:
            raise ValueError(
                "the URL of the webhook has a user name or password: remove it; requests are "
                "signed with a secret instead"
            )
        try:
            port = parts.port
        except ValueError:
            raise ValueError("the port of the webhook is not a number up to 65535") from None
        try:
            parts.hostname.encode("idna")  # as a socket does
        except UnicodeError:
            raise ValueError(
                "the host of the webhook is not a name: it has an empty label, or one of more than "
                "63 characters"
            ) from None
        self._secure = parts.scheme.lower() == "https"
        self._host, self._port = parts.hostname, port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._key = key
        self._user_agent = user_agent
        self._timeout = timeout
        self._clock = clock
        # Paths of webhooks are often secret: only the host is shown.
        shown = self._host if port is None else f"{self._host}:{port}"
        self.name = f"webhook {visible(shown)}"
        self.key = f"webhook:{hashlib.sha256(url.encode()).hexdigest()[:16]}"

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Send one request for each event."""
        for event in events:
            found = self._post(event)
            if found.error:
                return found
        return DELIVERED

    def _post(self, event: WatchEvent) -> Delivery:
        body = webhook_body(event)
        timestamp = int(self._clock())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "Idempotency-Key": event.id,
            "webhook-id": event.id,
            "webhook-timestamp": str(timestamp),
        }
        if self._key is not None:
            headers["webhook-signature"] = sign(self._key, event.id, timestamp, body)
        try:
            response, status = self._send(body, headers)
        except (OSError, HTTPException, ValueError) as error:
            words = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return Delivery(f"no response: {visible(str(words))[:200]}")
        if 200 <= status < 300:
            return DELIVERED
        wait = parse_retry_after(read_fields(response.getheaders()), self._clock())
        again = None if wait is None else min(wait, MAX_RETRY_AFTER)
        hint = "; redirects are not followed" if 300 <= status < 400 else ""
        return Delivery(f"status {status}{hint}", again, status in REFUSED_BODIES)

    def _send(self, body: bytes, headers: dict[str, str]) -> tuple[HTTPResponse, int]:
        """Send one request, with a limit on the whole time after the connection."""
        options: dict[str, Any] = {"timeout": self._timeout}
        connection: HTTPConnection
        if self._secure:
            options["context"] = ssl.create_default_context()
            connection = HTTPSConnection(self._host, self._port, **options)
        else:
            connection = HTTPConnection(self._host, self._port, **options)
        try:
            connection.connect()
            # Timeouts of sockets are for one read; a server that sends a byte a second has many.
            timer = Timer(self._timeout, _hang_up, [connection.sock])
            timer.daemon = True
            timer.start()
            try:
                connection.request("POST", self._path, body, headers)
                response = connection.getresponse()
                response.read(MAX_RESPONSE)
            finally:
                timer.cancel()
            return response, response.status
        finally:
            connection.close()


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError, ValueError):  # it is closed already, or TLS has not begun
        connection.shutdown(socket.SHUT_RDWR)


def webhook_body(event: WatchEvent) -> bytes:
    """Return the body of a request; chat systems show its key `text`, `data` is the event as is."""
    return json.dumps(
        {
            "type": f"robotrules.{event.kind}",
            "timestamp": event.timestamp,
            "text": f"{_chat_url(event.target)}: {_chat_text(event.sentence)}",
            "data": event.as_dict(),
        }
    ).encode("ascii")


# --- Chat systems ---------------------------------------------------------------------------------

# The sentence quotes what a site has written. Chat systems take `text` as markup: `<!channel>` and
# `@here` call everyone, `[…](…)` shows a link as another one, `*` is formatting.
_LINK = re.compile(r"\](?=[\[(])")
_FORMAT = re.compile(r"[*~]+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_ZERO_WIDTH, _HAIR_SPACE = "\u200b", "\u200a"
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def _chat_text(text: str) -> str:
    """Return text that mentions nobody, links nothing and has no formatting."""
    text = text.replace("`", "'").replace("@", f"@{_ZERO_WIDTH}")
    text = _LINK.sub(f"]{_ZERO_WIDTH}", text)
    # Next to a space these signs do not begin or end anything, in Slack and in Markdown.
    text = _FORMAT.sub(lambda found: f"{_HAIR_SPACE}{found[0]}{_HAIR_SPACE}", text)
    return text.translate(_ENTITIES)


def _chat_url(url: str) -> str:
    """Return a URL whose path has no sign with a meaning for chat systems."""
    end = authority_end(url)
    return (url[:end] + quote(url[end:], safe="/%?#=&;:+,.!$'")).translate(_ENTITIES)
