"""
Forward-confirmed reverse DNS: whether the host name of an address is one of an operator.

The name of the address (PTR) has to end in a domain that the operator documents, and to resolve
back to the address: anyone can give any name to their own addresses, but only the operator decides
what its names resolve to. The system's resolver cannot be interrupted, so it runs in daemon threads
that are abandoned after a timeout; threads, addresses and seconds are limited.

Sections: values · one address · many addresses.
"""

from __future__ import annotations

import re
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple, Protocol

from robotrules.octets import visible

__all__ = [
    "Confirmation",
    "ConfirmationOutcome",
    "DnsLimits",
    "DnsResolver",
    "ReverseDnsConfirmer",
    "SystemResolver",
    "confirm_address",
]

# An address with more names is not read further; so is a name with more addresses.
MOST_NAMES, MOST_ADDRESSES = 8, 64
LONGEST_SHOWN = 80
# Threads that wait for lookups that were given up, for each lookup that may run at a time.
STUCK_THREADS = 3
# A host name of the DNS (RFC 1123 §2.1), with `_`, without the dot at the end.
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]+\Z")


# --- Values ---------------------------------------------------------------------------------------


class DnsResolver(Protocol):
    """What looks up names; the system's resolver, or one of a test or a service."""

    def reverse(self, address: str) -> Sequence[str]:
        """Return the names of an address; none if it has none. Raises OSError without an answer."""

    def forward(self, name: str) -> Sequence[str]:
        """Return the addresses of a name; none if it has none. Raises OSError without an answer."""


class DnsLimits(NamedTuple):
    """The limits of lookups; what is beyond them is not verified, and its reason says so."""

    timeout: float = 5.0
    """Seconds for an address, for both lookups."""
    budget: float = 120.0
    """Seconds for all addresses together."""
    concurrency: int = 16
    """Addresses at a time."""
    max_addresses: int = 2_000
    """Addresses at all."""


class ConfirmationOutcome(StrEnum):
    """What the DNS says about an address."""

    CONFIRMED = "confirmed"
    OTHER_NAME = "other name"
    NOT_CONFIRMED = "not confirmed"
    NO_NAME = "no name"
    NO_ANSWER = "no answer"


class Confirmation(NamedTuple):
    """What the DNS says about an address, and the reason in words."""

    outcome: ConfirmationOutcome
    reason: str


# --- One address ----------------------------------------------------------------------------------


class SystemResolver:
    """The resolver of the system: its name servers, and its hosts file."""

    def reverse(self, address: str) -> Sequence[str]:
        """Return the names of an address."""
        try:
            name, others, _ = socket.gethostbyaddr(address)
        except socket.herror as error:
            if error.errno in (1, 4):  # HOST_NOT_FOUND, NO_DATA
                return ()
            raise
        except socket.gaierror as error:
            return _empty_if_unknown(error)
        return [name, *others]

    def forward(self, name: str) -> Sequence[str]:
        """Return the addresses of a name; search domains of the system are not tried."""
        try:
            found = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            return _empty_if_unknown(error)
        return [str(address[0]) for *_, address in found]


def _empty_if_unknown(error: socket.gaierror) -> Sequence[str]:
    if error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
        return ()
    raise error


def confirm_address(resolver: DnsResolver, address: str, domains: Sequence[str]) -> Confirmation:
    """Return what the DNS says about an address and the domains of an operator."""
    try:
        return _confirm(resolver, address, domains)
    except (OSError, UnicodeError) as error:
        why = visible(getattr(error, "strerror", None) or type(error).__name__)
        return Confirmation(ConfirmationOutcome.NO_ANSWER, f"the DNS did not answer: {why}")


def _confirm(resolver: DnsResolver, address: str, domains: Sequence[str]) -> Confirmation:
    names = list(resolver.reverse(address))[:MOST_NAMES]
    if not names:
        return Confirmation(ConfirmationOutcome.NO_NAME, "its address has no host name")
    suffixes = tuple(f".{domain}" for domain in domains)
    plain = [name.lower().removesuffix(".") for name in names]
    ours = [name for name in plain if _HOST_NAME.match(name) and f".{name}".endswith(suffixes)]
    if not ours:
        return Confirmation(
            ConfirmationOutcome.OTHER_NAME,
            f"its host name is {_shown(names[0])}, which is not in {' or '.join(domains)}",
        )
    wanted = _plain_address(address)
    for name in ours:
        found = list(resolver.forward(name))[:MOST_ADDRESSES]
        if any(_plain_address(other) == wanted for other in found):
            return Confirmation(
                ConfirmationOutcome.CONFIRMED, f"its host name {_shown(name)} resolves back to it"
            )
    return Confirmation(
        ConfirmationOutcome.NOT_CONFIRMED,
        f"its host name {_shown(ours[0])} does not resolve back to it",
    )


def _plain_address(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def _shown(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 1]}…"


# --- Many addresses -------------------------------------------------------------------------------


class DnsQuestion(NamedTuple):
    """An address, and the domains of the operator whose crawler it claims to be."""

    address: str
    domains: tuple[str, ...]


class ReverseDnsConfirmer:
    """
    Looks up addresses within limits; each question is asked once, and its answer is kept.

    It is used by one thread; the lookups run in threads of its own.
    """

    def __init__(
        self,
        resolver: DnsResolver | None = None,
        limits: DnsLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        limits = limits or DnsLimits()
        for name, value in limits._asdict().items():
            if not value > 0:
                raise ValueError(f"{name} is {value!r}: use more than 0")
        self.limits = limits
        self._resolver = SystemResolver() if resolver is None else resolver
        self._clock = clock
        self._remaining = limits.budget
        # Bounded by max_addresses.
        self._answers: dict[DnsQuestion, Confirmation] = {}
        # Threads whose lookup timed out, and still runs.
        self._stuck = 0
        self._lock = Lock()

    def confirm_many(
        self,
        questions: Iterable[DnsQuestion],
        progress: Callable[[int], None] | None = None,
    ) -> dict[DnsQuestion, Confirmation]:
        """Return what the DNS says about each; *progress* is told of each answer, with 1."""
        asked = list(dict.fromkeys(questions))
        new = [question for question in asked if question not in self._answers]
        room = max(self.limits.max_addresses - len(self._answers), 0)
        self._look_up(new[:room], progress)
        too_many = Confirmation(
            ConfirmationOutcome.NO_ANSWER,
            f"not looked up: more than {self.limits.max_addresses:,} addresses",
        )
        return {question: self._answers.get(question, too_many) for question in asked}

    def _look_up(
        self, questions: Sequence[DnsQuestion], progress: Callable[[int], None] | None
    ) -> None:
        """Answer questions in threads, until the last answer or the end of the budget."""
        if not questions:
            return
        begun = self._clock()
        end = begun + self._remaining
        batch = _Batch(self._resolver, questions, self._clock)
        pending = set(questions)
        while pending:
            self._start_threads(batch, len(pending))
            now = self._clock()
            if now >= end:
                break
            first = batch.first_started(pending)
            # Without a thread that may start, one of those that are stuck has to return first.
            deadline = end if first is None else min(end, first + self.limits.timeout)
            answer = batch.next_answer(max(deadline - now, 0.0) + 0.001)
            if answer is not None:
                question, confirmation, error = answer
                if error is not None:
                    batch.stop()
                    raise error
                # Also if it comes late: an answer is better than none.
                self._answers[question] = confirmation
                if question in pending:
                    pending.discard(question)
                    if progress:
                        progress(1)
                continue
            for question in batch.started_before(self._clock() - self.limits.timeout, pending):
                pending.discard(question)
                self._give_up(batch, question, progress)
        batch.stop()
        for question in pending:
            reason = f"not looked up within {self.limits.budget:g} seconds for all addresses"
            self._answers[question] = Confirmation(ConfirmationOutcome.NO_ANSWER, reason)
        self._remaining = max(self._remaining - (self._clock() - begun), 0.0)

    def _has_room(self) -> bool:
        """Tell whether another thread may start: abandoned ones are limited too."""
        return self._stuck < STUCK_THREADS * self.limits.concurrency

    def _start_threads(self, batch: _Batch, pending: int) -> None:
        while batch.threads < min(self.limits.concurrency, pending) and self._has_room():
            batch.threads += 1
            Thread(target=batch.run, name="robotrules-dns", daemon=True).start()

    def _give_up(
        self, batch: _Batch, question: DnsQuestion, progress: Callable[[int], None] | None
    ) -> None:
        """Abandon a lookup and its thread."""
        reason = f"the DNS did not answer within {self.limits.timeout:g} seconds"
        self._answers[question] = Confirmation(ConfirmationOutcome.NO_ANSWER, reason)
        if batch.abandon(question, self._return_thread):
            with self._lock:
                self._stuck += 1
            batch.threads -= 1
        if progress:
            progress(1)

    def _return_thread(self) -> None:
        with self._lock:
            self._stuck -= 1


# The exception is a bug of the resolver.
_Answer = tuple[DnsQuestion, Confirmation, Exception | None]


class _Batch:
    """Questions that threads take one by one, and their answers."""

    def __init__(
        self,
        resolver: DnsResolver,
        questions: Sequence[DnsQuestion],
        clock: Callable[[], float],
    ) -> None:
        self.threads = 0
        self._resolver = resolver
        self._clock = clock
        self._waiting = deque(questions)
        self._started: dict[DnsQuestion, float] = {}
        self._abandoned: dict[DnsQuestion, Callable[[], None]] = {}
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._lock = Lock()

    def run(self) -> None:
        """Answer questions until there are none, or this thread was abandoned."""
        while True:
            with self._lock:
                if not self._waiting:
                    return
                question = self._waiting.popleft()
                self._started[question] = self._clock()
            error: Exception | None = None
            answer = Confirmation(ConfirmationOutcome.NO_ANSWER, "")
            try:
                answer = confirm_address(self._resolver, *question)
            except Exception as raised:  # a bug of the resolver: raised where it was called
                error = raised
            with self._lock:
                self._started.pop(question, None)
                abandoned = self._abandoned.pop(question, None)
            if abandoned is not None:
                abandoned()
            self._answers.put((question, answer, error))
            if abandoned is not None:
                return

    def stop(self) -> None:
        """Give out no more questions."""
        with self._lock:
            self._waiting.clear()

    def next_answer(self, seconds: float) -> _Answer | None:
        """Return the next answer; None if there is none within so many seconds."""
        try:
            return self._answers.get(timeout=seconds)
        except Empty:
            return None

    def first_started(self, pending: set[DnsQuestion]) -> float | None:
        """Return when the oldest lookup began, now if one is about to; None if none runs."""
        with self._lock:
            times = [at for question, at in self._started.items() if question in pending]
            if not times and self.threads:
                return self._clock()
        return min(times, default=None)

    def started_before(self, moment: float, pending: set[DnsQuestion]) -> list[DnsQuestion]:
        """Return the questions whose lookup began before a moment."""
        with self._lock:
            return [q for q, at in self._started.items() if at <= moment and q in pending]

    def abandon(self, question: DnsQuestion, when_done: Callable[[], None]) -> bool:
        """Abandon the thread of a question; False if it has just answered."""
        with self._lock:
            if question not in self._started:
                return False
            self._abandoned[question] = when_done
            return True
