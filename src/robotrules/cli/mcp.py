"""
`robotrules mcp`: the MCP server for agents, on stdin and stdout or over HTTP.

A wrapper around `robotrules.service.mcp`, started by agents and their clients. Stdout carries the
protocol; messages go to stderr.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

import robotrules
from robotrules.cli.client import library_errors
from robotrules.cli.console import CliError, report
from robotrules.cli.service_options import (
    common_settings,
    open_listener,
    vet_client,
    with_service_options,
)
from robotrules.cli.text import is_terminal
from robotrules.errors import MissingExtraError
from robotrules.octets import visible
from robotrules.service.hangups import block_hangups

if TYPE_CHECKING:
    from robotrules.service.settings import ServiceSettings

PORT = 8081
USER_AGENT = f"robotrules/{robotrules.__version__} (mcp)"
# For lint and compare; agents ask for one at a time.
PROCESSES = 1
INTERRUPTED = 130


@click.command()
@click.option("--http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@with_service_options(
    port=PORT,
    when="With --http: ",
    user_agent="Its product token is the crawler that answers are about, unless the agent names "
    f"another. Defaults to '{USER_AGENT}'.",
)
def mcp(http: bool, port: int, **options: Any) -> int:
    """
    Start the MCP server for agents.

    Provides the tools may_fetch, explain, guidance, lint and compare over the Model Context
    Protocol: an agent asks before it fetches a page, and learns what the site asks it to do with
    the page. The agent's client starts and stops the server; see docs/agents.md for the set-up.
    Answers are about requests of site owners, not a form of access authorization. The exit code is
    0 if the client closes stdin or the server is stopped, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules mcp
      robotrules mcp --user-agent 'ExampleBot/1.0 (+https://example.com/bot)'
      robotrules mcp --no-fetch
      robotrules mcp --http --port 8081
    """
    if http:
        block_hangups()  # the server handles them
    if not http:
        _refuse_options_of_http()
    logging.basicConfig(level=logging.WARNING, format="robotrules mcp: %(message)s")
    try:
        # Imported late: the extra may be missing.
        from robotrules.service.mcp.server import make_server
        from robotrules.service.settings import ServiceSettings

        if http:
            from robotrules.service.mcp import listening  # noqa: F401
    except MissingExtraError as error:
        raise CliError(str(error)) from None
    except ImportError as error:
        raise CliError(
            f"the MCP server needs {error.name}, which is not installed: "
            "pip install 'robotrules[mcp]'"
        ) from None
    settings = ServiceSettings(
        **common_settings(**options),
        port=port,
        user_agent=options["user_agent"] or USER_AGENT,
        processes=PROCESSES,
    )
    vet_client(settings, opens_store=True)
    with library_errors():
        make_server(settings)
        return _serve_http(settings) if http else _serve_stdio(settings)


# --- Options --------------------------------------------------------------------------------------


def _refuse_options_of_http() -> None:
    context = click.get_current_context()
    for name in ("host", "port", "token_file", "public", "allowed_hosts"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--allowed-host" if name == "allowed_hosts" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs --http")


# --- Serving --------------------------------------------------------------------------------------


def _serve_stdio(settings: ServiceSettings) -> int:
    if is_terminal(sys.stdin):
        report(
            "waiting for an MCP client on stdin; press Ctrl-D to end", label="hint", style="warning"
        )
    asyncio.run(_serve_until_signal(settings))
    return 0


async def _serve_until_signal(settings: ServiceSettings) -> None:
    from robotrules.service.mcp.server import serve_stdio

    number = await serve_stdio(settings, version=robotrules.__version__)
    if number is not None:
        # A thread reads stdin and cannot be stopped: a normal exit would wait for it.
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(INTERRUPTED if number == signal.SIGINT else 0)


def _serve_http(settings: ServiceSettings) -> int:
    from robotrules.service.mcp.listening import PATH, serve_http

    listener = open_listener(settings.host, settings.port)
    with listener:
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{visible(name)}:{listener.getsockname()[1]}{PATH}"
        serving = serve_http(
            settings,
            listener,
            lambda: report(f"listening on {url}"),
            version=robotrules.__version__,
        )
        asyncio.run(serving)
    return 0
