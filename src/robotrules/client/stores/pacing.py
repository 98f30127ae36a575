"""
Pacing: when the next slot of an origin may begin, from the times that a store has recorded.

A store records the time of the last slot (`last`) and the time before which there is none
(`earliest`). Times come from the clocks of many clients, and a clock may have been ahead by a year:
a time further ahead than any client waits is ignored. The server stores implement the same rules
in Lua and SQL (`redis_scripts`, `postgres_tables`); one test compares them.
"""

from __future__ import annotations

from typing import NamedTuple

from robotrules.cache import MAX_CLOCK_SKEW

# No client waits longer for a slot (`rate_limiter.MAX_DELAY`) ...
MAX_AHEAD = 86_400.0
# ... so a recorded time further ahead than this comes from a wrong clock.
MAX_TRUSTED_AHEAD = MAX_AHEAD + MAX_CLOCK_SKEW
NEVER = float("-inf")


class PacingState(NamedTuple):
    """The recorded times of an origin."""

    last: float = NEVER
    earliest: float = NEVER

    def trusted(self, now: float) -> PacingState:
        """Return the state without times that are too far ahead."""
        end = now + MAX_TRUSTED_AHEAD
        if self.last <= end and self.earliest <= end:
            return self
        return PacingState(*[moment if moment <= end else NEVER for moment in self])

    def reserve(self, now: float, interval: float) -> PacingState:
        """Return the state after reserving the next slot; its `last` is that slot."""
        last, earliest = self.trusted(now)
        return PacingState(min(max(now, last + interval, earliest), now + MAX_AHEAD), earliest)

    def begin(self, now: float, interval: float) -> PacingState | float:
        """Return the state after a slot begins now, or the earliest time at which one may."""
        last, earliest = self.trusted(now)
        ready_at = max(last + interval, earliest)
        return PacingState(now, earliest) if ready_at <= now else ready_at

    def postpone(self, until: float) -> PacingState:
        """Return the state with no slot before a time."""
        # An untrusted time further ahead must not hide this one.
        return self._replace(earliest=max(self.trusted(until).earliest, until))


NO_SLOTS = PacingState()
"""The state of an origin that has had no slot."""
