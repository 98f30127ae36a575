"""
`robotrules watch`: tell what changes at a site for crawlers.

The work is in `operations.watch`; here are the options, the settings file, the signals, and what
is said on stderr. Sections: the command · running.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from robotrules.access import FailureReason
from robotrules.cli import client as client_module
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import CliError, report
from robotrules.cli.origin_lookup import hint_private_address, host_of
from robotrules.cli.text import plural, truncate
from robotrules.cli.watch_settings import (
    AFTER,
    EVERY,
    NAME,
    PASSWORD,
    SECRET,
    WatchSettings,
    find_targets,
    line_format,
    open_channels,
    read_settings,
)
from robotrules.config import LEVELS, SMTP_SECURITY
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.operations.watch.channels import Channel
    from robotrules.operations.watch.outbox import DeliverySummary
    from robotrules.operations.watch.state import WatchState
    from robotrules.operations.watch.watcher import Look, WatchTarget

# The shortest interval: a file may be cached for a day, and looking is a request each time.
SHORTEST = 60.0
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
    help="Settings with a table [watch]; options override it. Defaults to the nearest "
    "robotrules.toml, which may have no channels.",
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
@click.option(
    "--webhook",
    metavar="URL",
    multiple=True,
    envvar="ROBOTRULES_WEBHOOK",
    help="Send each event to this URL; or set ROBOTRULES_WEBHOOK.",
)
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
      robotrules watch https://example.com --once --text >> changes.txt
      robotrules watch --config watch.toml --every 30m --webhook https://example.org/hook
      robotrules watch --config watch.toml --status
    """
    if client_options.no_store:
        raise CliError("--no-store: a watch keeps its state in the store; remove the option")
    if as_json and as_text:
        raise click.UsageError("--json and --text cannot be combined")
    settings = read_settings(config, given)
    settings.vet()
    with library_errors():
        from robotrules.operations.watch.state import WatchState

        where = state or client_options.where or None
        opened = _open_state(WatchState, where, settings.name, named=state is not None)
    with opened:
        if status:
            from robotrules.cli.watch_status import show_status

            return show_status(opened, as_json)
        lines = None if quiet else line_format(as_json, as_text)
        channels = open_channels(settings, opened, lines)
        if test_channels:
            return _test(channels)
        targets = find_targets(urls, file, settings)
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

    def __init__(self, after: int) -> None:
        self._after = after
        self.first = 0
        self.failures: list[str] = []
        self.failed = False
        self.delivered = self.errors = 0
        self._told: dict[str, str] = {}

    def look(self, look: Look) -> None:
        """Count a first look; report a failure that is not told yet."""
        seen = look.seen
        self.first += look.is_first
        if seen.failed and not look.events:
            words = f"{_shown(look.target)} is unreachable: {seen.response}"
            if not look.before.told_unreachable:
                words += f" (failure {look.before.failures + 1} of {self._after} until it is told)"
            report(words)
            if seen.response.startswith(FailureReason.REFUSED.sentence):
                hint_private_address(host_of(look.target))
        elif look.is_first and getattr(seen, "outcome", "") == "blocked":
            report(
                f"{_shown(look.target)} is disallowed to this program ({seen.response}): it is not "
                "fetched, and its tags are not known"
            )
        elif look.is_first and (tags := getattr(seen, "tags", {}).get("*")):
            report(f"{_shown(look.target)} has robots tags: {', '.join(tags)}")

    def error(self, origin: str, error: Exception) -> None:
        """Report a look that ended with an error of this program or of the store."""
        self.errors += 1
        words = _shown(f"{type(error).__name__}: {error}")
        report(
            f"{_shown(origin)}: the look failed ({words}); it is tried again with the next one",
            label="warning",
            style="warning",
        )

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
    settings: WatchSettings,
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
    after = int(settings.get("after", AFTER))
    talk, stop = _Talk(after), Event()
    with library_errors(), client_options.client("default") as client, _signals(stop) as caught:
        outbox = Outbox(state, channels, clock=client_module.now)
        watcher = Watcher(
            client,
            state,
            targets,
            outbox,
            after=after,
            crawlers=settings.crawlers,
            fetch_sitemaps=bool(settings.get("sitemaps", False)),
            min_level=settings.get("min_level", "info"),
            clock=client_module.now,
            on_look=talk.look,
            on_delivery=talk.delivery,
            on_error=talk.error,
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
            watcher.deliver(stop)
    if caught:
        report("stopped; nothing is lost")
        return INTERRUPTED if caught[0] == signal.SIGINT else 0
    if talk.first:
        report(
            f"first look at {plural(talk.first, 'target')} recorded; changes are told from now on"
        )
    failing = talk.errors or any(one.error and one.pending for one in state.channels())
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
    for number in map(int, (signal.SIGTERM, signal.SIGINT)):
        with suppress(ValueError):  # not in the main thread
            before[number] = signal.signal(number, end)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
