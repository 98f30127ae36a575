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
from typing import TYPE_CHECKING

import click

import robotrules
from robotrules.cli.client import library_errors, store_option
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.serve import read_token_file
from robotrules.cli.text import is_terminal
from robotrules.errors import MissingExtraError
from robotrules.octets import visible
from robotrules.service.hangups import block_hangups

if TYPE_CHECKING:
    from robotrules.service.settings import ServiceSettings

LOOPBACK = "127.0.0.1"
PORT = 8081
USER_AGENT = f"robotrules/{robotrules.__version__} (mcp)"
# For lint and compare; agents ask for one at a time.
PROCESSES = 1
INTERRUPTED = 130


@click.command()
@click.option("--http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    metavar="ADDRESS",
    help="With --http: the address to listen on. One that other machines can reach needs "
    "--token-file or --public.",
)
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="With --http: the port; 0 chooses a free one.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="With --http: answer only requests with a bearer token of this file, one a line. SIGHUP "
    "reads it again.",
)
@click.option(
    "--public", is_flag=True, help="With --http: allow other machines to use it without a token."
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="With --http: a name in the Host field beside the address, such as that of a proxy. "
    "Repeat it for several.",
)
@click.option("--no-fetch", is_flag=True, help="Fetch nothing: read only text that is passed.")
@click.option(
    "--fetch-host",
    "fetch_hosts",
    metavar="NAME",
    multiple=True,
    help="Fetch only from this host; '*.example.com' is every name below example.com. Repeat it "
    "for several.",
)
@click.option(
    "--user-agent",
    metavar="TEXT",
    help="The User-Agent header that is sent. Its product token is the crawler that answers are "
    f"about, unless the agent names another. Defaults to '{USER_AGENT}'.",
)
@store_option
@click.option(
    "--allow-private",
    metavar="HOST",
    multiple=True,
    help="Allow requests to this host although its address is private, such as localhost; also "
    "an address, a network, or '*.internal'. Repeat it for several.",
)
def mcp(
    http: bool,
    host: str,
    port: int,
    token_file: str | None,
    public: bool,
    allowed_hosts: tuple[str, ...],
    no_fetch: bool,
    fetch_hosts: tuple[str, ...],
    user_agent: str | None,
    where: str | None,
    allow_private: tuple[str, ...],
) -> int:
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
    _vet_options(http, token_file, public, no_fetch, fetch_hosts)
    if user_agent is not None and robotrules.product_token(user_agent) is None:
        raise CliError(
            f"--user-agent {quoted(user_agent)} does not start with a product token: pass one such "
            "as 'ExampleBot/1.0 (+https://example.com/bot)'"
        )
    logging.basicConfig(level=logging.WARNING, format="robotrules mcp: %(message)s")
    try:
        # Imported late: the extra may be missing.
        from robotrules.service.mcp.server import make_server
        from robotrules.service.settings import ServiceSettings, is_loopback

        if http:
            from robotrules.service.mcp import listening  # noqa: F401
    except MissingExtraError as error:
        raise CliError(str(error)) from None
    except ImportError as error:
        raise CliError(
            f"the MCP server needs {error.name}, which is not installed: "
            "pip install 'robotrules[mcp]'"
        ) from None
    if not is_loopback(host) and not public and token_file is None:
        raise CliError(
            f"--host {quoted(host)} can be reached from other machines: pass --token-file FILE, so "
            "that only holders of a token can use the server, or --public"
        )
    settings = ServiceSettings(
        host=host.strip("[]"),
        port=port,
        tokens=() if token_file is None else read_token_file(token_file),
        token_file=None if token_file is None else os.path.abspath(token_file),
        public=public,
        allowed_hosts=allowed_hosts,
        fetches=not no_fetch,
        fetch_hosts=fetch_hosts,
        user_agent=user_agent or USER_AGENT,
        store=where or None,
        allow_private=allow_private,
        processes=PROCESSES,
    )
    _vet_client(settings)
    with library_errors():
        make_server(settings)
        return _serve_http(settings) if http else _serve_stdio(settings)


# --- Options --------------------------------------------------------------------------------------


def _vet_options(
    http: bool, token_file: str | None, public: bool, no_fetch: bool, fetch_hosts: tuple[str, ...]
) -> None:
    context = click.get_current_context()
    for name in () if http else ("host", "port", "token_file", "public", "allowed_hosts"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--allowed-host" if name == "allowed_hosts" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs --http")
    if public and token_file is not None:
        raise click.UsageError("--public and --token-file cannot be combined")
    if no_fetch and fetch_hosts:
        raise click.UsageError("--no-fetch and --fetch-host cannot be combined")


def _vet_client(settings: ServiceSettings) -> None:
    """Report settings of the client that are wrong before the protocol begins."""
    if not settings.fetches:
        return
    with library_errors():
        from robotrules.client.ssrf import AddressPolicy
        from robotrules.client.stores import open_store
        from robotrules.client.transports import vet_async_transport

        vet_async_transport()
        AddressPolicy(settings.allow_private)
        if settings.store is not None:
            open_store(settings.store).close()


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
    from robotrules.service.server import listen

    try:
        listener = listen(settings.host, settings.port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        where = f"{visible(settings.host)} port {settings.port}"
        raise CliError(f"cannot listen on {where}: {why}; pass another --host or --port") from None
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
