"""
`robotrules serve`: the page and the HTTP API.

A wrapper around `robotrules.service.server`: it refuses settings that are not safe, opens the
socket, prints where it listens, and starts the server. The only line on stdout is the URL.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, get_type_hints

import click

import robotrules
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.service_options import (
    LOOPBACK,
    common_settings,
    open_listener,
    vet_client,
    with_service_options,
)
from robotrules.service.hangups import block_hangups


@click.command()
@with_service_options(
    port=8080, user_agent=f"Defaults to 'robotrules/{robotrules.__version__} (service)'."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    metavar="ADDRESS",
    multiple=True,
    help="A proxy whose X-Forwarded-For field names the client. Repeat it for several.",
)
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
    port: int,
    opens: bool,
    trusted_proxies: tuple[str, ...],
    workers: int,
    processes: int,
    given_limits: tuple[str, ...],
    log_format: str,
    access_log: bool,
    **options: Any,
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
    try:
        from robotrules.service import server
        from robotrules.service.settings import ServiceSettings
    except ImportError as error:
        raise CliError(
            f"the service needs {error.name}, which is not installed: pip install "
            "'robotrules[serve]'"
        ) from None
    settings = ServiceSettings(
        **common_settings(**options, log_format=log_format),
        user_agent=options["user_agent"] or "",
        trusted_proxies=trusted_proxies,
        workers=workers,
        processes=processes,
        limits=_limits(given_limits),
        log_format=log_format,
        access_log=access_log,
    )
    vet_client(settings, opens_store=False)
    listening = open_listener(settings.host, port)
    with listening:
        port = listening.getsockname()[1]
        url = _url(settings.host, port)

        def started() -> None:
            """Print the URL, once."""
            if not started_once:
                started_once.append(True)
                _announce(url, says_so=log_format == "text")
                if opens:
                    click.launch(url)

        started_once: list[bool] = []
        code = server.run(settings._replace(port=port), listening, started)
    if code == server.STARTUP_FAILURE:
        raise CliError("the service could not start; the log above says why")
    return code


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


def _announce(url: str, *, says_so: bool) -> None:
    """Print the URL; *says_so*: also a sentence to stderr, which is not for a log of JSON lines."""
    with suppress(OSError, ValueError, AttributeError):  # stdout is closed: the service runs on
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
    if says_so:
        report(f"listening at {url}; press Ctrl-C to stop")
