"""
Responses: the base class of checks of how a robots.txt was served.

They examine the response, as far as the caller describes it. RFC 9309 §2.3 has requirements for
servers; most crawlers also read files that violate them, and the notes say what happens then. This
module fetches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.http.caching import ResponseFreshness, response_freshness
from robotrules.linting.check import Check
from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote

RESPONSE = "response"
# RFC 9309 §2.3.1.2: crawlers follow at least this many consecutive redirects.
MOST_HOPS = 5


class ResponseCheck(Check):
    """A check of the response that delivered a robots.txt."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield notes about how the file was served."""
        return self.check_response(context, context.received)

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield notes about a response; its unknown properties are None."""
        raise NotImplementedError

    def about_response(self, level: str | None = None, **words: Any) -> LintNote:
        """Return a note about the response; *words* fill in the message."""
        return self.about_file(level=level, **words)._replace(part=RESPONSE)


def is_success(received: ServedResponse) -> bool:
    """Return whether the status is 2xx or unknown: only then the fields describe the file."""
    return received.status is None or 200 <= received.status < 300


def read_freshness(received: ServedResponse) -> ResponseFreshness | None:
    """Return the freshness that the response sets; None if it sets none."""
    if not received.cache_control or not is_success(received):
        return None
    return response_freshness({"Cache-Control": received.cache_control})


def format_duration(seconds: float) -> str:
    """Return a duration in words: `2 days`."""
    units = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    size, unit = next(((size, unit) for size, unit in units if seconds >= size), (1, "second"))
    count = f"{round(seconds / size, 1):g}"
    return f"{count} {unit}{'' if count == '1' else 's'}"
