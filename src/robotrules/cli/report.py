"""`robotrules report`."""

from __future__ import annotations

import click

from robotrules.cli.console import CliError


@click.command()
def report() -> int:
    """Not there yet."""
    raise CliError("not there yet")
