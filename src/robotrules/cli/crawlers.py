"""`robotrules crawlers`."""

from __future__ import annotations

import click

from robotrules.cli.console import CliError


@click.command()
def crawlers() -> int:
    """Not there yet."""
    raise CliError("not there yet")
