"""
Mail: the events of a look in one message, by SMTP.

The password comes from the environment or a file, and is sent over TLS only. Sentences contain text
of servers; it is printable, and the mail package refuses line ends in header fields, so nothing can
become a header field.
"""

from __future__ import annotations

import hashlib
import smtplib
import ssl
from collections.abc import Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate
from typing import NamedTuple

from robotrules.http.origins import authority_end
from robotrules.octets import visible
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent, is_at_least

TIMEOUT = 30.0
SECURITY = ("starttls", "tls", "none")
PORTS = {"starttls": 587, "tls": 465, "none": 25}
LOCAL = ("localhost", "127.0.0.1", "::1")
LONGEST_SUBJECT = 150


class MailServer(NamedTuple):
    """A mail server, and how to use it."""

    host: str = "localhost"
    port: int | None = None
    security: str = "starttls"
    """One of `SECURITY`."""
    user: str | None = None
    password: str | None = None


class MailChannel:
    """Messages to people."""

    batch = 50

    def __init__(
        self,
        recipients: Sequence[str],
        sender: str,
        server: MailServer | None = None,
        *,
        timeout: float = TIMEOUT,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """*context* verifies the server; by default with the certificates of the system."""
        server = server or MailServer()
        if not recipients:
            raise ValueError("the mail has no recipient: pass an address")
        if server.security not in SECURITY:
            raise ValueError(f"{server.security!r} is unknown: use one of {', '.join(SECURITY)}")
        if server.user and server.security == "none" and server.host not in LOCAL:
            raise ValueError(
                "the password would be sent without encryption: use starttls or tls, or no user"
            )
        self._recipients = [_vetted(one) for one in recipients]
        self._sender = _vetted(sender)
        self._server = server
        self._timeout = timeout
        self._context = context
        shown = ", ".join(self._recipients[:2]) + (" and more" if len(self._recipients) > 2 else "")
        self.name = f"mail to {visible(shown)}"
        whom = "\n".join([*sorted(self._recipients), server.host])
        self.key = f"mail:{hashlib.sha256(whom.encode()).hexdigest()[:16]}"

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Send one message with these events."""
        try:
            message = self._message(events)
            with self._connect() as connection:
                if self._server.user:
                    connection.login(self._server.user, self._server.password or "")
                # If some recipients are refused, the others have it: it is not sent again.
                connection.send_message(message)
        except (OSError, smtplib.SMTPException, MessageError, ValueError) as error:
            return Delivery(_describe(error))
        return DELIVERED

    def _connect(self) -> smtplib.SMTP:
        server = self._server
        port = server.port or PORTS[server.security]
        context = self._context or ssl.create_default_context()
        if server.security == "tls":
            return smtplib.SMTP_SSL(server.host, port, timeout=self._timeout, context=context)
        connection = smtplib.SMTP(server.host, port, timeout=self._timeout)
        if server.security == "starttls":
            try:
                connection.starttls(context=context)
            except BaseException:
                connection.close()
                raise
        return connection

    def _message(self, events: Sequence[WatchEvent]) -> EmailMessage:
        """Return the message; the same events give the same Message-ID."""
        message = EmailMessage()
        message["From"] = self._sender
        message["To"] = ", ".join(self._recipients)
        message["Subject"] = _subject(events)
        message["Date"] = formatdate(max(event.at for event in events))
        names = "\n".join([self.key, *(event.id for event in events)])
        name = hashlib.sha256(names.encode()).hexdigest()[:32]
        message["Message-ID"] = f"<{name}@{self._sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content("\n".join(_paragraph(event) for event in events))
        return message


def _vetted(address: str) -> str:
    """Return an address; ValueError for text that is not one."""
    try:
        if not address.isprintable():
            raise ValueError
        found = Address(addr_spec=address.strip())
    except (ValueError, MessageError, IndexError):
        raise ValueError(
            f"{visible(address)[:100]!r} is not a mail address: pass one such as ops@example.com"
        ) from None
    if not found.username or not found.domain:
        raise ValueError(
            f"{visible(address)[:100]!r} has no domain: pass one such as ops@example.com"
        )
    return found.addr_spec


def _host(event: WatchEvent) -> str:
    return visible(event.origin[: authority_end(event.origin) or 100].partition("://")[2])


def _subject(events: Sequence[WatchEvent]) -> str:
    first = min(events, key=lambda event: (not is_at_least(event.level, "error"), event.at))
    if len(events) == 1:
        words = f"{_host(first)}: {first.sentence}"
    else:
        hosts = list(dict.fromkeys(map(_host, events)))
        where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
        words = f"{len(events)} changes at {where}: {first.sentence}"
    words = visible(words)
    return words if len(words) <= LONGEST_SUBJECT else f"{words[: LONGEST_SUBJECT - 1]}…"


def _paragraph(event: WatchEvent) -> str:
    at = event.timestamp.partition(".")[0].replace("T", " ")
    lines = [
        visible(event.target),
        f"{at} UTC, {event.level}, {event.kind}",
        event.sentence,
    ]
    for change in event.details.get("changes", ())[:20]:
        whom = ", ".join(change["crawlers"][:10])
        lines.append(f"  - {whom}: {change['example']} is {change['becomes']} now")
    return "\n".join([*lines, f"id {event.id}", ""])


def _describe(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, told = next(iter(error.recipients.values()), (0, b""))
        return f"all recipients were refused: {code} {visible(told)[:200]}"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {visible(error.smtp_error)[:200]}"
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"no mail server: {visible(str(words))[:200]}"
