"""
`robotrules watch`: tell what changes at a site for crawlers.

The work is in `operations.watch`; here are the options, the settings file, the signals, and what
is said on stderr. Sections: the command · settings · channels · running · status.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from robotrules.cli import client as client_module
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.datetimes import parse_duration
from robotrules.cli.input_files import open_octets, url_chunks
from robotrules.cli.options import parse_tokens
from robotrules.cli.text import is_terminal, plural, truncate
from robotrules.config import LEVELS, SMTP_SECURITY, Config, WatchConfig, find_config, read_config
from robotrules.errors import ConfigError
from robotrules.octets import to_text, visible

if TYPE_CHECKING:
    from robotrules.operations.watch.channels import Channel
    from robotrules.operations.watch.outbox import DeliverySummary
    from robotrules.operations.watch.state import WatchState
    from robotrules.operations.watch.watcher import Look, WatchTarget

EVERY, AFTER, NAME = "1h", 2, "default"
# The shortest interval: a file may be cached for a day, and looking is a request each time.
SHORTEST = 60.0
MAX_SECRET = 4_096
SECRET, PASSWORD = "ROBOTRULES_WEBHOOK_SECRET", "ROBOTRULES_SMTP_PASSWORD"
INTERRUPTED = 130


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--urls",
    "file",
    metavar="FILE",
    help="Also watch the URLs in FILE, one per line; '-' is stdin.",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Settings with a table [watch]. Defaults to the nearest robotrules.toml; options override "
    "it.",
)
@click.option("--once", is_flag=True, help="Look once and end, for cron.")
@click.option(
    "--every",
    metavar="DURATION",
    help=f"Look again after this time, such as 30m; {EVERY} by default.",
)
@click.option(
    "--after",
    type=click.IntRange(1, 1_000),
    metavar="N",
    help=f"Tell that a file or page is unreachable after N failures in a row; {AFTER} by default.",
)
@click.option(
    "--as",
    "crawlers",
    metavar="TOKEN",
    multiple=True,
    help="A crawler to name in sentences, besides the well-known ones. Repeat it for several.",
)
@click.option(
    "--min-level", type=click.Choice(LEVELS), help="Tell only what is as important as this."
)
@click.option(
    "--sitemaps",
    is_flag=True,
    default=None,
    help="Also fetch sitemaps, five of each origin: are they readable, do they list blocked URLs?",
)
@click.option("--webhook", metavar="URL", multiple=True, help="Send each event to this URL.")
@click.option(
    "--webhook-secret-file",
    metavar="FILE",
    help=f"The secret that signs webhook requests; or set {SECRET}.",
)
@click.option(
    "--exec", "command", metavar="COMMAND", help="Run this program with each event on its stdin."
)
@click.option("--feed", metavar="FILE", help="Write an Atom feed with the last events.")
@click.option("--mail-to", metavar="ADDRESS", multiple=True, help="Send mail to this address.")
@click.option("--mail-from", metavar="ADDRESS", help="The sender of mail.")
@click.option("--smtp", metavar="HOST[:PORT]", help="The mail server; localhost by default.")
@click.option(
    "--smtp-security",
    type=click.Choice(SMTP_SECURITY),
    help="How to encrypt: starttls by default, none for localhost.",
)
@click.option("--smtp-user", metavar="NAME", help="The user name at the mail server.")
@click.option(
    "--smtp-password-file", metavar="FILE", help=f"The password of that user; or set {PASSWORD}."
)
@click.option(
    "--name",
    metavar="NAME",
    help=f"The name of this watch; several share a store. '{NAME}' by default.",
)
@click.option(
    "--state",
    metavar="FILE",
    help="Keep the state in this SQLite file; by default in the store.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, on a terminal too.")
@click.option("--text", "as_text", is_flag=True, help="Print text, in a pipe too.")
@click.option("-q", "--quiet", is_flag=True, help="Print no events: other channels tell them.")
@click.option(
    "--status", is_flag=True, help="Show what is watched and what is undelivered, and end."
)
@click.option("--test-channels", is_flag=True, help="Send a test to every channel, and end.")
@with_client_options(refresh=False, crawler=False)
def watch(
    urls: tuple[str, ...],
    file: str | None,
    config: str | None,
    once: bool,
    as_json: bool,
    as_text: bool,
    quiet: bool,
    status: bool,
    test_channels: bool,
    state: str | None,
    client_options: ClientOptions,
    **given: Any,
) -> int:
    """
    Tell what changes at a site for crawlers, once and in words.

    Watches the robots.txt of every origin, and the pages whose URLs are given: which crawlers may
    no longer fetch what, files that are unreachable or vanish, redirects, media types, the size
    limit, sitemaps that are blocked, and robots tags such as noindex. The first look is recorded
    and tells only what is wrong. Events go to stdout, as JSON lines in a pipe, and to a webhook, a
    program, mail or an Atom feed; what cannot be delivered is tried again until it is. With --once
    the exit code is 0 if nothing is new, 1 if something is, 2 for a usage or I/O error, such as a
    channel that fails; without, the command runs until SIGTERM or Ctrl-C.

    \b
    Examples:
      robotrules watch https://example.com https://example.com/shop/
      robotrules watch https://example.com --once || mail -s news ops@example.com
      robotrules watch --config watch.toml --every 30m --webhook https://example.org/hook
      robotrules watch --config watch.toml --status
    """
    if client_options.no_store:
        raise CliError("--no-store: a watch keeps its state in the store; remove the option")
    if as_json and as_text:
        raise click.UsageError("--json and --text cannot be combined")
    settings = _settings(config, given)
    settings.vet()
    with library_errors():
        from robotrules.operations.watch.state import WatchState

        where = state or client_options.where or None
        opened = _open_state(WatchState, where, settings.name, named=state is not None)
    with opened:
        if status:
            return _show_status(opened, as_json)
        lines = None if quiet else _line_format(as_json, as_text)
        channels = _channels(settings, opened, lines)
        if test_channels:
            return _test(channels)
        targets = _targets(urls, file, settings)
        with library_errors():
            opened.acquire()
        return _run(targets, channels, opened, settings, client_options, once=once)


def _open_state(kind: Any, where: str | None, name: str, *, named: bool) -> WatchState:
    try:
        opened: WatchState = kind(where, name)
    except OSError as error:
        advice = "" if named else " (option --state)"
        raise CliError(f"{error}{advice}") from None
    return opened


# --- Settings -------------------------------------------------------------------------------------


class _Settings(NamedTuple):
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
        if self.every > 366 * 86_400:
            raise CliError("--every is longer than a year: pass a duration such as 1h")
        if self.crawlers:
            parse_tokens(self.crawlers, "default")


def _settings(config: str | None, given: dict[str, Any]) -> _Settings:
    try:
        found = read_config(config) if config is not None else find_config(os.curdir)
    except ConfigError as error:
        raise CliError(visible(str(error))) from None
    if config is not None and found.watch == WatchConfig():
        report(f"{quoted(config)} has no settings in [watch]", label="hint", style="warning")
    return _Settings(found, given)


def _targets(urls: Sequence[str], file: str | None, settings: _Settings) -> list[WatchTarget]:
    from robotrules.operations.watch.watcher import parse_targets

    texts = list(urls)
    if file is not None:
        stream = open_octets(file, "URLs")
        for chunk in url_chunks(stream, file):
            texts += map(to_text, chunk.urls)
    if not texts:
        texts = list(settings.config.watch.urls)
    if not texts:
        raise CliError(
            "missing URL: pass an origin such as https://example.com, --urls FILE, or --config FILE "
            "with urls in [watch]"
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


def _line_format(as_json: bool, as_text: bool) -> Callable[[Any], bytes]:
    """Return what makes the line of an event: JSON in a pipe, text on a terminal."""
    from robotrules.operations.watch.events import WatchEvent

    if as_json or not (as_text or is_terminal(sys.stdout)):
        return WatchEvent.as_json_line
    return WatchEvent.as_text_line


def _channels(
    settings: _Settings, state: WatchState, line_of: Callable[[Any], bytes] | None
) -> list[Channel]:
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


def _webhooks(settings: _Settings) -> Iterator[Channel]:
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


def _commands(settings: _Settings) -> Iterator[Channel]:
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

        yield CommandChannel(arguments)


def _mail(settings: _Settings) -> Iterator[Channel]:
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


def _feed(settings: _Settings, state: WatchState) -> Iterator[Channel]:
    path = settings.file("feed")
    if path is None:
        return
    from robotrules.operations.watch.channels.feed import FeedChannel

    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise CliError(f"--feed {quoted(path)} is not a file in an existing directory")
    feed = FeedChannel(
        path,
        feed_id=state.feed_id,
        history=state.last_events,
        title=f"Changes for crawlers (watch {state.name})",
    )
    if not Path(path).exists():
        feed.create(client_module.now())
    yield feed


def _test(channels: Sequence[Channel]) -> int:
    """Send a test event to each channel but the feed, and say what came of it."""
    from robotrules.operations.watch.channels.feed import FeedChannel
    from robotrules.operations.watch.watcher import make_test_event

    failed = False
    for channel in channels:
        found = channel.deliver([make_test_event(client_module.now())])
        failed = failed or bool(found.error)
        where = " (a test is not listed in it)" if isinstance(channel, FeedChannel) else ""
        report(f"{channel.name}: {found.error or f'accepted{where}'}")
    return 2 if failed else 0


# --- Running --------------------------------------------------------------------------------------


class _Talk:
    """What is said on stderr about looks and deliveries."""

    def __init__(self) -> None:
        self.first = 0
        self.failures: list[str] = []
        self.failed = False
        self.delivered = 0
        self._told: dict[str, str] = {}

    def look(self, look: Look) -> None:
        """Count a first look; report a failure that is not told yet."""
        seen = look.seen
        self.first += look.is_first
        if seen.failed and not look.events:
            words = f"{_shown(look.target)} is unreachable: {seen.response}"
            if not look.before.told_unreachable:
                words += f" (failure {look.before.failures + 1}; told after --after failures)"
            report(words)
        elif look.is_first and getattr(seen, "outcome", "") == "blocked":
            report(
                f"{_shown(look.target)} is disallowed to this program ({seen.response}): it is not "
                "fetched, and its tags are not known"
            )
        elif look.is_first and (tags := getattr(seen, "tags", {}).get("*")):
            report(f"{_shown(look.target)} has robots tags: {', '.join(tags)}")

    def delivery(self, summary: DeliverySummary) -> None:
        """Report a channel that fails, once for each reason, and that it works again."""
        self.delivered += summary.delivered
        self.failed = bool(summary.error)
        before = self._told.get(summary.name, "")
        if summary.error and summary.error != before:
            report(
                f"{summary.name}: {summary.error}; {plural(summary.waiting, 'event')} will be "
                "delivered later",
                label="warning",
                style="warning",
            )
        elif before and not summary.error:
            report(f"{summary.name}: works again, {plural(summary.delivered, 'event')} delivered")
        self._told[summary.name] = summary.error


def _shown(text: str) -> str:
    return truncate(visible(text), 200)


def _run(
    targets: list[WatchTarget],
    channels: list[Channel],
    state: WatchState,
    settings: _Settings,
    client_options: ClientOptions,
    *,
    once: bool,
) -> int:
    from robotrules.operations.watch.outbox import Outbox
    from robotrules.operations.watch.watcher import Watcher

    if not once and settings.every < SHORTEST and not client_options.allow_private:
        raise CliError(
            "--every is shorter than a minute: sites are asked that often only with --allow-private"
        )
    _hint_orphans(state, channels)
    talk, stop = _Talk(), Event()
    with library_errors(), client_options.client("default") as client, _signals(stop) as caught:
        outbox = Outbox(state, channels, clock=client_module.now)
        watcher = Watcher(
            client,
            state,
            targets,
            outbox,
            after=settings.get("after", AFTER),
            crawlers=settings.crawlers,
            fetch_sitemaps=bool(settings.get("sitemaps", False)),
            min_level=settings.get("min_level", "info"),
            clock=client_module.now,
            on_look=talk.look,
            on_delivery=talk.delivery,
        )
        new = outbox.resume()
        if not once:
            pages = sum(len(target.pages) for target in targets)
            what = plural(len(targets), "origin") + (
                f" and {plural(pages, 'page')}" if pages else ""
            )
            report(f"watching {what} every {settings.get('every', EVERY)}; Ctrl-C ends it")
            watcher.run(settings.every, stop)
        else:
            new += watcher.look(stop=stop)
            watcher.deliver()
    if caught:
        report("stopped; nothing is lost")
        return INTERRUPTED if caught[0] == signal.SIGINT else 0
    if talk.first:
        report(
            f"first look at {plural(talk.first, 'target')} recorded; changes are told from now on"
        )
    failing = any(one.error and one.pending for one in state.channels())
    return 2 if failing else int(bool(new or talk.delivered))


def _hint_orphans(state: WatchState, channels: Sequence[Channel]) -> None:
    """Report events that wait for a channel that is not there any more."""
    keys = {channel.key for channel in channels}
    for one in state.channels():
        if one.pending and one.key not in keys:
            report(
                f"{plural(one.pending, 'event')} for {one.name} will not be delivered: the channel "
                "is not among the options any more",
                label="hint",
                style="warning",
            )


@contextmanager
def _signals(stop: Event) -> Iterator[list[int]]:
    """Set *stop* at SIGTERM and SIGINT; yield a list of the signals that arrived."""
    caught: list[int] = []

    def end(number: int, _: object) -> None:
        """Stop; the second signal ends the process as usual."""
        caught.append(number)
        stop.set()
        signal.signal(number, before[number])

    before: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError):  # not in the main thread
            before[number] = signal.signal(number, end)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# --- Status ---------------------------------------------------------------------------------------


def _show_status(state: WatchState, as_json: bool) -> int:
    """Print what is watched, and what is undelivered."""
    from robotrules.cache import format_timestamp

    output = Output()
    targets, channels, holder = state.targets(), state.channels(), state.holder()
    if as_json:
        output.json(
            {
                "watch": state.name,
                "running": holder,
                "targets": [
                    {
                        "target": target,
                        "seen_at": format_timestamp(one.seen_at),
                        "response": one.response,
                        "failures": one.failures,
                        "failing_since": format_timestamp(one.failing_since)
                        if one.failures
                        else None,
                        "changes": one.revision,
                    }
                    for target, one in targets
                ],
                "channels": [one.as_dict() for one in channels],
            }
        )
        output.flush()
        return 0
    where = f"runs in {holder}" if holder else "does not run now"
    output.lines([f"watch {state.name} of {visible(str(state.path))}, {where}", ""])
    if not targets:
        output.lines(["nothing was looked at yet"])
    for target, one in targets:
        at = format_timestamp(one.seen_at).partition(".")[0].replace("T", " ")
        words = f"seen {at} UTC, {one.response}"
        if one.failures:
            words += f", {plural(one.failures, 'failure')} in a row"
        if one.revision:
            words += f", {plural(one.revision, 'change')} so far"
        output.lines([f"{_shown(target)}  {output.paint('faint', words)}"])
    if channels:
        output.lines([""])
    for one in channels:
        words = f"{one.delivered:,} delivered, {one.pending:,} undelivered"
        if one.dropped:
            words += f", {one.dropped:,} given up"
        if one.error:
            words += f"; last failure: {one.error}"
        output.lines([f"{visible(one.name)}  {output.paint('faint', words)}"])
    output.flush()
    return 0
