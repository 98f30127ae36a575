"""
The client on the command line: its options, and how it and its store are opened.

Who asks a server and who is asked about are two. Servers are told `--user-agent`, which is this
program unless somebody says otherwise; whom `--as` names is the crawler whose rules are looked up.
What is missing or cannot be opened ends the command with one line that has the cure. It does not
know what a command does with a client.

Sections: stores · the options of a client · the client.
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
from robotrules.cli.streams import CliError, quoted, say
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


def now() -> float:
    """Return the moment, in seconds since 1970: the clock of all commands."""
    return time.time()


# --- Stores ---------------------------------------------------------------------------------------


def store_option(command: Command) -> Command:
    """Add `--store`, which the command gets as *where*."""
    return click.option(
        "--store",
        "where",
        metavar="WHERE",
        envvar=STORE_VARIABLE,
        help="Where robots.txt files are kept: the path of an SQLite file, redis://… or "
        "postgresql://…. By default what ROBOTRULES_STORE says, else a file in your cache folder; "
        "'robotrules cache path' shows it.",
    )(command)


def open_given_store(where: str | None) -> Store:
    """Open the store that `--store` names, the usual one for None; the caller closes it."""
    with told():
        from robotrules.client.stores import open_store

        return open_store(where or None)


@contextmanager
def told() -> Iterator[None]:
    """Make what the library says of misuse, missing libraries and stores the end of a command."""
    try:
        yield
    except StoreError as error:
        raise CliError(f"{error} (option --store)") from None
    except (RobotrulesError, ValueError) as error:
        # What is an argument there is an option here.
        words = str(error).replace("allow_private", "--allow-private")
        # Who types a command does not know what a transport is.
        raise CliError(words.replace("this transport needs", "fetching needs")) from None


class _Aloud(logging.Handler):
    """Says what the library logs, as the command says things."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        # Threads that fetch do not know which command is running.
        context = click.get_current_context(silent=True)
        self._speaker = context.command_path if context else ""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        say(record.getMessage(), label="warning", style="warning", speaker=self._speaker)


@contextmanager
def aloud() -> Iterator[None]:
    """Say what a client logs: a store that fails, and that it answers again."""
    logger, handler = logging.getLogger("robotrules"), _Aloud(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


# --- The options of a client ----------------------------------------------------------------------


class Opening(NamedTuple):
    """What the options say about the client that a command needs."""

    user_agent: str | None = None
    where: str | None = None
    no_store: bool = False
    fresh: bool = False
    allow_private: tuple[str, ...] = ()
    timeout: float | None = None

    def hint_unused(self) -> None:
        """Say that nothing is fetched, if options are given that are about fetching."""
        given = {
            "--user-agent": self.user_agent,
            "--no-store": self.no_store,
            "--fresh": self.fresh,
            "--allow-private": self.allow_private,
            "--timeout": self.timeout,
        }
        names = [name for name, value in given.items() if value]
        if names:
            change = "changes" if len(names) == 1 else "change"
            say(
                f"nothing is fetched where files are given, so {' and '.join(names)} {change} "
                "nothing",
                label="hint",
                style="warning",
            )

    @contextmanager
    def client(self, profile: str) -> Iterator[Client]:
        """Open the client, and close it in the end."""
        with told():
            from robotrules.client.sync import Client

            client = Client(self._who(), **self._arguments(profile))
        with client, aloud():
            yield client

    def async_client(self, profile: str) -> AsyncClient:
        """Return the client for an event loop, which the caller closes; see `aloud`."""
        with told():
            from robotrules.client.aio import AsyncClient

            return AsyncClient(self._who(), **self._arguments(profile))

    def _who(self) -> str:
        if self.user_agent is None:
            return USER_AGENT
        if robotrules.product_token(self.user_agent) is None:
            raise CliError(
                f"--user-agent {quoted(self.user_agent)} names nobody: begin it with a name, such "
                "as 'ExampleBot/1.0 (+https://example.com/bot)'"
            )
        return self.user_agent

    def _arguments(self, profile: str) -> dict[str, Any]:
        return {
            "profile": profile,
            "store": IN_MEMORY if self.no_store else self.where or None,
            "allow_private": self.allow_private,
            "seconds": SECONDS if self.timeout is None else self.timeout,
            "clock": now,
        }


def client_options(*, fresh: bool = True, crawler: bool = True) -> Callable[[Command], Command]:
    """
    Add the options of a client, which the command gets as *opening*.

    *fresh*: also `--fresh`; *crawler*: the command has `--as`, too.
    """

    def added(command: Command) -> Command:
        """Return the command with the options."""

        @wraps(command)
        def gathered(*args: Any, **values: Any) -> Any:
            """Hand on what was given as one value."""
            given = {name: values.pop(name) for name in Opening._fields if name in values}
            _refuse_two_stores(given["no_store"])
            return command(*args, opening=Opening(**given), **values)

        found: Any = gathered
        for option in (_TIMEOUT, _ALLOW_PRIVATE, *([_FRESH] if fresh else []), _NO_STORE):
            found = option(found)
        made: Command = _user_agent_option(crawler)(store_option(found))
        return made

    return added


def _refuse_two_stores(no_store: bool) -> None:
    """End the command where a store is named and none is wanted; a variable is no wish."""
    source = click.get_current_context().get_parameter_source("where")
    if no_store and source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--no-store wants no store and --store names one: leave out one")


def _user_agent_option(crawler: bool) -> Callable[[Command], Command]:
    words = f"What servers are told about who asks; by default '{USER_AGENT}'."
    if crawler:
        words += (
            " The crawler of --as is whom you ask about, and never whom this program claims to be."
        )
    return click.option("--user-agent", metavar="TEXT", help=words)


_NO_STORE = click.option(
    "--no-store", is_flag=True, help="Read and write no store: fetch, and keep nothing."
)
_FRESH = click.option("--fresh", is_flag=True, help="Ask servers now, whatever the store has.")
_ALLOW_PRIVATE = click.option(
    "--allow-private",
    metavar="HOST",
    multiple=True,
    help="A host whose private address may be asked, such as localhost; also an address, a "
    "network, or '*.internal'. Repeat it for several.",
)
_TIMEOUT = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    help=f"What one fetch may take, redirects included; by default {SECONDS:g}.",
)


__all__ = [
    "IN_MEMORY",
    "SECONDS",
    "STORE_VARIABLE",
    "USER_AGENT",
    "Opening",
    "aloud",
    "client_options",
    "now",
    "open_given_store",
    "store_option",
    "told",
]
