"""RR105: a file that is nearly as long as is read."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# 500 KB may mean 500,000 octets or 512,000: the smaller is the one to stay under.
YANDEX = 500_000
CLOSE = 0.9
# Closer than this is a warning.
CLOSER = 0.97


class NearLimit(Check):
    """
    What it finds:
        A file with more than 450,000 octets: nine tenths of the 500 KB after which Yandex looks at
        none of it. It is a warning from 485,000 on.

    Why it matters:
        RFC 9309 promises 500 KiB (512,000 octets) to a robots.txt, and no more: the rules after
        them ask nobody. Files of this kind grow by themselves, because something adds a line for
        each page, and nothing tells when the limit is crossed.

    Example:
        A file with a `Disallow` line for each of 18,000 pages.

    Instead:
        Say it in fewer lines: one pattern for a folder, `*` for what varies, and `robotrules
        simplify` for rules that others make needless.
    """

    code = "RR105"
    slug = "near-limit"
    level = "info"
    message = (
        "The file has {size:,} bytes. Crawlers need not read more than 512,000, and Yandex reads "
        "no file of more than 500 KB."
    )
    reference = "RFC 9309 §2.5 (REP-2.5-02); AMB-18; VEN-10"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note by the octets that were parsed; a file that is too long has its own."""
        size = len(context.robots.body)
        if size > CLOSE * YANDEX and not _is_spoken_of(context):
            level = "warning" if size > CLOSER * YANDEX else "info"
            yield self.about_file(level=level, size=size)


def _is_spoken_of(context: LintContext) -> bool:
    """Tell whether the file is too long, or a page, which are other checks' affairs."""
    return bool(context.parser_notes("truncated") or context.parser_notes("looks-like-html"))
