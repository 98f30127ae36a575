"""
`robotrules lsp`: the language server, on stdin and stdout or on a port of this machine.

A few lines over `robotrules.lsp.server`. Editors start it; people rarely do. Stdout belongs to the
protocol, and words go to stderr. It does not know what is said.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

import robotrules
from robotrules.cli.registry_files import given_registries
from robotrules.cli.streams import CliError, quoted, say
from robotrules.cli.text import is_terminal
from robotrules.errors import MissingExtraError
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.lsp.server import Server

LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--stdio", is_flag=True, help="Speak on stdin and stdout; this is the default.")
@click.option(
    "--tcp",
    "address",
    metavar="[HOST:]PORT",
    help=f"Wait for one client on a port instead. Without HOST that is {LOOPBACK}, which nobody "
    "else can reach.",
)
@click.option(
    "--registry",
    "files",
    metavar="FILE",
    multiple=True,
    help="A registry of purposes, applications and their directives, .json or .csv, for completion "
    "and hover. Repeat it for several; a later one counts more.",
)
def lsp(stdio: bool, address: str | None, files: tuple[str, ...]) -> int:
    """
    Start the language server, for editors.

    Notes of lint while you type, hovers that explain a rule with URLs it matches and misses,
    completion of records, product tokens and purposes, quick fixes, formatting, an outline. An
    editor starts it and stops it; docs/editors.md has the set-up for each. The exit code is 0 if
    the editor said goodbye, 1 if it went away without, 2 for usage or I/O.

    \b
    Examples:
      robotrules lsp
      robotrules lsp --tcp 2087
      robotrules lsp --registry apps.json
    """
    if stdio and address is not None:
        raise click.UsageError("--stdio and --tcp are two ways to speak: leave out one")
    place = None if address is None else _place(address)
    registries = given_registries(files)
    # What pygls logs goes to stderr, which editors keep in a file: what failed, and no more.
    logging.basicConfig(level=logging.ERROR, format="robotrules lsp: %(message)s")
    try:
        from robotrules.lsp.server import make_server
    except MissingExtraError as error:
        raise CliError(str(error)) from None
    server = make_server(registries, version=robotrules.__version__)
    if place is None:
        if is_terminal(sys.stdin):
            say("an editor is expected on stdin; Ctrl-D ends this", label="hint", style="warning")
        server.start_io()
    else:
        _serve(server, *place)
    code = int(not server.was_shut_down)
    if server.is_linting:
        # Python would wait for a lint that nobody wants any more, and the editor for Python.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or nobody reads
                stream.flush()
        os._exit(code)
    return code


def _place(address: str) -> tuple[str, int]:
    """Return the host and the port of `--tcp`."""
    found = re.fullmatch(
        r"(?:(?P<host>[^:\[\]]+|\[[0-9A-Fa-f:.]+\]):)?(?P<port>[0-9]{1,5})", address
    )
    if not found or not 0 < int(found["port"]) < 65536:
        raise CliError(
            f"--tcp {quoted(address)} is no port of a machine: pass a number up to 65535, such as "
            f"2087, or {LOOPBACK}:2087"
        )
    return (found["host"] or LOOPBACK).strip("[]"), int(found["port"])


def _serve(server: Server, host: str, port: int) -> None:
    """Wait for one client, and serve it until it goes."""
    if not _is_loopback(host):
        say(
            f"whoever reaches {visible(host)} can speak to this server: it asks nobody who they "
            "are",
            label="hint",
            style="warning",
        )
    # pygls ends by an exit of the process from within a task, which asyncio calls unhandled.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    say(f"waiting for one client on {visible(host)} port {port}")
    try:
        # It ends with the client, and says so by an exit of its own.
        with suppress(SystemExit):
            server.start_tcp(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        where = f"{visible(host)} port {port}"
        raise CliError(f"cannot listen on {where}: {why}; name another with --tcp") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
