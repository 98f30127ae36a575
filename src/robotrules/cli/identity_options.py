"""Options that tell crawlers from impostors in access logs: `--ranges` and `--verify`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from robotrules.cli.console import CliError
from robotrules.cli.input_files import read_error

if TYPE_CHECKING:
    from robotrules.operations.crawler_identity import IdentityChecker

Command = TypeVar("Command", bound=Callable[..., Any])


def with_identity_options(command: Command) -> Command:
    """Add `--ranges` and `--verify`: the parameters *range_files* and *verify*."""
    ranges = click.option(
        "--ranges",
        "range_files",
        metavar="[NAME=]FILE",
        multiple=True,
        help="Address ranges that an operator publishes, such as Googlebot=googlebot.json, to tell "
        "crawlers from impostors in logs. Repeat it for several.",
    )
    verify = click.option(
        "--verify",
        is_flag=True,
        help="Look up the host names of addresses in logs that did not obey a rule, to tell "
        "crawlers from impostors; this asks the DNS.",
    )
    return ranges(verify(command))


def range_paths(files: Sequence[str]) -> list[str]:
    """Return what `--ranges` may name as files, with and without the names of crawlers."""
    return [*files, *(file.partition("=")[2] for file in files)]


def identity_checker(files: Sequence[str], verify: bool) -> IdentityChecker | None:
    """Return the checker of these options; None if there are none."""
    if not files and not verify:
        return None
    from robotrules.operations.crawler_identity import AddressRanges, IdentityChecker, RangesError

    try:
        ranges = AddressRanges.read(files)
    except RangesError as error:
        raise CliError(f"--ranges: {error}") from None
    except OSError as error:
        raise read_error(os.fsdecode(error.filename or ""), "address ranges", error) from None
    return IdentityChecker(ranges, verify_dns=verify)
