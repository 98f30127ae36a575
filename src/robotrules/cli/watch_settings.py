"""
The settings and channels of `robotrules watch`: options, a settings file, secrets.

An option counts more than the setting of the same name. Secrets come from a file or the
environment, never from the command line, where other users of the machine can see them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.cli import client as client_module
from robotrules.cli.client import library_errors
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.datetimes import parse_duration
from robotrules.cli.input_files import open_octets, url_chunks
from robotrules.cli.options import parse_tokens
from robotrules.cli.text import is_terminal
from robotrules.config import Config, WatchConfig, find_config, read_config, shown_path
from robotrules.errors import ConfigError
from robotrules.octets import to_text, visible

if TYPE_CHECKING:
    from robotrules.operations.watch.channels import Channel
    from robotrules.operations.watch.state import WatchState
    from robotrules.operations.watch.watcher import WatchTarget

EVERY, AFTER, NAME = "1h", 2, "default"
LONGEST = 366 * 86_400.0
MAX_SECRET = 4_096
# More are refused when they are sorted by origin; this bounds what is read.
MAX_URLS = 100_000
SECRET, PASSWORD = "ROBOTRULES_WEBHOOK_SECRET", "ROBOTRULES_SMTP_PASSWORD"
# Settings that run a program, write a file, read a secret or send events. They count only in a file
# that is named: the nearest one may be that of a repository of somebody else.
CHANNEL_SETTINGS = (
    "exec",
    "webhook",
    "webhook_secret_file",
    "feed",
    "mail_to",
    "mail_from",
    "smtp",
    "smtp_security",
    "smtp_user",
    "smtp_password_file",
)


class WatchSettings(NamedTuple):
    """Options and settings, combined: an option counts more."""

    config: Config
    options: dict[str, Any]

    def get(self, name: str, usual: Any = None) -> Any:
        """Return an option, else the setting of that name, else *usual*."""
        value = self.options.get(name)
        if value not in (None, ()):
            return value
        value = getattr(self.config.watch, name)
        return usual if value in (None, ()) else value

    def file(self, name: str) -> str | None:
        """Return a file name; one of the settings is relative to their directory."""
        if self.options.get(name):
            return str(self.options[name])
        value = getattr(self.config.watch, name)
        return str(self.config.folder / value) if value else None

    @property
    def name(self) -> str:
        """The name of the watch."""
        return str(self.get("name", NAME))

    @property
    def every(self) -> float:
        """Seconds between looks."""
        return parse_duration(self.get("every", EVERY), "--every")

    @property
    def crawlers(self) -> tuple[str, ...]:
        """Crawlers to name."""
        return tuple(self.options["crawlers"] or self.config.watch.crawlers)

    def vet(self) -> None:
        """Refuse values that are not valid, before anything is opened."""
        if not self.name.strip() or not self.name.isprintable() or len(self.name) > 100:
            raise CliError("--name: pass a short printable name, such as --name shops")
        if self.every > LONGEST:
            raise CliError("--every is longer than a year: pass a duration such as 1h")
        if self.crawlers:
            parse_tokens(self.crawlers, "default")


def read_settings(config: str | None, given: dict[str, Any]) -> WatchSettings:
    """Return the options with the settings of a file; by default of the nearest one."""
    try:
        found = read_config(config) if config is not None else find_config(os.curdir)
    except ConfigError as error:
        raise CliError(visible(str(error))) from None
    if config is None:
        _refuse_channels(found)
    elif found.watch == WatchConfig():
        report(f"{quoted(config)} has no settings in [watch]", label="hint", style="warning")
    return WatchSettings(found, given)


def _refuse_channels(found: Config) -> None:
    """Refuse a file that was not named if it has channels."""
    names = [
        name.replace("_", "-")
        for name in CHANNEL_SETTINGS
        if getattr(found.watch, name) not in (None, ())
    ]
    if names:
        path = quoted(str(shown_path(Path(found.path or ""))))
        raise CliError(
            f"{path} has channels in [watch] ({', '.join(names)}): they run programs, write files "
            f"or send events, so they count only in a file that you name; if you trust it, pass "
            f"--config {path}"
        )


def find_targets(
    urls: Sequence[str], file: str | None, settings: WatchSettings
) -> list[WatchTarget]:
    """Return the targets of the command line and a file, else of the settings."""
    from robotrules.operations.watch.watcher import parse_targets

    texts = list(urls)
    if file is not None:
        with open_octets(file, "URLs") as stream:
            for chunk in url_chunks(stream, file):
                texts += map(to_text, chunk.urls)
                if len(texts) > MAX_URLS:
                    raise CliError(f"{quoted(file)} has more than {MAX_URLS:,} URLs: use several")
    if not texts:
        texts = list(settings.config.watch.urls)
    if not texts:
        raise CliError(
            "missing URL: pass an origin such as https://example.com, --urls FILE, or --config "
            "FILE with urls in [watch]"
        )
    with library_errors():
        return parse_targets(texts)


def _secret(name: str, file: str | None, variable: str) -> str | None:
    """Return a secret from a file, else from the environment."""
    if file is None:
        return os.environ.get(variable) or None
    try:
        with open(file, "rb") as opened:
            text = opened.read(MAX_SECRET).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise CliError(f"cannot read {name} from {quoted(file)}: {why}") from None
    if not text or "\n" in text:
        raise CliError(f"{quoted(file)} does not have {name}: it must have one line with it")
    return text


# --- Channels -------------------------------------------------------------------------------------


def line_format(as_json: bool, as_text: bool) -> Callable[[Any], bytes]:
    """Return what makes the line of an event: JSON in a pipe, text on a terminal."""
    from robotrules.operations.watch.events import WatchEvent

    if as_json or not (as_text or is_terminal(sys.stdout)):
        return WatchEvent.as_json_line
    return WatchEvent.as_text_line


def open_channels(
    settings: WatchSettings, state: WatchState, line_of: Callable[[Any], bytes] | None
) -> list[Channel]:
    """Return the channels; *line_of* makes the lines of stdout, None: it is not one."""
    from robotrules.operations.watch.channels.stream import StreamChannel

    channels: list[Channel] = []
    if line_of is not None:
        if sys.stdout is None:
            raise CliError("cannot write: stdout is closed; redirect it, or pass --quiet")
        channels.append(StreamChannel(sys.stdout.buffer, line_of))
    with library_errors():
        channels += _webhooks(settings)
        channels += _commands(settings)
        channels += _mail(settings)
        channels += _feed(settings, state)
    if not channels:
        raise CliError("--quiet without another channel tells nobody: pass --webhook or another")
    return channels


def _webhooks(settings: WatchSettings) -> Iterator[Channel]:
    urls = settings.get("webhook", ())
    if not urls:
        return
    from robotrules.operations.watch.channels.webhook import WebhookChannel, parse_secret

    secret = _secret("the webhook secret", settings.file("webhook_secret_file"), SECRET)
    key = None if secret is None else parse_secret(secret)
    if key is None:
        report(
            f"webhook requests are not signed: set {SECRET} or pass --webhook-secret-file",
            label="hint",
        )
    for url in urls:
        yield WebhookChannel(
            url, key=key, user_agent=client_module.USER_AGENT, clock=client_module.now
        )


def _commands(settings: WatchSettings) -> Iterator[Channel]:
    text = settings.options.get("command")
    words = list(settings.config.watch.exec)
    if text is None and len(words) != 1:
        arguments = words
    else:
        try:
            arguments = shlex.split(words[0] if text is None else text)
        except ValueError as error:
            raise CliError(f"--exec cannot be split into words: {error}") from None
    if arguments or text is not None:
        from robotrules.operations.watch.channels.command import CommandChannel

        yield CommandChannel(arguments, hidden=(SECRET, PASSWORD))


def _mail(settings: WatchSettings) -> Iterator[Channel]:
    recipients = settings.get("mail_to", ())
    if not recipients:
        return
    from robotrules.operations.watch.channels.mail import LOCAL, MailChannel, MailServer

    sender = settings.get("mail_from")
    if sender is None:
        raise CliError("missing --mail-from: pass the address that the mail is from")
    host, _, port = str(settings.get("smtp", "localhost")).rpartition(":")
    if not host:
        host, port = port, ""
    if port and not (port.isdecimal() and 0 < int(port) < 65_536):
        raise CliError(f"the port {quoted(port)} of --smtp is not a number up to 65535")
    host = host.strip("[]")
    usual = "none" if host in LOCAL else "starttls"
    user = settings.get("smtp_user")
    password = _secret("the password", settings.file("smtp_password_file"), PASSWORD)
    if user is not None and password is None:
        raise CliError(f"missing password of --smtp-user: set {PASSWORD} or --smtp-password-file")
    server = MailServer(
        host,
        int(port) if port else None,
        str(settings.get("smtp_security", usual)),
        user,
        password,
    )
    yield MailChannel(recipients, sender, server)


def _feed(settings: WatchSettings, state: WatchState) -> Iterator[Channel]:
    path = settings.file("feed")
    if path is None:
        return
    from robotrules.operations.watch.channels.feed import FeedChannel, check_replaceable

    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise CliError(f"--feed {quoted(path)} is not a file in an existing directory")
    if why := check_replaceable(path):
        raise CliError(f"--feed {quoted(path)} {why}")
    feed = FeedChannel(
        path,
        feed_id=state.feed_id,
        history=state.last_events,
        title=f"Changes for crawlers (watch {state.name})",
    )
    if not Path(path).exists():
        feed.create(client_module.now())
    yield feed
