"""
Turns: from what moment on the next request to an origin may be, by what a store has noted.

A store notes when the last turn is (`last`) and before when there is none (`earliest`). Moments are
of the clocks of those who came, and a clock may have been ahead by a year: what is further ahead
than anybody waits is not believed. The stores on a server have the same rules in their own words
(`redis_scripts`, `postgres_tables`); one test sees to it that they agree. It does not know where
turns are kept.
"""

from __future__ import annotations

from typing import NamedTuple

from robotrules.cache import MAX_CLOCK_SKEW

# Nobody waits longer for a turn (`politeness.LONGEST_DELAY`) ...
FARTHEST = 86_400.0
# ... so what is noted further ahead than this is of a clock that was ahead.
BELIEVED = FARTHEST + MAX_CLOCK_SKEW
NEVER = float("-inf")


class PacingState(NamedTuple):
    """What a store has noted of the turns at an origin."""

    last: float = NEVER
    earliest: float = NEVER

    def believed(self, now: float) -> PacingState:
        """Return it without what lies too far ahead."""
        end = now + BELIEVED
        return PacingState(*[moment if moment <= end else NEVER for moment in self])

    def reserved(self, now: float, interval: float) -> PacingState:
        """Return what is to be noted of the next turn; its `last` is the turn."""
        last, earliest = self.believed(now)
        return PacingState(min(max(now, last + interval, earliest), now + FARTHEST), earliest)

    def ready(self, now: float, interval: float) -> float:
        """Return from what moment on there may be a turn."""
        last, earliest = self.believed(now)
        return max(last + interval, earliest)

    def begun(self, now: float) -> PacingState:
        """Return what is to be noted of a turn that begins now."""
        return self.believed(now)._replace(last=now)

    def postponed(self, until: float) -> PacingState:
        """Return what is to be noted where no turn is to be before a moment."""
        # What is further ahead would hide this moment, and not be believed itself.
        return self._replace(earliest=max(self.believed(until).earliest, until))
