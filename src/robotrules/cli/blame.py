"""`robotrules blame`."""

from __future__ import annotations

import click

from robotrules.cli.console import CliError


@click.command()
def blame() -> int:
    """Not there yet."""
    raise CliError("not there yet")
