"""
Responses: checks of how a robots.txt was served.

They look at what somebody received, and at nothing where nobody says. RFC 9309 §2.3 binds servers,
and crawlers read most of what breaks it; the notes say what happens then. It fetches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.http.caching import ResponseFreshness, response_freshness
from robotrules.linting.check import Check
from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote

RESPONSE = "response"
# RFC 9309 §2.3.1.2: at least so many redirects in a row are followed.
MOST_HOPS = 5


class ResponseCheck(Check):
    """A check of a response, by what was received."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield what is found in how the file was served."""
        return self.check_response(context, context.received)

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield what is found in a response; what nobody knows of it is None."""
        raise NotImplementedError

    def about_response(self, level: str | None = None, **words: Any) -> LintNote:
        """Return a note about the response; *words* fill in the message."""
        return self.about_file(level=level, **words)._replace(part=RESPONSE)


def is_success(received: Received) -> bool:
    """Tell whether the file came, as far as is known: only then its fields are about it."""
    return received.status is None or 200 <= received.status < 300


def lifetime_asked(received: Received) -> ResponseFreshness | None:
    """Return how long the file asks to be kept; None where its response does not say."""
    if not received.cache_control or not is_success(received):
        return None
    return response_freshness({"Cache-Control": received.cache_control})


def in_words(seconds: float) -> str:
    """Return a time for people: `2 days`."""
    units = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    size, unit = next((one for one in units if seconds >= one[0]), (1, "second"))
    count = f"{round(seconds / size, 1):g}"
    return f"{count} {unit}{'' if count == '1' else 's'}"
