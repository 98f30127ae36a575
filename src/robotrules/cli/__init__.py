"""
The command line: `robotrules check`, `explain`, `parse` and so on; one module for each command.

Data goes to stdout, messages to stderr. Exit code 0 means allowed, 1 disallowed, 2 a usage or I/O
error; 130 is Ctrl-C and 141 a closed pipe, as in shells. Commands return their exit code. The
commands import the library; no other package imports them.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

import robotrules
from robotrules._engine import missing_reason

# As a module: `robotrules.cli.report` is the command of that name.
from robotrules.cli import console
from robotrules.cli.console import CliError, abandon_stdout, quoted
from robotrules.cli.text import is_terminal

__all__ = ["main", "run"]

USAGE_OR_IO = 2
INTERRUPTED = 128 + 2
NO_READER = 128 + 13
# In the order of the help; each is a module that defines a function of the same name.
SECTIONS = {
    "Ask": (
        *("check", "explain", "parse", "directives", "preferences", "tags", "guidance"),
        *("prefetch", "evidence", "cache"),
    ),
    "Write and test a robots.txt": (
        *("write", "lint", "rule", "fmt", "test", "diff", "review", "simplify", "pattern", "blame"),
    ),
    "Run a site": ("report", "matrix", "crawlers", "logs", "watch", "audit"),
    "Datasets, editors and services": ("bulk", "lsp", "serve", "mcp"),
}
COMMANDS = tuple(name for names in SECTIONS.values() for name in names)
# A file of 500 KiB becomes a million small objects without reference cycles. With Python's default
# threshold of 700 objects, garbage collection takes a quarter of the time.
GC_THRESHOLD = 200_000
# These commands report an interrupt themselves, with a summary of what was done.
REPORT_INTERRUPTS = ("prefetch",)
# What to do after an interrupt, if a command can go on.
AFTER_INTERRUPT = {"bulk": "; repeat the command to continue"}


class Program(click.Group):
    """The group of commands; handles interrupts and output that cannot be written."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each section, with equal columns."""
        width = max(map(len, COMMANDS))
        room = formatter.width - 6 - width
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [
                        (name.ljust(width), command.get_short_help_str(room))
                        for name, command in commands
                        if command is not None
                    ]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its module is imported only now, which keeps start-up fast."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"robotrules.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a name; the error for an unknown name suggests a similar one."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            words = f"No such command {quoted(args[0])}"
            if close := get_close_matches(args[0].lower(), COMMANDS, 1):
                words += f" (did you mean {close[0]}?)"
            raise click.UsageError(words, error.ctx) from None
        # A shell that completes the command shows no errors.
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated(click.Context(command, parent=ctx, info_name=name), rest)
        return name, command, rest

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Parse the options of the program; `--help` and `--version` print here."""
        with _output_errors():
            return super().make_context(*given, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; return its exit code."""
        try:
            with _output_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if is_terminal(sys.stderr):
                sys.stderr.write("\n")  # the terminal shows ^C without a line end
            if ctx.invoked_subcommand not in REPORT_INTERRUPTS:
                command_path = " ".join(filter(None, (ctx.command_path, ctx.invoked_subcommand)))
                advice = AFTER_INTERRUPT.get(ctx.invoked_subcommand or "", "")
                console.report(f"interrupted{advice}", command=command_path)
            return INTERRUPTED
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            command = self.get_command(ctx, name) if name else None
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise


def _refuse_repeated(ctx: click.Context, args: Sequence[str]) -> None:
    """
    Refuse an option that takes one value and is given twice: click would use the last silently.

    Errors of this parse are ignored, because the parse that follows reports them.
    """
    command = ctx.command
    try:
        _, rest, order = command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:
        return
    if command.get_help_option(ctx) in order:
        return
    for parameter, times in Counter(order).items():
        if times > 1 and isinstance(parameter, click.Option) and _takes_one_value(parameter):
            often = "twice" if times == 2 else f"{times} times"
            name = max(parameter.opts, key=len)
            raise click.UsageError(f"{name} is given {often}: pass it once", ctx)
    if isinstance(command, click.Group) and rest:
        inner = command.get_command(ctx, rest[0])
        if inner is not None:
            _refuse_repeated(click.Context(inner, parent=ctx, info_name=rest[0]), rest[1:])


def _takes_one_value(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)


@contextmanager
def _output_errors() -> Iterator[None]:
    """End the command with one error line if the output cannot be written."""
    try:
        yield
    except BrokenPipeError:
        abandon_stdout()
        raise click.exceptions.Exit(NO_READER) from None
    except OSError as error:
        # Errors about input are handled where it is read.
        abandon_stdout()
        why = error.strerror or type(error).__name__
        raise CliError(f"cannot write the output: {why}; redirect it elsewhere") from None


def _version() -> str:
    engine, python = robotrules.engine_name(), platform.python_version()
    words = f"robotrules {robotrules.__version__} ({engine} engine, Python {python})"
    reason = missing_reason() if engine == "pure" else ""
    return f"{words}\nThe native engine is not available: {reason}" if reason else words


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(message=_version(), version=robotrules.__version__)
@click.pass_context
def program(ctx: click.Context) -> int | None:
    """
    Check, explain, fetch, compare, lint, format and test robots.txt files (RFC 9309), read the
    robots tags of pages, and see what crawlers do on a site.

    \b
    robotrules check https://example.com/x --as ExampleBot
    robotrules explain https://example.com/x --as ExampleBot --robots robots.txt
    robotrules guidance https://example.com/x --as ExampleBot
    robotrules write --preset block-ai-training
    robotrules lint robots.txt
    robotrules test
    robotrules diff old.txt new.txt
    robotrules blame https://example.com/x --as Googlebot
    robotrules report https://example.com/ -o report.html
    robotrules logs access.log --robots robots.txt
    robotrules watch https://example.com/
    robotrules serve --open

    Commands that take URLs fetch the robots.txt files they need and cache them for up to a day. If
    you pass files, nothing is fetched. Data goes to stdout, messages to stderr; commands that print
    data have --json. Exit code 0 means allowed or clean, 1 disallowed or findings, 2 a usage or I/O
    error. The rules of a site are requests to crawlers, not a form of access authorization.
    """
    if ctx.invoked_subcommand is not None:
        return None
    click.echo(ctx.get_help(), err=True)
    return USAGE_OR_IO


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; None uses the arguments of the process."""
    args = None if arguments is None else list(arguments)
    try:
        return program.main(args=args, prog_name="robotrules", standalone_mode=False) or 0
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "robotrules"
        _report_error(error, f"{error.format_message().rstrip('.')}; see {path} --help")
    except click.ClickException as error:
        _report_error(error, error.format_message())
    except click.Abort:
        return INTERRUPTED
    return USAGE_OR_IO


def _report_error(error: click.ClickException, words: str) -> None:
    context = getattr(error, "ctx", None) or click.Context(program, info_name="robotrules")
    with context.scope(cleanup=False):
        console.report(" ".join(words.split()))


def main() -> NoReturn:
    """Run the command line as a process."""
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
    code = run()
    if code == INTERRUPTED:
        # A normal exit would wait for threads that wait for servers. Stored results are already
        # saved.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or the reader is gone
                stream.flush()
        os._exit(code)
    sys.exit(code)
