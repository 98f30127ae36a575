"""RR105: a file that is close to the size limit."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# 500 KB may mean 500,000 or 512,000 bytes; the smaller number is safe.
YANDEX = 500_000
CLOSE = 0.9
# Above this share the note is a warning.
CLOSER = 0.97


class NearLimit(Check):
    """
    What it finds:
        A file with more than 450,000 bytes: nine tenths of the 500 KB above which Yandex ignores
        the whole file. It is a warning from 485,000 bytes on.

    Why it matters:
        RFC 9309 requires crawlers to read 500 KiB (512,000 bytes) of a robots.txt, and no more:
        crawlers may ignore the rules after that. Such files are usually generated and grow by a
        line for each page, and no crawler reports when the limit is crossed.

    Example:
        A file with a `Disallow` line for each of 18,000 pages.

    Instead:
        Use fewer rules: one pattern for a folder, `*` for the part that varies. `robotrules
        simplify` removes redundant rules.
    """

    code = "RR105"
    slug = "near-limit"
    level = "info"
    message = (
        "The file has {size:,} bytes. Crawlers may ignore everything after 512,000 bytes, and "
        "Yandex ignores files of more than 500 KB. Shorten it."
    )
    reference = "RFC 9309 §2.5 (REP-2.5-02); AMB-18; VEN-10"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note if the body is close to the limit; `truncated` reports a longer one."""
        size = len(context.robots.body)
        if size > CLOSE * YANDEX and not _is_reported(context):
            level = "warning" if size > CLOSER * YANDEX else "info"
            yield self.about_file(level=level, size=size)


def _is_reported(context: LintContext) -> bool:
    """Return whether another check reports the file as too long or as an HTML page."""
    return bool(context.parser_notes("truncated") or context.parser_notes("looks-like-html"))
