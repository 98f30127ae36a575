"""
What `serve` and `mcp` share: who may use the service, what it fetches, and settings it refuses.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

import robotrules
from robotrules.cli.client import library_errors, store_option
from robotrules.cli.console import CliError, quoted, report
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.service.settings import ServiceSettings

__all__ = [
    "LOOPBACK",
    "common_settings",
    "open_listener",
    "vet_client",
    "with_service_options",
]

LOOPBACK = "127.0.0.1"
READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
Command = TypeVar("Command", bound=Callable[..., Any])


# --- Options --------------------------------------------------------------------------------------


def with_service_options(
    *, port: int, when: str = "", user_agent: str
) -> Callable[[Command], Command]:
    """
    Add the options, whose values `common_settings` takes.

    *when* is the beginning of the help of those about listening, such as `With --http: `;
    *user_agent* the help of `--user-agent` after its first sentence.
    """

    def listening(text: str) -> str:
        """Return the help of an option about listening."""
        return when + (text[0].lower() + text[1:] if when else text)

    options = (
        click.option(
            "--host",
            default=LOOPBACK,
            show_default=True,
            metavar="ADDRESS",
            help=listening(
                "The address to listen on. One that other machines can reach needs --token-file "
                "or --public."
            ),
        ),
        click.option(
            "--port",
            default=port,
            show_default=True,
            type=click.IntRange(0, 65535),
            help=listening("The port to listen on; 0 is a free one, which is printed."),
        ),
        click.option(
            "--token-file",
            metavar="FILE",
            help=listening(
                "Require one of the tokens of this file, one a line, as a bearer token. SIGHUP "
                "reads it again."
            ),
        ),
        click.option(
            "--public",
            is_flag=True,
            help=listening("Let everyone who can reach the address use it without a token."),
        ),
        click.option(
            "--allowed-host",
            "allowed_hosts",
            metavar="NAME",
            multiple=True,
            help=listening(
                "A name in the Host field beside the address and localhost, such as that of a "
                "proxy. Repeat it for several."
            ),
        ),
        click.option(
            "--no-fetch", is_flag=True, help="Never fetch: answer about texts that are passed."
        ),
        click.option(
            "--fetch-host",
            "fetch_hosts",
            metavar="HOST",
            multiple=True,
            help="Fetch from this host only; '*.example.com' is every name below example.com. "
            "Repeat it for several.",
        ),
        click.option(
            "--allow-private",
            metavar="HOST",
            multiple=True,
            help="Allow requests to this host although its address is private, such as localhost; "
            "also an address, a network, or '*.internal'. Repeat it for several.",
        ),
        click.option(
            "--user-agent",
            metavar="TEXT",
            help=f"The User-Agent header that is sent. {user_agent}",
        ),
        store_option,
    )

    def add(command: Command) -> Command:
        """Add the options to a command."""
        for option in reversed(options):
            command = option(command)
        return command

    return add


# --- Settings -------------------------------------------------------------------------------------


def common_settings(
    *,
    host: str,
    token_file: str | None,
    public: bool,
    allowed_hosts: tuple[str, ...],
    no_fetch: bool,
    fetch_hosts: tuple[str, ...],
    allow_private: tuple[str, ...],
    user_agent: str | None,
    where: str | None,
    log_format: str = "text",
) -> dict[str, Any]:
    """
    Return the settings of the options; report those that cannot be combined, or are not safe.

    Hints have the form of the log, so that stderr is JSON alone if the log is.
    """
    from robotrules.service.settings import is_loopback

    if public and token_file is not None:
        raise click.UsageError("--public and --token-file cannot be combined")
    if no_fetch and fetch_hosts:
        raise click.UsageError("--no-fetch and --fetch-host cannot be combined")
    if not is_loopback(host) and not public and token_file is None:
        raise CliError(
            f"--host {quoted(host)} can be reached from other machines: pass --token-file FILE, so "
            "that only holders of a token can use it, or --public"
        )
    if user_agent is not None and robotrules.product_token(user_agent) is None:
        raise CliError(
            f"--user-agent {quoted(user_agent)} does not start with a product token: pass one such "
            "as 'ExampleBot/1.0 (+https://example.com/bot)'"
        )
    return {
        "host": host.strip("[]"),
        "tokens": () if token_file is None else _read_token_file(token_file, log_format),
        "token_file": None if token_file is None else os.path.abspath(token_file),
        "public": public,
        "allowed_hosts": allowed_hosts,
        "fetches": not no_fetch,
        "fetch_hosts": fetch_hosts,
        "allow_private": allow_private,
        "store": where or None,
    }


def _read_token_file(path: str, log_format: str) -> tuple[str, ...]:
    """Return the tokens of `--token-file`; report a hint if other users can read it."""
    from robotrules.service.settings import read_tokens

    try:
        tokens = read_tokens(path)
        mode = os.stat(path).st_mode
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CliError(f"cannot read the token file {quoted(path)}: {why}") from None
    except ValueError as error:
        raise CliError(f"the token file {quoted(path)}: {error}") from None
    if os.name == "posix" and mode & READABLE_BY_OTHERS:
        words = f"other users of this machine can read the tokens: chmod 600 {quoted(path)}"
        if log_format == "json":
            from robotrules.service.logs import format_json

            sys.stderr.write(format_json("warning", "token-file", {"hint": words}).decode())
        else:
            report(words, label="hint", style="warning")
    return tokens


def vet_client(settings: ServiceSettings, *, opens_store: bool) -> None:
    """
    Report settings of the client that are wrong, before anything is opened.

    *opens_store*: whether a store that cannot be opened is one. A service may start before its
    store, and says in `/readyz` that it is not ready.
    """
    if not settings.fetches:
        return
    with library_errors():
        from robotrules.client.ssrf import AddressPolicy
        from robotrules.client.stores import open_store
        from robotrules.client.transports import vet_async_transport

        vet_async_transport()
        AddressPolicy(settings.allow_private)
        if opens_store and settings.store is not None:
            open_store(settings.store).close()


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens; report why it cannot."""
    from robotrules.service.server import listen

    try:
        return listen(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise CliError(
            f"cannot listen on {visible(host)} port {port}: {why}; pass another --host or --port"
        ) from None
