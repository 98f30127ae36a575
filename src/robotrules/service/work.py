"""Where verbs run: off the event loop, with a time limit."""

from __future__ import annotations

import asyncio

import msgspec

from robotrules.service.schemas import decode_request
from robotrules.service.settings import CURRENT_LIMITS, Limits
from robotrules.service.verbs import Verb

__all__ = ["WorkPool", "run_verb"]

# Small inputs of linear verbs are not worth another thread.
INLINE = 16 * 1024


def run_verb(verb: Verb, body: bytes) -> bytes:
    """Decode a body, run the verb, and encode its answer."""
    request = decode_request(body, verb.request)
    answer = verb.run(request)
    return answer if isinstance(answer, bytes) else msgspec.json.encode(answer)


class WorkPool:
    """Runs verbs for one worker of the service."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def run(self, verb: Verb, body: bytes) -> bytes:
        """Return the JSON of a verb for a body."""
        CURRENT_LIMITS.set(self._limits)
        if not verb.heavy and len(body) <= INLINE:
            return run_verb(verb, body)
        return await asyncio.to_thread(run_verb, verb, body)
