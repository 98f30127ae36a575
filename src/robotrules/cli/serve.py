"""
`robotrules serve`: the page and the HTTP API.

A wrapper around `robotrules.service.server`: it refuses settings that are not safe, opens the
socket, prints where it listens, and starts the server. The only line on stdout is the URL.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import Any, get_type_hints

import click

import robotrules
from robotrules.cli.client import store_option
from robotrules.cli.console import CliError, quoted, report
from robotrules.octets import visible
from robotrules.service.hangups import block_hangups

LOOPBACK = "127.0.0.1"
USER_AGENT = f"robotrules/{robotrules.__version__} (service)"
READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


@click.command()
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    metavar="ADDRESS",
    help="The address to listen on. Another one than this machine's own needs --token-file or "
    "--public.",
)
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 is a free one, which is printed.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option(
    "--token-file",
    metavar="FILE",
    help="Require one of the tokens of this file, one a line, as a bearer token. SIGHUP reads it "
    "again.",
)
@click.option(
    "--public", is_flag=True, help="Let everyone who can reach the address use the service."
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="A name under which clients know the service, beside the address and localhost. Repeat it "
    "for several.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    metavar="ADDRESS",
    multiple=True,
    help="A proxy whose X-Forwarded-For field names the client. Repeat it for several.",
)
@click.option("--no-fetch", is_flag=True, help="Never fetch: answer about files that are sent.")
@click.option(
    "--fetch-host",
    "fetch_hosts",
    metavar="HOST",
    multiple=True,
    help="Fetch from this host only; also '*.example.com'. Repeat it for several.",
)
@click.option(
    "--allow-private",
    metavar="HOST",
    multiple=True,
    help="Allow requests to this host although its address is private, such as localhost; also "
    "an address, a network, or '*.internal'. Repeat it for several.",
)
@click.option(
    "--user-agent",
    metavar="TEXT",
    help=f"The User-Agent header that is sent. Defaults to '{USER_AGENT}'.",
)
@store_option
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Processes that answer requests.",
)
@click.option(
    "--processes",
    default=2,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Processes of each worker for lint, diff and other heavy work.",
)
@click.option(
    "--limit",
    "given_limits",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a limit, such as max_body=1000000; docs/service.md lists them. Repeat it for "
    "several.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The form of the lines of the log, on stderr.",
)
@click.option(
    "--access-log/--no-access-log",
    default=True,
    show_default=True,
    help="Whether the log has a line for each request.",
)
def serve(
    host: str,
    port: int,
    opens: bool,
    token_file: str | None,
    public: bool,
    no_fetch: bool,
    fetch_hosts: tuple[str, ...],
    user_agent: str | None,
    where: str | None,
    given_limits: tuple[str, ...],
    **other: Any,
) -> int:
    """
    Serve the page and the HTTP API.

    The page checks, explains, compares and writes robots.txt files in your browser; the API does
    the same for programs in any language. Only this machine can connect, unless you pass --host.
    The URL is printed to stdout once the service listens; the log goes to stderr. The exit code is
    0 after Ctrl-C or SIGTERM, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules serve --open
      robotrules serve --no-fetch --port 9000
      robotrules serve --host 0.0.0.0 --token-file tokens --allowed-host robots.internal
    """
    block_hangups()  # the server handles them
    if public and token_file is not None:
        raise click.UsageError("--public and --token-file cannot be combined")
    if no_fetch and fetch_hosts:
        raise click.UsageError("--no-fetch and --fetch-host cannot be combined")
    try:
        from robotrules.service import server
        from robotrules.service.settings import ServiceSettings, is_loopback
    except ImportError as error:
        raise CliError(
            f"the service needs {error.name}, which is not installed: pip install "
            "'robotrules[serve]'"
        ) from None
    if not is_loopback(host) and not public and token_file is None:
        raise CliError(
            f"--host {quoted(host)} can be reached from other machines: pass --token-file FILE, so "
            "that only holders of a token can use the service, or --public"
        )
    if user_agent is not None and robotrules.product_token(user_agent) is None:
        raise CliError(
            f"--user-agent {quoted(user_agent)} does not start with a product token: pass one such "
            "as 'ExampleBot/1.0 (+https://example.com/bot)'"
        )
    settings = ServiceSettings(
        host=host,
        tokens=() if token_file is None else read_token_file(token_file),
        token_file=None if token_file is None else os.path.abspath(token_file),
        public=public,
        fetches=not no_fetch,
        fetch_hosts=fetch_hosts,
        user_agent=user_agent or "",
        store=where,
        limits=_limits(given_limits),
        **other,
    )
    try:
        listening = server.listen(host, port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise CliError(
            f"cannot listen on {visible(host)} port {port}: {why}; pass another --host or --port"
        ) from None
    with listening:
        port = listening.getsockname()[1]
        url = _url(host, port)

        def started() -> None:
            """Print the URL, once."""
            if not started_once:
                started_once.append(True)
                _announce(url)
                if opens:
                    click.launch(url)

        started_once: list[bool] = []
        code = server.run(settings._replace(port=port), listening, started)
    if code == server.STARTUP_FAILURE:
        raise CliError("the service could not start; the log above says why")
    return code


def read_token_file(path: str) -> tuple[str, ...]:
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
        report(
            f"other users of this machine can read the tokens: chmod 600 {quoted(path)}",
            label="hint",
            style="warning",
        )
    return tokens


def _limits(given: tuple[str, ...]) -> Any:
    """Return the limits, with those of `--limit`."""
    from robotrules.service.settings import Limits

    types = get_type_hints(Limits)
    values: dict[str, float] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in types:
            raise CliError(
                f"--limit {quoted(text)} is not a limit: pass NAME=VALUE; the names are "
                + ", ".join(types)
            )
        try:
            number = types[name](value)
        except (ValueError, OverflowError):
            number = -1
        # NaN is not at least 0 either; rates and waits may be 0, which turns them off.
        least = 0 if name in ("rate", "unready_seconds", "max_waiting") else 1e-3
        if not least <= number <= sys.maxsize:
            whole = "a whole number" if types[name] is int else "a number"
            raise CliError(f"--limit {quoted(text)}: pass {whole} above 0")
        values[name] = number
    return Limits(**values)  # type: ignore[arg-type]


def _url(host: str, port: int) -> str:
    name = host.strip("[]")
    # 0.0.0.0 and :: are all addresses of this machine; a browser needs one.
    name = {"0.0.0.0": LOOPBACK, "::": "::1", "": LOOPBACK}.get(name, name)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def _announce(url: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # stdout is closed: the service runs on
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
    report(f"listening at {url}; press Ctrl-C to stop")
