"""
The HTTP client of the command line: its options, and how it and its store are opened.

Servers see `--user-agent`, which names this program by default; `--as` names the crawler whose
rules are evaluated. Missing libraries and stores that cannot be opened end the command with one
line that says how to fix it.

Sections: stores · client options.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

import robotrules
from robotrules.cli.console import CliError, quoted, report
from robotrules.errors import RobotrulesError, StoreError

if TYPE_CHECKING:
    from robotrules.cache import Store
    from robotrules.client.aio import AsyncClient
    from robotrules.client.sync import Client

Command = TypeVar("Command", bound=Callable[..., Any])

STORE_VARIABLE = "ROBOTRULES_STORE"
IN_MEMORY = "memory:"
USER_AGENT = f"robotrules/{robotrules.__version__} (command line)"
SECONDS = 30.0
# Between two pages of an origin, if its robots.txt does not ask for more.
MIN_DELAY = 1.0


def now() -> float:
    """Return the time in seconds since 1970: the clock of all commands."""
    return time.time()


# --- Stores ---------------------------------------------------------------------------------------


def store_option(command: Command) -> Command:
    """Add `--store`, which the command receives as *where*."""
    return click.option(
        "--store",
        "where",
        metavar="PATH|URL",
        envvar=STORE_VARIABLE,
        help="The cache of robots.txt files: the path of an SQLite file, redis://… or "
        "postgresql://…. Defaults to ROBOTRULES_STORE, then to a file in your cache directory; "
        "'robotrules cache path' prints it.",
    )(command)


def open_store_option(where: str | None) -> Store:
    """Open the store of `--store`, or the default for None; the caller closes it."""
    with library_errors():
        from robotrules.client.stores import open_store

        return open_store(where or None)


@contextmanager
def library_errors() -> Iterator[None]:
    """Convert errors of the library (misuse, missing extras, stores) to `CliError`."""
    try:
        yield
    except StoreError as error:
        raise CliError(f"{error} (option --store)") from None
    except (RobotrulesError, ValueError) as error:
        # The library names parameters; the command line has options.
        words = str(error).replace("allow_private", "--allow-private")
        raise CliError(words.partition(", or pass an HTTP client")[0]) from None


class _ReportHandler(logging.Handler):
    """Prints what the library logs as messages of the command."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        # Worker threads have no click context.
        context = click.get_current_context(silent=True)
        self._speaker = context.command_path if context else ""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        report(record.getMessage(), label="warning", style="warning", command=self._speaker)


@contextmanager
def report_warnings() -> Iterator[None]:
    """Print what a client logs: a store that fails, and that it is available again."""
    logger, handler = logging.getLogger("robotrules"), _ReportHandler(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


# --- Client options -------------------------------------------------------------------------------


class ClientOptions(NamedTuple):
    """The options from which a command opens its client."""

    user_agent: str | None = None
    where: str | None = None
    no_store: bool = False
    refresh: bool = False
    allow_private: tuple[str, ...] = ()
    timeout: float | None = None
    min_delay: float | None = None

    def hint_unused(self) -> None:
        """Report a hint if options about fetching are given but nothing is fetched."""
        given = {
            "--user-agent": self.user_agent,
            "--no-store": self.no_store,
            "--refresh": self.refresh,
            "--allow-private": self.allow_private,
            "--timeout": self.timeout,
        }
        names = [name for name, value in given.items() if value]
        if names:
            have = "has" if len(names) == 1 else "have"
            report(
                f"nothing is fetched when files are passed, so {' and '.join(names)} {have} no "
                "effect",
                label="hint",
                style="warning",
            )

    @contextmanager
    def client(self, profile: str) -> Iterator[Client]:
        """Open the client; close it at the end."""
        with library_errors():
            from robotrules.client.sync import Client

            client = Client(self._vetted_user_agent(), **self._arguments(profile))
        with client, report_warnings():
            yield client

    def async_client(self, profile: str) -> AsyncClient:
        """Return the client for an event loop; the caller closes it."""
        with library_errors():
            from robotrules.client.aio import AsyncClient

            return AsyncClient(self._vetted_user_agent(), **self._arguments(profile))

    def _vetted_user_agent(self) -> str:
        if self.user_agent is None:
            return USER_AGENT
        if robotrules.product_token(self.user_agent) is None:
            raise CliError(
                f"--user-agent {quoted(self.user_agent)} does not start with a product token: pass "
                f"one such "
                "as 'ExampleBot/1.0 (+https://example.com/bot)'"
            )
        return self.user_agent

    def _arguments(self, profile: str) -> dict[str, Any]:
        return {
            "profile": profile,
            "store": IN_MEMORY if self.no_store else self.where or None,
            "allow_private": self.allow_private,
            "timeout": SECONDS if self.timeout is None else self.timeout,
            "min_delay": MIN_DELAY if self.min_delay is None else self.min_delay,
            "clock": now,
        }


def with_client_options(
    *, refresh: bool = True, crawler: bool = True, min_delay: bool = False
) -> Callable[[Command], Command]:
    """
    Add the client options, which the command receives as *client_options*.

    *refresh*: add `--refresh`; *crawler*: the command also has `--as`; *min_delay*: add
    `--min-delay`, for commands that fetch pages.
    """

    def added(command: Command) -> Command:
        """Return the command with the options."""

        @wraps(command)
        def gathered(*args: Any, **values: Any) -> Any:
            """Pass the options on as one value."""
            given = {name: values.pop(name) for name in ClientOptions._fields if name in values}
            _refuse_two_stores(given["no_store"])
            return command(*args, client_options=ClientOptions(**given), **values)

        found: Any = gathered
        optional = [*([_MIN_DELAY] if min_delay else []), *([_REFRESH] if refresh else [])]
        for option in (_TIMEOUT, _ALLOW_PRIVATE, *optional, _NO_STORE):
            found = option(found)
        made: Command = _user_agent_option(crawler)(store_option(found))
        return made

    return added


def _refuse_two_stores(no_store: bool) -> None:
    """Refuse `--store` with `--no-store`; the environment variable may stay set."""
    source = click.get_current_context().get_parameter_source("where")
    if no_store and source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--no-store and --store cannot be combined")


def _user_agent_option(crawler: bool) -> Callable[[Command], Command]:
    words = f"The User-Agent header that is sent. Defaults to '{USER_AGENT}'."
    if crawler:
        words += " It is independent of --as, the crawler whose rules are evaluated."
    return click.option("--user-agent", metavar="TEXT", help=words)


_NO_STORE = click.option(
    "--no-store", is_flag=True, help="Do not use a store: fetch every robots.txt and keep nothing."
)
_REFRESH = click.option(
    "--refresh", is_flag=True, help="Fetch now, even if the stored copy is fresh."
)
_ALLOW_PRIVATE = click.option(
    "--allow-private",
    metavar="HOST",
    multiple=True,
    help="Allow requests to this host although its address is private, such as localhost; also "
    "an address, a network, or '*.internal'. Repeat it for several.",
)
_MIN_DELAY = click.option(
    "--min-delay",
    metavar="SECONDS",
    type=click.FloatRange(0, 86_400),
    help="The minimum interval between two pages of a site; a longer Crawl-delay counts. Defaults "
    f"to {MIN_DELAY:g}; less is for your own site only.",
)
_TIMEOUT = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    help=f"The time limit of one fetch, including redirects. Defaults to {SECONDS:g}.",
)


__all__ = [
    "IN_MEMORY",
    "SECONDS",
    "STORE_VARIABLE",
    "USER_AGENT",
    "ClientOptions",
    "library_errors",
    "now",
    "open_store_option",
    "report_warnings",
    "store_option",
    "with_client_options",
]
