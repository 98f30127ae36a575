"""
The command line: `robotrules check`, `explain`, `parse` and so on; one file each.

Data goes to stdout, words to stderr. Exit code 0 is allowed, 1 disallowed, 2 usage or I/O; 130 is
Ctrl-C, and 141 a reader that went away, as shells have it. Commands return their exit code. The
commands know the library; nothing imports them.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

import robotrules
from robotrules._engine import missing_reason
from robotrules.cli.streams import CliError, abandon_stdout, quoted, say
from robotrules.cli.text import is_terminal

__all__ = ["main", "run"]

USAGE_OR_IO = 2
INTERRUPTED = 128 + 2
NO_READER = 128 + 13
# One file each, and in it a function of that name.
COMMANDS = (
    "check",
    "explain",
    "parse",
    "directives",
    "preferences",
    "tags",
    "guidance",
    "fetch",
    "audit",
    "evidence",
    "cache",
    "write",
    "diff",
    "simplify",
    "pattern",
    "lint",
    "rule",
    "fmt",
    "test",
    "matrix",
    "lsp",
)
# A file of 500 KiB becomes a million small values without cycles: looking for cycles after every
# 700 of them, as Python does, takes a quarter of the time.
COLLECTED_AFTER = 200_000
# What was done so far is told by the command itself.
TELL_OF_INTERRUPTS = ("fetch",)


class Program(click.Group):
    """The commands, and what becomes of an output that cannot be written or an interrupt."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now: whoever checks a URL does not wait for the writer."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"robotrules.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a name; of one that is none, the error says what it looks like."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            words = f"No such command {quoted(args[0])}"
            if close := get_close_matches(args[0].lower(), COMMANDS, 1):
                words += f" (did you mean {close[0]}?)"
            raise click.UsageError(words, error.ctx) from None

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Read the options of the program; `--help` and `--version` are written here."""
        with _written():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; return its exit code."""
        try:
            with _written():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if is_terminal(sys.stderr):
                sys.stderr.write("\n")  # the terminal shows ^C without a line end
            if ctx.invoked_subcommand not in TELL_OF_INTERRUPTS:
                who = " ".join(filter(None, (ctx.command_path, ctx.invoked_subcommand)))
                say("interrupted", speaker=who)
            return INTERRUPTED
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            command = self.get_command(ctx, name) if name else None
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise


@contextmanager
def _written() -> Iterator[None]:
    """End with an exit code and a line where the output cannot be written."""
    try:
        yield
    except BrokenPipeError:
        abandon_stdout()
        raise click.exceptions.Exit(NO_READER) from None
    except OSError as error:
        # Input has its own errors, which say where.
        abandon_stdout()
        why = error.strerror or type(error).__name__
        raise CliError(f"cannot write the output: {why}; redirect it elsewhere") from None


def _version() -> str:
    engine, python = robotrules.engine_name(), platform.python_version()
    words = f"robotrules {robotrules.__version__} ({engine} engine, Python {python})"
    reason = missing_reason() if engine == "pure" else ""
    return f"{words}\nThe native engine was not built: {reason}" if reason else words


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(message=_version(), version=robotrules.__version__)
@click.pass_context
def program(ctx: click.Context) -> int | None:
    """
    Decide, explain, fetch, compare, lint, format and test robots.txt (RFC 9309), and read the tags
    of pages.

    \b
    robotrules check https://example.com/x --as ExampleBot
    robotrules explain https://example.com/x --as ExampleBot --robots robots.txt
    robotrules parse robots.txt
    robotrules directives https://example.com/x --app examplesearch
    robotrules preferences https://example.com/x --as ExampleBot
    robotrules tags page.html --header 'Robots-Tag: *;noindex' --as ExampleBot
    robotrules guidance https://example.com/x --as ExampleBot
    robotrules fetch --origins origins.txt
    robotrules audit https://example.com/x --as ExampleBot
    robotrules evidence https://example.com/x --at 2026-05-01T12:00Z --as ExampleBot
    robotrules cache show
    robotrules write policy.toml
    robotrules diff old.txt new.txt
    robotrules simplify robots.txt
    robotrules pattern '/*/print$'
    robotrules lint robots.txt
    robotrules rule RR501
    robotrules fmt robots.txt --diff
    robotrules test
    robotrules matrix https://example.com/
    robotrules lsp

    Commands about URLs fetch what they need, and keep it in a store to use it for a day; where you
    pass files, nothing is fetched. Data goes to stdout, words to stderr, and commands that
    print data have --json. Exit code 0 is allowed or clean, 1 disallowed or findings, 2 usage or
    I/O. What a site asks of crawlers is a request and not a form of access authorization.
    """
    if ctx.invoked_subcommand is not None:
        return None
    click.echo(ctx.get_help(), err=True)
    return USAGE_OR_IO


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; None takes the process's arguments."""
    args = None if arguments is None else list(arguments)
    try:
        return program.main(args=args, prog_name="robotrules", standalone_mode=False) or 0
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "robotrules"
        _say_error(error, f"{error.format_message().rstrip('.')}; see {path} --help")
    except click.ClickException as error:
        _say_error(error, error.format_message())
    except click.Abort:
        return INTERRUPTED
    return USAGE_OR_IO


def _say_error(error: click.ClickException, words: str) -> None:
    context = getattr(error, "ctx", None) or click.Context(program, info_name="robotrules")
    with context.scope(cleanup=False):
        say(" ".join(words.split()))


def main() -> NoReturn:
    """Run the command line as a process."""
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    code = run()
    if code == INTERRUPTED:
        # Python would wait for threads that wait for servers. What was stored is stored.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or nobody reads
                stream.flush()
        os._exit(code)
    sys.exit(code)
