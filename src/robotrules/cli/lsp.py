"""
`robotrules lsp`: the language server, on stdin and stdout or on a TCP port.

A wrapper around `robotrules.lsp.server`, started by editors. Stdout carries the protocol; messages
go to stderr.
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
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.options import load_registry_files
from robotrules.cli.text import is_terminal
from robotrules.errors import MissingExtraError
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.lsp.server import Server

LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--stdio", is_flag=True, help="Communicate over stdin and stdout (the default).")
@click.option(
    "--tcp",
    "address",
    metavar="[HOST:]PORT",
    help=f"Listen on a TCP port for one client instead. HOST defaults to {LOOPBACK}, which only "
    "this machine can reach.",
)
@click.option(
    "--registry",
    "files",
    metavar="FILE",
    multiple=True,
    help="A registry of purposes, applications and their directives, .json or .csv, for completion "
    "and hover. Repeat it for several; later ones override earlier ones.",
)
def lsp(stdio: bool, address: str | None, files: tuple[str, ...]) -> int:
    """
    Start the language server for editors.

    Provides lint notes while you type, hovers that explain a rule with example URLs, completion of
    records, product tokens and purposes, quick fixes, formatting and an outline. The editor starts
    and stops it; see docs/editors.md for the set-up. The exit code is 0 after a regular shutdown, 1
    if the client disconnected without one, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules lsp
      robotrules lsp --tcp 2087
      robotrules lsp --registry apps.json
    """
    if stdio and address is not None:
        raise click.UsageError("--stdio and --tcp cannot be combined")
    place = None if address is None else _place(address)
    registries = load_registry_files(files)
    # pygls logs to stderr, which editors keep in a file: only errors.
    logging.basicConfig(level=logging.ERROR, format="robotrules lsp: %(message)s")
    try:
        from robotrules.lsp.server import make_server
    except MissingExtraError as error:
        raise CliError(str(error)) from None
    server = make_server(registries, version=robotrules.__version__)
    if place is None:
        if is_terminal(sys.stdin):
            report(
                "waiting for an editor on stdin; press Ctrl-D to end", label="hint", style="warning"
            )
        server.start_io()
    else:
        _serve(server, *place)
    code = int(not server.was_shut_down)
    if server.is_linting:
        # A normal exit would wait for a running lint.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or the reader is gone
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
            f"--tcp {quoted(address)} is not a TCP address: pass a port up to 65535, such as "
            f"2087, or {LOOPBACK}:2087"
        )
    return (found["host"] or LOOPBACK).strip("[]"), int(found["port"])


def _serve(server: Server, host: str, port: int) -> None:
    """Wait for one client and serve it until it disconnects."""
    if not _is_loopback(host):
        report(
            f"the server has no authentication: everyone who can reach {visible(host)} can use it",
            label="hint",
            style="warning",
        )
    # pygls exits the process from within a task, which asyncio logs as unhandled.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    report(f"waiting for one client on {visible(host)} port {port}")
    try:
        # It ends with the client by raising SystemExit.
        with suppress(SystemExit):
            server.start_tcp(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        where = f"{visible(host)} port {port}"
        raise CliError(f"cannot listen on {where}: {why}; pass another address to --tcp") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
