"""
A robots.txt on the disk: the one of this folder where none is named, and none that is no text.

To crawlers every octet string is a robots.txt (RFC 9309 §2.3.1.5); who names a picture on the
command line meant another file. It does not know what a file says.
"""

from __future__ import annotations

import os
import re

import click

from robotrules.cli.streams import STDIN, CliError, quoted

USUAL = "robots.txt"
# What is looked at to tell a text from something else, and how much of it no text has.
SAMPLE = 64 * 1024
CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1b"))
FEWEST, SHARE = 3, 20
UTF16 = (b"\xff\xfe", b"\xfe\xff")
# What starts like a robots.txt is one to crawlers, whatever follows, and checks have notes on that.
_RECORD = re.compile(rb"^[ \t]*(?:user-agent|disallow|allow|sitemap)[ \t]*:", re.I | re.M)
RECORD_WITHIN = 1024


def usual_file(*, or_url: bool) -> str:
    """Return the file of this folder, which is meant where none is named."""
    if os.path.isfile(USUAL):
        return USUAL
    cure = "name a file, '-' for stdin, or a URL such as https://example.com"
    if not or_url:
        cure = "name a file, or '-' for stdin"
    raise click.UsageError(f"there is no robots.txt in this folder: {cure}")


def refuse_binary(octets: bytes, file: str) -> None:
    """End with a file that is no text: too many of its octets are control characters."""
    sample = octets[:SAMPLE]
    if sample.startswith(UTF16) or _RECORD.search(sample[:RECORD_WITHIN]):
        return
    controls = len(sample) - len(sample.translate(None, CONTROLS))
    if controls >= FEWEST and controls * SHARE >= len(sample):
        name = "stdin" if file == STDIN else quoted(file)
        raise CliError(
            f"{name} is binary: {controls:,} of its first {len(sample):,} bytes are control "
            "characters; pass a text file"
        )
