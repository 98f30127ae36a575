"""`robotrules logs`."""

from __future__ import annotations

import click

from robotrules.cli.console import CliError


@click.command()
def logs() -> int:
    """Not there yet."""
    raise CliError("not there yet")
